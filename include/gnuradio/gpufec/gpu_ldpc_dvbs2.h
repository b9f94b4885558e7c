// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#ifndef INCLUDED_GPUFEC_GPU_LDPC_DVBS2_H
#define INCLUDED_GPUFEC_GPU_LDPC_DVBS2_H

#include <gnuradio/block.h>
#include <gnuradio/gpufec/api.h>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace gr::gpufec {

/*!
 * \brief LDPC decoder for DVB-S2 and other standards, and for any code from a file, on a
 * GPU or the CPU. \ingroup gpufec
 *
 * \details
 * Min-sum decodes them, layered or flooding. The output does not depend on the backend,
 * nor on how frames were batched.
 *
 * The codes, with what \p frame_size and \p rate are called:
 *  - \c dvbs2 (ETSI EN 302 307-1): normal (64800 bits) or short (16200), 1/4 to 9/10
 *  - \c dvbs2x (EN 302 307-2): normal, medium (32400) or short with its rates, as 90/180,
 *    and those of dvbs2; "vl-snr normal", "vl-snr medium", "vl-snr short" and "vl-snr
 *    short sf2"
 *  - \c dvbt2 (EN 302 755): normal or short, 1/2 to 5/6; short also 1/4, 1/3, 2/5
 *  - \c ccsds_c2 (CCSDS 131.0-B): 8160, 7/8
 *  - \c ccsds_ar4ja (CCSDS 131.0-B): K = 1024, 4096 or 16384, 1/2, 2/3, 4/5
 *  - \c wifi (IEEE 802.11): N = 648, 1296 or 1944, 1/2, 2/3, 3/4, 5/6
 *  - \c nr (3GPP TS 38.212): "bg1 z384" and the like, 1/3 (1/5 of bg2) or blocks of the
 *    message / blocks sent, as 22/28. Its interleaver and repetition are undone before.
 *
 * The input is channel values (LLRs) of any constellation, one per bit that is sent, in
 * the order of the code, deinterleaved: N per frame, less what the standard, \p punctured
 * and \p shortened leave out, and with bits that the standard fills in. They are int8
 * with \p llr_scale steps per nat, or float in nats. \b Positive \b means \b bit \b 0,
 * as in gr-dvbs2rx, unless \p positive_bit is 1. With a wrong sign no frame of a DVB-S2
 * code is valid. NaN counts as 0, infinities saturate, and −128 becomes −127.
 *
 * With \p soft_input "symbols" and the codes of dvbs2 or dvbs2x, the input is the symbols
 * of XFECFRAMEs as the demodulator has them, descrambled and without pilots: QPSK, 8PSK,
 * 16APSK or 32APSK (EN 302 307-1, 5.4), of dvbs2x also 8APSK, 64APSK, 128APSK and
 * 256APSK (EN 302 307-2, 5.4; normal and short frames, not of VL-SNR), and the MODCODs of
 * dvbs2. They go to the backend as they are, which demaps and deinterleaves them in
 * integers by tables. The amplitude of each frame is its own, and so is its Es/N0 unless
 * \p esn0 says otherwise. With \p acm the MODCOD of XFECFRAME tags names the
 * constellation too. An ldpc_code tag's dictionary may have \c constellation.
 *
 * With \p output "llr" or "extrinsic" it is N LLRs of each frame, int8, one for each
 * position of the code in its order, those included that are not sent: the posterior ones
 * after the last iteration, or the extrinsic ones, which are the posterior less the
 * channel value that the decoder took (in steps of its own, limited: 48 nats at rate 1/2;
 * 0 where nothing was sent). They have \p llr_scale steps per nat and the sign of the
 * input, are rounded and saturate at ±127.
 *
 * Else the output is the K message bits of each frame, or its N bits: packed MSB-first
 * and padded to a byte, or one bit per byte. The message of a DVB-S2 code is what its BCH
 * encoder made. A frame that is not complete when the input ends is dropped.
 *
 * With \p output "bbframe" the BCH code of DVB corrects the message, as bch_decoder does,
 * and the output is the K_bch bits of each BBFRAME, descrambled if \p descramble says so.
 * A frame that BCH cannot correct leaves as it is.
 *
 * Tags on the input go to the output item that holds their bit. The block adds, on the
 * first output item of each frame, or as \p status_tags says:
 *  - \c ldpc_iterations (long): iterations made,
 *  - \c ldpc_valid (bool): whether the decided bits satisfy every check,
 *  - \c ldpc_syndrome_weight (long): how many they violate, if any,
 *  - of BBFRAMEs \c bch_errors (long): bits that BCH corrected, −1 if it could not, and
 *    \c bch_valid (bool): whether it could.
 *
 * BBFRAMEs with \p acm all have the tag \c bbframe_length (long), their output items:
 * bbframe_to_ts takes it as its length_tag.
 *
 * With \p acm, tags on the first channel value of a frame name its code, and that of the
 * frames after it; until the first tag it is the code of \p frame_size and \p rate.
 *  - key \c XFECFRAME, value \c cons(long modcod, bool short), as gr-dvbs2rx sets it,
 *    the MODCOD of EN 302 307-1 table 12. A frame of an unknown MODCOD is skipped by its
 *    length. Of symbols only dummy frames (MODCOD 0) have a known length, 3240; those of
 *    reserved MODCODs are dropped up to the next tag.
 *  - key \c ldpc_code, value a dictionary of \c frame_size and \c rate, or a string:
 *    "normal 1/2", or a name of \p named_codes. What comes after a tag that names no code
 *    is dropped up to the next tag.
 * A tag inside a frame ends it: what there was of the frame is dropped. The first output
 * item of the next frame that is decoded has the tag \c ldpc_skipped (long): how many
 * frames are missing before it, of unknown MODCODs or codes, or cut short.
 *
 * With the parameter \c llr_pdu, the message port of that name sends the posterior LLRs
 * of all N bits of each frame, as \p output "llr" gives them, whatever the output is; if
 * it is "extrinsic", those. gr-dvbs2rx's demapper takes their signs to refine its
 * estimate of the SNR. There is one PDU per frame. Its metadata are \c simd_size (long),
 * always 1, and \c frame_cnt (uint64), the number of the frame, from 0. Its data are N
 * int8. That demapper takes positive for 0, and remembers 64 frames, so \p batch times \p
 * slots should not exceed 32 with it.
 */
