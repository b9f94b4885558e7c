// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The block that decodes convolutional codes. */

#ifndef INCLUDED_GPUFEC_GPU_VITERBI_PBVD_H
#define INCLUDED_GPUFEC_GPU_VITERBI_PBVD_H

#include <gnuradio/block.h>
#include <gnuradio/gpufec/api.h>
#include <gnuradio/gpufec/backend.h>
#include <gnuradio/gpufec/port_memory.h>
#include <gnuradio/gpufec/viterbi.h>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gr::gpufec {

//! Parameters of gpu_viterbi_pbvd, in Python's order. Values in quotes are those of
//! Python; enumerators have the same names, except automatic ("auto") and float32
//! ("float").
struct gpu_viterbi_pbvd_options {
    // Code
    //! K, 3 to 9; default 7
    std::optional<int> constraint_length = std::nullopt;
    //! 2 to 6 generator polynomials as integers with the octal digits of the standards:
    //! octal 171 is 0171 in C++ and 0o171 in Python. The newest bit is the most
    //! significant; a negative value inverts its output. Default: 0171 and 0133
    std::optional<std::vector<int>> polynomials = std::nullopt;
    //! one string of 0 and 1 per output, comma separated, in the order of the
    //! polynomials: DVB rate 3/4 is "101,110"; "" for none
    std::optional<std::string> puncturing = std::nullopt;
    //! "streaming" (default), or frames: "terminated", "truncated" or "tailbiting"
    std::optional<gpufec::termination> termination = std::nullopt;
    //! number of information bits per frame; 0 if streaming
    int frame_bits = 0;

    // Input
    //! "int8" (a byte), "float", "packed4" (two 4-bit two's complement values per byte,
    //! the first in the high nibble), or "uint8" (a byte of offset binary, in which 128
    //! is an erasure, as in gr-fec and libfec)
    soft_format soft_input = soft_format::int8;
    //! int8 steps per unit of amplitude of float input
    float soft_scale = 32.0f;

    // Output
    //! true: eight bits per output byte, the first most significant; false: one bit per
    //! byte
    bool packed_output = true;

    // Advanced
    //! D, number of decoded stages of a parallel block, a multiple of 32; 0: chosen for
    //! the code
    int decode_length = 0;
    //! L, number of further stages on either side of a parallel block, at least K−1; 0:
    //! chosen for the code
    int overlap = 0;

    // Running
    //! number of parallel blocks per batch; 0: chosen for the device
    int batch = 0;
    //! number of batches in flight on each device, 1 to 16. With lock "auto", and unless
    //! the backend is "cpu", the block uses one more, up to 16, because checking a lock
    //! occupies a slot
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
    //! kernel on CUDA devices: "pbvd", the decoder of the paper; "registers" (for many
    //! parallel blocks) or "fused" (for few), which support some codes only; or "auto"
    std::string cuda_kernel = "auto";

    // Input
    //! key of the length tags, whose value is the packet's length in items; "": none
    std::string length_tag_key = "packet_len";

    // Running
    //! indices of up to 16 CUDA devices, which receive batches in rotation and replace
    //! \p device; empty: \p device only
    std::vector<int> devices = {};

    // Code
    //! name of a code of conv_presets(), such as "ccsds", instead of the first four
    //! parameters, which must then be omitted; "": none
    std::string preset = "";

    // Input
    //! the bit, 0 or 1, that a positive soft value means
    int positive_bit = 1;
    //! "off"; "auto": phase search in streams and in terminated frames without gaps
    std::string lock = "off";
    //! ambiguities to resolve. "bpsk": the sign, unless the code is transparent; "qpsk":
    //! also rotation by 90 degrees and exchanged I and Q; "oqpsk": also I and Q of a pair
    //! in consecutive symbols of the input, because of the offset of half a symbol
    std::string lock_constellation = "bpsk";
    //! names of further codes to search for
    std::vector<std::string> lock_presets = {};

    // Advanced
    //! number of soft values stored during the search, 10^4 to 10^9, and at least the
    //! number in 24 frames
    int lock_memory = 1000000;

    // Output
    //! interval in s between messages with \c event "status"; 0: no such messages
    double status_period_s = 0;

    // Running
    //! timeout in ms for one batch, counted from the end of the previous one, up to 1e9;
    //! on expiry the device is abandoned. 0: no timeout
    double device_timeout_ms = 10000;

