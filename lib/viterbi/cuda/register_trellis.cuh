// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The add-compare-select of a trellis with all path metrics in registers.
 *
 * 2^LB neighbouring lanes decode a pair of parallel blocks. The registers of these lanes
 * hold the path metrics of N = 2^(K−1) states, and butterflies are computed in place, as
 * in a fast Fourier transform. A location is a register of a lane; its number consists of
 * the lane (high bits) and the register index (low bits). At stage T, state s is at
 * location rotl^T(s), which is s rotated left by T bits. The two states of a butterfly
 * differ in bit (T modulo K−1) of the location. If this bit belongs to the register
 * index, a thread computes the butterfly alone. If it belongs to the lane number, two
 * lanes exchange their path metrics, and each computes one result. A round is the number
 * of stages after which the permutation is the identity again. The loop is unrolled over
 * a round, so that register indices are constants and the permutation costs nothing.
 *
 * Output words are linear in the state. The lane's part of the state therefore only
 * exchanges the branch metrics of a 0 and a 1, like an inverted output. The H = 4 low
 * bits of a path metric hold decisions, as on the CPU; cpu/kernels.cc proves that the
 * range suffices.
 *
 * A pair has N/4 survivor words per strip of H stages. Word i of lane l holds the
 * decisions of registers 4i … 4i+3, 4 bits each. The first block of the pair has the
 * lower half of a word. */

#ifndef INCLUDED_GPUFEC_VITERBI_CUDA_REGISTER_TRELLIS_CUH
#define INCLUDED_GPUFEC_VITERBI_CUDA_REGISTER_TRELLIS_CUH

#include "common.cuh"
#include <type_traits>

namespace gr::gpufec::viterbi {
namespace device {

//! The polynomials of a code as template arguments. No output is inverted.
template <unsigned K, unsigned... Polynomials>
struct static_code {
    static constexpr unsigned constraint_length = K;
    static constexpr unsigned memory = K - 1;
    static constexpr unsigned states = 1u << memory;
    static constexpr unsigned outputs = sizeof...(Polynomials);
    static constexpr unsigned spread = memory * 127 * outputs;

    //! Returns the output word of a branch, the first output most significant.
    GPUFEC_HOST_DEVICE static constexpr unsigned word(unsigned state, unsigned bit)
    {
        unsigned w = 0;
        for (const unsigned p : { Polynomials... }) {
            w = w << 1 | parity((bit << memory | state) & p);
        }
        return w;
    }

    static constexpr unsigned polynomial(unsigned r)
    {
        const unsigned all[] = { Polynomials... };
        return all[r];
    }

private:
    GPUFEC_HOST_DEVICE static constexpr unsigned parity(unsigned x)
    {
        unsigned p = 0;
        for (; x; x &= x - 1) {
            p ^= 1;
        }
        return p;
    }
};

//! Calls \p action(0) … action(N−1), unrolled. Each number is a std::integral_constant,
//! so that the action can use it as a template argument.
template <unsigned N, unsigned I = 0, class Action>
__device__ inline void repeat(Action&& action)
{
    if constexpr (I < N) {
        action(std::integral_constant<unsigned, I>());
        repeat<N, I + 1>(action);
    }
}

/*
 * The path metrics of a pair of blocks, or a lane's part of the metrics. If Moves is set,
 * a round is one strip of H stages, and path metrics are moved back to the registers of
 * their states after each round. Inverted: mask of inverted outputs
 * (output_order::inverted) if one lane has all states, otherwise 0.
 */
template <class Code, unsigned LB, bool Moves = false, unsigned Inverted = 0>
class register_trellis
{
public:
    static constexpr unsigned H = 4;
    static constexpr unsigned memory = Code::memory;
    static constexpr unsigned lanes = 1u << LB;
    static constexpr unsigned registers = Code::states / lanes;
    static constexpr unsigned register_bits = memory - LB;
    // Number of survivor words per strip and thread.
    static constexpr unsigned words = registers / 4;
    static constexpr unsigned R = Code::outputs;
    static constexpr unsigned spread = Code::spread;
    static_assert(lanes == 1 || Inverted == 0, "lanes receive the mask at run time");
    //! Number of stages per round: whole strips after which the permutation is the
    //! identity; if Moves is set, one strip, after which end_round() undoes the
    //! permutation.
    static constexpr unsigned round = Moves             ? H
                                      : memory % 4 == 0 ? memory
                                      : memory % 2 == 0 ? 2 * memory
                                                        : 4 * memory;
    static constexpr unsigned strips = round / H;
    static_assert((Code::constraint_length + 3) * R * 127 + 1 < 4096,
                  "path metrics do not fit beside H = 4 decisions");

