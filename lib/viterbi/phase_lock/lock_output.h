// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* What locks have decoded, one after the other, and its way to the output. */

#ifndef INCLUDED_GPUFEC_VITERBI_LOCK_OUTPUT_H
#define INCLUDED_GPUFEC_VITERBI_LOCK_OUTPUT_H

#include "encode_again.h"
#include "hypothesis.h"
#include "watched_decoder.h"
#include <gnuradio/gpufec/viterbi.h>
#include <deque>
#include <optional>
#include <vector>

namespace gr::gpufec::viterbi {

//! How the stages of a trellis become output: all of them, or frames without their tail.
struct frame_layout {
    unsigned bits = 0, tail = 0; // of a frame; 0 bits: a stream

    bool stream() const { return bits == 0; }
    //! Stages of a frame; of a stream 1.
    std::uint64_t stages() const { return stream() ? 1 : bits + tail; }
    std::uint64_t bytes() const { return (bits + 7) / 8; }

    //! The output item with what stage \p stage holds, or with what follows.
    std::uint64_t item(std::uint64_t stage, bool packed) const;
    //! Output items of \p stages stages; in frames those of whole ones.
    std::uint64_t items(std::uint64_t stages, bool packed) const;
};

//! What one lock decodes.
struct lock_segment {
    const hypothesis* reading;
    std::uint64_t start;     //!< its first value in the stream
    std::uint64_t lead;      //!< stages before the first frame
    std::uint64_t stages;    //!< that are ready for the output, with `lead`
    std::uint64_t collected; //!< that are decoded
    bool closed = false;     //!< there will not be more

    //! Bits of the stages from number `base` up to `kept`, most significant first. Those
    //! from there on lie in the slot that they were decoded into.
    std::vector<std::uint8_t> bytes{};
    std::uint64_t base = 0, kept = 0;
    std::optional<watched_decoder::decoded_batch> batch{};

    std::uint64_t first_bit = 0, first_byte = 0; // of the output
    std::uint64_t given = 0;                     // output items

    // Keeps bits of the slot too, at least up to a stage.
    void keep(std::uint64_t end);
    // Room for bits up to a stage, and what is read behind them.
    void make_room(std::uint64_t end);

    //! Where bits lie, the first of which is number `first` there.
    struct place {
        const std::uint8_t* bits;
        std::size_t first;
    };
    //! Bits of the stages from \p first up to \p end, as encode_again wants them.
    place bits(std::uint64_t first, std::uint64_t end);
    //! Where the bits of the stages from \p stage on lie, at least up to \p end.
    place from(std::uint64_t stage, std::uint64_t& end) const;

    const conv_code& code() const { return reading->code(); }
    //! The value of the stream with which a stage begins.
    std::uint64_t value_of(std::uint64_t stage) const
    {
        return start + code().values(stage);
    }
};

class lock_output
{
public:
    explicit lock_output(const frame_layout& layout) : d_layout(layout) {}

    const frame_layout& layout() const { return d_layout; }
    void clear();

    //! Opens another segment, behind the last, which is closed.
    lock_segment& open(const hypothesis& h, std::uint64_t start, std::uint64_t lead);
    lock_segment& last() { return d_segments.back(); }
    const lock_segment& last() const { return d_segments.back(); }
    bool empty() const { return d_segments.empty(); }
    //! Ends the last one behind \p stages, or what is ready already.
    void close(std::uint64_t stages);

    //! The last segment's stream goes on with a batch, which stays in its slot.
    void begin_batch(const watched_decoder::decoded_batch& batch);
    bool has_batch() const { return !empty() && last().batch.has_value(); }
    //! Its slot is to be filled again: keeps what is not given, and from stage \p needed
    //! on.
    void end_batch(std::uint64_t needed);
    //! The next frame, packed. Forgets what is given, and before stage \p needed.
    void collected_frame(const std::uint8_t* frame, std::uint64_t needed);
    //! Whether so much waits to be given that no more should be collected.
    bool full() const;

    // Of segments that are closed.
    std::uint64_t total_bits() const { return d_total_bits; }
    std::uint64_t total_bytes() const { return d_total_bytes; }

    bool available();
    std::size_t pull_packed(std::uint8_t* out, std::size_t bytes);
    std::size_t pull_bits(std::uint8_t* out, std::size_t bits);

    //! The output item with the bit that a value of the stream belongs to.
    std::uint64_t item_of(std::uint64_t value, bool packed) const;

private:
    static constexpr std::size_t most_given = 1u << 17; // bytes
    // Places whose tags may not have been asked for yet.
    static constexpr std::size_t most_segments = 4096;

    // Items that are ready and not given.
    std::uint64_t ready(const lock_segment& s, bool packed) const;
    std::uint64_t stage_of_item(const lock_segment& s, std::uint64_t item) const;
    // The first bit that is still of use.
    std::uint64_t needed_from(const lock_segment& s, std::uint64_t needed) const;
    static void trim(lock_segment& s, std::uint64_t from);

    const frame_layout d_layout;
    std::deque<lock_segment> d_segments;
    std::size_t d_pulling = 0; // the segment that is given
    bool d_packed = true;      // as was last asked for
    std::uint64_t d_total_bits = 0, d_total_bytes = 0;
};

} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_LOCK_OUTPUT_H */
