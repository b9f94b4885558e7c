// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The fast decoder for the codes of the standards: all path metrics in registers.
 *
 * A pair of parallel blocks belongs to 2^LB neighbouring lanes, whose registers hold the
 * N = 2^(K−1) states in place, as a fast Fourier transform does: at stage T state s is at
 * location rotl^T(s), and the two states of a butterfly differ in bit T of the location.
 * If that is a bit of the register index the butterfly is the thread's own; if it is a
 * bit of the lane, partners exchange and each computes one of the two results. Unrolled
 * over a whole number of turns the permutation costs nothing.
 *
 * Output words are linear in the state, so what the lane contributes only changes what a
 * 0 and a 1 cost; so does an output that is sent inverted. Decisions ride in the low bits
 * of the metrics as in cpu_kernels.cc, where the range is proved; here H = 4.
 *
 * Survivors of a pair and strip: N/4 words, word i of lane l holding the decisions of
 * registers 4i … 4i+3, 4 bits each, of the first block in the low half. */

#ifndef INCLUDED_GPUFEC_VITERBI_CUDA_REGISTERS_CUH
#define INCLUDED_GPUFEC_VITERBI_CUDA_REGISTERS_CUH

#include "cuda_common.cuh"
#include <cuda_pipeline_primitives.h>
#include <type_traits>

namespace gr::gpufec::viterbi {
namespace device {

//! A code known to the compiler; outputs in this order, without inversion.
template <unsigned K, unsigned... Polynomials>
struct static_code {
    static constexpr unsigned constraint_length = K;
    static constexpr unsigned memory = K - 1;
    static constexpr unsigned states = 1u << memory;
    static constexpr unsigned outputs = sizeof...(Polynomials);
    static constexpr unsigned spread = memory * 127 * outputs;

