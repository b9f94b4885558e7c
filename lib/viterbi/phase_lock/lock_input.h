// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The input of a decoder with phase search. The input is buffered during the search, and
 * then passed to the inner decoder, an ordinary decoder without phase search. locking.h
 * defines stream value, code value, lock and segment. */

#ifndef INCLUDED_GPUFEC_VITERBI_PHASE_LOCK_LOCK_INPUT_H
#define INCLUDED_GPUFEC_VITERBI_PHASE_LOCK_LOCK_INPUT_H

#include "hypothesis.h"
#include "pipeline/memory_in_place.h"
#include "viterbi/stream/decoder_impl.h"
#include "viterbi/stream/search_buffer.h"
#include <vector>

namespace gr::gpufec::viterbi {

/*!
 * \brief A buffer of soft values before the inner decoder, which decodes the current
 * segment of the stream.
 *
 * Values are buffered until the inner decoder has accepted all of them. Then input can
 * pass through to the inner decoder directly, which copies the items to its slots or
 * borrows them from the caller. Input passes through only if the inner decoder itself can
 * apply the hypothesis, that is, if hypothesis::in_pairs() is true.
 */
class lock_input
{
public:
    //! \p passes tells whether input may pass through. Input of format packed4 never
    //! passes through.
    lock_input(soft_format format, bool passes);

    std::size_t values_per_item() const { return d_buffer.values_per_item(); }
    //! Returns the index of the oldest buffered stream value.
    std::uint64_t first() const { return d_buffer.first(); }
    //! Returns the number of values received from the caller since clear().
    std::uint64_t end() const { return d_passing ? d_start + d_fed : d_buffer.end(); }
    //! Returns the buffered stream values. While input passes through, newer values are
    //! only in the inner decoder.
    value_span buffered() const { return d_buffer.span(); }
    //! Drops the stream values before index \p value.
    void drop_before(std::uint64_t value);
    //! Drops all values and prepares for another stream.
    void clear();

    // Functions for the inner decoder and the current segment.

    //! Sets the inner decoder. The previous one must still exist, because it unpins the
    //! caller's ring.
    void use(viterbi_decoder_base* decoder);
    //! Begins a segment at stream value \p start. The first \p skipped code values are
    //! not decoded.
    void begin(const hypothesis& reading, std::uint64_t start, std::uint64_t skipped);
    //! Returns the number of code values that the inner decoder has accepted or that were
    //! skipped.
    std::uint64_t fed() const { return d_fed; }
    //! Pushes the code values before index \p limit to the inner decoder, as far as they
    //! are buffered and the decoder accepts them. Does nothing while input passes
    //! through. \p finishing tells that no more input follows. Returns whether the
    //! decoder accepted any value.
    bool feed(std::uint64_t limit, bool finishing);
    //! Lets input pass through from now on, if the hypothesis allows that and the inner
    //! decoder has accepted all buffered values.
    void pass();
    bool passing() const { return d_passing; }
    //! Ends passing through: copies the values that are still needed from the inner
    //! decoder back to the buffer, and copies borrowed items, so that the decoder borrows
    //! no items.
    void rebuffer();
    //! Copies \p count code values from index \p first on. Values that are neither
    //! buffered nor in the inner decoder become 0.
    void read(std::uint64_t first, std::size_t count, std::int8_t* to) const;
    //! Returns the value of fed() when the open batch was last submitted early, so that
    //! borrowing could begin; 0 if that has not happened in this segment.
    std::uint64_t cut() const { return d_cut; }
    //! Releases the inner decoder's oldest batch, whose input ends before code value
    //! \p end. If input passes through, first buffers the batch's values that are still
    //! needed.
    void release_batch(std::uint64_t end);

    // Functions for the caller's items. memory_in_place.h describes most of these
    // functions.

    std::size_t push(const std::byte* items, std::size_t count, float scale);
    bool can_borrow() const { return d_passes && end() == 0; }
    //! \p capacity is the maximum number of items to buffer.
    std::size_t
    borrow(const std::byte* items, std::size_t count, float scale, std::size_t capacity);
    std::size_t borrowed() const
    {
        return d_borrows ? d_past + d_decoder->in_place()->borrowed() : d_borrowed;
    }
    std::size_t release_borrowed();
    void copy_borrowed();
    bool pin_input(void* memory, std::size_t bytes);
    void unpin_input();

private:
    bool can_pass() const { return d_passes && d_reading && d_reading->in_pairs(); }
    // Returns whether the inner decoder may borrow the caller's memory.
    bool may_borrow() const { return d_passing && (!d_ring || d_ring_pinned); }
    void buffer_needed(std::uint64_t end);
    void receive(std::uint64_t first, std::size_t count, std::int8_t* to) const;
    void pin_ring(bool pinned);
    bool begin_borrowing();

    const soft_format d_format;
    const bool d_passes;
    search_buffer d_buffer;
    std::vector<std::int8_t> d_fresh;
    mutable std::vector<std::int8_t> d_pairs;

    viterbi_decoder_base* d_decoder = nullptr;
    const hypothesis* d_reading = nullptr;
    std::uint64_t d_start = 0, d_fed = 0, d_cut = 0;
    std::uint64_t d_needed = 0; // index of the oldest stream value that is still needed
    bool d_passing = false;

    // The caller's ring buffer, if it can be pinned. The ring is unpinned while the
    // current hypothesis does not allow input to pass through.
    void* d_ring = nullptr;
    std::size_t d_ring_bytes = 0;
    bool d_ring_pinned = false;
    // If d_borrows is set, the inner decoder borrows the caller's items, except the first
    // d_past of them. Otherwise d_borrowed items count as borrowed although they were
    // copied.
    bool d_borrows = false;
    std::size_t d_borrowed = 0, d_past = 0;
};

} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_PHASE_LOCK_LOCK_INPUT_H */
