// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Simulation of Viterbi error rates on the host, and evaluation of a simulation on a
 * device. */

#include "maximum_likelihood.h"
#include "pipeline/stream_decoder.h"
#include "simulation.h"
#include "viterbi/stream/traits.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <future>
#include <stdexcept>

namespace gr::gpufec::viterbi {

namespace {

constexpr std::uint64_t usual_segment = 1u << 16; // information bits per segment

// Returns the largest number of correct bits between two errors of one event.
unsigned event_gap(const simulation_options& options)
{
    return 5 * (options.decoder.code.constraint_length() - 1);
}

std::uint64_t round_up(std::uint64_t x, std::uint64_t unit)
{
    return (x + unit - 1) / unit * unit;
}

// A part of the stream, or several whole frames. One thread makes each segment.
struct segment {
    std::vector<std::uint8_t> bits; // information bits, one per byte
    std::vector<std::byte> items;   // soft values for the decoder
    // Bits decoded by maximum likelihood, if requested.
    std::vector<std::uint8_t> reference;
};

// A source of the segments of a simulation. Threads can make segments in any order.
class source
{
public:
    explicit source(const simulation_options& options)
        : d_options(options),
          d_decoder(options.decoder),
          d_code(options.decoder.code),
          d_data(data_of(options)),
          d_channel(channel_of(options)),
          d_segment_bits(segment_bits(options))
    {
        const auto plan =
            make_block_layout(d_code, d_decoder.termination, d_decoder.frame_bits, 0, 0);
        d_margin = round_up(16 * plan.overlap, segment_unit(options));
    }

    // Returns the number of information bits per segment.
    static std::uint64_t segment_bits(const simulation_options& options)
    {
        const auto wanted =
            std::max<std::uint64_t>(1, std::min(usual_segment, options.max_bits));
        return round_up(wanted, segment_unit(options));
    }
    static std::uint64_t segments(const simulation_options& options)
    {
        const auto bits = segment_bits(options);
        return std::max<std::uint64_t>(1, (options.max_bits + bits - 1) / bits);
    }

    std::uint64_t segment_bits() const { return d_segment_bits; }
    std::uint64_t segments() const { return segments(d_options); }

    segment make(std::uint64_t index) const
    {
        segment s;
        s.bits.resize(d_segment_bits);
        d_data.bits(index * d_segment_bits, d_segment_bits, s.bits.data());
        streaming() ? stream(index * d_segment_bits, s) : frames(index, s);
        return s;
    }

private:
    bool streaming() const { return d_decoder.termination == termination::streaming; }

    static std::uint64_t segment_unit(const simulation_options& options)
    {
        const auto& o = options.decoder;
        return o.termination == termination::streaming ? 8 * o.code.period()
                                                       : o.frame_bits;
    }

    // Encodes `count` information bits of the stream, beginning with bit `first`.
    std::vector<std::uint8_t> encode(std::uint64_t first, std::uint64_t count) const
    {
        // Encodes up to eight puncturing periods of earlier bits first, to fill the
        // encoder's register.
        const auto before = std::min<std::uint64_t>(first, 8 * d_code.period());
        std::vector<std::uint8_t> bits(before + count);
        d_data.bits(first - before, bits.size(), bits.data());
        conv_encoder_kernel encoder(d_code, termination::streaming, 0);
        std::vector<std::uint8_t> coded(encoder.coded_bits(bits.size()));
        const auto skipped = encoder.encode(bits.data(), before, coded.data());
        encoder.encode(bits.data() + before, count, coded.data());
        coded.resize(coded.size() - skipped);
        return coded;
    }

    void stream(std::uint64_t first, segment& s) const
    {
        const auto count = s.bits.size();
        const auto coded = encode(first, count);
        add_items(d_code.values(first), coded, s.items);
        if (!d_options.reference) {
            return;
        }
        // Decodes a margin before and after the segment too, so that the segment's bits
        // are far from both ends.
        const auto lead = std::min(first, d_margin);
        const auto all = lead + count + d_margin;
        const auto wide = encode(first - lead, all);
        const auto values = as_int8(d_code.values(first - lead), wide);
        std::vector<std::uint8_t> path(all);
        maximum_likelihood_decoder decoder(d_code, termination::streaming);
        decoder.decode(values.data(), values.size(), all, path.data());
        s.reference.assign(path.begin() + lead, path.begin() + lead + count);
    }

