// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#ifndef INCLUDED_GPUFEC_VITERBI_H
#define INCLUDED_GPUFEC_VITERBI_H

#include <gnuradio/gpufec/api.h>
#include <gnuradio/gpufec/decoder.h>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gr::gpufec {

/*!
 * \brief A binary convolutional code of rate 1/R, possibly punctured.
 *
 * A shift register holds the newest K bits, the newest as its most significant bit;
 * output r is the parity of the register under polynomial r. The \em state is what
 * the register holds but its newest bit is yet to come: the K−1 bits before, the
 * newest of them most significant.
 *
 * A value type: it is valid once it exists.
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
     * \param polynomials R of them, 2 to 6, each below 2^K with the newest bit most
     *        significant (171 octal is 0171); a negative one is an inverted output.
     *        One of them must use the newest bit, and one the oldest.
     * \param puncturing one string of '0' and '1' for each output in the order of the
     *        polynomials, comma separated, all of the same length (1 to 64 stages): a
     *        '1' is sent. Within a stage outputs are sent in the order of the
     *        polynomials. "" for none. Every stage sends at least one output.
     * \throws std::invalid_argument that names the parameter, its value and what is
     *         allowed
     */
    conv_code(int constraint_length,
              const std::vector<int>& polynomials,
              const std::string& puncturing = "");

    //! The code of a preset of conv_presets(). \throws std::invalid_argument
    static conv_code preset(const std::string& name);

    unsigned constraint_length() const { return d_constraint_length; }
    unsigned outputs() const { return d_polynomials.size(); }
    unsigned states() const { return 1u << (d_constraint_length - 1); }

    //! Magnitude of polynomial \p r.
    unsigned polynomial(unsigned r) const { return d_polynomials[r]; }
    //! Whether output \p r is inverted.
    bool inverted(unsigned r) const { return d_inverted[r]; }

    //! The R output bits, output 0 most significant, before inversion and puncturing.
    unsigned output_word(unsigned state, unsigned bit) const;
    //! The state after \p bit in \p state.
    unsigned next_state(unsigned state, unsigned bit) const
    {
        return (bit << (d_constraint_length - 2)) | (state >> 1);
    }

    //! Stages in a puncturing period; 1 if nothing is punctured.
    unsigned period() const { return d_period; }
    //! Soft values sent in one period.
    unsigned values_per_period() const { return d_before.back(); }
    //! Whether output \p r of stage \p stage (counted from the frame's start) is sent.
    bool sent(std::uint64_t stage, unsigned r) const
    {
        return d_sent[(stage % d_period) * outputs() + r];
    }
    //! Number of soft values sent in the first \p stages stages.
    std::uint64_t values(std::uint64_t stages) const
    {
        return stages / d_period * values_per_period() + d_before[stages % d_period];
    }
    //! The fewest stages that send at least \p values soft values.
    std::uint64_t stages(std::uint64_t values) const;
    //! The stage that sends soft value \p value (counted from the frame's start).
    std::uint64_t stage_of(std::uint64_t value) const { return stages(value + 1) - 1; }
    //! The same with each output inverted: what this code is to whom soft values mean the
    //! opposite.
    conv_code opposite() const;

    //! Information bits per soft value.
    double rate() const { return double(d_period) / values_per_period(); }

    //! What makes it probable that another code was meant, though this one is valid: that
    //! its polynomials are a known code's written backwards, or in decimal. "": nothing.
    std::string doubt() const;

    //! "K=7 (171,-133) 110,101": constraint length, octal polynomials, puncturing.
    std::string to_string() const;

private:
    unsigned d_constraint_length;
    std::vector<unsigned> d_polynomials;
    std::vector<bool> d_inverted;
    unsigned d_period = 1;
    std::vector<bool> d_sent; // period × R
    std::vector<unsigned>
        d_before; // soft values before a stage of the period; period + 1
};

//! How a sequence of information bits begins and ends on the trellis.
enum class termination {
    streaming,  //!< one endless sequence, both ends unknown
    terminated, //!< frames from state 0 to state 0, with K−1 zero bits appended
    truncated,  //!< frames from state 0 to an unknown state
    tailbiting  //!< frames that end in the state they began in
};

//! \throws std::invalid_argument
GPUFEC_API termination termination_from_string(const std::string& name);

//! A code of a standard, under the name that users know.
struct conv_preset {
    std::string name;             //!< for example "dvb_3_4"
    std::string title;            //!< for people
    std::string source;           //!< the standard and its clause
    int constraint_length;        //!< K
    std::vector<int> polynomials; //!< octal as in the standards
    std::string puncturing;       //!< one string for each polynomial; "" for none
    termination ends;             //!< how its frames end, or that it has none
};

