// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Several received copies of one frame, decoded together. */

#ifndef INCLUDED_GPUFEC_SYNC_READS_H
#define INCLUDED_GPUFEC_SYNC_READS_H

#include <gnuradio/gpufec/api.h>
#include <gnuradio/gpufec/decoder.h>
#include <gnuradio/gpufec/sync_map.h>
#include <cstddef>
#include <memory>
#include <utility>

namespace gr::gpufec {

//! What a sync_reads_decoder decodes, and how: in mode framed, without drifts.
struct sync_reads_options : sync_options {
    static constexpr unsigned max_reads = 256;
    static constexpr unsigned max_passes = 16;

    sync_reads_options(sync_options o) : sync_options(std::move(o)) {}

    unsigned reads = 1;  //!< received copies of each frame, 1 to max_reads
    unsigned passes = 2; //!< times that each is decoded, 1 to max_passes
};

//! Refuses numbers of reads and passes outside their ranges, and several reads in mode
//! stream. \throws std::invalid_argument
GPUFEC_API void check_reads(const sync_reads_options& options);

/*!
 * \brief Decodes frames of which several copies were received, each over the channel by
 * itself.
 *
 * The reads are decoded one after the other, each with what the others say of the symbols
 * as its priors, which is their extrinsics multiplied. One pass gives a read what those
 * before it say. In a second pass each has what all the others say, and more passes
 * change little. This is expectation propagation with symbols taken for independent (T.
 * Minka: Expectation propagation for approximate Bayesian inference, 2001); one pass is
 * assumed density filtering. Given one read, symbols do depend on each other, and so
 * posteriors are not quite those of all reads together. With one read they are those of a
 * sync_decoder.
 *
 * It costs as much as \c reads times \c passes frames. The caller's thread puts together
 * what the reads say. One thread calls it.
 */
class GPUFEC_API sync_reads_decoder : public decoder
{
public:
    //! \throws std::invalid_argument, or std::runtime_error if CUDA cannot be had
    explicit sync_reads_decoder(const sync_reads_options& options,
                                decoder_hooks hooks = {});

    /*!
     * \brief Takes a read, unless enough frames are in work: then it says false. So many
     * as options().reads, one after the other, are those of a frame.
     *
     * A read of a length outside the limits, as one of no items is, counts as not
     * received, and so do those that a frame lacks at finish().
     * \param items the read's received items, of sync_options::item_bytes() each
     * \param count how many they are; any number
     * \param priors frame_symbols × q weights of the symbols, with options.priors; those
     *        with a frame's first read count
     */
    bool push_frame(const void* items, std::size_t count, const float* priors = nullptr);

    /*!
     * \brief The next frame in order, if it is decoded.
     *
     * Its status is valid if any of its reads was to be decoded. The log-probability is
     * the sum over these, each given what those before it say; drifts and entropy are of
     * the last of them.
     */
    bool pull(sync_decoder::frame& f);

    const sync_reads_options& options() const;
    //! Drifts considered.
    drift_range window() const;
    //! Output bytes of one message symbol.
    std::size_t symbol_bytes() const;

private:
    class impl;
    impl& self() const;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_SYNC_READS_H */
