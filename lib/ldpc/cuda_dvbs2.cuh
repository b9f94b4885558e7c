// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Layered min-sum for the codes of DVB-S2 in int8: a block of threads decodes a codeword.
 *
 * Thread j does checks j·q + i and (j + 180)·q + i in layer i. Shared memory holds the
 * posteriors of the message bits. The parity bits are a chain that a thread follows from
 * layer to layer: of bit c it keeps what check c + 1 leaves, and after check c the
 * posterior goes on to the next layer in a register; only from the last layer to the
 * first it passes to the neighbour, through an array of 361 values, and between two
 * chains of layers, of which a thread does layers in turn, through one of 360. These and
 * the messages are in memory that the L2 cache holds. Messages are kept compressed: the
 * two least magnitudes of each check, and for each edge a sign and whether it has the
 * least.
 */

#ifndef INCLUDED_GPUFEC_LDPC_CUDA_DVBS2_CUH
#define INCLUDED_GPUFEC_LDPC_CUDA_DVBS2_CUH

#include "cuda_lanes.cuh"

namespace gr::gpufec::ldpc {
namespace device {
namespace {

// SharedParity: parity bits are in shared memory too.
template <unsigned MessageEdges, bool SharedParity, bool Irregular>
class decoder
{
    using Lanes = half_lanes;
    using value = Lanes::value;
    using parity = Lanes::parity;
    static constexpr unsigned threads = Lanes::threads;
    static constexpr unsigned edges = MessageEdges + 2;
    static constexpr unsigned before = MessageEdges; // edge to the parity bit before
    static constexpr unsigned own = MessageEdges + 1;
    using messages = Lanes::messages<edges>;
    using renewal = Lanes::renewal<edges>;

    // 32-bit words of state: of a layer, and of the wrap, even.
    static constexpr unsigned layer_words =
        messages::words * threads +
        (SharedParity ? 0 : threads * sizeof(parity) / sizeof(std::uint32_t));
    static constexpr unsigned wrap_words = (group / Lanes::lanes + 2) / 2 * 2;
    static constexpr unsigned middle_words = threads;

    __host__ __device__ static std::size_t state_words(unsigned q)
    {
        return std::size_t(layer_words) * q + wrap_words + middle_words;
    }

public:
    static dvbs2_variant variant(void (*kernel)(layer_table, dvbs2_arguments),
                                 const layer_table& table)
    {
        const std::size_t posteriors = table.message_bits / Lanes::lanes;
        return { kernel,
                 threads,
                 Lanes::unit,
                 state_words(table.q),
                 4 * (posteriors + 2) +
                     (SharedParity ? table.q * threads * sizeof(parity) : 0) };
    }

    __device__ decoder(const layer_table& table, const dvbs2_arguments& a)
        : d_table(table), d_args(a), d_j(threadIdx.x)
    {
        extern __shared__ std::uint32_t shared[];
        d_posterior = reinterpret_cast<value*>(shared);
        d_flags = shared + table.message_bits / Lanes::lanes;
        d_shared_parity = reinterpret_cast<parity*>(d_flags + 2);
        d_state = a.state + blockIdx.x * state_words(table.q);
        d_wrap = reinterpret_cast<__half*>(layer_state(table.q));
        d_middle = layer_state(table.q) + wrap_words;
    }

    __device__ void run()
    {
        for (;;) {
            __syncthreads();
            if (d_j == 0) {
                d_flags[0] = atomicAdd(d_args.counter, 1u);
            }
            __syncthreads();
            const auto i = d_flags[0];
            if (i >= d_args.frames.count) {
                return;
            }
            decode(d_args.frames.table[i]);
        }
    }

private:
    __device__ void decode(const frame_place& frame)
    {
        load(d_args.frames.input + frame.input);
        __syncthreads();
        iterate(true);
        std::uint32_t i = 1;
        bool valid = false;
        while (!(d_args.stop.early_stop && (valid = satisfied())) &&
               i < d_args.stop.max_iterations) {
            iterate(false);
            ++i;
        }
        const auto violated = valid ? 0 : count_violated();
        if (d_j == 0) {
            d_args.frames.status[frame.status] = { i, violated };
        }
        write_decisions(d_args.frames.output + frame.output);
        if (d_args.stop.soft != ldpc_soft_output::none) {
            write_llrs(soft_writer(d_args.frames, frame, d_args.stop, Lanes::unit));
        }
    }

