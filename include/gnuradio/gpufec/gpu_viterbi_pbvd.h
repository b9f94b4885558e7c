// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The block that decodes convolutional codes. */

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
 * Decodes an endless stream, or frames, of soft values. The stream is divided into
 * parallel blocks of D decoded stages, each with L more stages on either side, which are
 * decoded at the same time (Peng, Liu, Hou, Zhao: "A Gb/s Parallel Block-based Viterbi
 * Decoder for Convolutional Codes on GPU", 2016). The output depends neither on the
 * backend nor on the size of batches.
 *
 * The input is soft values; \b positive \b means \b bit \b 1, as in gr-fec, gr-digital,
 * gr-satellites and SatDump, unless \p positive_bit is 0. If all polynomials have an odd
 * number of ones, such as 171 and 133, a wrong sign inverts the output bits and cannot be
 * detected; with other codes channel_error_rate() is then that of noise. 0 and NaN are
 * erasures. Infinities saturate, and −128 becomes −127.
 *
 * The output is packed bytes, the first bit most significant (packed_output), or one bit
 * per byte. Each frame and the end of a stream are padded to a byte. All input is decoded
 * before the block is done. Missing soft values of the last stage count as erasures; an
 * incomplete last frame is dropped.
 *
 * Input tags move to the output item that holds their information bit, those in a frame's
 * tail to the frame's last. The value of a tag of key \p length_tag_key, a positive
 * integer, is converted from input to output items, with both ends of the packet rounded
 * down; tags with other values are dropped with one warning. In frames without lock, such
 * a tag begins a packet of one or more frames; until the first tag, frames follow one
 * another. A packet whose length is not a multiple of the frame's, a frame that the next
 * tag cuts short, and items outside packets are dropped, with one warning each, and
 * counted by skipped_frame_count(). The next tag restores alignment. The block adds two
 * tags on the first output item of each group of parallel blocks (or frames) with about
 * 2^20 bits. They result from re-encoding the first 2048 decoded bits (or fewer) of the
 * first parallel block (or frame) of the group:
 *  - \c viterbi_ber (double): channel bit error rate,
 *  - \c viterbi_metric (double): sum of the magnitudes of soft values with a wrong sign,
 *    divided by the number of all, in int8 steps.
 *
 * With \p lock "auto" the block finds where pairs of soft values and puncturing periods
 * begin, and resolves the ambiguities of \p lock_constellation, for the code and all of
 * \p lock_presets. Every hypothesis decodes the same window, and its error rate is
 * compared with that of its code on pure noise; the probability of a lock on noise
 * is below 1e-12 per window. Input received during the search is decoded after the lock,
 * up to \p lock_memory; older input is dropped. While locked, decoded bits are
 * re-encoded: after a lost or repeated soft value, or a change of rotation or code rate,
 * the block searches again and reports where the lock was lost. Each lock begins on a
 * new output item, so that packed output has up to 7 zeros before it. Item counts
 * exclude dropped input; the relative rate is that of the lowest code rate. Terminated
 * frames without gaps are found by the K−1 zeros at their ends within 20 frames or a
 * window, and so is their sign.
 * The first output item of each lock has the tag
 *  - \c viterbi_lock (dictionary): \c locked (true), \c preset ("" for the code of the
 *    first four parameters), \c code, \c pair_phase and \c puncturing_phase (index of
 *    the first soft value of a pair or period, modulo its length),
 *    \c rotation (degrees counterclockwise, 0 or 90), \c swapped (I and Q),
 *    \c half_symbol (I and Q of a pair are in consecutive input symbols), \c inverted
 *    (all signs), \c error_rate, \c chance_error_rate (of noise),
 *    \c first_value (first soft value of the lock), \c known_value (last soft value
 *    needed to find it), \c dropped and \c locks (dropped soft values and locks since the
 *    beginning);
 *
 * after a lost lock, a tag with the value false precedes it on the same item. The message
 * port \c status sends the same with \c event "lock" or "unlock" as soon as it is known,
 * and every \p status_period_s a message with \c event "status". Some rotations map
 * code sequences to code sequences and cannot be detected: 90 degrees with I and Q
 * exchanged for some codes (such as DVB's 5/6), and 180 degrees if all polynomials have
 * an odd number of ones.
 */
class GPUFEC_API gpu_viterbi_pbvd : virtual public gr::block
{
public:
    typedef std::shared_ptr<gpu_viterbi_pbvd> sptr;

    /*!
     * Makes a decoder.
     *
     * \param constraint_length K, 3 to 9; default 7
     * \param polynomials 2 to 6 generator polynomials, octal as in the standards: the
     *        newest bit is the most significant; a negative value inverts its output;
     *        default 171 and 133
     * \param puncturing one string of 0 and 1 per output, comma separated, in the order
     *        of the polynomials: DVB rate 3/4 is "101,110"; "" for none
     * \param termination "streaming" (default), or frames: "terminated", "truncated" or
     *        "tailbiting"
     * \param frame_bits information bits per frame; 0 if streaming
     * \param soft_input "int8" (a byte), "float", "packed4" (two 4-bit two's complement
     *        values per byte, the first in the high nibble), or "uint8" (a byte of offset
     *        binary with 128 in the middle, as in gr-fec and libfec)
     * \param soft_scale int8 steps for one unit of float amplitude
     * \param packed_output whether the output has eight bits per byte, the first most
     *        significant, or one
     * \param decode_length D, a multiple of 32 stages; 0: chosen for the code
     * \param overlap L, stages, at least K−1; 0: chosen for the code
     * \param batch parallel blocks decoded at once; 0: chosen for the device
     * \param slots batches in flight on each device, 1 to 16; with lock one more up to
     *        that limit, because re-encoding uses the batch's slot
     * \param max_latency_ms longest wait of a batch that is not full, ms
     * \param backend "auto", "cuda" or "cpu"
     * \param device index of the CUDA device
     * \param threads of the CPU backend, 1 to 256
     * \param cuda_kernel "auto"; "pbvd": the decoder of the paper; "registers" (for many
     *        blocks) or "fused" (for few), which support some codes only
     * \param length_tag_key key of tags with a length in input items; "": none
     * \param devices CUDA devices, up to 16, over which batches rotate, in place of
     *        \p device; empty: that one
     * \param preset name of a code of conv_presets(), such as "ccsds", in place of the
     *        first four parameters, which must not be given then; "": none
     * \param positive_bit the bit, 0 or 1, that a positive soft value means
     * \param lock "off"; "auto": phase search in streams and in terminated frames without
     *        gaps
     * \param lock_constellation "bpsk": beginning of pairs and periods, and the sign
     *        unless the code is transparent; "qpsk": also rotation by 90 degrees and
     *        exchanged I and Q; "oqpsk": also I and Q of a pair in consecutive symbols
     *        of the input, because of the offset of half a symbol
     * \param lock_presets names of further codes to search for
     * \param lock_memory soft values stored during the search, 10^4 to 10^9
     * \param status_period_s seconds between messages \c status; 0: none
     * \param device_timeout_ms timeout in ms for one batch, counted from the end of the
     *        previous one, up to 1e9; on expiry the device is abandoned. 0: none
     * \param lock_first_item first soft value of a symbol, "i" or "q"
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

    //! Returns the current backend, "cuda" or "cpu".
    virtual std::string active_backend() const = 0;
    //! Returns the number of parallel blocks per batch.
    virtual int batch() const = 0;
    //! Returns D, the number of decoded stages of a parallel block.
    virtual int decode_length() const = 0;
    //! Returns L, the number of further stages on either side of a parallel block.
    virtual int overlap() const = 0;

    //! Returns the channel's bit error rate, estimated by re-encoding the first 2048
    //! decoded bits of the last batch (in frames, those of its first frame); NaN before
    //! the first batch.
    virtual double channel_error_rate() const = 0;
    //! Returns the sum of the magnitudes of soft values with a wrong sign, divided by the
    //! number of all, in int8 steps, from the bits of channel_error_rate().
    virtual double metric() const = 0;

    //! Returns whether a phase is found; always false without lock "auto".
    virtual bool locked() const = 0;
    //! Returns the fields of the tag viterbi_lock with the current error rate; an empty
    //! dictionary without lock.
    virtual pmt::pmt_t lock_state() const = 0;
    //! Returns the number of soft values for which no code was found.
    virtual std::uint64_t dropped() const = 0;
    //! Returns the number of frames that a length tag cut short, and of packets of a
    //! wrong length.
    virtual std::uint64_t skipped_frame_count() const = 0;

    //! Sets the int8 steps per unit of amplitude of float input, from the next input on.
    //! \throws std::invalid_argument
    virtual void set_soft_scale(float soft_scale) = 0;
    //! Returns the int8 steps per unit of amplitude of float input.
    virtual float soft_scale() const = 0;
    //! Sets the longest wait of a batch that is not full, in ms. It also applies to a
    //! batch already waiting. \throws std::invalid_argument
    virtual void set_max_latency_ms(double max_latency_ms) = 0;
    //! Returns the longest wait of a batch that is not full, in ms.
    virtual double max_latency_ms() const = 0;

    //! Returns the diagnosis of unsuitable input, naming the parameter to change; "" if
    //! the input seems right. It is also logged once as a warning, and sent from the
    //! message port \c status as \c event "verdict".
    virtual std::string verdict() const = 0;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_GPU_VITERBI_PBVD_H */
