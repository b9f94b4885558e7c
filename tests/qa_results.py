#!/usr/bin/env python3
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests that the files in bench/results match the schema, that a page quotes each file, that the
number of files is limited, and that bench/common/results_file.py writes files that match the
schema."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[1]
RESULTS = ROOT / "bench" / "results"
COMMON = ROOT / "bench" / "common"
SCHEMA = json.loads((COMMON / "results.schema.json").read_text(encoding="utf-8"))
MOST_FILES = 60
TYPES = {"object": dict, "array": list, "string": str, "number": (int, float), "integer": int,
         "boolean": bool, "null": type(None)}

sys.dont_write_bytecode = True
sys.path.insert(0, str(COMMON))
import results_file # noqa: E402


def is_of(value, kind):
    return isinstance(value, TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))


def errors(value, schema=SCHEMA, path="file"):
    """Returns a list of the violations of a JSON schema. Supports only the keywords that
    results.schema.json uses."""
    if "$ref" in schema:
        return errors(value, SCHEMA["definitions"][schema["$ref"].rsplit("/", 1)[1]], path)
    if "anyOf" in schema:
        tried = [errors(value, each, path) for each in schema["anyOf"]]
        return [] if [] in tried else [f"{path} matches no allowed form: {str(value)[:60]}"]
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if not any(is_of(value, kind) for kind in kinds):
        return [f"{path} has a type other than {' or '.join(kinds)}"]
    found = []
    if isinstance(value, str):
        if len(value) < schema.get("minLength", 0):
            found.append(f"{path} has too few characters")
        if not re.search(schema.get("pattern", ""), value):
            found.append(f"{path} does not match {schema['pattern']}: {value}")
    elif isinstance(value, list):
        if len(value) < schema.get("minItems", 0):
            found.append(f"{path} has too few items")
        for number, item in enumerate(value):
            found += errors(item, schema["items"], f"{path}[{number}]")
    elif isinstance(value, dict):
        found += [f"{path} lacks the key {key}" for key in schema.get("required", []) if key not in value]
        if len(value) < schema.get("minProperties", 0):
            found.append(f"{path} is empty")
        for key, item in value.items():
            rules = [rule for name, rule in schema.get("properties", {}).items() if name == key]
            rules += [rule for pattern, rule in schema.get("patternProperties", {}).items()
                      if re.search(pattern, key)]
            if not rules:
                found.append(f"{path} has the unknown key {key}")
            for rule in rules:
                found += errors(item, rule, f"{path}.{key}")
    return found


def strict(text):
    """Parses JSON. Refuses NaN and infinities, which Python's parser accepts."""
    def refuse(name):
        raise ValueError(f"{name} is not allowed in JSON")
    return json.loads(text, parse_constant=refuse)


