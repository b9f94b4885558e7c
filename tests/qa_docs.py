#!/usr/bin/env python3
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests the pages of the documentation: links, index, pictures, tables, files of results, answers
to questions of newcomers, line lengths, decision records and credits."""

import json
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md",
                                  "LICENSE-EXCEPTION.md", "MANIFEST.md", "SECURITY.md",
                                  "packaging/README.md")] + sorted(DOCS.rglob("*.md"))
AUTHORS = ("Peng", "Liu", "Hou", "Zhao", "Feltrin", "Falcao", "Briffa")
TITLES = ("Parallel Block-based Viterbi Decoder for Convolutional Codes on GPU",
          "Progetto e implementazione di un decodificatore LDPC su architettura GPU",
          "Parallel Algorithms and Architectures for LDPC Decoding",
          "A GPU Implementation of a MAP Decoder for Synchronization Error Correcting Codes",
          "Graphics processing unit implementation and optimisation of a flexible maximum "
          "a-posteriori decoder for synchronisation correction")


def text_of(page):
    return page.read_text(encoding="utf-8")


def links(page):
    """Yields (path, anchor) for each link on the page that leads to a file of the repository."""
    for target in re.findall(r"\]\(([^)\s]+)\)", text_of(page)):
        if not re.match(r"[a-z]+:", target):
            path, _, anchor = target.partition("#")
            yield (page.parent / path).resolve() if path else page, anchor


def sections(page):
    """Returns the text under each heading of a page, by GitHub's anchor of the heading."""
    parts = re.split(r"(?m)^#+ (.*)$", text_of(page))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-"): text
            for heading, text in zip(parts[1::2], parts[2::2])}


def anchors(page):
    return set(sections(page))


