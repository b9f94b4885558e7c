// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The parameters that name an LDPC code, and the tags that do. */

#ifndef INCLUDED_GPUFEC_BLOCKS_LDPC_PARAMETERS_H
#define INCLUDED_GPUFEC_BLOCKS_LDPC_PARAMETERS_H

#include <gnuradio/gpufec/ldpc.h>
#include <pmt/pmt.h>
#include <optional>
#include <string>
#include <vector>

namespace gr::gpufec {

//! \throws std::invalid_argument
ldpc_code ldpc_code_of(const std::string& standard,
                       const std::string& frame_size,
                       const std::string& rate,
                       const std::string& code_file,
                       const std::vector<int>& punctured,
                       const std::vector<int>& shortened);

//! What a tag says of the frames that follow it.
struct frame_kind {
    std::string code;          //!< its name, as "normal 1/2"; "" if there is none
    std::size_t skip_bits = 0; //!< length of a frame of no known code, 0 if not known
};

//! The meaning of an XFECFRAME tag's value; nothing if it is not of that form.
std::optional<frame_kind> kind_of_xfecframe(const pmt::pmt_t& value);

//! The meaning of an ldpc_code tag's value; nothing if it is not of that form.
std::optional<frame_kind> kind_of_ldpc_code(const pmt::pmt_t& value);

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_LDPC_PARAMETERS_H */
