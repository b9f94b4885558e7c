// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Demapping. Frames are read two or three times from device memory, which costs little
 * beside their way there; what must be known of a frame as a whole is added up between.
 * Compiled without contraction, so that doubles come out as on the CPU. */

#include "cuda_steps.cuh"
#include "cuda_symbols.h"
#include <algorithm>
#include <vector>

namespace gr::gpufec::ldpc {
namespace device {

namespace symbols {

constexpr unsigned most_tables = 64;

// What is known of a frame so far.
struct frame_state {
    std::uint32_t largest; // of the magnitudes of its parts: bits of a float
    std::uint32_t done;
    std::int32_t table; // of the store; −1: none
    float part_factor, cell_factor;
    demap::level_search search;
    unsigned long long squares, fourth, errors;
};

// Tables, by constellation and level together: a key.
struct table_store {
    std::uint32_t tables, keys;
    std::uint32_t round; // of taking and giving tables
    std::uint32_t missing, made;
    std::uint32_t next; // that may be given away
    std::int32_t key[most_tables];
    std::uint32_t needed[most_tables]; // in this round
    std::int32_t wanted[most_tables];  // keys that no table is of
    std::int32_t to_make[most_tables];
};

} // namespace symbols

namespace {

using namespace symbols;
using demap::levels;
using demap::model;

constexpr unsigned threads = 256;
constexpr unsigned most_blocks = 8; // of a frame
constexpr unsigned cells = demap::side * demap::side;

struct symbol_arguments {
    const model* models;
    frame_state* states;
    table_store* store;
    std::int32_t* table_of_key; // −1: none
    std::uint32_t* round_of_key;
    // Of each table: LLRs of cells, a byte per bit; of a line those of its cells.
    std::uint64_t* llr;
    std::uint16_t* errors;
    std::uint32_t words; // of a table
    demap::method how;
    const raw_frame* frames;
    std::uint32_t count;
    const std::uint8_t* raw;
    std::uint8_t* input;
};

__device__ unsigned largest_of_warp(unsigned x)
{
    for (unsigned distance = 16; distance > 0; distance /= 2) {
        const unsigned other = __shfl_xor_sync(~0u, x, distance);
        x = other > x ? other : x;
    }
    return x;
}

__device__ unsigned long long sum_over_warp(unsigned long long x)
{
    for (unsigned distance = 16; distance > 0; distance /= 2) {
        x += __shfl_xor_sync(~0u, x, distance);
    }
    return x;
}

template <class Part>
__global__ void find_largest(symbol_arguments a)
{
    const raw_frame f = a.frames[blockIdx.y];
    const auto* const parts = reinterpret_cast<const Part*>(a.raw + f.from);
    const unsigned count = 2 * a.models[f.constellation].symbols(f.values);
    float largest = 0;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += gridDim.x * blockDim.x) {
        const float x = demap::value_of(parts[i]);
        largest = fmaxf(largest, x < 0 ? -x : x);
    }
    // Bits of floats from 0 on are in the order of these.
    const unsigned bits = largest_of_warp(unsigned(__float_as_int(largest)));
    if (threadIdx.x % 32 == 0) {
        atomicMax(&a.states[blockIdx.y].largest, bits);
    }
}

template <class Part>
__global__ void add_up(symbol_arguments a)
{
    const raw_frame f = a.frames[blockIdx.y];
    const auto* const parts = reinterpret_cast<const Part*>(a.raw + f.from);
    auto& state = a.states[blockIdx.y];
    const unsigned count = a.models[f.constellation].symbols(f.values);
    const float factor = demap::integer_factor(__int_as_float(int(state.largest)));
    demap::moments sums;
    for (unsigned s = blockIdx.x * blockDim.x + threadIdx.x; s < count;
         s += gridDim.x * blockDim.x) {
        sums.add(demap::integer_part(demap::value_of(parts[2 * s]), factor),
                 demap::integer_part(demap::value_of(parts[2 * s + 1]), factor));
    }
    const auto squares = sum_over_warp(sums.squares), fourth = sum_over_warp(sums.fourth);
    if (threadIdx.x % 32 == 0) {
        atomicAdd(&state.squares, squares);
        atomicAdd(&state.fourth, fourth);
    }
}

// The level of a frame in its next pass; or it is done.
__device__ void choose_level(const raw_frame& f, frame_state& state, const model& m)
{
    const demap::moments sums{ state.squares, state.fourth };
    const auto symbols = m.symbols(f.values);
    auto& search = state.search;
    if (search.passes == 0) {
        state.part_factor = demap::integer_factor(__int_as_float(int(state.largest)));
        search.begin(f.level == demap::estimated ? demap::estimate_level(sums, symbols, m)
                                                 : f.level);
    } else if (f.level != demap::estimated || !m.refines() ||
               !search.go_on(state.errors, symbols)) {
        state.done = 1;
        return;
    }
    state.cell_factor = demap::cell_rule::of(sums, symbols, m, search.level).factor;
    state.errors = 0;
}

__device__ unsigned key_of(const raw_frame& f, const frame_state& state)
{
    return f.constellation * levels + unsigned(state.search.level - demap::first_level);
}

// One block: levels, and which tables are to be made.
__global__ void choose(symbol_arguments a)
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

__device__ __noinline__ std::uint64_t
make_llr(const model& m, int level, demap::method how, int i, int q, std::uint16_t& error)
{
    const auto cell = demap::make_cell(m, level, how, i, q);
    std::uint64_t word = 0;
    for (unsigned b = 0; b < m.bits; ++b) {
        word |= std::uint64_t(std::uint8_t(cell.llr[b])) << 8 * b;
    }
    error = cell.error;
    return word;
}

// Blocks take rows of the tables that are to be made.
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
        if (m.refines()) {
            a.errors[std::size_t(table) * cells + at] = error;
        }
    }
}

