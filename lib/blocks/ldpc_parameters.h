// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The tags that name an LDPC code. */

#ifndef INCLUDED_GPUFEC_BLOCKS_LDPC_PARAMETERS_H
#define INCLUDED_GPUFEC_BLOCKS_LDPC_PARAMETERS_H

#include <pmt/pmt.h>
#include <cstddef>
#include <optional>
#include <string>

namespace gr::gpufec {

//! What a tag says of the frames that follow it.
struct frame_kind {
    std::string code;          //!< its name, as "normal 1/2"; "" if there is none
    std::string constellation; //!< of a MODCOD, as "8psk"; else ""
    //! Length of a frame of no known code, in bits and in symbols; 0 if not known.
    std::size_t skip_bits = 0, skip_symbols = 0;
};

//! The meaning of an XFECFRAME tag's value; nothing if it is not of that form.
std::optional<frame_kind> kind_of_xfecframe(const pmt::pmt_t& value);

//! The meaning of an ldpc_code tag's value; nothing if it is not of that form.
std::optional<frame_kind> kind_of_ldpc_code(const pmt::pmt_t& value);

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_LDPC_PARAMETERS_H */
