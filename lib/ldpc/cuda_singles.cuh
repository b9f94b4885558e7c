// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Layered min-sum for the codes of DVB-S2 in int16, which a float holds exactly, and
 * float: a block of threads decodes one codeword.
 *
 * Thread j does check j·q + i in layer i. Shared memory holds the posteriors of the
 * message bits. The parity bits are a chain that a thread follows from layer to layer:
 * after check c the posterior of bit c goes on to the next layer in a register, and what
 * check c + 1 leaves is kept; only from the last layer to the first it passes to the
 * neighbour. Where a code has two chains of layers (chain_order.h), a group of threads
 * follows either. Messages are kept compressed: the two least magnitudes of each check,
 * which edge has the least, and the signs; those of the first layers in what is left of
 * shared memory, the others in memory, of which the L2 cache holds what it can.
 *
 * An edge that a layer lacks is to a posterior that no sum changes. There is a barrier
 * only before a layer that uses bits of a group in use since the last one, of all threads
 * where the other chain used them. */

#ifndef INCLUDED_GPUFEC_LDPC_CUDA_SINGLES_CUH
#define INCLUDED_GPUFEC_LDPC_CUDA_SINGLES_CUH

#include "cuda_arithmetic.h"
#include "cuda_block_slots.cuh"
#include "cuda_chain_entries.cuh"
#include "cuda_chain_threads.cuh"
#include "cuda_soft.cuh"
#include <utility>

namespace gr::gpufec::ldpc {
namespace device {

struct single_arguments : block_arguments {
    // Of message_rule, in float; offsets are those of the code.
    float twice_to_all, twice_to_least, decline, normalization;
    // In int16, what leaves with a least magnitude m is span · (0 … 1 of m · slope +
    // floor), rounded.
    float slope, floor, span;
    bool filled; // the table is, where layers lack edges
    // What is kept of so many layers of each chain is in shared memory.
    std::uint32_t shared_layers;
    const std::uint32_t* entries; // of a chain_table
};

namespace singles {

constexpr unsigned group = chain_table::group;
constexpr unsigned warps = group / 32; // of a chain that are whole
constexpr unsigned flag_words = 4;
constexpr std::uint32_t sign = 0x80000000u;
constexpr float missing = 1e38f; // magnitude of an edge that is not there

__device__ inline std::uint32_t bits(float x) { return __float_as_uint(x); }
__device__ inline float value_of(std::uint32_t x) { return __uint_as_float(x); }
// x, its sign turned where \p by has one.
__device__ inline float signed_by(float x, std::uint32_t by)
{
    return value_of(bits(x) ^ (by & sign));
}

// Added to an integer it puts it into the low bits.
constexpr float low_bits = 8388608;

// What leaves with a least magnitude in int16, in low bits. It is a multiple of 1/16 but
// for errors of less than 1e-4, and halves are rounded up.
__device__ inline float outgoing_integer(float least, const single_arguments& a)
{
    const float x = __saturatef(fmaf(least, a.slope, a.floor));
    return __fadd_rd(fmaf(x, a.span, 0.5f + 1 / 32.0f), low_bits);
}

// The bits of \p a that \p mask has, and those of \p b that it has not.
__device__ inline std::uint32_t
select_bits(std::uint32_t mask, std::uint32_t a, std::uint32_t b)
{
#ifdef __CUDA_ARCH__
    std::uint32_t x;
    asm("lop3.b32 %0, %1, %2, %3, 0xe4;" : "=r"(x) : "r"(a), "r"(b), "r"(mask));
    return x;
#else
    return (a & mask) | (b & ~mask);
#endif
}

template <class T>
__device__ void store_vector(T* to, T x, bool shared)
{
    if (shared) {
        *to = x;
    } else {
        __stcg(to, x);
    }
}

/* What is kept of a check: its messages, and the posterior of the parity bit before it.
 * The message of edge e is the second magnitude where e has the least, the first
 * elsewhere, with a sign, which is bit Edges − 1 − e of the signs. */
template <unsigned Edges, bool Int16, unsigned Pitch>
struct record;

template <unsigned Edges, unsigned Pitch>
struct record<Edges, true, Pitch> {
    // Halves of a word: both magnitudes, which are up to 511, and in the lower from
    // place_unit on the edge that has the least. Then signs and the posterior, in halves
    // where these have room, else in words.
    static constexpr bool narrow = Edges <= 16;
    using vector = std::conditional_t<narrow, uint2, uint4>;
    static constexpr unsigned own_words = sizeof(vector) / 4; // from thread to thread
    static constexpr unsigned layer_words = own_words * Pitch;
    static constexpr unsigned place_unit = 512;
    static constexpr std::uint32_t magnitude = place_unit - 1, places = 31 * place_unit;
    static constexpr std::uint32_t halves = 0x4b000000u; // what low_bits are below
    static constexpr float middle = low_bits + 32768;    // 0, as a half of a word has it

