/* -*- c++ -*- */
/*
 * Copyright 2026 gr-gpufec developers
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

/* Layered min-sum, one codeword a lane, as message_rule.h and layer_plan.h lay down.
 *
 * Plain loops over vectors of the compiler: no function of the standard library is
 * called, so that nothing compiled here for one instruction set can be linked in place
 * of a function that others use. */

#include "cpu_kernels.h"

namespace gr {
namespace gpufec {
namespace ldpc_lanes {
namespace GPUFEC_ISA {

namespace {

constexpr unsigned bytes_a_vector = GPUFEC_LANES * 2;

template <class T, unsigned Lanes>
struct vector_of {
    typedef T type __attribute__((vector_size(sizeof(T) * Lanes), may_alias));
};

// 16-bit posteriors; messages of 8 or 16 bits.
template <class Message>
struct integer_arithmetic {
    static constexpr unsigned lanes = GPUFEC_LANES;
    using value = std::int16_t;
    using message = Message;
    using vec = typename vector_of<value, lanes>::type;
    using stored = typename vector_of<message, lanes>::type;
    using flags = vec;

    explicit integer_arithmetic(const arithmetic& a)
        : d_offset(all(a.offset)),
          d_limit(all(a.message_limit)),
          d_sixteenths(all(a.sixteenths)),
          d_normalized(a.sixteenths != 16)
    {
    }

    static vec all(int x) { return vec{} + value(x); }
    static vec smaller(vec a, vec b) { return a < b ? a : b; }
    static vec larger(vec a, vec b) { return a > b ? a : b; }
    static vec magnitude(vec t) { return larger(t, -t); }
    // All ones where the sign is set.
    static vec sign(vec t) { return t >> 15; }
    static flags negative(vec t) { return t >> 15; }
    static vec with_sign(vec magnitude, vec sign) { return (magnitude ^ sign) - sign; }
    static vec exclusive_or(vec a, vec b) { return a ^ b; }
    static vec widen(stored m) { return __builtin_convertvector(m, vec); }
    static stored narrow(vec m) { return __builtin_convertvector(m, stored); }

    vec outgoing(vec least) const
    {
        const vec x = larger(smaller(least - d_offset, d_limit), vec{});
        return d_normalized ? (x * d_sixteenths + value(8)) >> 4 : x;
    }

    static constexpr value largest = 32767;

private:
    const vec d_offset, d_limit, d_sixteenths;
    const bool d_normalized;
};

struct float_arithmetic {
    static constexpr unsigned lanes = GPUFEC_LANES / 2;
    using value = float;
    using message = float;
    using vec = vector_of<float, lanes>::type;
    using bits = vector_of<std::int32_t, lanes>::type;
    using stored = vec;
    using flags = bits;

    explicit float_arithmetic(const arithmetic& a)
        : d_offset(vec{} + a.offset), d_normalization(vec{} + a.normalization)
    {
    }

    static vec smaller(vec a, vec b) { return a < b ? a : b; }
    static vec larger(vec a, vec b) { return a > b ? a : b; }
    static vec magnitude(vec t) { return vec(bits(t) & 0x7fffffff); }
    static vec sign(vec t) { return vec(bits(t) & std::int32_t(0x80000000u)); }
    static flags negative(vec t) { return bits(t) >> 31; }
    static vec with_sign(vec magnitude, vec sign)
    {
        return vec(bits(magnitude) ^ bits(sign));
    }
    static vec exclusive_or(vec a, vec b) { return vec(bits(a) ^ bits(b)); }
    static vec widen(stored m) { return m; }
    static stored narrow(vec m) { return m; }

    vec outgoing(vec least) const
    {
        return larger(least - d_offset, vec{}) * d_normalization;
    }

    static constexpr value largest = 3.4e38f;

private:
    const vec d_offset, d_normalization;
};

template <class Arithmetic>
class layered
{
public:
    using vec = typename Arithmetic::vec;
    using value = typename Arithmetic::value;
    using stored = typename Arithmetic::stored;
    using flags = typename Arithmetic::flags;
    static constexpr unsigned lanes = Arithmetic::lanes;

    static std::size_t scratch_bytes(const code_view& c)
    {
        return std::size_t(c.places) * sizeof(vec) +
               (std::size_t(c.edges) * sizeof(stored) + 63) / 64 * 64;
    }

    layered(const code_view& code, const arithmetic& a, frames& f, void* scratch)
        : d_code(code),
          d_arithmetic(a),
          d_channel_limit(a.channel_limit),
          d_frames(f),
          d_posterior(static_cast<vec*>(scratch)),
          d_message(reinterpret_cast<stored*>(d_posterior + code.places))
    {
    }

