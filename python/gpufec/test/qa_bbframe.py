#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
#

"""Tests bbframe_to_ts: packets from gr-dtv's BBFRAMEs, lost and wrong frames, tags, messages and
warnings; and BBFRAMEs that gpu_ldpc_dvbs2 and bch_decoder output."""

import time
import unittest

import numpy as np
import pmt
from gnuradio import blocks, dtv, gpufec, gr
import qa_support
import qa_ldpc
from qa_bch import DTV_FRAMES, every_code, lengths
from qa_ldpc import CODES, T2


def transport_packets(count, seed=1):
    packets = np.random.default_rng(seed).integers(0, 256, (count, 188), np.uint8)
    packets[:, 0] = 0x47
    packets[:, 1] &= 0x7f # clears the transport error indicator
    packets[::7, 1:4] = 0x1f, 0xff, 0x10 # null packets, which must not be lost
    return packets


def dtv_frames(theirs, packets, scrambled=True, mode=dtv.INPUTMODE_NORMAL):
    """Returns BBFRAMEs that gr-dtv makes of packets, one bit per byte. `theirs` has gr-dtv's
    standard, frame size and code."""
    header = dtv.dvb_bbheader_bb(*theirs, dtv.RO_0_20, mode, dtv.INBAND_OFF, 168, 4000000)
    sink = blocks.vector_sink_b()
    graph = gr.top_block()
    chain = [qa_support.vector_source(packets.ravel()), header]
    if scrambled:
        chain.append(dtv.dvb_bbscrambler_bb(*theirs))
    graph.connect(*chain, sink)
    graph.run()
    return np.array(sink.data(), np.uint8)


def extract(items, code, tags=(), **parameters):
    block = gpufec.bbframe_to_ts(*code, **parameters)
    items, tags = qa_support.run(qa_support.vector_source(items, tags), block)
    return block, items, tags


