/* -*- c++ -*- */
/*
 * Copyright 2026 gr-gpufec developers
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

/* Layered min-sum for the codes of DVB-S2 in int8: a block of 360 threads decodes a pair
 * of codewords, one in each half of a half2, which holds these integers exactly.
 *
 * Thread j does check j·q + i in layer i. Shared memory holds the posteriors of the
 * message bits. The parity bits are a chain that a thread follows from layer to layer:
 * of bit c it keeps B = channel + message from check c+1, and the posterior goes on to
 * the next layer in a register; only from the last layer to the first it passes to the
 * neighbour, through an array of 361 words. Messages are kept compressed, in memory that
 * the L2 cache holds: the two least magnitudes of each check, and for each edge a sign
 * and whether it has the least. */

#include "cuda_kernels.h"
#include "cuda_pairs.cuh"
#include "dvbs2_layers.h"
#include <algorithm>

namespace gr {
namespace gpufec {
namespace ldpc_cuda {

namespace {

struct kernel_arguments {
    device_frames frames;
    stopping stop;
    std::uint32_t* state;   // of all blocks
    std::uint32_t* counter; // of pairs taken
    float offset, limit, factor;
};

// What is in shared memory beside the message posteriors.
enum class layout {
    all,        // B too
    posteriors, // nothing; B is in device memory
    spilled     // not even all of them: those of the last groups are in device memory
};

template <unsigned MessageEdges, layout Layout, bool Irregular, bool Normalized>
class decoder
{
public:
    static constexpr bool SharedParity = Layout == layout::all;
    static constexpr unsigned spilled_groups = Layout == layout::spilled ? 2 : 0;
    static constexpr unsigned edges = MessageEdges + 2;
    static constexpr unsigned words = (edges + 7) / 8;
    static constexpr unsigned before = MessageEdges; // edge to the parity bit before
    static constexpr unsigned own = MessageEdges + 1;
    static constexpr float missing = 1500; // magnitude of an edge that is not there

    // 32-bit words of state a layer, and of a block besides.
    __host__ __device__ static constexpr unsigned layer_words()
    {
        return (words + 1) * threads + (SharedParity ? 0 : threads / 2);
    }
    __host__ __device__ static constexpr unsigned spilled_words()
    {
        return spilled_groups * threads;
    }

    static std::size_t shared_bytes(unsigned message_bits, unsigned q)
    {
        return (std::size_t(message_bits) - spilled_words()) * 4 + 4 * 364 + 16 +
               (SharedParity ? q * threads * 2 : 0);
    }

    __device__ decoder(const layer_table& table, const kernel_arguments& a)
        : d_table(table), d_args(a), d_j(threadIdx.x)
    {
        extern __shared__ std::uint32_t shared[];
        d_posterior = reinterpret_cast<half2*>(shared);
        d_origin = 4 * d_j;
        if (Layout != layout::spilled) {
            d_origin += std::uint32_t(__cvta_generic_to_shared(shared)) << 14;
        }
        d_held = table.message_bits - spilled_words();
        d_wrap = d_posterior + d_held;
        d_flags = reinterpret_cast<std::uint32_t*>(d_wrap + 364);
        d_shared_parity = reinterpret_cast<std::uint16_t*>(d_flags + 4);
        d_state = a.state +
                  std::size_t(blockIdx.x) * (layer_words() * table.q + spilled_words());
        d_spilled = reinterpret_cast<half2*>(d_state + layer_words() * table.q);
    }

    __device__ void run()
    {
        const std::uint32_t pairs = (d_args.frames.count + 1) / 2;
        for (;;) {
            __syncthreads();
            if (d_j == 0) {
                d_flags[0] = atomicAdd(d_args.counter, 1u);
            }
            __syncthreads();
            const auto pair = d_flags[0];
            if (pair >= pairs) {
                return;
            }
            decode(pair);
        }
    }

private:
    __device__ void decode(std::uint32_t pair)
    {
        const bool single = 2 * pair + 1 == d_args.frames.count;
        d_frame[0] = d_args.frames.table[2 * pair];
        d_frame[1] = single ? d_frame[0] : d_args.frames.table[2 * pair + 1];
        std::uint32_t live = single ? 1 : 3;
        load();
        __syncthreads();
        for (std::uint32_t i = 1;; ++i) {
            if (i == 1) {
                iterate<true>();
            } else {
                iterate<false>();
            }
            const bool last = i == d_args.stop.max_iterations;
            if (!last && !d_args.stop.early_stop) {
                continue;
            }
            const auto ended = last ? live : live & satisfied(live);
            if (ended) {
                finish(ended, i, last);
                live &= ~ended;
            }
            if (!live) {
                return;
            }
        }
    }