    //! Output word of (state, bit), the first output most significant.
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

//! Calls \p action(0) … action(N−1), each number a constant of its own type.
template <unsigned N, unsigned I = 0, class Action>
__device__ inline void repeat(Action&& action)
{
    if constexpr (I < N) {
        action(std::integral_constant<unsigned, I>());
        repeat<N, I + 1>(action);
    }
}

/*
 * The path metrics of a pair of blocks, or of a lane's part of them. Moves: instead of
 * unrolling until the permutation has come round, move the registers back every strip.
 * Inverted: outputs whose values say the opposite, the first highest; a trellis of
 * several lanes is told when it is made.
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
    static constexpr unsigned words = registers / 4; // of survivors, a strip and thread
    static constexpr unsigned R = Code::outputs;
    static constexpr unsigned spread = Code::spread;
    static_assert(lanes == 1 || Inverted == 0, "several lanes learn it at run time");
    //! Stages after which permutation and strips begin anew.
    static constexpr unsigned turn = Moves             ? H
                                     : memory % 4 == 0 ? memory
                                     : memory % 2 == 0 ? 2 * memory
                                                       : 4 * memory;
    static constexpr unsigned strips = turn / H;
    static_assert((Code::constraint_length + 3) * R * 127 + 1 < 4096,
                  "metrics need H = 2");

    GPUFEC_HOST_DEVICE static constexpr unsigned
    rotated(unsigned s, unsigned by) // left, in memory bits
    {
        by %= memory;
        return (s << by | s >> (memory - by)) & (Code::states - 1);
    }

    //! \p inverted: as Inverted, of several lanes.
    __device__ register_trellis(unsigned lane, unsigned inverted) : d_lane(lane)
    {
        // Which outputs the lane's part of the state flips, at each stage of a turn.
        for (unsigned T = 0; T < memory; ++T) {
            const unsigned at = lane << register_bits;
            unsigned flips = Code::word(rotated(at, memory - T), 0) ^ inverted;
            if (T >= register_bits && (at >> T & 1u)) {
                // This lane holds the odd states and computes what bit 1 leads to.
                flips ^= Code::word(0, 1);
            }
            d_flips |= std::uint64_t(flips) << (R * T);
        }
    }

    //! State 0 costs nothing, the others \p elsewhere.
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

    //! One stage; T counts from the beginning of a turn.
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
                // The registers whose bit is 0, and their states.
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
                // The partner's state differs in its oldest bit.
                constexpr unsigned own = Code::word(state, 0),
                                   others = Code::word(state ^ 1, 0);
                const auto other = __shfl_xor_sync(0xffffffffu, d_metric[r], partner);
                d_metric[r] =
                    add_min2_within(d_metric[r], first[own], other + second[others]);
            });
        }
    }

    //! Ends a turn: states go back to where the next one expects them.
    __device__ void end_turn()
    {
        if constexpr (Moves) {
            std::uint32_t moved[registers];
            repeat<registers>([&](auto state) {
                constexpr unsigned s = decltype(state)::value;
                moved[s] = d_metric[rotated(s, turn)];
            });
            repeat<registers>([&](auto state) {
                constexpr unsigned s = decltype(state)::value;
                d_metric[s] = moved[s];
            });
        }
    }

    //! Moves the decisions of a strip into survivors.
    template <class Survivors>
    __device__ void strip(const Survivors& to, unsigned index)
    {
        constexpr std::uint32_t mask = 0x000f000fu;
#pragma unroll
        for (unsigned i = 0; i < words; ++i) {
            auto* const p = d_metric + 4 * i;
            std::uint32_t word;
            if constexpr (R > 2) {
                // Multiplications, because costs already fill the pipe of logical
                // operations.
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

    //! Brings the metrics down where they might leave the range, or if \p always.
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
    // The low nibble of each byte of a, the high one of b.
    __device__ static std::uint32_t select(std::uint32_t a, std::uint32_t b)
    {
        return (a & 0x0f0f0f0fu) | (b & 0xf0f0f0f0u);
    }

    __device__ static std::uint32_t
    multiply_add(std::uint32_t a, std::uint32_t b, std::uint32_t c)
    {
        std::uint32_t d;
        asm("mad.lo.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
        return d;
    }

    // Cost of each output word, without what the lane flips.
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
            // From the word that all positive values contradict.
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

/* Where a thread's soft values come from, four stages at a time; two values of 16 bits,
 * of the first and the second block of its pair. */

//! As prepare() laid them out: any input, in the kernel's order, none inverted.
template <unsigned R>
class prepared_input
{
public:
    __device__ static unsigned inverted(const batch_geometry&) { return 0; }

    static constexpr unsigned words = (R + 1) / 2;
    struct strip {
        std::uint32_t word[4][words];
    };

    __device__
    prepared_input(const batch_geometry& g, const void* soft, std::uint32_t pair)
        : d_soft(static_cast<const std::uint32_t*>(soft) + pair),
          d_pairs(g.pairs),
          d_window(g.plan.window)
    {
    }

    //! The values of the four stages from \p stage on.
    __device__ strip load(int stage) const
    {
        strip loaded;
#pragma unroll
        for (unsigned t = 0; t < 4; ++t) {
            const int s = stage + int(t);
#pragma unroll
            for (unsigned i = 0; i < words; ++i) {
                loaded.word[t][i] = s >= 0 && s < d_window
                                        ? d_soft[(std::size_t(s) * words + i) * d_pairs]
                                        : 0;
            }
        }
        return loaded;
    }

    template <unsigned t>
    __device__ void values(const strip& from, std::uint32_t (&v)[R]) const
    {
#pragma unroll
        for (unsigned r = 0; r < R; ++r) {
            v[r] = prepared_value(from.word[t][r / 2], r);
        }
    }

private:
    const std::uint32_t* d_soft;
    const std::uint32_t d_pairs;
    const int d_window;
};

//! Straight from the input: int8 of two outputs, not punctured, rows aligned to 8 bytes.
class direct_input
{
public:
    __device__ static unsigned inverted(const batch_geometry& g)
    {
        return g.order.inverted;
    }

    struct strip {
        std::uint32_t word[2][2]; // of each block
    };

