// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The CPU backend. Each SIMD lane decodes one parallel block. A thread decodes one group
 * of blocks at a time, with one block per lane. */

#include "channel_counter.h"
#include "common/cpu_variant.h"
#include "common/host_memory.h"
#include "kernels.h"
#include "pipeline/cpu_decoder.h"
#include "viterbi/model/metric_rule.h"
#include "viterbi/model/soft_input.h"
#include "viterbi/stream/traits.h"
#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

namespace gr::gpufec::viterbi {

namespace {

constexpr compiled_variants<lane_decoder> variants = GPUFEC_VARIANTS(decoder);

lane_trellis make_trellis(const conv_code& code)
{
    lane_trellis t{};
    t.constraint_length = code.constraint_length();
    t.outputs = code.outputs();
    t.history = metric_history(t.constraint_length, t.outputs);
    for (unsigned r = 0; r < code.outputs(); ++r) {
        t.inverted |= unsigned(code.inverted(r)) << r;
    }
    if (t.constraint_length == 7 && t.outputs == 2) {
        const unsigned first = code.polynomial(0), second = code.polynomial(1);
        t.is_171_133 =
            (first == 0171 && second == 0133) || (first == 0133 && second == 0171);
        t.swapped = first == 0133;
    }
    for (unsigned j = 0; j < code.states() / 2; ++j) {
        for (unsigned branch = 0; branch < 4; ++branch) {
            t.word[j][branch] = code.output_word(2 * j + (branch >> 1), branch & 1);
        }
    }
    return t;
}

depuncturing make_depuncturing(const value_map& map)
{
    depuncturing d{};
    const unsigned places = map.period * map.outputs;
    const auto periods = 16 / std::max(places, map.values_per_period);
    d.sent = periods * map.values_per_period;
    d.places = periods * places;
    std::fill(std::begin(d.from), std::end(d.from), std::uint8_t(0x80));
    for (unsigned i = 0; i < d.places; ++i) {
        const int position = map.position[i % places];
        if (position >= 0) {
            d.from[i] = std::uint8_t(i / places * map.values_per_period + position);
        }
    }
    return d;
}

// Reads the soft values of windows from a batch's input in any format.
class value_reader
{
public:
    //! \p sent is scratch memory for the punctured values of a window.
    value_reader(const setup& setup,
                 const job& job,
                 const lane_decoder& lanes,
                 const depuncturing& places,
                 const std::byte* input,
                 std::int8_t* sent)
        : d_setup(setup),
          d_job(job),
          d_lanes(lanes),
          d_places(places),
          d_input(input),
          d_sent(sent)
    {
    }

    // Returns a pointer to the window's values in the input, or nullptr if the values
    // must be copied: for conversion, depuncturing, erasures, or a tail-biting frame.
    const std::int8_t* in_place(const block_window& w) const
    {
        const auto& plan = d_setup.plan;
        if (!as_quantised() || punctured() ||
            plan.termination == termination::tailbiting) {
            return nullptr;
        }
        const std::int64_t R = d_setup.map.outputs;
        const std::int64_t first = w.start * R - d_first;
        const std::int64_t end = first + std::int64_t(plan.window) * R;
        return first >= 0 && end <= d_count
                   ? reinterpret_cast<const std::int8_t*>(d_base) + first
                   : nullptr;
    }

    // Copies the window's values, depunctured, to a row. Missing values become erasures.
    void copy(const block_window& w, std::int8_t* row) const
    {
        const auto& plan = d_setup.plan;
        if (plan.termination != termination::tailbiting) {
            copy(w.start, plan.window, row);
            return;
        }
        const std::int64_t circle = plan.frame_stages;
        std::int64_t stage = (w.start % circle + circle) % circle;
        for (std::int64_t left = plan.window; left > 0; stage = 0) {
            const auto n = std::min(left, circle - stage);
            copy(stage, n, row);
            row += n * d_setup.map.outputs;
            left -= n;
        }
    }

    // Selects, by its index in the batch, the frame that later calls read; 0 for a
    // stream.
    void locate(std::size_t frame)
    {
        const auto& plan = d_setup.plan;
        d_base = d_input;
        d_offset = frame * d_setup.frame_input_bytes();
        if (!d_job.floats) {
            d_base += d_offset;
        }
        d_first = plan.streaming() ? d_job.first_value : 0;
        d_count = plan.streaming() ? d_job.values : plan.frame_values;
    }

private:
    bool punctured() const { return d_setup.map.period > 1; }
    // Returns whether the kernel can read the input without conversion.
    bool as_quantised() const
    {
        return !d_job.floats && !d_job.offset_binary && !d_job.phase_rotation.any() &&
               !d_setup.packed4;
    }

