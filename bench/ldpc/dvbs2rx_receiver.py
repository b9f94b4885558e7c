#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

"""Counts the packets that variants of gr-dvbs2rx's receiver, dvbs2-rx, decode correctly.

gr_dvbs2rx  the receiver with its own decoders
gpufec      gpu_ldpc_dvbs2 in place of the LDPC decoder
one_block   gpu_ldpc_dvbs2 in place of four blocks, from the demapper to the descrambler

The script makes the variants by the changes that docs/converting/gr-dvbs2rx.md describes. Each
variant is also measured with bbframe_to_ts in place of gr-dvbs2rx's BBFRAME deheader, which in
release 1.4 may cut packets at wrong places for a long time after a lost frame. --other adds the
variants of another version of gr-dvbs2rx, whose names begin with other_, on the same samples.

A transport stream of packets of random bytes goes through dvbs2-tx, which adds noise, and then
through each receiver. A packet is correct if it is one of the sent packets. The result has symbols
per second of processor time. This figure multiplied by the number of cores is the rate that a
receiver can sustain if the cores share its work evenly. The results of gr-dvbs2rx's decoder differ
from run to run, so the median over --runs runs is reported, and "runs" lists the result of each
run.

Usage: dvbs2rx_receiver.py [--tx dvbs2-tx] [--rx dvbs2-rx] [--modcod QPSK1/2] [--snr 1.0,1.5]
                           [--pilots] [--packets N] [--seed N] [--only NAME,NAME]
                           [--other COMMIT:PREFIX] [--runs N] [--json FILE]
"""

import argparse
import json
import os
import pathlib
import random
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
import results_file  # noqa: E402

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "converting" / "gr-dvbs2rx.md"
# Regular expressions for the parts of dvbs2-rx that are replaced.
OWN_DECODER = re.compile(r"^        ldpc_decoder = dvbs2rx\.ldpc_decoder_bb\(.*?\)\n", re.M | re.S)
OWN_DEHEADER = re.compile(r"^        bbdeheader = dvbs2rx\.bbdeheader_bb\(.*?\)\n", re.M | re.S)
THREE_BLOCKS = re.compile(r"^        ldpc_decoder = .*?^        bbdescrambler = .*?\)\n",
                          re.M | re.S)
CHAIN = re.compile(r"^        self\.connect\(\(ldpc_decoder, 0\).*?\)\)\n", re.M | re.S)
DEMAPPER = re.compile(r"^        xfecframe_demapper = .*?\)\n", re.M | re.S)
LLR_PORT = re.compile(r"^        self\.msg_connect\(\(ldpc_decoder, 'llr_pdu'\).*?\)\)\n",
                      re.M | re.S)
OWN_TRIALS = "self.ldpc_decoder.get_average_trials()"
ANOTHER = "this dvbs2-rx differs from the one in docs/converting/gr-dvbs2rx.md"
PACKET = 188
SAMPLES_PER_SYMBOL = 2 # equal to the value in dvbs2-tx and dvbs2-rx


def piece(section, begin):
    """Returns the Python code block in a section of the page that begins with `begin`."""
    text = PAGE.read_text().split(f"\n## {section}\n", 1)[1]
    return next(one for one in re.findall(r"```python\n(.*?)```", text, re.S)
                if one.startswith(begin))


def replaced(text, *changes):
    """Returns `text` after replacements. Each old text must occur exactly once."""
    for old, new in changes:
        assert text.count(old) == 1, f"{ANOTHER}: {old}"
        text = text.replace(old, new)
    return text


def converted(receiver):
    """Returns the source code of dvbs2-rx with gpu_ldpc_dvbs2 in place of the LDPC decoder."""
    text, decoders = OWN_DECODER.subn(
        lambda _: piece("In `dvbs2-rx`", "        ldpc_decoder = "), receiver)
    assert decoders == 1, ANOTHER
    trials = piece("In `dvbs2-rx`", "        ldpc_avg_trials")
    return replaced(text, (OWN_TRIALS, re.search(r"self\.ldpc_decoder\.\w+\(\)", trials).group()))