// Four symbols per thread.
template <class Part, class To>
__global__ void look_up(symbol_arguments a)
{
    auto& state = a.states[blockIdx.y];
    if (state.done) {
        return;
    }
    const raw_frame f = a.frames[blockIdx.y];
    const auto& m = a.models[f.constellation];
    const unsigned count = m.symbols(f.values), bits = m.bits;
    const bool line = m.is_line(), adds = m.refines() && f.level == demap::estimated;
    const float part_factor = state.part_factor;
    const demap::cell_rule rule{ state.cell_factor };
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
    const auto* const from = reinterpret_cast<const symbol*>(a.raw + f.from);
    // Columns begin at whole vectors, and none goes beyond the frame.
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
            const int i = rule(demap::integer_part(demap::value_of(s.i), part_factor));
            const int q = rule(demap::integer_part(demap::value_of(s.q), part_factor));
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
                sum += adds ? errors[at] : 0;
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
    if (adds) { // the same for all threads
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

unsigned multiprocessors_here()
{
    int device = 0, count = 0;
    cuda::check(cudaGetDevice(&device), "cudaGetDevice");
    cuda::check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device),
                "device attribute");
    return unsigned(std::max(1, count));
}

// For four symbols per thread of the longest frame.
unsigned blocks_for(const setup& s)
{
    std::size_t symbols = s.codes.empty() ? 4 * threads * most_blocks : 0;
    for (const auto& code : s.codes) {
        for (unsigned c = 0; c < s.constellations.size(); ++c) {
            symbols = std::max(symbols, s.raw_values(code, c));
        }
    }
    return unsigned(std::clamp<std::size_t>(symbols / (4 * threads), 1, most_blocks));
}

bool any(const std::vector<model>& models, bool (model::*is)() const)
{
    return std::any_of(
        models.begin(), models.end(), [is](const auto& m) { return (m.*is)(); });
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
        : refines(any(models, &model::refines)),
          words(std::all_of(models.begin(),
                            models.end(),
                            [](const auto& m) { return m.is_line(); })
                    ? demap::side / sizeof(std::uint64_t)
                    : cells),
          format(*s.symbols),
          precision(s.precision),
          how(s.demapper),
          multiprocessors(multiprocessors_here()),
          blocks(blocks_for(s)),
          models_there(cuda::uploaded(models, "constellations")),
          states(codewords),
          store(cuda::uploaded(
              std::vector<table_store>{ empty_store(count, models.size() * levels) },
              "tables of cells")),
          table_of_key(cuda::uploaded(
              std::vector<std::int32_t>(models.size() * levels, -1), "tables of cells")),
          round_of_key(cuda::uploaded(
              std::vector<std::uint32_t>(models.size() * levels, 0), "tables of cells")),
          llr(std::size_t(count) * words),
          errors(refines ? std::size_t(count) * cells : 1)
    {
        states.clear();
    }

    const bool refines; // any of them
    const std::uint32_t words;
    const demap::symbol_format format;
    const ldpc_precision precision;
    const demap::method how;
    const unsigned multiprocessors, blocks;
    const cuda::buffer<model> models_there;
    cuda::buffer<frame_state> states;
    const cuda::buffer<table_store> store;
    const cuda::buffer<std::int32_t> table_of_key;
    const cuda::buffer<std::uint32_t> round_of_key;
    const cuda::buffer<std::uint64_t> llr;
    const cuda::buffer<std::uint16_t> errors;
    const cuda::event last; // of the batch before, which may be on another stream
    bool any_before = false;
};

symbol_demapper::symbol_demapper(const setup& s, std::size_t codewords, unsigned tables)
    : d_memory(std::make_unique<memory>(
          s, codewords, std::min(std::max(tables, 1u), most_tables)))
{
}

symbol_demapper::~symbol_demapper() = default;

void symbol_demapper::launch(const raw_frame* frames,
                             std::uint32_t count,
                             const std::uint8_t* raw,
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
                              raw,
                              input };
    cuda::check(cudaMemsetAsync(m.states.get(), 0, count * sizeof(frame_state), stream),
                "memset");
    const dim3 each(m.blocks, count), one(1), rows(4 * m.multiprocessors);
    const auto run = [&](auto part, auto to) {
        using Part = decltype(part);
        using To = decltype(to);
        const auto largest = &find_largest<Part>;
        const auto add = &add_up<Part>;
        const auto look = &look_up<Part, To>;
        const auto next = &choose;
        const auto make = &make_tables;
        largest<<<each, threads, 0, stream>>>(a);
        add<<<each, threads, 0, stream>>>(a);
        for (unsigned pass = 0; pass < (m.refines ? demap::most_passes : 1); ++pass) {
            next<<<one, threads, 0, stream>>>(a);
            make<<<rows, threads, 0, stream>>>(a);
            look<<<each, threads, 0, stream>>>(a);
        }
    };
    const auto run_from = [&](auto part) {
        switch (m.precision) {
        case ldpc_precision::int8:
            return run(part, std::int8_t());
        case ldpc_precision::int16:
            return run(part, std::int16_t());
        default:
            return run(part, float());
        }
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
    m.any_before = true;
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
