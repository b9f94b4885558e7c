// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Launch plan of the trie lattice over all drifts, and the number of frames that a device
 * decodes concurrently with this plan. */

#include "cuda/first_plan.h"
#include "plan.h"
#include "trie_lattice.cuh"
#include <cmath>

namespace gr::gpufec::sync_map {

namespace {

using namespace cuda;

// Launch plan of the trie lattice. Batches of fewer than d_many frames are decoded by a
// fallback, the plan of linear.cu.
template <class Row, int C, int Reach, int Warps>
class trie_lattice_plan : public listing_plan
{
public:
    static std::unique_ptr<listing_plan> make(const setup& setup, int device)
    {
        const auto g = make_geometry(setup);
        // With 13 instead of 9 drifts per lane, a kernel needs more registers, and is
        // faster only if 1.6 times as many frames share a warp
        // (docs/decisions/2026-11-23-sync-word-lengths.md).
        const auto in_a_warp = [&g](unsigned drifts) {
            return 32 / ((g.window + drifts - 1) / drifts);
        };
        const bool pays = C < 13 || 5 * in_a_warp(C) >= 8 * in_a_warp(9);
        // Insertions beyond the next Reach lanes (see trie_warp) are ignored, so their
        // weight must be negligible.
        const double lost = std::pow(g.insertion, C * Reach);
        if (setup.form != sync_form::linear || setup.code.alphabet() != 2 ||
            g.n != trie_bits || g.q > 1u << trie_bits || g.soft_input || g.priors ||
            setup.kernels == ten_bit_kernels::linear ||
            setup.kernels == ten_bit_kernels::linear_any || g.window > 32 * C || !pays ||
            lost > (sizeof(Row) == 4 ? 1e-11 : 1e-16) ||
            !trie_weights<Row, C>::possible(g)) {
            return nullptr;
        }
        auto plan = std::make_unique<trie_lattice_plan>(setup, device);
        std::size_t free = 0, total = 0;
        check(cudaMemGetInfo(&free, &total), "query of device memory");
        const bool fits =
            plan->bytes_of(plan->d_grid.warps * plan->d_grid.processors) <= free / 8;
        // With fewer warps, the linear form without tries is about as fast
        // (docs/reference/kernels.md).
        const unsigned fewest =
            setup.kernels == ten_bit_kernels::by_batch ? Warps / 4 : 1;
        return fits && plan->d_grid.warps >= fewest ? std::move(plan) : nullptr;
    }

    trie_lattice_plan(const setup& setup, int device)
        : d_geometry(make_geometry(setup)),
          d_layout(trie_layout::of<Row, C>(setup.window, setup.symbols)),
          d_weights(d_geometry),
          d_few(make_linear_fallback<Row>(setup, device)),
          d_words(upload(pack_trie_words(setup.code))),
          d_grid(d_layout, Warps, device)
    {
        allow_shared(kernel, d_grid.warps * d_layout.warp_bytes, "the window of drifts");
        // Computes d_many, the size of the smallest batch that is decoded with tries.
        // For up to 32 words, that size is half the number of frames that the device
        // decodes concurrently (docs/decisions/2026-11-22-sync-tries.md). For larger q,
        // the time of the trie lattice is proportional to 0.67 + q/96, and the time of
        // the fallback to q/32. The exponent 0.4 fits the rates with fewer warps (less
        // shared memory) in docs/reference/kernels.md.
        const double q = std::max(32u, d_geometry.q);
        const double part =
            (0.67 + q / 96) * 16 / q *
            std::pow(double(Warps) / std::max<std::size_t>(d_grid.warps, 1), 0.4);
        d_many = setup.kernels == ten_bit_kernels::trie_lattice
                     ? 0
                     : part * d_grid.warps * d_grid.processors * d_layout.frames;
    }

