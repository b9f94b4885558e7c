#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

"""Decodes an outer LDPC code and an inner synchronisation code iteratively.

The decisions of the LDPC decoder are fed back to gpu_sync_map as priors, which improve the
estimates of the drift and of the bits.

    bits - ldpc_encoder - interleaver - sync_encoder - channel_bsid -+-----------+- ...
                                                                     |           |
                        weights of symbols (first turn: none) - gpu_sync_map   gpu_sync_map
                                                                     | LLRs      |
                                                               deinterleaver    ...
                                                                     |
                                          feedback - interleaver - gpu_ldpc_dvbs2 - codewords
                                             |
                                             +- weights of symbols, for the next turn

One flowgraph has the blocks of all iterations ("turns") in series, so that frames stream through
all iterations.
"""

import argparse
import json
import os
import sys
import tempfile

import numpy as np
import pmt
from gnuradio import blocks, gpufec, gr

try:
    from gnuradio import trellis
except ImportError as error:
    sys.exit(f"sync_outer_code: {error}. Its interleavers are gr-trellis's: install or build GNU "
             "Radio with it. The other synchronisation examples do not need gr-trellis.")

Q_BITS = 5 # bits per symbol
N = 10     # sent bits per symbol
COLUMN_WEIGHT, ROW_WEIGHT = 3, 6 # an LDPC code of rate 1/2


def gallager_code(bits, random):
    """Returns the bits of each check of a random regular LDPC code with `bits` bits, as an array of
    shape (checks, ROW_WEIGHT)."""
    sockets = random.permutation(np.repeat(np.arange(bits), COLUMN_WEIGHT))
    rows = sockets.reshape(-1, ROW_WEIGHT)
    while True:
        rows.sort(axis=1)
        twice = np.argwhere(rows[:, 1:] == rows[:, :-1])
        if len(twice) == 0:
            return rows
        for row, column in twice: # exchanges a double edge with a random one
            other = random.integers(len(rows)), random.integers(ROW_WEIGHT)
            rows[row, column], rows[other] = rows[other], rows[row, column]


def write_alist(rows, bits, path):
    checks_of = [[] for _ in range(bits)]
    for check, row in enumerate(rows):
        for bit in row:
            checks_of[bit].append(check)
    lists = [[bits, len(rows)], [COLUMN_WEIGHT, ROW_WEIGHT], [COLUMN_WEIGHT] * bits,
             [ROW_WEIGHT] * len(rows)]
    lists += [[c + 1 for c in checks] for checks in checks_of]
    lists += [[b + 1 for b in row] for row in rows]
    with open(path, "w") as file:
        file.writelines(" ".join(map(str, entries)) + "\n" for entries in lists)


class feedback(gr.interp_block):
    """A block that converts each decided symbol to prior weights of all symbols.

    The error probability e of a decided bit is estimated from the fraction of failed
    checks in its frame: a check of w bits fails with probability (1 - (1 - 2e)^w) / 2.
    """

    def __init__(self, checks):
        gr.interp_block.__init__(self, "feedback", [np.uint8], [np.float32], 1 << Q_BITS)
        self.set_tag_propagation_policy(gr.TPP_DONT)
        self._checks = checks
        self._wrong = 0.5 # the error probability e of the current frame
        symbols = np.arange(1 << Q_BITS)
        bits = symbols[:, None] >> np.arange(Q_BITS) & 1
        self._distance = (bits[:, None] != bits).sum(axis=2)

    def work(self, input_items, output_items):
        decided = input_items[0][:len(output_items[0]) >> Q_BITS]
        wrong = np.empty((len(decided), 1))
        at = 0
        for tag in sorted(self.get_tags_in_window(0, 0, len(decided)),
                          key=lambda tag: (tag.offset, str(tag.key) != "ldpc_valid")):
            wrong[at:] = self._wrong
            at = tag.offset - self.nitems_read(0)
            # ldpc_syndrome_weight, the number of failed checks, follows ldpc_valid only in invalid
            # frames.
            if str(tag.key) == "ldpc_valid":
                self._wrong = self.probability(0)
            elif str(tag.key) == "ldpc_syndrome_weight":
                self._wrong = self.probability(pmt.to_long(tag.value))
        wrong[at:] = self._wrong
        distance = self._distance[decided]
        weights = wrong ** distance * (1 - wrong) ** (Q_BITS - distance)
        output_items[0][:weights.size] = weights.ravel()
        return weights.size

    def probability(self, failed):
        failed = np.clip(failed / self._checks, 1e-4, 0.49)
        return (1 - (1 - 2 * failed) ** (1 / ROW_WEIGHT)) / 2


