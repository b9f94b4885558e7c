// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The input of a decoder that looks for its phase: held while it looks, and passed on to
 * the decoder that has found it. */

#ifndef INCLUDED_GPUFEC_VITERBI_LOCK_INPUT_H
#define INCLUDED_GPUFEC_VITERBI_LOCK_INPUT_H

#include "held_input.h"
#include "hypothesis.h"
#include "watched_decoder.h"
#include <gnuradio/gpufec/viterbi.h>
#include <vector>

namespace gr::gpufec::viterbi {

/*!
 * \brief Values of a stream, which are numbered, on their way to a decoder of a segment.
 *
 * They are copied and held until the decoder has all of them. What comes next is passed
 * on without being held, if that decoder can read it as it is received: then its slots
 * hold it, or the caller's memory, from which it is lent.
 */
class lock_input
{
public:
    //! Whether anything is ever passed on: \p passes.
    lock_input(soft_format format, bool passes);

    std::size_t values_per_item() const { return d_held.values_per_item(); }
    //! The oldest value that is held.
    std::uint64_t first() const { return d_held.first(); }
    //! Values that were taken.
    std::uint64_t end() const { return d_passing ? d_start + d_fed : d_held.end(); }
    //! Those that are held; all, unless they are passed on.
    value_span held() const { return d_held.span(); }
    void drop_before(std::uint64_t value);
    //! Another stream begins.
    void clear();

    // The segment.

    //! Its decoder, if there is another one than before, and before the old one is gone.
    void use(viterbi_decoder* decoder, watched_decoder* watched);
    //! It begins with value \p start of the stream, of which the first \p skipped values
    //! of its code are not decoded.
    void begin(const hypothesis& reading, std::uint64_t start, std::uint64_t skipped);
    //! The code's values that the decoder has.
    std::uint64_t fed() const { return d_fed; }
    //! Gives it what is held, of the first \p limit values; \p finishing: no more comes.
    //! Returns whether it took some.
    bool feed(std::uint64_t limit, bool finishing);
    //! From now on values are passed on, if that can be and it has all that is held.
    void pass();
    bool passing() const { return d_passing; }
    //! All that was taken and not dropped is held again.
    void hold();
    //! The code's values, \p count from number \p first on, if they are still there.
    void read(std::uint64_t first, std::size_t count, std::int8_t* to) const;
    //! The code's values that the decoder had when a batch was cut short to lend the
    //! next.
    std::uint64_t cut() const { return d_cut; }
    //! Its decoder's oldest batch goes, whose input ends before value \p end of the code:
    //! keeps what is not dropped of it.
    void release_batch(std::uint64_t end);

    // The caller's items, as engine.h has it.

    std::size_t push(const std::byte* items, std::size_t count, float scale);
    bool can_lend() const { return d_passes && end() == 0; }
    //! \p room: items that may be taken if they are held.
    std::size_t
    lend(const std::byte* items, std::size_t count, float scale, std::size_t room);
    std::size_t lent() const { return d_lends ? d_past + d_decoder->lent() : d_lent; }
    std::size_t take_back();
    void end_lending();
    bool lock_lent(void* memory, std::size_t bytes);
    void unlock_lent();

private:
    std::size_t item_size() const
    {
        return d_format == soft_format::float32 ? sizeof(float) : 1;
    }
    bool can_pass() const { return d_passes && d_reading && d_reading->in_pairs(); }
    // Whether the decoder may take over what is lent.
    bool may_lend() const { return d_passing && (!d_ring || d_ring_locked); }
    void receive(std::uint64_t first, std::size_t count, std::int8_t* to) const;
    void lock_ring(bool locked);
    bool begin_lending();

    const soft_format d_format;
    const bool d_passes;
    held_input d_held;
    std::vector<std::int8_t> d_fresh;
    mutable std::vector<std::int8_t> d_pairs;

    viterbi_decoder* d_decoder = nullptr;
    watched_decoder* d_watched = nullptr;
    const hypothesis* d_reading = nullptr;
    std::uint64_t d_start = 0, d_fed = 0, d_cut = 0;
    std::uint64_t d_needed = 0; // nothing before this value is
    bool d_passing = false;

    // Memory to lend from; the decoder's slots are page-locked if this is not.
    void* d_ring = nullptr;
    std::size_t d_ring_bytes = 0;
    bool d_ring_locked = false;
    // Items that the caller lends: copied, or, while d_lends, from number d_past on in
    // the decoder's hands.
    bool d_lends = false;
    std::size_t d_lent = 0, d_past = 0;
};

} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_LOCK_INPUT_H */
