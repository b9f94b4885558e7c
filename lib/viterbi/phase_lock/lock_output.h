// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The decoded bits of successive segments until they are pulled, and the mapping of
 * stages to output items. locking.h defines stream value, lock and segment. */

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

//! The mapping of trellis stages to output items. An item is a byte of packed bits, or
//! one bit. Each stage has an output bit, except the stages of a frame's tail.
struct frame_layout {
    // Number of information bits per frame (0 for a stream), and number of stages in the
    // frame's tail.
    unsigned bits = 0, tail = 0;

    bool stream() const { return bits == 0; }
    //! Returns the number of stages per frame; 1 for a stream.
    std::uint64_t stages() const { return stream() ? 1 : bits + tail; }
    //! Returns the number of output bytes per frame.
    std::uint64_t bytes() const { return (bits + 7) / 8; }

    //! Returns the index of the output item that holds the bit of stage \p stage, counted
    //! from the beginning of the stream or of the first frame. A stage of the tail counts
    //! as the last information bit.
    std::uint64_t item(std::uint64_t stage, bool packed) const;
    //! Returns the number of output items of \p stages stages. An incomplete byte of a
    //! stream counts as one; an incomplete frame does not count.
    std::uint64_t items(std::uint64_t stages, bool packed) const;
};

//! A segment, and its decoded bits while they are needed.
struct lock_segment {
    const hypothesis* reading;
    std::uint64_t start;     //!< index of the first stream value
    std::uint64_t lead;      //!< number of stages before the first frame; 0 for a stream
    std::uint64_t stages;    //!< number of stages ready for output, including `lead`
    std::uint64_t collected; //!< number of decoded stages, including `lead`
    bool closed = false;     //!< whether the segment is complete: no stages will be added

    //! Copied bits of the stages from `base` to `copied_end` − 1, most significant first.
    //! The bits of later stages are in the slot of `batch`, the oldest batch of the inner
    //! decoder, if that batch is set.
    std::vector<std::uint8_t> bytes{};
    std::uint64_t base = 0, copied_end = 0;
    std::optional<watched_decoder::decoded_batch> batch{};

    // Beginning of the segment in the output, in bits and bytes.
    std::uint64_t first_bit = 0, first_byte = 0;
    std::uint64_t emitted = 0; // number of output items of the segment that were pulled

    // Copies the bits before stage `end`, and up to seven more, from the slot.
    void keep(std::uint64_t end);
    // Allocates memory for the bits before stage `end`, and for the bytes that reencoder
    // may read after them.
    void reserve_stages(std::uint64_t end);

    //! A position in packed bits: bit `first` of the bytes at `bits`.
    struct place {
        const std::uint8_t* bits;
        std::size_t first;
    };
    //! Returns the position of the bit of stage \p first. The bits up to stage \p end − 1
    //! follow in contiguous memory, and after them the bytes that reencoder may read.
    place bits(std::uint64_t first, std::uint64_t end);
    //! Returns the position of the bit of stage \p stage; sets \p end to the stage after
    //! the last one whose bit follows in contiguous memory.
    place from(std::uint64_t stage, std::uint64_t& end) const;

    const conv_code& code() const { return reading->code(); }
    //! Returns the index of the stream value at which stage \p stage begins.
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

    //! Opens a segment. The previous segment must be closed.
    lock_segment& open(const hypothesis& h, std::uint64_t start, std::uint64_t lead);
    lock_segment& last() { return d_segments.back(); }
    const lock_segment& last() const { return d_segments.back(); }
    bool empty() const { return d_segments.empty(); }
    //! Closes the last segment. Its length becomes \p stages stages, or the number of
    //! stages that are ready for output if that is more.
    void close(std::uint64_t stages);

    //! Adds a batch to the last segment. The batch stays in its slot. For streams only.
    void begin_batch(const watched_decoder::decoded_batch& batch);
    bool has_batch() const { return !empty() && last().batch.has_value(); }
    //! Copies the bits of the batch that were not pulled yet and the bits from stage \p
    //! needed on, and then stops using the batch's slot.
    void end_batch(std::uint64_t needed);
    //! Appends the packed bits of the next frame to the last segment. May drop bits that
    //! were pulled and are before stage \p needed.
    void collected_frame(const std::uint8_t* frame, std::uint64_t needed);
    //! Returns whether the number of bits that wait to be pulled has reached its limit.
    //! No more bits should then be collected.
    bool full() const;

    // Number of bits and bytes in the output of all closed segments.
    std::uint64_t total_bits() const { return d_total_bits; }
    std::uint64_t total_bytes() const { return d_total_bytes; }

    //! Returns whether output is ready to be pulled.
    bool available();
    //! Writes output of one segment, and returns the number of bytes written.
    std::size_t pull(bit_span out);

    //! Returns the index of the output item that holds the bit of a stream value. For a
    //! value between segments, returns the index of the next item.
    std::uint64_t item_of(std::uint64_t value, bool packed) const;

private:
    // Maximum number of output bytes that wait to be pulled, and number of pulled bytes
    // that trim() drops together.
    static constexpr std::size_t max_emitted = 1u << 17;
    // Number of segments above which pulled segments are dropped. Up to this number,
    // pulled segments are retained for item_of().
    static constexpr std::size_t max_segments = 4096;

    // Returns the number of output items of a segment that are ready but not yet pulled.
    std::uint64_t ready(const lock_segment& s, bool packed) const;
    // Returns the stage of the first bit of an output item of the segment.
    std::uint64_t stage_of_item(const lock_segment& s, std::uint64_t item) const;
    // The following two functions copy the next n output items of the segment.
    void copy_bits(const lock_segment& s, std::size_t n, std::uint8_t* out) const;
    void copy_stream_bytes(const lock_segment& s, std::size_t n, std::uint8_t* out) const;
    void copy_frame_bytes(const lock_segment& s, std::size_t n, std::uint8_t* out) const;
    // Returns the stage from which bits must be retained, for output and for checks from
    // stage `needed` on. The result lies on a byte boundary and includes the bits that
    // re-encoding reads before its first stage.
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