    void decode()
    {
        load();
        for (unsigned l = 0; l < d_frames.count; ++l) {
            d_live[l] = true;
        }
        unsigned left = d_frames.count;
        for (unsigned i = 1; left > 0; ++i) {
            iterate();
            if (i == d_frames.max_iterations || (d_frames.early_stop && any_valid())) {
                left -= finish(i);
            }
        }
    }

private:
    using input = typename Arithmetic::message;
    typedef value lane_value __attribute__((may_alias));

    // Channel values of a codeword a lane; lanes without one hold a valid word.
    void load()
    {
        const value limit(d_channel_limit);
        constexpr std::uint32_t tile = 128;
        for (std::uint32_t begin = 0; begin < d_code.n; begin += tile) {
            const auto end = begin + tile < d_code.n ? begin + tile : d_code.n;
            for (unsigned l = 0; l < lanes; ++l) {
                auto* const to = reinterpret_cast<lane_value*>(d_posterior) + l;
                if (l >= d_frames.count) {
                    for (auto i = begin; i < end; ++i) {
                        to[std::size_t(i) * lanes] = 1;
                    }
                    continue;
                }
                const auto* const from = static_cast<const input*>(d_frames.channel[l]);
                for (auto i = begin; i < end; ++i) {
                    // Adding 0 makes 0 of the float −0.
                    const value x = from[i] + value(0);
                    to[std::size_t(i) * lanes] = x > limit    ? limit
                                                 : x < -limit ? value(-limit)
                                                              : x;
                }
            }
        }
        for (std::uint32_t e = 0; e < d_code.edges; ++e) {
            d_message[e] = stored{};
        }
    }

    void iterate()
    {
        const layer* const end = d_code.layers + d_code.layer_count;
        for (const layer* l = d_code.layers; l != end; ++l) {
            for (auto i = l->first_copy; i < l->last_copy; ++i) {
                d_posterior[d_code.copies[i].to] = d_posterior[d_code.copies[i].from];
            }
            if (l->first_added == l->last_added) {
                checks<false>(*l);
            } else {
                checks<true>(*l);
            }
            for (auto i = l->first_added; i < l->last_added; ++i) {
                d_posterior[d_code.added[i].to] += d_posterior[d_code.added[i].from];
            }
        }
    }

    template <bool Deferred>
    void checks(const layer& l)
    {
        for (auto c = l.first; c < l.last; ++c) {
            const check& k = d_code.checks[c];
            switch (k.degree) {
#define GPUFEC_DEGREE(D)              \
    case D:                           \
        one_check<D, Deferred>(k, D); \
        break;
                GPUFEC_DEGREE(3)
                GPUFEC_DEGREE(4)
                GPUFEC_DEGREE(5)
                GPUFEC_DEGREE(6)
                GPUFEC_DEGREE(7)
                GPUFEC_DEGREE(9)
                GPUFEC_DEGREE(10)
                GPUFEC_DEGREE(11)
                GPUFEC_DEGREE(12)
                GPUFEC_DEGREE(13)
                GPUFEC_DEGREE(14)
                GPUFEC_DEGREE(17)
                GPUFEC_DEGREE(18)
                GPUFEC_DEGREE(19)
                GPUFEC_DEGREE(22)
                GPUFEC_DEGREE(27)
                GPUFEC_DEGREE(30)
#undef GPUFEC_DEGREE
            default:
                one_check<0, Deferred>(k, k.degree);
            }
        }
    }

    // Of a degree known when this is compiled, or 0.
    template <unsigned Degree, bool Deferred>
    inline __attribute__((always_inline)) void one_check(const check& k, unsigned degree)
    {
        const std::uint32_t* const bits = d_code.bits + k.first_edge;
        const edge* const edges = d_code.edge_list + k.first_edge;
        stored* const messages = d_message + k.first_edge;
        vec inputs[Degree ? Degree : max_degree];
        vec least = vec{} + Arithmetic::largest;
        vec second = least;
        vec signs{};
#pragma GCC unroll 32
        for (unsigned e = 0; e < degree; ++e) {
            const auto from = Deferred ? edges[e].from : bits[e];
            const vec t = d_posterior[from] - Arithmetic::widen(messages[e]);
            const vec m = Arithmetic::magnitude(t);
            inputs[e] = t;
            signs = Arithmetic::exclusive_or(signs, t);
            second = Arithmetic::smaller(second, Arithmetic::larger(least, m));
            least = Arithmetic::smaller(least, m);
        }
        const vec most = d_arithmetic.outgoing(least);
        const vec to_least = d_arithmetic.outgoing(second);
#pragma GCC unroll 32
        for (unsigned e = 0; e < degree; ++e) {
            const vec t = inputs[e];
            const vec m = Arithmetic::magnitude(t) == least ? to_least : most;
            const vec r = Arithmetic::with_sign(
                m, Arithmetic::sign(Arithmetic::exclusive_or(signs, t)));
            const auto to = Deferred ? edges[e].to : bits[e];
            const bool later = Deferred && e < 32 && k.deferred >> e & 1;
            d_posterior[to] = later ? r - Arithmetic::widen(messages[e]) : t + r;
            messages[e] = Arithmetic::narrow(r);
        }
    }

