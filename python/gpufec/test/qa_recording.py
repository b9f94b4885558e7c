#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tests that gr-satellites decodes a recording of telemetry with this module's Viterbi decoder.

The recording is recordings/by701.wav in $GPUFEC_TEST_DATA, or in ../shared/data beside the
repository. bench/viterbi/recording_pdus.py makes the full sweep over noise.
"""

import os
import pathlib
import sys
import unittest

ROOT = str(pathlib.Path(__file__).resolve().parents[3])
DATA = os.environ.get("GPUFEC_TEST_DATA",
                      os.path.join(os.path.dirname(ROOT), "shared", "data"))
RECORDING = os.path.join(DATA, "recordings", "by701.wav")

sys.path.insert(0, os.path.join(ROOT, "bench", "viterbi"))
try:
    import recording_pdus
except ImportError as error:
    if error.name is None or not error.name.startswith("satellites"):
        raise
    recording_pdus = None


@unittest.skipIf(recording_pdus is None, "gr-satellites is not installed")
@unittest.skipUnless(os.path.exists(RECORDING), f"the recording {RECORDING} is missing")
class qa_recording(unittest.TestCase):

    # Allowed difference of the numbers of frames. The output of gr-satellites' demodulator differs
    # between runs, so only one of the decoders may find a frame near the threshold.
    MARGIN = 3

    @classmethod
    def setUpClass(cls):
        cls.runs = list(recording_pdus.compare_all(RECORDING, [(None, 0)] * 4))

    def test_Recording_GivesFramesOfGrSatellites(self):
        runs = self.runs
        # This module must find the frames that gr-satellites finds in every run.
        surely = set.intersection(*(set(theirs) for theirs, *_ in runs))
        self.assertTrue(surely)
        self.assertGreaterEqual(max(len(set(ours)) for _, ours, *_ in runs), 14)
        for which in 1, 2:
            self.assertLessEqual(surely, set().union(*(run[which] for run in runs)))
        theirs, ours, one = (sum(len(set(run[which])) for run in runs[:2])
                             for which in range(3))
        self.assertGreaterEqual(ours, theirs - self.MARGIN)
        self.assertGreaterEqual(one, theirs - self.MARGIN)

    def test_CcsdsFecReceiver_GivesFramesOfGrSatellites(self):
        """One block receives every frame that gr-satellites receives in every run, and no frame
        that gr-satellites does not receive in any run."""
        runs = self.runs[:3]
        theirs, ours = [set(run[0]) for run in runs], [run[3] for run in runs]
        self.assertGreaterEqual(max(map(len, ours)), 14)
        for frames in ours:
            self.assertLessEqual(set.intersection(*theirs), set(frames))
            self.assertLessEqual(len(set(frames) - set.union(*theirs)), self.MARGIN)

    def test_NoisyRecording_GivesAtLeastAsManyFrames(self):
        theirs, ours, one = 0, 0, 0
        for row in recording_pdus.sweep(RECORDING, [-6.0, -4.5, -3.0], seeds=1):
            theirs += sum(row["gr_satellites"])
            ours += sum(row["gpufec"])
            one += sum(row["one_chain"])
        self.assertGreater(theirs, 2 * self.MARGIN)
        self.assertGreaterEqual(ours, theirs - self.MARGIN)
        self.assertGreaterEqual(one, theirs - self.MARGIN)


if __name__ == "__main__":
    unittest.main()
