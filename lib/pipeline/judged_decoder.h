// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The base class of decoders whose input a judge checks. */

#ifndef INCLUDED_GPUFEC_PIPELINE_JUDGED_DECODER_H
#define INCLUDED_GPUFEC_PIPELINE_JUDGED_DECODER_H

#include "input_judge.h"
#include <memory>
#include <string>

namespace gr::gpufec {

//! Implements the verdict on the input, and done(), with which the verdict becomes final.
//! \tparam Decoder the interface of the decoder, such as ldpc_decoder
template <class Decoder>
class judged_decoder : public Decoder
{
public:
    bool done() override
    {
        const bool is = all_pulled();
        if (is) {
            d_judge->conclude();
        }
        return is;
    }
    std::string verdict() const override { return d_judge->verdict(); }

protected:
    //! Returns whether finish() was called and all output has been pulled.
    virtual bool all_pulled() = 0;

    // Checks the input; never nullptr. At first it accepts any input.
    std::unique_ptr<input_judge> d_judge = std::make_unique<input_judge>(decoder_hooks());
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_PIPELINE_JUDGED_DECODER_H */
