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
     * \brief Reads a code from MacKay's alist format.
     *
     * Bit and check lists must agree. K = N − rank. Where the last bits make the matrix
     * lower triangular, the message is the first K bits; else Gauss-Jordan elimination
     * takes its pivots from the last column backwards, and the message is the K columns
     * without a pivot, in ascending order. A matrix beyond max_elimination that is not
     * triangular keeps K = N − checks, and has no known message positions.
     *
     * \param name for messages and tags
     * \throws std::invalid_argument that names the line
     */
    static ldpc_code from_alist(std::istream& text, const std::string& name);
    //! The same from a file. \throws std::invalid_argument
    static ldpc_code from_alist_file(const std::string& path);

    //! "dvbs2 normal 1/2", or the name given to from_alist().
    const std::string& name() const;
    unsigned n() const;      //!< bits of a codeword
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

    /*!
     * \brief Blocks of 360 checks of a DVB-S2 code; 0 for other codes.
     *
     * Check j·q + i, j in 0 … 359, is in layer i; bit m of group g takes part in it
     * where an address of g is (j − m mod 360)·q + i.
     */
    unsigned q() const;
    //! DVB-S2: the addresses of each group of 360 information bits.
    const std::vector<std::vector<std::uint16_t>>& addresses() const;

private:
    friend class ldpc_encoder_kernel;
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

    /*!
     * \brief The same, eight bits a byte, the first most significant.
     *
     * The last byte of each is filled up, in the codeword with zeros. For codes of
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
    float32 //!< everything in single precision
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
    double offset = -1;         //!< nats; negative: the code's own
    double normalization = -1;  //!< factor; negative: the code's own
    unsigned positive_bit = 0;  //!< the bit, 0 or 1, that a positive channel value means
};

/*!
 * \brief Decodes a stream of frames, each one codeword of one of several codes.
 *
 * Push channel values, pull decoded bits: it does what a flowgraph's block does, without
 * a flowgraph. One thread calls it. Frames of different codes share a batch, and leave in
 * the order they came. A frame that is not complete at the end is dropped.
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

    //! The code of the frames that begin from now on. \throws std::out_of_range
    void select(unsigned code);
    //! The code of the frame that is being pushed, or of the next.
    unsigned selected() const;
    //! Channel values that the frame being pushed still lacks; 0 between frames.
    std::size_t missing() const;
    //! Forgets the values of a frame that is not complete.
    void drop_incomplete();

    //! Takes up to \p count channel values of frames of the selected code, and says how
    //! many it took.
    std::size_t push(const void* values, std::size_t count);

    //! Writes up to \p bytes bytes of decoded bits of one frame, MSB first, padded to a
    //! byte, and says how many.
    std::size_t pull_packed(std::uint8_t* out, std::size_t bytes);

    //! Writes up to \p bits decoded bits of one frame, one per byte, and says how many.
    std::size_t pull_bits(std::uint8_t* out, std::size_t bits);

    //! The report on the frame that the last pull began, once; false if it began none.
    bool take_report(report& r);

    //! With keep_codeword: the n decided bits of the frame that the last pull began,
    //! packed, first bit most significant.
    const std::vector<std::uint8_t>& codeword() const;

    //! For the values that are pushed from now on.
    void set_llr_scale(float scale);

    const ldpc_code& code(unsigned index) const;
    //! Decoded bits of a frame of a code: k, or n.
    std::size_t output_bits(unsigned code) const;

private:
    class impl;
    impl& self() const;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_LDPC_H */
