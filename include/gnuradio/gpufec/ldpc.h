// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* LDPC codes, encoder and decoder, without GNU Radio. */

#ifndef INCLUDED_GPUFEC_LDPC_H
#define INCLUDED_GPUFEC_LDPC_H

#include <gnuradio/gpufec/api.h>
#include <gnuradio/gpufec/decoder.h>
#include <gnuradio/gpufec/spans.h>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gr::gpufec {

/*!
 * \brief A binary LDPC code: a sparse parity-check matrix and the message positions.
 *
 * Bits (variable nodes, columns) and checks (check nodes, rows) are numbered from 0. This
 * is a value type; every object is valid, and copies share their tables.
 */
class GPUFEC_API ldpc_code
{
public:
    // Limits of codes from files: numbers of bits, of ones in the matrix, and of bits of
    // a check.
    static constexpr unsigned max_bits = 1u << 20;
    static constexpr unsigned max_edges = 1u << 24;
    static constexpr unsigned max_check_degree = 4096;
    //! Largest matrix (rows × columns) on which Gauss-Jordan elimination is tried to find
    //! the message positions of a code without known structure.
    static constexpr std::uint64_t max_elimination = std::uint64_t(1) << 27;

    //! A range of bit numbers.
    struct bits_view {
        const std::uint32_t* first;
        const std::uint32_t* last;
        const std::uint32_t* begin() const { return first; }
        const std::uint32_t* end() const { return last; }
        std::size_t size() const { return last - first; }
    };

    /*!
     * \brief Returns a code of DVB-S2 (ETSI EN 302 307-1, 5.3.2 and annexes B, C).
     * \param frame_size "normal" (64800 bits) or "short" (16200)
     * \param rate "1/4", "1/3", "2/5", "1/2", "3/5", "2/3", "3/4", "4/5", "5/6", "8/9",
     *        or "9/10" (normal frames only)
     * \throws std::invalid_argument for any other frame size or rate
     */
    static ldpc_code dvbs2(const std::string& frame_size, const std::string& rate);

    //! Returns the rates of a frame size of DVB-S2, in ascending order.
    //! \throws std::invalid_argument if the frame size is unknown
    static std::vector<std::string> dvbs2_rates(const std::string& frame_size);

    /*!
     * \brief Returns a code of a standard. rates() lists all rates.
     *
     * | standard    | frame_size                         | rate                        |
     * |-------------|------------------------------------|-----------------------------|
     * | dvbs2       | normal, short                      | 1/4 … 9/10: see dvbs2()     |
     * | dvbs2x      | normal, medium, short              | 13/45, 90/180 …             |
     * | dvbs2x      | vl-snr normal, vl-snr medium       | 2/9; 1/5, 11/45, 1/3        |
     * | dvbs2x      | vl-snr short                       | 1/5, 4/15, 1/3              |
     * | dvbs2x      | vl-snr short sf2                   | 1/5, 11/45                  |
     * | dvbt2       | normal, short                      | 1/2 … 5/6; short from 1/4   |
     * | ccsds_c2    | 8160: sent bits                    | 7/8                         |
     * | ccsds_ar4ja | 1024, 4096, 16384: K               | 1/2, 2/3, 4/5               |
     * | ccsds_tc    | 128, 512: N                        | 1/2                         |
     * | wifi        | 648, 1296, 1944: N                 | 1/2, 2/3, 3/4, 5/6          |
     * | nr          | bg1 z384: base graph, lifting size | 22/24 … 22/66               |
     * | nr          | bg2 z384: base graph, lifting size | 10/12 … 10/50               |
     *
     * dvbs2x normal and short include the rates of dvbs2. A rate of nr is 1/3 (bg1), 1/5
     * (bg2), or the number of message blocks over the number of sent blocks; a block has
     * as many bits as the lifting size. Sources: EN 302 307-1 (dvbs2), EN 302 307-2
     * (dvbs2x), EN 302 755 (dvbt2), CCSDS 131.0-B (ccsds_c2, ccsds_ar4ja), CCSDS 231.0-B
     * (ccsds_tc, the codes of telecommands), IEEE 802.11, 19.3.11.7 (wifi), 3GPP TS
     * 38.212, 5.3.2 (nr).
     *
     * Bits that a standard never sends are punctured, and constant bits are shortened.
     * The zeros that ccsds_c2 appends to a codeword are sent but have no position in the
     * codeword (sent_positions()). Rows of NR's base graphs are omitted if their parity
     * bits are not sent.
     * \param standard name of the standard
     * \param frame_size size in bits where it is a number; N: codeword, K: message
     * \param rate code rate
     * \throws std::invalid_argument that names the parameter and what is allowed
     */
    static ldpc_code standard(const std::string& standard,
                              const std::string& frame_size,
                              const std::string& rate);
    //! Returns the names of the standards.
    static std::vector<std::string> standards();
    //! Returns a standard's frame sizes; for nr, all lifting sizes of both base graphs.
    //! \throws std::invalid_argument if \p standard is unknown
    static std::vector<std::string> frame_sizes(const std::string& standard);
    //! Returns the rates of a frame size.
    //! \throws std::invalid_argument if a parameter is unknown
    static std::vector<std::string> rates(const std::string& standard,
                                          const std::string& frame_size);

