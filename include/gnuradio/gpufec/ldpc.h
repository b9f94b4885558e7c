// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#ifndef INCLUDED_GPUFEC_LDPC_H
#define INCLUDED_GPUFEC_LDPC_H

#include <gnuradio/gpufec/api.h>
#include <gnuradio/gpufec/decoder.h>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

namespace gr::gpufec {

/*!
 * \brief A binary LDPC code: a sparse parity-check matrix, and where its message lies.
 *
 * Bits (columns) and checks (rows) count from 0. A value type: it is valid once it
 * exists, and copies share their tables.
 */
class GPUFEC_API ldpc_code
{
public:
    static constexpr unsigned max_bits = 1u << 20;
    static constexpr unsigned max_edges = 1u << 24;
    static constexpr unsigned max_check_degree = 4096;
    //! Bits of the parity-check matrix up to which a code of no known form is eliminated.
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
     * \brief A code of DVB-S2 (ETSI EN 302 307-1, 5.3.2 and annexes B, C).
     * \param frame_size "normal" (64800 bits) or "short" (16200)
     * \param rate "1/4", "1/3", "2/5", "1/2", "3/5", "2/3", "3/4", "4/5", "5/6", "8/9",
     *        or "9/10" (normal frames only)
     * \throws std::invalid_argument
     */
    static ldpc_code dvbs2(const std::string& frame_size, const std::string& rate);

    //! The rates of a frame size, in ascending order. \throws std::invalid_argument
    static std::vector<std::string> dvbs2_rates(const std::string& frame_size);

    /*!
     * \brief A code of a standard.
     *
     * | standard | frame_size | rate |
     * |---|---|---|
     * | dvbs2 (EN 302 307-1) | normal, short | as dvbs2() has them |
     * | dvbs2x (EN 302 307-2) | normal, medium, short; vl-snr normal, vl-snr medium,
     * vl-snr short, vl-snr short sf2 | 13/45, 90/180 … | | dvbt2 (EN 302 755) | normal,
     * short | 1/2 … 5/6; short also 1/4, 1/3, 2/5 | | ccsds_c2 (CCSDS 131.0-B) | 8160,
     * the bits sent | 7/8 | | ccsds_ar4ja (CCSDS 131.0-B) | 1024, 4096, 16384: K | 1/2,
     * 2/3, 4/5 | | wifi (IEEE 802.11, 19.3.11.7) | 648, 1296, 1944: N | 1/2, 2/3, 3/4,
     * 5/6 | | nr (3GPP TS 38.212, 5.3.2) | "bg1 z384": base graph and lifting size |
     * blocks of the message / blocks sent: 22/24 … 22/66 (1/3), bg2: 10/12 … 10/50 (1/5)
     * |
     *
     * What a standard never sends is punctured, what it fixes is shortened, and what it
     * fills in is dropped (sent_positions()). Of NR's graphs the rows are left out whose
     * parity bits are not sent.
     * \throws std::invalid_argument that names the parameter and what is allowed
     */
    static ldpc_code standard(const std::string& standard,
                              const std::string& frame_size,
                              const std::string& rate);
    //! The names that standard() takes.
    static std::vector<std::string> standards();
    //! Of a standard; of nr all lifting sizes of both graphs.
    //! \throws std::invalid_argument
    static std::vector<std::string> frame_sizes(const std::string& standard);
    //! Of a frame size of a standard, ascending. \throws std::invalid_argument
    static std::vector<std::string> rates(const std::string& standard,
                                          const std::string& frame_size);

    /*!
     * \brief Reads a code from MacKay's alist format.
     *
     * Bit and check lists must agree. K = N − rank. Where the last bits make the matrix
     * lower triangular, the message is the first K bits; else Gauss-Jordan elimination
     * takes its pivots from the last column backwards, and the message is the K columns
     * without a pivot, in ascending order. A matrix beyond max_elimination that is not
     * triangular keeps K = N − checks, and has no known message positions.
     *
     * \param text from which it is read
     * \param name for messages and tags
     * \throws std::invalid_argument that names the line
     */
    static ldpc_code from_alist(std::istream& text, const std::string& name);
    //! The same from a file. \throws std::invalid_argument
    static ldpc_code from_alist_file(const std::string& path);

