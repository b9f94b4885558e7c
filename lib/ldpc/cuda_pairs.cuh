// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Layered min-sum for the codes of DVB-S2 in int8: a block of threads decodes two
 * codewords in the halves of a half2, which holds these integers exactly, in units of
 * 2^-11; or, folded, one codeword, of which the halves are two checks.
 *
 * Thread j does check j·q + i in layer i, folded check (j + 180)·q + i too. Shared memory
 * holds the posteriors of the message bits. The parity bits are a chain that a thread
 * follows from layer to layer: of bit c it keeps what check c + 1 leaves, and after check
 * c the posterior goes on to the next layer in a register; only from the last layer to
 * the first it passes to the neighbour. Where a code has two chains of layers
 * (chain_order.h), a group of threads follows either. Messages are kept compressed, in
 * memory that the L2 cache holds: the two least magnitudes of each check, and for each
 * edge a sign and whether it has the least.
 *
 * There is a barrier only before a layer that uses bits of a group in use since the last
 * one, so that warps drift apart; of all threads where the other chain used them. */

#ifndef INCLUDED_GPUFEC_LDPC_CUDA_PAIRS_CUH
#define INCLUDED_GPUFEC_LDPC_CUDA_PAIRS_CUH

#include "cuda_block_slots.cuh"
#include "cuda_chain_entries.cuh"
#include "cuda_chain_threads.cuh"
#include "cuda_pairs.h"
#include "cuda_soft.cuh"
#include <cuda_fp16.h>
#include <type_traits>
#include <cstring>

namespace gr::gpufec::ldpc {
namespace device {
namespace pairs {

// Major compute capability from which on there are kernels that are not folded.
constexpr int first_capability = 8;

constexpr unsigned group = chain_table::group;
constexpr unsigned bytes = chain_table::bytes;
constexpr std::uint32_t signs = 0x80008000u;
constexpr float unit = 1 / 2048.0f;
constexpr float missing = 1500 * unit;    // magnitude of an edge that is not there
constexpr float bias = 0.5f + 128 * unit; // the half 0x3800 | b is 0.5 + b units
constexpr unsigned flag_words = 4;

__device__ inline std::uint32_t bits(half2 x)
{
    std::uint32_t r;
    std::memcpy(&r, &x, sizeof(r));
    return r;
}
__device__ inline half2 value_of(std::uint32_t x)
{
    half2 r;
    std::memcpy(&r, &x, sizeof(r));
    return r;
}
__device__ inline half2 all(float x) { return __float2half2_rn(x); }
__device__ inline float of_codeword(std::uint32_t pair, unsigned w)
{
    return w ? __high2float(value_of(pair)) : __low2float(value_of(pair));
}

// Numbers that stay in registers: an instruction has room for one constant of its own,
// and another would take an instruction each time.
struct constants {
    std::uint32_t halves, ones;
    half2 per_unit, four_edges;

    __device__ explicit constants(const pair_arguments& a)
        : halves(kept_in_each(a.halves)),
          ones(kept_in_each(a.ones)),
          per_unit(value_of(kept_in_register(a.per_unit))),
          four_edges(value_of(kept_in_register(a.four_edges)))
    {
    }
};

// The rule of pair_arguments too, where registers are free.
struct kept_rule {
    std::uint32_t slope, floor, span;
    __device__ explicit kept_rule(const pair_arguments& a)
        : slope(kept_in_each(a.slope)),
          floor(kept_in_each(a.floor)),
          span(kept_in_each(a.span))
    {
    }
};

// Four channel values of either codeword, a byte each, as posteriors.
__device__ inline uint4
four_posteriors(const constants& c, std::uint32_t x, std::uint32_t y)
{
    const auto low = __byte_perm(x, y, 0x5140) ^ 0x80808080u;
    const auto high = __byte_perm(x, y, 0x7362) ^ 0x80808080u;
    const auto unpacked = [&c](std::uint32_t pairs, unsigned selected) {
        return bits(__hsub2(value_of(__byte_perm(pairs, c.halves, selected)), all(bias)));
    };
    return make_uint4(unpacked(low, 0x4140),
                      unpacked(low, 0x4342),
                      unpacked(high, 0x4140),
                      unpacked(high, 0x4342));
}

// The lesser magnitude, with the product of the signs.
__device__ inline half2 least_signed(half2 a, half2 b)
{
#if __CUDA_ARCH__ >= 860
    std::uint32_t r;
    asm("min.xorsign.abs.f16x2 %0, %1, %2;" : "=r"(r) : "r"(bits(a)), "r"(bits(b)));
    return value_of(r);
#else
    return value_of(bits(__hmin2(__habs2(a), __habs2(b))) |
                    ((bits(a) ^ bits(b)) & signs));
#endif
}
__device__ inline half2 larger(half2 a, half2 b)
{
    return __hmax2(__habs2(a), __habs2(b));
}

// Of the two least magnitudes of several values; the least with the product of signs.
struct two_least {
    half2 least, second;
    __device__ two_least(half2 a, half2 b)
        : least(least_signed(a, b)), second(larger(a, b))
    {
    }
    __device__ void take(half2 t)
    {
        second = __hmin2(second, larger(least, t));
        least = least_signed(least, t);
    }
    __device__ void merge(const two_least& o)
    {
        second = __hmin2(__hmin2(second, o.second), larger(least, o.least));
        least = least_signed(least, o.least);
    }
};

// Of all edges of a check, in two chains of operations.
template <unsigned Edges>
__device__ two_least least_of(const half2 (&t)[Edges])
{
    two_least even(t[0], t[1]);
    if constexpr (Edges == 3) {
        even.take(t[2]);
    } else {
        two_least odd(t[2], t[3]);
#pragma unroll
        for (unsigned e = 4; e < Edges; ++e) {
            (e % 2 ? odd : even).take(t[e]);
        }
        even.merge(odd);
    }
    return even;
}

// The messages of a thread's check in both codewords. A half word has for each of eight
// edges a sign and a mark, "has the least", from the top down; the last word's lowest
// bit has the decision on the parity bit before.
template <unsigned Edges, unsigned Pitch = group>
struct messages {
    static constexpr unsigned parts = Edges / 8 + 1;
    static constexpr unsigned words = parts + 1;
    std::uint32_t word[words]; // the last: bytes, least of both, second of both