    /*!
     * \brief Reads a code from MacKay's alist format.
     *
     * The lists of bits and of checks must agree, and may be padded with zeros. Empty
     * lines, lines that begin with # and text after the last list are ignored.
     *
     * The number of message bits is K = N − rank. If the last columns of the matrix, one
     * for each check, are lower triangular, the message is the first K bits. Otherwise
     * Gauss-Jordan elimination chooses pivots from the last column backwards, and the
     * message is the K columns without a pivot, in ascending order. For matrices larger
     * than max_elimination, K = N − checks. The message is then the first K bits if the
     * other bits follow from them; otherwise the message positions are not known.
     *
     * \param text the contents of the file
     * \param name name of the code in messages and tags
     * \throws std::invalid_argument that names the line
     */
    static ldpc_code from_alist(std::istream& text, const std::string& name);
    //! Reads a code from an alist file. The name of the code is the path.
    //! \throws std::invalid_argument if the file cannot be read or has another format
    static ldpc_code from_alist_file(const std::string& path);

    /*!
     * \brief Reads a quasi-cyclic code from its base matrix.
     *
     * The text begins with "lifting Z", where Z is the lifting size, 1 or more. Each line
     * after it is a row of the base matrix. The row has an entry for each block of Z
     * columns: the shifts of the block's circulants, 0 to Z − 1, separated by commas, or
     * -1 if the block is zero. Check j of a row contains bit (j + shift) mod Z of the
     * block. Text after # is a comment. Further lines may be
     *  - "chain": the rows list message bits only. The codeword also has one parity bit
     *    for each check, in a staircase as in DVB-S2. With R rows, check j of row i has
     *    number c = j·R + i. Check c also contains parity bits c − 1 and c.
     *  - "punctured A B-C …" and "shortened …": positions and ranges of positions of the
     *    codeword, as in with_positions().
     *
     * Message positions are found as for an alist.
     * \param text the contents of the file
     * \param name name of the code in messages and tags
     * \throws std::invalid_argument that names the line and the value
     */
    static ldpc_code from_base_matrix(std::istream& text, const std::string& name);

    //! Reads a code from an alist file or a base matrix file. The first word of the file
    //! determines the format.
    //! \throws std::invalid_argument if the file cannot be read or has neither format
    static ldpc_code from_file(const std::string& path);

    /*!
     * \brief Returns the code with its circulants, so that write_base_matrix() can write
     * it. The order of checks and bits stays the same.
     * \param lifting the lifting size; 0: the largest that fits the matrix
     * \throws std::invalid_argument if the matrix does not consist of circulants of that
     *         size
     */
    ldpc_code with_circulants(unsigned lifting = 0) const;

    //! Writes the base matrix in the format of from_base_matrix().
    //! \throws std::invalid_argument if the code has no circulants
    void write_base_matrix(std::ostream& text) const;