    // Channel values of both codewords.
    __device__ void load()
    {
        const auto* const a = d_args.frames.input + d_frame[0].input;
        const auto* const b = d_args.frames.input + d_frame[1].input;
        const auto K = d_table.message_bits, q = d_table.q;
        const auto* const a4 = reinterpret_cast<const std::uint32_t*>(a);
        const auto* const b4 = reinterpret_cast<const std::uint32_t*>(b);
        // Unrolled, so that many loads are in flight.
#pragma unroll 4
        for (unsigned i = d_j; i < K / 4; i += threads) {
            const auto x = __ldg(a4 + i) ^ 0x80808080u, y = __ldg(b4 + i) ^ 0x80808080u;
            const auto low = __byte_perm(x, y, 0x5140), high = __byte_perm(x, y, 0x7362);
            const half2 bias = both(1152);
            uint4 four;
            four.x = bits(__hsub2(unpack_low(low), bias));
            four.y = bits(__hsub2(unpack_high(low), bias));
            four.z = bits(__hsub2(unpack_low(high), bias));
            four.w = bits(__hsub2(unpack_high(high), bias));
            *reinterpret_cast<uint4*>(message_posterior(4 * i)) = four;
        }
#pragma unroll 4
        for (unsigned c = 4 * d_j; c < q * threads; c += 4 * threads) {
            const auto x = __ldg(a4 + (K + c) / 4) ^ 0x80808080u;
            const auto y = __ldg(b4 + (K + c) / 4) ^ 0x80808080u;
            load_parity(c, __byte_perm(x, y, 0x5140), __byte_perm(x, y, 0x7362));
        }
        if (d_j == 0) {
            d_wrap[0] = both(missing);
        }
    }

    // Channel values of four parity bits from c on, both codewords' next to each other.
    __device__ void load_parity(unsigned c, std::uint32_t two, std::uint32_t two_more)
    {
        const auto q = d_table.q;
        unsigned j = c / q, i = c - j * q;
        for (unsigned k = 0; k < 4; ++k) {
            const auto x = (k < 2 ? two : two_more) >> 16 * (k % 2) & 0xffffu;
            set_parity_bytes(parity_at(i, j), x);
            if (++i == q) {
                d_wrap[j + 1] = unpack_parity(x);
                i = 0;
                ++j;
            }
        }
    }

    __device__ std::uint16_t* parity_at(unsigned layer, unsigned j) const
    {
        if constexpr (SharedParity) {
            return d_shared_parity + layer * threads + j;
        } else {
            return reinterpret_cast<std::uint16_t*>(layer_state(layer) +
                                                    (words + 1) * threads) +
                   j;
        }
    }
    __device__ std::uint32_t parity_bytes(unsigned layer, unsigned j) const
    {
        if constexpr (SharedParity) {
            return *parity_at(layer, j);
        } else {
            return __ldcg(parity_at(layer, j));
        }
    }
    __device__ static void set_parity_bytes(std::uint16_t* at, std::uint32_t x)
    {
        if constexpr (SharedParity) {
            *at = std::uint16_t(x);
        } else {
            __stcg(at, std::uint16_t(x));
        }
    }

    __device__ std::uint32_t* layer_state(unsigned layer) const
    {
        return d_state + std::size_t(layer) * layer_words();
    }

    // Where the posterior of an edge is: an address in shared memory, but where some are
    // not there, bytes from the first.
    __device__ std::uint32_t place_of(std::uint32_t entry) const
    {
        const std::uint32_t moved = entry + d_origin;
        const std::uint32_t x = moved & 0x3fffu;
        return min(x, x - 4 * threads) + (moved >> 14); // below 0 wraps to a large number
    }
    __device__ half2 posterior(std::uint32_t place) const
    {
        if constexpr (Layout == layout::spilled) {
            return *message_posterior(place / 4);
        } else {
            std::uint32_t x;
            asm volatile("ld.shared.b32 %0, [%1];" : "=r"(x) : "r"(place) : "memory");
            return halves(x);
        }
    }
    __device__ void set_posterior(std::uint32_t place, half2 x) const
    {
        if constexpr (Layout == layout::spilled) {
            *message_posterior(place / 4) = x;
        } else {
            asm volatile("st.shared.b32 [%0], %1;" ::"r"(place), "r"(bits(x)) : "memory");
        }
    }
    __device__ half2* message_posterior(std::uint32_t bit) const
    {
        return Layout == layout::spilled && bit >= d_held ? d_spilled + (bit - d_held)
                                                          : d_posterior + bit;
    }