    __device__
    direct_input(const batch_geometry& g, const void* input, std::uint32_t pair)
        : d_window(g.plan.window)
    {
        // Of each block a byte and its sign; the outputs may be sent in the other order.
        d_select[0] = g.order.source[0] == 1 ? 0xd591 : 0xc480;
        d_select[1] = d_select[0] + 0x2222;
#pragma unroll
        for (unsigned k = 0; k < 2; ++k) {
            const auto block = 2 * pair + k;
            std::uint32_t frame = 0;
            const auto w = g.window(block < g.job.blocks ? block : 0, frame);
            const std::int64_t first = g.plan.streaming() ? g.job.first_value : 0;
            d_count[k] = (g.plan.streaming() ? std::int64_t(g.job.values)
                                             : std::int64_t(g.plan.frame_values)) -
                         (w.start * 2 - first);
            d_before[k] = int(w.start * 2 - first);
            d_row[k] = static_cast<const signed char*>(input) +
                       std::size_t(frame) * g.frame_input_bytes + (w.start * 2 - first);
            if (block >= g.job.blocks) {
                d_count[k] = 0;
            }
        }
    }

    __device__ strip load(int stage) const
    {
        strip loaded;
        const int first = 2 * stage;
#pragma unroll
        for (unsigned k = 0; k < 2; ++k) {
            if (stage >= 0 && first + d_before[k] >= 0 && first + 8 <= d_count[k]) {
                const auto two = *reinterpret_cast<const uint2*>(d_row[k] + first);
                loaded.word[k][0] = two.x;
                loaded.word[k][1] = two.y;
            } else {
                loaded.word[k][0] = edge(k, first);
                loaded.word[k][1] = edge(k, first + 4);
            }
        }
        return loaded;
    }

    template <unsigned t>
    __device__ void values(const strip& from, std::uint32_t (&v)[2]) const
    {
        const auto a = from.word[0][t / 2], b = from.word[1][t / 2];
        const auto lowest = both(std::uint16_t(-127));
        v[0] = __vmaxs2(permute(a, b, d_select[t % 2]), lowest);
        v[1] = __vmaxs2(permute(a, b, d_select[t % 2] ^ 0x1111), lowest);
    }

private:
    // Four values at an edge of the stream or the window; what is not there is erased.
    __device__ __noinline__ std::uint32_t edge(unsigned k, int first) const
    {
        std::uint32_t word = 0;
        for (int byte = 0; byte < 4; ++byte) {
            const int at = first + byte;
            if (at >= 0 && at + d_before[k] >= 0 && at < d_count[k] &&
                at < 2 * d_window) {
                word |= std::uint32_t(std::uint8_t(d_row[k][at])) << 8 * byte;
            }
        }
        return word;
    }