    /*!
     * \brief Returns the code with punctured and shortened positions.
     *
     * The positions, 0 to n() − 1 in any order, are added to those that the code already
     * punctures and shortens.
     * \param punctured positions that are not sent and unknown to the decoder
     * \param shortened positions that are not sent and known to be 0; message bits among
     *        them are removed from the message
     * \throws std::invalid_argument for a duplicate or too large position, or if no bit
     *         is left to be sent
     */
    ldpc_code with_positions(const std::vector<std::uint32_t>& punctured,
                             const std::vector<std::uint32_t>& shortened) const;

    /*!
     * \brief Returns the code with the message positions of another encoder.
     *
     * \param rule
     *  - "systematic": the message positions that from_alist() finds
     *  - "first", "last": the first or the last K bits that are not shortened, for
     *    codewords of the form [message parity] or [parity message]
     *  - "gr_fec_ldpc_encoder": as in gr-fec's ldpc_encoder and ldpc_decoder, which use
     *    Gaussian elimination row by row. The first column at or to the right of the
     *    diagonal with a 1 is swapped with the diagonal column; rows that become all-zero
     *    are skipped. The message is the columns to the right of the diagonal, in their
     *    final order.
     * \throws std::invalid_argument if there is no such rule, if the other bits of the
     *         codeword do not follow from the message, or if the matrix is too large for
     *         elimination ("gr_fec_ldpc_encoder")
     */
    ldpc_code with_message_positions(const std::string& rule) const;
    //! Returns the code with message bit i at position positions[i], from 0.
    //! \throws std::invalid_argument if there are not k() positions, or if the other bits
    //! of the codeword do not follow from the message
    ldpc_code with_message_positions(const std::vector<std::uint32_t>& positions) const;

    //! Returns a name such as "dvbs2 normal 1/2", or the name given to from_alist() or
    //! from_base_matrix().
    const std::string& name() const;
    unsigned n() const;        //!< number of bits of a codeword, sent or not
    unsigned k() const;        //!< number of message bits
    unsigned checks() const;   //!< number of checks (rows), including redundant rows
    std::size_t edges() const; //!< number of ones in the matrix
    //! Returns the numbers of the bits that check \p c contains, each once.
    bits_view check(unsigned c) const;
    unsigned largest_check_degree() const; //!< largest number of bits of a check
    unsigned largest_bit_degree() const;   //!< largest number of checks of a bit

    //! Returns whether message positions are known, so that messages can be encoded.
    bool can_encode() const;
    //! Returns whether the message is the first k() bits of a codeword.
    bool systematic_prefix() const;
    //! Returns the position of each message bit in the codeword; empty if not known.
    const std::vector<std::uint32_t>& message_positions() const;
    //! Returns the index of the message bit at \p position of the codeword, or of the
    //! nearest message bit before it; 0 if there is none.
    unsigned message_bit(std::uint32_t position) const;
    //! Returns a warning with advice if an alist is probably not a parity-check matrix;
    //! "" if it seems right.
    const std::string& warning() const;

    //! Returns the number of bits sent per frame. A decoder has as many channel values
    //! per frame, and an encoder returns as many bits.
    unsigned sent() const;
    //! Entry of sent_positions() for a filler bit. A filler bit is sent and always 0, but
    //! is not part of the codeword.
    static constexpr std::uint32_t fill = ~0u;
    //! Returns the position in the codeword of each sent bit, or \c fill; empty if all
    //! n() bits are sent in order.
    const std::vector<std::uint32_t>& sent_positions() const;
    //! Returns the punctured positions of the codeword, ascending.
    const std::vector<std::uint32_t>& punctured() const;
    //! Returns the shortened positions of the codeword, ascending.
    const std::vector<std::uint32_t>& shortened() const;

    //! A circulant of the base matrix. Check j of block row \c row contains bit
    //! (j + shift) mod lifting() of block column \c column.
    struct circulant {
        std::uint32_t row, column, shift;
    };
    //! Returns the lifting size of the base matrix; 0 if it is not known.
    unsigned lifting() const;
    //! Returns the circulants block row by block row; the staircase of a parity chain has
    //! none. Empty if the base matrix is not known.
    const std::vector<circulant>& circulants() const;

