#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
#

"""Functions and blocks that the flowgraph tests share."""

import contextlib
import importlib
import os
import pathlib
import sys
import tempfile
import threading
import time
import unittest
import wave

import numpy as np
import pmt
from gnuradio import blocks, gpufec, gr

SOFT_DTYPE = {"int8": np.int8, "float": np.float32, "packed4": np.uint8, "uint8": np.uint8}
CCSDS_7_8 = "1000101,1111010"
SIMULATED = "GPUFEC_SIMULATED" in os.environ
ROOT = pathlib.Path(__file__).resolve().parents[3]


class message_sink(gr.basic_block):
    """A sink that stores the messages received on port "in"."""

    def __init__(self):
        gr.basic_block.__init__(self, "message_sink", None, None)
        self.message_port_register_in(pmt.mp("in"))
        self.set_msg_handler(pmt.mp("in"), self.take)
        self.messages = []

    def take(self, message):
        self.messages.append(message)


def headers():
    """Imports bindings/headers.py, which reads the public headers."""
    sys.path.insert(0, str(ROOT / "python" / "gpufec" / "bindings"))
    return importlib.import_module("headers")


def declared():
    """Returns the declarations of the public headers by name."""
    return headers().read(sorted((ROOT / "include" / "gnuradio" / "gpufec").glob("*.h")))


def write_recording(path, bits, noise, amplitude):
    """Encodes `bits` with the code ccsds, and writes BPSK at 9600 baud on a carrier of 12 kHz to
    the WAV file `path`. `noise` is the standard deviation of the noise. The samples are multiplied
    by `amplitude`."""
    coded = gpufec.conv_encode(bits, preset="ccsds", packed_input=False, packed_output=False)
    steps = np.zeros(5 * len(coded))
    steps[::5] = 1 - 2.0 * coded
    t = np.arange(-55, 56) / 5 + 1e-9
    pulse = (np.sin(np.pi * t * 0.65) + 1.4 * t * np.cos(np.pi * t * 1.35)) / (
        np.pi * t * (1 - (1.4 * t)**2)) # a root-raised-cosine pulse with roll-off 0.35
    signal = np.convolve(steps, pulse, "same")
    signal *= np.cos(2 * np.pi * 12000 / 48000 * np.arange(len(signal)) + 0.3)
    signal += np.random.default_rng(3).normal(0, noise, len(signal))
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, 48000, 0, "NONE", ""))
        file.writeframes((signal * amplitude).clip(-32768, 32767).astype("<i2").tobytes())


def random_bits(count, seed):
    return np.random.default_rng(seed).integers(0, 2, count).astype(np.uint8)


def code_of(preset):
    """Returns constraint length, polynomials and puncturing of `preset`, as keyword arguments."""
    return {
        "constraint_length": preset.constraint_length,
        "polynomials": preset.polynomials,
        "puncturing": preset.puncturing,
    }


def sent_pattern(polynomials, puncturing):
    """Returns a boolean array of shape (stages of a puncturing period, outputs), which is true for
    the bits that are sent with the pattern `puncturing`."""
    if not puncturing:
        return np.ones((1, len(polynomials)), bool)
    return np.array([[c == "1" for c in row] for row in puncturing.split(",")]).T


def encode(bits, constraint_length=7, polynomials=(0o171, 0o133), puncturing="",
           termination="streaming"):
    """Encodes `bits`, a stream or a frame, by the definition of convolutional codes. Input and
    output have one bit per byte."""
    memory = constraint_length - 1
    bits = np.asarray(bits, np.uint8)
    before = np.zeros(memory, np.uint8)
    if termination == "tailbiting":
        before = bits[len(bits) - memory:]
    if termination == "terminated":
        bits = np.concatenate([bits, np.zeros(memory, np.uint8)])
    history = np.concatenate([before, bits])
    outputs = []
    for p in polynomials:
        output = np.full(len(bits), p < 0, np.uint8)
        for delay in range(constraint_length):
            if abs(p) >> (memory - delay) & 1:
                output ^= history[memory - delay:memory - delay + len(bits)]
        outputs.append(output)
    pattern = sent_pattern(polynomials, puncturing)
    sent = pattern[np.arange(len(bits)) % len(pattern)]
    return np.stack(outputs, axis=1)[sent]


def encode_frames(bits, frame_bits, **code):
    """Returns the coded bits of `bits`, frames of `frame_bits` bits, one frame per row."""
    return np.array([encode(frame, **code) for frame in bits.reshape(-1, frame_bits)])


def soft_values(coded, soft_input="int8", sigma=0.0, seed=0):
    """Returns soft values of `coded` after AWGN of standard deviation `sigma`, positive for bit 1.
    Without noise, their magnitude is 1 ("float"), 32 ("int8", "uint8") or 4 ("packed4", in which
    each row begins a new byte)."""
    signal = 2.0 * coded - 1.0
    if sigma > 0:
        signal = signal + sigma * np.random.default_rng(seed).standard_normal(coded.shape)
    if soft_input == "float":
        return signal.astype(np.float32).ravel()
    if soft_input in ("int8", "uint8"):
        steps = np.clip(np.rint(32 * signal), -127, 127).ravel()
        return steps.astype(np.int8) if soft_input == "int8" else (steps + 128).astype(np.uint8)
    nibbles = np.clip(np.rint(4 * signal), -7, 7).astype(np.int8).view(np.uint8) & 15
    nibbles = np.atleast_2d(nibbles)
    if nibbles.shape[1] % 2:
        nibbles = np.pad(nibbles, ((0, 0), (0, 1)))
    return (nibbles[:, 0::2] << 4 | nibbles[:, 1::2]).ravel()