    const signed char* d_row[2]; // the window's first value
    std::int64_t d_count[2];     // values from there to the end
    int d_before[2];             // values before it (negative: missing ones after it)
    unsigned d_select[2]; // permute()'s for the first output, at even and odd stages
    const int d_window;
};

/* The kernels. */

/*
 * Path metrics through a window, for the pair of a thread. Frames: windows may start in
 * state 0, which takes a check at each stage.
 */
template <class Trellis, class Input, bool Frames, class Survivors>
__device__ inline void register_forward(const batch_geometry& g,
                                        Trellis& trellis,
                                        const Input& input,
                                        std::uint32_t pair,
                                        const Survivors& survivors)
{
    std::uint32_t elsewhere = 0;
    if (Frames) {
        for (unsigned k = 0; k < 2; ++k) {
            std::uint32_t frame;
            if (2 * pair + k < g.job.blocks && g.window(2 * pair + k, frame).from_zero) {
                elsewhere |= (Trellis::spread + 1) << Trellis::H << 16 * k;
            }
        }
    }
    trellis.start(elsewhere);

    const unsigned turns = (g.plan.window + Trellis::turn - 1) / Trellis::turn;
    int stage = int(g.plan.window) - int(turns * Trellis::turn);
    // Where few warps hide latency, values are loaded a turn ahead.
    constexpr unsigned depth = Trellis::lanes > 1 ? Trellis::strips : 1;
    typename Input::strip ahead[depth];
    repeat<depth>([&](auto index) {
        constexpr unsigned i = decltype(index)::value;
        ahead[i] = input.load(stage + 4 * int(i));
    });
#pragma unroll 1 // more would not fit the instruction cache
    for (unsigned turn = 0; turn < turns; ++turn) {
        repeat<Trellis::strips>([&](auto strip_of_turn) {
            constexpr unsigned i = decltype(strip_of_turn)::value;
            const auto values = ahead[i % depth];
            ahead[i % depth] = input.load(stage + 4 * int(depth));
            repeat<4>([&](auto stage_of_strip) {
                constexpr unsigned t = decltype(stage_of_strip)::value;
                if (Frames && stage + int(t) == 0) {
                    trellis.start(elsewhere);
                }
                std::uint32_t v[Trellis::R];
                input.template values<t>(values, v);
                trellis.template stage<4 * i + t>(v);
            });
            trellis.strip(survivors, turn * Trellis::strips + i);
            trellis.bring_down(Frames && stage <= int(Trellis::memory));
            stage += 4;
        });
        trellis.end_turn();
    }
}

//! The path of one block that is traced back from state 0 at its window's end.
template <class Trellis>
class traced_path
{
public:
    //! \p block may be past the last: such a path writes nothing.
    __device__
    traced_path(const batch_geometry& g, std::uint32_t block, std::byte* output)
        : d_writer(nullptr, 0)
    {
        if (block >= g.job.blocks) {
            return;
        }
        std::uint32_t frame;
        const auto w = g.window(block, frame);
        const std::uint32_t index =
            g.plan.streaming() ? block : block - frame * g.plan.blocks_per_frame;
        auto* const out = reinterpret_cast<std::uint32_t*>(
            output + std::size_t(frame) * g.frame_output_bytes +
            std::size_t(index) * (g.plan.decode_length / 8));
        d_writer = bit_writer(out, w.count);
        d_first = int(g.plan.window) - int(w.lead) - 4;
    }

    //! Whether bits are left to write.
    __device__ bool more() const { return d_first + 4 > 0; }

    //! One strip back, strip \p i of its turn; \p load(word, lane): its survivors.
    template <class Load>
    __device__ void step(unsigned i, Load&& load)
    {
        const unsigned at = Trellis::rotated(d_state, 4 * (i + 1));
        const unsigned word = load(at % Trellis::registers / 4, at / Trellis::registers);
        const unsigned taken = word >> (at % 4 * 4) & 15u;
        const unsigned longer = d_state << 4 | taken;
        d_writer.put(d_first, longer >> Trellis::memory);
        d_state = longer & ((1u << Trellis::memory) - 1);
        d_first -= 4;
    }

    __device__ void finish() { d_writer.finish(); }

private:
    bit_writer d_writer;
    int d_first = -4; // of the next strip, from the first bit
    unsigned d_state = 0;
};

constexpr unsigned register_threads = 128; // of the kernel for few blocks, at most
constexpr unsigned wide_threads = 512;     // of the one for many, at most: all that fit

//! As many blocks need it: 64 states per thread, unrolled over four stages alone, because
//! moving them back is cheaper than missing the instruction cache.
template <class Code, unsigned LB, unsigned Inverted = 0>
using wide_trellis = register_trellis<Code, LB, LB == 0, Inverted>;

//! Survivors of a thread in device memory: [warp][strip][word][thread of the warp].
struct global_survivors {
    std::uint32_t* base; // of the thread
    __device__ std::uint32_t& at(unsigned strip, unsigned words, unsigned i) const
    {
        return base[strip * words * 32 + i * 32];
    }