    struct opened {
        float first, step, place; // the place, in its unit, in low bits
        std::uint32_t signs;      // from the top down

        __device__ float message(unsigned e) const
        {
            // 1 where it is the place, else 0
            const float off = __fsub_rn(place, low_bits + place_unit * e);
            const float mark = __saturatef(__fsub_rn(1, fabsf(off)));
            return signed_by(fmaf(mark, step, first), signs << e);
        }
    };
    __device__ opened open() const
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
    // Makes it one of no messages.
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
    // Magnitudes and place in low bits. A place that is a sum, where several have the
    // least and both magnitudes are the same, is as good as any.
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
    // Words in rows of a layer: both magnitudes, which leave their lowest bits and the
    // highest one free; the posterior; where there are many edges, their signs. Else
    // eight of these are below the first magnitude, four below the second, above the
    // place of the least, and one above each.
    static constexpr bool narrow = Edges <= 14;
    static constexpr unsigned rows = narrow ? 3 : 4;
    static constexpr unsigned own_words = 1; // from thread to thread
    static constexpr unsigned layer_words = rows * Pitch;
    static constexpr unsigned place_bits = narrow ? 4 : 5;
    static constexpr unsigned of_first = !narrow ? 0 : Edges < 8 ? Edges : 8;
    static constexpr unsigned of_second = !narrow                ? 0
                                          : Edges - of_first < 4 ? Edges - of_first
                                                                 : 4;
    static constexpr unsigned above = narrow ? Edges - of_first - of_second : 0;
    static constexpr std::uint32_t signless = kept_bits & ~sign;

    // What is kept of a magnitude, with the sign of the product.
    __device__ static float message(float magnitude, std::uint32_t product)
    {
        return value_of(select_bits(signless, bits(magnitude), product & sign));
    }

    struct opened {
        std::uint32_t first, second, signs;
        unsigned place;

        __device__ float message(unsigned e) const
        {
            const auto magnitude = place == e ? second : first;
            if constexpr (!narrow) {
                return signed_by(value_of(magnitude), signs << (32 - Edges + e));
            }
            // No bits below the sign.
            const auto s = e < of_first ? first << (32 - of_first + e)
                           : e < of_first + of_second
                               ? second << (32 - place_bits - of_second + e - of_first)
                               : (e == of_first + of_second ? first : second) & sign;
            return value_of(select_bits(signless, magnitude, s));
        }
    };
    __device__ opened open() const
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
    // Of signs the last one is the lowest bit.
    __device__ void set(float to_all,
                        float to_least,
                        unsigned least_at,
                        std::uint32_t all_signs,
                        float posterior_before)
    {
        first = bits(to_all);
        second = bits(to_least);
        if constexpr (narrow) {
            constexpr auto mask = (1u << of_second) - 1;
            first = select_bits(signless, first, all_signs >> (of_second + above));
            second = select_bits(
                signless, second, least_at | (all_signs >> above & mask) << place_bits);
            if constexpr (above > 0) {
                first |= all_signs << (32 - above) & sign;
            }
            if constexpr (above > 1) {
                second |= all_signs << 31;
            }
        } else {
            first &= signless;
            second = select_bits(signless, second, least_at);
        }
        signs = all_signs;
        posterior = bits(posterior_before);
    }
    // Makes it one of no messages.
    __device__ void begin(float posterior_before) { set(0, 0, 0, 0, posterior_before); }
    // One of no messages, of which only the posterior is there.
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

// Of the two least magnitudes of several values.
struct two_least {
    float least, second;
    __device__ two_least(float a, float b)
        : least(fminf(fabsf(a), fabsf(b))), second(fmaxf(fabsf(a), fabsf(b)))
    {
    }
    __device__ void take(float t)
    {
        second = fminf(second, fmaxf(least, fabsf(t)));
        least = fminf(least, fabsf(t));
    }
    __device__ void merge(const two_least& o)
    {
        second = fminf(fminf(second, o.second), fmaxf(least, o.least));
        least = fminf(least, o.least);
    }
};

/* The three least magnitudes of several values, as integers, of which an instruction
 * finds the least or the greatest of three; the one between is what is left of their sum.
 */
class three_least
{
    using magnitude = std::uint32_t;

public:
    // In any order.
    __device__ three_least(float a, float b, float c)
        : three_least(bits(fabsf(a)), bits(fabsf(b)), bits(fabsf(c)))
    {
    }
    __device__ void take(const three_least& o)
    {
        const three_least middle(max(d_least, o.d_least), d_second, o.d_second);
        d_least = min(d_least, o.d_least);
        d_second = middle.d_least;
        d_third = min(min(d_third, o.d_third), middle.d_second);
    }
    __device__ void take(float a, float b)
    {
        const two_least o(a, b);
        const three_least middle(max(d_least, bits(o.least)), d_second, bits(o.second));
        d_least = min(d_least, bits(o.least));
        d_second = middle.d_least;
        d_third = min(d_third, middle.d_second);
    }
    __device__ void take(float a)
    {
        const three_least these(d_least, d_second, bits(fabsf(a)));
        d_least = these.d_least;
        d_second = these.d_second;
        d_third = min(d_third, these.d_third);
    }
    __device__ float least() const { return value_of(d_least); }
    __device__ float second() const { return value_of(d_second); }
    __device__ float third() const { return value_of(d_third); }

private:
    __device__ three_least(magnitude a, magnitude b, magnitude c)
        : d_least(min(min(a, b), c)), d_third(max(max(a, b), c))
    {
        d_second = a + b + c - d_least - d_third;
    }

