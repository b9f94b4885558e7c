#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tests ccsds_fec_receiver and ccsds_deframer with the independent transmitter of ccsds_signals."""

import time
import unittest

import numpy as np
import pmt
from gnuradio import blocks, gpufec, gr

import ccsds_signals as signals
import qa_support as support
from qa_viterbi_running import eventually


def receive(values, block, tags=(), wait_for=0):
    """Runs a block. Returns its output, its tags, its PDUs and its status messages, after waiting
    for `wait_for` PDUs."""
    pdus, status = support.message_sink(), support.message_sink()
    source = support.array_source(values, 4096, 5, tags, held=True)
    sink = blocks.vector_sink_b()
    top = gr.top_block()
    top.connect(source, block, sink)
    top.msg_connect(block, "pdus", pdus, "in")
    top.msg_connect(block, "status", status, "in")
    top.start()
    source.held = False
    # A flowgraph drops messages that are pending when its streams end.
    top.wait()
    deadline = time.monotonic() + 5
    while len(pdus.messages) < wait_for and time.monotonic() < deadline:
        time.sleep(0.01)
    return np.array(sink.data(), np.uint8), sink.tags(), pdus.messages, status.messages


def receiver(**parameters):
    return gpufec.ccsds_fec_receiver(backend="cpu", **parameters)


def frames_of(out, frame_bytes):
    return out.reshape(-1, frame_bytes)