    __device__ half2 outgoing(half2 least) const
    {
        half2 x = __hmax2(__hsub2(least, both(d_args.offset)), both(0));
        x = __hmin2(x, both(d_args.limit));
        if (Normalized) {
            x = h2floor(__hfma2(x, both(d_args.factor), both(0.5f)));
        }
        return x;
    }

    // What a thread carries down the chain of its parity bits.
    struct chain {
        half2 posterior;   // of the parity bit before
        half2 parity;      // B of the parity bit before
        std::uint16_t* at; // where that B is kept; null: nowhere
    };

    template <bool First>
    __device__ void iterate()
    {
        const auto q = d_table.q;
        chain c;
        c.posterior = d_wrap[d_j];
        c.at = d_j == 0 ? nullptr : parity_at(q - 1, d_j - 1);
        c.parity = d_j == 0 ? both(0) : unpack_parity(parity_bytes(q - 1, d_j - 1));

        // Messages and B are fetched two layers ahead, and what does not depend on the
        // layer before is computed one ahead, where there are registers for it.
        messages<words> now, next;
        std::uint32_t b_now, b_next;
        fetch<First>(0, now, b_now);
        fetch<First>(1, next, b_next);
        prepared p;
        prepare(0, now, p);
        for (unsigned i = 0; i < q; ++i) {
            messages<words> later = next;
            std::uint32_t b_later = b_next;
            if (i + 2 < q) {
                fetch<First>(i + 2, later, b_later);
            }
            if (!ahead && i > 0) {
                prepare(i, now, p);
            }
            do_layer(i, p, b_now, c);
            now = next;
            b_now = b_next;
            next = later;
            b_next = b_later;
            if (ahead && i + 1 < q) {
                prepare(i + 1, now, p);
            }
            __syncthreads();
        }
        d_wrap[d_j + 1] = c.posterior;
        __syncthreads();
    }

    static constexpr bool ahead = MessageEdges <= 12;

    // Of a layer to come: where posteriors are, and the old messages.
    struct prepared {
        std::uint32_t head;
        std::uint32_t at[MessageEdges];
        half2 old[MessageEdges + 1];
    };

    __device__ void prepare(unsigned i, const messages<words>& old, prepared& p) const
    {
        p.head = d_table.layer[i];
        const auto* const entry = d_table.entry + (p.head & 0xffffu);
        const auto m = old.open();
#pragma unroll
        for (unsigned e = 0; e < MessageEdges; ++e) {
            if (!Irregular || e < (p.head >> 16 & 0xffu)) {
                p.at[e] = place_of(entry[e]);
            }
            p.old[e] = old.at(e, m);
        }
        p.old[before] = old.at(before, m);
    }

    template <bool First>
    __device__ void fetch(unsigned layer, messages<words>& m, std::uint32_t& b) const
    {
        if (First) {
            m.clear();
        } else {
            m.load(layer_state(layer));
        }
        b = parity_bytes(layer, d_j);
    }