    // Both lanes' values of four words at a time.
    __device__ void load(const std::uint8_t* input)
    {
        if (d_j == 0) {
            d_wrap[0] = Lanes::missing;
        }
        const auto* const channel = reinterpret_cast<const std::uint32_t*>(input);
        const auto K = d_table.message_bits, q = d_table.q;
        constexpr unsigned fours = threads / 4; // of half a group
        // Unrolled, so that many loads are in flight.
#pragma unroll 4
        for (unsigned i = d_j; i < K / 8; i += threads) {
            const auto at = i + i / fours * fours;
            const auto x = __ldg(channel + at) ^ 0x80808080u;
            const auto y = __ldg(channel + at + fours) ^ 0x80808080u;
            const auto low = __byte_perm(x, y, 0x5140), high = __byte_perm(x, y, 0x7362);
            const half2 bias = Lanes::all(9);
            uint4 four;
            four.x = Lanes::bits(__hsub2(Lanes::unpack_low(low), bias));
            four.y = Lanes::bits(__hsub2(Lanes::unpack_high(low), bias));
            four.z = Lanes::bits(__hsub2(Lanes::unpack_low(high), bias));
            four.w = Lanes::bits(__hsub2(Lanes::unpack_high(high), bias));
            reinterpret_cast<uint4*>(d_posterior)[i] = four;
        }
        const auto* const checks = channel + K / 4;
#pragma unroll 4
        for (unsigned i = d_j; i < q * fours; i += threads) {
            const auto x = __ldg(checks + i) ^ 0x80808080u;
            const auto y = __ldg(checks + i + q * fours) ^ 0x80808080u;
            load_parity(4 * i, __byte_perm(x, y, 0x5140), __byte_perm(x, y, 0x7362));
        }
    }

    // Channel values of four parity bits from c on, both lanes' next to each other.
    __device__ void load_parity(unsigned c, std::uint32_t two, std::uint32_t two_more)
    {
        const auto q = d_table.q;
        unsigned j = c / q, i = c - j * q;
        for (unsigned k = 0; k < 4; ++k) {
            const auto x = parity((k < 2 ? two : two_more) >> 16 * (k % 2));
            set_parity(parity_at(i, j), x);
            if (i + 1 == d_table.second) {
                d_middle[j] = Lanes::bits(Lanes::unpack(x));
            }
            if (++i == q) {
                set_wrap(j + 1, Lanes::unpack(x));
                i = 0;
                ++j;
            }
        }
    }

    // What passes from the last layer to the first, for the check of lane 0.
    __device__ value wrap(unsigned j) const
    {
        return __halves2half2(d_wrap[j], d_wrap[j + threads]);
    }
    __device__ void set_wrap(unsigned j, value x) const
    {
        d_wrap[j] = __low2half(x);
        d_wrap[j + threads] = __high2half(x);
    }

    __device__ parity* parity_at(unsigned layer, unsigned j) const
    {
        if constexpr (SharedParity) {
            return d_shared_parity + layer * threads + j;
        } else {
            return reinterpret_cast<parity*>(layer_state(layer) +
                                             messages::words * threads) +
                   j;
        }
    }
    __device__ static parity kept_parity(const parity* at)
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

    __device__ std::uint32_t* layer_state(unsigned layer) const
    {
        return d_state + std::size_t(layer) * layer_words;
    }

    // Where the posterior of an edge is, in bytes, and what to turn it by, in bits.
    struct place {
        std::uint32_t offset, turn;
    };
    __device__ place place_of(const layer_table::edge& e) const
    {
        const std::uint32_t z = 4 * d_j + e.step;
        const std::uint32_t y = min(z, z + 4 * threads); // below 0 is a large number
        return { y + e.base, 15 * z + y };
    }
    __device__ static std::uint32_t& word_at(const place& p)
    {
        extern __shared__ std::uint32_t shared[];
        return *reinterpret_cast<std::uint32_t*>(reinterpret_cast<std::byte*>(shared) +
                                                 p.offset);
    }
    __device__ static value posterior(const place& p)
    {
        return Lanes::turn(Lanes::value_of(word_at(p)), p.turn);
    }
    __device__ static void set_posterior(const place& p, value x)
    {
        word_at(p) = Lanes::bits(Lanes::turn(x, p.turn));
    }

