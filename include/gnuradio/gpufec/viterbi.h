// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Convolutional codes, their presets, encoder and Viterbi decoder, without GNU Radio. */

#ifndef INCLUDED_GPUFEC_VITERBI_H
#define INCLUDED_GPUFEC_VITERBI_H

#include <gnuradio/gpufec/api.h>
#include <gnuradio/gpufec/decoder.h>
#include <gnuradio/gpufec/spans.h>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gr::gpufec {

//! Trellis termination: the states in which information sequences begin and end.
enum class termination {
    streaming,  //!< one endless sequence with unknown states at both ends
    terminated, //!< frames from state 0 to state 0, with K−1 zero bits appended
    truncated,  //!< frames from state 0 to an unknown state
    tailbiting  //!< frames that end in the state they began in
};

//! Converts the name "streaming", "terminated", "truncated" or "tailbiting".
//! \throws std::invalid_argument for any other name
GPUFEC_API termination termination_from_string(const std::string& name);
//! Returns the name that termination_from_string() converts to \p ends.
GPUFEC_API const char* termination_name(termination ends);

/*!
 * \brief A binary convolutional code of rate 1/R, possibly punctured.
 *
 * A shift register holds the newest K bits, the newest as its most significant bit. For
 * each information bit (a \em stage) the code has R outputs: output r is the parity of
 * the bits of the register that polynomial r selects. The \em state is the K−1 bits
 * before the next input bit, the newest as the most significant bit.
 *
 * This is a value type; every object is valid.
 */
class GPUFEC_API conv_code
{
public:
    static constexpr unsigned min_constraint_length = 3;
    static constexpr unsigned max_constraint_length = 9;
    static constexpr unsigned min_outputs = 2;
    static constexpr unsigned max_outputs = 6;
    static constexpr unsigned max_period = 64;

    /*!
     * \param constraint_length K, 3 to 9
     * \param polynomials R generator polynomials (2 to 6), each below 2^K with the newest
     *        bit most significant (171 octal is 0171); a negative value inverts its
     *        output. One of them must use the newest bit, and one the oldest.
     * \param puncturing pattern: one string of '0' and '1' for each output in the order
     *        of the polynomials, comma separated, all of the same length (1 to 64
     *        stages). Outputs with '1' are sent, within a stage in the order of the
     *        polynomials; every stage sends at least one. "": nothing is punctured.
     * \throws std::invalid_argument that names the parameter, its value and what is
     *         allowed
     */
    conv_code(int constraint_length,
              const std::vector<int>& polynomials,
              const std::string& puncturing = "");

    //! Returns the code of a preset, with the default_termination() of the preset.
    //! \throws std::invalid_argument for a name that conv_presets() does not have
    static conv_code preset(const std::string& name);

    //! Returns the default of viterbi_options::termination: the preset's termination, or
    //! streaming for other codes.
    termination default_termination() const { return d_termination; }

    //! Returns the constraint length K.
    unsigned constraint_length() const { return d_constraint_length; }
    //! Returns the number of outputs R.
    unsigned outputs() const { return d_polynomials.size(); }
    unsigned states() const { return 1u << (d_constraint_length - 1); }

    //! Returns polynomial \p r without its sign.
    unsigned polynomial(unsigned r) const { return d_polynomials[r]; }
    //! Returns whether output \p r is inverted.
    bool inverted(unsigned r) const { return d_inverted[r]; }

    //! Returns the R output bits for input \p bit in \p state, before inversion and
    //! puncturing. Output 0 is the most significant.
    unsigned output_word(unsigned state, unsigned bit) const;
    //! Returns the state that follows \p state after input \p bit.
    unsigned next_state(unsigned state, unsigned bit) const
    {
        return (bit << (d_constraint_length - 2)) | (state >> 1);
    }

