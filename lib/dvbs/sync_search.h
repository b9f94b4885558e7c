// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Search for the sync bytes of DVB-S frames in a stream of packed bits. */

#ifndef INCLUDED_GPUFEC_DVBS_SYNC_SEARCH_H
#define INCLUDED_GPUFEC_DVBS_SYNC_SEARCH_H

#include "additive_sequence.h"
#include "frame.h"
#include <cstdint>
#include <optional>
#include <vector>

namespace gr::gpufec::dvbs {

/*!
 * \brief Finds where frames begin, at any bit and under any additive sequence.
 *
 * A window has the length of 12 frames, because a packet's bytes are spread over 12
 * frames. A hypothesis consists of the bit at which the first frame begins, an additive
 * sequence with or without complement, and the index of the first frame with an inverted
 * sync byte. A hypothesis fits if the 96 bits of the sync bytes have at most max_errors
 * errors, and each inverted sync byte has at most max_inverted_errors errors. The second
 * condition rejects streams of equal frames, such as a constant 0x47.
 *
 * With N = 1632 bits of a frame and S = 12 sequences, the expected number of hypotheses
 * that fit random bits is, per frame searched,
 * <pre>
 *   N · S · (4 p(1) + 4 p(2)),
 *   p(m) = P(e1 <= 3 and ... and em <= 3 and e1 + ... + em + e <= max_errors)
 * </pre>
 * where m is the number of inverted sync bytes in the window. Their errors e1 to em are
 * binomial with n = 8 and p = 1/2; the errors e of the other sync bytes are binomial with
 * n = 8 · (12 − m) and p = 1/2. With max_errors = 10, the expected number is 2.5e-11.
 */
class sync_search
{
public:
    static constexpr unsigned window_frames = branches;
    static constexpr unsigned default_max_errors = 10;
    static constexpr unsigned max_inverted_errors = 3;

    //! Position of the first frame in a window, and the sequence that was added to the
    //! frames.
    struct alignment {
        std::uint64_t bit; //!< index in the stream of the first frame's first bit
        unsigned frame;    //!< index of the first frame in its group, 0 to 7
        additive_sequence sequence; //!< sequence that was added to the stream
        unsigned errors;            //!< number of wrong bits in the sync bytes
    };

    //! \p max_errors number of wrong bits, of 96, that a hypothesis may have; at most
    //! 31.
    explicit sync_search(unsigned max_errors = default_max_errors);

    /*!
     * \brief Searches the window that ends with the next frame_bytes bytes of the stream.
     *
     * \param bytes frame_bytes + 1 bytes. The last byte is also the first byte of the
     *        next call
     * \param first index in the stream of the first byte
     * \returns the hypothesis with the fewest errors, if one fits; nothing for the first
     *          window_frames − 1 calls after restart()
     */
    std::optional<alignment> add(const std::uint8_t* bytes, std::uint64_t first);

    //! Prepares for another stream.
    void restart();

private:
    // A row holds the error counts of all hypotheses with one kind of additive sequence
    // and one bit of a byte.
    static constexpr unsigned rows = additive_sequence::kinds * 8;
    static constexpr std::size_t frame_places = rows * frame_bytes;

    std::optional<alignment> best(std::uint64_t first) const;
    void
    judge(std::size_t place, std::uint64_t first, std::optional<alignment>& best) const;

    const unsigned d_max_errors;
    // A ring with one entry per frame of the window. An entry holds, for each place, the
    // number of bits by which the sync byte differs from 0x47. Place (8·kind + bit)·204 +
    // byte belongs to a frame that begins at this bit of this byte, under this kind of
    // additive sequence.
    std::vector<std::uint8_t> d_errors;
    std::vector<std::uint8_t> d_sums; // sums of d_errors over the window
    unsigned d_oldest = 0;            // ring position of the oldest frame
    unsigned d_frames = 0;            // number of frames in the window
};

} // namespace gr::gpufec::dvbs

#endif /* INCLUDED_GPUFEC_DVBS_SYNC_SEARCH_H */
