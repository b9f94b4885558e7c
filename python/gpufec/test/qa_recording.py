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

    def frames(self, noise_db):
        """Returns the set of frames of each receiver with noise of `noise_db` dB: gr-satellites,
        its chains with this module's decoder, one chain with a phase search, and
        ccsds_fec_receiver."""
        runs, = recording_pdus.compare_all(RECORDING, [(noise_db, 0)])
        return [set(frames) for frames in runs]

    def test_Recording_YieldsFramesOfGrSatellites(self):
        theirs, *ours = self.frames(None)
        self.assertGreaterEqual(len(theirs), 14)
        self.assertEqual(ours, [theirs] * 3)

    def test_NoisyRecording_YieldsFramesOfGrSatellites(self):
        for noise_db in -6.0, -4.5, -3.0:
            with self.subTest(noise_db=noise_db):
                theirs, *ours = self.frames(noise_db)
                self.assertTrue(theirs)
                for frames in ours:
                    # A frame at the limit of its Reed-Solomon code may be decoded by one receiver
                    # only. The symbols depend on the versions of GNU Radio and gr-satellites.
                    self.assertLessEqual(len(theirs - frames), 1)


if __name__ == "__main__":
    unittest.main()