    GPUFEC_HOST_DEVICE static constexpr unsigned
    rotated(unsigned s, unsigned by) // to the left, within `memory` bits
    {
        by %= memory;
        return (s << by | s >> (memory - by)) & (Code::states - 1);
    }

    //! \p inverted is the mask of inverted outputs if several lanes share the states, and
    //! is otherwise not used.
    __device__ register_trellis(unsigned lane, unsigned inverted) : d_lane(lane)
    {
        // Stores, for each stage T modulo K−1, the mask of outputs that are inverted by
        // this lane's part of the state or by the code.
        for (unsigned T = 0; T < memory; ++T) {
            const unsigned at = lane << register_bits;
            unsigned flips = Code::word(rotated(at, memory - T), 0) ^ inverted;
            if (T >= register_bits && (at >> T & 1u)) {
                // Here the lane holds the odd states and computes the successors for bit
                // 1.
                flips ^= Code::word(0, 1);
            }
            d_flips |= std::uint64_t(flips) << (R * T);
        }
    }

    //! Sets the path metric of state 0 to 0 and all other path metrics to \p elsewhere.
    __device__ void start(std::uint32_t elsewhere)
    {
#pragma unroll
        for (unsigned r = 0; r < registers; ++r) {
            d_metric[r] = elsewhere;
        }
        if (d_lane == 0) {
            d_metric[0] = 0;
        }
    }

    //! Computes stage T of a round from the soft values of its outputs.
    template <unsigned T>
    __device__ void stage(const std::uint32_t (&value)[R])
    {
        constexpr unsigned words_count = 1u << R;
        constexpr std::uint32_t taken = 0x00010001u << (T % H);
        std::uint32_t cost[words_count];
        costs<T % memory>(value, cost);
        std::uint32_t first[words_count], second[words_count];
        constexpr unsigned bit = T % memory;
        if constexpr (bit < register_bits) {
#pragma unroll
            for (unsigned w = 0; w < words_count; ++w) {
                first[w] = cost[w] * 16;
                second[w] = cost[w] * 16 + taken;
            }
            repeat<registers / 2>([&](auto butterfly) {
                // Bit `bit` of r is 0, and `state` is the even state in register r.
                constexpr unsigned n = decltype(butterfly)::value;
                constexpr unsigned r = (n >> bit << (bit + 1)) | (n & ((1u << bit) - 1));
                constexpr unsigned state = rotated(r, memory - bit);
                constexpr unsigned even0 = Code::word(state, 0),
                                   even1 = Code::word(state, 1);
                constexpr unsigned odd0 = Code::word(state | 1, 0),
                                   odd1 = Code::word(state | 1, 1);
                auto& even = d_metric[r];
                auto& odd = d_metric[r | 1u << bit];
                const auto low = add_min2_within(even, first[even0], odd + second[odd0]);
                const auto high = add_min2_within(even, first[even1], odd + second[odd1]);
                even = low;
                odd = high;
            });
        } else {
            constexpr unsigned partner = 1u << (bit - register_bits);
            const bool is_odd = d_lane & partner;
            const auto own_taken = is_odd ? taken : 0;
            const auto other_taken = is_odd ? 0 : taken;
#pragma unroll
            for (unsigned w = 0; w < words_count; ++w) {
                first[w] = cost[w] * 16 + own_taken;
                second[w] = cost[w] * 16 + other_taken;
            }
            repeat<registers>([&](auto index) {
                constexpr unsigned r = decltype(index)::value;
                constexpr unsigned state = rotated(r, memory - bit);
                // The partner lane has the state that differs in the oldest bit, bit 0.
                constexpr unsigned own = Code::word(state, 0),
                                   others = Code::word(state ^ 1, 0);
                const auto other = __shfl_xor_sync(0xffffffffu, d_metric[r], partner);
                d_metric[r] =
                    add_min2_within(d_metric[r], first[own], other + second[others]);
            });
        }
    }

    //! Ends a round. If Moves is set, moves path metrics back to the registers of their
    //! states.
    __device__ void end_round()
    {
        if constexpr (Moves) {
            std::uint32_t moved[registers];
            repeat<registers>([&](auto state) {
                constexpr unsigned s = decltype(state)::value;
                moved[s] = d_metric[rotated(s, round)];
            });
            repeat<registers>([&](auto state) {
                constexpr unsigned s = decltype(state)::value;
                d_metric[s] = moved[s];
            });
        }
    }

