// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The decoder of Briffa (2014) on CUDA, the corridor form: branch metrics of all indices
 * in parallel, the recursions over boundaries with a block per frame, and the posteriors
 * of all indices in parallel.
 *
 * The recursions of α and β need only the sums of branch metrics over the words. These
 * sums are stored. The branch metrics themselves are kept for the posteriors (global
 * storage) or computed again (local storage). */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_CUDA_CORRIDOR_CUH
#define INCLUDED_GPUFEC_SYNC_MAP_CUDA_CORRIDOR_CUH

#include "linear/word_lattice.cuh"
#include "output.cuh"

namespace gr::gpufec::sync_map {

// Largest number of warps per block of the branch and posterior kernels.
constexpr unsigned corridor_warps = 8;
constexpr int longest_word = 256; // largest n of kernels with rows in local memory

//! Arguments of the kernels of the corridor form, for the frames that are launched
//! together.
template <class Lattice, class Metric>
struct corridor_memory {
    //! Codebook, frame_symbols × q × words_per_word. Kernels with N rows in registers
    //! read a word's bits; the last symbol is bit N − 1. Kernels with N = 0 read four
    //! bits per symbol.
    const std::uint32_t* words;
    std::uint32_t words_per_word;
    double* prior_sums; //!< sum of the priors of each index: frames × outputs
    //! Branch metrics summed over the words: frames × symbols × changes × window.
    Metric* sums;
    Metric *alpha, *beta; //!< boundary metrics: frames × (symbols + 1) × window
    //! Branch metrics: frames × outputs × window × changes × q; nullptr: local storage.
    Lattice* branches;
    std::uint32_t* valid; //!< per frame: whether the frame can be decoded
    const std::byte* input;
    std::byte* output;
    sync_status* status;

    __device__ std::size_t
    sum_at(const sync_geometry& g, unsigned frame, unsigned i) const
    {
        return (std::size_t(frame) * g.symbols + i) * changes(g) * g.window;
    }
    __device__ std::size_t
    metric_at(const sync_geometry& g, unsigned frame, unsigned i) const
    {
        return (std::size_t(frame) * (g.symbols + 1) + i) * g.window;
    }
    __device__ Lattice*
    branch(const sync_geometry& g, unsigned frame, unsigned i, unsigned m) const
    {
        const auto at = (std::size_t(frame) * g.outputs + i) * g.window + m;
        return branches + at * changes(g) * g.q;
    }
    static __host__ __device__ unsigned changes(const sync_geometry& g)
    {
        return g.change_last - g.change_first + 1;
    }
};

/* Shared memory of a warp: the items that the lattices from `batch` adjacent start drifts
 * read. */
template <int N, class Lattice>
struct corridor_items {
    std::int32_t* symbol;   // received symbol; with N > 0 a mask: all ones for a 1
    Lattice *match, *other; // weights; with N > 0 the weights of a sent 1 and a sent 0
    bool clean; // whether each item weighs 1 for one symbol and 0 for all others

    // Returns the number of elements of each array.
    static __host__ __device__ unsigned count(const sync_geometry& g, unsigned batch)
    {
        return batch + g.n + (g.change_last > 0 ? g.change_last : 0);
    }
    static std::size_t bytes(const sync_geometry& g, unsigned batch)
    {
        return (count(g, batch) * (sizeof(std::int32_t) + 2 * sizeof(Lattice)) + 15) /
               16 * 16;
    }

    __device__ corridor_items(const sync_geometry& g, unsigned batch, std::byte* memory)
        : match(reinterpret_cast<Lattice*>(memory)),
          other(match + count(g, batch)),
          clean(false)
    {
        symbol = reinterpret_cast<std::int32_t*>(other + count(g, batch));
    }

