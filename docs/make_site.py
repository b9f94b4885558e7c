#!/usr/bin/env python3
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the documentation site with MkDocs and its theme Material.

The first page is README.md; PAGES lists the other files. This script adds a page per block, made
from the public headers, with a picture of the data flow, and a page of measured figures, made from
bench/results. The navigation has a tab per kind of page. Links to files of the repository lead to
copies in the site.

Usage: make_site.py FOLDER [DOXYGEN]   writes FOLDER/html/index.html; DOXYGEN is the folder with
                                       Doxygen's HTML of the C++ interface, if it was made
"""

import html
import html.parser
import importlib.util
import json
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[1]
# The navigation: titles and files by kind of page. This script makes the pages that have no file.
PAGES = {
    "Home": [("gr-gpufec", "README.md"), ("All pages", "docs/README.md"),
             ("Packages", "packaging/README.md"),
             ("Licence exception", "LICENSE-EXCEPTION.md"), ("Changelog", "CHANGELOG.md")],
    "Tutorials": [("Quick start", "docs/quick-start.md"), ("Examples", "docs/examples.md")],
    "How-tos": [("Install", "docs/how-to/install.md"),
                ("Companion", "docs/how-to/companion.md"),
                ("Converting", "docs/converting.md"),
                ("From gr-fec", "docs/converting/gr-fec.md"),
                ("From gr-satellites", "docs/converting/gr-satellites.md"),
                ("From gr-dvbs2rx", "docs/converting/gr-dvbs2rx.md"),
                ("From gr-dtv", "docs/converting/gr-dtv.md"),
                ("From SatDump", "docs/converting/satdump.md"),
                ("From MATLAB", "docs/converting/matlab.md"),
                ("Find the phase", "docs/how-to/find-the-phase.md"),
                ("Correct slips", "docs/how-to/correct-slips.md"),
                ("Arrays", "docs/arrays.md"), ("C++", "docs/cpp.md"),
                ("Fast streams", "docs/how-to/fast-streams.md"),
                ("GPU chains", "docs/how-to/gpu-chains.md"),
                ("Tuning", "docs/tuning.md")],
    "Reference": [("User guide", "docs/user-guide.md"),
                  ("Viterbi", "docs/reference/viterbi.md"),
                  ("LDPC", "docs/reference/ldpc.md"), ("Kernels", "docs/reference/kernels.md"),
                  ("DVB-S2", "docs/reference/dvb.md"),
                  ("CCSDS telemetry", "docs/reference/ccsds.md"),
                  ("Reed-Solomon", "docs/reference/reed-solomon.md"),
                  ("Synchronisation", "docs/reference/sync-map.md"),
                  ("Soft values", "docs/reference/soft-values.md"),
                  ("Tags", "docs/reference/tags.md"),
                  ("Command line", "docs/reference/command-line.md"),
                  ("Formats", "docs/formats.md"), ("Platforms", "docs/reference/platforms.md"),
                  ("Limits", "docs/limits.md"), ("Performance", "docs/performance.md"),
                  ("Measured", None), ("Blocks", None)],
    "Explanation": [("Streams and batches", "docs/streams-and-batches.md"),
                    ("Design", "docs/design.md"), ("Reliability", "docs/reliability.md"),
                    ("Security", "SECURITY.md"), ("Contributing", "CONTRIBUTING.md"),
                    ("Decisions", None)]}
FILES = [name for pages in PAGES.values() for _, name in pages if name] + [
    str(path.relative_to(ROOT)) for path in sorted((ROOT / "docs" / "decisions").glob("*.md"))]
COPIED = ["docs/pictures", "bench/results", "examples", "CITATION.cff", "LICENSE"]

STYLE = """.md-grid { max-width: 80rem; }
.md-typeset table code { word-break: normal; overflow-wrap: normal; }
[data-md-color-scheme="slate"] { --md-typeset-a-color: #9fb0ff; }
"""

# A script for the search in a site that is opened from local files, where browsers neither fetch
# data nor start workers. TEMPLATE loads the search index as a script, and this script runs the
# worker in a frame.
SEARCH = """if (location.protocol === "file:")
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.body.appendChild(document.createElement("iframe"));
      frame.hidden = true;
      this.window = frame.contentWindow;
      this.window.postMessage = data =>
        this.dispatchEvent(new MessageEvent("message", { data }));
      const script = this.window.document.createElement("script");
      script.src = url;
      this.loaded = new Promise(resolve => { script.onload = resolve; });
      this.window.document.body.append(script);
    }
    postMessage(data) {
      this.loaded.then(() =>
        this.window.dispatchEvent(new MessageEvent("message", { data })));
    }
  };