    //! Where those of \p thread begin.
    template <class Trellis>
    __device__ static std::size_t offset(const batch_geometry& g, std::uint32_t thread)
    {
        const std::size_t turns = (g.plan.window + Trellis::turn - 1) / Trellis::turn;
        return thread / 32 * (turns * Trellis::strips * Trellis::words * 32) +
               thread % 32;
    }
};

//! Forward, many blocks: survivors to device memory.
template <class Code, unsigned LB, class Input, bool Frames, unsigned Inverted = 0>
__global__ void __launch_bounds__(wide_threads)
    forward_registers(const __grid_constant__ batch_geometry g,
                      const void* __restrict__ input,
                      std::uint32_t* __restrict__ survivors)
{
    using trellis_type = wide_trellis<Code, LB, Inverted>;
    const std::uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
    const std::uint32_t pair = thread >> LB;
    if (pair >= g.pairs) {
        return; // whole warps
    }
    trellis_type trellis(thread % trellis_type::lanes, Input::inverted(g));
    const Input values(g, input, pair);
    const global_survivors to{ survivors +
                               global_survivors::offset<trellis_type>(g, thread) };
    register_forward<trellis_type, Input, Frames>(g, trellis, values, pair, to);
}

/*
 * The survivors of a warp's 32 pairs on their way from device memory, last strip first:
 * copies run ahead of the traceback, which alone would wait for memory at each strip.
 */
template <class Trellis>
class survivor_ring
{
public:
    static constexpr unsigned warps = Trellis::lanes; // of forward, for 32 pairs
    static constexpr unsigned strip_words = Trellis::words * 32 * warps;
    static constexpr unsigned depth = 6; // strips

    //! \p ring: depth × strip_words of shared memory, of this warp.
    __device__ survivor_ring(const batch_geometry& g,
                             const std::uint32_t* survivors,
                             std::uint32_t first_pair,
                             unsigned strips,
                             std::uint32_t* ring)
        : d_from(survivors +
                 global_survivors::offset<Trellis>(g, first_pair * Trellis::lanes) +
                 std::size_t(strips) * warp_words + threadIdx.x % 32 * piece),
          d_warp_stride(std::size_t(strips) * warp_words),
          d_ring(ring),
          d_left(strips)
    {
        for (unsigned i = 1; i < depth; ++i) {
            copy_next();
        }
    }

    //! Makes the next strip the current one, if any lane wants \p more of them; the
    //! whole warp calls it.
    __device__ bool advance(bool more)
    {
        if (!__any_sync(0xffffffffu, more)) {
            __pipeline_wait_prior(0);
            return false;
        }
        __pipeline_wait_prior(depth - 2);
        __syncwarp();
        d_current = d_current == depth - 1 ? 0 : d_current + 1;
        copy_next(); // over the strip before, which every lane has left
        return true;
    }

    //! A word of the current strip: of \p pair, one of 32, and its lane \p lane.
    __device__ std::uint32_t at(unsigned pair, unsigned word, unsigned lane) const
    {
        const unsigned thread = pair * Trellis::lanes + lane;
        return d_ring[d_current * strip_words + thread / 32 * warp_words + word * 32 +
                      thread % 32];
    }

private:
    static constexpr unsigned piece = 4; // words that a lane copies at a time
    static constexpr unsigned warp_words = Trellis::words * 32;

    __device__ void copy_next()
    {
        if (d_left > 0) {
            --d_left;
            d_from -= warp_words;
            auto* const to = d_ring + d_next * strip_words + threadIdx.x % 32 * piece;
#pragma unroll
            for (unsigned w = 0; w < warps; ++w) {
#pragma unroll
                for (unsigned i = 0; i < warp_words; i += 32 * piece) {
                    __pipeline_memcpy_async(to + w * warp_words + i,
                                            d_from + w * d_warp_stride + i,
                                            piece * sizeof(std::uint32_t));
                }
            }
        }
        __pipeline_commit();
        d_next = d_next == depth - 1 ? 0 : d_next + 1;
    }