    flags violated(const check& k) const
    {
        const std::uint32_t* const bits = d_code.bits + k.first_edge;
        vec sum = d_posterior[bits[0]];
        for (std::uint32_t e = 1; e < k.degree; ++e) {
            sum = Arithmetic::exclusive_or(sum, d_posterior[bits[e]]);
        }
        return Arithmetic::negative(sum);
    }

    // Whether a codeword that is still being decoded satisfies every check.
    bool any_valid() const
    {
        flags seen{};
        constexpr std::uint32_t stride = 16;
        for (std::uint32_t c = 0; c < d_code.check_count;) {
            const auto end =
                c + stride < d_code.check_count ? c + stride : d_code.check_count;
            for (; c < end; ++c) {
                seen |= violated(d_code.checks[c]);
            }
            bool open = false;
            for (unsigned l = 0; l < lanes; ++l) {
                open |= d_live[l] && !seen[l];
            }
            if (!open) {
                return false;
            }
        }
        return true;
    }

    // Writes what is known of the codewords that end with this iteration.
    unsigned finish(unsigned iteration)
    {
        std::uint32_t unsatisfied[lanes] = {};
        for (std::uint32_t c = 0; c < d_code.check_count;) {
            // As many as a flag of 16 bits can count.
            const auto end =
                c + 30000 < d_code.check_count ? c + 30000 : d_code.check_count;
            flags count{};
            for (; c < end; ++c) {
                count -= violated(d_code.checks[c]);
            }
            for (unsigned l = 0; l < lanes; ++l) {
                unsatisfied[l] += count[l];
            }
        }
        unsigned ended = 0;
        for (unsigned l = 0; l < lanes; ++l) {
            if (d_live[l] &&
                (iteration == d_frames.max_iterations || unsatisfied[l] == 0)) {
                d_frames.iterations[l] = iteration;
                d_frames.unsatisfied[l] = unsatisfied[l];
                write_decisions(l);
                d_live[l] = false;
                ++ended;
            }
        }
        return ended;
    }

    void write_decisions(unsigned l) const
    {
        const auto* const from = reinterpret_cast<const lane_value*>(d_posterior) + l;
        auto* const out = d_frames.decisions[l];
        const std::uint32_t whole = d_frames.out_bits / 8;
        for (std::uint32_t byte = 0; byte < whole; ++byte) {
            const auto* const eight = from + std::size_t(byte) * 8 * lanes;
            unsigned bits = 0;
            for (unsigned i = 0; i < 8; ++i) {
                bits = bits << 1 | (eight[i * lanes] < 0);
            }
            out[byte] = bits;
        }
        const unsigned rest = d_frames.out_bits % 8;
        if (rest) {
            unsigned bits = 0;
            for (unsigned i = 0; i < rest; ++i) {
                bits |= (from[(std::size_t(whole) * 8 + i) * lanes] < 0) << (7 - i);
            }
            out[whole] = bits;
        }
    }

    const code_view& d_code;
    const Arithmetic d_arithmetic;
    const float d_channel_limit;
    frames& d_frames;
    vec* const d_posterior;
    stored* const d_message;
    bool d_live[lanes] = {};
};

template <class Arithmetic>
void decode(const code_view& code, const arithmetic& a, frames& f, void* scratch)
{
    layered<Arithmetic>(code, a, f, scratch).decode();
}

template <class Arithmetic>
constexpr kernel kernel_of()
{
    return { Arithmetic::lanes, layered<Arithmetic>::scratch_bytes, decode<Arithmetic> };
}

#define GPUFEC_STRING(x) #x
#define GPUFEC_NAME(x) GPUFEC_STRING(x)

} // namespace

extern const kernels all = { GPUFEC_NAME(GPUFEC_ISA),
                             kernel_of<integer_arithmetic<std::int8_t>>(),
                             kernel_of<integer_arithmetic<std::int16_t>>(),
                             kernel_of<float_arithmetic>() };

} // namespace GPUFEC_ISA
} // namespace ldpc_lanes
} // namespace gpufec
} // namespace gr
