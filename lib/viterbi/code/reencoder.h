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

class reencoder
{
public:
    //! Number of bytes after the counted bits and values that may also be read.
    static constexpr std::size_t slack = 8;

    struct sign_count {
        std::uint32_t values = 0; //!< values that are not erased
        std::uint32_t wrong = 0;  //!< values whose sign disagrees

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
     * \brief Compares \p steps steps.
     *
     * \param bits decoded bits, most significant first
     * \param first index of the first stage's bit, after K−1 others; the stage is the
     *        first of a puncturing period
     * \param values soft values from that stage on
     * \param each if not nullptr, receives the count of each step
     * \param against if not nullptr, increased by the magnitudes of the values with a
     *        wrong sign
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
    // Table of signs, the first in the least significant bit. If d_whole is set, the
    // index consists of a step's bits and the K−1 bits before; otherwise of the stage in
    // the puncturing period and the contents of the shift register.
    std::vector<std::uint8_t> d_signs;
    // Number of sent values per stage; unused if d_whole is set.
    std::vector<unsigned> d_sent;
};

} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_CODE_REENCODER_H */
