// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Implementation of dvbs_deframer, which decodes bits of DVB-S to transport-stream
 * packets. */

#ifndef INCLUDED_GPUFEC_BLOCKS_DVBS_DVBS_DEFRAMER_IMPL_H
#define INCLUDED_GPUFEC_BLOCKS_DVBS_DVBS_DEFRAMER_IMPL_H

#include "blocks/common/tagged_block.h"
#include "dvbs/packet_decoder.h"
#include <gnuradio/gpufec/dvbs_deframer.h>
#include <atomic>
#include <chrono>
#include <vector>

namespace gr::gpufec {

class dvbs_deframer_impl : public tagged_block<dvbs_deframer>
{
public:
    explicit dvbs_deframer_impl(const std::string& length_tag);

    void forecast(int noutput_items, gr_vector_int& ninput_items_required) override;
    int general_work(int noutput_items,
                     gr_vector_int& ninput_items,
                     gr_vector_const_void_star& input_items,
                     gr_vector_void_star& output_items) override;

    bool synchronised() const override { return d_synchronised; }
    std::uint64_t packet_count() const override { return d_packet_count; }
    std::uint64_t packet_error_count() const override { return d_errors; }
    std::uint64_t corrected_byte_count() const override { return d_corrected; }
    std::uint64_t sync_loss_count() const override { return d_losses; }

private:
    void restart() override;
    std::size_t send(std::uint8_t* out, std::size_t capacity);
    void take(const std::uint8_t* bytes, std::size_t count);
    void end();
    void hold_tags();
    void count();
    void judge(const std::uint8_t* bytes, std::size_t count);
    void tell(const char* event);

    const pmt::pmt_t d_status_port, d_begin_key, d_error_key, d_source;

    dvbs::packet_decoder d_decoder;
    std::vector<std::uint8_t> d_made; // packets that are being emitted
    std::size_t d_sent = 0;           // number of emitted bytes of d_made
    std::vector<dvbs::packet_decoder::packet> d_packets; // status of packets in d_made
    std::uint64_t d_made_before = 0; // number of bytes in the packets before d_made
    bool d_ended = false;

    bool d_judged = false;        // whether frames were found or a warning was logged
    std::uint8_t d_union = 0;     // bitwise OR of the bytes until d_judged is set
    std::uint64_t d_received = 0; // number of input bytes

    // State and time of the last published status message.
    bool d_told_synchronised = false;
    std::chrono::steady_clock::time_point d_told{};

    std::atomic<bool> d_synchronised{ false };
    std::atomic<std::uint64_t> d_packet_count{ 0 }, d_errors{ 0 }, d_corrected{ 0 },
        d_losses{ 0 };
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_DVBS_DVBS_DEFRAMER_IMPL_H */
