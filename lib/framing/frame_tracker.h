// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The search for frames of constant length, and their tracking with a fly-wheel. */

#ifndef INCLUDED_GPUFEC_FRAMING_FRAME_TRACKER_H
#define INCLUDED_GPUFEC_FRAMING_FRAME_TRACKER_H

#include "marker_search.h"
#include "received_bits.h"
#include <gnuradio/gpufec/ccsds.h>
#include <functional>
#include <optional>
#include <vector>

namespace gr::gpufec::framing {

//! Result of decoding a frame.
enum class frame_check {
    good,      //!< the code confirms the frame
    corrected, //!< the code is cyclic and confirms the frame after corrections
    bad,       //!< the frame could not be decoded
    none       //!< there is no code
};

//! A position at which a frame may begin.
struct located_frame {
    std::uint64_t position = 0; //!< position of the first bit of the marker
    unsigned orientation = 0;   //!< index in orientations_of()
    bool inverted = false;      //!< whether all bits are inverted
    double correlation = 0;     //!< correlation of the marker, −1 to 1; negative if
                                //!< inverted
    bool marker_found = false;  //!< whether the marker has a tolerated number of errors
};

//! Returns whether two frames consist of the same received bits.
inline bool same_place(const located_frame& a, const located_frame& b)
{
    return a.position == b.position && a.orientation == b.orientation &&
           a.inverted == b.inverted;
}

/*!
 * \brief Finds frames of constant length that begin with a marker.
 *
 * In the search, each marker with a tolerated number of errors is a candidate. A
 * candidate is confirmed if its frame can be decoded, or if the next marker is at its
 * expected place. The frame before the candidate is output, too, if that frame can be
 * decoded. While locked, each marker is expected one period after the previous one. If
 * the marker is missing and the frame cannot be decoded, the tracker searches all
 * positions between the beginning of the last frame and the end of the expected frame. A
 * confirmed candidate at one of these positions replaces the expected frame, so that a
 * slip costs only the frame in which the slip occurs. Otherwise the fly-wheel accepts up
 * to \c flywheel successive frames without a marker.
 *
 * A Reed-Solomon code that is not shortened is cyclic, and the sequence of the short
 * randomiser is a codeword. After a slip by whole symbols at the beginning of a frame,
 * the bytes are therefore a shifted codeword with few errors. Hence a corrected frame is
 * judged bad if the next marker is displaced by up to \c max_shift symbols.
 */
class frame_tracker
{
public:
    struct options {
        sync_marker marker;
        std::size_t frame_bits; //!< number of bits after the marker
        std::vector<orientation> orientations;
        double false_alarm; //!< see tolerance()
        unsigned flywheel;  //!< maximum number of successive frames without a marker
        unsigned shift;     //!< bits of one symbol of all interleaved codewords
        unsigned max_shift; //!< number of symbols that the code corrects
        unsigned ahead;     //!< maximum number of frames in a call of prepare_function
    };
    //! Decodes a frame whose bits are all available.
    using check_function = std::function<frame_check(const located_frame&)>;
    //! Receives the next expected frame and the number of expected frames whose bits are
    //! all available, at least 2. Threads of the receiver may locate and decode them in
    //! advance of check_function.
    using prepare_function =
        std::function<void(const located_frame& first, std::size_t count)>;
    //! Returns a frame of the last call of prepare_function, which located() has located.
    using prepared_function = std::function<const located_frame&(std::size_t index)>;
    //! Receives the frame of the last call of check_function. The result is good, bad or
    //! none.
    using take_function = std::function<void(const located_frame&, frame_check)>;

    //! The tracker counts all events except decoded frames in \p counts.
    //! \throws std::invalid_argument as described at tolerance()
    frame_tracker(const options& options,
                  prepare_function prepare,
                  prepared_function prepared,
                  check_function check,
                  take_function take,
                  ccsds_counts& counts,
                  const std::string& variant = "");

    //! Finds frames in the available bits. \p ended tells whether the stream has ended.
    void run(const received_bits& bits, bool ended);
    //! Returns the position of the first bit that is still needed.
    std::uint64_t needed() const;
    void restart();
    //! Returns an expected frame with the correlation and, if it is found, the polarity
    //! of its marker. Several threads may call this function, also while run() waits.
    located_frame located(const received_bits& bits, const located_frame& expected) const;

    bool locked() const { return d_locked; }
    const marker_tolerance& tolerated() const { return d_tolerated; }
    //! Returns the distance in bits, not a multiple of the expected distance, at which
    //! three successive markers without errors were last found; 0 if this never happened.
    std::uint64_t other_period() const { return d_other_period; }

private:
    enum class rivals { none, wait, found };
    enum class judgement { good, bad, none, wait };

    bool search(const received_bits& bits, bool ended);
    std::optional<located_frame> before(const received_bits& bits,
                                        const located_frame& frame);
    bool track(const received_bits& bits, bool ended);
    rivals
    find_rival(const received_bits& bits, bool ended, const located_frame& expected);
    std::optional<located_frame>
    next(const received_bits& bits, std::uint64_t from, std::uint64_t end) const;
    located_frame
    at(const received_bits& bits, std::uint64_t position, unsigned orientation) const;
    located_frame expected_place() const;
    located_frame expected(const received_bits& bits);
    void prepare(const received_bits& bits);
    unsigned errors(double correlation) const;
    bool confirmed(const received_bits& bits, const located_frame& frame) const;
    judgement judge(const received_bits& bits, bool ended, const located_frame& frame);
    frame_check check(const located_frame& frame);
    void take(const located_frame& frame, judgement result);
    void lock(const located_frame& frame, judgement result);
    void note_period(const located_frame& frame);

    const options d_options;
    const std::uint64_t d_period; // distance of markers in bits
    const marker_tolerance d_tolerated;
    const marker_search d_hard_search, d_soft_search;
    const prepare_function d_prepare;
    const prepared_function d_located;
    const check_function d_check;
    const take_function d_take;

    bool d_locked = false;
    std::uint64_t d_at = 0;   // first position to search, or of the expected marker
    std::uint64_t d_end = 0;  // end of the last frame that was output
    std::uint64_t d_wait = 0; // run() needs all bits before this position to continue
    located_frame d_last;     // the last frame, while locked
    // Number of frames passed to d_prepare, 0 or at least 2, and the end of the last
    // frame that needs no further call of prepare().
    std::size_t d_prepared = 0;
    std::uint64_t d_prepared_end = 0;
    unsigned d_misses = 0; // number of successive frames without a marker
    // Number of successive frames that could not be decoded. A lock starts with the value
    // of \c flywheel, so that its first undecodable frame causes a search for another
    // frame.
    unsigned d_bad = 0;
    std::optional<located_frame> d_checked; // frame whose result is d_result
    frame_check d_result = frame_check::none;

    std::uint64_t d_exact = 0; // position of the last marker without errors
    // Distance of this marker from the previous one, and the result of other_period().
    std::uint64_t d_spacing = 0, d_other_period = 0;
    ccsds_counts& d_counts;
};

} // namespace gr::gpufec::framing

#endif /* INCLUDED_GPUFEC_FRAMING_FRAME_TRACKER_H */