class qa_results(unittest.TestCase):
    def setUp(self):
        self.paths = sorted(RESULTS.rglob("*.json"))

    def test_EveryFile_MatchesTheSchema(self):
        for path in self.paths:
            with self.subTest(path.name):
                self.assertEqual(errors(strict(path.read_text(encoding="utf-8"))), [])

    def test_Jsonschema_AgreesWithThisValidator(self):
        try:
            import jsonschema
        except ImportError:
            self.skipTest("jsonschema is not installed")
        validator = jsonschema.Draft7Validator(SCHEMA)
        validator.check_schema(SCHEMA)
        for path in self.paths:
            with self.subTest(path.name):
                self.assertEqual(list(validator.iter_errors(strict(path.read_text()))), [])
        for wrong in self.wrong():
            with self.subTest(wrong=wrong):
                self.assertTrue(list(validator.iter_errors(wrong)))

    @staticmethod
    def wrong():
        """Yields reports with one fault each."""
        run = {"benchmark": "a", "commit": "0123abc", "date": "2026-11-25",
               "device": {"processor": "a"}, "command": "a", "settings": {}, "rows": [{"x": 1}]}
        for change in ({"commit": ""}, {"date": "yesterday"}, {"device": {}},
                       {"device": {"card": "a"}}, {"command": ""}, {"settings": {"a b": 1}},
                       {"rows": []}, {"rows": [{}]}, {"rows": [{"K=7": 1}]}, {"rows": [[1]]},
                       {"rows": [{"x": [{"y": {"z": 1}}]}]}, {"results": []}):
            yield {"runs": [{**run, **change}]}
        for name in run:
            yield {"runs": [{k: v for k, v in run.items() if k != name}]}
        yield {"runs": []}
        yield {}
        yield {"runs": [run], "environment": {}}

    def test_InvalidReports_ViolateTheSchema(self):
        for wrong in self.wrong():
            with self.subTest(wrong=wrong):
                self.assertNotEqual(errors(wrong), [])

    def test_RunsOfAFile_HaveDifferentNames(self):
        for path in self.paths:
            names = [run.get("name") for run in json.loads(path.read_text())["runs"]]
            if len(names) > 1:
                with self.subTest(path.name):
                    self.assertNotIn(None, names)
                    self.assertEqual(len(set(names)), len(names))

    def test_Files_AreLimitedInNumberAndQuotedByAPage(self):
        self.assertLessEqual(sum(path.is_file() for path in RESULTS.rglob("*")), MOST_FILES)
        names = [path.name for path in RESULTS.rglob("*.*")]
        self.assertEqual(len(names), len(set(names)))
        text = "".join(path.read_text(encoding="utf-8") for folder, pattern in
                       ((ROOT, "*.md"), (ROOT / "docs", "**/*.md"), (ROOT / "docs", "*.py"),
                        (ROOT / "packaging", "*.md")) for path in folder.glob(pattern)
                       if path.name != "CHANGELOG.md")
        for path in self.paths:
            with self.subTest(path.name):
                self.assertTrue(path.name in text, f"no page quotes {path.name}")

    def test_ProgramOutput_BecomesRows(self):
        record = results_file.record
        self.assertEqual(record({"a": 1, "b": 2.5}), ({}, [{"a": 1, "b": 2.5}]))
        self.assertEqual(record([{"a": 1}, {"a": 2}]), ({}, [{"a": 1}, {"a": 2}]))
        self.assertEqual(record({"a": 1, "rates": [{"x": 2}]}), ({"a": 1}, [{"x": 2}]))
        self.assertEqual(record({"rates": {"K=7": {"x": 2}}, "times": [{"t": 3}]}),
                         ({}, [{"table": "rates", "name": "K=7", "x": 2},
                               {"table": "times", "t": 3}]))
        self.assertEqual(results_file.rows_of({"a b": 1, "c d": [1, 2]}),
                         [{"name": "a b", "value": 1}, {"name": "c d", "values": [1, 2]}])

    def test_Record_WritesOutputOfProgram(self):
        script = COMMON / "record.py"
        outputs = ({"benchmark": "b", "backend": "cpu", "rates": [{"way": "x", "rate": 1.5}]},
                   [{"p": 0.1}, {"p": 0.2}], [[{"p": 0.1}], [{"p": 0.2, "deep": {"a b": [1]}}]])
        for output in outputs:
            with self.subTest(output=output), tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, "a.json")
                subprocess.run([sys.executable, "-B", script, path, sys.executable, "-c",
                                f"print({json.dumps(json.dumps(output))})"], check=True)
                written = strict(path.read_text())
                self.assertEqual(errors(written), [])
                self.assertEqual(written["runs"][0]["benchmark"], "b" if "benchmark" in output else
                                 pathlib.Path(sys.executable).name)

    def test_RunsOfTwoFiles_JoinInOneFile(self):
        script = COMMON / "record.py"
        with tempfile.TemporaryDirectory() as folder:
            for name in ("a", "b"): # The program prints one JSON value per line.
                subprocess.run([sys.executable, "-B", script, f"{folder}/{name}.json",
                                sys.executable, "-c", "print('{\"x\": 1}\\n{\"x\": NaN}')"],
                               check=True)
            subprocess.run([sys.executable, "-B", script, "--join", f"{folder}/c.json",
                            f"{folder}/a.json", f"{folder}/b.json"], check=True)
            written = strict(pathlib.Path(folder, "c.json").read_text())
        self.assertEqual(errors(written), [])
        self.assertEqual([run["name"] for run in written["runs"]], ["a", "b"])
        self.assertEqual([run["rows"] for run in written["runs"]], [[{"x": 1}, {"x": None}]] * 2)

    def test_EveryBenchmark_UsesTheWriter(self):
        """No program in bench/ except results_file.py writes JSON to a file."""
        for path in (ROOT / "bench").glob("*/*"):
            if path.suffix in ("", ".py") and path.is_file() and path.name != "results_file.py":
                with self.subTest(path.name):
                    text = path.read_text(encoding="utf-8")
                    self.assertNotIn("json.dump(", text)
                    self.assertNotRegex(text, r"write_text\(json")
                    if '"--json", type=' in text:
                        self.assertIn("results_file", text)


if __name__ == "__main__":
    unittest.main()