    magnitude d_least, d_second, d_third;
};

// Makes the new messages of a check; asked for those of all edges, in their order.
template <unsigned Edges, bool Int16, unsigned Pitch>
class renewal;

template <unsigned Edges, unsigned Pitch>
class renewal<Edges, true, Pitch>
{
    using kept = record<Edges, true, Pitch>;

public:
    __device__
    renewal(const two_least& of, std::uint32_t product, const single_arguments& a)
    {
        d_above = __fadd_rn(of.least, 1);
        d_first = outgoing_integer(of.least, a);
        d_second = outgoing_integer(of.second, a);
        d_signed_first = signed_by(__fsub_rn(d_first, low_bits), product);
        d_signed_step = signed_by(__fsub_rn(d_second, d_first), product);
    }
    // For edge e, which said t.
    __device__ float message(unsigned e, float t)
    {
        // 1 where |t| is the least, else 0
        const float mark = __saturatef(__fsub_rn(d_above, fabsf(t)));
        d_place = fmaf(mark, kept::place_unit * e, d_place);
        const float r = signed_by(fmaf(mark, d_signed_step, d_signed_first), bits(t));
        d_signs = __funnelshift_l(bits(r), d_signs, 1);
        return r;
    }
    __device__ void keep(kept& in, float posterior_before) const
    {
        in.set(d_first, d_second, d_place, d_signs, posterior_before);
    }

private:
    float d_above, d_first, d_second; // the latter in low bits
    float d_signed_first, d_signed_step;
    float d_place = low_bits;
    std::uint32_t d_signs = 0;
};

template <unsigned Edges, unsigned Pitch>
class renewal<Edges, false, Pitch>
{
    using kept = record<Edges, false, Pitch>;

public:
    __device__
    renewal(const three_least& of, std::uint32_t product, const single_arguments& a)
        : d_least(of.least()),
          d_magnitudes(unkept_floats_leaving(of.least(),
                                             of.second(),
                                             of.third(),
                                             a.twice_to_all,
                                             a.twice_to_least,
                                             a.decline,
                                             a.normalization)),
          d_signed_first(kept::message(d_magnitudes.to_all, product)),
          d_signed_second(kept::message(d_magnitudes.to_least, product))
    {
    }
    __device__ float message(unsigned e, float t)
    {
        // Where several have the least, both magnitudes are the same.
        const bool has_least = fabsf(t) == d_least;
        d_place = has_least ? e : d_place;
        const float r = signed_by(has_least ? d_signed_second : d_signed_first, bits(t));
        d_signs = __funnelshift_l(bits(r), d_signs, 1);
        return r;
    }
    __device__ void keep(kept& in, float posterior_before) const
    {
        in.set(d_magnitudes.to_all,
               d_magnitudes.to_least,
               d_place,
               d_signs,
               posterior_before);
    }

private:
    const float d_least;
    const outgoing<float> d_magnitudes;
    const float d_signed_first, d_signed_second;
    unsigned d_place = 0;
    std::uint32_t d_signs = 0;
};

template <unsigned MessageEdges, bool Int16, unsigned Chains>
class decoder
{
    using block_threads = chain_threads<Chains>;
    using channel_value = std::conditional_t<Int16, std::int16_t, float>;
    static constexpr unsigned before = 0; // edge to the parity bit before
    static constexpr unsigned own = MessageEdges + 1;
    static constexpr unsigned edges = MessageEdges + 2;
    static constexpr unsigned pitch = block_threads::pitch;
    using kept = record<edges, Int16, pitch>;

    // The table lies in shared memory, and the bits that pass from chain to chain, where
    // posteriors leave them room.
    static constexpr bool shared_table = MessageEdges <= 20;
    static constexpr bool may_be_external = MessageEdges > 25;
    using entry = chain_entry<MessageEdges>;
    // What is kept of so many layers is fetched ahead.
    static constexpr unsigned depth = 2;
    // Of codes that have more of it than the L2 cache holds, it is to come there so many
    // layers ahead; or 0.
    static constexpr unsigned early = Chains == 2 && !Int16 ? 3 : 0;
    // Whether places are found during the layer before: of short ones, as far as
    // registers go.
    static constexpr bool ahead = MessageEdges <= 5 || MessageEdges == 12;

