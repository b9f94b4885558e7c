#!/usr/bin/env python3
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the documentation site with MkDocs.

The pages are those of docs/, with the README as the first. Made here are a page per block,
from the public headers, with a picture of the data's way, and a page that lists what was
measured, from bench/results. Links to files of the repository lead to copies beside them.

Usage: make_site.py FOLDER [DOXYGEN]   FOLDER/html/index.html is the site; DOXYGEN is the
folder with the HTML of the C++ interface, if it was made
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
PAGES = [("Home", "README.md"), ("Quick start", "docs/quick-start.md"),
         ("Examples", "docs/examples.md"), ("User guide", "docs/user-guide.md"), ("Blocks", None),
         ("Converting", "docs/converting.md"), ("Tuning", "docs/tuning.md"),
         ("Arrays", "docs/arrays.md"), ("Packages", "packaging/README.md"),
         ("Reliability", "docs/reliability.md"),
         ("How it works", "docs/design.md"), ("Performance", "docs/performance.md"),
         ("Measured", None), ("GPU notes", "docs/gpu-notes.md"), ("Limits", "docs/limits.md"),
         ("Contributing", "CONTRIBUTING.md"), ("Changelog", "CHANGELOG.md")]
COPIED = ["docs/pictures", "bench/results", "examples", "CITATION.cff", "LICENSE",
          "MANIFEST.md", "docs/README.md"]

EXCEPTIONS = {"std::invalid_argument": "ValueError", "std::out_of_range": "IndexError",
              "std::runtime_error": "RuntimeError"}

# The theme leaves tables as HTML has them. Those that are wider than the page scroll.
STYLE = """.wy-nav-content { max-width: 1100px; }
.wy-nav-content-wrap { background: #fcfcfc; }
.rst-content table { display: block; overflow-x: auto; max-width: 100%; width: fit-content;
  margin-bottom: 24px; border-collapse: collapse; }
.rst-content table th, .rst-content table td { padding: 6px 10px; border: 1px solid #e1e4e5;
  text-align: left; vertical-align: top; }
.rst-content table code { white-space: nowrap; }
.rst-content pre { padding: 12px; overflow-x: auto; line-height: 1.4; border: 1px solid #e1e4e5;
  background: #f8f8f8; }
.rst-content pre code { border: none; padding: 0; }
.rst-content h3 { margin-top: 24px; }
"""

# What comes in, what the block does with it, and what goes out.
WAYS = {
    "gpu_viterbi_pbvd": (["soft values", "int8, float or 4 bits"],
                         ["parallel blocks", "of a batch", "decoded on a GPU or a CPU"],
                         ["bits", "viterbi_ber, viterbi_metric", "port status"]),
    "conv_encoder": (["bits", "8 or 1 per byte"], ["shift register", "puncturing"],
                     ["coded bits", "8 or 1 per byte"]),
    "gpu_ldpc_dvbs2": (["LLRs or symbols", "int8, float, complex", "tags name codes (ACM)"],
                       ["frames of a batch", "iterations until all checks hold"],
                       ["bits, BBFRAMEs or LLRs", "ldpc_valid, ldpc_iterations", "ports status, llr_pdu"]),
    "ldpc_encoder": (["message bits", "8 or 1 per byte"], ["parity"],
                     ["codewords", "8 or 1 per byte"]),
    "bbframe_to_ts": (["BBFRAMEs", "tags give lengths (ACM)"],
                      ["headers checked", "packets put together"],
                      ["packets of 188 bytes", "ts_begin, ts_error", "ports generic, status"]),
    "dvbs2_fec_receiver": (["symbols of XFECFRAMEs", "tags name MODCODs (ACM)"],
                           ["demapped, LDPC, BCH", "packets put together"],
                           ["packets of 188 bytes", "ts_begin, ts_error",
                            "ports generic, status"]),
    "bch_decoder": (["messages of LDPC codes", "8 or 1 per byte"],
                    ["remainder by the generator", "errors located if it is not 0"],
                    ["BBFRAMEs", "bch_errors, bch_valid"]),
    "bch_encoder": (["BBFRAMEs", "8 or 1 per byte"], ["parity"],
                    ["messages of LDPC codes", "8 or 1 per byte"]),
    "gpu_sync_map": (["received bits", "some missing, some too many"],
                     ["drifts of a frame", "forward and backward"],
                     ["symbols, posteriors or LLRs", "sync_drift, sync_valid", "port status"]),
    "sync_encoder": (["symbols", "0 to q - 1"], ["a word of the codebook", "for each symbol"],
                     ["bits", "a length tag per frame"]),
    "channel_bsid": (["bits"], ["inserts, drops and flips"], ["bits, another number of them"]),
}


