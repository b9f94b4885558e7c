#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests the installed C++ library without GNU Radio, and the programs of docs/cpp.md.

Usage: qa_cpp.py CMAKE BUILD GENERATOR COMPILER
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap
import unittest

import qa_core

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "cpp.md").read_text(encoding="utf-8")
EXAMPLES = dict(re.findall(r"(?s)<!-- example: (\w+) -->\n```\w+\n(.*?)```", PAGE))
STREAM = (ROOT / "tests" / "downstream" / "main.cc").read_text(encoding="utf-8")
# Libraries that every C++ program may load.
COMMON = {"libc", "libdl", "libgcc_s", "libm", "libpthread", "librt", "libstdc++"}


def run(*command, **options):
    """Returns the output of a command. Raises AssertionError with the output if the command
    fails."""
    done = subprocess.run([str(c) for c in command], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=280, **options)
    if done.returncode:
        raise AssertionError(f"{command} failed with status {done.returncode}:\n{done.stdout}")
    return done.stdout


class qa_cpp(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.prefix = cls.folder / "prefix"
        run(CMAKE, "--install", BUILD, "--component", "core", "--prefix", cls.prefix)
        cls.library, = cls.prefix.glob("**/libgpufec.so")
        packages = cls.library.parent / "pkgconfig"
        cls.environment = {**os.environ, "CXX": COMPILER, "CMAKE_GENERATOR": GENERATOR,
                           "CMAKE_PREFIX_PATH": str(cls.prefix), "CMAKE_BUILD_TYPE": "Release",
                           "PKG_CONFIG_PATH": str(packages),
                           "LD_LIBRARY_PATH": str(cls.library.parent)}

    def folder_of(self, name, project):
        """Makes the folder `name` with the page's program and a CMakeLists.txt with the text
        `project`. Returns the folder's path."""
        folder = self.folder / name
        folder.mkdir()
        (folder / "main.cc").write_text(EXAMPLES["program"], encoding="utf-8")
        (folder / "CMakeLists.txt").write_text(project, encoding="utf-8")
        return folder

    def shell(self, name, folder, environment):
        """Runs the shell lines of an example in a folder. Returns their output."""
        lines = re.sub(r"\bcmake\b", f'"{CMAKE}"', EXAMPLES[name])
        lines = re.sub(r"\bc\+\+ ", f'"{COMPILER}" ', lines)
        return run("bash", "-ec", lines, cwd=folder, env=environment)

    def test_InstalledLibrary_LoadsNothingOfGnuRadio(self):
        said = run("ldd", self.library)
        found = set(re.findall(r"(?m)^\s*(lib[\w+-]+?)\.so", said))
        self.assertIn("libstdc++", found)
        self.assertLessEqual(found, COMMON, said)

    def test_InstalledHeaders_AreComplete(self):
        """The installed headers are those of the core, and include no headers of GNU Radio."""
        headers = self.prefix / "include" / "gnuradio" / "gpufec"
        self.assertEqual({h.name for h in headers.iterdir()}, set(qa_core.PUBLIC))
        for header in headers.iterdir():
            said = run(COMPILER, "-std=c++17", "-M", "-x", "c++", "-I", self.prefix / "include",
                       header)
            used = {pathlib.Path(f.replace("\\ ", " ")) for f in
                    re.findall(r"(/(?:\\ |\S)+)", said)}
            self.assertIn(header, used)
            theirs = {f for f in used if re.search("/(gnuradio|pmt|volk)/", str(f))}
            self.assertEqual({f for f in theirs if headers not in f.parents}, set())

    def test_Program_IsShortAndDecodes(self):
        self.assertLessEqual(len(EXAMPLES["program"].splitlines()), 60)
        line, = re.findall(r"prints `(Viterbi.*)`", PAGE)
        self.assertIn("Viterbi true, LDPC true, synchronisation true", line)
        for name in ("build", "compile"): # with and without CMake
            with self.subTest(name):
                folder = self.folder_of(name, EXAMPLES["project"])
                said = self.shell(name, folder, self.environment)
                self.assertEqual(said.splitlines()[-1], line)

    def test_BuildFolder_WorksWithoutInstallation(self):
        """The program also works with the library in the build folder, if no environment variable
        names an installed library."""
        environment = {name: value for name, value in self.environment.items() if name not in
                       ("CMAKE_PREFIX_PATH", "PKG_CONFIG_PATH", "LD_LIBRARY_PATH")}
        for name in ("build_folder", "build"): # without and with CMake
            with self.subTest(name):
                folder = self.folder_of(f"{name} in place", EXAMPLES["build_folder_project"])
                clone = folder / "gr-gpufec"
                (clone / "build").mkdir(parents=True)
                (clone / "include").symlink_to(ROOT / "include")
                (clone / "build" / "core").symlink_to(pathlib.Path(BUILD).resolve())
                said = self.shell(name, folder, environment)
                self.assertTrue(said.endswith(
                    "Viterbi true, LDPC true, synchronisation true\n"), said)
                program = folder / ("build/decode" if name == "build" else "decode")
                self.assertNotIn(str(self.prefix), run("ldd", program, env=environment))

    def test_StreamExample_EqualsDownstreamProgram(self):
        """The page's stream example is part of tests/downstream/main.cc, which also works with the
        library without GNU Radio."""
        lines = textwrap.indent(EXAMPLES["stream"], "    ", lambda line: line.strip())
        self.assertIn(lines, STREAM)
        run(COMPILER, "-std=c++17", ROOT / "tests" / "downstream" / "main.cc",
            "-I", self.prefix / "include", self.library, "-o", self.folder / "stream")
        said = run(self.folder / "stream", env=self.environment)
        self.assertIn("30000 bits, 0 errors", said)

    def compiled(self, name, source):
        """Compiles the program `name` from the text `source` with the installed library. Returns
        the program's path."""
        program = self.folder / name
        program.with_suffix(".cc").write_text(source, encoding="utf-8")
        run(COMPILER, "-std=c++17", program.with_suffix(".cc"), "-I", self.prefix / "include",
            self.library, "-o", program)
        return program

    def test_FilesOfFramesAndStream_AreDecoded(self):
        """The program that decodes a file of frames and a file of a stream has at most 30 lines,
        and outputs the bits that were encoded."""
        source = EXAMPLES["pieces"]
        self.assertLessEqual(len(source.splitlines()), 30)
        encode = self.compiled("encode", r"""
            #include <gnuradio/gpufec/ldpc.h>
            #include <gnuradio/gpufec/viterbi.h>
            #include <cstdio>
            #include <random>
            using namespace gr::gpufec;
            std::mt19937 generator(1);
            std::vector<std::uint8_t> random_bytes(std::size_t count)
            {
                std::vector<std::uint8_t> bytes(count);
                for (auto& b : bytes) b = generator();
                return bytes;
            }
            void write(const char* name, const void* data, std::size_t bytes)
            {
                auto* const file = std::fopen(name, "ab");
                std::fwrite(data, 1, bytes, file);
                std::fclose(file);
            }
            void send(const char* name, const std::uint8_t* packed, std::size_t bits, int one)
            {
                std::vector<std::int8_t> soft;
                for (std::size_t i = 0; i < bits; ++i)
                    soft.push_back(packed[i / 8] >> (7 - i % 8) & 1 ? one : -one);
                write(name, soft.data(), soft.size());
            }
            int main(int, char** files)
            {
                const auto code = ldpc_code::standard("dvbs2", "short", "1/2");
                for (int frame = 0; frame < 5; ++frame) {
                    const auto message = random_bytes(code.k() / 8);
                    std::vector<std::uint8_t> sent(code.n() / 8);
                    ldpc_encoder_kernel(code).encode_packed(message.data(), sent.data());
                    write(files[3], message.data(), message.size());
                    send(files[1], sent.data(), code.n(), -8);
                }
                const auto message = random_bytes(2000);
                conv_encoder_kernel encoder(conv_code::preset("ccsds"), termination::streaming, 0);
                std::vector<std::uint8_t> sent(2 * message.size());
                encoder.encode_packed(message.data(), message.size() * 8, sent.data());
                write(files[3], message.data(), message.size());
                send(files[2], sent.data(), sent.size() * 8, 32);
            }
        """)
        files = [self.folder / name for name in ("frames.s8", "stream.s8", "message")]
        run(encode, *files, env=self.environment)
        said = subprocess.run([self.compiled("pieces", source), *files[:2]], check=True,
                              env=self.environment, stdout=subprocess.PIPE, timeout=60).stdout
        self.assertEqual(said, files[2].read_bytes())

    def test_ErrorMessages_EqualThoseOfPage(self):
        """The error messages on the page are those of the library."""
        quoted = re.findall(r"refused \(`([^`]*)`\)", PAGE)
        self.assertEqual(len(quoted), 2)
        program = self.folder / "refused.cc"
        program.write_text(r"""
            #include <gnuradio/gpufec/arrays.h>
            #include <cstdio>
            using namespace gr::gpufec;
            template <class Call> void refused(Call&& call)
            {
                try { call(); } catch (const std::invalid_argument& e) { std::puts(e.what()); }
            }
            int main()
            {
                viterbi_options o{ conv_code::preset("lte") };
                refused([&] { viterbi_array_decoder(o, true); });
                o.frame_bits = 40;
                std::vector<std::int8_t> in(100);
                refused([&] { viterbi_array_decoder(o, true).decode(in.data(), 100, nullptr); });
            }""", encoding="utf-8")
        run(COMPILER, "-std=c++17", program, "-I", self.prefix / "include", self.library,
            "-o", self.folder / "refused")
        said = run(self.folder / "refused", env=self.environment).splitlines()
        self.assertEqual(said, [" ".join(text.split()) for text in quoted])

    def test_CallsOfPage_ReturnSoftValuesPerFrame(self):
        """The four calls that the pages name return the same number of soft values, for a frame of
        100 bytes of 802.11."""
        calls = ("code.values(816 + 6)", "encoder.coded_bits(816)", "stream->items_per_frame()",
                 "arrays.items_per_frame()")
        page = PAGE + (ROOT / "docs" / "reference" / "viterbi.md").read_text(encoding="utf-8")
        for call in ("`conv_code::values(stages)`", "`items_per_frame()`",
                     "`conv_encoder_kernel::coded_bits(frame_bits)`"):
            self.assertEqual(page.count(call), 2)
        program = self.folder / "per_frame.cc"
        program.write_text(r"""
            #include <gnuradio/gpufec/arrays.h>
            #include <cstdio>
            using namespace gr::gpufec;
            int main()
            {
                const auto code = conv_code::preset("80211_3_4");
                viterbi_options options{ code };
                options.frame_bits = 816;
                options.backend = backend::cpu;
                const conv_encoder_kernel encoder(code, options.termination, 816);
                const auto stream = viterbi_decoder::make(options);
                const viterbi_array_decoder arrays(options, true);
                for (unsigned long values : { CALLS }) {
                    std::printf("%lu\n", values);
                }
            }""".replace("CALLS", ", ".join(f"(unsigned long){call}" for call in calls)),
                           encoding="utf-8")
        run(COMPILER, "-std=c++17", program, "-I", self.prefix / "include", self.library,
            "-o", self.folder / "per_frame")
        said = run(self.folder / "per_frame", env=self.environment).split()
        self.assertEqual(said, ["1096"] * len(calls))

    def test_CoreOnlyBuild_SearchesForNoOtherPackages(self):
        """With GPUFEC_CORE_ONLY, CMake searches only for the packages that the core needs. The test
        only configures the build, because its objects would equal those of the present build."""
        build = self.folder / "core only"
        run(CMAKE, "-S", ROOT, "-B", build, "-G", GENERATOR, "-DGPUFEC_CORE_ONLY=ON",
            "-DENABLE_CUDA=OFF", f"-DCMAKE_CXX_COMPILER={COMPILER}")
        cache = (build / "CMakeCache.txt").read_text(encoding="utf-8")
        self.assertEqual(re.findall(r"(?mi)^(?:gnuradio|volk|python|pybind11|gsl|sndfile)\w*",
                                    cache), [])
        targets = run(CMAKE, "--build", build, "--target", "help")
        self.assertIn("gpufec_library", targets)
        for absent in ("gnuradio-gpufec", "_gpufec", "qa_"):
            self.assertIsNone(re.search(rf"(?m)^(?:[.]{{3}} )?(?:\w+/)*{absent}", targets))


if __name__ == "__main__":
    CMAKE, BUILD, GENERATOR, COMPILER = sys.argv[1:5]
    unittest.main(argv=sys.argv[:1])
