// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The CPU backend. In layered decoding, each SIMD lane decodes one codeword, and worker
 * threads take groups of codewords that fill the lanes. Codes of DVB-S2 in int8 without
 * soft output, and all codes in flooding, are decoded one codeword at a time. */

#include "common/host_memory.h"
#include "demap/demapper.h"
#include "flooding.h"
#include "lane_code.h"
#include "ldpc/model/circulant_code.h"
#include "ldpc/stream/input_format.h"
#include "ldpc/stream/traits.h"
#include "pipeline/cpu_decoder.h"
#include <algorithm>

namespace gr::gpufec::ldpc {

namespace {

// Returns an upper bound of the scratch memory in bytes for a code whose layer plan does
// not exist yet. The bound assumes that every edge of a layer is shared and deferred.
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

// Returns the tables for decoding single codewords, or null if the code is decoded by
// lanes or by flooding.
std::unique_ptr<circulant_code> single_codeword_code(
    const dvb_single_codeword::kernel& kernel, const setup& s, const ldpc_code& code)
{
    const bool can = s.schedule == ldpc_schedule::layered &&
                     s.soft == ldpc_soft_output::none && kernel.decode &&
                     dvb_single_codeword::can_follow(s.rule(code), code);
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
          d_single_codeword(dvb_single_codeword::variants().of(variant)),
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
            const auto single_codeword =
                single_codeword_code(d_single_codeword, d_setup, code);
            bytes = std::max(
                bytes,
                single_codeword ? d_single_codeword.scratch_bytes(single_codeword->view())
                                // also sufficient for kernels with fewer lanes
                                : scratch_bound(d_kernel, code));
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

    bool reserve_conversion_buffers() noexcept override
    {
        try {
            make_caller_rows();
            return true;
        } catch (const std::exception&) {
            d_caller_rows.clear();
            return false;
        }
    }

    void submit(unsigned slot, const job& job, const batch_memory& memory) override
    {
        const bool caller_format = job.caller_item_bytes > 0;
        if (caller_format) {
            make_caller_rows();
        }
        // The codewords of each code, in groups that fill the lanes of a kernel or, if
        // codewords are decoded one at a time, in groups of one.
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
                      [this, caller_format, groups = std::move(groups), memory](
                          std::size_t g, unsigned worker) {
                          const group_input input{ memory, caller_format, worker };
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
        // Tables for layered decoding; only one of the pointers is set. In flooding, both
        // are null.
        std::unique_ptr<circulant_code> single_codeword;
        std::unique_ptr<lane_code> lanes;
    };

    struct group_input {
        const batch_memory& memory;
        bool caller_format;
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

    // Allocates, for each worker, a buffer for quantised values and, for symbols, a
    // demapper. Only input in the caller's format needs them.
    void make_caller_rows()
    {
        if (d_caller_rows.size() == d_pool.threads()) {
            return; // workers may be using the buffers
        }
        std::size_t most = 0;
        for (const auto& code : d_setup.codes) {
            most = std::max(most, d_setup.frame_input_bytes(code));
        }
        d_row_bytes = (most + 63) / 64 * 64;
        make_demappers();
        while (d_caller_rows.size() < d_pool.threads()) {
            d_caller_rows.emplace_back(d_row_bytes * (layered() ? d_kernel.lanes : 1));
        }
    }

    // Makes one demapper per worker if the input is symbols, so that demapping later
    // allocates only tables. If such an allocation fails, demapping works without the
    // table.
    void make_demappers()
    {
        std::size_t bits = 0, symbols = 0;
        for (const auto& code : d_setup.codes) {
            bits = std::max<std::size_t>(bits, code.n());
            for (unsigned c = 0; c < d_setup.constellations.size(); ++c) {
                symbols = std::max(symbols, d_setup.caller_values(code, c));
            }
        }
        while (d_setup.symbols && d_demappers.size() < d_pool.threads()) {
            own_demapper fresh{ demap::demapper(*d_setup.symbols),
                                std::vector<std::int8_t>(bits) };
            fresh.demapper.reserve(symbols);
            d_demappers.push_back(std::move(fresh));
        }
    }

    // Returns the quantised channel values of codeword `index` of the table, which is
    // number `lane` of its group.
    const std::byte* channel(const group_input& in, std::uint32_t index, unsigned lane)
    {
        if (!in.caller_format) {
            return in.memory.input + in.place(index).input;
        }
        const auto& f = reinterpret_cast<const caller_frame*>(
            in.table() + job::caller_offset(d_limits.work_items))[index];
        auto* const row = d_caller_rows[in.worker].data() + lane * d_row_bytes;
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

    // Returns the kernel with the fewest lanes that holds the whole group. Idle lanes
    // take as long as lanes that decode.
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

    // Makes the tables of a code unless they exist.
    void prepare(std::uint32_t index)
    {
        auto& p = d_codes[index];
        if (p) {
            return;
        }
        const auto& code = d_setup.codes[index];
        auto fresh = std::make_unique<prepared>();
        fresh->rule = d_setup.rule(code);
        fresh->single_codeword = single_codeword_code(d_single_codeword, d_setup, code);
        if (layered() && !fresh->single_codeword) {
            fresh->lanes = std::make_unique<lane_code>(code, make_layer_plan(code));
        }
        p = std::move(fresh);
    }

    void decode_lanes(const job::run& group, const group_input& in)
    {
        const auto& p = *d_codes[group.code];
        const auto& memory = in.memory;
        auto* const status = reinterpret_cast<ldpc_status*>(memory.status);
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
        if (p.single_codeword) {
            d_single_codeword.decode(
                p.single_codeword->view(), arithmetic, frames, scratch);
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
        reinterpret_cast<ldpc_status*>(in.memory.status)[f.status] =
            d_flooding[in.worker].decode(d_setup.codes[group.code],
                                         d_codes[group.code]->rule,
                                         channel(in, group.first, 0),
                                         in.memory.output + f.output,
                                         f.soft_factor);
    }

    const setup d_setup;
    const lanes::kernel& d_kernel;
    const dvb_single_codeword::kernel& d_single_codeword;
    // Kernels with fewer lanes than d_kernel, for groups that do not fill its lanes.
    std::vector<const lanes::kernel*> d_narrower;
    const input::kernels& d_input = input::variants().of("");
    std::vector<std::unique_ptr<prepared>> d_codes;
    // One entry per thread: scratch memory in layered decoding, a decoder in flooding.
    std::vector<host_memory> d_scratch;
    std::vector<flooding_decoder> d_flooding;
    // One buffer per thread for quantised input, with one row per lane.
    std::vector<host_memory> d_caller_rows;
    std::size_t d_row_bytes = 0;
    // One worker's demapper for symbol input, and the LLRs that it writes.
    struct own_demapper {
        demap::demapper demapper;
        std::vector<std::int8_t> llr;
    };
    std::vector<own_demapper> d_demappers;
    std::vector<std::unique_ptr<demap::cell_tables>> d_cells; // demapper tables of each
                                                              // constellation
};

} // namespace

traits::decoder traits::make_cpu(const setup& s,
                                 std::size_t codewords,
                                 unsigned threads,
                                 const std::string& variant)
{
    return std::make_unique<cpu_ldpc>(s, codewords, threads, variant);
}

// Returns the default batch size. The batch fills the lanes of all threads. If the
// single-codeword kernel decodes all codes, the batch has eight codewords per thread, so
// that decoding takes longer than waking a thread.
std::size_t traits::cpu_batch(const setup& s, unsigned threads)
{
    constexpr unsigned one_at_a_time = 8;
    const auto& single_codeword = dvb_single_codeword::variants().of("");
    const bool lanes_wait =
        std::any_of(s.codes.begin(), s.codes.end(), [&](const ldpc_code& code) {
            return !single_codeword_code(single_codeword, s, code);
        });
    const auto& kernel = kernel_for(lanes::variants().of(""), s.precision);
    return std::size_t(lanes_wait ? kernel.lanes : one_at_a_time) * std::max(1u, threads);
}

} // namespace gr::gpufec::ldpc
