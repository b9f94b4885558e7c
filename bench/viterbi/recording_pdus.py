#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

"""Counts the PDUs that gr-satellites receives from a recording with added noise.

gr-satellites has two parallel chains of blocks, one for each phase of the symbol pairs, each with
its own Viterbi decoder. This receiver is compared with one that has gpu_viterbi_pbvd in place of
each decoder, with a single chain whose decoder has a phase search, and with ccsds_fec_receiver. All
receivers get the same soft symbols of gr-satellites' demodulator.

The recordings are those of daniestevez/satellite-recordings whose names are keys of SIGNALS.

Usage: recording_pdus.py RECORDING.wav [--noise A:STEP:B] [--seeds N] [--backend B] [--json FILE]
"""

import argparse
import concurrent.futures
import dataclasses
import multiprocessing
import pathlib
import sys
import threading
import time
import wave

import numpy
import pmt
from gnuradio import blocks, gr

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
import results_file  # noqa: E402

# gr-satellites 4.4.0 uses blocks.byte_t, which GNU Radio 3.10 moved to gr.types.
if not hasattr(blocks, "byte_t"):
    blocks.byte_t = gr.types.byte_t

from gnuradio import gpufec  # noqa: E402
from satellites.components.deframers import ccsds_concatenated_deframer  # noqa: E402
from satellites.components.deframers.ccsds_rs_deframer import ccsds_rs_deframer  # noqa: E402
from satellites.components.demodulators import bpsk_demodulator, fsk_demodulator  # noqa: E402

# The module comes from sys.modules, because the package's attribute of this name is a class.
deframer = sys.modules["satellites.components.deframers.ccsds_concatenated_deframer"]

# Hides the log line that gr-satellites writes for every frame that it tries to decode.
gr.logging().set_default_level(gr.log_levels.warn)

WAYS = ("gr_satellites", "gpufec", "one_chain", "receiver")
PATCHING = threading.Lock() # held while gr-satellites' module is patched


@dataclasses.dataclass(frozen=True)
class Signal:
    """The parameters of a satellite's signal, as gr-satellites describes the satellite."""
    demodulator: type # class of gr-satellites' demodulator
    baud_rate: int
    frame: dict       # parameters of ccsds_concatenated_deframer
    receiver: dict    # the corresponding parameters of ccsds_fec_receiver


SIGNALS = {
    "by701": Signal(bpsk_demodulator, 9600,
                    {"frame_size": 114, "precoding": "differential", "rs_basis": "conventional"},
                    {"convolutional": "ccsds", "code": "ccsds-223-conventional",
                     "frame_bytes": 114, "differential": True}),
    "ks_1q": Signal(fsk_demodulator, 20000, {"frame_size": 223, "rs_basis": "dual"},
                    {"convolutional": "ccsds", "code": "ccsds-223"}),
    "trisat": Signal(fsk_demodulator, 9766,
                     {"frame_size": 223, "rs_basis": "dual", "convolutional": "NASA-DSN"},
                     {"convolutional": "nasa_dsn", "code": "ccsds-223"}),
}


def signal_of(path):
    return SIGNALS[pathlib.Path(path).stem]


class pbvd_ccsds_viterbi(gr.hier_block2):
    """A replacement for gr-satellites' ccsds_viterbi that decodes with gpu_viterbi_pbvd."""

    POLYNOMIALS = {"CCSDS": [0o171, -0o133],
                   "NASA-DSN": [-0o133, 0o171],
                   "CCSDS uninverted": [0o171, 0o133],
                   "NASA-DSN uninverted": [0o133, 0o171]}
    backend = "auto"

    def __init__(self, code="CCSDS"):
        super().__init__("PBVD in place of ccsds_viterbi",
                         gr.io_signature(1, 1, gr.sizeof_float),
                         gr.io_signature(1, 1, gr.sizeof_char))
        decoder = gpufec.gpu_viterbi_pbvd(
            constraint_length=7, polynomials=self.POLYNOMIALS[code], soft_input="float",
            packed_output=False, backend=self.backend,
            positive_bit=1) # the sign of gr-satellites' soft symbols
        self.connect(self, decoder, self)


