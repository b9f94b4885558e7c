// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Checks the options of a sync_decoder and derives the setup: the constants and memory
 * layouts that all frames of a batch share. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_MODEL_SETUP_H
#define INCLUDED_GPUFEC_SYNC_MAP_MODEL_SETUP_H

#include "pipeline/batch_decoder.h"
#include "start_search.h"
#include "sync_map/code/channel.h"
#include <vector>

namespace gr::gpufec::sync_map {

//! Header of a frame's input.
struct frame_header {
    //! Number of received items. A frame whose length is negative or above
    //! setup::max_items cannot be decoded.
    std::int32_t length;
    std::int32_t origin; //!< index of the received item at boundary 0 and drift 0
    std::int32_t first;  //!< first drift of the window
    std::int32_t unused;
};

//! CUDA kernels for words of ten bits. By default (by_batch), the size of a batch
//! determines the kernel; tests and benchmarks can request a kernel.
enum class ten_bit_kernels {
    by_batch,
    linear,
    linear_any, //!< the kernel for words of any length
    trie_lattice,
    banded_lattice,
    //! The kernel of banded_lattice without a fallback: frames that need more drifts than
    //! the band become invalid.
    banded_lattice_alone
};

//! Parameters that all frames of a batch share. Boundary i lies before message symbol i.
//! The metrics at a boundary belong to the consecutive drifts of the frame's window.
struct setup {
    sync_code code;
    bsid_model channel;
    unsigned window; //!< number of drifts considered at each boundary
    //! Number of message symbols with the look-ahead. If this number exceeds the code's
    //! frame_symbols, the symbol indices repeat.
    unsigned symbols;
    unsigned outputs;   //!< number of message symbols that are output
    unsigned max_items; //!< largest number of received items of a frame
    drift_range change; //!< corridor form: range of the drift change per symbol
    bool soft_input;
    std::size_t item_size;
    bool priors;
    bool drifts;
    sync_output output;
    sync_form form;
    sync_precision precision;
    sync_storage storage;
    sync_receiver receiver;
    unsigned insertion_cap;
    double state_threshold, lattice_threshold;
    //! Factor on the weight of every received item: the alphabet size by default. A
    //! random item then has weight 1, so paths with different numbers of items can be
    //! compared. Metrics also differ less between drifts, which keeps floats in range. If
    //! the options give a prior of the drift at either end of a frame, the factor is 1,
    //! because the prior already weighs such paths.
    double item_weight;
    unsigned positive_bit; //!< the bit value that a positive LLR indicates
    start_search search;   //!< search for the beginnings of frames; empty: no search
    //! Whether the output also contains a boundary_match_header and its metrics.
    bool boundary_matches = false;
    //! Set in framed mode without priors: frames differ only in their items, so a batch
    //! may consist of placed_frames.
    bool placed = false;
    int first = 0;             //!< first drift of the window
    std::vector<double> start; //!< window metrics at the start of placed frames
    //! Window metrics at the end of placed frames; empty if the frames end with the
    //! last item.
    std::vector<double> end;
    ten_bit_kernels kernels = ten_bit_kernels::by_batch;

    // The input of a frame consists of a header, start and end metrics (`window` doubles
    // each), priors if any (outputs × q floats) and items. The output begins with the
    // symbols. If `drifts` is set, drift posteriors at boundary 0 and at boundary
    // `outputs` follow (`window` floats each). The data for boundary matches, if any,
    // come last.
    std::size_t start_at() const { return sizeof(frame_header); }
    std::size_t end_at() const { return start_at() + window * sizeof(double); }
    std::size_t priors_at() const { return end_at() + window * sizeof(double); }
    std::size_t items_at() const
    {
        return priors_at() +
               (priors ? std::size_t(outputs) * code.q() * sizeof(float) : 0);
    }
    std::size_t item_bytes() const { return item_size; }
    std::size_t input_bytes() const
    {
        return round_up(items_at() + max_items * item_bytes());
    }
    //! Returns the size in bytes of one message symbol's output.
    std::size_t symbol_bytes() const;
    std::size_t drifts_at() const { return round_up(outputs * symbol_bytes()); }
    //! Returns the offset of the data for boundary matches in the output: first a
    //! boundary_match_header, then α and β at boundary 0 and α and β at boundary
    //! `outputs`, `window` metrics each. The metrics are not normalised.
    std::size_t boundary_matches_at() const
    {
        return round_up(drifts_at() + (drifts ? 2 * window * sizeof(float) : 0));
    }
    std::size_t metric_bytes() const
    {
        return precision == sync_precision::float32 ? sizeof(float) : sizeof(double);
    }
    std::size_t metrics_at() const
    {
        return boundary_matches_at() + sizeof(boundary_match_header);
    }
    std::size_t output_bytes() const
    {
        return boundary_matches ? round_up(metrics_at() + 4 * window * metric_bytes())
                                : boundary_matches_at();
    }

    //! Returns the largest weight of a transmission, without item_weight.
    double largest_weight() const;
    //! Returns the unit of lattice weights: the largest weight of a transmission,
    //! including item_weight.
    double unit() const { return largest_weight() * item_weight; }
    //! Returns the weight of one particular item being inserted.
    double insertion() const { return bsid_weights(channel).insertion * item_weight; }
    //! Returns the weight of a deletion, in units of unit().
    double deletion() const { return bsid_weights(channel).deletion / unit(); }
    //! Returns the number to add to the natural logarithm of a frame's lattice weight.
    //! The sum is the logarithm of the probability of the received items, with a factor
    //! item_weight per item. Lattice weights leave out unit() and the uniform priors 1/q.
    double log_scale() const;

    //! Returns the memory needed for a batch of \p frames frames.
    batch_limits limits(std::size_t frames) const;

    /*! Input layout of a batch of a stream whose frames search: a stream_piece per frame,
     * then the complete inputs of up to max_whole whole frames (see job::whole in job.h),
     * then up to item_capacity items of the frames that search. Offsets and size are in
     * bytes. */
    struct stream_batch {
        std::size_t max_whole, item_capacity, whole_at, items_at, bytes;
    };
    stream_batch stream_input(std::size_t frames) const;

    //! Input layout of a batch of placed frames: a placed_frame per frame, then up to
    //! item_capacity items, at byte items_at.
    struct placed_batch {
        std::size_t item_capacity, items_at;
    };
    placed_batch placed_input(std::size_t frames) const;

    static std::size_t round_up(std::size_t bytes) { return (bytes + 15) / 16 * 16; }
};

//! Table entry of a frame in a batch whose frames differ only in their items.
struct placed_frame {
    //! Number of received items; negative: the frame cannot be decoded.
    std::int32_t length;
    std::uint32_t at; //!< index of the frame's first item among the items of the batch
};

//! Checks the options.
//! \throws std::invalid_argument that names the refused option
void check_options(const sync_options& options);

//! Returns the drifts that the decoder considers for a frame; in a stream, relative to
//! the expected beginning of the frame.
drift_range decoder_window(const sync_options& options);

//! Checks the options and derives the setup.
//! \throws std::invalid_argument that names the refused option
setup make_setup(const sync_options& options);

//! Calls \p action with two values. In \p precision, lattice rows have the type of the
//! first value, and metrics have the type of the second value.
template <class Action>
auto with_precision(sync_precision precision, Action&& action)
{
    switch (precision) {
    case sync_precision::float32:
        return action(float(), float());
    case sync_precision::float64:
        return action(double(), double());
    default:
        return action(float(), double());
    }
}

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_MODEL_SETUP_H */
