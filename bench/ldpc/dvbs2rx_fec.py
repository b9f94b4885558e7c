#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

"""Compares the CPU decoding of gr-dvbs2rx and of gpu_ldpc_dvbs2, from symbols to BBFRAMEs.

One chain has gr-dvbs2rx's demapper, LDPC and BCH decoders, connected as in its receiver. The other
has gpu_ldpc_dvbs2 with one thread in their place. Both decode the same frames, alternately.

The result of a chain is its number of symbols per second of processor time. Processor time is
summed over all threads of the flowgraph. From the smallest time of --turns runs, the script
subtracts the time of a flowgraph that only reads the symbols. A BBFRAME is correct if all its bytes
are correct. The symbols come from gr-dtv's modulator, with Gaussian noise.

Usage: dvbs2rx_fec.py [--modcod "qpsk 1/2"] [--frame-size normal] [--esn0 1.3]
                      [--iterations 25] [--frames N] [--turns N] [--seed N] [--folder FOLDER]
                      [--json FILE]
"""

import argparse
import json
import pathlib
import sys
import time

import numpy as np
from gnuradio import blocks, dtv, dvbs2rx, gpufec, gr

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
import results_file  # noqa: E402

BITS = {"normal": 64800, "short": 16200}


def transmitted(size, constellation, rate, frames, esn0_db, seed):
    """Returns `frames` random packed BBFRAMEs, one per row, and their complex symbols with noise
    at an Es/N0 of `esn0_db` dB."""
    random = np.random.default_rng(seed)
    encoder = gpufec.bch_encoder("dvbs2", size, rate)
    k = BITS[size] * gpufec.ldpc_encoder("dvbs2", size, rate).relative_rate_d() \
        / gpufec.ldpc_encoder("dvbs2", size, rate).relative_rate_i()
    k_bch = round(k * encoder.relative_rate_d() / encoder.relative_rate_i())
    sent = random.integers(0, 256, (frames, k_bch // 8), np.uint8)
    frame = dtv.FECFRAME_NORMAL if size == "normal" else dtv.FECFRAME_SHORT
    code = getattr(dtv, "C" + rate.replace("/", "_"))
    modulation = getattr(dtv, "MOD_" + constellation.upper())
    sink = blocks.vector_sink_c()
    graph = gr.top_block()
    graph.connect(blocks.vector_source_b(sent.ravel().tolist()), encoder,
                  gpufec.ldpc_encoder("dvbs2", size, rate, packed_output=False),
                  dtv.dvbs2_interleaver_bb(frame, code, modulation),
                  dtv.dvbs2_modulator_bc(frame, code, modulation, dtv.INTERPOLATION_OFF), sink)
    graph.run()
    symbols = np.array(sink.data(), np.complex64)
    sigma = np.sqrt(10 ** (-esn0_db / 10) / 2)
    noise = random.standard_normal(2 * len(symbols)).astype(np.float32).view(np.complex64)
    return sent, (symbols + np.float32(sigma) * noise).astype(np.complex64)


class theirs:
    """A chain of gr-dvbs2rx's three blocks. The LDPC decoder sends LLRs back to the demapper in
    messages."""

    def __init__(self, size, constellation, rate, iterations):
        code = dvbs2rx.params.translate("DVB-S2", size, rate, constellation.upper())
        self.demapper = dvbs2rx.xfecframe_demapper_cb(*code[1:])
        self.ldpc = dvbs2rx.ldpc_decoder_bb(*code, dvbs2rx.OM_MESSAGE, dvbs2rx.INFO_OFF,
                                            iterations)
        self.bch = dvbs2rx.bch_decoder_bb(*code[:3], dvbs2rx.OM_MESSAGE)

    def connect(self, graph, source, sink):
        graph.connect(source, self.demapper, self.ldpc, self.bch, sink)
        graph.msg_connect((self.ldpc, "llr_pdu"), (self.demapper, "llr_pdu"))

    def iterations(self):
        return float(self.ldpc.get_average_trials())


class ours:
    def __init__(self, size, constellation, rate, iterations):
        self.decoder = gpufec.gpu_ldpc_dvbs2(
            frame_size=size, rate=rate, constellation=constellation, soft_input="symbols",
            output="bbframe", max_iterations=iterations, backend="cpu", threads=1)

    def connect(self, graph, source, sink):
        graph.connect(source, self.decoder, sink)

    def iterations(self):
        return self.decoder.mean_iterations()


class nothing:
    """A chain that only reads the symbols."""

    def connect(self, graph, source, sink):
        graph.connect(source, blocks.null_sink(gr.sizeof_gr_complex))


def run(chain, path):
    """Runs `chain` on the complex symbols in the file `path`. Returns processor seconds, elapsed
    seconds, and the output bytes."""
    sink = blocks.vector_sink_b()
    graph = gr.top_block()
    chain.connect(graph, blocks.file_source(gr.sizeof_gr_complex, str(path)), sink)
    begin, processor = time.monotonic(), time.process_time()
    graph.run()
    return (time.process_time() - processor, time.monotonic() - begin,
            np.array(sink.data(), np.uint8))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--modcod", default="qpsk 1/2")
    parser.add_argument("--frame-size", default="normal", choices=BITS)
    parser.add_argument("--esn0", type=float, default=1.3, help="Es/N0 in dB")
    parser.add_argument("--iterations", type=int, default=25)
    parser.add_argument("--frames", type=int, default=256)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", default="/tmp", help="folder for a temporary file of symbols")
    parser.add_argument("--json", type=results_file.report_path,
                        help="write the results to this file")
    options = parser.parse_args()
    constellation, rate = options.modcod.split()
    code = (options.frame_size, constellation, rate)
    sent, symbols = transmitted(*code, options.frames, options.esn0, options.seed)
    path = pathlib.Path(options.folder) / "dvbs2rx_fec.iq"
    symbols.tofile(path)
    makers = {"reading": nothing,
              "gr_dvbs2rx": lambda: theirs(*code, options.iterations),
              "gpufec": lambda: ours(*code, options.iterations)}
    rows = {name: [] for name in makers}
    try:
        for _ in range(options.turns):
            for name, make in makers.items():
                chain = make()
                processor, elapsed, out = run(chain, path)
                row = {"processor_s": round(processor, 3), "elapsed_s": round(elapsed, 3)}
                if name != "reading":
                    found = out[:len(out) // sent.shape[1] * sent.shape[1]]
                    found = found.reshape(-1, sent.shape[1])
                    # gr-dvbs2rx decodes groups of frames, and does not output an incomplete last
                    # group.
                    right = (found == sent[:len(found)]).all(axis=1)
                    row.update(frames=len(found), right=int(right.sum()),
                               mean_iterations=round(chain.iterations(), 2))
                rows[name].append(row)
                print(name, json.dumps(row), flush=True)
    finally:
        path.unlink()
    reading = min(r["processor_s"] for r in rows["reading"])
    rates = {}
    for name in ("gr_dvbs2rx", "gpufec"):
        seconds = min((r["processor_s"] - reading) / max(1, r["frames"]) for r in rows[name])
        rates[name] = round(len(symbols) / options.frames / seconds / 1e6, 3)
    settings = {name: getattr(options, name) for name in
                ("modcod", "frame_size", "esn0", "iterations", "frames", "seed")}
    result = {
        **settings, "turns": rows,
        "msymbols_per_processor_second": rates,
        "gain": round(rates["gpufec"] / rates["gr_dvbs2rx"], 2)}
    print(json.dumps({key: result[key] for key in ("msymbols_per_processor_second", "gain")}))
    if options.json:
        results_file.save(options.json, "dvbs2rx_fec", result)


if __name__ == "__main__":
    main()
