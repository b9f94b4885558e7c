#!/usr/bin/env python3
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests that names, defaults and docstrings in Python match the public C++ headers."""

import functools
import importlib.util
import pydoc
import re
import unittest

from gnuradio import gpufec
import qa_support as support

headers = support.headers()

# Python names with hand-written bindings. IN_CPP maps them to their C++ names where these differ.
BY_HAND = ["codebook_davey_mackay", "codebook_from_file", "codebook_marker",
           "codebook_random", "conv_preset", "conv_presets", "find_conv_preset",
           "polynomials_from_gr_fec"]
IN_CPP = {"codebook_from_file": "sync_code.from_file"}
SAMPLE = r'''
namespace gr {
// Not for users.
#define NOTHING {
/*!
 * \brief Decodes \p polynomials, \b fast. \ingroup gpufec
 *
 * \details
 * Tags:
 *  - \c one (long): a tag whose text
 *    is long,
 *  - \c two.
 * Text after a list.
 */
class GPUFEC_API sample : virtual public gr::block
{
public:
    typedef std::shared_ptr<sample> sptr;
    /*!
     * Makes one.
     * \param polynomials octal,
     *        see \p scale
     * \param scale in dB
     * \return a pointer
     * \throws std::invalid_argument naming it
     */
    static sptr make(const std::vector<int>& polynomials = { 0171, -0133 },
                     float scale = 2.0f, const std::map<int, std::string>& m = {});
    //! Sets it. \throws std::invalid_argument
    virtual void set_scale(float scale) = 0;
    unsigned states() const { return 1u << 2; } //!< how many
    //! \copydoc other
    std::function<void()> wake = [] {};
private:
    int d_scale;
};
//! Another.
GPUFEC_API int other(unsigned n, const std::string& name = "a, b");
} // namespace gr
'''
SAMPLE_OPTIONS = r'''
//! Parameters.
struct sample_options {
    // Input
    //! words of a code,
    //! see \p rule
    std::vector<int> words;
    // Code
    // A comment that is no heading.
    //! the rule
    gpufec::rule rule = gpufec::rule::automatic;
    //! "off" or "float"
    std::optional<other_rule> other = std::nullopt;
    // Input
    //! further words
    std::vector<int> more = {};
};
GPUFEC_API rule rule_from_string(const std::string& name);
GPUFEC_API other_rule other_rule_from_string(const std::string& name);
class GPUFEC_API sample : virtual public gr::block
{
public:
    //! Makes one.
    //! \throws std::invalid_argument naming it
    static sptr make(const sample_options& options);
};
'''


def signature_of(function):
    """Parses the first line of the docstring of `function`. Returns a dictionary that maps the name
    of each parameter to its default, or to None without a default."""
    line = function.__doc__.splitlines()[0]
    parameters = re.fullmatch(r"\w+\((?:self: [\w.]+)?(?:, )?(.*)\) -> .*", line)[1]
    value = r"'[^']*'|\[[^]]*\]|[^,]+"
    found = re.findall(rf"(\w+): [\w.]+(?:\[[\w, [\]]*\])?(?: = ({value}))?(?:, |$)", parameters)
    return {name: eval(default) if default else None for name, default in found}


def text_of(bound):
    """Returns the docstring of `bound` without its first line, pybind11's signature."""
    return re.sub(r"\A\w+\(.*\) -> .*\n\n", "", bound.__doc__).rstrip("\n")


