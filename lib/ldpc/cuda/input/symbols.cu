// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Demapping of frames on the device. A level is a quantised Es/N0. A table has the LLRs
 * of all cells of the I/Q plane for one constellation and level (demap/rule.h). One
 * kernel samples each frame to find its scale, and another sums its moments. Then each
 * pass chooses levels, makes tables and demaps frames. Constellations with several radii
 * need several passes. The file is compiled without fused multiply-adds, so that doubles
 * are the same as on the CPU. */

#include "ldpc/cuda/steps.cuh"
#include "ldpc/model/value_types.h"
#include "symbols.h"
#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

namespace gr::gpufec::ldpc {
namespace device {

namespace symbols {

constexpr unsigned max_tables = 64;

// State of a frame that is passed from kernel to kernel.
struct frame_state {
    demap::integer_rule integers;
    std::uint32_t done;
    std::int32_t table; // index of the frame's table in the store, or −1
    demap::frame_moments sums;
    double fading;
    demap::cell_rule rule[demap::frame_parts];
    demap::level_search search;
    unsigned long long errors;
};

// The store of tables. A key identifies a constellation and a level.
struct table_store {
    std::uint32_t tables, keys;
    std::uint32_t round; // number of launches of choose()
    std::uint32_t missing, made;
    std::uint32_t next; // index of the table that is considered next for a new key
    std::int32_t key[max_tables];
    std::uint32_t needed[max_tables]; // last round in which frames needed the table
    std::int32_t wanted[max_tables];  // keys that frames need and that have no table
    std::int32_t to_make[max_tables];
};

} // namespace symbols

// Returns the shared memory for the numbers of samples per energy class and per warp.
__device__ inline std::uint32_t* shared_classes()
{
    extern __shared__ uint4 shared_memory[];
    return reinterpret_cast<std::uint32_t*>(shared_memory);
}

namespace {

using namespace symbols;
using demap::levels;
using demap::model;

constexpr unsigned threads = 256;
constexpr unsigned choice_threads = 1024; // number of threads of choose()
constexpr unsigned max_blocks = 16;       // largest number of thread blocks per frame
constexpr unsigned cells = demap::side * demap::side;
constexpr unsigned shared_bytes =
    sizeof(std::uint32_t) *
    ((demap::energy_classes::count + threads - 1) / threads * threads + threads / 32);

struct symbol_arguments {
    const model* models;
    frame_state* states;
    table_store* store;
    std::int32_t* table_of_key; // index of the table of each key, or −1
    std::uint32_t* round_of_key;
    // LLRs of the cells of each table, a byte per bit, and in the upper 16 bits
    // cell::error, unless LLRs occupy these bits. For constellations on a line, a table
    // has the cells of one axis.
    std::uint64_t* llr;
    std::uint16_t* errors; // cell::error of tables with more than 6 bits per symbol
    std::uint32_t words;   // number of words of LLRs per table
    demap::method how;
    const caller_frame* frames;
    std::uint32_t count;
    const std::uint8_t* caller_format;
    std::uint8_t* input;
};

__device__ unsigned long long sum_over_warp(unsigned long long x)
{
    for (unsigned distance = 16; distance > 0; distance /= 2) {
        x += __shfl_xor_sync(~0u, x, distance);
    }
    return x;
}

// Finds a frame's scale with one block, which counts samples by energy class in shared
// memory. Each thread then sums a range of classes, and the thread whose range contains
// the quartile sets the rule.
template <class Part>
__global__ void find_scale(symbol_arguments a)
{
    using demap::energy_classes;
    constexpr unsigned per_thread = (energy_classes::count + threads - 1) / threads;
    auto* const classes = shared_classes();
    auto* const warps = classes + per_thread * threads;
    for (unsigned k = 0; k < per_thread; ++k) {
        classes[k * threads + threadIdx.x] = 0;
    }
    __syncthreads();
    const caller_frame f = a.frames[blockIdx.x];
    const auto* const parts = reinterpret_cast<const Part*>(a.caller_format + f.from);
    const unsigned count = a.models[f.constellation].symbols(f.values);
    const demap::scale_samples samples(count);
    for (unsigned n = threadIdx.x; n < samples.count; n += threads) {
        const unsigned s = samples(n);
        if (s < count) {
            const auto c = energy_classes::of(demap::value_of(parts[2 * s]),
                                              demap::value_of(parts[2 * s + 1]));
            if (c > 0) {
                atomicAdd(&classes[c], 1u);
            }
        }
    }
    __syncthreads();
    const unsigned first = per_thread * threadIdx.x, lane = threadIdx.x % 32;
    unsigned own = 0;
    for (unsigned k = 0; k < per_thread; ++k) {
        own += classes[first + k];
    }
    unsigned before = own; // the sum includes `own` until it is subtracted below
    for (unsigned distance = 1; distance < 32; distance *= 2) {
        const unsigned lower = __shfl_up_sync(~0u, before, distance);
        before += lane >= distance ? lower : 0;
    }
    if (lane == 31) {
        warps[threadIdx.x / 32] = before;
    }
    __syncthreads();
    before -= own;
    unsigned all = 0;
    for (unsigned w = 0; w < threads / 32; ++w) {
        before += w < threadIdx.x / 32 ? warps[w] : 0;
        all += warps[w];
    }
    if (!demap::has_quartile(before, own, all)) {
        return;
    }
    for (unsigned c = first; c < first + per_thread; before += classes[c++]) {
        if (demap::has_quartile(before, classes[c], all)) {
            a.states[blockIdx.x].integers =
                demap::integer_rule::of(c, before, classes[c], all);
        }
    }
}

// Sums the moments of a frame. Each thread block sums a part of the frame.
template <class Part>
__global__ void add_up(symbol_arguments a)
{
    const caller_frame f = a.frames[blockIdx.y];
    const auto* const parts = reinterpret_cast<const Part*>(a.caller_format + f.from);
    auto& state = a.states[blockIdx.y];
    const unsigned count = a.models[f.constellation].symbols(f.values);
    const unsigned length = demap::part_length(count), first = blockIdx.x * length;
    const unsigned end = first + length < count ? first + length : count;
    const demap::integer_rule rule = state.integers;
    demap::moments sums;
    for (unsigned s = first + threadIdx.x; s < end; s += blockDim.x) {
        const auto energy = demap::integer_rule::energy(
            rule(demap::value_of(parts[2 * s])), rule(demap::value_of(parts[2 * s + 1])));
        if (!rule.erases(energy)) {
            sums.add(energy);
        }
    }
    // std::uint64_t may differ from atomicAdd()'s type of the same size.
    using word = unsigned long long;
    const word squares = sum_over_warp(sums.squares), fourth = sum_over_warp(sums.fourth);
    const auto symbols = unsigned(sum_over_warp(sums.symbols));
    if (threadIdx.x % 32 == 0) {
        auto& to = state.sums.part[blockIdx.x];
        atomicAdd(reinterpret_cast<word*>(&to.squares), squares);
        atomicAdd(reinterpret_cast<word*>(&to.fourth), fourth);
        atomicAdd(&to.symbols, symbols);
    }
}

// Sets the level of a frame for its next pass, or marks the frame as done.
__device__ void choose_level(const caller_frame& f, frame_state& state, const model& m)
{
    const auto& sums = state.sums;
    auto& search = state.search;
    if (search.passes == 0) {
        state.fading = sums.fading();
        search.begin(f.level == demap::estimated
                         ? demap::estimate_level(sums, state.fading, m)
                         : f.level);
    } else if (f.level != demap::estimated || !m.refines() ||
               !search.go_on(state.errors, sums.whole().symbols)) {
        state.done = 1;
        return;
    }
    // Without fading, all parts use the first rule.
    for (unsigned part = 0; part < (state.fading > 0 ? demap::frame_parts : 1); ++part) {
        state.rule[part] =
            demap::cell_rule::of(sums, part, state.fading, m, search.level);
    }
    state.errors = 0;
}

__device__ unsigned key_of(const caller_frame& f, const frame_state& state)
{
    return f.constellation * levels + unsigned(state.search.level - demap::first_level);
}

// Chooses the levels of frames and the tables to make. Must be launched with one block.
__global__ void __launch_bounds__(choice_threads) choose(symbol_arguments a)
{
    auto& store = *a.store;
    if (threadIdx.x == 0) {
        ++store.round;
        store.missing = store.made = 0;
    }
    __syncthreads();
    for (unsigned n = threadIdx.x; n < a.count; n += blockDim.x) {
        const auto& f = a.frames[n];
        auto& state = a.states[n];
        if (!state.done) {
            choose_level(f, state, a.models[f.constellation]);
        }
        if (!state.done) {
            const auto key = key_of(f, state);
            const auto table = a.table_of_key[key];
            if (table >= 0) {
                store.needed[table] = store.round;
            } else {
                a.round_of_key[key] = store.round;
            }
        }
    }
    __syncthreads();
    for (unsigned key = threadIdx.x; key < store.keys; key += blockDim.x) {
        if (a.round_of_key[key] == store.round) {
            const auto n = atomicAdd(&store.missing, 1u);
            if (n < store.tables) {
                store.wanted[n] = int(key);
            }
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        const auto missing = store.missing < store.tables ? store.missing : store.tables;
        for (unsigned looked = 0; looked < store.tables && store.made < missing;
             ++looked) {
            const auto table = store.next;
            store.next = (table + 1) % store.tables;
            if (store.needed[table] == store.round) {
                continue;
            }
            const auto key = store.wanted[store.made];
            if (store.key[table] >= 0) {
                a.table_of_key[store.key[table]] = -1;
            }
            store.key[table] = key;
            a.table_of_key[key] = int(table);
            store.to_make[store.made++] = int(table);
        }
    }
    __syncthreads();
    for (unsigned n = threadIdx.x; n < a.count; n += blockDim.x) {
        auto& state = a.states[n];
        if (!state.done) {
            state.table = a.table_of_key[key_of(a.frames[n], state)];
        }
    }
}

// Returns whether the words of a table contain cell::error.
__host__ __device__ bool error_in_word(const model& m) { return m.bits <= 6; }

__device__ __noinline__ std::uint64_t
make_llr(const model& m, int level, demap::method how, int i, int q, std::uint16_t& error)
{
    const auto cell = demap::make_cell(m, level, how, i, q);
    std::uint64_t word = 0;
    for (unsigned b = 0; b < m.bits; ++b) {
        word |= std::uint64_t(std::uint8_t(cell.llr[b])) << 8 * b;
    }
    error = cell.error;
    return error_in_word(m) ? word | std::uint64_t(error) << 48 : word;
}

// Makes the chosen tables; a block makes one row at a time.
__global__ void make_tables(symbol_arguments a)
{
    const auto& store = *a.store;
    const int q = int(threadIdx.x) - 127;
    if (q > 127) {
        return;
    }
    for (unsigned row = blockIdx.x; row < store.made * 255; row += gridDim.x) {
        const auto table = store.to_make[row / 255];
        const int i = int(row % 255) - 127;
        const auto& m = a.models[store.key[table] / levels];
        const int level = store.key[table] % levels + demap::first_level;
        auto* const llr = a.llr + std::size_t(table) * a.words;
        if (m.is_line()) {
            if (i == 0) {
                reinterpret_cast<std::int8_t*>(llr)[q & 255] =
                    demap::make_line_cell(m, level, q);
            }
            continue;
        }
        std::uint16_t error;
        const auto at = demap::cell_index(i, q);
        llr[at] = make_llr(m, level, a.how, i, q, error);
        if (m.refines() && !error_in_word(m)) {
            a.errors[std::size_t(table) * cells + at] = error;
        }
    }
}

// Demaps a frame, four symbols per thread at a time. Does nothing for a frame that is
// done.
template <class Part, class To>
__global__ void look_up(symbol_arguments a)
{
    auto& state = a.states[blockIdx.y];
    if (state.done) {
        return;
    }
    const caller_frame f = a.frames[blockIdx.y];
    const auto& m = a.models[f.constellation];
    const unsigned count = m.symbols(f.values), bits = m.bits;
    const bool line = m.is_line(), adds = m.refines() && f.level == demap::estimated;
    const demap::integer_rule integers = state.integers;
    const bool fades = state.fading > 0;
    const unsigned length = demap::part_length(count);
    const demap::cell_rule one_rule = state.rule[0];
    const int table = state.table, level = state.search.level;
    const auto* const llr = a.llr + std::size_t(table < 0 ? 0 : table) * a.words;
    const auto* const errors = a.errors + std::size_t(table < 0 ? 0 : table) * cells;
    auto* const to = reinterpret_cast<To*>(a.input + f.to);
    struct alignas(2 * sizeof(Part)) symbol {
        Part i, q;
    };
    struct alignas(4 * sizeof(To)) four {
        To x[4];
    };
    const auto* const from = reinterpret_cast<const symbol*>(a.caller_format + f.from);
    // Four values are written together if the interleaver's columns consist of whole
    // groups of four and end within the frame.
    const bool vectors = count % 4 == 0 && count * bits == f.values;
    unsigned long long sum = 0;
    for (unsigned first = 4 * (blockIdx.x * blockDim.x + threadIdx.x); first < count;
         first += 4 * gridDim.x * blockDim.x) {
        const unsigned n = count - first < 4 ? count - first : 4;
        std::uint64_t word[4];
#pragma unroll
        for (unsigned k = 0; k < 4; ++k) {
            word[k] = 0;
            if (k >= n) {
                continue;
            }
            const symbol s = from[first + k];
            const auto x = integers(demap::value_of(s.i)),
                       y = integers(demap::value_of(s.q));
            const auto rule = fades ? state.rule[(first + k) / length] : one_rule;
            if (integers.erases(demap::integer_rule::energy(x, y)) || rule.factor == 0) {
                continue;
            }
            const int i = rule(x), q = rule(y);
            if (table < 0) {
                std::uint16_t error;
                word[k] = make_llr(m, level, a.how, i, q, error);
                sum += adds ? error : 0;
            } else if (line) {
                const auto* const bytes = reinterpret_cast<const std::uint8_t*>(llr);
                word[k] = bytes[i & 255] | unsigned(bytes[q & 255]) << 8;
            } else {
                const auto at = demap::cell_index(i, q);
                word[k] = llr[at];
                sum += !adds ? 0 : error_in_word(m) ? word[k] >> 48 : errors[at];
            }
        }
        const auto step = [&](unsigned k, unsigned b) {
            return step_of<To>(float(std::int8_t(word[k] >> 8 * b)), f.factor, f.limit);
        };
        if (vectors && line) {
            four low, high;
#pragma unroll
            for (unsigned k = 0; k < 4; ++k) {
                low.x[k] = step(k / 2, k % 2);
                high.x[k] = step(2 + k / 2, k % 2);
            }
            *reinterpret_cast<four*>(to + 2 * first) = low;
            *reinterpret_cast<four*>(to + 2 * first + 4) = high;
        } else if (vectors) {
            for (unsigned b = 0; b < bits; ++b) {
                four out;
#pragma unroll
                for (unsigned k = 0; k < 4; ++k) {
                    out.x[k] = step(k, b);
                }
                *reinterpret_cast<four*>(to + m.column[b] * count + first) = out;
            }
        } else {
            for (unsigned b = 0; b < bits; ++b) {
#pragma unroll
                for (unsigned k = 0; k < 4; ++k) {
                    const auto place = m.place(first + k, b, count);
                    if (k < n && place < f.values) {
                        to[place] = step(k, b);
                    }
                }
            }
        }
    }
    if (adds) { // the condition is the same for all threads
        sum = sum_over_warp(sum);
        if (threadIdx.x % 32 == 0) {
            atomicAdd(&state.errors, sum);
        }
    }
}

std::vector<model> models_of(const setup& s)
{
    std::vector<model> models;
    for (const auto& c : s.constellations) {
        models.push_back(demap::make_model(c));
    }
    return models;
}

table_store empty_store(unsigned tables, std::size_t keys)
{
    table_store s{};
    s.tables = tables;
    s.keys = std::uint32_t(keys);
    std::fill(std::begin(s.key), std::end(s.key), -1);
    return s;
}

// Returns the number of blocks per frame, 1 to max_blocks. If possible, each thread has
// at most four symbols of the longest frame.
unsigned blocks_for(const setup& s)
{
    std::size_t symbols = s.codes.empty() ? 4 * threads * max_blocks : 0;
    for (const auto& code : s.codes) {
        for (unsigned c = 0; c < s.constellations.size(); ++c) {
            symbols = std::max(symbols, s.caller_values(code, c));
        }
    }
    const auto most = 4 * threads; // symbols of a block
    return unsigned(std::clamp<std::size_t>((symbols + most - 1) / most, 1, max_blocks));
}

template <class Is>
bool any(const std::vector<model>& models, Is&& is)
{
    return std::any_of(models.begin(), models.end(), is);
}

} // namespace

struct symbol_demapper::memory {
    memory(const setup& s, std::size_t codewords, unsigned tables)
        : memory(s, models_of(s), codewords, tables)
    {
    }

