// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The block that decodes LDPC codes, and the outer BCH codes of DVB, from LLRs or
 * symbols. */

#ifndef INCLUDED_GPUFEC_GPU_LDPC_DVBS2_H
#define INCLUDED_GPUFEC_GPU_LDPC_DVBS2_H

#include <gnuradio/block.h>
#include <gnuradio/gpufec/api.h>
#include <gnuradio/gpufec/backend.h>
#include <gnuradio/gpufec/ldpc.h>
#include <gnuradio/gpufec/port_memory.h>
#include <gnuradio/gpufec/status_tags.h>
#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace gr::gpufec {

//! Input items of gpu_ldpc_dvbs2.
enum class ldpc_input {
    int8,      //!< LLRs as signed bytes, with llr_scale steps per nat
    float32,   //!< LLRs as floats, in nats
    uint8,     //!< LLRs as bytes v of offset binary, which stand for the int8 v − 128
    symbols,   //!< symbols as complex floats
    symbols16, //!< symbols as pairs of int16, the real part first
    symbols8   //!< symbols as pairs of int8, the real part first
};

//! Converts the name "int8", "float", "uint8", "symbols", "symbols16" or "symbols8" to an
//! enumerator.
//! \throws std::invalid_argument for any other name
GPUFEC_API ldpc_input ldpc_input_from_string(const std::string& name);

//! Output of gpu_ldpc_dvbs2.
enum class ldpc_output {
    message,  //!< K message bits per frame
    codeword, //!< N bits of the codeword
    bbframe,  //!< K_bch bits of a BBFRAME of DVB
    llr,      //!< N posterior LLRs
    extrinsic //!< N extrinsic LLRs
};

//! Converts the name of an enumerator to the enumerator.
//! \throws std::invalid_argument for any other name
GPUFEC_API ldpc_output ldpc_output_from_string(const std::string& name);

//! Source of the Es/N0 of symbols.
enum class esn0_source {
    estimated, //!< estimated from each frame
    given,     //!< the parameter esn0_db
    tag        //!< tags of key esn0_db
};

//! Converts the name of an enumerator to the enumerator.
//! \throws std::invalid_argument for any other name
GPUFEC_API esn0_source esn0_source_from_string(const std::string& name);

//! Parameters of gpu_ldpc_dvbs2, in Python's order. Values in quotes are those of
//! Python; enumerators have the same names, except automatic ("auto") and float32
//! ("float").
struct gpu_ldpc_dvbs2_options {
    // Code
    //! "dvbs2", "dvbs2x", "dvbt2", "ccsds_c2", "ccsds_ar4ja", "ccsds_tc", "wifi",
    //! "nr"
    std::string standard = "dvbs2";
    //! a frame size of the standard, from the list in the block's description
    std::string frame_size = "normal";
    //! a rate of the standard, from the same list; or a MODCOD such as "8PSK 3/4", which
    //! sets \p constellation too
    std::string rate = "1/2";
    //! an alist or base matrix file, whose code replaces \p standard, \p frame_size and
    //! \p rate; "" for none
    std::string code_file = "";

    // Input
    //! "int8", "float" or "uint8" (a byte of offset binary, in which 128 means 0);
    //! "symbols" (complex), "symbols16" or "symbols8" (items of two int16 or int8, in any
    //! scale)
    ldpc_input soft_input = ldpc_input::int8;
    //! steps per nat of int8 and uint8 input, and of output LLRs
    float llr_scale = 2.0f;

    // Advanced
    //! "offset_min_sum", "normalized_min_sum" or "min_sum"
    ldpc_algorithm algorithm = ldpc_algorithm::offset_min_sum;
    //! number format of the decoder: "int8", "int16" or "float"
    ldpc_precision precision = ldpc_precision::int8;

    // Running
    //! largest number of iterations, 1 to 1000
    int max_iterations = 25;
    //! true: decoding of a frame stops once every check is satisfied; false: every frame
    //! runs max_iterations iterations
    bool early_stop = true;

