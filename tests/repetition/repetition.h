// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* An example of how to add a decoder: a decoder of repetition codes on the CPU, and its
 * block. */

#ifndef INCLUDED_GPUFEC_TESTS_REPETITION_H
#define INCLUDED_GPUFEC_TESTS_REPETITION_H

#include "blocks/common/decoder_block.h"
#include "pipeline/cpu_decoder.h"
#include "pipeline/stream_decoder.h"
#include <gnuradio/gpufec/spans.h>
#include <gnuradio/io_signature.h>
#include <cstring>
#include <numeric>

namespace gr::gpufec {

struct repetition_options : run_options {
    unsigned times = 3; //!< number R of repetitions, 1 to 255
};

//! The traits of the decoder. A job is the number of bits of a batch. pipeline/backends.h
//! documents the members.
struct repetition_traits : cpu_traits<repetition_options, std::size_t> {
    static constexpr const char* work_items_name = "bits";
    static constexpr std::size_t max_work_items = 1u << 20;
    static std::string describe(const setup& s)
    {
        return "repetition, " + std::to_string(s.times) + " times,";
    }
    static decoder make_cpu(const setup& s, std::size_t bits, unsigned threads)
    {
        const auto decode = [times = s.times](job count, const batch_memory& memory) {
            const auto* from = reinterpret_cast<const std::int8_t*>(memory.input);
            for (std::size_t i = 0; i < count; ++i, from += times) {
                memory.output[i] = std::byte(std::accumulate(from, from + times, 0) < 0);
            }
        };
        const batch_limits limits{ bits, bits * s.times, bits };
        return std::make_unique<function_decoder<job>>(limits, threads, decode);
    }
};

//! A decoder from int8 soft values to bits. If the sum of R values is positive, the bit
//! is 0.
class repetition_decoder : public stream_decoder<decoder, repetition_traits>
{
public:
    repetition_decoder(const repetition_options& o, decoder_hooks hooks)
        : stream_decoder(o, std::move(hooks), 1)
    {
        require(o.times >= 1 && o.times <= 255, "times", o.times, "1 to 255");
        open(o);
    }

    std::size_t push(input_items values)
    {
        values.require(item_type::int8);
        return take(values.size(), [=](std::size_t first, std::size_t n, std::byte* to) {
            copy_to_slot(to, static_cast<const std::byte*>(values.data()) + first, n);
        });
    }

    std::size_t pull(span<std::uint8_t> bits)
    {
        advance();
        const auto* const s = d_pipeline->ready();
        const auto n = s ? std::min(bits.size(), s->job - d_emitted) : 0;
        if (n > 0) {
            std::memcpy(bits.data(), s->output + d_emitted, n);
            d_emitted = (d_emitted + n) % s->job;
            if (d_emitted == 0) {
                release();
                advance();
            }
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
        const auto bits = waiting();
        if (open_input() && bits > 0 && (bits == d_batch || send_now())) {
            submit(bits, d_input.first() + bits * d_setup->times);
        }
    }
    void restart() override { d_emitted = 0; }
    std::size_t d_emitted = 0; // number of pulled bits of the oldest batch
};

//! The interface of the block, like the interfaces in the public headers.
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
        return d_decoder->pull({ reinterpret_cast<std::uint8_t*>(out), capacity });
    }
    bool push(input& in, input&) override
    {
        const bool some = take(in, [this](const std::byte* items, std::size_t count) {
            return d_decoder->push({ items, count });
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
