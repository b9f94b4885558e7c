// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Re-encodes decoded bits and counts the received soft values whose sign disagrees with
 * the coded bit, eight values at a time. */

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
 * It works in steps. A step is as many puncturing periods as have at most eight soft
 * values, but at least one period.
 */
class reencoder
{
public:
    //! Number of bytes that may be read after the last bit and after the last value.
    static constexpr std::size_t slack = 8;

    struct sign_count {
        std::uint32_t values = 0; //!< values that are not erased
        std::uint32_t wrong = 0;  //!< values whose sign contradicts the coded bit

        sign_count& operator+=(const sign_count& other)
        {
            values += other.values;
            wrong += other.wrong;
            return *this;
        }
        double rate() const { return values ? double(wrong) / values : 0; }
    };

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
     * \param first index in \p bits of the first step's first bit, at least K−1, because
     *        the K−1 bits before it are read too; its stage begins a puncturing period
     * \param values int8 soft values from that stage on
     * \param steps number of steps
     * \param each if not nullptr, receives the count of each step
     * \param against if not nullptr, the magnitudes of values with a wrong sign are added
     *        to it
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
    bool d_whole; // the signs of a step fit into one byte
    // Table of coded bits, the first in the least significant bit. If d_whole is set, an
    // entry covers a step, and its index is the step's bits after the K−1 bits before
    // them. Otherwise an entry covers one stage, and its index is the stage's number in
    // the puncturing period, followed by the contents of the shift register.
    std::vector<std::uint8_t> d_signs;
    // Number of sent values per stage; unused if d_whole is set.
    std::vector<unsigned> d_sent;
};

} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_CODE_REENCODER_H */