var __search = { index: Promise.resolve(__index) };
"""
TEMPLATE = """{% extends "base.html" %}
{% block config %}{{ super() }}
<script src="{{ 'search/search_index.js' | url }}"></script>
<script src="{{ 'search/on_files.js' | url }}"></script>{% endblock %}
"""

EXCEPTIONS = {"std::invalid_argument": "ValueError", "std::out_of_range": "IndexError",
              "std::runtime_error": "RuntimeError"}

# Lines of text in each block's picture, which describe its input, its function and its
# output.
WAYS = {
    "gpu_viterbi_pbvd": (["soft values", "int8, float or 4 bits"],
                         ["parallel blocks", "of a batch", "decoded on a GPU or a CPU"],
                         ["bits", "viterbi_ber, viterbi_metric", "port status"]),
    "conv_encoder": (["bits", "8 or 1 per byte"], ["shift register", "puncturing"],
                     ["coded bits", "8 or 1 per byte"]),
    "gpu_ldpc_dvbs2": (["LLRs or symbols", "int8, float, complex", "tags name codes (ACM)"],
                       ["frames of a batch", "iterations until all checks are met"],
                       ["bits, BBFRAMEs or LLRs", "ldpc_valid, ldpc_iterations", "ports status, llr_pdu"]),
    "ldpc_encoder": (["message bits", "8 or 1 per byte"], ["parity"],
                     ["codewords", "8 or 1 per byte"]),
    "bbframe_to_ts": (["BBFRAMEs", "tags with lengths (ACM)"],
                      ["headers checked", "packets reassembled"],
                      ["packets of 188 bytes", "ts_begin, ts_error", "ports generic, status"]),
    "dvbs2_fec_receiver": (["symbols of XFECFRAMEs", "tags name MODCODs (ACM)"],
                           ["demapper, LDPC, BCH", "packets reassembled"],
                           ["packets of 188 bytes", "ts_begin, ts_error",
                            "ports generic, status"]),
    "dvbs_fec_receiver": (["QPSK symbols of DVB-S"],
                          ["phase and rate search, Viterbi", "deinterleaver, Reed-Solomon"],
                          ["packets of 188 bytes", "ts_begin, ts_error", "port status"]),
    "dvbs_deframer": (["bits of a Viterbi decoder", "8 per byte"],
                      ["search for frames", "deinterleaver, Reed-Solomon"],
                      ["packets of 188 bytes", "ts_begin, ts_error", "port status"]),
    "ccsds_fec_receiver": (["soft symbols", "BPSK, QPSK or OQPSK"],
                           ["Viterbi or LDPC", "search for markers, Reed-Solomon"],
                           ["transfer frames", "ccsds_frame, packet_len",
                            "ports pdus, status"]),
    "ccsds_deframer": (["packed bits", "or soft values"], ["search for markers", "Reed-Solomon"],
                       ["transfer frames", "ccsds_frame, packet_len", "ports pdus, status"]),
    "bch_decoder": (["BCH codewords", "8 or 1 per byte"],
                    ["remainder by the generator", "errors located if it is not 0"],
                    ["BBFRAMEs", "bch_errors, bch_valid"]),
    "bch_encoder": (["BBFRAMEs", "8 or 1 per byte"], ["parity"],
                    ["BCH codewords", "8 or 1 per byte"]),
    "rs_decoder": (["frames of interleaved codewords", "erasures"],
                   ["syndromes", "errors located if they are not 0"],
                   ["messages", "rs_corrected, rs_valid"]),
    "rs_encoder": (["messages"], ["parity symbols"], ["frames of interleaved codewords"]),
    "gpu_sync_map": (["received bits", "with insertions and deletions"],
                     ["drifts of a frame", "forward and backward recursion"],
                     ["symbols, posteriors or LLRs", "sync_drift, sync_valid", "port status"]),
    "sync_encoder": (["symbols", "0 to q - 1"], ["a word of the codebook", "for each symbol"],
                     ["bits", "a length tag per frame"]),
    "channel_bsid": (["bits"], ["insertions, deletions, flips"], ["more or fewer bits"]),
}


def headers():
    """Returns the declarations of the public headers, by name, as parsed by bindings/headers.py."""
    path = ROOT / "python" / "gpufec" / "bindings" / "headers.py"
    spec = importlib.util.spec_from_file_location("headers", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["headers"] = module
    spec.loader.exec_module(module)
    return module.read(sorted((ROOT / "include" / "gnuradio" / "gpufec").glob("*.h")))


def picture(block):
    """Returns an SVG picture of the data flow through a block."""
    columns = WAYS[block]
    width, gap = 230, 50
    height = 26 + 18 * max(map(len, columns))
    parts, fills = [], ("#eef4ff", "#fff4e0", "#eefaee")
    for i, (lines, fill) in enumerate(zip(columns, fills)):
        x = 10 + i * (width + gap)
        parts.append(f'<rect x="{x}" y="8" width="{width}" height="{height}" rx="6" '
                     f'fill="{fill}" stroke="#555"/>')
        for j, line in enumerate(lines):
            weight = ' font-weight="bold"' if j == 0 else ""
            parts.append(f'<text x="{x + width / 2}" y="{32 + 18 * j}" '
                         f'text-anchor="middle"{weight}>{line}</text>')
        if i < 2:
            y, end = 8 + height / 2, x + width + gap
            parts.append(f'<path d="M{x + width} {y} H{end - 8}" stroke="#555" '
                         f'stroke-width="2"/><path d="M{end} {y} l-10 -5 v10 z" fill="#555"/>')
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {3 * width + 2 * gap + 20} '
            f'{height + 16}" font-family="sans-serif" font-size="13">{"".join(parts)}</svg>')


def markdown(doc):
    """Converts a header's comment, with Doxygen commands, to Markdown."""
    doc = re.sub(r"\\(?:ref|c|p|a|e)\s+(\w+\([^()]*\)|\S+?)([.,;:)]*)(?=\s|$)", r"`\1`\2", doc)
    doc = re.sub(r"((?:\\b \S+\s+)*\\b \S+?)([.,;:)]*)(?=\s|$)",
                 lambda m: "**" + m[1].replace("\\b ", "") + "**" + m[2], doc)
    doc = re.sub(r"\\(?:brief|ingroup \w+|details) ?", "", doc)
    doc = re.sub(r"\\throws std::(\w+)",
                 lambda m: f"Raises `{EXCEPTIONS.get('std::' + m[1], m[1])}`", doc)
    # Markdown needs a blank line before a list.
    doc = re.sub(r"(?m)^((?! *- ).*\S.*)\n(?= *- )", r"\1\n\n", doc)
    doc = re.sub(r"(?m)^ +- ", "- ", doc)
    return doc.replace("<", "&lt;").strip()


