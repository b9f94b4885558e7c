// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* A solver that finds the parity bits of a codeword from its other bits, for any sparse
 * parity-check matrix.
 *
 * As in the inactivation decoding of fountain codes, bits are found one after the other
 * from checks in which only one bit is unknown. If there is no such check, all but one of
 * the unknown bits of a check are put off (inactivated). In the end, the few bits that
 * were put off are found from a dense matrix. */

#ifndef INCLUDED_GPUFEC_LDPC_CODE_PARITY_SOLVER_H
#define INCLUDED_GPUFEC_LDPC_CODE_PARITY_SOLVER_H

#include <cstdint>
#include <optional>
#include <vector>

namespace gr::gpufec::ldpc {

class parity_solver
{
public:
    //! Returns a solver, or no value if the unknown bits do not follow from the others or
    //! if more than \p most bits would have to be put off.
    static std::optional<parity_solver>
    make(unsigned n,
         const std::vector<std::vector<std::uint32_t>>& checks,
         const std::vector<std::uint32_t>& unknown,
         std::size_t most);

    //! Fills in the unknown bits of \p word, one per byte.
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
    std::vector<std::uint32_t> d_left_begin, d_left_bits; //!< bits of the remaining
                                                          //!< checks, which no step uses
    std::size_t d_left_words = 0;
    //! For each bit put off, the remaining checks whose sum is this bit, as one flag
    //! per check.
    std::vector<std::uint64_t> d_inverse;
};

} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CODE_PARITY_SOLVER_H */
