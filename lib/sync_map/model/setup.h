// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* From what a user asks for to what all frames of a batch have in common. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_SETUP_H
#define INCLUDED_GPUFEC_SYNC_MAP_SETUP_H

#include "channel.h"
#include "link_rule.h"
#include "pipeline/batch_decoder.h"
#include <gnuradio/gpufec/sync_map.h>
#include <vector>

namespace gr::gpufec::sync_map {

//! The first thing of a frame's input.
struct frame_header {
    std::int32_t length; //!< received items; negative: a frame that cannot be decoded
    std::int32_t origin; //!< received item of boundary 0 at drift 0
    std::int32_t first;  //!< first drift of the window
    std::int32_t unused;
};

/*!
 * \brief How a frame of a stream finds by itself where it begins.
 *
 * The forward recursion begins some symbols before it with α = 1 over a window of drifts
 * about a guess, and has forgotten that when it comes to the frame. Windows lie side by
 * side, and are tried from the guess outwards until one explains what was received.
 */
struct start_search {
    unsigned warmup = 0;      //!< symbols before a frame; 0: frames do not search
    unsigned most_warmup = 0; //!< that may be asked for
    int frame_first = 0;      //!< first drift of a frame's window
    unsigned window = 0;      //!< drifts of a try
    int first = 0;            //!< the first of them, about the place that is tried
    int reach = 0;            //!< what a try finds lies so far from its place at most
    int radius = 0; //!< where frames lie; of what explains too little, the best is taken
    int most = 0;   //!< is looked at while nothing is found; less than half a period
    //! Frames between anchors, which are found from one to the next and which the frames
    //! up to the next one are guessed from.
    unsigned anchors = 1;
    //! Logarithm of how much more likely than random items a try must be.
    double accepted = 12;
    //! Tries that narrow their windows begin with so many drifts to either side of the
    //! place. From `first_look` symbols on, every `next_look`, their evidence may be
    //! enough to go on with the drifts nearest to the likeliest, those at every
    //! `step_symbols`. After `told` symbols they do so anyway, or find nothing if there
    //! is no evidence.
    int near_guess = 0, nearest = 0;
    unsigned first_look = 0, next_look = 0, told = 0;
    static constexpr unsigned step_symbols = 16;
    static constexpr double enough = 7; //!< 1000 to 1

    explicit operator bool() const { return warmup > 0; }
    //! Whether a try over so many symbols may narrow its window.
    bool may_narrow(unsigned symbols) const
    {
        return told < symbols && symbols <= warmup;
    }
    //! Whether those for frames do: small windows have next to nothing to save.
    bool narrows(unsigned symbols) const { return window >= 256 && may_narrow(symbols); }
    //! How far from the guess try number \p k looks.
    int offset(int k) const { return (k % 2 ? 1 : -1) * ((k + 1) / 2) * 2 * reach; }
};

//! Where a frame was found; the first thing of what is put out for links.
struct link_header {
    std::int32_t origin; //!< received item of boundary 0 at drift 0
    float evidence;      //!< logarithm, against random items; 0: was not looked for
    std::uint32_t found; //!< whether that is enough
    std::uint32_t compared = 0; //!< with the frame before it in the batch
    link to_previous{};         //!< if so
    std::uint32_t unused = 0;
};
static_assert(sizeof(link_header) % 16 == 0, "window metrics lie behind it");

//! What all frames of a batch have in common.
struct setup {
    sync_code code;
    bsid_model channel;
    unsigned window;    //!< drifts considered at each boundary
    unsigned symbols;   //!< message symbols decoded through; indices repeat
    unsigned outputs;   //!< of which so many are put out
    unsigned max_items; //!< the most received items of a frame
    drift_range change; //!< of one symbol, corridor form
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
    //! What every received item weighs beside the channel: s, which makes an item that
    //! has nothing to do with the code weigh 1. Then the paths of a stream that begin or
    //! end elsewhere, and so explain fewer items, can be compared; and metrics differ
    //! less from drift to drift, which floats need where drifts are many. 1 where priors
    //! of a frame's ends say which paths explain how many items.
    double item_weight;
    unsigned positive_bit; //!< of sync_output::llr
    start_search search;   //!< streams
    bool links = false;    //!< put out what proves where the next frame begins
    //! Frames differ in their items alone: a batch may have a placed_frame of each.
    bool placed = false;
    int first = 0;             //!< drift of the window
    std::vector<double> start; //!< window metrics that placed frames begin with
    std::vector<double> end;   //!< and end with; empty: with their last item

    // A frame's input: header, start and end metrics (window doubles each), priors
    // (outputs × q floats), items. Its output: symbols, then drift posteriors of boundary
    // 0 and of boundary outputs (window floats each).
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
    //! Output bytes of one message symbol.
    std::size_t symbol_bytes() const;
    std::size_t drifts_at() const { return round_up(outputs * symbol_bytes()); }
    //! Then, for links, a link_header and window metrics each of α and β at boundary 0
    //! and of α and β at boundary outputs, of any sum.
    std::size_t links_at() const
    {
        return round_up(drifts_at() + (drifts ? 2 * window * sizeof(float) : 0));
    }
    std::size_t metric_bytes() const
    {
        return precision == sync_precision::float32 ? sizeof(float) : sizeof(double);
    }
    std::size_t metrics_at() const { return links_at() + sizeof(link_header); }
    std::size_t output_bytes() const
    {
        return links ? round_up(metrics_at() + 4 * window * metric_bytes()) : links_at();
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

    //! Memory for a batch of \p frames.
    batch_limits limits(std::size_t frames) const;

    /*! The input of a batch of a stream whose frames search: stream_pieces; whole frames;
     * the items of all the others. */
    struct stream_batch {
        std::size_t most_whole, most_items, whole_at, items_at, bytes;
    };
    stream_batch stream_input(std::size_t frames) const;

    //! The input of a batch of placed frames: placed_frames; the items of all of them.
    struct placed_batch {
        std::size_t most_items, items_at;
    };
    placed_batch placed_input(std::size_t frames) const;

    static std::size_t round_up(std::size_t bytes) { return (bytes + 15) / 16 * 16; }
};

//! A frame of such a batch.
struct stream_piece {
    std::int32_t whole; //!< its number among the whole frames; negative: it searches
    std::int32_t guess; //!< among the batch's items, where boundary 0 is looked for
};

//! A frame that is not decoded in another way than those beside it.
struct placed_frame {
    std::int32_t length; //!< received items; negative: a frame that cannot be decoded
    std::uint32_t at;    //!< the first of them, among the batch's
};

//! How the drift of \p symbols symbols spreads about its mean: the part that is exceeded
//! about once in 1e9 times. A stream's frames are looked for so far from a guess.
struct drift_spread {
    drift_spread(const bsid_model& channel, double symbols);
    double mean, most;
};

/*!
 * \brief What a received item that the code explains costs less than a random one, bits.
 *
 * That is worth the code's rate and the channel's entropy, instead of a random symbol.
 */
double worth_of_following(const sync_options& options);

//! Refuses options that make no sense. \throws std::invalid_argument
void check_options(const sync_options& options);

//! The symbols of look-ahead of a stream.
unsigned chosen_lookahead(const sync_options& options);

//! The drifts that frames of these options are decoded with; of a stream, about the drift
//! that is expected.
drift_range decoder_window(const sync_options& options);

setup make_setup(const sync_options& options);

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_SETUP_H */
