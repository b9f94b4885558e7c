// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* What the copies of an ldpc_code share. */

#ifndef INCLUDED_GPUFEC_LDPC_CODE_TABLES_H
#define INCLUDED_GPUFEC_LDPC_CODE_TABLES_H

#include <gnuradio/gpufec/ldpc.h>

namespace gr::gpufec {

//! How a code is encoded.
enum class encoding_form {
    unknown,    //!< not
    triangular, //!< check c gives its largest bit, k + c, from those before
    eliminated  //!< each parity bit is a dense sum of message bits
};

struct ldpc_code::tables {
    std::string name;
    unsigned n = 0;
    unsigned k = 0;
    unsigned checks = 0;
    std::vector<std::uint32_t> begin; //!< of each check in bits, and the end
    std::vector<std::uint32_t> bits;
    unsigned largest_check_degree = 0;
    unsigned largest_bit_degree = 0;

    encoding_form form = encoding_form::unknown;
    std::vector<std::uint32_t> message;
    std::vector<std::uint32_t> parity;     //!< eliminated: position of each parity bit
    std::vector<std::uint64_t> generators; //!< eliminated: a row of k bits a parity bit

    unsigned q = 0;
    std::vector<std::vector<std::uint16_t>> addresses;

    std::size_t generator_words() const { return (k + 63) / 64; }

    //! Fills in everything that follows from n, checks, begin and bits.
    void complete();
    void eliminate();
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_LDPC_CODE_TABLES_H */