    __device__ void
    do_layer(unsigned i, const prepared& p, std::uint32_t b_bytes, chain& c)
    {
        const unsigned degree = Irregular ? p.head >> 16 & 0xffu : MessageEdges;
        const unsigned deferred = p.head >> 24;
        half2 t[edges];
#pragma unroll
        for (unsigned e = 0; e < MessageEdges; ++e) {
            t[e] = !Irregular || e < degree ? __hsub2(posterior(p.at[e]), p.old[e])
                                            : both(missing);
        }
        const half2 b = unpack_parity(b_bytes);
        t[before] = __hsub2(c.posterior, p.old[before]);
        t[own] = b;

        two_least even{ __habs2(t[0]), both(missing + 500) };
        two_least odd{ __habs2(t[1]), both(missing + 500) };
        std::uint32_t product = bits(t[0]) ^ bits(t[1]);
#pragma unroll
        for (unsigned e = 2; e < edges; ++e) {
            (e % 2 ? odd : even).take(t[e]);
            product ^= bits(t[e]);
        }
        even.merge(odd);
        product &= signs;

        const half2 first = outgoing(even.least), second = outgoing(even.second);
        const half2 signed_least = exclusive_or(first, product);
        const half2 signed_step = exclusive_or(__hsub2(second, first), product);
        const half2 above = __hadd2(even.least, both(1));
        messages<words> fresh;
        fresh.clear();
        fresh.set_least(first, second);
        const auto renew = [&](unsigned e) {
            // 1 where |t| is the least, else 0.
            const half2 has_least = __hsub2_sat(above, __habs2(t[e]));
            const half2 r = exclusive_or(__hfma2(has_least, signed_step, signed_least),
                                         bits(t[e]) & signs);
            fresh.set(e, r, has_least);
            return r;
        };
        if (deferred == 0) {
#pragma unroll
            for (unsigned e = 0; e < MessageEdges; ++e) {
                if (!Irregular || e < degree) {
                    set_posterior(p.at[e], __hadd2(t[e], renew(e)));
                }
            }
        } else {
            half2 r[MessageEdges];
#pragma unroll
            for (unsigned e = 0; e < MessageEdges; ++e) {
                r[e] = renew(e);
            }
            write_shared_bits(degree, deferred, p, t, r);
        }
        const half2 r_before = renew(before), r_own = renew(own);
        if (c.at) {
            c.parity = __hadd2(c.parity, __hsub2(r_before, p.old[before]));
            set_parity_bytes(c.at, pack_parity(c.parity));
        }
        fresh.store(layer_state(i));
        c = { __hadd2(b, r_own), b, parity_at(i, d_j) };
    }

    // A layer in which bits take part more than once.
    __device__ void write_shared_bits(unsigned degree,
                                      unsigned deferred,
                                      const prepared& p,
                                      const half2 (&t)[edges],
                                      const half2 (&r)[MessageEdges]) const
    {
        const unsigned written = degree - deferred;
        __syncthreads(); // all have read
#pragma unroll
        for (unsigned e = 0; e < MessageEdges; ++e) {
            if (e < written) {
                set_posterior(p.at[e], __hadd2(t[e], r[e]));
            }
        }
#pragma unroll
        for (unsigned e = 0; e < MessageEdges; ++e) {
            if (e >= written && e < degree) {
                __syncthreads();
                set_posterior(p.at[e],
                              __hadd2(posterior(p.at[e]), __hsub2(r[e], p.old[e])));
            }
        }
    }

    // Calls use() with the signs of what the checks of layers \p first to \p end sum to;
    // fetches messages of several layers together.
    template <class Use>
    __device__ void
    each_sum(unsigned first, unsigned end, half2& posterior_before, Use&& use) const
    {
        constexpr unsigned together = 6;
        for (unsigned i = first; i < end; i += together) {
            messages<words> m[together];
            std::uint32_t b[together];
#pragma unroll
            for (unsigned k = 0; k < together; ++k) {
                const auto layer = min(i + k, end - 1);
                m[k].load(layer_state(layer));
                b[k] = parity_bytes(layer, d_j);
            }
#pragma unroll
            for (unsigned k = 0; k < together; ++k) {
                if (i + k < end) {
                    auto sum = bits(posterior_before) ^ message_sum(i + k);
                    posterior_before =
                        __hadd2(unpack_parity(b[k]), m[k].at(own, m[k].open()));
                    sum ^= bits(posterior_before);
                    use(sum & signs);
                }
            }
        }
    }

    __device__ std::uint32_t message_sum(unsigned i) const
    {
        const auto head = d_table.layer[i];
        const auto* const entry = d_table.entry + (head & 0xffffu);
        const unsigned degree = Irregular ? head >> 16 & 0xffu : MessageEdges;
        std::uint32_t sum = 0;
#pragma unroll
        for (unsigned e = 0; e < MessageEdges; ++e) {
            if (!Irregular || e < degree) {
                sum ^= bits(posterior(place_of(entry[e])));
            }
        }
        return sum;
    }

    __device__ half2 parity_posterior(unsigned i) const
    {
        messages<words> m;
        m.load(layer_state(i));
        return __hadd2(unpack_parity(parity_bytes(i, d_j)), m.at(own, m.open()));
    }

    // Which of the live codewords (mask) satisfy every check.
    __device__ std::uint32_t satisfied(std::uint32_t live) const
    {
        const auto q = d_table.q;
        half2 before = d_wrap[d_j];
        std::uint32_t open = live;
        // The first layer alone says no where there is still much to correct.
        for (unsigned first = 0, end = 1; first < q;
             first = end, end = min(end + 12, q)) {
            std::uint32_t sum = 0;
            each_sum(first, end, before, [&sum](std::uint32_t s) { sum |= s; });
            open &= ~(__syncthreads_or(sum & 0x8000u) ? 1u : 0u);
            open &= ~(__syncthreads_or(sum & 0x80000000u) ? 2u : 0u);
            if (!open) {
                break;
            }
        }
        return open;
    }

