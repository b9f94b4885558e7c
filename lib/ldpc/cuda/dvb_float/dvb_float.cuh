// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Layered min-sum for the codes of DVB-S2 in int16, which a float holds exactly, and in
 * float. A thread block decodes one codeword.
 *
 * Thread j updates check j·q + i in layer i. Shared memory holds the posteriors of the
 * message bits. The parity bits form a chain: check c has parity bits c − 1 and c. A
 * thread follows the chain from layer to layer. After check c, it passes the posterior of
 * bit c to the next layer in a register, and after check c + 1 it stores the posterior.
 * After the last layer, the neighbouring thread uses the posterior in the first layer.
 * If a code has two chains of layers (chain_order.h), each chain has its own group of
 * threads. The record of a check has its messages in compressed form: two magnitudes, the
 * edge with the smallest variable-to-check magnitude (min1), and the signs. The records
 * of the first layers are in the free part of shared memory, the others in device memory
 * and, as far as possible, in the L2 cache.
 *
 * Posteriors that do not fit in shared memory are in device memory, and in the L2 cache
 * as far as possible (parameter External). If registers suffice, a thread reads such a
 * posterior before the preceding layer is written, unless the posterior may still change
 * (early_edges in chain_table.h).
 *
 * If a layer has fewer edges than the kernel, the missing edges use a posterior so large
 * that no message changes it. Barriers are needed in three places: before a layer that
 * uses a group already used since the last barrier, within a layer in which a bit occurs
 * more than once, and between the phases of two chains. */

#ifndef INCLUDED_GPUFEC_LDPC_CUDA_DVB_FLOAT_DVB_FLOAT_CUH
#define INCLUDED_GPUFEC_LDPC_CUDA_DVB_FLOAT_DVB_FLOAT_CUH

#include "check_node_update.cuh"
#include "ldpc/cuda/chain_entries.cuh"
#include "ldpc/cuda/chain_threads.cuh"
#include "ldpc/cuda/soft_output.cuh"
#include <utility>

namespace gr::gpufec::ldpc {
namespace device {

namespace dvb_float {

template <unsigned MessageEdges, bool Int16, unsigned Chains, unsigned External>
class layered_float_kernel
{
    using block_threads = chain_threads<Chains>;
    using channel_value = std::conditional_t<Int16, std::int16_t, float>;
    static constexpr unsigned before = 0;             // index of the edge to the
                                                      // preceding parity bit
    static constexpr unsigned own = MessageEdges + 1; // index of the edge to the check's
                                                      // own parity bit
    static constexpr unsigned edges = MessageEdges + 2;
    static constexpr unsigned pitch = block_threads::pitch;
    using check_record = record<edges, Int16, pitch>;

    // The table of edges, and the bits that pass between threads, are in shared memory if
    // they fit there in addition to the posteriors.
    static constexpr bool shared_table = External > 1 || MessageEdges <= 20;
    using entry = chain_entry<MessageEdges>;
    // The number of layers whose records are fetched ahead.
    static constexpr unsigned depth = 2;
    // Number of layers by which records are prefetched into the L2 cache, for codes with
    // more records than it holds (docs/decisions/2026-11-24-float-messages.md). If the
    // number is 0, no records are prefetched.
    static constexpr unsigned early = Chains == 2 && !Int16 ? 3 : 0;
    // The addresses of a layer's posteriors are computed during the preceding layer if
    // enough registers are free.
    static constexpr bool ahead =
        MessageEdges <= 5 || (External && MessageEdges <= 9) || MessageEdges == 12;