    std::size_t work_bytes(std::size_t frames) const override
    {
        const auto few = d_few->work_bytes(frames);
        return frames < d_many ? few : std::max(few, bytes_of(d_grid.all_warps(frames)));
    }

    void launch(sync_geometry g, const launch_memory& memory) const override
    {
        if (g.frames < d_many) {
            return d_few->launch(g, memory);
        }
        launch_trie_lattice(g, {}, memory);
    }

    void launch_listed(const sync_geometry& g,
                       const std::uint32_t* frames,
                       const std::uint32_t* count,
                       const launch_memory& memory) const override
    {
        // If half of the frames are listed, decoding all frames with tries is about as
        // fast as decoding the listed frames without tries.
        const bool many = g.frames >= d_many;
        const unsigned most = many ? g.frames / 2 : g.frames;
        d_few->launch_listed(g, { frames, count, most }, memory);
        if (many) {
            launch_trie_lattice(g, { count, most }, memory);
        }
    }

private:
    static constexpr auto kernel = linear_trie_lattice<Warps, Row, C, Reach>;

    void launch_trie_lattice(const sync_geometry& g,
                             const if_many_listed& run,
                             const launch_memory& m) const
    {
        const auto grid = d_grid.blocks(g.frames), warps = d_grid.block_warps(g.frames);
        carver c(m.work);
        const auto memory = carve(c, grid * warps);
        kernel<<<grid, 32 * warps, warps * d_layout.warp_bytes, m.stream>>>(
            g, d_layout, d_weights, memory, run, m.input, m.output, m.status);
    }

    trie_memory carve(carver& c, std::size_t warps) const
    {
        const auto& g = d_geometry;
        return { d_words.get(),
                 c.take<Row>(warps * (g.outputs + 2) * 32 * C),
                 c.take<Row>(warps * g.q * 32),
                 c.take<trie_items>(warps * d_layout.frames * d_layout.item_words) };
    }

    std::size_t bytes_of(std::size_t warps) const
    {
        return carver::bytes_of([&](carver& c) { carve(c, warps); });
    }

    const sync_geometry d_geometry;
    const trie_layout d_layout;
    const trie_weights<Row, C> d_weights;
    const std::unique_ptr<linear_fallback> d_few;
    const buffer<std::uint32_t> d_words;
    const trie_grid d_grid;
    std::size_t d_many;
};

} // namespace

std::unique_ptr<listing_plan> make_float_trie_lattice(const setup& setup, int device)
{
    return first_plan(
        {
#ifndef GPUFEC_FEW_KERNELS
            trie_lattice_plan<float, 13, 1, 8>::make,
#endif
            trie_lattice_plan<float, 9, 2, 12>::make },
        setup,
        device);
}

std::unique_ptr<launch_plan> make_float_trie_lattice_plan(const setup& setup, int device)
{
    return make_float_trie_lattice(setup, device);
}
std::unique_ptr<launch_plan> make_double_trie_lattice_plan(const setup& setup, int device)
{
    return trie_lattice_plan<double, 6, 2, 8>::make(setup, device);
}

std::size_t frames_of_a_wave(const setup& s, int device)
{
    const bool doubles = s.precision == sync_precision::float64;
    if (s.form != sync_form::linear || s.code.alphabet() != 2 ||
        s.code.n() != trie_bits || s.soft_input || s.priors ||
        s.window > (doubles ? 32 * 6 : 32 * 9)) {
        return 1;
    }
    const unsigned shared = shared_per_block(device);
    const std::size_t processors = multiprocessors(device);
    const auto of = [&](const trie_layout& l, unsigned most) -> std::size_t {
        const auto warps = std::min(most, shared / l.warp_bytes);
        return std::max(1u, l.frames * warps) * processors;
    };
    return doubles ? of(trie_layout::of<double, 6>(s.window, s.symbols), 8)
                   : of(trie_layout::of<float, 9>(s.window, s.symbols), 12);
}

} // namespace gr::gpufec::sync_map
