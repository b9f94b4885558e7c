// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Measures batch decoders without the stream decoder: batches per second, the latency of
 * a batch, and the times of copies and kernels on a device. */

#ifndef INCLUDED_GPUFEC_LAB_SLOT_RATES_H
#define INCLUDED_GPUFEC_LAB_SLOT_RATES_H

#include "pipeline/backends.h"
#include "pipeline/pipeline.h"
#include <chrono>
#include <future>

namespace gr::gpufec {

//! Measures a decoder, which decodes the same batches repeatedly.
//! \tparam Traits traits of a decoder, see pipeline/backends.h
template <class Traits>
class slot_rates
{
public:
    using job = typename Traits::job;
    using setup = typename Traits::setup;
    using slot = typename pipeline<job>::slot;

    //! Fills all slots and decodes them once. \p fill(limits, input) writes a full batch
    //! to \p input and returns its job, which must be the same for all slots.
    //! \throws std::runtime_error if CUDA is requested and not available
    template <class Fill>
    slot_rates(const setup& s, const run_options& run, Fill&& fill)
        : d_setup(s),
          d_run(run),
          d_pipeline(make_decoders<Traits>(s, run).decoders, run.slots, {})
    {
        for (std::size_t i = 0; i < d_pipeline.slots(); ++i) {
            d_job = fill(d_pipeline.active().limits(), d_pipeline.filling()->input);
            d_pipeline.submit(d_job);
        }
        while (!d_pipeline.wait(std::chrono::milliseconds(100))) {
        }
    }

    //! Returns the slot that was decoded first. The reference is valid until the first
    //! measurement.
    const slot& first() { return *d_pipeline.ready(); }

    //! Returns batches per second, measured for \p duration seconds with all slots in
    //! flight. The time includes transfers, but not filling and emptying the slots.
    double batches_per_second(double duration)
    {
        d_pipeline.drain();
        const auto begin = clock::now();
        std::size_t batches = 0;
        while (since(begin) < duration) {
            while (d_pipeline.filling()) {
                d_pipeline.submit(d_job);
            }
            batches += take();
        }
        while (!d_pipeline.empty()) {
            batches += take();
        }
        return batches / since(begin);
    }

    //! Returns the seconds from the submission of a batch to its completion, while no
    //! other batch is in flight.
    double latency()
    {
        d_pipeline.drain();
        const auto begin = clock::now();
        d_pipeline.submit(d_job);
        while (!take()) {
        }
        return since(begin);
    }

    //! Returns, for each device, the time in ms of each step of a batch: medians over
    //! \p rounds batches. All devices run at the same time, each with one batch in
    //! flight. Supports only CUDA devices.
    std::vector<std::vector<timed_step>> device_times(unsigned rounds)
    {
        d_pipeline.drain();
        // All devices decode the same slot of the pipeline, because its memory is pinned
        // and already holds values.
        const auto& s = *d_pipeline.filling();
        const batch_memory memory{ s.input, s.output, s.status };
        std::vector<std::future<std::vector<timed_step>>> running;
        for (const int device : d_run.devices) {
            running.push_back(std::async(std::launch::async, [=] {
                return Traits::make_cuda(d_setup, work_items(), 1, device)
                    ->time_steps(d_job, memory, rounds);
            }));
        }
        std::vector<std::vector<timed_step>> times;
        for (auto& r : running) {
            times.push_back(r.get());
        }
        return times;
    }

    bool on_cuda() const { return d_pipeline.active().backend() == "cuda"; }
    std::size_t work_items() const { return limits().work_items; }
    batch_limits limits() const { return d_pipeline.active().limits(); }

private:
    using clock = std::chrono::steady_clock;

    static double since(clock::time_point begin)
    {
        return std::chrono::duration<double>(clock::now() - begin).count();
    }

    bool take()
    {
        if (!d_pipeline.wait(std::chrono::milliseconds(100))) {
            return false;
        }
        d_pipeline.release();
        return true;
    }

    const setup d_setup;
    const run_options d_run;
    pipeline<job> d_pipeline;
    job d_job;
};

//! Returns the total time in ms of the steps called \p name; "kernels" means all steps
//! except copies.
inline double step_ms(const std::vector<timed_step>& steps, const std::string& name)
{
    double ms = 0;
    for (const auto& s : steps) {
        const bool kernel = s.name.find("copy") != 0;
        ms += s.name == name || (name == "kernels" && kernel) ? s.ms : 0;
    }
    return ms;
}

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_LAB_SLOT_RATES_H */
