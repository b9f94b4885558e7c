#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
#

"""Tests that the formats in docs/formats.md decode as that page describes.

The encoders here follow the definitions in the standards, and reproduce the published vectors.
"""

import importlib.util
import re
import unittest

import numpy as np
from gnuradio import gpufec

import qa_support as support
from qa_bbframe import crc8, scrambling
from qa_bch import lengths

PAGE = (support.ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
PER_FRAME = (support.ROOT / "docs" / "reference" / "viterbi.md").read_text(
    encoding="utf-8").split("### Soft values per frame\n")[1].split("\n## ")[0]


def table(section):
    """Returns the rows of the table in `section` of docs/formats.md as a dictionary, whose keys are
    the first cells of the rows."""
    text = PAGE.split(f"\n## {section}\n", 1)[1].split("\n## ", 1)[0]
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return {row[0]: row[1:] for row in rows[1:]}


def evaluated(expression, **names):
    """Evaluates `expression` from the page, with the definitions in the page's Python code."""
    exec(re.search(r"(?s)```python\n(.*?)```", PAGE).group(1), names)
    return eval(expression, names)


def in_code(cell):
    return re.match("`(.*?)`", cell).group(1) if cell.startswith("`") else ""


def indices(count, sent):
    """Returns the positions below `count` of the mother code's bits for which sent(position) is
    true."""
    return np.array([i for i in range(count) if sent(i)])


def tetra(period, first, skip=None):
    """Returns a function that returns the sent positions of the mother code in TETRA (EN 300 392-2,
    8.2.3.1.2): k = period ((i - 1) div t) + P((i - 1) mod t + 1). `first` has P(1) to P(t). With
    `skip`, each multiple of skip + 1 is left out of the values of i."""
    def order(count):
        kept = [period * ((i - 1) // len(first)) + first[(i - 1) % len(first)] - 1
                for i in range(1, count + 1) if not skip or i % (skip + 1)]
        return np.array([k for k in kept if k < count])
    return order


def dab_fic(count):
    """Returns the sent positions in DAB's FIC (EN 300 401, 11.2), which has `count` coded bits: 21
    blocks of 128 bits with puncturing index PI = 16, three with PI = 15, and 1100 for each bit of
    the tail."""
    def sent(i):
        if i >= 24 * 128:
            return i % 4 < 2
        return i % 4 < (2 if i >= 21 * 128 and i % 32 >= 28 else 3)
    return indices(count, sent)


TETRA = ["1+D+D4", "1+D2+D3+D4", "1+D+D2+D4", "1+D+D3+D4"]
K7 = ["1+D+D2+D3+D6", "1+D2+D3+D5+D6"] # 171 and 133 octal

# Generators in the notation of the standards, information bits per frame, termination, and a
# function that returns the sent positions of the mother code, in the order of sending.
SENDERS = {
    "802.11, SIGNAL": (K7[::-1], 18, "terminated", np.arange),
    "802.11, DATA": (K7[::-1], 816, "terminated",
                     lambda n: indices(n, lambda i: i % 6 not in (3, 4))),
    "M17, link setup": (["1+D3+D4", "1+D+D2+D4"], 240, "terminated",
                        lambda n: indices(n, lambda i: i % 61 % 4 != 2)),
    "M17, stream": (["1+D3+D4", "1+D+D2+D4"], 144, "terminated",
                    lambda n: indices(n, lambda i: i % 12 != 11)),
    "M17, packet": (["1+D3+D4", "1+D+D2+D4"], 206, "terminated",
                    lambda n: indices(n, lambda i: i % 8 != 7)),
    "TETRA, SCH/F": (TETRA, 284, "terminated", tetra(8, (1, 2, 5))),
    "TETRA, TCH/4.8": (TETRA, 288, "terminated", tetra(8, (1, 2, 5), 65)),
    "TETRA, TCH/2.4": (TETRA, 144, "terminated", tetra(8, (1, 2, 3, 5, 6, 7), 35)),
    "DAB, FIC of modes I, II and IV": (
        ["1+D2+D3+D5+D6", "1+D+D2+D3+D6", "1+D+D4+D6", "1+D2+D3+D5+D6"], 768, "terminated",
        dab_fic),
    "Galileo I/NAV": ([K7[0], K7[1] + "+inverted"], 114, "terminated",
                      lambda n: np.arange(n).reshape(30, 8).T.ravel()),
    "GMR-1, TCH3 speech": (K7[::-1], 48, "tailbiting",
                           lambda n: indices(n, lambda i: i % 4 != 3)),
    "WiMAX, FCH": (K7, 48, "tailbiting", np.arange),
    "GSM, xCCH": (["1+D3+D4", "1+D+D3+D4"], 224, "terminated", np.arange),
    "memory 3, eight bits, tail-biting": (["1+D2+D3", "1+D"], 8, "tailbiting", np.arange),
}
# Number of sent bits per frame, from the same standards.
SENT = {"802.11, SIGNAL": 48, "802.11, DATA": 1096, "M17, link setup": 368,
        "M17, stream": 272, "M17, packet": 368, "TETRA, SCH/F": 432, "TETRA, TCH/4.8": 432,
        "TETRA, TCH/2.4": 432, "DAB, FIC of modes I, II and IV": 2304}
# Number of bits after each frame that do not belong to its code.
PAD = {"802.11, DATA": 56}

# Published test vectors: information bits and sent bits.
VECTORS = {
    "Galileo I/NAV": ( # OS SIS ICD, annex D.2; the bits include the tail of six zeros
        "fff0ccaa000f3355e3ecdf8a1c1340",
        "a05f8cf05ea019e3a8504f577886fae7981fe209f609c7609748c6d9073a"),
    "GMR-1, TCH3 speech": ("4dcbfc72f48c", "c086634b8bd46a76b2"),
    "WiMAX, FCH": ("fca0a0fca0a0", "19428aed21ed19428aed21ed"),
    "GSM, xCCH": (
        "f31db40c4d1d9daec00a425713608096ef237e4c1d96241917f24499",
        "e94d70aba287f0e704147cabaf6ba116eb3000dec8fd0b8580414accd3c0d0b626e54e324969381733abafb6"
        "c108f39f8c756a4e08c4205f8f"),
    "memory 3, eight bits, tail-biting": ("27", "4598"),
}
# Galileo's secondary synchronisation patterns, before and after the encoder (OS SIS ICD).
SSP = {"00000100": "1110100100100101", "00101011": "0110110001001110",
       "00101111": "1101000000111110"}


def mother_code(bits, generators, termination):
    """Encodes `bits`, a frame, by sums of delayed bits. Returns an array of shape (stages,
    outputs)."""
    terms = [[int(t[1:] or 1) if t[0] == "D" else 0 for t in g.split("+") if t != "inverted"]
             for g in generators]
    memory = max(map(max, terms))
    if termination == "terminated":
        bits = np.append(bits, np.zeros(memory, np.uint8))
    before = bits[-memory:] if termination == "tailbiting" else np.zeros(memory, np.uint8)
    past = np.concatenate([before, bits])
    return np.array([[(sum(int(past[memory + i - d]) for d in t) + ("inverted" in g)) % 2
                      for g, t in zip(generators, terms)] for i in range(len(bits))], np.uint8)


def transmitted(bits, generators, frame_bits, termination, order):
    """Encodes and punctures `bits`, frames of `frame_bits` bits. Returns the sent bits, one frame
    per row."""
    coded = [mother_code(frame, generators, termination).ravel()
             for frame in bits.reshape(-1, frame_bits)]
    return np.array([frame[order(len(frame))] for frame in coded])


def bits_of(text, count):
    return np.unpackbits(np.frombuffer(bytes.fromhex(text), np.uint8))[:count]


class stream_of_packets:
    """An input stream (ISI) of packets, from which frame() makes BBFRAMEs according to
    EN 302 307-1, 5.1 and annex D. `issy` is the number of ISSY bytes per packet. Null packets are
    deleted."""

    def __init__(self, packets, isi, issy):
        self.isi, self.issy, self.at = isi, issy, 0
        self.bits, self.starts = [], []
        deleted = crc = 0
        for number, packet in enumerate(packets):
            if packet[1] == 0x1f: # a null packet, which is deleted
                deleted += 1
                continue
            field = [0x80 | number >> 8 & 0x3f, number & 255, 0x55][:issy]
            unit = np.array([*packet[1:], *field, deleted], np.uint8)
            self.starts.append(8 * len(self.bits))
            self.bits += [crc, *unit]
            crc, deleted = crc8(unit), 0
        self.bits = np.unpackbits(np.array(self.bits, np.uint8))

    def frame(self, data_bits):
        """Returns the next scrambled BBFRAME, with `data_bits` bits in its data field."""
        first = [s - self.at for s in self.starts if self.at <= s < self.at + data_bits]
        header = [0b11001100, self.isi]
        for field in 8 * (188 + self.issy + 1), data_bits:
            header += [field >> 8, field & 255]
        syncd = first[0] if first else 65535
        header += [0x47, syncd >> 8, syncd & 255]
        header.append(crc8(header))
        data = self.bits[self.at:self.at + data_bits]
        self.at += data_bits
        frame = np.concatenate([np.array(header, np.uint8), np.packbits(data)])
        return frame ^ scrambling()[:len(frame)]


class qa_formats(unittest.TestCase):
    def check(self, name, bits, values):
        """Expects that values of a format decode to `bits` by the page's instructions, in a
        flowgraph and as an array."""
        _, parameters, before = table("Convolutional codes")[name]
        parameters = evaluated(f"dict({in_code(parameters)})")
        values = evaluated(in_code(before) or "values", values=values)
        output, _ = support.decode(values, packed_output=False, soft_input="int8", **parameters)
        np.testing.assert_array_equal(output, bits)
        output, _ = gpufec.viterbi_decode(values, packed_output=False, backend="cpu",
                                          **parameters)
        np.testing.assert_array_equal(output, bits)

    def test_ConvolutionalFormats_DecodeAsPageDescribes(self):
        self.assertEqual(set(table("Convolutional codes")), set(SENDERS))
        for seed, (name, sender) in enumerate(SENDERS.items()):
            with self.subTest(name):
                bits = support.random_bits(20 * sender[1], seed)
                coded = transmitted(bits, *sender)
                self.assertEqual(coded.shape[1], SENT.get(name, coded.shape[1]))
                pad = support.random_bits(20 * PAD.get(name, 0), 99).reshape(20, -1)
                coded = np.hstack([coded, pad])
                self.check(name, bits, support.soft_values(coded, sigma=0.25, seed=seed))

    def test_SoftValuesPerFrame_EqualThoseOfPage(self):
        """The numbers in the table equal the lengths of encoded frames, and follow from the
        formula."""
        rows = [row.strip("| ").split(" | ") for row in re.findall(r"(?m)^\| .*$", PER_FRAME)]
        presets = [preset.strip("`") for preset in rows[0][2:]]
        self.assertEqual(set(presets), {p.name for p in gpufec.conv_presets()
                                        if p.name.startswith("80211")})
        self.assertEqual(len(rows), 4)
        for length, frame_bits, *numbers in rows[1:]:
            frame_bits = int(frame_bits)
            self.assertEqual(frame_bits, 16 + 8 * int(length))
            for name, number in zip(presets, map(int, numbers)):
                preset = gpufec.find_conv_preset(name)
                columns = list(zip(*(preset.puncturing or "1,1").split(",")))
                ones = [column.count("1") for column in columns]
                stages = frame_bits + preset.constraint_length - 1
                coded = support.encode(support.random_bits(frame_bits, 3),
                                       polynomials=preset.polynomials,
                                       puncturing=preset.puncturing,
                                       termination=preset.termination)
                with self.subTest(name, length=length):
                    self.assertEqual(number, coded.size)
                    self.assertEqual(number, stages // len(ones) * sum(ones)
                                     + sum(ones[:stages % len(ones)]))

    @unittest.skipUnless(importlib.util.find_spec("gnuradio.fec"), "gr-fec is not installed")
    def test_PropertyNamedByPage_IsSoftValuesPerFrame(self):
        names = {}
        code = re.search(r"(?s)```python\n(.*?)```", PER_FRAME)[1]
        exec(code, names)
        stated, = re.findall(r"# (\d+)\n", code)
        self.assertEqual(names["values"], int(stated))
        coded = gpufec.conv_encode(np.zeros(816, np.uint8), frame_bits=816, packed_input=False,
                                   packed_output=False, preset="80211_3_4")
        self.assertEqual(coded.size, names["values"])

    def test_PublishedVectors_AreEncodedAndDecoded(self):
        for name, (bits, sent) in VECTORS.items():
            with self.subTest(name):
                bits = bits_of(bits, SENDERS[name][1])
                coded = transmitted(bits, *SENDERS[name])
                np.testing.assert_array_equal(coded[0], bits_of(sent, coded.size))
                self.check(name, bits, support.soft_values(coded))
        generators, _, termination, _ = SENDERS["Galileo I/NAV"]
        for plain, coded in SSP.items():
            end = mother_code(np.array(list(plain), np.uint8), generators, termination)
            self.assertEqual("".join(map(str, end.ravel()[-16:])), coded)

    def test_EveryShortTailBitingWord_IsDecoded(self):
        """All words of eight bits, encoded with K = 3 and the generators 7 and 5, decode
        correctly."""
        words = np.unpackbits(np.arange(256, dtype=np.uint8))
        coded = transmitted(words, ["1+D+D2", "1+D2"], 8, "tailbiting", np.arange)
        decoded, _ = gpufec.viterbi_decode(
            support.soft_values(coded), constraint_length=3, polynomials=[0o7, 0o5],
            termination="tailbiting", frame_bits=8, packed_output=False, backend="cpu")
        np.testing.assert_array_equal(decoded, words)

    def test_FrameOf12MillionBits_DecodesInOnePiece(self):
        bits = support.random_bits(12000000, 12)
        code = dict(constraint_length=7, polynomials=[0o171, 0o133], termination="terminated")
        values = support.soft_values(support.encode(bits, **code), sigma=0.4, seed=12)
        code["frame_bits"] = len(bits)
        decoder = gpufec.gpu_viterbi_pbvd(backend="cpu", **code)
        output, _ = support.run(support.array_source(values), decoder)
        np.testing.assert_array_equal(output, np.packbits(bits))
        output, _ = gpufec.viterbi_decode(values, backend="cpu", **code)
        np.testing.assert_array_equal(output, np.packbits(bits))

    def test_InputStreamsWithIssyAndDeletion_YieldTheirPackets(self):
        parameters = evaluated(f"dict({in_code(next(iter(table('BBFRAMEs').values()))[1])})")
        _, k = lengths(("dvbs2", parameters["frame_size"], parameters["rate"]))
        random = np.random.default_rng(8)
        packets = {}
        for isi in (7, 200):
            packets[isi] = random.integers(0, 256, (600, 188), np.uint8)
            packets[isi][:, 0:2] = 0x47, 0x01
            packets[isi][random.random(600) < 0.4] = [0x47, 0x1f, 0xff, 0x10] + 184 * [0xff]
        for issy in (2, 3):
            streams = [stream_of_packets(sent, isi, issy) for isi, sent in packets.items()]
            frames = np.concatenate([streams[which].frame(k - 80)
                                     for which in random.integers(0, 2, 40)])
            for isi, sent in packets.items():
                with self.subTest(issy=issy, isi=isi):
                    block = gpufec.bbframe_to_ts(isi=isi, **parameters)
                    items, tags = support.run(support.vector_source(frames), block)
                    self.assertGreater(len(items), 150 * 188)
                    np.testing.assert_array_equal(items, sent.ravel()[:len(items)])
                    self.assertEqual(support.tags_of(tags, "ts_begin"), [(0, isi)])
                    self.assertEqual((block.dropped_frame_count(), block.gap_count(),
                                      block.packet_error_count()), (0, 0, 0))
            with self.subTest(issy=issy, isi="all"):
                items, tags = support.run(support.vector_source(frames),
                                          gpufec.bbframe_to_ts(**parameters))
                found = items.reshape(-1, 188)
                self.assertEqual(len(support.tags_of(tags, "ts_begin")), 2)
                for sent in packets.values():
                    own = {bytes(packet) for packet in sent if packet[1] != 0x1f}
                    mine = [packet for packet in found if bytes(packet) in own]
                    expected = [packet for packet in sent if packet[1] != 0x1f][:len(mine)]
                    self.assertGreater(len(mine), 80)
                    np.testing.assert_array_equal(mine, expected)


if __name__ == "__main__":
    support.main()
