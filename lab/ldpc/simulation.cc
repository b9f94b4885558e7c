// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Simulation of LDPC error rates on the host, and evaluation of a simulation on a
 * device. */

#include "ldpc/model/reference.h"
#include "ldpc/stream/traits.h"
#include "pipeline/stream_decoder.h"
#include "simulation.h"
#include <algorithm>
#include <future>
#include <stdexcept>

namespace gr::gpufec::ldpc {

namespace {

constexpr double nats_without_noise = 20;

// Returns the LLR, in nats, of a received amplitude of 1. \p sigma is the standard
// deviation of the noise; if it is 0, the LLR is nats_without_noise.
double nats_of(double sigma)
{
    const double variance = sigma * sigma;
    return variance > 0 ? 2 / variance : nats_without_noise;
}

} // namespace

frame_source::frame_source(const ldpc_options& options,
                           double ebn0_db,
                           std::uint64_t seed)
    : d_code(options.codes.at(0)),
      d_encoder(d_code),
      d_format(options.format),
      d_positive_bit(options.positive_bit),
      d_unit(ebn0_db, double(d_code.k()) / d_code.sent(), seed + 1),
      d_nats(nats_of(d_unit.sigma())),
      d_int8(ebn0_db,
             double(d_code.k()) / d_code.sent(),
             seed + 1,
             d_nats * options.llr_scale),
      d_codewords(std::size_t(words) * d_code.n())
{
    const counter_random data(seed);
    std::vector<std::uint8_t> message(d_code.k());
    for (unsigned w = 0; w < words; ++w) {
        data.bits(std::uint64_t(w) * d_code.k(), d_code.k(), message.data());
        d_encoder.encode(message.data(), &d_codewords[std::size_t(w) * d_code.n()]);
    }
}

std::size_t frame_source::frame_bytes() const
{
    return d_code.sent() * (d_format == llr_format::float32 ? sizeof(float) : 1);
}

std::vector<std::uint8_t> frame_source::sent_bits(unsigned w) const
{
    std::vector<std::uint8_t> bits(d_code.sent());
    d_encoder.send(codeword(w), bits.data());
    for (auto& bit : bits) {
        bit ^= d_positive_bit;
    }
    return bits;
}

void frame_source::channel_values(std::uint64_t f, std::byte* out) const
{
    const auto n = d_code.sent();
    const auto positive = sent_bits(f % words);
    if (d_format != llr_format::float32) {
        d_int8.int8(f * n, positive.data(), n, reinterpret_cast<std::int8_t*>(out));
        if (d_format == llr_format::uint8) {
            std::for_each(out, out + n, [](auto& item) { item ^= std::byte(0x80); });
        }
        return;
    }
    auto* const values = reinterpret_cast<float*>(out);
    d_unit.float32(f * n, positive.data(), n, values);
    std::transform(
        values, values + n, values, [this](float v) { return float(v * d_nats); });
}

void error_counts::add(const error_counts& more)
{
    frames += more.frames;
    frame_errors += more.frame_errors;
    bits += more.bits;
    errors += more.errors;
    undetected += more.undetected;
    iterations += more.iterations;
}

namespace {

ldpc_options with_messages(ldpc_options options)
{
    options.codeword = false;
    options.soft = ldpc_soft_output::none;
    return options;
}

class simulator
{
public:
    explicit simulator(const simulation_options& options)
        : d_options(options),
          d_code(options.decoder.codes.at(0)),
          d_source(options.decoder, options.ebn0_db, options.seed),
          d_decoder(ldpc_decoder::make(options.decoder)),
          d_item_bytes(d_source.frame_bytes() / d_code.sent()),
          d_bits(d_code.k())
    {
    }

    simulation_result run(const std::function<void(const simulation_result&)>& progress)
    {
        // Frames are generated and pushed in rounds. To limit memory, a round has at most
        // about four million code bits.
        const auto round = std::clamp<std::size_t>((1u << 22) / d_code.n(), 1, 4096);
        for (std::uint64_t first = 0; !done(); first += round) {
            const auto count =
                std::min<std::uint64_t>(round, d_options.max_frames - first);
            make(first, count);
            decode();
            if (progress) {
                progress(result());
            }
            if (first + count == d_options.max_frames) {
                d_decoder->finish();
                while (!done() && !d_decoder->done()) {
                    collect_or_wait();
                }
                break;
            }
        }
        if (d_options.reference) {
            run_reference(progress);
        }
        return result();
    }

private:
    bool done() const
    {
        return d_counts.frames >= d_options.max_frames ||
               (d_options.min_frame_errors &&
                d_counts.frame_errors >= d_options.min_frame_errors);
    }

