// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The block that decodes DVB-S symbols to transport-stream packets. */

#ifndef INCLUDED_GPUFEC_DVBS_FEC_RECEIVER_H
#define INCLUDED_GPUFEC_DVBS_FEC_RECEIVER_H

#include <gnuradio/gpufec/api.h>
#include <gnuradio/gpufec/backend.h>
#include <gnuradio/hier_block2.h>
#include <pmt/pmt.h>
#include <cstdint>
#include <string>

namespace gr::gpufec {

//! Parameters of dvbs_fec_receiver, in Python's order. Values in quotes are those of
//! Python; enumerators have the same names, except automatic ("auto").
struct dvbs_fec_receiver_options {
    // Code
    //! rate of the convolutional code: "1/2", "2/3", "3/4", "5/6" or "7/8"; or "auto", to
    //! find the rate, and follow it if it changes
    std::string rate = "auto";

    // Input
    //! "symbols" (complex), "symbols16" or "symbols8" (items of two int16 or int8, in any
    //! scale)
    std::string soft_input = "symbols";

    // Running
    //! number of parallel blocks of the Viterbi decoder per batch; 0: chosen for the
    //! device
    int batch = 0;
    //! number of batches in flight, 1 to 16. Unless the backend is "cpu", the decoder
    //! uses one more, up to 16
    int slots = 3;
    //! longest time in ms that an incomplete batch waits for more input
    double max_latency_ms = 50;
    //! "auto", "cuda" or "cpu"
    gpufec::backend backend = gpufec::backend::automatic;
    //! index of the CUDA device
    int device = 0;
    //! number of threads of the CPU backend, 1 to 256
    int threads = 1;

    // Input
    //! key of length tags, which are dropped, because packets of the input do not
    //! correspond to packets of the output; "": none
    std::string length_tag = "packet_len";
};

/*!
 * \brief Receiver that decodes synchronised QPSK symbols of DVB-S to the transport
 * stream.
 * \ingroup gpufec
 *
 * \details
 * The receiver consists of a conversion to soft values, a gpu_viterbi_pbvd with \p lock
 * "auto", and a dvbs_deframer. The pages of these blocks describe the tags and messages.
 * The input is the QPSK symbols of EN 300 421, one item per symbol, in any amplitude and
 * at any of the phases at which a carrier loop may lock. I and Q may be exchanged. The
 * output is the bytes of transport-stream packets, 188 per packet.
 *
 * The amplitude is measured at the beginning of each window of 1024 symbols, and applies
 * to the window that follows. The first windows of a stream are shorter.
 *
 * The message port \c status sends the status messages of both blocks.
 */
class GPUFEC_API dvbs_fec_receiver : virtual public gr::hier_block2
{
public:
    typedef std::shared_ptr<dvbs_fec_receiver> sptr;

    //! Makes a receiver.
    //! \throws std::invalid_argument naming the parameter, its value and what is allowed
    //! \throws std::runtime_error if the backend is "cuda" and the device cannot be used
    static sptr make(const dvbs_fec_receiver_options& options = {});

    //! Returns the current backend, "cuda" or "cpu".
    virtual std::string active_backend() const = 0;
    //! Returns whether the Viterbi decoder has found the phase and the rate.
    virtual bool locked() const = 0;
    //! Returns the phase and the rate, as lock_state() of gpu_viterbi_pbvd; an empty
    //! dictionary while none is found.
    virtual pmt::pmt_t lock_state() const = 0;
    //! Returns the channel's bit error rate, as channel_error_rate() of gpu_viterbi_pbvd.
    virtual double channel_error_rate() const = 0;
    //! Returns whether the Viterbi decoder is locked and frames are found.
    virtual bool synchronised() const = 0;
    //! Returns the number of packets so far.
    virtual std::uint64_t packet_count() const = 0;
    //! Returns the number of packets that could not be corrected.
    virtual std::uint64_t packet_error_count() const = 0;
    //! Returns the number of bytes that Reed-Solomon decoding corrected.
    virtual std::uint64_t corrected_byte_count() const = 0;
    //! Returns the number of times that the frames were lost.
    virtual std::uint64_t sync_loss_count() const = 0;

    //! Sets the longest time in ms that an incomplete batch waits for more input.
    //! \throws std::invalid_argument unless the time is finite and 0 or more
    virtual void set_max_latency_ms(double max_latency_ms) = 0;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_DVBS_FEC_RECEIVER_H */