/*!
 * \brief The convolutional codes of the standards, and of programs that name theirs.
 *
 * They are:
 *  - CCSDS: ccsds, ccsds_2_3, ccsds_3_4, ccsds_5_6, ccsds_7_8,
 *  - gr-satellites, whose "CCSDS" is ccsds: ccsds_uninverted, nasa_dsn,
 *    nasa_dsn_uninverted,
 *  - gr-fec, whose default is [109, 79] in its own notation: gr_fec,
 *  - DVB-S and DVB-T: dvb_1_2, dvb_2_3, dvb_3_4, dvb_5_6, dvb_7_8,
 *  - 802.11: 80211_1_2, 80211_2_3, 80211_3_4, 80211_5_6,
 *  - mobile radio: lte, wimax, gsm, umts_1_2, umts_1_3, cdma_1_2, cdma_1_3,
 *  - others: dab, gps, nrsc5.
 */
GPUFEC_API const std::vector<conv_preset>& conv_presets();

//! The preset of this name. \throws std::invalid_argument
GPUFEC_API const conv_preset& find_conv_preset(const std::string& name);

/*!
 * \brief Polynomials as this module has them, from those that gr-fec has.
 *
 * gr-fec has the newest bit least significant, so its numbers have their bits in the
 * opposite order: [109, 79] becomes octal [133, 171]. A negative one stays an inverted
 * output. The same turns polynomials of this module into those of gr-fec.
 * \param polynomials each from 1 to 2^K − 1 in magnitude
 * \param constraint_length K, 3 to 9
 * \throws std::invalid_argument
 */
GPUFEC_API std::vector<int> polynomials_from_gr_fec(const std::vector<int>& polynomials,
                                                    int constraint_length = 7);

//! How soft values are coded.
enum class soft_format {
    int8,    //!< one signed byte; −128 counts as −127
    float32, //!< one float; one unit of amplitude becomes soft_scale steps of an int8
    packed4  //!< two 4-bit two's complement values per byte, the first in the high
             //!< nibble; −8 counts as −7; a frame begins on a byte
};

//! \throws std::invalid_argument
GPUFEC_API soft_format soft_format_from_string(const std::string& name);

/*!
 * \brief Encodes as the decoder expects it: punctured, one bit per byte, or packed.
 *
 * Packed are eight bits per byte, the first most significant, and encoded eight at a time
 * by tables. In frames, puncturing and the register start anew with each; a streaming
 * encoder keeps both between calls, of either kind. Copies share their tables.
 */
class GPUFEC_API conv_encoder_kernel
{
public:
    //! \p frame_bits information bits per frame, 0 for streaming.
    conv_encoder_kernel(const conv_code& code, termination ends, unsigned frame_bits);

    //! Output bits of \p bits information bits; in frames, of one frame.
    std::size_t coded_bits(std::size_t bits) const;

    //! Streaming: encodes \p count bits (one per byte) and returns the bits written.
    std::size_t encode(const std::uint8_t* bits, std::size_t count, std::uint8_t* out);

    //! Encodes one frame of frame_bits bits (one per byte) and returns the bits written.
    std::size_t encode_frame(const std::uint8_t* bits, std::uint8_t* out) const;

    /*!
     * \brief Streaming: encodes \p count packed bits and returns the bits written.
     *
     * They go to \p out from bit \p first on, 0 to 7, of its first byte, whose bits
     * before that stay. The last byte is filled up with zeros.
     */
    std::size_t encode_packed(const std::uint8_t* bytes,
                              std::size_t count,
                              std::uint8_t* out,
                              unsigned first = 0);

    //! Encodes one frame of frame_bits packed bits into packed bits, and returns the
    //! bytes written, of which the last is filled up with zeros.
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
    std::uint64_t d_history = 0; // the stream's last bits, the newest lowest
    std::uint64_t d_stage = 0;
};

//! What a viterbi_decoder decodes, and how. A batch is parallel blocks.
struct viterbi_options : run_options {
    viterbi_options(const conv_code& c) : code(c) {}

    conv_code code;
    termination ends = termination::streaming;
    unsigned frame_bits = 0; //!< information bits per frame; 0 in streaming
    soft_format format = soft_format::int8;
    float soft_scale = 32.0f;   //!< int8 steps per unit of amplitude, float input only
    unsigned decode_length = 0; //!< D, a multiple of 32; 0: chosen for the code
    unsigned overlap = 0;       //!< L, stages; 0: chosen for the code
    std::string cuda_kernel = "auto"; //!< "auto", "pbvd", "registers", "fused"
    unsigned positive_bit = 1; //!< the bit, 0 or 1, that a positive soft value means
    bool lend_bits = false;    //!< memory is lent for what pull_bits() gives, not packed

    //! "auto": finds by itself where a pair and a puncturing period begin, and what else
    //! lock_constellation says; "off". Terminated frames that follow one another without
    //! a gap: where they begin as well.
    std::string lock = "off";
    //! "bpsk": inversion too, unless the code is transparent; "qpsk": quarter turns and
    //! exchanged I and Q too; "oqpsk": I or Q late by a symbol too.
    std::string lock_constellation = "bpsk";
    std::string lock_first_item = "i";     //!< of a symbol's two: "i" or "q"
    std::vector<std::string> lock_presets; //!< codes to search besides `code`
    std::string lock_preset;               //!< what `code` is called in viterbi_lock
    std::size_t lock_memory = 1000000;     //!< soft values kept while searching
};