    void copy(std::int64_t stage, std::int64_t stages, std::int8_t* row) const
    {
        const auto& map = d_setup.map;
        const auto before = std::clamp<std::int64_t>(-stage, 0, stages);
        row = std::fill_n(row, before * map.outputs, std::int8_t(0));
        stage += before;
        const auto end = stage - before + stages;
        const std::int64_t first = d_setup.code.values(stage);
        const std::int64_t n = d_setup.code.values(end) - first;
        if (!punctured()) {
            fetch(first, n, row);
            return;
        }
        const auto* sent = unconverted(first, n);
        if (!sent) {
            fetch(first, n, d_sent);
            sent = d_sent;
        }
        const unsigned places = map.period * map.outputs;
        auto in_period = unsigned(stage % map.period) * map.outputs;
        const auto* period = sent - d_setup.code.values(stage % map.period);
        for (auto left = (end - stage) * map.outputs; left > 0;) {
            if (in_period == 0 && d_places.sent > 0) {
                const auto times =
                    d_lanes.depuncture(d_places, period, sent + n - period, row, left);
                period += times * d_places.sent;
                row += times * d_places.places;
                left -= times * d_places.places;
            }
            const auto last = unsigned(std::min<std::int64_t>(places, in_period + left));
            left -= last - in_period;
            for (; in_period < last; ++in_period) {
                const int position = map.position[in_period];
                *row++ = position < 0 ? std::int8_t(0) : period[position];
            }
            in_period = 0;
            period += map.values_per_period;
        }
    }

    // Returns a pointer to `n` values in the input, from index `first` on, or nullptr if
    // the values need conversion or some are missing.
    const std::int8_t* unconverted(std::int64_t first, std::int64_t n) const
    {
        const bool there =
            as_quantised() && first >= d_first && first + n <= d_first + d_count;
        return there ? reinterpret_cast<const std::int8_t*>(d_base) + (first - d_first)
                     : nullptr;
    }

    // Copies `n` values of the punctured stream or frame, from index `first` on, and
    // rotates their phase. Missing values become erasures.
    void fetch(std::int64_t first, std::int64_t n, std::int8_t* to) const
    {
        if (!d_job.phase_rotation.any()) {
            receive(first, n, to);
            return;
        }
        constexpr std::int64_t most = 1024;
        std::int8_t pairs[most];
        while (n > 0) {
            const auto odd = first & 1;
            const auto some = std::min(n, most - odd);
            const auto whole = (odd + some + 1) / 2;
            receive(first - odd, 2 * whole, pairs);
            rotate_pairs(d_job.phase_rotation, pairs, whole, pairs);
            to = std::copy_n(pairs + odd, some, to);
            first += some;
            n -= some;
        }
    }

    // Copies values like fetch(), but without the phase rotation.
    void receive(std::int64_t first, std::int64_t n, std::int8_t* to) const
    {
        const auto begin = std::clamp(d_first, first, first + n);
        const auto end = std::clamp(d_first + d_count, begin, first + n);
        to = std::fill_n(to, begin - first, std::int8_t(0));
        if (d_job.floats) {
            convert(d_job,
                    reinterpret_cast<const float*>(d_base),
                    d_offset + std::size_t(begin - d_first),
                    end - begin,
                    to);
        } else if (d_setup.packed4) {
            unpack4(d_base, begin - d_first, end - begin, to);
        } else if (d_job.offset_binary) {
            from_offset_binary(d_base + (begin - d_first), end - begin, to);
        } else {
            std::memcpy(to, d_base + (begin - d_first), end - begin);
        }
        std::fill_n(to + (end - begin), first + n - end, std::int8_t(0));
    }

    const setup& d_setup;
    const job& d_job;
    const lane_decoder& d_lanes;
    const depuncturing& d_places;
    const std::byte* d_input;
    std::int8_t* d_sent;
    const std::byte* d_base = nullptr;
    std::size_t d_offset = 0; // index of the frame's first float in the input
    std::int64_t d_first = 0, d_count = 0;
};

class cpu_viterbi : public cpu_decoder<job>
{
public:
    cpu_viterbi(const setup& setup,
                std::size_t blocks,
                unsigned threads,
                const std::string& variant)
        : cpu_decoder(cpu_variant(variant), setup.limits(blocks), threads),
          d_setup(setup),
          d_lanes(variants.of(variant)),
          d_trellis(make_trellis(setup.code)),
          d_places(make_depuncturing(setup.map)),
          d_row_bytes((setup.plan.window * setup.map.outputs + 63) / 64 * 64),
          d_kernel_bytes((d_lanes.scratch_bytes(d_trellis, setup.plan.window) + 63) / 64 *
                         64),
          d_counter(setup)
    {
        for (unsigned i = 0; i < d_pool.threads(); ++i) {
            d_scratch.emplace_back(d_kernel_bytes + (d_lanes.lanes + 1) * d_row_bytes);
        }
    }