    static constexpr unsigned wrap_words = Chains * pitch + 4;
    static constexpr unsigned line = 32; // words of the L2 cache's

public:
    static constexpr unsigned most_shared = chain_most_shared(MessageEdges);
    static constexpr unsigned most_deferred = chain_most_deferred(MessageEdges);
    static std::size_t shared_bytes(const chain_table& t, bool filled, unsigned layers)
    {
        return 4 * ((t.shared_groups + filled) * group + flag_words +
                    block_threads::spare_words +
                    (shared_table ? entry::copy_words(t.q) + wrap_words : 0) +
                    layers * Chains * kept::layer_words);
    }
    __host__ __device__ static std::size_t state_words(unsigned q)
    {
        // More layers than there are: what is fetched ahead at the end. Whole lines.
        return (std::size_t(kept::layer_words) * (q + depth) + wrap_words +
                (may_be_external ? group : 0) + line - 1) /
               line * line;
    }

    __device__ decoder(const chain_table& table, const single_arguments& a)
        : d_table(table),
          d_args(a),
          d_j(d_threads.j),
          d_thread(d_j,
                   d_threads.has_check(),
                   shared_words() + (table.shared_groups + a.filled) * group +
                       flag_words + d_threads.spare()),
          d_first(table.begins[d_threads.chain]),
          d_layers(table.begins[d_threads.chain + 1] - d_first)
    {
        const auto q = table.q;
        auto* next = shared_words() + (table.shared_groups + a.filled) * group;
        if (a.filled) {
            shared_words()[table.shared_groups * group + d_j % group] = bits(missing);
        }
        d_flags = next;
        next += flag_words + block_threads::spare_words;
        if (d_threads.number == 0) { // memory that no other block has
            d_flags[0] = take_slot(a);
        }
        __syncthreads();
        d_state = a.state + d_flags[0] * state_words(q);
        auto* outside = d_state + std::size_t(kept::layer_words) * (q + depth);
        if constexpr (shared_table) {
            d_entries = next;
            next += entry::copy_words(q);
            entry::copy(a.entries, q, d_entries, d_threads.number, block_threads::count);
        }
        // Those of the last layer, of check j − 1 at j; those between the chains.
        auto* const wrap = shared_table ? next : outside;
        auto* const middle = wrap + pitch + 4;
        // A thread without a check has the place after the last neighbour's.
        d_before = bit_at((d_first > 0 ? middle : wrap + !d_threads.has_check()) + d_j);
        d_after = bit_at((d_first + d_layers == q ? wrap + 1 : middle) + d_j);
        next += shared_table ? wrap_words : 0;
        d_external = reinterpret_cast<float*>(outside) + wrap_words;
        const auto own = kept::own_words * d_j;
        const auto room = a.shared_layers * kept::layer_words;
        d_own_shared = next + d_threads.chain * room + own;
        d_own_state = d_state + d_first * kept::layer_words + own;
        if constexpr (early > 0) { // one thread does it for each line
            d_sent_for = kept_in_register(d_j % line == 0 && a.shared_layers < d_layers
                                              ? d_layers - a.shared_layers
                                              : 0);
        }
    }

    // All control flow hangs on parameters and the block's number: where the compiler
    // cannot tell that warps stay together it guards every barrier and branch.
    __device__ void run()
    {
        const frame_place frame = d_args.frames.table[blockIdx.x];
        const auto* const channel =
            reinterpret_cast<const channel_value*>(d_args.frames.input + frame.input);
        load(channel);
        __syncthreads();
        iterate<true>();
        std::uint32_t i = 1;
        bool valid = false;
        while (!(d_args.stop.early_stop && (valid = agreed(satisfied()))) &&
               i < d_args.stop.max_iterations) {
            iterate<false>();
            ++i;
        }
        const auto violated = valid ? 0 : count_violated();
        if (d_threads.number == 0) {
            d_args.frames.status[frame.status] = { i, violated };
        }
        write_decisions(d_args.frames.output + frame.output);
        if (d_args.stop.soft != ldpc_soft_output::none) {
            write_llrs(soft_writer(d_args.frames, frame, d_args.stop));
        }
        __syncthreads();
        if (d_threads.number == 0) {
            atomicExch(d_args.taken + d_flags[0], 0u);
        }
    }

private:
    // Bits that pass from chain to chain, by the address of shared memory where they are
    // there.
    using bit_place = std::conditional_t<shared_table, std::uint32_t, std::uint32_t*>;
    __device__ static bit_place bit_at(std::uint32_t* at)
    {
        if constexpr (shared_table) {
            return shared_address(at);
        } else {
            return at;
        }
    }
    __device__ static float get_bit(bit_place at)
    {
        if constexpr (shared_table) {
            return value_of(get_shared(at));
        } else {
            return value_of(*at);
        }
    }
    __device__ static void set_bit(bit_place at, float x)
    {
        if constexpr (shared_table) {
            set_shared(at, bits(x));
        } else {
            *at = bits(x);
        }
    }

