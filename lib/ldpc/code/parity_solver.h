// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Finds the parity bits of a codeword from the others, for any sparse matrix.
 *
 * As in the decoding of fountain codes, bits are found one after the other from checks
 * that lack a single bit. Where there is no such check, a bit is put off; the few that
 * were put off follow in the end from a dense matrix. */

#ifndef INCLUDED_GPUFEC_LDPC_PARITY_SOLVER_H
#define INCLUDED_GPUFEC_LDPC_PARITY_SOLVER_H

#include <cstdint>
#include <optional>
#include <vector>

namespace gr::gpufec::ldpc {

class parity_solver
{
public:
    //! Nothing if the unknown bits do not follow from the others, or more than \p most
    //! would be put off.
    static std::optional<parity_solver>
    make(unsigned n,
         const std::vector<std::vector<std::uint32_t>>& checks,
         const std::vector<std::uint32_t>& unknown,
         std::size_t most);

    //! Fills in the unknown bits of \p word, one per byte.
    void solve(std::uint8_t* word) const;

private:
    struct step {
        std::uint32_t bit;         //!< found from
        std::uint32_t first, last; //!< these of others
    };
    parity_solver() = default;
    void find(std::uint8_t* word) const;
    bool invert(std::vector<std::uint64_t> dense, std::size_t words);

    std::vector<step> d_steps;
    std::vector<std::uint32_t> d_others;
    std::vector<std::uint32_t> d_put_off;                 //!< bits
    std::vector<std::uint32_t> d_left_begin, d_left_bits; //!< checks that are left
    std::size_t d_left_words = 0;
    std::vector<std::uint64_t> d_inverse; //!< a row of the left checks each put off bit
};

} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_PARITY_SOLVER_H */
