#!/usr/bin/env python3
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the tables of structured LDPC codes, each from two sources that must agree.

The sources are public. This script reads their files from a folder, extracts the numbers, and
compares the two sources of each code (by entries, or by encoded words). Then it writes
tables_qc.cc, tables_dvbs2x.cc and tables_dvbt2.cc to a directory; the repository has these files as
quasi_cyclic.cc, dvbs2x.cc and dvbt2.cc in lib/ldpc/code/tables. The build does not run this script.

| code        | first                              | second                              |
|-------------|------------------------------------|-------------------------------------|
| Wi-Fi       | tavildar/LDPC WiFiLDPC.h           | liuguangxi/wifi_ldpc_codec          |
| NR          | daniestevez/ldpc-toolbox nr5g.rs   | NVlabs/sionna 5G_bg1.csv, _bg2.csv  |
| AR4JA       | daniestevez/ldpc-toolbox ccsds.rs  | adamgreig/labrador-ldpc             |
| C2          | daniestevez/ldpc-toolbox ccsds.rs  | rows of the generator of CCSDS 131.0|
| telecommand | adamgreig/labrador-ldpc            | yamcs/yamcs, by generator matrix    |
| S2X, T2     | xdsopl/LDPC                        | GNU Radio's gr-dtv, by encoding     |