    /*!
     * \brief Returns the number of block rows of a code with a parity chain, such as the
     * codes of DVB-S2; 0 for other codes.
     *
     * In a parity chain, check c contains parity bits c − 1 and c. Check j·q + i is check
     * j of block row i, with j from 0 to lifting() − 1.
     */
    unsigned q() const;
    //! Returns the addresses of each group of 360 message bits, as in the tables of
    //! EN 302 307-1; empty for codes without a parity chain of lifting size 360. For each
    //! address a of a group, bit m of the group is in check (a + m·q) mod 360·q.
    const std::vector<std::vector<std::uint16_t>>& addresses() const;

private:
    friend class ldpc_encoder_kernel;
    friend struct ldpc_code_access;
    struct tables;
    explicit ldpc_code(std::shared_ptr<const tables> t);
    std::shared_ptr<const tables> d_tables;
};

//! LDPC encoder of messages, packed or one bit per byte.
class GPUFEC_API ldpc_encoder_kernel
{
public:
    //! \throws std::invalid_argument if the message positions of \p code are not known
    explicit ldpc_encoder_kernel(const ldpc_code& code);

    //! Encodes the k() bits of a message to the n() bits of a codeword, one per byte.
    void encode(const std::uint8_t* message, std::uint8_t* codeword) const;
    //! Extracts the sent() bits from the n() bits of a codeword, one per byte.
    void send(const std::uint8_t* codeword, std::uint8_t* sent) const;

    /*!
     * \brief Encodes the k() bits of a message to the sent() bits of its codeword. Both
     * have eight bits per byte, the first most significant.
     *
     * The output is padded to a byte with zeros.
     */
    void encode_packed(const std::uint8_t* message, std::uint8_t* codeword) const;

    const ldpc_code& code() const { return d_code; }

private:
    //! A circulant of the encoder, which adds a group of 360 message bits, rotated so
    //! that bit \c from comes first, to the 360 checks of block row \c row.
    struct circulant {
        std::uint16_t row, from;
    };
    void encode_circulants(const std::uint8_t* message, std::uint8_t* codeword) const;

    ldpc_code d_code;
    std::vector<circulant> d_circulants; // group by group; empty without addresses()
};

//! Rule for the magnitude of a check-to-variable message.
enum class ldpc_algorithm {
    offset_min_sum,     //!< the smallest magnitude on the other edges minus an offset
    normalized_min_sum, //!< the smallest magnitude on the other edges times a factor
    min_sum             //!< the smallest magnitude on the other edges
};

//! Converts the name "offset_min_sum", "normalized_min_sum" or "min_sum".
//! \throws std::invalid_argument for any other name
GPUFEC_API ldpc_algorithm ldpc_algorithm_from_string(const std::string& name);

//! Number formats of a decoder.
enum class ldpc_precision {
    int8,   //!< channel values and messages of 8 bits, posteriors of 16
    int16,  //!< channel values, messages and posteriors of 16 bits
    float32 //!< single precision; magnitudes of messages have 16 significant bits
};

//! Converts the name "int8", "int16" or "float".
//! \throws std::invalid_argument for any other name
GPUFEC_API ldpc_precision ldpc_precision_from_string(const std::string& name);

//! Order in which check-to-variable messages are updated.
enum class ldpc_schedule {
    layered, //!< layer by layer; a layer uses posteriors updated by the layers before it
    flooding //!< all check nodes, then all variable nodes
};

//! Converts the name "layered" or "flooding".
//! \throws std::invalid_argument for any other name
GPUFEC_API ldpc_schedule ldpc_schedule_from_string(const std::string& name);

//! Format of channel values (LLRs).
enum class llr_format {
    int8,    //!< one signed byte, with llr_scale steps per nat
    float32, //!< one float, in nats
    uint8    //!< one byte v of offset binary, which stands for the int8 v − 128
};

//! Converts the name "int8", "float" or "uint8".
//! \throws std::invalid_argument for any other name
GPUFEC_API llr_format llr_format_from_string(const std::string& name);

//! Kind of output LLRs. A frame has one int8 within ±127 for each of the n bits of its
//! codeword, sent or not, with ldpc_options::soft_scale steps per nat.
enum class ldpc_soft_output {
    none,      //!< no LLRs: the output is bits
    posterior, //!< posterior LLRs after the last iteration
    extrinsic  //!< posterior LLRs minus the channel values
};