class qa_headers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.declared = support.declared()
        cls.blocks = [d for d in cls.declared.values() if d.is_block]
        cls.bound = list(cls.blocks)
        if importlib.util.find_spec("gnuradio.fec"):
            cls.bound += [d for d in cls.declared.values() if d.is_fec_decoder]

    def expected(self, declaration):
        return headers.plain(declaration.doc, self.declared)

    def test_EveryBlock_IsBoundWithItsMethods(self):
        self.assertEqual({b.name for b in self.blocks},
                         {"bbframe_to_ts", "bch_decoder", "bch_encoder", "ccsds_deframer",
                          "ccsds_fec_receiver", "channel_bsid",
                          "conv_encoder", "dvbs2_fec_receiver", "dvbs_deframer",
                          "dvbs_fec_receiver", "gpu_ldpc_dvbs2", "gpu_sync_map",
                          "gpu_viterbi_pbvd", "ldpc_encoder", "rs_decoder", "rs_encoder",
                          "sync_encoder"})
        for block in self.blocks:
            own = {name for name in vars(getattr(gpufec, block.name)) if name[0] != "_"}
            methods = {m.name for m in block.members.values() if m.parameters is not None}
            self.assertEqual(own | {"make"}, methods)

    def test_Parser_FindsAllVirtualFunctions(self):
        """headers.py finds all virtual functions of a block that a plain regular expression
        finds."""
        for block in self.blocks:
            path = support.ROOT / "include" / "gnuradio" / "gpufec" / f"{block.name}.h"
            found = re.findall(r"(?m)^ +virtual [\w:<>&,* ]*?(\w+)\(", path.read_text())
            methods = [m.name for m in block.members.values() if m.parameters is not None]
            self.assertEqual(["make"] + found, methods)

    def test_DocstringsOfBlocks_EqualHeaders(self):
        for block in self.bound:
            bound = getattr(gpufec, block.name)
            self.assertEqual(bound.__doc__, self.expected(block))
            for method in block.members.values():
                if method.parameters is None:
                    continue
                name = "__init__" if method.name == "make" else method.name
                text = text_of(getattr(bound, name))
                with self.subTest(block=block.name, method=method.name):
                    self.assertTrue(text)
                    self.assertEqual(text, self.expected(method))
                    self.assertNotIn("\\", text)
                    self.assertLessEqual(max(map(len, text.splitlines())), headers.WIDTH)

    def test_ParametersOfBlocks_EqualHeaders(self):
        for block in self.bound:
            bound = getattr(gpufec, block.name)
            for method in block.members.values():
                if method.parameters is None:
                    continue
                name = "__init__" if method.name == "make" else method.name
                found = signature_of(getattr(bound, name))
                declared = {p.name: p.python_default if p.default else None
                            for p in method.parameters}
                with self.subTest(block=block.name, method=method.name):
                    self.assertEqual(list(found.items()), list(declared.items()))
                    if block.is_fec_decoder and name == "__init__":
                        self.assertEqual(signature_of(bound.make), found)

    def test_EveryParameter_IsDescribed(self):
        for block in self.bound:
            make = block.members["make"]
            described = re.findall(r"\\param (\w+)", make.doc)
            with self.subTest(block=block.name):
                self.assertEqual(sorted(described), sorted(p.name for p in make.parameters))
                self.assertEqual([p.name for p in make.parameters if not p.doc], [])
                self.assertEqual(make.options, f"{block.name}_options")

    def test_HelpOfABlock_GroupsItsParameters(self):
        """help() shows the parameters of a block below the headings of its options struct: code,
        input, output, running, advanced. Each parameter is below one heading, in the struct's
        order."""
        for block in self.bound:
            text = pydoc.render_doc(getattr(gpufec, block.name).__init__, renderer=pydoc.plaintext)
            arguments = re.search(r"(?ms)^ *Args:\n(.*?)(?:^ *Raises:$|\Z)", text)[1]
            margin = re.match(" *", arguments)[0]
            found = {}
            for heading, name in re.findall(rf"(?m)^{margin}(?:([A-Z]\w+):$|  (\w+) : )",
                                            arguments):
                if heading:
                    found[heading] = []
                elif found:
                    found[list(found)[-1]].append(name)
            parameters = block.members["make"].parameters
            expected = {group: [p.name for p in parameters if p.group == group]
                        for group in headers.GROUPS}
            with self.subTest(block=block.name):
                self.assertEqual(list(found.items()),
                                 [(group, names) for group, names in expected.items() if names])
                if block.name.startswith("gpu_"):
                    self.assertEqual(list(found),
                                     ["Code", "Input", "Output", "Running", "Advanced"])
                    self.assertEqual(sum(map(len, found.values())), len(parameters))

    def test_HandWrittenBindings_EqualHeaders(self):
        """Docstrings, parameter names and defaults of hand-written bindings agree with the
        headers."""
        names = BY_HAND + [f"conv_preset.{name}" for name in vars(gpufec.conv_preset)
                           if name[0] != "_"]
        self.assertIn("conv_preset.termination", names)
        for name in names:
            bound = functools.reduce(getattr, name.split("."), gpufec)
            first, *rest = IN_CPP.get(name, name).split(".")
            declaration = self.declared[first]
            for member in rest:
                declaration = declaration.members[member]
            with self.subTest(name):
                self.assertTrue(declaration.doc)
                self.assertEqual(text_of(bound), self.expected(declaration))
                if declaration.parameters:
                    found = signature_of(bound)
                    self.assertEqual(list(found), [p.name for p in declaration.parameters])
                    for parameter in declaration.parameters:
                        if parameter.default:
                            self.assertEqual(found[parameter.name], parameter.python_default)

    def test_NamesOutsideArrays_AreBlocks(self):
        names = {name for name in dir(gpufec) if name[0] != "_"}
        names -= {"gpufec_python", "gpufec_fec_python", "arrays", *gpufec.arrays.__all__}
        self.assertEqual(names, {b.name for b in self.blocks})
        self.assertLessEqual(set(BY_HAND), set(gpufec.arrays.__all__))

    def test_SampleHeader_IsParsedToDocstrings(self):
        found = headers.parse(SAMPLE)
        self.assertEqual(list(found), ["sample", "other"])
        sample = found["sample"]
        self.assertTrue(sample.is_block)
        self.assertFalse(found["other"].is_block)
        self.assertEqual(headers.plain(sample.doc),
                         "Decodes polynomials, fast.\n\nTags:\n  - one (long): a tag whose "
                         "text is long,\n  - two.\n\nText after a list.")
        self.assertEqual(headers.plain(sample.members["make"].doc),
                         "Makes one.\n\nArgs:\n    polynomials : octal, see scale\n"
                         "    scale : in dB\n\nReturns:\n    a pointer\n\n"
                         "Raises:\n    ValueError : naming it")
        self.assertEqual(headers.plain(sample.members["set_scale"].doc),
                         "Sets it.\n\nRaises:\n    ValueError")
        self.assertEqual(sample.members["states"].doc, "how many")
        self.assertEqual(headers.plain(sample.members["wake"].doc, found), "Another.")
        self.assertEqual([m.name for m in sample.setters()], ["set_scale"])
        self.assertFalse(sample.members["d_scale"].public)
        self.assertEqual([(p.name, p.python_default)
                          for p in sample.members["make"].parameters],
                         [("polynomials", [0o171, -0o133]), ("scale", 2.0), ("m", {})])
        n, name = found["other"].parameters
        self.assertEqual((n.type, n.default, name.type, name.python_default),
                         ("unsigned", None, "const std::string&", "a, b"))

    def test_MembersOfOptionsStruct_BecomeParameters(self):
        found = headers.parse(SAMPLE_OPTIONS)
        make = found["sample"].members["make"]
        headers.expand_options(make, found)
        self.assertEqual(make.options, "sample_options")
        self.assertEqual(
            [(p.name, p.group, p.type, p.enum, p.default and p.python_default)
             for p in make.parameters],
            [("words", "Input", "std::vector<int>", "", None),
             ("rule", "Code", "std::string", "rule", "auto"),
             ("other", "Code", "std::optional<std::string>", "other_rule", None),
             ("more", "Input", "std::vector<int>", "", [])])
        self.assertEqual(headers.plain(make.doc),
                         'Makes one.\n\nArgs:\n'
                         '    Code:\n      rule : the rule\n      other : "off" or "float"\n'
                         '    Input:\n      words : words of a code, see rule\n'
                         '      more : further words\n\n'
                         'Raises:\n    ValueError : naming it')


if __name__ == "__main__":
    support.main()
