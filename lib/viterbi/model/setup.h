// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* What is constant over all batches: the code, its parallel blocks, and how soft values
 * lie. */

#ifndef INCLUDED_GPUFEC_VITERBI_SETUP_H
#define INCLUDED_GPUFEC_VITERBI_SETUP_H

#include "block_plan.h"
#include "check_tallies.h"
#include "pipeline/batch_decoder.h"

namespace gr::gpufec::viterbi {

struct setup {
    conv_code named; //!< the code as it was asked for
    conv_code code;  //!< the same, where positive soft values mean bit 0
    block_plan plan;
    value_map map;
    check_plan checks;   //!< of a stream that is watched
    bool packed4;        //!< two values per byte, else int8
    bool floats = false; //!< what the caller has; int8 in slots
    std::string cuda_kernel = "auto";

    setup(const conv_code& c, const block_plan& p, bool packed, unsigned positive_bit = 0)
        : named(c),
          code(positive_bit ? c.opposite() : c),
          plan(p),
          map(make_value_map(c)),
          checks(p.streaming() ? make_check_plan(code, p.decode_length) : check_plan{}),
          packed4(packed)
    {
    }

    //! Bytes of \p values soft values.
    std::size_t input_bytes(std::size_t values) const
    {
        return packed4 ? (values + 1) / 2 : values;
    }
    std::size_t frame_input_bytes() const { return input_bytes(plan.frame_values); }
    //! Times so many in the caller's format.
    std::size_t raw_factor() const { return floats ? sizeof(float) : 1; }
    //! Bytes from the output of a frame to that of the next: whole words.
    std::size_t frame_output_bytes() const { return (plan.frame_bits + 31) / 32 * 4; }

    //! Host memory for a batch of \p blocks parallel blocks.
    batch_limits limits(std::size_t blocks) const;
};

//! \throws std::invalid_argument
setup make_setup(const viterbi_options& options);

} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_SETUP_H */
