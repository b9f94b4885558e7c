// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Builds constellations from the tables of the standards, and lists all MODCODs. */

#include "common/refuse.h"
#include "constellation.h"
#include "tables_dvbs2x.h"
#include <algorithm>
#include <cmath>
#include <map>

namespace gr::gpufec::demap {

namespace {

constexpr double pi = 3.14159265358979323846;

// Position of a label's point: ring (0 is the innermost) and angle in units of π/24.
struct place {
    int ring, angle;
};

const std::vector<place> qpsk = { { 0, 6 }, { 0, -6 }, { 0, 18 }, { 0, -18 } };
const std::vector<place> psk8 = { { 0, 6 },  { 0, 0 },  { 0, 24 }, { 0, -18 },
                                  { 0, 12 }, { 0, -6 }, { 0, 18 }, { 0, -12 } };
const std::vector<place> apsk16 = { { 1, 6 },  { 1, -6 },  { 1, 18 }, { 1, -18 },
                                    { 1, 2 },  { 1, -2 },  { 1, 22 }, { 1, -22 },
                                    { 1, 10 }, { 1, -10 }, { 1, 14 }, { 1, -14 },
                                    { 0, 6 },  { 0, -6 },  { 0, 18 }, { 0, -18 } };
const std::vector<place> apsk32 = {
    { 1, 6 },   { 1, 10 },  { 1, -6 },  { 1, -10 }, { 1, 18 },  { 1, 14 }, { 1, -18 },
    { 1, -14 }, { 2, 3 },   { 2, 9 },   { 2, -6 },  { 2, -12 }, { 2, 18 }, { 2, 12 },
    { 2, -21 }, { 2, -15 }, { 1, 2 },   { 0, 6 },   { 1, -2 },  { 0, -6 }, { 1, 22 },
    { 0, 18 },  { 1, -22 }, { 0, -18 }, { 2, 0 },   { 2, 6 },   { 2, -3 }, { 2, -9 },
    { 2, 21 },  { 2, 15 },  { 2, 24 },  { 2, -18 }
};

// Radii of outer rings relative to the innermost, by rate: EN 302 307-1, tables 9 and 10.
const std::map<std::string, double> radii16 = { { "2/3", 3.15 }, { "3/4", 2.85 },
                                                { "4/5", 2.75 }, { "5/6", 2.70 },
                                                { "8/9", 2.60 }, { "9/10", 2.57 } };
const std::map<std::string, std::pair<double, double>> radii32 = {
    { "3/4", { 2.84, 5.27 } }, { "4/5", { 2.72, 4.87 } },  { "5/6", { 2.64, 4.64 } },
    { "8/9", { 2.54, 4.33 } }, { "9/10", { 2.53, 4.30 } },
};

} // namespace

double constellation::kurtosis() const
{
    double sum = 0;
    for (const auto& p : points) {
        sum += std::norm(p) * std::norm(p);
    }
    return sum / points.size();
}

double constellation::peak() const
{
    double most = 0;
    for (const auto& p : points) {
        most = std::max(most, std::abs(p));
    }
    return most;
}

const std::vector<modcod>& modcods()
{
    static const auto all = [] {
        const std::vector<std::string> low = { "1/4", "1/3", "2/5", "1/2" },
                                       high = { "3/4", "4/5", "5/6", "8/9", "9/10" };
        std::vector<modcod> made;
        const auto add = [&](const char* name, const std::vector<std::string>& rates) {
            for (const auto& rate : rates) {
                for (const auto* const size : { "normal", "short" }) {
                    if (rate != "9/10" || std::string(size) == "normal") {
                        made.push_back({ "dvbs2", name, rate, size });
                    }
                }
            }
        };
        add("qpsk", low); // EN 302 307-1, table 12
        add("qpsk", { "3/5", "2/3" });
        add("qpsk", high);
        add("8psk", { "3/5", "2/3", "3/4", "5/6", "8/9", "9/10" });
        add("16apsk", { "2/3" });
        add("16apsk", high);
        add("32apsk", high);
        for (const auto* const rate : { "13/45", "9/20", "11/20" }) {
            made.push_back({ "dvbs2x", "qpsk", rate, "normal" });
        }
        for (const auto* const rate :
             { "11/45", "4/15", "14/45", "7/15", "8/15", "32/45" }) {
            made.push_back({ "dvbs2x", "qpsk", rate, "short" });
        }
        for (const auto& c : dvbs2x_constellations()) {
            made.push_back({ "dvbs2x", c.name, c.rate, c.frame_size });
        }
        return made;
    }();
    return all;
}

const std::vector<modcod>& vlsnr_modcods()
{
    static const auto all = [] {
        std::vector<modcod> made{ { "dvbs2x", "qpsk", "2/9", "vl-snr normal" } };
        const auto add = [&](const char* size, const std::vector<std::string>& rates) {
            for (const auto& rate : rates) {
                made.push_back({ "dvbs2x", "pi/2-bpsk", rate, size });
            }
        };
        add("vl-snr medium", { "1/5", "11/45", "1/3" });
        add("vl-snr short sf2", { "1/5", "11/45" });
        add("vl-snr short", { "1/5", "4/15", "1/3" });
        return made;
    }();
    return all;
}

bool is_vlsnr(const std::string& frame_size)
{
    return frame_size.rfind("vl-snr", 0) == 0;
}

namespace {

const name_list constellations = { "qpsk",   "8psk",    "16apsk",  "32apsk",   "8apsk",
                                   "64apsk", "128apsk", "256apsk", "pi/2-bpsk" };

// Returns the MODCODs with this frame size.
const std::vector<modcod>& modcods_of(const std::string& frame_size)
{
    return is_vlsnr(frame_size) ? vlsnr_modcods() : modcods();
}

const std::vector<place>* const places_dvbs2[] = { &qpsk, &psk8, &apsk16, &apsk32 };

constellation make_dvbs2x(const dvbs2x_constellation& from)
{
    constellation c{ from.name, 0, {}, {} };
    for (const auto* digit = from.columns; *digit; ++digit, ++c.bits) {
        c.columns.push_back(*digit - '0');
    }
    double energy = 0;
    for (unsigned label = 0; label < 1u << c.bits; ++label) {
        c.points.emplace_back(from.points[label].i, from.points[label].q);
        energy += std::norm(c.points.back());
    }
    for (auto& p : c.points) {
        p /= std::sqrt(energy / c.points.size());
    }
    return c;
}

} // namespace

std::optional<std::pair<std::string, std::string>> split_modcod(const std::string& text)
{
    auto joined = folded(text);
    joined.erase(std::remove(joined.begin(), joined.end(), ' '), joined.end());
    for (const auto& name : constellations) {
        const auto begin = folded(name);
        if (joined.size() > begin.size() && joined.compare(0, begin.size(), begin) == 0) {
            return std::make_pair(name, joined.substr(begin.size()));
        }
    }
    return {};
}

std::string constellation_named(const std::string& text)
{
    const auto found = find_name(text, constellations);
    return found ? constellations[*found] : text;
}

bool is_of(const modcod& m, const std::string& standard)
{
    return m.standard == standard || (m.standard == "dvbs2" && standard == "dvbs2x");
}

void refuse_constellation(const std::string& name,
                          const std::string& rate,
                          const std::string& frame_size,
                          const std::string& standard)
{
    std::string allowed;
    for (const auto& m : modcods_of(frame_size)) {
        if (m.rate == rate && m.frame_size == frame_size && is_of(m, standard)) {
            allowed += (allowed.empty() ? ", allowed: " : ", ") + m.name;
        }
    }
    refuse("constellation",
           '"' + name + '"',
           "no MODCOD has this constellation at rate " + rate + " in " + frame_size +
               " frames" + allowed);
}

constellation make_constellation(const std::string& given_name,
                                 const std::string& rate,
                                 const std::string& frame_size,
                                 const std::string& standard)
{
    const auto index = index_of_name("constellation",
                                     given_name,
                                     constellations,
                                     "allowed values are",
                                     "docs/reference/dvb.md");
    const auto& name = constellations[index];
    const auto& all = modcods_of(frame_size);
    const bool known = std::any_of(all.begin(), all.end(), [&](const auto& m) {
        return m.name == name && m.rate == rate && m.frame_size == frame_size &&
               is_of(m, standard);
    });
    if (!known) {
        refuse_constellation(name, rate, frame_size, standard);
    }
    if (name == "pi/2-bpsk") {
        const auto point = std::polar(1.0, pi / 4);
        return {
            name, 1, { point, -point }, { 0 }, frame_size == "vl-snr short sf2" ? 2u : 1u
        };
    }
    for (const auto& c : dvbs2x_constellations()) {
        if (name == c.name && rate == c.rate && frame_size == c.frame_size) {
            return make_dvbs2x(c);
        }
    }
    const auto& places = *places_dvbs2[index];
    std::vector<double> radii = { 1 };
    if (&places == &apsk16) {
        radii.push_back(radii16.at(rate));
    } else if (&places == &apsk32) {
        radii.push_back(radii32.at(rate).first);
        radii.push_back(radii32.at(rate).second);
    }
    constellation c{ name, 0, {}, {} };
    double energy = 0;
    for (const auto& p : places) {
        c.points.push_back(std::polar(radii[p.ring], p.angle * pi / 24));
        energy += radii[p.ring] * radii[p.ring];
    }
    for (auto& p : c.points) {
        p /= std::sqrt(energy / places.size());
    }
    for (std::size_t m = places.size(); m > 1; m /= 2) {
        c.columns.push_back(c.bits++);
    }
    if (&places == &psk8 && rate == "3/5") {
        std::reverse(c.columns.begin(), c.columns.end());
    }
    return c;
}

} // namespace gr::gpufec::demap
