#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
#
"""Tests that the GNU Radio Companion examples are valid, have a clear layout, and run.

Examples with windows run without a display, in Qt's offscreen mode, and their variables are set as
sliders would set them.
"""

import importlib.util
import itertools
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import types
import unittest
import wave

import numpy as np
from gnuradio import gpufec, gr

try:
    from gnuradio.grc.core import Messages
    from gnuradio.grc.core.platform import Platform
except ModuleNotFoundError as missing:
    raise unittest.SkipTest(f"GNU Radio Companion is not installed: {missing}")

import ccsds_signals
import qa_canvas
import qa_support as support

ROOT = pathlib.Path(__file__).resolve().parents[3]
EXAMPLES = sorted((ROOT / "examples").rglob("*.grc"))
BLOCKS = os.environ.get("GPUFEC_GRC_PATH", str(ROOT / "grc"))
DATA = pathlib.Path(os.environ.get("GPUFEC_TEST_DATA", ROOT.parent / "shared" / "data"))
BY701 = DATA / "recordings" / "by701.wav"
# Required modules outside GNU Radio, by example, and the message if one is missing
NEEDS = {"dvbs2rx_receiver": (["gnuradio.dvbs2rx"], "gr-dvbs2rx is not installed"),
         "gpu_chain": (["gnuradio.cuda", "cupy"], "No module named")}


def platform():
    Messages.MESSENGERS_LIST.clear()
    made = Platform(name="GNU Radio Companion", prefs=gr.prefs(), version=gr.version(),
                    version_parts=(gr.major_version(), gr.api_version(),
                                   gr.minor_version()))
    core = pathlib.Path(gr.prefix()) / "share" / "gnuradio" / "grc" / "blocks"
    # Modules outside GNU Radio have their blocks in GRC_BLOCKS_PATH.
    others = [p for p in os.environ.get("GRC_BLOCKS_PATH", "").split(":") if p]
    made.build_library([BLOCKS] + others + [str(p) for p in core.glob("*.yml")
                                   if not p.name.startswith("gpufec")])
    return made


def is_there(name):
    modules, _ = NEEDS.get(name, ([], None))
    return all(map(importlib.util.find_spec, modules))


def compile_examples(paths, folder):
    """Compiles the flowgraphs `paths` to `folder` with one call of grcc, which then loads the
    blocks only once."""
    return subprocess.run(
        ["grcc", "-o", folder, *map(str, paths)], stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, env={
            **os.environ, "HOME": folder, "GRC_BLOCKS_PATH": ":".join(
                [BLOCKS, os.environ.get("GRC_BLOCKS_PATH", "")]).strip(":")})