    static constexpr unsigned wrap_words = Chains * pitch + 4;
    static constexpr unsigned line = 32; // words per line of the L2 cache

public:
    static constexpr unsigned max_shared = chain_max_shared(MessageEdges);
    static constexpr unsigned max_deferred = chain_max_deferred(MessageEdges);
    static constexpr unsigned max_early =
        External && ahead ? (Chains == 2 ? 2 : MessageEdges) : 0;
    static std::size_t
    shared_bytes(unsigned q, unsigned shared_groups, bool filled, unsigned layers)
    {
        return 4 * ((shared_groups + filled) * group + flag_words +
                    block_threads::spare_words +
                    (shared_table ? entry::copy_words(q) + wrap_words : 0) +
                    layers * Chains * check_record::layer_words);
    }
    __host__ __device__ static std::size_t state_words(const chain_table& t)
    {
        // At the end, kernels fetch ahead past the last layer. Slots are whole cache
        // lines.
        return (std::size_t(check_record::layer_words) * (t.q + depth) + wrap_words +
                (External ? t.message_bits - t.shared_groups * group +
                                block_threads::spare_words
                          : 0) +
                line - 1) /
               line * line;
    }

    __device__ layered_float_kernel(const chain_table& table,
                                    const dvb_float_arguments& a)
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
        if (d_threads.number == 0) {
            d_flags[0] = take_slot(a);
        }
        __syncthreads();
        d_state = a.state + d_flags[0] * state_words(table);
        auto* outside = d_state + std::size_t(check_record::layer_words) * (q + depth);
        if constexpr (shared_table) {
            d_entries = next;
            next += entry::copy_words(q);
            entry::copy(a.entries, q, d_entries, d_threads.number, block_threads::count);
        }
        // wrap[j] is the last layer's parity bit of thread j − 1. middle[j] is thread j's
        // parity bit between the first chain and the second.
        auto* const wrap = shared_table ? next : outside;
        auto* const middle = wrap + pitch + 4;
        // A thread without a check uses the word after the words of its chain.
        d_before = bit_at((d_first > 0 ? middle : wrap + !d_threads.has_check()) + d_j);
        d_after = bit_at((d_first + d_layers == q ? wrap + 1 : middle) + d_j);
        next += shared_table ? wrap_words : 0;
        d_external = reinterpret_cast<float*>(outside) + wrap_words;
        const auto own = check_record::own_words * d_j;
        const auto capacity = a.shared_layers * check_record::layer_words;
        d_own_shared = next + d_threads.chain * capacity + own;
        d_own_state = d_state + d_first * check_record::layer_words + own;
        if constexpr (early > 0) { // one thread prefetches each line
            d_prefetched_layers = kept_in_register(
                d_j % line == 0 && a.shared_layers < d_layers ? d_layers - a.shared_layers
                                                              : 0);
        }
    }