    // Input
    //! first soft value of a symbol, "i" or "q"
    std::string lock_first_item = "i";

    // Running
    //! memory of the stream ports: "host"; "device_in", with input in the memory of
    //! \p device, in a buffer of gr-cuda; or "device", with input and output in such
    //! memory. The last two require a CUDA device and a build with gr-cuda, and decode on
    //! the device only
    port_memory io = port_memory::host;
};

/*!
 * \brief Viterbi decoder for convolutional codes, in parallel blocks, on a GPU or the
 * CPU.
 * \ingroup gpufec
 *
 * \details
 * The input is an endless stream, or frames, of soft values. A stream is divided into
 * parallel blocks of D decoded stages, each with L more stages on either side. The
 * parallel blocks are decoded at the same time (Peng, Liu, Hou, Zhao: "A Gb/s Parallel
 * Block-based Viterbi Decoder for Convolutional Codes on GPU", 2016). A stage consists of
 * the outputs of the code for one information bit. The decoded bits depend neither on the
 * backend nor on the batch size.
 *
 * A \b positive soft value \b means \b bit \b 1, as in gr-fec, gr-digital, gr-satellites
 * and SatDump, unless \p positive_bit is 0. A code is transparent if all its polynomials
 * have an odd number of ones, such as 171 and 133: a wrong sign then inverts the output
 * bits and cannot be detected. With other codes, a wrong sign raises channel_error_rate()
 * to the value for noise. 0 and NaN are erasures. Infinities saturate, and −128 becomes
 * −127.
 *
 * The output is bytes with one bit or, with \p packed_output, with eight bits, the first
 * most significant. Each packed frame and the end of a packed stream are padded to a
 * byte. All input is decoded before the block is done. Missing soft values of the last
 * stage count as erasures. An incomplete last frame is dropped.
 *
 * Input tags move to the output item that contains their information bit. Tags in the
 * tail of a frame move to the last item of the frame. The value of a length tag, which is
 * a tag of key \p length_tag_key, changes from the number of input items of a packet to
 * the number of output items. Both ends of the packet are rounded down to output items.
 * Length tags whose value is not a positive integer, or whose packet has no output item,
 * are dropped with one warning.
 *
 * In frames without lock, a length tag begins a packet of one or more frames. Until the
 * first such tag, frames follow one another. The block drops packets whose length is not
 * a whole number of frames, frames that the next tag cuts short, and items outside
 * packets. The block logs one warning for each kind of fault, and skipped_frame_count()
 * counts the dropped frames and packets. The next tag restores alignment.
 *
 * The block adds two tags on the first output item of each group of parallel blocks (or
 * frames) with about 2^20 bits. For these tags, the first 2048 decoded bits (or fewer) of
 * the first parallel block (or frame) of the group are encoded again:
 *  - \c viterbi_ber (double): channel bit error rate,
 *  - \c viterbi_metric (double): sum of the magnitudes of soft values with a wrong sign,
 *    divided by the number of all soft values, in int8 steps.
 *
 * With \p lock "auto" the block searches for the phase: it finds where pairs of soft
 * values and puncturing periods begin, resolves the ambiguities of \p lock_constellation,
 * and finds which of the code and \p lock_presets is sent. For each hypothesis it decodes
 * the same window of the input, encodes the bits again, and compares the channel error
 * rate with the error rate of the same code on pure noise. The probability of a lock on
 * noise is below 1e-12 per window. For terminated frames without gaps, the K−1 zeros at
 * the ends of frames also show where frames begin, and the sign of the soft values.
 *
 * During the search the block stores up to \p lock_memory soft values and decodes them
 * after the lock; older values are dropped. While locked, it compares the input with
 * decoded bits that are encoded again. After a lost or repeated soft value, or a change
 * of rotation or code rate, it searches again. Each lock begins on a new output item, so
 * that packed output has up to 7 zeros before it. Dropped input has no output. The
 * block's relative rate is computed from the lowest code rate.
 *
 * The first output item of each lock has the tag \c viterbi_lock, a dictionary:
 *  - \c locked: true,
 *  - \c preset: name of the preset, "" for the code of the first four parameters,
 *  - \c code: constraint length, octal polynomials and puncturing pattern,
 *  - \c pair_phase, \c puncturing_phase: index of the first soft value of a pair or of a
 *    puncturing period, modulo its length,
 *  - \c rotation: 0 or 90 degrees counterclockwise,
 *  - \c swapped: whether I and Q are exchanged,
 *  - \c half_symbol: whether I and Q of a pair are in consecutive input symbols,
 *  - \c inverted: whether all signs are inverted,
 *  - \c error_rate, \c chance_error_rate: channel error rate, and the error rate that
 *    pure noise would cause,
 *  - \c first_value: index of the first soft value of the lock,
 *  - \c known_value: index of the last soft value needed to find the lock,
 *  - \c dropped, \c locks: number of dropped soft values and of locks since the
 *    beginning.
 *
 * If the previous lock was lost, the same item has another tag \c viterbi_lock before it,
 * with the value false. Some rotations map code sequences to code sequences and cannot be
 * detected: 90 degrees with I and Q exchanged for some codes (such as DVB's 5/6), and 180
 * degrees for transparent codes.
 *
 * The message port \c status sends a dictionary when the block starts and ends, when a
 * device fails, and for a verdict() on the input. The keys are \c event, \c text,
 * \c backend, \c items_in and \c items_out. The port also sends \c event "lock" or
 * "unlock" with the entries of \c viterbi_lock as soon as the change is known, and
 * \c event "status" every \p status_period_s.
 */