//! Format of symbol input, which replaces channel values.
enum class ldpc_symbols {
    none,    //!< the input is channel values
    float32, //!< complex floats
    int16,   //!< pairs of int16, the real part first
    int8     //!< pairs of int8, the real part first
};

//! Demapping of symbols to channel values.
enum class ldpc_demapper {
    max_log, //!< uses the nearest points with bit 0 and with bit 1
    log_map  //!< uses all constellation points
};

//! Converts the name "max_log" or "log_map".
//! \throws std::invalid_argument for any other name
GPUFEC_API ldpc_demapper ldpc_demapper_from_string(const std::string& name);

//! A constellation of DVB-S2 or S2X: its name, such as "16apsk", and the rate and frame
//! size of the LDPC code, on which the radii of APSK depend. VL-SNR frames have
//! "pi/2-bpsk" or, with frame size "vl-snr normal", "qpsk"; with frame size "vl-snr short
//! sf2", each coded bit is sent in two symbols (EN 302 307-2, 5.5.2.6).
struct ldpc_constellation {
    std::string name, rate, frame_size = "normal";
};

//! Codes and parameters of an ldpc_decoder. The batch size is counted in codewords.
struct ldpc_options : run_options {
    std::vector<ldpc_code> codes; //!< at least one; select() refers to them by index
    llr_format format = llr_format::int8;
    float llr_scale = 2.0f; //!< steps per nat of int8 and uint8 input, above 0
    ldpc_algorithm algorithm = ldpc_algorithm::offset_min_sum;
    ldpc_precision precision = ldpc_precision::int8;
    ldpc_schedule schedule = ldpc_schedule::layered;
    unsigned max_iterations = 25; //!< 1 to 1000
    bool early_stop = true;       //!< whether to stop once every check is satisfied
    bool codeword = false; //!< output all n bits of a codeword, not its k message bits
    bool keep_codeword = false; //!< store hard decisions for ldpc_decoder::codeword()
    //! Unless it is none, the output is n LLRs per frame.
    ldpc_soft_output soft = ldpc_soft_output::none;
    bool keep_soft = false; //!< store LLRs for ldpc_decoder::llrs()
    float soft_scale = 0;   //!< steps per nat of output LLRs; 0: llr_scale
    //! Offset of offset_min_sum in nats, 0 to 15. Negative: the value tuned for the code
    //! or, with float32, a value that decreases with the difference between the two
    //! smallest magnitudes of a check.
    double offset = -1;
    //! Factor of normalized_min_sum, 0 to 1. Negative: the value tuned for the code.
    double normalization = -1;
    unsigned positive_bit = 0; //!< the bit, 0 or 1, that a positive LLR means
    //! Whether output in place (class pinned_output) has one bit per byte, not
    //! eight.
    bool bits_in_place = false;
    //! Format of symbol input; none: the input is channel values. The symbols are those
    //! of XFECFRAMEs (EN 302 307-1, 5.4), descrambled and without pilots. With symbols,
    //! format is ignored, and llr_scale and positive_bit apply to output LLRs only.
    ldpc_symbols symbols = ldpc_symbols::none;
    ldpc_demapper demapper = ldpc_demapper::log_map;
    //! Constellations of symbol input, at least one; select() refers to them by index.
    //! Either all constellations or none belong to VL-SNR frames.
    std::vector<ldpc_constellation> constellations;

    //! Returns the size of an input item in bytes.
    std::size_t item_bytes() const
    {
        switch (symbols) {
        case ldpc_symbols::float32:
            return 2 * sizeof(float);
        case ldpc_symbols::int16:
            return 4;
        case ldpc_symbols::int8:
            return 2;
        default:
            return format == llr_format::float32 ? sizeof(float) : 1;
        }
    }
};

//! Status of a decoded frame.
struct ldpc_status {
    std::uint32_t iterations;  //!< iterations run, at most max_iterations
    std::uint32_t unsatisfied; //!< number of violated checks; 0: a codeword
};

