#!/usr/bin/env python3
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes figures from bench/results into the pages, as tables and single numbers, and draws curves.

A page has the marks <!-- table: NAME --> and <!-- end --> around a table, or <!-- figure: NAME -->
and <!-- end --> around a number within a line. The text between two marks is replaced.

Usage: make_tables.py [--check]   With --check, no file is written; the exit status is 1 if a page
                                  or a picture would change.
"""

import json
import math
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
RESULTS = ROOT / "bench" / "results"


def load(name, run=None):
    """Returns the run named `run` of a file in bench/results, or the file's only run if `run` is
    None."""
    path, = RESULTS.glob(f"*/{name}")
    runs = json.loads(path.read_text(encoding="utf-8"))["runs"]
    found, = [r for r in runs if run is None or r["name"] == run]
    return found


def table_of(run, name):
    """Returns the rows of one of the tables of a run."""
    return [row for row in run["rows"] if row.get("table") == name]


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows])


def three(value):
    """Formats a number with two or three significant digits, or as an integer from 100 on."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"


def rate(bits_per_s):
    for scale, unit in ((1e9, "Gb/s"), (1e6, "Mb/s"), (1e3, "kb/s")):
        if bits_per_s >= scale:
            return f"{three(bits_per_s / scale)} {unit}"
    return f"{bits_per_s:.0f} b/s"


def median(run, what):
    return next(r["median_bits_per_s"] for r in run["rates"] if r["what"] == what)


def viterbi_rows():
    return load("viterbi-rates-h200.json", "viterbi-rates-h200")["rows"]


def viterbi_batches():
    rows = viterbi_rows()
    wanted = ["K=7 1/2, 64 kbit, D=512", "K=7 1/2, 1 Mbit, D=1024", "K=7 1/2, chosen batch",
              "K=7 1/2", "K=7 1/2, two rounds"]
    chosen = sorted((r for r in rows if r["row"] in wanted), key=lambda r: r["batch_bits"])
    return table(
        ["bits per batch", "batch (parallel blocks)", "D", "time of one batch alone",
         "rate of batches in flight"],
        [[f"{r['batch_bits']:,}", f"{r['batch']:,}", r["decode_length"],
          f"{three(1e3 * r['batch_latency_s'])} ms", rate(median(r, "host to host"))]
         for r in chosen])


def ldpc_rows():
    """Returns (batch size, rows by schedule) for each batch size that both schedules have."""
    rows = {}
    for r in load("ldpc-sweeps-h200.json", "ldpc-sweeps-latency-h200")["rows"]:
        if r["sweep"] == "latency" and r["options"]["max_iterations"] == 10:
            rows.setdefault(r["batch"], {})[r["options"]["schedule"]] = r
    return sorted((batch, r) for batch, r in rows.items() if len(r) == 2)


def ldpc_batches():
    return table(
        ["batch (frames)", "layered, one batch alone", "layered, in flight",
         "flooding, one batch alone", "flooding, in flight"],
        [[batch] + [text for schedule in ("layered", "flooding") for text in
                    (f"{three(1e3 * r[schedule]['batch_latency_s'])} ms",
                     rate(median(r[schedule], "host to host")))]
         for batch, r in ldpc_rows()])


def ldpc_delay():
    found = load("ldpc-latency-cpu-epyc.json")["rows"]
    return table(
        ["`batch`", "`max_latency_ms`", "median delay", "maximum delay"],
        [[r["batch"] or f"0 ({r['frames_a_batch']})", f"{r['max_latency_ms']:g}",
          f"{r['median_ms']:.0f} ms", f"{r['most_ms']:.0f} ms"] for r in found])


def sync_rows():
    """Returns the rows for precision float and output symbols, by frames per batch and by p, the
    probability of an insertion and of a deletion."""
    rows = {}
    for r in load("sync-kernels-h200.json", "sync-linear-h200")["rows"]:
        if r["precision"] == "float" and r["output"] == "symbols":
            rows.setdefault(r["frames"], {})[r["p"]] = r
    return rows


def sync_batches():
    rows = sync_rows()
    ps = sorted({p for r in rows.values() for p in r})
    return table(
        ["frames per batch"] + [f"p = {p:g}" for p in ps],
        [[f"{frames:,}"] + [
            f"{three(r[p]['kernels_ms'])} ms, {rate(1e6 * r[p]['mbit_per_s'])}" if p in r
            else "—" for p in ps] for frames, r in sorted(rows.items())])