    //! Returns the number of stages after which the puncturing pattern repeats; 1 without
    //! a pattern.
    unsigned period() const { return d_period; }
    //! Returns the number of soft values sent in one period.
    unsigned values_per_period() const { return d_before.back(); }
    //! Returns whether output \p r of stage \p stage, counted from the beginning of the
    //! frame, is sent.
    bool sent(std::uint64_t stage, unsigned r) const
    {
        return d_sent[(stage % d_period) * outputs() + r];
    }
    //! Returns the number of soft values sent in the first \p stages stages.
    std::uint64_t values(std::uint64_t stages) const
    {
        return stages / d_period * values_per_period() + d_before[stages % d_period];
    }
    //! Returns the smallest number of stages that send at least \p values soft values.
    std::uint64_t stages(std::uint64_t values) const;
    //! Returns the stage that sends soft value \p value, both counted from the beginning
    //! of the frame.
    std::uint64_t stage_of(std::uint64_t value) const { return stages(value + 1) - 1; }
    //! Returns the code with all outputs inverted, for soft values of the opposite sign.
    conv_code opposite() const;

    //! Returns the code rate: information bits per sent bit.
    double rate() const { return double(d_period) / values_per_period(); }

    //! Returns a warning if another code was probably meant; otherwise "". The
    //! polynomials may be those of a known code in reverse bit order, or octal digits
    //! that were read as decimal.
    std::string doubt() const;

    //! Returns constraint length, octal polynomials and puncturing pattern, such as
    //! "K=7 (171,-133) 110,101".
    std::string to_string() const;

private:
    unsigned d_constraint_length;
    std::vector<unsigned> d_polynomials;
    std::vector<bool> d_inverted;
    unsigned d_period = 1;
    std::vector<bool> d_sent; // whether each output is sent: period × R
    // Number of soft values before each stage of a period, and in the whole period.
    std::vector<unsigned> d_before;
    termination d_termination = termination::streaming;
};

//! A named code of a standard.
struct conv_preset {
    std::string name;                //!< name, such as "dvb_3_4"
    std::string title;               //!< name to display
    std::string source;              //!< the standard and its clause
    int constraint_length;           //!< K
    std::vector<int> polynomials;    //!< octal as in the standards, see conv_code
    std::string puncturing;          //!< pattern as in conv_code; "" for none
    gpufec::termination termination; //!< termination of the code's frames, or streaming
};

/*!
 * \brief Returns the convolutional codes of standards and of other programs.
 *
 * The names are:
 *  - CCSDS: ccsds, ccsds_2_3, ccsds_3_4, ccsds_5_6, ccsds_7_8,
 *  - gr-satellites: ccsds_uninverted, nasa_dsn, nasa_dsn_uninverted; the name "CCSDS" of
 *    gr-satellites means ccsds,
 *  - gr-fec's default code, [109, 79] in gr-fec's notation: gr_fec,
 *  - DVB-S and DVB-T: dvb_1_2, dvb_2_3, dvb_3_4, dvb_5_6, dvb_7_8,
 *  - 802.11: 80211_1_2, 80211_2_3, 80211_3_4, 80211_5_6,
 *  - mobile radio: lte, wimax, gsm, umts_1_2, umts_1_3, cdma_1_2, cdma_1_3,
 *  - others: dab, gps, nrsc5.
 */
GPUFEC_API const std::vector<conv_preset>& conv_presets();

//! Returns the preset of this name.
//! \throws std::invalid_argument for a name that conv_presets() does not have
GPUFEC_API const conv_preset& find_conv_preset(const std::string& name);

/*!
 * \brief Converts polynomials from gr-fec's notation to that of this module, or back.
 *
 * In gr-fec's numbers the newest bit is the least significant, and here it is the most
 * significant. The function reverses the bits of each polynomial: [109, 79] becomes octal
 * [133, 171]. A negative value stays negative (inverted output).
 * \param polynomials each from 1 to 2^K − 1 in magnitude
 * \param constraint_length K, 3 to 9
 * \throws std::invalid_argument for values outside these ranges
 */
GPUFEC_API std::vector<int> polynomials_from_gr_fec(const std::vector<int>& polynomials,
                                                    int constraint_length = 7);

