// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The code options of the command line: the parameters of the gpu_sync_map block, with
 * dashes. */

#ifndef INCLUDED_GPUFEC_APPS_SYNC_OPTIONS_H
#define INCLUDED_GPUFEC_APPS_SYNC_OPTIONS_H

#include "json.h"
#include <gnuradio/gpufec/sync_map.h>

#include <boost/program_options.hpp>

namespace gr::gpufec {

boost::program_options::options_description sync_option_descriptions();

//! \throws usage_error that names the option
sync_options parse_sync_options(const boost::program_options::variables_map& values);

//! As the options were given.
json to_json(const boost::program_options::variables_map& values,
             const sync_options& options);

//! Information bits of a frame.
double information_bits(const sync_code& code);

//! The code and the decoder's form, for a line of text.
std::string to_string(const sync_options& options);

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_APPS_SYNC_OPTIONS_H */