/*!
 * \brief LDPC decoder of a stream of frames, without a flowgraph. Each frame is a
 * codeword of one of several codes.
 *
 * Push channel values and pull decoded bits. A batch can have frames of different codes;
 * output is in the order of input. An incomplete frame at the end is dropped. Input of
 * every format can be borrowed (read in place, see pinned_memory.h) if no code is
 * punctured or shortened. Only one thread at a time may call a decoder.
 */
class GPUFEC_API ldpc_decoder : public decoder
{
public:
    using sptr = std::shared_ptr<ldpc_decoder>;

    //! Status of a frame of the stream.
    struct frame_status : ldpc_status {
        std::uint64_t frame; //!< number of the frame in the stream, from 0
        unsigned code;       //!< index of the frame's code in ldpc_options::codes
    };

    //! \throws std::invalid_argument if an option is not allowed
    //! \throws std::runtime_error if CUDA is required and cannot be used
    static sptr make(const ldpc_options& options, decoder_hooks hooks = {});

    //! Selects the code and, for symbol input, the constellation of subsequent frames, by
    //! their indices in the options.
    //! \throws std::out_of_range if there is no such index
    virtual void select(unsigned code, unsigned constellation = 0) = 0;
    //! Sets the Es/N0 in dB of subsequent frames of symbols. The value is clamped to −10
    //! to 30 and rounded to 0.25 dB. NaN (the initial value): the Es/N0 is estimated
    //! from each frame.
    virtual void set_esn0_db(double esn0_db) = 0;
    //! Returns the index of the code of the current frame or, between frames, of the next
    //! frame.
    virtual unsigned selected() const = 0;
    //! Returns the length of the frame of selected() in channel values or symbols.
    virtual std::size_t frame_items() const = 0;
    //! Returns the number of items missing from the current frame; 0 between frames.
    virtual std::size_t missing() const = 0;
    //! Discards the items of an incomplete frame.
    virtual void drop_incomplete() = 0;
    //! Skips up to \p count items between frames and returns their number. Needed only
    //! with borrow(); with push(), leave such items out.
    virtual std::size_t skip(std::size_t count) = 0;

    //! Accepts channel values or symbols of frames of the selected code, and returns
    //! their number. Fewer items are accepted only if all slots are in flight.
    //! \throws std::invalid_argument for items of another type than options.format or
    //! options.symbols
    virtual std::size_t push(input_items items) = 0;

    //! Writes decoded bits of one frame to \p out, and returns the number of bytes
    //! written. Packed output pads each frame to a byte.
    //! \throws std::logic_error with options.soft
    virtual std::size_t pull(bit_span out) = 0;
    //! Writes LLRs of one frame to \p out, and returns their number.
    //! \throws std::logic_error without options.soft
    virtual std::size_t pull(span<std::int8_t> out) = 0;

    //! Returns the status of the latest frame of which output was pulled. Returns nothing
    //! if there is no such frame, or if its status was returned before.
    virtual std::optional<frame_status> status() = 0;

    //! With keep_codeword: returns the n hard decisions of the frame being pulled,
    //! eight per byte, the first most significant.
    virtual const std::vector<std::uint8_t>& codeword() const = 0;

    //! With keep_soft: returns the n LLRs of the frame that is being pulled: extrinsic
    //! LLRs if options.soft is extrinsic, otherwise posterior LLRs.
    virtual const std::vector<std::int8_t>& llrs() const = 0;

    //! Sets llr_scale of the frame being pushed and of all later frames.
    //! \throws std::invalid_argument unless \p scale is finite and above 0
    virtual void set_llr_scale(float scale) = 0;
    //! Sets soft_scale of the frame being pushed and of all later frames.
    //! \throws std::invalid_argument unless \p scale is finite and above 0
    virtual void set_soft_scale(float scale) = 0;

    //! Returns the code with this index in ldpc_options::codes.
    //! \throws std::out_of_range if there is no such code
    virtual const ldpc_code& code(unsigned index) const = 0;
    //! Returns the number of decoded bits per frame of a code, k or n; with options.soft,
    //! the number of LLRs, n.
    virtual std::size_t output_bits(unsigned code) const = 0;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_LDPC_H */
