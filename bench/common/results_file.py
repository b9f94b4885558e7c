# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes files of bench/results in the form of results.schema.json. Benchmarks call save()."""

import argparse
import datetime
import json
import os
import platform
import re
import subprocess
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(FOLDER))
NAME = re.compile(r"[A-Za-z_]\w*")


def commit():
    """Returns the commit of the source tree from git, from the file COMMIT of a copied tree, or
    from GPUFEC_COMMIT."""
    try:
        return subprocess.run(["git", "-C", FOLDER, "describe", "--always", "--dirty"],
                              capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        pass
    try:
        with open(os.path.join(ROOT, "COMMIT"), encoding="utf-8") as file:
            return file.read().strip()
    except OSError:
        return os.environ.get("GPUFEC_COMMIT", "unknown")


def _processor():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
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


def device():
    """Returns the processor and the GPUs of this machine."""
    return {"processor": _processor(), "cores": os.cpu_count(), "gpus": _gpus(),
            "system": platform.platform()}


def command_line():
    """Returns the command line of this process. It begins with the program's path in the source
    tree, or with the program's name if the program is outside the tree."""
    program = os.path.relpath(os.path.abspath(sys.argv[0]), ROOT)
    if program.startswith(".."):
        program = os.path.basename(program)
    return " ".join([program, *sys.argv[1:]])


def report_path(path):
    """Converts an option to a path; raises ArgumentTypeError if the file cannot be written."""
    folder = os.path.dirname(os.path.abspath(path))
    if os.path.isdir(path) or not os.access(path if os.path.exists(path) else folder, os.W_OK):
        raise argparse.ArgumentTypeError(f"{path} cannot be written")
    return path


def _scalar(value):
    return value is None or isinstance(value, (bool, int, float, str))


def _scalars(value):
    return isinstance(value, list) and all(map(_scalar, value))


def _joined(value, prefix=""):
    """Flattens nested objects by joining their keys with "_". Characters that a name must not
    contain become "_". Returns None if there is a list of objects, if an object's key does not
    match NAME, or if a name occurs twice."""
    found = {}
    for key, item in value.items():
        if isinstance(item, dict):
            inner = _joined(item, f"{prefix}{key}_") if NAME.fullmatch(key) else None
            if inner is None or inner.keys() & found.keys():
                return None
            found.update(inner)
        elif _scalar(item) or _scalars(item):
            name = re.sub(r"\W+", "_", prefix + key)
            if name in found or not NAME.fullmatch(name):
                return None
            found[name] = item
        else:
            return None
    return found


def _row(value):
    """Converts an object to one row. The values of a row are scalars, lists of scalars, objects
    that _joined() can flatten, and lists of such objects. Returns None if a value has another type.
    Also returns None if the values are two or more objects, because they form a table."""
    if not value or all(isinstance(item, dict) for item in value.values()) and len(value) > 1:
        return None
    row = {}
    for key, item in value.items():
        if isinstance(item, dict):
            item = _joined(item)
        elif isinstance(item, list) and not _scalars(item):
            item = [_joined(each) if isinstance(each, dict) else None for each in item]
            item = None if None in item else item
        elif item is None:
            row[key] = None
            continue
        if item is None or not NAME.fullmatch(key):
            return None
        row[key] = item
    return row


def rows_of(value, **labels):
    """Converts a nested value to a list of rows, with `labels` as further entries. If the value is
    too deeply nested for one row, its scalars form a row, and each other entry becomes one or more
    rows. The entries `table` and `name` of these rows name the entry from which they come."""
    if isinstance(value, list) and not _scalars(value):
        return [row for item in value for row in rows_of(item, **labels)]
    if not isinstance(value, dict):
        return [{**labels, "values" if isinstance(value, list) else "value": value}]
    row = _row(value)
    path = {"table": " / ".join(labels.values())} if labels else {}
    if row:
        return [{**(path if labels.keys() & row.keys() else labels), **row}]
    own = {key: item for key, item in value.items()
           if NAME.fullmatch(key) and (_scalar(item) or _scalars(item))}
    rows = rows_of(own, **labels) if own else []
    for key, item in value.items():
        if key not in own:
            rows += rows_of(item, **path, name=key)
    return rows


def record(output):
    """Divides a program's output into settings and rows. The settings of an object are its numbers,
    its strings, and lists of numbers or strings; all other values become rows. An object without
    other values is the only row. A list becomes rows, without settings."""
    output = json.loads(json.dumps(output), parse_constant=lambda name: None)
    if not isinstance(output, dict):
        return {}, rows_of(output)
    settings = {key: value for key, value in output.items() if _scalar(value) or _scalars(value)}
    tables = {key: value for key, value in output.items() if key not in settings}
    if not tables:
        return {}, rows_of(output)
    if len(tables) == 1:
        return settings, rows_of(next(iter(tables.values())))
    return settings, [row for key, value in tables.items() for row in rows_of(value, table=key)]


def save(path, benchmark, found, what=None, command=None, build=None):
    """Writes a run of a benchmark. `found` is an object or a list that record() understands.
    `build` is the commit of the programs that ran, if it differs from this tree's."""
    settings, rows = record(found)
    run = {"benchmark": benchmark, **({"what": what} if what else {}), "commit": build or commit(),
           "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
           "device": device(), "command": command or command_line(),
           "settings": settings, "rows": rows}
    replace(path, written([run]))


def replace(path, text):
    """Writes `text` to the file `path`; an existing file is replaced only when the new file is
    complete."""
    if not os.path.isfile(path):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return
    target = os.path.realpath(path)
    new = f"{target}.{os.getpid()}.new"
    try:
        with open(new, "x", encoding="utf-8") as file:
            file.write(text)
        os.chmod(new, os.stat(target).st_mode & 0o777)
        os.replace(new, target)
    except OSError:
        if os.path.exists(new):
            os.remove(new)
        raise


def written(runs):
    """Returns runs as JSON text with one line per row."""
    texts = []
    for run in runs:
        head = "".join(f"   {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)},\n"
                       for key, value in run.items() if key != "rows")
        rows = ",\n".join("    " + json.dumps(row, ensure_ascii=False) for row in run["rows"])
        texts.append(f"  {{\n{head}   \"rows\": [\n{rows}\n   ]\n  }}")
    return '{\n "runs": [\n' + ",\n".join(texts) + "\n ]\n}\n"
