#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests that the documentation site is complete and has no dead links, and that tables of pages
equal the files of results."""

import importlib
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "docs"))
sys.dont_write_bytecode = True
import make_site # noqa: E402


class qa_tables(unittest.TestCase):
    def test_TablesOfPages_EqualResultFiles(self):
        done = subprocess.run([sys.executable, str(ROOT / "docs" / "make_tables.py"),
                               "--check"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


def has_material():
    """Returns whether MkDocs and its theme Material are installed."""
    try:
        return "material" in importlib.import_module("mkdocs.utils").get_theme_names()
    except ImportError:
        return False


@unittest.skipUnless(has_material(), "MkDocs and its theme Material are not installed")
class qa_site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.site = pathlib.Path(folder.name).resolve() / "html"
        cls.done = subprocess.run(
            [sys.executable, str(ROOT / "docs" / "make_site.py"), folder.name],
            capture_output=True, text=True)

    def test_Links_HaveATarget(self):
        self.assertEqual(self.done.returncode, 0, self.done.stdout + self.done.stderr)

    def test_EveryBlock_HasAPage(self):
        blocks = [d.name for d in make_site.headers().values() if d.is_block]
        self.assertEqual(set(blocks), set(make_site.WAYS))
        for declared in make_site.headers().values():
            if declared.is_block:
                page = (self.site / "blocks" / f"{declared.name}.html").read_text()
                self.assertNotRegex(page, r"\\(b|c|p|e|brief|ingroup|throws)\b") # commands of Doxygen
                for p in declared.members["make"].parameters:
                    self.assertIn(f"<code>{p.name}</code>", page)
                self.assertTrue((self.site / "blocks" / "pictures" /
                                 f"{declared.name}.svg").exists())

    def test_EveryResult_IsListed(self):
        page = (self.site / "measured.html").read_text()
        for path in (ROOT / "bench" / "results").rglob("*.json"):
            self.assertIn(path.name, page)

    def test_Navigation_HasKindsAndTheirPages(self):
        """The navigation has a tab for each kind of page, and each page is in exactly one tab."""
        page = (self.site / "docs" / "limits.html").read_text()
        tabs = re.findall(r'(?s)<a href="[^"]*" class="md-tabs__link[^"]*">\s*(.*?)\s*</a>', page)
        self.assertEqual(tabs, list(make_site.PAGES))
        listed = [name for pages in make_site.PAGES.values() for _, name in pages if name]
        self.assertEqual(len(listed), len(set(listed)))
        for path in (ROOT / "docs").rglob("*.md"):
            self.assertIn(str(path.relative_to(ROOT)), make_site.FILES)

    def test_DarkMode_FollowsTheSystemAndHasASwitch(self):
        page = (self.site / "index.html").read_text()
        self.assertIn('data-md-color-media="(prefers-color-scheme: dark)"', page)
        self.assertIn('data-md-color-scheme="slate"', page)

    def test_SearchOnFiles_FindsPagesByName(self):
        """The search index has the titles of pages and sections. It is a script, so that pages
        opened as local files can load it."""
        script = (self.site / "search" / "search_index.js").read_text()
        index = json.loads(re.fullmatch(r"var __index = (.*);", script)[1])
        titles = {entry["location"]: entry["title"] for entry in index["docs"]}
        self.assertEqual(titles["docs/reference/tags.html"], "Tags")
        self.assertEqual(titles["docs/reference/tags.html#length-tags"], "Length tags")
        page = (self.site / "docs" / "limits.html").read_text()
        self.assertIn('<script src="../search/search_index.js">', page)
        self.assertNotRegex(page, r'(?:src|href)="https?://[^"]*\.(?:js|css)"')

    @unittest.skipUnless(shutil.which("chromium"), "Chromium is not installed")
    def test_SearchInABrowser_NamesThePage(self):
        done = subprocess.run(
            ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--dump-dom",
             "--virtual-time-budget=20000", f"--user-data-dir={self.site.parent}/browser",
             (self.site / "index.html").as_uri() + "?q=tagged+streams"],
            capture_output=True, text=True, timeout=120)
        results = re.findall(r'<h1 class="md-search-result__title">(.*?)</h1>', done.stdout)
        self.assertIn("Tags", re.sub(r"<.*?>", "", " ".join(results)))

    @unittest.skipUnless(shutil.which("doxygen"), "Doxygen is not installed")
    def test_InterfacePages_HaveNoWarnings(self):
        """Doxygen writes its pages without warnings, and the pages of blocks link to Doxygen's
        pages."""
        template = (ROOT / "docs" / "doxygen" / "Doxyfile.in").read_text()
        with tempfile.TemporaryDirectory() as folder:
            settings = template.replace("@PROJECT_SOURCE_DIR@", str(ROOT)).replace("@VERSION@", "")
            done = subprocess.run(["doxygen", "-"], input=settings, cwd=folder, text=True,
                                  capture_output=True, check=True)
            self.assertEqual(done.stderr, "")
            made = subprocess.run(
                [sys.executable, str(ROOT / "docs" / "make_site.py"), f"{folder}/site",
                 f"{folder}/html"], capture_output=True, text=True)
            self.assertEqual(made.returncode, 0, made.stdout + made.stderr)
            page = pathlib.Path(folder, "site/html/blocks/conv_encoder.html").read_text()
            self.assertIn("api/classgr_1_1gpufec_1_1conv__encoder.html", page)

    def test_DeadLinks_AreDetected(self):
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