    // What is kept of a layer, fetched before it is needed.
    struct fetched {
        messages m;
        parity kept;
    };

    // What a thread carries down the chain of its parity bits: of the bit before.
    struct chain {
        value posterior;
        value kept;
    };

    __device__ void iterate(bool first)
    {
        const auto q = d_table.q, second = d_table.second;
        auto* const before_first = parity_at(q - 1, d_j == 0 ? threads - 1 : d_j - 1);
        chain one, two;
        one.posterior = wrap(d_j);
        one.kept = Lanes::unpack(kept_parity(before_first));
        if (d_j == 0) { // lane 1 follows the last thread's lane 0
            one.kept = Lanes::swap(one.kept);
        }
        two = one;
        if (second < q) {
            two.posterior = Lanes::value_of(d_middle[d_j]);
            two.kept = Lanes::unpack(kept_parity(parity_at(second - 1, d_j)));
        }
        fetched even, odd;
        fetch(first, 0, even);
        fetch(first, 1, odd);
        const auto next = [&](unsigned step, fetched& f) {
            const bool of_two = d_table.order[step] >= second;
            chain c = of_two ? two : one;
            do_layer(first, step, f, c, before_first);
            if (of_two) {
                two = c;
            } else {
                one = c;
            }
        };
        for (unsigned i = 0;; i += 2) {
            next(i, even);
            if (i + 1 == q) {
                break;
            }
            next(i + 1, odd);
            if (i + 2 == q) {
                break;
            }
        }
        if (second < q) {
            set_wrap(d_j + 1, two.posterior);
            d_middle[d_j] = Lanes::bits(one.posterior);
        } else {
            set_wrap(d_j + 1, one.posterior);
        }
        __syncthreads();
    }

    // What is kept of the layer of a step.
    __device__ void fetch(bool first, unsigned step, fetched& f) const
    {
        if (step < d_table.q) {
            const unsigned layer = d_table.order[step];
            if (first) {
                f.m.clear();
            } else {
                f.m.load(layer_state(layer));
            }
            f.kept = kept_parity(parity_at(layer, d_j));
        }
    }

    // The layer of a step; in place of what was fetched comes that of the next but one.
    __device__ void
    do_layer(bool first, unsigned step, fetched& f, chain& c, parity* before_first)
    {
        const unsigned i = d_table.order[step];
        const auto head = d_table.layer[i];
        const auto* const edge = d_table.edges + (head & 0xffffu);
        const unsigned degree = Irregular ? head >> 16 & 0xffu : MessageEdges;
        const unsigned deferred = head >> 24;
        place at[MessageEdges];
        value old[edges], t[edges];
        const auto magnitudes = f.m.open();
#pragma unroll
        for (unsigned e = 0; e < edges; ++e) {
            old[e] = f.m.at(e, magnitudes);
        }
        t[own] = Lanes::unpack(f.kept);
        fetch(first, step + 2, f);
#pragma unroll
        for (unsigned e = 0; e < MessageEdges; ++e) {
            t[e] = Lanes::all(Lanes::missing);
            if (!Irregular || e < degree) {
                at[e] = place_of(edge[e]);
                t[e] = Lanes::subtract(posterior(at[e]), old[e]);
            }
        }
        t[before] = Lanes::subtract(c.posterior, old[before]);

        const auto beyond = Lanes::all(Lanes::beyond);
        two_least even{ Lanes::magnitude(t[0]), beyond };
        two_least odd{ Lanes::magnitude(t[1]), beyond };
        std::uint32_t product = Lanes::bits(t[0]) ^ Lanes::bits(t[1]);
#pragma unroll
        for (unsigned e = 2; e < edges; ++e) {
            (e % 2 ? odd : even).take(t[e]);
            product ^= Lanes::bits(t[e]);
        }
        even.merge(odd);

        renewal renewed(even.least,
                        Lanes::outgoing(even.least, d_args),
                        Lanes::outgoing(even.second, d_args),
                        product & Lanes::signs);
        if (deferred == 0) {
#pragma unroll
            for (unsigned e = 0; e < MessageEdges; ++e) {
                if (!Irregular || e < degree) {
                    set_posterior(at[e], Lanes::add(t[e], renewed.message(e, t[e])));
                }
            }
        } else {
            value r[MessageEdges];
#pragma unroll
            for (unsigned e = 0; e < MessageEdges; ++e) {
                r[e] = renewed.message(e, t[e]);
            }
            write_shared_bits(degree, deferred, at, old, t, r);
        }

        const value r = renewed.message(before, t[before]);
        const value kept = Lanes::add(c.kept, Lanes::subtract(r, old[before]));
        if (i > 0) {
            set_parity(parity_at(i - 1, d_j), Lanes::pack(kept));
        } else {
            keep_before_first(c, kept, before_first);
        }
        c.posterior = Lanes::add(t[own], renewed.message(own, t[own]));
        c.kept = t[own];
        renewed.fresh.store(layer_state(i));
        __syncthreads();
    }

