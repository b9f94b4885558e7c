// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Launch plan for codes without structure in int8: makes a code's table, and chooses and
 * launches the kernel. */

#include "ldpc/cuda/dvb_int8x2/plan.h"
#include "unstructured_int8x2.cuh"
#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

namespace gr::gpufec::ldpc {
namespace device {

namespace {

using unstructured_int8x2::lanes;

using unstructured_kernel_function = void (*)(unstructured_table, int8x2_arguments);

struct unstructured_variant {
    unstructured_kernel_function kernel = nullptr;
    unstructured_kernel_function external = nullptr; // the kernel with some posteriors in
                                                     // device memory
    unsigned max_degree = 0;
    unsigned max_warps = 0; // number of warps per multiprocessor for which registers
                            // suffice
};

template <unsigned MaxDegree, unsigned Warps>
unstructured_variant variant()
{
    using unstructured_int8x2::decode_unstructured_int8x2;
    return { decode_unstructured_int8x2<MaxDegree, Warps * lanes, false>,
             decode_unstructured_int8x2<MaxDegree, Warps * lanes, true>,
             MaxDegree,
             Warps };
}

unstructured_variant choose(unsigned degree)
{
    return degree <= 8    ? variant<8, 32>()
           : degree <= 10 ? variant<10, 24>()
           : degree <= 12 ? variant<12, 24>()
           : degree <= 20 ? variant<20, 20>()
           : degree <= 32 ? variant<32, 16>()
                          : unstructured_variant{};
}

// A unit (see unstructured_int8x2.cuh) of up to 32 checks of a layer. Indices of bits
// from spare_bit on refer to spare places.
struct unit {
    std::vector<std::array<std::uint32_t, 32>> bits; // bits of each lane's check
    unsigned degree = 0; // number of edges per check, including edges to spare places
};
constexpr std::uint32_t spare_bit = 1u << 16;

constexpr unsigned banks = 32; // number of banks of shared memory

// Orders the edges of each check to reduce bank conflicts in shared memory. Edges to
// variable nodes with index \p shared or more, whose posteriors are in device memory,
// come last.
void arrange(unit& u, unsigned shared)
{
    constexpr unsigned rounds = 6;
    std::vector<std::array<int, banks>> count(u.degree);
    for (auto& c : count) {
        c.fill(0);
    }
    const auto is_shared = [shared](std::uint32_t bit) {
        return bit < shared || bit >= spare_bit;
    };
    for (auto& check : u.bits) {
        std::stable_partition(check.begin(), check.begin() + u.degree, is_shared);
        for (unsigned e = 0; e < u.degree && is_shared(check[e]); ++e) {
            ++count[e][check[e] % banks];
        }
    }
    const auto cost = [](int n) { return n * n * n; };
    for (unsigned round = 0; round < rounds; ++round) {
        for (auto& check : u.bits) {
            for (unsigned e = 1; e < u.degree && is_shared(check[e]); ++e) {
                for (unsigned f = 0; f < e; ++f) {
                    const auto a = check[e] % banks, b = check[f] % banks;
                    int* const own[] = { &count[e][a], &count[f][b] };
                    int* const other[] = { &count[e][b], &count[f][a] };
                    int gain = 0;
                    for (unsigned i = 0; i < 2; ++i) {
                        gain += cost(*own[i]) - cost(*own[i] - 1) + cost(*other[i]) -
                                cost(*other[i] + 1);
                    }
                    if (a != b && gain >= 0) {
                        for (unsigned i = 0; i < 2; ++i) {
                            --*own[i];
                            ++*other[i];
                        }
                        std::swap(check[e], check[f]);
                    }
                }
            }
        }
    }
}

// Orders the checks of a layer, so that few bits of a unit are in one bank. Checks of
// equal degree remain adjacent. The order is greedy, so the checks with the most bank
// conflicts remain for the last units. A layer of fewer checks than \c window is
// therefore not reordered.
void gather(const layer_plan& plan, std::vector<std::uint32_t>& checks)
{
    constexpr unsigned window = 256; // number of remaining checks that are compared
    if (checks.size() < window) {
        return;
    }
    const auto degree_of = [&plan](std::uint32_t i) {
        return plan.edge_begin[i + 1] - plan.edge_begin[i];
    };
    std::array<int, banks> count{};
    for (unsigned at = 0; at < checks.size(); ++at) {
        if (at % lanes == 0) {
            count.fill(0);
        }
        // The cost of a bank is the fourth power of the number of its bits. One more bit
        // in a bank of v bits increases the cost by 4v³ + 6v² + 4v + 1. The sum omits the
        // constant, because all compared checks have the same degree.
        const auto added = [&](std::uint32_t check) {
            long long sum = 0;
            for (auto e = plan.edge_begin[check]; e < plan.edge_begin[check + 1]; ++e) {
                const long long v = count[plan.edges[e].bit % banks];
                sum += 4 * v * v * v + 6 * v * v + 4 * v;
            }
            return sum;
        };
        auto best = at;
        auto smallest = added(checks[at]);
        const auto end = std::min<std::size_t>(at + window, checks.size());
        for (auto i = at + 1; i < end && degree_of(checks[i]) == degree_of(checks[at]);
             ++i) {
            if (const auto sum = added(checks[i]); sum < smallest) {
                smallest = sum;
                best = i;
            }
        }
        std::swap(checks[at], checks[best]);
        for (auto e = plan.edge_begin[checks[at]]; e < plan.edge_begin[checks[at] + 1];
             ++e) {
            ++count[plan.edges[e].bit % banks];
        }
    }
}

// The units of a code's layers.
class host_table
{
public:
    static constexpr unsigned external_spare_places = 4;