class one_chain_deframer(gr.hier_block2):
    """A replacement for gr-satellites' ccsds_concatenated_deframer with one decoder, which has a
    phase search, and one Reed-Solomon deframer."""

    PRESETS = {"CCSDS": "ccsds", "NASA-DSN": "nasa_dsn",
               "CCSDS uninverted": "ccsds_uninverted",
               "NASA-DSN uninverted": "nasa_dsn_uninverted"}
    backend = "auto"

    def __init__(self, frame_size=223, precoding=None, rs_basis="dual",
                 convolutional="CCSDS"):
        super().__init__("one chain in place of ccsds_concatenated_deframer",
                         gr.io_signature(1, 1, gr.sizeof_float), gr.io_signature(0, 0, 0))
        self.message_port_register_hier_out("out")
        self.decoder = gpufec.gpu_viterbi_pbvd(
            preset=self.PRESETS[convolutional], lock="auto", soft_input="float",
            packed_output=False, backend=self.backend,
            positive_bit=1) # the sign of gr-satellites' soft symbols
        # Python would delete the block if it were not a member.
        self.chain = ccsds_rs_deframer(frame_size, precoding, rs_basis=rs_basis)
        self.connect(self, self.decoder, blocks.char_to_float(1, 1),
                     blocks.add_const_ff(-0.5), self.chain)
        self.msg_connect((self.chain, "out"), (self, "out"))


def read_wav(path):
    """Returns the samples of a mono 16-bit file, scaled to -1 to 1, and the sample rate in Hz."""
    with wave.open(path) as file:
        if file.getnchannels() != 1 or file.getsampwidth() != 2:
            raise ValueError(f"{path} must be a mono recording with 16 bits per sample")
        samples = numpy.frombuffer(file.readframes(file.getnframes()), numpy.int16)
        return samples.astype(numpy.float32) / 32768, file.getframerate()


def add_noise(samples, noise_db, seed):
    """Adds white Gaussian noise, whose power is noise_db dB above that of the recording. Adds no
    noise if noise_db is None."""
    if noise_db is None:
        return samples
    deviation = numpy.sqrt(numpy.mean(samples.astype(float)**2) * 10**(noise_db / 10))
    noise = numpy.random.default_rng(seed).normal(0, deviation, len(samples))
    return (samples + noise).astype(numpy.float32)


def demodulate(samples, rate, signal):
    """Returns the soft symbols of gr-satellites' demodulator as an array of floats. `rate` is the
    sample rate in Hz."""
    top = gr.top_block()
    sink = blocks.vector_sink_f()
    demodulator = signal.demodulator(signal.baud_rate, rate, iq=False)
    if hasattr(demodulator, "xlating"):
        # This filter rounds the phase of its oscillator at the end of each call. If all calls
        # have the same size, every run has the same symbols.
        demodulator.xlating.set_output_multiple(1024)
        demodulator.xlating.set_max_noutput_items(1024)
    top.connect(blocks.vector_source_f(samples, False), demodulator, sink)
    top.run()
    return numpy.array(sink.data(), numpy.float32)


class patient_source(gr.sync_block):
    """A source whose stream ends only when the event `released` is set. Without this delay, the
    flowgraph would drop pending messages when the stream ends."""

    def __init__(self, items):
        super().__init__("patient source", None, [numpy.float32])
        self.items, self.given, self.released = items, 0, False

    def work(self, input_items, output_items):
        out = output_items[0]
        count = min(len(out), len(self.items) - self.given)
        if count == 0:
            time.sleep(0.01)
            return -1 if self.released else 0
        out[:count] = self.items[self.given:self.given + count]
        self.given += count
        return count


def make_receiver(signal, which, backend):
    """Returns the receiver that `which`, one of WAYS, names, and the name of its port for PDUs."""
    if which == "receiver":
        return gpufec.ccsds_fec_receiver(soft_input="float", backend=backend,
                                         **signal.receiver), "pdus"
    pbvd_ccsds_viterbi.backend = one_chain_deframer.backend = backend
    if which == "one_chain":
        return one_chain_deframer(**signal.frame), "out"
    with PATCHING:
        original = deframer.ccsds_viterbi
        if which == "gpufec":
            deframer.ccsds_viterbi = pbvd_ccsds_viterbi
        try:
            return ccsds_concatenated_deframer(**signal.frame), "out"
        finally:
            deframer.ccsds_viterbi = original


