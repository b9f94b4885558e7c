// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Finds where terminated frames of known length begin, in a stream whose reading is
 * known: frames that follow one another without a gap are a sequence of the code, in
 * which K−1 zeros end each frame.
 *
 * Of the readings that fit alike, as the opposite signs of a transparent code, at most
 * one has zeros there. */

#ifndef INCLUDED_GPUFEC_VITERBI_FRAME_FINDER_H
#define INCLUDED_GPUFEC_VITERBI_FRAME_FINDER_H

#include "held_input.h"
#include "hypothesis.h"
#include <memory>
#include <optional>
#include <vector>

namespace gr::gpufec::viterbi {

class frame_finder
{
public:
    //! P: that a frame's beginning is found where there is none.
    static constexpr double false_alarm = 1e-9;
    //! Frames that are looked at, at most. One more goes before them.
    static constexpr unsigned most_frames = 18;

    //! Frames of \p frame_bits bits of such codes.
    frame_finder(const viterbi_options& run,
                 const std::vector<conv_code>& codes,
                 unsigned frame_bits,
                 const decoder_hooks& hooks);
    ~frame_finder();

    //! Values that have to be there for \p frames frames, from the first on.
    std::uint64_t values(const hypothesis& h, unsigned frames) const;

    struct place {
        const hypothesis* reading;
        std::uint64_t start; //!< a value of the stream at which a cycle begins
        std::uint64_t stage; //!< counted from there, at which a frame does
    };
    //! Where frames begin, from \p from on, if so many show it. The readings fit alike.
    std::optional<place> find(const value_span& values,
                              const std::vector<hypothesis>& readings,
                              std::uint64_t from,
                              unsigned frames);

private:
    const std::vector<std::uint8_t>& decode(const value_span& values,
                                            const hypothesis& h,
                                            std::uint64_t start,
                                            unsigned n);
    std::uint64_t stages(const conv_code& code) const;
    unsigned unsettled(const hypothesis& h) const;

    const unsigned d_frame_bits;
    std::vector<std::unique_ptr<viterbi_decoder>> d_decoders; // by code
    std::vector<std::int8_t> d_values;
    std::vector<std::uint8_t> d_bits;
};

} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_FRAME_FINDER_H */
