#!/usr/bin/env python3
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures the rates of decoding arrays with all three decoders, and the time to import gpufec.

A call decodes 1 to 100,000 frames (LDPC up to 10,000). A decoder object that is used for all calls
("reused decoder") is compared with functions that make a decoder in each call ("new decoder per
call"), a plain copy of the input ("copy of the array"), a flowgraph (--flowgraph, needs GNU Radio)
and the command line tool (--tool). On a GPU, a reused decoder is also measured with pinned arrays
("page-locked") and with arrays in device memory ("on the device"). With --tool, the Viterbi and
LDPC rates for pinned and device arrays are compared with `gpufec bench`. --json writes the results
to a file, and --plot draws them."""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
from results_file import report_path, save  # noqa: E402

try:
    import gpufec
except ModuleNotFoundError:
    from gnuradio import gpufec


# Labels of the curves, for names of rates that need another label in the picture.
LABELS = {"page-locked": "pinned arrays", "on the device": "device arrays"}


class Viterbi:
    name = "Viterbi, K=7 rate 1/2, 1024-bit tail-biting frames"
    bits, most = 1024, 100000
    code = dict(termination="tailbiting", frame_bits=1024)
    words = ["--termination", "tailbiting", "--frame-bits", "1024"]
    fixed, fixed_words = dict(), [] # options that make the work per frame constant
    command, make, once = "viterbi", gpufec.viterbi_decoder, gpufec.viterbi_decode

    def __init__(self):
        bits = gpufec.random_bits((256, 1024))
        coded = gpufec.conv_encode(bits, packed_input=False, packed_output=False, **self.code)
        self.values = gpufec.awgn(coded, 5.0, 0.5)

    def block(self, module, run):
        return module.gpu_viterbi_pbvd(**self.code, **run)


class Ldpc:
    name = "LDPC, DVB-S2 normal 1/2, at 2 dB"
    bits, most = 32400, 10000
    code, words = dict(), []
    fixed = dict(early_stop=False, max_iterations=10)
    fixed_words = ["--early-stop=false", "--max-iterations=10"]
    command, make, once = "ldpc", gpufec.ldpc_decoder, gpufec.ldpc_decode

    def __init__(self):
        bits = gpufec.random_bits((64, self.bits))
        words = gpufec.ldpc_encode(bits, packed_input=False, packed_output=False)
        soft = gpufec.awgn(words, 2.0, 0.5, soft_input="float", positive_bit=0)
        llr = 2 * soft * 2 * 10 ** 0.2 # scale of int8 LLRs: 2 steps per nat
        self.values = np.clip(np.rint(llr), -127, 127).astype(np.int8)

    def block(self, module, run):
        return module.gpu_ldpc_dvbs2(**run)


class Sync:
    name = "synchronisation, q=32 n=10 N=210, 1e-3 each"
    bits, most = 1050, 100000
    command, make, once = "sync", gpufec.sync_decoder, gpufec.sync_decode
    words = None # The tool is not measured, because it would need a file of the frames' lengths.

    def __init__(self):
        book = gpufec.codebook_davey_mackay()
        symbols = np.random.default_rng(1).integers(0, 32, (64, 210)).astype(np.uint8)
        received, lengths = gpufec.bsid(gpufec.sync_encode(symbols, book))
        self.values = np.full((64, lengths.max()), 2, np.uint8)
        for row, frame in zip(self.values, np.split(received, np.cumsum(lengths)[:-1])):
            row[:len(frame)] = frame
        self.lengths, self.code = lengths, dict(codebook=book)

    def block(self, module, run):
        return None


def median_time(call, seconds):
    call() # not measured, because it fills caches and creates decoders
    times = []
    begin = time.perf_counter()
    while not times or (time.perf_counter() - begin < seconds and len(times) < 50):
        before = time.perf_counter()
        call()
        times.append(time.perf_counter() - before)
    return float(np.median(times))


def through_flowgraph(subject, values, run):
    from gnuradio import blocks, gpufec as module, gr
    block = subject.block(module, run)
    if block is None:
        return None
    with tempfile.NamedTemporaryFile(dir="/dev/shm") as file:
        values.tofile(file.name)
        sink, top = blocks.null_sink(1), gr.top_block()
        top.connect(blocks.file_source(1, file.name), block, sink)
        begin = time.perf_counter()
        top.run()
        return time.perf_counter() - begin


def through_tool(subject, values, tool, run):
    if subject.words is None:
        return None
    words = [f"--{name}={value}" for name, value in run.items()]
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        values.tofile(f"{folder}/in")
        begin = time.perf_counter()
        subprocess.run([tool, "decode", subject.command, *subject.words, *words,
                        f"{folder}/in", f"{folder}/out"], check=True, capture_output=True)
        return time.perf_counter() - begin


def ways_of_a_device(decoder, values, **more):
    """Returns tuples (name, input array, output array) for pinned memory and device memory. The
    input arrays have the values of `values`."""
    pinned = gpufec.pinned_empty(values.shape, values.dtype)
    pinned[:] = values
    there = gpufec.to_device(values)
    out = decoder.decode(there, **more)[0]
    return (("page-locked", pinned, gpufec.pinned_empty(out.shape, np.uint8)),
            ("on the device", there, out))


def beside_bench(subject, frames, args, run):
    """Returns three rates in Mb/s for `frames` frames. `gpufec bench` measures the rate of the
    kernels alone and the rate from pinned input to pinned output ("slot to slot"). The third rate
    is for decoding pinned arrays or arrays in device memory. The work per frame is constant."""
    facts = json.loads(subprocess.run(
        [args.tool, "bench", subject.command, *subject.words, *subject.fixed_words,
         "--backend=cuda", "--json=-"], check=True, capture_output=True, text=True).stdout)
    slots = next(r for r in facts["rates"] if r["what"] == "host to host")
    found = {"kernels": facts["kernels_bits_per_s"] / 1e6,
             "slot to slot": slots["median_bits_per_s"] / 1e6}
    values = subject.values[np.arange(frames) % len(subject.values)]
    decoder = subject.make(**subject.code, **subject.fixed, **run)
    for way, array, out in ways_of_a_device(decoder, values):
        seconds = median_time(lambda: decoder.decode(array, out=out), args.seconds)
        found[way] = frames * subject.bits / seconds / 1e6
    print(f"{subject.command}, {frames} frames per call, rates in Mb/s compared with gpufec bench:",
          ", ".join(f"{way} {rate:.1f}" for way, rate in found.items()), flush=True)
    return found


def measure(subject, counts, args):
    """Returns a report with the rate in Mb/s of each method of decoding `subject`, for each number
    of frames in `counts`."""
    found = {}
    run = dict(backend=args.backend, threads=args.threads)
    if args.batch:
        run["batch"] = args.batch

    def add(way, frames, seconds):
        if seconds:
            found.setdefault(way, []).append([frames, frames * subject.bits / seconds / 1e6])

    decoder = subject.make(**subject.code, **run)
    for frames in counts:
        rows = np.arange(frames) % len(subject.values)
        values = subject.values[rows]
        more = dict(lengths=subject.lengths[rows]) if subject.command == "sync" else {}
        status = decoder.decode(values, **more)[1]
        add("reused decoder", frames,
            median_time(lambda: decoder.decode(values, **more), args.seconds))
        add("new decoder per call", frames,
            median_time(lambda: type(subject).once(values, **subject.code, **more, **run),
                        args.seconds))
        to = np.empty_like(values)
        add("copy of the array", frames,
            median_time(lambda: np.copyto(to, values), args.seconds / 4))
        if status.backend == "cuda":
            for way, array, out in ways_of_a_device(decoder, values, **more):
                add(way, frames, median_time(
                    lambda: decoder.decode(array, **more, out=out), args.seconds))
        if args.flowgraph:
            add("flowgraph", frames, through_flowgraph(subject, values, run))
        if args.tool:
            add("gpufec decode", frames, through_tool(subject, values, args.tool, run))
        print(f"{subject.command}, {frames} frames per call, rates in Mb/s:", ", ".join(
            f"{way} {rates[-1][1]:.1f}" for way, rates in found.items()
            if rates[-1][0] == frames), flush=True)
    report = {"what": subject.name, "bits_per_frame": subject.bits, "backend": status.backend,
              "device": status.device, "mbps": found}
    if args.tool and status.backend == "cuda" and subject.command != "sync":
        report["beside_bench_mbps"] = beside_bench(subject, counts[-1], args, run)
    return report


def import_seconds():
    """Returns the wall time and the processor time in seconds of importing gpufec, which includes
    NumPy, and of importing NumPy alone. Each time is the median over nine processes."""
    program = ("import time\ndef now(): return time.perf_counter(), time.process_time()\n"
               "a = now(); import numpy; b = now(); import gpufec; c = now()\n"
               "print(c[0] - a[0], c[1] - a[1], b[0] - a[0], b[1] - a[1])")
    runs = [[float(x) for x in subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True,
        text=True).stdout.split()] for _ in range(9)]
    return dict(zip(("wall", "processor", "numpy_wall", "numpy_processor"),
                    map(float, np.median(runs, axis=0))))


def found(report):
    """Converts the nested report to tables with a row per measurement. reported() is the inverse,
    without import_s."""
    rates = [{"decoder": name, "way": way, "frames": frames, "mbps": mbps}
             for name, one in report["decoders"].items() for way, points in one["mbps"].items()
             for frames, mbps in points]
    decoders = [{"decoder": name, **{key: value for key, value in one.items() if key != "mbps"}}
                for name, one in report["decoders"].items()]
    return {"rates": rates, "decoders": decoders, "import_s": report["import_s"]}


def reported(path):
    """Reads a file of results back into the nested report."""
    decoders = {}
    for row in json.loads(path.read_text(encoding="utf-8"))["runs"][0]["rows"]:
        if row["table"] == "decoders":
            decoders[row["decoder"]] = {**row, "mbps": {}}
    for row in json.loads(path.read_text(encoding="utf-8"))["runs"][0]["rows"]:
        if row["table"] == "rates":
            decoders[row["decoder"]]["mbps"].setdefault(row["way"], []).append(
                (row["frames"], row["mbps"]))
    return {"decoders": decoders}


def plot(report, path):
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    figure, all_axes = plt.subplots(1, len(report["decoders"]), squeeze=False,
                                    figsize=(6 * len(report["decoders"]), 5))
    for axes, (name, one) in zip(all_axes[0], report["decoders"].items()):
        for way, points in one["mbps"].items():
            if way == "copy of the array":
                continue
            axes.loglog(*zip(*points), "o-", label=LABELS.get(way, way))
        axes.set(title=f"{one['what']}\n{one['backend']}, {one['device']}",
                 xlabel="frames per call", ylabel="rate in Mb/s of information bits")
        axes.title.set_fontsize(9)
        axes.grid(True, which="both", alpha=0.3)
        axes.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--decoders", default="viterbi,ldpc,sync")
    parser.add_argument("--backend", default="auto", choices=["auto", "cuda", "cpu"])
    parser.add_argument("--threads", type=int, default=1,
                        help="number of decoding threads; with a GPU, at least four threads copy")
    parser.add_argument("--batch", type=int, default=0,
                        help="batch size in frames; 0: the decoder chooses the size")
    parser.add_argument("--seconds", type=float, default=0.5, help="duration of each measurement in seconds")
    parser.add_argument("--most", type=int, default=100000, help="maximum number of frames per call")
    parser.add_argument("--flowgraph", action="store_true")
    parser.add_argument("--tool", type=pathlib.Path)
    parser.add_argument("--json", type=report_path)
    parser.add_argument("--plot", type=pathlib.Path)
    parser.add_argument("--plot-of", type=pathlib.Path,
                        help="draw the results in this file, without a measurement")
    args = parser.parse_args()
    if args.plot_of:
        plot(reported(args.plot_of), args.plot)
        return
    report = {"import_s": import_seconds(), "decoders": {}}
    print("seconds to import:", report["import_s"], flush=True)
    for subject in (Viterbi, Ldpc, Sync):
        if subject.command in args.decoders.split(","):
            counts = [n for n in (1, 10, 100, 1000, 10000, 100000)
                      if n <= min(args.most, subject.most)]
            report["decoders"][subject.command] = measure(subject(), counts, args)
    if args.json:
        save(args.json, "array_rates", found(report))
    if args.plot:
        plot(report, args.plot)


if __name__ == "__main__":
    main()