    // Reads the items. Item k is the received item at boundary i and drift number m + k.
    __device__ void fill(const sync_geometry& g,
                         const row_weights<Lattice>& weights,
                         const frame_input& in,
                         unsigned i,
                         unsigned m,
                         unsigned batch)
    {
        __syncwarp();
        bool special = false;
        for (unsigned k = threadIdx.x % 32; k < count(g, batch); k += 32) {
            const auto w = weigh_item(g, weights, in, in.position(g, i, int(m + k)));
            const bool swapped = N > 0 && w.match_symbol == 0;
            symbol[k] = N > 0 ? -std::int32_t(w.match_symbol) : w.match_symbol;
            match[k] = swapped ? w.other_value : w.match_value;
            other[k] = swapped ? w.match_value : w.other_value;
            special |= w.match_value != 1 || w.other_value != 0;
        }
        clean = !__any_sync(full_warp, special);
        __syncwarp();
    }
};

/* The lattice of a lane's word from one start drift. Row t has the metrics after t
 * symbols. Step k computes all rows with k items received, so every row reads the same
 * item, number \p first + k − 1.
 *
 * A word is a mask of up to N bits, and the rows are in registers. Words of fewer bits
 * leave the first rows unused. */
template <int N, class Lattice>
struct corridor_lattice {
    // Calls sink(k, R) for each drift change number k, with its branch metric R.
    template <class Sink>
    static __device__ void run(const sync_geometry& g,
                               const row_weights<Lattice>& weights,
                               const std::uint32_t* word,
                               const corridor_items<N, Lattice>& items,
                               unsigned first,
                               Sink&& sink)
    {
        items.clean ? sweep<true>(g, weights, *word, items, first, sink)
                    : sweep<false>(g, weights, *word, items, first, sink);
    }

