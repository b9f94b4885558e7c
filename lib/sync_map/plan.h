/* -*- c++ -*- */
/*
 * Copyright 2026 gr-gpufec developers
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

/* From what a user asks for to what all frames of a batch have in common. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_PLAN_H
#define INCLUDED_GPUFEC_SYNC_MAP_PLAN_H

#include "batch.h"
#include <vector>

namespace gr {
namespace gpufec {

//! Refuses options that make no sense. \throws std::invalid_argument
void check_options(const sync_options& options);

//! The symbols of look-ahead of a stream.
unsigned chosen_lookahead(const sync_options& options);

//! The drifts that frames of these options are decoded with; of a stream, about the drift
//! that is expected.
drift_range decoder_window(const sync_options& options);

sync_plan make_plan(const sync_options& options);

//! \p prior as metrics of the window's drifts.
std::vector<double> window_metrics(const drift_prior& prior, drift_range window);

//! Writes what lies before a frame's items: header, start and end metrics, priors
//! (outputs × q, or nullptr: uniform).
void write_frame(const sync_plan& plan,
                 const sync_frame_header& header,
                 const std::vector<double>& start,
                 const std::vector<double>& end,
                 const float* priors,
                 std::byte* frame);

//! Writes a frame of a framed decoder, its items included; one whose length lies beyond
//! the drifts considered is marked as not to be decoded.
void write_framed(const sync_options& options,
                  const sync_plan& plan,
                  drift_range window,
                  const void* items,
                  std::size_t count,
                  const float* priors,
                  std::byte* frame);

} // namespace gpufec
} // namespace gr

#endif /* INCLUDED_GPUFEC_SYNC_MAP_PLAN_H */