Usage: make_structured_ldpc_tables.py SOURCES DIRECTORY
SOURCES contains tavildar_wifi.h, liuguangxi_wifi.cpp, toolbox_nr5g.rs, sionna_bg1.csv,
sionna_bg2.csv, toolbox_ccsds.rs, labrador.rs, yamcs_64.java and yamcs_256.java (its CLTU
generators), xdsopl_s2.hh, xdsopl_s2x.hh, xdsopl_t2.hh.
"""

import pathlib
import re
import sys
import textwrap

import numpy as np
from gnuradio import blocks, dtv, gr

GROUP = 360
NR_SIZES = [[a << j for j in range(8) if a << j <= 384]
            for a in (2, 3, 5, 7, 9, 11, 13, 15)]
RATES = ["1/2", "2/3", "3/4", "5/6"]

# By (message block, parity block): the first row of a circulant of C2's generator matrix, as
# hexadecimal digits of a zero and 511 bits (CCSDS 131.0-B, annex on the generator matrix).
C2_GENERATOR = {
    (0, 0): "55BF56CC55283DFEEFEA8C8CFF04E1EBD9067710988E25048D67525426939E20"
            "68D2DC6FCD2F822BEB6BD96C8A76F4932AAE9BC53AD20A2A9C86BB461E43759C",
    (0, 1): "6855AE08698A50AA3051768793DC238544AF3FE987391021AAF6383A6503409C"
            "3CE971A80B3ECE12363EE809A01D91204F1811123EAB867D3E40E8C652585D28",
    (8, 0): "0008B4E899E5F7E692BDCE69CE3FAD997183CFAEB2785D0C3D9CAE510316D4BD"
            "65A2A06CBA7F4E4C4A80839ACA81012343648EEA8DBBA2464A68E115AB3F4034",
    (13, 0): "7273E8342918E097B1C1F5FEF32A150AEF5E11184782B5BD5A1D8071E94578B0"
             "AC722D7BF49E8C78D391294371FFBA7B88FABF8CC03A62B940CE60D669DFB7B6",
    (13, 1): "087EA12042793307045B283D7305E93D8F74725034E77D25D3FF043ADC5F8B5B"
             "186DB70A968A816835EFB575952EAE7EA4E76DF0D5F097590E1A2A978025573E",
}


def numbers(text):
    return [int(x) for x in re.findall(r"-?\d+", text)]


def wifi(sources):
    """Returns {(n, rate): array of 24 circulant shifts per row} of Wi-Fi's codes, after a
    comparison of two sources."""
    text = (sources / "tavildar_wifi.h").read_text()
    first = {}
    for n, a, b, body in re.findall(r"int H_(\d+)_(\d)_(\d)\[\d+\]\[24\] = \{(.*?)\};", text,
                                    re.S):
        first[int(n), f"{a}/{b}"] = np.array(numbers(body)).reshape(-1, 24)
    text = (sources / "liuguangxi_wifi.cpp").read_text()
    second = {}
    for n, a, b, z, body in re.findall(
            r"// N(\d+)CR(\d)(\d)\s+(\d+), \d+, 24,\s*\{(.*?)\}", text, re.S):
        assert int(z) == int(n) // 24
        second[int(n), f"{a}/{b}"] = np.array(numbers(body)).reshape(-1, 24)
    assert sorted(first) == sorted((n, r) for n in (648, 1296, 1944) for r in RATES)
    assert first.keys() == second.keys()
    for key in first:
        assert (first[key] == second[key]).all(), key
    return first


def nr(sources):
    """Returns {base graph 1 or 2: list of (row, column, shifts for the eight sets of lifting
    sizes)}."""
    text = (sources / "toolbox_nr5g.rs").read_text()
    graphs = {}
    for g in (1, 2):
        body = text[text.index(f"fn base_graph_{g}()"):]
        body = body[:body.index("\n}\n")]
        entries = []
        for i, row in enumerate(body.split("vec![")[1:]):
            for entry in re.findall(r"row!\(([\d\s]+)\)", row):
                column, *shifts = numbers(entry)
                entries.append((i, column, *shifts))
        other, row = [], None
        for line in (sources / f"sionna_bg{g}.csv").read_text().splitlines()[2:]:
            fields = line.split(";")
            if fields[0].strip():
                row = int(fields[0])
            if len(fields) > 9 and fields[1].strip():
                other.append((row, *(int(x) for x in fields[1:10])))
        assert sorted(entries) == sorted(other), g
        graphs[g] = sorted(entries)
    assert len(graphs[1]) == 316 and len(graphs[2]) == 197
    return graphs


def ar4ja(sources):
    """Returns the constants of AR4JA: θ of 26 permutations, and φ in an array of shape (quarters,
    permutations, sizes 128 to 8192)."""
    text = (sources / "toolbox_ccsds.rs").read_text()
    theta = numbers(re.search(r"THETA_K: \[u8; 26\] = \[(.*?)\];", text, re.S)[1])
    body = re.sub(r"//.*", "", re.search(r"PHI_K: .*? = \[(.*?)\n\];", text, re.S)[1])
    phi = np.array(numbers(body)).reshape(4, 26, 7)
    text = (sources / "labrador.rs").read_text()
    assert theta == numbers(re.search(r"THETA_K: .*?= \[(.*?)\];", text, re.S)[1])
    for i in range(7):
        body = re.search(rf"PHI_J_K_M{128 << i}: .*?= \[(.*?)\n\];", text, re.S)[1]
        assert (np.array(numbers(body)).reshape(4, 26) == phi[:, :, i]).all(), 128 << i
    return theta, phi


def solve(matrix, right):
    """Returns x with matrix · x = right over GF(2), by Gaussian elimination; free variables are
    0."""
    m = np.concatenate([matrix, right], axis=1).astype(np.uint8)
    columns, row, pivots = matrix.shape[1], 0, []
    for c in range(columns):
        below = np.flatnonzero(m[row:, c])
        if not below.size:
            continue
        m[[row, row + below[0]]] = m[[row + below[0], row]]
        others = m[:, c].copy()
        others[row] = 0
        m[others == 1] ^= m[row]
        pivots.append(c)
        row += 1
    assert not m[row:, columns:].any()
    x = np.zeros((columns, right.shape[1]), np.uint8)
    x[pivots] = m[: len(pivots), columns:]
    return x


def c2(sources):
    """Returns the shifts of C2's 2 × 16 circulants and, by message block and parity block, whether
    the first row of the generator matrix's circulant has odd weight."""
    text = (sources / "toolbox_ccsds.rs").read_text()
    body = re.search(r"C2_CIRCULANTS: .*? = \[(.*?)\n\];", text, re.S)[1]
    shifts = np.array(numbers(body)).reshape(2, 16, 2)

    def circulant(pair):
        block = np.zeros((511, 511), np.uint8)
        for s in pair:
            block[np.arange(511), (np.arange(511) + s) % 511] ^= 1
        return block

    h = np.block([[circulant(shifts[i, j]) for j in range(16)] for i in range(2)])
    # The equations have several solutions. The standard has the one in which the last bit of each
    # first row is 0.
    kept = [c for c in range(1022) if c % 511 != 510]
    x = solve(h[:, 7154:][:, kept], h[:, 511 * np.arange(14)])
    rows = np.zeros((1022, 14), np.uint8)
    rows[kept] = x
    for (i, j), text in C2_GENERATOR.items():
        bits = np.array([int(b) for b in f"{int(text, 16):0512b}"], np.uint8)
        assert not bits[0] and (bits[1:] == rows[511 * j:511 * (j + 1), i]).all(), (i, j)
    odd = [[int(rows[511 * j:511 * (j + 1), i].sum() % 2) for j in (0, 1)]
           for i in range(14)]
    return shifts, odd