    void frames(std::uint64_t index, segment& s) const
    {
        const std::size_t bits = d_decoder.frame_bits;
        const conv_encoder_kernel encoder(d_code, d_decoder.termination, bits);
        std::vector<std::uint8_t> coded(encoder.coded_bits(bits));
        maximum_likelihood_decoder decoder(d_code, d_decoder.termination);
        const auto count = s.bits.size() / bits;
        if (d_options.reference) {
            s.reference.resize(s.bits.size());
        }
        for (std::size_t f = 0; f < count; ++f) {
            encoder.encode_frame(&s.bits[f * bits], coded.data());
            const auto first = (index * count + f) * coded.size();
            add_items(first, coded, s.items);
            if (d_options.reference) {
                const auto values = as_int8(first, coded);
                decoder.decode(
                    values.data(), values.size(), bits, &s.reference[f * bits]);
            }
        }
    }

    // Appends the received values of coded bits to `items`. `first` is the index of the
    // first coded bit in the simulation, which selects the noise.
    void add_items(std::uint64_t first,
                   const std::vector<std::uint8_t>& coded,
                   std::vector<std::byte>& items) const
    {
        const auto end = items.size();
        const auto n = coded.size();
        std::vector<std::uint8_t> sent(n); // awgn_channel sends 0 as a positive value
        std::transform(coded.begin(), coded.end(), sent.begin(), [this](auto bit) {
            return bit ^ d_decoder.positive_bit;
        });
        switch (d_decoder.format) {
        case soft_format::int8:
        case soft_format::uint8:
            items.resize(end + n);
            d_channel.int8(
                first, sent.data(), n, reinterpret_cast<std::int8_t*>(&items[end]));
            if (d_decoder.format == soft_format::uint8) {
                std::for_each(items.begin() + end, items.end(), [](auto& item) {
                    item ^= std::byte(0x80);
                });
            }
            break;
        case soft_format::packed4:
            items.resize(end + (n + 1) / 2);
            d_channel.packed4(
                first, sent.data(), n, reinterpret_cast<std::uint8_t*>(&items[end]));
            break;
        case soft_format::float32: {
            std::vector<float> values(n);
            d_channel.float32(first, sent.data(), n, values.data());
            items.resize(end + n * sizeof(float));
            std::memcpy(&items[end], values.data(), n * sizeof(float));
            break;
        }
        }
    }

    // Returns the received values of coded bits as the decoder quantises them: int8,
    // positive for bit 0.
    std::vector<std::int8_t> as_int8(std::uint64_t first,
                                     const std::vector<std::uint8_t>& coded) const
    {
        std::vector<std::byte> items;
        add_items(first, coded, items);
        std::vector<std::int8_t> values(coded.size());
        for (std::size_t i = 0; i < values.size(); ++i) {
            switch (d_decoder.format) {
            case soft_format::int8:
                values[i] = std::int8_t(items[i]);
                break;
            case soft_format::uint8:
                values[i] = std::int8_t(items[i] ^ std::byte(0x80));
                break;
            case soft_format::packed4: {
                const int nibble = int(items[i / 2]) >> (i % 2 ? 0 : 4) & 15;
                values[i] = nibble < 8 ? nibble : nibble - 16;
                break;
            }
            case soft_format::float32: {
                float x;
                std::memcpy(&x, &items[i * sizeof(float)], sizeof(float));
                const float steps = x * d_decoder.soft_scale;
                values[i] = std::lrint(std::min(127.0f, std::max(-127.0f, steps)));
                break;
            }
            }
            values[i] = d_decoder.positive_bit ? -values[i] : values[i];
        }
        return values;
    }

