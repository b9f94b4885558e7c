// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The linear form on CUDA with tries of codewords that meet in the middle. A thread holds
 * C drifts, a frame occupies a few adjacent lanes, and a warp decodes as many frames as
 * fit. All frames of a warp are at the same index, so its lanes share the codebook.
 *
 * The operator S(b) sends or deletes bit b, and I inserts any number of bits. The forward
 * recursion over an index is the sum over the words x of I·S(x₉) … I·S(x₀), applied to
 * I·α. With drifts counted from the window's end, the backward recursion is the same for
 * words read from their end, applied to β. Both recursions are therefore the same sweep,
 * in three stages. A binary trie of the first four bits computes 16 rows from one row.
 * For each of the 64 values of the last six bits, the rows of the words with this ending
 * are summed. A trie of the last six bits merges these sums into one row. The backward
 * sweep also applies the second trie to α. L(D) is the inner product of two rows: the
 * beginning of word D applied to α, and its end applied to β.
 *
 * A word applies S once per bit, so the common factor of all S is left out: a deletion
 * weighs 1, and S is one multiply-add per drift. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_CUDA_TRIE_LATTICE_TRIE_LATTICE_CUH
#define INCLUDED_GPUFEC_SYNC_MAP_CUDA_TRIE_LATTICE_TRIE_LATTICE_CUH

#include "frames.cuh"

namespace gr::gpufec::sync_map {

//! Condition for decoding all frames of a batch: a kernel's list has more than \p most
//! frames, so that frame_list counts it as empty.
struct if_many_listed {
    const std::uint32_t* count = nullptr; //!< length of the list; nullptr: no condition
    std::uint32_t most = 0;

    __device__ bool operator()() const { return !count || *count > most; }
};

// Memory of a warp of the grid, and the groups of frames that it decodes.
template <class Row, int C>
struct warp_memory {
    __device__
    warp_memory(const sync_geometry& g, const trie_layout& l, const trie_memory& memory)
    {
        extern __shared__ double shared[];
        const unsigned number = __shfl_sync(full_warp, threadIdx.x / 32, 0);
        // With this numbering, a small batch is spread over all multiprocessors.
        warp = number * gridDim.x + blockIdx.x;
        rows = reinterpret_cast<std::byte*>(shared) + number * l.warp_bytes;
        partial = static_cast<Row*>(memory.partial) + std::size_t(warp) * g.q * 32;
        alpha = static_cast<Row*>(memory.alpha) +
                std::size_t(warp) * (g.outputs + 2) * C * 32;
        items = memory.items + std::size_t(warp) * l.frames * l.item_words;
        groups = (g.frames + l.frames - 1) / l.frames;
    }
    static __device__ unsigned step() { return gridDim.x * (blockDim.x / 32); }

    unsigned warp, groups;
    std::byte* rows; // rows of all lanes, in shared memory
    Row *partial, *alpha;
    trie_items* items;
};

// Decodes a batch. The warps of a block are independent. A block has up to Warps warps,
// and a multiprocessor holds one block.
template <int Warps, class Row, int C, int Reach>
__global__ void __launch_bounds__(32 * Warps, 1)
    linear_trie_lattice(const sync_geometry g,
                        const trie_layout l,
                        const trie_weights<Row, C> weights,
                        const trie_memory memory,
                        const if_many_listed run,
                        const std::byte* input,
                        std::byte* output,
                        sync_status* status)
{
    if (!run()) {
        return;
    }
    const warp_memory<Row, C> own(g, l, memory);
    trie_warp<Row, C, Reach> lanes(g, l, weights, own.rows, own.partial);
    for (auto group = own.warp; group < own.groups; group += own.step()) {
        trie_frames<Row, C, Reach> frames(
            lanes, own.alpha, own.items, input, output, group);
        frames.pack_items(input, group);
        frames.decode(memory.words, status + frames.frame(group));
    }
}

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_CUDA_TRIE_LATTICE_TRIE_LATTICE_CUH */
