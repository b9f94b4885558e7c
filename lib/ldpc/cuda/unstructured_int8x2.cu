// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Launch plan for codes without structure in int8: a code's table, and the launch. */

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

struct unstructured_variant {
    void (*kernel)(unstructured_table, int8x2_arguments) = nullptr;
    unsigned max_degree = 0;
    unsigned max_warps = 0; // warps per multiprocessor, limited by registers
};

template <unsigned MaxDegree, unsigned Warps>
unstructured_variant variant()
{
    return { unstructured_int8x2::decode_unstructured_int8x2<MaxDegree, Warps * lanes>,
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

// A unit of a layer.
struct unit {
    std::vector<std::array<std::uint32_t, 32>> places; // places of each check
    unsigned degree = 0;                               // padded
};

constexpr unsigned banks = 32; // banks of shared memory

// Orders the edges of each check, so that few bits that the lanes read together are in
// one bank.
void arrange(unit& u)
{
    constexpr unsigned rounds = 6;
    std::vector<std::array<int, banks>> count(u.degree);
    for (auto& c : count) {
        c.fill(0);
    }
    for (const auto& check : u.places) {
        for (unsigned e = 0; e < u.degree; ++e) {
            ++count[e][check[e] % banks];
        }
    }
    const auto cost = [](int n) { return n * n * n; };
    for (unsigned round = 0; round < rounds; ++round) {
        for (auto& check : u.places) {
            for (unsigned e = 1; e < u.degree; ++e) {
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

// Orders the checks of a layer, so that few bits of a unit are in one bank. Checks of one
// degree stay together. A small layer is left as it is: its last units would get the
// worst checks.
void gather(const layer_plan& plan, std::vector<std::uint32_t>& checks)
{
    constexpr unsigned window = 256; // remaining checks that are tried
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
        // The cost of a bank is the fourth power of its bits; one more of v bits adds
        // this.
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

struct host_table {
    std::vector<std::uint32_t> places;
    std::vector<unsigned> degrees;     // degrees of units
    std::vector<unsigned> layer_begin; // first units of layers, and the end
    unsigned n = 0, spare_place = 0, words = 0;

    // Appends the steps for blocks of \p warps warps, and returns their number.
    unsigned add_steps(unsigned warps, std::vector<unstructured_table::step>& all) const
    {
        const auto before = all.size();
        for (std::size_t l = 0; l + 1 < layer_begin.size(); ++l) {
            for (auto u = layer_begin[l]; u < layer_begin[l + 1]; u += warps) {
                const auto units = std::min(warps, layer_begin[l + 1] - u);
                const auto degree = *std::max_element(&degrees[u], &degrees[u] + units);
                using step = unstructured_table::step;
                const bool same = all.size() > before && all.back().degree() == degree;
                all.push_back(
                    { u,
                      units << step::units_at |
                          std::uint32_t(u == layer_begin[l]) << step::barrier_at |
                          std::uint32_t(same) << step::same_at | degree });
            }
        }
        all.insert(all.end(), 2, unstructured_table::step{});
        return unsigned(all.size() - before - 2);
    }
    unsigned max_units() const // per layer
    {
        unsigned most = 0;
        for (std::size_t l = 0; l + 1 < layer_begin.size(); ++l) {
            most = std::max(most, layer_begin[l + 1] - layer_begin[l]);
        }
        return most;
    }
};

// Makes the table, with layers as in the plan. Returns false for a code that no kernel
// supports.
bool make_table(const ldpc_code& code, unsigned most, host_table& made)
{
    const auto plan = make_layer_plan(code);
    made.n = code.n();
    made.spare_place = (code.n() + 3) / 4 * 4;
    unsigned spare = lanes; // spare places
    for (std::size_t l = 0; l < plan.layers(); ++l) {
        if (plan.rounds[l] > 0) {
            return false;
        }
        const auto begin = plan.layer_begin[l], end = plan.layer_begin[l + 1];
        const auto degree_of = [&plan](unsigned i) {
            return plan.edge_begin[i + 1] - plan.edge_begin[i];
        };
        std::vector<std::uint32_t> order(end - begin);
        std::iota(order.begin(), order.end(), begin);
        std::stable_sort(order.begin(), order.end(), [&](unsigned a, unsigned b) {
            return degree_of(a) > degree_of(b);
        });
        gather(plan, order);
        const auto degree = unstructured_int8x2::padded_degree(degree_of(order[0]), most);
        unsigned lacking = 0; // units so far with spare places of their own
        made.layer_begin.push_back(unsigned(made.degrees.size()));
        for (unsigned first = 0; first < order.size(); first += lanes) {
            const auto last = std::min<unsigned>(first + lanes, order.size());
            unit u;
            u.degree = unstructured_int8x2::padded_degree(degree_of(order[first]), most);
            // Spare places that are written belong to one lane alone.
            const bool lacks =
                last - first < lanes || degree_of(order[last - 1]) < degree;
            const auto own = made.spare_place + lanes * (lacks ? lacking++ : 0);
            for (unsigned lane = 0; lane < lanes; ++lane) {
                u.places.emplace_back();
                u.places.back().fill(own + lane);
                if (first + lane < last) {
                    const auto i = order[first + lane];
                    for (unsigned e = 0; e < degree_of(i); ++e) {
                        u.places.back()[e] = plan.edges[plan.edge_begin[i] + e].bit;
                    }
                }
            }
            arrange(u);
            const auto words = unstructured_int8x2::place_words(most);
            const auto at = made.places.size();
            made.places.resize(at + lanes * words);
            for (unsigned lane = 0; lane < lanes; ++lane) {
                for (unsigned w = 0; w < words; ++w) {
                    made.places[at + unstructured_int8x2::place_at(most, w, lane)] =
                        u.places[lane][2 * w] | u.places[lane][2 * w + 1] << 16;
                }
            }
            made.degrees.push_back(u.degree);
        }
        spare = std::max(spare, lanes * lacking);
    }
    made.layer_begin.push_back(unsigned(made.degrees.size()));
    made.words = made.spare_place + spare;
    return made.words <= 0xffff;
}

// A launch configuration, with blocks of so many warps.
struct unstructured_shape {
    unsigned warps;
    unsigned per_sm; // blocks per multiprocessor
    unsigned first, steps;
    std::size_t shared; // bytes
};

class unstructured_int8x2_plan : public int8x2_plan
{
public:
    unstructured_int8x2_plan(const host_table& made,
                             const int8x2_message_rule& rule,
                             const unstructured_variant& v,
                             const std::vector<unstructured_table::step>& steps,
                             std::vector<unstructured_shape> shapes,
                             unsigned per_sm,
                             unsigned multiprocessors)
        : int8x2_plan(rule, per_sm, multiprocessors),
          d_multiprocessors(multiprocessors),
          d_degree(*std::max_element(made.degrees.begin(), made.degrees.end())),
          d_places(to_device(made.places)),
          d_steps(to_device(steps)),
          d_variant(v),
          d_shapes(std::move(shapes)),
          d_table{ d_places.get(),
                   nullptr,
                   0,
                   made.n,
                   made.spare_place,
                   made.words,
                   unsigned(made.degrees.size()) }
    {
    }

    std::size_t scratch_bytes(std::size_t codewords) const override
    {
        return scratch_for(codewords,
                           std::size_t(d_table.unit_count) * lanes *
                               unstructured_int8x2::message_words(d_variant.max_degree));
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
            std::min(blocks_of(codewords_per_word), best->per_sm * d_multiprocessors);
        const auto kernel = d_variant.kernel;
        const auto of_launch =
            arguments(frames, stop, scratch, codewords_per_word, false, stream);
        kernel<<<blocks, best->warps * lanes, best->shared, stream>>>(table, of_launch);
        cuda::check(cudaGetLastError(), "LDPC kernel");
    }

private:
    // Estimates the time of an iteration of \p blocks blocks, from the instructions, a
    // few of which are in warps without a unit, or for few warps from the latency of a
    // step.
    double clocks(const unstructured_shape& s, unsigned blocks) const
    {
        const double per_clock = 3;
        const double instructions =
            d_table.unit_count * (10 + 16.0 * d_degree) + s.steps * s.warps * 30.0;
        const double waits = s.steps * (400 + 40.0 * d_degree);
        const auto wave = [&](unsigned count) {
            const auto per_sm = (count + d_multiprocessors - 1) / d_multiprocessors;
            return std::max(per_sm * instructions / per_clock, waits);
        };
        const unsigned resident = s.per_sm * d_multiprocessors;
        const auto rest = blocks % resident;
        return blocks / resident * wave(resident) + (rest ? wave(rest) : 0);
    }

    const unsigned d_multiprocessors;
    const unsigned d_degree; // the largest
    const cuda::buffer<std::uint32_t> d_places;
    const cuda::buffer<unstructured_table::step> d_steps; // steps of all shapes
    const unstructured_variant d_variant;
    const std::vector<unstructured_shape> d_shapes;
    const unstructured_table d_table;
};

} // namespace

std::unique_ptr<launch_plan> make_unstructured_int8x2_plan(const ldpc_code& code,
                                                           const message_rule& rule,
                                                           bool,
                                                           int device)
{
    // A half holds integers up to 2048, and 1 is added to magnitudes; violated checks are
    // counted in 16 bits.
    if (rule.precision != ldpc_precision::int8 ||
        rule.posterior_limit(code.largest_bit_degree()) > 2047 ||
        code.checks() > 0xffff || code.n() > 0xffff) {
        return nullptr;
    }
    const int8x2_message_rule values(rule);
    const auto v = choose(code.largest_check_degree());
    cudaDeviceProp p;
    cuda::check(cudaGetDeviceProperties(&p, device), "device properties");
    host_table made;
    if (p.major < dvb_int8x2::first_capability || !v.kernel || !values.follows(rule) ||
        4 * code.n() > p.sharedMemPerBlockOptin ||
        !make_table(code, v.max_degree, made)) {
        return nullptr;
    }
    std::vector<unstructured_table::step> steps;
    std::vector<unstructured_shape> shapes;
    unsigned per_sm = 0;
    const auto max_warps = std::min(v.max_warps, made.max_units());
    // From four warps on, the four schedulers of a multiprocessor get equal numbers.
    for (unsigned warps = 1; warps <= max_warps; warps += warps < 4 ? warps : 4) {
        const auto first = unsigned(steps.size());
        const auto count = made.add_steps(warps, steps);
        const auto shared = (count + 2) * sizeof(unstructured_table::step) +
                            4 * std::size_t(made.words + unstructured_int8x2::flag_words);
        if (shared > p.sharedMemPerBlockOptin) {
            continue;
        }
        cuda::allow_shared(v.kernel, shared, "the code");
        int resident = 0;
        cuda::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                        &resident, v.kernel, int(warps * lanes), shared),
                    "occupancy");
        if (resident > 0) {
            shapes.push_back({ warps, unsigned(resident), first, count, shared });
            per_sm = std::max(per_sm, unsigned(resident));
        }
    }
    if (shapes.empty()) {
        return nullptr;
    }
    return std::make_unique<unstructured_int8x2_plan>(
        made, values, v, steps, std::move(shapes), per_sm, p.multiProcessorCount);
}

} // namespace device
} // namespace gr::gpufec::ldpc
