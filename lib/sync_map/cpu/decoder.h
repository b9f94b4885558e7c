// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The CPU decoder of the linear form, with one frame per SIMD lane, and the forward
 * recursion of a single frame. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_CPU_DECODER_H
#define INCLUDED_GPUFEC_SYNC_MAP_CPU_DECODER_H

#include "common/host_memory.h"
#include "frame_search.h"
#include "kernels.h"
#include "sync_map/model/job.h"
#include <memory>
#include <string>
#include <vector>

namespace gr::gpufec::sync_map {

//! Returns the kernels for the instruction set \p variant, one of cpu_variants(); ""
//! selects the first variant.
const lane_kernels& cpu_kernels(const std::string& variant = "");

//! A decoder of the linear form for groups of up to lanes() frames. The class is not
//! thread-safe; each thread needs its own object.
class lane_group
{
public:
    lane_group(const setup& setup,
               std::shared_ptr<const word_tries> tries,
               const lane_kernels& kernels);

    unsigned lanes() const { return d_kernel.lanes; }

    //! Decodes \p count (1 to lanes()) frames, whose inputs, outputs and statuses are
    //! contiguous.
    void decode(const std::byte* input,
                unsigned count,
                std::byte* output,
                sync_status* status);

private:
    template <class Row, class Metric>
    void load(const std::byte* input, unsigned lane);
    template <class Row, class Metric>
    void
    store(const std::byte* input, unsigned lane, std::byte* out, sync_status& status);
    template <class Row, class Metric>
    void
    store_boundary_matches(const frame_header& header, unsigned lane, std::byte* out);
    template <class Row>
    void load_transmission(const frame_items& items, unsigned lane);

    setup d_setup;
    std::shared_ptr<const word_tries> d_tries;
    lane_kernel d_kernel;
    host_memory d_transmission, d_priors, d_start, d_end, d_alpha, d_rows;
    host_memory d_posteriors, d_first, d_last, d_first_beta, d_last_beta;
    std::vector<double> d_log_weight;
    lane_frames d_frames;
    frame_scratch d_scratch;
};

//! The forward recursion of the linear form, without posteriors. A stream whose frames do
//! not search for their beginnings runs this recursion on one frame after another to find
//! where each frame ends.
class alpha_carrier
{
public:
    //! Computes in double unless the setup's precision is float32.
    explicit alpha_carrier(const setup& setup,
                           const lane_kernels& kernels = cpu_kernels());

    /*!
     * Runs the forward recursion over one frame.
     * \param frame input of the frame; its start metrics are α at boundary 0
     * \param carried result: α at boundary setup::outputs, with sum 1; all 0 if no path
     *        explains the items
     */
    void carry(const std::byte* frame, double* carried);

private:
    template <class Real>
    void run(const std::byte* frame, double* carried);

    const setup d_setup;
    forward_recursion d_recursion;
    frame_scratch d_frame_scratch;
};

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_CPU_DECODER_H */