    const std::uint32_t* d_from;
    const std::size_t d_warp_stride;
    std::uint32_t* const d_ring;
    unsigned d_left;
    unsigned d_next = 0;
    unsigned d_current = depth - 1;
};

//! Traceback, many blocks: a pair per lane.
template <class Code, unsigned LB>
__global__ void __launch_bounds__(32)
    traceback_registers(const __grid_constant__ batch_geometry g,
                        const std::uint32_t* __restrict__ survivors,
                        std::byte* __restrict__ output)
{
    using trellis_type = wide_trellis<Code, LB>;
    using ring_type = survivor_ring<trellis_type>;
    __shared__ __align__(16)
        std::uint32_t kept[ring_type::depth * ring_type::strip_words];
    const unsigned turns = (g.plan.window + trellis_type::turn - 1) / trellis_type::turn;
    ring_type ring(g, survivors, blockIdx.x * 32, turns * trellis_type::strips, kept);
    const unsigned lane = threadIdx.x;
    const std::uint32_t block = blockIdx.x * 64 + lane * 2;
    traced_path<trellis_type> first(g, block, output), second(g, block + 1, output);
    for (bool more = true; more;) {
#pragma unroll
        for (int i = int(trellis_type::strips) - 1; i >= 0; --i) {
            more = ring.advance(first.more() || second.more());
            if (!more) {
                break;
            }
            first.step(i, [&](unsigned word, unsigned from) {
                return ring.at(lane, word, from);
            });
            second.step(i, [&](unsigned word, unsigned from) {
                return ring.at(lane, word, from) >> 16;
            });
        }
    }
    first.finish();
    second.finish();
}

//! Survivors of a thread block in shared memory: [strip][word][thread].
struct shared_survivors {
    std::uint32_t* base; // of the thread
    unsigned row;        // threads
    __device__ std::uint32_t& at(unsigned strip, unsigned words, unsigned i) const
    {
        return base[(strip * words + i) * row];
    }
};

template <class Code, unsigned LB>
std::size_t fused_shared_bytes(const block_plan& plan, unsigned threads)
{
    using trellis_type = register_trellis<Code, LB>;
    const std::size_t turns = (plan.window + trellis_type::turn - 1) / trellis_type::turn;
    return turns * trellis_type::strips * trellis_type::words * threads *
           sizeof(std::uint32_t);
}

//! Forward and traceback in one, few blocks: survivors stay in shared memory.
template <class Code, unsigned LB, class Input, bool Frames>
__global__ void __launch_bounds__(register_threads)
    fused_registers(const __grid_constant__ batch_geometry g,
                    const void* __restrict__ input,
                    std::byte* __restrict__ output)
{
    extern __shared__ std::uint32_t kept[];
    using trellis_type = register_trellis<Code, LB>;
    constexpr unsigned lanes = trellis_type::lanes;
    const unsigned threads = blockDim.x;
    const std::uint32_t thread = blockIdx.x * threads + threadIdx.x;
    const std::uint32_t pair = thread >> LB;
    const unsigned lane = thread % lanes;
    trellis_type trellis(lane, Input::inverted(g));
    {
        Input values(g, input, pair < g.pairs ? pair : 0);
        const shared_survivors to{ kept + threadIdx.x, threads };
        register_forward<trellis_type, Input, Frames>(g, trellis, values, pair, to);
    }
    __syncwarp();
    const std::uint32_t block = 2 * pair + lane;
    if (lane >= 2 || block >= g.job.blocks) {
        return;
    }
    const auto* const halves =
        reinterpret_cast<const std::uint16_t*>(kept + threadIdx.x / lanes * lanes) + lane;
    traced_path<trellis_type> path(g, block, output);
    constexpr unsigned turn = trellis_type::turn;
    unsigned strip = (g.plan.window + turn - 1) / turn * trellis_type::strips;
    while (path.more()) {
#pragma unroll
        for (int i = int(trellis_type::strips) - 1; i >= 0; --i) {
            --strip;
            path.step(i, [&](unsigned word, unsigned from) {
                return halves[((strip * trellis_type::words + word) * threads + from) *
                              2];
            });
        }
    }
    path.finish();
}

} // namespace device
} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_CUDA_REGISTERS_CUH */
