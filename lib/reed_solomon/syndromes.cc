// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Prepares the constants of the SIMD kernels, and computes syndromes from parity symbols
 * on processors for which there is no kernel. */

#include "common/cpu_variant.h"
#include "syndromes.h"
#include <cstring>

namespace gr::gpufec {

namespace reed_solomon {

const kernels& kernels_of(const std::string& variant)
{
    const auto name = cpu_variant(variant);
#ifdef GPUFEC_X86_VARIANTS
    if (name == "avx512" && __builtin_cpu_supports("gfni")) {
        return gfni::all;
    }
    if (name != "baseline") {
        return avx2::all;
    }
#endif
    return baseline::all;
}

std::array<std::uint8_t, 256> gfni_elements(const field& f)
{
    const auto multiply = [](unsigned a, unsigned b) {
        unsigned product = 0;
        for (; b; b >>= 1) {
            product ^= b & 1 ? a : 0;
            a = a << 1 ^ (a & 0x80 ? 0x11b : 0);
        }
        return product;
    };
    // Searches for an image of alpha that makes the map additive: the image of 1 +
    // alpha^i must be the sum of the images of 1 and alpha^i. The eight conjugates of one
    // element satisfy this condition.
    std::array<std::uint8_t, 256> image{};
    for (unsigned candidate = 2; candidate < 256; ++candidate) {
        unsigned power = 1;
        for (unsigned e = 0; e < field::order; ++e) {
            image[f.power(e)] = std::uint8_t(power);
            power = multiply(power, candidate);
        }
        bool additive = true;
        for (unsigned a = 2; a < 256; ++a) {
            additive = additive && image[a ^ 1] == (image[a] ^ 1);
        }
        if (additive) {
            break;
        }
    }
    return image;
}

} // namespace reed_solomon

namespace {

// Returns the matrix for the instruction gf2p8affineqb: byte 7 − i has the input bits
// whose sum is output bit i. \p image is linear.
template <class Map>
std::uint64_t matrix_of(const Map& image)
{
    std::uint64_t matrix = 0;
    for (unsigned in = 0; in < 8; ++in) {
        const std::uint64_t out = image(1u << in);
        for (unsigned i = 0; i < 8; ++i) {
            matrix |= (out >> i & 1) << (8 * (7 - i) + in);
        }
    }
    return matrix;
}

void append_word(std::vector<std::uint8_t>& to, std::uint64_t word)
{
    for (unsigned i = 0; i < 8; ++i) {
        to.push_back(std::uint8_t(word >> 8 * i));
    }
}

} // namespace

reed_solomon_syndromes::reed_solomon_syndromes(const reed_solomon_code& code,
                                               unsigned interleaving,
                                               const std::string& variant)
    : d_code(code),
      d_field(code.field()),
      d_basis(code),
      d_divider(code),
      d_kernels(reed_solomon::kernels_of(variant))
{
    d_constants.interleaving = interleaving;
    d_constants.symbols = code.n();
    if (d_kernels.width) {
        make_constants();
        return;
    }
    const auto parity = code.parity();
    for (unsigned j = 0; j < parity; ++j) {
        for (unsigned root = 0; root < parity; ++root) {
            const auto exponent = code.root_step() * (code.first_root() + root);
            const auto power = exponent * (parity - 1 - j);
            d_exponents.push_back(std::uint8_t(power % reed_solomon::field::order));
        }
    }
}

void reed_solomon_syndromes::make_constants()
{
    const auto width = d_kernels.width, interleaving = d_constants.interleaving;
    const auto positions = width / interleaving;
    const auto per_pass = d_kernels.roots_per_pass;
    const auto roots = (d_code.parity() + per_pass - 1) / per_pass * per_pass;
    const auto gfni = reed_solomon::gfni_elements(d_field);
    for (unsigned root = 0; root < roots; ++root) {
        // Exponent of beta. If the code's roots do not fill the last pass, further powers
        // of alpha fill it.
        const auto exponent = d_code.root_step() * (d_code.first_root() + root);
        const auto product = [&](unsigned byte) {
            const auto factor = d_field.power(exponent * positions);
            return d_basis.byte[d_field.multiply(d_basis.element[byte], factor)];
        };
        // Returns the factor of the lane, or 0 if the lane is before the first position.
        const auto weight = [&](unsigned lane) {
            const auto before_end = (width - 1 - lane) / interleaving;
            return before_end < positions ? d_field.power(exponent * before_end)
                                          : std::uint8_t(0);
        };
        if (d_kernels.gfni) {
            append_word(d_steps, matrix_of(product));
            for (unsigned lane = 0; lane < width; ++lane) {
                d_lanes.push_back(gfni[weight(lane)]);
            }
            continue;
        }
        for (unsigned shift = 0; shift <= 4; shift += 4) {
            for (unsigned nibble = 0; nibble < 16; ++nibble) {
                d_steps.push_back(product(nibble << shift));
            }
        }
        for (unsigned bit = 8; bit-- > 0;) {
            for (unsigned lane = 0; lane < width; ++lane) {
                d_lanes.push_back(
                    d_field.multiply(d_basis.element[1u << bit], weight(lane)));
            }
        }
    }
    for (unsigned a = 0; a < 256; ++a) {
        d_elements[gfni[a]] = std::uint8_t(a);
    }
    d_constants.positions = positions;
    d_constants.roots = roots;
    d_constants.steps = d_steps.data();
    d_constants.lanes = d_lanes.data();
    d_constants.conversion =
        matrix_of([&](unsigned byte) { return gfni[d_basis.element[byte]]; });
}

unsigned reed_solomon_syndromes::compute(const std::uint8_t* frame,
                                         values& syndromes) const
{
    constexpr auto stride = reed_solomon::syndrome_stride;
    if (d_kernels.width == 0) {
        return compute_from_parity(frame, syndromes);
    }
    d_kernels.syndromes(d_constants, frame, syndromes.data());
    const auto parity = d_code.parity(), interleaving = d_constants.interleaving;
    static_assert(stride == 2 * sizeof(std::uint64_t));
    std::uint64_t any[2] = {};
    for (unsigned root = 0; root < parity; ++root) {
        std::uint64_t row[2];
        std::memcpy(row, &syndromes[root * stride], stride);
        any[0] |= row[0];
        any[1] |= row[1];
    }
    unsigned wrong = 0;
    if (any[0] | (interleaving > 8 ? any[1] : 0)) {
        std::uint8_t bytes[stride];
        std::memcpy(bytes, any, stride);
        for (unsigned i = 0; i < interleaving; ++i) {
            wrong |= unsigned(bytes[i] != 0) << i;
        }
    }
    if (wrong && d_kernels.gfni) {
        for (unsigned i = 0; i < parity * stride; ++i) {
            syndromes[i] = d_elements[syndromes[i]];
        }
    }
    return wrong;
}

// Computes the syndromes of each received word from the difference between the word and
// the codeword of its message. The difference has the same syndromes as the word, and is
// nonzero only in the parity symbols.
unsigned reed_solomon_syndromes::compute_from_parity(const std::uint8_t* frame,
                                                     values& syndromes) const
{
    constexpr auto stride = reed_solomon::syndrome_stride;
    const auto parity = d_code.parity(), interleaving = d_constants.interleaving;
    const auto* const received = frame + d_code.k() * interleaving;
    std::array<std::uint8_t, reed_solomon_code::max_parity * stride> difference;
    d_divider.divide(frame, interleaving, difference.data());
    unsigned wrong = 0;
    for (unsigned i = 0; i < interleaving; ++i) {
        std::uint8_t any = 0;
        for (unsigned j = 0; j < parity; ++j) {
            auto& symbol = difference[j * interleaving + i];
            symbol = d_basis.element[symbol ^ received[j * interleaving + i]];
            any |= symbol;
        }
        if (!any) {
            continue;
        }
        wrong |= 1u << i;
        std::array<std::uint8_t, reed_solomon_code::max_parity> sums{};
        for (unsigned j = 0; j < parity; ++j) {
            const auto log = d_field.log(difference[j * interleaving + i]);
            const auto* const exponents = &d_exponents[j * parity];
            for (unsigned root = 0; root < parity; ++root) {
                sums[root] ^= d_field.power_of_sum(log, exponents[root]);
            }
        }
        for (unsigned root = 0; root < parity; ++root) {
            syndromes[root * stride + i] = sums[root];
        }
    }
    return wrong;
}

} // namespace gr::gpufec