def with_import(receiver):
    assert "\nfrom gnuradio import " in receiver
    return receiver.replace("\nfrom gnuradio import ",
                            "\nfrom gnuradio import gpufec\nfrom gnuradio import ", 1)


def with_one_block(receiver):
    """Returns the source code of dvbs2-rx with one decoder, from symbols to BBFRAMEs, in place of
    the demapper, the LDPC and BCH decoders, and the descrambler."""
    decoder = piece("All four blocks", "        decoder = ")
    text, count = THREE_BLOCKS.subn(lambda _: decoder, receiver)
    counts = [count]
    for gone in CHAIN, DEMAPPER, LLR_PORT:
        text, count = gone.subn("", text)
        counts.append(count)
    assert counts == [1] * 4, ANOTHER
    text = replaced(
        text,
        ("(plsync, 0), (xfecframe_demapper, 0),\n                     (ldpc_decoder, 0))",
         "(plsync, 0), (decoder, 0))"),
        ("        self.bch_decoder = bch_decoder\n", ""),
        ("        self.xfecframe_demapper = xfecframe_demapper\n", ""),
        ("self.ldpc_decoder = ldpc_decoder", "self.ldpc_decoder = decoder"),
        (OWN_TRIALS, "self.ldpc_decoder.mean_iterations()"),
        ("self.xfecframe_demapper.get_snr()", "None"),
        ("self.bch_decoder.get_frame_count()", "self.bbdeheader.get_bbframe_count()"),
        ("self.bch_decoder.get_error_count()", "self.bbdeheader.get_bbframe_drop_count()"))
    return text.replace("(bbdescrambler, 0)", "(decoder, 0)")


def with_our_packets(receiver):
    """Returns a receiver's source code with bbframe_to_ts and its counters in place of gr-dvbs2rx's
    deheader, according to the table in the page."""
    text, deheaders = OWN_DEHEADER.subn(
        lambda _: piece("In `dvbs2-rx`", "        bbdeheader = "), receiver)
    table = PAGE.read_text().split("| gr-dvbs2rx | here |", 1)[1].split("\n\n", 1)[0]
    assert deheaders == 1, ANOTHER

    def ours(call):
        row = re.search(rf"^\| `{call.group(1)}\(\)`[^|]*\| `(\w+)\(\)`", table, re.M)
        assert row, f"{ANOTHER}: {call.group()}"
        return f"self.bbdeheader.{row.group(1)}()"
    return re.sub(r"self\.bbdeheader\.(\w+)\(\)", ours, text)


def variants(program):
    """Returns the source code of all variants of a dvbs2-rx program, by name."""
    own = with_import(pathlib.Path(program).read_text())
    return {"gr_dvbs2rx": own, "gpufec": converted(own),
            "gr_dvbs2rx_and_bbframe_to_ts": with_our_packets(own),
            "gpufec_and_bbframe_to_ts": with_our_packets(converted(own)),
            "one_block": with_one_block(own),
            "one_block_and_bbframe_to_ts": with_our_packets(with_one_block(own))}


def environment_of(prefix):
    """Returns environment variables that make Python and the linker search below a prefix first."""
    found = {"PYTHONPATH": prefix.glob("lib/python3*/*-packages"),
             "LD_LIBRARY_PATH": [prefix / "lib", *prefix.glob("lib/*-linux-gnu")]}
    return {**os.environ, **{name: ":".join([*map(str, paths), os.environ.get(name, "")])
                             for name, paths in found.items()}}


def transport_stream(packets, seed):
    """Returns transport stream packets with one PID and payloads of random bytes."""
    source = random.Random(seed)
    return [bytes((0x47, 0x01, 0x00, 0x10 | number % 16)) + source.randbytes(PACKET - 4)
            for number in range(packets)]