    //! Makes the units for a kernel of up to \p max_degree edges. The first \p shared
    //! bits are in shared memory. If \p external is set, the others are in device memory.
    host_table(const layer_plan& plan,
               unsigned max_degree,
               unsigned shared,
               bool external)
        : d_max_degree(max_degree), d_shared(shared), d_external(external)
    {
        for (std::size_t l = 0; l < plan.layers(); ++l) {
            d_layer_begin.push_back(unit_count());
            add_layer(plan, plan.layer_begin[l], plan.layer_begin[l + 1]);
        }
        d_layer_begin.push_back(unit_count());
    }

    unsigned unit_count() const { return unsigned(d_units.size()); }
    unsigned shared() const { return d_shared; }
    unsigned spare_places() const { return d_spare; }
    unsigned degree() const // largest padded degree of all units
    {
        unsigned most = 0;
        for (const auto& u : d_units) {
            most = std::max(most, u.degree);
        }
        return most;
    }
    unsigned max_units() const // largest number of units in a layer
    {
        unsigned most = 0;
        for (std::size_t l = 0; l + 1 < d_layer_begin.size(); ++l) {
            most = std::max(most, d_layer_begin[l + 1] - d_layer_begin[l]);
        }
        return most;
    }

    //! Appends the steps for thread blocks of \p warps warps, and then two empty steps.
    //! Returns the number of steps that are not empty.
    unsigned add_steps(unsigned warps, std::vector<unstructured_table::step>& all) const
    {
        const auto before = all.size();
        for (std::size_t l = 0; l + 1 < d_layer_begin.size(); ++l) {
            for (auto u = d_layer_begin[l]; u < d_layer_begin[l + 1]; u += warps) {
                const auto units = std::min(warps, d_layer_begin[l + 1] - u);
                unsigned degree = 0;
                for (unsigned i = u; i < u + units; ++i) {
                    degree = std::max(degree, d_units[i].degree);
                }
                using step = unstructured_table::step;
                const bool same = all.size() > before && all.back().degree() == degree;
                all.push_back(
                    { u,
                      units << step::units_at |
                          std::uint32_t(u == d_layer_begin[l]) << step::barrier_at |
                          std::uint32_t(same) << step::same_at | degree });
            }
        }
        all.insert(all.end(), 2, unstructured_table::step{});
        return unsigned(all.size() - before - 2);
    }

