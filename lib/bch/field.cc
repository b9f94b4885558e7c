// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Builds the tables of a field and checks that its polynomial is primitive. */

#include "common/refuse.h"
#include "field.h"

namespace gr::gpufec::bch {

field::field(std::uint32_t polynomial)
{
    const char* const allowed = "primitive polynomials of degree 3 to 16";
    require(polynomial >= 8 && polynomial < 1u << 17, "field", polynomial, allowed);
    while (polynomial >> (d_degree + 1)) {
        ++d_degree;
    }
    d_order = (1u << d_degree) - 1;
    d_powers.resize(2 * d_order);
    d_logs.resize(d_order + 1);
    std::uint32_t x = 1;
    for (unsigned e = 0; e < d_order; ++e) {
        // If the polynomial is primitive, the powers of alpha pass through all nonzero
        // elements before they return to 1.
        require(x != 0 && (x != 1 || e == 0), "field", polynomial, allowed);
        d_powers[e] = d_powers[e + d_order] = x;
        d_logs[x] = e;
        x <<= 1;
        x ^= x >> d_degree ? polynomial : 0;
    }
    require(x == 1, "field", polynomial, allowed);
}

} // namespace gr::gpufec::bch