def interface_page(declared):
    """Returns the path of Doxygen's page of a class in gr::gpufec."""
    return "api/classgr_1_1gpufec_1_1" + declared.name.replace("_", "__") + ".html"


def block_page(declared, interface):
    make = declared.members["make"]
    before = markdown(re.split(r"\\(?:par|param|throws|return)\b", make.doc)[0])
    rows = "\n".join(
        f"| `{p.name}` | {'' if p.default is None else f'`{p.python_default!r}`'} | "
        + " ".join(markdown(p.doc).split()).replace("|", "\\|") + " |"
        for p in make.parameters)
    methods = "\n".join(
        f"- `{m.name}({', '.join(p.name for p in m.parameters or [])})`: "
        + " ".join(markdown(m.doc).split())
        for m in declared.members.values()
        if m.parameters is not None and m.name != "make" and m.public)
    return (f"# {declared.name}\n\n![Data flow through the block](pictures/{declared.name}.svg)\n\n"
            f"{markdown(declared.doc)}\n\n## Parameters\n\n{before}\n\n"
            f"| parameter | default | |\n|---|---|---|\n{rows}\n\n## Methods\n\n{methods}\n\n"
            f"The [user guide](../docs/user-guide.md) lists the page that explains its use."
            + (f" The C++ class is [gr::gpufec::{declared.name}](../{interface_page(declared)})."
               if interface else "") + "\n")


