#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

"""Compares the rate of the Viterbi decoder on several GPUs with the rate on a single GPU.

The code has K=7 and rate 1/2, with int8 input. The script measures the rate of the kernels, the
rate from host memory to host memory with batches distributed round-robin, and the rate of the
stream decoder (rows "host to host" and "stream" of `gpufec bench`). Each rate is measured on
every single device and on all devices together. If GNU Radio can be imported, the script also
measures flowgraphs with one block on all devices, and with one block per device
(bench/flowgraphs/flowgraph_rate.py).

Usage: viterbi_devices.py GPUFEC [--devices 0,1] [--seconds S] [--json FILE]
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
import results_file  # noqa: E402

BATCHES = (135168, 0) # batch sizes in parallel blocks; 0: the decoder chooses for the device
FLOWGRAPH = pathlib.Path(__file__).with_name("flowgraph_rate.py")


def bench(tool, devices, batch, seconds):
    command = [tool, "bench", "viterbi", "--backend", "cuda", "--device", devices,
               "--batch", str(batch), "--seconds", str(seconds), "--runs", "5", "--json", "-"]
    report = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    rates = {rate["what"]: rate["median_bits_per_s"] for rate in report["rates"]}
    return {"devices": devices, "batch": report["batch"],
            "kernels_bits_per_s": report["kernels_bits_per_s"],
            "host_to_host_bits_per_s": rates["host to host"],
            "stream_bits_per_s": rates["stream"]}


def compare(tool, devices, batch, seconds):
    """Measures each device alone, and all devices together. The ratio is the rate of all devices
    divided by the mean rate of a single device; for two devices, 2 is ideal."""
    alone = [bench(tool, device, batch, seconds) for device in devices]
    together = bench(tool, ",".join(devices), batch, seconds)
    ratio = {name: together[name] * len(alone) / sum(one[name] for one in alone)
             for name in ("kernels_bits_per_s", "host_to_host_bits_per_s")}
    return {"alone": alone, "together": together, "together_over_one": ratio}


def flowgraphs(devices):
    """Measures flowgraphs with one block on all devices, and with one block per device. Returns
    None if GNU Radio cannot be imported."""
    if subprocess.run([sys.executable, "-c", "import gnuradio.gr"], check=False,
                      stderr=subprocess.DEVNULL).returncode:
        return None
    reports = []
    for blocks in (1, len(devices)):
        with tempfile.NamedTemporaryFile() as file: # GNU Radio logs to standard output
            subprocess.run([sys.executable, FLOWGRAPH, "--backend", "cuda",
                            "--gpufec", "", "--devices", ",".join(devices),
                            "--blocks", str(blocks), "--rounds", "3", "--seconds", "0.5",
                            "--starved-seconds", "0", "--json", file.name], check=True,
                           stdout=sys.stderr)
            run, = json.load(file)["runs"]
            reports.append({"settings": run["settings"], "measured": run["rows"]})
    return reports


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool", metavar="GPUFEC")
    parser.add_argument("--devices", type=lambda text: text.split(","),
                        default=["0", "1"], help="indices of the CUDA devices, separated by commas")
    parser.add_argument("--seconds", type=float, default=1.0,
                        help="duration of each measurement in seconds")
    parser.add_argument("--json", type=results_file.report_path,
                        help="write the results to this file instead of standard output")
    options = parser.parse_args()
    result = {
        "rates": [compare(options.tool, options.devices, batch, options.seconds)
                  for batch in BATCHES],
        "flowgraphs": flowgraphs(options.devices)}
    if options.json:
        results_file.save(options.json, "viterbi_devices", result)
    else:
        print(json.dumps(result, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
