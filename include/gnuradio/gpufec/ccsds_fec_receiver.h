// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The block that decodes soft symbols of CCSDS telemetry or telecommands to transfer
 * frames. */

#ifndef INCLUDED_GPUFEC_CCSDS_FEC_RECEIVER_H
#define INCLUDED_GPUFEC_CCSDS_FEC_RECEIVER_H

#include <gnuradio/gpufec/api.h>
#include <gnuradio/gpufec/backend.h>
#include <gnuradio/gpufec/status_tags.h>
#include <gnuradio/hier_block2.h>
#include <cstdint>
#include <string>
#include <vector>

namespace gr::gpufec {

//! Parameters of ccsds_fec_receiver, in Python's order.
struct ccsds_fec_receiver_options {
    // Code
    //! inner convolutional code: "none" or a name of conv_presets(), such as "ccsds"
    //! (rate 1/2), "ccsds_2_3", "ccsds_3_4", "ccsds_5_6" or "ccsds_7_8"
    std::string convolutional = "ccsds";
    //! code of the frame: "none"; "ccsds-223" or "ccsds-239" (Reed-Solomon in the dual
    //! basis), or either with the suffix "-conventional" (in the conventional basis); or,
    //! without a convolutional code, an LDPC code, "c2" or "ar4ja-K-rate", such as
    //! "ar4ja-1024-1/2", or a telecommand code, "tc-bch", "tc-bch-detect", "tc-ldpc-128"
    //! or "tc-ldpc-512"
    std::string code = "ccsds-223";
    //! number of Reed-Solomon codewords per frame, 1 to 8
    int interleaving = 1;
    //! length of a transfer frame in bytes, 1 to 16384; 0: the longest of the code.
    //! Shorter frames of Reed-Solomon have a virtual fill, and their length is a multiple
    //! of \p interleaving. With telecommand codes, the largest number of bytes of a
    //! CLTU's frames; 0: 16384
    int frame_bytes = 0;
    //! pseudo-randomiser: "none", "short" (period of 255 bits) or "long" (131,071 bits,
    //! not with telecommand codes)
    std::string randomiser = "short";
    //! whether the bits are NRZ-M encoded; the transmitter does so before convolutional
    //! encoding
    bool differential = false;

    // Input
    //! "int8", "uint8" (a byte of offset binary with 128 in the middle) or "float"
    std::string soft_input = "int8";
    //! int8 steps per unit of amplitude of float input; ignored with LDPC codes
    float soft_scale = 32.0f;
    //! with LDPC codes: int8 steps per nat; float input is in nats
    float llr_scale = 2.0f;
    //! the bit, 0 or 1, that a positive soft value means
    int positive_bit = 1;
    //! ambiguities to resolve. "bpsk": the sign; "qpsk": also rotation by 90 degrees and
    //! exchanged I and Q; "oqpsk": also an offset of one symbol between the I and the Q
    //! of a pair
    std::string constellation = "bpsk";
    //! phase search of the convolutional code: "auto" or "off", as in gpu_viterbi_pbvd
    std::string lock = "auto";
    //! names of further convolutional codes to search for
    std::vector<std::string> lock_presets = {};

    // Output
    //! whether frames that could not be decoded are dropped; without a code, frames
    //! without a marker are dropped
    bool drop_failed = true;
    //! frames to which the tag ccsds_frame is added: "all", "failures" (those that
    //! failed) or "none"
    gpufec::status_tags status_tags = gpufec::status_tags::all;
    //! key of the tags with the number of bytes of each frame; "": none
    std::string length_tag = "packet_len";

    // Running
    //! largest number of LDPC iterations, 1 to 1000
    int max_iterations = 25;
    //! number of parallel blocks or LDPC codewords per batch; 0: chosen for the device
    int batch = 0;
    //! number of batches in flight, 1 to 16
    int slots = 3;
    //! longest time in ms that an incomplete batch waits for more input
    double max_latency_ms = 50;
    //! "auto", "cuda" or "cpu"
    gpufec::backend backend = gpufec::backend::automatic;
    //! index of the CUDA device
    int device = 0;
    //! number of threads of the CPU backend and of threads that decode Reed-Solomon, 1 to
    //! 256
    int threads = 1;