    // Renews what is kept of the parity bit before layer 0; lane 0 of thread 0 has none.
    __device__ void keep_before_first(const chain& c, value kept, parity* at) const
    {
        if (d_j == 0) {
            kept = __halves2half2(__high2half(kept), __low2half(c.kept));
        }
        set_parity(at, Lanes::pack(kept));
    }

    // A layer in which bits take part more than once.
    __device__ void write_shared_bits(unsigned degree,
                                      unsigned deferred,
                                      const place (&at)[MessageEdges],
                                      const value (&old)[edges],
                                      const value (&t)[edges],
                                      const value (&r)[MessageEdges]) const
    {
        const unsigned written = degree - deferred;
        __syncthreads(); // all have read
#pragma unroll
        for (unsigned e = 0; e < MessageEdges; ++e) {
            if (e < written) {
                set_posterior(at[e], Lanes::add(t[e], r[e]));
            }
        }
#pragma unroll
        for (unsigned e = 0; e < MessageEdges; ++e) {
            if (e >= written && e < degree) {
                __syncthreads();
                set_posterior(
                    at[e], Lanes::add(posterior(at[e]), Lanes::subtract(r[e], old[e])));
            }
        }
    }

    // Calls use() with the signs of what the checks of layers \p first to \p end sum to;
    // fetches what is kept of several layers together.
    template <class Use>
    __device__ void
    each_sum(unsigned first, unsigned end, value& posterior_before, Use&& use) const
    {
        constexpr unsigned together = 6;
        for (unsigned i = first; i < end; i += together) {
            messages m[together];
            parity kept[together];
#pragma unroll
            for (unsigned k = 0; k < together; ++k) {
                const auto layer = min(i + k, end - 1);
                m[k].load(layer_state(layer));
                kept[k] = kept_parity(parity_at(layer, d_j));
            }
#pragma unroll
            for (unsigned k = 0; k < together; ++k) {
                if (i + k < end) {
                    auto sum = Lanes::bits(posterior_before) ^ message_sum(i + k);
                    posterior_before = parity_posterior(kept[k], m[k]);
                    sum ^= Lanes::bits(posterior_before);
                    use(sum & Lanes::signs);
                }
            }
        }
    }

    __device__ std::uint32_t message_sum(unsigned i) const
    {
        const auto head = d_table.layer[i];
        const auto* const edge = d_table.edges + (head & 0xffffu);
        const unsigned degree = Irregular ? head >> 16 & 0xffu : MessageEdges;
        std::uint32_t sum = 0;
#pragma unroll
        for (unsigned e = 0; e < MessageEdges; ++e) {
            if (!Irregular || e < degree) {
                sum ^= Lanes::bits(posterior(place_of(edge[e])));
            }
        }
        return sum;
    }

    __device__ static value parity_posterior(parity kept, const messages& m)
    {
        return Lanes::add(Lanes::unpack(kept), m.at(own, m.open()));
    }