    const simulation_options& d_options;
    const viterbi_options& d_decoder;
    const conv_code& d_code;
    counter_random d_data;
    awgn_channel d_channel;
    const std::uint64_t d_segment_bits;
    std::uint64_t d_margin;
};

// An estimator of the ratio of two sums. Its confidence interval comes from the variation
// between segments.
class ratio_estimator
{
public:
    void add(double numerator, double denominator)
    {
        d_n += numerator;
        d_d += denominator;
        d_nn += numerator * numerator;
        d_nd += numerator * denominator;
        d_dd += denominator * denominator;
    }
    double ratio() const { return d_d > 0 ? d_n / d_d : 0; }
    double confidence() const
    {
        const double r = ratio();
        const double squares = d_nn - 2 * r * d_nd + r * r * d_dd;
        return d_d > 0 ? 1.96 * std::sqrt(std::max(0.0, squares)) / d_d : 0;
    }

private:
    double d_n = 0, d_d = 0, d_nn = 0, d_nd = 0, d_dd = 0;
};

class simulation
{
public:
    simulation(const simulation_options& options,
               const std::function<void(const simulation_result&)>& progress)
        : d_options(options),
          d_progress(progress),
          d_source(options),
          d_decoder(viterbi_decoder::make(options.decoder)),
          d_item_bytes(item_bytes(options.decoder.format)),
          d_result(error_counter(
              event_gap(options), options.decoder.frame_bits, d_decoder->decode_length()))
    {
        d_result.backend = d_decoder->active_backend();
        d_result.device = d_decoder->active_device();
        d_result.decode_length = d_decoder->decode_length();
        d_result.overlap = d_decoder->overlap();
    }

    simulation_result run()
    {
        const auto planned = d_source.segments();
        const std::size_t ahead = std::max(1u, d_options.threads);
        std::deque<std::future<segment>> coming;
        std::uint64_t next = 0;
        const auto start = [&] {
            while (coming.size() < ahead && next < planned) {
                coming.push_back(std::async(std::launch::async, [this, index = next] {
                    return d_source.make(index);
                }));
                ++next;
            }
        };
        for (start(); !d_stop && !coming.empty();) {
            auto s = coming.front().get();
            coming.pop_front();
            start();
            push(std::move(s));
        }
        drain(planned);
        return d_result;
    }

private:
    void push(segment s)
    {
        const auto items = std::move(s.items);
        d_waiting.push_back(std::move(s));
        const auto count = items.size() / d_item_bytes;
        for (std::size_t done = 0; done < count && !d_stop;) {
            const auto taken =
                d_decoder->push({ &items[done * d_item_bytes], count - done });
            done += taken;
            if (!collect() && taken == 0) {
                d_decoder->wait(std::chrono::milliseconds(100));
            }
        }
    }

    void drain(std::uint64_t planned)
    {
        if (!d_stop) {
            d_decoder->finish();
        }
        while (!d_stop && d_compared < planned) {
            if (collect()) {
                continue;
            }
            if (d_decoder->done()) {
                throw std::runtime_error(
                    "the decoder ended after " + std::to_string(d_result.decoded.bits()) +
                    " of " + std::to_string(planned * d_source.segment_bits()) + " bits");
            }
            d_decoder->wait(std::chrono::milliseconds(100));
        }
    }

    // Pulls and compares decoded bits; returns whether any bits were decoded.
    bool collect()
    {
        bool any = false;
        while (!d_stop && !d_waiting.empty()) {
            auto& s = d_waiting.front();
            d_buffer.resize(s.bits.size() - d_offset);
            const auto n = d_decoder->pull(unpacked_bits(d_buffer));
            if (n == 0) {
                break;
            }
            any = true;
            const auto before = d_result.decoded.errors();
            d_result.decoded.compare(&s.bits[d_offset], d_buffer.data(), n);
            d_segment_errors += d_result.decoded.errors() - before;
            d_offset += n;
            if (d_offset == s.bits.size()) {
                close(s);
                d_waiting.pop_front();
            }
        }
        return any;
    }

    void close(const segment& s)
    {
        auto& r = d_result;
        r.errors_by_tenth[d_compared * 10 / d_source.segments()] += d_segment_errors;
        auto fewest = r.decoded.errors();
        if (d_options.reference) {
            const auto before = r.reference.errors();
            r.reference.compare(s.bits.data(), s.reference.data(), s.bits.size());
            d_ratio.add(d_segment_errors, r.reference.errors() - before);
            r.ratio = d_ratio.ratio();
            r.ratio_confidence = d_ratio.confidence();
            fewest = std::min(fewest, r.reference.errors());
        }
        d_segment_errors = 0;
        d_offset = 0;
        ++d_compared;
        d_stop = d_options.min_errors > 0 && fewest >= d_options.min_errors;
        d_progress(r);
    }

