// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The block that finds and decodes the frames of CCSDS telemetry and telecommands. */

#ifndef INCLUDED_GPUFEC_CCSDS_DEFRAMER_H
#define INCLUDED_GPUFEC_CCSDS_DEFRAMER_H

#include <gnuradio/block.h>
#include <gnuradio/gpufec/api.h>
#include <gnuradio/gpufec/status_tags.h>
#include <cstdint>
#include <string>

namespace gr::gpufec {

//! Parameters of ccsds_deframer, in Python's order.
struct ccsds_deframer_options {
    // Code
    //! code of the frame: "none"; "ccsds-223" or "ccsds-239" (Reed-Solomon in the dual
    //! basis), or either with the suffix "-conventional" (in the conventional basis); or
    //! an LDPC code, "c2" or "ar4ja-K-rate", such as "ar4ja-1024-1/2"; or a telecommand
    //! code, "tc-bch", "tc-bch-detect", "tc-ldpc-128" or "tc-ldpc-512"
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
    //! whether bits were sent as changes of the level (NRZ-M)
    bool differential = false;

    // Input
    //! "packed" (eight bits per byte, the first most significant), "int8", "uint8" (a
    //! byte of offset binary with 128 in the middle) or "float"
    std::string soft_input = "packed";
    //! int8 steps per unit of amplitude of float input
    float soft_scale = 32.0f;
    //! the bit, 0 or 1, that a positive soft value means
    int positive_bit = 1;
    //! ambiguities that the marker resolves. "bpsk": the sign; "qpsk": also rotation by
    //! 90 degrees and exchanged I and Q; "oqpsk": also I and Q of a pair in consecutive
    //! symbols of the input. After gpu_viterbi_pbvd use "bpsk"
    std::string constellation = "bpsk";

    // Output
    //! whether frames that could not be decoded are dropped; without a code, frames
    //! without a marker are dropped; with an LDPC code, no frame is dropped
    bool drop_failed = true;
    //! frames to which the tag ccsds_frame is added: "all", "failures" (those that
    //! failed) or "none"
    gpufec::status_tags status_tags = gpufec::status_tags::all;
    //! key of the tags with the number of output items of each frame; "": none
    std::string length_tag = "packet_len";

    // Advanced
    //! probability of a false lock per frame length of random bits, above 0 and below 1;
    //! with telecommand codes, of a false start sequence per random bit
    double false_alarm = 1e-6;
    //! largest number of successive frames without a marker that are kept while locked,
    //! 0 to 100
    int flywheel = 2;
    //! with "tc-ldpc-128" and "tc-ldpc-512": int8 steps per nat; float input is in nats
    float llr_scale = 2.0f;
    //! with "tc-ldpc-128" and "tc-ldpc-512": largest number of iterations, 1 to 1000
    int max_iterations = 25;