//! Format of soft values.
enum class soft_format {
    int8,    //!< one signed byte; −128 counts as −127
    float32, //!< one float; amplitude 1 becomes viterbi_options::soft_scale int8 steps
    packed4, //!< two 4-bit two's complement values per byte, the first in the high
             //!< nibble; −8 counts as −7; a frame begins on a byte
    uint8    //!< one byte v of offset binary, which stands for the int8 v − 128
};

//! Returns the size of an input item in bytes.
constexpr std::size_t item_bytes(soft_format format)
{
    return format == soft_format::float32 ? sizeof(float) : 1;
}

//! Converts the name "int8", "float", "packed4" or "uint8".
//! \throws std::invalid_argument for any other name
GPUFEC_API soft_format soft_format_from_string(const std::string& name);

/*!
 * \brief Convolutional encoder with puncturing, for one bit per byte or packed bits.
 *
 * Packed bits are eight per byte, the first most significant; lookup tables encode eight
 * at a time. The shift register and the puncturing pattern restart with each frame; a
 * streaming encoder keeps both between calls. Copies share their tables.
 */
class GPUFEC_API conv_encoder_kernel
{
public:
    /*!
     * \param code the code
     * \param ends streaming, or the termination of frames
     * \param frame_bits information bits per frame; 0 if streaming
     * \throws std::invalid_argument if frame_bits is not 0 when streaming, or not 1 to
     *         2^24 in frames; tail-biting frames have at least K−1 bits
     */
    conv_encoder_kernel(const conv_code& code, termination ends, unsigned frame_bits);

    //! Streaming: returns the number of output bits for the next \p bits information
    //! bits. Frames: returns the number of coded bits of one frame; \p bits is ignored.
    std::size_t coded_bits(std::size_t bits) const;

    //! Streaming: encodes \p count bits to \p out, both one per byte, and returns the
    //! number of bits written.
    std::size_t encode(const std::uint8_t* bits, std::size_t count, std::uint8_t* out);

    //! Encodes one frame of frame_bits bits to \p out, both one per byte, and returns the
    //! number of bits written.
    std::size_t encode_frame(const std::uint8_t* bits, std::uint8_t* out) const;

    /*!
     * \brief Streaming: encodes \p count packed bits and returns the number of bits
     * written.
     *
     * The output begins at bit \p first, 0 to 7, of the first byte of \p out. The bits
     * before it are kept, so that the output of several calls can be joined. The last
     * byte is padded with zeros.
     */
    std::size_t encode_packed(const std::uint8_t* bytes,
                              std::size_t count,
                              std::uint8_t* out,
                              unsigned first = 0);

    //! Encodes one frame of frame_bits packed bits to packed bits and returns the number
    //! of bytes written. The last byte is padded with zeros.
    std::size_t encode_frame_packed(const std::uint8_t* bytes, std::uint8_t* out) const;

private:
    struct tables;

    std::uint8_t*
    send(std::uint64_t stage, unsigned& state, unsigned bit, std::uint8_t* out) const;
    unsigned state() const;
    std::uint64_t run(std::uint64_t history,
                      std::uint64_t stage,
                      const std::uint8_t* bytes,
                      std::size_t count,
                      std::size_t stages,
                      std::uint8_t* out,
                      unsigned first) const;

    conv_code d_code;
    termination d_ends;
    unsigned d_frame_bits;
    std::shared_ptr<const tables> d_tables;
    std::uint64_t d_history = 0; // last bits of the stream, the newest least significant
    std::uint64_t d_stage = 0;
};

//! Code and options of a viterbi_decoder. The batch size is counted in parallel blocks.
struct viterbi_options : run_options {
    //! Sets the termination to the code's default_termination(). Unless the termination
    //! is streaming, frame_bits must be set too.
    viterbi_options(const conv_code& c) : code(c), termination(c.default_termination()) {}

