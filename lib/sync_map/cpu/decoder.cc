// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The CPU decoder: divides a batch into chunks for worker threads, moves frames between
 * the memory of a batch and the lanes of the kernels, and runs the forward recursion
 * over a single frame. */

#include "common/cpu_variant.h"
#include "corridor.h"
#include "decoder.h"
#include "pipeline/cpu_decoder.h"
#include "sync_map/model/boundary_matches.h"
#include "sync_map/stream/traits.h"
#include <algorithm>
#include <cmath>
#include <cstring>

namespace gr::gpufec::sync_map {

namespace {

constexpr compiled_variants<lane_kernels> variants = GPUFEC_VARIANTS(kernels);

const lane_kernel& of_precision(const lane_kernels& k, sync_precision precision)
{
    return precision == sync_precision::float32
               ? k.float32
               : (precision == sync_precision::float64 ? k.float64 : k.mixed);
}

class cpu_sync : public cpu_decoder<job>
{
public:
    cpu_sync(const setup& setup,
             std::size_t frames,
             unsigned threads,
             const std::string& variant)
        : cpu_decoder(cpu_variant(variant), setup.limits(frames), threads), d_setup(setup)
    {
        const auto& kernels = cpu_kernels(variant);
        const bool linear = setup.form == sync_form::linear;
        const auto tries = linear ? std::make_shared<word_tries>(setup.code) : nullptr;
        for (unsigned t = 0; t < d_pool.threads(); ++t) {
            if (linear) {
                d_groups.push_back(std::make_unique<lane_group>(setup, tries, kernels));
            } else {
                d_corridors.push_back(make_corridor_decoder(setup));
            }
            if (setup.search) {
                d_searches.push_back(std::make_unique<search>(setup, kernels, grain()));
            }
            if (setup.placed) {
                d_rows.emplace_back(grain() * setup.input_bytes(), setup.window);
            }
        }
    }

    ~cpu_sync() override { stop(); }

    bool reserve_conversion_buffers() noexcept override { return true; }

    void submit(unsigned slot, const job& job, const batch_memory& memory) override
    {
        const auto grain = this->grain();
        const auto chunks = (job.frames + grain - 1) / grain;
        d_pool.submit(slot, chunks, [=](std::size_t chunk, unsigned worker) {
            const auto first = chunk * grain;
            const unsigned count = std::min<std::size_t>(grain, job.frames - first);
            auto* out = memory.output + first * d_setup.output_bytes();
            auto* status = reinterpret_cast<sync_status*>(memory.status) + first;
            if (d_setup.search) {
                return decode_found(worker, job, memory, first, count, out, status);
            }
            const auto* in = job.placed ? write_rows(worker, job, memory, first, count)
                                        : memory.input + first * d_setup.input_bytes();
            if (d_groups.empty()) {
                d_corridors[worker]->decode(in, out, *status);
            } else {
                d_groups[worker]->decode(in, count, out, status);
            }
        });
    }

private:
    struct search {
        search(const setup& setup, const lane_kernels& kernels, unsigned lanes)
            : finder(setup, kernels),
              frames(lanes * setup.input_bytes()),
              boundary_matches(lanes)
        {
        }
        start_finder finder;
        host_memory frames;
        std::vector<boundary_match_header> boundary_matches;
    };

    // Buffers of one worker thread for a chunk of placed frames.
    struct rows {
        rows(std::size_t bytes, unsigned window) : memory(bytes), end(window) {}
        host_memory memory;
        std::vector<double> end;
    };

    // Returns the number of frames that a worker decodes at a time.
    unsigned grain() const { return d_groups.empty() ? 1 : d_groups[0]->lanes(); }

    const std::byte* write_rows(unsigned worker,
                                const job& job,
                                const batch_memory& memory,
                                std::size_t first,
                                unsigned count)
    {
        auto& to = d_rows[worker];
        const auto layout = d_setup.placed_input(d_limits.work_items);
        const batch_input input(job, memory, layout.items_at);
        const auto* const places =
            reinterpret_cast<const placed_frame*>(input.table) + first;
        for (unsigned k = 0; k < count; ++k) {
            write_placed(d_setup,
                         places[k],
                         input.items,
                         nullptr,
                         to.end,
                         to.memory.data() + k * d_setup.input_bytes());
        }
        return to.memory.data();
    }

