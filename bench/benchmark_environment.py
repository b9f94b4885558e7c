# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

"""Commit, machine and time, as they go with a measurement in bench/results."""

import datetime
import os
import platform
import subprocess


def _commit():
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    try:
        return subprocess.run(["git", "-C", root, "describe", "--always", "--dirty"],
                              capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return os.environ.get("GPUFEC_COMMIT", "unknown")


def _processor():
    try:
        with open("/proc/cpuinfo") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or "unknown"


def _gpus():
    try:
        output = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version",
                                 "--format=csv,noheader"],
                                capture_output=True, text=True, check=True).stdout
        return [line.strip() for line in output.splitlines() if line.strip()]
    except (OSError, subprocess.CalledProcessError):
        return []


def environment():
    """A dictionary for a result's JSON file."""
    return {"commit": _commit(),
            "date": datetime.datetime.now(datetime.timezone.utc).isoformat(
                timespec="seconds"),
            "processor": _processor(), "cores": os.cpu_count(), "gpus": _gpus(),
            "system": platform.platform()}
