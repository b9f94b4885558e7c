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

import html.parser
import importlib.util
import json
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGES = [("Home", "README.md"), ("Quick start", "docs/quick-start.md"),
         ("User guide", "docs/user-guide.md"), ("Blocks", None),
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

# The theme leaves tables as HTML has them.
STYLE = """.rst-content table { margin-bottom: 24px; border-collapse: collapse; }
.rst-content table th, .rst-content table td { padding: 6px 10px; border: 1px solid #e1e4e5;
  text-align: left; vertical-align: top; }
.rst-content table code { white-space: nowrap; }
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
    doc = re.sub(r"\\(?:ref|c|p|a|e)\s+(\S+?)([.,;:)]*)(?=\s|$)", r"`\1`\2", doc)
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


def leaves(value, path=""):
    """The numbers of a result that are rates or times, with their place."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for i, item in enumerate(value[:40]):
            yield from leaves(item, f"{path}[{i}]")
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        if re.search(r"median|per_s|_ms$|(^|\.)(ber|fer|ser)$", path):
            yield path, value


def measured_page(folder):
    """Each file of results: what ran, where, when, and its main figures."""
    text = ["# Measured", "", "One section per file of `bench/results`, made from the files.", ""]
    for path in sorted(folder.glob("*.json")):
        result = json.loads(path.read_text())
        environment = result.get("environment") or result.get("machine") or {}
        if isinstance(environment, dict):
            gpus = [g.get("name", "") if isinstance(g, dict) else str(g)
                    for g in environment.get("gpus") or []]
            environment = ", ".join([str(environment[k]) for k in
                                     ("date", "processor", "commit") if environment.get(k)] +
                                    gpus)
        title = result.get("command") or result.get("what") or result.get("benchmark") or ""
        text += [f"## {path.stem}", "", f"[{path.name}](bench/results/{path.name}) "
                 f"{'`' + str(title) + '`' if title else ''}", "", str(environment), ""]
        figures = list(leaves(result))[:12]
        if figures:
            text += ["| | |", "|---|---|"]
            text += [f"| `{where}` | {value:.4g} |" for where, value in figures] + [""]
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
        "markdown_extensions": ["tables", "fenced_code", "toc"]}))
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
