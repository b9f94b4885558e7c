// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The block that decodes DVB-S2 symbols to transport-stream packets. */

#ifndef INCLUDED_GPUFEC_DVBS2_FEC_RECEIVER_H
#define INCLUDED_GPUFEC_DVBS2_FEC_RECEIVER_H

#include <gnuradio/gpufec/api.h>
#include <gnuradio/gpufec/backend.h>
#include <gnuradio/gpufec/gpu_ldpc_dvbs2.h>
#include <gnuradio/gpufec/ldpc.h>
#include <gnuradio/hier_block2.h>
#include <cstdint>
#include <string>

namespace gr::gpufec {

//! Parameters of dvbs2_fec_receiver, in Python's order. Values in quotes are those
//! of Python; enumerators have the same names, except automatic ("auto").
struct dvbs2_fec_receiver_options {
    // Code
    //! "normal" or "short"; with dvbs2x also "vl-snr normal", "vl-snr medium", "vl-snr
    //! short" and "vl-snr short sf2"
    std::string frame_size = "normal";
    //! "1/4" to "9/10"; with dvbs2x also further rates, such as "90/180"; or a MODCOD
    //! such as "8PSK 3/4", which sets \p constellation too
    std::string rate = "1/2";
    //! "qpsk", "8psk", "16apsk" or "32apsk"; with dvbs2x also "8apsk", "64apsk",
    //! "128apsk", "256apsk" and, in VL-SNR frames, "pi/2-bpsk"
    std::string constellation = "qpsk";

    // Input
    //! "symbols" (complex), "symbols16" or "symbols8" (items of two int16 or int8, in any
    //! scale)
    std::string soft_input = "symbols";

    // Code
    //! whether tags select the MODCOD of each frame
    bool acm = false;

    // Output
    //! identifier of the input stream to receive, 0 to 255; −1: all. Frames of a single
    //! stream are always received
    int isi = -1;

    // Running
    //! largest number of LDPC iterations, 1 to 1000
    int max_iterations = 25;

    // Input
    //! source of the Es/N0: "estimated" from each frame; "given" by \p esn0_db; or "tag":
    //! tags of key esn0_db (double) set it for the frames that follow
    esn0_source esn0 = esn0_source::estimated;
    //! Es/N0 in dB, −10 to 30, with "given", or before the first tag
    double esn0_db = 10.0;
    //! "log_map" (uses all constellation points) or "max_log" (uses the nearest point for
    //! each value of a bit)
    ldpc_demapper demapper = ldpc_demapper::log_map;

    // Running
    //! number of frames per batch; 0: chosen for the device
    int batch = 0;
    //! number of batches in flight, 1 to 16
    int slots = 3;
    //! longest time in ms that an incomplete batch waits for more input
    double max_latency_ms = 50;
    //! "auto", "cuda" or "cpu"
    gpufec::backend backend = gpufec::backend::automatic;
    //! index of the CUDA device
    int device = 0;
    //! number of threads of the CPU backend, 1 to 256
    int threads = 1;

    // Code
    //! "dvbs2" (EN 302 307-1), or "dvbs2x" (EN 302 307-2), which includes dvbs2
    std::string standard = "dvbs2";

    // Input
    //! key of the length tags, whose value is the packet's length in items; "": none
    std::string length_tag = "packet_len";
};

/*!
 * \brief Receiver that decodes synchronised symbols of DVB-S2 or DVB-S2X to the transport
 * stream.
 * \ingroup gpufec
 *
 * \details
 * The receiver consists of a gpu_ldpc_dvbs2, which demaps symbols and decodes LDPC and
 * BCH, and a bbframe_to_ts. The pages of these blocks describe the tags and messages. The
 * input is the symbols of XFECFRAMEs, descrambled and without pilots, in any amplitude.
 * The output is the bytes of transport-stream packets, 188 per packet.
 *
 * The block receives the MODCODs of DVB-S2 (ETSI EN 302 307-1, table 12) and, with
 * \p standard "dvbs2x", of DVB-S2X (EN 302 307-2, tables 17a and 18a). Symbols of VL-SNR
 * frames are described at gpu_ldpc_dvbs2; with \p acm, VL-SNR frames are received
 * only if \p frame_size is a VL-SNR frame size; no other frames are received then.
 *
 * With \p acm, a tag on the first symbol of a frame selects the MODCOD of this frame and
 * of the frames after it. A tag \c XFECFRAME, as set by gr-dvbs2rx, has a MODCOD of
 * DVB-S2. A tag \c ldpc_code has a MODCOD of DVB-S2 or DVB-S2X as a dictionary of
 * \c frame_size, \c rate and \c constellation. The parameters \p frame_size, \p rate and
 * \p constellation apply to the frames before the first such tag.
 *
 * A length tag begins a packet of one or more frames, as in gpu_ldpc_dvbs2. The value of
 * the tag is converted to the number of bytes of the transport-stream packets that end in
 * these frames; if there are none, the tag is dropped.
 *
 * The message port \c status sends the status messages of both blocks. The message port
 * \c generic sends the BBFRAMEs of generic streams.
 */
class GPUFEC_API dvbs2_fec_receiver : virtual public gr::hier_block2
{
public:
    typedef std::shared_ptr<dvbs2_fec_receiver> sptr;

    //! Makes a receiver.
    //! \throws std::invalid_argument naming the parameter, its value and what is allowed
    //! \throws std::runtime_error if the backend is "cuda" and the device cannot be used
    static sptr make(const dvbs2_fec_receiver_options& options = {});

    //! Returns the current backend, "cuda" or "cpu".
    virtual std::string active_backend() const = 0;
    //! Returns the mean number of LDPC iterations over the frames of the stream so far.
    virtual double mean_iterations() const = 0;
    //! Returns the number of frames that a tag cut short, plus the numbers of tags with
    //! an unknown MODCOD and of packets with a wrong length.
    virtual std::uint64_t skipped_frame_count() const = 0;
    //! Returns the number of BBFRAMEs so far.
    virtual std::uint64_t frame_count() const = 0;
    //! Returns the number of BBFRAMEs dropped because their header is wrong or not
    //! supported. Most of these are frames that BCH could not correct.
    virtual std::uint64_t dropped_frame_count() const = 0;
    //! Returns the number of packets, including inserted null packets.
    virtual std::uint64_t packet_count() const = 0;
    //! Returns the number of packets with a wrong CRC-8.
    virtual std::uint64_t packet_error_count() const = 0;

    //! Sets the Es/N0 in dB from the next frame on; with esn0 "tag", until the next tag.
    //! Has no effect with esn0 "estimated".
    //! \throws std::invalid_argument unless \p esn0_db is −10 to 30
    virtual void set_esn0_db(double esn0_db) = 0;
    //! Returns the Es/N0 in dB that was set last, by a setter, a tag or the parameter;
    //! NaN if the Es/N0 is estimated.
    virtual double esn0_db() const = 0;
    //! Sets the longest time in ms that an incomplete batch waits for more input.
    //! \throws std::invalid_argument unless the time is finite and 0 or more
    virtual void set_max_latency_ms(double max_latency_ms) = 0;
    //! Returns the longest time in ms that an incomplete batch waits for more input.
    virtual double max_latency_ms() const = 0;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_DVBS2_FEC_RECEIVER_H */