    template <bool Clean, class Sink>
    static __device__ void sweep(const sync_geometry& g,
                                 const row_weights<Lattice>& weights,
                                 std::uint32_t word,
                                 const corridor_items<N, Lattice>& items,
                                 unsigned first,
                                 Sink& sink)
    {
        const Lattice c = weights.insertion, pd = weights.deletion;
        const int n = g.n;
        const int unused = N - n;
        Lattice x[N + 1];
        std::int32_t sent[N]; // symbols of the word as masks
        Lattice deleted = 1;
#pragma unroll
        for (int t = 0; t <= N; ++t) {
            if (t < N) {
                sent[t] = -std::int32_t(word >> t & 1u);
            }
            if (t > unused) {
                deleted = unused - t >= g.change_first ? deleted * pd : Lattice(0);
            }
            x[t] = t >= unused ? deleted : Lattice(0);
        }
        if (g.change_first <= -n) {
            sink(-n - g.change_first, deleted);
        }
        for (int k = 1; k <= n + g.change_last; ++k) {
            const auto one = items.symbol[first + k - 1];
            const Lattice if_one = Clean ? Lattice(1) : items.match[first + k - 1];
            const Lattice if_zero = Clean ? Lattice(0) : items.other[first + k - 1];
            // Rows whose drift change is within the corridor.
            const int lowest = max(0, k - g.change_last + unused);
            const int highest = min(N, k - g.change_first + unused);
            const std::uint32_t active = (2u << highest) - (1u << min(lowest, 31));
            Lattice before = x[0];
            Lattice now = active & 1u ? c * before : Lattice(0);
            x[0] = now;
#pragma unroll
            for (int t = 1; t <= N; ++t) {
                const Lattice passed =
                    Clean ? masked(before, ~(sent[t - 1] ^ one))
                          : selected(sent[t - 1], if_zero, if_one) * before;
                const Lattice next = pd * now + (t < N ? c * x[t] + passed : passed);
                before = x[t];
                now = active & (1u << t) ? next : Lattice(0);
                x[t] = now;
            }
            const int change = k - n;
            if (change >= g.change_first) {
                sink(change - g.change_first, now);
            }
        }
    }
};

// Lattice for any alphabet and up to longest_word symbols, with rows in local memory.
template <class Lattice>
struct corridor_lattice<0, Lattice> {
    template <class Sink>
    static __device__ void run(const sync_geometry& g,
                               const row_weights<Lattice>& weights,
                               const std::uint32_t* word,
                               const corridor_items<0, Lattice>& items,
                               unsigned first,
                               Sink&& sink)
    {
        const Lattice c = weights.insertion, pd = weights.deletion;
        const int n = g.n;
        Lattice x[longest_word + 1];
        Lattice deleted = 1;
        for (int t = 0; t <= n; ++t) {
            x[t] = -t >= g.change_first ? deleted : Lattice(0);
            deleted *= pd;
        }
        if (g.change_first <= -n) {
            sink(-n - g.change_first, x[n]);
        }
        for (int k = 1; k <= n + g.change_last; ++k) {
            const unsigned received = items.symbol[first + k - 1];
            const Lattice match = items.match[first + k - 1];
            const Lattice other = items.other[first + k - 1];
            Lattice before = x[0];
            Lattice now = k <= g.change_last ? c * before : Lattice(0);
            x[0] = now;
            std::uint32_t symbols = 0;
            for (int t = 1; t <= n; ++t) {
                symbols = t % 8 == 1 ? word[t / 8] : symbols >> 4;
                const Lattice Q = (symbols & 15u) == received ? match : other;
                Lattice next = Q * before + pd * now;
                next += t < n ? c * x[t] : Lattice(0);
                before = x[t];
                const int change = k - t;
                now = change >= g.change_first && change <= g.change_last ? next
                                                                          : Lattice(0);
                x[t] = now;
            }
            const int change = k - n;
            if (change >= g.change_first) {
                sink(change - g.change_first, now);
            }
        }
    }
};

// Returns the number of start drifts that a warp of the branch kernel processes at a
// time. Each pair of a start drift and a drift change has a sum. The number is chosen so
// that as many lanes as possible have one sum each.
inline __host__ __device__ unsigned drifts_at_once(unsigned changes)
{
    return changes < 32 ? 32 / changes : 1;
}

//! Returns the bytes of shared memory of a warp of the branch kernel.
template <int N, class Lattice, class Metric>
std::size_t branch_warp_bytes(const sync_geometry& g)
{
    const unsigned changes = corridor_memory<Lattice, Metric>::changes(g);
    const unsigned batch = drifts_at_once(changes);
    return corridor_items<N, Lattice>::bytes(g, batch) +
           batch * changes * lane_sums<Metric>::stride * sizeof(Metric);
}

// Computes branch metrics and their sums over the words. Block x: index; block y: frame.
// A warp processes drifts_at_once() adjacent start drifts at a time.
template <int N, class Lattice, class Metric>
__global__ void corridor_branches(const sync_geometry g,
                                  const corridor_memory<Lattice, Metric> memory,
                                  unsigned warp_bytes)
{
    extern __shared__ double shared[];
    const unsigned i = blockIdx.x, frame = blockIdx.y;
    const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const unsigned changes = memory.changes(g);
    const unsigned batch = drifts_at_once(changes);
    const row_weights<Lattice> weights(g);
    const frame_input in(g, memory.input, frame);
    if (!in.valid) {
        return;
    }
    const bool priors = g.priors && i < g.outputs;
    double prior_sum = 0;
    for (unsigned D = lane; priors && D < g.q; D += 32) {
        prior_sum += in.prior(g, i, D);
    }
    prior_sum = warp_sum(prior_sum);
    if (priors && threadIdx.x == 0) {
        memory.prior_sums[std::size_t(frame) * g.outputs + i] = prior_sum;
    }
    std::byte* const mine = reinterpret_cast<std::byte*>(shared) + warp * warp_bytes;
    const lane_sums<Metric> sums(reinterpret_cast<Metric*>(mine));
    corridor_items<N, Lattice> items(
        g, batch, mine + batch * changes * lane_sums<Metric>::stride * sizeof(Metric));
    Metric* const out = memory.sums + memory.sum_at(g, frame, i);
    for (unsigned m0 = warp * batch; m0 < g.window; m0 += blockDim.x / 32 * batch) {
        items.fill(g, weights, in, i, m0, batch);
        const unsigned drifts = min(batch, g.window - m0);
        for (unsigned first = 0; first < g.q; first += 32) {
            const unsigned D = first + lane;
            const bool there = D < g.q;
            const auto* word = memory.words + (std::size_t(i % g.frame_symbols) * g.q +
                                               (there ? D : 0)) *
                                                  memory.words_per_word;
            Metric prior = there;
            if (priors && there) {
                prior = prior_sum > 0 && !isinf(prior_sum) ? in.prior(g, i, D) / prior_sum
                                                           : 1.0 / g.q;
            }
            for (unsigned b = 0; b < drifts; ++b) {
                Lattice* const branch = memory.branches && i < g.outputs && there
                                            ? memory.branch(g, frame, i, m0 + b) + D
                                            : nullptr;
                corridor_lattice<N, Lattice>::run(
                    g, weights, word, items, b, [&](unsigned k, Lattice R) {
                        if (branch) {
                            branch[std::size_t(k) * g.q] = R;
                        }
                        sums.add(b * changes + k, prior * Metric(R), first == 0);
                    });
            }
        }
        sums.take(drifts * changes, [&](unsigned row, Metric sum) {
            out[std::size_t(row % changes) * g.window + m0 + row / changes] = sum;
        });
    }
}

constexpr std::size_t scratch_bytes = 64 * sizeof(double);

// Computes α and β, and writes drift posteriors and status, one block per frame.
template <class Lattice, class Metric>
__global__ void corridor_boundaries(const sync_geometry g,
                                    const corridor_memory<Lattice, Metric> memory)
{
    extern __shared__ double shared[];
    double* const scratch = shared;
    const unsigned frame = blockIdx.x;
    const int M = g.window;
    const int changes = memory.changes(g);
    const frame_input in(g, memory.input, frame);
    std::byte* const out = memory.output + g.output_bytes * frame;
    memory.valid[frame] = 0;
    if (!in.valid) {
        return emit_unknown(g, out, memory.status[frame]);
    }
    // Scales a row and makes it visible to all threads of the block.
    const auto normalise = [&](Metric* row, row_scale& scales) {
        Metric part = 0;
        for (int m = threadIdx.x; m < M; m += blockDim.x) {
            part += row[m];
        }
        const Metric scale =
            scales.next(block_sum(part, reinterpret_cast<Metric*>(scratch)));
        for (int m = threadIdx.x; m < M; m += blockDim.x) {
            row[m] *= scale;
        }
        __syncthreads();
    };

    Metric* const alpha = memory.alpha + memory.metric_at(g, frame, 0);
    Metric* const beta = memory.beta + memory.metric_at(g, frame, 0);
    for (int m = threadIdx.x; m < M; m += blockDim.x) {
        alpha[m] = in.boundary(g, g.start_at, 0, m);
    }
    __syncthreads();
    row_scale weight;
    for (unsigned i = 0; i < g.symbols; ++i) {
        const Metric* const sums = memory.sums + memory.sum_at(g, frame, i);
        const Metric* const current = alpha + std::size_t(i) * M;
        Metric* const next = alpha + std::size_t(i + 1) * M;
        for (int m = threadIdx.x; m < M; m += blockDim.x) {
            Metric x = 0;
            for (int k = 0; k < changes; ++k) {
                const int from = m - (g.change_first + k);
                if (from >= 0 && from < M) {
                    x += current[from] * sums[std::size_t(k) * M + from];
                }
            }
            next[m] = x;
        }
        normalise(next, weight);
    }
    double ends = 0;
    for (int m = threadIdx.x; m < M; m += blockDim.x) {
        const double end = in.boundary(g, g.end_at, g.symbols, m);
        ends += double(alpha[std::size_t(g.symbols) * M + m]) * end;
        beta[std::size_t(g.symbols) * M + m] = end;
    }
    ends = block_sum(ends, scratch);
    if (!(ends > 0) || !weight.alive) {
        return emit_unknown(g, out, memory.status[frame]);
    }
    __syncthreads();
    for (unsigned i = g.symbols; i-- > 0;) {
        const Metric* const sums = memory.sums + memory.sum_at(g, frame, i);
        const Metric* const current = beta + std::size_t(i + 1) * M;
        Metric* const next = beta + std::size_t(i) * M;
        for (int m = threadIdx.x; m < M; m += blockDim.x) {
            Metric x = 0;
            for (int k = 0; k < changes; ++k) {
                const int to = m + g.change_first + k;
                if (to >= 0 && to < M) {
                    x += current[to] * sums[std::size_t(k) * M + m];
                }
            }
            next[m] = x;
        }
        row_scale unused;
        normalise(next, unused);
    }
    double entropy = 0, unused;
    float* const drifts = reinterpret_cast<float*>(out + g.drifts_at);
    const auto last_at = std::size_t(g.outputs) * M;
    const auto drifts_at = [&](std::size_t at, float* to, double* bits) {
        return emit_drifts(
            g,
            [&](unsigned m) { return alpha[at + m] * beta[at + m]; },
            memory.sums + memory.sum_at(g, frame, 0), // these sums are no longer needed
            scratch,
            to,
            bits);
    };
    const unsigned first = drifts_at(0, drifts, &unused);
    const unsigned last = drifts_at(last_at, drifts + M, &entropy);
    if (threadIdx.x == 0) {
        memory.valid[frame] = 1;
        memory.status[frame] = { weight.log() + log(ends) + g.log_scale,
                                 float(entropy),
                                 in.header.first + int(first),
                                 in.header.first + int(last),
                                 1 };
    }
}

// Number of start drifts whose items a warp loads at a time.
constexpr unsigned posterior_batch = 8;

// Computes posteriors. Block x: index; block y: frame. The start drifts are divided among
// the warps.
template <int N, class Lattice, class Metric>
__global__ void corridor_posteriors(const sync_geometry g,
                                    const corridor_memory<Lattice, Metric> memory,
                                    unsigned items_at,
                                    unsigned items_bytes)
{
    extern __shared__ double shared[];
    double* const scratch = shared;
    Metric* const parts = // each warp's part of L(D): warps × q
        reinterpret_cast<Metric*>(shared + scratch_bytes / sizeof(double));
    std::byte* const items_memory = reinterpret_cast<std::byte*>(shared) + items_at;
    const unsigned i = blockIdx.x, frame = blockIdx.y;
    if (!memory.valid[frame]) {
        return;
    }
    const row_weights<Lattice> weights(g);
    const frame_input in(g, memory.input, frame);
    const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const unsigned warps = blockDim.x / 32;
    const int M = g.window;
    const unsigned changes = memory.changes(g);
    const Metric* const alpha = memory.alpha + memory.metric_at(g, frame, i);
    const Metric* const beta = memory.beta + memory.metric_at(g, frame, i + 1);
    for (unsigned first = 0; first < g.q; first += 32) {
        const unsigned D = first + lane;
        const bool there = D < g.q;
        Metric L = 0;
        const auto add = [&](int m, unsigned k, Lattice R) {
            const int to = m + g.change_first + int(k);
            if (to >= 0 && to < M) {
                L += alpha[m] * beta[to] * Metric(R);
            }
        };
        if (memory.branches) {
            for (int m = warp; m < M; m += warps) {
                const Lattice* const branch = memory.branch(g, frame, i, m);
                for (unsigned k = 0; there && k < changes; ++k) {
                    add(m, k, branch[std::size_t(k) * g.q + D]);
                }
            }
        } else {
            const auto* word = memory.words + (std::size_t(i % g.frame_symbols) * g.q +
                                               (there ? D : 0)) *
                                                  memory.words_per_word;
            constexpr int B = posterior_batch;
            corridor_items<N, Lattice> items(g, B, items_memory + warp * items_bytes);
            for (int m0 = warp * B; m0 < M; m0 += warps * B) {
                items.fill(g, weights, in, i, m0, B);
                for (int m = m0; m < min(M, m0 + B); ++m) {
                    corridor_lattice<N, Lattice>::run(
                        g, weights, word, items, m - m0, [&](unsigned k, Lattice R) {
                            add(m, k, R);
                        });
                }
            }
        }
        if (there) {
            parts[warp * g.q + D] = L;
        }
    }
    __syncthreads();
    const double prior_sum =
        g.priors ? memory.prior_sums[std::size_t(frame) * g.outputs + i] : 0;
    for (unsigned D = threadIdx.x; D < g.q; D += blockDim.x) {
        Metric L = 0;
        for (unsigned w = 0; w < warps; ++w) {
            L += parts[w * g.q + D];
        }
        if (g.priors && prior_sum > 0 && !isinf(prior_sum)) {
            L *= in.prior(g, i, D) / prior_sum;
        }
        parts[D] = L;
    }
    emit_symbol(g, in, i, parts, scratch, memory.output + g.output_bytes * frame);
}

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_CUDA_CORRIDOR_CUH */