//! What a decoder with lock "auto" has found, or that it has nothing.
struct viterbi_lock {
    bool locked = false;
    std::uint64_t first_value = 0; //!< of the input's soft values, for which this holds
    std::uint64_t known_value = 0; //!< of those that had to be there to know it, the last
    std::uint64_t first_bit = 0;   //!< of the output, decoded from there on
    std::uint64_t first_byte = 0;  //!< the same of packed output

    // If locked:
    std::string preset; //!< its name, or "" for viterbi_options::code
    std::string code;   //!< conv_code::to_string()
    unsigned pair_phase =
        0; //!< first_value from which pairs (or R values) count, mod 2 (R)
    unsigned puncturing_phase = 0; //!< the same of a period, modulo its values
    unsigned rotation = 0;         //!< degrees counterclockwise that symbols are ahead by
    bool swapped = false;          //!< I and Q are exchanged, before they are turned
    bool half_symbol = false;      //!< I or Q is late by a symbol
    bool inverted = false;         //!< all signs are changed
    double error_rate = 0;         //!< of the channel, by encoding again

    // Since the beginning:
    std::uint64_t dropped = 0; //!< soft values that no code was found for
    std::uint64_t locks = 0;   //!< how often something was found
};

/*!
 * \brief Decodes a stream of soft values into a stream of bits, in parallel blocks.
 *
 * Push soft values, pull decoded bits: it does what a flowgraph's block does, without a
 * flowgraph. One thread calls it. It implements the parallel block-based decoder of Peng,
 * Liu, Hou and Zhao (arXiv:1608.00066). Input of every format can be lent: floats are
 * scaled when they are decoded, by the scale there was when they were taken, and a second
 * scale within one batch takes the place of the first.
 */
class GPUFEC_API viterbi_decoder : public decoder
{
public:
    //! Statistics from encoding decoded bits again: the first 2048 of a batch, or of a
    //! parallel block or frame (in frames: those of the first frame), or as many as it
    //! has.
    struct batch_statistics {
        std::uint64_t first_bit = 0;   //!< index of the first decoded bit of these
        std::uint64_t first_byte = 0;  //!< the same of packed output
        double channel_error_rate = 0; //!< signs that disagree, of the nonzero values
        double metric = 0; //!< mean over all values of |value| where the sign disagrees,
                           //!< in int8 steps (packed4: of 4 bits)
    };

    //! \throws std::invalid_argument, or std::runtime_error if CUDA cannot be had
    explicit viterbi_decoder(const viterbi_options& options, decoder_hooks hooks = {});

    //! Takes up to \p count input items, and says how many it took.
    std::size_t push(const void* items, std::size_t count);

    //! Writes up to \p bytes bytes of decoded bits, MSB first, and says how many. Each
    //! frame is padded to a byte, and so is the end of a finished stream.
    std::size_t pull_packed(std::uint8_t* out, std::size_t bytes);

    //! Writes up to \p bits decoded bits, one per byte, and says how many.
    std::size_t pull_bits(std::uint8_t* out, std::size_t bits);

    //! Statistics of the batch that the last pull began, once; false if there is none.
    bool take_statistics(batch_statistics& statistics);

    /*!
     * \brief Statistics at a fixed place of the stream, once; false if there are none.
     *
     * They are those of the first parallel block (or frame) of every so many as hold
     * about 2^20 bits, counted from the beginning, so that they do not depend on batches.
     * They are there once the pull that gives their first bit has returned, or one that
     * was earlier in the same batch.
     */
    bool take_stream_statistics(batch_statistics& statistics);

    void set_soft_scale(float scale);

    //! With lock "auto": the next change of what was found, once each, in their order;
    //! false if there is none. It is there before its first output can be pulled.
    bool take_lock(viterbi_lock& change);
    //! With lock "auto": what holds now.
    viterbi_lock lock() const;
    //! Input items whose place in the output is known: without a lock all.
    std::uint64_t placed_items() const;

    //! With lock "auto" that of the last lock, or the first.
    const conv_code& code() const;
    unsigned decode_length() const;
    unsigned overlap() const;
    //! Frames: input items per frame. Streaming: 1.
    std::size_t items_per_frame() const;
    //! The output item (a byte, or a bit) with the information bit of an input item, both
    //! counted from the beginning. Packed items hold the first of their bits.
    std::uint64_t output_of_item(std::uint64_t item, bool packed) const;

private:
    class impl;
    class streaming;
    class locking;
    static std::unique_ptr<engine> make(const viterbi_options& options,
                                        decoder_hooks hooks);
    static std::unique_ptr<engine> make_locking(const viterbi_options& options,
                                                decoder_hooks hooks);
    impl& self() const;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_VITERBI_H */
