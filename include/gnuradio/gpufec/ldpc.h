/* -*- c++ -*- */
/*
 * Copyright 2026 gr-gpufec developers
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_GPUFEC_LDPC_H
#define INCLUDED_GPUFEC_LDPC_H

#include <gnuradio/gpufec/api.h>
#include <gnuradio/gpufec/backend.h>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

namespace gr {
namespace gpufec {

/*!
 * \brief A binary LDPC code: a sparse parity-check matrix, and where its message lies.
 *
 * Bits (columns) and checks (rows) count from 0. A value type: it is valid once it
 * exists; copies share their tables.
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
 * \brief Encodes messages, one bit a byte.
 */
class GPUFEC_API ldpc_encoder_kernel
{
public:
    //! \throws std::invalid_argument if the message positions of \p code are not known
    explicit ldpc_encoder_kernel(const ldpc_code& code);

    //! Encodes k() bits into n() bits.
    void encode(const std::uint8_t* message, std::uint8_t* codeword) const;

    const ldpc_code& code() const { return d_code; }

private:
    ldpc_code d_code;
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

} // namespace gpufec
} // namespace gr

#endif /* INCLUDED_GPUFEC_LDPC_H */