def packed_frames(code, bits):
    _, k = lengths(code)
    whole = bits[:len(bits) // k * k].reshape(-1, k)
    return np.packbits(whole, axis=1)


def crc8(data):
    r = 0
    for byte in data:
        r ^= int(byte)
        for _ in range(8):
            r = (r << 1) ^ (0x1d5 if r & 0x80 else 0)
    return r


def bits_of_units(packets):
    """Returns the bits of the user packets of `packets` (EN 302 307-1, 5.1), in which the CRC-8 of
    the previous packet replaces each sync byte."""
    units = packets.copy()
    units[:, 0] = [0] + [crc8(p[1:]) for p in packets[:-1]]
    return np.unpackbits(units.ravel())


def scrambling():
    """Returns the scrambling sequence of EN 302 307-1, 5.2.2, as packed bits."""
    stages = [1, 0, 0, 1, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0]
    bits = []
    for _ in range(58320):
        bits.append(stages[13] ^ stages[14])
        stages = [bits[-1]] + stages[:-1]
    return np.packbits(bits)


def frame_of(units, at, k):
    """Returns a packed BBFRAME of `k` bits whose data field begins at bit `at` of `units`, and the
    bit at which the data field ends."""
    dfl = k - 80
    syncd = -at % 1504
    header = np.array([0xf0, 0, 1504 >> 8, 1504 & 255, dfl >> 8, dfl & 255, 0x47,
                       syncd >> 8, syncd & 255], np.uint8)
    header = np.append(header, np.uint8(crc8(header)))
    return np.packbits(np.concatenate([np.unpackbits(header), units[at:at + dfl]])), at + dfl


def warnings_of(frames, code, **parameters):
    """Returns the warnings, as lines, that bbframe_to_ts logs for `frames`, packed BBFRAMEs of
    `code`."""
    lines = []
    with qa_support.output_of_process(lines):
        extract(frames.ravel(), code, **parameters)
        time.sleep(0.3) # waits for the thread that writes the log
    return [line for line in lines if "warning" in line]


class qa_bbframe(unittest.TestCase):
    def test_FramesWithWrongHeaders_CauseOneWarning(self):
        code, theirs = next(iter(every_code()))
        packets = transport_packets(12 * lengths(code)[1] // 1504 + 2, 1)
        random = np.random.default_rng(1)
        for scrambled, right in ((True, "use descramble=True"),
                                 (False, "use descramble=False")):
            frames = packed_frames(code, dtv_frames(theirs, packets, scrambled))
            self.assertEqual(warnings_of(frames, code, descramble=scrambled), [])
            lines = warnings_of(frames, code, descramble=not scrambled)
            self.assertEqual(len(lines), 1, lines)
            self.assertIn(right, lines[0])
            broken = frames.copy()
            broken[:4] = random.integers(0, 256, broken[:4].shape) # the first four are noise
            self.assertEqual(warnings_of(broken, code, descramble=scrambled), [])
        for other in (random.integers(0, 256, frames.shape, np.uint8), 0 * frames):
            lines = warnings_of(other, code, descramble=True)
            self.assertEqual(len(lines), 1, lines)
            self.assertIn("check standard, frame_size, rate and descramble", lines[0])

    def test_BbframesOfGrDtv_YieldPacketsForEveryCode(self):
        """Packets of more than nine BBFRAMEs are recovered without errors or gaps, although the
        first CRC-8 from gr-dtv belongs to no packet."""
        count = 0
        for code, theirs in every_code():
            with self.subTest(code):
                _, k = lengths(code)
                packets = transport_packets(12 * k // 1504 + 2, count)
                for scrambled in (True, False):
                    bits = dtv_frames(theirs, packets, scrambled)
                    frames = packed_frames(code, bits)
                    block, items, tags = extract(frames.ravel(), code, descramble=scrambled)
                    self.assertGreater(len(items), 9 * k // 8)
                    self.assertEqual(len(items) % 188, 0)
                    self.assertTrue(np.array_equal(items, packets.ravel()[:len(items)]))
                    self.assertEqual(block.frame_count(), len(frames))
                    self.assertEqual(block.packet_count(), len(items) // 188)
                    self.assertEqual((block.dropped_frame_count(), block.gap_count(),
                                      block.packet_error_count(),
                                      block.generic_frame_count()), (0, 0, 0, 0))
                    self.assertEqual(qa_support.tags_of(tags, "ts_begin"), [(0, -1)])
                    self.assertEqual(qa_support.tags_of(tags, "ts_error"), [])
                count += 1
        self.assertEqual(count, 75)

    def test_HighEfficiencyModeOfT2_YieldsPackets(self):
        for size, rates in T2.items():
            for rate in rates[:3]:
                with self.subTest(size=size, rate=rate):
                    code = ("dvbt2", size, rate)
                    theirs = (dtv.STANDARD_DVBT2, DTV_FRAMES[size],
                              getattr(dtv, "C" + rate.replace("/", "_")))
                    packets = transport_packets(400)
                    frames = packed_frames(code, dtv_frames(theirs, packets,
                                                            mode=dtv.INPUTMODE_HIEFF))
                    block, items, _ = extract(frames.ravel(), code)
                    self.assertGreater(len(items), 10 * 188)
                    self.assertTrue(np.array_equal(items, packets.ravel()[:len(items)]))
                    self.assertEqual(block.gap_count(), 0)
                    block, items, _ = extract(frames.ravel(), ("dvbs2", size, rate)
                                              if size == "normal" else
                                              ("dvbs2", "short", rate))
                    self.assertEqual(block.dropped_frame_count(), len(frames))
                    self.assertEqual(len(items), 0)

    def example(self, code=("dvbs2", "short", "8/9"), count=100):
        theirs = (dtv.STANDARD_DVBS2, DTV_FRAMES[code[1]],
                  getattr(dtv, "C" + code[2].replace("/", "_")))
        packets = transport_packets(count)
        return packets, packed_frames(code, dtv_frames(theirs, packets))

    def test_LostAndBrokenFrames_AreCounted(self):
        code = ("dvbs2", "short", "8/9")
        packets, frames = self.example(code)
        received = np.delete(frames, 3, axis=0)      # frame 3 is lost
        received[6, 5] ^= 1                          # a wrong header in frame 7
        received[8, 500] ^= 1                        # a wrong bit in frame 9
        block, items, tags = extract(received.ravel(), code)
        self.assertEqual((block.dropped_frame_count(), block.gap_count(),
                          block.packet_error_count()), (1, 1, 1))
        kept = [p for p in range(len(packets))
                if not any(188 * p + 1 < 1769 * (f + 1) and 188 * (p + 1) + 1 > 1769 * f
                           for f in (3, 7))]
        kept = [p for p in kept if 188 * (p + 1) < 1769 * len(frames)]
        found = items.reshape(-1, 188)
        self.assertEqual(len(found), len(kept))
        differ = [i for i, p in enumerate(kept) if not np.array_equal(found[i], packets[p])]
        self.assertEqual(len(differ), 1)
        self.assertEqual(found[differ[0], 1], packets[kept[differ[0]], 1] | 0x80)
        self.assertEqual(qa_support.tags_of(tags, "ts_error"), [(188 * differ[0], True)])
        jumps = [0] + [i for i in range(1, len(kept)) if kept[i] != kept[i - 1] + 1]
        self.assertEqual(qa_support.tags_of(tags, "ts_begin"), [(188 * i, -1) for i in jumps])
        self.assertEqual(len(jumps), 3)

    def test_InputInChunks_YieldsPacketsAndTags(self):
        code = ("dvbs2", "short", "8/9")
        packets, frames = self.example(code)
        tags = [(0, pmt.mp("a"), pmt.from_long(0)), (1779 * 4 + 9, pmt.mp("a"),
                                                     pmt.from_long(4))]
        source = qa_support.array_source(np.concatenate([frames.ravel(), frames[0, :100]]),
                                         900, 3, tags)
        items, out = qa_support.run(source, gpufec.bbframe_to_ts(*code))
        self.assertTrue(np.array_equal(items, packets.ravel()[:len(items)]))
        first = 1769 * 4 // 188 * 188 # offset in bytes of the packet in which frame 4 begins
        self.assertEqual(qa_support.tags_of(out, "a"), [(0, 0), (first, 4)])

    def test_TagsOfTheStreamBeforeARestart_AreDropped(self):
        """A new run outputs no tags from the previous run's incomplete frame, or from packets that
        the previous run did not output."""
        code = ("dvbs2", "short", "8/9")
        _, frames = self.example(code, 600)
        partial = np.concatenate([frames[:2].ravel(), frames[2, :500]])
        tags = [(2 * 1779 + 9, pmt.mp("a"), pmt.from_long(1))]
        broken = frames.copy()
        broken[:, 60::188] ^= 1  # a wrong bit in each packet
        block = gpufec.bbframe_to_ts(*code)
        block.set_max_noutput_items(188)
        block.set_max_output_buffer(4096)  # small, so that packets remain in the block
        for source, most in ((qa_support.vector_source(partial, tags), 1 << 20),
                             (qa_support.vector_source(broken.ravel()), 188)):
            graph = gr.top_block()
            graph.connect(source, block, blocks.head(1, most), blocks.vector_sink_b())
            graph.run()
            _, found = qa_support.run(qa_support.vector_source(frames.ravel()), block)
            self.assertEqual([(pmt.symbol_to_string(t.key), t.offset) for t in found],
                             [("ts_begin", 0)])

    def test_FramesOfDifferentLengths_YieldContinuousPackets(self):
        """With length tags, packets continue across frames of different lengths, as with ACM."""
        rates = ["1/4", "8/9", "3/5", "1/2"]
        frames, tags, at = [], [], 0
        packets = transport_packets(130)
        units = bits_of_units(packets)
        for i in range(20):
            _, k = lengths(("dvbs2", "short", rates[i % 4]))
            frame, at = frame_of(units, at, k)
            tags.append((sum(map(len, frames)), pmt.mp("length"), pmt.from_long(k // 8)))
            frames.append(frame)
        block, items, _ = extract(np.concatenate(frames), ("dvbs2", "short", "1/4"), tags,
                                  descramble=False, length_tag="length")
        self.assertGreater(len(items), 70 * 188)
        self.assertTrue(np.array_equal(items, packets.ravel()[:len(items)]))
        self.assertEqual((block.frame_count(), block.gap_count()), (20, 0))

    def frames_of_ldpc(self, code, count, sigma, seed=1):
        """Returns the bits of `count` BBFRAMEs, one frame per row, and the int8 LLRs of their
        codewords with noise of standard deviation `sigma`."""
        n, k = lengths(code)
        bits = qa_support.random_bits(count * k, seed)
        chain = (gpufec.bch_encoder(*code, packed_input=False),
                 gpufec.ldpc_encoder(*code, packed_output=False))
        sink = blocks.vector_sink_b()
        graph = gr.top_block()
        graph.connect(qa_support.vector_source(bits), *chain, sink)
        graph.run()
        coded = np.array(sink.data(), np.uint8)
        noise = np.random.default_rng(seed).standard_normal(len(coded))
        llr = 8 * (1 - 2.0 * coded + sigma * noise)
        return bits.reshape(count, k), np.clip(np.rint(llr), -127, 127).astype(np.int8)

    def test_LdpcOfEveryCode_YieldsBbframes(self):
        """gpu_ldpc_dvbs2 outputs the scrambled BBFRAMEs of gr-dtv or, with descramble, BBFRAMEs
        from which bbframe_to_ts extracts the sent packets."""
        for size, rate, k, es_n0 in CODES:
            with self.subTest(size=size, rate=rate):
                sent, symbols = qa_ldpc.dtv_transmit(size, rate, 2)
                llr = qa_ldpc.to_int8(qa_ldpc.demap(symbols, es_n0 + 0.6))
                _, k_bch = lengths(("dvbs2", size, rate))
                expected = np.packbits(sent[:2 * k].reshape(2, k)[:, :k_bch], axis=1)
                items, tags = qa_ldpc.decode(llr, frame_size=size, rate=rate,
                                             max_iterations=50, output="bbframe")
                self.assertTrue(np.array_equal(items, expected.ravel()))
                at = [0, k_bch // 8]
                self.assertEqual(qa_support.tags_of(tags, "bch_valid"), [(i, True) for i in at])
                self.assertEqual(qa_support.tags_of(tags, "bch_errors"), [(i, 0) for i in at])
                self.assertEqual([i for i, _ in qa_support.tags_of(tags, "ldpc_valid")], at)
                items, _ = qa_ldpc.decode(llr, frame_size=size, rate=rate, max_iterations=50,
                                          output="bbframe", descramble=True)
                block, ts, _ = extract(items, ("dvbs2", size, rate), descramble=False)
                self.assertEqual((block.frame_count(), block.dropped_frame_count()), (2, 0))
                packets = np.random.default_rng(2).integers(0, 256, (100, 188), np.uint8)
                packets[:, 0] = 0x47
                self.assertGreater(len(ts), 0)
                self.assertTrue(np.array_equal(ts, packets.ravel()[:len(ts)]))

    def test_LdpcWithBbframeOutput_EqualsLdpcAndBch(self):
        """gpu_ldpc_dvbs2 with output "bbframe" has the same items and tags as gpu_ldpc_dvbs2 before
        bch_decoder, for frames with errors that BCH corrects and for frames with too many
        errors."""
        code = ("dvbs2", "normal", "8/9")
        n, k = lengths(code)
        bits, llr = self.frames_of_ldpc(code, 20, 0.46, 9)
        ldpc = dict(frame_size=code[1], rate=code[2], max_iterations=4)
        messages, before = qa_ldpc.decode(llr, **ldpc)
        expected, expected_tags = qa_support.run(qa_support.vector_source(messages),
                                                 gpufec.bch_decoder(*code))
        marks = [(n * 9 // 8 * i + 80, pmt.mp("a"), pmt.from_long(i)) for i in range(20)]
        for packed in (True, False):
            for largest in (0, 1000):
                items, tags = qa_ldpc.decode(llr, marks, largest=largest, output="bbframe",
                                             packed_output=packed, **ldpc)
                unit = 8 if packed else 1
                self.assertTrue(np.array_equal(items if packed else np.packbits(items),
                                               expected))
                for key in "bch_errors", "bch_valid":
                    found = [(at * unit, value) for at, value in qa_support.tags_of(tags, key)]
                    self.assertEqual(found, [(at * 8, value) for at, value in
                                             qa_support.tags_of(expected_tags, key)])
                self.assertEqual(qa_support.tags_of(tags, "a"),
                                 [((k * i + 80) // unit, i) for i in range(20)])
                self.assertEqual([v for _, v in qa_support.tags_of(tags, "ldpc_valid")],
                                 [v for _, v in qa_support.tags_of(before, "ldpc_valid")])
        errors = [e for _, e in qa_support.tags_of(expected_tags, "bch_errors")]
        self.assertTrue(-1 in errors and max(errors) > 0)
        failed = [i * k // 8 for i, e in enumerate(errors) if e < 0]
        for status, at in ("failures", failed), ("none", []):
            _, tags = qa_ldpc.decode(llr, output="bbframe", status_tags=status, **ldpc)
            self.assertEqual([i for i, _ in qa_support.tags_of(tags, "bch_valid")], at)
            self.assertEqual(qa_support.tags_of(tags, "bbframe_length"), [])

    def test_AcmFrames_YieldPacketsOutsideLostFrame(self):
        """With frames of several codes, of which one is replaced by noise, all packets outside that
        frame are decoded and reassembled."""
        codes = [("dvbs2", "short", "1/4"), ("dvbs2", "normal", "8/9"),
                 ("dvbs2", "short", "8/9"), ("dvbs2", "normal", "1/2")]
        packets = transport_packets(300)
        units, at = bits_of_units(packets), 0
        llr, marks, lengths_sent = [], [], []
        for i in range(11):
            code = codes[i % 4]
            _, k = lengths(code)
            frame, at = frame_of(units, at, k)
            chain = (gpufec.bch_encoder(*code), gpufec.ldpc_encoder(*code,
                                                                   packed_output=False))
            scrambled = frame ^ scrambling()[:len(frame)]
            sink = blocks.vector_sink_b()
            graph = gr.top_block()
            graph.connect(qa_support.vector_source(scrambled), *chain, sink)
            graph.run()
            marks.append((sum(map(len, llr)), pmt.mp("ldpc_code"),
                          pmt.mp(f"{code[1]} {code[2]}")))
            llr.append(qa_ldpc.clean(np.array(sink.data(), np.uint8)))
            lengths_sent.append(k // 8)
        for i in (5,): # replaces a frame by noise
            noise = np.random.default_rng(3).integers(-20, 20, len(llr[i]))
            llr[i] = noise.astype(np.int8)
        decoder = gpufec.gpu_ldpc_dvbs2(backend="cpu", acm=True, output="bbframe",
                                        descramble=True, max_iterations=5)
        sink, between = blocks.vector_sink_b(), blocks.vector_sink_b()
        packets_of = gpufec.bbframe_to_ts(descramble=False, length_tag="bbframe_length")
        graph = gr.top_block()
        graph.connect(qa_support.vector_source(np.concatenate(llr), marks), decoder,
                      packets_of, sink)
        graph.connect(decoder, between)
        graph.run()
        starts = np.cumsum([0] + lengths_sent[:-1]).tolist()
        self.assertEqual(qa_support.tags_of(between.tags(), "bbframe_length"),
                         list(zip(starts, lengths_sent)))
        self.assertEqual([v for _, v in qa_support.tags_of(between.tags(), "bch_valid")],
                         [i != 5 for i in range(11)])
        self.assertEqual((packets_of.frame_count(), packets_of.dropped_frame_count()), (11, 1))
        self.assertEqual(packets_of.packet_error_count(), 0)
        found = np.array(sink.data(), np.uint8).reshape(-1, 188)
        fields = np.cumsum([0] + [8 * n - 80 for n in lengths_sent])
        whole = [p for p in range(300) if 1504 * (p + 1) + 8 <= fields[-1]
                 and not (1504 * p + 8 < fields[6] and 1504 * (p + 1) + 8 > fields[5])]
        self.assertTrue(np.array_equal(found, packets[whole]))

    def test_BbframesOfOtherCodes_AreRefused(self):
        for wrong in (dict(standard="wifi", frame_size="648"), dict(punctured=[1]),
                      dict(standard="dvbs2x", frame_size="medium", rate="1/5"),
                      dict(code_file="some.alist"), dict(named_codes={"a": "b"})):
            with self.assertRaisesRegex(ValueError, 'output is "bbframe"'):
                gpufec.gpu_ldpc_dvbs2(output="bbframe", **wrong)

    def test_StatusAndPdus_ArePublished(self):
        code = ("dvbs2", "short", "8/9")
        _, frames = self.example(code)
        block = gpufec.bbframe_to_ts(*code, descramble=False)
        generic = np.zeros(1779, np.uint8)
        generic[:9] = 0x70, 0, 0, 0, 40 * 8 >> 8, 40 * 8 & 255, 0, 0, 0
        generic[9] = crc8(generic[:9])
        generic[10:] = np.arange(1769)
        graph = gr.top_block()
        status, pdus = qa_support.message_sink(), qa_support.message_sink()
        sink = blocks.vector_sink_b()
        graph.connect(qa_support.vector_source(np.tile(generic, 3)), block, sink)
        graph.msg_connect(block, "generic", pdus, "in")
        graph.msg_connect(block, "status", status, "in")
        graph.run()
        self.assertEqual(len(sink.data()), 0)
        self.assertEqual(block.generic_frame_count(), 3)
        self.assertEqual(len(pdus.messages), 3)
        meta = pmt.to_python(pmt.car(pdus.messages[0]))
        self.assertEqual(meta, {"ts_gs": 1, "isi": -1})
        self.assertEqual(list(pmt.u8vector_elements(pmt.cdr(pdus.messages[0]))),
                         generic[:50].tolist())
        last = pmt.to_python(status.messages[-1])
        self.assertEqual((last["event"], last["frame_count"], last["generic_frame_count"]),
                         ("ended", 3, 3))

    def test_BbframesFromBchDecoder_YieldPackets(self):
        """bch_decoder corrects 12 wrong bits per frame from gr-dtv's encoder, and more than 200 of
        300 packets follow without errors."""
        code = ("dvbs2", "normal", "3/4")
        n, _ = lengths(code)
        theirs = (dtv.STANDARD_DVBS2, dtv.FECFRAME_NORMAL, dtv.C3_4)
        packets = transport_packets(300)
        sent, _ = qa_support.run(qa_support.vector_source(dtv_frames(theirs, packets)),
                                 dtv.dvb_bch_bb(*theirs))
        received = sent.reshape(-1, n).copy()
        received[:, 100:2500:200] ^= 1 # 12 errors per frame
        corrected, _ = qa_support.run(qa_support.vector_source(np.packbits(received)),
                                      gpufec.bch_decoder(*code))
        block, items, _ = extract(corrected, code)
        self.assertGreater(len(items), 200 * 188)
        self.assertTrue(np.array_equal(items, packets.ravel()[:len(items)]))
        self.assertEqual(block.packet_error_count(), 0)

    def test_WrongParameters_AreRefused(self):
        for wrong, text in ((dict(isi=256), "isi is 256"), (dict(isi=-2), "isi is -2"),
                            (dict(rate="7/8"), 'rate is "7/8"')):
            with self.assertRaisesRegex(ValueError, text):
                gpufec.bbframe_to_ts(**wrong)


if __name__ == "__main__":
    qa_support.main()
