#!/usr/bin/env python3
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests scripts and build settings: tables of the pages, counts of tests, the recorded commit,
compiler warnings, CUDA options, pkg-config and packages."""

import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import yaml # GNU Radio needs it

ROOT = pathlib.Path(__file__).resolve().parents[1]
VERSION = re.findall(r"set\(VERSION_(?:MAJOR|API|ABI|PATCH) (\d+)\)",
                     (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))
CONDA = ROOT / "packaging" / "conda" / "recipe.yaml"


def run(*command, **keywords):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=120,
                          **keywords)


class qa_scripts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_WrongFigure_IsDetectedAndCorrected(self):
        for name in ("docs", "bench/results"):
            shutil.copytree(ROOT / name, self.folder / name)
        for name in ("README.md", "packaging/README.md"):
            (self.folder / name).parent.mkdir(exist_ok=True)
            shutil.copy(ROOT / name, self.folder / name)
        call = [sys.executable, "-B", self.folder / "docs" / "make_tables.py"]
        picture = next((self.folder / "docs" / "pictures").glob("*.svg"))
        page = next(path for path in sorted((self.folder / "docs").glob("*.md"))
                    if "<!-- table: " in path.read_text(encoding="utf-8"))
        for path, place in ((page, "<!-- table: "), (picture, "</svg>")):
            right = path.read_text(encoding="utf-8")
            end = right.index("<!-- end -->", right.index(place)) if path == page else \
                right.index(place)
            wrong = right[:end] + "x" + right[end:]
            path.write_text(wrong, encoding="utf-8")
            done = run(*call, "--check")
            self.assertEqual((done.returncode, done.stdout), (1, f"make_tables: {path.name}\n"))
            self.assertEqual(path.read_text(encoding="utf-8"), wrong)
            self.assertEqual(run(*call).returncode, 0)
            self.assertEqual(path.read_text(encoding="utf-8"), right)
        self.assertEqual(run(*call, "--check").returncode, 0)

    def count(self, *cases):
        """Runs scripts/count-tests on test cases in JUnit format. Returns its exit status and its
        last line of output."""
        path = self.folder / "results.xml"
        path.write_text("<testsuite>" + "".join(cases) + "</testsuite>")
        done = run(sys.executable, ROOT / "scripts" / "count-tests", path)
        return done.returncode, done.stdout.splitlines()[-1]

    def test_EveryOutcome_IsCounted(self):
        def case(content="", status="run"):
            return f'<testcase name="a" status="{status}">{content}</testcase>'

        def python(verdict, tests=5):
            return f"<system-out>Ran {tests} tests in 1.2s\n\n{verdict}\n</system-out>"

        failure = '<failure message=""/>'
        for content, status, expected in (
                ("", "run", (0, "1 passed, 0 failed, 0 skipped")),
                (failure, "fail", (1, "0 passed, 1 failed, 0 skipped")),
                ("", "disabled", (1, "0 passed, 0 failed, 1 skipped")),
                ('<skipped message="SKIP_RETURN_CODE=77"/>', "notrun",
                 (1, "0 passed, 0 failed, 1 skipped")),
                ('<skipped message="Unable to find executable"/>', "notrun",
                 (1, "0 passed, 1 failed, 0 skipped")),
                (python("OK"), "run", (0, "5 passed, 0 failed, 0 skipped")),
                (python("OK (skipped=2)"), "run", (0, "3 passed, 0 failed, 2 skipped")),
                (failure + python("FAILED (failures=1, errors=2, skipped=1)"), "fail",
                 (1, "1 passed, 3 failed, 1 skipped")),
                (python("OK (unexpected successes=1)"), "run",
                 (1, "4 passed, 1 failed, 0 skipped")),
                # This process crashed after its last test.
                (failure + python("OK"), "fail", (1, "5 passed, 1 failed, 0 skipped")),
                (failure + "<system-out>Ran 5 tests in 1.2s</system-out>", "fail",
                 (1, "0 passed, 1 failed, 0 skipped"))):
            with self.subTest(content, status=status):
                self.assertEqual(self.count(case(content, status)), expected)
        self.assertEqual(self.count(case(), case(python("OK")), case(failure, "fail")),
                         (1, "6 passed, 1 failed, 0 skipped"))

    def test_TestsThatNeedAGpu_AreNamed(self):
        path = self.folder / "results.xml"
        skip = ('<testcase name="{}" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/>'
                "<system-out>{}</system-out></testcase>")
        path.write_text("<testsuite>" + "".join(
            skip.format(name, reason) for name, reason in (
                ("ldpc.kernels.layered", "no usable CUDA device (no driver)"),
                ("ldpc.kernels.flooding", "no usable CUDA device (no driver)"),
                ("docs.site", "MkDocs is not installed"))) + "</testsuite>")
        done = run(sys.executable, ROOT / "scripts" / "count-tests", path)
        self.assertEqual(done.stdout, "2 tests did not run because they need a GPU: "
                         "ldpc.kernels (2)\n0 passed, 0 failed, 3 skipped\n")

    def test_ChangedSource_HasDirtyCommit(self):
        if not shutil.which("git") or not shutil.which("cmake"):
            self.skipTest("Git or CMake is not installed")
        source = self.folder / "source"
        source.mkdir()

        def git(*words):
            done = run("git", "-C", source, "-c", "user.name=a", "-c", "user.email=a@localhost",
                       *words)
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stdout.strip()

        def commit():
            file = self.folder / "commit"
            done = run("cmake", f"-DSOURCE={source}", f"-DFILE={file}", "-P",
                       ROOT / "cmake" / "commit.cmake",
                       env={"PATH": "/usr/local/bin:/usr/bin:/bin",
                            "GIT_CEILING_DIRECTORIES": str(self.folder)})
            self.assertEqual(done.returncode, 0, done.stderr)
            return file.read_text()

        self.assertEqual(commit(), "unknown\n")
        git("init", "-q")
        (source / "file").write_text("one")
        git("add", "file")
        git("commit", "-q", "-m", "one")
        git("tag", "-a", "v1", "-m", "tags are not named")
        head = git("rev-parse", "--short=12", "HEAD")
        self.assertEqual(commit(), head + "\n")
        (source / "file").write_text("two")
        self.assertEqual(commit(), head + "-dirty\n")

    def test_WarningsOfUnknownCompilers_AreNotErrors(self):
        if not shutil.which("cmake"):
            self.skipTest("CMake is not installed")
        (self.folder / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.22)\nproject(warnings NONE)\n"
            f'include("{ROOT}/cmake/Modules/GpufecWarnings.cmake")\n'
            "get_target_property(options gpufec_options INTERFACE_COMPILE_OPTIONS)\n"
            'message(STATUS "options: ${options}")\n', encoding="utf-8")
        for werror, compiler, version, errors, said in (
                ("KNOWN", "GNU", "14.2.0", True, False), ("KNOWN", "Clang", "14.0.6", True, False),
                ("KNOWN", "GNU", "99.1.0", False, True), ("KNOWN", "Clang", "99.1", False, True),
                ("KNOWN", "GNU", "4.8.5", False, True), ("KNOWN", "Intel", "14", False, True),
                ("ON", "GNU", "99.1.0", True, False), ("OFF", "GNU", "14.2.0", False, False)):
            with self.subTest(werror, compiler=compiler, version=version):
                done = run("cmake", "-S", self.folder, "-B", self.folder / "build",
                           f"-DGPUFEC_WERROR={werror}", f"-DCMAKE_CXX_COMPILER_ID={compiler}",
                           f"-DCMAKE_CXX_COMPILER_VERSION={version}")
                self.assertEqual(done.returncode, 0, done.stderr)
                options = done.stdout.split("options: ")[1]
                self.assertEqual("$<BOOL:OFF>" not in options, errors, options)
                self.assertIn(":-Werror>", options)
                self.assertEqual(f"Warnings are not errors: {compiler} {version} is not"
                                 in done.stderr, said)

    def test_CudaRuntime_IsSharedOnRequest(self):
        (self.folder / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.22)\nproject(runtime CXX)\n"
            f'include("{ROOT}/cmake/Modules/GpufecCuda.cmake")\n'
            "add_library(count SHARED count.cu)\n"
            "target_link_libraries(count PRIVATE ${gpufec_cuda_runtime})\n", encoding="utf-8")
        (self.folder / "count.cu").write_text(
            "int count() { int n; cudaGetDeviceCount(&n); return n; }\n", encoding="utf-8")
        for options, shared in ((["-DCMAKE_CUDA_RUNTIME_LIBRARY=Shared"], True), ([], False)):
            build = self.folder / f"build-{shared}"
            done = run("cmake", "-S", self.folder, "-B", build, "-DCMAKE_CUDA_ARCHITECTURES=90",
                       *options)
            if "CUDA compiler - NOTFOUND" in done.stdout:
                self.skipTest("nvcc is not installed")
            self.assertEqual(done.returncode, 0, done.stderr)
            done = run("cmake", "--build", build)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            done = run("readelf", "--dynamic", build / "libcount.so")
            self.assertEqual("Shared library: [libcudart.so" in done.stdout, shared, done.stdout)

    def test_CudaArchitectures_FollowEnvironment(self):
        (self.folder / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.22)\nproject(architectures CXX)\n"
            f'include("{ROOT}/cmake/Modules/GpufecCuda.cmake")\n', encoding="utf-8")
        for name, environment, options, expected in (
                ("default", "", [], r"75-real;.*-virtual"),
                ("environment", "80-real;86-real", [], "80-real;86-real"),
                ("option", "80", ["-DCMAKE_CUDA_ARCHITECTURES=90"], "90")):
            build = self.folder / name
            # A build that is configured again keeps its architectures.
            for value in (environment, ""):
                done = run("cmake", "-S", self.folder, "-B", build, *options,
                           env={**os.environ, "CUDAARCHS": value})
                if "CUDA compiler - NOTFOUND" in done.stdout:
                    self.skipTest("nvcc is not installed")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertRegex(done.stdout, rf"-- CUDA [\d.]+, architectures {expected}\n")

    def test_NvccThatFails_IsReported(self):
        (self.folder / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.22)\nproject(host CXX)\n"
            f'include("{ROOT}/cmake/Modules/GpufecCuda.cmake")\n'
            'message(STATUS "with CUDA: ${ENABLE_CUDA}")\n', encoding="utf-8")
        if not shutil.which("nvcc", path=f"{os.environ['PATH']}:/usr/local/cuda/bin"):
            self.skipTest("nvcc is not installed")
        for options, said in ([], True), (["-DENABLE_CUDA=OFF"], False):
            done = run("cmake", "-S", self.folder, "-B", self.folder / f"build-{said}", *options,
                       env={**os.environ, "CUDAHOSTCXX": shutil.which("false")})
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("with CUDA: OFF", done.stdout)
            self.assertEqual("nvcc fails, so this build has no CUDA" in
                             " ".join(done.stderr.split()), said, done.stderr)

    def test_PkgConfig_NamesInstalledLibrary(self):
        text = (ROOT / "cmake" / "pkg-config.pc.in").read_text(encoding="utf-8")
        self.assertIn("-L${libdir} -l@name@\n", text)
        module, targets, blocks = (
            (ROOT / folder / "CMakeLists.txt").read_text(encoding="utf-8")
            for folder in (".", "lib", "lib/blocks"))
        self.assertEqual(re.findall(r"gpufec_pkg_config\(([\w-]+) \$", module + targets),
                         ["gnuradio-gpufec", "gpufec"])
        self.assertIn("add_library(gnuradio-gpufec SHARED", blocks)
        self.assertIn("OUTPUT_NAME gpufec ", targets)
        self.assertIn("Version: @GPUFEC_VERSION@\n", text)

    def test_CondaRecipe_HasVersionOfProject(self):
        self.assertEqual(len(VERSION), 4)
        self.assertEqual(re.findall(r"(?m)^  version: ([\d.]+)$", CONDA.read_text(encoding="utf-8")),
                         [".".join(VERSION)])

    def test_RecipesOfARelease_AreComplete(self):
        archive = self.folder / "archive.tar.gz"
        archive.write_bytes(b"sources")
        version = ".".join(VERSION)
        done = run(ROOT / "packaging" / "make-recipes", self.folder, "https://a.example/gr-gpufec",
                   archive, f"https://a.example/v{version}.tar.gz", "someone", "another")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        recipe = yaml.safe_load((self.folder / "recipe" / "recipe.yaml").read_text(encoding="utf-8"))
        self.assertEqual(recipe["source"], {"url": "https://a.example/v${{ version }}.tar.gz",
                                            "sha256": hashlib.sha256(b"sources").hexdigest()})
        self.assertEqual(recipe["about"]["homepage"], "https://a.example/gr-gpufec")
        self.assertEqual(recipe["extra"]["recipe-maintainers"], ["someone", "another"])
        here = yaml.safe_load(CONDA.read_text(encoding="utf-8"))
        for key in ("context", "package", "build", "requirements", "tests"):
            self.assertEqual(recipe[key], here[key])
        for path in here["tests"][-1]["files"]["source"] + [
                "grc/" + pathlib.Path(name).name for name in here["tests"][0]["package_contents"]
                ["files"] if name.endswith(".block.yml")]:
            self.assertTrue((ROOT / path).exists(), path)
        self.assertTrue((self.folder / "recipe" / recipe["build"]["script"]).exists())
        pybombs = yaml.safe_load((self.folder / "gr-gpufec.lwr").read_text(encoding="utf-8"))
        self.assertEqual(pybombs["source"], "git+https://a.example/gr-gpufec")
        self.assertIn("gnuradio", pybombs["depends"])

    def test_Manifest_HasTheKeysOfCgran(self):
        head = (ROOT / "MANIFEST.md").read_text(encoding="utf-8").split("\n---\n")[0]
        self.assertEqual(list(manifest := yaml.safe_load(head)),
                         ["title", "brief", "tags", "author", "copyright_owner", "license",
                          "gr_supported_version", "repo", "website", "icon"])
        self.assertEqual(manifest["gr_supported_version"], "v3.10")

    def test_Packages_DependOnImportedModules(self):
        """Packages depend on every module that gpufec imports. The conda package depends on
        Matplotlib, and the Debian package recommends it."""
        modules = set()
        for path in [ROOT / "python" / "gpufec" / "__init__.py",
                     *(path for path in (ROOT / "python" / "arrays").glob("*.py")
                       if path.name != "distributed.py")]:
            modules |= set(re.findall(r"(?m)^(?:import|from) ([a-z]\w+)",
                                      path.read_text(encoding="utf-8")))
        theirs = {m for m in modules if m not in sys.stdlib_module_names} - {"gnuradio", "gpufec"}
        self.assertEqual(theirs, {"numpy"})
        debian = (ROOT / "cmake" / "GpufecPackage.cmake").read_text(encoding="utf-8")
        needed = dict(re.findall(r'set\(CPACK_DEBIAN_PACKAGE_(\w+) "(.*)"\)', debian))
        self.assertEqual(re.split(", ", re.sub(r" \(.*?\)", "", needed["DEPENDS"])),
                         ["gnuradio", "python3", "python3-numpy"])
        self.assertIn("python3-matplotlib", needed["RECOMMENDS"])
        # gnuradio-core adds itself to the packages that are needed at run time (run_exports).
        conda = CONDA.read_text(encoding="utf-8")
        host, run_time = (re.search(rf"(?s)\n  {part}:\n(.*?)\n  \w", conda)[1]
                          for part in ("host", "run"))
        self.assertIn("- gnuradio-core", host)
        for name in ("numpy", "matplotlib-base"):
            self.assertIn(f"- {name}\n", run_time)


if __name__ == "__main__":
    unittest.main()