    simulation_result result() const
    {
        return { d_counts,
                 d_reference,
                 d_decoder->active_backend(),
                 d_decoder->active_device(),
                 "host" };
    }

    // Calls work(f) for \p count frames, beginning with frame \p first, in
    // d_options.threads threads.
    template <class Work>
    void on_threads(std::uint64_t first, std::uint64_t count, const Work& work) const
    {
        std::vector<std::future<void>> threads;
        for (unsigned t = 0; t < d_options.threads; ++t) {
            threads.push_back(std::async(std::launch::async, [&, t] {
                for (auto f = first + t; f < first + count; f += d_options.threads) {
                    work(f);
                }
            }));
        }
        for (auto& t : threads) {
            t.get();
        }
    }

    void make(std::uint64_t first, std::uint64_t count)
    {
        const auto bytes = d_source.frame_bytes();
        d_values.resize(count * bytes);
        on_threads(first, count, [&](std::uint64_t f) {
            d_source.channel_values(f, &d_values[(f - first) * bytes]);
        });
    }

    void decode()
    {
        const auto count = d_values.size() / d_item_bytes;
        for (std::size_t pushed = 0; pushed < count && !done();) {
            pushed +=
                d_decoder->push({ &d_values[pushed * d_item_bytes], count - pushed });
            if (pushed < count) {
                collect_or_wait();
            }
        }
    }

    void collect_or_wait()
    {
        bool any = false;
        while (!done() && collect()) {
            any = true;
        }
        if (!any) {
            d_decoder->wait(std::chrono::milliseconds(100));
        }
    }

    bool collect()
    {
        const auto n = d_decoder->pull(unpacked_bits(span(d_bits).from(d_have)));
        if (const auto status = d_decoder->status()) {
            d_status = *status;
        }
        d_have += n;
        if (d_have == d_bits.size()) {
            d_have = 0;
            const auto* const sent = d_source.codeword(d_counts.frames);
            d_counts.add(counted(
                sent,
                [this](std::size_t i, auto) { return d_bits[i]; },
                d_status.iterations,
                d_status.unsatisfied));
        }
        return n > 0;
    }

    // Returns the error counts of one frame. decided(i, p) returns the decoded value of
    // message bit i, whose codeword position is p.
    template <class Decided>
    error_counts counted(const std::uint8_t* sent,
                         const Decided& decided,
                         unsigned iterations,
                         unsigned unsatisfied) const
    {
        error_counts c;
        c.frames = 1;
        c.bits = d_code.k();
        const auto& positions = d_code.message_positions();
        for (std::size_t i = 0; i < positions.size(); ++i) {
            c.errors += decided(i, positions[i]) != sent[positions[i]];
        }
        c.frame_errors = c.errors > 0;
        c.undetected = c.frame_errors && unsatisfied == 0;
        c.iterations = iterations;
        return c;
    }

    // Decodes the same frames with the reference decoder, sum-product in double.
    void run_reference(const std::function<void(const simulation_result&)>& progress)
    {
        const std::uint64_t round = 8 * d_options.threads;
        for (std::uint64_t first = 0; first < d_counts.frames; first += round) {
            std::vector<error_counts> each(std::min(round, d_counts.frames - first));
            on_threads(first, each.size(), [&](std::uint64_t f) {
                const auto r = reference::sum_product(d_code,
                                                      d_options.decoder.schedule,
                                                      in_nats(f),
                                                      d_options.decoder.max_iterations,
                                                      d_options.decoder.early_stop);
                each[f - first] = counted(
                    d_source.codeword(f),
                    [&r](auto, auto p) { return r.bits[p]; },
                    r.iterations,
                    r.unsatisfied);
            });
            for (const auto& c : each) {
                d_reference.add(c);
            }
            if (progress) {
                progress(result());
            }
        }
    }

