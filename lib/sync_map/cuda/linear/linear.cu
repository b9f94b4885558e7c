// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The launch plan of the linear form for any code, and its kernel: a thread block per
 * frame, one lane per word, one or more warps per block.
 *
 * A lane sweeps its lattice over the drifts with its n rows side by side in registers.
 * Row t lags t steps behind row 0, so in step k every row reads the same received item. A
 * lane needs n registers for any window. Outputs are summed over the lanes in chunks.
 *
 * Both recursions are the same sweep and run the same instructions, because a
 * multiprocessor has small instruction caches. The operator S_t sends or deletes symbol
 * t, and the operator I inserts any number of symbols. The forward recursion applies I,
 * S₀, I, S₁, …, I, Sₙ₋₁ in this order, and the backward recursion is the transpose.
 * Forward rows are stored as I·α, and backward drifts are counted from the window's end.
 * In both recursions, row t is then
 *   x_t(k−t) = Q·x_{t−1}(k−t) + Pd·x_{t−1}(k−t+1) + c·x_t(k−t−1),
 * where Q is the weight of the item, Pd that of a deletion and c that of an insertion.
 * L(D) is the sum of I·α times row n before its insertions. */

#include "kernel_choice.h"
#include "linear_any.cuh"
#include "symbol_items.cuh"
#include "word_sweep.cuh"
#include <type_traits>
#include <algorithm>

namespace gr::gpufec::sync_map {

namespace {

using namespace cuda;

// Decodes frames of a batch. \p Sweep is a word_sweep.
template <class Sweep>
__global__ void __launch_bounds__(Sweep::max_threads, Sweep::min_blocks)
    linear_words(const sync_geometry g,
                 const linear_layout l,
                 const row_weights<typename Sweep::row> weights,
                 const linear_memory memory,
                 const frame_list frames,
                 const std::byte* input,
                 std::byte* output,
                 sync_status* status)
{
    __builtin_assume(!Sweep::one_warp || blockDim.x == 32);
    __builtin_assume(!Sweep::one_warp || threadIdx.x < 32);
    const auto make_sweep = [&](const frame_input& in, auto& s, const double* sums) {
        return Sweep{ g, l, in, memory, s, sums, weights };
    };
    decode_batch<Sweep>(g, l, memory, frames, input, output, status, make_sweep);
}

template <class Row, class Metric>
class linear_plan : public linear_fallback
{
public:
    linear_plan(const setup& setup, int device)
        : d_geometry(make_geometry(setup)),
          d_kernel(setup,
                   d_geometry,
                   kernel_for<bit_items>(setup.code.n(), setup.code.q()),
                   kernel_for<symbol_items>(setup.code.n(), setup.code.q()),
                   has_likelihoods(setup) ? linear_any<true, Row, Metric>
                                          : linear_any<false, Row, Metric>,
                   device)
    {
        // Limits the blocks' memory to an eighth of the free device memory. With wide
        // windows, all resident blocks together would need more.
        std::size_t free = 0, total = 0;
        check(cudaMemGetInfo(&free, &total), "query of device memory");
        d_max_blocks = std::max<std::size_t>(1, free / 8 / bytes_of(1));
    }

    std::size_t work_bytes(std::size_t frames) const override
    {
        return bytes_of(blocks(frames));
    }

    void launch(sync_geometry g, const launch_memory& memory) const override
    {
        launch_listed(g, {}, memory);
    }

    void launch_listed(const sync_geometry& g,
                       const frame_list& frames,
                       const launch_memory& m) const override
    {
        carver c(m.work);
        const unsigned grid = blocks(g.frames), threads = 32 * d_kernel.warps;
        const auto memory = carve(c, grid);
        const row_weights<Row> weights(g);
        d_kernel.run<<<grid, threads, d_kernel.shared, m.stream>>>(
            g, d_kernel.layout, weights, memory, frames, m.input, m.output, m.status);
    }

private:
    using kernel = void (*)(const sync_geometry,
                            const linear_layout,
                            const row_weights<Row>,
                            const linear_memory,
                            const frame_list,
                            const std::byte*,
                            std::byte*,
                            sync_status*);

    template <template <int, class, class> class Items, int N, int Spare>
    static kernel_of_rows<kernel> kernel_with(unsigned q)
    {
        using one_warp = word_sweep<Items, N, Spare, true, Row, Metric>;
        using warps = word_sweep<Items, N, Spare, false, Row, Metric>;
        return { q <= 32 ? linear_words<one_warp> : linear_words<warps>, N };
    }

    template <template <int, class, class> class Items>
    static kernel_of_rows<kernel> kernel_for(unsigned n, unsigned q)
    {
        if (n == 10) {
            return kernel_with<Items, 10, 0>(q);
        }
#ifndef GPUFEC_FEW_KERNELS
        // Other word lengths have kernels in float only, to limit the build time.
        if constexpr (std::is_same<Metric, float>::value) {
            switch (n) {
            case 2:
            case 3:
            case 4:
                return kernel_with<Items, 4, 2>(q);
            case 5:
                return kernel_with<Items, 5, 0>(q);
            case 6:
                return kernel_with<Items, 6, 0>(q);
            case 7:
            case 8:
                return kernel_with<Items, 8, 1>(q);
            case 9:
                return kernel_with<Items, 10, 1>(q);
            case 11:
            case 12:
                return kernel_with<Items, 12, 1>(q);
            }
            if constexpr (are_bits<Items>) {
                if (n > 12 && n <= 16) {
                    return kernel_with<Items, 16, 3>(q);
                }
                if (n > 16 && n <= 20) {
                    return kernel_with<Items, 20, 3>(q);
                }
            }
        }
#endif
        return {};
    }

    std::size_t blocks(std::size_t frames) const
    {
        return std::min(d_kernel.blocks(frames), d_max_blocks);
    }

    linear_memory carve(carver& c, std::size_t count) const
    {
        return d_kernel.carve(c, d_geometry, count, d_geometry.symbols + 1);
    }

    std::size_t bytes_of(std::size_t count) const
    {
        return carver::bytes_of([&](carver& c) { carve(c, count); });
    }

    const sync_geometry d_geometry;
    const linear_kernel<Row, Metric, kernel> d_kernel;
    std::size_t d_max_blocks;
};

} // namespace

template <class Row, class Metric>
std::unique_ptr<launch_plan> make_linear_plan(const setup& setup, int device)
{
    return setup.form == sync_form::linear
               ? std::make_unique<linear_plan<Row, Metric>>(setup, device)
               : nullptr;
}

template <class Real>
std::unique_ptr<linear_fallback> make_linear_fallback(const setup& setup, int device)
{
    return std::make_unique<linear_plan<Real, Real>>(setup, device);
}

template std::unique_ptr<launch_plan> make_linear_plan<float, float>(const setup&, int);

template std::unique_ptr<launch_plan> make_linear_plan<float, double>(const setup&, int);

template std::unique_ptr<launch_plan> make_linear_plan<double, double>(const setup&, int);

template std::unique_ptr<linear_fallback> make_linear_fallback<float>(const setup&, int);

template std::unique_ptr<linear_fallback> make_linear_fallback<double>(const setup&, int);

} // namespace gr::gpufec::sync_map
