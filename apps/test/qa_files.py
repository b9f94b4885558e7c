#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tests of the tool with files, pipes and full disks."""

import contextlib
import fcntl
import json
import os
import pathlib
import random
import resource
import signal
import subprocess
import sys
import tempfile
import unittest

from gpufec_tool import (HAMMING, ROOT, SCRIPTS, TIMEOUT_S, bytes_in, encode_k7, full_disk, is_idle,
                         main, pack, run, start, tools, wait_until)


class qa_files(unittest.TestCase):

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        generator = random.Random(5)
        bits = [generator.getrandbits(1) for _ in range(100003)]
        self.soft = bytes(32 if c else 256 - 32 for c in encode_k7(bits))
        self.decoded = pack(bits)
        self.source = self.path("in")
        with open(self.source, "wb") as file:
            file.write(self.soft)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def check_refused(self, *arguments, **keywords):
        result = run("decode", *arguments, cwd=self.folder.name, **keywords)
        self.assertEqual(result.returncode, 2, (arguments, result.stderr))
        self.assertIn(b": it must be a file that no other argument names", result.stderr)
        with open(self.source, "rb") as file:
            self.assertEqual(file.read(), self.soft)

    def test_OutputEqualToInput_IsRefused(self):
        os.link(self.source, self.path("hard"))
        os.symlink("in", self.path("soft"))
        for decoder in (["viterbi"], ["ldpc", "--frame-size", "short"],
                        ["sync", "--mode", "stream"]):
            for name in (self.source, "in", "./in", "hard", "soft"):
                self.check_refused(*decoder, self.source, name)
                self.check_refused(*decoder, "--json", name, self.source, os.devnull)
        self.check_refused("viterbi", "--json", "new", "in", "new")
        with open(self.source, "rb") as file:
            self.check_refused("viterbi", "-", "in", stdin=file)
        with open(self.source, "ab") as file: # run() would capture stdout
            process = subprocess.run([tools.plain, "decode", "viterbi", self.source, "-"],
                                     stdout=file, stderr=subprocess.PIPE, timeout=TIMEOUT_S)
        self.assertEqual(process.returncode, 2)

    def test_OutputEqualToFileOfOption_IsRefused(self):
        with open(self.path("lengths"), "w") as file:
            file.write("2100")
        self.check_refused("sync", "--lengths", "lengths", os.devnull, "lengths")
        with open(self.path("code"), "w") as file:
            file.write(HAMMING)
        self.check_refused("ldpc", "--code-file", "code", os.devnull, "./code")
        with open(self.path("code")) as file:
            self.assertEqual(file.read(), HAMMING)

    def test_IncompleteRecording_IsReported(self):
        """An empty recording, and an incomplete frame at the end of a recording, are reported. A
        stream of soft values may end anywhere."""
        def errors_of(content, *arguments):
            with open(self.source, "wb") as file:
                file.write(content)
            result = run("decode", *arguments, "in", "out", cwd=self.folder.name)
            self.assertEqual(result.returncode, 0, result.stderr)
            return result.stderr.decode()

        short = ["ldpc", "--frame-size", "short"]
        frames = ["viterbi", "--termination", "terminated", "--frame-bits", "94"]
        for words in (["ldpc"], ["viterbi"], frames):
            self.assertIn("WARNING: in is empty", errors_of(b"", *words))
        self.assertIn("in ends in the middle of a frame, after 5 of its 16200 items",
                      errors_of(bytes(16205), *short))
        self.assertIn("16199 of its 16200 items, which are dropped; nothing is decoded",
                      errors_of(bytes(16199), *short))
        self.assertEqual(errors_of(bytes(2 * 16200), *short), "gpufec: 2 frames, 1.0 iterations on average\n")
        self.assertIn("after 4 of its 200 items", errors_of(self.soft[:404], *frames))
        self.assertIn("after 1 of its 67 items", errors_of(  # 100 stages have 134 values of 4 bits
            bytes(68), *frames, "--puncturing", "101,110", "--soft-input", "packed4"))
        for whole in (self.soft, self.soft[:-1]):
            self.assertNotIn("in the middle", errors_of(whole, "viterbi"))
        self.assertIn("WARNING: in has 5 items, too few to decode anything",
                      errors_of(bytes(5), "sync", "--mode", "stream"))

    def test_WavFileAsSoftValues_CausesWarning(self):
        header = b"\0\0\1\0WAVEfmt "
        for content, is_wav in ((b"RIFF" + header + self.soft, True), (self.soft, False),
                                (b"RIFX" + header + self.soft, True),
                                (b"RF64" + header + self.soft, True)):
            with open(self.source, "wb") as file:
                file.write(content)
            result = run("decode", "viterbi", self.source, os.devnull)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(b"is a WAV file" in result.stderr, is_wav, result.stderr)

    def test_DeviceAsInputAndOutput_IsAccepted(self):
        result = run("decode", "viterbi", os.devnull, os.devnull)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_FullDisk_IsReported(self):
        for arguments in (["decode", "viterbi", self.source, "-"], ["info"], ["--help"],
                          ["info", "--json", "-"], ["bench", "--help"], ["--version"],
                          ["ber", "viterbi", "--range", "9", "--max-bits", "1e4"]):
            with open("/dev/full", "wb") as full:
                process = subprocess.run([tools.plain, *arguments], stdout=full,
                                         stderr=subprocess.PIPE, timeout=TIMEOUT_S)
            self.assertEqual(process.returncode, 1, arguments)
            self.assertIn(b"standard output: No space left", process.stderr)
        result = run("ber", "viterbi", "--range", "9", "--max-bits", "1e4", "--json",
                     "/dev/full")
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"/dev/full: No space left", result.stderr)

    def test_FullDisk_KeepsExistingFile(self):
        with open(self.path("code"), "w") as file:
            file.write(HAMMING)
        with open(self.path("old"), "w") as file:
            file.write("x" * 200)
        before = sorted(os.listdir(self.folder.name))
        ber = ["ber", "viterbi", "--backend", "cpu", "--range", "9", "--max-bits", "1e4"]
        for arguments in (["decode", "viterbi", "in", "old"],
                          ["decode", "viterbi", "--json", "old", os.devnull, os.devnull],
                          ["circulants", "--lifting", "1", "code", "old"],
                          ["info", "--json", "old"], [*ber, "--json", "old"],
                          [*ber, "--plot", "old"],
                          ["bench", "viterbi", "--seconds", "0.05", "--runs", "1", "--json",
                           "old"]):
            with full_disk() as limits:
                result = run(*arguments, cwd=self.folder.name, **limits)
            self.assertEqual(result.returncode, 1, arguments)
            self.assertIn(b"old: File too large", result.stderr)
            with open(self.path("old")) as file:
                self.assertEqual(file.read(), "x" * 200, arguments)
            self.assertEqual(sorted(os.listdir(self.folder.name)), before)

    def test_FullDiskInScript_KeepsExistingFile(self):
        result = run("ber", "viterbi", "--backend", "cpu", "--range", "2", "--max-bits", "1e4",
                     "--json", self.path("report"))
        self.assertEqual(result.returncode, 0)
        # The file size limit would kill Git, which would leave a lock in the repository.
        save = f"import sys; sys.path.append({str(ROOT / 'bench' / 'common')!r})\n" \
               "import results_file; results_file.commit = str\n" \
               "results_file.save('old', 'a', {'rates': [1, 2]})"
        for program in ([SCRIPTS / "plot_ber.py", "report", "old"], ["-c", save]):
            with open(self.path("old"), "w") as file:
                file.write("x" * 200)
            for limits, old_stays in ((full_disk(), True), (contextlib.nullcontext({}), False)):
                with limits as keywords:
                    result = subprocess.run([sys.executable, "-B", *program], cwd=self.folder.name,
                                            capture_output=True, timeout=TIMEOUT_S, **keywords)
                self.assertEqual(result.returncode == 1, old_stays, result.stderr)
                with open(self.path("old"), "rb") as file:
                    self.assertEqual(file.read() == b"x" * 200, old_stays)
                self.assertEqual(sorted(os.listdir(self.folder.name)), ["in", "old", "report"])

    def test_UnwritableReport_IsRefusedBeforeMeasurement(self):
        for name in ("viterbi/viterbi_rates.py", "flowgraphs/ber_rates.py",
                     "viterbi/viterbi_table3.py"):
            for path in (self.folder.name, "/nowhere/report"):
                done = subprocess.run([sys.executable, "-B", ROOT / "bench" / name, tools.plain,
                                       "--json", path], capture_output=True, timeout=TIMEOUT_S)
                self.assertEqual(done.returncode, 2, name)
                self.assertIn(f"{path} cannot be written".encode(), done.stderr)

    def test_RefusedCall_ChangesNoFile(self):
        with open(self.path("old"), "w") as file:
            file.write("old")
        with open(self.path("code"), "w") as file:
            file.write(HAMMING)
        for arguments in (["decode", "viterbi", "--overlap", "1", "in", "old"],
                          ["decode", "viterbi", "--json", "old", "nowhere", "new"],
                          ["decode", "viterbi", "--json", "nowhere/json", "in", "old"],
                          ["decode", "viterbi", "--json", "./new", "in", "new"],
                          ["decode", "viterbi", ".", "old"],
                          ["ber", "viterbi", "--overlap", "1", "--json", "new", "--plot", "old"],
                          ["ber", "viterbi", "--json", "old", "--plot", "./old"],
                          ["ber", "viterbi", "--json", "new", "--plot", "./new"],
                          ["ber", "viterbi", "--plot", "-"],
                          ["ber", "ldpc", "--code-file", "code", "--json", "code"],
                          ["ber", "ldpc", "--code-file", "code", "--plot", "code"],
                          ["bench", "ldpc", "--code-file", "code", "--json", "code"],
                          ["bench", "viterbi", "--runs", "0", "--json", "old"],
                          ["circulants", "code", "code"], ["circulants", "in", "old"],
                          ["info", "--json", "."], ["info", "--json", "new/"]):
            result = run(*arguments, cwd=self.folder.name)
            self.assertIn(result.returncode, (1, 2), arguments)
            self.assertEqual(result.stdout, b"")
            self.assertEqual(sorted(os.listdir(self.folder.name)), ["code", "in", "old"], arguments)
            with open(self.path("old")) as file:
                self.assertEqual(file.read(), "old")
            with open(self.path("code")) as file:
                self.assertEqual(file.read(), HAMMING)

    def test_ReplacedFile_KeepsPermissionsAndLinks(self):
        folder = pathlib.Path(self.folder.name)
        for mode in (0o600, 0o640, 0o777):
            (folder / "old").write_text("x" * 100000)
            (folder / "old").chmod(mode)
            with contextlib.suppress(FileExistsError):
                (folder / "link").symlink_to("old")
            for arguments in (["info", "--json", "link"], ["decode", "viterbi", "in", "link"]):
                self.assertEqual(run(*arguments, cwd=folder).returncode, 0)
                self.assertTrue((folder / "link").is_symlink())
                self.assertEqual((folder / "old").stat().st_mode & 0o777, mode)
            self.assertEqual((folder / "old").read_bytes(), self.decoded)
        (folder / "dangling").symlink_to("new")
        self.assertEqual(run("info", "--json", "dangling", cwd=folder, umask=0o027).returncode, 0)
        self.assertEqual((folder / "new").stat().st_mode & 0o777, 0o640)
        self.assertEqual(sorted(os.listdir(folder)), ["dangling", "in", "link", "new", "old"])

    def test_OpenDescriptors_AreWrittenInPlace(self):
        """The file behind /dev/stdout may have content of other programs, so it must not be
        replaced."""
        for name in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "-"):
            with open(self.path("log"), "wb+") as log:
                log.write(b"before\n")
                log.flush()
                for arguments in (["info", "--json", name], ["decode", "viterbi", "in", name]):
                    process = subprocess.run([tools.plain, *arguments], stdout=log,
                                             timeout=TIMEOUT_S, cwd=self.folder.name)
                    self.assertEqual(process.returncode, 0)
                log.seek(0)
                content = log.read()
            self.assertTrue(content.startswith(b"before\n{"), content[:20])
            self.assertTrue(content.endswith(self.decoded))
        process = subprocess.run([tools.plain, "info", "--json", "/dev/stdout"],
                                 stdout=subprocess.PIPE, timeout=TIMEOUT_S)
        self.assertIn("environment", json.loads(process.stdout[:process.stdout.rindex(b"}") + 1]))

    def test_NamedPipes_AreWritten(self):
        fifo = self.path("fifo")
        os.mkfifo(fifo)
        for arguments, content in ((["decode", "viterbi", self.source, fifo], self.decoded),
                                   (["ber", "viterbi", "--range", "8:1:9", "--max-bits", "1e4",
                                     "--json", fifo], None)):
            with start(*arguments, stdout=subprocess.DEVNULL) as process:
                received = pathlib.Path(fifo).read_bytes()
                self.assertEqual(process.wait(TIMEOUT_S), 0)
            if content is None:
                self.assertTrue(json.loads(received)["complete"])
            else:
                self.assertEqual(received, content)

    def test_InterruptedDecoding_WritesDecodedBits(self):
        for old in (None, "", "x" * 300):
            out = pathlib.Path(self.path("out"))
            if old is not None:
                out.write_text(old)
            with start("decode", "viterbi", "--backend", "cpu", "-", out, stdin=subprocess.PIPE,
                       stderr=subprocess.DEVNULL) as process:
                process.stdin.write(self.soft)
                process.stdin.flush()
                wait_until(lambda: any(1000 < p.stat().st_size < len(self.soft)
                                       for p in out.parent.iterdir()), process)
                if old:
                    self.assertEqual(out.read_text(), old)
                process.send_signal(signal.SIGINT)
                self.assertEqual(process.wait(TIMEOUT_S), -signal.SIGINT)
            written = out.read_bytes()
            self.assertGreater(len(written), 1000)
            self.assertEqual(written, self.decoded[:len(written)])
            out.unlink()
            self.assertEqual(os.listdir(self.folder.name), ["in"])

    def test_ImpossiblePlot_IsRefusedBeforeSimulation(self):
        """The error is raised before the simulation, so that no results are lost."""
        for name, words in (("/nowhere/plot.png", b"No such file"),
                            (self.path("plot.doc"), b"the name must end in")):
            result = run("ber", "viterbi", "--range", "2", "--max-bits", "1e15", "--plot", name)
            self.assertEqual((result.returncode, result.stdout), (1, b""))
            self.assertIn(b"--plot", result.stderr)
            self.assertIn(words, result.stderr)
            self.assertNotIn(b"Traceback", result.stderr)
            self.assertFalse(os.path.exists(name))

    def test_UnwritablePlot_KeepsExistingPlot(self):
        png, report = self.path("plot.png"), self.path("report.json")
        words = ("ber", "viterbi", "--backend", "cpu", "--range", "1", "--max-bits", "1e5")
        self.assertEqual(run(*words, "--json", report, "--plot", png).returncode, 0)
        with open(png, "rb") as file:
            before = file.read()
        script = SCRIPTS / "plot_ber.py"
        size = len(before) // 2
        drawn = subprocess.run(
            [sys.executable, script, report, png], capture_output=True, timeout=TIMEOUT_S,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)))
        self.assertEqual(drawn.returncode, 1)
        self.assertIn(b"plot_ber.py:", drawn.stderr)
        with open(png, "rb") as file:
            self.assertEqual(file.read(), before)
        self.assertEqual(sorted(os.listdir(os.path.dirname(png))), ["in", "plot.png", "report.json"])

    def test_NonBlockingOutput_IsWrittenCompletely(self):
        end, begin = os.pipe()
        os.set_blocking(begin, False)
        capacity = fcntl.fcntl(begin, fcntl.F_GETPIPE_SZ)
        with os.fdopen(end, "rb") as pipe, \
                start("decode", "viterbi", "--backend", "cpu", "--unpacked", self.source, "-",
                      stdout=begin, stderr=subprocess.DEVNULL) as process:
            os.close(begin)
            wait_until(lambda: bytes_in(pipe) == capacity and is_idle(process), process)
            received = pipe.read()
            self.assertEqual(process.wait(TIMEOUT_S), 0)
        self.assertEqual(len(received), 100003)
        self.assertEqual(pack(list(received)), self.decoded)

    def test_NonBlockingTextOutput_IsWrittenCompletely(self):
        whole = run("ber", "viterbi", "--help").stdout
        end, begin = os.pipe()
        os.set_blocking(begin, False)
        fcntl.fcntl(begin, fcntl.F_SETPIPE_SZ, 4096)
        os.write(begin, b"x" * 4096)
        with os.fdopen(end, "rb") as pipe, \
                start("ber", "viterbi", "--help", stdout=begin) as process:
            os.close(begin)
            wait_until(lambda: is_idle(process), process)
            self.assertEqual(pipe.read(), b"x" * 4096 + whole)
            self.assertEqual(process.wait(TIMEOUT_S), 0)

    def test_NonBlockingInput_IsReadCompletely(self):
        end, begin = os.pipe()
        os.set_blocking(end, False)
        with start("decode", "viterbi", "--backend", "cpu", "-", "-", stdin=end,
                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
            os.close(end)
            with os.fdopen(begin, "wb") as pipe:
                for at in range(0, len(self.soft), 50000):
                    pipe.write(self.soft[at:at + 50000])
                    pipe.flush()
                    wait_until(lambda: bytes_in(pipe) == 0 and is_idle(process), process)
            self.assertEqual(process.communicate(timeout=TIMEOUT_S)[0], self.decoded)

    def test_ClosedOutputPipe_IsReported(self):
        for arguments in (["decode", "viterbi", self.source, "-"], ["--help"]):
            end, begin = os.pipe()
            os.close(end)
            process = subprocess.run([tools.plain, *arguments], stdout=begin,
                                     stderr=subprocess.PIPE, timeout=TIMEOUT_S)
            os.close(begin)
            self.assertEqual(process.returncode, 1)
            self.assertIn(b"standard output: Broken pipe", process.stderr)

    def test_EndlessLengthsFiles_AreReadOnlyAsFarAsNeeded(self):
        """A file without numbers is refused. Numbers beyond the input cause a warning."""
        # AddressSanitizer reserves terabytes of address space, so its own option sets the memory limit.
        sanitized = b"__asan_init" in pathlib.Path(tools.plain).read_bytes()
        options = ":".join([*filter(None, [os.environ.get("ASAN_OPTIONS")]),
                            "hard_rss_limit_mb=512"])

        def limit():
            if not sanitized:
                resource.setrlimit(resource.RLIMIT_AS, (1 << 29, 1 << 29))

        def decode(lengths):
            return run("decode", "sync", "--frame-symbols", "2", "--lengths", lengths, "-",
                       "-", input=bytes(100), preexec_fn=limit,
                       env={**os.environ, "ASAN_OPTIONS": options})
        result = decode("/dev/zero")
        self.assertEqual(result.returncode, 2)
        self.assertIn(rb"\x00", result.stderr)
        endless = subprocess.Popen(["yes", "20"], stdout=subprocess.PIPE)
        fifo = self.path("fifo")
        os.mkfifo(fifo)
        pump = subprocess.Popen(["sh", "-c", 'cat > "$0"', fifo], stdin=endless.stdout)
        result = decode(fifo)
        endless.kill()
        endless.communicate()
        pump.wait(TIMEOUT_S)
        self.assertEqual((result.returncode, len(result.stdout)), (0, 10), result.stderr)
        self.assertIn(b"more than the input", result.stderr)


if __name__ == "__main__":
    main()
