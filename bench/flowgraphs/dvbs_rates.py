#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

"""Compares, on the CPU, dvbs_fec_receiver and dvbs_deframer with gr-dtv's blocks for DVB-T, whose
code is that of DVB-S.

gr-dtv transmits random packets at the code rates of DVB-S. Table "speed" has bits of
transport-stream packets per second of processor time, from the best of --rounds runs. Processor
time is user and system time of all threads of a flowgraph whose source is a ring buffer in memory
and whose sink is a null sink. gr-dtv's receiver gets hard decisions in the correct phase.
dvbs_fec_receiver searches for the phase and, in the columns "gpufec_auto", also for the code rate.
Table "packets" has the numbers of correctly received packets for the same noise, and the number of
packets whose frames are sent completely.

Usage: dvbs_rates.py [--rounds N] [--seconds S] [--packets N] [--json FILE]
"""

import argparse
import pathlib
import resource
import sys
import time

import numpy as np
from gnuradio import blocks, dtv, gpufec, gr

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
from results_file import report_path, save  # noqa: E402
from port_rates import SETTLE_S, ring  # noqa: E402

# For each code rate: gr-dtv's constant, and the lowest of STEPS values of Es/N0, 1 dB apart.
RATES = {"1/2": (dtv.C1_2, 2), "2/3": (dtv.C2_3, 3), "3/4": (dtv.C3_4, 4), "5/6": (dtv.C5_6, 5),
         "7/8": (dtv.C7_8, 6)}
STEPS = 6
CLEAR_DB = 15
REED_SOLOMON = 2, 8, 0x11d, 255, 239, 8, 51, 8


def collect(source, *chain, item_bytes=1):
    sink = blocks.vector_sink_b(item_bytes)
    graph = gr.top_block()
    graph.connect(source, *chain, sink)
    graph.run()
    return np.array(sink.data(), np.uint8)


def transmit(count):
    """Returns `count` random packets and their interleaved frames. The first 16 frames are left out,
    because the first 11 frames contain zeros with which the interleaver begins."""
    packets = np.random.default_rng(1).integers(0, 256, (count, 188), np.uint8)
    packets[:, 0] = 0x47
    packets[:, 1] &= 0x7f
    frames = collect(blocks.vector_source_b(packets.ravel().tolist()),
                     dtv.dvbt_energy_dispersal(1), dtv.dvbt_reed_solomon_enc(*REED_SOLOMON),
                     dtv.dvbt_convolutional_interleaver(136, 12, 17))
    return packets, frames[16 * 204:]


def modulate(frames, rate):
    coded = collect(blocks.vector_source_b(frames.tolist()),
                    dtv.dvbt_inner_coder(1, 1512, dtv.MOD_QPSK, dtv.NH, RATES[rate][0]),
                    item_bytes=1512)
    return ((1 - 2.0 * (coded >> 1)) + 1j * (1 - 2.0 * (coded & 1))) / np.sqrt(2)


def add_noise(symbols, es_n0_db):
    random = np.random.default_rng(2)
    noise = random.standard_normal(len(symbols)) + 1j * random.standard_normal(len(symbols))
    return (symbols + np.sqrt(0.5 * 10 ** (-es_n0_db / 10)) * noise).astype(np.complex64)


def dtv_frames():
    return (dtv.dvbt_convolutional_deinterleaver(136, 12, 17),
            dtv.dvbt_reed_solomon_dec(*REED_SOLOMON), dtv.dvbt_energy_descramble(8))


def dtv_receiver(rate):
    return (dtv.dvbt_demap(1, dtv.MOD_QPSK, dtv.NH, dtv.T2k, 1.0),
            dtv.dvbt_viterbi_decoder(dtv.MOD_QPSK, dtv.NH, RATES[rate][0], 768), *dtv_frames())


def our_receiver(rate):
    return (gpufec.dvbs_fec_receiver(rate, backend="cpu"),)


def bits_per_second(items, make, seconds):
    """Returns output bits per second of processor time of a flowgraph whose source repeats
    items."""
    graph, source, counter = gr.top_block(), ring(items), blocks.null_sink(1)
    graph.connect(source, *make(), counter)
    graph.start()
    time.sleep(SETTLE_S)
    before, passed = resource.getrusage(resource.RUSAGE_SELF), counter.nitems_read(0)
    time.sleep(seconds)
    after, passed = resource.getrusage(resource.RUSAGE_SELF), counter.nitems_read(0) - passed
    graph.stop()
    graph.wait()
    return 8 * passed / (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def speeds(frames, rounds, seconds):
    # The repeated items have whole groups of 8 frames and whole puncturing periods, so that the
    # receiver stays synchronised. Some packets at the end of the items cannot be corrected.
    stretch = 280
    inputs = [("frames", None, frames[:stretch * 204],
               {"gpufec": lambda: (gpufec.dvbs_deframer(),), "gr_dtv": dtv_frames})]
    for rate in RATES:
        symbols = add_noise(modulate(frames, rate), CLEAR_DB)
        inputs.append(("symbols", rate, symbols[:round(stretch * 1632 / 2 / eval(rate))],
                       {"gpufec": lambda rate=rate: our_receiver(rate),
                        "gpufec_auto": lambda: our_receiver("auto"),
                        "gr_dtv": lambda rate=rate: dtv_receiver(rate)}))
    for kind, rate, items, receivers in inputs:
        row = {"input": kind, "rate": rate}
        for name, make in receivers.items():
            row[name + "_bits_per_s"] = max(bits_per_second(items, make, seconds)
                                            for _ in range(rounds))
        print(row, flush=True)
        yield row


def right(received, known):
    whole = received[:len(received) // 188 * 188].reshape(-1, 188)
    return sum(packet.tobytes() in known for packet in whole)


def comparisons(packets, frames):
    known = {packet.tobytes() for packet in packets}
    for rate, (_, first) in RATES.items():
        symbols = modulate(frames, rate)
        for es_n0_db in np.arange(first, first + STEPS):
            noisy = add_noise(symbols, es_n0_db).tolist()
            row = {"rate": rate, "es_n0_db": float(es_n0_db), "complete": int(len(symbols) * 2 * eval(rate)) // 1632 - 11,
                   **{name: right(collect(blocks.vector_source_c(noisy), *make(rate)), known)
                      for name, make in (("gpufec", our_receiver), ("gr_dtv", dtv_receiver))},
                   "gpufec_auto": right(collect(blocks.vector_source_c(noisy),
                                                *our_receiver("auto")), known)}
            print(row, flush=True)
            yield row


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--packets", type=int, default=2016)
    parser.add_argument("--json", type=report_path)
    options = parser.parse_args()
    packets, frames = transmit(options.packets)
    found = {"rounds": options.rounds, "seconds": options.seconds, "clear_es_n0_db": CLEAR_DB,
             "speed": list(speeds(frames, options.rounds, options.seconds)),
             "packets": list(comparisons(packets, frames))}
    if options.json:
        save(options.json, "dvbs_rates", found)


if __name__ == "__main__":
    main()
