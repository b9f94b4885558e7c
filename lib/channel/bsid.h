// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* A seeded BSID channel, which inserts, deletes and substitutes symbols. */

#ifndef INCLUDED_GPUFEC_CHANNEL_BSID_H
#define INCLUDED_GPUFEC_CHANNEL_BSID_H

#include <gnuradio/gpufec/sync_map.h>
#include <cstdint>
#include <random>
#include <vector>

namespace gr::gpufec {

//! Simulator of a bsid_model. The same seed and input produce the same output on every
//! platform.
class GPUFEC_API bsid_channel
{
public:
    bsid_channel(const bsid_model& model, std::uint64_t seed);

    //! Sends \p symbol, which is below the size of the model's alphabet. Appends the
    //! received symbols to \p out and returns their number.
    unsigned send(std::uint8_t symbol, std::vector<std::uint8_t>& out);

    //! Sends \p symbols and returns the received symbols.
    std::vector<std::uint8_t> send(const std::vector<std::uint8_t>& symbols);

    void set_model(const bsid_model& model) { d_model = model; }

private:
    double uniform() { return (d_random() >> 11) * 0x1p-53; }
    unsigned below(unsigned limit) { return (d_random() >> 32) * limit >> 32; }

    bsid_model d_model;
    std::mt19937_64 d_random;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_CHANNEL_BSID_H */
