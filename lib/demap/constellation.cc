// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "constellation.h"
#include "pipeline/refuse.h"
#include <algorithm>
#include <cmath>
#include <map>

namespace gr::gpufec::demap {

namespace {

constexpr double pi = 3.14159265358979323846;

// Where a label is: its ring, the innermost 0, and its angle in parts of 24 of half a
// turn.
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

// Tables 9 and 10: the radii of outer rings, as parts of the innermost.
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

const std::vector<std::pair<std::string, std::vector<std::string>>>& constellations()
{
    static const std::vector<std::pair<std::string, std::vector<std::string>>> all = {
        { "qpsk",
          { "1/4",
            "1/3",
            "2/5",
            "1/2",
            "3/5",
            "2/3",
            "3/4",
            "4/5",
            "5/6",
            "8/9",
            "9/10" } },
        { "8psk", { "3/5", "2/3", "3/4", "5/6", "8/9", "9/10" } },
        { "16apsk", { "2/3", "3/4", "4/5", "5/6", "8/9", "9/10" } },
        { "32apsk", { "3/4", "4/5", "5/6", "8/9", "9/10" } },
    };
    return all; // table 12
}

constellation make_constellation(const std::string& name, const std::string& rate)
{
    const auto& places = *choose<const std::vector<place>*>("constellation",
                                                            name,
                                                            { { "qpsk", &qpsk },
                                                              { "8psk", &psk8 },
                                                              { "16apsk", &apsk16 },
                                                              { "32apsk", &apsk32 } });
    const auto& of_name = *std::find_if(constellations().begin(),
                                        constellations().end(),
                                        [&](const auto& c) { return c.first == name; });
    const auto& rates = of_name.second;
    if (std::find(rates.begin(), rates.end(), rate) == rates.end()) {
        refuse("constellation", '"' + name + '"', "there is no MODCOD of it at " + rate);
    }
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