def pack_frames(bits, frame_bits):
    return np.packbits(bits.reshape(-1, frame_bits), axis=1).ravel()


class array_source(gr.sync_block):
    """A source of an array with tags (offset, key, value).

    Each call sends at most `largest` items; with a seed, the number is random. The source sends at
    most `limit` items in all, and does not end while `held` is true.
    """

    def __init__(self, items, largest=None, seed=None, tags=(), held=False):
        gr.sync_block.__init__(self, "array_source", None, [items.dtype.type])
        self._items, self._tags = items, tags
        self._at = 0
        self._largest = largest or len(items)
        self._random = None if seed is None else np.random.default_rng(seed)
        self.held = held
        self.limit = len(items)

    def work(self, input_items, output_items):
        n = min(len(output_items[0]), self.limit - self._at, self._largest)
        if n <= 0:
            if not self.held:
                return -1
            time.sleep(0.01)
            return 0
        if self._random is not None:
            n = int(self._random.integers(1, n + 1))
        for offset, key, value in self._tags:
            if self._at <= offset < self._at + n:
                self.add_item_tag(0, self.nitems_written(0) + offset - self._at, key, value)
        output_items[0][:n] = self._items[self._at:self._at + n]
        self._at += n
        return n


def vector_source(items, tags=()):
    """Returns GNU Radio's vector source for `items` of type int8, uint8 or float32, with `tags`
    (offset, key, value)."""
    tags = [gr.python_to_tag((offset, key, value, None)) for offset, key, value in tags]
    if items.dtype == np.float32:
        return blocks.vector_source_f(items.tolist(), False, 1, tags)
    return blocks.vector_source_b(items.view(np.uint8).tolist(), False, 1, tags)


def run(source, block, max_noutput_items=0):
    """Connects `source`, `block` and a byte sink, and runs the flowgraph to its end. Returns items
    and tags of the sink."""
    sink = blocks.vector_sink_b()
    graph = gr.top_block()
    graph.connect(source, block, sink)
    if max_noutput_items: # graph.run(max_noutput_items) has no effect
        block.set_max_noutput_items(max_noutput_items)
    graph.run()
    return np.array(sink.data(), np.uint8), sink.tags()


def decode(items, max_noutput_items=0, tags=(), backend="cpu", **parameters):
    """Decodes `items`, soft values, with gpu_viterbi_pbvd in a flowgraph. Returns output items and
    tags."""
    decoder = gpufec.gpu_viterbi_pbvd(backend=backend, **parameters)
    return run(vector_source(items, tags), decoder, max_noutput_items)


def tags_of(tags, key):
    """Returns (offset, value) of each tag whose key is `key`, sorted by offset."""
    import pmt
    found = [(t.offset, pmt.to_python(t.value)) for t in tags if str(t.key) == key]
    return sorted(found, key=lambda pair: pair[0])


def cuda_missing():
    """Returns the reason why CUDA cannot be used here, or None."""
    try:
        gpufec.gpu_viterbi_pbvd(backend="cuda")
    except RuntimeError as error:
        return str(error)
    return None


@contextlib.contextmanager
def failure(text):
    """Makes a simulated device fail within the context. `text` is "DEVICE:BATCHES": the number of
    the device, and the number of batches that it accepts before it fails."""
    os.environ["GPUFEC_SIMULATED_FAILURE"] = text
    try:
        yield
    finally:
        del os.environ["GPUFEC_SIMULATED_FAILURE"]


def thread_seconds(name):
    """Returns the processor time in s of the threads of this process whose names begin with
    `name`."""
    seconds = 0.0
    for task in pathlib.Path("/proc/self/task").iterdir():
        try:
            if (task / "comm").read_text().startswith(name):
                seconds += int((task / "schedstat").read_text().split()[0]) * 1e-9
        except OSError:
            pass # the thread has ended in the meantime
    return seconds


@contextlib.contextmanager
def output_of_process(lines):
    """Appends what the process prints within the context, including GNU Radio's log, to `lines`."""
    with tempfile.TemporaryFile() as file:
        saved = [os.dup(1), os.dup(2)]
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
        try:
            yield
        finally:
            for descriptor, copy in zip((1, 2), saved):
                os.dup2(copy, descriptor)
                os.close(copy)
            file.seek(0)
            lines += file.read().decode().splitlines()


def ends(graph, seconds=20):
    """Runs `graph`. Returns whether it ends within `seconds` s without stop()."""
    graph.start()
    waiter = threading.Thread(target=graph.wait)
    waiter.start()
    waiter.join(seconds)
    ended = not waiter.is_alive()
    graph.stop()
    waiter.join()
    return ended


def main():
    """Runs the tests of the calling script, and exits with status 1 if a test failed, 77 if all
    were skipped, otherwise 0."""
    program = unittest.main(exit=False)
    result = program.result
    if not result.wasSuccessful():
        sys.exit(1)
    sys.exit(77 if result.testsRun and len(result.skipped) == result.testsRun else 0)
