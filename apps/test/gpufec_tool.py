# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

"""Functions that the tests of the command line tool share: they call the tool, wait for conditions,
and make data."""

import contextlib
import ctypes
import fcntl
import os
import pathlib
import pty
import re
import resource
import select
import struct
import subprocess
import sys
import termios
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "apps" / "scripts"
TIMEOUT_S = 180 # limit for one call or condition; ctest stops a whole file after 300 s


class tools:
    """Paths of the tool, and of the tool with simulated devices."""

    plain, simulated = "gpufec", ""


def main():
    """Runs the tests of the calling file. The program's first two arguments are the paths of the
    tools."""
    if len(sys.argv) < 3:
        sys.exit(f"usage: {sys.argv[0]} TOOL TOOL_WITH_SIMULATED_DEVICES [unittest's options]")
    tools.plain, tools.simulated = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))
    unittest.main()


# ---- calls ----

def run(*arguments, **keywords):
    """Calls the tool with `arguments`, passes `keywords` to subprocess.run(), and returns the
    result of that function."""
    return subprocess.run([tools.plain, *arguments], capture_output=True, timeout=TIMEOUT_S,
                          **keywords)


def check_pace(test, seconds, *arguments, **keywords):
    """Checks that a call with the option --pace takes about `seconds` s, and returns its output. A
    busy machine can only lengthen a call, so one of three calls must end within twice this time."""
    for _ in range(3):
        begin = time.monotonic()
        result = run(*arguments, **keywords)
        taken = time.monotonic() - begin
        test.assertIn(result.returncode, (0, 3), result.stderr)
        test.assertGreater(taken, 0.95 * seconds)
        if taken < 2 * seconds:
            return result.stdout
    raise AssertionError(f"three calls took more than {2 * seconds} s: {arguments}")


def heed_permissions():
    """Makes file permissions apply to root too. Pass it as preexec_fn to functions of
    subprocess."""
    drop_capability = 24 # PR_CAPBSET_DROP; capabilities(7)
    for capability in (1, 2): # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
        ctypes.CDLL(None).prctl(drop_capability, capability, 0, 0, 0)


@contextlib.contextmanager
def start(*arguments, **keywords):
    """Starts the tool with `arguments`, and kills the process at the end of the context."""
    process = subprocess.Popen([tools.plain, *arguments], **keywords)
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        for pipe in filter(None, (process.stdin, process.stdout, process.stderr)):
            with contextlib.suppress(BrokenPipeError):
                pipe.close()


class terminal:
    """A run of the tool with a terminal as standard error and, by default, as standard output."""

    def __init__(self, *arguments, **keywords):
        self._end, there = pty.openpty()
        try:
            self.process = subprocess.Popen([tools.plain, *arguments],
                                            **{"stdout": there, "stderr": there, **keywords})
        finally:
            os.close(there)
        self.seen = ""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self._end)
        if self.process.stdout:
            self.process.stdout.close()

    def _read(self):
        """Appends new text of the terminal to `seen`. Returns False once the tool has closed the
        terminal."""
        if not select.select([self._end], [], [], TIMEOUT_S)[0]:
            raise TimeoutError(f"the terminal still shows {self.seen[-500:]!r}")
        try:
            found = os.read(self._end, 1 << 16)
        except OSError: # the tool has closed its end
            found = b""
        self.seen += found.decode(errors="replace")
        return bool(found)

    def wait_for(self, pattern):
        end = time.monotonic() + TIMEOUT_S
        while not re.search(pattern, self.seen):
            if not self._read() or time.monotonic() > end:
                raise AssertionError(f"the terminal shows no {pattern!r}: {self.seen[-500:]!r}")

    def finish(self):
        """Waits for the end of the process. Returns its exit status and its output to a pipe."""
        while self._read():
            pass
        output, _ = self.process.communicate(timeout=TIMEOUT_S)
        return self.process.returncode, output


PROGRESS = r"\r\033\[K *[\d.]+ " # a progress line with the figures of a point


# ---- conditions ----

def wait_until(condition, process):
    """Waits until `condition()` is true. Raises an AssertionError if `process` ends earlier."""
    end = time.monotonic() + TIMEOUT_S
    while not condition():
        if process.poll() is not None:
            raise AssertionError(f"the process has ended with status {process.returncode}")
        if time.monotonic() > end:
            raise TimeoutError(f"the condition is false after {TIMEOUT_S} s")
        time.sleep(0.005)


def bytes_in(pipe):
    """Returns the number of bytes in `pipe` that can be read."""
    return struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))[0]


def is_idle(process, interval_s=0.05):
    """Returns whether `process` sleeps, and uses no processor time for `interval_s` s."""
    def state():
        try:
            text = pathlib.Path(f"/proc/{process.pid}/stat").read_text()
        except OSError:
            return None
        fields = text.rpartition(")")[2].split()
        return fields[0], fields[11], fields[12] # state, and ticks in user and system mode
    before = state()
    time.sleep(interval_s)
    return before == state() and before is not None and before[0] == "S"


@contextlib.contextmanager
def full_disk(most=8):
    """Yields keyword arguments of run() that limit each file of the process to `most` bytes."""
    yield {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))}


# ---- data ----

def encode_k7(bits):
    """Encodes a list of bits with the polynomials 171, 133 (octal), and returns a list of bits."""
    register, coded = 0, []
    for bit in bits:
        register = (register >> 1) | (bit << 6)
        coded += [bin(register & polynomial).count("1") & 1
                  for polynomial in (0o171, 0o133)]
    return coded


def pack(bits):
    bits = bits + [0] * (-len(bits) % 8)
    return bytes(int("".join(map(str, bits[i:i + 8])), 2)
                 for i in range(0, len(bits), 8))


def crc8(data):
    """Returns the CRC-8 of EN 302 307-1, 5.1.4: x^8 + x^7 + x^6 + x^4 + x^2 + 1."""
    value = 0
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = (value << 1 ^ (0xd5 if value & 0x80 else 0)) & 0xff
    return value


def bbframes(packets, k_bytes, count):
    """Returns the first `count` BBFRAMEs, each of `k_bytes` bytes, of a transport stream
    (EN 302 307-1, 5.1), without scrambling."""
    stream, before = b"", 0
    for packet in packets:
        stream += bytes([before]) + packet[1:]
        before = crc8(packet[1:])
    field, frames = k_bytes - 10, b""
    for at in range(0, count * field, field):
        first = -at % 188 * 8
        header = (b"\xf0\0" + (188 * 8).to_bytes(2, "big") + (field * 8).to_bytes(2, "big")
                  + b"\x47" + first.to_bytes(2, "big"))
        frames += header + bytes([crc8(header)]) + stream[at:at + field]
    return frames


# An alist of the (7, 4) Hamming code, whose message is the first four bits.
HAMMING = ("7 3\n3 4\n1 1 2 1 2 2 3\n4 4 4\n1 0 0\n2 0 0\n1 2 0\n3 0 0\n1 3 0\n2 3 0\n"
           "1 2 3\n1 3 5 7\n2 3 6 7\n4 5 6 7\n")

# An alist of a code that consists of circulants of size 2.
CIRCULANTS = "4 2\n1 2\n1 1 1 1\n2 2\n1\n2\n2\n1\n1 4\n2 3\n"
