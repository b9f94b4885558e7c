#!/usr/bin/env python3
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the manual page and bash's completion from the option tables of gpufec, which
`gpufec --describe` prints as JSON.

Usage: make_manual.py GPUFEC FOLDER   writes FOLDER/gpufec.1 and FOLDER/gpufec
"""

import json
import pathlib
import re
import subprocess
import sys


def roff(text):
    """Returns `text` with those characters escaped that roff would interpret or cannot show."""
    text = text.replace("\\", r"\e").replace("-", r"\-").replace("'", r"\(aq")
    return text.replace("±", r"\[+-]")


def examples(text):
    """Formats example commands; a line that begins with "# " explains the next one."""
    return "".join(f".PP\n{roff(line[2:])}:\n" if line.startswith("# ") else
                   f".PP\n.RS\n.nf\n{roff(line)}\n.fi\n.RE\n" for line in text.split("\n") if line)


def sentence(text):
    """Returns `text` with a capital first letter, unless it begins with a value such as int8."""
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
            choices = ", ".join(first) + " or " + last # values are not capitalised
            help_text = f"{choices}; {o['help'].strip()}" if help_text else choices
        if o["initial"]:
            help_text += f" (default: {o['initial']})"
        yield (f".TP\n\\fB{roff('--' + o['name'])}\\fR{value}\n"
               f"{roff(help_text.strip()) or '-'}\n")


def alone(described):
    """Returns the names of the commands in `described` that have no decoder as an argument."""
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
            f".SH EXAMPLES\n{examples(described['examples'])}"
            f".SH COMMANDS\n{commands}\n.SH DECODERS\nof {roff(with_decoders(described))}\n{decoders}\n")
    for line in described["lines"]:
        page += (f".SH {roff(line['name'].upper())}\n"
                 f"\\fB{roff(line['name'])}\\fR {roff(line['synopsis'])}\n.PP\n"
                 f"{roff(line['description'])}\n")
        for table in line["tables"]:
            page += f".SS {roff(table['title'])}\n" + "".join(option_rows(table))
        page += f".SS Examples\n{examples(line['examples'])}"
    page += f".SH EXIT STATUS\n{roff(described['exit_status'].split(': ', 1)[1].strip())}\n"
    return page + (".SH SEE ALSO\nThe user guide of gr\\-gpufec, "
                   "docs/user\\-guide.md in its sources.\n")


def completion(described):
    """Returns a bash script that completes the commands, decoders, options and values in
    `described`."""
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
    decoders = {c["name"]: [] for c in described["commands"]}
    for line in described["lines"]:
        _, command, *decoder = line["name"].split()
        decoders[command] += decoder
    lonely = "|".join(alone(described))
    newline = "\n"
    return f"""# Completion of gpufec for bash; made from its option tables by apps/scripts/make_manual.py
_gpufec()
{{
    local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}}
    local command=${{COMP_WORDS[1]}} decoder=${{COMP_WORDS[2]}} words=""
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        words="{commands} --help --version"
    elif ((COMP_CWORD == 2)) && [[ $command != @({lonely}) ]]; then
        case $command in
{newline.join(f'        {c}) words="{" ".join(d)} --help" ;;' for c, d in decoders.items() if d)}
        esac
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