class concatenation(gr.top_block):
    """A flowgraph of transmitter, channel and receiver. Insertions and deletions have probability
    `p` each; `turns` is the number of iterations."""

    def __init__(self, options, p, turns):
        gr.top_block.__init__(self, "Synchronisation code within an LDPC code")
        random = np.random.default_rng(options.seed)
        symbols = options.symbols
        self.frame_bits = symbols * Q_BITS
        rows = gallager_code(self.frame_bits, random)
        interleaver = random.permutation(self.frame_bits)
        inner = dict(q=1 << Q_BITS, n=N, frame_symbols=symbols)
        book = gpufec.codebook_random(N, 1 << Q_BITS, symbols, seed=1)
        count = options.frames * self.frame_bits
        # The code has rate 1/2, so head() ends the stream before the end of this message.
        message = random.integers(0, 2, count, np.uint8)

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "outer.alist")
            write_alist(rows, self.frame_bits, path)
            encoder = gpufec.ldpc_encoder(code_file=path, packed_input=False,
                                          packed_output=False)
            outer = [gpufec.gpu_ldpc_dvbs2(
                code_file=path, output="codeword", packed_output=False, llr_scale=8.0,
                algorithm="normalized_min_sum", normalization=0.8, max_iterations=50,
                backend=options.backend) for _ in range(turns)]
        channel = gpufec.channel_bsid(p, p, 0.0, N * symbols, seed=options.seed)
        # The channel's buffer must hold frames until the last iteration reads them.
        channel.set_min_output_buffer(64 * N * symbols)
        self.sent = blocks.vector_sink_b()
        codewords = blocks.head(gr.sizeof_char, count)
        self.connect(blocks.vector_source_b(message.tolist()), encoder, codewords,
                     trellis.permutation(self.frame_bits, interleaver.tolist(), 1, 1),
                     blocks.pack_k_bits_bb(Q_BITS), gpufec.sync_encoder(book, **inner),
                     channel)
        self.connect(codewords, self.sent)

        self.decided = [blocks.vector_sink_b() for _ in range(turns)]
        self._feedback = [] # keeps Python blocks alive; GNU Radio does not
        weights = None
        for ldpc, decided in zip(outer, self.decided):
            sync = gpufec.gpu_sync_map(book, **inner, p_insert=p, p_delete=p, output="llr",
                                       backend=options.backend)
            self.connect(channel, sync)
            if weights:
                self.connect(weights, (sync, 1))
            self.connect(sync, trellis.permutation(
                self.frame_bits, np.argsort(interleaver).tolist(), 1, 1), ldpc, decided)
            if decided is not self.decided[-1]:
                weights = feedback(len(rows))
                self._feedback.append(weights)
                self.connect(ldpc, trellis.permutation(
                    self.frame_bits, interleaver.tolist(), 1, 1),
                    blocks.pack_k_bits_bb(Q_BITS), weights)

    def error_counts(self):
        """Returns the numbers of wrong frames and wrong bits after each iteration."""
        sent = np.array(self.sent.data(), np.uint8).reshape(-1, self.frame_bits)
        counts = []
        for sink in self.decided:
            wrong = np.array(sink.data(), np.uint8).reshape(sent.shape) != sent
            counts.append((int(wrong.any(axis=1).sum()), int(wrong.sum())))
        return counts


def measure(options, p):
    graph = concatenation(options, p, options.turns)
    graph.run()
    counts = graph.error_counts()
    bits = options.frames * graph.frame_bits
    return {"p": p, "frames": options.frames,
            "wrong_frames": [frames for frames, _ in counts],
            "fer": [frames / options.frames for frames, _ in counts],
            "ber": [wrong / bits for _, wrong in counts]}


def plot(points, path):
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(figsize=(7, 5))
    for turn in range(len(points[0]["fer"])):
        seen = [point for point in points if point["fer"][turn] > 0]
        label = "no feedback" if turn == 0 else f"{turn + 1} outer iterations"
        axes.plot([point["p"] for point in seen], [point["fer"][turn] for point in seen],
                  "o-", markersize=4, label=label)
    axes.set_yscale("log")
    axes.set_xlabel("insertion probability and deletion probability (equal), per bit")
    axes.set_ylabel("frame error rate of the outer code")
    axes.grid(True, which="both", alpha=0.3)
    axes.legend(fontsize="small")
    figure.tight_layout()
    figure.savefig(path, dpi=120)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--p", type=float, nargs="+", default=[0.055],
                        help="probability per bit of an insertion; a deletion has the same "
                        "probability (%(default)s)")
    parser.add_argument("--frames", type=int, default=100,
                        help="number of frames to send (%(default)s)")
    parser.add_argument("--symbols", type=int, default=400,
                        help=f"symbols of {Q_BITS} bits per frame, an even number (%(default)s)")
    parser.add_argument("--turns", type=int, default=4,
                        help="number of iterations of both decoders (%(default)s)")
    parser.add_argument("--seed", type=int, default=1,
                        help="seed of the code, the data and the channel (%(default)s)")
    parser.add_argument("--backend", default="auto", choices=("auto", "cuda", "cpu"),
                        help="backend of both decoders (%(default)s)")
    parser.add_argument("--json", action="store_true", help="print the error counts as JSON")
    parser.add_argument("--plot", metavar="PNG", help="draw the error rates to this file")
    options = parser.parse_args()
    if options.json:
        gr.logging().set_default_level(gr.log_levels.err)

    points = []
    for p in options.p:
        points.append(measure(options, p))
        if not options.json:
            print(f"p = {p}: wrong frames of {options.frames} after each iteration:",
                  *points[-1]["wrong_frames"], flush=True)
    if options.json:
        print(json.dumps({"n": N, "q": 1 << Q_BITS, "frame_symbols": options.symbols,
                          "seed": options.seed, "points": points}))
    if options.plot:
        plot(points, options.plot)


if __name__ == "__main__":
    main()
