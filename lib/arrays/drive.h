// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The loop in which a stream decoder decodes an array or a stream of several arrays, and
 * a guard that resets the decoder. */

#ifndef INCLUDED_GPUFEC_ARRAYS_DRIVE_H
#define INCLUDED_GPUFEC_ARRAYS_DRIVE_H

#include <gnuradio/gpufec/decoder.h>

namespace gr::gpufec {

//! Guard that resets the decoder at the end of a call, unless keep() is called. After the
//! reset, the decoder no longer reads the array, and the caller may free the array.
class fresh_start
{
public:
    //! Resets the decoder first, unless \p begun is true and the call continues the
    //! stream of an earlier call.
    explicit fresh_start(decoder& d, bool begun = false) : d_decoder(d)
    {
        if (!begun) {
            d.reset();
        }
    }
    ~fresh_start()
    {
        if (!d_kept) {
            d_decoder.reset();
        }
    }
    fresh_start(const fresh_start&) = delete;

    //! Prevents the reset, so that the next call continues the stream. Returns true.
    bool keep() { return d_kept = true; }

private:
    decoder& d_decoder;
    bool d_kept = false;
};

/*!
 * \brief Decodes an array by calls of \p push and \p pull.
 *
 * \param check called about every 50 ms; an exception ends the call
 * \param items number of items
 * \param push(taken) pushes items from index \c taken on and returns the number of items
 *        that the decoder accepted
 * \param pull pulls output and returns whether any was available
 * \param last whether the stream ends with this array; if not, the call returns after all
 *        items are pushed and the output that is ready is pulled
 */
template <class Check, class Push, class Pull>
void drive(decoder& d,
           const Check& check,
           std::uint64_t items,
           Push&& push,
           Pull&& pull,
           bool last = true)
{
    using clock = std::chrono::steady_clock;
    constexpr auto interval = std::chrono::milliseconds(50);
    auto next_check = clock::now() + interval;
    std::uint64_t taken = 0;
    bool pushed = false;
    while (last ? !d.done() : !pushed) {
        if (clock::now() >= next_check) {
            check();
            next_check = clock::now() + interval;
        }
        bool moved = false;
        if (!pushed) {
            const auto n = push(taken);
            taken += n;
            moved = n > 0;
            pushed = taken == items;
            if (pushed && last) {
                d.finish();
            } else if (pushed && d.due()) {
                d.flush();
            }
        }
        while (pull()) {
            moved = true;
        }
        if (!moved && !d.done() && (last || !pushed)) {
            d.wait(interval);
        }
    }
}

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_ARRAYS_DRIVE_H */
