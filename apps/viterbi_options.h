// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The code options of the command line: the parameters of the gpu_viterbi_pbvd block,
 * with dashes, and the presets. */

#ifndef INCLUDED_GPUFEC_APPS_VITERBI_OPTIONS_H
#define INCLUDED_GPUFEC_APPS_VITERBI_OPTIONS_H

#include "json.h"
#include <gnuradio/gpufec/viterbi.h>

#include <boost/program_options.hpp>

namespace gr::gpufec {

boost::program_options::options_description viterbi_option_descriptions();

//! \throws usage_error that names the option
viterbi_options
parse_viterbi_options(const boost::program_options::variables_map& values);

json to_json(const viterbi_options& options);

const char* to_string(termination ends);
const char* to_string(soft_format format);

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_APPS_VITERBI_OPTIONS_H */
