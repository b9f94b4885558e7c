// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#ifndef INCLUDED_GPUFEC_GPU_VITERBI_PBVD_H
#define INCLUDED_GPUFEC_GPU_VITERBI_PBVD_H

#include <gnuradio/block.h>
#include <gnuradio/gpufec/api.h>
#include <cstdint>
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
 * frames) as hold about 2^20 bits. They come from encoding the first 2048 decoded bits of
 * that parallel block (or frame) again, or as many as it has:
 *  - \c viterbi_ber (double): channel bit error rate,
 *  - \c viterbi_metric (double): mean contradicted soft value, in steps of an int8.
 *
 * With \p lock "auto" the block finds by itself where a pair of soft values and a
 * puncturing period begin, and what else \p lock_constellation says, among all of
 * \p lock_presets. Every hypothesis decodes the same window and is held against its own
 * code's chance level; noise gives a lock with a probability below 1e-12 per window. What
 * was received while searching is decoded once something is found, as far as
 * \p lock_memory goes, and what is older and fits nothing is dropped. While locked,
 * decoded bits are encoded again: after a soft value that was lost or repeated, another
 * rotation or another rate, it searches again, and tells where that was. Each lock begins
 * on an output item of its own, so that packed output has up to 7 zeros before it. Item
 * counts are those of what was decoded; the relative rate is that of the lowest rate.
 * Terminated frames that follow one another are found by the K−1 zeros at their ends,
 * within 20 frames or a window, and their sign too.
 * The first output item of each lock has the tag
 *  - \c viterbi_lock (dictionary): \c locked (true), \c preset ("" for the code of the
 *    first four parameters), \c code, \c pair_phase and \c puncturing_phase (the input's
 *    soft value, counted from 0, from which pairs and periods count, modulo their
 *    length), \c rotation (degrees counterclockwise, 0 or 90), \c swapped (I and Q),
 *    \c half_symbol, \c inverted, \c error_rate, \c first_value (the soft value it holds
 *    from), \c known_value (the last one that was needed to know), \c dropped (soft
 * values that fitted nothing, since the beginning), \c locks (since the beginning);
 *
 * where one was lost before, false precedes it on the same item. The message port
 * \c status has the same as a message with \c event "lock" or "unlock" as soon as it is
 * known, and every \p status_period_s one with \c event "status". A quarter turn may be a
 * sequence of the code (as at DVB's 5/6), and half a turn is one where all polynomials
 * have an odd number of ones: these cannot be told apart.
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
     * \param slots batches in flight on each device, 1 to 16; with a lock one more, if
     *        there may be, for batches are judged in their slots
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
     * \param lock "off"; "auto": finds its phase; of streams, and of terminated frames
     *        without gaps between them
     * \param lock_constellation "bpsk": where pairs and periods begin, and the sign
     *        where it shows; "qpsk": also quarter turns, and I and Q exchanged; "oqpsk":
     *        also I or Q late by a symbol
     * \param lock_presets names of codes to search for, besides that one
     * \param lock_memory soft values that are kept while searching, 10^4 to 10^9
     * \param status_period_s seconds from one message \c status to the next; 0: none
     * \param device_timeout_ms milliseconds that a device has for a batch, once those
     *        before it are finished, before it is given up, up to 1e9; 0: for ever
     * \param lock_first_item the soft value of a symbol that comes first, "i" or "q"
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
                     int positive_bit = 1,
                     const std::string& lock = "off",
                     const std::string& lock_constellation = "bpsk",
                     const std::vector<std::string>& lock_presets = {},
                     int lock_memory = 1000000,
                     double status_period_s = 0,
                     double device_timeout_ms = 10000,
                     const std::string& lock_first_item = "i");

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

    //! Whether a phase is found. Without lock "auto" true.
    virtual bool locked() const = 0;
    //! What is found, as in the tag viterbi_lock but for its error rate, which is that of
    //! now; an empty dictionary if nothing is.
    virtual pmt::pmt_t lock_state() const = 0;
    //! Soft values that fitted nothing since the beginning.
    virtual std::uint64_t dropped() const = 0;

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