def pdus(symbols, which, signal, backend="auto", quiet_s=3.0):
    """Returns the PDUs of a receiver as bytes, in order of arrival. `which` is one of WAYS.

    Reception ends when all symbols are sent and no PDU has arrived for quiet_s seconds.
    """
    receiver, port = make_receiver(signal, which, backend)
    # The appended zeros (erasures) complete the last parallel block of each decoder.
    source = patient_source(numpy.append(symbols, numpy.zeros(8192, numpy.float32)))
    sink = blocks.message_debug()
    top = gr.top_block()
    top.connect(source, receiver)
    if which == "receiver":
        top.connect(receiver, blocks.null_sink(1))
    top.msg_connect((receiver, port), (sink, "store"))
    top.start()
    seen, since = -1, time.monotonic()
    while source.given < len(source.items) or time.monotonic() - since < quiet_s:
        if seen != sink.num_messages() or source.given < len(source.items):
            seen, since = sink.num_messages(), time.monotonic()
        time.sleep(0.02)
    source.released = True
    top.wait()
    return [bytes(pmt.u8vector_elements(pmt.cdr(sink.get_message(i))))
            for i in range(sink.num_messages())]


def compare(path, noise_db, seed, backend="auto"):
    """Returns a list of PDUs for each of WAYS, from the same symbols of the recording `path` with
    noise of `noise_db` dB."""
    samples, rate = read_wav(path)
    signal = signal_of(path)
    symbols = demodulate(add_noise(samples, noise_db, seed), rate, signal)
    # The receivers run in parallel, because each receiver waits for quiet_s seconds at its end.
    with concurrent.futures.ThreadPoolExecutor(len(WAYS)) as pool:
        return list(pool.map(lambda which: pdus(symbols, which, signal, backend), WAYS))


def compare_all(path, cases, backend="auto"):
    """Yields the result of compare() for each (noise_db, seed).

    Each comparison has its own process, because gr-satellites' flowgraphs free their shared memory
    only at the end of the process.
    """
    context = multiprocessing.get_context("spawn")
    with context.Pool(1, maxtasksperchild=1) as pool:
        for noise_db, seed in cases:
            yield pool.apply(compare, (path, noise_db, seed, backend))


def sweep(path, levels, seeds, backend="auto"):
    """Yields a row per noise level in `levels` (in dB): for each of WAYS, a list of the numbers of
    PDUs, one per seed."""
    for level in levels:
        cases = [(level, seed) for seed in range(seeds)]
        found = list(compare_all(path, cases, backend))
        yield {"noise_db": level,
               **{which: [len(run[i]) for run in found] for i, which in enumerate(WAYS)}}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("recording")
    parser.add_argument("--noise", default="-12:1:0", metavar="A:STEP:B",
                        help="powers of the added noise, in dB above the recording's power")
    parser.add_argument("--seeds", type=int, default=5,
                        help="number of runs per noise level, each with its own seed")
    parser.add_argument("--backend", default="auto",
                        help="backend of the decoders: auto, cuda or cpu")
    parser.add_argument("--json", type=results_file.report_path,
                        help="write the results to this file")
    arguments = parser.parse_args()
    first, step, last = (float(x) for x in arguments.noise.split(":"))
    levels = [None] + numpy.arange(first, last + step / 2, step).tolist()

    print("number of PDUs, summed over all seeds; noise is in dB above the recording's power")
    print("noise dB  gr-satellites  gpufec  one chain  receiver")
    rows = []
    for row in sweep(arguments.recording, levels, arguments.seeds, arguments.backend):
        rows.append(row)
        level = "none" if row["noise_db"] is None else f"{row['noise_db']:.1f}"
        print(f"{level:>8}{sum(row['gr_satellites']):>15}{sum(row['gpufec']):>8}"
              f"{sum(row['one_chain']):>11}{sum(row['receiver']):>10}", flush=True)
    if arguments.json:
        results_file.save(arguments.json, "recording_pdus",
                          {"backend": arguments.backend, "rows": rows},
                          f"PDUs from {pathlib.Path(arguments.recording).name} as noise is added")
    return 0


if __name__ == "__main__":
    sys.exit(main())
