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

// Decodes frames of a batch. If One is true, a block is one warp, for at most 32 words.
template <template <int, class, class> class Items,
          int N,
          int Spare,
          bool One,
          class Row,
          class Metric>
__global__ void __launch_bounds__(One ? 32 : 32 * max_warps,
                                  One ? resident_warps<N, Metric> : 2)
    linear_words(const sync_geometry g,
                 const linear_layout l,
                 const row_weights<Row> weights,
                 const linear_memory memory,
                 const frame_list frames,
                 const std::byte* input,
                 std::byte* output,
                 sync_status* status)
{
    __builtin_assume(!One || blockDim.x == 32);
    __builtin_assume(!One || threadIdx.x < 32);
    using sweep = word_sweep<Items, N, Spare, One, Row, Metric>;
    decode_batch<One, Row, Metric>(
        g,
        l,
        memory,
        block_memory<sweep::always_shared>(l, memory),
        frames,
        input,
        output,
        status,
        [&](const frame_input& in, linear_shared<Row, Metric>& s, const double* sums) {
            return sweep{ g, l, in, memory, s, sums, weights };
        });
}

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_CUDA_LINEAR_LINEAR_CUH */
