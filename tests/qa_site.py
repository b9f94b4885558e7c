#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""The documentation site: made, complete, without dead links, with the figures of today."""

import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "docs"))
sys.dont_write_bytecode = True
import make_site # noqa: E402


class qa_tables(unittest.TestCase):
    def test_tables_are_those_of_the_results(self):
        done = subprocess.run([sys.executable, str(ROOT / "docs" / "make_tables.py"),
                               "--check"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


@unittest.skipUnless(importlib.util.find_spec("mkdocs"), "MkDocs is not installed")
class qa_site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.site = pathlib.Path(folder.name).resolve() / "html"
        cls.done = subprocess.run(
            [sys.executable, str(ROOT / "docs" / "make_site.py"), folder.name],
            capture_output=True, text=True)

    def test_no_dead_links(self):
        self.assertEqual(self.done.returncode, 0, self.done.stdout + self.done.stderr)

    def test_a_page_per_block(self):
        blocks = [d.name for d in make_site.headers().values() if d.is_block]
        self.assertEqual(set(blocks), set(make_site.WAYS))
        for declared in make_site.headers().values():
            if declared.is_block:
                page = (self.site / "blocks" / f"{declared.name}.html").read_text()
                for p in declared.members["make"].parameters:
                    self.assertIn(f"<code>{p.name}</code>", page)
                self.assertTrue((self.site / "blocks" / "pictures" /
                                 f"{declared.name}.svg").exists())

    def test_every_result_is_listed(self):
        page = (self.site / "measured.html").read_text()
        for path in (ROOT / "bench" / "results").glob("*.json"):
            self.assertIn(path.name, page)

    def test_dead_links_are_seen(self):
        page = self.site / "measured.html"
        text = page.read_text()
        page.write_text(text.replace("</body>", '<a href="nowhere.html">x</a>'
                                     '<a href="index.html#nowhere">y</a></body>'))
        try:
            self.assertEqual(sorted(t for _, t in make_site.dead_links(self.site)),
                             ["index.html#nowhere", "nowhere.html"])
        finally:
            page.write_text(text)


if __name__ == "__main__":
    unittest.main()
