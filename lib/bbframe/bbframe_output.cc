// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Decodes BCH codewords to BBFRAMEs, descrambles the BBFRAMEs and outputs them in chunks.
 * */

#include "bbframe/header.h"
#include "bbframe_output.h"
#include "common/packed_bits.h"
#include <algorithm>
#include <functional>

namespace gr::gpufec {

bool has_bch(const std::string& standard, const std::string& frame_size)
{
    const auto contains = [](const std::vector<std::string>& names,
                             const std::string& name) {
        return std::find(names.begin(), names.end(), name) != names.end();
    };
    return contains(bch_code::standards(), standard) &&
           contains(bch_code::frame_sizes(standard), frame_size);
}

bbframe_output::bbframe_output(const std::string& standard,
                               const std::vector<std::string>& names,
                               bool packed,
                               bool descramble)
    : d_packed(packed)
{
    std::size_t longest = 0;
    for (const auto& name : names) {
        const auto space = name.rfind(' ');
        d_codes.push_back(
            bch_code::standard(standard, name.substr(0, space), name.substr(space + 1)));
        longest = std::max(longest, std::size_t(d_codes.back().n() + 7) / 8);
    }
    d_message.resize(longest);
    if (descramble) {
        d_scrambling = bbframe::scrambling(longest);
    }
}

const bch_decoder_kernel& bbframe_output::decoder(unsigned code)
{
    const auto found = d_decoders.find(code);
    return found != d_decoders.end()
               ? found->second
               : d_decoders.emplace(code, bch_decoder_kernel(d_codes[code]))
                     .first->second;
}

void bbframe_output::decode(unsigned code)
{
    d_errors = decoder(code).decode(d_message.data());
    const auto k = d_codes[code].k();
    const auto bytes = (k + 7) / 8;
    if (!d_scrambling.empty()) {
        auto* const message = d_message.data();
        std::transform(
            message, message + bytes, d_scrambling.data(), message, std::bit_xor<>{});
    }
    if (k % 8) {
        d_message[bytes - 1] &= 0xff00u >> k % 8;
    }
    d_items = d_packed ? bytes : k;
    d_emitted = 0;
}

std::size_t bbframe_output::pull(std::uint8_t* out, std::size_t capacity)
{
    const auto n = std::min(capacity, d_items - d_emitted);
    if (d_packed) {
        std::copy_n(d_message.begin() + d_emitted, n, out);
    } else {
        unpack_bits(d_message.data(), d_emitted, n, out);
    }
    d_emitted += n;
    return n;
}

} // namespace gr::gpufec