def headers():
    """What the public headers declare, by name."""
    path = ROOT / "python" / "gpufec" / "bindings" / "headers.py"
    spec = importlib.util.spec_from_file_location("headers", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["headers"] = module
    spec.loader.exec_module(module)
    return module.read(sorted((ROOT / "include" / "gnuradio" / "gpufec").glob("*.h")))


def picture(block):
    """The data's way through a block, as SVG."""
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
    """A comment of a header as Markdown: its marks become code and paragraphs."""
    doc = re.sub(r"\\(?:ref|c|p|a|e)\s+(\w+\([^()]*\)|\S+?)([.,;:)]*)(?=\s|$)", r"`\1`\2", doc)
    doc = re.sub(r"((?:\\b \S+\s+)*\\b \S+?)([.,;:)]*)(?=\s|$)",
                 lambda m: "**" + m[1].replace("\\b ", "") + "**" + m[2], doc)
    doc = re.sub(r"\\(?:brief|ingroup \w+|details) ?", "", doc)
    doc = re.sub(r"\\throws std::(\w+)",
                 lambda m: f"Raises `{EXCEPTIONS.get('std::' + m[1], m[1])}`", doc)
    doc = re.sub(r"(?m)^((?! *- ).*\S.*)\n(?= *- )", r"\1\n\n", doc) # lists stand apart
    doc = re.sub(r"(?m)^ +- ", "- ", doc)
    return doc.replace("<", "&lt;").strip()


def interface_page(declared):
    """Where Doxygen puts a class of the namespace gr::gpufec."""
    return "api/classgr_1_1gpufec_1_1" + declared.name.replace("_", "__") + ".html"


def block_page(declared, interface):
    make = declared.members["make"]
    doc = make.doc
    said = dict(re.findall(r"(?s)\\param(?:\[\w+\])? (\w+)\s+(.*?)(?=\\param|\\throws|\\return|"
                           r"\n\s*\n|\Z)", doc))
    before = markdown(re.split(r"\\(?:param|throws|return)", doc)[0])
    rows = "\n".join(
        f"| `{p.name}` | {'' if p.default is None else f'`{p.python_default!r}`'} | "
        + " ".join(markdown(said.get(p.name, "")).split()).replace("|", "\\|") + " |"
        for p in make.parameters)
    methods = "\n".join(
        f"- `{m.name}({', '.join(p.name for p in m.parameters or [])})`: "
        + " ".join(markdown(m.doc).split())
        for m in declared.members.values()
        if m.parameters is not None and m.name != "make" and m.public)
    return (f"# {declared.name}\n\n![The data's way](pictures/{declared.name}.svg)\n\n"
            f"{markdown(declared.doc)}\n\n## Parameters\n\n{before}\n\n"
            f"| parameter | default | |\n|---|---|---|\n{rows}\n\n## While it runs\n\n{methods}\n\n"
            f"The [user guide](../docs/user-guide.md) says how it is used."
            + (f" In C++ it is [gr::gpufec::{declared.name}](../{interface_page(declared)})."
               if interface else "") + "\n")


FIGURE = re.compile(r"per_s(_|$)|_(ms|us|s)$|^(ber|fer|ser|median|most|least)$")
MOST_ROWS, MOST_COLUMNS = 40, 9


def scalar(value):
    """A number or a word; of several numbers the median."""
    if isinstance(value, list) and value and all(
            isinstance(v, (int, float)) and not isinstance(v, bool) for v in value):
        return statistics.median(value)
    return value if isinstance(value, (str, int, float)) else None


def written(key, value):
    """A figure as it is read: with three digits, and its unit where the key names one."""
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
    """Rows of results: what tells them apart, and their figures. None, where there are none."""
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
    named.sort(key=lambda k: not k.endswith("_db")) # what was set comes first
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


def tables(value, path=()):
    """Tables of a result, each with its place in it."""
    if isinstance(value, list):
        if len(value) > 1 and all(isinstance(v, dict) for v in value):
            found = table_of_rows(value)
            if found:
                yield path, found
                return
        for item in value[:MOST_ROWS]:
            if isinstance(item, (dict, list)):
                # What tells it from its neighbours.
                told = [f"{words(k)} {v}" for k, v in item.items() if isinstance(v, (str, int)) and
                        any(other.get(k) != v for other in value if isinstance(other, dict))
                        and len(str(v)) < 40][:1] if isinstance(item, dict) else []
                yield from tables(item, path + tuple(told))
    elif isinstance(value, dict):
        alone = [(k, scalar(v)) for k, v in value.items()
                 if FIGURE.search(k) and scalar(v) is not None]
        if alone:
            yield path, ["| | |", "|---|---|"] + [
                f"| {words(k)} | {written(k, v)} |" for k, v in alone]
        rows = [dict(name=k, **v) for k, v in value.items()
                if isinstance(v, dict) and "name" not in v and k not in ("environment", "machine")]
        found = table_of_rows(rows) if len(rows) > 1 else None
        if found:
            yield path, found
        for key, item in value.items():
            if isinstance(item, list) or (isinstance(item, dict) and not found and
                                          key not in ("environment", "machine", "options")):
                yield from tables(item, path + (key,))


GROUPS = {"viterbi": "Viterbi", "ldpc": "LDPC", "dvbs2": "DVB-S2", "dvbs2rx": "DVB-S2",
          "bch": "DVB-S2", "bbframe": "DVB-S2", "sync": "Synchronisation"}


def measured_page(folder):
    """Each file of results: what ran, where, when, and its figures."""
    groups = {title: [] for title in (*GROUPS.values(), "Several decoders")}
    for path in sorted(folder.glob("*.json")):
        parts = re.split("[-_]", path.stem)
        decoder = next((GROUPS[p] for p in parts[:2] if p in GROUPS), "Several decoders")
        groups[decoder].append(path)
    text = ["# Measured", "", "All that is in `bench/results`, made from its files: what ran, when, on "
            "what machine and of which commit. Figures measured several times are medians. "
            "[Performance](docs/performance.md) and [tuning](docs/tuning.md) say what they mean.", ""]
    for title, paths in groups.items():
        text += [f"## {title}", ""]
        for path in paths:
            result = json.loads(path.read_text())
            place = result.get("environment") or result.get("machine") or {}
            if isinstance(place, dict):
                gpus = [g.get("name", "") if isinstance(g, dict) else str(g)
                        for g in place.get("gpus") or []]
                place = ", ".join([str(place[k])[:10 if k == "date" else None] for k in
                                   ("date", "processor", "commit") if place.get(k)] + gpus)
            ran = result.get("command") or result.get("what") or result.get("benchmark") or ""
            ran = " ".join(map(str, ran)) if isinstance(ran, list) else str(ran)
            text += [f"### {path.stem}", "", "".join(
                f"{line}<br>\n" for line in (f"`{ran}`" if ran else "", html.escape(str(place)))
                if line) + f"[{path.name}](bench/results/{path.name})", ""]
            for where, rows in list(tables(result))[:4]:
                text += ([words(*where) + ":", ""] if where else []) + rows + [""]
    return "\n".join(text)


def assemble(source, interface):
    """The folder that MkDocs reads; the entries of its navigation."""
    shutil.rmtree(source, ignore_errors=True)
    (source / "docs").mkdir(parents=True)
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, source / name)
        else:
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, source / name)
    (source / "blocks" / "pictures").mkdir(parents=True)
    (source / "style.css").write_text(STYLE)
    blocks = []
    for declared in headers().values():
        if declared.is_block and declared.name in WAYS:
            (source / "blocks" / f"{declared.name}.md").write_text(block_page(declared, interface))
            (source / "blocks" / "pictures" / f"{declared.name}.svg").write_text(
                picture(declared.name))
            blocks.append({declared.name: f"blocks/{declared.name}.md"})
    (source / "measured.md").write_text(measured_page(ROOT / "bench" / "results"))
    navigation = []
    for title, name in PAGES:
        if name:
            (source / name).parent.mkdir(exist_ok=True)
            shutil.copy(ROOT / name, source / name)
        navigation.append({title: name or {"Blocks": blocks, "Measured": "measured.md"}[title]})
    if interface:
        shutil.copytree(interface, source / "api")
        (source / "interface.md").write_text(
            "# C++ interface\n\nWhat the public headers declare, made by Doxygen: "
            "[the interface](api/index.html).\n\n" + "".join(
                f"- [{d.name}]({interface_page(d)})\n" for d in headers().values()
                if d.is_block))
        navigation.append({"C++ interface": "interface.md"})
    # What a page links to beyond these is copied too.
    for page in [source / name for _, name in PAGES if name] + [source / "docs" / "README.md"]:
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
    return navigation


