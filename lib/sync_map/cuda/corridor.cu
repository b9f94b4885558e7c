// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The launch plan of the corridor form. */

#include "common/refuse.h"
#include "corridor.cuh"
#include "plans.h"
#include "words.h"
#include <algorithm>
#include <stdexcept>
#include <string>

namespace gr::gpufec::sync_map {

namespace {

using namespace cuda;

template <class Lattice, class Metric>
class corridor_plan : public launch_plan
{
public:
    corridor_plan(const setup& setup, int device)
        : d_geometry(make_geometry(setup)),
          d_rows(lattice_rows(setup.code)),
          d_words(upload(d_rows ? pack_bits(setup.code, d_rows - setup.code.n())
                                : pack_nibbles(setup.code, setup.code.n()))),
          d_kernels(kernels_of(d_rows))
    {
        if (setup.code.n() > unsigned(longest_word)) {
            refuse("n", setup.code.n(), "form corridor on CUDA allows up to 256");
        }
        std::size_t free = 0, total = 0;
        check(cudaMemGetInfo(&free, &total), "query of device memory");
        const auto stored_bytes = work_of(1, true);
        if (setup.storage == sync_storage::global && stored_bytes > free) {
            throw std::runtime_error("storage global needs " +
                                     std::to_string(stored_bytes >> 20) +
                                     " MiB per frame, but the CUDA device has " +
                                     std::to_string(free >> 20) + " MiB free");
        }
        d_keep = setup.storage == sync_storage::global ||
                 (setup.storage == sync_storage::automatic && stored_bytes <= free / 64);
        d_budget = std::max(work_of(1, d_keep), free / 8);
        d_boundary_threads = std::min(256u, (d_geometry.window + 31) / 32 * 32);
        const auto most = std::min<std::size_t>(64u << 10, shared_per_block(device));
        while (d_branch_warps > 1 && branch_shared() > most) {
            d_branch_warps /= 2;
        }
        while (d_warps > 1 && posterior_shared() > most) {
            d_warps /= 2;
        }
        allow_shared(d_kernels.branches, branch_shared(), "the range of drift changes");
        allow_shared(d_kernels.posteriors, posterior_shared(), "the alphabet");
    }

    std::size_t work_bytes(std::size_t frames) const override
    {
        const auto most = std::max<std::size_t>(1, d_budget / work_of(1, d_keep));
        return work_of(std::min({ frames, most, std::size_t(65535) }), d_keep);
    }

    void launch(sync_geometry g, const launch_memory& to) const override
    {
        std::size_t pass = std::min<std::size_t>(g.frames, 65535);
        while (pass > 1 && work_of(pass, d_keep) > to.work_bytes) {
            pass -= (pass + 15) / 16;
        }
        const unsigned frames = g.frames;
        for (unsigned first = 0; first < frames; first += pass) {
            g.frames = std::min<unsigned>(pass, frames - first);
            carver c(to.work);
            auto m = carve(c, pass, d_keep);
            m.words = d_words.get();
            m.words_per_word = d_rows ? 1 : (g.n + 7) / 8;
            m.input = to.input + first * g.input_bytes;
            m.output = to.output + first * g.output_bytes;
            m.status = to.status + first;
            d_kernels.branches<<<dim3(g.symbols, g.frames),
                                 32 * d_branch_warps,
                                 branch_shared(),
                                 to.stream>>>(g, m, d_kernels.branch_bytes(g));
            corridor_boundaries<<<g.frames,
                                  d_boundary_threads,
                                  scratch_bytes,
                                  to.stream>>>(g, m);
            d_kernels.posteriors<<<dim3(g.outputs, g.frames),
                                   32 * d_warps,
                                   posterior_shared(),
                                   to.stream>>>(
                g, m, posterior_items_at(), d_kernels.items_bytes(g));
        }
    }

private:
    using memory = corridor_memory<Lattice, Metric>;
    struct kernels {
        void (*branches)(const sync_geometry, const memory, unsigned);
        void (*posteriors)(const sync_geometry, const memory, unsigned, unsigned);
        // Bytes of shared memory of a warp, for branch metrics and for posteriors.
        std::size_t (*branch_bytes)(const sync_geometry&);
        std::size_t (*items_bytes)(const sync_geometry&);
    };