    // Output
    //! "message" (K bits per frame), "codeword" (N bits), "llr" (N posterior LLRs),
    //! "extrinsic" (N extrinsic LLRs) or, with the codes of dvbs2, dvbs2x (except its
    //! medium frames) and dvbt2, "bbframe" (K_bch bits)
    ldpc_output output = ldpc_output::message;
    //! true: eight bits per output byte, the first most significant; false: one bit per
    //! byte; ignored for LLRs
    bool packed_output = true;

    // Running
    //! number of frames per batch; 0: chosen for the device
    int batch = 0;
    //! number of batches in flight on each device, 1 to 16
    int slots = 3;
    //! longest time in ms that an incomplete batch waits for more input
    double max_latency_ms = 50;
    //! "auto", "cuda" or "cpu"
    gpufec::backend backend = gpufec::backend::automatic;
    //! index of the CUDA device
    int device = 0;
    //! number of threads of the CPU backend, 1 to 256
    int threads = 1;

    // Advanced
    //! "layered" (layer by layer) or "flooding" (all check nodes, then all variable
    //! nodes)
    ldpc_schedule schedule = ldpc_schedule::layered;
    //! offset of offset_min_sum in nats, 0 to 15; negative: the value tuned for the code
    //! or, with precision "float", a value that decreases with the difference between the
    //! smallest magnitudes
    double offset = -1.0;
    //! factor of normalized_min_sum, 0 to 1; negative: the value tuned for the code
    double normalization = -1.0;

    // Code
    //! whether tags select the code of each frame
    bool acm = false;
    //! paths of alist or base matrix files; the keys are the names of the codes for tags
    //! and set_code()
    std::map<std::string, std::string> named_codes = {};

    // Output
    //! whether to send the LLRs of each frame from the message port llr_pdu
    bool llr_pdu = false;

    // Running
    //! indices of up to 16 CUDA devices, which receive batches in rotation and replace
    //! \p device; empty: \p device only
    std::vector<int> devices = {};

    // Input
    //! the bit, 0 or 1, that a positive LLR means, in input and output
    int positive_bit = 0;

    // Running
    //! timeout in ms for one batch, counted from the end of the previous one, up to 1e9;
    //! on expiry the device is abandoned. 0: no timeout
    double device_timeout_ms = 10000;

    // Code
    //! positions of the codeword, from 0, that are not sent, in addition to those
    //! that the standard omits
    std::vector<int> punctured = {};
    //! positions of the codeword that are always 0 and not sent; they contain no message
    //! bits
    std::vector<int> shortened = {};

    // Output
    //! frames to which status tags are added: "all", "failures" (those that are not
    //! valid) or "none"; a BBFRAME is valid if bch_valid is true
    gpufec::status_tags status_tags = gpufec::status_tags::all;
    //! whether to descramble BBFRAMEs (EN 302 307-1, 5.2.2)
    bool descramble = false;

    // Input
    //! constellation of symbols: "qpsk", "8psk", "16apsk" or "32apsk"; with dvbs2x also
    //! "8apsk", "64apsk", "128apsk", "256apsk" and, in VL-SNR frames, "pi/2-bpsk"
    std::string constellation = "qpsk";
    //! source of the symbols' Es/N0: "estimated" from each frame; "given" by \p esn0_db;
    //! or "tag": tags of key esn0_db (double) set it for the frames that follow
    esn0_source esn0 = esn0_source::estimated;
    //! Es/N0 in dB, −10 to 30, with "given", or before the first tag
    double esn0_db = 10.0;
    //! "log_map" (uses all constellation points) or "max_log" (uses the nearest points
    //! with bit 0 and with bit 1)
    ldpc_demapper demapper = ldpc_demapper::log_map;

    // Code
    //! positions of the message bits in the codeword of \p code_file: "systematic" (found
    //! by elimination), "first" or "last" (the first or last K bits),
    //! "gr_fec_ldpc_encoder" (as in gr-fec), or a list of the positions of all message
    //! bits, from 0. A name also applies to the codes of \p named_codes
    std::variant<std::string, std::vector<int>> message_positions = "systematic";

    // Input
    //! key of the length tags, whose value is the packet's length in items; "": none
    std::string length_tag = "packet_len";