FIGURE = re.compile(r"per_s(_|$)|_(ms|us|s)$|^(ber|fer|ser|median|most|least)$")
MOST_ROWS, MOST_COLUMNS = 40, 9


def scalar(value):
    """Returns a number or string unchanged, the median of a list of numbers, or None for other
    values."""
    if isinstance(value, list) and value and all(
            isinstance(v, (int, float)) and not isinstance(v, bool) for v in value):
        return statistics.median(value)
    return value if isinstance(value, (str, int, float)) else None


def written(key, value):
    """Formats a value for a table: floats from 1000 on without decimals, smaller floats with three
    significant digits. Rates get a prefix and a unit, unless the key has a prefix."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return html.escape(value).replace("|", "\\|").replace("\n", " ")
    unit = re.search(r"(?:^|_)((?:bits|bytes)_)?per_s(_|$)", key)
    scaled = re.match(r"(?i)([GTMk]_|mbit|.*_[GMk]b_per)", key)
    if unit and not scaled:
        unit = {"bits_": "b/s", "bytes_": "B/s"}.get(unit[1], "/s")
        for factor, prefix in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1, "")):
            if abs(value) >= factor:
                return f"{value / factor:.3g} {prefix}{unit}"
    return (f"{value:,}" if isinstance(value, int) else f"{value:,.0f}" if abs(value) >= 1000
            else f"{value:.3g}")


SAID = {"ebn0_db": "Eb/N0 [dB]", "esn0_db": "Es/N0 [dB]", "ber": "bit error rate",
        "fer": "frame error rate", "ser": "symbol error rate"}


def words(*keys):
    return ", ".join(SAID.get(key, key.replace("_", " ")) for key in keys if key)


def table_of_rows(rows):
    """Converts rows of results to a Markdown table. Its columns are the settings that differ
    between rows, and the figures. Returns None if there are no figures."""
    flat = []
    for row in rows:
        flat.append({k: scalar(v) for k, v in row.items() if scalar(v) is not None and
                     "median_" + k not in row})
        for outer, inner in row.items():
            if isinstance(inner, dict):
                flat[-1].update({f"{outer} {k}": scalar(v) for k, v in inner.items()
                                 if scalar(v) is not None and
                                 (FIGURE.search(k) or k.endswith("_db"))})
    keys = list(dict.fromkeys(k for row in flat for k in row))
    differ = [k for k in keys if len({str(row.get(k)) for row in flat}) > 1]
    figures = [k for k in keys if FIGURE.search(k.split(" ")[-1])]
    named = [k for k in differ if k not in figures and k not in ("command", "environment") and
             max(len(str(row.get(k, ""))) for row in flat) < 60]
    named.sort(key=lambda k: not k.endswith("_db")) # Columns in dB come first.
    columns = named[:max(MOST_COLUMNS - len(figures), 3)] + figures
    if not figures:
        return None
    columns = columns[:MOST_COLUMNS]
    text = ["| " + " | ".join(map(words, columns)) + " |", "|" + "---|" * len(columns)]
    text += ["| " + " | ".join(written(k.split(" ")[-1], row[k]) if k in row else ""
                               for k in columns) + " |" for row in flat[:MOST_ROWS]]
    if len(flat) > MOST_ROWS:
        text += ["", f"{len(flat) - MOST_ROWS} more rows are in the file."]
    return text


GROUPS = {"viterbi": "Viterbi", "ldpc": "LDPC and DVB-S2", "sync": "Synchronisation",
          "reed_solomon": "Reed-Solomon",
          "flowgraphs": "Flowgraphs and arrays", "platforms": "Platforms"}
MOST_TABLES = 4


def tables(run):
    """Returns (name, table) for each table of a run that has figures."""
    rows = {}
    for row in run["rows"]:
        rows.setdefault(row.get("table", ""), []).append(row)
    found = ((name, table_of_rows(each)) for name, each in rows.items())
    return [(name, lines) for name, lines in found if lines]


def measured_page(folder):
    """Returns a page with the command, the machine, the date and the figures of each run in
    bench/results."""
    text = ["# Measured", "", "This page lists all runs in `bench/results`, with commands, dates, "
            "machines, commits and figures. Figures measured several times are medians. "
            "[Performance](docs/performance.md) and [tuning](docs/tuning.md) explain them.", ""]
    for group, title in GROUPS.items():
        text += [f"## {title}", ""]
        for path in sorted((folder / group).glob("*.json")):
            text += [f"### {path.stem}", "",
                     f"[{path.name}](bench/results/{group}/{path.name})", ""]
            for run in json.loads(path.read_text(encoding="utf-8"))["runs"]:
                device = run["device"]
                place = ", ".join([run["date"][:10], run["commit"]] + [
                    device[key] for key in ("processor", "description") if key in device] +
                    device.get("gpus", []))
                text += ([f"**{html.escape(run['name'])}**", ""] if "name" in run else []) + [
                    f"`{run['command'] or run['benchmark']}`<br>", html.escape(place), ""]
                for name, lines in tables(run)[:MOST_TABLES]:
                    text += ([words(name) + ":", ""] if name else []) + lines + [""]
    return "\n".join(text)


def assemble(source, interface):
    """Makes the folder `source` that MkDocs reads. Returns the navigation for its settings.
    `interface` is the folder of Doxygen's HTML, or None."""
    shutil.rmtree(source, ignore_errors=True)
    (source / "docs").mkdir(parents=True)
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, source / name)
        else:
            shutil.copy(ROOT / name, source / name)
    for name in FILES:
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, source / name)
    (source / "style.css").write_text(STYLE)
    (source / "blocks" / "pictures").mkdir(parents=True)
    made = {"Measured": "measured.md", "Blocks": [],
            "Decisions": [name for name in FILES if name.startswith("docs/decisions/")]}
    for declared in headers().values():
        if declared.is_block and declared.name in WAYS:
            (source / "blocks" / f"{declared.name}.md").write_text(block_page(declared, interface))
            (source / "blocks" / "pictures" / f"{declared.name}.svg").write_text(
                picture(declared.name))
            made["Blocks"].append({declared.name: f"blocks/{declared.name}.md"})
    (source / "measured.md").write_text(measured_page(ROOT / "bench" / "results"))
    navigation = {kind: [{title: name or made[title]} for title, name in pages]
                  for kind, pages in PAGES.items()}
    if interface:
        shutil.copytree(interface, source / "api")
        (source / "interface.md").write_text(
            "# C++ interface\n\nDoxygen's pages of the public headers: "
            "[the interface](api/index.html).\n\n" + "".join(
                f"- [{d.name}]({interface_page(d)})\n" for d in headers().values()
                if d.is_block))
        navigation["Reference"].append({"C++ interface": "interface.md"})
    # Copies the files to which pages link, unless they are in the folder already.
    for page in [source / name for name in FILES]:
        for target in re.findall(r"\]\(([^)\s#]+)", page.read_text(encoding="utf-8")):
            wanted = (page.parent / target).resolve()
            if re.match(r"[a-z]+:", target) or wanted.exists() or source not in wanted.parents:
                continue
            origin = ROOT / wanted.relative_to(source)
            if origin.is_dir():
                shutil.copytree(origin, wanted, ignore=shutil.ignore_patterns("*.cc", "*.cu"))
            elif origin.exists():
                wanted.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(origin, wanted)
    return [{kind: pages} for kind, pages in navigation.items()]


