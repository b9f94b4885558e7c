// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* What the copies of an ldpc_code share. */

#ifndef INCLUDED_GPUFEC_LDPC_CODE_TABLES_H
#define INCLUDED_GPUFEC_LDPC_CODE_TABLES_H

#include <gnuradio/gpufec/ldpc.h>
#include <mutex>
#include <optional>

namespace gr::gpufec {

namespace ldpc {
class parity_solver;

//! What suits a code: found by simulation.
struct code_tuning {
    double offset;        //!< nats
    double normalization; //!< factor
    float int8_scale;     //!< steps a nat
    float int8_limit;     //!< of messages, steps
};

} // namespace ldpc

//! How a code is encoded.
enum class encoding_form {
    unknown,    //!< not
    triangular, //!< check c gives its largest bit, n − checks + c, from those before
    eliminated, //!< each parity bit is a dense sum of message bits
    solved      //!< by a parity_solver, made when it is first needed
};

struct ldpc_code::tables {
    std::string name;
    unsigned n = 0;
    unsigned k = 0;
    unsigned checks = 0;
    std::vector<std::uint32_t> begin; //!< of each check in bits, and the end
    std::vector<std::uint32_t> bits;
    unsigned largest_check_degree = 0;
    unsigned largest_bit_degree = 0;

    unsigned lifting = 0; //!< of the circulants
    unsigned rows = 0;    //!< of circulants
    bool chain = false;
    std::vector<circulant> circulants;
    std::vector<std::vector<std::uint16_t>> addresses; //!< chains of lifting 360

    std::vector<std::uint32_t> punctured, shortened; //!< ascending
    unsigned fill_at_end = 0;        //!< bits of a standard after all others
    std::vector<std::uint32_t> sent; //!< empty: all in order

    //! Message in front, the rest follows: known of a standard.
    bool known_systematic = false;
    //! Sums of bits that are 0 in the words of a standard, besides the checks.
    std::vector<std::vector<std::uint32_t>> extra_checks;
    std::optional<ldpc::code_tuning> tuning;

    encoding_form form = encoding_form::unknown;
    std::vector<std::uint32_t> message;
    std::vector<std::uint32_t> parity;     //!< eliminated: position of each parity bit
    std::vector<std::uint64_t> generators; //!< eliminated: a row of k bits a parity bit

    std::size_t generator_words() const { return (k + 63) / 64; }

    //! The same, to be changed and completed again.
    std::shared_ptr<tables> copy() const;
    //! Fills in n, checks, begin, bits and addresses from circulants of \p columns
    //! blocks.
    void expand(unsigned columns);
    //! Fills in everything that follows from n, checks, begin, bits and positions.
    void complete();
    void eliminate();
    //! \throws std::invalid_argument if the parity bits do not follow from the message
    const ldpc::parity_solver& solver() const;

private:
    void choose_form(bool triangular);
    void list_sent();

    mutable std::mutex d_mutex;
    mutable std::shared_ptr<const ldpc::parity_solver> d_solver;
};

//! For what makes and reads tables inside this room.
struct ldpc_code_access {
    using tables = ldpc_code::tables;
    static ldpc_code make(std::shared_ptr<const tables> t)
    {
        return ldpc_code(std::move(t));
    }
    static const tables& of(const ldpc_code& code) { return *code.d_tables; }
};

namespace ldpc {

//! A code of DVB: \p addresses as tables.h has them.
std::shared_ptr<ldpc_code_access::tables> dvb_tables(const std::string& name,
                                                     unsigned n,
                                                     unsigned k,
                                                     const std::uint16_t* addresses);

} // namespace ldpc
} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_LDPC_CODE_TABLES_H */
