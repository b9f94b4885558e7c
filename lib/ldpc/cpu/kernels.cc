// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Layered min-sum with one codeword per lane, as message_rule.h and layer_plan.h define
 * it.
 *
 * The loops use the compiler's vector types and call no function of the standard library.
 * Otherwise the linker could replace that function in the whole program by the copy that
 * was compiled here for one instruction set. */

#include "byte_tiles.h"
#include "kernels.h"
#include "ldpc/model/each_edge.h"

#ifdef __AVX512BW__
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace gr::gpufec::ldpc {
namespace lanes {
namespace GPUFEC_ISA {

namespace {

[[maybe_unused]] constexpr unsigned bytes_per_vector = GPUFEC_LANES * 2;

template <class T, unsigned Lanes>
struct vector_of {
    typedef T type __attribute__((vector_size(sizeof(T) * Lanes), may_alias));
};

// Arithmetic with 16-bit posteriors and messages of 8 or 16 bits.
template <class Message>
struct integer_arithmetic {
    static constexpr unsigned lanes = GPUFEC_LANES;
    using value = std::int16_t;
    using message = Message;
    using vec = typename vector_of<value, lanes>::type;
    using stored = typename vector_of<message, lanes>::type;
    using flags = vec;
    struct message_magnitudes { // magnitudes of messages to the edge with the smallest
                                // magnitude (min1), and to all other edges
        vec to_min1, to_all;
    };

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
    static vec lesser(vec a, vec b) { return smaller(a, b); }
    static vec greater(vec a, vec b) { return larger(a, b); }
    static vec magnitude(vec t) { return larger(t, -t); }
    // Returns all ones where the sign is set.
    static vec sign(vec t) { return t >> 15; }
    static flags negative(vec t) { return t >> 15; }
    static vec with_sign(vec magnitude, vec sign) { return (magnitude ^ sign) - sign; }
    static vec exclusive_or(vec a, vec b) { return a ^ b; }
#ifdef __AVX512BW__
    // These intrinsics replace GCC's slower code for __builtin_convertvector.
    static vec widen(typename vector_of<std::int8_t, lanes>::type m)
    {
        return vec(_mm512_cvtepi8_epi16(__m256i(m)));
    }
    static stored narrow(vec m)
    {
        if constexpr (sizeof(Message) == 1) {
            return stored(_mm512_maskz_cvtepi16_epi8(~0u, __m512i(m)));
        } else {
            return m;
        }
    }
#else
    static vec widen(typename vector_of<std::int8_t, lanes>::type m)
    {
#ifdef __aarch64__
        // GCC 12 would convert the bytes one by one.
        return vec(vmovl_s8(int8x8_t(m)));
#else
        return __builtin_convertvector(m, vec);
#endif
    }
    static stored narrow(vec m) { return __builtin_convertvector(m, stored); }
#endif
    static vec widen(vec m) { return m; }

    message_magnitudes check_to_variable(std::uint32_t, vec min1, vec min2, vec) const
    {
        return { magnitude_after(min2), magnitude_after(min1) };
    }

    static constexpr value largest = 32767;

private:
    vec magnitude_after(vec min1) const
    {
        const vec x = larger(smaller(min1 - d_offset, d_limit), vec{});
        return d_normalized ? (x * d_sixteenths + value(8)) >> 4 : x;
    }

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
    struct message_magnitudes {
        vec to_min1, to_all;
    };

    explicit float_arithmetic(const arithmetic& a)
        : d_kept_bits(bits{} + std::int32_t(a.kept_bits)),
          d_decline(vec{} + a.decline),
          d_normalization(vec{} + a.normalization)
    {
        for (std::uint32_t d = 0; d <= declining::most; ++d) {
            const auto of = [&](const declining& o) {
                return o.base + o.per_edge * float(d);
            };
            d_offset_x2_others[d] = of(a.offset_x2_others);
            d_offset_x2_min[d] = of(a.offset_x2_min);
        }
    }

#ifdef __aarch64__
    // Each function is one instruction. The results differ from the comparisons below
    // only if b is NaN or if a and b are zeros of different sign. Neither case occurs.
    static vec smaller(vec a, vec b) { return vec(vminnmq_f32(a, b)); }
    static vec larger(vec a, vec b) { return vec(vmaxnmq_f32(a, b)); }
    static vec magnitude(vec t) { return vec(vabsq_f32(t)); }
#else
    static vec smaller(vec a, vec b) { return a < b ? a : b; }
    static vec larger(vec a, vec b) { return a > b ? a : b; }
    static vec magnitude(vec t) { return vec(bits(t) & 0x7fffffff); }
#endif
    // With AVX2, magnitudes are compared as integers, which is faster. The order of
    // floats that are not negative is the order of their bits.
#ifdef __AVX2__
    static vec lesser(vec a, vec b) { return vec(bits(a) < bits(b) ? bits(a) : bits(b)); }
    static vec greater(vec a, vec b)
    {
        return vec(bits(a) > bits(b) ? bits(a) : bits(b));
    }
#else
    static vec lesser(vec a, vec b) { return smaller(a, b); }
    static vec greater(vec a, vec b) { return larger(a, b); }
#endif
    static vec sign(vec t) { return vec(bits(t) & std::int32_t(0x80000000u)); }
    static flags negative(vec t) { return bits(t) >> 31; }
    static vec with_sign(vec magnitude, vec sign)
    {
        return vec(bits(magnitude) ^ bits(sign));
    }
    static vec exclusive_or(vec a, vec b) { return vec(bits(a) ^ bits(b)); }
    static vec widen(stored m) { return m; }
    static stored narrow(vec m) { return m; }

#ifdef __aarch64__
    // A call would save all vector registers.
    __attribute__((always_inline))
#endif
    message_magnitudes
    check_to_variable(std::uint32_t degree, vec min1, vec min2, vec third) const
    {
        const auto d = degree < declining::most ? degree : declining::most;
        const vec after_min2 = after(min2, third, d_offset_x2_min[d]);
        const vec after_min1 = after(min1, after_min2, d_offset_x2_others[d]);
        return { truncated(min1 < min2 ? after_min2 : after_min1),
                 truncated(after_min1) };
    }

    static constexpr value largest = 3.4e38f; // equal to no_message of message_rule.h

private:
    vec truncated(vec x) const { return vec(bits(x) & d_kept_bits); }
    using declining = arithmetic::declining;
    vec after(vec m, vec next, float twice) const
    {
        // \c near is not clamped to 1. It exceeds 1 only if m exceeds 1: for smaller m,
        // \c next is below m by at most the offset. If \c near exceeds 1, x also exceeds
        // 1, and the result is 1 with or without clamping.
        const vec near = larger(0.5f - (next - m) * d_decline, vec{});
        const vec x = m * d_normalization - twice * near;
        return larger(smaller(x, vec{} + 1.0f), vec{});
    }

    float d_offset_x2_others[declining::most + 1]; // by check degree
    float d_offset_x2_min[declining::most + 1];
    const bits d_kept_bits;
    const vec d_decline, d_normalization;
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
        return std::size_t(c.places) * sizeof(vec) + message_bytes(c) +
               std::size_t(c.n / 8 + 1) * lanes;
    }

    layered(const code_view& code, const arithmetic& a, frames& f, void* scratch)
        : d_code(code),
          d_arithmetic(a),
          d_channel_limit(a.channel_limit),
          d_frames(f),
          d_posterior(static_cast<vec*>(scratch)),
          d_message(reinterpret_cast<stored*>(d_posterior + code.places)),
          d_bytes(reinterpret_cast<std::uint8_t*>(d_message) + message_bytes(code))
    {
    }

    void decode()
    {
        load();
        for (unsigned l = 0; l < d_frames.count; ++l) {
            d_live[l] = true;
        }
        iterate<true>();
        unsigned left = d_frames.count - finish(1);
        for (unsigned i = 2; left > 0; ++i) {
            iterate<false>();
            left -= finish(i);
        }
    }

private:
    using input = typename Arithmetic::message;
    typedef value lane_value __attribute__((may_alias));

    static std::size_t message_bytes(const code_view& c)
    {
        return (std::size_t(c.edges) * sizeof(stored) + 63) / 64 * 64;
    }

    // Finds the channel values of each lane's codeword. Idle lanes use the values of the
    // first lane.
    void find_channels(const input* (&from)[lanes]) const
    {
        for (unsigned l = 0; l < lanes; ++l) {
            from[l] =
                static_cast<const input*>(d_frames.channel[l < d_frames.count ? l : 0]);
        }
    }

    vec limited(vec x) const
    {
        // A variable is needed, because -fsanitize would make the sum an int.
        const auto bound = value(d_channel_limit);
        const vec limit = vec{} + bound;
        return Arithmetic::larger(Arithmetic::smaller(x, limit), -limit);
    }

    void load()
    {
        const input* from[lanes];
        find_channels(from);
        std::uint32_t i = 0;
        if constexpr (sizeof(input) == 1) {
            for (; i + 16 <= d_code.n; i += 16) {
                load_16(from, i, d_posterior + i);
            }
        }
        constexpr std::uint32_t tile = 64;
        for (; i < d_code.n; i += tile) {
            const auto end = i + tile < d_code.n ? i + tile : d_code.n;
            for (unsigned l = 0; l < lanes; ++l) {
                for (auto j = i; j < end; ++j) {
                    reinterpret_cast<lane_value*>(d_posterior + j)[l] = from[l][j];
                }
            }
        }
        for (i = 0; i < d_code.n; ++i) {
            // Adding 0 turns the float −0 into 0.
            d_posterior[i] = limited(d_posterior[i] + vec{});
        }
    }

    // The number of lanes that are transposed together.
    static constexpr unsigned group = lanes < 16 ? lanes : 16;
    static_assert(lanes % group == 0, "");

    static void load_16(const input* const* from, std::uint32_t i, vec* to)
    {
        alignas(64) std::int8_t rows[16][lanes];
        for (unsigned first = 0; first < lanes; first += group) {
            byte_row a[16] = {};
            for (unsigned l = 0; l < group; ++l) {
                __builtin_memcpy(&a[l], from[first + l] + i, 16);
            }
            transpose(a);
            for (unsigned j = 0; j < 16; ++j) {
                __builtin_memcpy(rows[j] + first, &a[j], group);
            }
        }
        for (unsigned j = 0; j < 16; ++j) {
            typename vector_of<std::int8_t, lanes>::type row;
            __builtin_memcpy(&row, rows[j], sizeof(row));
            to[j] = Arithmetic::widen(row);
        }
    }

    // Runs an iteration. In the first one, the old messages are 0 and are not read.
    template <bool First>
    void iterate()
    {
        const layer* const end = d_code.layers + d_code.layer_count;
        for (const layer* l = d_code.layers; l != end; ++l) {
            for (auto i = l->first_copy; i < l->last_copy; ++i) {
                d_posterior[d_code.copies[i].to] = d_posterior[d_code.copies[i].from];
            }
            if (l->first_added == l->last_added) {
                checks<First, false>(*l);
            } else {
                checks<First, true>(*l);
            }
            for (auto i = l->first_added; i < l->last_added; ++i) {
                d_posterior[d_code.added[i].to] += d_posterior[d_code.added[i].from];
            }
        }
    }

    // Whether layers that defer edges have special code for each degree, which takes long
    // to compile. On Arm, general code would execute twice as many instructions.
#ifdef __aarch64__
    static constexpr bool unrolls_deferred = true;
#else
    static constexpr bool unrolls_deferred = false;
#endif

    template <bool First, bool Deferred>
    void checks(const layer& l)
    {
        for (auto c = l.first; c < l.last;) {
            const auto degree = d_code.checks[c].degree;
            switch (Deferred && !unrolls_deferred ? 0 : degree) {
#define GPUFEC_DEGREE(D)                                                               \
    case D: {                                                                          \
        vec inputs[D];                                                                 \
        c = equal_checks < D, First, Deferred && unrolls_deferred > (c, l, D, inputs); \
        break;                                                                         \
    }
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
                vec inputs[max_degree];
                c = equal_checks<0, First, Deferred>(c, l, degree, inputs);
            }
        }
    }

    // Updates checks from number c on, up to the first one with another degree or the end
    // of the layer. Returns the number of the next check.
    template <unsigned Degree, bool First, bool Deferred>
    inline __attribute__((always_inline)) std::uint32_t
    equal_checks(std::uint32_t c, const layer& l, unsigned degree, vec* inputs)
    {
        do {
            one_check<Degree, First, Deferred>(d_code.checks[c], degree, inputs);
            ++c;
        } while (c < l.last && d_code.checks[c].degree == degree);
        return c;
    }

    // The three smallest magnitudes of a check's edges, in ascending order.
    struct minima {
        vec min1 = vec{} + Arithmetic::largest, min2 = min1, third = min1;

        void begin(vec a, vec b)
        {
            min1 = Arithmetic::lesser(a, b);
            min2 = Arithmetic::greater(a, b);
        }
        void add(vec m)
        {
            third = Arithmetic::lesser(third, Arithmetic::greater(min2, m));
            min2 = Arithmetic::lesser(min2, Arithmetic::greater(min1, m));
            min1 = Arithmetic::lesser(min1, m);
        }
        void add(vec a, vec b)
        {
            const vec low = Arithmetic::lesser(a, b), high = Arithmetic::greater(a, b);
            const vec x = Arithmetic::greater(min1, low);
            const vec y = Arithmetic::lesser(min2, high);
            min1 = Arithmetic::lesser(min1, low);
            min2 = Arithmetic::lesser(x, y);
            third = Arithmetic::lesser(third, Arithmetic::greater(x, y));
        }
    };

    template <unsigned Degree, bool First, bool Deferred>
    inline __attribute__((always_inline)) void
    one_check(const check& k, unsigned degree, vec* inputs)
    {
        const std::uint32_t* const bits = d_code.bits + k.first_edge;
        const edge* const edges = d_code.edge_list + k.first_edge;
        stored* const messages = d_message + k.first_edge;
        const auto old = [&](unsigned e) {
            return First ? vec{} : Arithmetic::widen(messages[e]);
        };
        minima smallest;
        vec signs{};
        vec before{}; // magnitude of the previous edge
        // On Arm, the addresses of small checks stay in registers for the second loop.
#ifdef __aarch64__
        constexpr bool keeps = Degree > 0 && Degree <= 7 && !Deferred;
#else
        constexpr bool keeps = false;
#endif
        [[maybe_unused]] vec* places[Degree ? Degree : 1];
        const auto read = [&](unsigned e) __attribute__((always_inline))
        {
            vec* const from = d_posterior + (Deferred ? edges[e].from : bits[e]);
            if constexpr (keeps) {
                places[e] = from;
            }
            const vec t = *from - old(e);
            const vec m = Arithmetic::magnitude(t);
            inputs[e] = t;
            signs = Arithmetic::exclusive_or(signs, t);
            // Adding two edges together takes fewer instructions.
            if (Degree == 0 || e == Degree - Degree % 2) {
                smallest.add(m);
            } else if (e % 2 == 0) {
                before = m;
            } else if (e == 1) {
                smallest.begin(before, m);
            } else {
                smallest.add(before, m);
            }
        };
        each_edge<Degree>(degree, read);
        const vec min1 = smallest.min1;
        const vec sign = Arithmetic::sign(signs);
        const auto magnitudes =
            d_arithmetic.check_to_variable(degree, min1, smallest.min2, smallest.third);
        const vec to_all = Arithmetic::with_sign(magnitudes.to_all, sign);
        const vec to_min1 = Arithmetic::with_sign(magnitudes.to_min1, sign);
        const auto write = [&](unsigned e) __attribute__((always_inline))
        {
            const vec t = inputs[e];
            const vec m = Arithmetic::magnitude(t) == min1 ? to_min1 : to_all;
            const vec r = Arithmetic::with_sign(m, Arithmetic::sign(t));
            const bool later = Deferred && e < 32 && k.deferred >> e & 1;
            vec* to;
            if constexpr (keeps) {
                to = places[e];
            } else {
                to = d_posterior + (Deferred ? edges[e].to : bits[e]);
            }
            *to = later ? r - old(e) : t + r;
            messages[e] = Arithmetic::narrow(r);
        };
        each_edge<Degree>(degree, write);
    }

    flags violated(const check& k) const
    {
        const std::uint32_t* const bits = d_code.bits + k.first_edge;
        vec sum{}; // a check without bits is satisfied
        for (std::uint32_t e = 0; e < k.degree; ++e) {
            sum = Arithmetic::exclusive_or(sum, d_posterior[bits[e]]);
        }
        return Arithmetic::negative(sum);
    }

    // Returns the lanes whose codeword violates a check. Stops early once a violated
    // check is found in all lanes that are still decoding (d_live).
    flags violating() const
    {
        flags seen{};
        constexpr std::uint32_t stride = 16;
        for (std::uint32_t c = 0; c < d_code.check_count;) {
            const auto end =
                c + stride < d_code.check_count ? c + stride : d_code.check_count;
            for (; c < end; ++c) {
                seen |= violated(d_code.checks[c]);
            }
            if (!any_live_but(seen)) {
                break;
            }
        }
        return seen;
    }

    bool any_live_but(flags some) const
    {
        bool any = false;
        for (unsigned l = 0; l < lanes; ++l) {
            any |= d_live[l] && !some[l];
        }
        return any;
    }

    // Adds the number of violated checks to the result of each lane that is still
    // decoding.
    void count_violated()
    {
        for (std::uint32_t c = 0; c < d_code.check_count;) {
            // Up to 30000 checks fit in the 16-bit counters.
            const auto end =
                c + 30000 < d_code.check_count ? c + 30000 : d_code.check_count;
            flags count{};
            for (; c < end; ++c) {
                count -= violated(d_code.checks[c]);
            }
            for (unsigned l = 0; l < d_frames.count; ++l) {
                d_frames.unsatisfied[l] += d_live[l] ? count[l] : 0;
            }
        }
    }

    // Writes the codewords that end with this iteration, and returns their number.
    unsigned finish(unsigned iteration)
    {
        const bool last = iteration == d_frames.max_iterations;
        if (!last && !d_frames.early_stop) {
            return 0;
        }
        const flags open = last ? flags{} : violating();
        if (!any_live_but(open)) {
            return 0;
        }
        if (last) {
            count_violated();
        }
        pack_decisions();
        write_llrs(open);
        unsigned ended = 0;
        for (unsigned l = 0; l < d_frames.count; ++l) {
            if (d_live[l] && !open[l]) {
                d_frames.iterations[l] = iteration;
                write_decisions(l);
                d_live[l] = false;
                ++ended;
            }
        }
        return ended;
    }

    void pack_decisions()
    {
        for (std::uint32_t first = 0; first < d_frames.out_bits; first += 8) {
            flags bits{};
            for (std::uint32_t i = first; i < first + 8; ++i) {
                bits += bits;
                if (i < d_frames.out_bits) {
                    bits -= Arithmetic::negative(d_posterior[i]);
                }
            }
            auto* const row = d_bytes + std::size_t(first / 8) * lanes;
            for (unsigned l = 0; l < lanes; ++l) {
                row[l] = bits[l];
            }
        }
    }

    void write_decisions(unsigned l) const
    {
        auto* const out = d_frames.decisions[l];
        for (std::uint32_t byte = 0; byte * 8 < d_frames.out_bits; ++byte) {
            out[byte] = d_bytes[std::size_t(byte) * lanes + l];
        }
    }

    // Writes the LLRs of the codewords that end, sixteen positions at a time.
    void write_llrs(flags open) const
    {
        if (!d_frames.soft[0]) {
            return;
        }
        const input* from[lanes];
        find_channels(from);
        for (std::uint32_t i = 0; i < d_code.n; i += 16) {
            const auto count = d_code.n - i < 16 ? d_code.n - i : 16;
            vec known[16] = {};
            if (d_frames.extrinsic) {
                load_channels(from, i, count, known);
            }
            alignas(64) std::int8_t rows[16][lanes] = {};
            for (unsigned j = 0; j < count; ++j) {
                llrs_of(d_posterior[i + j] - limited(known[j]), rows[j]);
            }
            for (unsigned first = 0; first < lanes; first += group) {
                byte_row a[16] = {};
                for (unsigned j = 0; j < 16; ++j) {
                    __builtin_memcpy(&a[j], rows[j] + first, group);
                }
                transpose(a);
                for (unsigned k = 0; k < group; ++k) {
                    const auto l = first + k;
                    if (l < d_frames.count && d_live[l] && !open[l]) {
                        __builtin_memcpy(d_frames.soft[l] + i, &a[k], count);
                    }
                }
            }
        }
    }

    // Loads the channel values of up to sixteen positions.
    static void
    load_channels(const input* const* from, std::uint32_t i, unsigned count, vec* to)
    {
        if constexpr (sizeof(input) == 1) {
            if (count == 16) {
                return load_16(from, i, to);
            }
        }
        for (unsigned l = 0; l < lanes; ++l) {
            for (unsigned j = 0; j < count; ++j) {
                reinterpret_cast<lane_value*>(to + j)[l] = from[l][i + j];
            }
        }
    }

    // Computes soft_value() of message_rule.h for each lane. To round y, 1.5 · 2^23 is
    // added: the sum has no fraction, and its lowest bits equal the bits of the
    // integer.
    void llrs_of(vec x, std::int8_t* row) const
    {
        for (unsigned l = 0; l < lanes; ++l) {
            constexpr float limit = 127, whole = 12582912.0f;
            const float y = float(x[l]) * d_frames.soft_factor[l];
            const float above = y > -limit ? y : -limit;
            row[l] = std::int8_t(__builtin_bit_cast(
                std::uint32_t, (above < limit ? above : limit) + whole));
        }
    }

    const code_view& d_code;
    const Arithmetic d_arithmetic;
    const float d_channel_limit;
    frames& d_frames;
    vec* const d_posterior;
    stored* const d_message;
    std::uint8_t* const d_bytes; // packed decisions: the first byte of all lanes, then
                                 // the second …
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

} // namespace

extern const kernels all = { kernel_of<integer_arithmetic<std::int8_t>>(),
                             kernel_of<integer_arithmetic<std::int16_t>>(),
                             kernel_of<float_arithmetic>() };

} // namespace GPUFEC_ISA
} // namespace lanes
} // namespace gr::gpufec::ldpc