    // Decodes a chunk of frames of a stream: copies the frames with known beginnings
    // (see job::whole), searches for the beginnings of the other frames, decodes all
    // frames, and writes the boundary_match_header of each.
    void decode_found(unsigned worker,
                      const job& job,
                      const batch_memory& memory,
                      std::size_t first,
                      unsigned count,
                      std::byte* out,
                      sync_status* status)
    {
        auto& s = *d_searches[worker];
        const auto layout = d_setup.stream_input(d_limits.work_items);
        const batch_input input(job, memory, layout.items_at);
        const item_span items{ input.items, std::int64_t(job.items) };
        const auto* const work_items =
            reinterpret_cast<const stream_piece*>(input.table) + first;
        const auto size = d_setup.input_bytes();
        for (unsigned k = 0; k < count; ++k) {
            auto* const frame = s.frames.data() + k * size;
            if (work_items[k].whole >= 0) {
                std::memcpy(frame,
                            input.table + layout.whole_at + work_items[k].whole * size,
                            size);
                s.boundary_matches[k] = { reinterpret_cast<frame_header*>(frame)->origin,
                                          0,
                                          1 };
            } else {
                s.boundary_matches[k] =
                    s.finder.write(items, work_items[k].guess, job.warmup, frame);
            }
        }
        d_groups[worker]->decode(s.frames.data(), count, out, status);
        for (unsigned k = 0; k < count; ++k) {
            std::memcpy(out + k * d_setup.output_bytes() + d_setup.boundary_matches_at(),
                        &s.boundary_matches[k],
                        sizeof(boundary_match_header));
        }
        // Compares successive frames of this chunk whose beginnings were searched for.
        // stream_results compares frames of different chunks, because different workers
        // decode these frames.
        for (unsigned k = 1; k < count; ++k) {
            if (work_items[k - 1].whole < 0 && work_items[k].whole < 0) {
                auto* const at = out + k * d_setup.output_bytes();
                compare_found(d_setup, at - d_setup.output_bytes(), at);
            }
        }
    }

