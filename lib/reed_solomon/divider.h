// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Division of interleaved messages by a Reed-Solomon code's generator, with tables. */

#ifndef INCLUDED_GPUFEC_REED_SOLOMON_DIVIDER_H
#define INCLUDED_GPUFEC_REED_SOLOMON_DIVIDER_H

#include <gnuradio/gpufec/reed_solomon.h>
#include <vector>

namespace gr::gpufec {

/*!
 * \brief Computes the parity symbols of messages.
 *
 * All symbols are bytes in the basis of the code. Up to four codewords of a frame are
 * divided at the same time, because each division is one chain of dependent steps.
 */
class reed_solomon_divider
{
public:
    explicit reed_solomon_divider(const reed_solomon_code& code);

    /*!
     * \brief Computes the parity of interleaved messages.
     * \param message interleaving · k bytes
     * \param interleaving number of codewords
     * \param parity result, interleaving · (n−k) bytes
     */
    void divide(const std::uint8_t* message,
                unsigned interleaving,
                std::uint8_t* parity) const;

private:
    template <unsigned Words>
    void divide_all(const std::uint8_t* message,
                    unsigned interleaving,
                    std::uint8_t* parity) const;
    template <unsigned Words, unsigned Codewords>
    void divide_some(const std::uint8_t* message,
                     unsigned interleaving,
                     std::uint8_t* parity) const;

    unsigned d_k, d_parity, d_words;
    // Row b, of d_words words: the parity of the message that is the single symbol b. The
    // first parity symbol is the most significant byte of the first word.
    std::vector<std::uint64_t> d_rows;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_REED_SOLOMON_DIVIDER_H */
