// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Layered min-sum for the codes of DVB-S2 in int8. A thread block decodes up to two
 * codewords in the halves of a half2. Each half holds the integers of a codeword exactly,
 * in units of 2^-11. With two checks per word, a block decodes one codeword, and the
 * halves belong to two of its checks.
 *
 * In layer i, thread j updates check j·q + i. With two checks per word, the thread also
 * updates check (j + 180)·q + i. Shared memory holds the posteriors of the message bits.
 * The parity bits form a chain: check c has parity bits c − 1 and c. A thread follows the
 * chain from layer to layer. After check c, it passes the posterior of bit c to the next
 * layer in a register, and after check c + 1 it stores the parity bit. After the last
 * layer, the neighbouring thread uses the posterior in the first layer. If a code has
 * two chains of layers (chain_order.h), each chain has its own group of threads. Messages
 * are compressed, so that the L2 cache can hold them. A check has two magnitudes, one for
 * the edge with the smallest variable-to-check magnitude (min1) and one for all others.
 * Each edge has a sign and a bit that is set if the edge has min1.
 *
 * Posteriors that do not fit in shared memory are in device memory, and in the L2 cache
 * as far as possible (parameter External). If registers suffice, a thread reads such a
 * posterior before the preceding layer is written, unless the posterior may still change
 * (early_edges in chain_table.h).
 *
 * Barriers are needed in three places: before a layer that uses a group already used
 * since the last barrier, within a layer in which a bit occurs more than once, and
 * between the phases of two chains. Between barriers, warps can be in different layers.
 * */

#ifndef INCLUDED_GPUFEC_LDPC_CUDA_DVB_INT8X2_DVB_INT8X2_CUH
#define INCLUDED_GPUFEC_LDPC_CUDA_DVB_INT8X2_DVB_INT8X2_CUH

#include "check_node_update.cuh"
#include "ldpc/cuda/chain_threads.cuh"
#include "ldpc/cuda/soft_output.cuh"
#include <type_traits>

namespace gr::gpufec::ldpc {
namespace device {
namespace dvb_int8x2 {

// The parameters of a kernel as one type.
template <unsigned MessageEdges, // number of edges of a check to message bits
          bool SharedParity,     // whether parity bits are in shared memory
          bool SharedTable,      // whether the table of edges is in shared memory
          bool Irregular,        // whether checks of some layers have fewer edges
          unsigned External,     // number of last edges that may use device memory
          bool Soft,       // whether to write LLRs and store messages to own parity bits
          unsigned Blocks, // number of resident thread blocks per multiprocessor
          unsigned Chains, // number of chains of layers
          bool TwoChecksPerWord = false> // whether a word has two checks of one codeword
struct kernel_shape {
    static constexpr unsigned message_edges = MessageEdges;
    static constexpr bool shared_parity = SharedParity;
    static constexpr bool shared_table = SharedTable;
    static constexpr bool irregular = Irregular;
    static constexpr unsigned external = External;
    static constexpr bool soft = Soft;
    static constexpr unsigned blocks = Blocks;
    static constexpr unsigned chains = Chains;
    static constexpr bool two_checks_per_word = TwoChecksPerWord;
};

template <class Shape>
class layered_int8x2_kernel
{
    static constexpr unsigned MessageEdges = Shape::message_edges;
    static constexpr bool SharedParity = Shape::shared_parity;
    static constexpr bool SharedTable = Shape::shared_table;
    static constexpr bool Irregular = Shape::irregular;
    static constexpr unsigned External = Shape::external;
    static constexpr bool Soft = Shape::soft;
    static constexpr unsigned Blocks = Shape::blocks;
    static constexpr unsigned Chains = Shape::chains;
    static constexpr bool TwoChecksPerWord = Shape::two_checks_per_word;

