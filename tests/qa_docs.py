#!/usr/bin/env python3
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pages for people: links that lead somewhere, an index that is complete, credits."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md",
                                  "MANIFEST.md")] + sorted(DOCS.glob("*.md"))
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
    """What a page links to within the repository: each a path and an anchor."""
    for target in re.findall(r"\]\(([^)\s]+)\)", text_of(page)):
        if not re.match(r"[a-z]+:", target):
            path, _, anchor = target.partition("#")
            yield (page.parent / path).resolve() if path else page, anchor


def anchors(page):
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"(?m)^#+ (.*)$", text_of(page))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
            for heading in headings}


class qa_docs(unittest.TestCase):
    def test_links_lead_somewhere(self):
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

    def test_the_index_is_complete(self):
        linked = {path for path, _ in links(DOCS / "README.md")}
        for page in set(DOCS.glob("*.md")) - {DOCS / "README.md"}:
            self.assertIn(page, linked)
        self.assertIn(DOCS / "README.md", {path for path, _ in links(ROOT / "README.md")})

    def test_examples_and_pictures_are_shown(self):
        """Each example is named by the page of examples, those with windows with a picture, and
        no picture lies about that no page shows."""
        page = text_of(DOCS / "examples.md")
        for example in (ROOT / "examples").iterdir():
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

    def test_figures_come_from_results(self):
        """A file of figures that a page names is there."""
        for page in PAGES:
            for name in re.findall(r"`([\w*-]+\.json)`", text_of(page)):
                if name != "result.json": # of an example of use
                    with self.subTest(page=page.name, file=name):
                        self.assertTrue(any((ROOT / "bench" / "results").glob(name)))

    def test_sources_are_credited(self):
        for page in (ROOT / "README.md", ROOT / "MANIFEST.md"):
            text = " ".join(text_of(page).split())
            for name in AUTHORS + TITLES:
                with self.subTest(page=page.name, name=name):
                    self.assertIn(name, text)


if __name__ == "__main__":
    unittest.main()
