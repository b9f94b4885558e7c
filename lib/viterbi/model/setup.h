// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The constants of all batches of a decoder: the code, its parallel blocks, the format of
 * soft values, and the stages at which a lock is checked. locking.h defines lock and
 * check. */

#ifndef INCLUDED_GPUFEC_VITERBI_MODEL_SETUP_H
#define INCLUDED_GPUFEC_VITERBI_MODEL_SETUP_H

#include "channel_samples.h"
#include "pipeline/batch_decoder.h"

namespace gr::gpufec::viterbi {

//! The code, the layout and the formats that all batches of a decoder share.
struct setup {
    conv_code named; //!< the code of the options, for messages and the log
    //! The same code. If a positive soft value means bit 1, all outputs are inverted,
    //! because a positive value means bit 0 to the kernels.
    conv_code code;
    block_layout plan;
    value_map map;
    check_plan checks;   //!< the stages at which a lock is checked; for streams only
    sample_plan samples; //!< the samples from which the channel is estimated
    bool packed4; //!< whether slots hold packed4, two values per byte, instead of int8
    bool floats = false; //!< whether the caller's items are floats; slots hold int8
    bool offset_binary = false; //!< whether the caller's items are uint8; slots hold int8
    std::string cuda_kernel = "auto";

    setup(const conv_code& c,
          const block_layout& p,
          bool packed,
          unsigned positive_bit = 0)
        : named(c),
          code(positive_bit ? c.opposite() : c),
          plan(p),
          map(make_value_map(c)),
          checks(p.streaming() ? make_check_plan(code, p.decode_length) : check_plan{}),
          samples(make_sample_plan(code, p, packed)),
          packed4(packed)
    {
    }

    //! Returns the size in bytes of \p values soft values in a slot.
    std::size_t input_bytes(std::size_t values) const
    {
        return packed4 ? (values + 1) / 2 : values;
    }
    std::size_t frame_input_bytes() const { return input_bytes(plan.frame_values); }
    //! Returns the bytes of the caller's input per byte of a slot's input.
    std::size_t caller_factor() const { return floats ? sizeof(float) : 1; }
    //! Returns the bytes of output per frame, rounded up to whole 32-bit words.
    std::size_t frame_output_bytes() const { return (plan.frame_bits + 31) / 32 * 4; }

    //! Returns the sizes of a slot's host buffers for batches of \p blocks parallel
    //! blocks.
    batch_limits limits(std::size_t blocks) const;
};

//! Returns the setup for the options of a decoder.
//! \throws std::invalid_argument if an option is invalid
setup make_setup(const viterbi_options& options);

} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_MODEL_SETUP_H */
