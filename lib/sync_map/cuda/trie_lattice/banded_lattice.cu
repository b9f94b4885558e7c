// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Launch plan of the trie lattice in a band of drifts that follows a frame's path. */

#include "banded_lattice.cuh"
#include "plan.h"
#include <algorithm>
#include <cmath>

namespace gr::gpufec::sync_map {

namespace {

using namespace cuda;

// Launch plan for channels with so few insertions and deletions that nearly all frames
// lose at most max_lost of their weight.
class banded_lattice_plan : public launch_plan
{
public:
    static constexpr int drifts = 16, warps = 6;
    // Drifts per lane and warps per block of the kernel that computes β of all drifts
    // over the last end_symbols indices of frames.
    static constexpr int end_drifts = 13, end_warps = 8;
    static constexpr unsigned end_symbols = 6;

    static std::unique_ptr<launch_plan> make(const setup& setup, int device)
    {
        const auto g = make_geometry(setup);
        if (setup.form != sync_form::linear || setup.code.alphabet() != 2 ||
            g.n != trie_bits || g.q > 1u << trie_bits || g.soft_input || g.priors ||
            g.boundary_matches || g.outputs != g.symbols || g.window < 3 * drifts / 2 ||
            g.window > 32 * end_drifts || std::pow(g.insertion, end_drifts) > 1e-11 ||
            !trie_weights<float, drifts>::possible(g) || !may_use(setup, g)) {
            return nullptr;
        }
        auto all = make_float_trie_lattice(setup, device);
        if (!all) {
            return nullptr;
        }
        auto plan = std::make_unique<banded_lattice_plan>(setup, std::move(all), device);
        std::size_t free = 0, total = 0;
        check(cudaMemGetInfo(&free, &total), "query of device memory");
        const auto all_at_once =
            plan->d_grid.warps * plan->d_grid.processors * plan->d_grid.frames;
        const bool fits = plan->bytes_of(all_at_once) <= free / 8;
        return fits && plan->d_grid.warps > 0 ? std::move(plan) : nullptr;
    }

    banded_lattice_plan(const setup& setup, std::unique_ptr<listing_plan> all, int device)
        : d_all(std::move(all)),
          d_geometry(make_geometry(setup)),
          d_layout(layout_of(setup)),
          d_weights(d_geometry),
          d_bound(bound_of(d_geometry)),
          d_words(upload(pack_trie_words(setup.code))),
          d_grid(d_layout, warps, device),
          d_ends(spread(setup.end) > drifts / 2
                     ? std::max(setup.symbols, end_symbols + 1) - end_symbols
                     : 0),
          d_end_layout(trie_layout::of<float, end_drifts>(setup.window, end_symbols)),
          d_end_weights(d_geometry),
          d_end_grid(d_end_layout, end_warps, device),
          d_alone(setup.kernels == ten_bit_kernels::banded_lattice_alone)
    {
        allow_shared(kernel, d_grid.warps * d_layout.warp_bytes, "the band of drifts");
        allow_shared(end_kernel,
                     d_end_grid.warps * d_end_layout.warp_bytes,
                     "the lattice at the ends of frames");
        // With up to 32 words, the band is used for batches that occupy two warps per
        // multiprocessor: 8476 frames or more on an H200
        // (docs/decisions/2026-11-24-sync-band.md). With more words, smaller batches
        // suffice, by the formula of trie_lattice_plan.
        const double q = std::max(32u, d_geometry.q);
        const double part = (0.67 + q / 96) * 16 / q;
        d_many = setup.kernels == ten_bit_kernels::by_batch
                     ? part * 4 * d_grid.processors * d_layout.frames
                     : 0;
    }

    std::size_t work_bytes(std::size_t frames) const override
    {
        const auto others = d_all->work_bytes(frames);
        return frames < d_many ? others
                               : list_bytes(frames) + std::max(others, bytes_of(frames));
    }

    void launch(sync_geometry g, const launch_memory& memory) const override
    {
        if (g.frames < d_many) {
            return d_all->launch(g, memory);
        }
        auto m = memory;
        carver before(m.work);
        const auto again = carve_list(before, g.frames);
        m.work += before.used();
        m.work_bytes -= before.used();
        check(cudaMemsetAsync(again.count, 0, sizeof(*again.count), m.stream),
              "clearing of a counter");
        carver c(m.work);
        const auto own = carve(c, g.frames);
        if (own.ends.from > 0) {
            const auto warps = d_end_grid.block_warps(g.frames);
            end_kernel<<<d_end_grid.blocks(g.frames),
                         32 * warps,
                         warps * d_end_layout.warp_bytes,
                         m.stream>>>(
                g, d_end_layout, d_end_weights, own.end_tries, own.ends, m.input);
        }
        const auto warps = d_grid.block_warps(g.frames);
        kernel<<<d_grid.blocks(g.frames),
                 32 * warps,
                 warps * d_layout.warp_bytes,
                 m.stream>>>(g,
                             d_layout,
                             d_weights,
                             d_bound,
                             own.tries,
                             own.boundaries,
                             own.ends,
                             again,
                             m.input,
                             m.output,
                             m.status);
        if (!d_alone) {
            d_all->launch_listed(g, again.frames, again.count, m);
        }
    }

private:
    static constexpr auto kernel = banded_trie_lattice<warps, drifts>;
    static constexpr auto end_kernel = ends_of_frames<end_warps, end_drifts>;