class qa_layout(unittest.TestCase):
    paths = EXAMPLES

    @classmethod
    def setUpClass(cls):
        cls.platform = platform()

    def drawn(self):
        """Yields the name and the flowgraph of each example; skips those whose modules are
        missing."""
        self.assertGreater(len(self.paths), 0)
        for path in self.paths:
            graph = self.platform.make_flow_graph(str(path))
            graph.rewrite()
            graph.validate()
            with self.subTest(path.stem):
                if not is_there(path.stem):
                    self.skipTest(f"{NEEDS[path.stem][0]} are not installed")
                yield path.stem, graph

    def test_Boxes_DoNotOverlap(self):
        for name, graph in self.drawn():
            for one, two in itertools.combinations(qa_canvas.boxes(graph), 2):
                self.assertFalse(one.overlaps(two), f"{name}: {one} and {two}")

    def test_Boxes_AreInsideCanvas(self):
        for name, graph in self.drawn():
            width, height = graph.get_option("window_size")
            for box in qa_canvas.boxes(graph):
                self.assertTrue(0 <= box.left and 0 <= box.top and box.right <= width and
                                box.bottom <= height, f"{name}: {box}, {width}, {height}")

    def test_Streams_FlowToTheRight(self):
        """Each stream connection ends at a port further to the right than its beginning, so that no
        line crosses a block and each arrow is visible."""
        for name, graph in self.drawn():
            for line in graph.connections:
                if line.source_port.domain == "stream":
                    one, next_one = line.source_block, line.sink_block
                    right = (one.states["coordinate"][0] + qa_canvas.block_size(one)[0] +
                             qa_canvas.port_width(one.sources))
                    left = next_one.states["coordinate"][0] - qa_canvas.port_width(next_one.sinks)
                    self.assertLess(right + 8, left, f"{name}: {one.name} to {next_one.name}")

    def test_OverlappingLayout_IsDetected(self):
        graph = self.platform.make_flow_graph(str(EXAMPLES[0]))
        graph.rewrite()
        graph.validate()
        for block in graph.blocks:
            block.states["coordinate"] = [8, 8]
        boxes = list(qa_canvas.boxes(graph))
        blocks = [box for box in boxes if not box.what.startswith("comment")]
        self.assertTrue(all(one.overlaps(two) for one, two in
                            itertools.combinations(blocks, 2)))

    def red(self, name, recording):
        """Returns GNU Radio Companion's error messages for the example `name` with `recording` as
        its file."""
        graph = self.platform.make_flow_graph(str(ROOT / "examples" / f"{name}.grc"))
        parameter = next(b for b in graph.blocks if b.name == "recording")
        parameter.params["value"].set_value(recording)
        graph.rewrite()
        graph.validate()
        return [message for _, message in graph.iter_error_messages()]

    def test_BadRecording_IsRed(self):
        """A bad recording causes exactly one error message, and a file that does not exist yet
        causes none."""
        with tempfile.TemporaryDirectory() as folder:
            for name, channels, words in (("stereo.wav", 2, "has 2 channels"),
                                          ("slow.wav", 1, "has 8000 samples per second")):
                path = os.path.join(folder, name)
                with wave.open(path, "wb") as file:
                    file.setparams((channels, 2, 8000, 0, "NONE", ""))
                    file.writeframes(bytes(4000))
                message, = self.red("viterbi_recording", path)
                self.assertIn(words, message)
            message, = self.red("viterbi_recording", folder)
            self.assertIn("Is a directory", message)
            self.assertEqual(self.red("viterbi_recording", folder + "/not_yet.wav"), [])

    @unittest.skipIf(is_there("dvbs2rx_receiver"), "gr-dvbs2rx is installed")
    def test_MissingModule_IsRed(self):
        self.assertRegex("\n".join(self.red("dvbs2rx_receiver", "some.iq")),
                         "gr-dvbs2rx is not installed.*https:")

    def test_Examples_HaveNoErrorsAndAreExplained(self):
        for name, graph in self.drawn():
            self.assertEqual([m for _, m in graph.iter_error_messages()], [])
            self.assertEqual(graph.get_option("id"), name)
            self.assertTrue(graph.get_option("title"))
            self.assertTrue(graph.options_block.comment)

    def test_IdOfBlock_HidesNoMethod(self):
        """In generated code, a block is an attribute of the flowgraph, with the block's id as its
        name. GRC 3.10.12 refuses the names of all methods as ids, and GRC 3.10.5 the names of some
        methods."""
        top = gr.top_block()
        methods = {*dir(top), *dir(getattr(top, "_impl", top))}
        self.assertIn("lock", methods)
        for name, graph in self.drawn():
            self.assertEqual({block.name for block in graph.blocks} & methods, set(), name)


@unittest.skipUnless(shutil.which("grcc"), "GNU Radio Companion is not installed")
class qa_compiling(unittest.TestCase):
    def test_EveryExample_Compiles(self):
        """grcc compiles each example whose modules are installed, and names the missing modules of
        the other examples."""
        there = [path for path in EXAMPLES if is_there(path.stem)]
        with tempfile.TemporaryDirectory() as folder:
            done = compile_examples(there, folder)
            self.assertEqual(done.returncode, 0, done.stdout)
            for path in there:
                self.assertTrue(os.path.exists(os.path.join(folder, f"{path.stem}.py")), path)
            for path in set(EXAMPLES) - set(there):
                with self.subTest(path.stem):
                    done = compile_examples([path], folder)
                    self.assertEqual(done.returncode, 1, done.stdout)
                    modules, message = NEEDS[path.stem]
                    self.assertIn(message, done.stdout)
                    self.skipTest(f"{path.stem} needs {modules}")