    conv_code code;
    gpufec::termination termination;
    unsigned frame_bits = 0; //!< information bits per frame; 0 if streaming
    soft_format format = soft_format::int8;
    float soft_scale = 32.0f; //!< int8 steps per unit of amplitude of float input
    //! D, the number of decoded stages of a parallel block, a multiple of 32; 0: chosen
    //! for the code.
    unsigned decode_length = 0;
    //! L, the number of further stages on either side of a parallel block, at least K−1;
    //! 0: chosen for the code.
    unsigned overlap = 0;
    //! Kernel on CUDA devices: "pbvd", the decoder of Peng et al.; "registers" (for many
    //! parallel blocks) or "fused" (for few), which support some codes only; or "auto".
    std::string cuda_kernel = "auto";
    unsigned positive_bit = 1; //!< the bit, 0 or 1, that a positive soft value means
    //! Whether output in place (class pinned_output) has one bit per byte, not
    //! eight.
    bool bits_in_place = false;

    //! Phase search: "auto" or "off". The search finds where pairs of soft values and
    //! puncturing periods begin, and resolves the ambiguities of lock_constellation. For
    //! terminated frames without gaps, the search also finds where the frames begin.
    std::string lock = "off";
    //! Ambiguities to resolve. "bpsk": inversion, unless the code is transparent
    //! (inverted input then only inverts the output). "qpsk": also rotation by 90
    //! degrees, and I and Q exchanged. "oqpsk": also the offset of half a symbol, which
    //! splits I and Q of a pair over two input symbols.
    std::string lock_constellation = "bpsk";
    std::string lock_first_item = "i"; //!< first soft value of a symbol, "i" or "q"
    //! Presets of further codes to search for, besides \c code.
    std::vector<std::string> lock_presets;
    std::string lock_preset; //!< viterbi_lock::preset if \c code is found
    //! Number of soft values stored during the search, 10^4 to 10^9, and at least the
    //! number in 24 frames.
    std::size_t lock_memory = 1000000;
};

//! Lock state of a decoder with lock "auto": the code and the phase that the search has
//! found, if any. Indices of soft values and output count from the beginning.
struct viterbi_lock {
    bool locked = false;
    std::uint64_t first_value = 0; //!< first soft value of the input with this state
    std::uint64_t known_value = 0; //!< last soft value examined to find the state
    std::uint64_t first_bit = 0;   //!< first output bit with this state
    std::uint64_t first_byte = 0;  //!< first byte of packed output with this state

    // If locked:
    //! Name of the code: its entry in viterbi_options::lock_presets or, for
    //! viterbi_options::code, viterbi_options::lock_preset.
    std::string preset;
    std::string code; //!< conv_code::to_string()
    //! Index, modulo R, of the first soft value of a group of R values. With R = 2 a
    //! group is a pair.
    unsigned pair_phase = 0;
    //! Index of the first soft value of a puncturing period, modulo the number of values
    //! in a period.
    unsigned puncturing_phase = 0;
    unsigned rotation = 0;    //!< counterclockwise rotation of symbols, 0 or 90 degrees
    bool swapped = false;     //!< whether I and Q are exchanged, before the rotation
    bool half_symbol = false; //!< whether I and Q of a pair are in consecutive symbols
    bool inverted = false;    //!< whether all signs are inverted
    double error_rate = 0;    //!< channel bit error rate, from re-encoding
    double chance_error_rate = 0; //!< error rate that pure noise would cause

    // Counts since the beginning:
    std::uint64_t dropped = 0; //!< soft values for which no code was found
    std::uint64_t locks = 0;   //!< locks found
};

/*!
 * \brief Viterbi decoder of a stream of soft values, without a flowgraph.
 *
 * Push soft values and pull decoded bits. The decoder implements the parallel block-based
 * decoder of Peng, Liu, Hou and Zhao (arXiv:1608.00066). Input of every format can be
 * borrowed, which means that it is read in place (pinned_memory.h). The soft_scale at the
 * time of borrowing applies to borrowed floats, with one exception: if soft_scale changes
 * several times within a batch, the last value applies from the first change on. Only one
 * thread at a time may call a decoder.
 */
class GPUFEC_API viterbi_decoder : public decoder
{
public:
    using sptr = std::shared_ptr<viterbi_decoder>;

