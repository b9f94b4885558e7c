// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The base class of all batch decoders on the CPU. */

#ifndef INCLUDED_GPUFEC_PIPELINE_CPU_DECODER_H
#define INCLUDED_GPUFEC_PIPELINE_CPU_DECODER_H

#include "batch_decoder.h"
#include "worker_pool.h"

namespace gr::gpufec {

//! Batch decoder with a pool of threads. The destructor of a derived class must call
//! stop() before it destroys members that the threads use.
template <class Job>
class cpu_decoder : public batch_decoder<Job>
{
public:
    batch_limits limits() const override { return d_limits; }
    std::string backend() const override { return "cpu"; }
    std::string device() const override
    {
        const auto threads = d_pool.threads();
        return d_name + ", " + std::to_string(threads) +
               (threads == 1 ? " thread" : " threads");
    }
    void on_completion(std::function<void()> notify) override
    {
        d_pool.on_completion(std::move(notify));
    }
    bool finished(unsigned slot) override { return d_pool.finished(slot); }
    void drop() noexcept override { d_pool.drop(); }

protected:
    //! \p name is the name of the instruction set, for the log.
    cpu_decoder(const std::string& name, const batch_limits& limits, unsigned threads)
        : d_name(name), d_limits(limits), d_pool(threads)
    {
    }

    void stop() { d_pool.stop(); }

    const std::string d_name;
    const batch_limits d_limits;
    worker_pool d_pool;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_PIPELINE_CPU_DECODER_H */