    // The edges of few fit in a byte of each codeword; then the decisions are with the
    // magnitudes, which need six bits.
    static constexpr bool few = Edges <= 4;
    // 32-bit words of a layer.
    static constexpr unsigned layer_words = few ? Pitch * 3 / 2 : words * Pitch;
    // Vectors of one size for all threads, then smaller ones.
    static constexpr unsigned width = few              ? 1
                                      : words % 4 == 0 ? 4
                                      : words % 2 == 0 ? 2
                                      : words > 4      ? 4
                                                       : 2;
    static constexpr unsigned rest = words % width; // one word or none
    static_assert(rest < 2, "words that fit in no vector");

    // A thread's place among vectors, and among the words after them.
    struct place {
        std::uint32_t *vectors, *word;
        std::uint16_t* two_bytes;
        __device__ place(std::uint32_t* layer, unsigned j)
            : vectors(layer + width * j),
              word(few ? nullptr : layer + (words - rest) * Pitch + j),
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
            for (unsigned w = 0; w < words - rest; w += width) {
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
            if constexpr (rest) {
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
    // What was loaded, as without() wants it.
    __device__ void open()
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
            for (unsigned w = 0; w < words - rest; w += width) {
                auto* const at = to.vectors + w * Pitch;
                if constexpr (width == 4) {
                    __stcg(reinterpret_cast<uint4*>(at),
                           make_uint4(word[w], word[w + 1], word[w + 2], word[w + 3]));
                } else {
                    __stcg(reinterpret_cast<uint2*>(at),
                           make_uint2(word[w], word[w + 1]));
                }
            }
            if constexpr (rest) {
                __stcg(to.word, word[words - 1]);
            }
        }
    }
    // The word that has the decision on the parity bit before, and that in the sign bits.
    __device__ static std::uint32_t load_decision(std::uint32_t* layer, unsigned j)
    {
        constexpr unsigned w = parts - 1;
        const place from(layer, j);
        return __ldcg(few || w < words - rest
                          ? from.vectors + w / width * width * Pitch + w % width
                          : from.word);
    }
    __device__ static std::uint32_t decision(std::uint32_t word)
    {
        return word << (few ? 8 : 15);
    }

    __device__ half2 least(const constants& k) const
    {
        return __hsub2(value_of(__byte_perm(word[parts], k.halves, 0x4140)), all(0.5f));
    }
    __device__ half2 second(const constants& k) const
    {
        return __hsub2(value_of(__byte_perm(word[parts], k.halves, 0x4342)), all(0.5f));
    }
    // p less the message of edge e: bit 14 makes of the least a number larger than the
    // second.
    __device__ half2 without(half2 p, unsigned e, half2 least, half2 second) const
    {
        const std::uint32_t x = word[e / 8] << 2 * (e % 8);
        return __hsub2(p,
                       least_signed(value_of((x & 0xc000c000u) | bits(least)), second));
    }
};

// Makes the new messages of a check.
template <unsigned Edges, class Messages = messages<Edges>>
class renewal
{
    // Bytes of a word of messages, upper before lower, of four edges each.
    static constexpr unsigned octets = (Edges + 3) / 4;

public:
    Messages fresh;

    // The rule: pair_arguments, or kept_rule.
    template <class Rule>
    __device__ renewal(half2 least, half2 second, const Rule& a, const constants& k)
        : d_constants(k)
    {
        const half2 slope = value_of(a.slope), floor = value_of(a.floor);
        const half2 span = value_of(a.span);
        const half2 first =
            __hfma2(__hfma2_sat(__habs2(least), slope, floor), span, all(0.5f));
        const half2 other = __hfma2(__hfma2_sat(second, slope, floor), span, all(0.5f));
        fresh.word[Messages::parts] = __byte_perm(bits(first), bits(other), 0x6420);
        d_least = __hsub2(first, all(0.5f));
        d_step = __hsub2(other, first);
        d_above = __hfma2(__habs2(least), k.per_unit, all(1));
        d_product = (bits(least) & signs) | k.ones;
#pragma unroll
        for (unsigned o = 0; o < octets; ++o) {
            // Half of all signs: a sign of 1 takes what −1 adds.
            const unsigned edges = Edges - 4 * o;
            d_octet[o] = all(1024 + (edges == 1   ? 64
                                     : edges == 2 ? 80
                                     : edges == 3 ? 84
                                                  : 85));
        }
    }
    // t plus the new message, for the edge that said t.
    struct signed_magnitude {
        half2 sign, magnitude;
    };
    __device__ signed_magnitude message(half2 t) const
    {
        // 1 where |t| is the least, else 0
        const half2 mark = __hfma2_sat(__habs2(t), all(-1 / unit), d_above);
        return { value_of((bits(t) & signs) ^ d_product),
                 __hfma2(mark, d_step, d_least) };
    }
    __device__ half2 posterior(unsigned e, half2 t)
    {
        const half2 mark = __hfma2_sat(__habs2(t), all(-1 / unit), d_above);
        const half2 sign = value_of((bits(t) & signs) ^ d_product);
        const half2 magnitude = __hfma2(mark, d_step, d_least);
        const unsigned at = 6 - 2 * (e % 4); // the mark's bit, below the sign's
        auto& octet = d_octet[e / 4];
        octet =
            __hfma2(sign, e % 4 ? all(-float(1 << at)) : d_constants.four_edges, octet);
        octet = __hfma2(mark, all(1 << at), octet);
        return __hfma2(sign, magnitude, t);
    }
    __device__ void finish(half2 posterior_before)
    {
        constexpr unsigned parts = Messages::parts;
#pragma unroll
        for (unsigned w = 0; w < parts; ++w) {
            const std::uint32_t high = 2 * w < octets ? bits(d_octet[2 * w]) : 0;
            const std::uint32_t low = 2 * w + 1 < octets ? bits(d_octet[2 * w + 1]) : 0;
            fresh.word[w] = __byte_perm(high, low, 0x2604);
        }
        if constexpr (Messages::few) {
            fresh.word[1] |= bits(posterior_before) >> 8 & 0x00800080u;
        } else {
            fresh.word[parts - 1] |= bits(posterior_before) >> 15 & 0x00010001u;
        }
    }

private:
    const constants& d_constants;
    half2 d_least, d_step, d_above;
    std::uint32_t d_product;
    half2 d_octet[octets];
};

// Soft: LLRs are given out, for which the message to a check's own parity bit is kept
// too. Folded: the halves are two checks of one codeword, not one of two.
template <unsigned MessageEdges,
          bool SharedParity,
          bool SharedTable,
          bool Irregular,
          bool External,
          bool Soft,
          unsigned Blocks,
          unsigned Chains,
          bool Folded = false>
class decoder
{
    static_assert(!Folded || (SharedParity && SharedTable && !External));
    static constexpr unsigned codewords = Folded ? 1 : 2;
    // Words of a group's posteriors, and threads of a chain that have checks.
    static constexpr unsigned group_words = group / (Folded ? 2 : 1);
    using block_threads = chain_threads<Chains, group_words>;
    using parity = std::uint16_t; // bytes, 128 added
    // The parity bit before: edge 0.
    static constexpr unsigned edges = MessageEdges + 1 + Soft;
    static constexpr unsigned own_edge = MessageEdges + 1; // if Soft
    static constexpr unsigned pitch = block_threads::pitch;
    using kept = messages<edges, pitch>;
    static constexpr unsigned layer_words = kept::layer_words;
    using entry = chain_entry<MessageEdges, Folded>;