    // Running
    //! memory of the stream ports: "host"; "device_in", with input in the memory of
    //! \p device, in a buffer of gr-cuda; or "device", with input and output in such
    //! memory. The last two require a CUDA device and a build with gr-cuda, and decode on
    //! the device only
    port_memory io = port_memory::host;

    // Code
    //! length in bytes of the PSDU of Wi-Fi PPDUs (\p standard "wifi"), 1 to 65535: a
    //! frame is a whole PPDU, and \p frame_size has no effect. 0: a frame is one codeword
    int psdu_bytes = 0;
    //! number of coded bits per OFDM symbol of a PPDU (N_CBPS), 1 to 65535
    int symbol_bits = 0;
    //! whether PPDUs use space-time block coding, and so an even number of OFDM symbols
    bool stbc = false;
};

/*!
 * \brief LDPC decoder for DVB-S2 and other standards, and for any code from a file, on a
 * GPU or the CPU.
 * \ingroup gpufec
 *
 * \details
 * The block uses min-sum decoding with a layered or flooding schedule. The output depends
 * neither on the backend nor on the batch size.
 *
 * The codes, with the values of \p frame_size and \p rate:
 *  - \c dvbs2 (ETSI EN 302 307-1): normal (64800 bits) or short (16200); 1/4 to 9/10
 *  - \c dvbs2x (EN 302 307-2): normal, medium (32400) or short; rates such as 90/180, and
 *    the rates of dvbs2. Also "vl-snr normal", "vl-snr medium", "vl-snr short" and
 *    "vl-snr short sf2" with other rates
 *  - \c dvbt2 (EN 302 755): normal or short; 1/2 to 5/6, in short frames also 1/4, 1/3
 *    and 2/5
 *  - \c ccsds_c2 (CCSDS 131.0-B): 8160 (sent bits); 7/8
 *  - \c ccsds_ar4ja (CCSDS 131.0-B): 1024, 4096 or 16384 (K); 1/2, 2/3 or 4/5
 *  - \c ccsds_tc (CCSDS 231.0-B, telecommand): 128 or 512 (N); 1/2
 *  - \c wifi (IEEE 802.11): 648, 1296 or 1944 (N); 1/2, 2/3, 3/4 or 5/6
 *  - \c nr (3GPP TS 38.212): base graph and lifting size, such as "bg1 z384"; 1/3 (bg2:
 *    1/5), or the number of message blocks over the number of sent blocks, such as 22/28.
 *    Upstream blocks must undo the interleaver and the repetitions of nr.
 *
 * The input is channel values (LLRs) of any constellation, one for each bit that is sent,
 * in the order of the code. A deinterleaver must come before this block. A frame has no
 * values for bits that the standard, \p punctured or \p shortened omit, but it has values
 * for filler bits that the standard sends. Values are int8 or uint8 with \p llr_scale
 * steps per nat, or float in nats. \b Positive \b means \b bit \b 0, as in gr-dvbs2rx,
 * unless \p positive_bit is 1. With a wrong sign no frame of a DVB-S2 code is valid. NaN
 * counts as 0, infinities saturate, and −128 becomes −127.
 *
 * With \p psdu_bytes, a frame is a Wi-Fi PPDU (IEEE 802.11-2020, 19.3.11.7.5) of one or
 * more shortened and punctured or repeated codewords. The input is the LLRs of the coded
 * bits of all OFDM symbols, and the output is the bits of SERVICE field (16 bits) and
 * PSDU, before descrambling. The status tags of a PPDU have the largest number of
 * iterations of its codewords and the sum of their violated checks, and \p batch counts
 * codewords. All PPDUs of a block have the same format. PPDUs require \p output "message"
 * and ports in host memory, and exclude \p acm, \p llr_pdu and symbol input.
 *
 * With \p soft_input "symbols", "symbols16" or "symbols8", and a code of dvbs2 or dvbs2x,
 * the input is the symbols of XFECFRAMEs from the demodulator, descrambled and without
 * pilots. The constellations are QPSK, 8PSK, 16APSK and 32APSK (EN 302 307-1, 5.4), with
 * dvbs2x also 8APSK, 64APSK, 128APSK and 256APSK (EN 302 307-2, 5.4; normal and short
 * frames). The block demaps and deinterleaves the symbols. The amplitude is estimated
 * from each frame, and also the Es/N0 unless \p esn0 names another source. With \p acm,
 * tags can select the constellation of each frame too.
 *
 * VL-SNR frames (EN 302 307-2, 5.5.2.6) have symbols of π/2-BPSK (\p constellation
 * "pi/2-bpsk") or, in "vl-snr normal" frames, of QPSK: 30780 symbols, or 14976 in "vl-snr
 * short" frames, without PLHEADER, VL-SNR header and pilots, descrambled (scrambling
 * changes only the sign of symbols of π/2-BPSK). In "vl-snr short sf2" frames each coded
 * bit is sent in two symbols, which the block adds. The Es/N0 is that of one transmitted
 * symbol. VL-SNR frames require \p io "host". With \p acm, tags select among VL-SNR
 * frames only.
 *
 * With \p output "llr" or "extrinsic" the output is N LLRs per frame as int8, one for
 * each bit of the codeword, sent or not: posterior LLRs after the last iteration, or
 * extrinsic LLRs. An extrinsic LLR is the posterior LLR minus the channel value. The
 * decoder clamps channel values (to ±48 nats at rate 1/2), and uses 0 for bits that are
 * not sent. The output LLRs have \p llr_scale steps per nat and the sign of the input,
 * and saturate at ±127.
 *
 * With \p output "message" the output is the K message bits of each frame, and with
 * "codeword" the N bits of its codeword. Items are bytes with one bit or with eight
 * packed bits. The first packed bit is the most significant, and packed frames are padded
 * to a byte. The message of a DVB-S2 code is a codeword of its BCH code. An incomplete
 * frame at the end of the input is dropped.
 *
 * With \p output "bbframe" the BCH code of DVB corrects the message, like bch_decoder,
 * and the output is the K_bch bits of each BBFRAME, optionally descrambled. A frame that
 * BCH cannot correct is output uncorrected.
 *
 * A tag of key \p length_tag begins a packet of one or more frames. The value of the tag
 * is the number of input items of the packet, and is converted to the number of output
 * items. Until the first such tag, frames follow one another. The block drops packets
 * whose length is not a whole number of frames, frames that the next tag cuts short, and
 * items outside packets. The block logs one warning for each kind of fault. The tag
 * \c ldpc_skipped and skipped_frame_count() count the dropped frames and packets. The
 * next tag restores alignment. With \p acm the frame length is that of the current code.
 *
 * Input tags move to the output item that contains their bit. The block adds these tags
 * on the first output item of each frame that \p status_tags selects:
 *  - \c ldpc_iterations (long): number of iterations,
 *  - \c ldpc_valid (bool): whether the decided bits satisfy every check,
 *  - \c ldpc_syndrome_weight (long): number of violated checks, only on frames that
 *    are not valid,
 *  - \c bch_errors (long, BBFRAMEs only): number of bits that BCH corrected, −1 if it
 *    could not correct the frame,
 *  - \c bch_valid (bool, BBFRAMEs only): whether the frame is a BCH codeword after
 *    correction.
 *
 * With \p acm every BBFRAME has the tag \c bbframe_length (long) with its number of
 * output items, which can be the length_tag of bbframe_to_ts.
 *
 * With \p acm, tags on the first item of a frame select the code of this frame and those
 * after it. Before the first such tag, \p frame_size and \p rate select the code.
 *  - Key \c XFECFRAME, value \c cons(long modcod, bool short), as set by gr-dvbs2rx: the
 *    MODCOD of EN 302 307-1, table 12. The MODCOD also selects the constellation of
 *    symbols. Frames of an unknown MODCOD are skipped by their length. In symbol input
 *    the length is known for dummy frames only (MODCOD 0, 3240 symbols); after other
 *    unknown MODCODs, input is dropped up to the next tag.
 *  - Key \c ldpc_code, value a dictionary of \c frame_size, \c rate and, for symbols,
 *    \c constellation; or a string such as "normal 1/2" or a name of \p named_codes.
 *    After a tag with an unknown code, or a dictionary with other keys, input is dropped
 *    up to the next tag.
 *
 * If such a tag is inside a frame, it cuts the frame short, and the frame is dropped. The
 * first output item of the next decoded frame has the tag \c ldpc_skipped (long), unless
 * \p status_tags is "none": the increase of skipped_frame_count() since the previous
 * frame. A tag with an unknown code counts once, even if several frames follow it.
 *
 * With the parameter \p llr_pdu, the message port \c llr_pdu sends one PDU per frame with
 * the posterior LLRs of all N bits as int8, in the format of \p output "llr". If the
 * output is "extrinsic", the PDUs have extrinsic LLRs instead. The metadata are
 * \c simd_size (long), always 1, and \c frame_cnt (uint64), the number of the frame, from
 * 0. The demapper of gr-dvbs2rx uses the signs of these LLRs to refine its estimate of
 * the SNR. The demapper expects \p positive_bit 0, and stores 64 frames, so \p batch
 * times \p slots should not exceed 32.
 *
 * The message port \c status sends a dictionary when the block starts and ends, when a
 * device fails, and if verdict() reports unsuitable input. The keys are \c event,
 * \c text, \c backend, \c items_in and \c items_out.
 */
