// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The base class of all batch decoders on the CPU, and the traits of decoders that have
 * only a CPU backend. */

#ifndef INCLUDED_GPUFEC_PIPELINE_CPU_DECODER_H
#define INCLUDED_GPUFEC_PIPELINE_CPU_DECODER_H

#include "batch_decoder.h"
#include "worker_pool.h"
#include <functional>
#include <memory>
#include <stdexcept>
#include <utility>

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

//! Batch decoder that decodes a whole batch by one call of a function.
template <class Job>
class function_decoder : public cpu_decoder<Job>
{
public:
    using function = std::function<void(const Job&, const batch_memory&)>;

    function_decoder(const batch_limits& limits, unsigned threads, function decode)
        : cpu_decoder<Job>("plain", limits, threads), d_decode(std::move(decode))
    {
    }
    ~function_decoder() override { this->stop(); }

    void submit(unsigned slot, const Job& job, const batch_memory& memory) override
    {
        this->d_pool.submit(
            slot, 1, [=](std::size_t, unsigned) { d_decode(job, memory); });
    }

private:
    const function d_decode;
};

//! Traits of a decoder that has only a CPU backend; see backends.h.
template <class Setup, class Job>
struct cpu_traits {
    using setup = Setup;
    using job = Job;
    using decoder = std::unique_ptr<batch_decoder<Job>>;

    static std::size_t batch_granularity(const Setup&) { return 1; }
    static std::size_t cpu_batch(const Setup&, unsigned threads)
    {
        return 4096 * threads;
    }
    static std::size_t cuda_batch(const Setup&, const run_options&, int) { return 1; }
    static decoder make_cuda(const Setup&, std::size_t, unsigned, int)
    {
        throw std::runtime_error("this decoder has no CUDA backend; use backend cpu");
    }
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_PIPELINE_CPU_DECODER_H */