    static_assert(!TwoChecksPerWord || (SharedParity && SharedTable && !External));
    static constexpr unsigned codewords = TwoChecksPerWord ? 1 : 2;
    // If set, missing edges of a layer use an extra group, which follows the groups in
    // shared memory.
    static constexpr bool Filled = External > 1;
    // Number of words of a group's posteriors, which is also the number of threads per
    // chain that have a check.
    static constexpr unsigned group_words = group / (TwoChecksPerWord ? 2 : 1);
    using block_threads = chain_threads<Chains, group_words>;
    using parity = std::uint16_t; // the values of two halves, a byte each, with 128 added
    // Edge 0 is the edge to the preceding parity bit. With Soft, the last edge is the
    // edge to the check's own parity bit.
    static constexpr unsigned edges = MessageEdges + 1 + Soft;
    static constexpr unsigned own_edge = MessageEdges + 1;
    static constexpr unsigned pitch = block_threads::pitch;
    using check_messages = messages<edges, pitch>;
    static constexpr unsigned layer_words = check_messages::layer_words;
    using entry = chain_entry<MessageEdges, TwoChecksPerWord>;

    // Layers of few edges are prepared (struct prepared) during the preceding layer if
    // enough registers are free.
    static constexpr bool Ahead =
        MessageEdges <= 5 || (Blocks == 1 && MessageEdges <= (External ? 12 : 16));
    // The number of layers that are fetched before they are prepared. The loop over
    // layers is unrolled by this number, which is small for layers of many edges to limit
    // the size of the code.
    static constexpr unsigned depth = MessageEdges <= 5 && !External ? 4
                                      : MessageEdges <= 16           ? 2
                                                                     : 1;
    static_assert(!Ahead || depth > 1);
    static constexpr unsigned distance = depth + Ahead;
    static_assert(depth <= chain_table::passed_after);

public:
    static constexpr unsigned threads = block_threads::count;
    static constexpr unsigned max_shared = chain_max_shared(MessageEdges);
    static constexpr unsigned max_deferred = chain_max_deferred(MessageEdges);
    // Largest number of posteriors that are read early; 0 if registers are too few.
    static constexpr unsigned max_early =
        External && Ahead && Chains == 1 ? MessageEdges : 0;
    __host__ __device__ static constexpr unsigned parity_words(unsigned q)
    {
        return (q + distance + 1) / 2 * pitch;
    }
    static constexpr unsigned wrap_words = Chains * pitch + 4;
    static std::size_t shared_bytes(unsigned q, unsigned shared_groups, bool wrap)
    {
        return 4 *
               ((shared_groups + Filled) * group_words + flag_words +
                block_threads::spare_words + (SharedTable ? entry::copy_words(q) : 0) +
                (SharedParity ? parity_words(q) : 0) + (wrap ? wrap_words : 0));
    }
    __host__ __device__ static std::size_t state_words(const chain_table& t)
    {
        // At the end, kernels fetch ahead past the last layer.
        return std::size_t(layer_words) * (t.q + distance) +
               (SharedParity ? 0 : parity_words(t.q)) + wrap_words +
               (External ? t.message_bits - t.shared_groups * group +
                               (block_threads::spare_words + 3) / 4 * 4
                         : 0);
    }

    __device__ layered_int8x2_kernel(const chain_table& table, const int8x2_arguments& a)
        : d_table(table),
          d_args(a),
          d_j(d_threads.j),
          d_thread(d_j,
                   d_threads.has_check(),
                   shared_words() + (table.shared_groups + Filled) * group_words +
                       flag_words + d_threads.spare()),
          d_first(table.begins[d_threads.chain]),
          d_layers(table.begins[d_threads.chain + 1] - d_first),
          d_constants(a),
          d_rule(a)
    {
    }

    // Branches depend only on parameters, the block's index and warp_uniform(). Otherwise
    // the compiler would guard every barrier and branch, because warps might diverge.
    __device__ void run()
    {
        const auto first = d_args.codewords_per_word * blockIdx.x;
        const bool both =
            d_args.codewords_per_word == 2 && first + 1 < d_args.frames.count;
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
        d_flags = shared_words() + (d_table.shared_groups + Filled) * group_words;
        auto* next = d_flags + flag_words + block_threads::spare_words;
        if (d_threads.number == block_threads::count - 1) {
            d_flags[0] = take_slot(d_args);
        }
        if constexpr (SharedTable) {
            d_entries = next;
            next += entry::copy_words(q);
            entry::copy(
                d_args.entries, q, d_entries, d_threads.number, block_threads::count);
        }
        if constexpr (!External) {
            load_messages(a, b);
        }
        __syncthreads();
        d_state = d_args.state + d_flags[0] * state_words(d_table);
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
        // A thread without a check uses the word after the words of its chain.
        d_before = (d_first > 0 ? middle : d_wrap + !d_threads.has_check()) + d_j;
        if (follows_last()) {
            d_before = d_wrap + group_words;
        }
        d_after = (d_first + d_layers == q ? d_wrap + 1 : middle) + d_j;
        d_external = outside + wrap_words;
        load_parity(a, b);
        if constexpr (External) {
            load_messages(a, b);
            if (Filled && d_threads.number < group) {
                shared_words()[d_table.shared_groups * group + d_threads.number] =
                    bits(all(unchanged));
            }
        }
        __syncthreads();
    }

