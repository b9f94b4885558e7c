// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Decoded bits, encoded again and compared with the soft values they came from, eight
 * values at a time. */

#ifndef INCLUDED_GPUFEC_VITERBI_ENCODE_AGAIN_H
#define INCLUDED_GPUFEC_VITERBI_ENCODE_AGAIN_H

#include <gnuradio/gpufec/viterbi.h>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gr::gpufec::viterbi {

class encode_again
{
public:
    //! Buffers are read up to so many bytes behind what is counted.
    static constexpr std::size_t slack = 8;

    struct tally {
        std::uint32_t values = 0; //!< that are not erased
        std::uint32_t wrong = 0;  //!< whose sign disagrees

        tally& operator+=(const tally& other)
        {
            values += other.values;
            wrong += other.wrong;
            return *this;
        }
        double rate() const { return values ? double(wrong) / values : 0; }
    };

    explicit encode_again(const conv_code& code);

    //! Stages of one step, a multiple of the puncturing period, and their values.
    unsigned step_stages() const { return d_stages; }
    unsigned step_values() const { return d_values; }
    //! Bits that are looked at before those of a step: K−1.
    unsigned memory() const { return d_memory; }

    /*!
     * \brief Compares \p steps steps.
     *
     * \param bits decoded, most significant first
     * \param first of them, the bit of the first stage, with all K−1 before it; the stage
     *        is the first of a puncturing period
     * \param values of that stage on
     * \param each if given, the tally of each step
     * \param against if given, the sum of the values' magnitudes that are wrong is added
     */
    tally operator()(const std::uint8_t* bits,
                     std::size_t first,
                     const std::int8_t* values,
                     std::size_t steps,
                     tally* each = nullptr,
                     std::uint64_t* against = nullptr) const;

private:
    unsigned d_memory;
    unsigned d_stages, d_values;
    bool d_whole; // a step is one byte of signs
    // Signs, the first least significant: of a step, by its bits and the K−1 before; or
    // of a stage, by the stage of the period and the contents of the register.
    std::vector<std::uint8_t> d_signs;
    std::vector<unsigned> d_sent; // by each stage, unless a step is whole
};

} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_ENCODE_AGAIN_H */
