// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The block dvbs_fec_receiver, a chain of qpsk_soft_values, gpu_viterbi_pbvd and
 * dvbs_deframer. */

#ifndef INCLUDED_GPUFEC_BLOCKS_DVBS_DVBS_FEC_RECEIVER_IMPL_H
#define INCLUDED_GPUFEC_BLOCKS_DVBS_DVBS_FEC_RECEIVER_IMPL_H

#include "qpsk_soft_values.h"
#include <gnuradio/gpufec/dvbs_deframer.h>
#include <gnuradio/gpufec/dvbs_fec_receiver.h>
#include <gnuradio/gpufec/gpu_viterbi_pbvd.h>

namespace gr::gpufec {

class dvbs_fec_receiver_impl : public dvbs_fec_receiver
{
public:
    dvbs_fec_receiver_impl(qpsk_soft_values::sptr soft_values,
                           gpu_viterbi_pbvd::sptr decoder,
                           dvbs_deframer::sptr deframer);

    std::string active_backend() const override { return d_decoder->active_backend(); }
    bool locked() const override { return d_decoder->locked(); }
    pmt::pmt_t lock_state() const override { return d_decoder->lock_state(); }
    double channel_error_rate() const override { return d_decoder->channel_error_rate(); }
    bool synchronised() const override
    {
        // Without a lock the deframer receives no bits, so it does not report that it has
        // lost the frames.
        return d_decoder->locked() && d_deframer->synchronised();
    }
    std::uint64_t packet_count() const override { return d_deframer->packet_count(); }
    std::uint64_t packet_error_count() const override
    {
        return d_deframer->packet_error_count();
    }
    std::uint64_t corrected_byte_count() const override
    {
        return d_deframer->corrected_byte_count();
    }
    std::uint64_t sync_loss_count() const override
    {
        return d_deframer->sync_loss_count();
    }
    void set_max_latency_ms(double milliseconds) override
    {
        d_decoder->set_max_latency_ms(milliseconds);
    }

private:
    const qpsk_soft_values::sptr d_soft_values;
    const gpu_viterbi_pbvd::sptr d_decoder;
    const dvbs_deframer::sptr d_deframer;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_DVBS_DVBS_FEC_RECEIVER_IMPL_H */