    std::vector<double> in_nats(std::uint64_t f) const
    {
        std::vector<std::byte> values(d_source.frame_bytes());
        d_source.channel_values(f, values.data());
        const auto n = d_code.sent();
        std::vector<double> nats;
        if (d_options.decoder.format == llr_format::float32) {
            const auto* const v = reinterpret_cast<const float*>(values.data());
            nats.assign(v, v + n);
        } else {
            for (const auto v : values) {
                nats.push_back(d_options.decoder.format == llr_format::uint8
                                   ? int(v) - 128
                                   : int(std::int8_t(v)));
            }
            for (auto& x : nats) {
                x /= d_options.decoder.llr_scale;
            }
        }
        const auto& sent = d_code.sent_positions();
        if (sent.empty()) {
            return nats;
        }
        constexpr double certain = 40;
        std::vector<double> all(d_code.n(), 0);
        for (const auto position : d_code.shortened()) {
            all[position] = certain;
        }
        for (std::size_t i = 0; i < n; ++i) {
            if (sent[i] != ldpc_code::fill) {
                all[sent[i]] = nats[i];
            }
        }
        return all;
    }

    const simulation_options d_options;
    const ldpc_code d_code;
    const frame_source d_source;
    const ldpc_decoder::sptr d_decoder;
    const std::size_t d_item_bytes;
    std::vector<std::byte> d_values;
    std::vector<std::uint8_t> d_bits; // message bits of the current frame
    std::size_t d_have = 0;           // number of bits in d_bits
    ldpc_status d_status{};
    error_counts d_counts, d_reference;
};

// Counts the errors of frames that a device simulates, until a limit is reached.
class device_simulation
{
public:
    device_simulation(const simulation_options& options,
                      const std::function<void(const simulation_result&)>& progress)
        : d_options(options), d_progress(progress), d_k(options.decoder.codes[0].k())
    {
        d_result.backend = "cuda";
        d_result.channel = "device";
    }

    simulation_result run(device_channel& simulated_channel)
    {
        d_result.device = simulated_channel.device();
        simulated_channel.run(d_options.max_frames,
                              [this](const auto& frames) { return take(frames); });
        if (!d_stop && d_result.decoded.frames != d_options.max_frames) {
            throw std::runtime_error("the device ended after " +
                                     std::to_string(d_result.decoded.frames) + " of " +
                                     std::to_string(d_options.max_frames) + " frames");
        }
        return d_result;
    }

private:
    bool take(const std::vector<frame_result>& frames)
    {
        auto& counted = d_result.decoded;
        for (const auto& f : frames) {
            if (d_stop) {
                break;
            }
            error_counts c;
            c.frames = 1;
            c.bits = d_k;
            c.errors = f.errors;
            c.frame_errors = f.errors > 0;
            c.undetected = c.frame_errors && f.unsatisfied == 0;
            c.iterations = f.iterations;
            counted.add(c);
            d_stop = d_options.min_frame_errors > 0 &&
                     counted.frame_errors >= d_options.min_frame_errors;
        }
        if (d_progress) {
            d_progress(d_result);
        }
        return !d_stop;
    }

    const simulation_options& d_options;
    const std::function<void(const simulation_result&)>& d_progress;
    const unsigned d_k;
    simulation_result d_result;
    bool d_stop = false;
};

std::string because(const simulation_options& options)
{
    return options.reference ? "the reference decodes the same noise"
           : options.decoder.format != llr_format::int8
               ? "only the host makes float and uint8 values"
               : needs_host(options.decoder);
}

} // namespace

simulation_result simulate(const simulation_options& options,
                           const std::function<void(const simulation_result&)>& progress)
{
    if (!options.decoder.codes.at(0).can_encode()) {
        refuse("code", options.decoder.codes[0].name(), "it cannot be encoded");
    }
    check_run_options(options.decoder, traits::max_work_items);
    auto deciding = options;
    deciding.decoder = with_messages(options.decoder);
    return simulate_where(
        deciding,
        because(deciding),
        [&](device_channel& simulated_channel) {
            return device_simulation(deciding, progress).run(simulated_channel);
        },
        [&] { return simulator(deciding).run(progress); });
}

} // namespace gr::gpufec::ldpc