    __device__ void load(const channel_value* channel)
    {
        load_parity(channel + d_table.message_bits);
        load_values(channel, d_table.message_bits, [&](unsigned i) {
            return reinterpret_cast<uint4*>(&posterior_of(i));
        });
        if (!d_threads.has_check()) {
            set_shared(__float_as_uint(d_thread.address), 0);
            set_bit(d_before, 0);
        }
        if (d_threads.number == 0) {
            set_bit(d_before, missing);
        }
    }
    // Parity bits, which are in another order than threads want them, go through shared
    // memory to where they are kept between layers.
    __device__ void load_parity(const channel_value* channel)
    {
        const auto q = d_table.q;
        auto* const own = reinterpret_cast<const float*>(shared_words()) + d_first;
        // Of so many threads of a chain, whole vectors.
        const auto rows = min(group, d_table.shared_groups * group / q / 8 * 8);
        for (unsigned first = 0; first < group; first += rows) {
            const auto count = min(rows, group - first);
            load_values(channel + first * q, count * q, [](unsigned i) {
                return reinterpret_cast<uint4*>(shared_words() + i);
            });
            __syncthreads();
            if (d_j - first < count) {
                begin_layers([&](unsigned i) { return own[(d_j - first) * q + i]; });
            }
            __syncthreads();
        }
        if (!d_threads.has_check()) {
            begin_layers([](unsigned) { return 0.0f; });
        }
    }
    // From the channel's values of the parity bits in layers of the chain.
    template <class Value>
    __device__ void begin_layers(Value&& value)
    {
        for (unsigned i = 1; i < d_layers; ++i) {
            kept k;
            k.begin(value(i - 1));
            at_layer(i, [&](auto* at, bool shared) { k.store_first(at, shared); });
        }
        set_bit(d_after, value(d_layers - 1));
    }
    // As floats, to where \p place says that those from the i-th on go.
    template <class Place>
    __device__ void
    load_values(const channel_value* channel, unsigned count, Place&& place) const
    {
        constexpr unsigned each = 16 / sizeof(channel_value); // of a vector
        const auto* const from = reinterpret_cast<const uint4*>(channel);
        const auto vectors = count / each;
        constexpr unsigned together = 6; // so that many loads are on their way
        constexpr auto threads = block_threads::count;
        for (unsigned i = d_threads.number; i < vectors; i += together * threads) {
            uint4 x[together];
#pragma unroll
            for (unsigned k = 0; k < together; ++k) {
                x[k] = __ldcs(from + min(i + k * threads, vectors - 1));
            }
#pragma unroll
            for (unsigned k = 0; k < together; ++k) {
                if (i + k * threads < vectors) {
                    uint4* const to = place((i + k * threads) * each);
                    if constexpr (Int16) {
                        to[0] = four_values(x[k].x, x[k].y);
                        to[1] = four_values(x[k].z, x[k].w);
                    } else {
                        to[0] = { without_sign_of_0(x[k].x),
                                  without_sign_of_0(x[k].y),
                                  without_sign_of_0(x[k].z),
                                  without_sign_of_0(x[k].w) };
                    }
                }
            }
        }
    }
    __device__ static std::uint32_t without_sign_of_0(std::uint32_t x)
    {
        return bits(__fadd_rn(value_of(x), 0));
    }
    // Integers of 16 bits.
    __device__ static uint4 four_values(std::uint32_t a, std::uint32_t b)
    {
        const auto value = [](std::uint32_t x) { return bits(std::int16_t(x)); };
        return { value(a), value(a >> 16), value(b), value(b >> 16) };
    }
    __device__ float& posterior_of(unsigned message_bit) const
    {
        const auto inside = d_table.shared_groups * group;
        return may_be_external && message_bit >= inside
                   ? d_external[message_bit - inside]
                   : reinterpret_cast<float*>(shared_words())[message_bit];
    }

    // From here on a layer's number is that in its chain.

