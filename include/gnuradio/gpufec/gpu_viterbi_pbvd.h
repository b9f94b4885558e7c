// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#ifndef INCLUDED_GPUFEC_GPU_VITERBI_PBVD_H
#define INCLUDED_GPUFEC_GPU_VITERBI_PBVD_H

#include <gnuradio/block.h>
#include <gnuradio/gpufec/api.h>
#include <optional>
#include <string>
#include <vector>

namespace gr::gpufec {

/*!
 * \brief Viterbi decoder for convolutional codes, in parallel blocks, on GPU or CPU.
 * \ingroup gpufec
 *
 * \details
 * Decodes an endless stream, or frames, of soft values. The stream is cut into parallel
 * blocks of D decoded stages, each with L more stages on either side, that are decoded at
 * the same time (Peng, Liu, Hou, Zhao: "A Gb/s Parallel Block-based Viterbi Decoder for
 * Convolutional Codes on GPU", 2016). The output does not depend on the backend, nor on
 * how the blocks were batched.
 *
 * The input is soft values, of which \b positive \b means \b bit \b 1, as in gr-fec,
 * gr-digital, gr-satellites and SatDump, unless \p positive_bit is 0. Where all
 * polynomials have an odd number of ones, as 171 and 133 have, a wrong sign inverts the
 * bits of the output, and nothing shows it; with other codes channel_error_rate() is that
 * of noise. 0 is an erasure, and so is NaN. Infinities saturate, and −128 becomes −127.
 *
 * The output is bytes of eight bits, the first most significant (packed_output), or of
 * one bit. Each frame is padded to a byte, and so is the end of a stream. Everything that
 * arrived is decoded before the block is done; a last stage that lacks values is decoded
 * with erasures in their place. A last frame that is not complete is dropped.
 *
 * Tags on the input go to the output item that holds their information bit, those in a
 * frame's tail to the frame's last. A tag of key \p length_tag_key has its value, a
 * positive integer, changed from input to output items, both ends of the packet rounded
 * down. Any other value is dropped with one warning. The block adds two tags at fixed
 * places of the stream: on the first output item of every so many parallel blocks (or
 * frames) as hold about 2^19 bits. They come from encoding the first 2048 decoded bits of
 * that parallel block (or frame) again, or as many as it has:
 *  - \c viterbi_ber (double): channel bit error rate,
 *  - \c viterbi_metric (double): mean contradicted soft value, in steps of an int8.
 */
class GPUFEC_API gpu_viterbi_pbvd : virtual public gr::block
{
public:
    typedef std::shared_ptr<gpu_viterbi_pbvd> sptr;

    /*!
     * Makes a decoder.
     *
     * \param constraint_length K, 3 to 9; if none is given 7
     * \param polynomials 2 to 6 generator polynomials, octal as in the standards: the
     *        newest bit is the most significant; a negative one is an inverted output; if
     *        none are given those of most standards, 171 and 133
     * \param puncturing one string of 0 and 1 per output, comma separated, in the order
     *        of the polynomials: DVB rate 3/4 is "101,110"; "" for none
     * \param termination "streaming", which it is if not given, or "terminated",
     *        "truncated", "tailbiting" frames
     * \param frame_bits information bits per frame; 0 in streaming
     * \param soft_input "int8" (a byte), "float", or "packed4" (two 4-bit two's
     *        complement values per byte, the first in the high nibble)
     * \param soft_scale int8 steps for one unit of float amplitude
     * \param packed_output eight bits per byte, first bit most significant, else one
     * \param decode_length D, a multiple of 32 stages; 0: chosen for the code
     * \param overlap L, stages, at least K−1; 0: chosen for the code
     * \param batch parallel blocks decoded at once; 0: chosen from the device
     * \param slots batches in flight on each device, 1 to 16
     * \param max_latency_ms a batch that does not fill within this time goes as it is
     * \param backend "auto", "cuda" or "cpu"
     * \param device index of the CUDA device
     * \param threads of the CPU backend, 1 to 256
     * \param cuda_kernel "auto"; "pbvd": the decoder of the paper; "registers" (many
     *        blocks at once) or "fused" (few) for the codes they are made for
     * \param length_tag_key tags of this key hold a length in input items; "": none do
     * \param devices CUDA devices, up to 16, that take batches in turn, instead of
     *        \p device; empty: that one alone
     * \param preset a code of conv_presets() by its name, such as "ccsds", in place of
     *        the first four parameters, of which none must be given then; "": none
     * \param positive_bit the bit, 0 or 1, that a positive soft value means
     * \throws std::invalid_argument naming the parameter, its value and what is allowed
     * \throws std::runtime_error if \p backend is "cuda" and the device cannot be used
     */
    static sptr make(std::optional<int> constraint_length = std::nullopt,
                     const std::optional<std::vector<int>>& polynomials = std::nullopt,
                     const std::optional<std::string>& puncturing = std::nullopt,
                     const std::optional<std::string>& termination = std::nullopt,
                     int frame_bits = 0,
                     const std::string& soft_input = "int8",
                     float soft_scale = 32.0f,
                     bool packed_output = true,
                     int decode_length = 0,
                     int overlap = 0,
                     int batch = 0,
                     int slots = 3,
                     double max_latency_ms = 50,
                     const std::string& backend = "auto",
                     int device = 0,
                     int threads = 1,
                     const std::string& cuda_kernel = "auto",
                     const std::string& length_tag_key = "packet_len",
                     const std::vector<int>& devices = {},
                     const std::string& preset = "",
                     int positive_bit = 1);

    //! "cuda" or "cpu": what decodes now.
    virtual std::string active_backend() const = 0;
    //! Parallel blocks per batch, as chosen.
    virtual int batch() const = 0;
    //! D, as chosen.
    virtual int decode_length() const = 0;
    //! L, as chosen.
    virtual int overlap() const = 0;

    //! Part of the channel's bits that were wrong, estimated from the first 2048 decoded
    //! bits of the last batch (in frames, those of its first frame).
    virtual double channel_error_rate() const = 0;
    //! What the wrong ones weigh per soft value, in steps of an int8, from the same.
    virtual double metric() const = 0;

    //! Steps of an int8 for one unit of float amplitude, from the next input on; float
    //! input only. \throws std::invalid_argument
    virtual void set_soft_scale(float soft_scale) = 0;
    //! Steps of an int8 for one unit of float amplitude.
    virtual float soft_scale() const = 0;
    //! A batch that does not fill within this time goes as it is; also one that waits
    //! already. \throws std::invalid_argument
    virtual void set_max_latency_ms(double max_latency_ms) = 0;
    //! Milliseconds after which a batch goes as it is.
    virtual double max_latency_ms() const = 0;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_GPU_VITERBI_PBVD_H */
