#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

"""Decodes frames of garbage and some valid frames with gpu_ldpc_dvbs2, and checks the output.

The code is short 1/2. Garbage frames have random integers, zeros, the largest value, extreme values
(for float input also NaN and infinities), or a codeword whose signs are inverted at random. One
frame in ten is a codeword without noise; the block must decode it correctly and tag it as valid.
The script reports the frames per second at the beginning and at the end.

Usage: ldpc_endurance.py [--seconds S] [--soft-input int8|float] [--backend B] [--json FILE]
The exit status is 1 if a codeword was decoded wrongly or tagged as invalid, or if frames were
missing.
"""

import argparse
import json
import pathlib
import sys
import threading
import time

import numpy as np
import pmt
from gnuradio import blocks, gpufec, gr

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
from results_file import report_path, save  # noqa: E402

N, K = 16200, 7200
EVERY = 10  # The last frame of each group of 10 is a codeword without noise.


def codewords(count, random):
    """Returns `count` random messages of K bits, one per row, and their codewords of N bits."""
    messages = random.integers(0, 2, (count, K), np.uint8)
    graph = gr.top_block()
    sink = blocks.vector_sink_b()
    graph.connect(blocks.vector_source_b(messages.ravel().tolist()),
                  gpufec.ldpc_encoder(frame_size="short", rate="1/2", packed_input=False,
                                      packed_output=False), sink)
    graph.run()
    return messages, np.array(sink.data(), np.uint8).reshape(count, N)


def garbage(kind, codeword, random, floats):
    """Returns a frame of N channel values that is not a noisy codeword. `kind`, 0 to 5, selects one
    of the kinds of garbage that the docstring of this file lists."""
    most = 3e38 if floats else 127
    worst = np.array([np.nan, np.inf, -np.inf, 1e-40, -0.0] if floats else [-128, 127])
    return {0: lambda: random.integers(-128, 128, N),
            1: lambda: np.zeros(N),
            2: lambda: np.full(N, most),
            3: lambda: np.full(N, -most),
            4: lambda: random.choice(worst, N),
            5: lambda: (2.0 * codeword - 1) * random.choice([20, -20], N)}[kind]()


class source(gr.sync_block):
    def __init__(self, frames, stop_at):
        gr.sync_block.__init__(self, "garbage", [], [frames.dtype.type])
        self.items, self.position, self.stop_at = frames.ravel(), 0, stop_at

    def work(self, _, output_items):
        out = output_items[0]
        at = self.position % len(self.items)
        if at % N == 0 and time.monotonic() > self.stop_at:
            return -1
        count = min(len(out), N - at % N)
        out[:count] = self.items[at:at + count]
        self.position += count
        return count


class judge(gr.sync_block):
    """A sink that compares the decoded codewords with their messages, and counts the frames per
    second."""

    def __init__(self, messages):
        gr.sync_block.__init__(self, "judge", [np.uint8], [])
        self.messages = np.packbits(messages, axis=1)
        self.count = self.wrong = self.good = self.unmarked = 0
        self.frame, self.rates = bytearray(), []
        self.begin = time.monotonic()

    def work(self, input_items, _):
        first = self.nitems_read(0)
        for tag in self.get_tags_in_range(0, first, first + len(input_items[0])):
            frame = tag.offset // (K // 8)
            if (pmt.symbol_to_string(tag.key) == "ldpc_valid" and frame % EVERY == EVERY - 1
                    and not pmt.to_bool(tag.value)):
                self.unmarked += 1
        self.frame += input_items[0].tobytes()
        while len(self.frame) >= K // 8:
            frame, self.frame = self.frame[:K // 8], self.frame[K // 8:]
            if self.count % EVERY == EVERY - 1:
                wanted = self.messages[self.count // EVERY % len(self.messages)]
                self.good += 1
                self.wrong += frame != wanted.tobytes()
            self.count += 1
            second = int(time.monotonic() - self.begin)
            self.rates += [0] * (second + 1 - len(self.rates))
            self.rates[second] += 1
        return len(input_items[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--soft-input", choices=("int8", "float"), default="int8")
    parser.add_argument("--backend", choices=("auto", "cuda", "cpu"), default="auto")
    parser.add_argument("--json", type=report_path, metavar="FILE")
    options = parser.parse_args()
    floats = options.soft_input == "float"
    random = np.random.default_rng(1)
    messages, words = codewords(8, random)
    frames = np.zeros((len(words) * EVERY, N), np.float32 if floats else np.int8)
    for i in range(len(frames)):
        word = words[i // EVERY]
        with np.errstate(over="ignore"):
            frames[i] = (6 * (1 - 2.0 * word) if i % EVERY == EVERY - 1
                         else garbage(i % 6, word, random, floats))
    decoder = gpufec.gpu_ldpc_dvbs2(frame_size="short", rate="1/2",
                                    soft_input=options.soft_input, backend=options.backend)
    graph, sink = gr.top_block(), judge(messages)
    feed = source(frames, time.monotonic() + options.seconds)
    graph.connect(feed, decoder, sink)
    graph.run()
    sent = feed.position // N
    tenth = max(1, (len(sink.rates) - 2) // 10)
    report = {"seconds": options.seconds, "soft_input": options.soft_input,
              "backend": decoder.active_backend(), "frames_sent": sent,
              "frames_decoded": sink.count, "good_frames": sink.good,
              "good_frames_wrong": sink.wrong, "good_frames_marked_invalid": sink.unmarked,
              "frames_per_s_first_tenth": float(np.mean(sink.rates[1:1 + tenth])),
              "frames_per_s_last_tenth": float(np.mean(sink.rates[-1 - tenth:-1])),
              "threads_left": threading.active_count()}
    print(json.dumps(report, indent=1))
    if options.json:
        save(options.json, "ldpc_endurance", report)
    return int(sink.wrong > 0 or sink.unmarked > 0 or sent != sink.count)


if __name__ == "__main__":
    sys.exit(main())
