// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Reed-Solomon codes: parameters, checks and the codes of standards. */

#include "common/names.h"
#include "common/refuse.h"
#include "field.h"
#include <numeric>

namespace gr::gpufec {

struct reed_solomon_code::parameters {
    std::string name;
    unsigned n, k, field, first_root, root_step;
    bool dual_basis;
};

namespace {

struct known_code {
    const char* name;
    unsigned n, k, field, first_root, root_step;
    bool dual_basis;
};

constexpr unsigned ccsds_field = 0x187; // x^8 + x^7 + x^2 + x + 1
constexpr unsigned dvb_field = 0x11d;   // x^8 + x^4 + x^3 + x^2 + 1

// The generator of CCSDS has the roots alpha^(11 j) for j from 128 − t to 127 + t.
constexpr known_code known_codes[] = {
    { "ccsds-223", 255, 223, ccsds_field, 112, 11, true },
    { "ccsds-239", 255, 239, ccsds_field, 120, 11, true },
    { "ccsds-223-conventional", 255, 223, ccsds_field, 112, 11, false },
    { "ccsds-239-conventional", 255, 239, ccsds_field, 120, 11, false },
    { "dvb", 204, 188, dvb_field, 0, 1, false },
};

} // namespace

reed_solomon_code::reed_solomon_code(unsigned n,
                                     unsigned k,
                                     unsigned field,
                                     unsigned first_root,
                                     unsigned root_step,
                                     bool dual_basis)
{
    constexpr unsigned order = reed_solomon::field::order;
    const reed_solomon::field checked(field);
    require(n >= 2 && n <= order, "n", n, "2 to 255");
    require(k >= 1 && k < n, "k", k, "1 to n - 1 = " + std::to_string(n - 1));
    require(n - k <= max_parity,
            "k",
            k,
            "those with up to " + std::to_string(max_parity) + " parity symbols");
    require(first_root < order, "first_root", first_root, "0 to 254");
    require(root_step >= 1 && root_step < order && std::gcd(root_step, order) == 1,
            "root_step",
            root_step,
            "1 to 254 without a common divisor with 255");
    require(!dual_basis || field == ccsds_field,
            "field",
            field,
            std::to_string(ccsds_field) + " (0x187) with the dual basis");
    const auto name = "rs " + std::to_string(n) + " " + std::to_string(k);
    d_parameters = std::make_shared<parameters>(
        parameters{ name, n, k, field, first_root, root_step, dual_basis });
}

reed_solomon_code reed_solomon_code::standard(const std::string& name)
{
    const auto& known = known_codes[index_of_name("code", name, standards())];
    reed_solomon_code code(known.n,
                           known.k,
                           known.field,
                           known.first_root,
                           known.root_step,
                           known.dual_basis);
    auto named = std::make_shared<parameters>(*code.d_parameters);
    named->name = known.name;
    code.d_parameters = named;
    return code;
}

std::vector<std::string> reed_solomon_code::standards()
{
    std::vector<std::string> names;
    for (const auto& known : known_codes) {
        names.emplace_back(known.name);
    }
    return names;
}

reed_solomon_code reed_solomon_code::shortened(unsigned virtual_fill) const
{
    require(virtual_fill < k(),
            "virtual_fill",
            virtual_fill,
            "0 to k - 1 = " + std::to_string(k() - 1));
    if (virtual_fill == 0) {
        return *this;
    }
    auto shorter = std::make_shared<parameters>(*d_parameters);
    shorter->n -= virtual_fill;
    shorter->k -= virtual_fill;
    shorter->name += " shortened by " + std::to_string(virtual_fill);
    reed_solomon_code code = *this;
    code.d_parameters = shorter;
    return code;
}

const std::string& reed_solomon_code::name() const { return d_parameters->name; }
unsigned reed_solomon_code::n() const { return d_parameters->n; }
unsigned reed_solomon_code::k() const { return d_parameters->k; }
unsigned reed_solomon_code::parity() const { return n() - k(); }
unsigned reed_solomon_code::t() const { return parity() / 2; }
unsigned reed_solomon_code::field() const { return d_parameters->field; }
unsigned reed_solomon_code::first_root() const { return d_parameters->first_root; }
unsigned reed_solomon_code::root_step() const { return d_parameters->root_step; }
bool reed_solomon_code::dual_basis() const { return d_parameters->dual_basis; }

} // namespace gr::gpufec
