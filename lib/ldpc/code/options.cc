// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Conversion of names to values of LDPC options. */

#include "common/refuse.h"
#include <gnuradio/gpufec/ldpc.h>

namespace gr::gpufec {

ldpc_algorithm ldpc_algorithm_from_string(const std::string& name)
{
    return choose<ldpc_algorithm>(
        "algorithm",
        name,
        { { "offset_min_sum", ldpc_algorithm::offset_min_sum },
          { "normalized_min_sum", ldpc_algorithm::normalized_min_sum },
          { "min_sum", ldpc_algorithm::min_sum } });
}

ldpc_precision ldpc_precision_from_string(const std::string& name)
{
    return choose<ldpc_precision>("precision",
                                  name,
                                  { { "int8", ldpc_precision::int8 },
                                    { "int16", ldpc_precision::int16 },
                                    { "float", ldpc_precision::float32 } });
}

ldpc_schedule ldpc_schedule_from_string(const std::string& name)
{
    return choose<ldpc_schedule>("schedule",
                                 name,
                                 { { "layered", ldpc_schedule::layered },
                                   { "flooding", ldpc_schedule::flooding } });
}

llr_format llr_format_from_string(const std::string& name)
{
    return choose<llr_format>("soft_input",
                              name,
                              { { "int8", llr_format::int8 },
                                { "float", llr_format::float32 },
                                { "uint8", llr_format::uint8 } });
}

ldpc_demapper ldpc_demapper_from_string(const std::string& name)
{
    return choose<ldpc_demapper>(
        "demapper",
        name,
        { { "max_log", ldpc_demapper::max_log }, { "log_map", ldpc_demapper::log_map } });
}

} // namespace gr::gpufec
