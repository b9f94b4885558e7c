#!/usr/bin/env python3
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures how the rate grows with the number of worker processes on this machine.

Each worker runs the CPU backend with one thread. Two kinds of distributed work are measured:
error-rate simulations as tasks of Dask, and frames sent by gr-zeromq. The script also kills a
worker during a run, and checks that error counts, decoded bits and their order stay the same.

Runs with different numbers of workers alternate, and medians are compared. Other programs on the
machine distort the figures, so the report has the machine's load. The client, the scheduler and
the flowgraph that distributes frames need one processor in addition to those of the workers."""

import argparse
import importlib.util
import json
import os
import pathlib
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
from results_file import report_path, save  # noqa: E402

ZEROMQ = pathlib.Path(__file__).resolve().parents[2] / "examples" / "zeromq_frames.py"
CODE = dict(preset="ccsds", backend="cpu")
EBN0_DB = 3.0


class Cluster:
    """A Dask client with its own scheduler process and worker processes."""

    def __init__(self, workers):
        from distributed import Client
        self.folder = tempfile.TemporaryDirectory()
        file = pathlib.Path(self.folder.name, "scheduler.json")
        place = ["--scheduler-file", str(file), "--no-dashboard"]
        self.processes = [self.start("dask_scheduler", "--port", "0", *place)]
        self.processes += [self.start("dask_worker", "--no-nanny", "--nthreads", "1",
                                      "--local-directory", self.folder.name, *place)
                           for _ in range(workers)]
        while not (file.exists() and file.stat().st_size):
            time.sleep(0.1)
        self.client = Client(json.loads(file.read_text())["address"], timeout=60)
        self.client.wait_for_workers(workers, timeout=60)

    def start(self, program, *words):
        return subprocess.Popen([sys.executable, "-m", f"distributed.cli.{program}", *words],
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.client.close(timeout=10)
        except TimeoutError:
            pass
        for process in self.processes:
            process.kill()
            process.wait()
        self.folder.cleanup()


def simulate(cluster, tasks, size, kill_after=None):
    """Returns a simulation's error counts and its duration in seconds. If kill_after is not None,
    the first worker is killed after that number of tasks."""
    from gpufec import distributed as there

    def progress(_, total):
        if total["tasks"] == kill_after:
            cluster.processes[1].send_signal(signal.SIGKILL)

    begin = time.monotonic()
    found = there.error_rates(cluster.client, "viterbi", [EBN0_DB], min_errors=0,
                              max_units=tasks * size, task_size=size, progress=progress,
                              **CODE)
    return found, time.monotonic() - begin


def with_dask(args):
    times = {n: [] for n in args.workers}
    for _ in range(args.rounds):
        for workers in args.workers:
            with Cluster(workers) as cluster:
                simulate(cluster, 2 * workers, args.task_bits) # warm-up
                times[workers].append(simulate(cluster, args.tasks, args.task_bits)[1])
    bits = args.tasks * args.task_bits
    with Cluster(2) as cluster:
        expected, _ = simulate(cluster, args.tasks, args.task_bits)
    with Cluster(2) as cluster:
        found, took = simulate(cluster, args.tasks, args.task_bits,
                               kill_after=args.tasks // 4)
    return {"what": "error rates, K=7 rate 1/2", "tasks": args.tasks,
            "bits_per_task": args.task_bits, **table(times, bits),
            "one_of_two_killed": {"seconds": round(took, 2), "counts": found,
                                  "counts_without": expected, "same": found == expected}}


def address():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return f"tcp://127.0.0.1:{s.getsockname()[1]}"


def deal(args, workers, out, kill_after_s=None):
    """Runs zeromq_frames.py with `workers` workers and the output file `out`, and kills one worker
    after `kill_after_s` seconds, if given. Returns the duration in seconds, the number of packets
    sent again, and the decoded bits."""
    places = ["--deal", address(), "--collect", address()]
    kept = [subprocess.Popen([sys.executable, ZEROMQ, "worker", "--backend", "cpu", *places])
            for _ in range(workers)]
    try:
        time.sleep(3) # The workers need this time to start.
        dealer = subprocess.Popen([sys.executable, ZEROMQ, "deal", "--frames",
                                   str(args.frames), "--out", out, "--packet", "256",
                                   *places], stdout=subprocess.PIPE, text=True)
        if kill_after_s is not None:
            time.sleep(kill_after_s)
            kept[0].send_signal(signal.SIGKILL)
        output = dealer.communicate(timeout=600)[0]
    finally:
        for process in kept:
            process.kill()
            process.wait()
    seconds, again = re.search(r"frames in ([\d.]+) s.* (\d+) packets sent again",
                               output).groups()
    return float(seconds), int(again), pathlib.Path(out).read_bytes()


def with_zeromq(args):
    times = {n: [] for n in args.workers}
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "bits")
        for _ in range(args.rounds):
            for workers in args.workers:
                seconds, _, expected = deal(args, workers, out)
                times[workers].append(seconds)
        # The dealer encodes for some seconds first. If the worker is killed before decoding begins,
        # no packet is sent again, and the run is repeated with a later kill.
        best = statistics.median(times[2])
        for wait in (args.kill_after, args.kill_after + 0.5 * best):
            seconds, again, found = deal(args, 2, out, wait)
            if again:
                break
    return {"what": "tail-biting frames of 1024 bits, 256 per packet",
            "frames": args.frames, **table(times, 1024 * args.frames),
            "one_of_two_killed": {"seconds": seconds, "packets_dealt_again": again,
                                  "bytes": len(found), "same_bits": found == expected}}


def table(times, bits):
    one = statistics.median(times[min(times)])
    return {"workers": {str(n): {
        "seconds": [round(s, 2) for s in all_], "mbps": bits / statistics.median(all_) / 1e6,
        "speed_up": one / statistics.median(all_)} for n, all_ in times.items()}}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", default="1,2,4",
                        type=lambda text: [int(n) for n in text.split(",")])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tasks", type=int, default=120)
    parser.add_argument("--task-bits", type=int, default=1 << 21)
    parser.add_argument("--frames", type=int, default=100000)
    parser.add_argument("--kill-after", type=float, default=4.0,
                        help="time from the dealer's start to the kill, in seconds")
    parser.add_argument("--only", choices=["dask", "zeromq"])
    parser.add_argument("--json", type=report_path)
    args = parser.parse_args()
    if 2 not in args.workers or min(args.workers) != 1:
        parser.error("--workers must contain 1, the reference, and 2, and no number below 1")
    report = {"load_before": os.getloadavg()}
    for name, module, measure in (("dask", "distributed", with_dask),
                                  ("zeromq", "gnuradio.zeromq", with_zeromq)):
        if args.only in (None, name):
            if importlib.util.find_spec(module) is None:
                report[name] = f"{module} is not installed"
            else:
                report[name] = measure(args)
            print(name, json.dumps(report[name]), flush=True)
    report["load_after"] = os.getloadavg()
    if args.json:
        save(args.json, "many_workers", report)


if __name__ == "__main__":
    main()
