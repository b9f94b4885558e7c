// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The compressed messages of a check, and how they are stored in memory. */

#ifndef INCLUDED_GPUFEC_LDPC_CUDA_DVB_INT8X2_MESSAGES_CUH
#define INCLUDED_GPUFEC_LDPC_CUDA_DVB_INT8X2_MESSAGES_CUH

#include "arithmetic.cuh"

namespace gr::gpufec::ldpc {
namespace device {
namespace dvb_int8x2 {

// The messages of one check of two codewords, or of two checks of one codeword, in the
// halves of words. Each half has, from the highest bit down, a sign and an is_min1 bit
// (see check_node_update.cuh) for each of eight edges. In the last word with such bits,
// the lowest bit of a half is the decision on the preceding parity bit.
template <unsigned Edges, unsigned Pitch = group>
struct messages {
    static constexpr unsigned parts = Edges / 8 + 1;
    static constexpr unsigned words = parts + 1;
    // The last word has, from the lowest byte up, the first magnitudes of both halves and
    // then their second magnitudes; see first() and second().
    std::uint32_t word[words];

    // The bits of up to four edges fit in a byte per check. The decisions are then in the
    // highest bits of the magnitudes' bytes, because a magnitude needs only six bits.
    static constexpr bool few = Edges <= 4;
    // Number of 32-bit words per layer.
    static constexpr unsigned layer_words = few ? Pitch * 3 / 2 : words * Pitch;
    // Number of words per vector. In a layer, the vectors of all threads precede the last
    // words of all threads.
    static constexpr unsigned width = few              ? 1
                                      : words % 4 == 0 ? 4
                                      : words % 2 == 0 ? 2
                                      : words > 4      ? 4
                                                       : 2;
    // Number of words per check that do not fill a vector.
    static constexpr unsigned single_words = words % width;
    static_assert(single_words < 2, "a check has at most one word outside its vectors");

    // A thread's pointers to its first vector, to its last word and, with few edges, to
    // the two bytes with the bits of its checks.
    struct place {
        std::uint32_t *vectors, *word;
        std::uint16_t* two_bytes;
        __device__ place(std::uint32_t* layer, unsigned j)
            : vectors(layer + width * j),
              word(few ? nullptr : layer + (words - single_words) * Pitch + j),
              two_bytes(reinterpret_cast<std::uint16_t*>(layer + Pitch) + j)
        {
        }
        __device__ void next(unsigned layers = 1)
        {
            vectors += layers * layer_words;
            word += layers * layer_words;
            two_bytes += layers * layer_words * 2;
        }
    };

    __device__ void load(const place& from, unsigned layers)
    {
        const unsigned ahead = layers * layer_words;
        if constexpr (few) {
            word[1] = __ldcg(from.vectors + ahead);
            word[0] = __ldcg(from.two_bytes + 2 * ahead);
        } else {
#pragma unroll
            for (unsigned w = 0; w < words - single_words; w += width) {
                const auto* const at = from.vectors + ahead + w * Pitch;
                if constexpr (width == 4) {
                    const auto v = __ldcg(reinterpret_cast<const uint4*>(at));
                    word[w] = v.x;
                    word[w + 1] = v.y;
                    word[w + 2] = v.z;
                    word[w + 3] = v.w;
                } else {
                    const auto v = __ldcg(reinterpret_cast<const uint2*>(at));
                    word[w] = v.x;
                    word[w + 1] = v.y;
                }
            }
            if constexpr (single_words) {
                word[words - 1] = __ldcg(from.word + ahead);
            }
        }
    }
    __device__ void clear()
    {
#pragma unroll
        for (auto& w : word) {
            w = 0;
        }
    }
    // Unpacks the loaded words to the form that variable_to_check() needs.
    __device__ void unpack()
    {
        if constexpr (few) {
            word[0] = __byte_perm(word[0], 0, 0x1404);
            word[1] &= 0x7f7f7f7fu;
        }
    }
    __device__ void store(const place& to) const
    {
        if constexpr (few) {
            __stcg(to.vectors, word[1]);
            __stcg(to.two_bytes, std::uint16_t(__byte_perm(word[0], 0, 0x4431)));
        } else {
#pragma unroll
            for (unsigned w = 0; w < words - single_words; w += width) {
                auto* const at = to.vectors + w * Pitch;
                if constexpr (width == 4) {
                    __stcg(reinterpret_cast<uint4*>(at),
                           make_uint4(word[w], word[w + 1], word[w + 2], word[w + 3]));
                } else {
                    __stcg(reinterpret_cast<uint2*>(at),
                           make_uint2(word[w], word[w + 1]));
                }
            }
            if constexpr (single_words) {
                __stcg(to.word, word[words - 1]);
            }
        }
    }
    // load_decision() loads the word with the decision on the preceding parity bit;
    // decision() moves that decision to the sign bits.
    __device__ static std::uint32_t load_decision(std::uint32_t* layer, unsigned j)
    {
        constexpr unsigned w = parts - 1;
        const place from(layer, j);
        return __ldcg(few || w < words - single_words
                          ? from.vectors + w / width * width * Pitch + w % width
                          : from.word);
    }
    __device__ static std::uint32_t decision(std::uint32_t word)
    {
        return word << (few ? 8 : 15);
    }

    // second() returns the magnitude of the message to the edge with min1, and first()
    // returns the magnitude of the messages to all other edges.
    __device__ half2 first(const constants& k) const
    {
        return __hsub2(value_of(__byte_perm(word[parts], k.halves, 0x4140)), all(0.5f));
    }
    __device__ half2 second(const constants& k) const
    {
        return __hsub2(value_of(__byte_perm(word[parts], k.halves, 0x4342)), all(0.5f));
    }
    // Returns posterior p minus the message of edge e.
    __device__ half2 variable_to_check(half2 p,
                                       unsigned e,
                                       half2 first,
                                       half2 second) const
    {
        return __hsub2(p, selected(word[e / 8] << 2 * (e % 8), first, second));
    }
};

} // namespace dvb_int8x2
} // namespace device
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CUDA_DVB_INT8X2_MESSAGES_CUH */
