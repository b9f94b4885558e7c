// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Joint decoding of several received copies of one frame. */

#ifndef INCLUDED_GPUFEC_SYNC_READS_H
#define INCLUDED_GPUFEC_SYNC_READS_H

#include <gnuradio/gpufec/api.h>
#include <gnuradio/gpufec/decoder.h>
#include <gnuradio/gpufec/sync_map.h>
#include <cstddef>
#include <memory>
#include <utility>

namespace gr::gpufec {

//! Code, channel and options of a sync_reads_decoder. The mode must be framed, and drifts
//! must be false.
struct sync_reads_options : sync_options {
    static constexpr unsigned max_reads = 256;
    static constexpr unsigned max_passes = 16;

    sync_reads_options(sync_options o) : sync_options(std::move(o)) {}

    unsigned reads = 1;  //!< reads (received copies) of each frame, 1 to max_reads
    unsigned passes = 2; //!< decoding passes over all copies, 1 to max_passes
};

//! Checks the numbers of reads and passes, and that the mode is framed if there are
//! several reads.
//! \throws std::invalid_argument if a check fails
GPUFEC_API void check_reads(const sync_reads_options& options);

/*!
 * \brief Decoder of frames that were received several times over independent channels. A
 * received copy of a frame is a read.
 *
 * The reads of a frame are decoded one after the other. The priors of a read are the
 * priors of the frame, if any, times the extrinsics of other reads: of the earlier reads
 * in the first pass, and of all other reads in later passes. docs/how-to/
 * correct-slips.md has the error rates of one and two passes.
 *
 * The method is expectation propagation under the assumption that message symbols are
 * independent (T. Minka: Expectation propagation for approximate Bayesian inference,
 * 2001); with one pass it is assumed density filtering. Given a read, message symbols
 * are not independent, so the posteriors only approximate those given all reads. With
 * one read, the posteriors equal those of a sync_decoder.
 *
 * A frame takes the decoding time of \c reads times \c passes frames. The caller's thread
 * combines the extrinsics. Only one thread at a time may call a decoder.
 */
class GPUFEC_API sync_reads_decoder : public decoder
{
public:
    using sptr = std::shared_ptr<sync_reads_decoder>;

    //! \throws std::invalid_argument if an option is not allowed
    //! \throws std::runtime_error if CUDA is required and cannot be used
    static sptr make(const sync_reads_options& options, decoder_hooks hooks = {});

    /*!
     * \brief Accepts a read. Returns false, and accepts nothing, while full().
     *
     * Each group of options().reads consecutive reads is a frame. A read whose length is
     * outside the limits counts as not received, and so does each read that the last
     * frame lacks at finish().
     * \param items the read's received items, of sync_options::item_bytes() bytes each
     * \param priors with options.priors, frame_symbols × q weights, one for each value of
     *        each message symbol; nullptr: equal weights. Only the priors passed with the
     *        first read of a frame are used.
     */
    virtual bool push_frame(input_items items, const float* priors = nullptr) = 0;

    /*!
     * \brief Retrieves the next frame in order. Returns false if that frame is not
     * decoded yet.
     *
     * The frame is valid if at least one of its reads could be decoded. The
     * log-probability of the frame is the sum over these reads of the log-probability of
     * a read given the earlier reads. The frame's drifts and entropy are those of the
     * last such read in the last pass.
     */
    virtual bool pull(sync_decoder::frame& f) = 0;

    virtual const sync_reads_options& options() const = 0;
    //! Returns the range of drifts that are considered.
    virtual drift_range window() const = 0;
    //! Returns the number of output bytes per message symbol.
    virtual std::size_t symbol_bytes() const = 0;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_SYNC_READS_H */
