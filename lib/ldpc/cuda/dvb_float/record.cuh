// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The compressed messages of a check, and how they are stored in memory. */

#ifndef INCLUDED_GPUFEC_LDPC_CUDA_DVB_FLOAT_RECORD_CUH
#define INCLUDED_GPUFEC_LDPC_CUDA_DVB_FLOAT_RECORD_CUH

#include "arithmetic.cuh"
#include <type_traits>

namespace gr::gpufec::ldpc {
namespace device {
namespace dvb_float {

template <class T>
__device__ void store_vector(T* to, T x, bool shared)
{
    if (shared) {
        *to = x;
    } else {
        __stcg(to, x);
    }
}

/* The record of a check: its messages, and the posterior of the preceding parity bit. The
 * message of the edge with min1 (the smallest variable-to-check magnitude) has the second
 * magnitude, and all other messages have the first. The sign of edge e is bit Edges − 1 −
 * e of the signs. */
template <unsigned Edges, bool Int16, unsigned Pitch>
struct record;

template <unsigned Edges, unsigned Pitch>
struct record<Edges, true, Pitch> {
    // The first word has the first magnitude in its lower half and the second in its
    // upper half. Magnitudes are at most 511. The lower half also has the index of the
    // edge with min1, multiplied by place_unit. Signs and posterior follow, in the halves
    // of one word if they fit, otherwise in two words.
    static constexpr bool narrow = Edges <= 16;
    using vector = std::conditional_t<narrow, uint2, uint4>;
    // Distance in words between the records of adjacent threads.
    static constexpr unsigned own_words = sizeof(vector) / 4;
    static constexpr unsigned layer_words = own_words * Pitch;
    static constexpr unsigned place_unit = 512;
    static constexpr std::uint32_t magnitude = place_unit - 1, places = 31 * place_unit;
    static constexpr std::uint32_t halves = 0x4b000000u; // bit pattern of low_bits
    // Added to a posterior to store it: the sum's 16 low bits are the posterior + 32768.
    static constexpr float middle = low_bits + 32768;

    struct unpacked {
        // first is the magnitude to all edges except the one with min1; step is the
        // magnitude to the edge with min1, minus first; place is place_unit times the
        // index of that edge, in the low bits.
        float first, step, place;
        std::uint32_t signs; // the sign of edge 0 is the highest bit

        __device__ float message(unsigned e) const
        {
            // A multiple of place_unit, and 0 only for the edge with min1.
            const float off = __fsub_rn(place, low_bits + place_unit * e);
            const float is_min1 = __saturatef(__fsub_rn(1, fabsf(off))); // 1 or 0
            return signed_by(fmaf(is_min1, step, first), signs << e);
        }
    };
    __device__ unpacked unpack() const
    {
        const float first = value_of((v.x & magnitude) | halves);
        const float second = value_of(__byte_perm(v.x, halves, 0x7632));
        return { __fsub_rn(first, low_bits),
                 __fsub_rn(second, first),
                 value_of((v.x & places) | halves),
                 v.y << (32 - Edges) };
    }
    __device__ float posterior_before() const
    {
        if constexpr (narrow) {
            return __fsub_rn(value_of(__byte_perm(v.y, halves, 0x7632)), middle);
        } else {
            return value_of(v.z);
        }
    }
    __device__ void load(const std::uint32_t* own, bool shared)
    {
        const auto* const from = reinterpret_cast<const vector*>(own);
        v = shared ? *from : __ldcg(from);
    }
    __device__ void store(std::uint32_t* own, bool shared) const
    {
        store_vector(reinterpret_cast<vector*>(own), v, shared);
    }
    // Sets the record of a check that has no messages yet.
    __device__ void begin(float posterior_before)
    {
        set(low_bits, low_bits, 0, 0, posterior_before);
    }
    __device__ void store_first(std::uint32_t* own, bool shared) const
    {
        store(own, shared);
    }
    __device__ void load_first(const std::uint32_t* own, bool shared)
    {
        load(own, shared);
        begin(posterior_before());
    }
    // Sets the record. Magnitudes and place are in the low bits of their arguments. If
    // several edges have min1, \p place is the sum of their places. Any place is valid
    // then, because both magnitudes are equal.
    __device__ void set(float first,
                        float second,
                        float place,
                        std::uint32_t signs,
                        float posterior_before)
    {
        v.x = __byte_perm(bits(first), bits(second), 0x5410) | (bits(place) & places);
        if constexpr (narrow) {
            v.y = __byte_perm(signs, bits(__fadd_rn(posterior_before, middle)), 0x5410);
        } else {
            v.y = signs;
            v.z = bits(posterior_before);
            v.w = 0;
        }
    }

private:
    vector v;
};

template <unsigned Edges, unsigned Pitch>
struct record<Edges, false, Pitch> {
    // A layer has one row per word of the record: both magnitudes, the posterior and, if
    // there are more than 14 edges, the signs. For up to 14 edges, the magnitudes' words
    // also hold the signs: up to eight in the low bits of the first magnitude, up to four
    // in the low bits of the second magnitude, and one in each sign bit. The lowest bits
    // of the second magnitude hold the index of the edge with min1.
    static constexpr bool narrow = Edges <= 14;
    static constexpr unsigned rows = narrow ? 3 : 4;
    static constexpr unsigned own_words = 1; // distance in words between the records of
                                             // adjacent threads
    static constexpr unsigned layer_words = rows * Pitch;
    static constexpr unsigned place_bits = narrow ? 4 : 5;
    static constexpr unsigned below_first = !narrow ? 0 : Edges < 8 ? Edges : 8;
    static constexpr unsigned below_second = !narrow ? 0
                                             : Edges - below_first < 4
                                                 ? Edges - below_first
                                                 : 4;
    static constexpr unsigned above = narrow ? Edges - below_first - below_second : 0;
    static constexpr std::uint32_t signless = kept_bits & ~sign;

