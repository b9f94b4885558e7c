/* -*- c++ -*- */
/*
 * Copyright 2026 gr-gpufec developers
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

/* A batch of frames as both backends take it: what all its frames have in common, and
 * how each lies in memory. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_BATCH_H
#define INCLUDED_GPUFEC_SYNC_MAP_BATCH_H

#include "channel.h"
#include <gnuradio/gpufec/batch_decoder.h>
#include <gnuradio/gpufec/sync_map.h>

namespace gr {
namespace gpufec {

//! The first thing of a frame's input.
struct sync_frame_header {
    std::int32_t length; //!< received items; negative: a frame that cannot be decoded
    std::int32_t origin; //!< received item of boundary 0 at drift 0
    std::int32_t first;  //!< first drift of the window
    std::int32_t unused;
};

//! What all frames of a batch have in common.
struct sync_plan {
    sync_code code;
    bsid_model channel;
    unsigned window;    //!< drifts considered at each boundary
    unsigned symbols;   //!< message symbols decoded through; indices repeat
    unsigned outputs;   //!< of which so many are put out
    unsigned max_items; //!< the most received items of a frame
    drift_range change; //!< of one symbol, corridor form
    bool soft_input;
    bool priors;
    bool drifts;
    sync_output output;
    sync_form form;
    sync_precision precision;
    sync_storage storage;
    sync_receiver receiver;
    unsigned insertion_cap;
    double state_threshold, lattice_threshold;
    //! What every received item weighs beside the channel: s, which makes an item that
    //! has nothing to do with the code weigh 1. Then the paths of a stream that begin or
    //! end elsewhere, and so explain fewer items, can be compared; and metrics differ
    //! less from drift to drift, which floats need where drifts are many. 1 where priors
    //! of a frame's ends say which paths explain how many items.
    double item_weight;

    // A frame's input: header, start and end metrics (window doubles each), priors
    // (outputs × q floats), items. Its output: symbols, then drift posteriors of boundary
    // 0 and of boundary outputs (window floats each).
    std::size_t start_at() const { return sizeof(sync_frame_header); }
    std::size_t end_at() const { return start_at() + window * sizeof(double); }
    std::size_t priors_at() const { return end_at() + window * sizeof(double); }
    std::size_t items_at() const
    {
        return priors_at() +
               (priors ? std::size_t(outputs) * code.q() * sizeof(float) : 0);
    }
    std::size_t item_bytes() const { return soft_input ? sizeof(float) : 1; }
    std::size_t input_bytes() const
    {
        return round_up(items_at() + max_items * item_bytes());
    }
    //! Output bytes of one message symbol.
    std::size_t symbol_bytes() const;
    std::size_t drifts_at() const { return round_up(outputs * symbol_bytes()); }
    std::size_t output_bytes() const
    {
        return round_up(drifts_at() + (drifts ? 2 * window * sizeof(float) : 0));
    }

    //! The largest weight of a transmission without item_weight; with it, the unit of
    //! lattices.
    double largest_weight() const;
    double unit() const { return largest_weight() * item_weight; }
    //! Weight of one given item inserted.
    double insertion() const { return bsid_weights(channel).insertion * item_weight; }
    //! Weight of a deletion, in units.
    double deletion() const { return bsid_weights(channel).deletion / unit(); }
    //! What the logarithm of a frame's weight lacks of that of its probability, if its
    //! lattices are in units and symbols without priors weigh 1; item_weight stays in.
    double log_scale() const;

    static std::size_t round_up(std::size_t bytes) { return (bytes + 15) / 16 * 16; }
};

struct sync_job {
    std::size_t frames = 0;
};

using sync_batch_decoder = batch_decoder<sync_job>;

//! Items of a frame as transmission weights, for the decoders of the CPU.
class sync_items
{
public:
    sync_items(const sync_plan& plan, const std::byte* frame);

    const sync_frame_header& header() const { return d_header; }
    //! False if the header's numbers make no sense.
    bool valid() const { return d_valid; }

    //! Weight of receiving item \p position when \p symbol is sent, in units of the
    //! plan's largest; 0 beyond what was received.
    double weight(std::int64_t position, unsigned symbol) const;

    //! Metric of the window's drift number \p m at the first or the last boundary; 0
    //! where that lies beyond what was received.
    double start(unsigned m) const { return boundary(d_start, m, 0); }
    double end(unsigned m) const;

    //! Normalised; where there are none, 1.
    double prior(unsigned i, unsigned D) const;

private:
    double boundary(const std::byte* row, unsigned m, unsigned i) const;

    const sync_plan& d_plan;
    sync_frame_header d_header;
    const std::byte *d_start, *d_end, *d_items;
    const float* d_priors;
    bool d_valid;
    double d_match, d_mismatch, d_erased;
    std::vector<double> d_prior_scale;
};

//! Writes a message symbol's output. \p L has sum 1; so has \p prior, or is nullptr.
void write_symbol(const sync_plan& plan,
                  const double* L,
                  const double* prior,
                  std::byte* out);

//! Writes uniform output and the status of a frame that cannot be decoded.
void write_unknown(const sync_plan& plan, std::byte* out, sync_status& status);

//! Writes the drift posteriors and the status of a frame.
void write_drifts(const sync_plan& plan,
                  const sync_frame_header& header,
                  const double* first,
                  const double* last,
                  double log_weight,
                  std::byte* out,
                  sync_status& status);

} // namespace gpufec
} // namespace gr

#endif /* INCLUDED_GPUFEC_SYNC_MAP_BATCH_H */