    // Running
    //! number of threads that decode Reed-Solomon, 1 to 256
    int threads = 1;
};

/*!
 * \brief Finds and decodes the Reed-Solomon frames of CCSDS telemetry or the CLTUs of
 * telecommands.
 * \ingroup gpufec
 *
 * \details
 * The input is packed bits, such as those of gpu_viterbi_pbvd, or soft values of BPSK,
 * QPSK or OQPSK. The output is transfer frames: bytes, \p frame_bytes per frame
 * (CCSDS 131.0-B: markers in section 9, Reed-Solomon in 4, pseudo-randomiser in 10).
 *
 * The marker shows where frames begin, at any bit, and the sign of the bits, even if the
 * sign changes. A search finds a marker with a tolerated number of wrong bits, and
 * confirms it by decoding the frame or by the next marker. While locked, more wrong bits
 * are tolerated. Frames whose marker is missing are kept if they can be decoded, and up
 * to \p flywheel such frames otherwise. After a slip, the next frame is found again, even
 * if that frame begins within the expected frame. The tolerated numbers follow from
 * \p false_alarm; see docs/reference/ccsds.md.
 *
 * With an LDPC code, the input must be soft values. The markers are then searched in the
 * soft values, and the output is the codewords for gpu_ldpc_dvbs2: one int8 per sent bit,
 * in the right polarity and without the pseudo-randomiser.
 *
 * With a telecommand code (CCSDS 231.0-B), a frame is the content of a CLTU, whose length
 * varies. A CLTU begins with a start sequence in either polarity, and ends before the
 * first codeword that cannot be decoded, such as its tail sequence. The content includes
 * the fill of the last codeword.
 *
 * Soft values that are 0 or NaN are erasures, and count as 1 where a bit is needed. −128
 * becomes −127.
 *
 * Each frame has a length tag on its first item. The same item has the tag
 * \c ccsds_frame, a dictionary:
 *  - \c good (bool): whether the frame was decoded or, without Reed-Solomon, has a
 *    marker,
 *  - \c corrected (s32vector): corrected symbols of each codeword, −1 if it could not be
 *    corrected; only with Reed-Solomon. With telecommand codes, corrected bits of each
 *    codeword,
 *  - \c tail_found (bool): with telecommand codes, whether a tail sequence follows,
 *  - \c marker_found (bool), \c marker_correlation (double, 0 to 1),
 *  - \c inverted (bool), \c orientation (long): sign and rotation of the input,
 *  - \c position (uint64): index of the first bit of the marker since the beginning of
 *    the stream,
 *  - \c channel_error_rate (double): from the last tag \c viterbi_ber or \c viterbi_lock
 *    before the end of the frame; only if there was one.
 *
 * Input tags move to the output item that contains their bit. A tag on a marker moves to
 * the first item of its frame, and a tag on parity to the last item. Tags of bits that
 * belong to no frame are dropped.
 *
 * The message port \c pdus sends each frame as a u8vector, with the dictionary above as
 * metadata; with an LDPC code, no PDU is sent. The message port \c status sends a
 * dictionary when the frames are found or lost, for a verdict() on the input, and at the
 * end of the input. The dictionary has \c event ("locked", "lost", "verdict" or "ended"),
 * \c text and the counters below by the names of their functions. At most one dictionary
 * of "locked" and "lost" is sent per second.
 */
class GPUFEC_API ccsds_deframer : virtual public gr::block
{
public:
    typedef std::shared_ptr<ccsds_deframer> sptr;

    //! Makes the block.
    //! \throws std::invalid_argument naming the parameter, its value and what is allowed
    static sptr make(const ccsds_deframer_options& options = {});

    //! Returns whether frames are being tracked.
    virtual bool locked() const = 0;
    //! Returns the number of good frames.
    virtual std::uint64_t frame_count() const = 0;
    //! Returns the number of frames that are not good.
    virtual std::uint64_t failed_frame_count() const = 0;
    //! Returns the number of symbols that Reed-Solomon corrected in good frames. With
    //! telecommand codes, returns the number of corrected bits.
    virtual std::uint64_t corrected_symbol_count() const = 0;
    //! Returns the number of frames whose marker was missing.
    virtual std::uint64_t missed_marker_count() const = 0;
    //! Returns the number of searches that ended with a frame.
    virtual std::uint64_t lock_count() const = 0;
    //! Returns the number of locks that were lost.
    virtual std::uint64_t loss_count() const = 0;
    //! Returns the number of frames found elsewhere than expected, while locked.
    virtual std::uint64_t slip_count() const = 0;
    //! Returns the number of markers found in a search that did not begin a frame.
    virtual std::uint64_t unconfirmed_marker_count() const = 0;
    //! Returns the number of incomplete frames at the end of the stream.
    virtual std::uint64_t cut_frame_count() const = 0;

    //! Returns the diagnosis of parameters that do not fit the input, naming the
    //! parameter to change; "" if there is none. The diagnosis is also logged once as a
    //! warning, and sent from the message port \c status as \c event "verdict".
    virtual std::string verdict() const = 0;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_CCSDS_DEFRAMER_H */
