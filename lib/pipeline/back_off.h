// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Retries transient errors with exponential back-off. */

#ifndef INCLUDED_GPUFEC_PIPELINE_BACK_OFF_H
#define INCLUDED_GPUFEC_PIPELINE_BACK_OFF_H

#include "batch_decoder.h"
#include <chrono>
#include <thread>

namespace gr::gpufec {

//! Calls \p action and returns its result. After a passing_device_error (see
//! batch_decoder.h) the function calls \p action again, at most three times, after pauses
//! of 10, 40 and 160 ms. The fourth error is thrown.
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