@unittest.skipUnless(shutil.which("grcc"), "GNU Radio Companion is not installed")
@unittest.skipUnless(importlib.util.find_spec("PyQt5"), "PyQt5 is not installed")
class qa_live(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
        from PyQt5 import Qt
        cls.application = Qt.QApplication(["qa_flowgraphs"])
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        sys.path.insert(0, cls.folder.name)
        cls.addClassCleanup(sys.path.remove, cls.folder.name)
        done = compile_examples(filter(lambda path: is_there(path.stem), EXAMPLES),
                                cls.folder.name)
        if done.returncode:
            raise AssertionError(done.stdout)

    def compiled(self, name):
        """Returns the path of the program that grcc generated from the example `name`."""
        return os.path.join(self.folder.name, f"{name}.py")

    def started(self, name, **parameters):
        spec = importlib.util.spec_from_file_location(name, self.compiled(name))
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        top = getattr(module, name)(**parameters)
        top.start()
        if hasattr(top, "flowgraph_started"): # from GNU Radio 3.10.11 on, probes await this event
            top.flowgraph_started.set()

        def end():
            top.stop()
            top.wait()
            top.close()
            self.end_probes(module)

        self.addCleanup(end)
        return top

    def end_probes(self, module):
        """Ends the threads of the function probes in `module`. The threads call time.sleep() in a
        loop that never ends, and would raise exceptions when the interpreter has deleted their
        widgets."""
        module.time = types.SimpleNamespace(sleep=lambda _: sys.exit()) # ends the calling thread
        for thread in threading.enumerate():
            if thread.name.endswith("_probe)"):
                thread.join(30)
                self.assertFalse(thread.is_alive(), thread.name)

    def wait_for(self, condition, what, seconds=90):
        end = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), end, what)
            self.application.processEvents()
            time.sleep(0.02)

    def test_ViterbiCcsdsLive_FollowsEbN0(self):
        top = self.started("viterbi_ccsds_live")
        top.set_ebn0_db(8)
        self.wait_for(lambda: 0 < top.decoder.channel_error_rate() < 0.02, "8 dB")
        top.set_ebn0_db(1)
        self.wait_for(lambda: top.decoder.channel_error_rate() > 0.09, "1 dB")
        self.wait_for(lambda: top.count.nitems_written(0) > 0, "errors are counted")
        self.wait_for(lambda: top.estimate.values[-1] > 0.09, "tags are read")

    def test_Dvbs2Live_FailsBelowThreshold(self):
        top = self.started("ldpc_dvbs2_live")
        # The input items are complex symbols.
        self.assertEqual(top.decoder.input_signature().sizeof_stream_item(0), 8)
        top.set_esn0_db(2)
        newest = top.valid.values
        self.wait_for(lambda: len(newest) > 20 and min(list(newest)[-5:]) == 1, "2 dB")
        top.set_esn0_db(0.2)
        self.wait_for(lambda: max(list(newest)[-5:]) == 0, "0.2 dB")
        self.assertEqual(top.iterations.values[-1], 50)
        top.set_esn0_db(2)
        self.wait_for(lambda: min(list(newest)[-5:]) == 1, "2 dB again")

    def test_LdpcAcm_DecodesAllFrames(self):
        top = self.started("ldpc_acm")
        self.wait_for(lambda: len(top.valid.values) >= 60, "frames")
        self.assertEqual(min(top.valid.values), 1)
        self.assertGreater(len(set(top.iterations.values)), 1)

    def test_SyncDrift_ShowsDeletions(self):
        top = self.started("sync_drift")
        top.set_p_delete(0.01)
        top.set_p_insert(0)
        # The channel deletes about 21 of 2100 bits per frame, so the drift falls.
        self.wait_for(lambda: len(top.drift.values) > 20 and
                      top.drift.values[-1] < top.drift.values[-11] - 100, "drift")

    def recording(self, bits, seconds_missing=0):
        path = os.path.join(self.folder.name, "made.wav")
        support.write_recording(path, bits, noise=0.25, amplitude=8000)
        if seconds_missing:
            os.truncate(path, os.path.getsize(path) - int(seconds_missing * 96000))
        return path

    def test_ViterbiRecording_WritesSentBits(self):
        bits = np.random.default_rng(5).integers(0, 2, 20000, np.uint8)
        path = self.recording(bits, seconds_missing=0.5)
        output = os.path.join(self.folder.name, "decoded.bin")
        top = self.started("viterbi_recording", recording=path, output=output)
        before = [-1, time.monotonic()]

        def ended():
            now = top.decoder.nitems_written(0)
            if now != before[0]:
                before[:] = now, time.monotonic()
            return now > 0 and time.monotonic() - before[1] > 3

        self.wait_for(ended, "the recording ends")
        top.stop()
        top.wait()
        decoded = np.unpackbits(np.fromfile(output, np.uint8))
        self.assertLess(len(decoded), 18000) # the recording lacks its last half second
        # Aligns the output by searching for 64 bits from the middle, possibly inverted.
        found = np.correlate(2.0 * decoded - 1, 2.0 * bits[12000:12064] - 1)
        at = int(np.argmax(np.abs(found))) - 12000
        same = decoded[11000 + at:15000 + at] == bits[11000:15000]
        self.assertGreater(abs(np.mean(same) - 0.5) + 0.5, 0.999)

    def test_CcsdsLive_ReceivesFramesAtAnyPhase(self):
        """Frames arrive at a high Eb/N0, for several carrier phases. No frame arrives at a low
        Eb/N0. After a return to a high Eb/N0, frames arrive again."""
        top = self.started("ccsds_live")
        meter = top.meter
        for phase in (30, 120, 250):
            top.set_phase(phase)
            begin = meter.good + 60
            self.wait_for(lambda: meter.good > begin, f"frames at {phase} degrees")
        self.assertGreater(max(meter.rate), 10)
        self.assertGreater(max(meter.corrected), 0)
        self.assertEqual(meter.marker[-1], 1)
        self.assertIn("<td>receiving</td>", meter.table())
        top.set_ebn0_db(0)
        self.wait_for(lambda: meter.rate[-1] == 0, "0 dB")
        self.assertIn("<td>no frames</td>", meter.table())
        top.set_ebn0_db(5)
        self.wait_for(lambda: meter.rate[-1] > 10, "5 dB")

    def test_DvbsLive_ReceivesPacketsAtAnyPhase(self):
        top = self.started("dvbs_live")
        charts = top.meter.charts
        for phase in (30, 120):
            top.set_phase(phase)
            begin = top.meter.count + 500
            self.wait_for(lambda: top.meter.count > begin, f"packets at {phase} degrees")
        self.wait_for(lambda: charts["rate"][-1] > 100, "rate")
        self.assertEqual(charts["locks"][-1], 2)
        self.assertIn("<td>dvb_3_4</td>", top.meter.table())
        top.set_esn0_db(5)
        self.wait_for(lambda: charts["corrected"][-1] > 0.2, "corrected bytes")
        top.set_esn0_db(0)
        self.wait_for(lambda: charts["rate"][-1] == charts["locks"][-1] == 0, "0 dB")
        self.assertIn("<td>searching</td>", top.meter.table())

    def test_CcsdsRecording_ListsEveryFrame(self):
        frames, bits = ccsds_signals.transmit(12, 114, 6, differential=True, before=3000,
                                              code="ccsds-223-conventional")
        path = self.recording(bits)
        top = self.started("ccsds_recording", recording=path, speed=4)
        self.wait_for(lambda: len(top.frames.frames) >= 11, "frames")
        found = [frame[-1] for frame in top.frames.frames]
        self.assertEqual(found, [frame.tobytes() for frame in frames][:len(found)])
        self.assertIn(found[-1][:16].hex(" "), top.frames.table())

    @unittest.skipUnless(BY701.exists(), f"the recording {BY701} is missing")
    def test_RecordingOfSatellite_HasFrames(self):
        """All frames of BY70-1 have the same first two bytes, and no two frames are equal."""
        top = self.started("ccsds_recording", recording=str(BY701), speed=4)
        self.wait_for(lambda: len(top.frames.frames) >= 14, "frames")
        found = [frame[-1] for frame in top.frames.frames]
        self.assertEqual({frame[:2] for frame in found}, {bytes.fromhex("c0 b8")})
        self.assertEqual(len(set(found)), len(found))

    def test_RecordingOfNoise_ReportsNoSignal(self):
        path = os.path.join(self.folder.name, "noise.wav")
        with wave.open(path, "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(48000)
            noise = np.random.default_rng(7).normal(0, 3000, 480000)
            file.writeframes(noise.astype(np.int16).tobytes())
        top = self.started("viterbi_recording", recording=path,
                           output=os.path.join(self.folder.name, "decoded.bin"))
        self.wait_for(lambda: "check carrier and baud" in top.found, "a verdict on noise")
        top.stop()
        top.wait()

    def check_refusal(self, words, *arguments, **environment):
        """Runs the recording example. Expects exit status 1, an error message with `words`, and no
        traceback."""
        done = subprocess.run(
            [sys.executable, self.compiled("viterbi_recording"), *arguments],
            capture_output=True, text=True, timeout=60, env={
                k: v for k, v in {**os.environ, "LC_ALL": "C", **environment}.items() if v})
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)

    @unittest.skipUnless(is_there("dvbs2rx_receiver") and shutil.which("dvbs2-tx"),
                         "gr-dvbs2rx is not installed")
    def test_Dvbs2rxReceiver_WritesSentPackets(self):
        """The example outputs more than 400 packets, and all of them, except perhaps an incomplete
        last one, are packets that gr-dvbs2rx's transmitter has sent."""
        path = [os.path.join(self.folder.name, name) for name in ("in.ts", "iq", "out.ts")]
        source = np.random.default_rng(6)
        packets = [bytes([0x47, 1, 0, 16 + number % 16]) + source.bytes(184)
                   for number in range(4000)] # 187 frames
        pathlib.Path(path[0]).write_bytes(b"".join(packets))
        subprocess.run([sys.executable, shutil.which("dvbs2-tx"), "--modcod", "QPSK1/2",
                        "--pilots", "--snr", "5", "--source", "file", "--in-file", path[0],
                        "--sink", "file", "--out-file", path[1]], check=True,
                       capture_output=True)
        top = self.started("dvbs2rx_receiver", recording=path[1], output=path[2],
                           samp_rate=4e6)
        self.wait_for(lambda: top.decoder.nitems_written(0) > 160 * 4026, "frames")
        self.wait_for(lambda: min(list(top.valid.values)[-20:]) == 1, "frames are valid")
        top.stop()
        top.wait()
        found = pathlib.Path(path[2]).read_bytes()
        found = [found[i:i + 188] for i in range(0, len(found), 188)]
        self.assertGreater(len(found), 400)
        self.assertEqual(set(found[:-1]) - set(packets), set())

    def test_BadRecordings_AreRefusedWithReason(self):
        nothing = os.path.join(self.folder.name, "nothing.wav")
        self.check_refusal(["nothing.wav", "--recording"], "--recording", nothing)
        made = self.recording(np.zeros(2000, np.uint8))
        self.check_refusal(["48000 samples per second", "--baud", "192000"],
                           "--recording", made, "--baud", "96e3")
        with open(nothing, "wb") as file:
            file.write(b"no header")
        self.check_refusal(["is not a WAV file", "sox"], "--recording", nothing)
        for kept, words in ((0, ["its header is incomplete", "sox"]),
                            (30, ["its header is incomplete", "sox"]),
                            (44, ["has no samples"])):
            cut = self.recording(np.zeros(2000, np.uint8))
            os.truncate(cut, kept)
            self.check_refusal(words, "--recording", cut)
        made = self.recording(np.zeros(2000, np.uint8))
        self.check_refusal(["Is a directory", "--recording"], "--recording", self.folder.name)
        self.check_refusal(["/nowhere/out: No such file", "--output"], "--recording", made,
                           "--output", "/nowhere/out")

    def test_MissingDisplay_IsReported(self):
        self.check_refusal(["no display", "QT_QPA_PLATFORM=offscreen"],
                           QT_QPA_PLATFORM="", DISPLAY="", WAYLAND_DISPLAY="")
        self.check_refusal(["The display :4711", "does not answer", "QT_QPA_PLATFORM=offscreen"],
                           QT_QPA_PLATFORM="", DISPLAY=":4711", WAYLAND_DISPLAY="")


if __name__ == "__main__":
    support.main()