class GPUFEC_API gpu_ldpc_dvbs2 : virtual public gr::block
{
public:
    typedef std::shared_ptr<gpu_ldpc_dvbs2> sptr;

    /*!
     * Makes a decoder.
     *
     * \param standard "dvbs2", "dvbs2x", "dvbt2", "ccsds_c2", "ccsds_ar4ja", "wifi", "nr"
     * \param frame_size as the standard has them, above
     * \param rate likewise
     * \param code_file an alist file or a base matrix, whose code takes the place of the
     *        three above; "" for none
     * \param soft_input "int8" or "float"; "symbols" (complex), "symbols16" or "symbols8"
     *        (items of two int16 or int8, in any scale)
     * \param llr_scale int8 steps per nat, of the input (if it is int8) and of LLRs that
     *        are given (whatever it is)
     * \param algorithm "offset_min_sum", "normalized_min_sum" or "min_sum"
     * \param precision of the decoder: "int8", "int16" or "float"
     * \param max_iterations 1 to 1000
     * \param early_stop stop once every check is satisfied; else always make
     *        max_iterations
     * \param output "message" (K bits per frame), "codeword" (N bits), "llr" (N
     *        posterior LLRs), "extrinsic" (N extrinsic ones) or, with the codes of dvbs2,
     *        dvbs2x (but for its medium frames) and dvbt2, "bbframe" (K_bch bits)
     * \param packed_output eight bits per byte, first bit most significant, else one; not
     *        of LLRs
     * \param batch frames decoded at once; 0: chosen from the device
     * \param slots batches in flight, 1 to 16
     * \param max_latency_ms a batch that does not fill within this time goes as it is
     * \param backend "auto", "cuda" or "cpu"
     * \param device index of the CUDA device
     * \param threads of the CPU backend, 1 to 256
     * \param schedule "layered", or "flooding": the decoder of Feltrin's thesis
     * \param offset of offset_min_sum, nats; negative: the one found for the code's rate
     *        or, in float, one that declines with the distance to the next magnitude
     * \param normalization of normalized_min_sum; negative: the one for the code's rate
     * \param acm frames name their codes by tags
     * \param named_codes alist or base matrix files by the names that tags and
     *        set_code() give them
     * \param llr_pdu send the LLRs of each frame from the message port llr_pdu
     * \param devices CUDA devices, up to 16, that take batches in turn, instead of
     *        \p device; empty: that one alone
     * \param positive_bit the bit, 0 or 1, that a positive LLR means, in and out
     * \param device_timeout_ms milliseconds that a device has for a batch, once those
     *        before it are finished, before it is given up, up to 1e9; 0: for ever
     * \param punctured positions of the codeword, from 0, of the code above that are
     *        not sent, besides those of its standard
     * \param shortened positions that are 0 and not sent; no message bits are there
     * \param status_tags of which frames tags say what became of them: "all", those that
     *        are not valid ("failures"), or "none"; a BBFRAME is valid if bch_valid is
     * \param descramble BBFRAMEs (EN 302 307-1, 5.2.2)
     * \param constellation of symbols: "qpsk", "8psk", "16apsk" or "32apsk"; of dvbs2x
     *        "8apsk", "64apsk", "128apsk" and "256apsk" too
     * \param esn0 of symbols: "estimated" from each frame, "given", or from "tag"s with
     *        the key esn0_db (double), each for the frames that begin from there on
     * \param esn0_db in dB, −10 to 30, given, or up to the first tag
     * \param demapper "log_map" (all points count) or "max_log" (the nearest do)
     * \throws std::invalid_argument naming the parameter, its value and what is allowed
     * \throws std::runtime_error if \p backend is "cuda" and the device cannot be used
     */
    static sptr make(const std::string& standard = "dvbs2",
                     const std::string& frame_size = "normal",
                     const std::string& rate = "1/2",
                     const std::string& code_file = "",
                     const std::string& soft_input = "int8",
                     float llr_scale = 2.0f,
                     const std::string& algorithm = "offset_min_sum",
                     const std::string& precision = "int8",
                     int max_iterations = 25,
                     bool early_stop = true,
                     const std::string& output = "message",
                     bool packed_output = true,
                     int batch = 0,
                     int slots = 3,
                     double max_latency_ms = 50,
                     const std::string& backend = "auto",
                     int device = 0,
                     int threads = 1,
                     const std::string& schedule = "layered",
                     double offset = -1.0,
                     double normalization = -1.0,
                     bool acm = false,
                     const std::map<std::string, std::string>& named_codes = {},
                     bool llr_pdu = false,
                     const std::vector<int>& devices = {},
                     int positive_bit = 0,
                     double device_timeout_ms = 10000,
                     const std::vector<int>& punctured = {},
                     const std::vector<int>& shortened = {},
                     const std::string& status_tags = "all",
                     bool descramble = false,
                     const std::string& constellation = "qpsk",
                     const std::string& esn0 = "estimated",
                     double esn0_db = 10.0,
                     const std::string& demapper = "log_map");

