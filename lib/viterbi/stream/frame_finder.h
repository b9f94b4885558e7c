// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Finds the boundaries of terminated frames of known length in a stream, once a phase
 * hypothesis (hypothesis.h) fits. Frames without gaps form one code sequence, in which
 * K−1 zeros end each frame.
 *
 * Several hypotheses may fit equally well, such as both signs of a transparent code. At
 * most one of these hypotheses leads to zeros at the ends of frames. hypothesis.h defines
 * stream value. */

#ifndef INCLUDED_GPUFEC_VITERBI_STREAM_FRAME_FINDER_H
#define INCLUDED_GPUFEC_VITERBI_STREAM_FRAME_FINDER_H

#include "search_buffer.h"
#include "viterbi/phase_lock/hypothesis.h"
#include <memory>
#include <optional>
#include <vector>

namespace gr::gpufec::viterbi {

class frame_finder
{
public:
    //! Limit of the probability of a wrong boundary if the stream has no such frames.
    static constexpr double false_alarm = 1e-9;
    //! Maximum number of frames that are examined before the search is abandoned.
    static constexpr unsigned max_frames = 18;

    //! Prepares a search for frames of \p frame_bits information bits of the given codes.
    //! The decoders run with the run_options of \p run.
    frame_finder(const viterbi_options& run,
                 const std::vector<conv_code>& codes,
                 unsigned frame_bits,
                 const decoder_hooks& hooks);
    ~frame_finder();

    //! Returns the number of stream values that find() needs for \p frames frames.
    std::uint64_t values(const hypothesis& h, unsigned frames) const;

    //! The beginning of one frame, from which the beginnings of all others follow.
    struct place {
        const hypothesis* reading;
        std::uint64_t start; //!< index of a stream value at which reading may begin
        std::uint64_t stage; //!< stage at which a frame begins, counted from `start`
    };
    //! Finds where frames begin, by examining \p frames frames after stream value
    //! \p from. Returns nothing if these frames do not suffice for a decision.
    //! \p readings are the hypotheses that fit the signal equally well.
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
    std::vector<viterbi_decoder::sptr> d_decoders; // decoder of each code
    std::vector<std::int8_t> d_values;
    std::vector<std::uint8_t> d_bits;
};

} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_STREAM_FRAME_FINDER_H */