    // Whether a layer is prepared during the one before it: short ones, as far as
    // registers go.
    static constexpr bool Ahead =
        MessageEdges <= 5 || (Blocks == 1 && MessageEdges <= 16);
    // Layers that are fetched at once, before they are prepared; long ones are too much
    // code to have twice.
    static constexpr unsigned depth = MessageEdges <= 5 ? 4 : MessageEdges <= 16 ? 2 : 1;
    static constexpr unsigned distance = depth + Ahead;
    static_assert(depth <= chain_table::passed_after);

public:
    static constexpr unsigned threads = block_threads::count;
    static constexpr unsigned most_shared = chain_most_shared(MessageEdges);
    static constexpr unsigned most_deferred = chain_most_deferred(MessageEdges);
    __host__ __device__ static constexpr unsigned parity_words(unsigned q)
    {
        return (q + distance + 1) / 2 * pitch;
    }
    static constexpr unsigned wrap_words = Chains * pitch + 4;
    static std::size_t shared_bytes(const chain_table& t, bool wrap)
    {
        return 4 *
               (t.shared_groups * group_words + flag_words + block_threads::spare_words +
                (SharedTable ? entry::copy_words(t.q) : 0) +
                (SharedParity ? parity_words(t.q) : 0) + (wrap ? wrap_words : 0));
    }
    __host__ __device__ static std::size_t state_words(unsigned q)
    {
        // More layers than there are: what is fetched ahead at the end.
        return std::size_t(layer_words) * (q + distance) +
               (SharedParity ? 0 : parity_words(q)) + wrap_words + (External ? group : 0);
    }

    __device__ decoder(const chain_table& table, const pair_arguments& a)
        : d_table(table),
          d_args(a),
          d_j(d_threads.j),
          d_thread(d_j,
                   d_threads.has_check(),
                   shared_words() + table.shared_groups * group_words + flag_words +
                       d_threads.spare()),
          d_first(table.begins[d_threads.chain]),
          d_layers(table.begins[d_threads.chain + 1] - d_first),
          d_constants(a),
          d_rule(a)
    {
    }

    // All control flow hangs on parameters and the block's number: where the compiler
    // cannot tell that warps stay together it guards every barrier and branch.
    __device__ void run()
    {
        const auto first = d_args.at_once * blockIdx.x;
        const bool both = d_args.at_once == 2 && first + 1 < d_args.frames.count;
        begin(first, both);
        decode(first, both);
        __syncthreads();
        if (d_threads.number == 0) {
            atomicExch(d_args.taken + d_flags[0], 0u);
        }
    }

private:
    __device__ void begin(std::uint32_t first, bool both)
    {
        const auto* const a = d_args.frames.input + d_args.frames.table[first].input;
        const auto* const b =
            d_args.frames.input + d_args.frames.table[first + both].input;
        const auto q = d_table.q;
        d_flags = shared_words() + d_table.shared_groups * group_words;
        auto* next = d_flags + flag_words + block_threads::spare_words;
        if (d_threads.number == block_threads::count - 1) {
            d_flags[0] = take_slot(d_args); // memory that no other block has
        }
        if constexpr (SharedTable) {
            d_entries = next;
            next += entry::copy_words(q);
            entry::copy(
                d_args.entries, q, d_entries, d_threads.number, block_threads::count);
        }
        load_messages(a, b);
        __syncthreads();
        d_state = d_args.state + d_flags[0] * state_words(q);
        auto* outside = d_state + std::size_t(layer_words) * (q + distance);
        if constexpr (SharedParity) {
            d_parity = reinterpret_cast<parity*>(next);
            next += parity_words(q);
        } else {
            d_parity = reinterpret_cast<parity*>(outside);
            outside += parity_words(q);
        }
        d_wrap = d_args.wrap_shared ? next : outside;
        auto* const middle = d_wrap + pitch + 4;
        // A thread without a check has the place after the last neighbour's.
        d_before = (d_first > 0 ? middle : d_wrap + !d_threads.has_check()) + d_j;
        if (follows_last()) {
            d_before = d_wrap + group_words;
        }
        d_after = (d_first + d_layers == q ? d_wrap + 1 : middle) + d_j;
        d_external = outside + wrap_words;
        load_parity(a, b);
        if constexpr (External) {
            load_external(a, b);
        }
        __syncthreads();
    }

