// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The tags that select an LDPC code, and the names of codes. */

#ifndef INCLUDED_GPUFEC_BLOCKS_LDPC_LDPC_PARAMETERS_H
#define INCLUDED_GPUFEC_BLOCKS_LDPC_LDPC_PARAMETERS_H

#include <pmt/pmt.h>
#include <cstddef>
#include <optional>
#include <string>

namespace gr::gpufec {

//! The code and constellation that a tag selects for the frames that follow.
struct frame_kind {
    std::string code; //!< name of the code, for example "normal 1/2"; "" if unknown
    //! Name of the constellation, such as "8psk"; "" if the tag names none.
    std::string constellation;
    //! Length of a frame if its code is unknown, in bits and in symbols; 0 if the length
    //! is unknown too.
    std::size_t skip_bits = 0, skip_symbols = 0;
};

//! Returns the rate part of a code's name, such as "1/2" of "normal 1/2".
inline std::string rate_of(const std::string& code)
{
    return code.substr(code.rfind(' ') + 1);
}
//! Returns the frame size part of a code's name, such as "normal" of "normal 1/2".
inline std::string size_of(const std::string& code)
{
    return code.substr(0, code.rfind(' '));
}

//! Parses the value of an XFECFRAME tag: a pair of the MODCOD (integer) and whether the
//! frame is short (bool). Returns nothing if \p value has another form. For a MODCOD
//! without a code, the result has the lengths of the frame if they are known.
std::optional<frame_kind> kind_of_xfecframe(const pmt::pmt_t& value);

//! Parses the value of an ldpc_code tag: the name of a code, or a dictionary with
//! frame_size, rate and, optionally, constellation. If \p value has another form, returns
//! nothing and may set \p fault to the reason.
std::optional<frame_kind> kind_of_ldpc_code(const pmt::pmt_t& value, std::string& fault);

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_LDPC_LDPC_PARAMETERS_H */
