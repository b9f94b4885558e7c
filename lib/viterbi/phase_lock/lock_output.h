// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The decoded bits of successive locks, on their way to the output. */

#ifndef INCLUDED_GPUFEC_VITERBI_PHASE_LOCK_LOCK_OUTPUT_H
#define INCLUDED_GPUFEC_VITERBI_PHASE_LOCK_LOCK_OUTPUT_H

#include "hypothesis.h"
#include "viterbi/code/reencoder.h"
#include "viterbi/stream/watched_decoder.h"
#include <gnuradio/gpufec/viterbi.h>
#include <deque>
#include <optional>
#include <vector>

namespace gr::gpufec::viterbi {

//! The mapping of trellis stages to output bits. All stages of a stream have an output
//! bit, but in frames the stages of the tail have none.
struct frame_layout {
    // Stages per frame: those of information bits (0 for a stream), and the tail.
    unsigned bits = 0, tail = 0;

    bool stream() const { return bits == 0; }
    //! Returns the stages of a frame; 1 for a stream.
    std::uint64_t stages() const { return stream() ? 1 : bits + tail; }
    std::uint64_t bytes() const { return (bits + 7) / 8; }

    //! Returns the index of the output item, a byte if \p packed or else a bit, that
    //! holds the bit of stage \p stage. A stage of the tail counts as the last
    //! information bit.
    std::uint64_t item(std::uint64_t stage, bool packed) const;
    //! Returns the number of output items for \p stages stages; incomplete frames do not
    //! count.
    std::uint64_t items(std::uint64_t stages, bool packed) const;
};

//! The part of the stream that one lock decodes.
struct lock_segment {
    const hypothesis* reading;
    std::uint64_t start;     //!< index of its first value in the stream
    std::uint64_t lead;      //!< stages before the first frame; 0 for a stream
    std::uint64_t stages;    //!< number of stages ready for output, including `lead`
    std::uint64_t collected; //!< number of decoded stages
    bool closed = false;     //!< no stages will be added

    //! Copied bits of the stages from `base` to `kept` − 1, most significant first. The
    //! bits of later stages are in the slot of `batch`.
    std::vector<std::uint8_t> bytes{};
    std::uint64_t base = 0, kept = 0;
    std::optional<watched_decoder::decoded_batch> batch{};

    // Position of the segment in the output, in bits and bytes.
    std::uint64_t first_bit = 0, first_byte = 0;
    std::uint64_t given = 0; // number of output items that were pulled

    // Copies bits from the slot, at least up to stage `end`.
    void keep(std::uint64_t end);
    // Allocates memory for bits up to stage `end`, and for reads beyond them.
    void reserve_stages(std::uint64_t end);

    //! A position in packed bits: bit number `first` from `bits` on.
    struct place {
        const std::uint8_t* bits;
        std::size_t first;
    };
    //! Returns the bits of the stages from \p first to \p end − 1, in contiguous memory
    //! followed by the slack that reencoder needs.
    place bits(std::uint64_t first, std::uint64_t end);
    //! Returns the position of the bit of stage \p stage; sets \p end to the end of the
    //! contiguous bits.
    place from(std::uint64_t stage, std::uint64_t& end) const;

    const conv_code& code() const { return reading->code(); }
    //! Returns the index of the stream value at which a stage begins.
    std::uint64_t value_of(std::uint64_t stage) const
    {
        return start + code().values(stage);
    }
};

//! The output of all segments, in order.
class lock_output
{
public:
    explicit lock_output(const frame_layout& layout) : d_layout(layout) {}

    const frame_layout& layout() const { return d_layout; }
    void clear();

    //! Opens a segment. The previous one must be closed.
    lock_segment& open(const hypothesis& h, std::uint64_t start, std::uint64_t lead);
    lock_segment& last() { return d_segments.back(); }
    const lock_segment& last() const { return d_segments.back(); }
    bool empty() const { return d_segments.empty(); }
    //! Closes the last segment after \p stages stages, but not before its stages that are
    //! ready for output.
    void close(std::uint64_t stages);

    //! Continues the last segment of a stream with a batch, which stays in its slot.
    void begin_batch(const watched_decoder::decoded_batch& batch);
    bool has_batch() const { return !empty() && last().batch.has_value(); }
    //! Ends the use of the batch's slot. Copies the bits that were not pulled yet, and
    //! those from stage \p needed on.
    void end_batch(std::uint64_t needed);
    //! Appends the packed bits of the next frame. Drops bits that were pulled and are
    //! before stage \p needed.
    void collected_frame(const std::uint8_t* frame, std::uint64_t needed);
    //! Returns whether no more output should be collected until some has been pulled.
    bool full() const;

    // Size of the output of all closed segments.
    std::uint64_t total_bits() const { return d_total_bits; }
    std::uint64_t total_bytes() const { return d_total_bytes; }

    //! Returns whether there is output to pull.
    bool available();
    std::size_t pull_packed(std::uint8_t* out, std::size_t bytes);
    std::size_t pull_bits(std::uint8_t* out, std::size_t bits);

    //! Returns the index of the output item that holds the bit of a stream value.
    std::uint64_t item_of(std::uint64_t value, bool packed) const;

private:
    // Bytes of output that may wait to be pulled, or stay after they were pulled.
    static constexpr std::size_t max_emitted = 1u << 17;
    // Number of segments to remember, because item_of() may still be called for them.
    static constexpr std::size_t max_segments = 4096;

    // Returns the number of output items that are ready but not yet pulled.
    std::uint64_t ready(const lock_segment& s, bool packed) const;
    std::uint64_t stage_of_item(const lock_segment& s, std::uint64_t item) const;
    // Returns the first stage whose bit is still needed.
    std::uint64_t needed_from(const lock_segment& s, std::uint64_t needed) const;
    static void trim(lock_segment& s, std::uint64_t from);

    const frame_layout d_layout;
    std::deque<lock_segment> d_segments;
    std::size_t d_pulling = 0; // index of the segment that is being pulled
    bool d_packed = true;      // whether the last pull was packed
    std::uint64_t d_total_bits = 0, d_total_bytes = 0;
};

} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_PHASE_LOCK_LOCK_OUTPUT_H */