    __device__ void decode(std::uint32_t first, bool both)
    {
        const frame_place frame[2] = { d_args.frames.table[first],
                                       d_args.frames.table[first + both] };
        unsigned active = both ? 3 : 1; // codewords that are not done
        iterate<true>();
        for (std::uint32_t i = 1;; ++i) {
            if (d_args.stop.early_stop) {
                const auto valid = agreed(satisfied(active));
                for (unsigned w = 0; w < codewords; ++w) {
                    if (valid >> w & 1) {
                        finish(w, frame[w], i, 0);
                    }
                }
                active &= ~valid;
            }
            if (active == 0) {
                return;
            }
            if (i >= d_args.stop.max_iterations) {
                const auto violated = count_violated();
                for (unsigned w = 0; w < codewords; ++w) {
                    if (active >> w & 1) {
                        finish(w,
                               frame[w],
                               i,
                               Folded ? violated : violated >> 16 * w & 0xffffu);
                    }
                }
                return;
            }
            iterate<false>();
        }
    }

    __device__ void finish(unsigned w,
                           const frame_place& frame,
                           std::uint32_t iterations,
                           std::uint32_t violated)
    {
        if (d_threads.number == 0) {
            d_args.frames.status[frame.status] = { iterations, violated };
        }
        write_decisions(w, d_args.frames.output + frame.output);
        if constexpr (Soft) {
            if (d_args.stop.soft != ldpc_soft_output::none) {
                write_llrs(w, soft_writer(d_args.frames, frame, d_args.stop, unit));
            }
        }
        __syncthreads(); // the other codeword may go on, and this one's posteriors with
                         // it
    }

    __device__ void load_messages(const std::uint8_t* a, const std::uint8_t* b)
    {
        if constexpr (Folded) {
            load_halves(a);
        } else {
            load_codewords(a, b);
        }
    }
    // Four bits of either half of a group at a time.
    __device__ void load_halves(const std::uint8_t* a)
    {
        const auto* const from = reinterpret_cast<const std::uint32_t*>(a);
        constexpr unsigned fours = group_words / 4;
        constexpr unsigned together = 6; // so that many loads are on their way
        constexpr auto threads = block_threads::count;
        const auto all_fours = d_table.message_bits / 8;
        for (unsigned i = d_threads.number; i < all_fours; i += together * threads) {
            std::uint32_t x[together], y[together];
#pragma unroll
            for (unsigned k = 0; k < together; ++k) {
                const auto at = min(i + k * threads, all_fours - 1);
                x[k] = __ldcs(from + at + at / fours * fours);
                y[k] = __ldcs(from + at + at / fours * fours + fours);
            }
#pragma unroll
            for (unsigned k = 0; k < together; ++k) {
                if (i + k * threads < all_fours) {
                    load_four(i + k * threads, x[k], y[k]);
                }
            }
        }
    }
    __device__ void load_codewords(const std::uint8_t* a, const std::uint8_t* b)
    {
        const auto* const from = reinterpret_cast<const uint4*>(a);
        const auto* const and_from = reinterpret_cast<const uint4*>(b);
        const auto inside =
            (External ? d_table.shared_groups * group : d_table.message_bits) / 8;
        const auto vectors = (inside + 1) / 2; // of the last perhaps a half
        constexpr unsigned together = 6;       // so that many loads are on their way
        constexpr auto threads = block_threads::count;
        for (unsigned i = d_threads.number; i < vectors; i += together * threads) {
            uint4 x[together], y[together];
#pragma unroll
            for (unsigned k = 0; k < together; ++k) {
                const auto at = min(i + k * threads, vectors - 1);
                x[k] = __ldcs(from + at);
                y[k] = __ldcs(and_from + at);
            }
#pragma unroll
            for (unsigned k = 0; k < together; ++k) {
                const auto at = i + k * threads;
                if (at < vectors) {
                    load_four(at * 4, x[k].x, y[k].x);
                    load_four(at * 4 + 1, x[k].y, y[k].y);
                }
                if (2 * at + 1 < inside) {
                    load_four(at * 4 + 2, x[k].z, y[k].z);
                    load_four(at * 4 + 3, x[k].w, y[k].w);
                }
            }
        }
    }
    __device__ void load_external(const std::uint8_t* a, const std::uint8_t* b)
    {
        const unsigned i = d_table.shared_groups * group + d_j;
        const auto x = a[i] ^ 0x80u, y = b[i] ^ 0x80u;
        __stcg(d_external + d_j,
               bits(__hsub2(value_of(0x38003800u | x | y << 16), all(bias))));
    }

    __device__ void load_four(unsigned at, std::uint32_t x, std::uint32_t y)
    {
        reinterpret_cast<uint4*>(shared_words())[at] = four_posteriors(d_constants, x, y);
    }