    // Returns the number of lattice rows that the kernel for a code keeps in registers,
    // or 0 if the rows are in local memory.
    static unsigned lattice_rows([[maybe_unused]] const sync_code& code)
    {
#ifndef GPUFEC_FEW_KERNELS
        if (code.alphabet() == 2 && code.n() <= 20) {
            return code.n() <= 10 ? 10 : 20;
        }
#endif
        return 0;
    }

    template <int N>
    static kernels kernels_with()
    {
        return { corridor_branches<N, Lattice, Metric>,
                 corridor_posteriors<N, Lattice, Metric>,
                 branch_warp_bytes<N, Lattice, Metric>,
                 [](const sync_geometry& g) {
                     return corridor_items<N, Lattice>::bytes(g, posterior_batch);
                 } };
    }

    static kernels kernels_of(unsigned rows)
    {
#ifndef GPUFEC_FEW_KERNELS
        if (rows > 0) {
            return rows == 10 ? kernels_with<10>() : kernels_with<20>();
        }
#endif
        return kernels_with<0>();
    }

    std::size_t changes() const
    {
        return d_geometry.change_last - d_geometry.change_first + 1;
    }
    std::size_t branch_shared() const
    {
        return d_branch_warps * d_kernels.branch_bytes(d_geometry);
    }
    // Returns the offset of the items in the shared memory of the posterior kernel,
    // behind scratch memory and L(D) of each warp.
    std::size_t posterior_items_at() const
    {
        return setup::round_up(scratch_bytes + d_warps * d_geometry.q * sizeof(Metric));
    }
    std::size_t posterior_shared() const
    {
        return posterior_items_at() +
               (d_keep ? 0 : d_warps * d_kernels.items_bytes(d_geometry));
    }

    memory carve(carver& c, std::size_t frames, bool keep) const
    {
        const auto& g = d_geometry;
        const std::size_t M = g.window;
        memory m{};
        m.prior_sums = c.take<double>(g.priors ? frames * g.outputs : 0);
        m.sums = c.take<Metric>(frames * g.symbols * changes() * M);
        m.alpha = c.take<Metric>(frames * (g.symbols + 1) * M);
        m.beta = c.take<Metric>(frames * (g.symbols + 1) * M);
        m.valid = c.take<std::uint32_t>(frames);
        m.branches =
            keep ? c.take<Lattice>(frames * g.outputs * M * changes() * g.q) : nullptr;
        return m;
    }

    std::size_t work_of(std::size_t frames, bool keep) const
    {
        return carver::bytes_of([&](carver& c) { carve(c, frames, keep); });
    }

    const sync_geometry d_geometry;
    const unsigned d_rows;
    const buffer<std::uint32_t> d_words;
    const kernels d_kernels;
    bool d_keep = false;
    std::size_t d_budget = 0;
    unsigned d_boundary_threads = 32;
    unsigned d_branch_warps = corridor_warps, d_warps = corridor_warps;
};

} // namespace

template <class Lattice, class Metric>
std::unique_ptr<launch_plan> make_corridor_plan(const setup& setup, int device)
{
    return std::make_unique<corridor_plan<Lattice, Metric>>(setup, device);
}

template std::unique_ptr<launch_plan> make_corridor_plan<float, float>(const setup&, int);

template std::unique_ptr<launch_plan> make_corridor_plan<float, double>(const setup&,
                                                                        int);

template std::unique_ptr<launch_plan> make_corridor_plan<double, double>(const setup&,
                                                                         int);

} // namespace gr::gpufec::sync_map
