#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
#

"""Tests gpu_viterbi_pbvd with phase search."""

import time
import unittest

import numpy as np
import pmt
import qa_support as support
from gnuradio import blocks, digital, dtv, gpufec, gr

DVB = ["dvb_1_2", "dvb_2_3", "dvb_3_4", "dvb_5_6", "dvb_7_8"]
LOCK = "viterbi_lock"


def transmitted(preset, count, seed, sigma=0.4):
    bits = support.random_bits(count, seed)
    code = support.code_of(gpufec.find_conv_preset(preset))
    return bits, support.soft_values(support.encode(bits, **code), sigma=sigma, seed=seed)


def decoder(**parameters):
    return gpufec.gpu_viterbi_pbvd(**{"preset": "dvb_1_2", "lock": "auto",
                                      "backend": "cpu", "packed_output": False,
                                      **parameters})


def run(items, block, tags=()):
    """Runs `block` on `items`. Returns its output items, its tags, and the messages at its port
    status."""
    sink, messages = blocks.vector_sink_b(), blocks.message_debug()
    graph = gr.top_block()
    graph.connect(support.vector_source(items, tags), block, sink)
    graph.msg_connect((block, "status"), (messages, "store"))
    graph.run()
    events = [pmt.to_python(messages.get_message(i))
              for i in range(messages.num_messages())]
    return np.array(sink.data(), np.uint8), sink.tags(), events


def found(bits, output, start=200, count=2000):
    """Returns the position in `output` of `count` sent bits from `start` on, or of their
    complement. Returns None if `output` contains neither."""
    piece = bits[start:start + count]
    for sought in piece.tobytes(), (1 - piece).astype(np.uint8).tobytes():
        at = output.tobytes().find(sought)
        if at >= 0:
            return at
    return None


