#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

"""Compares dvbs_fec_receiver and dvbs_deframer with gr-dtv's blocks for DVB-T, which has the same
code, on the CPU.

gr-dtv transmits random packets at the rates of DVB-S. Table "speed" has bits of transport-stream
packets per second of processor time (user and system, all threads of a flowgraph with a repeated
file as source and a null sink), the best of --rounds runs. gr-dtv's receiver has hard decisions and the
right phase; dvbs_fec_receiver searches for it, and for the rate too in the rows "gpufec_auto".
Table "packets" has the numbers of right packets for the same noise, and the number of those whose
frames are whole.

Usage: dvbs_rates.py [--rounds N] [--packets N] [--megabits N] [--folder FOLDER] [--json FILE]
"""

import argparse
import pathlib
import resource
import sys
import tempfile

import numpy as np
from gnuradio import blocks, dtv, gpufec, gr

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
from results_file import report_path, save  # noqa: E402

# gr-dtv's name and the first Es/N0 in dB of the comparison. The others follow in steps of 1 dB.
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
    """Returns random packets and their interleaved frames, without the first 16, in which the
    interleaver outputs its initial zeros."""
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


def bits_per_second(path, item_bytes, items, make, rounds):
    """Returns output bits per second of processor time, the best of several runs of a flowgraph
    that reads a file again and again, up to a number of items."""
    best = 0
    for _ in range(rounds):
        graph, counter = gr.top_block(), blocks.null_sink(1)
        graph.connect(blocks.file_source(item_bytes, str(path), True),
                      blocks.head(item_bytes, items), *make(), counter)
        before = resource.getrusage(resource.RUSAGE_SELF)
        graph.run()
        after = resource.getrusage(resource.RUSAGE_SELF)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        best = max(best, 8 * counter.nitems_read(0) / seconds)
    return best


def speeds(frames, folder, rounds, megabits):
    path = pathlib.Path(folder) / "items"
    # A repeated stretch has whole groups of 8 frames and whole puncturing periods, so that frames
    # and phase go on. Some packets at the seam cannot be corrected.
    stretch = 280 * (len(frames) // 204 // 280)
    bits = stretch * 1632
    inputs = [("frames", None, frames[:stretch * 204], 1, 10,
               {"gpufec": lambda: (gpufec.dvbs_deframer(),), "gr_dtv": dtv_frames})]
    for rate in RATES:
        symbols = add_noise(modulate(frames, rate), CLEAR_DB)[:round(bits / 2 / eval(rate))]
        inputs.append(("symbols", rate, symbols, 8, 1,
                       {"gpufec": lambda rate=rate: our_receiver(rate),
                        "gpufec_auto": lambda: our_receiver("auto"),
                        "gr_dtv": lambda rate=rate: dtv_receiver(rate)}))
    for kind, rate, items, item_bytes, times, receivers in inputs:
        items.tofile(path)
        count = round(times * megabits * 1e6 * len(items) / bits)
        row = {"input": kind, "rate": rate}
        for name, make in receivers.items():
            row[name + "_bits_per_s"] = bits_per_second(path, item_bytes, count, make, rounds)
        print(row, flush=True)
        yield row
    path.unlink()


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
    parser.add_argument("--packets", type=int, default=2016)
    parser.add_argument("--megabits", type=float, default=60,
                        help="megabits of frames per run; ten times as many without a Viterbi decoder")
    parser.add_argument("--folder", help="folder for a temporary file of up to 100 MB")
    parser.add_argument("--json", type=report_path)
    options = parser.parse_args()
    packets, frames = transmit(options.packets)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        found = {"rounds": options.rounds, "clear_es_n0_db": CLEAR_DB,
                 "speed": list(speeds(frames, folder, options.rounds, options.megabits)),
                 "packets": list(comparisons(packets, frames))}
    if options.json:
        save(options.json, "dvbs_rates", found)


if __name__ == "__main__":
    main()
