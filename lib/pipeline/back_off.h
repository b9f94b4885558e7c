// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* What may pass by itself is tried again, after longer and longer pauses. */

#ifndef INCLUDED_GPUFEC_PIPELINE_BACK_OFF_H
#define INCLUDED_GPUFEC_PIPELINE_BACK_OFF_H

#include "batch_decoder.h"
#include <chrono>
#include <thread>

namespace gr::gpufec {

//! What \p action returns; after passing_device_errors it is called up to three times
//! more, within a quarter of a second.
template <class Action>
auto with_back_off(Action&& action)
{
    using std::chrono::milliseconds;
    for (auto pause = milliseconds(10);; pause *= 4) {
        try {
            return action();
        } catch (const passing_device_error&) {
            if (pause > milliseconds(160)) {
                throw;
            }
        }
        std::this_thread::sleep_for(pause);
    }
}

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_PIPELINE_BACK_OFF_H */
