#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
#

"""Tests length tags of blocks that change the rate: converted lengths, alignment, wrong tags."""

import functools
import time
import unittest

import numpy as np
import pmt
from gnuradio import blocks, gpufec, gr, pdu

import qa_bbframe
import qa_support as support

KEY = pmt.intern("packet_len")
DECODER = dict(backend="cuda") if support.SIMULATED else dict(backend="cpu")
WIFI = dict(standard="wifi", frame_size="648", rate="1/2")
PPDU = dict(standard="wifi", rate="2/3", psdu_bytes=200, symbol_bits=312, stbc=True)
DVB = dict(standard="dvbs2", frame_size="short", rate="1/4")
BOOK = gpufec.codebook_random(6, 4, 5, 4)
FRAMES = 6


class vector_source(gr.sync_block):
    """A source that sends an array with tags, in chunks of random size up to `largest` items
    (0: any size)."""

    def __init__(self, items, tags, largest, seed):
        gr.sync_block.__init__(self, "vector_source", None, [items.dtype.type])
        self.items, self.tags = items, sorted(tags, key=lambda tag: tag[0])
        self.random, self.largest, self.at = np.random.default_rng(seed), largest, 0

    def work(self, input_items, output_items):
        n = min(len(output_items[0]), len(self.items) - self.at)
        if n == 0:
            return -1
        if self.largest:
            n = min(n, int(self.random.integers(1, self.largest + 1)))
        while self.tags and self.tags[0][0] < self.at + n:
            self.add_item_tag(0, *self.tags.pop(0))
        output_items[0][:n] = self.items[self.at:self.at + n]
        self.at += n
        return n


def run(block, items, tags=(), largest=0, seed=1, with_pdus=True):
    """Runs `block` on `items`. Returns its output items and tags, and the packets that
    tagged_stream_to_pdu makes of them."""
    sink, store = blocks.vector_sink_b(), blocks.message_debug()
    graph = gr.top_block()
    source = vector_source(items, tags, largest, seed)
    graph.connect(source, block, sink)
    if with_pdus:
        to_pdu = pdu.tagged_stream_to_pdu(gr.types.byte_t, "packet_len")
        graph.connect(block, to_pdu)
        graph.msg_connect(to_pdu, "pdus", store, "store")
    graph.run()
    packets = [np.array(pmt.u8vector_elements(pmt.cdr(store.get_message(i))), np.uint8)
               for i in range(store.num_messages())]
    return np.array(sink.data(), np.uint8), sink.tags(), packets


def length(at, value):
    return at, KEY, value if isinstance(value, pmt.pmt_base) else pmt.from_long(value)


class case:
    """A block in one of its modes: a function that makes the block, its input frames, and the
    expected output of each frame."""

    def __init__(self, name, make, items, packets_are_frames=False):
        self.name, self.make = name, make
        self.frames = items.reshape(FRAMES, -1)
        self.n = self.frames.shape[1]
        self.packets_are_frames = packets_are_frames
        out, _, _ = run(make(), items, with_pdus=False)
        self.outputs = out.reshape(FRAMES, -1)
        self.junk = np.random.default_rng(9).permutation(items)


def bits_of(count, seed=3):
    return support.random_bits(FRAMES * count, seed)


def conv_cases():
    code = dict(frame_bits=64, puncturing="101,110")
    for termination in "terminated", "truncated", "tailbiting":
        for packed_input in True, False:
            for packed_output in True, False:
                parameters = dict(termination=termination, packed_input=packed_input,
                                  packed_output=packed_output, **code)
                bits = bits_of(64)
                yield case(f"conv_encoder {parameters}",
                           lambda p=parameters, **more: gpufec.conv_encoder(**p, **more),
                           np.packbits(bits) if packed_input else bits)


