// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The linear form on CUDA: one lane per word, one or more warps per frame.
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

#ifndef INCLUDED_GPUFEC_SYNC_MAP_CUDA_LINEAR_LINEAR_CUH
#define INCLUDED_GPUFEC_SYNC_MAP_CUDA_LINEAR_LINEAR_CUH

#include "decode.cuh"
#include "word_sweep.cuh"

namespace gr::gpufec::sync_map {

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

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_CUDA_LINEAR_LINEAR_CUH */
