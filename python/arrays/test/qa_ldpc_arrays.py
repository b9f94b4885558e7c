#!/usr/bin/env python3
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests LDPC decoding and encoding of arrays, without GNU Radio."""

import pathlib
import tempfile
import unittest

import numpy as np

import gpufec

# The checks of FT8's code (174, 91) as lists of bits, numbered from 1. Source: Franke,
# Somerville, Taylor: "The FT4 and FT8 Communication Protocols", QEX July/August 2020, and
# parity.dat of WSJT-X.
FT8 = """
4 31 59 91 92 96 153; 5 32 60 93 115 146; 6 24 61 94 122 151; 7 33 62 95 96 143; 8 25 63 83 93
96 148; 6 32 64 97 126 138; 5 34 65 78 98 107 154; 9 35 66 99 139 146; 10 36 67 100 107 126;
11 37 67 87 101 139 158; 12 38 68 102 105 155; 13 39 69 103 149 162; 8 40 70 82 104 114 145;
14 41 71 88 102 123 156; 15 42 59 106 123 159; 1 33 72 106 107 157; 16 43 73 108 141 160; 17
37 74 81 109 131 154; 11 44 75 110 121 166; 45 55 64 111 130 161 173; 8 46 71 112 119 166; 18
36 76 89 113 114 143; 19 38 77 104 116 163; 20 47 70 92 138 165; 2 48 74 113 128 160; 21 45 78
83 117 121 151; 22 47 58 118 127 164; 16 39 62 112 134 158; 23 43 79 120 131 145; 19 35 59 73
110 125 161; 20 36 63 94 136 161; 14 31 79 98 132 164; 3 44 80 124 127 169; 19 46 81 117 135
167; 7 49 58 90 100 105 168; 12 50 61 118 119 144; 13 51 64 114 118 157; 24 52 76 129 148 149;
25 53 69 90 101 130 156; 20 46 65 80 120 140 170; 21 54 77 100 140 171; 35 82 133 142 171 174;
14 30 83 113 125 170; 4 29 68 120 134 173; 1 4 52 57 86 136 152; 26 51 56 91 122 137 168; 52
84 110 115 145 168; 7 50 81 99 132 173; 23 55 67 95 172 174; 26 41 77 109 141 148; 2 27 41 61
62 115 133; 27 40 56 124 125 126; 18 49 55 124 141 167; 6 33 85 108 116 156; 28 48 70 85 105
129 158; 9 54 63 131 147 155; 22 53 68 109 121 174; 3 13 48 78 95 123; 31 69 133 150 155 169;
12 43 66 89 97 135 159; 5 39 75 102 136 167; 2 54 86 101 135 164; 15 56 87 108 119 171; 10 44
82 91 111 144 149; 23 34 71 94 127 153; 11 49 88 92 142 157; 29 34 87 97 147 162; 30 50 60 86
137 142 162; 10 53 66 84 112 128 165; 22 57 85 93 140 159; 28 32 72 103 132 166; 28 29 84 88
117 143 150; 1 26 45 80 128 147; 17 27 89 103 116 153; 51 57 98 163 165 172; 21 37 73 138 152
169; 16 47 76 130 137 154; 3 24 30 72 104 139; 9 40 90 106 134 151; 15 58 60 74 111 150 163;
18 42 79 144 146 152; 25 38 65 99 122 160; 17 42 75 129 170 172"""
# The message "VK1ABC VK3JPK QF22": 77 bits, CRC-14 and 83 parity bits, as given by FT8
# Play and PyFT8.
FT8_WORD = ("1110000111111100010100110101011100010000001111010000111100011100101000101000100"
            "11110011001001101010111110101110000011111111010100101110011011100110010000000000"
            "011100010000001")
# CCSDS 231.0-B-4, code (128, 64): the parity-check matrix in circulants of size 16, and the
# parity bits of messages with a single 1, at bits 0, 16, 32 and 48.
TC = """lifting 16
0,7 2 14 6 -1 0 13 0
6 0,15 0 1 0 -1 0 7
4 1 0,15 14 11 0 -1 3
0 1 9 0,13 14 1 0 -1
"""
TC_PARITY = (0x0e69166bef4c0bc2, 0x7766137ebb248418, 0xc480feb9cd53a713, 0x4eaa22fa465eea11)


def write_alist(path, matrix):
    lists = [[np.flatnonzero(row) + 1 for row in m] for m in (matrix.T, matrix)]
    lines = [matrix.shape[::-1], [max(map(len, ones)) for ones in lists]]
    lines += [[len(row) for row in ones] for ones in lists] + lists[0] + lists[1]
    path.write_text("\n".join(" ".join(map(str, line)) for line in lines) + "\n")


class qa_ldpc_arrays(unittest.TestCase):

    def test_NoisyCodewords_AreDecodedWithStatus(self):
        code = dict(frame_size="short", rate="1/2")
        known = gpufec.ldpc_code(**code)
        self.assertEqual((known.n, known.k), (16200, 7200))
        messages = gpufec.random_bits((7, known.k), 3)
        words = gpufec.ldpc_encode(np.packbits(messages, axis=1), **code,
                                   packed_output=False)
        nats = (4 * gpufec.awgn(words, 2.0, known.k / known.n, 5, "float",
                                positive_bit=0)).astype(np.float32)
        values = np.clip(np.rint(2 * nats), -127, 127).astype(np.int8)
        for given in (values, nats):
            decoded, status = gpufec.ldpc_decode(given, **code, packed_output=False)
            np.testing.assert_array_equal(decoded, messages)
            np.testing.assert_array_equal(status.unsatisfied, np.zeros(7))
            self.assertTrue((status.iterations > 1).all())
        inverted, _ = gpufec.ldpc_decode(-values, **code, positive_bit=1)
        np.testing.assert_array_equal(inverted, np.packbits(messages, axis=1))
        codewords, _ = gpufec.ldpc_decode(values.ravel(), **code, output="codeword")
        np.testing.assert_array_equal(codewords, np.packbits(words, axis=1).ravel())
        decoder = gpufec.ldpc_decoder(**code)
        one, status = decoder.decode(values[3])
        np.testing.assert_array_equal(one, np.packbits(messages[3]))
        self.assertEqual(len(status.iterations), 1)
        self.assertEqual(decoder.decode(values[:0])[0].shape, (0, 900))
        noise = np.random.default_rng(1).integers(-20, 21, (2, known.n)).astype(np.int8)
        _, status = decoder.decode(noise)
        self.assertTrue((status.unsatisfied > 0).all())

    def test_OutputLlr_YieldsPosteriorAndExtrinsicLlrs(self):
        code = dict(frame_size="short", rate="1/2", max_iterations=6)
        known = gpufec.ldpc_code("dvbs2", "short", "1/2")
        messages = gpufec.random_bits((5, known.k), 3)
        words = gpufec.ldpc_encode(messages, frame_size="short", rate="1/2",
                                   packed_input=False, packed_output=False)
        nats = (4 * gpufec.awgn(words, 1.2, known.k / known.n, 5, "float",
                                positive_bit=0)).astype(np.float32)
        values = np.clip(np.rint(2 * nats), -96, 96).astype(np.int8)
        posterior, status = gpufec.ldpc_decode(values, **code, output="llr")
        extrinsic, _ = gpufec.ldpc_decode(values, **code, output="extrinsic")
        self.assertEqual((posterior.shape, posterior.dtype), ((5, known.n), np.int8))
        self.assertTrue((status.iterations > 1).all())
        inside = (np.abs(posterior) < 127) & (np.abs(extrinsic) < 127)
        self.assertGreater(inside.sum(), 1000)
        np.testing.assert_array_equal((posterior.astype(int) - extrinsic)[inside],
                                      values[inside])
        bits, _ = gpufec.ldpc_decode(values, **code, output="codeword", packed_output=False)
        known_bits = posterior != 0
        np.testing.assert_array_equal(posterior[known_bits] < 0, bits[known_bits] == 1)
        negated, _ = gpufec.ldpc_decode(-values, **code, output="llr", positive_bit=1)
        np.testing.assert_array_equal(negated, -posterior)
        out = np.zeros(5 * known.n, np.int8)
        decoder = gpufec.ldpc_decoder(**code, output="llr")
        self.assertIs(decoder.decode(values.ravel(), out)[0], out)
        np.testing.assert_array_equal(out.reshape(5, -1), posterior)
        with self.assertRaisesRegex(ValueError, "^out is of type uint8"):
            decoder.decode(values.ravel(), out.view(np.uint8))

    def test_Ppdus_AreDecodedToTheirPayloads(self):
        for form in ((100, 104, "1/2", False), (1, 600, "5/6", False), (1500, 104, "1/2", True),
                     (200, 312, "2/3", True)):
            with self.subTest(form):
                ppdu = gpufec.wifi_ppdu(*form)
                code = dict(standard="wifi", rate=form[2], psdu_bytes=form[0],
                            symbol_bits=form[1], stbc=form[3])
                self.assertEqual(ppdu.k, 8 * form[0] + 16)
                self.assertEqual(ppdu.sent, ppdu.symbols * form[1])
                messages = gpufec.random_bits((5, ppdu.k), 3)
                coded = gpufec.ldpc_encode(np.packbits(messages, axis=1), **code,
                                           packed_output=False)
                self.assertEqual(coded.shape, (5, ppdu.sent))
                np.testing.assert_array_equal(coded, gpufec.ldpc_encode(
                    messages, **code, packed_input=False, packed_output=False))
                rate = ppdu.k / ppdu.sent
                nats = (4 * rate * 10**0.9 * gpufec.awgn(
                    coded, 9.0, rate, 5, "float", positive_bit=0)).astype(np.float32)
                values = np.clip(np.rint(2 * nats), -127, 127).astype(np.int8)
                for given in (values, nats, values.ravel()):
                    decoded, status = gpufec.ldpc_decode(given, **code, backend="cpu")
                    np.testing.assert_array_equal(
                        decoded.reshape(5, -1), np.packbits(messages, axis=1))
                    np.testing.assert_array_equal(status.unsatisfied, np.zeros(5))
                decoder = gpufec.ldpc_decoder(**code, packed_output=False)
                self.assertEqual(decoder.code.codewords, ppdu.codewords)
                np.testing.assert_array_equal(decoder.decode(values[2])[0], messages[2])

    def test_PpduOf1500Bytes_HasParametersOfStandard(self):
        # Computed by hand from 19.3.11.7.5; lib/ldpc/test/qa_ppdu.cc has the steps.
        many = gpufec.wifi_ppdu(1500, 104)
        self.assertEqual((many.codewords, many.codeword_bits, many.shortened, many.punctured,
                          many.repeated, many.symbols), (13, 1944, 620, 524, 0, 232))
        self.assertEqual(gpufec.wifi_ppdu(1, 600, "5/6").repeated, 360)

    def test_ImpossiblePpdus_AreRefusedWithReason(self):
        good = dict(standard="wifi", psdu_bytes=100, symbol_bits=104)
        for wrong, words in ((dict(psdu_bytes=-1), "^psdu_bytes is -1"),
                             (dict(symbol_bits=0), "^symbol_bits is 0"),
                             (dict(psdu_bytes=0), "^psdu_bytes is 0.*symbol_bits"),
                             (dict(rate="7/8"), "^rate"),
                             (dict(standard="dvbs2"), "^psdu_bytes.*standard wifi"),
                             (dict(shortened=[3]), "^psdu_bytes.*shortened")):
            with self.subTest(wrong):
                with self.assertRaisesRegex(ValueError, words):
                    gpufec.ldpc_decoder(**{**good, **wrong})
                with self.assertRaisesRegex(ValueError, words):
                    gpufec.ldpc_encode(np.zeros((1, 102), np.uint8), **{**good, **wrong})
        with self.assertRaisesRegex(ValueError, "^output"):
            gpufec.ldpc_decoder(**good, output="codeword")
        with self.assertRaisesRegex(ValueError, "^values is of shape .*1664"):
            gpufec.ldpc_decode(np.zeros((1, 1663), np.int8), **good)

    def test_CodesOfEveryStandard_AreDecoded(self):
        """The decoder recovers the message, and with output "codeword" also the bits that are not
        sent."""
        for code in (dict(standard="dvbs2x", frame_size="short", rate="11/45"),
                     dict(standard="dvbt2", frame_size="short", rate="2/5"),
                     dict(standard="ccsds_c2", frame_size="8160", rate="7/8"),
                     dict(standard="ccsds_ar4ja", frame_size="1024", rate="1/2"),
                     dict(standard="wifi", frame_size="648", rate="3/4"),
                     dict(standard="nr", frame_size="bg2 z20", rate="10/30"),
                     dict(standard="wifi", frame_size="648", rate="1/2",
                          punctured=[600, 11], shortened=range(40, 60))):
            known = gpufec.ldpc_code(**{**code, "shortened": list(code.get("shortened", ()))})
            messages = gpufec.random_bits((5, known.k), 3)
            words = gpufec.ldpc_encode(messages, **code, packed_input=False,
                                       packed_output=False)
            rate = known.k / known.sent
            soft = gpufec.awgn(words, 6.0, rate, 5, "float", positive_bit=0)
            values = np.clip(np.rint(2 * 4 * rate * 10 ** 0.6 * soft), -127, 127).astype(np.int8)
            with self.subTest(**code):
                self.assertEqual(words.shape, (5, known.sent))
                decoded, status = gpufec.ldpc_decode(values, **code, packed_output=False)
                np.testing.assert_array_equal(decoded, messages)
                np.testing.assert_array_equal(status.unsatisfied, np.zeros(5))
                found, _ = gpufec.ldpc_decode(values.ravel(), **code, output="codeword",
                                              packed_output=False)
                found = found.reshape(5, known.n)
                np.testing.assert_array_equal(found[:, list(known.message_positions)],
                                              messages)
                self.assertFalse(found[:, list(known.shortened)].any())
                for row in range(known.checks):
                    self.assertFalse((found[:, known.check(row)].sum(axis=1) % 2).any())
                if known.sent == known.n - len(known.punctured) - len(known.shortened):
                    left = sorted(set(range(known.n)) - {*known.punctured, *known.shortened})
                    if code["standard"] == "wifi":
                        np.testing.assert_array_equal(found[:, left], words)
        self.assertIn("ccsds_ar4ja", gpufec.ldpc_code.standards())
        self.assertIn("bg1 z384", gpufec.ldpc_code.frame_sizes("nr"))
        self.assertEqual(gpufec.ldpc_code.rates("ccsds_ar4ja", "4096"), ["1/2", "2/3", "4/5"])

    def received(self, words, ebn0_db, rate, seed=5):
        soft = gpufec.awgn(words, ebn0_db, rate, seed, "float", positive_bit=0)
        return (4 * rate * 10 ** (ebn0_db / 10) * soft).astype(np.float32)

    def test_PublishedFt8Message_EncodesAndDecodes(self):
        matrix = np.zeros((83, 174), int)
        for check, bits in zip(matrix, FT8.split(";"), strict=True):
            check[[int(bit) - 1 for bit in bits.split()]] = 1
        word = np.array(list(FT8_WORD), np.uint8)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "ft8.alist"
            write_alist(path, matrix)
            for code in dict(code_file=path), dict(code_file=path, message_positions="first"):
                messages = np.vstack([word[:91], gpufec.random_bits((200, 91), 2)])
                words = gpufec.ldpc_encode(messages, **code, packed_input=False,
                                           packed_output=False)
                np.testing.assert_array_equal(words[0], word)
                decoded, status = gpufec.ldpc_decode(
                    self.received(words, 6.0, 91 / 174), **code, packed_output=False)
                np.testing.assert_array_equal(decoded, messages)
                self.assertFalse(status.unsatisfied.any())

    def test_CcsdsTelecommand_EqualsGeneratorOfStandard(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "tc.txt"
            path.write_text(TC)
            words = gpufec.ldpc_encode(np.eye(64, dtype=np.uint8), code_file=path,
                                       packed_input=False)
            for bit, word in enumerate(words):
                parity = 0
                for shift in 0, 16, 32, 48: # circulants: rotates each group of 16 bits to the right
                    part = TC_PARITY[bit // 16] >> shift & 0xffff
                    turned = part >> bit % 16 | part << 16 - bit % 16
                    parity |= (turned & 0xffff) << shift
                self.assertEqual(int.from_bytes(word.tobytes(), "big"),
                                 1 << 127 - bit | parity)
            messages = gpufec.random_bits((200, 64), 2)
            words = gpufec.ldpc_encode(messages, code_file=path, packed_input=False,
                                       packed_output=False)
            named = gpufec.ldpc_encode(messages, "ccsds_tc", "128", "1/2", packed_input=False,
                                       packed_output=False)
            np.testing.assert_array_equal(words, named)
            decoded, _ = gpufec.ldpc_decode(self.received(words, 6.5, 0.5), code_file=path,
                                            packed_output=False)
            np.testing.assert_array_equal(decoded, messages)

    def test_NrRateMatching_DecodesEachRedundancyVersion(self):
        """Decoding succeeds for each redundancy version that is decodable alone, and for the sum of
        all versions. The sender selects bits from a circular buffer, whose length may be limited,
        and interleaves the bits (3GPP TS 38.212, 5.4.2). The receiver adds up the LLRs of each
        buffer position."""
        starts = {"bg1": (66, (0, 17, 33, 56)), "bg2": (50, (0, 13, 25, 43))} # table 5.4.2.1-2
        random = np.random.default_rng(8)
        for graph, z, filler, sizes in (("bg1", 8, 20, (300, 480, 800)),
                                        ("bg2", 20, 20, (600, 760, 2000))):
            blocks, begins = starts[graph]
            rate = "1/3" if graph == "bg1" else "1/5"
            k = z * (22 if graph == "bg1" else 10)
            code = dict(standard="nr", frame_size=f"{graph} z{z}", rate=rate,
                        shortened=range(k - filler, k))
            messages = gpufec.random_bits((20, k - filler), 3)
            words = gpufec.ldpc_encode(messages, **code, packed_input=False,
                                       packed_output=False)
            n = blocks * z
            place = np.full(n, -1) # index in `words` of each buffer position; -1: filler bit
            kept = np.setdiff1d(np.arange(n), np.arange(k - filler, k) - 2 * z)
            place[kept] = np.arange(n - filler)
            for limit in n, 3 * n // 4:
                together = np.zeros((20, n - filler), np.float32)
                for version, begin in enumerate(begins):
                    for size in sizes:
                        first = begin * limit // n * z
                        chosen = place[(first + np.arange(4 * n)) % limit]
                        chosen = chosen[chosen >= 0][:size]
                        order = np.arange(size).reshape(4, -1).T.ravel() # interleaver of 16-QAM
                        sent = np.ascontiguousarray(words[:, chosen[order]])
                        llr = self.received(sent, 8.0, 0.3, int(random.integers(1000)))
                        buffer = np.zeros_like(together)
                        np.add.at(buffer, (slice(None), chosen[order]), llr)
                        together += buffer / 16
                        # Redundancy versions 1 and 2 begin far from the message bits. They are
                        # decodable alone only if the selection wraps around.
                        if size >= limit or (version in (0, 3) and size > 1.3 * k):
                            decoded, _ = gpufec.ldpc_decode(buffer, **code,
                                                            packed_output=False)
                            with self.subTest(graph, limit=limit, version=version, size=size):
                                np.testing.assert_array_equal(decoded, messages)
                decoded, _ = gpufec.ldpc_decode(together, **code, packed_output=False)
                np.testing.assert_array_equal(decoded, messages)

    def test_MessagePositions_AcceptIndependentBits(self):
        """message_positions of a matrix [I P] accepts names, lists, ranges and arrays, and refuses
        dependent and repeated positions."""
        random = np.random.default_rng(5)
        matrix = np.hstack([np.eye(12, dtype=int), random.integers(0, 2, (12, 20))])
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "code.alist"
            write_alist(path, matrix)
            order = random.permutation(np.arange(12, 32))
            for positions, expected in (("last", range(12, 32)), (range(12, 32), None),
                                        (order, None), (order.tolist(), None)):
                code = dict(code_file=path, message_positions=positions)
                messages = gpufec.random_bits((9, 20), 3)
                words = gpufec.ldpc_encode(messages, **code, packed_input=False,
                                           packed_output=False)
                self.assertFalse((words @ matrix.T % 2).any())
                np.testing.assert_array_equal(words[:, list(expected or positions)], messages)
                for packed in True, False:
                    found, _ = gpufec.ldpc_decode(20 - 40 * words.astype(np.int8), **code,
                                                  packed_output=packed)
                    np.testing.assert_array_equal(
                        found, np.packbits(messages, axis=1) if packed else messages)
            np.testing.assert_array_equal(
                gpufec.ldpc_code(code_file=str(path), message_positions="last")
                .message_positions, np.arange(12, 32))
            check = np.flatnonzero(matrix[0]).tolist()
            bound = (check + [i for i in range(32) if i not in check])[:20]
            for wrong, says in ((bound, f"entry {len(check) - 1}, position {check[-1]},"),
                                ("end", '"end"'), ([1] * 20, r"message_positions\[1\] is 1")):
                with self.assertRaisesRegex(ValueError, says):
                    gpufec.ldpc_decode(np.zeros(32, np.int8), code_file=path,
                                       message_positions=wrong)


if __name__ == "__main__":
    unittest.main()
