// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Measures the rate of decoding batches that are filled with given frames. */

#ifndef INCLUDED_GPUFEC_LAB_SYNC_MAP_SLOT_BENCHMARK_H
#define INCLUDED_GPUFEC_LAB_SYNC_MAP_SLOT_BENCHMARK_H

#include "lab/slot_rates.h"
#include "simulation.h"
#include "sync_map/stream/traits.h"

namespace gr::gpufec::sync_map {

class slot_benchmark : public slot_rates<traits>
{
public:
    //! Fills the slots with repetitions of \p frames, which are decoded in framed mode.
    //! \throws std::invalid_argument if an option is not allowed
    //! \throws std::runtime_error if CUDA is requested and not available
    slot_benchmark(const sync_options& options,
                   const std::vector<frame_source::frame>& frames);

    //! Returns frames per second, measured for \p duration seconds. The time includes the
    //! copies between slots and device, but not filling and emptying the slots.
    double host_to_host(double duration)
    {
        return batches_per_second(duration) * work_items();
    }
    //! Returns the number of frames per batch.
    std::size_t frames() const { return work_items(); }
    //! Returns the number of different drifts that the decoder considers.
    unsigned window() const { return d_window; }

private:
    unsigned d_window;
};

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_LAB_SYNC_MAP_SLOT_BENCHMARK_H */
