// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The code options of the command line: the parameters of the gpu_ldpc_dvbs2 block, with
 * dashes. */

#ifndef INCLUDED_GPUFEC_APPS_LDPC_OPTIONS_H
#define INCLUDED_GPUFEC_APPS_LDPC_OPTIONS_H

#include "json.h"
#include <gnuradio/gpufec/ldpc.h>

#include <boost/program_options.hpp>

namespace gr::gpufec {

boost::program_options::options_description ldpc_option_descriptions();

//! \throws usage_error that names the option
ldpc_options parse_ldpc_options(const boost::program_options::variables_map& values);

//! As the options were given, and what the code is.
json to_json(const ldpc_options& options);

const char* to_string(ldpc_algorithm algorithm);
const char* to_string(ldpc_precision precision);
const char* to_string(ldpc_schedule schedule);
const char* to_string(llr_format format);

//! Of one soft value.
std::size_t bytes_of(llr_format format);

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_APPS_LDPC_OPTIONS_H */
