// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* A solver that finds the parity bits of a codeword from its other bits, for any sparse
 * parity-check matrix.
 *
 * As in the inactivation decoding of fountain codes, bits are found one after the other
 * from checks in which only one bit is unknown. If there is no such check, all but one of
 * the unknown bits of a check are put off (inactivated). Finally, the bits that were put
 * off are computed with a small dense matrix. */

#ifndef INCLUDED_GPUFEC_LDPC_CODE_PARITY_SOLVER_H
#define INCLUDED_GPUFEC_LDPC_CODE_PARITY_SOLVER_H

#include <cstdint>
#include <optional>
#include <vector>

namespace gr::gpufec::ldpc {

class parity_solver
{
public:
    //! Returns a solver, or no value if the other bits do not determine the unknown bits
    //! or if more than \p most bits would have to be put off.
    static std::optional<parity_solver>
    make(unsigned n,
         const std::vector<std::vector<std::uint32_t>>& checks,
         const std::vector<std::uint32_t>& unknown,
         std::size_t most);

    //! Computes the unknown bits of \p word from its other bits. Each byte has one bit.
    void solve(std::uint8_t* word) const;

private:
    struct step {
        std::uint32_t bit; //!< position of the bit that the step finds
        //! Range in d_others of the bits whose sum is \c bit.
        std::uint32_t first, last;
    };
    parity_solver() = default;
    void find(std::uint8_t* word) const;
    bool invert(std::vector<std::uint64_t> dense, std::size_t words);

    std::vector<step> d_steps;
    std::vector<std::uint32_t> d_others;
    std::vector<std::uint32_t> d_put_off; //!< positions of the bits that were put off
    //! The remaining checks, which no step uses. The bits of remaining check i are in
    //! d_left_bits, from index d_left_begin[i] to index d_left_begin[i + 1] − 1.
    std::vector<std::uint32_t> d_left_begin, d_left_bits;
    std::size_t d_left_words = 0; //!< number of words that hold one flag per remaining
                                  //!< check
    //! For each bit that was put off, d_left_words words of flags. They mark the
    //! remaining checks whose sum is the bit.
    std::vector<std::uint64_t> d_inverse;
};

} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CODE_PARITY_SOLVER_H */