    memory(const setup& s,
           const std::vector<model>& models,
           std::size_t codewords,
           unsigned count)
        : refines(any(models, std::mem_fn(&model::refines))),
          words(std::all_of(models.begin(),
                            models.end(),
                            [](const auto& m) { return m.is_line(); })
                    ? demap::side / sizeof(std::uint64_t)
                    : cells),
          format(*s.symbols),
          precision(s.precision),
          how(s.demapper),
          multiprocessors(cuda::multiprocessors()),
          blocks(blocks_for(s)),
          models_there(cuda::uploaded(models, "constellations")),
          states(codewords),
          empty(empty_store(count, models.size() * levels)),
          store(1),
          table_of_key(models.size() * levels),
          round_of_key(models.size() * levels),
          llr(std::size_t(count) * words),
          errors(
              any(models, [](const model& m) { return m.refines() && !error_in_word(m); })
                  ? std::size_t(count) * cells
                  : 1)
    {
        states.clear();
    }

    // Enqueues the removal of all tables of cells.
    void drop_tables(cudaStream_t stream)
    {
        const char* const what = "tables of cells";
        cuda::check(
            cudaMemcpyAsync(
                store.get(), &empty, sizeof(empty), cudaMemcpyHostToDevice, stream),
            what);
        cuda::check(
            cudaMemsetAsync(table_of_key.get(), 0xff, table_of_key.bytes(), stream),
            what);
        cuda::check(cudaMemsetAsync(round_of_key.get(), 0, round_of_key.bytes(), stream),
                    what);
    }