    /*!
     * \brief Reads a quasi-cyclic code from its base matrix.
     *
     * The text begins with "lifting Z", Z of 1 and more. Each line after that is a row of
     * the matrix: for each block of Z columns -1 for none, or the shifts of its
     * circulants, 0 to Z − 1, with commas between them. Check j of a row takes bit
     * (j + shift) mod Z of the block. What follows # is a comment. Further lines may say
     *  - "chain": the matrix is of the message bits; a parity bit per check follows, and
     *    with R rows check j of row i is check c = j·R + i, which takes parity bits c − 1
     *    and c too, as in DVB-S2;
     *  - "punctured A B-C …" and "shortened …": positions and ranges of positions of the
     *    codeword, as with_positions() takes them.
     *
     * Message positions are found as from an alist. A matrix too large to eliminate has
     * the message in its first bits where the rest of the bits follow from them.
     * \param text from which it is read
     * \param name for messages and tags
     * \throws std::invalid_argument that names the line and the value
     */
    static ldpc_code from_base_matrix(std::istream& text, const std::string& name);

    //! Reads a file of either format, which its first word tells.
    //! \throws std::invalid_argument
    static ldpc_code from_file(const std::string& path);

    /*!
     * \brief The same code as circulants, for write_base_matrix().
     *
     * Checks and bits stay where they are.
     * \param lifting 0 for the largest size of which the matrix is made; else that one
     * \throws std::invalid_argument if it is not made of circulants of such a size
     */
    ldpc_code with_circulants(unsigned lifting = 0) const;

    //! Writes what from_base_matrix() reads. \throws std::invalid_argument if the code
    //! has no circulants
    void write_base_matrix(std::ostream& text) const;

    /*!
     * \brief The same code, of which some positions are not sent.
     *
     * Positions count from 0 to n() − 1, in any order. They add to those of a standard.
     * \param punctured not sent, not known to the decoder
     * \param shortened not sent, 0: message bits among them are no longer of the message
     * \throws std::invalid_argument for a position twice, beyond the end, or where
     * nothing is left to be sent
     */
    ldpc_code with_positions(const std::vector<std::uint32_t>& punctured,
                             const std::vector<std::uint32_t>& shortened) const;

    //! "dvbs2 normal 1/2", or the name given to from_alist().
    const std::string& name() const;
    unsigned n() const;      //!< bits of a codeword, sent or not
    unsigned k() const;      //!< bits of a message
    unsigned checks() const; //!< rows, redundant ones included
    std::size_t edges() const;
    //! The bits of check \p c, distinct.
    bits_view check(unsigned c) const;
    unsigned largest_check_degree() const;
    unsigned largest_bit_degree() const;

    //! Whether message positions are known, so that it can be encoded.
    bool can_encode() const;
    //! Whether the message is the first k() bits of a codeword.
    bool systematic_prefix() const;
    //! The position of each message bit; empty if not known.
    const std::vector<std::uint32_t>& message_positions() const;

    //! Bits of a frame that are sent: what a decoder takes and an encoder gives.
    unsigned sent() const;
    //! Stands in sent_positions() for a bit that a standard fills in, always 0.
    static constexpr std::uint32_t fill = ~0u;
    //! The position of each sent bit, or fill; empty where they are all n() in order.
    const std::vector<std::uint32_t>& sent_positions() const;
    const std::vector<std::uint32_t>& punctured() const; //!< ascending
    const std::vector<std::uint32_t>& shortened() const; //!< ascending

    //! Check j of a row takes bit (j + shift) mod lifting() of a block of columns.
    struct circulant {
        std::uint32_t row, column, shift;
    };
    //! Size of the circulants of which the matrix is made (but for a parity chain); 0 if
    //! it is not known to be.
    unsigned lifting() const;
    //! Row by row.
    const std::vector<circulant>& circulants() const;

    /*!
     * \brief Rows of circulants of a code with a parity chain, as DVB-S2's; 0 for others.
     *
     * Check j·q + i, j in 0 … lifting() − 1, is in row i.
     */
    unsigned q() const;
    //! Chains of lifting 360: the addresses of each group of 360 information bits. Bit m
    //! of group g takes part in check j·q + i where an address is (j − m mod 360)·q + i.
    const std::vector<std::vector<std::uint16_t>>& addresses() const;

private:
    friend class ldpc_encoder_kernel;
    friend struct ldpc_code_access;
    struct tables;
    explicit ldpc_code(std::shared_ptr<const tables> t);
    std::shared_ptr<const tables> d_tables;
};

/*!
 * \brief Encodes messages, one bit per byte, or packed.
 */
class GPUFEC_API ldpc_encoder_kernel
{
public:
    //! \throws std::invalid_argument if the message positions of \p code are not known
    explicit ldpc_encoder_kernel(const ldpc_code& code);