    //! Returns the table of places. Bits in shared memory have the lowest places; spare
    //! places and then bits in device memory follow.
    std::vector<std::uint32_t> places() const
    {
        const auto place_of = [&](std::uint32_t bit) {
            return bit >= spare_bit  ? d_shared + bit - spare_bit
                   : bit >= d_shared ? bit + d_spare
                                     : bit;
        };
        const auto words = unstructured_int8x2::place_words(d_max_degree);
        std::vector<std::uint32_t> all(d_units.size() * lanes * words);
        auto* unit = all.data();
        for (const auto& u : d_units) {
            for (unsigned lane = 0; lane < lanes; ++lane) {
                for (unsigned w = 0; w < words; ++w) {
                    const auto* const two = &u.bits[lane][2 * w];
                    unit[unstructured_int8x2::place_at(d_max_degree, w, lane)] =
                        place_of(two[0]) | place_of(two[1]) << 16;
                }
            }
            unit += lanes * words;
        }
        return all;
    }

private:
    void add_layer(const layer_plan& plan, std::uint32_t begin, std::uint32_t end)
    {
        const auto degree_of = [&plan](unsigned i) {
            return plan.edge_begin[i + 1] - plan.edge_begin[i];
        };
        std::vector<std::uint32_t> order(end - begin);
        std::iota(order.begin(), order.end(), begin);
        const auto kind_of = [&](unsigned i) {
            const auto* const first = plan.edges.data() + plan.edge_begin[i];
            return std::make_pair(
                degree_of(i),
                std::count_if(first, first + degree_of(i), [this](const auto& e) {
                    return e.bit >= d_shared;
                }));
        };
        std::stable_sort(order.begin(), order.end(), [&](unsigned a, unsigned b) {
            return kind_of(a) > kind_of(b);
        });
        // Without reordering, bits that are adjacent in device memory are read together.
        if (!d_external) {
            gather(plan, order);
        }
        const auto padded = [&](unsigned check) {
            return unstructured_int8x2::padded_degree(degree_of(check), d_max_degree);
        };
        const auto degree = padded(order[0]);
        unsigned lacking = 0; // number of units so far that have their own spare places
        for (unsigned first = 0; first < order.size(); first += lanes) {
            const auto last = std::min<unsigned>(first + lanes, order.size());
            unit u;
            u.degree = padded(order[first]);
            // Within a layer, a lane writes only spare places of its own. The kernel with
            // posteriors in device memory does not write spare places.
            const bool lacks =
                last - first < lanes || degree_of(order[last - 1]) < degree;
            const auto own = spare_bit + lanes * (lacks ? lacking++ : 0);
            for (unsigned lane = 0; lane < lanes; ++lane) {
                u.bits.emplace_back();
                u.bits.back().fill(d_external ? spare_bit : own + lane);
                if (first + lane < last) {
                    const auto i = order[first + lane];
                    for (unsigned e = 0; e < degree_of(i); ++e) {
                        u.bits.back()[e] = plan.edges[plan.edge_begin[i] + e].bit;
                    }
                }
            }
            arrange(u, d_shared);
            d_units.push_back(std::move(u));
        }
        d_spare = d_external ? external_spare_places : std::max(d_spare, lanes * lacking);
    }

