// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* A transmitter of CCSDS telemetry for tests, with functions that damage the sent bits.
 * */

#ifndef INCLUDED_GPUFEC_FRAMING_TEST_TELEMETRY_H
#define INCLUDED_GPUFEC_FRAMING_TEST_TELEMETRY_H

#include "common/packed_bits.h"
#include "framing/ccsds_format.h"
#include "framing/randomiser.h"
#include <gnuradio/gpufec/ccsds.h>
#include <gnuradio/gpufec/ldpc.h>
#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace gr::gpufec {

//! Frames of random bytes, and the stream of their bits, one bit per byte.
struct telemetry {
    std::vector<std::vector<std::uint8_t>> frames;
    std::vector<std::uint8_t> bits;
    std::size_t period = 0; //!< distance of markers in bits

    telemetry(const ccsds_framing& framing, unsigned count, unsigned seed)
    {
        const framing::ccsds_format format(framing);
        std::mt19937 random(seed);
        for (unsigned f = 0; f < count; ++f) {
            std::vector<std::uint8_t> frame(format.frame_bytes);
            std::generate(
                frame.begin(), frame.end(), [&] { return std::uint8_t(random()); });
            append(format, framing, frame);
            frames.push_back(std::move(frame));
        }
        if (framing.differential) {
            std::uint8_t level = 0;
            for (auto& bit : bits) {
                bit = level ^= bit;
            }
        }
    }

    //! Returns the bits, eight per byte.
    std::vector<std::uint8_t> packed() const
    {
        std::vector<std::uint8_t> bytes((bits.size() + 7) / 8);
        pack_bits(bits.data(), bits.size(), bytes.data());
        return bytes;
    }

    //! Returns soft values, positive for bit 1, with Gaussian noise. The standard
    //! deviation is relative to the amplitude.
    std::vector<std::int8_t>
    soft(double amplitude = 40, double sigma = 0, unsigned seed = 1) const
    {
        std::mt19937 random(seed);
        std::normal_distribution<double> noise(0, 1);
        std::vector<std::int8_t> values(bits.size());
        std::transform(bits.begin(), bits.end(), values.begin(), [&](unsigned bit) {
            const auto v = (bit ? 1 : -1) + (sigma > 0 ? sigma * noise(random) : 0);
            return std::int8_t(std::lround(std::clamp(amplitude * v, -127.0, 127.0)));
        });
        return values;
    }

    void flip(std::size_t first, std::size_t count)
    {
        std::for_each(bits.begin() + first, bits.begin() + first + count, [](auto& bit) {
            bit ^= 1;
        });
    }
    void remove(std::size_t first, std::size_t count)
    {
        bits.erase(bits.begin() + first, bits.begin() + first + count);
    }
    void insert(std::size_t at, std::size_t count, unsigned seed)
    {
        std::mt19937 random(seed);
        std::vector<std::uint8_t> more(count);
        std::generate(more.begin(), more.end(), [&] { return random() & 1; });
        bits.insert(bits.begin() + at, more.begin(), more.end());
    }

private:
    void append(const framing::ccsds_format& format,
                const ccsds_framing& framing,
                const std::vector<std::uint8_t>& frame)
    {
        for (unsigned i = format.marker.bits; i-- > 0;) {
            bits.push_back(format.marker.word >> i & 1);
        }
        std::vector<std::uint8_t> sent(format.sent_bits / 8);
        if (format.ldpc) {
            const auto code = ldpc_code::standard(
                format.ldpc->standard, format.ldpc->frame_size, format.ldpc->rate);
            ldpc_encoder_kernel(code).encode_packed(frame.data(), sent.data());
        } else if (format.code) {
            reed_solomon_encoder_kernel(*format.code, framing.interleaving)
                .encode(frame.data(), sent.data());
        } else {
            sent = frame;
        }
        framing::randomise(
            sent.data(),
            framing::randomiser_sequence(framing.randomiser, sent.size()).data(),
            sent.size());
        const auto old = bits.size();
        bits.resize(old + 8 * sent.size());
        unpack_bits(sent.data(), 0, 8 * sent.size(), bits.data() + old);
        period = format.marker.bits + format.sent_bits;
    }
};

//! Returns the frames that a finder finds in packed bits or soft values.
template <class Item>
std::vector<ccsds_frame> find_frames(ccsds_frame_finder& finder,
                                     const std::vector<Item>& items,
                                     std::size_t piece = 100000)
{
    std::vector<ccsds_frame> found;
    ccsds_frame frame;
    const auto pull = [&] {
        while (finder.pull(frame)) {
            found.push_back(std::move(frame));
        }
    };
    for (std::size_t i = 0; i < items.size(); i += piece) {
        finder.push(items.data() + i, std::min(piece, items.size() - i));
        pull();
    }
    finder.finish();
    pull();
    return found;
}

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_FRAMING_TEST_TELEMETRY_H */