def viterbi_cases():
    for termination in "terminated", "truncated", "tailbiting":
        coded = support.encode_frames(bits_of(64), 64, termination=termination)
        for soft_input in "int8", "float", "packed4":
            parameters = dict(termination=termination, frame_bits=64, batch=4,
                              soft_input=soft_input, packed_output=soft_input != "float")
            yield case(f"gpu_viterbi_pbvd {parameters}",
                       lambda p=parameters, **more: gpufec.gpu_viterbi_pbvd(
                           **p, **DECODER, **{k + "_key": v for k, v in more.items()}),
                       support.soft_values(coded, soft_input, 0.3))


def codewords_of(code, bits):
    out, _, _ = run(gpufec.ldpc_encoder(**code, packed_input=False, packed_output=False),
                    bits, with_pdus=False)
    return 6 * (1 - 2 * out.astype(np.int8))


def ldpc_cases():
    for code, k in ((WIFI, 324), (dict(standard="nr", frame_size="bg2 z16", rate="10/20"),
                                  160)):
        for packed in True, False:
            bits = bits_of(k)
            yield case(f"ldpc_encoder {code} {packed}",
                       lambda c=code, p=packed, **more: gpufec.ldpc_encoder(
                           **c, packed_input=p, packed_output=p, **more),
                       support.pack_frames(bits, k) if packed else bits)
        for parameters in (dict(), dict(packed_output=False), dict(output="codeword"),
                           dict(output="llr"), dict(soft_input="float")):
            llr = codewords_of(code, bits_of(k))
            if "soft_input" in parameters:
                llr = llr.astype(np.float32)
            yield case(f"gpu_ldpc_dvbs2 {code} {parameters}",
                       lambda c=code, p=parameters, **more: gpufec.gpu_ldpc_dvbs2(
                           batch=2, **c, **p, **DECODER, **more), llr)
    for packed in True, False: # PPDUs of two codewords
        bits = bits_of(1616)
        yield case(f"ldpc_encoder {PPDU} {packed}",
                   lambda p=packed, **more: gpufec.ldpc_encoder(
                       **PPDU, packed_input=p, packed_output=p, **more),
                   np.packbits(bits) if packed else bits)
        yield case(f"gpu_ldpc_dvbs2 {PPDU} {packed}",
                   lambda p=packed, **more: gpufec.gpu_ldpc_dvbs2(
                       batch=3, **PPDU, packed_output=p, **DECODER, **more),
                   codewords_of(PPDU, bits))
    llr = codewords_of(DVB, bits_of(3240))
    for parameters, items in (
            (dict(output="bbframe", max_iterations=3), llr),
            (dict(soft_input="symbols", esn0="given", max_iterations=3),
             (llr[::2] + 1j * llr[1::2]).astype(np.complex64))):
        yield case(f"gpu_ldpc_dvbs2 {parameters}",
                   lambda p=parameters, **more: gpufec.gpu_ldpc_dvbs2(
                       batch=2, **DVB, **p, **DECODER, **more), items)


def bch_cases():
    for packed in True, False:
        bits = bits_of(3072)
        coded, _, _ = run(gpufec.bch_encoder(**DVB, packed_input=False,
                                             packed_output=False), bits, with_pdus=False)
        form = np.packbits if packed else np.asarray
        for block, items in (gpufec.bch_encoder, bits), (gpufec.bch_decoder, coded):
            yield case(f"{block.__name__} {packed}",
                       lambda b=block, p=packed, **more: b(
                           **DVB, packed_input=p, packed_output=p, **more), form(items))


def rs_cases():
    parameters = dict(code="dvb", interleaving=2, virtual_fill=100)
    random = np.random.default_rng(4)
    messages = random.integers(0, 256, FRAMES * 176).astype(np.uint8)
    frames, _, _ = run(gpufec.rs_encoder(**parameters), messages, with_pdus=False)
    frames[random.choice(len(frames), 40, replace=False)] ^= 0x5a
    for block, items in (gpufec.rs_encoder, messages), (gpufec.rs_decoder, frames):
        yield case(block.__name__, lambda b=block, **more: b(**parameters, **more), items)