    unsigned d_max_degree, d_shared;
    bool d_external;
    std::vector<unit> d_units;
    // First unit of each layer, then the number of units.
    std::vector<unsigned> d_layer_begin;
    unsigned d_spare = lanes;
};

// A launch configuration; \c first and \c steps are its range in the array of steps.
struct unstructured_shape {
    unsigned warps;
    unsigned per_sm; // number of blocks per multiprocessor
    unsigned first, steps;
    std::size_t shared; // size of a block's shared memory in bytes
};

class unstructured_int8x2_plan : public int8x2_plan
{
public:
    unstructured_int8x2_plan(const host_table& made,
                             unsigned bits,
                             unstructured_kernel_function kernel,
                             const int8x2_message_rule& rule,
                             unsigned max_degree,
                             const std::vector<unstructured_table::step>& steps,
                             std::vector<unstructured_shape> shapes,
                             unsigned per_sm)
        : int8x2_plan(rule, per_sm),
          d_degree(made.degree()),
          d_places(to_device(made.places())),
          d_steps(to_device(steps)),
          d_kernel(kernel),
          d_shapes(std::move(shapes)),
          d_table{ d_places.get(),
                   nullptr,
                   0,
                   bits,
                   made.shared(),
                   made.shared() + made.spare_places(),
                   made.unit_count(),
                   made.unit_count() * lanes *
                           unstructured_int8x2::message_words(max_degree) +
                       (std::max(bits, made.shared()) - made.shared() + 3) / 4 * 4 }
    {
    }

    std::size_t scratch_bytes(std::size_t codewords) const override
    {
        return scratch_for(codewords, d_table.block_words);
    }

    void launch(const device_frames& frames,
                const stopping& stop,
                void* scratch,
                cudaStream_t stream) const override
    {
        const auto* best = &d_shapes[0];
        unsigned codewords_per_word = 1;
        const auto blocks_of = [&frames](unsigned codewords) {
            return (frames.count + codewords - 1) / codewords;
        };
        for (const auto& s : d_shapes) {
            for (const unsigned codewords : { 1, 2 }) {
                if (clocks(s, blocks_of(codewords)) <
                    clocks(*best, blocks_of(codewords_per_word))) {
                    best = &s;
                    codewords_per_word = codewords;
                }
            }
        }
        auto table = d_table;
        table.steps = d_steps.get() + best->first;
        table.step_count = best->steps;
        const auto blocks =
            std::min(blocks_of(codewords_per_word), best->per_sm * multiprocessors());
        const auto kernel = d_kernel;
        const auto of_launch =
            arguments(frames, stop, scratch, codewords_per_word, false, stream);
        kernel<<<blocks, best->warps * lanes, best->shared, stream>>>(table, of_launch);
        cuda::check(cudaGetLastError(), "LDPC kernel");
    }

private:
    // Estimates the clock cycles of an iteration of \p blocks blocks. With many warps,
    // the number of instructions is the limit: 10 + 16 · d per unit of degree d, and 30
    // per step and warp, of which a multiprocessor issues 3 per cycle. With few warps,
    // the latency of the steps is the limit: 400 + 40 · d cycles each.
    double clocks(const unstructured_shape& s, unsigned blocks) const
    {
        const double per_clock = 3;
        const double instructions =
            d_table.unit_count * (10 + 16.0 * d_degree) + s.steps * s.warps * 30.0;
        const double waits = s.steps * (400 + 40.0 * d_degree);
        const auto wave = [&](unsigned count) {
            const auto per_sm = (count + multiprocessors() - 1) / multiprocessors();
            return std::max(per_sm * instructions / per_clock, waits);
        };
        const unsigned resident = s.per_sm * multiprocessors();
        const auto rest = blocks % resident;
        return blocks / resident * wave(resident) + (rest ? wave(rest) : 0);
    }

