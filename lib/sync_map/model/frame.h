// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* How a frame lies in the memory of a batch: what is read of it, what is written. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_FRAME_H
#define INCLUDED_GPUFEC_SYNC_MAP_FRAME_H

#include "setup.h"

namespace gr::gpufec::sync_map {

//! Room for what is computed of one frame at a time. A decoder has it from the beginning:
//! where its workers decode, nobody catches an exception.
struct frame_scratch {
    explicit frame_scratch(const setup& setup);

    std::vector<double> prior_scale;            //!< of each output symbol
    std::vector<double> symbol, prior, weights; //!< of q words
    std::vector<double> first, last;            //!< drifts of both ends
    std::vector<double> metrics[4];             //!< for links
};

//! Received items as transmission weights, in units of the setup's largest.
class item_weigher
{
public:
    explicit item_weigher(const setup& setup);

    //! Weights of receiving the item when each symbol is sent, \p stride values apart.
    template <class Real>
    void operator()(const std::byte* item, Real* weights, std::size_t stride = 1) const;

private:
    const bool d_soft;
    const unsigned d_alphabet;
    double d_match, d_mismatch, d_erased;
};

//! Items of a frame as transmission weights, for the decoders of the CPU.
class frame_items
{
public:
    frame_items(const setup& setup, const std::byte* frame, frame_scratch& scratch);

    const frame_header& header() const { return d_header; }
    //! False if the header's numbers make no sense.
    bool valid() const { return d_valid; }

    //! Weights of receiving item \p position when each symbol is sent, in units of the
    //! setup's largest; 0 beyond what was received. \p stride values lie between two.
    template <class Real>
    void weigh(std::int64_t position, Real* weights, std::size_t stride = 1) const;

    //! Metric of the window's drift number \p m at the first or the last boundary; 0
    //! where that lies beyond what was received.
    double start(unsigned m) const { return boundary(d_start, m, 0); }
    double end(unsigned m) const;

    //! Normalised; where there are none, 1.
    double prior(unsigned i, unsigned D) const;

private:
    double boundary(const std::byte* row, unsigned m, unsigned i) const;

    const setup& d_setup;
    frame_header d_header;
    const std::byte *d_start, *d_end, *d_items;
    const float* d_priors;
    bool d_valid;
    const item_weigher d_weigh;
    const double* d_prior_scale;
};

//! Writes a message symbol's output. \p L has sum 1; so has \p prior, or is nullptr.
//! There is room for q \p weights.
void write_symbol(const setup& setup,
                  const double* L,
                  const double* prior,
                  double* weights,
                  std::byte* out);

//! Writes uniform output and the status of a frame that cannot be decoded.
void write_unknown(const setup& setup,
                   frame_scratch& scratch,
                   std::byte* out,
                   sync_status& status);

//! Writes what links are made of: window metrics of α and β at boundaries 0 and outputs.
void write_links(const setup& setup,
                 const frame_header& header,
                 const double* const (&metrics)[4],
                 std::byte* out);

//! Writes the drift posteriors and the status of a frame.
void write_drifts(const setup& setup,
                  const frame_header& header,
                  const double* first,
                  const double* last,
                  double log_weight,
                  std::byte* out,
                  sync_status& status);

//! \p prior as metrics of the window's drifts.
std::vector<double> window_metrics(const drift_prior& prior, drift_range window);

//! Writes what lies before a frame's items: header, start and end metrics, priors
//! (outputs × q, or nullptr: uniform).
void write_frame(const setup& setup,
                 const frame_header& header,
                 const std::vector<double>& start,
                 const std::vector<double>& end,
                 const float* priors,
                 std::byte* frame);

//! The length of a frame of \p count items in a framed decoder; −1 if it lies beyond the
//! drifts considered, so that the frame is not decoded.
std::int32_t length_of_frame(const setup& setup, std::size_t count);

//! Writes a placed frame of a batch, its items included. There is room for window
//! metrics at \p end.
void write_placed(const setup& setup,
                  const placed_frame& place,
                  const std::byte* items,
                  const float* priors,
                  std::vector<double>& end,
                  std::byte* frame);

//! Writes a frame of a framed decoder, its items included; one whose length lies beyond
//! the drifts considered is marked as not to be decoded.
void write_framed(const setup& setup,
                  const void* items,
                  std::size_t count,
                  const float* priors,
                  std::byte* frame);

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_FRAME_H */
