/* -*- c++ -*- */
/*
 * Copyright 2026 gr-gpufec developers
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_H
#define INCLUDED_GPUFEC_SYNC_MAP_H

#include <gnuradio/gpufec/api.h>
#include <gnuradio/gpufec/backend.h>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace gr {
namespace gpufec {

/*!
 * \brief The channel that inserts, deletes and substitutes symbols (BSID).
 *
 * Before each transmitted symbol the channel inserts a random symbol with probability
 * p_insert and asks again, or drops the symbol with p_delete, or else transmits it; a
 * transmitted symbol is replaced by another with p_substitute. The \em drift is the
 * number of received less the number of transmitted symbols.
 *
 * Briffa: GPU implementation and optimisation of a flexible maximum a-posteriori decoder
 * for synchronisation correction (2014), section 2.2. A value type: it is valid once it
 * exists.
 */
class GPUFEC_API bsid_model
{
public:
    static constexpr unsigned max_alphabet = 16;

    /*!
     * \param p_insert 0 to below 1
     * \param p_delete 0 to below 1, with p_insert + p_delete below 1
     * \param p_substitute 0 to 1
     * \param alphabet number of channel symbols, 2 to 16
     * \throws std::invalid_argument that names the parameter, its value and what is
     *         allowed
     */
    bsid_model(double p_insert,
               double p_delete,
               double p_substitute = 0,
               unsigned alphabet = 2);

    double p_insert() const { return d_insert; }
    double p_delete() const { return d_delete; }
    double p_substitute() const { return d_substitute; }
    double p_transmit() const { return 1 - d_insert - d_delete; }
    unsigned alphabet() const { return d_alphabet; }

    //! Natural logarithm of the probability of \p drift after \p symbols symbols.
    double log_drift_probability(unsigned symbols, int drift) const;

private:
    double d_insert, d_delete, d_substitute;
    unsigned d_alphabet;
};

//! Drifts from first to last, both included.
struct drift_range {
    int first = 0;
    int last = 0;

    unsigned size() const { return unsigned(last - first + 1); }
    bool contains(int drift) const { return first <= drift && drift <= last; }
    bool operator==(const drift_range& o) const
    {
        return first == o.first && last == o.last;
    }
};

//! What is known of a drift: probability[k] of first + k, up to a common factor.
struct drift_prior {
    int first = 0;
    std::vector<double> probability = { 1 };
};

/*!
 * \brief The drifts to be considered after \p symbols symbols, so that the rest together
 * has a probability below \p exclusion (1e-15 to below 1).
 *
 * With a prior on the drift at the start, of the drift since the prior's origin. Always
 * contains drift 0. \throws std::invalid_argument
 */
GPUFEC_API drift_range drift_limits(const bsid_model& channel,
                                    unsigned symbols,
                                    double exclusion,
                                    const drift_prior& start = {});

/*!
 * \brief A codebook of q words of n channel symbols for each of N message symbols.
 *
 * Any n of at least 1, any q of at least 2 with q ≤ alphabet^n; all words of an index
 * differ. A value type: it is valid once it exists.
 */
class GPUFEC_API sync_code
{
public:
    /*!
     * \param n channel symbols a word
     * \param q words an index
     * \param frame_symbols N, message symbols a frame
     * \param words N·q rows of n channel symbols, row i·q + D; the leftmost is sent first
     * \param alphabet number of channel symbols, 2 to 16
     * \throws std::invalid_argument that names the parameter, its value and what is
     *         allowed
     */
    sync_code(unsigned n,
              unsigned q,
              unsigned frame_symbols,
              std::vector<std::uint8_t> words,
              unsigned alphabet = 2);

    /*!
     * \brief Reads N·q rows of n digits (base 16, '0' to 'f'; white space between rows or
     * digits, '#' begins a comment). \throws std::invalid_argument
     */
    static sync_code from_file(const std::string& path,
                               unsigned n,
                               unsigned q,
                               unsigned frame_symbols,
                               unsigned alphabet = 2);

    unsigned n() const { return d_n; }
    unsigned q() const { return d_q; }
    unsigned frame_symbols() const { return d_frame_symbols; }
    unsigned alphabet() const { return d_alphabet; }
    //! Channel symbols a frame.
    unsigned frame_bits() const { return d_n * d_frame_symbols; }
    //! The n channel symbols of message symbol \p D at index \p i of a frame.
    const std::uint8_t* word(unsigned i, unsigned D) const
    {
        return d_words->data() + (std::size_t(i) * d_q + D) * d_n;
    }

private:
    unsigned d_n, d_q, d_frame_symbols, d_alphabet;
    std::shared_ptr<const std::vector<std::uint8_t>> d_words;
};

//! The codebook of Davey and MacKay: the q words of least weight (of equal weight the
//! smaller first), with a random marker of n bits added at each index.
GPUFEC_API sync_code codebook_davey_mackay(unsigned n,
                                           unsigned q,
                                           unsigned frame_symbols,
                                           std::uint64_t seed);

//! The codebook of a marker code: the bits of the symbol, most significant first, then
//! \p marker, a string of '0' and '1'. q must be a power of two.
GPUFEC_API sync_code codebook_marker(unsigned q,
                                     unsigned frame_symbols,
                                     const std::string& marker);

//! A codebook of q random words, all different, drawn anew at each index.
GPUFEC_API sync_code codebook_random(unsigned n,
                                     unsigned q,
                                     unsigned frame_symbols,
                                     std::uint64_t seed,
                                     unsigned alphabet = 2);

//! Writes the n·count channel symbols of \p count message symbols, the first of which is
//! at index \p first of a frame. A symbol of q or above counts modulo q.
GPUFEC_API void sync_encode(const sync_code& code,
                            const std::uint16_t* symbols,
                            std::size_t count,
                            std::uint8_t* out,
                            unsigned first = 0);

} // namespace gpufec
} // namespace gr

#endif /* INCLUDED_GPUFEC_SYNC_MAP_H */
