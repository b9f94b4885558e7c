// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#ifndef INCLUDED_GPUFEC_GPU_LDPC_DVBS2_H
#define INCLUDED_GPUFEC_GPU_LDPC_DVBS2_H

#include <gnuradio/block.h>
#include <gnuradio/gpufec/api.h>
#include <map>
#include <string>
#include <vector>

namespace gr::gpufec {

/*!
 * \brief LDPC decoder for DVB-S2, and for any code from an alist file, on a GPU or the
 * CPU. \ingroup gpufec
 *
 * \details
 * The codes are those of ETSI EN 302 307-1, 5.3.2, and min-sum decodes them, layered or
 * flooding. The output does not depend on the backend, nor on how frames were batched.
 *
 * The input is channel values (LLRs) of any constellation, N per frame, deinterleaved:
 * int8 with \p llr_scale steps per nat, or float in nats. \b Positive \b means \b bit
 * \b 0, as in gr-dvbs2rx, unless \p positive_bit is 1. With a wrong sign no frame of a
 * DVB-S2 code is valid. NaN counts as 0, infinities saturate, and −128 becomes −127.
 *
 * The output is the K message bits of each frame, or its N bits: packed MSB-first and
 * padded to a byte, or one bit per byte. The message of a DVB-S2 code is what its BCH
 * encoder made. A frame that is not complete when the input ends is dropped.
 *
 * Tags on the input go to the output item that holds their bit. The block adds, on the
 * first output item of each frame:
 *  - \c ldpc_iterations (long): iterations made,
 *  - \c ldpc_valid (bool): whether the decided bits satisfy every check,
 *  - \c ldpc_syndrome_weight (long): how many they violate, if any.
 *
 * With \p acm, tags on the first channel value of a frame name its code, and that of the
 * frames after it; until the first tag it is the code of \p frame_size and \p rate.
 *  - key \c XFECFRAME, value \c cons(long modcod, bool short), as gr-dvbs2rx sets it,
 *    the MODCOD of EN 302 307-1 table 12. A frame of an unknown MODCOD is skipped by its
 *    length.
 *  - key \c ldpc_code, value a dictionary of \c frame_size and \c rate, or a string:
 *    "normal 1/2", or a name of \p named_codes. What comes after a tag that names no code
 *    is dropped up to the next tag.
 * A tag inside a frame ends it: what there was of the frame is dropped.
 *
 * With the parameter \c llr_pdu, the message port of that name sends the decisions on all
 * N bits of each frame. gr-dvbs2rx's demapper takes them to refine its estimate of the
 * SNR. There is one PDU per frame. Its metadata are \c simd_size (long), always 1, and
 * \c frame_cnt (uint64), the number of the frame, from 0. Its data are N int8, +127 for a
 * bit decided as \p positive_bit and −127 for the other: decisions, not posteriors. That
 * demapper takes positive for 0, and remembers 64 frames, so \p batch times \p slots
 * should not exceed 32 with it.
 */
class GPUFEC_API gpu_ldpc_dvbs2 : virtual public gr::block
{
public:
    typedef std::shared_ptr<gpu_ldpc_dvbs2> sptr;

    /*!
     * Makes a decoder.
     *
     * \param standard "dvbs2"
     * \param frame_size "normal" (64800 bits) or "short" (16200)
     * \param rate "1/4", "1/3", "2/5", "1/2", "3/5", "2/3", "3/4", "4/5", "5/6", "8/9",
     *        or "9/10" (normal frames only)
     * \param code_file an alist file, whose code takes the place of the three above; ""
     *        for none
     * \param soft_input "int8" or "float"
     * \param llr_scale int8 steps per nat
     * \param algorithm "offset_min_sum", "normalized_min_sum" or "min_sum"
     * \param precision of the decoder: "int8", "int16" or "float"
     * \param max_iterations 1 to 1000
     * \param early_stop stop once every check is satisfied; else always make
     *        max_iterations
     * \param output "message" (K bits per frame) or "codeword" (N bits)
     * \param packed_output eight bits per byte, first bit most significant, else one
     * \param batch frames decoded at once; 0: chosen from the device
     * \param slots batches in flight, 1 to 16
     * \param max_latency_ms a batch that does not fill within this time goes as it is
     * \param backend "auto", "cuda" or "cpu"
     * \param device index of the CUDA device
     * \param threads of the CPU backend, 1 to 256
     * \param schedule "layered", or "flooding": the decoder of Feltrin's thesis
     * \param offset of offset_min_sum, nats; negative: the one found for the code's rate
     * \param normalization of normalized_min_sum; negative: the one for the code's rate
     * \param acm frames name their codes by tags
     * \param named_codes alist files by the names that tags and set_code() give them
     * \param llr_pdu send the decisions on each frame from the message port llr_pdu
     * \param devices CUDA devices, up to 16, that take batches in turn, instead of
     *        \p device; empty: that one alone
     * \param positive_bit the bit, 0 or 1, that a positive LLR means, in and out
     * \param device_timeout_ms milliseconds that a device has for a batch, once those
     *        before it are finished, before it is given up, up to 1e9; 0: for ever
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
                     double device_timeout_ms = 10000);

    //! "cuda" or "cpu": what decodes now.
    virtual std::string active_backend() const = 0;
    //! Frames per batch, as chosen.
    virtual int batch() const = 0;

    //! Iterations that the last frame took.
    virtual int iterations() const = 0;
    //! Their mean over the frames of the stream so far.
    virtual double mean_iterations() const = 0;

    /*!
     * The code of the frames that begin from now on: "normal 1/2" and the like, or a name
     * of named_codes. Without acm, DVB-S2 codes of the frame size that make() was given.
     * \throws std::invalid_argument
     */
    virtual void set_code(const std::string& name) = 0;
    //! Steps of an int8 in a nat, from the next frame on; int8 input only.
    //! \throws std::invalid_argument
    virtual void set_llr_scale(float llr_scale) = 0;
    //! A batch that does not fill within this time goes as it is.
    //! \throws std::invalid_argument
    virtual void set_max_latency_ms(double max_latency_ms) = 0;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_GPU_LDPC_DVBS2_H */
