#!/usr/bin/env python3
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes options and checks of frame sizes, rates and constellations into the block definitions.

Usage: make_codes.py, with the module gnuradio.gpufec in Python's search path (PYTHONPATH)

The codes are those of the library. Text between "# Codes: NAME" and "# End of codes" is replaced.
"""

import functools
import pathlib
import re
import textwrap

import yaml

from gnuradio import gpufec

FOLDER = pathlib.Path(__file__).resolve().parent
CODES = gpufec.ldpc_code
# For each NR base graph, the lists of options contain only these of the 51 lifting sizes, and only
# rates whose denominator in lowest terms is at most LARGEST_OFFERED_DENOMINATOR.
OFFERED_LIFTINGS = (64, 128, 256, 384)
LARGEST_OFFERED_DENOMINATOR = 6
CONSTELLATIONS = ("qpsk", "8psk", "16apsk", "32apsk", "8apsk", "64apsk", "128apsk", "256apsk",
                  "pi/2-bpsk")
SHORT_TITLES = {"DVB-S2": "S2", "DVB-S2X": "S2X", "DVB-T2": "T2", "CCSDS C2": "C2",
                "CCSDS AR4JA": "AR4JA", "CCSDS TC": "TC", "5G NR": "NR"}


def accepted(make, *code, **parameters):
    try:
        return make(*code, **parameters)
    except ValueError:
        return None


def is_nr(size):
    return size.startswith("bg")


@functools.lru_cache(None)
def sizes_and_rates(standard, make=None):
    """Returns the rates by frame size. If `make`, the constructor of a block, is given, only the
    codes that the block accepts are included."""
    found = {}
    for size in CODES.frame_sizes(standard):
        rates = [rate for rate in CODES.rates(standard, size)
                 if not make or accepted(make, standard, size, rate)]
        if rates:
            found[size] = rates
    return found


@functools.lru_cache(None)
def modcods(standard, size, constellation):
    """Returns the rates of the MODCODs with a constellation, those of DVB-S2 first."""
    decoder, found = None, []
    for rate in CODES.rates(standard, size):
        if decoder is None:
            decoder = accepted(gpufec.gpu_ldpc_dvbs2, standard, size, rate, backend="cpu",
                               soft_input="symbols", constellation=constellation)
            works = decoder is not None
        else:
            works = accepted(lambda: [decoder.set_code(f"{size} {rate}")]) is not None
        if works:
            found.append(rate)
    return sorted(found, key=lambda rate: rate not in CODES.rates("dvbs2", "normal"))


def has_symbols(standard, size, rate):
    """Raises ValueError if no constellation has this code."""
    if not any(rate in modcods(standard, size, c) for c in CONSTELLATIONS):
        raise ValueError(f"{standard} {size} {rate}")
    return True


def folded(name):
    """Returns the form in which blocks compare a name: in lower case, without - and _ after its
    first character."""
    return name[:1].lower() + re.sub("[-_]", "", name[1:].lower())


def quoted(values):
    values = [folded(v) for v in values]
    return "(" + ", ".join(f"'{v}'" for v in values) + ("," if len(values) == 1 else "") + ")"


def listed(values, last="and"):
    return f" {last} ".join(filter(None, [", ".join(values[:-1]), values[-1]]))


def check(sentence, condition):
    """Returns the lines of a GRC assertion, which shows the sentence if the condition is false.
    Names in the condition are compared after folded()."""
    names = re.findall(r"\b(?:frame_size|rate|constellation)\b", condition)
    if names := list(dict.fromkeys(names)):
        fold = "t[:1] + t[1:].replace('-', '').replace('_', '')"
        comma = "," if len(names) == 1 else ""
        condition = (f"all({condition} for {', '.join(names)}{comma} in [[{fold} for t in "
                     f"({', '.join(f'{n}.lower()' for n in names)}{comma})]])")
    text = f"${{ '{sentence}' and ({condition}) }}"
    assert '"' not in text
    return textwrap.wrap(f'- "{text}"', 92, subsequent_indent="    ", break_long_words=False,
                         break_on_hyphens=False)


def allowed(field, values, owner):
    shown = listed(values, "or") if len(values) <= 12 else "one of the following"
    return f"{field}: {shown} with {owner}"


def size_checks(label, standards, make, ppdus):
    groups = {} # maps frame sizes to the standards that have these sizes
    for standard, title in standards.items():
        if standard != "nr":
            groups.setdefault(tuple(sizes_and_rates(standard, make)), {})[standard] = title
    for sizes, group in groups.items():
        other = (f"standard != '{list(group)[0]}'" if len(group) == 1 else
                 f"standard not in {quoted(list(group))}")
        if ppdus and "wifi" in group:
            other += " or psdu_bytes" # the standard computes the frame sizes of PPDUs
        yield check(allowed(label, sizes, listed(list(group.values()), "or")),
                    f"{other} or frame_size in {quoted(sizes)}")
    if "nr" in standards:
        sizes = sizes_and_rates("nr")
        liftings = [size[5:] for size in sizes if size.startswith("bg1 z")]
        assert list(sizes) == [f"bg{graph} z{z}" for graph in (1, 2) for z in liftings]
        yield check(f"{label}: graph and lifting size, such as bg1 z384, with {standards['nr']}",
                    "standard != 'nr' or (frame_size[:5] in ('bg1 z', 'bg2 z') and "
                    f"frame_size[5:] in '{' '.join(liftings)}'.split())")


def rate_checks(standards, make):
    for standard, title in standards.items():
        sizes = sizes_and_rates(standard, make)
        groups = {}
        for size, rates in sizes.items():
            groups.setdefault(tuple(rates), []).append(size)
        for rates, group in groups.items():
            condition = f"standard != '{standard}' or "
            owner = title
            if standard == "nr":
                graph = group[0][:3]
                assert group == [size for size in sizes if size.startswith(graph)]
                condition += f"frame_size[:3] != '{graph}' or "
                owner += f" {graph}"
            elif len(groups) > 1:
                condition += (f"frame_size != '{folded(group[0])}' or " if len(group) == 1 else
                              f"frame_size not in {quoted(group)} or ")
                owner += f" {listed(group, 'or')}"
            values = quoted(rates)
            sentence = allowed("Rate", rates, owner)
            if standard == "nr":
                message, most = rates[1].split("/")
                least = rates[-1].split("/")[1]
                assert list(rates[1:]) == [f"{message}/{n}" for n in
                                           range(int(most), int(least) - 1, -1)]
                values = f"['{rates[0]}'] + ['{message}/%d' % n for n in range({least}, " \
                         f"{int(most) + 1})]"
                sentence = f"Rate: {rates[0]}, or {rates[-1]} to {rates[1]}, with {owner}"
            yield check(sentence, f"{condition}rate in {values}")


def constellation_checks(standards, constellations, condition):
    for standard, size in ((s, z) for s in standards if s in ("dvbs2", "dvbs2x")
                           for z in sizes_and_rates(s, has_symbols)):
        rates = {c: quoted(modcods(standard, size, c)) for c in constellations
                 if modcods(standard, size, c)}
        table = ", ".join(f"'{folded(c)}': {values}" for c, values in rates.items())
        yield check("Constellation: with one of the following rates in "
                    f"{standards[standard]} {size}",
                    f"{condition}standard != '{standard}' or frame_size != '{folded(size)}' or "
                    f"rate in {{{table}}}.get(constellation, ())")


def size_options(standards, make):
    titles = {"normal": "Normal", "short": "Short", "medium": "Medium (S2X)",
              "vl-snr short sf2": "VL-SNR short, SF2"}
    options = {}
    for standard, title in standards.items():
        for size in sizes_and_rates(standard, make):
            if is_nr(size):
                graph, lifting = size[2], int(size[5:])
                if lifting in OFFERED_LIFTINGS:
                    options[size] = f"NR: graph {graph}, Z = {lifting}"
            elif size.isdigit():
                bits = {"ccsds_c2": "", "ccsds_ar4ja": "K = "}.get(standard, "N = ")
                options[size] = f"{SHORT_TITLES.get(title, title)}: {bits}{size}"
            else:
                options.setdefault(size, titles.get(size) or size.replace("vl-snr", "VL-SNR"))
    return options


def is_offered(size, rate):
    top, bottom = map(int, rate.split("/"))
    return not is_nr(size) or any(top * d % bottom == 0
                                  for d in range(1, LARGEST_OFFERED_DENOMINATOR + 1))


def rate_options(standards, make):
    """Returns the rates with their labels. The rates of DVB-S2 normal come first, and their labels
    name no standard."""
    options = {rate: rate for rate in sizes_and_rates("dvbs2", make)["normal"]}
    places = {}
    for standard, title in standards.items():
        for size, rates in sizes_and_rates(standard, make).items():
            for rate in rates:
                if rate not in options and is_offered(size, rate):
                    places.setdefault(rate, {}).setdefault(title, []).append(size)
    for rate, where in places.items():
        names = [SHORT_TITLES.get(title, title) +
                 (f" {sizes[0]}" if title == "DVB-S2X" and len(sizes) == 1 else "")
                 for title, sizes in where.items()]
        options[rate] = f"{rate} ({', '.join(names)})"
    return options


def option_lines(options):
    def lines(name, values):
        text = f"{name}: [" + ", ".join(
            f"'{v}'" if re.fullmatch(r"\d+", v) or re.search("[,:=]", v) else v
            for v in values) + "]"
        return textwrap.wrap(text, 92, initial_indent="    ", subsequent_indent="        ",
                             break_long_words=False, break_on_hyphens=False)
    return lines("options", options) + lines("option_labels", options.values())


def with_codes(text):
    """Returns the text of a block definition with new codes between its marks."""
    drawn = yaml.safe_load(text)
    fields = {p["id"]: p for p in drawn["parameters"]}
    known = CODES.standards()
    standards = {s: title for s, title in zip(fields["standard"]["options"],
                                              fields["standard"]["option_labels"])
                 if s in known}
    receiver = drawn["id"] == "gpufec_dvbs2_fec_receiver"
    make = (has_symbols if receiver else
            None if len(standards) == len(known) else gpufec.bch_encoder)
    label = fields["frame_size"]["label"]
    constellations = fields.get("constellation", {}).get("options", [])
    assert not constellations or tuple(constellations) == CONSTELLATIONS

    def checks():
        condition = "" if receiver else "soft_input[:7] != 'symbols' or "
        yield from size_checks(label, standards, make, "psdu_bytes" in fields)
        if not receiver:
            yield from rate_checks(standards, make)
        if constellations:
            yield check("Constellation: one of the list, or a variable that holds one as a "
                        "string, such as qpsk", condition + f"constellation in "
                        f"{quoted(constellations)}")
            yield from constellation_checks(standards, constellations, condition)

    def made(name):
        if name == "frame_size":
            return option_lines(size_options(standards, make))
        if name == "rate":
            return option_lines(rate_options(standards, make))
        return sum(checks(), [])

    return re.sub(r"( *# Codes: (\w+)\n)(?:.*\n)*?( *# End of codes\n)",
                  lambda found: found[1] + "".join(f"{line}\n" for line in made(found[2])) +
                  found[3], text)


def definitions():
    return [path for path in sorted(FOLDER.rglob("*.block.yml"))
            if "# Codes: " in path.read_text()]


if __name__ == "__main__":
    for definition in definitions():
        definition.write_text(with_codes(definition.read_text()))