class GPUFEC_API gpu_ldpc_dvbs2 : virtual public gr::block
{
public:
    typedef std::shared_ptr<gpu_ldpc_dvbs2> sptr;

    //! Makes a decoder.
    //! \throws std::invalid_argument naming the parameter, its value and what is allowed
    //! \throws std::runtime_error if the backend is "cuda" and the device cannot be used
    static sptr make(const gpu_ldpc_dvbs2_options& options = {});

    //! Returns the current backend, "cuda" or "cpu".
    virtual std::string active_backend() const = 0;
    //! Returns the number of frames per batch.
    virtual int batch() const = 0;

    //! Returns the number of iterations of the last frame.
    virtual int iterations() const = 0;
    //! Returns the mean number of iterations over the frames of the stream so far.
    virtual double mean_iterations() const = 0;
    //! Returns the number of frames that a tag cut short, plus the numbers of tags with
    //! an unknown MODCOD or code and of packets with a wrong length.
    virtual std::uint64_t skipped_frame_count() const = 0;

    /*!
     * Sets the code of the next frames by a name such as "normal 1/2", or by a name of
     * named_codes. Without acm, only codes of the standard and frame size of make() can
     * be set; with nr, only the code of make().
     * \throws std::invalid_argument if the code is unknown or cannot be set
     */
    virtual void set_code(const std::string& name) = 0;
    //! Sets the steps per nat of input and output LLRs, from the next frame on.
    //! \throws std::invalid_argument unless \p llr_scale is finite and above 0
    virtual void set_llr_scale(float llr_scale) = 0;
    //! Returns the steps per nat of input and output LLRs.
    virtual float llr_scale() const = 0;
    //! Sets the Es/N0 of symbol input, in dB, from the next frame on; with esn0 "tag",
    //! until the next tag. Has no effect with esn0 "estimated".
    //! \throws std::invalid_argument unless \p esn0_db is −10 to 30
    virtual void set_esn0_db(double esn0_db) = 0;
    //! Returns the Es/N0 in dB of symbol input that was set last, by a setter, a tag or
    //! the parameter; NaN if the Es/N0 is estimated, and for LLRs.
    virtual double esn0_db() const = 0;
    //! Sets the longest time in ms that an incomplete batch waits for more input.
    //! \throws std::invalid_argument unless the time is finite and 0 or more
    virtual void set_max_latency_ms(double max_latency_ms) = 0;
    //! Returns the longest time in ms that an incomplete batch waits for more input.
    virtual double max_latency_ms() const = 0;
    //! Returns the number of frames decoded so far.
    virtual std::uint64_t frame_count() const = 0;
    //! Returns the number of frames so far that are not codewords; for BBFRAMEs, the
    //! number of frames that BCH could not correct.
    virtual std::uint64_t error_count() const = 0;
    //! Returns the diagnosis of unsuitable input, naming the parameter to change; "" if
    //! the input seems right. The diagnosis is also logged once as a warning, and sent
    //! from the message port \c status as \c event "verdict".
    virtual std::string verdict() const = 0;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_GPU_LDPC_DVBS2_H */
