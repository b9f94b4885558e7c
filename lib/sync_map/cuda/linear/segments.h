// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Launch plan of the linear form for few frames, which are cut into segments. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_CUDA_LINEAR_SEGMENTS_H
#define INCLUDED_GPUFEC_SYNC_MAP_CUDA_LINEAR_SEGMENTS_H

#include "layout.cuh"
#include "sync_map/cuda/plans.h"

namespace gr::gpufec::sync_map {

/* Launch plan for words of ten bits without priors, for few frames: a block per frame
 * would leave most of a device idle. For tests, the environment variable
 * GPUFEC_SYNC_SEGMENTS_TO is the maximum number of frames. */
class segments_plan
{
public:
    virtual ~segments_plan() = default;
    //! Returns whether \p frames are few enough to be cut into segments.
    virtual bool take(std::size_t frames) const = 0;
    virtual std::size_t work_bytes(std::size_t frames) const = 0;
    virtual void launch(const sync_geometry& g,
                        const linear_memory& words,
                        std::byte* work,
                        const std::byte* input,
                        std::byte* output,
                        sync_status* status,
                        cudaStream_t stream) const = 0;
};

//! Returns the plan. \p layout and \p warps are those of a block that decodes a whole
//! frame.
template <class Row, class Metric>
std::unique_ptr<segments_plan> make_segments_plan(const setup& setup,
                                                  const sync_geometry& g,
                                                  const linear_layout& layout,
                                                  unsigned warps,
                                                  int device);

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_CUDA_LINEAR_SEGMENTS_H */