    // Calls use() with where a layer's records are, and whether that is shared memory.
    template <class Use>
    __device__ void at_layer(unsigned layer, Use&& use) const
    {
        at_layer(layer, d_own_state + layer * kept::layer_words, std::forward<Use>(use));
    }
    // Where it is if it is not in shared memory is known.
    template <class Use>
    __device__ void at_layer(unsigned layer, std::uint32_t* outside, Use&& use) const
    {
        if (layer < d_args.shared_layers) {
            use(d_own_shared + layer * kept::layer_words, true);
        } else {
            use(outside, false);
        }
    }
    __device__ void load(unsigned layer, kept& k) const
    {
        at_layer(layer, [&](const auto* own, bool shared) { k.load(own, shared); });
    }

    __device__ entry entry_of(unsigned layer) const
    {
        if constexpr (shared_table) {
            return entry::of_copy(d_entries, d_first + layer);
        } else {
            return entry::of(d_table, d_first + layer);
        }
    }

    // Whether the posterior of edge e is in device memory.
    __device__ static bool is_external(std::uint32_t head, unsigned e)
    {
        return may_be_external && e + 1 == MessageEdges && (head & chain_table::external);
    }
    __device__ float& external_at(std::uint32_t address) const
    {
        return d_external[(address - shared_begin()) / 4];
    }
    __device__ float get_posterior(std::uint32_t at, bool external) const
    {
        return external ? external_at(at) : value_of(get_shared(at));
    }
    __device__ void set_posterior(std::uint32_t at, bool external, float x) const
    {
        if (external) {
            external_at(at) = x;
        } else {
            set_shared(at, bits(x));
        }
    }

    // Where the posteriors of a layer are.
    struct places {
        std::uint32_t at[MessageEdges];
        std::uint32_t head;
    };
    __device__ void find(unsigned layer, places& p) const
    {
        const auto edge = entry_of(layer);
        p.head = edge.head();
#pragma unroll
        for (unsigned e = 0; e < MessageEdges; ++e) {
            p.at[e] = edge.place(e, d_thread);
        }
    }

    // What is kept of a layer, in the first iteration without messages.
    template <bool First>
    __device__ void fetch(unsigned layer, std::uint32_t* outside, kept& f) const
    {
        at_layer(layer, outside, [&](const auto* at, bool shared) {
            First ? f.load_first(at, shared) : f.load(at, shared);
        });
    }

    // Has the L2 cache fetch what is kept of a layer, if that is outside.
    __device__ void send_for(unsigned layer, const std::uint32_t* outside) const
    {
#ifdef __CUDA_ARCH__
        static_assert(kept::rows == 3);
        // In one piece, of which the compiler makes no branch.
        asm volatile("{\n"
                     ".reg .pred p;\n"
                     "setp.lt.u32 p, %1, %2;\n"
                     "@p prefetch.global.L2 [%0];\n"
                     "@p prefetch.global.L2 [%0 + %3];\n"
                     "@p prefetch.global.L2 [%0 + %4];\n"
                     "}" ::"l"(__cvta_generic_to_global(outside)),
                     "r"(layer - d_args.shared_layers),
                     "r"(d_sent_for),
                     "n"(4 * pitch),
                     "n"(8 * pitch));
#endif
    }

    template <bool First>
    __device__ void iterate()
    {
        const auto q = d_layers;
        float posterior_before = get_bit(d_before);
        kept f[depth];
        places p[2];
#pragma unroll
        for (unsigned k = 0; k < depth; ++k) {
            fetch<First>(k, d_own_state + k * kept::layer_words, f[k]);
        }
        if constexpr (ahead) {
            find(0, p[0]);
        }
        auto* outside = d_own_state;
        for (unsigned i = 0; i < q; i += depth, outside += depth * kept::layer_words) {
#pragma unroll
            for (unsigned k = 0; k < depth; ++k) {
                if (i + k < q) {
                    do_layer<First>(i + k,
                                    outside + k * kept::layer_words,
                                    p[k % 2],
                                    p[(k + 1) % 2],
                                    f[k],
                                    f[(k + 1) % depth],
                                    posterior_before);
                }
            }
        }
        set_bit(d_after, posterior_before);
        __syncthreads();
    }