def telecommand(sources):
    """Returns {codeword length: list of (block row, block column, shift)} of the telecommand codes
    of CCSDS 231.0-B, section 4. The second source is the first rows of the generator's
    circulants."""
    text = (sources / "labrador.rs").read_text()
    codes = {}
    for n, k in ((128, 64), (512, 256)):
        body = re.search(rf"TC{n}_H: .*? = \[(.*?)\n\];", text, re.S)[1]
        cells = re.findall(r"(HZ|HI|0)(?:\| *(\d+))? *[,\]]", body)
        entries = sorted((i // 11 % 4, i % 11, int(shift or 0))
                         for i, (kind, shift) in enumerate(cells) if kind == "HI")
        lifting = n // 8
        h = np.zeros((k, n), np.uint8)
        for row, column, shift in entries:
            j = np.arange(lifting)
            h[row * lifting + j, column * lifting + (j + shift) % lifting] ^= 1
        words = re.search(r"W\d+ = new .*?;", (sources / f"yamcs_{k}.java").read_text(), re.S)[0]
        words = "".join(re.findall(r"0x([0-9A-F]{16})L", words))
        first = np.array([int(b) for b in f"{int(words, 16):0{4 * k}b}"]).reshape(4, 4, lifting)
        parity = np.concatenate([np.roll(first, s, 2)[:, None] for s in range(lifting)], 1)
        g = np.concatenate([np.eye(k, dtype=np.uint8), parity.reshape(k, k)], axis=1)
        assert not (g @ h.T % 2).any(), n
        codes[n] = entries
    return codes


def addresses_of(text):
    """Returns {name of the C++ struct: (n, k, rows of addresses)} from a file of xdsopl/LDPC."""
    tables = {}
    for name, body in re.findall(r"struct (\w+)\s*\{(.*?)\n\};", text, re.S):
        def values(what):
            return numbers(re.search(rf"int {what}\[\] = \{{(.*?)\}}", body, re.S)[1])
        n = int(re.search(r"int N = (\d+)", body)[1])
        k = int(re.search(r"int K = (\d+)", body)[1])
        flat, rows = values("POS"), []
        for degree, count in zip(values("DEG"), values("LEN")):
            for _ in range(count):
                rows.append(sorted(flat[:degree]))
                flat = flat[degree:]
        assert not flat and len(rows) == k // GROUP, name
        tables[name] = (n, k, rows)
    return tables


def encode(n, k, rows, message):
    """Encodes a message of K bits by the rule of EN 302 307-1, 5.3.2. Returns the codeword."""
    q = (n - k) // GROUP
    parity = np.zeros(n - k, np.uint8)
    for g, row in enumerate(rows):
        for m in np.flatnonzero(message[g * GROUP:(g + 1) * GROUP]):
            parity[(np.array(row) + m * q) % (n - k)] ^= 1
    return np.concatenate([message, np.bitwise_xor.accumulate(parity)])


def dtv_encode(standard, size, code, modulation, messages):
    graph = gr.top_block()
    source = blocks.vector_source_b(messages.reshape(-1).tolist())
    encoder = dtv.dvb_ldpc_bb(standard, size, code, modulation)
    sink = blocks.vector_sink_b()
    graph.connect(source, encoder, sink)
    graph.run()
    return np.array(sink.data(), np.uint8)


def agrees(standard, size, code, n, k, rows):
    """Returns whether gr-dtv and the table encode random messages alike. A wrong address changes
    the codewords, because each group of a random message has ones."""
    messages = np.random.default_rng(k).integers(0, 2, (8, k), np.uint8)
    words = dtv_encode(standard, size, code, dtv.MOD_OTHER, messages)
    words = words[: len(words) // n * n].reshape(-1, n)
    assert len(words) >= 3
    return all((w == encode(n, k, rows, m)).all() for w, m in zip(words, messages))


# VL-SNR codes by gr-dtv's names: frame size, K, number of shortened bits, period of the punctured
# parity bits, and their number.
VLSNR = {
    "C2_9_VLSNR": ("NORMAL", 14400, 0, 15, 3240),
    "C1_5_MEDIUM": ("MEDIUM", 6480, 640, 25, 980),
    "C11_45_MEDIUM": ("MEDIUM", 7920, 0, 15, 1620),
    "C1_3_MEDIUM": ("MEDIUM", 10800, 0, 13, 1620),
    "C1_5_VLSNR_SF2": ("SHORT", 3240, 560, 30, 250),
    "C11_45_VLSNR_SF2": ("SHORT", 3960, 0, 15, 810),
    "C1_5_VLSNR": ("SHORT", 3240, 0, 10, 1224),
    "C4_15_VLSNR": ("SHORT", 4320, 0, 8, 1224),
    "C1_3_VLSNR": ("SHORT", 5400, 0, 8, 1224),
}
S2X_RATES = {
    "normal": ["13/45", "9/20", "90/180", "96/180", "11/20", "100/180", "104/180", "26/45",
               "18/30", "28/45", "23/36", "116/180", "20/30", "124/180", "25/36", "128/180",
               "13/18", "132/180", "22/30", "135/180", "140/180", "7/9", "154/180"],
    "short": ["11/45", "4/15", "14/45", "7/15", "8/15", "26/45", "32/45"],
}
SIZES = {64800: "normal", 32400: "medium", 16200: "short"}


def vlsnr_agrees(name, n, k, rows):
    size, _, shortened, period, punctured = VLSNR[name]
    left = k - shortened
    messages = np.random.default_rng(7).integers(0, 2, (8, left), np.uint8)
    kept = [i for i in range(shortened, n)
            if i < k or (i - k) % period or (i - k) // period >= punctured]
    words = dtv_encode(dtv.STANDARD_DVBS2, getattr(dtv, "FECFRAME_" + size),
                       getattr(dtv, name), dtv.MOD_BPSK, messages)
    words = words[: len(words) // len(kept) * len(kept)].reshape(-1, len(kept))
    assert len(words) >= 3
    same = 0
    for w, m in zip(words, messages):
        full = encode(n, k, rows, np.concatenate([np.zeros(shortened, np.uint8), m]))
        same += (w == full[kept]).all()
    return same == len(words)


def dvbs2x(sources):
    """Returns {frame size: {rate: (k, rows of addresses)}} of the codes of DVB-S2X."""
    tables = addresses_of((sources / "xdsopl_s2x.hh").read_text())
    known = addresses_of((sources / "xdsopl_s2.hh").read_text())
    by_k = {(n, k): rows for n, k, rows in [*tables.values(), *known.values()]}
    out = {"normal": {}, "medium": {}, "short": {}}
    for table, (n, k, rows) in tables.items():
        found = []
        for rate in S2X_RATES.get(SIZES[n], ()):
            a, b = (int(x) for x in rate.split("/"))
            if a * n == k * b and agrees(
                    dtv.STANDARD_DVBS2, getattr(dtv, "FECFRAME_" + SIZES[n].upper()),
                    getattr(dtv, "C" + rate.replace("/", "_")), n, k, rows):
                found.append(rate)
        if not found:
            found = [{(64800, 14400): "2/9", (32400, 6480): "1/5", (32400, 7920): "11/45",
                      (32400, 10800): "1/3"}[n, k]]
            name = {14400: "C2_9_VLSNR", 6480: "C1_5_MEDIUM", 7920: "C11_45_MEDIUM",
                    10800: "C1_3_MEDIUM"}[k]
            assert vlsnr_agrees(name, n, k, rows), table
        assert len(found) == 1, (table, n, k, found)
        out[SIZES[n]][found[0]] = (k, rows)
    for name, (size, k, *_) in VLSNR.items():
        n = {"NORMAL": 64800, "MEDIUM": 32400, "SHORT": 16200}[size]
        print(name, "agrees" if vlsnr_agrees(name, n, k, by_k[n, k]) else "differs")
    return out


def dvbt2(sources):
    """Returns two tables {frame size: {rate: (k, rows of addresses)}}: one of all codes of DVB-T2,
    and one of the codes that DVB-S2 does not have."""
    tables = addresses_of((sources / "xdsopl_t2.hh").read_text())
    known = {(n, k, str(rows)) for n, k, rows in
             addresses_of((sources / "xdsopl_s2.hh").read_text()).values()}
    out, fresh = {"normal": {}, "short": {}}, {"normal": {}, "short": {}}
    names = {(64800, 32400): "1/2", (64800, 38880): "3/5", (64800, 43200): "2/3",
             (64800, 48600): "3/4", (64800, 51840): "4/5", (64800, 54000): "5/6",
             (16200, 3240): "1/4", (16200, 5400): "1/3", (16200, 6480): "2/5",
             (16200, 7200): "1/2", (16200, 9720): "3/5", (16200, 10800): "2/3",
             (16200, 11880): "3/4", (16200, 12600): "4/5", (16200, 13320): "5/6"}
    for table, (n, k, rows) in tables.items():
        rate = names[n, k]
        code = getattr(dtv, "C" + rate.replace("/", "_"))
        size = getattr(dtv, "FECFRAME_" + SIZES[n].upper())
        assert agrees(dtv.STANDARD_DVBT2, size, code, n, k, rows), table
        out[SIZES[n]][rate] = (k, rows)
        if (n, k, str(rows)) not in known:
            fresh[SIZES[n]][rate] = (k, rows)
    return out, fresh


def array(kind, name, values, per_line=None):
    text = ", ".join(str(v) for v in values)
    body = textwrap.fill(text, 88, initial_indent="    ", subsequent_indent="    ")
    return f"const {kind} {name}[] = {{\n{body}\n}};\n"


HEAD = """// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* {what}; written by
 * scripts/make_structured_ldpc_tables.py. */

#include "tables.h"

namespace gr::gpufec::ldpc {{

namespace {{

// clang-format off
"""
MIDDLE = "// clang-format on\n\n} // namespace\n\n"
TAIL = "\n} // namespace gr::gpufec::ldpc\n"


def write_qc(path, wifi_codes, graphs, permutations, c2_code, telecommand_codes):
    with open(path, "w", encoding="ascii") as out:
        out.write(HEAD.format(what="Shifts of quasi-cyclic codes: Wi-Fi, NR, CCSDS"))
        for (n, rate), rows in wifi_codes.items():
            out.write(f"// {n}, {rate}\n")
            out.write(array("std::int8_t", f"wifi_{n}_{rate.replace('/', '_')}", rows.ravel()))
        for g, entries in graphs.items():
            out.write(f"\n// Base graph {g}: row, column, shifts of eight sets\n")
            out.write(array("std::uint16_t", f"graph_{g}", [x for e in entries for x in e]))
        theta, phi = permutations
        out.write("\n// AR4JA: theta of 26 permutations\n")
        out.write(array("std::uint8_t", "theta", theta))
        out.write("// by quarter, permutation, and size 128 ... 8192\n")
        out.write(array("std::uint16_t", "phi", phi.ravel()))
        shifts, odd = c2_code
        out.write("\n// C2: two shifts of each of 2 x 16 blocks\n")
        out.write(array("std::uint16_t", "c2_shifts", shifts.ravel()))
        out.write("// Whether the generators have odd weight: bit j for parity block j\n")
        out.write(array("std::uint8_t", "c2_odd", [a | b << 1 for a, b in odd]))
        out.write("\n// Telecommand codes: row, column, shift\n")
        for n, entries in telecommand_codes.items():
            out.write(array("std::uint8_t", f"telecommand_{n}", [x for e in entries for x in e]))
        out.write(MIDDLE)
        out.write("const std::vector<wifi_table>& wifi_tables()\n{\n"
                  "    static const std::vector<wifi_table> tables{\n")
        for (n, rate), rows in wifi_codes.items():
            out.write(f'        {{ {n}, "{rate}", {len(rows)}, '
                      f"wifi_{n}_{rate.replace('/', '_')} }},\n")
        out.write("    };\n    return tables;\n}\n\n")
        out.write("nr_table nr_graph(unsigned graph)\n{\n"
                  f"    return graph == 1 ? nr_table{{ 46, 68, 22, {len(graphs[1])}, graph_1 }}\n"
                  f"                      : nr_table{{ 42, 52, 10, {len(graphs[2])}, graph_2 }};\n"
                  "}\n\n")
        out.write("unsigned ar4ja_theta(unsigned k) { return theta[k]; }\n\n")
        out.write("unsigned ar4ja_phi(unsigned quarter, unsigned k, unsigned size)\n{\n"
                  "    return phi[(quarter * 26 + k) * 7 + size];\n}\n\n")
        out.write("unsigned c2_shift(unsigned row, unsigned column, unsigned i)\n{\n"
                  "    return c2_shifts[(row * 16 + column) * 2 + i];\n}\n\n")
        out.write("bool c2_is_odd(unsigned column, unsigned parity)\n{\n"
                  "    return c2_odd[column] >> parity & 1;\n}\n\n")
        out.write("const std::uint8_t (&telecommand_circulants(unsigned n))[96]\n{\n"
                  "    return n == 128 ? telecommand_128 : telecommand_512;\n}\n")
        out.write(TAIL)


def write_dvb(path, what, prefix, sizes):
    with open(path, "w", encoding="ascii") as out:
        out.write(HEAD.format(what=what))
        for size, codes in sizes.items():
            n = {v: k for k, v in SIZES.items()}[size]
            for rate, (k, rows) in codes.items():
                out.write(f"// {size} {rate}: K = {k}, q = {(n - k) // GROUP}\n")
                out.write(array("std::uint16_t", f"{size}_{rate.replace('/', '_')}",
                                [x for row in rows for x in (len(row), *row)]))
        out.write(MIDDLE)
        for i, (size, codes) in enumerate(sizes.items()):
            out.write("\n" if i else "")
            out.write(f"const std::vector<dvbs2_table>& {prefix}_{size}_tables()\n{{\n"
                      "    static const std::vector<dvbs2_table> tables{\n")
            for rate, (k, rows) in sorted(codes.items(), key=lambda c: c[1][0]):
                out.write(f'        {{ "{rate}", {k}, {size}_{rate.replace("/", "_")} }},\n')
            out.write("    };\n    return tables;\n}\n")
        out.write(TAIL)


def main():
    sources, target = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    write_qc(target / "tables_qc.cc", wifi(sources), nr(sources), ar4ja(sources), c2(sources),
             telecommand(sources))
    write_dvb(target / "tables_dvbs2x.cc",
              "Addresses of the codes of DVB-S2X, ETSI EN 302 307-2 annexes B and C",
              "dvbs2x", dvbs2x(sources))
    every, fresh = dvbt2(sources)
    print("DVB-T2:", {s: sorted(c) for s, c in every.items()},
          "not those of DVB-S2:", {s: sorted(c) for s, c in fresh.items()})
    write_dvb(target / "tables_dvbt2.cc",
              "Addresses of the codes that only DVB-T2 has, ETSI EN 302 755 annex A",
              "dvbt2", fresh)


if __name__ == "__main__":
    main()
