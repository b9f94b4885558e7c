// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The block dvbs2_fec_receiver, a chain of gpu_ldpc_dvbs2 and bbframe_to_ts. */

#ifndef INCLUDED_GPUFEC_BLOCKS_DVBS2_DVBS2_FEC_RECEIVER_IMPL_H
#define INCLUDED_GPUFEC_BLOCKS_DVBS2_DVBS2_FEC_RECEIVER_IMPL_H

#include <gnuradio/gpufec/bbframe_to_ts.h>
#include <gnuradio/gpufec/dvbs2_fec_receiver.h>
#include <gnuradio/gpufec/gpu_ldpc_dvbs2.h>

namespace gr::gpufec {

class dvbs2_fec_receiver_impl : public dvbs2_fec_receiver
{
public:
    dvbs2_fec_receiver_impl(gpu_ldpc_dvbs2::sptr decoder, bbframe_to_ts::sptr packets);

    std::string active_backend() const override { return d_decoder->active_backend(); }
    double mean_iterations() const override { return d_decoder->mean_iterations(); }
    std::uint64_t skipped_frame_count() const override
    {
        return d_decoder->skipped_frame_count();
    }
    std::uint64_t frame_count() const override { return d_packets->frame_count(); }
    std::uint64_t dropped_frame_count() const override
    {
        return d_packets->dropped_frame_count();
    }
    std::uint64_t packet_count() const override { return d_packets->packet_count(); }
    std::uint64_t packet_error_count() const override
    {
        return d_packets->packet_error_count();
    }
    void set_esn0_db(double esn0_db) override { d_decoder->set_esn0_db(esn0_db); }
    double esn0_db() const override { return d_decoder->esn0_db(); }
    void set_max_latency_ms(double milliseconds) override
    {
        d_decoder->set_max_latency_ms(milliseconds);
    }
    double max_latency_ms() const override { return d_decoder->max_latency_ms(); }

private:
    const gpu_ldpc_dvbs2::sptr d_decoder;
    const bbframe_to_ts::sptr d_packets;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_DVBS2_DVBS2_FEC_RECEIVER_IMPL_H */
