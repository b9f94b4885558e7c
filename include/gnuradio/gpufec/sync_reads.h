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

//! Code, channel and options of a sync_reads_decoder, in mode framed without drifts.
struct sync_reads_options : sync_options {
    static constexpr unsigned max_reads = 256;
    static constexpr unsigned max_passes = 16;

    sync_reads_options(sync_options o) : sync_options(std::move(o)) {}

    unsigned reads = 1;  //!< received copies of each frame, 1 to max_reads
    unsigned passes = 2; //!< decoding passes over all copies, 1 to max_passes
};

//! Throws std::invalid_argument for numbers of reads and passes outside their ranges, and
//! for several reads in mode stream.
GPUFEC_API void check_reads(const sync_reads_options& options);

/*!
 * \brief Decoder of frames of which several copies (reads) were received over independent
 * channels.
 *
 * The reads are decoded one after the other. The priors of a read are the product of the
 * other reads' extrinsics: in the first pass of the reads before it, in a second pass of
 * all others. More passes change little. This is expectation propagation with symbols
 * assumed to be independent (T. Minka: Expectation propagation for approximate Bayesian
 * inference, 2001); one pass is assumed density filtering. As symbols depend on each
 * other given one read, the posteriors are an approximation of those given all reads.
 * With one read they are those of a sync_decoder.
 *
 * The cost is that of \c reads times \c passes frames. The caller's thread combines the
 * extrinsics. Only one thread at a time may call it.
 */
class GPUFEC_API sync_reads_decoder : public decoder
{
public:
    //! \throws std::invalid_argument, or std::runtime_error if CUDA is required and
    //! cannot be used
    explicit sync_reads_decoder(const sync_reads_options& options,
                                decoder_hooks hooks = {});

    /*!
     * \brief Takes a read; returns false while full(). Each options().reads consecutive
     * reads belong to one frame.
     *
     * A read whose length is outside the limits, such as 0, counts as not received, and
     * so do reads that the last frame lacks at finish().
     * \param items the read's received items, of sync_options::item_bytes() each
     * \param count number of items, from 0
     * \param priors frame_symbols × q weights of the symbols, with options.priors; only
     *        those of a frame's first read are used
     */
    bool push_frame(const void* items, std::size_t count, const float* priors = nullptr);

    /*!
     * \brief Gets the next frame in order; returns false if it is not decoded yet.
     *
     * The frame's status is valid if any of its reads could be decoded. Its
     * log-probability is the sum of those of these reads, each given the reads before it.
     * Its drifts and entropy are those of the last such read.
     */
    bool pull(sync_decoder::frame& f);

    const sync_reads_options& options() const;
    //! Returns the drifts considered.
    drift_range window() const;
    //! Returns the output bytes per message symbol.
    std::size_t symbol_bytes() const;

private:
    class impl;
    impl& self() const;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_SYNC_READS_H */
