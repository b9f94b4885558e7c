// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Gives tests access to the functions of memory_in_place, without pinning. */

#ifndef INCLUDED_GPUFEC_PIPELINE_MEMORY_OF_H
#define INCLUDED_GPUFEC_PIPELINE_MEMORY_OF_H

#include "pipeline/memory_in_place.h"
#include <gnuradio/gpufec/decoder.h>

namespace gr::gpufec {

inline memory_in_place& memory_of(decoder& d)
{
    return dynamic_cast<memory_in_place&>(d);
}

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_PIPELINE_MEMORY_OF_H */