    const setup d_setup;
    std::vector<std::unique_ptr<lane_group>> d_groups;
    std::vector<std::unique_ptr<search>> d_searches;
    std::vector<rows> d_rows;
    std::vector<std::unique_ptr<corridor_decoder>> d_corridors;
};

} // namespace

const lane_kernels& cpu_kernels(const std::string& variant)
{
    return variants.of(variant);
}

lane_group::lane_group(const setup& setup,
                       std::shared_ptr<const word_tries> tries,
                       const lane_kernels& kernels)
    : d_setup(setup),
      d_tries(std::move(tries)),
      d_kernel(of_precision(kernels, setup.precision)),
      d_transmission((std::size_t(setup.code.n()) * setup.symbols + setup.window) *
                     setup.code.alphabet() * d_kernel.lanes * d_kernel.row_bytes),
      d_priors(setup.priors ? std::size_t(setup.symbols) * setup.code.q() *
                                  d_kernel.lanes * d_kernel.row_bytes
                            : 0),
      d_start(setup.window * d_kernel.lanes * d_kernel.metric_bytes),
      d_end(d_start.size()),
      d_alpha((setup.symbols + 1) * d_start.size()),
      d_rows(std::size_t(row_vectors(*d_tries)) * setup.window * d_kernel.lanes *
             d_kernel.row_bytes),
      d_posteriors(std::size_t(setup.outputs) * setup.code.q() * d_kernel.lanes *
                   d_kernel.metric_bytes),
      d_first(d_start.size()),
      d_last(d_start.size()),
      d_first_beta(setup.boundary_matches
                       ? setup.window * d_kernel.lanes * d_kernel.row_bytes
                       : 0),
      d_last_beta(d_first_beta.size()),
      d_log_weight(d_kernel.lanes),
      d_scratch(setup)
{
    d_frames.tries = d_tries.get();
    d_frames.symbols = setup.symbols;
    d_frames.outputs = setup.outputs;
    d_frames.window = setup.window;
    d_frames.insertion = setup.insertion();
    d_frames.deletion = setup.deletion();
    d_frames.transmission = d_transmission.data();
    d_frames.priors = setup.priors ? d_priors.data() : nullptr;
    d_frames.start = d_start.data();
    d_frames.end = d_end.data();
    d_frames.alpha = d_alpha.data();
    d_frames.rows = d_rows.data();
    d_frames.posteriors = d_posteriors.data();
    d_frames.first_drifts = d_first.data();
    d_frames.last_drifts = d_last.data();
    d_frames.first_beta = d_first_beta.data();
    d_frames.last_beta = d_last_beta.data();
    d_frames.log_weight = d_log_weight.data();
}

template <class Row>
void lane_group::load_transmission(const frame_items& items, unsigned lane)
{
    const unsigned s = d_setup.code.alphabet();
    const std::int64_t base = std::int64_t(items.header().origin) + items.header().first;
    const auto count = std::int64_t(d_setup.code.n()) * d_setup.symbols + d_setup.window;
    auto* out = reinterpret_cast<Row*>(d_transmission.data()) + lane;
    for (std::int64_t k = 0; k < count; ++k, out += s * d_kernel.lanes) {
        items.weigh(base + k, out, d_kernel.lanes);
    }
}

template <class Row, class Metric>
void lane_group::load(const std::byte* input, unsigned lane)
{
    const frame_items items(d_setup, input, d_scratch);
    const unsigned lanes = d_kernel.lanes;
    auto* start = reinterpret_cast<Metric*>(d_start.data()) + lane;
    auto* end = reinterpret_cast<Metric*>(d_end.data()) + lane;
    for (unsigned m = 0; m < d_setup.window; ++m) {
        start[m * lanes] = items.valid() ? items.start(m) : 0;
        end[m * lanes] = items.valid() ? items.end(m) : 0;
    }
    if (!items.valid()) {
        return; // The metrics of this lane are 0, so its other values have no effect.
    }
    load_transmission<Row>(items, lane);
    auto* prior = reinterpret_cast<Row*>(d_priors.data()) + lane;
    for (unsigned i = 0; d_setup.priors && i < d_setup.symbols; ++i) {
        for (unsigned D = 0; D < d_setup.code.q(); ++D, prior += lanes) {
            *prior = items.prior(i, D);
        }
    }
}

template <class Row, class Metric>
void lane_group::store_boundary_matches(const frame_header& header,
                                        unsigned lane,
                                        std::byte* out)
{
    auto& rows = d_scratch.metrics;
    const unsigned lanes = d_kernel.lanes, M = d_setup.window;
    const auto gather = [&](const auto* from, std::vector<double>& to) {
        for (unsigned m = 0; m < M; ++m) {
            to[m] = from[std::size_t(m) * lanes + lane];
        }
    };
    const auto* const alpha = reinterpret_cast<const Metric*>(d_alpha.data());
    gather(alpha, rows[0]);
    gather(reinterpret_cast<const Row*>(d_first_beta.data()), rows[1]);
    gather(alpha + std::size_t(d_setup.outputs) * M * lanes, rows[2]);
    gather(reinterpret_cast<const Row*>(d_last_beta.data()), rows[3]);
    write_boundary_matches(
        d_setup,
        header,
        { rows[0].data(), rows[1].data(), rows[2].data(), rows[3].data() },
        out);
}

template <class Row, class Metric>
void lane_group::store(const std::byte* input,
                       unsigned lane,
                       std::byte* out,
                       sync_status& status)
{
    const frame_items items(d_setup, input, d_scratch);
    const unsigned lanes = d_kernel.lanes;
    if (!items.valid() || !std::isfinite(d_log_weight[lane])) {
        return write_unknown(d_setup, d_scratch, out, status);
    }
    const auto gather = [lanes, lane](const host_memory& from, auto& to) {
        const auto* in = reinterpret_cast<const Metric*>(from.data()) + lane;
        for (auto& x : to) {
            x = *in;
            in += lanes;
        }
    };
    auto& first = d_scratch.first;
    auto& last = d_scratch.last;
    gather(d_first, first);
    gather(d_last, last);
    write_drifts(d_setup,
                 items.header(),
                 first.data(),
                 last.data(),
                 d_log_weight[lane],
                 out,
                 status);
    if (d_setup.boundary_matches) {
        store_boundary_matches<Row, Metric>(items.header(), lane, out);
    }
    const unsigned q = d_setup.code.q();
    auto& L = d_scratch.symbol;
    auto& prior = d_scratch.prior;
    const auto* in = reinterpret_cast<const Metric*>(d_posteriors.data()) + lane;
    for (unsigned i = 0; i < d_setup.outputs; ++i) {
        for (unsigned D = 0; D < q; ++D, in += lanes) {
            L[D] = *in;
            prior[D] = d_setup.priors ? items.prior(i, D) : 1;
        }
        write_symbol(d_setup,
                     L.data(),
                     d_setup.priors ? prior.data() : nullptr,
                     d_scratch.weights.data(),
                     out + i * d_setup.symbol_bytes());
    }
}

void lane_group::decode(const std::byte* input,
                        unsigned count,
                        std::byte* output,
                        sync_status* status)
{
    with_precision(d_setup.precision, [&](auto row, auto metric) {
        using Row = decltype(row);
        using Metric = decltype(metric);
        const auto size = d_setup.input_bytes();
        for (unsigned lane = 0; lane < count; ++lane) {
            load<Row, Metric>(input + lane * size, lane);
        }
        d_kernel.decode(d_frames);
        for (unsigned lane = 0; lane < count; ++lane) {
            store<Row, Metric>(input + lane * size,
                               lane,
                               output + lane * d_setup.output_bytes(),
                               status[lane]);
        }
    });
}

std::vector<std::uint8_t> words_by_lane(const sync_code& code, unsigned lanes)
{
    const std::size_t n = code.n(), groups = (code.q() + lanes - 1) / lanes;
    std::vector<std::uint8_t> words(code.frame_symbols() * groups * n * lanes);
    for (unsigned i = 0; i < code.frame_symbols(); ++i) {
        for (unsigned D = 0; D < code.q(); ++D) {
            auto* const to = &words[(i * groups + D / lanes) * n * lanes + D % lanes];
            for (unsigned t = 0; t < n; ++t) {
                to[t * lanes] = code.word(i, D)[t];
            }
        }
    }
    return words;
}

alpha_carrier::alpha_carrier(const setup& setup, const lane_kernels& kernels)
    : d_setup(setup),
      d_recursion(setup, kernels, setup.outputs, setup.window),
      d_frame_scratch(setup)
{
}

template <class Real>
void alpha_carrier::run(const std::byte* frame, double* carried)
{
    const frame_items items(d_setup, frame, d_frame_scratch);
    auto* const alpha = d_recursion.alpha<Real>();
    for (unsigned m = 0; m < d_setup.window; ++m) {
        alpha[m] = items.start(m);
    }
    const std::int64_t base = std::int64_t(items.header().origin) + items.header().first;
    d_recursion.run<Real>(0,
                          d_setup.outputs,
                          d_setup.window,
                          [&](std::int64_t k, Real* out) { items.weigh(base + k, out); });
    std::copy_n(alpha, d_setup.window, carried);
}

void alpha_carrier::carry(const std::byte* frame, double* carried)
{
    d_recursion.in_float() ? run<float>(frame, carried) : run<double>(frame, carried);
}

std::size_t traits::cpu_batch(const setup& s, unsigned threads)
{
    return (s.form == sync_form::linear ? 16 : 1) * std::size_t(threads);
}

traits::decoder traits::make_cpu(const setup& s,
                                 std::size_t frames,
                                 unsigned threads,
                                 const std::string& variant)
{
    return std::make_unique<cpu_sync>(s, frames, threads, variant);
}

} // namespace gr::gpufec::sync_map