    __device__ void decode(std::uint32_t first, bool both)
    {
        const frame_place frame[2] = { d_args.frames.table[first],
                                       d_args.frames.table[first + both] };
        unsigned active = both ? 3 : 1; // bit mask of unfinished codewords
        iterate<true>();
        for (std::uint32_t i = 1;; ++i) {
            if (d_args.stop.early_stop) {
                const auto valid = warp_uniform(satisfied(active));
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
                               TwoChecksPerWord ? violated
                                                : violated >> 16 * w & 0xffffu);
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
        // Waits until all threads have read the posteriors of this codeword. These
        // posteriors change again if the other codeword is not finished.
        __syncthreads();
    }

    // Loads the channel values of the message bits as posteriors.
    __device__ void load_messages(const std::uint8_t* a, const std::uint8_t* b);
    // Loads the channel values of one codeword for two checks per word, four bits of both
    // halves of a group at a time.
    __device__ void load_halves(const std::uint8_t* a);
    __device__ void load_codewords(const std::uint8_t* a, const std::uint8_t* b);
    // Loads four message bits of both codewords, or of both halves of a group.
    __device__ void load_four(unsigned i, std::uint32_t x, std::uint32_t y)
    {
        const auto at = place_of_four(i);
        const auto four = four_posteriors(d_constants, x, y);
        if (External && at >= d_table.shared_groups * (group / 4)) {
            __stcg(external_fours() + at, four);
        } else {
            reinterpret_cast<uint4*>(shared_words())[at] = four;
        }
    }

    // Returns the index of the posteriors of message bits 4·i to 4·i + 3 in memory, in
    // vectors of four. Indices past the end of shared memory refer to device memory.
    __device__ unsigned place_of_four(unsigned i) const
    {
        constexpr unsigned fours = group / 4;
        return External ? d_table.place[i / fours] * fours + i % fours : i;
    }
    __device__ uint4* external_fours() const // device memory, indexed by place_of_four()
    {
        return reinterpret_cast<uint4*>(d_external) - d_table.shared_groups * (group / 4);
    }

    // Loads the channel values of the thread's parity bits, which are contiguous, in
    // whole vectors.
    __device__ void load_parity(const std::uint8_t* a, const std::uint8_t* b);
    // Loads the channel values of the parity bits of both checks of a thread. The values
    // begin at byte \p byte of the first word.
    __device__ void load_parity_halves(const std::uint32_t* from, unsigned byte);
    __device__ void
    load_parities(int i, std::uint32_t x, std::uint32_t y, std::uint32_t& last);

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
    // Returns the values of two stored bytes plus the bias.
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

    // The stored messages of a layer, fetched ahead, and its parity bit.
    struct fetched {
        check_messages m;
        parity own;
    };

    // State that a thread carries from layer to layer. "The bit before" is the preceding
    // parity bit.
    struct chain {
        typename check_messages::place state; // messages of this layer
        half2 posterior;                      // posterior of the bit before
        half2 message; // message to the bit before from that bit's own check, minus the
                       // bias
        parity* at;    // address of the bit before
        parity* own;   // address of this layer's parity bit
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

    // Fetches the stored messages and parity bit of the layer \p layers ahead. Past the
    // last layer, the fetched data are meaningless and unused. In the first iteration,
    // messages are 0.
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

    // The address of a posterior, and with two checks per word the rotation of that word.
    struct place {
        std::uint32_t address, next_shift;
    };
    __device__ place place_of(const entry& layer, unsigned e) const
    {
        if constexpr (TwoChecksPerWord) {
            return { layer.place(e, d_thread), layer.next_shift(e, d_thread) };
        } else {
            return { layer.place(e, d_thread), 0 };
        }
    }
    __device__ static std::uint32_t swapped(std::uint32_t x, const place& p)
    {
        return TwoChecksPerWord ? __funnelshift_l(x, x, p.next_shift) : x;
    }
    __device__ static std::uint32_t get_posterior(const place& p)
    {
        return swapped(get_shared(p.address), p);
    }
    __device__ static void set_posterior(const place& p, half2 x)
    {
        set_shared(p.address, swapped(bits(x), p));
    }

    __device__ placed_posteriors placed() const
    {
        return { d_external,
                 d_external + d_table.message_bits - d_table.shared_groups * group +
                     (d_threads.has_check() ? 0 : d_threads.spare()),
                 d_threads.has_check(),
                 d_thread };
    }
    __device__ std::uint32_t
    get_posterior(const place& p, unsigned e, const edge_places& edges_at) const
    {
        if constexpr (External > 0) {
            if (e + External >= MessageEdges) {
                return placed().get(p.address, e, edges_at);
            }
        }
        return get_posterior(p);
    }
    __device__ void
    set_posterior(const place& p, unsigned e, const edge_places& edges_at, half2 x) const
    {
        if constexpr (External > 0) {
            if (e + External >= MessageEdges) {
                return placed().set(p.address, e, edges_at, bits(x));
            }
        }
        set_posterior(p, x);
    }

    // Data of a layer that are available before the preceding layer is done.
    struct prepared {
        place at[MessageEdges];
        check_messages m;
        half2 first, second;
        std::uint32_t head;
        parity own;
        edge_places edges_at;              // used like early; set only if External > 0
        std::uint32_t early[MessageEdges]; // the last max_early posteriors, read early
    };
    __device__ void prepare(unsigned layer, fetched& f, prepared& p) const
    {
        f.m.unpack();
        const auto edge = entry_of(layer);
        p.head = edge.head();
        p.m = f.m;
        p.first = f.m.first(d_constants);
        p.second = f.m.second(d_constants);
#pragma unroll
        for (unsigned e = 0; e < MessageEdges; ++e) {
            p.at[e] = place_of(edge, e);
        }
        if constexpr (!SharedParity) {
            p.own = f.own;
        }
        if constexpr (External) {
            p.edges_at = edge.places();
#pragma unroll
            for (unsigned e = 0; e < MessageEdges; ++e) {
                p.early[e] = e + max_early < MessageEdges
                                 ? 0
                                 : placed().get_early(p.at[e].address, e, p.edges_at);
            }
        }
    }

    template <bool First>
    __device__ void iterate();

    // Processes the layer \p now. With Ahead, \p f has the data of the next layer, which
    // is prepared here as \p next. Without Ahead, \p f has the data of this layer. In
    // both cases a later layer is then fetched into \p f.
    template <bool First>
    __device__ void do_layer(prepared& now, prepared& next, fetched& f, chain& c);

    // Writes the posteriors of a layer in which bits occur more than once.
    __device__ void write_shared_bits(std::uint32_t head,
                                      unsigned degree,
                                      const edge_places& edges_at,
                                      const place (&at)[MessageEdges],
                                      half2 (&t)[MessageEdges]);

    // Returns the parity of the message bits of the thread's check in layer i, in the
    // sign bits.
    __device__ std::uint32_t message_sum(unsigned i) const;

    // Returns the hard decision on the parity bit of layer i, in the sign bits.
    __device__ std::uint32_t parity_decision(unsigned i) const
    {
        return i + 1 < d_first + d_layers
                   ? check_messages::decision(
                         check_messages::load_decision(layer_state(i + 1), d_j))
                   : *d_after;
    }

    // For each of the chain's layers from \p first to \p end − 1, calls use() with the
    // parity of the thread's check in the sign bits.
    template <class Use>
    __device__ void
    each_sum(unsigned first, unsigned end, std::uint32_t& before, Use&& use) const;

    // Returns the decision on the parity bit before the thread's first check of the
    // chain, in the sign bits. No bit precedes check 0.
    __device__ std::uint32_t decision_before() const
    {
        return !TwoChecksPerWord && d_first + d_j == 0 ? 0 : posterior_before();
    }

    // Returns whether the thread has two checks per word and updates check 0, which no
    // bit precedes, in the lower half. The last bit of thread 179 precedes the check in
    // the upper half.
    __device__ bool follows_last() const
    {
        return TwoChecksPerWord && d_first + d_j == 0;
    }
    __device__ std::uint8_t* of_last_check() const
    {
        return reinterpret_cast<std::uint8_t*>(parity_at(d_table.q - 1, group_words - 1));
    }
    __device__ std::uint32_t posterior_before() const
    {
        const std::uint32_t x = *d_before;
        return follows_last() ? __byte_perm(x, bits(all(missing)), 0x1054) : x;
    }

    // Returns the codewords in the bit mask \p candidates that satisfy every check.
    __device__ unsigned satisfied(unsigned candidates) const;

    // Returns the number of violated checks. With two codewords per block, each half of
    // the word has the number of one codeword.
    __device__ std::uint32_t count_violated();

    // Writes the decisions of codeword w, first bit most significant.
    __device__ void write_decisions(unsigned w, std::uint8_t* output) const;
    __device__ void write_llrs(unsigned w, const soft_writer& llrs) const;

    // These functions return the halves of words that belong to codeword w, and the
    // thread's check in a half.
    __device__ static constexpr unsigned first_half(unsigned w) { return w; }
    __device__ static constexpr unsigned end_half(unsigned w)
    {
        return TwoChecksPerWord ? 2 : w + 1;
    }
    __device__ unsigned check_of(unsigned half) const
    {
        return d_j + (TwoChecksPerWord ? half * group_words : 0);
    }

    // Posteriors of four successive message bits, in a half of the words.
    struct four {
        uint4 words;
        unsigned half;
    };
    // Returns the posteriors of the i-th four message bits of codeword w.
    __device__ four four_of(unsigned i, unsigned w) const
    {
        const auto* const shared = reinterpret_cast<const uint4*>(shared_words());
        if constexpr (TwoChecksPerWord) {
            const unsigned halves = i / (group_words / 4); // number of half groups before
                                                           // this one
            return { shared[i - (halves + 1) / 2 * (group_words / 4)], halves % 2 };
        }
        const auto at = place_of_four(i);
        return { External && at >= d_table.shared_groups * (group / 4)
                     ? __ldcg(external_fours() + at)
                     : shared[at],
                 w };
    }
    __device__ static std::uint32_t four_signs(const four& x)
    {
        const unsigned s = x.half ? 31 : 15;
        return (x.words.x >> s & 1) << 3 | (x.words.y >> s & 1) << 2 |
               (x.words.z >> s & 1) << 1 | (x.words.w >> s & 1);
    }

    const chain_table& d_table;
    const int8x2_arguments& d_args;
    block_threads d_threads;
    const unsigned d_j;
    const chain_thread<(block_threads::spare_words > 0)> d_thread;
    const unsigned d_first, d_layers; // the chain's first layer, and its number of layers
    const constants d_constants;
    const std::conditional_t<TwoChecksPerWord, rule_in_registers, const int8x2_arguments&>
        d_rule;
    std::uint32_t* d_flags; // words for the block's slot and the count of violated checks
    parity* d_parity;
    // Posteriors of the last layer's parity bits: index j has the bit of thread j − 1.
    // The posteriors of the bits between the first chain and the second follow.
    std::uint32_t* d_wrap;
    // The places in d_wrap of the bit before the chain and of the chain's last bit.
    std::uint32_t *d_before, *d_after;
    std::uint32_t* d_state;
    std::uint32_t* d_external;
    std::uint32_t* d_entries; // the table of edges in shared memory
};

template <class Shape>
__global__ void __launch_bounds__(layered_int8x2_kernel<Shape>::threads, Shape::blocks)
    decode_dvb_int8x2(const __grid_constant__ chain_table table,
                      const __grid_constant__ int8x2_arguments arguments)
{
    layered_int8x2_kernel<Shape>(table, arguments).run();
}

} // namespace dvb_int8x2
} // namespace device
} // namespace gr::gpufec::ldpc

// The remaining members, one file per stage.
#include "decisions.cuh"
#include "layer.cuh"
#include "load.cuh"

#endif /* INCLUDED_GPUFEC_LDPC_CUDA_DVB_INT8X2_DVB_INT8X2_CUH */
