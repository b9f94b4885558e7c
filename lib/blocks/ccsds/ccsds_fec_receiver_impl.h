// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The block ccsds_fec_receiver, a chain of decoders and ccsds_deframer. */

#ifndef INCLUDED_GPUFEC_BLOCKS_CCSDS_CCSDS_FEC_RECEIVER_IMPL_H
#define INCLUDED_GPUFEC_BLOCKS_CCSDS_CCSDS_FEC_RECEIVER_IMPL_H

#include "ldpc_frames.h"
#include <gnuradio/gpufec/ccsds_deframer.h>
#include <gnuradio/gpufec/ccsds_fec_receiver.h>
#include <gnuradio/gpufec/gpu_ldpc_dvbs2.h>
#include <gnuradio/gpufec/gpu_viterbi_pbvd.h>
#include <cmath>

namespace gr::gpufec {

class ccsds_fec_receiver_impl : public ccsds_fec_receiver
{
public:
    //! The blocks of a receiver. Without a convolutional code, \c viterbi is null.
    //! Without an LDPC code, \c ldpc and \c frames are null.
    struct chain {
        gpu_viterbi_pbvd::sptr viterbi;
        ccsds_deframer::sptr deframer;
        gpu_ldpc_dvbs2::sptr ldpc;
        ldpc_frames::sptr frames;
        bool searches = false; //!< whether \c viterbi performs a phase search
    };
    explicit ccsds_fec_receiver_impl(const chain& blocks);

    std::string active_backend() const override;
    bool locked() const override
    {
        // During a phase search the deframer receives no bits, so it does not report that
        // it has lost the frames.
        return (!d_blocks.searches || d_blocks.viterbi->locked()) &&
               d_blocks.deframer->locked();
    }
    double channel_error_rate() const override
    {
        return d_blocks.viterbi ? d_blocks.viterbi->channel_error_rate() : NAN;
    }
    double mean_iterations() const override
    {
        return d_blocks.ldpc ? d_blocks.ldpc->mean_iterations() : NAN;
    }
    std::uint64_t dropped() const override
    {
        return d_blocks.viterbi ? d_blocks.viterbi->dropped() : 0;
    }
    std::uint64_t frame_count() const override
    {
        return d_blocks.frames ? d_blocks.frames->frame_count()
                               : d_blocks.deframer->frame_count();
    }
    std::uint64_t failed_frame_count() const override
    {
        return d_blocks.frames ? d_blocks.frames->failed_frame_count()
                               : d_blocks.deframer->failed_frame_count();
    }
    std::uint64_t corrected_symbol_count() const override
    {
        return d_blocks.deframer->corrected_symbol_count();
    }
    std::uint64_t missed_marker_count() const override
    {
        return d_blocks.deframer->missed_marker_count();
    }
    std::uint64_t lock_count() const override { return d_blocks.deframer->lock_count(); }
    std::uint64_t slip_count() const override { return d_blocks.deframer->slip_count(); }
    void set_max_latency_ms(double milliseconds) override;
    std::string verdict() const override;

private:
    const chain d_blocks;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_CCSDS_CCSDS_FEC_RECEIVER_IMPL_H */
