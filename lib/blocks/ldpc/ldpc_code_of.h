// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The parameters that name an LDPC code, of blocks and of arrays. */

#ifndef INCLUDED_GPUFEC_BLOCKS_LDPC_CODE_OF_H
#define INCLUDED_GPUFEC_BLOCKS_LDPC_CODE_OF_H

#include "parameters.h"
#include <gnuradio/gpufec/ldpc.h>
#include <cstdint>
#include <string>
#include <vector>

namespace gr::gpufec {

inline std::vector<std::uint32_t> positions_of(const std::string& name,
                                               const std::vector<int>& positions)
{
    std::vector<std::uint32_t> list;
    for (const auto position : positions) {
        list.push_back(not_negative(name, position, "positions from 0"));
    }
    return list;
}

//! \throws std::invalid_argument
inline ldpc_code ldpc_code_of(const std::string& standard,
                              const std::string& frame_size,
                              const std::string& rate,
                              const std::string& code_file,
                              const std::vector<int>& punctured,
                              const std::vector<int>& shortened)
{
    const auto code = code_file.empty() ? ldpc_code::standard(standard, frame_size, rate)
                                        : ldpc_code::from_file(code_file);
    if (punctured.empty() && shortened.empty()) {
        return code;
    }
    return code.with_positions(positions_of("punctured", punctured),
                               positions_of("shortened", shortened));
}

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_LDPC_CODE_OF_H */
