# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

"""Frames, sources and chains of blocks that the flowgraph tests of sync_map share."""

import numpy as np
import pmt
from gnuradio import gpufec, gr
import qa_support as support

KEY = "packet_len"

# A small code: 5 words of 6 bits per frame, 4 words per index.
SMALL = dict(q=4, n=6, frame_symbols=5)
SMALL_BITS = 30
SMALL_BOOK = gpufec.codebook_random(6, 4, 5, 4)


def random_symbols(count, q, seed=1):
    dtype = np.uint8 if q <= 256 else np.int16
    return np.random.default_rng(seed).integers(0, q, count).astype(dtype)


class sink(gr.sync_block):
    """A sink that stores items of any type, and their tags."""

    def __init__(self, dtype):
        gr.sync_block.__init__(self, "sink", [dtype], None)
        self.set_tag_propagation_policy(gr.TPP_DONT)
        self.parts, self.tags = [], []

    def work(self, input_items, output_items):
        first = self.nitems_read(0)
        self.parts.append(input_items[0].copy())
        self.tags += self.get_tags_in_range(0, first, first + len(input_items[0]))
        return len(input_items[0])

    def data(self):
        return np.concatenate(self.parts) if self.parts else np.zeros(0)


def run(first, *chain, dtype=np.uint8, priors=None):
    """Runs the blocks `first` and `chain` in series until the source ends. `priors` is an array for
    the second input of the last block. Returns the chain's output items and tags."""
    end = sink(dtype)
    graph = gr.top_block()
    graph.connect(first, *chain, end)
    if priors is not None:
        graph.connect(support.vector_source(priors.astype(np.float32)), (chain[-1], 1))
    graph.run()
    return end.data(), end.tags


def values(tags, key):
    return [v for _, v in support.tags_of(tags, key)]


def encode(symbols, book=SMALL_BOOK, code=SMALL):
    """Encodes `symbols` by looking up their words in `book`. Returns one bit per byte."""
    index = np.arange(len(symbols)) % code["frame_symbols"]
    return book.reshape(code["frame_symbols"], code["q"], code["n"])[index, symbols].ravel()


def framed_source(frames, extra=()):
    """Returns a source of frames of bits, with length tags and further tags `extra`."""
    at = np.cumsum([0] + [len(f) for f in frames])
    tags = [(int(o), pmt.mp(KEY), pmt.from_long(len(f)))
            for o, f in zip(at, frames) if len(f)]
    return tagged_source(np.concatenate(frames), tags + list(extra))


def tagged_source(items, tags):
    if items.dtype in (np.uint8, np.float32):
        return support.vector_source(items, tags) # this source is faster with many tags
    return support.array_source(items, tags=tags)


def decoder(p=0.02, book=SMALL_BOOK, code=SMALL, backend="cpu", **parameters):
    return gpufec.gpu_sync_map(book, **code, p_insert=p, p_delete=p, backend=backend,
                               **parameters)


def small_frames(count, p=0.02, seed=1):
    """Returns random symbols, and a list with the received bits of each of `count` frames.
    Insertions and deletions have probability `p` each."""
    symbols = random_symbols(5 * count, 4, seed)
    rng = np.random.default_rng(seed + 1)
    frames = []
    for bits in encode(symbols).reshape(count, SMALL_BITS):
        received = []
        for bit in bits:
            while (event := rng.random()) < p:
                received.append(rng.integers(2))
            if event >= 2 * p:
                received.append(bit)
        frames.append(np.array(received, np.uint8))
    return symbols, frames