    // A thread's bits are next to each other: whole vectors, of which it takes some.
    __device__ void load_parity(const std::uint8_t* a, const std::uint8_t* b)
    {
        if (!d_threads.has_check()) {
            for (unsigned i = 0; i < d_layers; ++i) {
                set_parity(parity_at(d_first + i, d_j), 0);
            }
            *d_before = *d_after = 0;
            set_shared(__float_as_uint(d_thread.address), 0);
            return;
        }
        const auto q = d_layers;
        const unsigned first = d_table.message_bits + d_j * d_table.q + d_first;
        if constexpr (Folded) {
            load_parity_halves(reinterpret_cast<const std::uint32_t*>(a) + first / 4,
                               first % 4);
            return;
        }
        const auto* const from = reinterpret_cast<const uint4*>(a) + first / 16;
        const auto* const and_from = reinterpret_cast<const uint4*>(b) + first / 16;
        const unsigned vectors = (first % 16 + q + 15) / 16;
        std::uint32_t last = 0;
        constexpr unsigned together = 4;
        for (unsigned v = 0; v < vectors; v += together) {
            uint4 x[together], y[together];
#pragma unroll
            for (unsigned k = 0; k < together; ++k) {
                x[k] = __ldg(from + min(v + k, vectors - 1));
                y[k] = __ldg(and_from + min(v + k, vectors - 1));
            }
#pragma unroll
            for (unsigned k = 0; k < together; ++k) {
                const int i = int(16 * (v + k)) - int(first % 16);
                if (v + k < vectors) {
                    load_parities(i, x[k].x, y[k].x, last);
                    load_parities(i + 4, x[k].y, y[k].y, last);
                    load_parities(i + 8, x[k].z, y[k].z, last);
                    load_parities(i + 12, x[k].w, y[k].w, last);
                }
            }
        }
        *d_after = bits(unpacked_parity(last));
        if (d_threads.number == 0) {
            d_wrap[0] = bits(all(missing));
        }
    }
    // The same bits of both checks, whole words of which they begin at a byte.
    __device__ void load_parity_halves(const std::uint32_t* from, unsigned byte)
    {
        const unsigned words = (byte + d_layers + 3) / 4;
        const unsigned apart = group_words * d_table.q / 4;
        std::uint32_t last = 0;
        constexpr unsigned together = 6;
        for (unsigned v = 0; v < words; v += together) {
            std::uint32_t x[together], y[together];
#pragma unroll
            for (unsigned k = 0; k < together; ++k) {
                x[k] = __ldg(from + min(v + k, words - 1));
                y[k] = __ldg(from + apart + min(v + k, words - 1));
            }
#pragma unroll
            for (unsigned k = 0; k < together; ++k) {
                load_parities(int(4 * (v + k)) - int(byte), x[k], y[k], last);
            }
        }
        *d_after = bits(unpacked_parity(last));
    }
    __device__ void
    load_parities(int i, std::uint32_t x, std::uint32_t y, std::uint32_t& last)
    {
        const auto low = __byte_perm(x, y, 0x5140) ^ 0x80808080u;
        const auto high = __byte_perm(x, y, 0x7362) ^ 0x80808080u;
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            if (unsigned(i + k) < d_layers) {
                last = (k < 2 ? low : high) >> 16 * (k % 2);
                set_parity(parity_at(d_first + i + k, d_j), last);
            }
        }
    }

    __device__ parity* parity_at(unsigned layer, unsigned j) const
    {
        return d_parity + layer * pitch + j;
    }
    __device__ static parity get_parity(const parity* at)
    {
        if constexpr (SharedParity) {
            return *at;
        } else {
            return __ldcg(at);
        }
    }
    __device__ static void set_parity(parity* at, parity x)
    {
        if constexpr (SharedParity) {
            *at = x;
        } else {
            __stcg(at, x);
        }
    }
    // Biased, as it lies in two bytes.
    __device__ half2 biased_parity(std::uint32_t x) const
    {
        return value_of(__byte_perm(x, d_constants.halves, 0x4140));
    }
    __device__ half2 unpacked_parity(std::uint32_t x) const
    {
        return __hsub2(biased_parity(x), all(bias));
    }

    __device__ std::uint32_t* layer_state(unsigned layer) const
    {
        return d_state + std::size_t(layer) * layer_words;
    }

    // What is kept of a layer, fetched before it is needed.
    struct fetched {
        kept m;
        parity own;
    };

    // What a thread carries from layer to layer.
    struct chain {
        typename kept::place state; // of this layer
        half2 posterior;            // of the parity bit before
        half2 message;              // that this bit's own check sent it, less the bias
        parity* at;                 // where the bit is kept
        parity* own;                // where the next is
        unsigned layer;
    };

    __device__ entry entry_of(unsigned layer) const
    {
        if constexpr (SharedTable) {
            return entry::of_copy(d_entries, layer);
        } else {
            return entry::of(d_table, layer);
        }
    }

    // Past the last layer too, where there is room and nothing to be had. In the first
    // iteration there are no messages, and nothing that was stored.
    template <bool First>
    __device__ static void fetch(const chain& c, unsigned layers, fetched& f)
    {
        if constexpr (First) {
            f.m.clear();
        } else {
            f.m.load(c.state, layers);
        }
        if constexpr (!SharedParity) {
            f.own = get_parity(c.own + layers * pitch);
        }
    }

    // Where a posterior is, and folded what to turn it by.
    struct place {
        std::uint32_t address, turn;
    };
    __device__ place place_of(const entry& layer, unsigned e) const
    {
        if constexpr (Folded) {
            return { layer.place(e, d_thread), layer.turn(e, d_thread) };
        } else {
            return { layer.place(e, d_thread), 0 };
        }
    }
    __device__ static std::uint32_t turned(std::uint32_t x, const place& p)
    {
        return Folded ? __funnelshift_l(x, x, p.turn) : x;
    }
    __device__ static std::uint32_t get_posterior(const place& p)
    {
        return turned(get_shared(p.address), p);
    }
    __device__ static void set_posterior(const place& p, half2 x)
    {
        set_shared(p.address, turned(bits(x), p));
    }

    // In device memory, of an edge's place.
    __device__ std::uint32_t& external_at(const place& p) const
    {
        return d_external[(p.address - shared_begin()) / 4];
    }

