// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The Reed-Solomon encoder: appends the parity symbols to the message. */

#include "common/refuse.h"
#include "divider.h"
#include <cstring>

namespace gr::gpufec {

reed_solomon_encoder_kernel::reed_solomon_encoder_kernel(const reed_solomon_code& code,
                                                         unsigned interleaving)
    : d_code(code),
      d_interleaving(interleaving),
      d_divider(std::make_shared<reed_solomon_divider>(code))
{
    require(interleaving >= 1 && interleaving <= reed_solomon_code::max_interleaving,
            "interleaving",
            interleaving,
            "1 to " + std::to_string(reed_solomon_code::max_interleaving));
}

void reed_solomon_encoder_kernel::encode(const std::uint8_t* message,
                                         std::uint8_t* frame) const
{
    const auto bytes = d_interleaving * d_code.k();
    std::memmove(frame, message, bytes);
    d_divider->divide(frame, d_interleaving, frame + bytes);
}

} // namespace gr::gpufec