    // Returns the stored part of a magnitude, with the sign bit of \p product.
    __device__ static float message(float magnitude, std::uint32_t product)
    {
        return value_of(select_bits(signless, bits(magnitude), product & sign));
    }

    struct unpacked {
        std::uint32_t first, second, signs;
        unsigned place;

        __device__ float message(unsigned e) const
        {
            const auto magnitude = place == e ? second : first;
            if constexpr (!narrow) {
                return signed_by(value_of(magnitude), signs << (32 - Edges + e));
            }
            // The low bits of s must be 0, because they become the message's low bits.
            const auto s =
                e < below_first ? first << (32 - below_first + e)
                : e < below_first + below_second
                    ? second << (32 - place_bits - below_second + e - below_first)
                    : (e == below_first + below_second ? first : second) & sign;
            return value_of(select_bits(signless, magnitude, s));
        }
    };
    __device__ unpacked unpack() const
    {
        return { first,
                 narrow ? second : second & kept_bits,
                 signs,
                 second & ((1u << place_bits) - 1) };
    }
    __device__ float posterior_before() const { return value_of(posterior); }
    __device__ void load(const std::uint32_t* own, bool shared)
    {
        const auto row = [&](unsigned i) {
            const auto* const at = own + i * Pitch;
            return shared ? *at : __ldcg(at);
        };
        first = row(0);
        second = row(1);
        posterior = row(2);
        signs = narrow ? 0 : row(rows - 1);
    }
    __device__ void store(std::uint32_t* own, bool shared) const
    {
        const auto row = [&](unsigned i, std::uint32_t x) {
            store_vector(own + i * Pitch, x, shared);
        };
        row(0, first);
        row(1, second);
        row(2, posterior);
        if constexpr (!narrow) {
            row(3, signs);
        }
    }
    // The lowest bit of \p all_signs is the sign of the last edge.
    __device__ void set(float to_all,
                        float to_min1,
                        unsigned min1_at,
                        std::uint32_t all_signs,
                        float posterior_before)
    {
        first = bits(to_all);
        second = bits(to_min1);
        if constexpr (narrow) {
            constexpr auto mask = (1u << below_second) - 1;
            first = select_bits(signless, first, all_signs >> (below_second + above));
            second = select_bits(
                signless, second, min1_at | (all_signs >> above & mask) << place_bits);
            if constexpr (above > 0) {
                first |= all_signs << (32 - above) & sign;
            }
            if constexpr (above > 1) {
                second |= all_signs << 31;
            }
        } else {
            first &= signless;
            second = select_bits(signless, second, min1_at);
        }
        signs = all_signs;
        posterior = bits(posterior_before);
    }
    // Sets the record of a check that has no messages yet.
    __device__ void begin(float posterior_before) { set(0, 0, 0, 0, posterior_before); }
    // store_first() and load_first() handle a record without messages, which has only a
    // posterior.
    __device__ void store_first(std::uint32_t* own, bool shared) const
    {
        store_vector(own + 2 * Pitch, posterior, shared);
    }
    __device__ void load_first(const std::uint32_t* own, bool shared)
    {
        const auto* const at = own + 2 * Pitch;
        begin(value_of(shared ? *at : __ldcg(at)));
    }

private:
    std::uint32_t first, second, posterior, signs;
};

} // namespace dvb_float
} // namespace device
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CUDA_DVB_FLOAT_RECORD_CUH */
