// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Launch plan of the search for the beginnings of frames. */

#include "frame_search.cuh"
#include "kernel_choice.h"
#include "symbol_items.cuh"
#include <type_traits>
#include <cmath>

namespace gr::gpufec::sync_map {

namespace {

using namespace cuda;

template <class Row, class Metric>
class linear_starts : public start_plan
{
public:
    linear_starts(const setup& setup, std::size_t frames, int device)
        : d_geometry(search_geometry(setup)),
          d_starts(starts_of(setup, frames)),
          d_kernel(setup,
                   d_geometry,
                   kernel_for<bit_items>(setup.code.n(), setup.code.q()),
                   kernel_for<symbol_items>(setup.code.n(), setup.code.q()),
                   has_likelihoods(setup) ? starts_of_any<true, Row, Metric>
                                          : starts_of_any<false, Row, Metric>,
                   device)
    {
    }

    std::size_t work_bytes(std::size_t frames) const override
    {
        return carver::bytes_of([&](carver& c) {
            d_kernel.carve(c, d_geometry, d_kernel.blocks(frames), 0);
        });
    }

    void launch(const job& j,
                std::byte* work,
                const std::byte* batch,
                std::byte* frames,
                std::byte* output,
                cudaStream_t stream) const override
    {
        auto g = d_geometry;
        g.frames = j.frames;
        g.symbols = j.warmup;
        auto starts = d_starts;
        starts.items = j.items;
        starts.narrow = starts.search.narrows(j.warmup);
        const unsigned blocks = d_kernel.blocks(j.frames), threads = 32 * d_kernel.warps;
        const row_weights<Row> weights(g);
        carver c(work);
        const auto memory = d_kernel.carve(c, d_geometry, blocks, 0);
        d_kernel.run<<<blocks, threads, d_kernel.shared, stream>>>(
            g, starts, d_kernel.layout, weights, memory, batch, frames, output);
    }

private:
    using kernel = void (*)(const sync_geometry,
                            const start_geometry,
                            const linear_layout,
                            const row_weights<Row>,
                            const linear_memory,
                            const std::byte*,
                            std::byte*,
                            std::byte*);

    template <template <int, class, class> class Items, int N, int Spare>
    static kernel_of_rows<kernel> kernel_with(unsigned q)
    {
        using one_warp = word_sweep<Items, N, Spare, true, Row, Metric>;
        using warps = word_sweep<Items, N, Spare, false, Row, Metric>;
        return { q <= 32 ? starts_of_words<one_warp> : starts_of_words<warps>, N };
    }

    // There are fewer kernels than in linear_plan, because the search is a small part of
    // the work on a frame.
    template <template <int, class, class> class Items>
    static kernel_of_rows<kernel> kernel_for(unsigned n, unsigned q)
    {
        if (n == 10) {
            return kernel_with<Items, 10, 0>(q);
        }
#ifndef GPUFEC_FEW_KERNELS
        if constexpr (std::is_same<Metric, float>::value) {
            if (n > 1 && n <= 12) {
                return kernel_with<Items, 12, 10>(q);
            }
            if constexpr (are_bits<Items>) {
                if (n > 12 && n <= 20) {
                    return kernel_with<Items, 20, 7>(q);
                }
            }
        }
#endif
        return {};
    }

    static sync_geometry search_geometry(const setup& setup)
    {
        auto g = make_geometry(setup);
        g.window = setup.search.window;
        g.items_at = 0;
        return g;
    }

    static start_geometry starts_of(const setup& setup, std::size_t frames)
    {
        const auto batch = setup.stream_input(frames);
        start_geometry s{};
        s.search = setup.search;
        s.log_symbol =
            setup.code.n() * std::log(setup.unit()) - std::log(double(setup.code.q()));
        s.window = setup.window;
        s.symbols = setup.symbols;
        s.input_bytes = setup.input_bytes();
        s.start_at = setup.start_at();
        s.end_at = setup.end_at();
        s.items_at = setup.items_at();
        s.output_bytes = setup.output_bytes();
        s.boundary_matches_at = setup.boundary_matches_at();
        s.item_bytes = setup.item_bytes();
        s.whole_at = batch.whole_at;
        s.batch_items_at = batch.items_at;
        return s;
    }

    const sync_geometry d_geometry;
    const start_geometry d_starts;
    const linear_kernel<Row, Metric, kernel> d_kernel;
};

} // namespace

std::unique_ptr<start_plan>
make_start_plan(const setup& setup, std::size_t frames, int device)
{
    if (!setup.search) {
        return nullptr;
    }
    return with_precision(
        setup.precision, [&](auto row, auto metric) -> std::unique_ptr<start_plan> {
            return std::make_unique<linear_starts<decltype(row), decltype(metric)>>(
                setup, frames, device);
        });
}

} // namespace gr::gpufec::sync_map
