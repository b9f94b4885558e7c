// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Simulation of the synchronisation decoder's symbol error rates on the BSID channel. */

#include "channel/bsid.h"
#include "channel/counter_random.h"
#include "simulation.h"
#include <type_traits>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <limits>

namespace gr::gpufec::sync_map {

frame_source::frame_source(const sync_options& options, std::uint64_t seed)
    : d_code(options.code),
      d_channel(options.channel),
      d_soft_values(options.soft_input ? options.item_bytes() / sizeof(float) : 0),
      d_seed(seed)
{
}

frame_source::frame frame_source::make(std::uint64_t f, unsigned read) const
{
    const counter_random random(counter_random(d_seed)(f));
    frame made;
    made.message.resize(d_code.frame_symbols());
    for (unsigned i = 0; i < d_code.frame_symbols(); ++i) {
        made.message[i] = (random(i) >> 32) * d_code.q() >> 32;
    }
    std::vector<std::uint8_t> sent(d_code.frame_bits());
    sync_encoder_kernel(d_code).encode(
        made.message.data(), made.message.size(), sent.data());
    const auto received =
        bsid_channel(d_channel, random(d_code.frame_symbols() + read)).send(sent);
    made.count = received.size();
    if (d_soft_values > 0) {
        std::vector<float> soft;
        for (const unsigned y : received) {
            for (unsigned b = 0; b < d_soft_values; ++b) {
                soft.push_back(d_soft_values == 1 ? y : y == b);
            }
        }
        made.items.resize(soft.size() * sizeof(float));
        std::memcpy(made.items.data(), soft.data(), made.items.size());
    } else {
        made.items.resize(received.size());
        std::memcpy(made.items.data(), received.data(), made.items.size());
    }
    return made;
}

void error_counts::add(std::uint64_t frame_symbols, std::uint64_t errors_of_frame)
{
    ++frames;
    frame_errors += errors_of_frame > 0;
    symbols += frame_symbols;
    errors += errors_of_frame;
    error_squares += errors_of_frame * errors_of_frame;
}

double error_counts::deviation() const
{
    if (frames < 2) {
        return std::numeric_limits<double>::infinity();
    }
    const double mean = double(errors) / frames;
    const double variance = double(error_squares) / frames - mean * mean;
    return std::sqrt(std::max(0.0, variance) / (frames - 1)) * frames / symbols;
}

namespace {

// Runs a simulation. Decoder is sync_decoder or sync_reads_decoder.
template <class Decoder>
class simulation
{
public:
    simulation(const simulation_options& options,
               const std::function<void(const simulation_result&)>& progress)
        : d_options(options),
          d_progress(progress),
          d_source(options.decoder, options.seed),
          d_decoder(Decoder::make(options.decoder))
    {
    }

    simulation_result run()
    {
        while (!limit_reached()) {
            const bool pulled = pull();
            const bool pushed = push();
            if (d_decoder->done()) {
                break;
            }
            if (!pulled && !pushed) {
                d_decoder->wait(std::chrono::milliseconds(100));
            }
        }
        // If frames are missing at the end, all their symbols count as wrong.
        while (!limit_reached() && !d_sent.empty()) {
            const auto symbols = d_sent.front().size();
            d_counts.add(symbols, symbols);
            d_sent.pop_front();
        }
        return result();
    }

private:
    simulation_result result() const
    {
        return { d_counts, d_decoder->active_backend(), d_decoder->active_device() };
    }

    bool limit_reached() const
    {
        return d_counts.frames >= d_options.max_frames ||
               (d_options.min_errors && d_counts.errors >= d_options.min_errors);
    }

    // Pushes items of the current or next received copy of a frame; ends the input after
    // the last copy. Returns whether items were pushed or the input was ended.
    bool push()
    {
        if (d_taken == d_frame.count) {
            if (d_made == d_options.max_frames) {
                if (!d_finished) {
                    d_decoder->finish();
                }
                return !std::exchange(d_finished, true);
            }
            d_frame = d_source.make(d_made, d_read);
            d_taken = 0;
            if (d_read == 0) {
                d_sent.push_back(d_frame.message);
            }
            if (++d_read == d_options.decoder.reads) {
                d_read = 0;
                ++d_made;
            }
        }
        const auto size = d_options.decoder.item_bytes();
        const auto* const items = d_frame.items.data() + d_taken * size;
        if constexpr (std::is_same_v<Decoder, sync_decoder>) {
            if (d_options.decoder.mode == sync_mode::stream) {
                const auto taken = d_decoder->push({ items, d_frame.count - d_taken });
                d_taken += taken;
                return taken > 0 || d_frame.count == 0;
            }
        }
        const bool taken = d_decoder->push_frame({ items, d_frame.count });
        d_taken = taken ? d_frame.count : 0;
        return taken;
    }

    bool pull()
    {
        bool any = false;
        sync_decoder::frame f;
        while (!limit_reached() && d_decoder->pull(f)) {
            any = true;
            if (!d_sent.empty()) { // A stream decoder may output an extra frame.
                count(f, d_sent.front());
                d_sent.pop_front();
            }
        }
        if (any && d_progress) {
            d_progress(result());
        }
        return any;
    }

    void count(const sync_decoder::frame& f, const std::vector<std::uint16_t>& sent)
    {
        const auto size = f.output_bytes / sent.size();
        const auto* const out = static_cast<const std::byte*>(f.output);
        std::uint64_t errors = 0;
        for (std::size_t i = 0; i < sent.size(); ++i) {
            std::uint16_t symbol = 0;
            std::memcpy(&symbol, out + i * size, size); // The host is little-endian.
            errors += symbol != sent[i];
        }
        d_counts.add(sent.size(), errors);
        d_counts.invalid += !f.status.valid;
        d_counts.unlocked += f.status.valid && !f.locked;
    }

    const simulation_options& d_options;
    const std::function<void(const simulation_result&)>& d_progress;
    const frame_source d_source;
    const typename Decoder::sptr d_decoder;
    std::deque<std::vector<std::uint16_t>> d_sent; // messages not yet compared
    frame_source::frame d_frame{ {}, {}, 0 };
    std::size_t d_taken = 0;  // number of pushed items of d_frame
    std::uint64_t d_made = 0; // number of frames whose copies are all generated
    unsigned d_read = 0;      // index of the next received copy of frame d_made
    bool d_finished = false;
    error_counts d_counts;
};

} // namespace

simulation_result simulate(const simulation_options& options,
                           const std::function<void(const simulation_result&)>& progress)
{
    auto with = options;
    with.decoder.output = sync_output::symbols;
    with.decoder.priors = with.decoder.drifts = false;
    return with.decoder.reads == 1 ? simulation<sync_decoder>(with, progress).run()
                                   : simulation<sync_reads_decoder>(with, progress).run();
}

} // namespace gr::gpufec::sync_map