    __device__ void finish(std::uint32_t ended, std::uint32_t iteration, bool last)
    {
        if (d_j < 2) {
            d_flags[1 + d_j] = 0;
        }
        __syncthreads();
        if (last) {
            count_violated();
        }
        for (unsigned k = 0; k < 2; ++k) {
            if (ended >> k & 1) {
                write_decisions(k);
                if (d_j == 0) {
                    d_args.frames.status[d_frame[k].status] = { iteration,
                                                                d_flags[1 + k] };
                }
            }
        }
        __syncthreads();
    }

    __device__ void count_violated()
    {
        half2 before = d_wrap[d_j];
        std::uint32_t low = 0, high = 0;
        each_sum(0, d_table.q, before, [&](std::uint32_t sum) {
            low += sum >> 15 & 1;
            high += sum >> 31;
        });
        atomicAdd(d_flags + 1, low);
        atomicAdd(d_flags + 2, high);
        __syncthreads();
    }

    // Packs the signs of codeword k, first bit most significant.
    __device__ void write_decisions(unsigned k) const
    {
        auto* const out =
            reinterpret_cast<std::uint32_t*>(d_args.frames.output + d_frame[k].output);
        const unsigned sign = k ? 31 : 15;
        const auto K = d_table.message_bits;
        const auto all = (d_args.stop.out_bits + 31) / 32;
        constexpr unsigned warps = threads / 32;
        if (d_j < warps * 32) {
            for (unsigned w = d_j / 32; w < all; w += warps) {
                const unsigned bit = w * 32 + d_j % 32;
                const bool one = bit < K && bits(*message_posterior(bit)) >> sign & 1;
                const auto word = __brev(__ballot_sync(~0u, one));
                if (d_j % 32 == 0) {
                    out[w] = __byte_perm(word, 0, 0x0123);
                }
            }
        }
        if (d_args.stop.out_bits > K) {
            __threadfence_block();
            __syncthreads();
            for (unsigned i = 0; i < d_table.q; ++i) {
                const unsigned bit = K + d_j * d_table.q + i;
                if (bits(parity_posterior(i)) >> sign & 1) {
                    atomicOr(out + bit / 32, 0x80u >> bit % 8 << bit % 32 / 8 * 8);
                }
            }
        }
    }