def receive(receiver, arguments, recording, out, environment):
    """Runs a receiver over a recording; returns elapsed and processor time in seconds."""
    begin, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, receiver, *arguments, "--source", "file", "--in-file",
                    recording, "--sink", "file", "--out-file", out],
                   check=True, stdout=sys.stderr, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (time.monotonic() - begin,
            after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def counted(path, sent):
    data = path.read_bytes()
    found = [data[i:i + PACKET] for i in range(0, len(data) - PACKET + 1, PACKET)]
    right = sum(packet in sent for packet in found)
    return {"packets": len(found), "right": right, "wrong": len(found) - right}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tx", default=shutil.which("dvbs2-tx"), help="path of dvbs2-tx")
    parser.add_argument("--rx", default=shutil.which("dvbs2-rx"), help="path of dvbs2-rx")
    parser.add_argument("--modcod", default="QPSK1/2")
    parser.add_argument("--snr", default="1.5",
                        help="Es/N0 in dB; several values are separated by commas")
    parser.add_argument("--pilots", action="store_true", help="transmit pilots")
    parser.add_argument("--packets", type=int, default=18200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="run only these receivers (names separated by commas)")
    parser.add_argument("--other", metavar="COMMIT:PREFIX",
                        help="commit of another version of gr-dvbs2rx, and the prefix of its "
                             "installation")
    parser.add_argument("--runs", type=int, default=1, help="number of runs of each receiver")
    parser.add_argument("--json", type=results_file.report_path,
                        help="write the results to this file")
    options = parser.parse_args()
    if not options.tx or not options.rx:
        parser.error("dvbs2-tx or dvbs2-rx is not found; install gr-dvbs2rx 1.4, "
                     "or pass their paths with --tx and --rx")

    packets = transport_stream(options.packets, options.seed)
    sent = set(packets)
    results = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "in.ts").write_bytes(b"".join(packets))
        receivers, environments = variants(options.rx), {}
        if options.only:
            receivers = {name: receivers[name] for name in options.only.split(",")}
        if options.other:
            prefix = pathlib.Path(options.other.split(":", 1)[1])
            others = variants(prefix / "bin" / "dvbs2-rx")
            for name in list(receivers):
                receivers[f"other_{name}"] = others[name]
                environments[f"other_{name}"] = environment_of(prefix)
        for name, text in receivers.items():
            (folder / name).write_text(text)
        for snr in options.snr.split(","):
            subprocess.run([sys.executable, options.tx, "--modcod", options.modcod, "--snr", snr,
                            "--source", "file", "--in-file", folder / "in.ts", "--sink", "file",
                            "--out-file", folder / "iq", *(["--pilots"] * options.pilots)],
                           check=True, stdout=sys.stderr)
            point = {"snr_db": float(snr)}
            symbols = (folder / "iq").stat().st_size / 8 / SAMPLES_PER_SYMBOL
            for name in receivers:
                runs = []
                for _ in range(options.runs):
                    took, processor = receive(folder / name, ["--modcod", options.modcod],
                                              folder / "iq", folder / f"{name}.ts",
                                              environments.get(name))
                    runs.append({**counted(folder / f"{name}.ts", sent),
                                 "seconds": round(took, 1), "processor_s": round(processor, 1),
                                 "msymbols_per_processor_second":
                                     round(symbols / processor / 1e6, 3)})
                point[name] = {key: statistics.median_low(run[key] for run in runs)
                               for key in runs[0]}
                if options.runs > 1:
                    point[name]["runs"] = runs
            results.append(point)
            print(json.dumps(point), flush=True)
    if options.json:
        # The recorded command line leaves out paths on this machine.
        command = ["bench/ldpc/dvbs2rx_receiver.py"] + [
            f"--{name} {getattr(options, name)}"
            for name in ("modcod", "snr", "packets", "seed", "runs")] + (
                ["--pilots"] * options.pilots +
                ([f"--only {options.only}"] if options.only else []) +
                ([f"--other {options.other.split(':')[0]}"] if options.other else []))
        rows = [{"snr_db": point["snr_db"], "receiver": name, **found} for point in results
                for name, found in point.items() if name != "snr_db"]
        results_file.save(options.json, "dvbs2rx_receiver", {"sent": options.packets, "rows": rows},
                          command=" ".join(command))


if __name__ == "__main__":
    main()