    const bool refines; // whether any constellation needs several passes
    const std::uint32_t words;
    const demap::symbol_format format;
    const ldpc_precision precision;
    const demap::method how;
    const unsigned multiprocessors, blocks;
    const cuda::buffer<model> models_there;
    cuda::buffer<frame_state> states;
    const table_store empty; // contents of `store` before the first batch
    const cuda::buffer<table_store> store;
    const cuda::buffer<std::int32_t> table_of_key;
    const cuda::buffer<std::uint32_t> round_of_key;
    const cuda::buffer<std::uint64_t> llr;
    const cuda::buffer<std::uint16_t> errors;
    // Records the end of the previous batch, which may be on another stream.
    const cuda::event last;
    bool any_before = false;
    // Whether the tables of cells are those that `store` lists. After a failed launch,
    // `store` may list tables that were not made.
    bool tables_valid = false;
};

symbol_demapper::symbol_demapper(const setup& s, std::size_t codewords, unsigned tables)
    : d_memory(std::make_unique<memory>(
          s, codewords, std::min(std::max(tables, 1u), max_tables)))
{
}

symbol_demapper::~symbol_demapper() = default;

void symbol_demapper::launch(const caller_frame* frames,
                             std::uint32_t count,
                             const std::uint8_t* caller_format,
                             std::uint8_t* input,
                             cudaStream_t stream)
{
    auto& m = *d_memory;
    if (m.any_before) {
        cuda::check(cudaStreamWaitEvent(stream, m.last.get(), 0), "event");
    }
    const symbol_arguments a{ m.models_there.get(),
                              m.states.get(),
                              m.store.get(),
                              m.table_of_key.get(),
                              m.round_of_key.get(),
                              m.llr.get(),
                              m.errors.get(),
                              m.words,
                              m.how,
                              frames,
                              count,
                              caller_format,
                              input };
    if (!std::exchange(m.tables_valid, false)) {
        m.drop_tables(stream);
    }
    cuda::check(cudaMemsetAsync(m.states.get(), 0, count * sizeof(frame_state), stream),
                "memset");
    const dim3 blocks(m.blocks, count), parts(demap::frame_parts, count);
    const dim3 frames_alone(count), one(1), rows(4 * m.multiprocessors);
    const auto run = [&](auto part, auto to) {
        using Part = decltype(part);
        using To = decltype(to);
        const auto scale = &find_scale<Part>;
        const auto add = &add_up<Part>;
        const auto look = &look_up<Part, To>;
        const auto next = &choose;
        const auto make = &make_tables;
        scale<<<frames_alone, threads, shared_bytes, stream>>>(a);
        add<<<parts, threads, 0, stream>>>(a);
        for (unsigned pass = 0; pass < (m.refines ? demap::max_passes : 1); ++pass) {
            next<<<one, choice_threads, 0, stream>>>(a);
            make<<<rows, threads, 0, stream>>>(a);
            look<<<blocks, threads, 0, stream>>>(a);
        }
    };
    const auto run_from = [&](auto part) {
        with_channel_value(m.precision, [&](auto to) { run(part, to); });
    };
    switch (m.format) {
    case demap::symbol_format::float32:
        run_from(float());
        break;
    case demap::symbol_format::int16:
        run_from(std::int16_t());
        break;
    default:
        run_from(std::int8_t());
    }
    cuda::check(cudaGetLastError(), "kernel launch");
    cuda::check(cudaEventRecord(m.last.get(), stream), "event");
    m.any_before = m.tables_valid = true;
}

symbol_demapper::outcome symbol_demapper::of(std::uint32_t index) const
{
    frame_state state;
    cuda::check(cudaMemcpy(&state,
                           d_memory->states.get() + index,
                           sizeof(state),
                           cudaMemcpyDeviceToHost),
                "copy");
    return { state.search.level, state.search.passes };
}

} // namespace device
} // namespace gr::gpufec::ldpc