    const layer_table& d_table;
    const kernel_arguments& d_args;
    const unsigned d_j;
    std::uint32_t d_origin; // added to an entry of the table, see place_of()
    std::uint32_t d_held;   // message posteriors in shared memory
    half2* d_posterior;
    half2* d_spilled;       // the others
    half2* d_wrap;          // posterior of the last layer's parity bit of thread j − 1
    std::uint32_t* d_flags; // the pair at hand; violated checks of both codewords
    std::uint16_t* d_shared_parity;
    std::uint32_t* d_state;
    ldpc_frame d_frame[2];
};

template <unsigned MessageEdges, layout Layout, bool Irregular, bool Normalized>
__global__ void __launch_bounds__(threads, MessageEdges <= 5 ? 2 : 1)
    decode_dvbs2(const __grid_constant__ layer_table table,
                 const __grid_constant__ kernel_arguments arguments)
{
    decoder<MessageEdges, Layout, Irregular, Normalized>(table, arguments).run();
}

// A code's entry into the kernels above.
struct variant {
    void (*plain)(layer_table, kernel_arguments);
    void (*normalized)(layer_table, kernel_arguments);
    std::size_t state_words; // of a block
    std::size_t shared_bytes;
};

template <unsigned MessageEdges, layout Layout, bool Irregular>
variant variant_of(unsigned message_bits, unsigned q)
{
    using d = decoder<MessageEdges, Layout, Irregular, false>;
    return { decode_dvbs2<MessageEdges, Layout, Irregular, false>,
             decode_dvbs2<MessageEdges, Layout, Irregular, true>,
             std::size_t(d::layer_words()) * q + d::spilled_words(),
             d::shared_bytes(message_bits, q) };
}

template <unsigned MessageEdges, bool Irregular>
variant variant_for(unsigned message_bits, unsigned q, std::size_t shared_limit)
{
    auto v = variant_of<MessageEdges, layout::all, Irregular>(message_bits, q);
    if (v.shared_bytes > shared_limit) {
        v = variant_of<MessageEdges, layout::posteriors, Irregular>(message_bits, q);
    }
    if constexpr (MessageEdges == 28) { // 9/10
        if (v.shared_bytes > shared_limit) {
            v = variant_of<MessageEdges, layout::spilled, Irregular>(message_bits, q);
        }
    }
    return v;
}

variant choose(unsigned edges, bool irregular, unsigned K, unsigned q, std::size_t limit)
{
    if (irregular) {
        if (edges <= 5) {
            return variant_for<5, true>(K, q, limit);
        }
        return edges <= 11 ? variant_for<11, true>(K, q, limit)
                           : variant_for<17, true>(K, q, limit);
    }
    switch (edges) {
    case 2:
        return variant_for<2, false>(K, q, limit);
    case 3:
        return variant_for<3, false>(K, q, limit);
    case 4:
        return variant_for<4, false>(K, q, limit);
    case 5:
        return variant_for<5, false>(K, q, limit);
    case 8:
        return variant_for<8, false>(K, q, limit);
    case 9:
        return variant_for<9, false>(K, q, limit);
    case 12:
        return variant_for<12, false>(K, q, limit);
    case 16:
        return variant_for<16, false>(K, q, limit);
    case 20:
        return variant_for<20, false>(K, q, limit);
    case 25:
        return variant_for<25, false>(K, q, limit);
    default:
        return variant_for<28, false>(K, q, limit);
    }
}

auto kernel_of(const variant& v, const message_rule& rule)
{
    return rule.sixteenths == 16 ? v.plain : v.normalized;
}

class dvbs2_kernel : public code_kernel
{
public:
    dvbs2_kernel(const layer_table& table,
                 const message_rule& rule,
                 const variant& v,
                 int blocks)
        : d_table(table), d_rule(rule), d_variant(v), d_blocks(blocks)
    {
    }

    std::size_t scratch_bytes(std::size_t codewords) const override
    {
        return 256 + std::size_t(grid(codewords)) * d_variant.state_words * 4;
    }

    void launch(const device_frames& frames,
                const stopping& stop,
                void* scratch,
                cudaStream_t stream) const override
    {
        auto* const counter = static_cast<std::uint32_t*>(scratch);
        cuda::check(cudaMemsetAsync(counter, 0, sizeof(*counter), stream), "memset");
        kernel_arguments a{ frames,
                            stop,
                            counter + 64,
                            counter,
                            d_rule.offset,
                            d_rule.message_limit,
                            d_rule.sixteenths / 16.0f };
        kernel_of(
            d_variant,
            d_rule)<<<grid(frames.count), threads, d_variant.shared_bytes, stream>>>(
            d_table, a);
        cuda::check(cudaGetLastError(), "LDPC kernel");
    }

private:
    unsigned grid(std::size_t codewords) const
    {
        return unsigned(std::min<std::size_t>(d_blocks, (codewords + 1) / 2));
    }

    const layer_table d_table;
    const message_rule d_rule;
    const variant d_variant;
    const int d_blocks; // resident at once
};

} // namespace

std::unique_ptr<code_kernel>
make_dvbs2_kernel(const ldpc_code& code, const message_rule& rule, int device)
{
    // Halves hold integers up to 2048.
    if (!code.q() || rule.precision != ldpc_precision::int8 ||
        rule.posterior_limit(code.largest_bit_degree()) + rule.message_limit > 1400) {
        return nullptr;
    }
    cudaDeviceProp p;
    cuda::check(cudaGetDeviceProperties(&p, device), "device properties");
    const auto layers = make_dvbs2_layers(code);
    const auto v = choose(layers.largest_degree,
                          layers.irregular,
                          code.k(),
                          code.q(),
                          p.sharedMemPerBlockOptin);
    if (v.shared_bytes > p.sharedMemPerBlockOptin) {
        return nullptr;
    }
    cuda::check(cudaFuncSetAttribute(kernel_of(v, rule),
                                     cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     int(v.shared_bytes)),
                "shared memory");
    int resident = 0;
    cuda::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                    &resident, kernel_of(v, rule), threads, v.shared_bytes),
                "occupancy");
    if (resident == 0) {
        return nullptr;
    }
    return std::make_unique<dvbs2_kernel>(
        layers.table, rule, v, resident * p.multiProcessorCount);
}

} // namespace ldpc_cuda
} // namespace gpufec
} // namespace gr