class qa_viterbi_lock(unittest.TestCase):

    def test_PresetEqualToRotatedCode_ChangesNoOutput(self):
        """The code ccsds is the decoder's 171,133 with the second output inverted. With QPSK, a
        rotation converts one code into the other, so adding the preset ccsds changes no output."""
        _, values = transmitted("ccsds", 30000, 5)
        expected = run(values, decoder(lock_constellation="qpsk"))[0]
        found = run(values, decoder(lock_constellation="qpsk", lock_presets=["ccsds"]))[0]
        self.assertGreater(len(expected), 20000)
        np.testing.assert_array_equal(found, expected)

    def test_UnknownPairPhase_IsFound(self):
        bits, items = transmitted("dvb_1_2", 30000, 1)
        for skip in 0, 1:
            block = decoder()
            self.assertFalse(block.locked())
            output, tags, events = run(items[skip:], block)
            self.assertTrue(block.locked())
            self.assertIsNotNone(found(bits, output))
            (offset, lock), = support.tags_of(tags, LOCK)
            self.assertEqual(offset, 0)
            self.assertEqual(lock["pair_phase"], skip)
            self.assertEqual((lock["preset"], lock["rotation"], lock["swapped"]),
                             ("dvb_1_2", 0, False))
            self.assertEqual(lock["locks"], 1)
            told = [e for e in events if e["event"] == "lock"]
            self.assertEqual(len(told), 1)
            self.assertEqual({k: told[0][k] for k in lock}, lock)
            state = pmt.to_python(block.lock_state())
            self.assertAlmostEqual(state["error_rate"], 0.006, delta=0.004)
            self.assertGreater(len(output), 29900)

    def test_RotatedSymbolsOfEveryRate_AreFound(self):
        for number, preset in enumerate(DVB):
            bits, items = transmitted(preset, 30000, number + 2, sigma=0.3)
            pairs = items[:len(items) // 2 * 2].reshape(-1, 2).astype(int)
            turned = np.stack([-pairs[:, 1], pairs[:, 0]], axis=1)
            mirrored = pairs[:, ::-1]
            for rotation, swapped, received in ((0, False, pairs), (90, False, turned),
                                                (0, True, mirrored)):
                output, tags, _ = run(received.astype(np.int8).ravel(), decoder(
                    lock_constellation="qpsk", lock_presets=DVB))
                (_, lock), = support.tags_of(tags, LOCK)
                self.assertEqual(lock["preset"], preset)
                # For dvb_5_6, a rotation by 90 degrees turns a codeword into another codeword.
                if preset != "dvb_5_6" or not rotation:
                    self.assertEqual((lock["rotation"], lock["swapped"]),
                                     (rotation, swapped))
                    self.assertIsNotNone(found(bits, output))

    def test_FirstItemQ_ReportsSwappedSymbols(self):
        bits, items = transmitted("dvb_1_2", 30000, 8)
        for first, swapped in ("i", False), ("q", True):
            output, tags, _ = run(items, decoder(lock_constellation="qpsk",
                                                 lock_first_item=first))
            (_, lock), = support.tags_of(tags, LOCK)
            self.assertEqual((lock["rotation"], lock["swapped"]), (0, swapped))
            self.assertIsNotNone(found(bits, output))

    def test_FramesAtAnyOffset_AreFound(self):
        """The decoder locks to terminated frames that begin at any value of the input. The zero
        tails of the frames determine the sign of the values."""
        frame_bits, frames = 189, 100
        code = support.code_of(gpufec.find_conv_preset("gsm"))
        bits = support.random_bits(frame_bits * frames, 17)
        coded = support.encode_frames(bits, frame_bits, termination="terminated", **code)
        items = support.soft_values(coded, sigma=0.4, seed=17)
        size = len(items) // frames
        for skip in 0, 1, 100, size - 1:
            for sign in 1, -1:
                part = (items[skip:].astype(int) * sign).astype(np.int8)
                marks = [(at, pmt.intern("mark"), pmt.from_long(at))
                         for at in range(0, len(part), 401)]
                for packed in False, True:
                    output, tags, events = run(part, decoder(
                        preset="gsm", frame_bits=frame_bits, packed_output=packed),
                        tags=marks)
                    (offset, lock), = support.tags_of(tags, LOCK)
                    self.assertEqual(offset, 0)
                    self.assertEqual((lock["first_value"] + skip) % size, 0)
                    self.assertLessEqual(lock["known_value"], 20 * size)
                    per_frame = (frame_bits + 7) // 8 if packed else frame_bits
                    whole = frames - (skip > 0)
                    self.assertEqual(len(output), whole * per_frame)
                    decoded = output.reshape(whole, per_frame)
                    if packed:
                        decoded = np.unpackbits(decoded, axis=1)[:, :frame_bits]
                    sent = bits.reshape(frames, frame_bits)[frames - whole:]
                    self.assertLess(np.mean(decoded != sent), 0.01)
                    for at, value in support.tags_of(tags, "mark"):
                        frame, place = divmod(value - lock["first_value"], size)
                        bit = min(place // 2, frame_bits - 1) if frame >= 0 else 0
                        self.assertEqual(at, max(frame, 0) * per_frame +
                                         (bit // 8 if packed else bit))

    def test_SignalInEveryFormat_IsFound(self):
        bits, items = transmitted("dvb_3_4", 30000, 9)
        for soft_input, received in (
                ("float", items.astype(np.float32) / 32),
                ("uint8", items.view(np.uint8) ^ np.uint8(128)), ("packed4", None)):
            if received is None:
                four = np.clip(items // 8, -7, 7).astype(np.uint8) & 15
                received = four[:-1:2] << 4 | four[1::2]
            output, _, _ = run(received, decoder(preset="dvb_3_4", soft_input=soft_input))
            self.assertIsNotNone(found(bits, output))

    def test_PackedOutputAfterSlip_BeginsAtAByte(self):
        bits, items = transmitted("dvb_1_2", 40000, 10)
        slip = np.delete(items, 40001)
        output, tags, _ = run(slip, decoder(packed_output=True))
        (first, _), (none, nothing), (second, lock) = support.tags_of(tags, LOCK)
        self.assertEqual(first, 0)
        self.assertEqual((none, nothing), (second, False))
        unpacked = np.unpackbits(output)
        self.assertIsNotNone(found(bits, unpacked[:8 * second], 100, 19000))
        self.assertIsNotNone(found(bits, unpacked[8 * second:], 20300, 15000))

    def test_TagsAfterSlips_MoveToTheirBits(self):
        bits, items = transmitted("dvb_1_2", 100000, 11)
        slips = [50001, 100001, 150001]
        items = np.delete(items, slips)
        marks = [(at, pmt.intern("mark"), pmt.from_long(at))
                 for at in range(10, len(items), 977)]
        output, tags, events = run(items, decoder(), tags=marks)
        locks = [(at, lock) for at, lock in support.tags_of(tags, LOCK) if lock]
        self.assertEqual(len(locks), 4)
        for (_, lock), slip in zip(locks[1:], slips):
            self.assertAlmostEqual(lock["first_value"], slip, delta=200)
        kinds = [e["event"] for e in events if "lock" in e["event"]]
        self.assertEqual(kinds, ["lock"] + 3 * ["unlock", "lock"])
        # Tags are on the bits of their input items, also after slips.
        moved = support.tags_of(tags, "mark")
        self.assertEqual([value for _, value in moved], [value for _, _, value in
                         [(0, 0, at) for at in range(10, len(items), 977)]])
        for offset, value in moved:
            first, lock = [entry for entry in locks if entry[0] <= offset][-1]
            if value > lock["first_value"] + 2:
                self.assertEqual(offset, first + (value - lock["first_value"]) // 2)

    def test_FrequentSlips_AreReportedAndCounted(self):
        _, items = transmitted("dvb_1_2", 100000, 12)
        items = np.delete(items, np.arange(5000, len(items), 5000))
        block = decoder()
        output, tags, events = run(items, block)
        # Every lock is reported, and every value is decoded or counted as dropped.
        changes = [e for e in events if e["event"] in ("lock", "unlock")]
        tagged = [lock for _, lock in support.tags_of(tags, LOCK) if lock]
        self.assertEqual(len(tagged), len([e for e in changes if e["event"] == "lock"]))
        self.assertLessEqual(len(output) * 2, len(items) + 100 * len(tagged))
        self.assertGreaterEqual(len(output) * 2 + block.dropped(),
                                len(items) - 1000 * (1 + len(tagged)))

    def test_NoiseAndConstants_YieldNoLock(self):
        rng = np.random.default_rng(13)
        for items in (np.clip(rng.normal(0, 1, 300000) * 32, -127, 127).astype(np.int8),
                      np.full(300000, 17, np.int8), np.zeros(300000, np.int8)):
            block = decoder(lock_constellation="qpsk", lock_presets=DVB,
                            lock_memory=50000)
            output, _, events = run(items, block)
            self.assertEqual(len(output), 0)
            self.assertFalse(block.locked())
            self.assertEqual(block.dropped(), len(items))
            self.assertEqual([e for e in events if "lock" in e["event"]], [])
        nan = np.full(300000, np.nan, np.float32)
        output, _, _ = run(nan, decoder(soft_input="float"))
        self.assertEqual(len(output), 0)

    def test_LongNoiseBeforeSignal_KeepsOnlyLockMemory(self):
        rng = np.random.default_rng(14)
        bits, items = transmitted("dvb_1_2", 30000, 14)
        noise = rng.integers(-60, 60, 200001).astype(np.int8)
        block = decoder(lock_memory=20000)
        output, tags, _ = run(np.concatenate([noise, items]), block)
        (_, lock), = support.tags_of(tags, LOCK)
        # The lock begins with the oldest buffered value, about lock_memory values before the
        # signal.
        self.assertAlmostEqual(lock["first_value"], len(noise) - 20000, delta=5000)
        self.assertEqual(lock["dropped"], lock["first_value"])
        self.assertIsNotNone(found(bits, output))

    def test_StatusPeriod_RepeatsStatusMessages(self):
        _, items = transmitted("dvb_1_2", 30000, 15)
        for lock in "auto", "off":
            block = decoder(lock=lock, status_period_s=0.05)
            source = support.array_source(items, held=True)
            messages = blocks.message_debug()
            graph = gr.top_block()
            graph.connect(source, block, blocks.null_sink(1))
            graph.msg_connect((block, "status"), (messages, "store"))
            graph.start()
            time.sleep(0.6) # the source is held; status messages continue
            source.held = False
            graph.wait()
            events = [pmt.to_python(messages.get_message(i))
                      for i in range(messages.num_messages())]
            states = [e for e in events if e["event"] == "status"]
            self.assertGreaterEqual(len(states), 3)
            self.assertAlmostEqual(states[-1]["error_rate"], 0.006, delta=0.005)
            if lock == "auto":
                self.assertTrue(states[-1]["locked"])

    def test_WrongParameters_AreRefused(self):
        for parameters, text in (
                (dict(lock="on"), "lock is \"on\": allowed values are off and auto"),
                (dict(lock_constellation="8psk"), "lock_constellation is \"8psk\""),
                (dict(lock_presets=["dvb"]), "dvb"),
                (dict(lock_presets=["dvb_2_3", "lte"]), 'lock_presets is "lte": allowed values are presets'),
                (dict(lock_memory=10), "lock_memory is 10"),
                (dict(lock_first_item="x"), "lock_first_item is \"x\": allowed values are i and q"),
                (dict(preset="gsm", frame_bits=50000), "24 frames"),
                (dict(preset="80211_3_4", frame_bits=100), "whole puncturing periods"),
                (dict(status_period_s=-1), "status_period_s is -1"),
                (dict(preset="lte", frame_bits=100), "lock")):
            with self.assertRaisesRegex(Exception, text):
                decoder(**parameters)

    def test_OutputOfGrDtvCoder_IsDecoded(self):
        rates = dtv.C1_2, dtv.C2_3, dtv.C3_4, dtv.C5_6, dtv.C7_8
        rng = np.random.default_rng(16)
        data = rng.integers(0, 256, 1512 * 2 * 7).astype(np.uint8)
        for preset, rate in zip(DVB, rates):
            coder = dtv.dvbt_inner_coder(1, 1512, dtv.MOD_QPSK, dtv.NH, rate)
            sink = blocks.vector_sink_b(1512)
            graph = gr.top_block()
            graph.connect(blocks.vector_source_b(data.tolist() * 4), coder, sink)
            graph.run()
            symbols = np.array(sink.data(), np.uint8)
            coded = np.stack([symbols >> 1 & 1, symbols & 1], axis=1).ravel()
            self.assertGreater(len(coded), 40000)
            items = support.soft_values(coded, sigma=0.3, seed=16)
            for skip in 0, 1, 5:
                output, tags, _ = run(items[skip:], decoder(lock_presets=DVB))
                (_, lock), = support.tags_of(tags, LOCK)
                self.assertEqual(lock["preset"], preset)
                self.assertIsNotNone(found(np.unpackbits(data), output, 1000, 10000))


if __name__ == "__main__":
    support.main()