    // Branches depend only on parameters, the block's index and warp_uniform(). Otherwise
    // the compiler would guard every barrier and branch, because warps might diverge.
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
        while (!(d_args.stop.early_stop && (valid = warp_uniform(satisfied()))) &&
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
    // The place of a bit that passes between threads: an address in shared memory, or a
    // pointer.
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

    __device__ void load(const channel_value* channel);
    // Loads the parity bits into the records through shared memory, because threads need
    // them in another order.
    __device__ void load_parity(const channel_value* channel);
    // Writes the records for the first iteration, which have the channel values of the
    // chain's parity bits and no messages.
    template <class Value>
    __device__ void begin_layers(Value&& value);
    // Loads channel values as floats. place(i) returns the destination of value i and of
    // the values after it.
    template <class Place>
    __device__ void
    load_values(const channel_value* channel, unsigned count, Place&& place) const;
    __device__ static std::uint32_t without_sign_of_0(std::uint32_t x)
    {
        return bits(__fadd_rn(value_of(x), 0));
    }
    // Returns four floats as words, converted from the 16-bit integers in \p a and \p b.
    __device__ static uint4 four_values(std::uint32_t a, std::uint32_t b)
    {
        const auto value = [](std::uint32_t x) { return bits(std::int16_t(x)); };
        return { value(a), value(a >> 16), value(b), value(b >> 16) };
    }
    __device__ float& posterior_of(unsigned message_bit) const
    {
        auto* const shared = reinterpret_cast<float*>(shared_words());
        if constexpr (External) {
            const unsigned place =
                d_table.place[message_bit / group] * group + message_bit % group;
            const auto inside = d_table.shared_groups * group;
            return place < inside ? shared[place] : d_external[place - inside];
        } else {
            return shared[message_bit];
        }
    }

    // The functions below count layers from the first layer of the thread's chain.

    // Calls use() with the thread's record of a layer, and whether it is in shared
    // memory.
    template <class Use>
    __device__ void at_layer(unsigned layer, Use&& use) const
    {
        at_layer(layer,
                 d_own_state + layer * check_record::layer_words,
                 std::forward<Use>(use));
    }
    // Overload for a record whose address in device memory is \p outside.
    template <class Use>
    __device__ void at_layer(unsigned layer, std::uint32_t* outside, Use&& use) const
    {
        if (layer < d_args.shared_layers) {
            use(d_own_shared + layer * check_record::layer_words, true);
        } else {
            use(outside, false);
        }
    }
    __device__ void load(unsigned layer, check_record& k) const
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

    __device__ placed_posteriors placed() const
    {
        auto* const device = reinterpret_cast<std::uint32_t*>(d_external);
        return { device,
                 device + d_table.message_bits - d_table.shared_groups * group +
                     (d_threads.has_check() ? 0 : d_threads.spare()),
                 d_threads.has_check(),
                 d_thread };
    }
    __device__ float get_posterior(std::uint32_t at,
                                   unsigned e,
                                   const edge_places& edges_at,
                                   std::uint32_t early = 0) const
    {
        return value_of(e + External >= MessageEdges
                            ? placed().get(at, e, edges_at, early)
                            : get_shared(at));
    }
    __device__ void set_posterior(std::uint32_t at,
                                  unsigned e,
                                  const edge_places& edges_at,
                                  float x) const
    {
        if (e + External >= MessageEdges) {
            placed().set(at, e, edges_at, bits(x));
        } else {
            set_shared(at, bits(x));
        }
    }

    // The addresses of a layer's posteriors, and data of the layer that are read ahead.
    struct places {
        std::uint32_t at[MessageEdges];
        std::uint32_t head;
        edge_places edges_at;              // used like early; set only if External > 0
        std::uint32_t early[MessageEdges]; // the last max_early posteriors, read early
    };
    __device__ void find(unsigned layer, places& p) const
    {
        const auto edge = entry_of(layer);
        p.head = edge.head();
#pragma unroll
        for (unsigned e = 0; e < MessageEdges; ++e) {
            p.at[e] = edge.place(e, d_thread);
        }
        if constexpr (External) {
            p.edges_at = edge.places();
#pragma unroll
            for (unsigned e = 0; e < MessageEdges; ++e) {
                p.early[e] = e + max_early < MessageEdges
                                 ? 0
                                 : placed().get_early(p.at[e], e, p.edges_at);
            }
        }
    }

    // Fetches the record of a layer; the first iteration has no messages.
    template <bool First>
    __device__ void fetch(unsigned layer, std::uint32_t* outside, check_record& f) const
    {
        at_layer(layer, outside, [&](const auto* at, bool shared) {
            First ? f.load_first(at, shared) : f.load(at, shared);
        });
    }

    // Prefetches the records of a layer into the L2 cache, if they are in device memory.
    __device__ void prefetch(unsigned layer, const std::uint32_t* outside) const
    {
#ifdef __CUDA_ARCH__
        static_assert(check_record::rows == 3);
        // Predicates in a single asm statement replace the branch that the compiler would
        // generate.
        asm volatile("{\n"
                     ".reg .pred p;\n"
                     "setp.lt.u32 p, %1, %2;\n"
                     "@p prefetch.global.L2 [%0];\n"
                     "@p prefetch.global.L2 [%0 + %3];\n"
                     "@p prefetch.global.L2 [%0 + %4];\n"
                     "}" ::"l"(__cvta_generic_to_global(outside)),
                     "r"(layer - d_args.shared_layers),
                     "r"(d_prefetched_layers),
                     "n"(4 * pitch),
                     "n"(8 * pitch));
#endif
    }

    template <bool First>
    __device__ void iterate();

    // Processes layer i, whose record is \p fetched. Once its messages are used, the
    // record of a later layer is fetched into \p fetched.
    template <bool First>
    __device__ void do_layer(unsigned i,
                             std::uint32_t* outside,
                             places& now,
                             places& next,
                             check_record& fetched,
                             const check_record& fetched_next,
                             float& posterior_before);

    static __device__ auto min1_of(const float (&t)[edges])
    {
        if constexpr (Int16) {
            two_minima even(t[before], t[own]), odd(t[1], t[2]);
#pragma unroll
            for (unsigned e = 3; e < own; ++e) {
                (e % 2 ? even : odd).take(t[e]);
            }
            even.merge(odd);
            return even;
        } else {
            three_minima all(t[0], t[1], t[2]);
#pragma unroll
            for (unsigned e = 3; e + 3 <= edges; e += 3) {
                all.take(three_minima(t[e], t[e + 1], t[e + 2]));
            }
            if constexpr (edges % 3 == 2) {
                all.take(t[edges - 2], t[edges - 1]);
            } else if constexpr (edges % 3 == 1) {
                all.take(t[edges - 1]);
            }
            return all;
        }
    }

    // Writes the posteriors of a layer in which bits occur more than once.
    __device__ void
    write_shared_bits(std::uint32_t head,
                      const places& now,
                      const float (&old)[max_deferred],
                      float (&t)[edges],
                      check_node_update<edges, Int16, pitch>& updated) const;

    // Returns the posterior of the parity bit of layer i.
    __device__ float parity_posterior(unsigned i) const
    {
        if (i + 1 == d_layers) {
            return get_bit(d_after);
        }
        check_record next;
        load(i + 1, next);
        return next.posterior_before();
    }

    // Returns the parity of the message bits of the thread's check in layer i, in the
    // sign bit.
    __device__ std::uint32_t message_sum(unsigned i) const;

    // For each layer from \p first to \p end − 1, calls use() with the parity of the
    // thread's check in the sign bit.
    template <class Use>
    __device__ void
    each_sum(unsigned first, unsigned end, float& parity_before, Use&& use) const;

    __device__ unsigned satisfied() const;

    __device__ std::uint32_t count_violated();

    // Writes the decisions, first bit most significant.
    __device__ void write_decisions(std::uint8_t* output) const;

    __device__ void write_llrs(const soft_writer& llrs) const;

    const chain_table& d_table;
    const dvb_float_arguments& d_args;
    block_threads d_threads;
    const unsigned d_j;
    const chain_thread<(block_threads::spare_words > 0)> d_thread;
    const unsigned d_first, d_layers; // the chain's first layer, and its number of layers
    std::uint32_t* d_flags;           // words for the block's slot and the count of
                                      // violated checks
    bit_place d_before, d_after;      // places of the bit before the chain and of the
                                      // chain's last bit
    std::uint32_t* d_state;
    // The thread's records in d_state and in shared memory, from the chain's first layer
    // on.
    std::uint32_t *d_own_state, *d_own_shared;
    std::uint32_t d_prefetched_layers; // number of the chain's layers whose records the
                                       // thread prefetches, or 0
    float* d_external;
    std::uint32_t* d_entries; // the table of edges in shared memory
};

} // namespace dvb_float
} // namespace device
} // namespace gr::gpufec::ldpc

// The remaining members, one file per stage.
#include "decisions.cuh"
#include "layer.cuh"
#include "load.cuh"

#endif /* INCLUDED_GPUFEC_LDPC_CUDA_DVB_FLOAT_DVB_FLOAT_CUH */
