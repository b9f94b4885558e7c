// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The CPU backend: one codeword per SIMD lane, groups of lanes dealt to threads; of codes
 * of DVB-S2's kind in int8 one codeword after the other. */

#include "circulant_code.h"
#include "demap/demapper.h"
#include "flooding.h"
#include "input_format.h"
#include "lane_code.h"
#include "pipeline/cpu_decoder.h"
#include "pipeline/host_memory.h"
#include "room.h"
#include <algorithm>
#include <cstring>

namespace gr::gpufec::ldpc {

namespace {

// Scratch that suffices for a code, without its plan: every edge of a layer might be
// shared and deferred.
std::size_t scratch_bound(const lanes::kernel& kernel, const ldpc_code& code)
{
    const std::size_t in_layer =
        std::size_t(code.lifting()) * code.largest_check_degree();
    lanes::code_view v{};
    v.n = code.n();
    v.places = std::uint32_t(code.n() + 2 * in_layer);
    v.edges = std::uint32_t(code.edges());
    return kernel.scratch_bytes(v);
}

// Nothing if another kernel is to decode it.
std::unique_ptr<circulant_code>
circulants_of(const circulants::kernel& kernel, const setup& s, const ldpc_code& code)
{
    const bool can = s.schedule == ldpc_schedule::layered &&
                     s.soft == ldpc_soft_output::none && kernel.decode &&
                     circulants::can_follow(s.rule(code), code);
    return can ? circulant_code::of(code) : nullptr;
}

class cpu_ldpc : public cpu_decoder<job>
{
public:
    cpu_ldpc(const setup& setup,
             std::size_t codewords,
             unsigned threads,
             const std::string& variant)
        : cpu_decoder(setup.schedule == ldpc_schedule::layered ? cpu_variant(variant)
                                                               : "plain",
                      setup.limits(codewords),
                      threads),
          d_setup(setup),
          d_kernel(kernel_for(lanes::variants().of(variant), setup.precision)),
          d_circulants(circulants::variants().of(variant)),
          d_codes(setup.codes.size())
    {
        for (const auto& name : cpu_variants()) {
            const auto& kernel = kernel_for(lanes::variants().of(name), setup.precision);
            if (variant.empty() && kernel.lanes < d_kernel.lanes) {
                d_narrower.push_back(&kernel);
            }
        }
        for (const auto& c : setup.constellations) {
            d_cells.push_back(std::make_unique<demap::cell_tables>(c, setup.demapper));
        }
        std::size_t bytes = 0;
        for (const auto& code : setup.codes) {
            const auto circulants = circulants_of(d_circulants, d_setup, code);
            bytes = std::max(bytes,
                             circulants
                                 ? d_circulants.scratch_bytes(circulants->view())
                                 : scratch_bound(d_kernel, code)); // the narrower's too
        }
        for (unsigned i = 0; i < d_pool.threads(); ++i) {
            if (layered()) {
                d_scratch.emplace_back(bytes);
            } else {
                d_flooding.emplace_back(d_setup);
            }
        }
    }

    ~cpu_ldpc() override { stop(); }

    bool take_raw() noexcept override
    {
        try {
            make_raw_rows();
            return true;
        } catch (const std::exception&) {
            d_raw_rows.clear();
            return false;
        }
    }

    void submit(unsigned slot, const job& job, const batch_memory& memory) override
    {
        const bool raw = job.raw_bytes > 0;
        if (raw) {
            make_raw_rows();
        }
        // Each code's codewords in groups of lanes.
        std::vector<job::run> groups;
        for (const auto& run : job.runs) {
            prepare(run.code);
            const auto size = d_codes[run.code]->lanes ? d_kernel.lanes : 1u;
            for (std::uint32_t i = 0; i < run.count; i += size) {
                groups.push_back(
                    { run.code, run.first + i, std::min(size, run.count - i) });
            }
        }
        const auto count = groups.size();
        d_pool.submit(slot,
                      count,
                      [this, raw, groups = std::move(groups), memory](std::size_t g,
                                                                      unsigned worker) {
                          const group_input input{ memory, raw, worker };
                          if (layered()) {
                              decode_lanes(groups[g], input);
                          } else {
                              decode_plain(groups[g], input);
                          }
                      });
    }

private:
    struct prepared {
        message_rule rule;
        std::unique_ptr<circulant_code> circulants; // or, if layered,
        std::unique_ptr<lane_code> lanes;
    };

