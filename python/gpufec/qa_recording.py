#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

"""A satellite's telemetry off the air, decoded by gr-satellites with our Viterbi decoder.

Looks for recordings/by701.wav in $GPUFEC_TEST_DATA, or in ../shared/data beside the
repository. bench/recording_pdus.py is the full sweep over noise.
"""

import os
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DATA = os.environ.get("GPUFEC_TEST_DATA",
                      os.path.join(os.path.dirname(ROOT), "shared", "data"))
RECORDING = os.path.join(DATA, "recordings", "by701.wav")

sys.path.insert(0, os.path.join(ROOT, "bench"))
try:
    import recording_pdus
except ImportError as error:
    if error.name is None or not error.name.startswith("satellites"):
        raise
    recording_pdus = None


@unittest.skipIf(recording_pdus is None, "gr-satellites is not installed")
@unittest.skipUnless(os.path.exists(RECORDING), f"there is no {RECORDING}")
class qa_recording(unittest.TestCase):

    def test_clean(self):
        # gr-satellites' demodulator differs from run to run, by several frames.
        most, two_chains, one_chain = 0, 0, 0
        for theirs, ours, one in recording_pdus.compare_all(RECORDING, [(None, 0)] * 3):
            # Reed-Solomon has checked them: the same frames, not just as many.
            self.assertLessEqual(set(theirs), set(ours))
            most = max(most, len(ours))
            two_chains += len(set(theirs))
            one_chain += len(set(one))
        self.assertGreaterEqual(most, 14)
        self.assertGreaterEqual(one_chain, two_chains)

    def test_with_noise(self):
        theirs, ours, one = 0, 0, 0
        for row in recording_pdus.sweep(RECORDING, [-8.0, -6.0, -5.0, -3.0], seeds=2):
            theirs += sum(row["gr_satellites"])
            ours += sum(row["gpufec"])
            one += sum(row["one_chain"])
        self.assertGreater(theirs, 0)
        self.assertGreaterEqual(ours, theirs)
        self.assertGreaterEqual(one, theirs)


if __name__ == "__main__":
    unittest.main()
