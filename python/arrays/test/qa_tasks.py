#!/usr/bin/env python3
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests that data and noise of the tasks of a simulation on a cluster are independent."""

import collections
import functools
import itertools
import math
import unittest
from unittest import mock

import numpy as np

import gpufec
from gpufec import distributed

TASKS = 6


def streams_of(decoder, code, point, size):
    """Returns a dictionary of lists with one stream per task. "data" has the message bits or
    symbols. "noise" has the received values minus the signal; for sync, the received symbols.
    "gain" has the received values times the sent signs, and is absent for sync.

    The streams are recorded when a task calls the encoder and the decoder.
    """
    arrays = distributed.arrays
    encoder = {"viterbi": "conv_encode", "ldpc": "ldpc_encode", "sync": "sync_encode"}[decoder]
    encode, decode = getattr(arrays, encoder), getattr(arrays, f"{decoder}_decode")
    streams, words = collections.defaultdict(list), []

    @functools.wraps(encode)
    def encoded(message, *args, **kwargs):
        words.append(encode(message, *args, **kwargs))
        streams["data"].append(message.ravel().astype(float))
        return words[-1]

    def decoded(values, *args, **kwargs):
        received = values.ravel().astype(float)
        if decoder == "sync":
            streams["noise"].append(received)
        else:
            sent = 2.0 * (words[-1].ravel() == code.get("positive_bit", decoder == "viterbi")) - 1
            streams["noise"].append(received - (received @ sent) / len(sent) * sent)
            streams["gain"].append(received * sent)
        return decode(values, *args, **kwargs)

    with mock.patch.object(arrays, encoder, encoded), \
            mock.patch.object(arrays, f"{decoder}_decode", decoded):
        for number in range(TASKS):
            distributed._simulate(decoder, code, point, 7, number, size)
    return streams


def largest_correlation(a, b):
    """Returns the largest magnitude, over all shifts, of the normalised correlation of `a` and
    `b`."""
    n = len(a) + len(b)
    spectra = [np.fft.rfft(x - x.mean(), n) for x in (a, b)]
    products = np.fft.irfft(spectra[0] * spectra[1].conj(), n)
    return np.abs(products).max() / (min(len(a), len(b)) * a.std() * b.std())


def windows_of(stream, size):
    """Returns the set of all windows of `size` successive values, as bytes."""
    stream = np.ascontiguousarray(stream)
    return {stream[k:k + size].tobytes() for k in range(len(stream) - size + 1)}


class qa_tasks(unittest.TestCase):
    def check_independence(self, streams, window):
        for a, b in itertools.combinations(streams, 2):
            # Each shift of each pair of tasks has a normally distributed correlation. The bound is
            # two standard deviations above the expected maximum of all of them.
            shifts = len(a) + len(b)
            bound = (math.sqrt(2 * math.log(shifts * TASKS ** 2)) + 2) / \
                math.sqrt(min(len(a), len(b)))
            self.assertLess(bound, 0.2)
            self.assertLess(largest_correlation(a, b), bound)
            if window:
                self.assertEqual(len(windows_of(a, window) & windows_of(b, window)), 0)

    def check(self, decoder, code, point, size):
        for kind, streams in streams_of(decoder, code, point, size).items():
            with self.subTest(decoder, kind=kind, **{k: code[k] for k in code if k != "codebook"}):
                self.assertEqual(len(streams), TASKS)
                # Most received symbols are 0, so equal windows of zeros occur by chance.
                rare = decoder == "sync" and kind == "noise"
                self.check_independence(streams, 0 if rare else 64)

    def test_TasksOfViterbi_AreIndependent(self):
        self.check("viterbi", dict(termination="tailbiting", frame_bits=120), 2.0, 100)
        self.check("viterbi", dict(termination="terminated", frame_bits=120), 2.0, 100)
        self.check("viterbi", dict(preset="ccsds_3_4", positive_bit=0), 2.0, 10000)

    def test_TasksOfLdpc_AreIndependent(self):
        self.check("ldpc", dict(frame_size="short"), 1.0, 2)
        self.check("ldpc", dict(standard="wifi", frame_size="648", rate="1/2"), 1.0, 21)

    def test_TasksOfSync_AreIndependent(self):
        # Words have at most a single 1, so the received symbols show mostly channel events.
        book = np.tile(np.eye(2, 16, dtype=np.uint8) * [[0], [1]], (40, 1))
        code = dict(q=2, n=16, frame_symbols=40, codebook=book)
        self.check("sync", code, 0.2, 60)
        self.check("sync", dict(code, reads=2), 0.2, 60)


if __name__ == "__main__":
    unittest.main()