    //! Encodes k() bits into n() bits.
    void encode(const std::uint8_t* message, std::uint8_t* codeword) const;
    //! Picks the sent() bits out of n().
    void send(const std::uint8_t* codeword, std::uint8_t* sent) const;

    /*!
     * \brief Encodes k() bits into the sent() bits, eight per byte, the first most
     * significant.
     *
     * The last byte of each is filled up, in what is sent with zeros. For codes of
     * DVB-S2 360 bits are encoded at a time.
     */
    void encode_packed(const std::uint8_t* message, std::uint8_t* codeword) const;

    const ldpc_code& code() const { return d_code; }

private:
    //! Message bits, in groups of 360, that are added to a row of checks.
    struct circulant {
        std::uint16_t row, from; //!< the bit of the group that comes first
    };
    void encode_circulants(const std::uint8_t* message, std::uint8_t* codeword) const;

    ldpc_code d_code;
    std::vector<circulant> d_circulants; // of a DVB-S2 code, group by group
};

//! How a check node weighs what it has heard.
enum class ldpc_algorithm {
    offset_min_sum,     //!< the least magnitude less an offset
    normalized_min_sum, //!< the least magnitude times a factor
    min_sum             //!< the least magnitude
};

//! \throws std::invalid_argument
GPUFEC_API ldpc_algorithm ldpc_algorithm_from_string(const std::string& name);

//! The arithmetic of a decoder.
enum class ldpc_precision {
    int8,   //!< channel values and messages of 8 bits, posteriors of 16
    int16,  //!< channel values and messages of 16 bits, posteriors of 16
    float32 //!< single precision; messages have 16 significant bits
};

//! \throws std::invalid_argument
GPUFEC_API ldpc_precision ldpc_precision_from_string(const std::string& name);

//! The order in which messages are renewed.
enum class ldpc_schedule {
    layered, //!< layer after layer, each sees what the ones before have changed
    flooding //!< all checks, then all bits
};

//! \throws std::invalid_argument
GPUFEC_API ldpc_schedule ldpc_schedule_from_string(const std::string& name);

//! How channel values are given.
enum class llr_format {
    int8,   //!< one signed byte; llr_scale of its steps make a nat
    float32 //!< one float, in nats
};

//! \throws std::invalid_argument
GPUFEC_API llr_format llr_format_from_string(const std::string& name);

//! LLRs that a decoder gives, one int8 for each of the n bits of a codeword in their
//! order, sent or not, within ±127.
enum class ldpc_soft_output {
    none,
    posterior, //!< what is known of a bit after the last iteration
    extrinsic  //!< the same less the bit's own channel value: what its checks say
};

//! Whether symbols come in place of channel values, and how they are given.
enum class ldpc_symbols {
    none,
    float32, //!< complex floats
    int16,   //!< pairs of int16, the real part first
    int8     //!< pairs of int8
};

//! How symbols become channel values.
enum class ldpc_demapper {
    max_log, //!< the nearest point of each bit value counts
    log_map  //!< all points count
};

//! A constellation of DVB-S2 or S2X at a rate, which decides its radii: "16apsk", "2/3".
struct ldpc_constellation {
    std::string name, rate, frame_size = "normal";
};

//! What an ldpc_decoder decodes, and how. A batch is codewords.
struct ldpc_options : run_options {
    std::vector<ldpc_code> codes; //!< at least one; frames name them by index
    llr_format format = llr_format::int8;
    float llr_scale = 2.0f; //!< int8 steps per nat, int8 input only
    ldpc_algorithm algorithm = ldpc_algorithm::offset_min_sum;
    ldpc_precision precision = ldpc_precision::int8;
    ldpc_schedule schedule = ldpc_schedule::layered;
    unsigned max_iterations = 25; //!< 1 to 1000
    bool early_stop = true;       //!< stop once every check is satisfied
    bool codeword = false;      //!< give all n bits of a codeword, not its k message bits
    bool keep_codeword = false; //!< for ldpc_decoder::codeword()
    //! Give n LLRs per frame, not bits.
    ldpc_soft_output soft = ldpc_soft_output::none;
    bool keep_soft = false; //!< for ldpc_decoder::llrs()
    float soft_scale = 0;   //!< steps per nat of LLRs that are given; 0: as llr_scale
    //! Nats; negative: the code's own or, in float, one that declines with the distance
    //! to the next magnitude.
    double offset = -1;
    double normalization = -1; //!< factor; negative: the code's own
    unsigned positive_bit = 0; //!< the bit, 0 or 1, that a positive value means
    bool lend_bits = false;    //!< memory is lent for what pull_bits() gives, not packed
    //! Symbols of XFECFRAMEs in place of channel values: format and llr_scale do not
    //! count then, and positive_bit is of LLRs that are given.
    ldpc_symbols symbols = ldpc_symbols::none;
    ldpc_demapper demapper = ldpc_demapper::log_map;
    //! Of symbols, at least one; frames name them by index.
    std::vector<ldpc_constellation> constellations;
};

/*!
 * \brief Decodes a stream of frames, each one codeword of one of several codes.
 *
 * Push channel values, pull decoded bits: it does what a flowgraph's block does, without
 * a flowgraph. One thread calls it. Frames of different codes share a batch, and leave in
 * the order they came. A frame that is not complete at the end is dropped. Input of every
 * format can be lent, frames of the selected code, and is scaled when it is decoded.
 */
class GPUFEC_API ldpc_decoder : public decoder
{
public:
    //! What became of a frame.
    struct report {
        std::uint64_t frame = 0;  //!< counted from the stream's beginning
        unsigned code = 0;        //!< its index
        unsigned iterations = 0;  //!< that were made
        unsigned unsatisfied = 0; //!< checks that its decisions violate; 0: a codeword
    };