    // Advanced
    //! probability of a false lock per frame length of random bits, above 0 and below 1;
    //! with telecommand codes, of a false start sequence per random bit
    double false_alarm = 1e-6;
    //! largest number of successive frames without a marker that are kept while locked,
    //! 0 to 100
    int flywheel = 2;
    //! number of soft values stored while the phase of the convolutional code is searched
    //! for
    int lock_memory = 1000000;
};

/*!
 * \brief Receiver that decodes soft symbols of CCSDS telemetry, after symbol
 * synchronisation, to transfer frames.
 * \ingroup gpufec
 *
 * \details
 * The receiver decodes the formats of CCSDS 131.0-B: uncoded, convolutional,
 * Reed-Solomon, concatenated, and LDPC. The input is the soft values of BPSK, QPSK or
 * OQPSK symbols, I before Q. The output is the bytes of transfer frames.
 *
 * The receiver is a chain. With a convolutional code it consists of a gpu_viterbi_pbvd,
 * whose phase search finds pairs, puncturing, rotation and code, and a ccsds_deframer,
 * which finds frames by their markers and decodes Reed-Solomon. Without a convolutional
 * code, the ccsds_deframer reads the soft values. With an LDPC code, a ccsds_deframer
 * finds the codewords by their markers in the soft values, and a gpu_ldpc_dvbs2 decodes
 * them. With a telecommand code (CCSDS 231.0-B) the ccsds_deframer finds and decodes
 * CLTUs, on the CPU.
 *
 * The tags and the PDUs are those of ccsds_deframer. With an LDPC code, \c good is true
 * if the codeword is valid, and the dictionary also has \c ldpc_iterations (long). With a
 * convolutional code, tags of gpu_viterbi_pbvd on bits of frames are kept.
 *
 * The message port \c pdus sends each frame. The message port \c status sends the status
 * messages of all blocks.
 */
class GPUFEC_API ccsds_fec_receiver : virtual public gr::hier_block2
{
public:
    typedef std::shared_ptr<ccsds_fec_receiver> sptr;

    //! Makes a receiver.
    //! \throws std::invalid_argument naming the parameter, its value and what is allowed
    //! \throws std::runtime_error if the backend is "cuda" and the device cannot be used
    static sptr make(const ccsds_fec_receiver_options& options = {});

    //! Returns the current backend, "cuda" or "cpu".
    virtual std::string active_backend() const = 0;
    //! Returns whether frames are being tracked; false while the Viterbi decoder searches
    //! the phase.
    virtual bool locked() const = 0;
    //! Returns the channel's bit error rate according to the Viterbi decoder; NaN without
    //! a convolutional code.
    virtual double channel_error_rate() const = 0;
    //! Returns the mean number of LDPC iterations; NaN without an LDPC code.
    virtual double mean_iterations() const = 0;
    //! Returns the number of soft values for which no convolutional code was found.
    virtual std::uint64_t dropped() const = 0;
    //! Returns the number of good frames.
    virtual std::uint64_t frame_count() const = 0;
    //! Returns the number of frames that are not good.
    virtual std::uint64_t failed_frame_count() const = 0;
    //! Returns the number of symbols that Reed-Solomon corrected in good frames. With
    //! telecommand codes, returns the number of corrected bits.
    virtual std::uint64_t corrected_symbol_count() const = 0;
    //! Returns the number of frames whose marker was missing.
    virtual std::uint64_t missed_marker_count() const = 0;
    //! Returns the number of searches for markers that ended with a frame.
    virtual std::uint64_t lock_count() const = 0;
    //! Returns the number of frames found elsewhere than expected, while locked.
    virtual std::uint64_t slip_count() const = 0;

    //! Sets the longest time in ms that an incomplete batch waits for more input.
    //! \throws std::invalid_argument unless the time is finite and 0 or more
    virtual void set_max_latency_ms(double max_latency_ms) = 0;

    //! Returns the diagnosis of parameters that do not fit the input, naming the
    //! parameter to change; "" if there is none.
    virtual std::string verdict() const = 0;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_CCSDS_FEC_RECEIVER_H */