class GPUFEC_API gpu_viterbi_pbvd : virtual public gr::block
{
public:
    typedef std::shared_ptr<gpu_viterbi_pbvd> sptr;

    //! Makes a decoder.
    //! \throws std::invalid_argument naming the parameter, its value and what is allowed
    //! \throws std::runtime_error if the backend is "cuda" and the device cannot be used
    static sptr make(const gpu_viterbi_pbvd_options& options = {});

    //! Returns the current backend, "cuda" or "cpu".
    virtual std::string active_backend() const = 0;
    //! Returns the number of parallel blocks per batch.
    virtual int batch() const = 0;
    //! Returns D, the number of decoded stages of a parallel block.
    virtual int decode_length() const = 0;
    //! Returns L, the number of further stages on either side of a parallel block.
    virtual int overlap() const = 0;

    //! Returns the channel's bit error rate, estimated by encoding the first decoded bits
    //! (up to 2048) of the last batch again; NaN before the first batch.
    virtual double channel_error_rate() const = 0;
    //! Returns the sum of the magnitudes of soft values with a wrong sign, divided by the
    //! number of all soft values, in int8 steps, measured on the same bits as
    //! channel_error_rate().
    virtual double metric() const = 0;

    //! Returns whether a phase is found; always false without lock "auto".
    virtual bool locked() const = 0;
    //! Returns the entries of the tag viterbi_lock with the current error rate; an empty
    //! dictionary while no phase is found.
    virtual pmt::pmt_t lock_state() const = 0;
    //! Returns the number of soft values for which no code was found.
    virtual std::uint64_t dropped() const = 0;
    //! Returns the number of frames decoded so far; 0 if streaming. A convolutional code
    //! alone does not show which frames are wrong.
    virtual std::uint64_t frame_count() const = 0;
    //! Returns the number of frames that a length tag cut short, plus the number of
    //! packets with a wrong length.
    virtual std::uint64_t skipped_frame_count() const = 0;

    //! Sets the int8 steps per unit of amplitude of float input, from the next input on.
    //! \throws std::invalid_argument unless \p soft_scale is finite and above 0
    virtual void set_soft_scale(float soft_scale) = 0;
    //! Returns the int8 steps per unit of amplitude of float input.
    virtual float soft_scale() const = 0;
    //! Sets the longest time in ms that an incomplete batch waits for more input. The new
    //! limit also applies to a batch that is already waiting.
    //! \throws std::invalid_argument unless the time is finite and 0 or more
    virtual void set_max_latency_ms(double max_latency_ms) = 0;
    //! Returns the longest time in ms that an incomplete batch waits for more input.
    virtual double max_latency_ms() const = 0;

    //! Returns the diagnosis of unsuitable input, naming the parameter to change; "" if
    //! the input seems right. The diagnosis is also logged once as a warning, and sent
    //! from the message port \c status as \c event "verdict".
    virtual std::string verdict() const = 0;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_GPU_VITERBI_PBVD_H */