    // What can be had of a layer before the one before it is done.
    struct prepared {
        place at[MessageEdges];
        kept m;
        half2 least, second;
        std::uint32_t head;
        parity own;
    };
    __device__ void prepare(unsigned layer, fetched& f, prepared& p) const
    {
        f.m.open();
        const auto edge = entry_of(layer);
        p.head = edge.head();
        p.m = f.m;
        p.least = f.m.least(d_constants);
        p.second = f.m.second(d_constants);
#pragma unroll
        for (unsigned e = 0; e < MessageEdges; ++e) {
            p.at[e] = place_of(edge, e);
        }
        if constexpr (!SharedParity) {
            p.own = f.own;
        }
    }

    template <bool First>
    __device__ void iterate()
    {
        const auto q = d_layers;
        // The first layer's is the neighbour's of the last one. Nobody reads what is kept
        // of the bit before check 0, and of those of threads without a check.
        auto* const at = d_first > 0 ? parity_at(d_first - 1, d_j)
                         : d_j == 0 || !d_threads.has_check()
                             ? parity_at(d_table.q, d_j)
                             : parity_at(d_table.q - 1, d_j - 1);
        const half2 before = value_of(posterior_before());
        const std::uint32_t kept_before =
            follows_last() ? *of_last_check() << 8 : get_parity(at);
        chain c{ { layer_state(d_first), d_j },
                 before,
                 __hsub2(before, biased_parity(kept_before)),
                 at,
                 parity_at(d_first, d_j),
                 d_first };
        fetched f[depth];
        prepared p[2];
#pragma unroll
        for (unsigned k = 0; k < depth; ++k) {
            fetch<First>(c, k, f[k]);
        }
        if constexpr (Ahead) {
            prepare(d_first, f[0], p[0]);
            fetch<First>(c, depth, f[0]);
        }
        const auto layers = [&](unsigned count) {
#pragma unroll
            for (unsigned k = 0; k < depth; ++k) {
                if (k < count) {
                    do_layer<First>(p[k % 2], p[(k + 1) % 2], f[(k + Ahead) % depth], c);
                }
            }
        };
        for (unsigned n = q / depth; n > 0; --n) {
            layers(depth);
            if (Folded && n == q / depth && follows_last()) {
                // Of two halves, one is the bit of a check that is not there.
                *of_last_check() = std::uint8_t(*parity_at(d_table.q, 0) >> 8);
            }
        }
        layers(q % depth);
        *d_after = bits(c.posterior);
        __syncthreads();
    }

    // A layer, prepared; what was fetched is of the next, which is prepared here, and in
    // its place comes that of the next but one after it. Or, not ahead, a layer earlier.
    template <bool First>
    __device__ void do_layer(prepared& now, prepared& next, fetched& f, chain& c)
    {
        if constexpr (!Ahead) {
            prepare(c.layer, f, now);
        }
        const auto head = now.head;
        const auto flags =
            Chains > 1 && !Folded ? layer_flags::of_halves(head) : layer_flags(head);
        const auto& at = now.at;
        const unsigned degree = Irregular ? head & 0xffu : MessageEdges;
        const bool external = External && (head & chain_table::external);

        half2 t[MessageEdges];
        const half2 t_before = now.m.without(c.posterior, 0, now.least, now.second);
        d_threads.wait_before(flags);
        const std::uint32_t own_byte = SharedParity ? get_parity(c.own) : now.own;
#pragma unroll
        for (unsigned e = 0; e < MessageEdges; ++e) {
            t[e] = all(missing);
            if (!Irregular || e < degree) {
                t[e] = value_of(external && e + 1 == MessageEdges
                                    ? __ldcg(&external_at(at[e]))
                                    : get_posterior(at[e]));
            }
        }
        if constexpr (Ahead) {
            prepare(c.layer + 1, f, next);
        }
        fetch<First>(c, distance, f);
#pragma unroll
        for (unsigned e = 0; e < MessageEdges; ++e) {
            if (!Irregular || e < degree) {
                t[e] = now.m.without(t[e], e + 1, now.least, now.second);
            }
        }
        const half2 own_biased = biased_parity(own_byte);
        const half2 t_own = __hsub2(own_biased, all(bias));

        two_least even(t_before, t_own), odd(t[0], t[1]);
#pragma unroll
        for (unsigned e = 2; e < MessageEdges; ++e) {
            (e % 2 ? odd : even).take(t[e]);
        }
        even.merge(odd);
        renewal<edges, kept> renewed(even.least, even.second, d_rule, d_constants);

        const half2 before = renewed.posterior(0, t_before);
#pragma unroll
        for (unsigned e = 0; e < MessageEdges; ++e) {
            t[e] = renewed.posterior(e + 1, t[e]);
        }
#pragma unroll
        for (unsigned e = 0; e < MessageEdges; ++e) {
            if ((!Irregular || e < degree) && (e >= most_shared || !flags.shares)) {
                if (external && e + 1 == MessageEdges) {
                    __stcg(&external_at(at[e]), bits(t[e]));
                } else {
                    set_posterior(at[e], t[e]);
                }
            }
        }
        set_parity(c.at, __byte_perm(bits(__hsub2(before, c.message)), 0, 0x4420));
        if constexpr (Soft) {
            c.posterior = renewed.posterior(own_edge, t_own);
        }
        renewed.finish(before);
        renewed.fresh.store(c.state);
        if constexpr (Soft) {
            c.message = __hsub2(c.posterior, own_biased);
        } else {
            const auto own = renewed.message(t_own);
            c.message = __hfma2(own.sign, own.magnitude, all(-bias));
            c.posterior = __hadd2(own_biased, c.message);
        }
        c.at = c.own;
        c.own += pitch;
        c.state.next();
        ++c.layer;
        if (flags.shares) {
            write_shared_bits(head, degree, at, t);
        }
        d_threads.written(flags);
    }