    //! Channel statistics. The first decoded bits (at most 2048) of a batch, parallel
    //! block or frame are encoded again. After the first K−1 stages, the coded bits are
    //! compared with the signs of the input.
    struct batch_statistics {
        std::uint64_t first_bit = 0;  //!< index in the output of the first encoded bit
        std::uint64_t first_byte = 0; //!< index of that bit's byte in packed output
        //! Fraction of the nonzero soft values whose sign differs from the encoded bit.
        double channel_error_rate = 0;
        //! Sum of the magnitudes of values with a wrong sign, divided by the number of
        //! all values, in int8 steps (packed4: 4-bit steps).
        double metric = 0;
    };

    //! \throws std::invalid_argument if an option is not allowed
    //! \throws std::runtime_error if CUDA is required and cannot be used
    static sptr make(const viterbi_options& options, decoder_hooks hooks = {});

    //! Accepts input items, and returns their number. An item is a soft value or, with
    //! packed4, a byte (uint8). Fewer items are accepted only if all slots are in
    //! flight or, with lock, if the search still has items to process.
    //! \throws std::invalid_argument for items of another type than options.format
    virtual std::size_t push(input_items items) = 0;
    //! Frames without lock: discards the items of an incomplete frame.
    virtual void drop_incomplete() = 0;
    //! Frames without lock, between two frames: skips up to \p count items that belong to
    //! no frame and returns their number. Needed only with borrow(); with push(), leave
    //! such items out. Submits the borrowed frames of the open batch, because the frames
    //! of a batch must follow one another.
    virtual std::size_t skip(std::size_t count) = 0;

    //! Writes decoded bits to \p out, and returns the number of bytes written. Packed
    //! output pads each frame and the end of a finished stream to a byte.
    virtual std::size_t pull(bit_span out) = 0;

    //! Returns the statistics of the latest batch of which output was pulled. Returns
    //! nothing if there is no such batch, or if its statistics were returned before.
    virtual std::optional<batch_statistics> status() = 0;

    /*!
     * \brief Retrieves the next statistics at fixed positions of the stream. Returns
     * false if there are no new statistics.
     *
     * The positions are the first parallel block (or frame) of each group of about 2^20
     * bits, counted from the beginning, so that they do not depend on the batch size. The
     * statistics are available at the latest after the pull of their first bit.
     */
    virtual bool take_stream_statistics(batch_statistics& statistics) = 0;

    //! Returns the channel error rate that re-encoding would measure on pure noise,
    //! estimated from samples of the input or from the current lock; NaN while it is not
    //! known.
    virtual double chance_error_rate() const = 0;

    //! Sets soft_scale for items that are pushed or borrowed from now on.
    //! \throws std::invalid_argument unless \p scale is finite and above 0
    virtual void set_soft_scale(float scale) = 0;

    //! With lock "auto": retrieves the next change of the lock state; returns false if
    //! there is none. A change is available before its first output can be pulled.
    virtual bool take_lock(viterbi_lock& change) = 0;
    //! With lock "auto": returns the current lock state.
    virtual viterbi_lock lock() const = 0;
    //! With lock "auto": returns the number of input items for which output_of_item() is
    //! known. Without lock it is known for all items, and the function returns the
    //! largest std::uint64_t.
    virtual std::uint64_t placed_items() const = 0;

    //! Returns the code of the options or, with lock "auto", of the latest lock.
    virtual const conv_code& code() const = 0;
    //! Returns D, the number of decoded stages of a parallel block.
    virtual unsigned decode_length() const = 0;
    //! Returns L, the number of further stages on either side of a parallel block.
    virtual unsigned overlap() const = 0;
    //! Returns the number of input items per frame; 1 if streaming.
    virtual std::size_t items_per_frame() const = 0;
    //! Returns the index of the output item (a byte if \p packed, else a bit) that
    //! contains the information bit of an input item. Both indices count from the
    //! beginning, without items that were dropped or skipped. Items of a frame's tail
    //! belong to its last bit. For packed4, the first of the two values of an item
    //! counts.
    virtual std::uint64_t output_of_item(std::uint64_t item, bool packed) const = 0;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_VITERBI_H */