    struct group_input {
        const batch_memory& memory;
        bool raw;
        unsigned worker;

        const std::byte* table() const
        {
            return memory.table ? memory.table : memory.input;
        }
        const frame_place& place(std::uint32_t index) const
        {
            return reinterpret_cast<const frame_place*>(table())[index];
        }
    };

    // Rooms for values that are lent, for each worker's group.
    void make_raw_rows()
    {
        if (d_raw_rows.size() == d_pool.threads()) {
            return; // workers may be reading
        }
        std::size_t most = 0;
        for (const auto& code : d_setup.codes) {
            most = std::max(most, d_setup.frame_input_bytes(code));
        }
        d_row_bytes = (most + 63) / 64 * 64;
        make_demappers();
        while (d_raw_rows.size() < d_pool.threads()) {
            d_raw_rows.emplace_back(d_row_bytes * (layered() ? d_kernel.lanes : 1));
        }
    }

    // Of symbols; workers take no memory but for tables, without which it goes too.
    void make_demappers()
    {
        std::size_t bits = 0, symbols = 0;
        for (const auto& code : d_setup.codes) {
            bits = std::max<std::size_t>(bits, code.n());
            for (unsigned c = 0; c < d_setup.constellations.size(); ++c) {
                symbols = std::max(symbols, d_setup.raw_values(code, c));
            }
        }
        while (d_setup.symbols && d_demappers.size() < d_pool.threads()) {
            own_demapper fresh{ demap::demapper(*d_setup.symbols),
                                std::vector<std::int8_t>(bits) };
            fresh.demapper.reserve(symbols);
            d_demappers.push_back(std::move(fresh));
        }
    }

    // The steps of codeword `index` of the table, of its group number `lane`.
    const std::byte* channel(const group_input& in, std::uint32_t index, unsigned lane)
    {
        if (!in.raw) {
            return in.memory.input + in.place(index).input;
        }
        const auto& f = reinterpret_cast<const raw_frame*>(
            in.table() + job::raw_offset(d_limits.pieces))[index];
        auto* const row = d_raw_rows[in.worker].data() + lane * d_row_bytes;
        const void* values = in.memory.input + f.from;
        if (d_setup.symbols) {
            auto& mine = d_demappers[in.worker];
            mine.demapper.demap(
                *d_cells[f.constellation], values, f.values, f.level, mine.llr.data());
            values = mine.llr.data();
        }
        input_format(d_setup.precision, d_setup.format, f.factor, f.limit, d_input)
            .convert(values, 0, f.values, row);
        return row;
    }

    // For a group that is not full: the time that it takes is that of all lanes.
    const lanes::kernel& kernel_of(unsigned count) const
    {
        const auto* best = &d_kernel;
        for (const auto* const k : d_narrower) {
            if (k->lanes >= count && k->lanes < best->lanes) {
                best = k;
            }
        }
        return *best;
    }

    bool layered() const { return d_setup.schedule == ldpc_schedule::layered; }

    // The tables of a code, made when it is first used.
    void prepare(std::uint32_t index)
    {
        auto& p = d_codes[index];
        if (p) {
            return;
        }
        const auto& code = d_setup.codes[index];
        auto fresh = std::make_unique<prepared>();
        fresh->rule = d_setup.rule(code);
        fresh->circulants = circulants_of(d_circulants, d_setup, code);
        if (layered() && !fresh->circulants) {
            fresh->lanes = std::make_unique<lane_code>(code, make_layer_plan(code));
        }
        p = std::move(fresh);
    }