    //! \throws std::invalid_argument, or std::runtime_error if CUDA cannot be had
    explicit ldpc_decoder(const ldpc_options& options, decoder_hooks hooks = {});

    //! The code of the frames that begin from now on, and of symbols their
    //! constellation. \throws std::out_of_range
    void select(unsigned code, unsigned constellation = 0);
    //! Es/N0 of the frames of symbols that begin from now on, in dB, −10 to 30 by
    //! quarters; NaN, with which a stream begins: each frame's own.
    void set_esn0_db(double esn0_db);
    //! The code of the frame that is being pushed, or of the next.
    unsigned selected() const;
    //! Of the frame that is being pushed, or of the next: channel values, or symbols.
    std::size_t frame_items() const;
    //! Those that the frame being pushed still lacks; 0 between frames.
    std::size_t missing() const;
    //! Forgets the values of a frame that is not complete.
    void drop_incomplete();
    //! Between frames: passes over up to \p count items of none, and says how many. Items
    //! that are lent must be passed over so; others are just not pushed.
    std::size_t skip(std::size_t count);

    //! Takes up to \p count channel values, or symbols, of frames of the selected code,
    //! and says how many it took.
    std::size_t push(const void* values, std::size_t count);

    //! Writes up to \p bytes bytes of decoded bits of one frame, MSB first, padded to a
    //! byte, and says how many.
    std::size_t pull_packed(std::uint8_t* out, std::size_t bytes);

    //! Writes up to \p bits decoded bits of one frame, one per byte, and says how many.
    std::size_t pull_bits(std::uint8_t* out, std::size_t bits);

    //! With options.soft, in place of bits: writes up to \p count LLRs of one frame, and
    //! says how many.
    std::size_t pull_llrs(std::int8_t* out, std::size_t count);

    //! The report on the frame that the last pull began, once; false if it began none.
    bool take_report(report& r);

    //! With keep_codeword: the n decided bits of the frame that the last pull began,
    //! packed, first bit most significant.
    const std::vector<std::uint8_t>& codeword() const;

    //! With keep_soft: the n LLRs of that frame, those that options.soft says, or the
    //! posterior ones.
    const std::vector<std::int8_t>& llrs() const;

    //! For the frames that are complete from now on, the one that is being pushed too.
    void set_llr_scale(float scale);
    //! For the LLRs of frames that begin from now on. \throws std::invalid_argument
    void set_soft_scale(float scale);

    const ldpc_code& code(unsigned index) const;
    //! Decoded bits of a frame of a code: k, or n. With options.soft its LLRs: n.
    std::size_t output_bits(unsigned code) const;

private:
    class impl;
    impl& self() const;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_LDPC_H */