class qa_ccsds(unittest.TestCase):

    def assert_contains(self, out, frames, which):
        """Asserts that `out` has each of the frames `which` once, and no frame that was not
        sent."""
        found = [bytes(row) for row in frames_of(out, frames.shape[1])]
        sent = [bytes(row) for row in frames]
        self.assertEqual([row for row in found if row not in sent], [])
        for index in which:
            self.assertEqual(found.count(sent[index]), 1, f"frame {index}")

    def test_EveryConvolutionalRate_YieldsAllFrames(self):
        for convolutional, sigma in (("ccsds", 0.6), ("ccsds_2_3", 0.45), ("ccsds_3_4", 0.4),
                                     ("ccsds_5_6", 0.35), ("ccsds_7_8", 0.3)):
            for soft_input in ("int8", "float", "uint8"):
                with self.subTest(convolutional, soft_input=soft_input):
                    frames, bits = signals.transmit(8, 446, 3, convolutional, interleaving=2,
                                                    before=1234)
                    values = signals.soft(bits, soft_input, sigma)
                    block = receiver(convolutional=convolutional, interleaving=2,
                                     soft_input=soft_input)
                    out, tags, _, _ = receive(values[1:], block)
                    self.assert_contains(out, frames, range(8))
                    self.assertEqual(block.frame_count(), 8)
                    self.assertEqual(block.failed_frame_count(), 0)
                    self.assertEqual(block.lock_count(), 1)
                    states = [state for _, state in support.tags_of(tags, "ccsds_frame")]
                    self.assertGreater(max(s["channel_error_rate"] for s in states), 0.0004)

    def test_FormatsWithoutConvolutionalCode_YieldAllFrames(self):
        for code, frame_bytes, interleaving, randomiser in (
                ("none", 300, 1, "long"), ("ccsds-239", 478, 2, "short"),
                ("ccsds-223-conventional", 114, 1, "none"),
                ("ccsds-239-conventional", 5 * 100, 5, "long")):
            with self.subTest(code):
                frames, bits = signals.transmit(6, frame_bytes, 4, code=code, before=77,
                                                interleaving=interleaving,
                                                randomiser_name=randomiser)
                block = receiver(convolutional="none", code=code, interleaving=interleaving,
                                 frame_bytes=frame_bytes, randomiser=randomiser)
                out, tags, pdus, _ = receive(signals.soft(bits, sigma=0.2), block, wait_for=6)
                self.assertTrue(np.array_equal(frames_of(out, frame_bytes), frames))
                lengths = support.tags_of(tags, "packet_len")
                self.assertEqual(lengths, [(frame_bytes * i, frame_bytes) for i in range(6)])
                self.assertEqual([bytes(pmt.u8vector_elements(pmt.cdr(p))) for p in pdus],
                                 [bytes(frame) for frame in frames])
                states = support.tags_of(tags, "ccsds_frame")
                period = 32 + len(bits[77:]) // 6 - 32
                for index, (offset, state) in enumerate(states):
                    self.assertEqual(offset, frame_bytes * index)
                    self.assertEqual(str(state), str(pmt.to_python(pmt.car(pdus[index]))))
                    self.assertTrue(state["good"] and state["marker_found"])
                    self.assertFalse(state["inverted"])
                    self.assertEqual(state["position"], 77 + index * period)
                    self.assertGreater(state["marker_correlation"], 0.8)
                    self.assertEqual("corrected" in state, code != "none")
                    self.assertNotIn("channel_error_rate", state)

    def test_PackedBitsAtAnyPhase_YieldAllFrames(self):
        for before in range(9):
            frames, bits = signals.transmit(4, 223, 5, before=before)
            out, tags, _, _ = receive(np.packbits(bits), gpufec.ccsds_deframer())
            self.assertTrue(np.array_equal(frames_of(out, 223), frames))
            self.assertEqual([offset for offset, _ in support.tags_of(tags, "packet_len")],
                             [0, 223, 446, 669])

    def test_RotatedAndReflectedSymbols_YieldAllFrames(self):
        """Each rotation and reflection of QPSK, and split pairs of OQPSK, are resolved with and
        without a convolutional code."""
        for convolutional in ("ccsds", "none"):
            frames, bits = signals.transmit(12, 223, 6, convolutional, before=50)
            values = signals.soft(bits, sigma=0.25)
            for quarters in range(4):
                for swapped in (False, True):
                    for constellation in ("qpsk", "oqpsk"):
                        with self.subTest(convolutional, quarters=quarters, swapped=swapped,
                                          constellation=constellation):
                            turned = signals.rotate(values, quarters, swapped,
                                                    shift=int(constellation == "oqpsk"))
                            block = receiver(convolutional=convolutional,
                                             constellation=constellation)
                            out, _, _, _ = receive(turned, block)
                            # The last bits may be lost with the last incomplete pair.
                            self.assert_contains(out, frames, range(11))

    def test_LdpcCodes_YieldAllFramesAfterSignChange(self):
        for code, esn0_db in (("c2", 3.9), ("ar4ja-1024-1/2", 0.0), ("ar4ja-4096-2/3", 1.5),
                              ("ar4ja-1024-4/5", 3.5)):
            for soft_input in ("int8", "float"):
                with self.subTest(code, soft_input=soft_input):
                    size = {"c2": 892, "ar4ja-4096-2/3": 512}.get(code, 128)
                    frames, bits = signals.transmit(10, size, 7, code=code, before=333)
                    sigma = float(np.sqrt(0.5 * 10**(-esn0_db / 10)))
                    values = signals.soft(bits, "float", sigma) * 2 / sigma**2 # LLRs in nats
                    if soft_input == "int8":
                        values = np.clip(np.rint(2 * values), -127, 127).astype(np.int8)
                    # The sign changes within frame 5, but not between two blocks of 511 bits
                    # of C2, where the change would lead to another codeword.
                    inverted = values.copy()
                    inverted[:333 + int((len(values) - 333) * 0.543)] *= -1
                    block = receiver(convolutional="none", code=code, soft_input=soft_input,
                                     max_iterations=50)
                    out, tags, pdus, _ = receive(inverted, block, wait_for=9)
                    self.assert_contains(out, frames, [0, 1, 2, 3, 4, 6, 7, 8, 9])
                    self.assertEqual((block.frame_count(), block.failed_frame_count()), (9, 1))
                    self.assertEqual(len(pdus), 9)
                    self.assertGreater(block.mean_iterations(), 0)
                    states = [state for _, state in support.tags_of(tags, "ccsds_frame")]
                    self.assertTrue(all(s["good"] and s["ldpc_iterations"] >= 1 for s in states))
                    self.assertTrue(states[0]["inverted"])
                    self.assertFalse(states[-1]["inverted"])
                    self.assertEqual([offset for offset, _ in support.tags_of(tags, "packet_len")],
                                     list(range(0, len(out), size)))

    def test_Cltus_BecomeFramesWithTagsAndPdus(self):
        for code, esn0_db in (("tc-bch", 9.0), ("tc-ldpc-128", 3.0), ("tc-ldpc-512", 1.5)):
            for soft_input in ("int8", "float"):
                with self.subTest(code, soft_input=soft_input):
                    frames, bits = signals.uplink((224, 448, 672), 16, code)
                    sigma = float(np.sqrt(0.5 * 10**(-esn0_db / 10)))
                    values = signals.soft(bits, "float", sigma)
                    if "ldpc" in code:
                        values *= 2 / sigma**2 # LLRs in nats
                    if soft_input == "int8":
                        scale = 2 if "ldpc" in code else 32
                        values = np.clip(np.rint(scale * values), -127, 127).astype(np.int8)
                    block = receiver(convolutional="none", code=code, soft_input=soft_input)
                    out, tags, pdus, status = receive(values, block, wait_for=3)
                    self.assertEqual(bytes(out), b"".join(map(bytes, frames)))
                    self.assertEqual(support.tags_of(tags, "packet_len"),
                                     [(0, 224), (224, 448), (672, 672)])
                    self.assertEqual([bytes(pmt.u8vector_elements(pmt.cdr(p))) for p in pdus],
                                     [bytes(frame) for frame in frames])
                    states = [state for _, state in support.tags_of(tags, "ccsds_frame")]
                    self.assertEqual([s["tail_found"] for s in states],
                                     [code != "tc-ldpc-512"] * 3)
                    self.assertEqual([len(s["corrected"]) for s in states],
                                     [8 * size // {"tc-bch": 56, "tc-ldpc-128": 64,
                                                   "tc-ldpc-512": 256}[code]
                                      for size in (224, 448, 672)])
                    self.assertTrue(all(s["good"] and not s["inverted"] for s in states))
                    self.assertEqual(states[0]["position"], 512)
                    self.assertEqual((block.frame_count(), block.lock_count()), (3, 3))
                    self.assertEqual(block.active_backend(), "cpu")
                    self.assertEqual(pmt.to_python(status[-1])["event"], "ended")
        # The noise is that of tc-ldpc-512, which needs more than an iteration.
        block = receiver(convolutional="none", code=code, soft_input=soft_input, max_iterations=1)
        self.assertLess(len(receive(values, block)[0]), len(out))

    def test_TagsOfCltus_MoveToByteOfTheirBit(self):
        _, bits = signals.uplink((14, 14), 17, "tc-bch")
        # Before the codewords there are 64 bytes of idle sequence and 2 bytes of start sequence.
        tags = [(3, "early", 1), (64, "start", 2), (66 + 2, "inside", 3), (66 + 7, "parity", 4),
                (66 + 8, "second", 5), (66 + 15, "last", 6), (66 + 17, "tail", 7)]
        tags = [(offset, pmt.mp(key), pmt.from_long(value)) for offset, key, value in tags]
        block = gpufec.ccsds_deframer("tc-bch")
        out, found, _, _ = receive(np.packbits(bits), block, tags)
        self.assertEqual(len(out), 28)
        for key, expected in (("early", []), ("start", [(0, 2)]), ("inside", [(2, 3)]),
                              ("parity", [(6, 4)]), ("second", [(7, 5)]), ("last", [(13, 6)]),
                              ("tail", [])):
            self.assertEqual(support.tags_of(found, key), expected, key)

    def test_Slips_CostAtMostTwoFrames(self):
        """After a lost or repeated soft value, or a rotation by 180 degrees, at most two frames are
        lost."""
        for convolutional in ("ccsds", "none"):
            frames, bits = signals.transmit(30, 1115, 8, convolutional, interleaving=5, before=9)
            values = signals.soft(bits, sigma=0.3)
            period = len(values) // 30
            for name, damaged in (
                    ("lost", np.delete(values, 12 * period + 5000)),
                    ("two lost", np.delete(values, [12 * period + 5000] * 2)),
                    ("repeated", np.insert(values, 12 * period + 5000, values[:3])),
                    ("turned", np.append(values[:12 * period + 5000],
                                         -values[12 * period + 5000:]))):
                with self.subTest(convolutional, damage=name):
                    block = receiver(convolutional=convolutional, interleaving=5)
                    out, _, _, _ = receive(damaged, block)
                    self.assert_contains(out, frames, [*range(11), *range(15, 29)])

    def test_UncorrectableFrames_AreDroppedOrMarked(self):
        frames, bits = signals.transmit(5, 446, 9, interleaving=2)
        period = len(bits) // 5
        # Damages 20 symbols of the second codeword of frame 2.
        for symbol in range(20):
            bits[2 * period + 32 + 8 * (2 * symbol + 1)] ^= 1
        packed = np.packbits(bits)
        block = gpufec.ccsds_deframer(interleaving=2)
        out, tags, _, _ = receive(packed, block)
        self.assert_contains(out, frames, [0, 1, 3, 4])
        self.assertEqual((block.frame_count(), block.failed_frame_count()), (4, 1))
        block = gpufec.ccsds_deframer(interleaving=2, drop_failed=False, status_tags="failures",
                                      length_tag="")
        out, tags, _, _ = receive(packed, block)
        self.assertEqual(len(out), 5 * 446)
        self.assertEqual(support.tags_of(tags, "packet_len"), [])
        (offset, state), = support.tags_of(tags, "ccsds_frame")
        self.assertEqual(offset, 2 * 446)
        self.assertEqual(list(state["corrected"]), [0, -1])
        self.assertFalse(state["good"])
        block = gpufec.ccsds_deframer(interleaving=2, drop_failed=False, status_tags="none")
        self.assertEqual(support.tags_of(receive(packed, block)[1], "ccsds_frame"), [])

    def test_SeveralThreads_OutputSameFramesAndTags(self):
        bits = np.tile(signals.transmit(20, 1115, 18, interleaving=5)[1], 40)
        period = len(bits) // 800
        random = np.random.default_rng(19)
        bits[random.integers(0, len(bits), 1500)] ^= 1
        for frame in (50, 51, 333, 700): # cannot be decoded
            bits[frame * period + 1000:frame * period + 3000] ^= 1
        bits = np.delete(bits, [100 * period + 5, 400 * period + 7000, 401 * period + 9])
        results = []
        for threads, buffer in ((1, 0), (4, 0), (4, 5000), (3, 300000)):
            block = gpufec.ccsds_deframer(interleaving=5, threads=threads)
            if buffer:
                block.set_max_output_buffer(buffer)
            source, sink = blocks.vector_source_b(np.packbits(bits).tolist()), blocks.vector_sink_b()
            top = gr.top_block()
            top.connect(source, block, sink)
            top.run()
            tags = [(tag.offset, str(tag.key), str(tag.value)) for tag in sink.tags()]
            results.append((bytes(sink.data()), sorted(tags), block.frame_count(),
                            block.failed_frame_count(), block.corrected_symbol_count(),
                            block.slip_count()))
        self.assertGreater(results[0][2], 780)
        self.assertGreaterEqual(results[0][3], 4)
        for other in results[1:]:
            self.assertTrue(other == results[0])

    def test_InputTags_MoveToItemOfTheirBit(self):
        _, bits = signals.transmit(4, 223, 10, before=800)
        packed = np.packbits(bits) # frame i begins at byte 100 + 259 i
        tags = [(3, "early", 1), (100, "marker", 2), (104, "first", 3), (120, "inside", 4),
                (104 + 230, "parity", 5), (359 + 4 + 222, "last", 6), (120, "packet_len", 9)]
        tags = [(offset, pmt.mp(key), pmt.from_long(value)) for offset, key, value in tags]
        out, found, _, _ = receive(packed, gpufec.ccsds_deframer(), tags)
        self.assertEqual(len(out), 4 * 223)
        for key, expected in (("early", []), ("marker", [(0, 2)]), ("first", [(0, 3)]),
                              ("inside", [(16, 4)]), ("parity", [(222, 5)]),
                              ("last", [(223 + 222, 6)])):
            self.assertEqual(support.tags_of(found, key), expected, key)
        self.assertEqual([value for _, value in support.tags_of(found, "packet_len")], [223] * 4)

    def test_FrameTags_HaveChannelErrorRate(self):
        frames, bits = signals.transmit(12, 1115, 11, "ccsds", interleaving=5)
        block = receiver(interleaving=5)
        _, tags, _, _ = receive(signals.soft(bits, sigma=0.6), block)
        states = [state for _, state in support.tags_of(tags, "ccsds_frame")]
        self.assertEqual(len(states), 12)
        for state in states:
            self.assertAlmostEqual(state["channel_error_rate"], 0.0478, delta=0.01)

    def test_LostViterbiLock_EndsTracking(self):
        """The deframer stops tracking frames while the Viterbi decoder searches for the phase,
        although the deframer receives no bits during the search. Frames after the next lock have
        the channel error rate of that lock."""
        _, bits = signals.transmit(6, 1115, 11, "ccsds", interleaving=5)
        good, bad = (signals.soft(bits, sigma=sigma) for sigma in (0.3, 0.65))
        noise = signals.soft(np.zeros(60000), sigma=100)
        source = support.array_source(np.concatenate([good, noise, bad]), held=True)
        source.limit = len(good)
        block, sink, top = receiver(interleaving=5), blocks.vector_sink_b(), gr.top_block()
        top.connect(source, block, sink)
        top.start()
        try:
            self.assertTrue(eventually(block.locked))
            source.limit += len(noise)
            self.assertTrue(eventually(lambda: not block.locked()))
            source.limit += len(bad)
            self.assertTrue(eventually(block.locked))
        finally:
            source.held = False
            top.wait()
        rates = [s["channel_error_rate"] for _, s in support.tags_of(sink.tags(), "ccsds_frame")]
        self.assertEqual(len(rates), 12)
        self.assertLess(max(rates[:6]), 0.005)
        self.assertGreater(min(rates[6:]), 0.04)

    def test_StatusMessages_HaveEventsAndCounts(self):
        _, bits = signals.transmit(10, 223, 12)
        block = gpufec.ccsds_deframer()
        _, _, _, status = receive(np.packbits(bits), block)
        messages = [pmt.to_python(m) for m in status]
        self.assertEqual([m["event"] for m in messages], ["locked", "ended"])
        self.assertEqual(messages[-1]["frame_count"], 10)
        for name in ("frame_count", "failed_frame_count", "corrected_symbol_count",
                     "missed_marker_count", "lock_count", "loss_count", "slip_count",
                     "unconfirmed_marker_count", "cut_frame_count"):
            self.assertEqual(messages[-1][name], getattr(block, name)(), name)

    def test_WrongCode_VerdictNamesCorrectCode(self):
        _, bits = signals.transmit(14, 446, 13, interleaving=2)
        lines = []
        with support.output_of_process(lines):
            block = gpufec.ccsds_deframer("ccsds-223-conventional", interleaving=2)
            out, _, _, status = receive(np.packbits(bits), block)
            time.sleep(0.3) # waits for the thread that writes the log
        self.assertEqual(len(out), 0)
        self.assertIn('code="ccsds-223", interleaving=2 and randomiser="short" would decode',
                      block.verdict())
        self.assertEqual(sum(block.verdict() in line for line in lines), 1)
        events = [pmt.to_python(m)["event"] for m in status]
        self.assertEqual(events.count("verdict"), 1)

    def test_NoiseAndConstants_YieldNoFrames(self):
        noise = np.random.default_rng(14).normal(0, 40, 2000000).clip(-127, 127).astype(np.int8)
        for parameters in (dict(), dict(convolutional="none"),
                           dict(convolutional="none", code="none", frame_bytes=100),
                           dict(convolutional="none", code="c2"),
                           dict(convolutional="none", code="tc-ldpc-128")):
            for values in (noise, np.zeros(300000, np.int8), np.full(300000, 50, np.int8)):
                block = receiver(**parameters)
                out, tags, _, _ = receive(values, block)
                self.assertEqual((len(out), block.frame_count(), len(tags)), (0, 0, 0), parameters)

    def test_SecondRun_BeginsANewStream(self):
        frames, bits = signals.transmit(5, 223, 15, before=40)
        block = gpufec.ccsds_deframer()
        source = blocks.vector_source_b(np.packbits(bits).tolist())
        sink = blocks.vector_sink_b()
        top = gr.top_block()
        top.connect(source, block, sink)
        for _ in range(2):
            top.run()
            self.assertTrue(np.array_equal(frames_of(np.array(sink.data(), np.uint8), 223),
                                           frames))
            self.assertEqual(block.frame_count(), 5)
            source.rewind()
            sink.reset()

    def test_WrongParameters_AreRefused(self):
        for make, wrong, words in (
                (receiver, dict(code="ccsds-224"), "ccsds-223"),
                (receiver, dict(code="c2"),
                 'convolutional is ccsds: the only allowed value is "none" with code="c2"'),
                (receiver, dict(code="tc-bch"),
                 'convolutional is ccsds: the only allowed value is "none" with code="tc-bch"'),
                (receiver, dict(convolutional="none", code="tc-bch", randomiser="long"),
                 "none and short"),
                (gpufec.ccsds_deframer, dict(code="tc-ldpc-128"), "with bits as input"),
                (gpufec.ccsds_deframer, dict(max_iterations=0), "max_iterations is 0"),
                (gpufec.ccsds_deframer, dict(llr_scale=0), "llr_scale is 0"),
                (receiver, dict(convolutional="dvb"), "dvb_1_2"),
                (receiver, dict(interleaving=0), "interleaving is 0: allowed values are 1 to 8"),
                (receiver, dict(interleaving=-1), "interleaving is -1: allowed values are 1 to 8"),
                (receiver, dict(frame_bytes=224), "up to 223"),
                (receiver, dict(soft_input="packed"), "int8, uint8 and float"),
                (receiver, dict(llr_scale=0), "llr_scale is 0"),
                (receiver, dict(positive_bit=2), "positive_bit is 2: allowed values are 0 and 1"),
                (receiver, dict(flywheel=101), "flywheel is 101: allowed values are 0 to 100"),
                (receiver, dict(false_alarm=0), "false_alarm is 0"),
                (receiver, dict(constellation="8psk"), "bpsk, qpsk and oqpsk"),
                (gpufec.ccsds_deframer, dict(code="c2"), "with bits as input"),
                (gpufec.ccsds_deframer, dict(soft_scale=0, soft_input="float"),
                 "soft_scale is 0"),
                (gpufec.ccsds_deframer, dict(code="none"), "1 to 16384")):
            with self.subTest(**wrong):
                with self.assertRaises(ValueError) as caught:
                    make(**wrong)
                self.assertIn(words, str(caught.exception))


if __name__ == "__main__":
    unittest.main()
