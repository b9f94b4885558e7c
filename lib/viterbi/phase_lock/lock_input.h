// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The input of a phase search. It is buffered during the search, then passed to the
 * decoder of the lock that was found. */

#ifndef INCLUDED_GPUFEC_VITERBI_PHASE_LOCK_LOCK_INPUT_H
#define INCLUDED_GPUFEC_VITERBI_PHASE_LOCK_LOCK_INPUT_H

#include "hypothesis.h"
#include "viterbi/stream/search_buffer.h"
#include "viterbi/stream/watched_decoder.h"
#include <gnuradio/gpufec/viterbi.h>
#include <vector>

namespace gr::gpufec::viterbi {

/*!
 * \brief The soft values of a stream, on their way to the decoder of the current segment,
 * which is the part of the stream that one lock decodes.
 *
 * Values are buffered until the decoder has all of them. Then input can pass through: it
 * goes to the decoder directly, and the decoder copies it to its slots or borrows it from
 * the caller. This requires that the decoder itself can apply the hypothesis.
 */
class lock_input
{
public:
    //! \p passes: whether input may pass through without being buffered.
    lock_input(soft_format format, bool passes);

    std::size_t values_per_item() const { return d_buffer.values_per_item(); }
    //! Returns the index of the oldest buffered value in the stream.
    std::uint64_t first() const { return d_buffer.first(); }
    //! Returns the number of values taken from the caller since clear().
    std::uint64_t end() const { return d_passing ? d_start + d_fed : d_buffer.end(); }
    //! Returns the buffered values. While input passes through, the decoder holds newer
    //! ones.
    value_span buffered() const { return d_buffer.span(); }
    void drop_before(std::uint64_t value);
    //! Starts another stream.
    void clear();

    // Functions for the decoder of the current segment.

    //! Sets the decoder. The previous one must still exist, because it unpins the
    //! caller's ring.
    void use(viterbi_decoder* decoder, watched_decoder* watched);
    //! Begins a segment at value \p start of the stream. The first \p skipped values of
    //! its code are not decoded.
    void begin(const hypothesis& reading, std::uint64_t start, std::uint64_t skipped);
    //! Returns the number of the code's values that the decoder has taken, or that were
    //! skipped.
    std::uint64_t fed() const { return d_fed; }
    //! Pushes buffered values to the decoder, at most up to value \p limit of the code.
    //! \p finishing: no more input follows. Returns whether the decoder took any value.
    bool feed(std::uint64_t limit, bool finishing);
    //! Lets input pass through if that is possible and the decoder has all buffered
    //! values.
    void pass();
    bool passing() const { return d_passing; }
    //! Ends passing through: copies the values that the decoder took and that are still
    //! needed back to the buffer.
    void rebuffer();
    //! Reads \p count of the code's values from number \p first on. Values that are not
    //! available any more become 0.
    void read(std::uint64_t first, std::size_t count, std::int8_t* to) const;
    //! Returns fed() at the last time when a batch was submitted early, so that borrowing
    //! could begin.
    std::uint64_t cut() const { return d_cut; }
    //! Releases the decoder's oldest batch, whose input ends before value \p end of the
    //! code. If input passes through, buffers the batch's values that are still needed.
    void release_batch(std::uint64_t end);

    // Functions for the caller's items; pipeline/engine.h describes them.

    std::size_t push(const std::byte* items, std::size_t count, float scale);
    bool can_borrow() const { return d_passes && end() == 0; }
    //! \p capacity: number of items that may be taken into the buffer.
    std::size_t
    borrow(const std::byte* items, std::size_t count, float scale, std::size_t capacity);
    std::size_t borrowed() const
    {
        return d_borrows ? d_past + d_decoder->borrowed() : d_borrowed;
    }
    std::size_t release_borrowed();
    void copy_borrowed();
    bool pin_input(void* memory, std::size_t bytes);
    void unpin_input();

private:
    std::size_t item_size() const
    {
        return d_format == soft_format::float32 ? sizeof(float) : 1;
    }
    bool can_pass() const { return d_passes && d_reading && d_reading->in_pairs(); }
    // Returns whether the decoder may borrow the caller's memory.
    bool may_borrow() const { return d_passing && (!d_ring || d_ring_pinned); }
    void receive(std::uint64_t first, std::size_t count, std::int8_t* to) const;
    void pin_ring(bool pinned);
    bool begin_borrowing();

    const soft_format d_format;
    const bool d_passes;
    search_buffer d_buffer;
    std::vector<std::int8_t> d_fresh;
    mutable std::vector<std::int8_t> d_pairs;

    viterbi_decoder* d_decoder = nullptr;
    watched_decoder* d_watched = nullptr;
    const hypothesis* d_reading = nullptr;
    std::uint64_t d_start = 0, d_fed = 0, d_cut = 0;
    std::uint64_t d_needed = 0; // oldest value that is still needed
    bool d_passing = false;

    // The caller's ring, if it can be pinned. It is unpinned while a lock prevents
    // borrowing from it.
    void* d_ring = nullptr;
    std::size_t d_ring_bytes = 0;
    bool d_ring_pinned = false;
    // Borrowed items: d_borrowed items were copied to the buffer. While d_borrows is set,
    // the decoder borrows the items instead, except the first d_past.
    bool d_borrows = false;
    std::size_t d_borrowed = 0, d_past = 0;
};

} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_PHASE_LOCK_LOCK_INPUT_H */