    // Layer i, with what was fetched of it and of the next. When its old messages are
    // used, what is kept of a later one comes in their place.
    template <bool First>
    __device__ void do_layer(unsigned i,
                             std::uint32_t* outside,
                             places& now,
                             places& next,
                             kept& fetched,
                             const kept& fetched_next,
                             float& posterior_before)
    {
        if constexpr (!ahead) {
            find(i, now);
        }
        const auto head = now.head;
        const auto old = fetched.open();
        float t[edges];
        t[before] = __fsub_rn(posterior_before, old.message(before));
        d_threads.wait_before(head);
#pragma unroll
        for (unsigned e = 0; e < MessageEdges; ++e) {
            t[e + 1] = get_posterior(now.at[e], is_external(head, e));
        }
        if constexpr (ahead) {
            static_assert(shared_table); // past the last layer, too
            find(i + 1, next);
        }
        float deferred[most_deferred]; // their old messages
#pragma unroll
        for (unsigned e = 1; e < own; ++e) {
            const float r = old.message(e);
            t[e] = __fsub_rn(t[e], r);
            if (e <= most_deferred) {
                deferred[e - 1] = r;
            }
        }
        // What a chain's first layer leaves of the bit before it.
        const float own_posterior =
            i + 1 == d_layers ? get_bit(d_after) : fetched_next.posterior_before();
        t[own] = __fsub_rn(own_posterior, old.message(own));
        fetch<First>(i + depth, outside + depth * kept::layer_words, fetched);
        if constexpr (!First && early > 0) {
            send_for(i + early, outside + early * kept::layer_words);
        }

        std::uint32_t product = bits(t[0]);
#pragma unroll
        for (unsigned e = 1; e < edges; ++e) {
            product ^= bits(t[e]);
        }
        renewal<edges, Int16, pitch> renewed(least_of(t), product, d_args);

        const float leaves = __fadd_rn(t[before], renewed.message(before, t[before]));
        if (i == 0) {
            set_bit(d_before, leaves);
        }
        if (head & chain_table::shares) {
            write_shared_bits(head, now, deferred, t, renewed);
        } else {
#pragma unroll
            for (unsigned e = 0; e < MessageEdges; ++e) {
                const float r = renewed.message(e + 1, t[e + 1]);
                set_posterior(now.at[e], is_external(head, e), __fadd_rn(t[e + 1], r));
            }
        }
        d_threads.written(head);
        posterior_before = __fadd_rn(t[own], renewed.message(own, t[own]));
        kept fresh;
        renewed.keep(fresh, leaves);
        at_layer(i, outside, [&](auto* at, bool shared) { fresh.store(at, shared); });
    }

    static __device__ auto least_of(const float (&t)[edges])
    {
        if constexpr (Int16) {
            two_least even(t[before], t[own]), odd(t[1], t[2]);
#pragma unroll
            for (unsigned e = 3; e < own; ++e) {
                (e % 2 ? even : odd).take(t[e]);
            }
            even.merge(odd);
            return even;
        } else {
            three_least all(t[0], t[1], t[2]);
#pragma unroll
            for (unsigned e = 3; e + 3 <= edges; e += 3) {
                all.take(three_least(t[e], t[e + 1], t[e + 2]));
            }
            if constexpr (edges % 3 == 2) {
                all.take(t[edges - 2], t[edges - 1]);
            } else if constexpr (edges % 3 == 1) {
                all.take(t[edges - 1]);
            }
            return all;
        }
    }

    // A layer in which bits take part more than once.
    __device__ void write_shared_bits(std::uint32_t head,
                                      const places& now,
                                      const float (&old)[most_deferred],
                                      float (&t)[edges],
                                      renewal<edges, Int16, pitch>& renewed) const
    {
        const unsigned deferred = head >> chain_table::deferred_at & 0xfu;
        d_threads.wait_for_chain(); // all have read
#pragma unroll
        for (unsigned e = 0; e < MessageEdges; ++e) {
            const float r = renewed.message(e + 1, t[e + 1]);
            if (e < most_deferred && e < deferred) { // the change
                t[e + 1] = __fsub_rn(r, old[e]);
            } else {
                set_posterior(now.at[e], is_external(head, e), __fadd_rn(t[e + 1], r));
            }
        }
        d_threads.wait_for_chain();
        const auto sum = [&](unsigned e) {
            return __fadd_rn(get_posterior(now.at[e], false), t[e + 1]);
        };
        if (most_deferred > 1 && (head & chain_table::several_rounds)) {
#pragma unroll
            for (unsigned e = 0; e < most_deferred; ++e) {
                if (e < deferred) {
                    if (head >> (chain_table::round_at + e) & 1) {
                        d_threads.wait_for_chain();
                    }
                    set_posterior(now.at[e], false, sum(e));
                }
            }
        } else { // of different groups
            float sums[most_deferred];
#pragma unroll
            for (unsigned e = 0; e < most_deferred; ++e) {
                if (e < deferred) {
                    sums[e] = sum(e);
                }
            }
#pragma unroll
            for (unsigned e = 0; e < most_deferred; ++e) {
                if (e < deferred) {
                    set_posterior(now.at[e], false, sums[e]);
                }
            }
        }
    }

    // The posterior of the parity bit of layer i.
    __device__ float parity_posterior(unsigned i) const
    {
        if (i + 1 == d_layers) {
            return get_bit(d_after);
        }
        kept next;
        load(i + 1, next);
        return next.posterior_before();
    }

    // Signs of what the message bits of a check in layer i sum to.
    __device__ std::uint32_t message_sum(unsigned i) const
    {
        const auto edge = entry_of(i);
        const auto head = edge.head();
        std::uint32_t sum = 0;
#pragma unroll
        for (unsigned e = 0; e < MessageEdges; ++e) {
            sum ^= bits(get_posterior(edge.place(e, d_thread), is_external(head, e)));
        }
        return sum;
    }