    const unsigned d_degree; // largest padded degree of all units
    const cuda::buffer<std::uint32_t> d_places;
    const cuda::buffer<unstructured_table::step> d_steps; // steps of all launch
                                                          // configurations
    const unstructured_kernel_function d_kernel;
    const std::vector<unstructured_shape> d_shapes;
    const unstructured_table d_table;
};

// Returns the number of edges to bits from \p shared on that lie in another 32-byte
// sector than the bit of the same edge of the preceding check.
std::size_t scattered_edges(const layer_plan& plan, unsigned shared)
{
    constexpr unsigned sector = 8; // posteriors
    std::size_t count = 0;
    for (std::size_t check = 0; check + 1 < plan.edge_begin.size(); ++check) {
        const auto begin = plan.edge_begin[check];
        const auto previous = plan.edge_begin[check ? check - 1 : 0];
        for (auto e = begin; e < plan.edge_begin[check + 1]; ++e) {
            const auto before = std::min(previous + (e - begin), begin);
            count += plan.edges[e].bit >= shared &&
                     plan.edges[e].bit / sector != plan.edges[before].bit / sector;
        }
    }
    return count;
}

} // namespace

std::unique_ptr<launch_plan> make_unstructured_int8x2_plan(const ldpc_code& code,
                                                           const message_rule& rule,
                                                           bool,
                                                           int device)
{
    // A 16-bit float holds integers exactly up to 2048, and kernels add 1 to magnitudes.
    // Numbers of violated checks and places have 16 bits.
    if (rule.precision != ldpc_precision::int8 ||
        rule.posterior_limit(code.largest_bit_degree()) > 2047 ||
        code.checks() > 0xffff || code.n() > 0xffff) {
        return nullptr;
    }
    const int8x2_message_rule values(rule);
    const auto v = choose(code.largest_check_degree());
    const auto plan = make_layer_plan(code);
    if (!v.kernel || !values.follows(rule) ||
        std::any_of(plan.rounds.begin(), plan.rounds.end(), [](auto r) { return r; })) {
        return nullptr;
    }
    const unsigned bits = (code.n() + 3) / 4 * 4;
    host_table made(plan, v.max_degree, bits, false);
    const auto bytes_for = [&made](unsigned step_count) {
        return (step_count + 2) * sizeof(unstructured_table::step) +
               sizeof(std::uint32_t) * (made.shared() + made.spare_places() +
                                        unstructured_int8x2::flag_words);
    };
    // Four or more warps are rounded down to a multiple of four, so that each of a
    // multiprocessor's four schedulers has the same number of warps.
    const auto warps = std::min(v.max_warps, made.max_units());
    const auto max_warps = warps < 4 ? std::min(warps, 2u) : warps / 4 * 4;
    std::vector<unstructured_table::step> steps;
    const auto step_count = made.add_steps(max_warps, steps);
    const auto capacity = cuda::shared_per_block(device);
    const bool external = bytes_for(step_count) > capacity;
    if (external) {
        const auto others =
            bytes_for(step_count) -
            4 * (made.shared() + made.spare_places() - host_table::external_spare_places);
        if (others > capacity) {
            return nullptr;
        }
        const auto shared = unsigned((capacity - others) / 16 * 4);
        // The layered plan stores the posteriors of one codeword, in half the memory. It
        // is faster for random codes with many bits in device memory.
        if (3 * scattered_edges(plan, shared) > plan.edges.size()) {
            return nullptr;
        }
        made = host_table(plan, v.max_degree, shared, true);
    }
    if (bits + made.spare_places() > 0xffff) {
        return nullptr;
    }
    steps.clear();
    const auto kernel = external ? v.external : v.kernel;
    std::vector<unstructured_shape> shapes;
    unsigned per_sm = 0;
    for (auto n = external ? max_warps : 1; n <= max_warps; n += n < 4 ? n : 4) {
        const auto first = unsigned(steps.size());
        const auto count = made.add_steps(n, steps);
        if (bytes_for(count) > capacity) {
            continue;
        }
        cuda::allow_shared(kernel, bytes_for(count), "the code");
        const auto resident = cuda::resident_blocks(kernel, n * lanes, bytes_for(count));
        if (resident > 0) {
            shapes.push_back({ n, resident, first, count, bytes_for(count) });
            per_sm = std::max(per_sm, resident);
        }
    }
    if (shapes.empty()) {
        return nullptr;
    }
    return std::make_unique<unstructured_int8x2_plan>(
        made, code.n(), kernel, values, v.max_degree, steps, std::move(shapes), per_sm);
}

} // namespace device
} // namespace gr::gpufec::ldpc