    void decode_lanes(const job::run& group, const group_input& in)
    {
        const auto& p = *d_codes[group.code];
        const auto& memory = in.memory;
        auto* const status = reinterpret_cast<frame_status*>(memory.status);
        lanes::frames frames{};
        frames.count = group.count;
        frames.out_bits = d_setup.output_bits(d_setup.codes[group.code]);
        frames.max_iterations = d_setup.max_iterations;
        frames.early_stop = d_setup.early_stop;
        const bool soft = d_setup.soft != ldpc_soft_output::none;
        frames.extrinsic = d_setup.soft == ldpc_soft_output::extrinsic;
        for (unsigned l = 0; l < group.count; ++l) {
            const auto index = group.first + l;
            frames.channel[l] = channel(in, index, l);
            frames.decisions[l] =
                reinterpret_cast<std::uint8_t*>(memory.output + in.place(index).output);
            if (soft) {
                frames.soft[l] = reinterpret_cast<std::int8_t*>(frames.decisions[l]) +
                                 d_setup.soft_offset(d_setup.codes[group.code]);
                frames.soft_factor[l] = in.place(index).soft_factor;
            }
        }
        const auto arithmetic = lane_arithmetic(p.rule);
        auto* const scratch = d_scratch[in.worker].data();
        if (p.circulants) {
            d_circulants.decode(p.circulants->view(), arithmetic, frames, scratch);
        } else {
            kernel_of(group.count).decode(p.lanes->view(), arithmetic, frames, scratch);
        }
        for (unsigned l = 0; l < group.count; ++l) {
            status[in.place(group.first + l).status] = { frames.iterations[l],
                                                         frames.unsatisfied[l] };
        }
    }

    void decode_plain(const job::run& group, const group_input& in)
    {
        const auto& f = in.place(group.first);
        reinterpret_cast<frame_status*>(in.memory.status)[f.status] =
            d_flooding[in.worker].decode(d_setup.codes[group.code],
                                         d_codes[group.code]->rule,
                                         channel(in, group.first, 0),
                                         in.memory.output + f.output,
                                         f.soft_factor);
    }

    const setup d_setup;
    const lanes::kernel& d_kernel;
    const circulants::kernel& d_circulants;
    std::vector<const lanes::kernel*> d_narrower; // that this processor runs too
    const input::kernels& d_input = input::variants().of("");
    std::vector<std::unique_ptr<prepared>> d_codes;
    // One per thread, of one or the other.
    std::vector<host_memory> d_scratch;
    std::vector<flooding_decoder> d_flooding;
    // The same for steps of what is lent, a row per lane.
    std::vector<host_memory> d_raw_rows;
    std::size_t d_row_bytes = 0;
    // Of symbols, a demapper for each worker and what it makes.
    struct own_demapper {
        demap::demapper demapper;
        std::vector<std::int8_t> llr;
    };
    std::vector<own_demapper> d_demappers;
    std::vector<std::unique_ptr<demap::cell_tables>> d_cells; // by constellation
};

} // namespace

room::decoder room::make_cpu(const setup& s,
                             std::size_t codewords,
                             unsigned threads,
                             const std::string& variant)
{
    return std::make_unique<cpu_ldpc>(s, codewords, threads, variant);
}

// Keeps the lanes full; or, of codewords that are decoded one at a time, takes as many as
// keep a thread busy for longer than it takes to wake it.
std::size_t room::cpu_batch(const setup& s, unsigned threads)
{
    constexpr unsigned one_at_a_time = 8;
    const auto& circulants = circulants::variants().of("");
    const bool lanes_wait =
        std::any_of(s.codes.begin(), s.codes.end(), [&](const ldpc_code& code) {
            return !circulants_of(circulants, s, code);
        });
    const auto& kernel = kernel_for(lanes::variants().of(""), s.precision);
    return std::size_t(lanes_wait ? kernel.lanes : one_at_a_time) * std::max(1u, threads);
}

} // namespace gr::gpufec::ldpc