    // Those of a layer in which bits take part more than once.
    __device__ void write_shared_bits(std::uint32_t head,
                                      unsigned degree,
                                      const place (&at)[MessageEdges],
                                      half2 (&t)[MessageEdges])
    {
        const unsigned deferred =
            most_deferred == 1 ? 1 : head >> chain_table::deferred_at & 0xfu;
#pragma unroll
        for (unsigned e = 0; e < most_deferred; ++e) {
            if (e < deferred) { // the change
                t[e] = __hsub2(t[e], value_of(get_posterior(at[e])));
            }
        }
        d_threads.wait_for_chain(); // all have read
#pragma unroll
        for (unsigned e = 0; e < most_shared; ++e) {
            if ((e >= most_deferred || e >= deferred) && (!Irregular || e < degree)) {
                set_posterior(at[e], t[e]);
            }
        }
        d_threads.wait_for_chain();
        const auto sum = [&](unsigned e) {
            return __hadd2(value_of(get_posterior(at[e])), t[e]);
        };
        if (most_deferred > 1 && (head & chain_table::several_rounds)) {
#pragma unroll
            for (unsigned e = 0; e < most_deferred; ++e) {
                if (e < deferred) {
                    if (head >> (chain_table::round_at + e) & 1) {
                        d_threads.wait_for_chain();
                    }
                    set_posterior(at[e], sum(e));
                }
            }
        } else { // of different groups
            half2 sums[most_deferred];
#pragma unroll
            for (unsigned e = 0; e < most_deferred; ++e) {
                if (e < deferred) {
                    sums[e] = sum(e);
                }
            }
#pragma unroll
            for (unsigned e = 0; e < most_deferred; ++e) {
                if (e < deferred) {
                    set_posterior(at[e], sums[e]);
                }
            }
        }
    }

    // Signs of what the message bits of a check in layer i sum to.
    __device__ std::uint32_t message_sum(unsigned i) const
    {
        const auto edge = entry_of(i);
        const auto head = edge.head();
        const unsigned degree = Irregular ? head & 0xffu : MessageEdges;
        const bool external = External && (head & chain_table::external);
        std::uint32_t sum = 0;
#pragma unroll
        for (unsigned e = 0; e < MessageEdges; ++e) {
            if (!Irregular || e < degree) {
                const auto at = place_of(edge, e);
                sum ^= external && e + 1 == MessageEdges ? __ldcg(&external_at(at))
                                                         : get_posterior(at);
            }
        }
        return sum;
    }

    // The decision on the parity bit of layer i, in the sign bits.
    __device__ std::uint32_t parity_decision(unsigned i) const
    {
        return i + 1 < d_first + d_layers
                   ? kept::decision(kept::load_decision(layer_state(i + 1), d_j))
                   : *d_after;
    }

    // Calls use() with the signs of what the checks of layers \p first to \p end of the
    // chain sum to.
    template <class Use>
    __device__ void
    each_sum(unsigned first, unsigned end, std::uint32_t& before, Use&& use) const
    {
        constexpr unsigned together = MessageEdges <= 5 ? 6 : MessageEdges <= 12 ? 4 : 2;
        const auto last = d_first + d_layers - 1;
        const std::uint32_t of_last = *d_after;
        each_loaded_ahead<std::uint32_t, together>(
            d_first + first,
            d_first + end,
            [&](unsigned i, std::uint32_t& word) { // past the last layer too
                word = kept::load_decision(layer_state(min(i + 1, last)), d_j);
            },
            [&](unsigned i, std::uint32_t word) {
                const auto own = i < last ? kept::decision(word) : of_last;
                const auto sum = (before ^ own ^ message_sum(i)) & signs;
                use(d_threads.has_check() ? sum : 0);
                before = own;
            });
    }

    // On the bit before the chain.
    __device__ std::uint32_t decision_before() const
    {
        return !Folded && d_first + d_j == 0 ? 0 : posterior_before();
    }

    // Folded, thread 0 of the first chain: before its check 0 there is no bit, and before
    // check 180 the last one of check 179.
    __device__ bool follows_last() const { return Folded && d_first + d_j == 0; }
    __device__ std::uint8_t* of_last_check() const
    {
        return reinterpret_cast<std::uint8_t*>(parity_at(d_table.q - 1, group_words - 1));
    }
    __device__ std::uint32_t posterior_before() const
    {
        const std::uint32_t x = *d_before;
        return follows_last() ? __byte_perm(x, bits(all(missing)), 0x1054) : x;
    }

    // Which of the codewords in \p candidates satisfy every check.
    __device__ unsigned satisfied(unsigned candidates) const
    {
        std::uint32_t before = decision_before();
        // The first layer alone says no where there is still much to correct. As many
        // rounds for each chain.
        const auto most = d_table.begins[1];
        for (unsigned first = 0, end = 1; first < most; first = end, end += 12) {
            std::uint32_t sum = 0;
            each_sum(
                first, min(end, d_layers), before, [&sum](std::uint32_t s) { sum |= s; });
            if (__syncthreads_or(Folded ? sum : sum & 0x8000u)) {
                candidates &= ~1u;
            }
            if (!Folded && __syncthreads_or(sum >> 16)) {
                candidates &= ~2u;
            }
            if (candidates == 0) {
                break;
            }
        }
        return candidates;
    }

    // Of both codewords, in half words; folded, of the one.
    __device__ std::uint32_t count_violated()
    {
        if (d_threads.number == 0) {
            d_flags[1] = 0;
        }
        __syncthreads();
        std::uint32_t before = decision_before();
        std::uint32_t count = 0;
        each_sum(0, d_layers, before, [&](std::uint32_t s) {
            count += Folded ? unsigned(__popc(s)) : s >> 15;
        });
        atomicAdd(d_flags + 1, count);
        __syncthreads();
        return d_flags[1];
    }

