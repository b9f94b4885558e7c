// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Makes Reed-Solomon encoders and decoders from the options of a block. */

#ifndef INCLUDED_GPUFEC_BLOCKS_REED_SOLOMON_RS_PARAMETERS_H
#define INCLUDED_GPUFEC_BLOCKS_REED_SOLOMON_RS_PARAMETERS_H

#include "blocks/common/parameters.h"
#include <gnuradio/gpufec/reed_solomon.h>

namespace gr::gpufec {

//! Makes an encoder or a decoder for the code and the interleaving depth of \p given.
//! \throws std::invalid_argument
template <class Kernel, class Options>
Kernel rs_kernel_of(const Options& given)
{
    return Kernel(reed_solomon_code::standard(given.code)
                      .shortened(not_negative("virtual_fill", given.virtual_fill)),
                  not_negative("interleaving", given.interleaving, "1 to 16"));
}

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_REED_SOLOMON_RS_PARAMETERS_H */
