// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Re-encodes decoded bits and counts the received soft values whose sign disagrees with
 * the coded bit, up to eight values at a time. */

#ifndef INCLUDED_GPUFEC_VITERBI_CODE_REENCODER_H
#define INCLUDED_GPUFEC_VITERBI_CODE_REENCODER_H

#include <gnuradio/gpufec/viterbi.h>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gr::gpufec::viterbi {

/*!
 * \brief Counter of the soft values whose sign contradicts the re-encoded bits.
 *
 * Values are counted in steps. A step is the largest number of whole puncturing periods
 * with at most eight soft values, or one period if it has more values.
 */
class reencoder
{
public:
    //! Number of bytes that operator() may read after the last bit and after the last
    //! value.
    static constexpr std::size_t slack = 8;

    struct sign_count {
        std::uint32_t values = 0; //!< number of values that are not erased
        std::uint32_t wrong = 0;  //!< number of non-erased values with a wrong sign

        sign_count& operator+=(const sign_count& other)
        {
            values += other.values;
            wrong += other.wrong;
            return *this;
        }
        //! Returns the share of wrong signs; 0 if there are no values.
        double rate() const { return values ? double(wrong) / values : 0; }
    };

    //! The number of stages of a step, a multiple of the puncturing period, and of its
    //! soft values.
    struct step {
        unsigned stages, values;
    };
    static step step_of(const conv_code& code);

    explicit reencoder(const conv_code& code);

    //! Returns the number of stages per step, a multiple of the puncturing period.
    unsigned step_stages() const { return d_stages; }
    //! Returns the number of soft values per step.
    unsigned step_values() const { return d_values; }
    //! Returns the number of bits before a step that affect its outputs, K−1.
    unsigned memory() const { return d_memory; }

    /*!
     * \brief Re-encodes \p steps steps and returns the sum of their counts.
     *
     * \param bits decoded bits, packed, most significant first
     * \param first index in \p bits of the first bit of the first step, which begins a
     *        puncturing period; at least K−1, because the K−1 bits before it are read,
     *        too
     * \param values int8 soft values of the steps; positive means bit 0
     * \param steps number of steps
     * \param each if not nullptr, receives the count of each step
     * \param against if not nullptr, the sum to which the magnitudes of values with a
     *        wrong sign are added
     */
    sign_count operator()(const std::uint8_t* bits,
                          std::size_t first,
                          const std::int8_t* values,
                          std::size_t steps,
                          sign_count* each = nullptr,
                          std::uint64_t* against = nullptr) const;

private:
    unsigned d_memory;
    unsigned d_stages, d_values;
    bool d_whole; // whether the coded bits of a step fit into one byte
    // Table of coded bits, the first in the least significant bit. If d_whole is set, an
    // entry covers a step; its index is the K−1 bits before the step (high bits) and the
    // bits of the step (low bits). Otherwise an entry covers one stage; its index is the
    // stage in the puncturing period (high bits) and the contents of the shift register
    // (K low bits).
    std::vector<std::uint8_t> d_signs;
    // Number of sent values per stage; unused if d_whole is set.
    std::vector<unsigned> d_sent;
};

} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_CODE_REENCODER_H */
