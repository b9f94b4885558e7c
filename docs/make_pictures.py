#!/usr/bin/env python3
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws the pictures of the examples: the windows of running flowgraphs, and one flowgraph in GNU
Radio Companion.

Usage: xvfb-run -s "-screen 0 1920x1400x24" make_pictures.py [FOLDER [NAME...]]
  FOLDER defaults to docs/pictures. NAME is an example, such as viterbi_lock; all are drawn if none
  is named. gnuradio.gpufec must be found through PYTHONPATH. Recordings are read from
  $GPUFEC_TEST_DATA, or from ../shared/data beside the repository.
"""

import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
os.environ["GRC_BLOCKS_PATH"] = str(ROOT / "grc")

DATA = pathlib.Path(os.environ.get("GPUFEC_TEST_DATA", ROOT.parent / "shared" / "data"))

# For the window of each example: changes of sliders, as seconds after the start, variable and
# value, and as the last entry the time of the picture in seconds.
WINDOWS = {
    "viterbi_ccsds_live": [(8, "ebn0_db", 2.0), (13, "ebn0_db", 3.0), (19, None, None)],
    "ldpc_dvbs2_live": [(7, "esn0_db", 1.0), (11, "esn0_db", 0.7), (14, "esn0_db", 2.0),
                        (18, None, None)],
    "ldpc_acm": [(4, "snr_db", 6.6), (10, None, None)],
    "sync_drift": [(12, None, None)],
    "viterbi_lock": [(6, "rate", 0), (11, "late", 4), (16, "turn", 1), (21, "ebn0_db", 4.0),
                     (26, None, None)],
    "viterbi_recording": [(20, None, None)],
    "ccsds/ccsds_live": [(12, "ebn0_db", 1.9), (15, "ebn0_db", 3.0), (17, "phase", 120),
                         (19, None, None)],
    "ccsds/ccsds_recording": [(12, None, None)],
    "dvb/dvbs_live": [(12, "esn0_db", 2.0), (16, "esn0_db", 5.5), (19, "phase", 120),
                      (22, None, None)],
}
CANVASES = ["viterbi_ccsds_live", "ccsds/ccsds_live"]


def small(path):
    """Reduces a picture to 64 colours, to save space."""
    from PIL import Image
    with Image.open(path) as picture:
        found = picture.convert("RGB").quantize(64, dither=Image.Dither.NONE)
    found.save(path, optimize=True)


def draw_window(example, folder, compiled):
    """Runs a flowgraph, moves its sliders as WINDOWS lists, and saves a picture of its window. Ends
    the process, because Qt windows of one process interfere."""
    from PyQt5 import Qt
    name = os.path.basename(example)
    application = Qt.QApplication([name])
    sys.path.insert(0, compiled)
    spec = importlib.util.spec_from_file_location(name, os.path.join(compiled, f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    given = {}
    if name == "viterbi_recording":
        given = dict(recording=os.path.join(compiled, "my.wav"),
                     output=os.path.join(compiled, "decoded.bin"))
        sys.path.insert(0, str(ROOT / "python" / "gpufec" / "test"))
        import qa_support
        qa_support.write_recording(given["recording"], qa_support.random_bits(100000, 3),
                                   noise=0.8, amplitude=5000)
    elif name == "ccsds_recording":
        given = dict(recording=str(DATA / "recordings" / "by701.wav"))
    Qt.QSettings("GNU Radio", name).clear() # removes a saved window size
    top = getattr(module, name)(**given)
    module.snippets_main_after_init(top) # sets the window's size
    top.start()
    if hasattr(top, "flowgraph_started"): # an event that probes await, from GNU Radio 3.10.11 on
        top.flowgraph_started.set()
    top.show()
    begin = time.monotonic()
    for when, variable, value in WINDOWS[example]:
        while time.monotonic() < begin + when:
            application.processEvents()
            time.sleep(0.02)
        widget = getattr(top, f"_{variable}_win", None)
        if widget: # a slider, whose movement sets the variable
            widget.d_widget.counter.setValue(value)
        elif variable:
            getattr(top, "set_" + variable)(value)
    path = os.path.join(folder, f"{name}_window.png")
    assert top.grab().save(path)
    small(path)
    top.stop()
    top.wait()
    os._exit(0)


def draw_canvas(name, folder):
    import gi
    gi.require_version("Gtk", "3.0")
    gi.require_version("PangoCairo", "1.0")
    from gi.repository import GLib, Gtk
    from gnuradio import gr
    # Platform must be imported first, because the other modules need it.
    from gnuradio.grc.gui.Platform import Platform
    from gnuradio.grc.gui import Application, Utils
    platform = Platform(version=gr.version(), prefs=gr.prefs(), install_prefix=gr.prefix(),
                        version_parts=(gr.major_version(), gr.api_version(),
                                       gr.minor_version()))
    platform.build_library()
    application = Application.Application([str(ROOT / "examples" / f"{name}.grc")], platform)

    def draw():
        graph = application.main_window.current_page.flow_graph
        graph.update()
        while Gtk.events_pending():
            Gtk.main_iteration()
        path = os.path.join(folder, f"{os.path.basename(name)}.png")
        Utils.make_screenshot(graph, path)
        small(path)
        os._exit(0)

    GLib.timeout_add(2000, draw)
    application.run()


def main():
    if len(sys.argv) == 5 and sys.argv[1] == "--window":
        draw_window(*sys.argv[2:])
    elif len(sys.argv) == 4 and sys.argv[1] == "--canvas":
        draw_canvas(*sys.argv[2:])
    folder = str(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else
                              ROOT / "docs" / "pictures").resolve())
    names = sys.argv[2:] or [*WINDOWS, *CANVASES]
    if set(names) - {*WINDOWS, *CANVASES}:
        sys.exit(__doc__.strip())
    os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryDirectory() as compiled:
        os.environ["HOME"] = compiled # The programs must not read the user's settings.
        os.environ["XDG_RUNTIME_DIR"] = compiled
        windows = [name for name in WINDOWS if name in names]
        subprocess.run(["grcc", "-o", compiled] +
                       [str(ROOT / "examples" / f"{name}.grc") for name in windows],
                       check=True, capture_output=True)
        for name in windows:
            subprocess.run([sys.executable, __file__, "--window", name, folder, compiled],
                           check=True)
        for name in CANVASES:
            if name in names:
                subprocess.run([sys.executable, __file__, "--canvas", name, folder], check=True)


if __name__ == "__main__":
    main()