    const simulation_options& d_options;
    const std::function<void(const simulation_result&)>& d_progress;
    source d_source;
    const viterbi_decoder::sptr d_decoder;
    std::size_t d_item_bytes;
    simulation_result d_result;
    ratio_estimator d_ratio;
    std::deque<segment> d_waiting; // pushed segments that are not yet completely compared
    std::vector<std::uint8_t> d_buffer;
    std::size_t d_offset = 0; // number of compared bits of d_waiting.front()
    std::uint64_t d_segment_errors = 0;
    std::uint64_t d_compared = 0; // number of completely compared segments
    bool d_stop = false;
};

// Counts the errors of a simulation on a device. The result equals that of `simulation`.
class device_simulation
{
public:
    device_simulation(const simulation_options& options,
                      const block_layout& plan,
                      const std::function<void(const simulation_result&)>& progress)
        : d_options(options),
          d_progress(progress),
          d_segment_bits(source::segment_bits(options)),
          d_segments(source::segments(options)),
          d_result(error_counter(
              event_gap(options), options.decoder.frame_bits, plan.decode_length))
    {
        d_result.backend = "cuda";
        d_result.channel = "device";
        d_result.decode_length = plan.decode_length;
        d_result.overlap = plan.overlap;
    }

    simulation_result run(device_channel& simulated_channel)
    {
        d_result.device = simulated_channel.device();
        const auto planned = d_segments * d_segment_bits;
        simulated_channel.run(
            planned, [this](auto bits, const auto& wrong) { return take(bits, wrong); });
        auto& counted = d_result.decoded;
        if (!d_stop && counted.bits() != planned) {
            throw std::runtime_error("the device ended after " +
                                     std::to_string(counted.bits()) + " bits of " +
                                     std::to_string(planned));
        }
        return d_result;
    }

private:
    // Counts segment by segment, because the simulation ends after the segment in which
    // min_errors is reached.
    bool take(std::uint64_t bits, const std::vector<std::uint64_t>& wrong)
    {
        auto& counted = d_result.decoded;
        const auto* next = wrong.data();
        const auto* const end = next + wrong.size();
        for (std::uint64_t first = 0; first < bits && !d_stop;) {
            const auto index = counted.bits() / d_segment_bits;
            const auto left = d_segment_bits - counted.bits() % d_segment_bits;
            const auto n = std::min(left, bits - first);
            const auto* const past = std::lower_bound(next, end, first + n);
            counted.add(n, next, past, first);
            d_result.errors_by_tenth[index * 10 / d_segments] += past - next;
            next = past;
            first += n;
            d_stop = n == left && d_options.min_errors > 0 &&
                     counted.errors() >= d_options.min_errors;
        }
        d_progress(d_result);
        return !d_stop;
    }

    const simulation_options& d_options;
    const std::function<void(const simulation_result&)>& d_progress;
    const std::uint64_t d_segment_bits, d_segments;
    simulation_result d_result;
    bool d_stop = false;
};

std::string because(const simulation_options& options)
{
    return options.reference ? "maximum likelihood decodes the same noise"
           : options.decoder.format == soft_format::float32 ||
                   options.decoder.format == soft_format::uint8
               ? "only the host makes float and uint8 values"
               : needs_host(options.decoder);
}

} // namespace

awgn_channel channel_of(const simulation_options& options)
{
    const auto& o = options.decoder;
    auto rate = o.code.rate();
    if (o.termination != termination::streaming) {
        const conv_encoder_kernel encoder(o.code, o.termination, o.frame_bits);
        rate = double(o.frame_bits) / encoder.coded_bits(o.frame_bits);
    }
    // options.amplitude is in int8 steps and does not apply to float input, which the
    // decoder quantises with soft_scale.
    const bool floats = o.format == soft_format::float32;
    return awgn_channel(options.ebn0_db,
                        rate,
                        ~options.seed,
                        floats ? awgn_channel::int8_amplitude : options.amplitude);
}

simulation_result simulate(const simulation_options& options,
                           const std::function<void(const simulation_result&)>& progress)
{
    check_run_options(options.decoder, traits::max_work_items);
    return simulate_where(
        options,
        because(options),
        [&](device_channel& simulated_channel) {
            const auto plan = make_setup(options.decoder).plan;
            return device_simulation(options, plan, progress).run(simulated_channel);
        },
        [&] { return simulation(options, progress).run(); });
}

std::vector<std::byte> received_items(const simulation_options& options)
{
    const source made(options);
    std::vector<std::byte> items;
    for (std::uint64_t index = 0; index < made.segments(); ++index) {
        const auto part = made.make(index).items;
        items.insert(items.end(), part.begin(), part.end());
    }
    return items;
}

} // namespace gr::gpufec::viterbi
