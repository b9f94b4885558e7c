// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Builds the tables of a field of 256 elements and of the dual basis. */

#include "bch/field.h"
#include "common/refuse.h"
#include "field.h"

namespace gr::gpufec::reed_solomon {

field::field(unsigned polynomial)
{
    require(
        polynomial >> 8 == 1, "field", polynomial, "primitive polynomials of degree 8");
    const bch::field general(polynomial);
    d_logs[0] = no_log;
    for (unsigned e = 0; e < order; ++e) {
        d_powers[e] = d_powers[e + order] = element(general.power(e));
        d_logs[general.power(e)] = log_type(e);
    }
}

basis::basis(const reed_solomon_code& code)
{
    const field f(code.field());
    for (unsigned a = 0; a < 256; ++a) {
        unsigned converted = a;
        if (code.dual_basis()) {
            // Annex F of CCSDS 131.0-B: bit z_i, of which z_0 is the most significant, is
            // the trace of a · alpha^(117 i), the sum of its eight conjugates.
            converted = 0;
            for (unsigned i = 0; i < 8; ++i) {
                const auto product = f.multiply(field::element(a), f.power(117 * i));
                field::element trace = 0, conjugate = product;
                for (unsigned j = 0; j < 8; ++j) {
                    trace ^= conjugate;
                    conjugate = f.multiply(conjugate, conjugate);
                }
                converted |= unsigned(trace) << (7 - i);
            }
        }
        byte[a] = std::uint8_t(converted);
        element[converted] = field::element(a);
    }
}

} // namespace gr::gpufec::reed_solomon
