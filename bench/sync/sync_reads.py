#!/usr/bin/env python3
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures the gain of several reads (received copies) of a frame.

The results are symbol error rates against the number of reads, with one, two and three passes. For
a very small code, the results also have the distance of the decoder's posteriors from the exact
joint posteriors. The exact posteriors are computed by enumeration of all messages. The probability
of a read given a message comes from the decoder, with priors that exclude all other messages.
--json names the file of results, and --plot a picture. --only-plot draws the picture from an
existing file of results."""

import argparse
import itertools
import json
import math
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
from results_file import report_path, save  # noqa: E402

try:
    import gpufec
except ModuleNotFoundError:
    try:
        from gnuradio import gpufec
    except ImportError:
        gpufec = None # --only-plot needs no module gpufec

READS = (1, 2, 4, 8)
PASSES = (1, 2, 3)
CODE = dict(q=32, n=10, frame_symbols=210)
RATES = (0.03, 0.06, 0.1)
SUBSTITUTE = 0.01
MOST_ERRORS = 2000 # maximum number of symbol errors per point


def received(symbols, code, channel, reads, seed):
    """Sends each frame `reads` times. Returns the received items, concatenated, and the lengths of
    the reads, of shape (frames, reads)."""
    sent = gpufec.sync_encode(symbols, **code)
    items, lengths = gpufec.bsid(np.repeat(sent, reads, axis=0), **channel, seed=seed)
    return items, lengths.reshape(len(symbols), reads)


def first_reads(items, lengths, count):
    """Returns items and lengths of only the first `count` reads of each frame."""
    ends = np.cumsum(lengths.reshape(-1)).reshape(lengths.shape)
    parts = [items[end[count - 1] - length[:count].sum():end[count - 1]]
             for end, length in zip(ends, lengths)]
    return np.concatenate(parts), lengths[:, :count]


class Count:
    """A counter of symbol errors. Errors come in bursts, so the standard deviation is computed over
    frames."""

    def __init__(self):
        self.frames = self.symbols = self.errors = self.squares = 0

    def add(self, wrong):
        each = wrong.sum(axis=1, dtype=int)
        self.frames += len(each)
        self.symbols += wrong.size
        self.errors += int(each.sum())
        self.squares += int((each ** 2).sum())

    def report(self):
        mean = self.errors / self.frames
        variance = max(0.0, self.squares / self.frames - mean ** 2) / (self.frames - 1)
        return {"frames": self.frames, "symbols": self.symbols, "errors": self.errors,
                "ser": self.errors / self.symbols,
                "ser_deviation": math.sqrt(variance) * self.frames / self.symbols}


def error_rates(p, frames, threads, log):
    """Measures error rates for all numbers of reads and passes, on the same received reads. Returns
    a list with a row for each pair of numbers, the name of the backend, and that of the device."""
    book = gpufec.codebook_random(CODE["n"], CODE["q"], CODE["frame_symbols"], 1)
    code = dict(CODE, codebook=book)
    channel = dict(p_insert=p, p_delete=p, p_substitute=SUBSTITUTE)
    which = [(reads, passes) for reads in READS for passes in (PASSES if reads > 1 else (1,))]
    decoders = {(reads, passes): gpufec.sync_decoder(**code, **channel, reads=reads,
                                                     passes=passes, threads=threads)
                for reads, passes in which}
    counts = {key: Count() for key in which}
    random = np.random.default_rng(1)
    done = 0
    while done < frames:
        batch = min(50, frames - done)
        symbols = random.integers(0, CODE["q"], (batch, CODE["frame_symbols"])).astype(np.uint8)
        items, lengths = received(symbols, code, channel, max(READS), 1000 + done)
        for (reads, passes), decoder in decoders.items():
            if counts[reads, passes].errors < MOST_ERRORS:
                some, long_each = first_reads(items, lengths, reads)
                decoded, status = decoder.decode(some, long_each if reads > 1
                                                 else long_each[:, 0])
                assert status.valid.all()
                counts[reads, passes].add(decoded != symbols)
        done += batch
        log(f"p = {p}: {done} of {frames} frames")
    return [dict(p=p, reads=reads, passes=passes, **counts[reads, passes].report())
            for reads, passes in which], status.backend, status.device


def joint_posteriors(items, lengths, code, channel):
    """Returns the exact posteriors of frames given all their reads, of shape (frames, N, q).
    `lengths` has the shape (frames, reads). The function enumerates all q^N messages."""
    q, N = code["q"], code["frame_symbols"]
    messages = np.array(list(itertools.product(range(q), repeat=N)))
    frames, reads = lengths.shape
    only = np.zeros((len(messages), N, q), np.float32)
    np.put_along_axis(only, messages[:, :, None], 1, 2)
    parts = np.split(items, np.cumsum(lengths.reshape(-1))[:-1])
    again = np.repeat(np.arange(frames * reads), len(messages))
    _, status = gpufec.sync_decode(np.concatenate([parts[k] for k in again]), **code, **channel,
                                   lengths=lengths.reshape(-1)[again],
                                   priors=np.tile(only, (frames * reads, 1, 1)),
                                   precision="double")
    logs = status.log_probability.reshape(frames, reads, len(messages)).sum(axis=1)
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    joint = np.einsum("fm,mid->fid", weights, only)
    return joint / joint.sum(axis=2, keepdims=True)


def gaps(p, frames):
    """Measures, for tiny frames, the total variation distance between the decoder's posteriors and
    the exact joint posteriors."""
    code = dict(q=4, n=4, frame_symbols=3)
    book = gpufec.codebook_random(code["n"], code["q"], code["frame_symbols"], 4)
    code["codebook"] = book
    channel = dict(p_insert=p, p_delete=p, p_substitute=SUBSTITUTE)
    symbols = np.random.default_rng(2).integers(0, 4, (frames, 3)).astype(np.uint8)
    points = []
    for reads in READS[1:]:
        items, lengths = received(symbols, code, channel, reads, 7)
        joint = joint_posteriors(items, lengths, code, channel)
        for passes in PASSES:
            L, _ = gpufec.sync_decode(items, **code, **channel, lengths=lengths, reads=reads,
                                      passes=passes, output="posteriors", precision="double")
            distance = np.abs(L - joint).sum(axis=2) / 2
            points.append({
                "p": p, "reads": reads, "passes": passes, "symbols": symbols.size,
                "mean": float(distance.mean()), "worst": float(distance.max()),
                "other_decisions": int((L.argmax(2) != joint.argmax(2)).sum()),
                "errors": int((L.argmax(2) != symbols).sum()),
                "errors_of_all_together": int((joint.argmax(2) != symbols).sum())})
    return points


def plot(run, path):
    """Draws symbol error rates against the number of reads, from one run in a file of results."""
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(figsize=(6.4, 4.4))
    rates = run["settings"]["p"]
    shades = dict(zip(rates, ("#1f77b4", "#ff7f0e", "#2ca02c")))
    for p in rates:
        for passes, style in ((1, "o:"), (2, "s-")):
            points = [r for r in run["rows"] if r["table"] == "error_rates" and r["p"] == p and
                      r["errors"] > 0 and (r["passes"] == passes or r["reads"] == 1)]
            axes.errorbar([r["reads"] for r in points], [r["ser"] for r in points],
                          [1.96 * r["ser_deviation"] for r in points], fmt=style,
                          color=shades[p], capsize=2, markersize=4, label=f"{p:g}, "
                          f"{'one pass' if passes == 1 else 'two passes'}")
    axes.set_xscale("log", base=2)
    axes.set_xticks(READS, [str(r) for r in READS])
    axes.set_yscale("log")
    axes.set_xlabel("number of reads per frame")
    axes.set_ylabel("symbol error rate")
    axes.set_title("Random words, n=10, q=32, N=210; substitution probability 0.01", fontsize=10)
    axes.grid(True, which="both", alpha=0.3)
    axes.legend(title="insertion and deletion probability", fontsize=8, title_fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--frames", type=int, default=400,
                        help="maximum number of frames per point")
    parser.add_argument("--tiny-frames", type=int, default=1000)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", type=report_path, required=True)
    parser.add_argument("--plot")
    parser.add_argument("--only-plot", action="store_true",
                        help="draw the results in the file --json, without a measurement")
    options = parser.parse_args()
    if not options.only_plot:
        report = {"code": dict(CODE, codebook="random"),
                  "p_substitute": SUBSTITUTE, "p": RATES, "error_rates": []}
        for p in RATES:
            points, report["backend"], report["device"] = error_rates(
                p, options.frames, options.threads, lambda text: print(text, file=sys.stderr))
            report["error_rates"] += points
        report["gaps"] = gaps(0.03, options.tiny_frames) + gaps(0.1, options.tiny_frames)
        report["code_of_gaps"] = dict(q=4, n=4, frame_symbols=3, codebook="random")
        save(options.json, "sync_reads", report)
    if options.plot:
        with open(options.json, encoding="utf-8") as file:
            plot(json.load(file)["runs"][0], options.plot)


if __name__ == "__main__":
    main()
