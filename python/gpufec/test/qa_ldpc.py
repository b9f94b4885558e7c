#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
#

"""Tests gpu_ldpc_dvbs2 and ldpc_encoder in flowgraphs. gr-dtv transmits every code of DVB-S2."""

import tempfile
import unittest

import numpy as np
import pmt
from gnuradio import blocks, dtv, gpufec, gr
import qa_support

# By rate: K of the LDPC code, and the required Es/N0 in dB for QPSK (EN 302 307-1, tables 5 and
# 13).
NORMAL = {"1/4": (16200, -2.35), "1/3": (21600, -1.24), "2/5": (25920, -0.30),
          "1/2": (32400, 1.00), "3/5": (38880, 2.23), "2/3": (43200, 3.10),
          "3/4": (48600, 4.03), "4/5": (51840, 4.68), "5/6": (54000, 5.18),
          "8/9": (57600, 6.20), "9/10": (58320, 6.42)}
SHORT_K = {"1/4": 3240, "1/3": 5400, "2/5": 6480, "1/2": 7200, "3/5": 9720,
           "2/3": 10800, "3/4": 11880, "4/5": 12600, "5/6": 13320, "8/9": 14400}
CODES = ([("normal", rate, k, es) for rate, (k, es) in NORMAL.items()]
         + [("short", rate, k, NORMAL[rate][1] + 0.3) for rate, k in SHORT_K.items()])
BITS = {"normal": 64800, "short": 16200}
S2X = {"normal": ["13/45", "9/20", "90/180", "96/180", "11/20", "100/180", "104/180", "26/45",
                  "18/30", "28/45", "23/36", "116/180", "20/30", "124/180", "25/36", "128/180",
                  "13/18", "132/180", "22/30", "135/180", "140/180", "7/9", "154/180"],
       "short": ["11/45", "4/15", "14/45", "7/15", "8/15", "26/45", "32/45"]}
VL_SNR = [("normal", "2/9", "normal", "C2_9_VLSNR"), ("medium", "1/5", "medium", "C1_5_MEDIUM"),
          ("medium", "11/45", "medium", "C11_45_MEDIUM"),
          ("medium", "1/3", "medium", "C1_3_MEDIUM"),
          ("short sf2", "1/5", "short", "C1_5_VLSNR_SF2"),
          ("short sf2", "11/45", "short", "C11_45_VLSNR_SF2"),
          ("short", "1/5", "short", "C1_5_VLSNR"), ("short", "4/15", "short", "C4_15_VLSNR"),
          ("short", "1/3", "short", "C1_3_VLSNR")]
T2 = {"normal": ["1/2", "3/5", "2/3", "3/4", "4/5", "5/6"],
      "short": ["1/4", "1/3", "2/5", "1/2", "3/5", "2/3", "3/4", "4/5", "5/6"]}
# The alist text of a (7, 4) Hamming code.
HAMMING = ("7 3\n3 4\n1 1 2 1 2 2 3\n4 4 4\n1 0 0\n2 0 0\n1 2 0\n3 0 0\n1 3 0\n2 3 0\n"
           "1 2 3\n1 3 5 7\n2 3 6 7\n4 5 6 7\n")


def dtv_transmit(size, rate, frames):
    """Sends random packets with gr-dtv's transmitter. Returns the output bits of its BCH encoder,
    and the QPSK symbols of `frames` frames."""
    code = getattr(dtv, "C" + rate.replace("/", "_"))
    frame = dtv.FECFRAME_NORMAL if size == "normal" else dtv.FECFRAME_SHORT
    count = (frames + 3) * BITS[size] // (188 * 8) + 8
    packets = np.random.default_rng(2).integers(0, 256, (count, 188), np.uint8)
    packets[:, 0] = 0x47
    graph = gr.top_block()
    source = blocks.vector_source_b(packets.ravel().tolist())
    parameters = (dtv.STANDARD_DVBS2, frame, code)
    header = dtv.dvb_bbheader_bb(*parameters, dtv.RO_0_20, dtv.INPUTMODE_NORMAL,
                                 dtv.INBAND_OFF, 168, 4000000)
    bch = dtv.dvb_bch_bb(*parameters)
    symbols, sent = blocks.vector_sink_c(), blocks.vector_sink_b()
    graph.connect(source, header, dtv.dvb_bbscrambler_bb(*parameters), bch,
                  dtv.dvb_ldpc_bb(*parameters, dtv.MOD_QPSK),
                  dtv.dvbs2_interleaver_bb(frame, code, dtv.MOD_QPSK),
                  dtv.dvbs2_modulator_bc(frame, code, dtv.MOD_QPSK,
                                         dtv.INTERPOLATION_OFF), symbols)
    graph.connect(bch, sent)
    graph.run()
    count = frames * BITS[size] // 2
    return (np.array(sent.data(), np.uint8),
            np.array(symbols.data(), np.complex64)[:count])


