#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

"""Compares dvbs_fec_receiver with leandvb, the DVB-S receiver of leansdr, on the same noise.

leandvb receives a waveform: the symbols of dvbs_rates.py with root-raised-cosine pulses (roll-off
0.35, four samples per symbol) and white noise. The signal has no frequency offset and no timing
offset, and leandvb is given the code rate. Its options are those of --hq, its highest sensitivity
(Viterbi decoder and root-raised-cosine filter), with three changes: no notch filter; a filter
longer than the default, because leandvb then receives more packets; and no --fastlock, because with
--fastlock the search for synchronisation lasts minutes per point at rate 7/8. The other receivers
get the same waveform through a matched filter:

  gpufec        at the right sampling times and phase
  synchronised  through GNU Radio's symbol_sync_cc and costas_loop_cc
  gr_dtv        at the right sampling times and phase, as hard decisions

The receivers have --lead packets for synchronisation. Each row has the number of correctly received
packets among the next --packets packets. A packet that is received twice counts once.

Usage: dvbs_leandvb.py LEANDVB [--rates R,...] [--packets N] [--lead N] [--json FILE]
"""

import argparse
import math
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from gnuradio import blocks, digital, filter as gr_filter, gpufec, gr
from gnuradio.filter import firdes

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
from results_file import report_path, save  # noqa: E402
from dvbs_rates import RATES, STEPS, add_noise, dtv_receiver, modulate, transmit  # noqa: E402

SAMPLES, ROLL_OFF, SPAN = 4, 0.35, 24  # samples per symbol; length of the pulse in symbols
TAIL = 200  # number of packets sent after the counted packets
LEANDVB = ["--f32", "--sr", "1e6", "-f", f"{SAMPLES}e6", "--anf", "0", "--viterbi",
           "--sampler", "rrc", "--rrc-rej", "30"]


def pulse():
    """Returns the samples of a root-raised-cosine pulse of energy 1."""
    taps = np.array(firdes.root_raised_cosine(1, SAMPLES, 1, ROLL_OFF, SPAN * SAMPLES + 1))
    return taps / np.sqrt(np.sum(taps ** 2))


def run(items, *chain):
    """Runs a chain of blocks and returns its output items, whose type is that of the last block.
    The items pass through files, because vectors of this length are slow in Python."""
    size = chain[-1].output_signature().sizeof_stream_item(0)
    graph = gr.top_block()
    with tempfile.TemporaryDirectory() as folder:
        names = [f"{folder}/in", f"{folder}/out"]
        items.tofile(names[0])
        graph.connect(blocks.file_source(gr.sizeof_gr_complex, names[0]), *chain,
                      blocks.file_sink(size, names[1]))
        graph.run()
        return np.fromfile(names[1], np.uint8 if size == 1 else np.complex64)


def filtered(samples):
    return run(samples, gr_filter.fft_filter_ccc(1, pulse().tolist(), 1))


def waveform(symbols, es_n0_db):
    spread = np.zeros(len(symbols) * SAMPLES, np.complex64)
    spread[::SAMPLES] = symbols
    return add_noise(filtered(spread), es_n0_db)


def leandvb(program, samples, rate):
    with tempfile.TemporaryFile() as file:
        (75 * samples).tofile(file)  # leandvb expects amplitudes of about 75
        file.seek(0)
        done = subprocess.run([program, *LEANDVB, "--cr", rate], stdin=file,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True)
    return np.frombuffer(done.stdout, np.uint8)


def synchronised(matched):
    """Returns the symbols that GNU Radio's timing and carrier loops output for samples `matched`
    behind a matched filter."""
    timing = digital.symbol_sync_cc(digital.TED_GARDNER, SAMPLES, 0.002, 1.0, 1.0, 0.1, 1,
                                    digital.constellation_qpsk().base(), digital.IR_MMSE_8TAP)
    return run(matched, timing, digital.costas_loop_cc(2 * math.pi / 1000, 4))


def right(received, known):
    """Returns how many packets of the set `known` are in `received`, an array of bytes."""
    whole = received[:len(received) // 188 * 188].reshape(-1, 188)
    return len(known & {packet.tobytes() for packet in whole})


def comparisons(program, rates, packets, frames, counted):
    known = {packet.tobytes() for packet in packets[counted]}
    for rate in rates:
        first = RATES[rate][1]
        symbols = modulate(frames, rate)
        for es_n0_db in np.arange(first, first + STEPS):
            samples = waveform(symbols, es_n0_db)
            matched = filtered(samples)
            ideal = matched[SPAN * SAMPLES::SAMPLES]
            receivers = {
                "gpufec": lambda: run(ideal, gpufec.dvbs_fec_receiver(rate, backend="cpu")),
                "synchronised": lambda: run(synchronised(matched),
                                            gpufec.dvbs_fec_receiver(rate, backend="cpu")),
                "leandvb": lambda: leandvb(program, samples, rate),
                "gr_dtv": lambda: run(ideal, *dtv_receiver(rate))}
            row = {"rate": rate, "es_n0_db": float(es_n0_db), "sent": len(known),
                   **{name: right(receive(), known) for name, receive in receivers.items()}}
            print(row, flush=True)
            yield row


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("leandvb", help="path of the program leandvb")
    parser.add_argument("--rates", type=lambda text: text.split(","), default=list(RATES))
    parser.add_argument("--packets", type=int, default=1000)
    parser.add_argument("--lead", type=int, default=1500)
    parser.add_argument("--json", type=report_path)
    options = parser.parse_args()
    packets, frames = transmit(options.lead + options.packets + TAIL)
    counted = slice(options.lead, options.lead + options.packets)
    rows = list(comparisons(options.leandvb, options.rates, packets, frames, counted))
    if options.json:
        save(options.json, "dvbs_leandvb",
             {"packets": options.packets, "lead": options.lead, "samples_per_symbol": SAMPLES,
              "leandvb_options": " ".join(LEANDVB), "rows": rows})


if __name__ == "__main__":
    main()
