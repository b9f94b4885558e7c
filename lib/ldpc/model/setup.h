// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The setup of a decoder, which is the same for all batches: codes, arithmetic, and input
 * and output formats. */

#ifndef INCLUDED_GPUFEC_LDPC_MODEL_SETUP_H
#define INCLUDED_GPUFEC_LDPC_MODEL_SETUP_H

#include "demap/rule.h"
#include "message_rule.h"
#include "pipeline/batch_decoder.h"
#include <optional>
#include <vector>

namespace gr::gpufec::ldpc {

struct setup {
    std::vector<ldpc_code> codes; //!< codes of the frames; jobs refer to them by index
    ldpc_schedule schedule = ldpc_schedule::layered;
    ldpc_algorithm algorithm = ldpc_algorithm::offset_min_sum;
    ldpc_precision precision = ldpc_precision::int8;
    double offset = -1; //!< offset of offset min-sum in nats; negative for the default of
                        //!< make_message_rule()
    double normalization = -1; //!< factor of normalised min-sum; negative for the default
                               //!< of make_message_rule()
    unsigned max_iterations = 25;
    bool early_stop = true;
    llr_format format = llr_format::int8; //!< format of the caller's channel values
    bool message_only = true; //!< whether to omit the decisions on parity bits if the
                              //!< message is the first k bits
    bool bits = true;         //!< whether the output contains decisions
    ldpc_soft_output soft = ldpc_soft_output::none; //!< which LLRs the output contains,
                                                    //!< if any
    // Format of symbols, or no value if the input is channel values. The members below
    // apply only to symbols.
    std::optional<demap::symbol_format> symbols;
    demap::method demapper = demap::method::max_log;
    std::vector<demap::constellation> constellations; //!< distinct constellations; jobs
                                                      //!< refer to them by index
    //! For each element of ldpc_options::constellations, its index in \c constellations.
    //! Constellations with equal points and columns share an entry.
    std::vector<unsigned> constellation_of;

    message_rule rule(const ldpc_code& code) const
    {
        return make_message_rule(code, algorithm, precision, offset, normalization);
    }
    //! Returns the size in bytes of a quantised channel value: int8, int16 or float.
    std::size_t value_bytes() const
    {
        return precision == ldpc_precision::int8    ? 1
               : precision == ldpc_precision::int16 ? 2
                                                    : 4;
    }
    //! Returns the size in bytes of a channel value, or symbol, in the caller's format.
    std::size_t caller_value_bytes() const
    {
        return symbols                         ? demap::symbol_bytes(*symbols)
               : format == llr_format::float32 ? sizeof(float)
                                               : 1;
    }
    //! Returns the number of channel values, or symbols, in a frame.
    std::size_t caller_values(const ldpc_code& code, unsigned constellation) const
    {
        return symbols ? constellations[constellation].frame_symbols(code.n()) : code.n();
    }
    //! Returns the number of decisions of a codeword that are written, beginning with
    //! its first bit.
    unsigned output_bits(const ldpc_code& code) const
    {
        return !bits ? 0 : message_only && code.systematic_prefix() ? code.k() : code.n();
    }
    //! Returns the distance in bytes from one codeword's quantised input to the next, a
    //! multiple of 16.
    std::size_t frame_input_bytes(const ldpc_code& code) const
    {
        return (code.n() * value_bytes() + 15) / 16 * 16;
    }
    //! Returns the distance in bytes from one codeword's output to the next, a multiple
    //! of 4, or of 16 with LLRs.
    std::size_t frame_output_bytes(const ldpc_code& code) const
    {
        return soft == ldpc_soft_output::none
                   ? decision_bytes(code)
                   : soft_offset(code) + (code.n() + std::size_t(15)) / 16 * 16;
    }
    std::size_t decision_bytes(const ldpc_code& code) const
    {
        return (output_bits(code) + 31) / 32 * 4;
    }
    //! Returns the offset in bytes of the LLRs in the output of a codeword.
    std::size_t soft_offset(const ldpc_code& code) const
    {
        return (decision_bytes(code) + 15) / 16 * 16;
    }

    //! Returns the sizes of the buffers for a batch of \p codewords codewords, which may
    //! have any of the codes.
    batch_limits limits(std::size_t codewords) const;
};

//! Returns the format of symbols, or no value if the input is channel values.
std::optional<demap::symbol_format> make_symbol_format(ldpc_symbols symbols);
demap::method make_method(ldpc_demapper demapper);

//! Returns the setup for a stream decoder's options.
//! \throws std::invalid_argument if options are out of range or do not fit together
setup make_setup(const ldpc_options& options);

} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_MODEL_SETUP_H */