class links(html.parser.HTMLParser):
    """A parser that collects the links of an HTML page in `targets`, and its anchors in
    `places`."""

    def __init__(self, page):
        super().__init__()
        self.targets, self.places = [], {""}
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.places |= {found[key] for key in ("id", "name") if found.get(key)}
        # Scripts and styles are not checked, because they come from the theme.
        wanted = {"a": "href", "img": "src"}.get(tag)
        if found.get(wanted):
            self.targets.append(found[wanted])


def dead_links(folder):
    """Yields (page, target) for each link within the site whose target does not exist. Doxygen's
    pages are not searched for links."""
    pages = {page: links(page) for page in folder.rglob("*.html")
             if folder / "api" not in page.parents}
    for page, found in pages.items():
        for target in found.targets:
            parts = urllib.parse.urlsplit(target)
            if parts.scheme or parts.netloc or page.name == "404.html":
                continue
            path = urllib.parse.unquote(parts.path)
            wanted = (page.parent / path).resolve() if path else page
            if wanted.is_dir() and (wanted / "index.html").exists():
                wanted = wanted / "index.html"
            place = urllib.parse.unquote(parts.fragment)
            if not wanted.exists() or (wanted in pages and
                                       place not in pages[wanted].places):
                yield page.relative_to(folder), target


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(re.sub(r"(?s).*Usage", "Usage", __doc__).strip())
    folder = pathlib.Path(sys.argv[1]).resolve()
    source, site = folder / "source", folder / "html"
    navigation = assemble(source, sys.argv[2] if len(sys.argv) == 3 else None)
    (folder / "theme").mkdir(exist_ok=True)
    (folder / "theme" / "main.html").write_text(TEMPLATE)
    settings = folder / "mkdocs.yml"
    settings.write_text(json.dumps({ # YAML includes JSON
        "site_name": "gr-gpufec", "docs_dir": str(source), "site_dir": str(site),
        "theme": {"name": "material", "custom_dir": str(folder / "theme"), "font": False,
                  "features": ["navigation.tabs", "navigation.sections", "navigation.top"],
                  "palette": [
                      {"media": "(prefers-color-scheme: light)", "scheme": "default",
                       "toggle": {"icon": "material/weather-night", "name": "Dark"}},
                      {"media": "(prefers-color-scheme: dark)", "scheme": "slate",
                       "toggle": {"icon": "material/weather-sunny", "name": "Light"}}]},
        "nav": navigation, "use_directory_urls": False, "plugins": ["search"],
        "extra_css": ["style.css"],
        "extra": {"generator": False}, "markdown_extensions": [
            "tables", "fenced_code", "toc",
            {"codehilite": {"guess_lang": False, "css_class": "highlight"}}]}))
    try:
        done = subprocess.run([sys.executable, "-m", "mkdocs", "build", "--quiet", "--clean",
                               "-f", str(settings)])
    except OSError as error:
        sys.exit(f"make_site: {error}")
    if done.returncode:
        sys.exit("make_site: MkDocs failed. It needs the theme Material, which is in the package "
                 "mkdocs-material of Debian, Ubuntu and PyPI")
    index = (site / "search" / "search_index.json").read_text(encoding="utf-8")
    (site / "search" / "search_index.js").write_text(f"var __index = {index};", encoding="utf-8")
    (site / "search" / "on_files.js").write_text(SEARCH)
    dead = list(dead_links(site))
    for page, target in dead:
        print(f"make_site: {page} links to {target}, which does not exist", file=sys.stderr)
    print(f"make_site: {site / 'index.html'}")
    return 1 if dead else 0


if __name__ == "__main__":
    sys.exit(main())
