/* -*- c++ -*- */
/*
 * Copyright 2026 gr-gpufec developers
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

/* The names of options. */

#include "refuse.h"
#include <gnuradio/gpufec/ldpc.h>

namespace gr {
namespace gpufec {

ldpc_algorithm ldpc_algorithm_from_string(const std::string& name)
{
    if (name == "offset_min_sum") {
        return ldpc_algorithm::offset_min_sum;
    }
    if (name == "normalized_min_sum") {
        return ldpc_algorithm::normalized_min_sum;
    }
    if (name == "min_sum") {
        return ldpc_algorithm::min_sum;
    }
    refuse_ldpc("algorithm",
                '"' + name + '"',
                "allowed are offset_min_sum, normalized_min_sum and min_sum");
}

ldpc_precision ldpc_precision_from_string(const std::string& name)
{
    if (name == "int8") {
        return ldpc_precision::int8;
    }
    if (name == "int16") {
        return ldpc_precision::int16;
    }
    if (name == "float") {
        return ldpc_precision::float32;
    }
    refuse_ldpc("precision", '"' + name + '"', "allowed are int8, int16 and float");
}

ldpc_schedule ldpc_schedule_from_string(const std::string& name)
{
    if (name == "layered") {
        return ldpc_schedule::layered;
    }
    if (name == "flooding") {
        return ldpc_schedule::flooding;
    }
    refuse_ldpc("schedule", '"' + name + '"', "allowed are layered and flooding");
}

llr_format llr_format_from_string(const std::string& name)
{
    if (name == "int8") {
        return llr_format::int8;
    }
    if (name == "float") {
        return llr_format::float32;
    }
    refuse_ldpc("soft_input", '"' + name + '"', "allowed are int8 and float");
}

} // namespace gpufec
} // namespace gr