class qa_docs(unittest.TestCase):
    def test_Links_HaveATarget(self):
        found = 0
        for page in PAGES:
            for path, anchor in links(page):
                with self.subTest(page=page.name, link=f"{path.name}#{anchor}"):
                    found += 1
                    self.assertTrue(path.exists())
                    self.assertTrue(ROOT in path.parents)
                    if anchor:
                        self.assertIn(anchor, anchors(path))
        self.assertGreater(found, 20)

    def test_Index_ListsEveryPage(self):
        linked = {path for path, _ in links(DOCS / "README.md")}
        for page in set(DOCS.rglob("*.md")) - {DOCS / "README.md"}:
            self.assertIn(page, linked)
        self.assertIn(DOCS / "README.md", {path for path, _ in links(ROOT / "README.md")})

    def test_Examples_AreListedWithPictures(self):
        """docs/examples.md names each example, and shows a picture of each example with a window,
        except dvbs2rx_receiver. Each picture is shown on some page."""
        page = text_of(DOCS / "examples.md")
        for example in (ROOT / "examples").rglob("*"):
            if example.suffix in (".grc", ".py", ".ipynb"):
                with self.subTest(example=example.name):
                    self.assertIn(example.name, page)
                    windows = re.search(r"generate_options: qt_gui", text_of(example))
                    if windows and example.stem != "dvbs2rx_receiver":
                        self.assertIn(f"(pictures/{example.stem}_window.png)", page)
        shown = {path for page in PAGES for path, _ in links(page)} | {
            (ROOT / name).resolve() for name in
            re.findall(r'<img src="([^"]+)"', text_of(ROOT / "README.md"))}
        for picture in (DOCS / "pictures").iterdir():
            self.assertIn(picture, shown)

    def test_IdentifiersOfBlocks_EqualGnuRadioCompanion(self):
        """The table has category, label and identifiers of each block, in the order of GNU Radio
        Companion's block tree."""
        rows, place = [], ""
        page = sections(DOCS / "how-to" / "companion.md")["identifiers"]
        for cells in re.findall(r"(?m)^\| (.*?) ?\| (.*) \| `(\w+)` \| `(\w+)` \|$", page):
            place = cells[0] or place
            rows.append((place, *cells[1:3]))
            self.assertEqual(cells[3], re.sub("^variable_gpufec_(.*)_def$", r"fec_\1",
                                              cells[2]).replace("gpufec_", "", 1))
        tree = re.findall(r"(?m)^  - (\w+)$", text_of(ROOT / "grc" / "gpufec.tree.yml"))
        found = []
        for name in tree:
            text = text_of(next((ROOT / "grc").rglob(f"{name}.block.yml")))
            field = lambda key: re.search(rf"(?m)^{key}: (.*)$", text)[1].strip("'")
            found.append((field("category").split("/", 1)[1], field("label"), field("id")))
        self.assertEqual(rows, found)
        self.assertEqual({f"{name}.block.yml" for name in tree},
                         {path.name for path in (ROOT / "grc").rglob("*.block.yml")})

    def test_FilesOfResults_Exist(self):
        """Every file of results that a page names exists."""
        for page in PAGES:
            for name in re.findall(r"`([\w*-]+\.json)`", text_of(page)):
                if name != "result.json": # the output file of an example
                    with self.subTest(page=page.name, file=name):
                        self.assertTrue(any((ROOT / "bench" / "results").rglob(name)))

    def test_QuestionsOfNewcomers_AreAnsweredWithinTwoClicks(self):
        """Each question in newcomer_questions.json is answered on a page that the README reaches by
        at most two links."""
        clicks, reached = {ROOT / "README.md": 0}, [ROOT / "README.md"]
        for page in reached: # The loop appends to `reached`.
            for path, _ in links(page):
                if path.suffix == ".md" and path not in clicks:
                    clicks[path] = clicks[page] + 1
                    reached.append(path)
        questions = json.loads(text_of(ROOT / "tests" / "newcomer_questions.json"))
        self.assertGreaterEqual(len(questions), 12)
        for asked in questions:
            with self.subTest(asked["question"]):
                page = ROOT / asked["page"]
                self.assertLessEqual(clicks.get(page, 99), 2)
                section = sections(page)[asked["anchor"]]
                self.assertIn(asked["phrase"], " ".join(section.split()))

    def test_RunsOfResults_Exist(self):
        """If a page names a run of a file of results, as `run` in `file`, the file has this run."""
        seen = 0
        for page in PAGES:
            for name, file in re.findall(r"`([\w-]+)`\s+in\s+`([\w-]+\.json)`", text_of(page)):
                with self.subTest(page=page.name, run=name):
                    path, = (ROOT / "bench" / "results").rglob(file)
                    self.assertIn(name, [run.get("name", "").split(",")[0] for run in
                                         json.loads(text_of(path))["runs"]])
                seen += 1
        self.assertGreater(seen, 40)

    def test_Pages_WrapAt100Columns(self):
        """Lines of pages have at most 100 characters, except tables, links, pictures, HTML and the
        changelog."""
        for page in set(PAGES) - {ROOT / "CHANGELOG.md"}:
            for line in text_of(page).splitlines():
                if not line.lstrip().startswith(("|", "[", "![", "http", "<img")):
                    with self.subTest(page=page.name, line=line[:40]):
                        self.assertLessEqual(len(line), 100)

    def test_TablesOfHeaders_KeepTheirRows(self):
        """Tables in header comments have one row per line, as Doxygen requires. A formatter may
        have joined rows."""
        tables = 0
        for header in sorted((ROOT / "include").rglob("*.h")):
            columns = 0  # columns of the table in the previous line; 0: no table
            for number, line in enumerate(header.read_text().splitlines(), 1):
                text = line.strip().lstrip("/*!").strip()
                if text.startswith("|"):
                    self.assertTrue(text.endswith("|") and "| |" not in text,
                                    f"{header.name}:{number}: {line}")
                    self.assertIn(columns, (0, text.count("|")), f"{header.name}:{number}: {line}")
                    tables += columns == 0
                    columns = text.count("|")
                else:
                    columns = 0
        self.assertGreaterEqual(tables, 2)

    def test_Decisions_AreDatedRecordsOfOnePage(self):
        for page in (DOCS / "decisions").glob("*.md"):
            with self.subTest(page=page.name):
                lines = text_of(page).splitlines()
                self.assertTrue(lines[0].startswith("# "))
                self.assertEqual(lines[2], page.name[:10])
                self.assertLessEqual(len(lines), 60)
                self.assertIn("**Question.**", text_of(page))
                self.assertTrue(re.search("(?i)choice", text_of(page)))

    def test_Sources_AreCredited(self):
        for page in (ROOT / "README.md", ROOT / "MANIFEST.md"):
            text = " ".join(text_of(page).split())
            for name in AUTHORS + TITLES:
                with self.subTest(page=page.name, name=name):
                    self.assertIn(name, text)


if __name__ == "__main__":
    unittest.main()