    __device__ bool satisfied() const
    {
        const auto q = d_table.q;
        value before = wrap(d_j);
        // The first layer alone says no where there is still much to correct.
        for (unsigned first = 0, end = 1; first < q;
             first = end, end = min(end + 12, q)) {
            std::uint32_t sum = 0;
            each_sum(first, end, before, [&sum](std::uint32_t s) { sum |= s; });
            if (__syncthreads_or(sum)) {
                return false;
            }
        }
        return true;
    }

    __device__ std::uint32_t count_violated()
    {
        if (d_j == 0) {
            d_flags[1] = 0;
        }
        __syncthreads();
        value before = wrap(d_j);
        std::uint32_t count = 0;
        each_sum(0, d_table.q, before, [&](std::uint32_t sum) { count += __popc(sum); });
        atomicAdd(d_flags + 1, count);
        __syncthreads();
        return d_flags[1];
    }

    __device__ bool decision(unsigned message_bit) const
    {
        const unsigned g = message_bit / group, m = message_bit % group;
        const bool high = m >= threads;
        const auto x = Lanes::bits(d_posterior[g * threads + m - high * threads]);
        return x >> (high ? 31 : 15) & 1;
    }

    // Packs signs, first bit most significant.
    __device__ void write_decisions(std::uint8_t* output) const
    {
        auto* const out = reinterpret_cast<std::uint32_t*>(output);
        const auto K = d_table.message_bits;
        const auto all = (d_args.stop.out_bits + 31) / 32;
        constexpr unsigned warps = threads / 32;
        if (d_j < warps * 32) {
            for (unsigned w = d_j / 32; w < all; w += warps) {
                const unsigned bit = w * 32 + d_j % 32;
                const auto word = __brev(__ballot_sync(~0u, bit < K && decision(bit)));
                if (d_j % 32 == 0) {
                    out[w] = __byte_perm(word, 0, 0x0123);
                }
            }
        }
        if (d_args.stop.out_bits > K) {
            __threadfence_block();
            __syncthreads();
            for (unsigned i = 0; i < d_table.q; ++i) {
                messages m;
                m.load(layer_state(i));
                const auto kept = kept_parity(parity_at(i, d_j));
                const auto x = Lanes::bits(parity_posterior(kept, m));
                for (unsigned lane = 0; lane < Lanes::lanes; ++lane) {
                    const unsigned bit = K + (d_j + lane * threads) * d_table.q + i;
                    if (x << (Lanes::lanes - 1 - lane) * 16 & 0x80000000u) {
                        atomicOr(out + bit / 32, 0x80u >> bit % 8 << bit % 32 / 8 * 8);
                    }
                }
            }
        }
    }

    __device__ void write_llrs(const soft_writer& llrs) const
    {
        for (unsigned i = 4 * d_j; i < d_table.message_bits; i += 4 * threads) {
            float x[4];
#pragma unroll
            for (unsigned k = 0; k < 4; ++k) {
                x[k] = message_posterior(i + k);
            }
            llrs.write_four<std::int8_t>(i, x);
        }
        for (unsigned lane = 0; lane < Lanes::lanes; ++lane) {
            soft_writer::run<std::int8_t> run(
                llrs, d_table.message_bits + (d_j + lane * threads) * d_table.q);
            for (unsigned i = 0; i < d_table.q; ++i) {
                messages m;
                m.load(layer_state(i));
                const auto x = parity_posterior(kept_parity(parity_at(i, d_j)), m);
                run.add(lane_of(x, lane));
            }
            run.end();
        }
    }
    __device__ float message_posterior(unsigned bit) const
    {
        const unsigned g = bit / group, m = bit % group;
        const bool high = m >= threads;
        return lane_of(d_posterior[g * threads + m - high * threads], high);
    }
    __device__ static float lane_of(value x, unsigned lane)
    {
        return lane ? __high2float(x) : __low2float(x);
    }

    const layer_table& d_table;
    const dvbs2_arguments& d_args;
    const unsigned d_j;
    value* d_posterior;
    __half* d_wrap;          // posterior of the last layer's parity bit of check j − 1
    std::uint32_t* d_middle; // of the bits between the first chain and the second
    std::uint32_t* d_flags;  // the codeword at hand; violated checks
    parity* d_shared_parity;
    std::uint32_t* d_state;
};

} // namespace
} // namespace device
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CUDA_DVBS2_CUH */