    ~cpu_viterbi() override { stop(); }

    // Reserves nothing, because values are converted in the scratch rows.
    bool reserve_conversion_buffers() noexcept override { return true; }

    void submit(unsigned slot, const job& job, const batch_memory& memory) override
    {
        d_counts_due[slot] = { job, memory };
        const auto groups = (job.blocks + d_lanes.lanes - 1) / d_lanes.lanes;
        d_pool.submit(slot, groups, [this, job, memory](std::size_t group, unsigned w) {
            decode(job, memory, group * d_lanes.lanes, w);
        });
    }

    // Also counts the sign errors of checks if the job was intended for a GPU: after a
    // fail-over, and in tests that replace the GPU by the CPU. For other jobs, class
    // lock_monitor counts these errors.
    bool finished(unsigned slot) override
    {
        if (!cpu_decoder::finished(slot)) {
            return false;
        }
        const auto due = d_counts_due.extract(slot);
        if (due.empty() || !due.mapped().second.status) {
            return true;
        }
        const auto& [job, memory] = due.mapped();
        const auto& plan = d_setup.samples;
        d_counter(job, memory.input, memory.output, plan.counts(memory.status));
        if (job.error_counts) {
            make_sign_error_counts(d_setup,
                                   job,
                                   memory.input,
                                   memory.output,
                                   plan.checks(job, memory.status));
        }
        return true;
    }

private:
    void
    decode(const job& job, const batch_memory& memory, std::size_t first, unsigned worker)
    {
        const auto& plan = d_setup.plan;
        auto* const scratch = d_scratch[worker].data();
        auto* const rows = reinterpret_cast<std::int8_t*>(scratch + d_kernel_bytes);
        value_reader reader(d_setup,
                            job,
                            d_lanes,
                            d_places,
                            memory.input,
                            rows + d_lanes.lanes * d_row_bytes);
        lane_blocks lanes{};
        lanes.window = plan.window;
        const auto busy = std::min<std::size_t>(d_lanes.lanes, job.blocks - first);
        for (std::size_t l = 0; l < busy; ++l) {
            const auto block = first + l;
            const auto frame = plan.streaming() ? 0 : block / plan.blocks_per_frame;
            const auto index = plan.streaming() ? job.first_block + block
                                                : block % plan.blocks_per_frame;
            const auto w = plan.at(index);
            reader.locate(frame);
            lanes.soft[l] = reader.in_place(w);
            if (!lanes.soft[l]) {
                auto* const row = rows + l * d_row_bytes;
                reader.copy(w, row);
                lanes.soft[l] = row;
            }
            lanes.from_zero[l] = w.from_zero;
            lanes.lead[l] = w.lead;
            lanes.count[l] = w.count;
            const auto at = plan.streaming() ? block * (plan.decode_length / 8)
                                             : frame * d_setup.frame_output_bytes() +
                                                   index * (plan.decode_length / 8);
            lanes.bits[l] = reinterpret_cast<std::uint8_t*>(memory.output + at);
        }
        for (auto l = busy; l < d_lanes.lanes; ++l) {
            // Idle lanes decode the row of lane 0, too, but write no output.
            lanes.soft[l] = lanes.soft[0];
        }
        d_lanes.decode(d_trellis, lanes, scratch);
    }

    const setup d_setup;
    const lane_decoder& d_lanes;
    const lane_trellis d_trellis;
    const depuncturing d_places;
    const std::size_t d_row_bytes;
    const std::size_t d_kernel_bytes;
    std::vector<host_memory> d_scratch; // scratch memory, one per thread
    channel_counter d_counter;
    // Batches whose wrong signs are still to be counted, by slot.
    std::map<unsigned, std::pair<job, batch_memory>> d_counts_due;
};

} // namespace

traits::decoder traits::make_cpu(const setup& s,
                                 std::size_t blocks,
                                 unsigned threads,
                                 const std::string& variant)
{
    return std::make_unique<cpu_viterbi>(s, blocks, threads, variant);
}

// Returns the default number of parallel blocks per batch: about four groups of max_lanes
// blocks per thread, so that threads share the work evenly. More blocks would increase
// the latency.
std::size_t traits::cpu_batch(const setup& s, unsigned threads)
{
    const std::size_t blocks = 4 * std::max(1u, threads) * max_lanes;
    return std::max(batch_granularity(s),
                    blocks / batch_granularity(s) * batch_granularity(s));
}

} // namespace gr::gpufec::viterbi
