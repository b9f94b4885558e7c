// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Choice of a kernel of the linear form for a code, and the layout of its codebook and
 * shared memory. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_CUDA_LINEAR_KERNEL_CHOICE_H
#define INCLUDED_GPUFEC_SYNC_MAP_CUDA_LINEAR_KERNEL_CHOICE_H

#include "items.cuh"
#include "sync_map/cuda/plans.h"
#include "sync_map/cuda/words.h"
#include <algorithm>

namespace gr::gpufec::sync_map {

// Packs words for kernels with \p rows rows in registers.
inline std::vector<std::uint32_t> packed(const sync_code& code, unsigned rows)
{
    return code.alphabet() == 2 ? pack_bits(code) : pack_nibbles(code, rows);
}

// Returns the argument `symbols` of linear_layout::of() for kernels with rows in
// registers.
inline unsigned symbols_of_items(const sync_code& code)
{
    return code.alphabet() == 2 ? linear_layout::bits : code.alphabet();
}

template <template <int, class, class> class Items>
constexpr bool are_bits = false;
template <>
inline constexpr bool are_bits<bit_items> = true;

// Returns the number of thread blocks that are resident on a device at a time.
template <class Kernel>
std::size_t
resident_blocks(Kernel kernel, unsigned threads, std::size_t shared, int device)
{
    const auto resident = cuda::resident_blocks(kernel, threads, shared);
    return std::size_t(std::max(1u, resident)) * cuda::multiprocessors(device);
}

//! A kernel with `rows` lattice rows in registers, for words of `rows` symbols or a few
//! fewer. `run` is nullptr if there is no such kernel.
template <class Kernel>
struct kernel_of_rows {
    Kernel run;
    unsigned rows;
};

//! The kernel for a code, with the layout of its words and of its blocks' memory.
template <class Row, class Metric, class Kernel>
struct linear_kernel {
    //! Chooses the kernel \p bits for two channel symbols and \p symbols for larger
    //! alphabets. If that kernel does not exist, if its layout exceeds the shared memory
    //! of a block, or if the setup requests linear_any, chooses \p for_any.
    linear_kernel(const setup& setup,
                  const sync_geometry& g,
                  const kernel_of_rows<Kernel>& bits,
                  const kernel_of_rows<Kernel>& symbols,
                  Kernel for_any,
                  int device)
        : own(setup.code.alphabet() == 2 ? bits : symbols),
          in_registers(own.run && setup.kernels != ten_bit_kernels::linear_any &&
                       layout_of(setup, g, true, 1).bytes <=
                           cuda::shared_per_block(device)),
          run(in_registers ? own.run : for_any),
          parts((g.n + nibble_segment - 1) / nibble_segment),
          first_part(g.n - (parts - 1) * nibble_segment),
          words(upload(in_registers ? packed(setup.code, own.rows)
                                    : pack_segments(setup.code, parts, first_part)))
    {
        const auto layout_with = [&](unsigned count) {
            return layout_of(setup, g, in_registers, count);
        };
        // One warp per 32 words, or fewer so that two blocks fit in the shared memory.
        const auto most_warps = std::min(max_warps, (g.q + 31) / 32);
        const auto most = cuda::shared_per_block(device);
        wide = layout_with(1).bytes > most;
        for (warps = most_warps; warps > 1 && !wide; --warps) {
            if (layout_with(warps).bytes <= most / 2) {
                break;
            }
        }
        layout = layout_with(warps);
        shared = wide ? 0 : layout.bytes;
        cuda::allow_shared(run, shared, "the linear form");
        resident = resident_blocks(run, 32 * warps, shared, device);
    }

    std::size_t blocks(std::size_t frames) const { return std::min(frames, resident); }

    // Returns the number of lattice values that \p count blocks store between segments.
    std::size_t rows_between(const sync_geometry& g, std::size_t count) const
    {
        return in_registers || parts == 1 ? 0 : count * g.q * layout.window;
    }

    //! Carves a kernel's memory for \p count blocks. \p alpha_rows: number of rows of
    //! forward metrics that a block stores.
    linear_memory carve(carver& c,
                        const sync_geometry& g,
                        std::size_t count,
                        std::size_t alpha_rows) const
    {
        return { words.get(),
                 parts,
                 first_part,
                 c.take<Metric>(count * alpha_rows * layout.length),
                 c.take<Row>(rows_between(g, count)),
                 c.take<double>(g.priors ? count * g.outputs : 0),
                 wide ? c.take<double>(count * layout.bytes / sizeof(double)) : nullptr };
    }

    const kernel_of_rows<Kernel> own;
    const bool in_registers;
    const Kernel run;
    // Number of segments of a word and number of symbols in the first segment, for the
    // kernel \p for_any.
    const unsigned parts, first_part;
    const cuda::buffer<std::uint32_t> words;
    bool wide; // whether linear_shared is in device memory
    unsigned warps;
    linear_layout layout;
    std::size_t shared;   // bytes of shared memory per block
    std::size_t resident; // number of blocks that are resident on the device

private:
    linear_layout layout_of(const setup& setup,
                            const sync_geometry& g,
                            bool rows_in_registers,
                            unsigned count) const
    {
        return linear_layout::of<Row, Metric>(
            g,
            rows_in_registers ? own.rows : g.n,
            count,
            rows_in_registers ? symbols_of_items(setup.code) : linear_layout::not_stored);
    }
};

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_CUDA_LINEAR_KERNEL_CHOICE_H */
