// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Reads and writes the input and the output of one frame in the memory of a batch. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_MODEL_FRAME_H
#define INCLUDED_GPUFEC_SYNC_MAP_MODEL_FRAME_H

#include "setup.h"

namespace gr::gpufec::sync_map {

//! Buffers for decoding one frame. The constructor of a decoder allocates the buffers,
//! because worker threads cannot report an exception.
struct frame_scratch {
    explicit frame_scratch(const setup& setup);

    //! Factor per output symbol that scales its priors to sum 1; 0: the priors have no
    //! finite positive sum.
    std::vector<double> prior_scale;
    //! Posteriors, priors and extrinsics of a symbol, q values each.
    std::vector<double> symbol, prior, weights;
    std::vector<double> first, last; //!< drift posteriors of both ends of the frame
    std::vector<double> metrics[4];  //!< α and β at boundaries 0 and `outputs`
};

//! Converter of received items to transmission weights, in units of
//! setup::largest_weight(). A transmission weight is the probability that the channel
//! transmits a given symbol and that the symbol is received as the item.
class item_weigher
{
public:
    explicit item_weigher(const setup& setup);

    //! Writes one weight per channel symbol. The weights are \p stride elements apart.
    template <class Real>
    void operator()(const std::byte* item, Real* weights, std::size_t stride = 1) const;

private:
    const bool d_soft;
    const unsigned d_alphabet;
    double d_match, d_mismatch, d_erased;
};

//! Input of a frame in the form that the CPU decoders need: transmission weights, metrics
//! at both ends and normalised priors.
class frame_items
{
public:
    frame_items(const setup& setup, const std::byte* frame, frame_scratch& scratch);

    const frame_header& header() const { return d_header; }
    //! Returns whether the length in the header is between 0 and setup::max_items.
    bool valid() const { return d_valid; }

    //! Writes the transmission weight of item number \p position for each channel symbol;
    //! 0 outside the received items. The weights are \p stride elements apart.
    template <class Real>
    void weigh(std::int64_t position, Real* weights, std::size_t stride = 1) const;

    //! Returns the metric of drift number \p m of the window at the first boundary; 0 if
    //! this drift leads to a position outside the received items.
    double start(unsigned m) const { return boundary(d_start, m, 0); }
    //! Returns the metric of drift number \p m of the window at the last boundary; 0 if
    //! this drift leads to a position outside the received items.
    double end(unsigned m) const;

    //! Returns the prior of symbol \p D at index \p i, normalised to sum 1 over D; 1 if
    //! the index has no priors, and 1/q if the priors have no finite positive sum.
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

//! Writes the output of one message symbol to \p out. \p L holds q posteriors of sum 1.
//! \p prior holds q priors of sum 1; nullptr: uniform. \p weights is a buffer for q
//! values.
void write_symbol(const setup& setup,
                  const double* L,
                  const double* prior,
                  double* weights,
                  std::byte* out);

//! Writes the output and the status of a frame that cannot be decoded: the output of
//! uniform posteriors, uniform drift posteriors, and zeros as data for boundary matches.
void write_unknown(const setup& setup,
                   frame_scratch& scratch,
                   std::byte* out,
                   sync_status& status);

//! Writes the boundary_match_header and \p metrics: α and β at boundary 0, then α and β
//! at boundary setup::outputs, setup::window values each.
void write_boundary_matches(const setup& setup,
                            const frame_header& header,
                            const double* const (&metrics)[4],
                            std::byte* out);

//! Writes the status of a frame and, if setup::drifts is set, the drift posteriors.
//! \p first and \p last are the drift posteriors at both ends of the frame, and
//! \p log_weight is the natural logarithm of the frame's lattice weight.
void write_drifts(const setup& setup,
                  const frame_header& header,
                  const double* first,
                  const double* last,
                  double log_weight,
                  std::byte* out,
                  sync_status& status);

//! Returns \p prior as one metric per drift of the window; 0 for drifts without a prior.
std::vector<double> window_metrics(const drift_prior& prior, drift_range window);

//! Writes all of a frame's input except the items: header, start and end metrics, and
//! priors (outputs × q, or nullptr: uniform).
void write_frame(const setup& setup,
                 const frame_header& header,
                 const std::vector<double>& start,
                 const std::vector<double>& end,
                 const float* priors,
                 std::byte* frame);

//! Returns \p count, the number of received items of a frame in framed mode; −1 if the
//! frame cannot be decoded because it is too long or, without an end prior, because its
//! final drift lies outside the window.
std::int32_t length_of_frame(const setup& setup, std::size_t count);

//! Writes the complete input of a placed frame to \p frame. \p items are the items of all
//! frames of the batch.
//! \param end buffer for setup::window values
void write_placed(const setup& setup,
                  const placed_frame& place,
                  const std::byte* items,
                  const float* priors,
                  std::vector<double>& end,
                  std::byte* frame);

//! Writes the complete input of a frame of \p count items in framed mode. The length in
//! the header is negative if the frame cannot be decoded; see length_of_frame().
void write_framed(const setup& setup,
                  const void* items,
                  std::size_t count,
                  const float* priors,
                  std::byte* frame);

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_MODEL_FRAME_H */