    //! "cuda" or "cpu": what decodes now.
    virtual std::string active_backend() const = 0;
    //! Frames per batch, as chosen.
    virtual int batch() const = 0;

    //! Iterations that the last frame took.
    virtual int iterations() const = 0;
    //! Their mean over the frames of the stream so far.
    virtual double mean_iterations() const = 0;
    //! Frames that were not decoded: of unknown MODCODs or codes, or cut short by a tag.
    virtual std::uint64_t skipped_frame_count() const = 0;

    /*!
     * The code of the frames that begin from now on: "normal 1/2" and the like, or a name
     * of named_codes. Without acm, codes of the standard and the frame size that make()
     * was given; of nr that one alone.
     * \throws std::invalid_argument
     */
    virtual void set_code(const std::string& name) = 0;
    //! Steps of an int8 in a nat, in and out, from the next frame on.
    //! \throws std::invalid_argument
    virtual void set_llr_scale(float llr_scale) = 0;
    //! Of symbols whose Es/N0 is given, in dB, from the next frame on.
    //! \throws std::invalid_argument
    virtual void set_esn0_db(double esn0_db) = 0;
    //! A batch that does not fill within this time goes as it is.
    //! \throws std::invalid_argument
    virtual void set_max_latency_ms(double max_latency_ms) = 0;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_GPU_LDPC_DVBS2_H */