def demap(symbols, es_n0_db, seed=5):
    """Adds noise to `symbols`, QPSK of energy 1. Returns their LLRs as floats in nats."""
    random = np.random.default_rng(seed)
    variance = 10 ** (-es_n0_db / 10) / 2
    noisy = symbols.view(np.float32) + np.sqrt(variance) * random.standard_normal(
        2 * len(symbols))
    return (np.sqrt(2) / variance * noisy).astype(np.float32)


def encode(bits, packed_input=False, packed_output=False, **code):
    encoder = gpufec.ldpc_encoder(packed_input=packed_input, packed_output=packed_output,
                                  **code)
    items, _ = qa_support.run(qa_support.vector_source(bits), encoder)
    return items


def to_int8(llr, scale=2.0):
    return np.clip(np.rint(llr * scale), -127, 127).astype(np.int8)


def decode(llr, tags=(), backend="cpu", largest=0, **parameters):
    decoder = gpufec.gpu_ldpc_dvbs2(backend=backend, **parameters)
    return qa_support.run(qa_support.vector_source(llr, tags), decoder, largest)


def clean(codeword, amplitude=6.0):
    return to_int8(amplitude * (1.0 - 2.0 * codeword))


class qa_ldpc(unittest.TestCase):
    def every_code_from_gr_dtv(self, backend):
        for size, rate, k, es_n0 in CODES:
            with self.subTest(size=size, rate=rate):
                frames = 2
                sent, symbols = dtv_transmit(size, rate, frames)
                self.assertEqual(len(symbols), frames * BITS[size] // 2)
                llr = to_int8(demap(symbols, es_n0 + 0.6))
                items, tags = decode(llr, backend=backend, frame_size=size, rate=rate,
                                     max_iterations=50)
                expected = np.packbits(sent[:frames * k])
                self.assertTrue(np.array_equal(items, expected))
                valid = qa_support.tags_of(tags, "ldpc_valid")
                self.assertEqual(valid, [(0, True), (k // 8, True)])

    def test_CodewordsOfGrDtv_AreDecoded(self):
        self.every_code_from_gr_dtv("cpu")

    def test_CodewordsOfGrDtv_AreDecodedOnCuda(self):
        if qa_support.cuda_missing():
            self.skipTest(qa_support.cuda_missing())
        self.every_code_from_gr_dtv("cuda")

    def test_Encoder_EqualsGrDtv(self):
        for size, rate, k, _ in CODES:
            with self.subTest(size=size, rate=rate):
                sent, symbols = dtv_transmit(size, rate, 2)
                coded = encode(sent[:2 * k], frame_size=size, rate=rate)
                self.assertTrue(np.array_equal(coded, symbols.view(np.float32) < 0))

    def test_Encoder_EqualsGrDtvForS2xAndT2(self):
        """Compares codes of DVB-S2X and DVB-T2. The unpunctured codes of S2X (normal 2/9, medium)
        are left out, because gr-dtv has only the punctured codes of VL-SNR frames."""
        def check(standard, size, rate, dtv_standard, frame, code, modulation=dtv.MOD_OTHER):
            encoder = gpufec.ldpc_encoder(standard, size, rate, packed_input=False,
                                          packed_output=False)
            sent = qa_support.random_bits(8 * 64800, 5)
            ours, _ = qa_support.run(qa_support.vector_source(sent), encoder)
            theirs, _ = qa_support.run(qa_support.vector_source(sent), dtv.dvb_ldpc_bb(
                dtv_standard, frame, code, modulation))
            count = min(len(ours), len(theirs))
            self.assertGreater(count, 4 * 14000)
            self.assertTrue(np.array_equal(ours[:count], theirs[:count]))

        code_of = lambda rate: getattr(dtv, "C" + rate.replace("/", "_"))
        frames = {"normal": dtv.FECFRAME_NORMAL, "short": dtv.FECFRAME_SHORT,
                  "medium": dtv.FECFRAME_MEDIUM}
        for size, rates in S2X.items():
            for rate in rates:
                with self.subTest(standard="dvbs2x", size=size, rate=rate):
                    check("dvbs2x", size, rate, dtv.STANDARD_DVBS2, frames[size],
                          code_of(rate))
        for size, rate, frame, code in VL_SNR:
            with self.subTest(size=size, rate=rate):
                check("dvbs2x", "vl-snr " + size, rate, dtv.STANDARD_DVBS2, frames[frame],
                      getattr(dtv, code), dtv.MOD_BPSK)
        for size, rates in T2.items():
            for rate in rates:
                with self.subTest(standard="dvbt2", size=size, rate=rate):
                    check("dvbt2", size, rate, dtv.STANDARD_DVBT2, frames[size],
                          code_of(rate))

    def test_CodesOfOtherStandards_AreDecoded(self):
        """Codes of other standards, and one with custom puncturing and shortening, are decoded."""
        for parameters, k, sent in (
                (dict(standard="wifi", frame_size="648", rate="5/6"), 540, 648),
                (dict(standard="nr", frame_size="bg2 z16", rate="10/20"), 160, 320),
                (dict(standard="ccsds_c2", frame_size="8160", rate="7/8"), 7136, 8160),
                (dict(standard="ccsds_ar4ja", frame_size="1024", rate="1/2"), 1024, 2048),
                (dict(standard="dvbs2x", frame_size="vl-snr short", rate="1/5"), 3240,
                 14976),
                (dict(frame_size="short", punctured=[16000, 16199],
                      shortened=list(range(10, 30))), 7180, 16178)):
            with self.subTest(parameters=parameters):
                bits = qa_support.random_bits(4 * k, 1)
                coded = encode(bits, **parameters)
                self.assertEqual(len(coded), 4 * sent)
                llr = clean(coded)
                llr[::sent] = 0  # erases one bit per frame
                tags = [(sent + 7, pmt.mp("a"), pmt.from_long(1))]
                items, out = decode(llr, tags, packed_output=False, **parameters)
                self.assertTrue(np.array_equal(items, bits))
                self.assertEqual(qa_support.tags_of(out, "ldpc_valid"),
                                 [(i * k, True) for i in range(4)])
                (offset, _), = qa_support.tags_of(out, "a")
                self.assertTrue(k <= offset < 2 * k)

    def test_BaseMatrixFile_IsEncodedAndDecoded(self):
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write("# of no standard\nlifting 5\n0 1 -1 0 -1\n2 -1 3 1 0\npunctured 3\n")
            file.flush()
            bits = qa_support.random_bits(15 * 8, 7)
            coded = encode(bits, code_file=file.name)
            self.assertEqual(len(coded), 24 * 8)
            items, _ = decode(clean(coded), code_file=file.name, packed_output=False)
            self.assertTrue(np.array_equal(items, bits))
            file.write("0 1 2 x 4\n")
            file.flush()
            with self.assertRaisesRegex(ValueError, 'line 6: a shift of block 4 is "x"'):
                gpufec.ldpc_encoder(code_file=file.name)

    def test_PackedEncoder_EqualsCodewordOutput(self):
        bits = qa_support.random_bits(2 * 7200, 1)
        packed, _ = qa_support.run(qa_support.vector_source(np.packbits(bits)),
                                   gpufec.ldpc_encoder(frame_size="short"))
        coded = encode(bits, frame_size="short")
        self.assertTrue(np.array_equal(packed, np.packbits(coded)))
        for packed_output in (True, False):
            items, _ = decode(clean(coded), frame_size="short", output="codeword",
                              packed_output=packed_output)
            expected = np.packbits(coded) if packed_output else coded
            self.assertTrue(np.array_equal(items, expected))

    def test_InputInChunks_YieldsWholeFrames(self):
        bits = qa_support.random_bits(5 * 14400, 2)
        llr = clean(encode(bits, frame_size="short", rate="8/9"))
        decoder = gpufec.gpu_ldpc_dvbs2(frame_size="short", rate="8/9", backend="cpu",
                                        packed_output=False, batch=2)
        source = qa_support.array_source(np.concatenate([llr, llr[:5000]]), 3000, 4)
        items, tags = qa_support.run(source, decoder)
        self.assertTrue(np.array_equal(items, bits))
        self.assertEqual([t[0] for t in qa_support.tags_of(tags, "ldpc_iterations")],
                         [14400 * i for i in range(5)])

    def test_NansAndInfinities_DisturbNoOtherBits(self):
        bits = qa_support.random_bits(2 * 7200, 3)
        llr = (8.0 * (1.0 - 2.0 * encode(bits, frame_size="short"))).astype(np.float32)
        llr[:16200:50] = np.nan
        llr[1:16200:50] *= np.inf
        llr[16200:] = np.random.default_rng(1).choice([np.nan, 1, -1, np.inf], 16200)
        items, tags = decode(llr, frame_size="short", soft_input="float")
        self.assertTrue(np.array_equal(items[:900], np.packbits(bits[:7200])))
        self.assertEqual(len(items), 1800)
        self.assertEqual(qa_support.tags_of(tags, "ldpc_valid"),
                         [(0, True), (900, False)])
        self.assertGreater(qa_support.tags_of(tags, "ldpc_syndrome_weight")[0][1], 0)

    def test_Tags_MoveToTheirBits(self):
        bits = qa_support.random_bits(2 * 7200, 4)
        llr = clean(encode(bits, frame_size="short"))
        tags = [(0, "a", 0), (8, "a", 1), (7199, "a", 2), (16199, "a", 3),
                (16200 + 801, "a", 4)]
        tags = [(o, pmt.mp(k), pmt.from_long(v)) for o, k, v in tags]
        _, out = decode(llr, tags, frame_size="short")
        self.assertEqual(qa_support.tags_of(out, "a"),
                         [(0, 0), (1, 1), (899, 2), (899, 3), (1000, 4)])

    def test_StatusTags_AreOnSelectedFrames(self):
        bits = qa_support.random_bits(6 * 7200, 4)
        llr = clean(encode(bits, frame_size="short"))
        broken = llr.copy()
        broken[16200:32400] = np.random.default_rng(1).integers(-20, 20, 16200)
        own = [(5, pmt.mp("mine"), pmt.from_long(1))]
        items = {}
        for which, frames in ("all", range(6)), ("failures", [1]), ("none", []):
            items[which], tags = decode(broken, own, frame_size="short",
                                        status_tags=which)
            for key in "ldpc_iterations", "ldpc_valid":
                self.assertEqual([o for o, _ in qa_support.tags_of(tags, key)],
                                 [900 * f for f in frames])
            self.assertEqual([o for o, _ in qa_support.tags_of(tags, "ldpc_syndrome_weight")],
                             [900] if which != "none" else [])
            self.assertEqual(qa_support.tags_of(tags, "mine"), [(0, 1)])
            np.testing.assert_array_equal(items[which], items["all"])
        with self.assertRaisesRegex(ValueError, "status_tags"):
            gpufec.gpu_ldpc_dvbs2(status_tags="some")

    def acm_stream(self, tag_of):
        """Makes frames of changing codes. Returns lists of their message bits, LLRs and tags;
        `tag_of` returns key and value of the tag of a frame."""
        rng = np.random.default_rng(6)
        bits, llr, tags, at = [], [], [], 0
        for index, modcod, size in rng.permutation(
                [(i, m, s) for i, (m, s) in enumerate(
                    [(4, 1), (11, 0), (10, 1), (12, 1), (4, 1), (1, 1), (6, 1)])]):
            rate = {4: "1/2", 11: "9/10", 10: "8/9", 12: "3/5", 1: "1/4", 6: "2/3"}[modcod]
            name = "short" if size else "normal"
            message = qa_support.random_bits(SHORT_K[rate] if size else NORMAL[rate][0],
                                             int(index))
            coded = encode(message, frame_size=name, rate=rate)
            tags.append((at, *tag_of(int(modcod), bool(size), name, rate)))
            bits.append(message)
            llr.append(clean(coded))
            at += len(coded)
        return bits, llr, tags

    def xfecframe(self, modcod, short, name, rate):
        return pmt.mp("XFECFRAME"), pmt.cons(pmt.from_long(modcod), pmt.from_bool(short))

    def test_BothFormsOfCodeTags_SelectTheCode(self):
        def dictionary(modcod, short, name, rate):
            value = pmt.make_dict()
            value = pmt.dict_add(value, pmt.mp("frame_size"), pmt.mp(name))
            return pmt.mp("ldpc_code"), pmt.dict_add(value, pmt.mp("rate"), pmt.mp(rate))

        def word(modcod, short, name, rate):
            return pmt.mp("ldpc_code"), pmt.mp(f"{name} {rate}")

        for tag_of in (self.xfecframe, dictionary, word):
            bits, llr, tags = self.acm_stream(tag_of)
            for batch in (1, 3, 0):
                items, out = decode(np.concatenate(llr), tags, acm=True, batch=batch)
                self.assertTrue(np.array_equal(
                    items, np.concatenate([np.packbits(b) for b in bits])))
                self.assertEqual([v for _, v in qa_support.tags_of(out, "ldpc_valid")],
                                 [True] * len(bits))

    def test_UnknownCodeTags_SkipTheirFrames(self):
        bits, llr, tags = self.acm_stream(self.xfecframe)
        # A frame of an unknown MODCOD (31, short) is skipped: 16,200 values. The next frame has no
        # tag.
        unknown = np.zeros(16200, np.int8)
        last = tags[-1][0] + len(llr[-1])
        with_unknown = np.concatenate(llr + [unknown, llr[-1]])
        more = tags + [(last, pmt.mp("XFECFRAME"), pmt.cons(pmt.from_long(31), pmt.PMT_T))]
        items, _ = decode(with_unknown, more, acm=True)
        expected = np.concatenate([np.packbits(b) for b in bits + [bits[-1]]])
        self.assertTrue(np.array_equal(items, expected))
        # After a tag with an unknown code, input is dropped up to the next tag.
        lost = [(0, pmt.mp("ldpc_code"), pmt.mp("short 7/8")), *tags[1:]]
        items, _ = decode(np.concatenate(llr), lost, acm=True)
        expected = np.concatenate([np.packbits(b) for b in bits[1:]])
        self.assertTrue(np.array_equal(items, expected))
        # A tag whose value is a list that contains itself is unknown too, and must not cause an
        # endless loop.
        circle = pmt.cons(pmt.PMT_T, pmt.PMT_T)
        pmt.set_car(circle, circle)
        pmt.set_cdr(circle, circle)
        for key in ("ldpc_code", "XFECFRAME"):
            lost = [(0, pmt.mp(key), circle), *tags[1:]]
            items, _ = decode(np.concatenate(llr), lost, acm=True)
            self.assertTrue(np.array_equal(items, expected))
        # A tag inside a frame ends this frame early, and the frame is dropped.
        cut = len(llr[0]) - 100
        early = [tags[0]] + [(o - 100, k, v) for o, k, v in tags[1:]]
        items, _ = decode(np.concatenate([llr[0][:cut], *llr[1:]]), early, acm=True)
        self.assertTrue(np.array_equal(items, expected))

    def test_RepeatedCodeTags_ChangeNothing(self):
        bits = [qa_support.random_bits(7200, f) for f in range(6)]
        llr = [clean(encode(b, frame_size="short")) for b in bits]
        bits.append(qa_support.random_bits(NORMAL["1/4"][0], 6))
        llr.append(clean(encode(bits[-1], rate="1/4")))
        key, cut = pmt.mp("XFECFRAME"), 5000
        half, quarter = (pmt.cons(pmt.from_long(4), pmt.PMT_T),
                         pmt.cons(pmt.from_long(1), pmt.PMT_F))
        llr[3] = llr[3][:cut] # this frame is cut short by the next tag
        starts = np.cumsum([0] + [len(frame) for frame in llr[:-1]])
        tags = [(int(at), key, half) for at in starts[:-1]] + [(int(starts[-1]), key, quarter)]
        expected = np.concatenate([np.packbits(b) for b in bits[:3] + bits[4:]])
        for batch in (1, 3, 0):
            items, out = decode(np.concatenate(llr), tags, acm=True, batch=batch)
            self.assertTrue(np.array_equal(items, expected))
            ends = [900 * f for f in range(6)]
            self.assertEqual([o for o, _ in qa_support.tags_of(out, "XFECFRAME")], ends)
            self.assertEqual([o for o, _ in qa_support.tags_of(out, "ldpc_valid")], ends)

    def test_AlistCodes_AreDecoded(self):
        with tempfile.NamedTemporaryFile("w", suffix=".alist") as file:
            file.write(HAMMING)
            file.flush()
            bits = qa_support.random_bits(4 * 50, 7)
            coded = encode(bits, code_file=file.name)
            self.assertEqual(len(coded), 7 * 50)
            llr = clean(coded)
            llr[3::7] = 0
            items, _ = decode(llr, code_file=file.name, packed_output=False)
            self.assertTrue(np.array_equal(items, bits))
            # A tag selects a code from a file by its name; other frames are of DVB-S2.
            short = qa_support.random_bits(7200, 8)
            short_llr = clean(encode(short, frame_size="short"))
            tags = [(0, pmt.mp("ldpc_code"), pmt.mp("ham")),
                    (len(llr), *self.xfecframe(4, True, "", ""))]
            items, _ = decode(np.concatenate([llr, short_llr]), tags, acm=True,
                              packed_output=False, named_codes={"ham": file.name})
            self.assertTrue(np.array_equal(items, np.concatenate([bits, short])))

    def test_SetCode_AppliesToNextFrame(self):
        first, second = qa_support.random_bits(14400, 1), qa_support.random_bits(10800, 2)
        decoder = gpufec.gpu_ldpc_dvbs2(frame_size="short", rate="8/9", backend="cpu",
                                        packed_output=False)
        for bits, rate in ((first, "8/9"), (second, "2/3")):
            decoder.set_code("short " + rate)
            llr = clean(encode(bits, frame_size="short", rate=rate))
            items, _ = qa_support.run(qa_support.vector_source(llr), decoder)
            self.assertTrue(np.array_equal(items, bits))
        with self.assertRaisesRegex(ValueError, 'code is "short 9/10"'):
            decoder.set_code("short 9/10")

    def test_AcmOnCuda_EqualsCpu(self):
        if qa_support.cuda_missing():
            self.skipTest(qa_support.cuda_missing())
        _, llr, tags = self.acm_stream(self.xfecframe)
        # Repeats the stream four times, so that the code changes often.
        count = sum(map(len, llr))
        llr = np.concatenate(llr * 4)
        tags = [(at + i * count, *tag) for i in range(4) for at, *tag in tags]
        expected, expected_tags = decode(llr, tags, acm=True)
        for devices in [], [0, 0]:
            for batch in 1, 3, 0:
                with self.subTest(devices=devices, batch=batch):
                    items, found = decode(llr, tags, backend="cuda", acm=True, batch=batch,
                                          devices=devices)
                    np.testing.assert_array_equal(items, expected)
                    for key in "ldpc_iterations", "ldpc_valid":
                        self.assertEqual(qa_support.tags_of(found, key),
                                         qa_support.tags_of(expected_tags, key))

    def with_messages(self, llr, tags=(), **parameters):
        """Decodes `llr`. Returns the output items, and (metadata, LLRs) of each message at port
        llr_pdu."""
        source, sink = qa_support.vector_source(llr, tags), blocks.vector_sink_b()
        decoder = gpufec.gpu_ldpc_dvbs2(backend="cpu", **parameters)
        messages = blocks.message_debug()
        graph = gr.top_block()
        graph.connect(source, decoder, sink)
        graph.msg_connect(decoder, "llr_pdu", messages, "store")
        graph.run()
        pdus = [messages.get_message(i) for i in range(messages.num_messages())]
        return np.array(sink.data(), np.uint8), [
            (pmt.to_python(pmt.car(p)), np.array(pmt.s8vector_elements(pmt.cdr(p))))
            for p in pdus]

    def test_LlrMessages_EqualLlrOutput(self):
        bits, llr, tags = self.acm_stream(self.xfecframe)
        hopeless = np.random.default_rng(1).integers(-3, 4, len(llr[-1]), np.int8)
        llr[-1] = hopeless
        expected = np.concatenate([np.packbits(b) for b in bits[:-1]])
        for batch in (1, 3):
            parameters = dict(acm=True, batch=batch, max_iterations=5)
            items, pdus = self.with_messages(np.concatenate(llr), tags, llr_pdu=True,
                                             **parameters)
            self.assertTrue(np.array_equal(items[:len(expected)], expected))
            plain, none = self.with_messages(np.concatenate(llr), tags, **parameters)
            self.assertTrue(np.array_equal(items, plain))
            self.assertEqual(none, [])
            self.assertEqual([meta for meta, _ in pdus],
                             [{"simd_size": 1, "frame_cnt": i} for i in range(len(llr))])
            for sent, (_, posterior) in zip(llr[:-1], pdus):
                self.assertTrue(np.array_equal(posterior < 0, sent < 0))
            # By default, messages have the posterior LLRs of output "llr".
            soft, _ = decode(np.concatenate(llr), tags, output="llr", **parameters)
            self.assertTrue(np.array_equal(np.concatenate([p for _, p in pdus]),
                                           soft.view(np.int8)))
            self.assertGreater(len(np.unique(pdus[-1][1])), 5)
            codewords, _ = decode(np.concatenate(llr), tags, output="codeword",
                                  packed_output=False, **parameters)
            last = pdus[-1][1]
            decided = codewords[-len(last):][last != 0]
            self.assertTrue(np.array_equal(last[last != 0] < 0, decided == 1))
            # positive_bit applies to input and messages alike.
            _, negated = self.with_messages(-np.concatenate(llr), tags, llr_pdu=True,
                                            positive_bit=1, **parameters)
            for (_, one), (_, other) in zip(pdus, negated, strict=True):
                self.assertTrue(np.array_equal(other, -one))
            # With output "extrinsic", messages have extrinsic LLRs.
            soft, pdus = self.with_messages(np.concatenate(llr), tags, llr_pdu=True,
                                            output="extrinsic", **parameters)
            self.assertTrue(np.array_equal(np.concatenate([p for _, p in pdus]),
                                           soft.view(np.int8)))

    def test_MessagePositions_CarryMessageAndTags(self):
        """With message positions that are not in ascending order, encoder and decoder move each
        message bit and its tag to the right item."""
        positions = [5, 1, 3, 6]
        with tempfile.NamedTemporaryFile("w", suffix=".alist") as file:
            file.write(HAMMING)
            file.flush()
            code = dict(code_file=file.name, message_positions=positions)
            bits = qa_support.random_bits(4 * 50, 7)
            tags = [(i, pmt.mp("bit"), pmt.from_long(i)) for i in range(len(bits))]
            encoder = gpufec.ldpc_encoder(packed_input=False, packed_output=False, **code)
            coded, found = qa_support.run(qa_support.vector_source(bits, tags), encoder)
            words = coded.reshape(-1, 7)
            np.testing.assert_array_equal(words[:, positions].ravel(), bits)
            self.assertEqual(qa_support.tags_of(found, "bit"), sorted(
                (i // 4 * 7 + positions[i % 4], i) for i in range(len(bits))))
            llr = clean(coded)
            for packed, expected in ((False, bits), (True, np.packbits(
                    bits.reshape(-1, 4), axis=1).ravel())):
                tags = [(i // 4 * 7 + positions[i % 4], pmt.mp("bit"), pmt.from_long(i))
                        for i in range(len(bits))]
                tags.sort(key=lambda tag: tag[0])
                for largest in 0, 3:
                    items, found = decode(llr, tags, packed_output=packed, largest=largest,
                                          **code)
                    np.testing.assert_array_equal(items, expected)
                    self.assertEqual(sorted(qa_support.tags_of(found, "bit")), [
                        (i // 4 if packed else i, i) for i in range(len(bits))])

    def test_MessagePositionsOfNamedCode_FollowParameter(self):
        with tempfile.NamedTemporaryFile("w", suffix=".alist") as file:
            file.write(HAMMING)
            file.flush()
            bits = qa_support.random_bits(4 * 6, 3)
            rule = dict(message_positions="gr_fec_ldpc_encoder")
            coded = encode(bits, code_file=file.name, **rule)
            self.assertFalse(np.array_equal(coded, encode(bits, code_file=file.name)))
            tags = [(0, pmt.mp("ldpc_code"), pmt.mp("hamming"))]
            items, _ = decode(clean(coded), tags, acm=True, packed_output=False,
                              frame_size="short", named_codes={"hamming": file.name}, **rule)
            np.testing.assert_array_equal(items, bits)
            for wrong, message in (
                    ([0, 2, 4, 6], "message_positions is a list of 4: entry 3, position 6"),
                    ([0, 1, 2, 7], r"message_positions\[3\] is 7: allowed values are 0 to 6"),
                    ([-1, 1, 2, 5], "message_positions is -1"),
                    ([0, 1, 2], "message_positions is a list of 3: .* K = 4"),
                    ("middle", 'message_positions is "middle": allowed values are systematic')):
                for make in (gpufec.gpu_ldpc_dvbs2, gpufec.ldpc_encoder,
                             gpufec.fec_ldpc_decoder.make):
                    with self.subTest(wrong), self.assertRaisesRegex(ValueError, message):
                        make(code_file=file.name, message_positions=wrong)

    def test_LlrMessagesOfOddLength_LeaveOutputUnchanged(self):
        with tempfile.NamedTemporaryFile("w", suffix=".alist") as file:
            file.write(HAMMING)
            file.flush()
            coded = encode(qa_support.random_bits(4 * 20, 7), code_file=file.name)
            with_messages, pdus = self.with_messages(clean(coded), code_file=file.name,
                                                     llr_pdu=True)
            without, _ = self.with_messages(clean(coded), code_file=file.name)
            self.assertTrue(np.array_equal(with_messages, without))
            self.assertTrue(np.array_equal(
                np.concatenate([d < 0 for _, d in pdus]), coded == 1))

    def noisy(self, frames, es_n0_db, seed=9, **code):
        """Returns `frames` random codewords, one bit per byte, and their noisy QPSK LLRs in
        nats."""
        k = gpufec.ldpc_code(**code).k
        coded = encode(qa_support.random_bits(frames * k, seed), **code)
        symbols = ((1 - 2.0 * coded[::2]) + 1j * (1 - 2.0 * coded[1::2])) / np.sqrt(2)
        return coded, demap(symbols.astype(np.complex64), es_n0_db, seed)

    def test_LlrsAfterOneIteration_EqualMinSum(self):
        """Output LLRs equal those of one flooding iteration of min-sum, which the test computes."""
        checks = [[0, 2, 4, 6], [1, 2, 5, 6], [3, 4, 5, 6]]
        received = np.random.default_rng(3).integers(-30, 31, (50, 7)).astype(np.int8)
        expected = np.zeros((50, 7), int)
        for check in checks:
            for bit in check:
                others = received[:, [b for b in check if b != bit]].astype(int)
                sign = np.where((others < 0).sum(axis=1) % 2, -1, 1)
                expected[:, bit] += sign * np.abs(others).min(axis=1)
        with tempfile.NamedTemporaryFile("w", suffix=".alist") as file:
            file.write(HAMMING)
            file.flush()
            parameters = dict(code_file=file.name, schedule="flooding", algorithm="min_sum",
                              max_iterations=1, precision="int16", llr_scale=12.0)
            extrinsic, _ = decode(received.ravel(), output="extrinsic", **parameters)
            posterior, _ = decode(received.ravel(), output="llr", **parameters)
        self.assertTrue(np.array_equal(extrinsic.view(np.int8), expected.ravel()))
        self.assertTrue(np.array_equal(
            posterior.view(np.int8), np.clip(expected + received, -127, 127).ravel()))

    def test_ExtrinsicLlr_IsPosteriorMinusChannel(self):
        """Posterior minus extrinsic LLR is exactly the channel LLR where neither saturates. At rate
        1/2 the decoder's internal scale is two steps per nat, so llr_scale 2 needs no rounding."""
        code = dict(frame_size="short", rate="1/2")
        coded, nats = self.noisy(6, 1.3, **code)
        values = np.clip(to_int8(nats), -96, 96)
        tags = [(i * 1000 + 7, pmt.mp("number"), pmt.from_long(i)) for i in range(97)]
        for more in dict(), dict(early_stop=False, max_iterations=4), dict(batch=1):
            posterior, found = decode(values, tags, output="llr", **code, **more)
            extrinsic, _ = decode(values, output="extrinsic", **code, **more)
            posterior, extrinsic = posterior.view(np.int8), extrinsic.view(np.int8)
            self.assertEqual(len(posterior), len(values))
            self.assertEqual(len(extrinsic), len(values))
            inside = (np.abs(posterior) < 127) & (np.abs(extrinsic) < 127)
            self.assertGreater(inside.sum(), 1000)
            self.assertTrue(np.array_equal(
                (posterior.astype(int) - extrinsic)[inside], values[inside]))
            # Tags of input items keep their offsets; status tags are on the first item of a frame.
            self.assertEqual(qa_support.tags_of(found, "number"),
                             [(i * 1000 + 7, i) for i in range(97)])
            self.assertEqual([at for at, _ in qa_support.tags_of(found, "ldpc_iterations")],
                             [16200 * i for i in range(6)])
            decided, _ = decode(values, output="codeword", packed_output=False, **code,
                                **more)
            self.assertTrue(np.array_equal(posterior[posterior != 0] < 0,
                                           decided[posterior != 0] == 1))

    def test_Llrs_HaveRequestedScaleAndSign(self):
        code = dict(frame_size="short", rate="1/2", max_iterations=3, early_stop=False,
                    output="llr")
        _, nats = self.noisy(2, 0.5, **{name: code[name] for name in ("frame_size", "rate")})
        nats = np.clip(nats, -40, 40).astype(np.float32)
        given = {scale: decode(nats, soft_input="float", llr_scale=scale, **code)[0].view(
            np.int8).astype(int) for scale in (1.0, 2.0, 8.0)}
        inside = np.abs(given[8.0]) < 127
        self.assertGreater(inside.sum(), 1000)
        for scale in 1.0, 2.0:
            self.assertTrue(np.array_equal(
                given[scale][inside], np.rint(given[8.0] * scale / 8)[inside]))
        negated, _ = decode(-nats, soft_input="float", llr_scale=2.0, positive_bit=1, **code)
        self.assertTrue(np.array_equal(negated.view(np.int8), -given[2.0]))
        decoder = gpufec.gpu_ldpc_dvbs2(soft_input="float", llr_scale=2.0, backend="cpu",
                                        **code)
        decoder.set_llr_scale(8.0)
        items, _ = qa_support.run(qa_support.vector_source(nats), decoder)
        self.assertTrue(np.array_equal(items.view(np.int8), given[8.0]))

    def test_LlrsOfUnsentPositions_AreExtrinsicOrLarge(self):
        """In an AR4JA code, the 512 punctured bits have equal posterior and extrinsic LLRs, and two
        shortened bits have large positive LLRs."""
        code = gpufec.ldpc_code("ccsds_ar4ja", "1024", "1/2")
        shortened = [3, 500]
        names = dict(standard="ccsds_ar4ja", frame_size="1024", rate="1/2",
                     shortened=shortened)
        bits = qa_support.random_bits((code.k - 2) * 3, 4)
        sent = encode(bits, **names)
        values = clean(sent)
        posterior, _ = decode(values, output="llr", **names)
        extrinsic, _ = decode(values, output="extrinsic", **names)
        codewords, _ = decode(values, output="codeword", packed_output=False, **names)
        self.assertEqual(len(posterior), 3 * code.n)
        posterior = posterior.view(np.int8).reshape(3, -1)
        extrinsic = extrinsic.view(np.int8).reshape(3, -1)
        self.assertTrue(np.array_equal(posterior < 0, codewords.reshape(3, -1) == 1))
        never = list(code.punctured)
        self.assertEqual(len(never), 512)
        self.assertTrue((posterior[:, never] != 0).all())
        self.assertTrue(np.array_equal(extrinsic[:, never], posterior[:, never]))
        self.assertTrue((posterior[:, shortened] > 20).all())

    def test_LlrsOnCuda_EqualCpu(self):
        if qa_support.cuda_missing():
            self.skipTest(qa_support.cuda_missing())
        _, llr, tags = self.acm_stream(self.xfecframe)
        random = np.random.default_rng(8)
        llr = np.concatenate(llr)
        llr = np.clip(llr // 3 + random.integers(-3, 4, len(llr)), -127, 127).astype(np.int8)
        for output in "llr", "extrinsic":
            for batch in 1, 3, 0:
                parameters = dict(acm=True, output=output, batch=batch)
                items, found = decode(llr, tags, backend="cuda", **parameters)
                expected, _ = decode(llr, tags, **parameters)
                np.testing.assert_array_equal(items, expected)

    def test_WrongParameters_AreNamedByError(self):
        for wrong, message in (
                (dict(standard="dvbs3"), 'standard is "dvbs3"'),
                (dict(standard="wifi"), 'frame_size is "normal"'),
                (dict(punctured=[64800]),
                 "punctured is 64800: dvbs2 normal 1/2 has positions 0 to 64799"),
                (dict(punctured=[5, 5]), "punctured is 5: the position is already in punctured"),
                (dict(shortened=[-1]), "shortened is -1"),
                (dict(punctured=list(range(64800))), "no bit would be sent"),
                (dict(frame_size="medium"), 'frame_size is "medium"'),
                (dict(frame_size="short", rate="9/10"), 'rate is "9/10"'),
                (dict(code_file="/no/file"), "code_file is"),
                (dict(message_positions="last"), 'message_positions is "last": the only allowed value is .syst'),
                (dict(message_positions=[1, 2]), "message_positions is a list: the only allowed value is .syst"),
                (dict(soft_input="int16"), 'soft_input is "int16"'),
                (dict(llr_scale=0.0), "llr_scale is 0"),
                (dict(algorithm="sum"), 'algorithm is "sum"'),
                (dict(precision="int4"), 'precision is "int4"'),
                (dict(max_iterations=0), "max_iterations is 0"),
                (dict(max_iterations=-1), "max_iterations is -1"),
                (dict(output="bits"), 'output is "bits"'),
                (dict(batch=-1), "batch is -1"),
                (dict(slots=0), "slots is 0"),
                (dict(max_latency_ms=-1.0), "max_latency_ms is -1"),
                (dict(backend="gpu"), 'backend is "gpu"'),
                (dict(device=-1), "device is -1"),
                (dict(devices=[0, -1]), "devices is -1"),
                (dict(devices=[0] * 17), "number of devices is 17"),
                (dict(threads=0), "threads is 0"),
                (dict(schedule="serial"), 'schedule is "serial"'),
                (dict(offset=100.0), "offset is 100"),
                (dict(normalization=1.5), "normalization is 1.5")):
            with self.subTest(**wrong), self.assertRaisesRegex(ValueError, message):
                gpufec.gpu_ldpc_dvbs2(**wrong)


if __name__ == "__main__":
    qa_support.main()
