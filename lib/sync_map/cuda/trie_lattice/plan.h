// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The launch grid of the trie lattice, and the interface of launch plans that can decode
 * a list of frames. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_CUDA_TRIE_LATTICE_PLAN_H
#define INCLUDED_GPUFEC_SYNC_MAP_CUDA_TRIE_LATTICE_PLAN_H

#include "layout.cuh"
#include "sync_map/cuda/plans.h"
#include "sync_map/cuda/words.h"
#include <algorithm>

namespace gr::gpufec::sync_map {

// Grid of a batch: at most one block per multiprocessor. The number of warps of a block
// is limited by the number of frames, by max_warps and by shared memory. Each warp
// decodes `frames` frames at a time.
struct trie_grid {
    trie_grid(const trie_layout& layout, std::size_t max_warps, int device)
        : frames(layout.frames),
          warps(std::min<std::size_t>(
              max_warps, cuda::shared_per_block(device) / layout.warp_bytes)),
          processors(cuda::multiprocessors(device))
    {
    }

    std::size_t groups(std::size_t count) const { return (count + frames - 1) / frames; }
    std::size_t blocks(std::size_t count) const
    {
        return std::min(groups(count), processors);
    }
    std::size_t block_warps(std::size_t count) const
    {
        const auto all = blocks(count);
        return std::min((groups(count) + all - 1) / all, warps);
    }
    //! Returns the number of warps of all blocks for a batch of \p count frames.
    std::size_t all_warps(std::size_t count) const
    {
        return blocks(count) * block_warps(count);
    }

    std::size_t frames; //!< number of frames per warp
    std::size_t warps;  //!< maximum number of warps per block
    std::size_t processors;
};

//! Launch plan that can also decode a list of frames.
class listing_plan : public launch_plan
{
public:
    //! Decodes the frames on a list that a kernel wrote. If the list is long, all frames
    //! of the batch may be decoded instead.
    virtual void launch_listed(const sync_geometry& g,
                               const std::uint32_t* frames,
                               const std::uint32_t* count,
                               const launch_memory& memory) const = 0;
};

// Returns the first plan in float that supports the setup; nullptr if there is none. The
// plans differ in the windows and insertion probabilities that they support.
std::unique_ptr<listing_plan> make_float_trie_lattice(const setup& setup, int device);

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_CUDA_TRIE_LATTICE_PLAN_H */
