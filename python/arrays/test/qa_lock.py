#!/usr/bin/env python3
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests Viterbi decoding of arrays with phase search."""

import unittest
import warnings

import numpy as np

import gpufec

DVB = ["dvb_1_2", "dvb_2_3", "dvb_3_4", "dvb_5_6", "dvb_7_8"]


def received(preset, count=30000, seed=1):
    bits = gpufec.random_bits(count, seed)
    coded = gpufec.conv_encode(bits, preset=preset, packed_input=False, packed_output=False)
    return bits, gpufec.awgn(coded, 9.0, 0.5, seed)


class qa_lock(unittest.TestCase):
    def test_UnknownCodeAndPhase_AreFound(self):
        for number, preset in enumerate(DVB):
            bits, values = received(preset, seed=number + 1)
            decoded, status = gpufec.viterbi_decode(
                values[1:], preset="DVB-1_2", lock="AUTO",
                lock_presets=["DVB-" + name[4:] for name in DVB], packed_output=False)
            with self.subTest(preset):
                self.assertIs(status.locked, True)
                self.assertEqual(status.lock["preset"], preset)
                self.assertEqual(status.lock["first_value"] % 2,
                                 status.lock["pair_phase"])
                self.assertEqual(len(status.lock_changes), 1)
                self.assertEqual(status.verdict, "")
                self.assertLess(status.channel_error_rate, status.chance_error_rate / 2)
                self.assertEqual(status.chance_error_rate, status.lock["chance_error_rate"])
                part = bits[200:20200].tobytes()
                opposite = (1 - bits[200:20200]).astype(np.uint8).tobytes()
                self.assertTrue(part in decoded.tobytes() or opposite in decoded.tobytes())

    def test_Noise_CausesNoLockAndAWarning(self):
        noise = np.random.default_rng(1).integers(-50, 51, 200000).astype(np.int8)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            decoded, status = gpufec.viterbi_decode(noise, preset="dvb_1_2", lock="auto")
        self.assertEqual(len(decoded), 0)
        self.assertIs(status.locked, False)
        self.assertEqual((status.lock["dropped"], status.lock_changes), (len(noise), []))
        self.assertTrue(np.isnan(status.channel_error_rate))
        self.assertIn("no signal", status.verdict)
        self.assertEqual([str(w.message) for w in caught], [status.verdict])
        self.assertEqual(caught[0].filename, __file__) # the warning names the caller's file

    def test_RepeatedCalls_BeginNewStreams(self):
        _, values = received("dvb_3_4")
        decoder = gpufec.viterbi_decoder(preset="dvb_3_4", lock="auto")
        first, status = decoder.decode(values)
        for _ in range(2):
            again, same = decoder.decode(values)
            np.testing.assert_array_equal(again, first)
            self.assertEqual(same.lock, status.lock)
        decoder.push(values)
        with self.assertRaisesRegex(RuntimeError, "flush"):
            decoder.decode(values)
        decoder.flush()

    def test_LockOff_StatusHasNoLock(self):
        _, status = gpufec.viterbi_decode(received("dvb_1_2")[1], preset="dvb_1_2")
        self.assertFalse({"locked", "lock", "lock_changes"} & vars(status).keys())

    def test_WrongArguments_AreRefusedByName(self):
        values = received("dvb_1_2", 5000)[1]
        out = np.empty(1000, np.uint8)
        for text, arguments in (
                ('^lock is "atuo": .*auto', dict(lock="atuo")),
                ("^lock_constellation is ", dict(lock_constellation="8psk")),
                ("^lock_first_item is ", dict(lock_first_item="x")),
                ("^preset is ", dict(lock_presets=["dvb_1_3"])),
                ("^lock_presets is ", dict(lock_presets="dvb_1_2")),
                ("^an entry of lock_presets is 7", dict(lock_presets=[7])),
                ("^lock_memory is 10: ", dict(lock_memory=10)),
                ("^lock_memory is -1: ", dict(lock_memory=-1)),
                ("^out is ", dict(out=out)),
                ('^lock is "auto": ', dict(preset="lte", frame_bits=40))):
            with self.subTest(text), self.assertRaisesRegex(ValueError, text):
                gpufec.viterbi_decode(values, **{"preset": "dvb_1_2", "lock": "auto",
                                                 **arguments})
        with self.assertRaisesRegex(ValueError, "values is of 2 dimensions"):
            gpufec.viterbi_decode(values.reshape(2, -1), lock="auto")


if __name__ == "__main__":
    unittest.main()