def colours(source):
    """The extension of Markdown that colours code, where Pygments is installed."""
    try:
        from pygments.formatters import HtmlFormatter
    except ImportError:
        return []
    with open(source / "style.css", "a") as file:
        file.write(HtmlFormatter(style="friendly").get_style_defs(".codehilite") +
                   "\n.rst-content .codehilite { background: none; }\n")
    return [{"codehilite": {"guess_lang": False}}]


class links(html.parser.HTMLParser):
    """What a page of HTML links to, and the places in it that can be linked to."""

    def __init__(self, page):
        super().__init__()
        self.targets, self.places = [], {""}
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.places |= {found[key] for key in ("id", "name") if found.get(key)}
        # Scripts and styles are the theme's.
        wanted = {"a": "href", "img": "src"}.get(tag)
        if found.get(wanted):
            self.targets.append(found[wanted])


def dead_links(folder):
    """Links within the site that lead nowhere: pairs of a page and a target."""
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
    settings = folder / "mkdocs.yml"
    settings.write_text(json.dumps({ # which is YAML as well
        "site_name": "gr-gpufec", "docs_dir": str(source), "site_dir": str(site),
        "theme": {"name": "readthedocs", "highlightjs": False}, "nav": navigation,
        "use_directory_urls": False, "extra_css": ["style.css"], "plugins": ["search"],
        "markdown_extensions": ["tables", "fenced_code", "toc"] + colours(source)}))
    try:
        done = subprocess.run([sys.executable, "-m", "mkdocs", "build", "--quiet", "--clean",
                               "-f", str(settings)])
    except OSError as error:
        sys.exit(f"make_site: {error}")
    if done.returncode:
        sys.exit("make_site: MkDocs failed. It is in Debian's package mkdocs, or on PyPI: "
                 "pip install mkdocs")
    dead = list(dead_links(site))
    for page, target in dead:
        print(f"make_site: {page} links to {target}, which is not there", file=sys.stderr)
    print(f"make_site: {site / 'index.html'}")
    return 1 if dead else 0


if __name__ == "__main__":
    sys.exit(main())