    // Packs signs of codeword w, first bit most significant.
    __device__ void write_decisions(unsigned w, std::uint8_t* output) const
    {
        const auto K = d_table.message_bits;
        const auto end = (d_args.stop.out_bits + 31) / 32 * 4;
        for (unsigned i = d_threads.number; i < end; i += block_threads::count) {
            std::uint32_t byte = 0;
            if (i < K / 8) {
                byte = four_signs(four_of(2 * i, w)) << 4 |
                       four_signs(four_of(2 * i + 1, w));
            }
            output[i] = std::uint8_t(byte);
        }
        if (d_args.stop.out_bits > K) {
            __threadfence_block();
            __syncthreads();
            auto* const out = reinterpret_cast<std::uint32_t*>(output);
            const auto end = d_threads.has_check() ? d_first + d_layers : d_first;
            for (unsigned i = d_first; i < end; ++i) {
                const auto decisions = parity_decision(i);
                for (unsigned h = first_half(w); h < end_half(w); ++h) {
                    if (decisions >> (h ? 31 : 15) & 1) {
                        const unsigned bit = K + check_of(h) * d_table.q + i;
                        atomicOr(out + bit / 32, 0x80u >> bit % 8 << bit % 32 / 8 * 8);
                    }
                }
            }
        }
    }
    __device__ void write_llrs(unsigned w, const soft_writer& llrs) const
    {
        const auto K = d_table.message_bits;
        for (unsigned i = d_threads.number; i < K / 4; i += block_threads::count) {
            const auto [x, h] = four_of(i, w);
            const float four[] = { of_codeword(x.x, h),
                                   of_codeword(x.y, h),
                                   of_codeword(x.z, h),
                                   of_codeword(x.w, h) };
            llrs.write_four<std::int8_t>(4 * i, four);
        }
        if (!d_threads.has_check()) {
            return;
        }
        // Of a parity bit: what is kept, and the message that its own check sent.
        for (unsigned h = first_half(w); h < end_half(w); ++h) {
            soft_writer::run<std::int8_t> run(llrs,
                                              K + check_of(h) * d_table.q + d_first);
            const typename kept::place state(layer_state(d_first), d_j);
            for (unsigned i = d_first; i < d_first + d_layers; ++i) {
                kept m;
                m.load(state, i - d_first);
                m.open();
                const half2 sum = unpacked_parity(get_parity(parity_at(i, d_j)));
                const half2 less =
                    m.without(sum, own_edge, m.least(d_constants), m.second(d_constants));
                run.add(of_codeword(bits(__hfma2(sum, all(2), __hneg2(less))), h));
            }
            run.end();
        }
    }

    // The halves that codeword w has, and the check of the thread in a half.
    __device__ static constexpr unsigned first_half(unsigned w) { return w; }
    __device__ static constexpr unsigned end_half(unsigned w)
    {
        return Folded ? 2 : w + 1;
    }
    __device__ unsigned check_of(unsigned half) const
    {
        return d_j + (Folded ? half * group_words : 0);
    }

    // Posteriors of four successive message bits, in a half of the words.
    struct four {
        uint4 words;
        unsigned half;
    };
    // The i-th four of codeword w.
    __device__ four four_of(unsigned i, unsigned w) const
    {
        const auto* const shared = reinterpret_cast<const uint4*>(shared_words());
        if constexpr (Folded) {
            const unsigned halves = i / (group_words / 4); // of groups, before this one
            return { shared[i - (halves + 1) / 2 * (group_words / 4)], halves % 2 };
        }
        if constexpr (External) {
            const auto inside = d_table.shared_groups * (group / 4);
            if (i >= inside) {
                return { __ldcg(reinterpret_cast<const uint4*>(d_external) + i - inside),
                         w };
            }
        }
        return { shared[i], w };
    }
    __device__ static std::uint32_t four_signs(const four& x)
    {
        const unsigned s = x.half ? 31 : 15;
        return (x.words.x >> s & 1) << 3 | (x.words.y >> s & 1) << 2 |
               (x.words.z >> s & 1) << 1 | (x.words.w >> s & 1);
    }

    const chain_table& d_table;
    const pair_arguments& d_args;
    block_threads d_threads;
    const unsigned d_j;
    const chain_thread<(block_threads::spare_words > 0)> d_thread;
    const unsigned d_first, d_layers; // of the thread's chain
    const constants d_constants;
    const std::conditional_t<Folded, kept_rule, const pair_arguments&> d_rule;
    std::uint32_t* d_flags; // the block's part of the state; violated checks
    parity* d_parity;
    // Posteriors of the last layer's parity bits, of check j − 1 at j; after them those
    // of the bits between the first chain and the second.
    std::uint32_t* d_wrap;
    std::uint32_t *d_before, *d_after; // of those, the bit before the chain and its last
    std::uint32_t* d_state;
    std::uint32_t* d_external;
    std::uint32_t* d_entries; // of the layers, in shared memory
};

template <unsigned MessageEdges,
          bool SharedParity,
          bool SharedTable,
          bool Irregular,
          bool External,
          bool Soft,
          unsigned Blocks,
          unsigned Chains,
          bool Folded>
__global__ void __launch_bounds__(chain_threads<Chains, group / (Folded ? 2 : 1)>::count,
                                  Blocks)
    decode_pairs(const __grid_constant__ chain_table table,
                 const __grid_constant__ pair_arguments arguments)
{
#if __CUDA_ARCH__ >= 800 || defined(GPUFEC_EMULATED)
    constexpr bool has_code = true;
#else
    constexpr bool has_code = Folded;
#endif
    if constexpr (has_code) {
        decoder<MessageEdges,
                SharedParity,
                SharedTable,
                Irregular,
                External,
                Soft,
                Blocks,
                Chains,
                Folded>(table, arguments)
            .run();
    }
}

} // namespace pairs
} // namespace device
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CUDA_PAIRS_CUH */