    // Calls use() with the signs of what the checks of layers \p first to \p end sum to.
    template <class Use>
    __device__ void
    each_sum(unsigned first, unsigned end, float& parity_before, Use&& use) const
    {
        constexpr unsigned together = MessageEdges <= 12 ? 4 : 2;
        const auto last = d_layers - 1;
        const float of_last = get_bit(d_after);
        each_loaded_ahead<kept, together>(
            first,
            end,
            [&](unsigned i, kept& next) { // past the last layer too
                load(min(i + 1, last), next);
            },
            [&](unsigned i, const kept& next) {
                const float own_posterior = i < last ? next.posterior_before() : of_last;
                const auto sum =
                    bits(parity_before) ^ bits(own_posterior) ^ message_sum(i);
                use(d_threads.has_check() ? sum & sign : 0);
                parity_before = own_posterior;
            });
    }

    __device__ unsigned satisfied() const
    {
        float parity_before = get_bit(d_before);
        // The first layer alone says no where there is still much to correct. As many
        // rounds for each chain.
        const auto most = d_table.begins[1];
        for (unsigned first = 0, end = 1; first < most; first = end, end += 12) {
            std::uint32_t sum = 0;
            each_sum(first, min(end, d_layers), parity_before, [&sum](std::uint32_t s) {
                sum |= s;
            });
            if (__syncthreads_or(sum)) {
                return 0;
            }
        }
        return 1;
    }

    __device__ std::uint32_t count_violated()
    {
        if (d_threads.number == 0) {
            d_flags[1] = 0;
        }
        __syncthreads();
        float parity_before = get_bit(d_before);
        std::uint32_t count = 0;
        each_sum(0, d_layers, parity_before, [&](std::uint32_t s) { count += s >> 31; });
        atomicAdd(d_flags + 1, count);
        __syncthreads();
        return d_flags[1];
    }

    // Packs signs, first bit most significant.
    __device__ void write_decisions(std::uint8_t* output) const
    {
        auto* const out = reinterpret_cast<std::uint32_t*>(output);
        const auto K = d_table.message_bits;
        const auto all = (d_args.stop.out_bits + 31) / 32;
        if (d_j < warps * 32) {
            for (unsigned w = d_threads.chain * warps + d_j / 32; w < all;
                 w += Chains * warps) {
                const unsigned bit = w * 32 + d_j % 32;
                const bool one = bit < K && bits(posterior_of(bit)) & sign;
                const auto word = __brev(__ballot_sync(~0u, one));
                if (d_j % 32 == 0) {
                    out[w] = __byte_perm(word, 0, 0x0123);
                }
            }
        }
        if (d_args.stop.out_bits > K) {
            __threadfence_block();
            __syncthreads();
            const auto end = d_threads.has_check() ? d_layers : 0;
            for (unsigned i = 0; i < end; ++i) {
                if (bits(parity_posterior(i)) & sign) {
                    const unsigned bit = K + d_j * d_table.q + d_first + i;
                    atomicOr(out + bit / 32, 0x80u >> bit % 8 << bit % 32 / 8 * 8);
                }
            }
        }
    }

    __device__ void write_llrs(const soft_writer& llrs) const
    {
        for (unsigned i = 4 * d_threads.number; i < d_table.message_bits;
             i += 4 * block_threads::count) {
            const float x[] = { posterior_of(i),
                                posterior_of(i + 1),
                                posterior_of(i + 2),
                                posterior_of(i + 3) };
            llrs.write_four<channel_value>(i, x);
        }
        if (!d_threads.has_check()) {
            return;
        }
        soft_writer::run<channel_value> run(
            llrs, d_table.message_bits + d_j * d_table.q + d_first);
        for (unsigned i = 0; i < d_layers; ++i) {
            run.add(parity_posterior(i));
        }
        run.end();
    }

    const chain_table& d_table;
    const single_arguments& d_args;
    block_threads d_threads;
    const unsigned d_j;
    const chain_thread<(block_threads::spare_words > 0)> d_thread;
    const unsigned d_first, d_layers; // of the thread's chain
    std::uint32_t* d_flags;           // the block's part of the state; violated checks
    bit_place d_before, d_after;      // posteriors of the bits before and after the chain
    std::uint32_t* d_state;
    // Of that the thread's own, in the chain's first layer; in shared memory.
    std::uint32_t *d_own_state, *d_own_shared;
    std::uint32_t d_sent_for; // layers that are not in shared memory, or none
    float* d_external;
    std::uint32_t* d_entries; // of the layers, in shared memory
};

} // namespace singles
} // namespace device
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CUDA_SINGLES_CUH */
