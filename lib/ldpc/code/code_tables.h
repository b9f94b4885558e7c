// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The tables that the copies of an ldpc_code share, the types of their members, and
 * access to the tables for the sources of the LDPC decoder. */

#ifndef INCLUDED_GPUFEC_LDPC_CODE_CODE_TABLES_H
#define INCLUDED_GPUFEC_LDPC_CODE_CODE_TABLES_H

#include <gnuradio/gpufec/ldpc.h>
#include <mutex>
#include <optional>

namespace gr::gpufec {

namespace ldpc {
class parity_solver;

//! Decoder parameters that suit a code, found by simulation.
struct code_tuning {
    double offset;        //!< offset of offset min-sum, in nats
    double normalization; //!< factor of normalised min-sum, 0 to 1
    float int8_scale;     //!< number of steps per nat in int8
    float int8_limit;     //!< largest magnitude of an int8 message, in steps
};

} // namespace ldpc

//! The way in which an encoder finds the parity bits of a code.
enum class encoding_form {
    unknown,    //!< the message positions are not known
    triangular, //!< check c determines bit n − checks + c from the bits before it
    eliminated, //!< each parity bit is a dense sum of message bits
    solved      //!< a parity_solver, made on first use, finds the parity bits
};

//! Rule for the message positions of a code; see ldpc_code::with_message_positions().
enum class message_place { systematic, first, last, gr_fec_ldpc_encoder, listed };

struct ldpc_code::tables {
    std::string name;
    //! Warning if an alist file seems to contain a generator matrix, else "".
    std::string warning;
    unsigned n = 0;
    unsigned k = 0;
    unsigned checks = 0;
    //! For each check, the index of its first bit in \c bits; then the number of edges.
    std::vector<std::uint32_t> begin;
    std::vector<std::uint32_t> bits;
    unsigned largest_check_degree = 0;
    unsigned largest_bit_degree = 0;

    unsigned lifting = 0; //!< lifting size of the circulants; 0 if there are none
    unsigned rows = 0;    //!< number of block rows of the circulants
    bool chain = false;
    std::vector<circulant> circulants;
    //! See ldpc_code::addresses(); for parity chains of lifting size 360 only.
    std::vector<std::vector<std::uint16_t>> addresses;

    //! Positions of bits that are not sent, ascending.
    std::vector<std::uint32_t> punctured, shortened;
    unsigned fill_at_end = 0;        //!< number of fill bits sent after all others
    std::vector<std::uint32_t> sent; //!< positions of sent bits; empty if all bits are
                                     //!< sent in order

    //! Whether the standard puts the message at the beginning of the codeword, and the
    //! message determines the other bits.
    bool known_systematic = false;
    //! Further checks that a standard's codewords satisfy and that are not in its matrix.
    std::vector<std::vector<std::uint32_t>> extra_checks;
    std::optional<ldpc::code_tuning> tuning;

    message_place placement = message_place::systematic;
    std::vector<std::uint32_t> listed; //!< message positions for the rule
                                       //!< message_place::listed

    encoding_form form = encoding_form::unknown;
    std::vector<std::uint32_t> message;
    bool message_in_front = false; //!< whether message bit i is bit i of the codeword
    //! Indices of the message bits in ascending order of their positions; empty if
    //! message bits ascend already.
    std::vector<std::uint32_t> by_position;
    //! For encoding_form::eliminated: the position of each parity bit.
    std::vector<std::uint32_t> parity;
    //! For encoding_form::eliminated: k flags per parity bit, which mark the message bits
    //! whose sum is the parity bit.
    std::vector<std::uint64_t> generators;

    std::size_t generator_words() const { return (k + 63) / 64; }

    //! Returns a copy without the members that complete() computes. The copy can be
    //! changed and then completed.
    std::shared_ptr<tables> copy() const;
    //! Computes n, checks, begin, bits and addresses from the circulants of \p columns
    //! block columns, and adds the parity chain if \c chain is set.
    void expand(unsigned columns);
    //! Computes all members that follow from the checks and positions: degrees, sent
    //! positions, message positions and the form of encoding.
    void complete();
    //! Returns the solver, and makes it on first use.
    //! \throws std::invalid_argument if the message does not determine the parity bits
    const ldpc::parity_solver& solver() const;

private:
    void choose_form(bool triangular);
    void place_message();
    std::vector<std::uint32_t> wanted_positions() const;
    std::vector<std::uint32_t> gr_fec_positions() const;
    //! Runs Gauss-Jordan elimination on the columns in the given \p order. Columns
    //! without a pivot become the message, in reverse order. The other columns become
    //! parity bits with dense generators.
    void eliminate(const std::vector<std::uint32_t>& order);
    //! Returns all positions except \p some and the shortened positions, in descending
    //! order.
    std::vector<std::uint32_t> all_but(const std::vector<std::uint32_t>& some) const;
    void list_sent();

    mutable std::mutex d_mutex;
    mutable std::shared_ptr<const ldpc::parity_solver> d_solver;
};

//! Access to the tables of a code for the sources of the LDPC decoder.
struct ldpc_code_access {
    using tables = ldpc_code::tables;
    static ldpc_code make(std::shared_ptr<const tables> t)
    {
        return ldpc_code(std::move(t));
    }
    static const tables& of(const ldpc_code& code) { return *code.d_tables; }
};

namespace ldpc {

//! Returns the tables of a DVB code. \p addresses have the format of tables.h.
std::shared_ptr<ldpc_code_access::tables> dvb_tables(const std::string& name,
                                                     unsigned n,
                                                     unsigned k,
                                                     const std::uint16_t* addresses);

} // namespace ldpc
} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_LDPC_CODE_CODE_TABLES_H */
