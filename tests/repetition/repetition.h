// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* An example of how to add a decoder to the module: a decoder of repetition codes, and
 * its block. Each bit is sent R times; the sum of the soft values decides. The decoder
 * has only a CPU backend. */

#ifndef INCLUDED_GPUFEC_TESTS_REPETITION_H
#define INCLUDED_GPUFEC_TESTS_REPETITION_H

#include "blocks/common/decoder_block.h"
#include "pipeline/cpu_decoder.h"
#include "pipeline/stream_decoder.h"
#include <gnuradio/io_signature.h>
#include <cstring>
#include <numeric>

namespace gr::gpufec {

struct repetition_options : run_options {
    unsigned times = 3; //!< number R of repetitions, 1 to 255
};

namespace repetition {

struct setup {
    unsigned times;
};

struct job {
    std::size_t bits = 0;
};

//! Decodes batches on the CPU, one job of the worker pool per batch.
class cpu_repetition : public cpu_decoder<job>
{
public:
    cpu_repetition(const setup& s, std::size_t bits, unsigned threads)
        : cpu_decoder("plain", { bits, bits * s.times, bits }, threads), d_times(s.times)
    {
    }
    ~cpu_repetition() override { stop(); }

    void submit(unsigned slot, const job& j, const batch_memory& memory) override
    {
        d_pool.submit(slot, 1, [=](std::size_t, unsigned) {
            const auto* from = reinterpret_cast<const std::int8_t*>(memory.input);
            for (std::size_t i = 0; i < j.bits; ++i, from += d_times) {
                memory.output[i] =
                    std::byte(std::accumulate(from, from + d_times, 0) < 0);
            }
        });
    }

private:
    const unsigned d_times;
};

//! pipeline/backends.h documents each member.
struct traits {
    using setup = repetition::setup;
    using job = repetition::job;
    using decoder = std::unique_ptr<batch_decoder<job>>;
    static constexpr const char* work_items_name = "bits";
    static constexpr std::size_t max_work_items = 1u << 20;

    static std::size_t batch_granularity(const setup&) { return 1; }
    static std::string describe(const setup& s)
    {
        return "repetition, " + std::to_string(s.times) + " times,";
    }
    static std::size_t cpu_batch(const setup&, unsigned threads)
    {
        return 4096 * threads;
    }
    static decoder make_cpu(const setup& s, std::size_t bits, unsigned threads)
    {
        return std::make_unique<cpu_repetition>(s, bits, threads);
    }
    static std::size_t cuda_batch(const setup&, unsigned, int) { return 1; }
    static decoder make_cuda(const setup&, std::size_t, unsigned, int)
    {
        throw std::runtime_error("repetition codes require backend cpu");
    }
};

} // namespace repetition

//! A decoder of int8 soft values to bits, one per byte. A positive sum means bit 0.
class repetition_decoder : public stream_decoder<decoder, repetition::traits>
{
public:
    repetition_decoder(const repetition_options& o, decoder_hooks hooks)
        : stream_decoder(o, std::move(hooks), 1)
    {
        require(o.times >= 1 && o.times <= 255, "times", o.times, "1 to 255");
        open({ o.times });
    }

    std::size_t push(const std::byte* values, std::size_t count)
    {
        return take(count, [=](std::size_t first, std::size_t n, std::byte* to) {
            std::memcpy(to, values + first, n);
        });
    }

    std::size_t pull(std::byte* bits, std::size_t count)
    {
        advance();
        const auto* const s = d_pipeline->ready();
        if (!s || count == 0) {
            return 0;
        }
        const auto n = std::min(count, s->job.bits - d_emitted);
        std::memcpy(bits, s->output + d_emitted, n);
        d_emitted += n;
        if (d_emitted == s->job.bits) {
            d_emitted = 0;
            release();
            advance();
        }
        return n;
    }

private:
    std::size_t waiting() const override
    {
        return (d_input.end() - d_input.first()) / d_setup->times;
    }
    std::size_t items_wanted() const override
    {
        return d_input.first() + d_batch * d_setup->times - d_input.end();
    }
    void advance() override
    {
        if (open_input() && waiting() > 0 && (waiting() == d_batch || send_now())) {
            const auto bits = waiting();
            submit({ bits }, d_input.first() + bits * d_setup->times);
        }
    }
    void restart() override { d_emitted = 0; }

    std::size_t d_emitted = 0; // number of pulled bits of the oldest batch
};

//! The interface of the block. The module has such interfaces in its public headers.
class repetition_interface : virtual public gr::block
{
public:
    virtual std::string active_backend() const = 0;
    virtual int batch() const = 0;
    virtual std::string verdict() const = 0;
    virtual void set_max_latency_ms(double max_latency_ms) = 0;
    virtual double max_latency_ms() const = 0;
};

class repetition_block : public decoder_block<repetition_interface>
{
public:
    explicit repetition_block(const repetition_options& options)
        : gr::block("repetition",
                    gr::io_signature::make(1, 1, 1),
                    gr::io_signature::make(1, 1, 1)),
          decoder_block(1, 1),
          d_options(options),
          d_decoder(make_process_bound<repetition_decoder>(options, hooks()))
    {
        publish_choices();
        set_exact_rate(1, options.times);
    }

private:
    decoder& engine() override { return *d_decoder; }
    const run_options& run() const override { return d_options; }
    std::size_t pull(std::byte* out, std::size_t capacity, std::uint64_t) override
    {
        return d_decoder->pull(out, capacity);
    }
    bool push(input& in, input&) override
    {
        const bool some = take(in, [this](const std::byte* items, std::size_t count) {
            return d_decoder->push(items, count);
        });
        d_input_tags.release(next_item(in), [this](held_tag tag) {
            tag.offset /= d_options.times;
            d_tags.hold(std::move(tag));
        });
        return some;
    }

    const repetition_options d_options;
    const std::shared_ptr<repetition_decoder> d_decoder;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_TESTS_REPETITION_H */
