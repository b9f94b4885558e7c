#!/usr/bin/env python3
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the manual page and the completion for bash from the option tables of gpufec, which
`gpufec --describe` gives as JSON.

Usage: make_manual.py GPUFEC FOLDER   writes FOLDER/gpufec.1 and FOLDER/gpufec
"""

import json
import pathlib
import re
import subprocess
import sys


def roff(text):
    """Text in which roff finds nothing of its own."""
    text = text.replace("\\", r"\e").replace("-", r"\-").replace("'", r"\(aq")
    return text.replace("±", r"\[+-]")


# What a first hour takes.
EXAMPLES = [
    ("Error rates of the CCSDS code, as a table and as JSON:",
     "gpufec ber viterbi --preset ccsds --range 3:0.5:4 --max-bits 1e6 --json rates.json"),
    ("A file of soft values, a signed byte each, as SatDump writes it; where pairs begin is found:",
     "gpufec decode viterbi --preset ccsds --lock auto recording.soft decoded.bin"),
    ("How fast this machine decodes DVB-S2:",
     "gpufec bench ldpc --rate 3/4 --seconds 1"),
]


def sentence(text):
    """With a capital, unless it begins with a value that is written so, as int8."""
    first = text.split(" ")[0].rstrip(",;")
    return text if re.search(r"[\d_]", first) else text[:1].upper() + text[1:]


def option_rows(table):
    for o in table["options"]:
        kind = o["kind"]
        value = "" if kind == "flag" else " " + r"\fI" + roff(
            kind if "|" not in kind else "choice") + r"\fR"
        help_text = sentence(o["help"].strip())
        if "|" in kind:
            *first, last = kind.split("|")
            choices = ", ".join(first) + " or " + last # as they are written
            help_text = f"{choices}; {o['help'].strip()}" if help_text else choices
        if o["initial"]:
            help_text += f" (default: {o['initial']})"
        yield (f".TP\n\\fB{roff('--' + o['name'])}\\fR{value}\n"
               f"{roff(help_text.strip()) or '-'}\n")


def alone(described):
    """The commands of no decoder."""
    return [words[1] for words in (line["name"].split() for line in described["lines"])
            if len(words) == 2]


def with_decoders(described):
    *first, last = [c["name"] for c in described["commands"] if c["name"] not in alone(described)]
    return ", ".join(first) + " and " + last


def manual(described):
    commands = "\n".join(f".TP\n\\fB{roff(c['name'])}\\fR\n{roff(c['summary'])}"
                         for c in described["commands"])
    decoders = "\n".join(f".TP\n\\fB{roff(d['name'])}\\fR\n{roff(d['summary'])}"
                         for d in described["decoders"])
    page = (f'.TH GPUFEC 1 "" "gpufec {roff(described["version"])}" "gr\\-gpufec"\n'
            ".SH NAME\ngpufec \\- forward error correction on a GPU or the CPU\n"
            ".SH SYNOPSIS\n\\fBgpufec\\fR \\fICOMMAND\\fR [\\fIDECODER\\fR] [\\fIOPTIONS\\fR]\n"
            ".PP\n\\fBgpufec\\fR \\fICOMMAND\\fR [\\fIDECODER\\fR] \\fB\\-\\-help\\fR\n"
            f".SH COMMANDS\n{commands}\n.SH DECODERS\nof {roff(with_decoders(described))}\n{decoders}\n")
    for line in described["lines"]:
        page += (f".SH {roff(line['name'].upper())}\n"
                 f"\\fB{roff(line['name'])}\\fR {roff(line['synopsis'])}\n.PP\n"
                 f"{roff(line['description'])}\n")
        for table in line["tables"]:
            page += f".SS {roff(table['title'])}\n" + "".join(option_rows(table))
    page += ".SH EXAMPLES\n" + "".join(
        f"{roff(what)}\n.PP\n.RS\n.nf\n{roff(command)}\n.fi\n.RE\n.PP\n"
        for what, command in EXAMPLES)
    page += f".SH EXIT STATUS\n{roff(described['exit_status'].split(': ', 1)[1].strip())}\n"
    return page + (".SH SEE ALSO\nThe user guide of gr\\-gpufec, "
                   "docs/user\\-guide.md in its sources.\n")


def completion(described):
    """For bash: commands, decoders, options, and the values of those that have a list."""
    cases, values = [], set()
    for line in described["lines"]:
        key = " ".join(line["name"].split()[1:])
        options = [o for t in line["tables"] for o in t["options"]]
        cases.append(f'        "{key}") words="'
                     + " ".join(["--help"] + ["--" + o["name"] for o in options]) + '" ;;')
        for o in options:
            if "|" in o["kind"]:
                values.add((o["name"], o["kind"].replace("|", " "), key))
    choices = "\n".join(f'        "{key} --{name}") words="{words}" ;;'
                        for name, words, key in sorted(values))
    files = "|".join(sorted({"--" + o["name"] for line in described["lines"]
                             for t in line["tables"] for o in t["options"]
                             if o["kind"] == "file"}))
    commands = " ".join(c["name"] for c in described["commands"])
    decoders = " ".join(d["name"] for d in described["decoders"])
    lonely = "|".join(alone(described))
    newline = "\n"
    return f"""# Completion of gpufec for bash; made from its option tables by apps/make_manual.py
_gpufec()
{{
    local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}}
    local command=${{COMP_WORDS[1]}} decoder=${{COMP_WORDS[2]}} words=""
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        words="{commands} --help --version"
    elif ((COMP_CWORD == 2)) && [[ $command != @({lonely}) ]]; then
        words="{decoders} --help"
    else
        [[ $command == @({lonely}) ]] && decoder=""
        case $previous in
        {files}) COMPREPLY=($(compgen -f -- "$current")); return ;;
        esac
        case "$command${{decoder:+ $decoder}} $previous" in
{choices}
        esac
        if [[ -z $words && $current == -* ]]; then
            case "$command${{decoder:+ $decoder}}" in
{newline.join(cases)}
            esac
        elif [[ -z $words ]]; then
            COMPREPLY=($(compgen -f -- "$current"))
            return
        fi
    fi
    COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o filenames -F _gpufec gpufec
"""


def main():
    if len(sys.argv) != 3:
        sys.exit(re.sub(r"(?s).*Usage", "Usage", __doc__).strip())
    described = json.loads(subprocess.run([sys.argv[1], "--describe"], check=True,
                                          capture_output=True).stdout)
    folder = pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "gpufec.1").write_text(manual(described), encoding="utf-8")
    (folder / "gpufec").write_text(completion(described), encoding="utf-8")


if __name__ == "__main__":
    main()
