// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* A maximum-likelihood decoder of whole sequences that is fast enough for large
 * error-rate simulations. The decisions equal those of reference::maximum_likelihood,
 * even in ties. */

#ifndef INCLUDED_GPUFEC_VITERBI_MAXIMUM_LIKELIHOOD_H
#define INCLUDED_GPUFEC_VITERBI_MAXIMUM_LIKELIHOOD_H

#include "viterbi/model/block_layout.h"
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gr::gpufec::viterbi {

/*!
 * \brief A Viterbi decoder over a whole sequence, with a full traceback.
 *
 * The decoder keeps its working memory, one bit per state and stage, between calls. Only
 * one thread at a time may call decode().
 */
class maximum_likelihood_decoder
{
public:
    maximum_likelihood_decoder(const conv_code& code, termination ends);

    /*!
     * Decodes one stream or frame.
     *
     * \param values int8 soft values of the sent (not punctured) bits, positive for bit 0
     * \param count number of \p values; sent bits beyond them count as erased
     * \param bits number of information bits, without tail
     * \param out receives \p bits decoded bits, one per byte
     */
    void decode(const std::int8_t* values,
                std::size_t count,
                std::size_t bits,
                std::uint8_t* out);

private:
    using metric = std::int32_t;

    void start_equal();
    void start_in(unsigned state);
    void run(const std::int8_t* values, std::size_t count, std::size_t stages);
    void branch_metrics(const std::int8_t* values, std::size_t count, std::size_t stage);
    void step(std::uint8_t* decisions);
    void renormalise();
    unsigned best_state() const;
    void trace(unsigned state, std::size_t bits, std::uint8_t* out) const;
    void decode_tailbiting(const std::int8_t* values,
                           std::size_t count,
                           std::size_t bits,
                           std::uint8_t* out);

    conv_code d_code;
    termination d_ends;
    value_map d_map;
    unsigned d_states;
    // For each state, the output word from its even and from its odd predecessor.
    std::vector<std::uint8_t> d_word[2];
    std::vector<metric> d_cost; // branch metric of each output word
    std::vector<metric> d_metrics, d_next;
    // Decision of each state in one stage: 1 if the survivor has the odd predecessor.
    std::vector<std::uint8_t> d_odd;
    std::vector<std::uint8_t> d_decisions; // decisions of all stages, one bit per state
    std::size_t d_stages = 0;
};

} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_MAXIMUM_LIKELIHOOD_H */