    //! Moves the decisions of a strip from the path metrics to the survivors.
    template <class Survivors>
    __device__ void strip(const Survivors& to, unsigned index)
    {
        constexpr std::uint32_t mask = 0x000f000fu;
#pragma unroll
        for (unsigned i = 0; i < words; ++i) {
            auto* const p = d_metric + 4 * i;
            std::uint32_t word;
            if constexpr (R > 2) {
                // Multiplications are used, because branch metrics already occupy the
                // execution pipe for logical operations.
                word = 0;
#pragma unroll
                for (unsigned k = 4; k-- > 0;) {
                    const auto decisions = p[k] & mask;
                    p[k] = multiply_add(decisions, ~0u, p[k]);
                    word = multiply_add(word, 16, decisions);
                }
            } else {
                const auto a = select(p[0], p[1] << 4);
                const auto b = select(p[2], p[3] << 4);
                word = __byte_perm(a, b, 0x6240);
#pragma unroll
                for (unsigned k = 0; k < 4; ++k) {
                    p[k] &= ~mask;
                }
            }
            to.at(index, words, i) = word;
        }
    }

    //! Subtracts the smallest path metric from all path metrics if one might exceed the
    //! range in the next strip, or if \p always is set. The test reads one path metric
    //! per lane, because the other metrics exceed it by at most the spread. Path metrics
    //! are then clamped, which affects states that cannot be reached yet.
    __device__ void bring_down(bool always)
    {
        constexpr unsigned B = 127 * R;
        constexpr auto threshold = (4095u - H * B - Code::spread) << H;
        const auto high = max2(d_metric[0], both(threshold)) != both(threshold);
        if (!__any_sync(0xffffffffu, high) && !always) {
            return;
        }
        auto low = d_metric[0];
#pragma unroll
        for (unsigned r = 1; r < registers; ++r) {
            low = min2(low, d_metric[r]);
        }
#pragma unroll
        for (unsigned l = 1; l < lanes; l *= 2) {
            low = min2(low, __shfl_xor_sync(0xffffffffu, low, l));
        }
        const auto down = __vsub2(0, low);
        constexpr auto most = (Code::spread + 1) << H;
#pragma unroll
        for (unsigned r = 0; r < registers; ++r) {
            d_metric[r] = add_min2(d_metric[r], down, both(most));
        }
    }

private:
    // Combines the low nibbles of the bytes of `a` with the high nibbles of those of `b`.
    __device__ static std::uint32_t select(std::uint32_t a, std::uint32_t b)
    {
        // The compiler translates (a & m) | (b & ~m) to two instructions.
        std::uint32_t d;
        asm("lop3.b32 %0, %1, %2, %3, 0xca;"
            : "=r"(d)
            : "r"(0x0f0f0f0fu), "r"(a), "r"(b));
        return d;
    }

    __device__ static std::uint32_t
    multiply_add(std::uint32_t a, std::uint32_t b, std::uint32_t c)
    {
        std::uint32_t d;
        asm("mad.lo.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
        return d;
    }

    // Computes the branch metrics of all output words. A caller derives the output word
    // from the register's part of the state only. The lane's part inverts some outputs
    // (d_flips), for which the branch metrics of 0 and 1 are exchanged here.
    template <unsigned T>
    __device__ void costs(const std::uint32_t (&value)[R], std::uint32_t* cost) const
    {
        if constexpr (lanes > 1) {
            cost[0] = 0;
#pragma unroll
            for (unsigned r = 0; r < R; ++r) {
                const auto positive = __vmaxs2(value[r], 0);
                const auto negative = __vsub2(positive, value[r]);
                const bool flip = d_flips >> (R * T + R - 1 - r) & 1u;
                const auto zero = flip ? positive : negative;
                const auto one = flip ? negative : positive;
#pragma unroll
                for (unsigned w = 1u << r; w-- > 0;) {
                    cost[2 * w + 1] = cost[w] + one;
                    cost[2 * w] = cost[w] + zero;
                }
            }
        } else {
            // The first branch metric is that of the word that contradicts all positive
            // soft values. The others follow from a word that differs in one bit.
            constexpr unsigned count = 1u << R, contradicted = count - 1 ^ Inverted;
            std::uint32_t sum = 0;
#pragma unroll
            for (unsigned r = 0; r < R; ++r) {
                sum += __vmaxs2(value[r], 0);
            }
            cost[contradicted] = sum;
            repeat<count - 1>([&](auto index) {
                constexpr unsigned others = decltype(index)::value + 1;
                constexpr unsigned last = others & -others;
                constexpr unsigned w = contradicted ^ others;
                cost[w] = __vsub2(cost[w ^ last], value[R - 1 - log2_of(last)]);
            });
        }
    }

    GPUFEC_HOST_DEVICE static constexpr unsigned log2_of(unsigned power)
    {
        return power > 1 ? 1 + log2_of(power / 2) : 0;
    }

    std::uint32_t d_metric[registers];
    const unsigned d_lane;
    std::uint64_t d_flips = 0;
};

} // namespace device
} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_CUDA_REGISTER_TRELLIS_CUH */