    struct work_arrays {
        trie_memory tries;
        band_boundary* boundaries;
        band_ends ends;
        trie_memory end_tries;
    };

    // Returns the layout with one frame per lane, and with memory for the items of all
    // drifts.
    static trie_layout layout_of(const setup& s)
    {
        auto l = trie_layout::of<float, drifts>(s.window, s.symbols);
        l.lanes = 1;
        l.frames = 32;
        l.warp_bytes = 32 * trie_row<float, drifts>::lane_bytes;
        return l;
    }

    static band_bound bound_of(const sync_geometry& g)
    {
        return { g.insertion,
                 std::max(g.match + g.mismatch, 2 * g.erased) / g.deletion,
                 g.n,
                 drifts };
    }

    // Returns the number of drifts from the first to the last with a positive metric.
    static unsigned spread(const std::vector<double>& metrics)
    {
        const auto there = [](double x) { return x > 0; };
        const auto first = std::find_if(metrics.begin(), metrics.end(), there);
        const auto last = std::find_if(metrics.rbegin(), metrics.rend(), there);
        return first == metrics.end() ? 0 : unsigned(last.base() - first);
    }

    // Returns whether the band may be used. Insertions and deletions must be rare, and
    // the bound must fit a float. With ten_bit_kernels::by_batch, the band is used if
    // less than 5 % of the frames are expected to need another decoding; the number of
    // insertions and deletions of a frame has a Poisson distribution. With the other
    // values, the setup must request the band.
    static bool may_use(const setup& s, const sync_geometry& g)
    {
        const auto& c = s.channel;
        const double mean = double(s.code.frame_bits()) *
                            (c.p_insert() / (1 - c.p_insert()) + c.p_delete());
        const double rarest =
            g.insertion > 0 ? std::min(g.insertion, g.deletion) : g.deletion;
        const auto bound = bound_of(g);
        if (!(mean < 100) || !(bound.growth < 1e36)) {
            return false;
        }
        if (s.kernels != ten_bit_kernels::by_batch) {
            return s.kernels == ten_bit_kernels::banded_lattice ||
                   s.kernels == ten_bit_kernels::banded_lattice_alone;
        }
        // The drifts at which a frame may begin must fit in half the band, because paths
        // from drifts outside the band count as lost.
        if (spread(s.start) > drifts / 2) {
            return false;
        }
        const double allowed = bound.events_allowed(g.symbols, max_lost, 1 / rarest);
        double part = std::exp(-mean), more = 1 - part;
        for (unsigned k = 1; k <= allowed; ++k) {
            part *= mean / k;
            more -= part;
        }
        return allowed >= 0 && more < 0.05;
    }

    frames_again carve_list(carver& c, std::size_t frames) const
    {
        return { c.take<std::uint32_t>(frames), c.take<std::uint32_t>(1) };
    }
    std::size_t list_bytes(std::size_t frames) const
    {
        return carver::bytes_of([&](carver& c) { carve_list(c, frames); });
    }

    work_arrays carve(carver& c, std::size_t frames) const
    {
        const auto& g = d_geometry;
        const auto warps = d_grid.all_warps(frames);
        work_arrays p{};
        p.tries = { d_words.get(),
                    c.take<float>(warps * (g.outputs + 2) * 32 * drifts),
                    c.take<float>(warps * g.q * 32),
                    c.take<trie_items>(warps * d_layout.frames * d_layout.item_words) };
        p.boundaries = c.take<band_boundary>(warps * (g.outputs + 1) * 32);
        if (d_ends > 0) {
            p.ends = { d_ends,
                       c.take<float>(frames * g.window),
                       c.take<std::int32_t>(frames) };
            p.end_tries = { d_words.get(),
                            nullptr,
                            p.tries.partial,
                            c.take<trie_items>(d_end_grid.all_warps(frames) *
                                               d_end_layout.frames *
                                               d_end_layout.item_words) };
        }
        return p;
    }
    std::size_t bytes_of(std::size_t frames) const
    {
        return carver::bytes_of([&](carver& c) { carve(c, frames); });
    }

    const std::unique_ptr<listing_plan> d_all;
    const sync_geometry d_geometry;
    const trie_layout d_layout;
    const trie_weights<float, drifts> d_weights;
    const band_weights<drifts> d_bound;
    const buffer<std::uint32_t> d_words;
    const trie_grid d_grid;
    const unsigned d_ends; // first index for which β covers all drifts; 0: none
    const trie_layout d_end_layout;
    const trie_weights<float, end_drifts> d_end_weights;
    const trie_grid d_end_grid;
    const bool d_alone;
    std::size_t d_many;
};

} // namespace

std::unique_ptr<launch_plan> make_banded_lattice_plan(const setup& setup, int device)
{
    return banded_lattice_plan::make(setup, device);
}

} // namespace gr::gpufec::sync_map