def one_thread():
    """Tabulates the rates of Viterbi and LDPC decoding on one CPU thread and on an H200, from host
    memory to host memory."""
    viterbi = load("viterbi-vs-gr-fec.json", "viterbi-vs-gr-fec")["rows"]
    cpu = next(r["median_bits_per_s"] for r in viterbi if r["decoder"] == "gpufec cpu, streaming")
    gpu = next(r for r in viterbi_rows() if r["row"] == "K=7 1/2")
    ldpc_cpu = next(r for r in load("ldpc-cpu.json", "ldpc-cpu-epyc")["rows"]
                    if r["cpu"] == "dvbs2 normal 1/2" and r["instruction_set"] == "avx512")
    layer = load("shared-layer-h200.json", "shared-layer-h200")
    after = [r for r in table_of(layer, "runs")
             if r["decoder"] == "ldpc" and r["commit"] != "8888a0c"]
    ldpc_gpu = sorted(median(r, "host to host") for r in after)[len(after) // 2]
    return table(
        ["decoder and code", "one thread, AVX-512 (EPYC)", "NVIDIA H200"],
        [["Viterbi, K=7 rate 1/2, int8", rate(cpu), rate(median(gpu, "host to host"))],
         ["LDPC, normal 1/2, 10 iterations, int8", rate(1e6 * ldpc_cpu["information_Mb_per_s"]),
          rate(ldpc_gpu)]])


def beside_gr_fec():
    """Returns three results of the comparison with gr-fec, in bits per second of processor time:
    the rate of gr-fec's fastest kernel, the rate of gr-gpufec on terminated frames, and all rates
    by name."""
    results = load("viterbi-vs-gr-fec.json", "viterbi-vs-volk")["rows"]
    rates = {r["decoder"]: r["median_bits_per_cpu_s"] for r in results}
    return (max(r for name, r in rates.items() if name.startswith("gr-fec")),
            rates["gpufec cpu, terminated"], rates)


def gr_fec_kernels():
    processor = load("viterbi-vs-gr-fec.json", "viterbi-vs-volk")["device"]["processor"]
    fastest, _, rates = beside_gr_fec()
    return table(["decoder", f"rate on one thread, {processor}", "ratio to gr-fec's fastest"],
                 [[name, rate(r), f"{r / fastest:.2f}"] for name, r in rates.items()])


def dvbs2rx_runs(name):
    """Returns a run, and its rows by signal-to-noise ratio in dB and by receiver."""
    run, points = load("dvbs2rx-cpu.json", name), {}
    for row in run["rows"]:
        points.setdefault(row["snr_db"], {})[row["receiver"]] = row
    return run, points


def dvbs2rx_one_block():
    _, points = dvbs2rx_runs("dvbs2rx-one-block-cpu")
    ways = (("gr_dvbs2rx", "none"), ("gr_dvbs2rx_and_bbframe_to_ts", "deheader"),
            ("one_block", "the four blocks"),
            ("one_block_and_bbframe_to_ts", "the four blocks, deheader"))
    kinds = (("right", "correct packets"), ("wrong", "wrong packets"),
             ("msymbols_per_processor_second", "Msym per second of a core"))
    head = ["replaced blocks"] + [f"{title}, {snr:g} dB" for snr in points for _, title in kinds]
    written = lambda x: f"{x:,}" if isinstance(x, int) else f"{x:.1f}"
    return table(head, [[name] + [written(p[way][kind]) for p in points.values()
                                  for kind, _ in kinds] for way, name in ways])


def dvbs2rx_receiver():
    """Tabulates the median numbers of correct and of wrong packets, with the range if runs on the
    same samples differ."""
    result, points = dvbs2rx_runs("dvbs2rx-receiver-cpu")
    ways = (("gr_dvbs2rx", "none"), ("gpufec", "LDPC decoder"),
            ("gr_dvbs2rx_and_bbframe_to_ts", "deheader"),
            ("gpufec_and_bbframe_to_ts", "LDPC decoder, deheader"))
    other = re.search("--other (\\w+)", result["command"])[1]
    head = ["replaced blocks", "gr-dvbs2rx"] + [
        f"{title} packets, {snr:g} dB" for snr in points for title in ("correct", "wrong")]

    def cell(found, what):
        runs = [run[what] for run in found["runs"]]
        spread = f" ({min(runs):,} to {max(runs):,})" if min(runs) < max(runs) else ""
        return f"{found[what]:,}{spread}"
    return table(head, [[name, version] + [cell(p[prefix + way], what) for p in points.values()
                                           for what in ("right", "wrong")]
                        for way, name in ways
                        for prefix, version in (("", "1.4"), ("other_", other))])


def dvbs_run():
    return load("cpu-flow-epyc.json", "dvbs-rates-cpu")


def dvbs_packets(rows, *receivers):
    rates = list(dict.fromkeys(row["rate"] for row in rows))
    points = {(row["rate"], row["es_n0_db"]): row for row in rows}
    columns = sorted({db for _, db in points})
    receivers = (("gpufec", "`dvbs_fec_receiver`"), *receivers, ("gr_dtv", "gr-dtv"))
    return table(["code rate", "receiver"] + [f"{db:g} dB" for db in columns],
                 [[code, title] + [f"{points[code, db][key]:,}" if (code, db) in points else ""
                                   for db in columns]
                  for code in rates for key, title in receivers])


def dvbs_leandvb():
    rates = "1-2", "2-3", "3-4", "5-6", "7-8"
    rows = [row for code in rates
            for row in load("cpu-flow-epyc.json", f"dvbs-leandvb-{code}")["rows"]]
    return dvbs_packets(rows,
                        ("synchronised", "loops, `dvbs_fec_receiver`"), ("leandvb", "leandvb"))


def recordings():
    """Tabulates the numbers of PDUs that receivers find in recordings, by satellite and added noise,
    summed over the runs at each level of noise."""
    lines = []
    for title, run in (("BY70-1", "recording-by701"), ("KS-1Q", "recording-ks-1q"),
                       ("TRISAT", "recording-trisat")):
        for row in load("recording-pdus.json", run)["rows"]:
            level = "none" if row["noise_db"] is None else f"{row['noise_db']:g} dB"
            lines.append([title, level] + [sum(row[way]) for way in
                                           ("gr_satellites", "gpufec", "receiver")])
    return table(["satellite", "added noise", "PDUs, gr-satellites",
                  "PDUs, gr-satellites with this Viterbi decoder", "PDUs, `ccsds_fec_receiver`"],
                 lines)


def ccsds_core():
    """Tabulates the rates of ccsds_fec_receiver on one core, in bits of transfer frames and in soft
    values."""
    rows = load("viterbi-flowgraph.json", "ccsds-rates-epyc")["rows"]
    lines = []
    for tags, title in (("none", "without tags"), ("failures", '`status_tags="failures"`'),
                        ("all", '`status_tags="all"` (default)')):
        bits = sorted(row["mbit_per_cpu_s"] for row in rows if row["tags"] == tags)
        middle = 1e6 * bits[len(bits) // 2]
        values = middle * 2 * (5 * 255 + 4) / (5 * 223)
        lines.append([title, rate(middle), f"{three(values / 1e9)}·10⁹"])
    return table(["tags", "rate of transfer frames", "soft values per second"], lines)


def viterbi_rates():
    rows = []
    for r in viterbi_rows():
        ms = r["device_ms"]
        rows.append([
            r["row"], f"{r['batch']} × {r['decode_length']}",
            f"{ms['prepare']:.2f}, {ms['forward']:.3f}, {ms['traceback']:.3f}",
            *(f"{x / 1e9:.1f}" for x in (r["kernels_bits_per_s"], r["stages_per_s"],
                                         median(r, "host to host"), median(r, "stream"))),
            f"{1e6 * r['batch_latency_s']:.0f}"])
    return table(["code", "batch: blocks × D", "prepare, forward, traceback, ms",
                  "kernels, Gb/s", "G stages/s", "host to host, Gb/s", "stream, Gb/s",
                  "latency, µs"], rows)


def vlsnr_frames(name):
    """Returns the figure of a run with one MODCOD: its wrong frames and the number of frames."""
    row, = load("dvbs2-error-rates.json", name)["rows"]
    return f"{row['wrong']} of {row['frames']:,}"


def vlsnr_offsets():
    runs = [load("dvbs2-error-rates.json", f"vlsnr-offset-{name}-epyc")["rows"]
            for name in ("int8", "1-4", "1-3", "5-12", "declining")]
    lines = []
    for rows in zip(*runs):
        size, _, code = rows[0]["modcod"].rsplit(" ", 2)
        lines.append([f"`{size}` {code}", f"{rows[0]['esn0_db']:.2f} dB"] +
                     [f"{row['wrong']} ({row['mean_iterations']:.1f})" for row in rows])
    return table(["code", "Es/N0", "int8, by rate", "float, 1/4 nat", "int16, 1/3 nat",
                  "int16, 5/12 nat", "float, default"], lines)


def vlsnr_error_rates():
    # Short 4/15 has had another offset since the run on the H200.
    newer, = load("dvbs2-error-rates.json", "vlsnr-short-4-15-int8-epyc")["rows"]
    lines = []
    for row in load("dvbs2-error-rates.json", "vlsnr-error-rates-h200")["rows"]:
        row = newer if row["modcod"] == newer["modcod"] else row
        size, constellation, code = row["modcod"].rsplit(" ", 2)
        lines.append([f"`{size}`", f"`{constellation}` {code}", f"{row['esn0_db']:.2f} dB",
                      f"{row['wrong']:,} of {row['frames']:,}", f"{row['mean_iterations']:.1f}"])
    return table(["`frame_size`", "MODCOD", "Es/N0", "wrong frames", "mean iterations"], lines)


def dvbs_speed():
    rows = table_of(dvbs_run(), "speed")
    receivers = (("gpufec", "gpufec"), ("gpufec_auto", "gpufec, rate found"), ("gr_dtv", "gr-dtv"))
    cell = lambda row, key: rate(row[f"{key}_bits_per_s"]) if f"{key}_bits_per_s" in row else ""
    return table(["input"] + [title for _, title in receivers],
                 [["frames, after the Viterbi decoder" if row["input"] == "frames"
                   else f"symbols, {row['rate']}"] + [cell(row, key) for key, _ in receivers]
                  for row in rows])


def dvbs_sent():
    sent = {row["complete"] for row in table_of(dvbs_run(), "packets")}
    return f"{min(sent):,} to {max(sent):,}" if len(sent) > 1 else f"{sent.pop():,}"


def right_packets(way):
    """Returns the median number of packets that the receiver `way` decodes correctly at the lowest
    signal-to-noise ratio, with the newer version of gr-dvbs2rx."""
    _, points = dvbs2rx_runs("dvbs2rx-receiver-cpu")
    return f"{points[min(points)]['other_' + way]['right']:,}"


def build_time():
    steps = {s["step"]: s["wall_s"] for s in load("readme-debian12.json")["rows"]}
    return f"{steps['cmake --build --preset release'] / 60:.0f} minutes"


def array_rates():
    """Tabulates the rates of decoding arrays and of copying the input in Mb/s, by frames per call."""
    rates = {(r["decoder"], r["way"], r["frames"]): r["mbps"]
             for r in table_of(load("array-rates-h200.json"), "rates")}
    ways = ("new decoder per call", "reused decoder", "page-locked", "on the device", "flowgraph",
            "gpufec decode", "copy of the array")
    labels = {"page-locked": "pinned arrays", "on the device": "device arrays"}

    def cell(*key):
        return f"{rates[key]:,.0f}" if key in rates else "—"
    return table(
        ["decoder, frames per call"] + [labels.get(way, way) for way in ways],
        [[f"{name}, {frames:,}"] + [cell(key, way, frames) for way in ways]
         for name, key, counts in (("Viterbi", "viterbi", (1, 100, 10000, 100000)),
                                   ("LDPC", "ldpc", (1, 100, 10000)),
                                   ("synchronisation", "sync", (1, 100, 10000, 100000)))
         for frames in counts])


def workers():
    result = load("many-workers-cpu.json", "many-workers-cpu")
    found = {name: {r["name"]: r for r in table_of(result, f"{name} / workers")}
             for name in ("dask", "zeromq")}
    return table(
        ["workers"] + [f"{name}, {what}" for name in ("Dask", "gr-zeromq")
                       for what in ("Mb/s", "ratio to one worker")],
        [[n] + [text for name in ("dask", "zeromq")
                for text in (f"{found[name][n]['mbps']:.1f}", f"{found[name][n]['speed_up']:.2f}")]
         for n in found["dask"]])


def sync_reads():
    result = load("sync-reads-cpu.json")
    points = {(r["p"], r["reads"], r["passes"]): r for r in table_of(result, "error_rates")}

    def cell(p, reads, passes):
        r = points[p, reads, passes if reads > 1 else 1]
        if r["errors"] == 0:
            return f"0 of {r['symbols']:,}"
        return f"{r['ser']:.2g} ± {1.96 * r['ser_deviation']:.1g}"

    return table(["insertion and deletion probability", "passes"] +
                 [f"{reads} reads" if reads > 1 else "1 read" for reads in (1, 2, 4, 8)],
                 [[p, passes] + [cell(p, reads, passes) for reads in (1, 2, 4, 8)]
                  for p in result["settings"]["p"] for passes in (1, 2, 3)])


def sync_reads_gap():
    points = table_of(load("sync-reads-cpu.json"), "gaps")
    return table(["insertion and deletion probability", "reads", "passes", "mean distance",
                  "largest distance", "other decisions", "wrong symbols",
                  "wrong symbols with joint posteriors"],
                 [[r["p"], r["reads"], r["passes"], f"{r['mean']:.2g}", f"{r['worst']:.2g}",
                   f"{r['other_decisions']} of {r['symbols']:,}", r["errors"],
                   r["errors_of_all_together"]] for r in points if r["passes"] < 3])


class axes:
    """An SVG picture of curves over logarithmic axes. The class writes the SVG text itself, so that
    equal figures make equal files, which --check needs."""

    LEFT, TOP, WIDTH, HEIGHT = 96, 14, 544, 340
    COLOURS = ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd")

    def __init__(self, x, y):
        """Draws the axes. `x` and `y` are each a title, the exponents of the first and last decade,
        and a function that converts an exponent to a label."""
        self.x, self.y, self.parts = x, y, []
        for (_, first, last, name), upright in ((x, False), (y, True)):
            for decade in range(first, last + 1):
                place = round(self.place(10.0**decade, upright), 1)
                line, text = (
                    (f"M{self.LEFT} {place}h{self.WIDTH}",
                     f'x="{self.LEFT - 6}" y="{place + 4:.1f}" text-anchor="end"') if upright else
                    (f"M{place} {self.TOP}v{self.HEIGHT}",
                     f'x="{place}" y="{self.TOP + self.HEIGHT + 18}" text-anchor="middle"'))
                self.parts += [f'<path d="{line}" stroke="#ddd"/>', f"<text {text}>{name(decade)}</text>"]

    def place(self, value, upright):
        _, first, last, _ = self.y if upright else self.x
        part = (math.log10(value) - first) / (last - first)
        return self.TOP + self.HEIGHT * (1 - part) if upright else self.LEFT + self.WIDTH * part

    def curve(self, number, name, points):
        """Adds curve `number` (0 to 4, selects the colour). Points are (x, y, label); a label may
        be empty."""
        colour = self.COLOURS[number]
        places = [(round(self.place(x, False), 1), round(self.place(y, True), 1), text)
                  for x, y, text in points]
        self.parts.append(f'<path d="M{" L".join(f"{x} {y}" for x, y, _ in places)}" fill="none" '
                          f'stroke="{colour}" stroke-width="2"/>')
        for x, y, text in places:
            self.parts.append(f'<circle cx="{x}" cy="{y}" r="3.5" fill="{colour}"/>')
            if text:
                self.parts.append(f'<text x="{x + 7:.1f}" y="{y + 14:.1f}" fill="{colour}" '
                                  f'font-size="11">{text}</text>')
        at = self.TOP + 18 + 20 * number
        self.parts += [f'<path d="M{self.LEFT + self.WIDTH + 14} {at - 4}h22" stroke="{colour}" '
                       'stroke-width="2"/>',
                       f'<text x="{self.LEFT + self.WIDTH + 42}" y="{at}">{name}</text>']

    def svg(self):
        middle, below = self.LEFT + self.WIDTH / 2, self.TOP + self.HEIGHT
        beside = self.TOP + self.HEIGHT / 2
        return "\n".join(
            ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 830 400" '
             'font-family="sans-serif" font-size="13">',
             '<rect width="830" height="400" fill="#fff"/>'] + self.parts +
            [f'<text x="{middle:.0f}" y="{below + 38}" text-anchor="middle">{self.x[0]}</text>',
             f'<text transform="translate(16 {beside:.0f}) rotate(-90)" text-anchor="middle">'
             f"{self.y[0]}</text>", "</svg>"]) + "\n"


def batch_curves():
    """Draws the rate with several batches in flight against the time of one batch alone, with a
    point per batch size."""
    def time(decade):
        return f"{10**decade:g} ms"

    def speed(decade):
        return rate(10.0**decade).replace(".00", "").replace(".0", "")

    def ends(points):
        """Returns the points of a curve, with labels only at the smallest and the largest batch."""
        points = sorted(points, key=lambda point: point[2])
        return [(x, y, f"{text:,}" if n in (0, len(points) - 1) else "")
                for n, (x, y, text) in enumerate(points)]

    drawn = axes(("time of one batch alone", -1, 2, time),
                 ("information per second, batches in flight", 5, 11, speed))
    wanted = ("K=7 1/2, 64 kbit, D=512", "K=7 1/2, 1 Mbit, D=1024", "K=7 1/2, chosen batch",
              "K=7 1/2")
    rows = viterbi_rows()
    drawn.curve(0, "Viterbi, K=7 1/2", ends(
        (1e3 * r["batch_latency_s"], median(r, "host to host"), r["batch"])
        for r in rows if r["row"] in wanted))
    for number, schedule in enumerate(("layered", "flooding"), 1):
        drawn.curve(number, f"LDPC, {schedule}", ends(
            (1e3 * r[schedule]["batch_latency_s"], median(r[schedule], "host to host"), batch)
            for batch, r in ldpc_rows()))
    drawn.curve(3, "sync, p = 0.01", ends(
        (r[0.01]["kernels_ms"], 1e6 * r[0.01]["mbit_per_s"], frames)
        for frames, r in sync_rows().items() if 0.01 in r))
    return drawn.svg()


PICTURES = {"batch_against_latency.svg": batch_curves}


def readme_steps():
    """Tabulates the duration in s of each step of the README on a newly installed system."""
    steps = load("readme-debian12.json")["rows"]
    return table(["step", "duration, s"],
                 [[f"`{s['step']}`" if re.match(r"git|cmake|sudo|scripts|gpufec", s["step"])
                   else s["step"], f"{s['wall_s']:.1f}"] for s in steps])


def arm64_instructions():
    """Tabulates the instructions that the CPU kernels execute on 64-bit Arm."""
    counts = {name: {row["kernel"]: three(row["instructions"])
                     for row in load("instructions.json", name)["rows"]}
              for name in ("arm64-instructions-plain", "arm64-instructions-before")}
    return table(["kernel", "instructions", "instructions, plain C++",
                  "instructions, commit 5d2658c", "counted per"],
                 [[f"`{row['kernel']}`", three(row["instructions"]),
                   *(count.get(row["kernel"], "") for count in counts.values()), row["unit"]]
                  for row in load("instructions.json", "arm64-instructions")["rows"]])


def reed_solomon():
    """Tabulates the rates of the Reed-Solomon decoders by instruction set and errors."""
    rates = {}
    for row in load("reed-solomon-cpu.json", "reed-solomon-cpu")["rows"]:
        name = row["name"] if row["name"].startswith("gr-fec") else \
            " ".join(filter(None, ["gpufec", row["name"], row["variant"]]))
        rates.setdefault((name, row["interleaving"]), {})[row["errors"]] = row["bits_per_cpu_s"]
    return table(["decoder or encoder", "I", "no wrong symbol", "1 wrong symbol",
                  "16 wrong symbols"],
                 [[name, depth, *(rate(of[e]) if e in of else "" for e in (0, 1, 16))]
                  for (name, depth), of in rates.items()])


def ccsds_frames():
    """Tabulates the rates of the search for CCSDS frames by instruction set."""
    rates, variants = {}, []
    for row in load("reed-solomon-cpu.json", "ccsds-frames-cpu")["rows"]:
        code = f"{row['code']}, I = {row['interleaving']}" if row["code"].startswith("ccsds") \
            else row["code"]
        name = row["name"] + (", OQPSK" if row["constellation"] == "oqpsk" else "")
        rates.setdefault((code, row["input"], name), {})[row["variant"]] = row["bits_per_cpu_s"]
        if row["variant"] not in variants:
            variants.append(row["variant"])
    return table(["code", "input", "content", *variants],
                 [[*key, *(rate(of[v]) for v in variants)] for key, of in rates.items()])


# Comparisons of launch plans of the LDPC decoder: the plan, the plan to compare it with, and the
# cases (code, shared memory in KB, codewords, precision).
LDPC_PLANS = [
    ("dvb_int8x2", "two_checks_per_word", [
        ("dvbs2 normal 1/2", 227, 5280, "int8"), ("dvbs2 normal 3/4", 227, 5280, "int8"),
        ("dvbs2 short 1/2", 227, 21120, "int8")]),
    ("dvb_int8x2", "layered", [("dvbs2 normal 3/4", 99, 5280, "int8")]),
    ("two_checks_per_word", "dvb_int8x2", [
        ("dvbs2 normal 1/2", 163, 5280, "int8"), ("dvbs2 normal 1/4", 163, 5280, "int8"),
        ("dvbs2 normal 1/2", 227, 64, "int8"), ("dvbs2 short 1/2", 227, 64, "int8")]),
    ("dvb_float", "layered", [
        ("dvbs2 normal 1/2", 227, 5280, "float"), ("dvbs2 normal 1/2", 227, 5280, "int16"),
        ("dvbs2 normal 1/2", 99, 5280, "float")]),
    ("quasi_cyclic", "unstructured_int8x2", [
        ("nr bg1 z384 1/3", 227, 10560, "int8"), ("nr bg1 z384 22/33", 227, 10560, "int8"),
        ("nr bg2 z384 1/5", 227, 10560, "int8"), ("nr bg1 z64 22/52", 227, 10560, "int8"),
        ("ccsds_ar4ja 16384 1/2", 227, 10560, "int8")]),
    ("unstructured_int8x2", "layered", [
        ("wifi 1944 1/2", 227, 42240, "int8"), ("ccsds_c2 8160 7/8", 227, 21120, "int8"),
        ("ra64800_1_2", 227, 5280, "int8"), ("ra64800_1_2", 163, 5280, "int8"),
        ("nr bg1 z384 1/3", 99, 10560, "int8")])]


def compared(head, unit, plans, cells, of):
    """Tabulates the rates of launch plans, in `unit`, and of other plans to compare them with.
    `plans` lists (plan, other plan, cases). `cells` returns the cells of a case under `head`, and
    `of` returns a plan's rate in a case."""
    return table(
        ["plan", *head, f"rate, {unit}", "next plan", f"rate of next plan, {unit}",
         "ratio of rates"],
        [[f"`{plan}`", *cells(case), three(of(plan, case)), f"`{other}`", three(of(other, case)),
          f"{of(plan, case) / of(other, case):.2f}"]
         for plan, other, cases in plans for case in cases])


def ldpc_plans():
    """Tabulates the rate of each launch plan in LDPC_PLANS and of the plan to compare it with."""
    rates = {}
    for r in load("ldpc-unstructured-h200.json", "ldpc-plans-h200")["rows"]:
        rates[r["plan"], r["code"], r["shared_kb"], r["frames"],
              r["precision"]] = r["T_edge_iterations_per_s"]

    def of(plan, case):
        return rates[(plan if (plan, *case) in rates else "chosen", *case)]
    return compared(
        ["code", "precision", "shared memory", "codewords per batch"], "T", LDPC_PLANS,
        lambda case: [f"`{case[0]}`", case[3], f"{case[1]} KB", f"{case[2]:,}"], of)


def ldpc_any_code():
    """Tabulates the rates of the chosen plan and of the plan `layered`, which accepts every code,
    for several sizes of shared memory."""
    rows = load("ldpc-unstructured-h200.json", "ldpc-plans-h200")["rows"]
    sizes = [227, 163, 99, 64]
    codes = ["a16200_3_6", "ra64800_1_2", "ra64800_3_4", "ra64800_1_2_7",
             "ccsds_ar4ja 16384 1/2", "nr bg1 z384 1/3"]

    def of(code, plan, kb):
        return next(three(r["T_edge_iterations_per_s"]) for r in rows
                    if (r["code"], r["plan"], r["shared_kb"]) == (code, plan, kb)
                    and r["precision"] == "int8")
    return table(
        ["code"] + [f"{plan}, {kb} KB, T" for plan in ("chosen plan", "`layered`") for kb in sizes],
        [[f"`{code}`"] + [of(code, plan, kb) for plan in ("chosen", "layered") for kb in sizes]
         for code in codes])


def ldpc_layered():
    """Tabulates the rates of the plan `layered` in each precision, with all shared memory."""
    codes = ["wifi 648 1/2", "wifi 1944 5/6", "ccsds_c2 8160 7/8", "ccsds_ar4ja 1024 1/2",
             "ccsds_ar4ja 16384 1/2", "nr bg1 z64 22/52", "nr bg1 z384 22/46", "a16200_3_6",
             "ra64800_1_2"]
    rows = load("ldpc-unstructured-h200.json", "ldpc-plans-h200")["rows"]

    def of(code, precision):
        return next(three(r["T_edge_iterations_per_s"]) for r in rows
                    if (r["code"], r["precision"], r["shared_kb"]) == (code, precision, 227)
                    and r["plan"] == ("layered" if precision == "int8" else "chosen")
                    and r["frames"] > 5000)
    return table(["code", "int8, T", "int16, T", "float, T"],
                 [[f"`{code}`", *(of(code, p) for p in ("int8", "int16", "float"))]
                  for code in codes])


SYNC_PLANS = [
    ("banded_lattice", "trie_lattice", [
        ("float", 0.001, 25344, 227), ("float", 0.001, 25344, 99), ("float", 0.001, 12672, 64)]),
    ("trie_lattice", "linear", [
        ("float", 0.001, 25344, 227), ("float", 0.01, 12672, 227), ("float", 0.1, 3168, 227),
        ("double", 0.001, 25344, 227), ("float", 0.001, 25344, 99), ("float", 0.1, 12672, 99),
        ("double", 0.01, 12672, 99), ("float", 0.001, 25344, 64), ("float", 0.01, 12672, 64)]),
    ("linear", "trie_lattice", [
        ("float", 0.001, 1024, 227), ("float", 0.001, 256, 227), ("float", 0.01, 1024, 227)]),
    ("linear", "linear_any", [("float", 0.001, 1024, 227), ("double", 0.01, 1024, 227)])]


def sync_plans():
    """Tabulates the rate of each launch plan in SYNC_PLANS and of the plan to compare it with."""
    rates = {(r["plan"], r["precision"], r["p"], r["frames"], r["shared_kb"]): r["mbit_per_s"]
             for r in table_of(load("sync-kernels-h200.json", "sync-plans-h100"), "plans")}
    return compared(
        ["precision", "p", "frames per batch", "shared memory"], "Mb/s", SYNC_PLANS,
        lambda case: [case[0], case[1], f"{case[2]:,}", f"{case[3]} KB"],
        lambda plan, case: rates[(plan, *case)])


def sync_cards():
    """Tabulates the rate of the chosen plan for several sizes of shared memory."""
    rows = table_of(load("sync-kernels-h200.json", "sync-plans-h100"), "plans")
    rates = {(r["precision"], r["p"], r["frames"], r["shared_kb"]): r["mbit_per_s"]
             for r in rows if r["plan"] == "chosen"}
    sizes = [227, 163, 99, 64]
    return table(
        ["precision", "p", "frames per batch"] + [f"{kb} KB, Mb/s" for kb in sizes],
        [[precision, p, f"{frames:,}"] + [three(rates[precision, p, frames, kb]) for kb in sizes]
         for precision in ("float", "double") for p in (0.001, 0.01, 0.1)
         for frames in (1024, 25344)])


TABLES = {"readme steps": readme_steps, "arm64 instructions": arm64_instructions,
          "reed-solomon": reed_solomon,
          "ccsds-frames": ccsds_frames,
          "sync reads": sync_reads, "sync reads gap": sync_reads_gap,
          "array rates": array_rates, "workers": workers, "dvbs2rx receiver": dvbs2rx_receiver,
          "dvbs2rx one block": dvbs2rx_one_block,
          "dvbs packets": lambda: dvbs_packets(table_of(dvbs_run(), "packets")),
          "dvbs leandvb": dvbs_leandvb, "recordings": recordings, "ccsds core": ccsds_core,
          "viterbi rates": viterbi_rates,
          "vlsnr error rates": vlsnr_error_rates, "vlsnr offsets": vlsnr_offsets,
          "vlsnr float": lambda: vlsnr_frames("vlsnr-short-4-15-float-epyc"),
          "dvbs speed": dvbs_speed, "dvbs sent": dvbs_sent,
          "dvbs processor": lambda: dvbs_run()["device"]["processor"],
          "gr-fec kernels": gr_fec_kernels,
          "packets dvbs2rx": lambda: right_packets("gr_dvbs2rx"),
          "packets gpufec": lambda: right_packets("gpufec"), "build time": build_time,
          "gr-fec": lambda: rate(beside_gr_fec()[0]),
          "beside gr-fec": lambda: rate(beside_gr_fec()[1]),
          "viterbi batches": viterbi_batches, "ldpc batches": ldpc_batches,
          "ldpc plans": ldpc_plans, "ldpc any code": ldpc_any_code,
          "ldpc layered": ldpc_layered,
          "sync plans": sync_plans, "sync cards": sync_cards,
          "ldpc delay": ldpc_delay, "sync batches": sync_batches, "one thread": one_thread}
REGION = re.compile(r"(?s)(<!-- (?:table|figure): ([\w -]+) -->)(\n?).*?<!-- end -->")


def updated(text):
    return REGION.sub(
        lambda m: f"{m[1]}{m[3]}{TABLES[m[2]]()}{m[3]}<!-- end -->", text)


def main():
    changed = []
    for page in sorted((ROOT / "docs").rglob("*.md")) + [ROOT / "README.md",
                                                        ROOT / "packaging" / "README.md"]:
        text = page.read_text(encoding="utf-8")
        new = updated(text)
        if new != text:
            changed.append(page.name)
            if "--check" not in sys.argv[1:]:
                page.write_text(new, encoding="utf-8")
    for name, draw in PICTURES.items():
        path = ROOT / "docs" / "pictures" / name
        new = draw()
        if not path.exists() or path.read_text(encoding="utf-8") != new:
            changed.append(name)
            if "--check" not in sys.argv[1:]:
                path.write_text(new, encoding="utf-8")
    if changed:
        print("make_tables:", ", ".join(changed))
    return 1 if changed and "--check" in sys.argv[1:] else 0


if __name__ == "__main__":
    sys.exit(main())