def sync_cases():
    symbols = np.random.default_rng(3).integers(0, 4, FRAMES * 5).astype(np.uint8)
    yield case("sync_encoder",
               lambda **more: gpufec.sync_encoder(BOOK, q=4, n=6, frame_symbols=5, **more),
               symbols, True)
    yield case("channel_bsid",
               lambda length_tag="packet_len": gpufec.channel_bsid(
                   0, 0, 0.3, frame_bits=60, length_tag=length_tag), bits_of(60), True)


def all_cases():
    for cases in conv_cases, viterbi_cases, ldpc_cases, bch_cases, rs_cases, sync_cases:
        yield from cases()


BAD_LENGTHS = (0, -7, 2**31, 2**40, -2**62, pmt.intern("x"), pmt.from_double(1.5),
               pmt.PMT_NIL, pmt.PMT_T, pmt.from_uint64(2**63), pmt.make_dict(),
               pmt.cons(pmt.from_long(1), pmt.from_long(2)))


def each_case(test):
    """Decorates `test`, a method with a parameter `case`, so that it runs once for each case."""
    @functools.wraps(test)
    def with_all(self):
        for case in self.cases:
            with self.subTest(case.name):
                test(self, case)
    return with_all


class qa_length_tags(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cases = list(all_cases())

    def check(self, case, items, tags, expected, lost, largest=0, seed=1):
        """Expects exactly the packets `expected` in the output. A packet is a list of indices of
        frames in the case; `lost` is the expected number of skipped frames."""
        block = case.make()
        out, found, packets = run(block, items, tags, largest, seed)
        if case.packets_are_frames:
            expected = [[f] for packet in expected for f in packet]
        expected = [case.outputs[packet].ravel() for packet in expected]
        if case.name.startswith("channel_bsid"): # dropped items change the channel's noise
            self.assertEqual([len(p) for p in packets], [len(p) for p in expected])
        else:
            np.testing.assert_array_equal(out, np.concatenate([[], *expected]))
            self.assertEqual(len(packets), len(expected))
            for packet, frames in zip(packets, expected):
                np.testing.assert_array_equal(packet, frames)
        starts = np.cumsum([0] + [len(frames) for frames in expected])
        self.assertEqual(support.tags_of(found, "packet_len"),
                         [(int(at), len(frames)) for at, frames in zip(starts, expected)])
        if hasattr(block, "skipped_frame_count"):
            self.assertEqual(block.skipped_frame_count(), lost)

    @each_case
    def test_TaggedFrames_BecomeOnePduEach(self, case):
        for largest in 0, case.n // 2 + 1:
            self.check(case, case.frames.ravel(),
                       [length(case.n * f, case.n) for f in range(FRAMES)],
                       [[f] for f in range(FRAMES)], 0, largest)

    @each_case
    def test_PacketsOfFrames_StayTogether(self, case):
        self.check(case, case.frames.ravel(),
                   [length(0, 2 * case.n), length(2 * case.n, 3 * case.n),
                    length(5 * case.n, case.n)], [[0, 1], [2, 3, 4], [5]], 0)

    @each_case
    def test_TruncatedFrame_LosesNoOther(self, case):
        """The third frame has only 5/7 of its items. Only the third frame is lost, whether its
        length tag has the actual or the full length."""
        cut = case.n * 5 // 7
        items = np.concatenate([case.frames[:2].ravel(), case.frames[2][:cut],
                                case.frames[3:].ravel()])
        starts = [0, case.n, 2 * case.n] + [2 * case.n + cut + f * case.n
                                            for f in range(3)]
        for promised in cut, case.n:
            tags = [length(at, promised if f == 2 else case.n)
                    for f, at in enumerate(starts)]
            for largest in 0, case.n // 3:
                self.check(case, items, tags, [[0], [1], [3], [4], [5]], 1, largest)

    @each_case
    def test_ImpossibleLength_LosesItsFrame(self, case):
        for value in BAD_LENGTHS if case is self.cases[0] else BAD_LENGTHS[:2]:
            tags = [length(case.n * f, value if f == 2 else case.n)
                    for f in range(FRAMES)]
            self.check(case, case.frames.ravel(), tags, [[0], [1], [3], [4], [5]], 1)

    @each_case
    def test_SeveralTagsOnOneItem_LastApplies(self, case):
        tags = [length(case.n * f, case.n) for f in range(FRAMES)]
        self.check(case, case.frames.ravel(), [length(0, 3)] + tags,
                   [[f] for f in range(FRAMES)], 0)
        self.check(case, case.frames.ravel(), tags + [length(4 * case.n, 3)],
                   [[0], [1], [2], [3], [5]], 1)

    @each_case
    def test_ItemsOutsidePackets_AreDroppedAfterFirstTag(self, case):
        n, gap = case.n, case.junk[:case.n * 4 // 3]
        items = np.concatenate([case.frames[0], gap, case.frames[1], case.frames[2]])
        self.check(case, items, [length(0, n), length(n + len(gap), n)], [[0], [1]], 0)

    @each_case
    def test_FramesBeforeTheFirstTag_AreCounted(self, case):
        """Input before the first tag is divided into frames. An incomplete frame ends at the
        tag."""
        n = case.n
        items = np.concatenate([case.frames[0], case.frames[1], case.junk[:n // 2],
                                case.frames[2], case.frames[3]])
        block = case.make()
        out, _, _ = run(block, items, [length(2 * n + n // 2, 2 * n)], n // 3, 4,
                        with_pdus=False)
        if not case.name.startswith("channel_bsid"):
            np.testing.assert_array_equal(out, case.outputs[:4].ravel())
        if hasattr(block, "skipped_frame_count"):
            self.assertEqual(block.skipped_frame_count(), 1)

    @each_case
    def test_InputWithoutTags_IsDividedAsWithoutKey(self, case):
        out, _, _ = run(case.make(), case.frames.ravel(), with_pdus=False)
        np.testing.assert_array_equal(out, case.outputs.ravel())

    @each_case
    def test_EmptyKey_LeavesTagsUnchanged(self, case):
        if case.name.startswith("channel_bsid"):
            return # channel_bsid needs a length tag key for framed mode
        tags = [length(case.n * f + 1, 3) for f in range(FRAMES)]
        out, found, _ = run(case.make(length_tag=""), case.frames.ravel(), tags,
                            with_pdus=False)
        np.testing.assert_array_equal(out, case.outputs.ravel())
        self.assertEqual([value for _, value in support.tags_of(found, "packet_len")],
                         [3] * FRAMES)

    @each_case
    def test_EndOfInputInsideAFrame_EndsTheBlock(self, case):
        n = case.n
        tags = [length(0, n), length(n, n), length(2 * n, n)]
        for end in 2 * n + 1, 2 * n + n // 2: # inside the third frame
            self.check(case, case.frames.ravel()[:end], tags, [[0], [1]], 0)
        self.check(case, case.frames.ravel()[:n + n // 2], [length(0, 2 * n + 1)], [], 1)

    @each_case
    def test_OtherTags_StayWithTheirFrames(self, case):
        n, mark = case.n, pmt.intern("mark")
        cut = n // 2
        items = np.concatenate([case.frames[0], case.frames[1][:cut], case.frames[2]])
        tags = [length(0, n), length(n, n), length(n + cut, n)]
        tags += [(at, mark, pmt.from_long(at)) for at in (0, n, n + cut - 1, n + cut)]
        _, found, _ = run(case.make(), items, tags, n // 3, 5)
        size = len(case.outputs[0])
        self.assertEqual([(at // size, value) for at, value in
                          support.tags_of(found, "mark")], [(0, 0), (1, n + cut)])

    def storm(self, case, seed):
        """Makes a random sequence of correct, cut and wrongly tagged packets with frames of `case`,
        and with gaps. Returns items, tags, the packets to expect, and the number of lost frames."""
        random = np.random.default_rng(seed)
        parts, tags, expected, lost = [], [], [], 0
        kind, at = "whole", 0

        def append(items, value):
            nonlocal at
            if value is not None:
                tags.append(length(at, value))
            parts.append(items)
            at += len(items)

        for _ in range(60):
            f = int(random.integers(FRAMES - 1))
            some = int(random.integers(1, case.n))
            if kind == "whole":
                many = int(random.integers(1, 3))
                if random.integers(8) == 0:
                    tags.append(length(at, some)) # the next tag, on the same item, replaces it
                append(case.frames[f:f + many].ravel(), many * case.n)
                expected.append(list(range(f, f + many)))
                if random.integers(3) == 0:
                    append(np.resize(case.junk, some), None)
            elif kind == "cut":
                append(case.frames[f][:some], case.n)
            elif kind == "short":
                append(case.frames[f][:some], some)
            else:
                append(np.resize(case.junk, int(random.integers(1, 3 * case.n))),
                       BAD_LENGTHS[random.integers(len(BAD_LENGTHS))])
            lost += kind != "whole"
            kind = ["whole", "whole", "cut", "short", "bad"][random.integers(5)]
        append(case.frames[0], case.n)
        return np.concatenate(parts), tags, expected + [[0]], lost

    @each_case
    def test_RandomBadTags_LoseOnlyTheirFrames(self, case):
        seed = len(case.name)
        items, tags, expected, lost = self.storm(case, seed)
        for largest in 0, 7, 3 * case.n:
            if largest != 7 or len(items) < 30000:
                self.check(case, items, tags, expected, lost, largest, seed)

    @each_case
    def test_BadTags_CauseOneWarningEach(self, case):
        kinds = ("not a multiple of", "inside a", "several length tags", "outside ")
        items, tags, _, _ = self.storm(case, 3)
        lines = []
        with support.output_of_process(lines):
            run(case.make(), items, tags)
            time.sleep(0.3) # waits for the thread that writes the log
        for kind in kinds:
            count = sum("warn" in line and kind in line for line in lines)
            self.assertTrue(1 <= count <= 2 if kind == "inside a" else count == 1,
                            (kind, lines))

    def test_RightTags_CauseNoWarning(self):
        lines = []
        with support.output_of_process(lines):
            for case in self.cases:
                for largest in 0, case.n // 3:
                    run(case.make(), case.frames.ravel(),
                        [length(case.n * f, case.n) for f in range(FRAMES)], largest)
            time.sleep(0.3)
        self.assertFalse([line for line in lines if "warn" in line], lines)

    @each_case
    def test_Restart_BeginsANewStream(self, case):
        """After a run that ended inside a packet, the next run does not wait for the
        remainder of the packet."""
        if case.name.startswith("channel_bsid"):
            return
        block = case.make()
        run(block, case.frames.ravel()[:case.n * 3 // 2], [length(0, 3 * case.n)],
            with_pdus=False)
        out, _, _ = run(block, case.frames.ravel(), with_pdus=False)
        np.testing.assert_array_equal(out, case.outputs.ravel())

    @each_case
    def test_LockAndUnlock_LoseNoFrame(self, case):
        """lock() loses the items in buffers, so the decoder first reads all sent items, even of an
        incomplete frame. With a simulated device, which reads input in place, only complete frames
        are sent before lock()."""
        frames = np.random.default_rng(5).integers(FRAMES, size=60)
        items, missing = case.frames[frames].ravel(), 0 if support.SIMULATED else 1
        tags = [length(f * case.n, case.n) for f in range(60)]
        source = support.array_source(items, 2 * case.n, 2, tags, held=True)
        sink, block = blocks.vector_sink_b(), case.make()
        expected = case.outputs[frames].ravel()
        graph = gr.top_block()
        graph.connect(source, block, sink)
        source.limit, read = 0, 0
        graph.start()
        for part in range(1, 4):
            source.limit = len(items) * part // 4 - missing
            given = len(expected) * part // 4 - missing * len(case.outputs[0])
            deadline = time.monotonic() + 60
            while time.monotonic() < deadline and (
                    len(sink.data()) < given or
                    missing and read + block.nitems_read(0) < source.limit):
                time.sleep(0.01)
            read += block.nitems_read(0)
            graph.lock()
            graph.unlock()
        source.limit, source.held = len(items), False
        graph.wait()
        if case.name.startswith("channel_bsid"): # the noise is not that of case.outputs
            self.assertEqual(len(sink.data()), len(expected))
        else:
            np.testing.assert_array_equal(np.array(sink.data(), np.uint8), expected)


class qa_streams(unittest.TestCase):
    """Tests packets in streams without frames. The beginning and the end of a packet are rounded in
    the same way, so that adjacent packets remain adjacent."""

    def test_ConvEncoderStream_ConvertsLengths(self):
        bits = support.random_bits(2400, 1)
        starts = np.cumsum([0, 100, 37, 3, 900, 1300])
        tags = [length(int(at), int(n)) for at, n in zip(starts, np.diff([*starts, 2400]))]
        for packed_output in True, False:
            for puncturing, rate in ("", 2), ("101,110", 4 / 3):
                for largest in 0, 11:
                    _, found, _ = run(gpufec.conv_encoder(
                        packed_input=False, packed_output=packed_output,
                        puncturing=puncturing), bits, tags, largest, with_pdus=False)
                    found = support.tags_of(found, "packet_len")
                    self.assertEqual(sum(n for _, n in found),
                                     2400 * rate // (8 if packed_output else 1))
                    for (at, n), (following, _) in zip(found, found[1:]):
                        self.assertEqual(at + n, following)

    def test_ImpossibleLengthsOfAStream_AreDropped(self):
        bits = support.random_bits(2400, 1)
        tags = [length(i, value) for i, value in enumerate(BAD_LENGTHS)] + [length(99, 10)]
        out, found, _ = run(gpufec.conv_encoder(packed_input=False, packed_output=False),
                            bits, tags, with_pdus=False)
        np.testing.assert_array_equal(out, support.encode(bits))
        self.assertEqual(support.tags_of(found, "packet_len"), [(198, 20)])

    def test_ChannelOfAStream_DropsLengthTags(self):
        bits = support.random_bits(20000, 1)
        tags = [length(i, 3) for i in range(0, 20000, 3)]
        out, found, _ = run(gpufec.channel_bsid(0, 0, 0), bits, tags, 100, with_pdus=False)
        np.testing.assert_array_equal(out, bits)
        self.assertEqual(list(found), [])


class qa_acm(unittest.TestCase):
    """Tests frames that have both a tag with their code and a length tag."""

    codes = [("short", "1/4"), ("short", "8/9"), ("normal", "1/2"), ("short", "1/2")]

    @classmethod
    def setUpClass(cls):
        cls.llr, cls.messages = [], []
        for size, rate in cls.codes:
            code = dict(frame_size=size, rate=rate)
            k = gpufec.ldpc_code(**code).k
            bits = support.random_bits(k, k)
            out, _, _ = run(gpufec.ldpc_encoder(**code, packed_input=False,
                                                packed_output=False), bits, with_pdus=False)
            cls.llr.append(6 * (1 - 2 * out.astype(np.int8)))
            cls.messages.append(np.packbits(bits))

    def named(self, at, f):
        return at, pmt.intern("ldpc_code"), pmt.intern(" ".join(self.codes[f]))

    def decode(self, parts, largest=0, **parameters):
        """Decodes a stream of `parts` (items, index of the code or None, length or None). Code and
        length become tags on the first item of the part. Returns the block, and the three values
        that run() returns."""
        items = np.concatenate([part[0] for part in parts])
        starts = np.cumsum([0] + [len(part[0]) for part in parts]).tolist()
        tags = [self.named(at, part[1]) for at, part in zip(starts, parts)
                if part[1] is not None]
        tags += [length(at, part[2]) for at, part in zip(starts, parts)
                 if part[2] is not None]
        block = gpufec.gpu_ldpc_dvbs2(frame_size="short", rate="1/4", acm=True, batch=2,
                                      **DECODER, **parameters)
        return block, *run(block, items, tags, largest, 3)

    def test_FramesOfManyCodes_BecomeOnePduEach(self):
        order = [0, 2, 1, 1, 3, 0]
        for largest in 0, 9000:
            block, _, tags, packets = self.decode(
                [(self.llr[f], f, len(self.llr[f])) for f in order], largest)
            self.assertEqual(len(packets), len(order))
            for f, packet in zip(order, packets):
                np.testing.assert_array_equal(packet, self.messages[f])
            self.assertEqual([n for _, n in support.tags_of(tags, "packet_len")],
                             [len(self.messages[f]) for f in order])
            self.assertEqual(block.skipped_frame_count(), 0)

    def test_CutFrames_AreCountedOnce(self):
        """A frame that the next frame's tags cut short is counted once, even if its own length tag
        is wrong. The next frame has a code tag and a length tag, or only a length tag. The last
        stream has no cut frame."""
        llr = self.llr
        cut = llr[2][:5000]
        for largest in 0, 7777:
            for parts, whole, lost in (
                    ([(llr[0], 0, 16200), (cut, 2, 64800), (llr[1], 1, 16200)], [0, 1], 1),
                    ([(llr[0], 0, 16200), (llr[0][:99], None, 16200), (llr[0], None, 16200)],
                     [0, 0], 1),
                    ([(llr[0], 0, 16200), (cut, 2, 5000), (llr[1], 1, 16200)], [0, 1], 1),
                    ([(llr[0], 0, 16200), (cut, 2, 16200), (llr[1], 1, 16200)], [0, 1], 1),
                    ([(llr[0], 0, 16200), (llr[0], None, 16200), (llr[2], 2, 64800)],
                     [0, 0, 2], 0)):
                block, _, tags, packets = self.decode(parts, largest)
                self.assertEqual(len(packets), len(whole))
                for f, packet in zip(whole, packets):
                    np.testing.assert_array_equal(packet, self.messages[f])
                self.assertEqual(block.skipped_frame_count(), lost)
                self.assertEqual([n for _, n in support.tags_of(tags, "ldpc_skipped")],
                                 [lost] if lost else [])

    def test_UnknownCode_LosesItsFrame(self):
        """A dummy frame (MODCOD 0) is skipped according to its length tag, and counted."""
        tags = [(0, pmt.intern("ldpc_code"), pmt.intern("short 1/4")), length(0, 16200),
                (16200, pmt.intern("XFECFRAME"), pmt.cons(pmt.from_long(0), pmt.PMT_T)),
                length(16200, 16200), self.named(32400, 1), length(32400, 16200)]
        items = np.concatenate([self.llr[0], np.zeros(16200, np.int8), self.llr[1]])
        block = gpufec.gpu_ldpc_dvbs2(acm=True, batch=2, **DECODER)
        _, _, packets = run(block, items, tags)
        self.assertEqual(len(packets), 2)
        np.testing.assert_array_equal(packets[0], self.messages[0])
        np.testing.assert_array_equal(packets[1], self.messages[1])
        self.assertEqual(block.skipped_frame_count(), 1)

    def test_UnknownKeyOfACode_IsRefusedByName(self):
        right = dict(frame_size="short", rate="8/9")
        for more, without, named in (
                (dict(shortened=7), (), "shortened is not one of constellation, frame_size"),
                (dict(Rate="8/9"), ("rate",), "Rate is not one of"),
                (dict(), ("rate",), "it has no rate"),
                (dict(rate=0.5), (), "its rate is not a string")):
            value = {k: v for k, v in {**right, **more}.items() if k not in without}
            value = pmt.to_pmt(value)
            code = pmt.intern("ldpc_code")
            tags = [(0, code, value), (16200, code, value), self.named(32400, 0)]
            items = np.concatenate([self.llr[1], self.llr[1], self.llr[0]])
            lines = []
            with support.output_of_process(lines):
                block = gpufec.gpu_ldpc_dvbs2(acm=True, **DECODER)
                out, _, _ = run(block, items, tags, with_pdus=False)
                time.sleep(0.3) # waits for the thread that writes the log
            np.testing.assert_array_equal(out, self.messages[0])
            self.assertEqual(block.skipped_frame_count(), 2)
            logged = [line for line in lines if "the code that a tag names is not known" in line]
            self.assertEqual(len(logged), 1, lines)
            self.assertIn(named, logged[0])
            self.assertIn("(frame_size . short)", logged[0])

    def test_ListsAsTagValues_AreShortInMessages(self):
        circle = pmt.cons(pmt.PMT_T, pmt.PMT_T)
        pmt.set_cdr(circle, circle)
        nested = pmt.PMT_T
        for _ in range(100000):
            nested = pmt.cons(nested, pmt.PMT_NIL)
        for value, text in (
                (pmt.cons(pmt.from_long(31), pmt.PMT_T), "(31 . #t)"),
                (pmt.make_tuple(pmt.from_long(1), pmt.intern("a")), "{1 a}"),
                (circle, "a list that is long or contains itself"),
                (nested, "a list that is long or contains itself"),
                (pmt.init_u8vector(1000, [1] * 1000), "...")):
            lines = []
            with support.output_of_process(lines):
                run(gpufec.ldpc_encoder(**WIFI), np.zeros(41, np.uint8), [length(0, value)],
                    with_pdus=False)
                time.sleep(0.3)
            logged = [line for line in lines if "length tag packet_len of" in line]
            self.assertEqual(len(logged), 1, lines)
            self.assertIn(text, logged[0])
            self.assertLess(len(logged[0]), 400)
        # Frees the list step by step, because recursive destructors might overflow the stack.
        while pmt.is_pair(nested):
            nested = pmt.car(nested)


class qa_transport_streams(unittest.TestCase):
    def test_LengthOfBbframe_BecomesLengthOfItsPackets(self):
        """bbframe_to_ts and dvbs2_fec_receiver, with one MODCOD and with ACM, replace the length
        tags of ten frames by tags with the lengths of their packets."""
        packets, frames = qa_bbframe.transport_packets(130), []
        units, at = qa_bbframe.bits_of_units(packets), 0
        n, k = qa_bbframe.lengths(("dvbs2", "short", "8/9"))
        for _ in range(10):
            frame, at = qa_bbframe.frame_of(units, at, k)
            frames.append(frame)
        scrambled = np.concatenate(frames) ^ np.tile(qa_bbframe.scrambling()[:k // 8], 10)
        sent, _, _ = run(gpufec.bch_encoder("dvbs2", "short", "8/9"), scrambled,
                         with_pdus=False)
        coded, _, _ = run(gpufec.ldpc_encoder("dvbs2", "short", "8/9", packed_output=False),
                          sent, with_pdus=False)
        symbols = ((1 - 2.0 * coded[::2]) + 1j * (1 - 2.0 * coded[1::2])).astype(np.complex64)
        code = pmt.cons(pmt.from_long(10), pmt.PMT_T)
        for acm in False, True:
            tags = [length(8100 * f, 8100) for f in range(10)]
            tags += [(8100 * f, pmt.intern("XFECFRAME"), code) for f in range(10) if acm]
            receiver = gpufec.dvbs2_fec_receiver("short", "8/9", acm=acm, esn0="given",
                                                 **DECODER)
            out, found, pdus = run(receiver, symbols, tags)
            self.check(packets, out, found, pdus)
        block = gpufec.bbframe_to_ts("dvbs2", "short", "8/9", length_tag="packet_len")
        self.check(packets, *run(block, scrambled, [length(k // 8 * f, k // 8)
                                                    for f in range(10)]))

    def check(self, packets, out, tags, pdus):
        self.assertGreater(len(out), 90 * 188)
        np.testing.assert_array_equal(out, packets.ravel()[:len(out)])
        lengths = support.tags_of(tags, "packet_len")
        self.assertEqual(len(lengths), 10)
        self.assertEqual(sum(n for _, n in lengths), len(out))
        np.testing.assert_array_equal(np.concatenate(pdus), out)


if __name__ == "__main__":
    support.main()
