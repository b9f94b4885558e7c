// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Takes an array through a decoder of streams, from its first item to its last. */

#ifndef INCLUDED_GPUFEC_ARRAYS_DRIVE_H
#define INCLUDED_GPUFEC_ARRAYS_DRIVE_H

#include <gnuradio/gpufec/decoder.h>

namespace gr::gpufec {

//! Forgets the array when a call ends, by an exception too: nothing reads it any more.
class fresh_start
{
public:
    explicit fresh_start(decoder& d) : d_decoder(d) { d.reset(); }
    ~fresh_start() { d_decoder.reset(); }
    fresh_start(const fresh_start&) = delete;

private:
    decoder& d_decoder;
};

/*!
 * \brief Calls \p push until it has said true, that all is pushed, and \p pull until the
 * decoder is done. Each says whether it got anywhere.
 */
template <class Push, class Pull>
void drive(decoder& d, Push&& push, Pull&& pull)
{
    bool pushed = false;
    while (!d.done()) {
        bool moved = false;
        if (!pushed) {
            moved = push(pushed);
            if (pushed) {
                d.finish();
            }
        }
        while (pull()) {
            moved = true;
        }
        if (!moved && !d.done()) {
            d.wait(std::chrono::milliseconds(100));
        }
    }
}

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_ARRAYS_DRIVE_H */
