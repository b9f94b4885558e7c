// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The stream decoder, which divides soft values into frames or overlapping parallel
 * blocks and joins the decoded bits, and the choice between it and a decoder with phase
 * search. */

#include "common/packed_bits.h"
#include "common/ranges.h"
#include "decoder_impl.h"
#include "pipeline/stream_decoder.h"
#include "signal_judge.h"
#include "traits.h"
#include "viterbi/model/soft_input.h"
#include <cstring>
#include <deque>
#include <optional>

namespace gr::gpufec {

using namespace viterbi;

class streaming_viterbi_decoder : public stream_decoder<viterbi_decoder_base, traits>
{
public:
    streaming_viterbi_decoder(const viterbi_options& options, decoder_hooks hooks)
        : stream_decoder(options, std::move(hooks), 1, item_bytes(options.format)),
          d_options(options)
    {
        require_above_0("soft_scale", options.soft_scale);
        if (const auto doubt = options.code.doubt(); !doubt.empty()) {
            log(log_level::warning, doubt);
        }
        open(make_setup(options));
        restart();
        if (options.watch) {
            d_judge = std::make_unique<signal_judge>(options, d_hooks);
        }
    }

    std::size_t push(input_items items) override
    {
        items.require(item_type_of(d_options.format));
        const auto* const from = static_cast<const std::byte*>(items.data());
        const auto taken =
            take(items.size(), [&](std::size_t first, std::size_t n, std::byte* to) {
                put(from + first * d_setup->caller_factor(), n, d_options.soft_scale, to);
            });
        d_judge->look_at(items.data(), 0, taken);
        return taken;
    }

    void drop_incomplete() override
    {
        const auto items = (d_input.end() - d_input.first()) % items_per_frame();
        if (plan().streaming() || items == 0) {
            return;
        }
        if (!borrowing()) {
            d_input.forget(items);
            return;
        }
        submit_whole_frames();
        d_input.skip();
        d_skipped += items;
    }

    std::size_t skip(std::size_t count) override
    {
        if (borrowing() && !plan().streaming()) {
            submit_whole_frames();
            d_input.took(count);
            d_input.skip();
            d_skipped += count;
        }
        return count;
    }

    std::size_t push_quantised(const std::int8_t* steps, std::size_t count) override
    {
        return take(count, [&](std::size_t first, std::size_t n, std::byte* to) {
            std::memcpy(to, steps + first, n);
        });
    }

    // Pulls from one batch only, so that status() can return the statistics of that
    // batch.
    std::size_t pull(bit_span out) override
    {
        advance();
        const auto* slot = d_pipeline->ready();
        if (!slot || out.size() == 0) {
            return 0;
        }
        if (d_emitted == 0) {
            publish_statistics(*slot);
        }
        const auto size = batch_size(d_batches.front(), out.packed);
        const auto n = std::min(out.size(), size - d_emitted);
        if (!in_place(*slot, !out.packed)) {
            copy_output(slot->output, d_emitted, n, out);
        }
        pulled(n);
        d_emitted += n;
        if (d_emitted == size) {
            release_oldest();
        }
        return n;
    }

    void set_rotation(const phase_rotation& t) override { d_rotation = t; }

    void watch() override { d_watched = true; }
    std::optional<decoded_batch> oldest() override
    {
        advance();
        const auto* const slot = d_pipeline->ready();
        if (!slot) {
            return {};
        }
        publish_statistics(*slot);
        const auto& batch = d_batches.front();
        return decoded_batch{ reinterpret_cast<const std::uint8_t*>(slot->output),
                              batch.first_bit,
                              batch.first_bit + batch.bits,
                              slot->job.first_value + slot->job.values,
                              slot->job.blocks == d_batch,
                              slot->job.error_counts
                                  ? d_setup->samples.checks(slot->job, slot->status)
                                  : nullptr,
                              d_setup->checks.every };
    }
    void release_oldest() override
    {
        d_emitted = 0;
        d_batches.pop_front();
        release();
        advance();
    }

    void
    read_values(std::uint64_t first, std::size_t count, std::int8_t* out) const override
    {
        std::fill_n(out, count, std::int8_t(0));
        if (!d_pipeline->each_in_flight([&](const slot& s) {
                return !read_received(s.job, s.from, first, count, out);
            })) {
            return;
        }
        job open;
        open.first_value = d_input.first();
        open.values = d_input.end() - d_input.first();
        set_input_format(open);
        const auto* const s = d_pipeline->filling();
        read_received(open, d_input.contents(s ? s->input : nullptr), first, count, out);
    }

    std::size_t open_items() const override { return d_input.end() - d_input.first(); }

    std::uint64_t output_of_item(std::uint64_t item, bool packed) const override
    {
        std::uint64_t bit = 0;
        if (plan().streaming()) {
            bit = code().stage_of(item * values_per_item());
        } else {
            const auto frame = item / items_per_frame();
            const auto value = item % items_per_frame() * values_per_item();
            bit = frame * plan().frame_bits +
                  std::min<std::uint64_t>(code().stage_of(value), plan().frame_bits - 1);
        }
        return packed ? byte_of(bit) : bit;
    }

    std::size_t items_per_frame() const override
    {
        return plan().streaming() ? 1 : d_setup->frame_input_bytes();
    }

    void set_soft_scale(float scale) override
    {
        require_above_0("soft_scale", scale);
        d_options.soft_scale = scale;
        d_judge->set_soft_scale(scale);
        // Borrowed floats are scaled when their batch is decoded.
        if (!borrowing()) {
            d_scale = { 0, { scale, scale } };
        } else if (d_scale.from <= d_input.first()) {
            d_scale = { d_input.end(), { d_scale.values[1], scale } };
        } else { // a job has only two scales, so the new one replaces the second
            d_scale.values[1] = scale;
        }
    }
    double chance_error_rate() const override { return d_judge->chance_error_rate(); }
    const conv_code& code() const override { return d_options.code; }
    unsigned decode_length() const override { return plan().decode_length; }
    unsigned overlap() const override { return plan().overlap; }
    const block_layout& plan() const { return d_setup->plan; }

private:
    // Position and size of a submitted batch's output.
    struct submitted {
        std::uint64_t first_bit, bits;
    };

    // A work item is a parallel block of a stream, or a frame.

    std::uint64_t bits_per_work_item() const
    {
        return plan().streaming() ? plan().decode_length : plan().frame_bits;
    }
    std::size_t work_items_per_slot() const { return d_batch / plan().blocks_per_frame; }
    std::size_t output_bytes_per_frame() const { return (plan().frame_bits + 7) / 8; }
    std::uint64_t values_per_item() const { return d_setup->packed4 ? 2 : 1; }
    // Returns the number of soft values received so far. An item of packed4 counts as two
    // values, even if the second one only pads a frame.
    std::uint64_t have() const { return d_input.end() * values_per_item(); }
    bool in_pairs() const { return d_rotation.any(); }

    // Returns the index of the input item after the last one that the open slot needs.
    std::uint64_t end_of_slot() const
    {
        const auto work_items = d_next_work_item + work_items_per_slot();
        if (!plan().streaming()) {
            return work_items * items_per_frame() + d_skipped;
        }
        const auto values =
            code().values(work_items * plan().decode_length + plan().overlap);
        const auto unit = in_pairs() ? 2 : values_per_item();
        return (values + unit - 1) / unit * unit / values_per_item();
    }

    // Returns the index of the first input item that a slot needs if it begins with work
    // item `work_item`.
    std::uint64_t begin_of(std::uint64_t work_item) const
    {
        if (!plan().streaming()) {
            return work_item * items_per_frame() + d_skipped;
        }
        const auto stage = work_item * plan().decode_length;
        const auto value =
            code().values(stage - std::min<std::uint64_t>(stage, plan().overlap));
        return (in_pairs() ? value / 2 * 2 : value) / values_per_item();
    }

    std::size_t items_wanted() const override
    {
        const auto end = end_of_slot();
        return end - std::min(end, d_input.end());
    }

    std::size_t waiting() const override
    {
        if (!plan().streaming()) {
            return (d_input.end() - d_input.first()) / items_per_frame();
        }
        // Only stages whose values have all arrived are counted.
        const auto values = in_pairs() ? have() / 2 * 2 : have();
        auto stages = code().stages(values);
        stages -= code().values(stages) > values;
        const auto end = d_next_work_item * plan().decode_length + plan().overlap;
        return stages < end ? 0 : (stages - end) / plan().decode_length;
    }

    std::size_t left() const override
    {
        if (!plan().streaming()) {
            return waiting();
        }
        const auto stages = code().stages(have());
        const auto blocks = (stages + plan().decode_length - 1) / plan().decode_length;
        return blocks - std::min<std::uint64_t>(blocks, d_next_work_item);
    }

    void advance() override
    {
        while (open_input()) {
            const auto whole = finishing() ? left() : waiting();
            const auto n = std::min(whole, work_items_per_slot());
            if (n == 0 || (n < work_items_per_slot() && !send_now())) {
                return;
            }
            submit_work_items(n);
        }
    }

    void submit_work_items(std::size_t work_items)
    {
        const auto size = bits_per_work_item();
        submitted batch{ d_next_work_item * size, work_items * size };
        job job;
        job.blocks = work_items * plan().blocks_per_frame;
        job.first_block = d_next_work_item * plan().blocks_per_frame;
        set_input_format(job);
        if (plan().streaming()) {
            batch.bits = std::min(batch.bits, code().stages(have()) - batch.first_bit);
            job.first_value = d_input.first() * values_per_item();
            job.values = have() - job.first_value;
            job.phase_rotation = d_rotation;
            // Without a GPU, the lock monitor counts sign errors when a check needs the
            // counts.
            job.error_counts = d_watched && d_setup->checks.every > 0 &&
                               d_pipeline->active().backend() == "cuda";
        }
        d_batches.push_back(batch);
        d_next_work_item += work_items;
        const auto bytes = batch_size(batch, true);
        submit(job,
               std::min(begin_of(d_next_work_item), d_input.end()),
               { 0, 1, bytes, bytes, borrows_bits() ? batch.bits : 0 });
        if (waiting() > 0) {
            d_deadline.start();
        }
    }

    // Submits the complete frames of the open batch, because the next frame follows after
    // a gap, and the frames of a batch must be contiguous.
    void submit_whole_frames()
    {
        if (waiting() > 0) {
            submit_work_items(waiting());
        }
    }

    // Publishes the statistics of the oldest batch, before its output is pulled. The
    // first sample is the one at the batch's beginning.
    void publish_statistics(const slot& s)
    {
        const auto& samples = d_setup->samples;
        const auto* const counts = samples.counts(s.status);
        const auto count = samples.count(s.job);
        for (std::uint32_t i = 0; i < count; ++i) {
            const auto place = samples.at(s.job, i);
            const auto& c = counts[i];
            batch_statistics made;
            if (c.values > 0) {
                made.channel_error_rate = double(c.wrong) / c.values;
            }
            if (place.values > 0) {
                made.metric = double(c.against) / place.values;
            }
            made.first_bit =
                d_batches.front().first_bit + place.item * bits_per_work_item();
            made.first_byte = byte_of(made.first_bit);
            if (i == 0) {
                d_statistics = made;
            } else {
                add_stream_statistics(made);
            }
        }
    }

    // Sets how borrowed input of a job is converted to int8. Copied input has been
    // converted already. The kernels read packed4 without conversion.
    void set_input_format(job& job) const
    {
        if (!d_input.borrowing()) {
            return;
        }
        job.offset_binary = d_setup->offset_binary;
        if (d_setup->floats) {
            job.floats = true;
            job.scaled_before = std::max(d_scale.from, d_input.first()) - d_input.first();
            std::copy_n(d_scale.values, 2, job.scale);
        }
    }

    // Returns whether output can be written in place. The kernels begin each frame with a
    // new 32-bit word, which must not leave a gap in the output.
    bool can_borrow_output() const override
    {
        return plan().streaming() || plan().frame_bits % 32 == 0;
    }
    bool borrows_bits() const override { return d_options.bits_in_place; }

    void restart() override
    {
        d_batches.clear();
        d_emitted = 0;
        d_next_work_item = 0;
        d_skipped = 0;
        d_statistics.reset();
        d_stream_statistics.clear();
        d_scale = { 0, { d_options.soft_scale, d_options.soft_scale } };
    }

    void store(const std::byte* from, std::size_t items, std::byte* to) override
    {
        const auto begin = d_input.first();
        const auto before = std::clamp(d_scale.from, begin, begin + items) - begin;
        put(from, before, d_scale.values[0], to);
        put(from + before * d_setup->caller_factor(),
            items - before,
            d_scale.values[1],
            to + before);
    }

    // Converts input items to int8, if needed, and writes them to a slot.
    void put(const std::byte* from, std::size_t items, float scale, std::byte* to) const
    {
        if (d_setup->floats) {
            convert(reinterpret_cast<const float*>(from), scale, to, items);
        } else if (d_setup->offset_binary) {
            from_offset_binary(from, items, reinterpret_cast<std::int8_t*>(to));
        } else if (items > 0) {
            copy_to_slot(to, from, items);
        }
    }

    std::uint64_t byte_of(std::uint64_t bit) const
    {
        return plan().streaming() ? bit / 8
                                  : bit / plan().frame_bits * output_bytes_per_frame() +
                                        bit % plan().frame_bits / 8;
    }

    // Copies n output items of a batch, from item `first` on, frame by frame.
    void copy_output(const std::byte* output,
                     std::size_t first,
                     std::size_t n,
                     const bit_span& out) const
    {
        const std::size_t frame = plan().streaming() ? first + n
                                  : out.packed       ? output_bytes_per_frame()
                                                     : plan().frame_bits;
        for (std::size_t i = 0; i < n;) {
            const auto in_frame = (first + i) % frame;
            const auto m = std::min(n - i, frame - in_frame);
            const auto* const from = reinterpret_cast<const std::uint8_t*>(output) +
                                     (first + i) / frame * d_setup->frame_output_bytes();
            if (out.packed) {
                std::memcpy(out.data() + i, from + in_frame, m);
            } else {
                unpack_bits(from, in_frame, m, out.data() + i);
            }
            i += m;
        }
    }

    std::size_t batch_size(const submitted& batch, bool packed) const
    {
        return !packed              ? batch.bits
               : plan().streaming() ? (batch.bits + 7) / 8
                                    : byte_of(batch.bits);
    }

    viterbi_options d_options;
    std::deque<submitted> d_batches; // batches in flight, oldest first
    // Number of output items of the oldest batch that were already pulled.
    std::size_t d_emitted = 0;
    std::uint64_t d_next_work_item = 0; // first work item of the open slot
    std::uint64_t d_skipped = 0; // number of borrowed items that belong to no frame
    bool d_watched = false;      // whether a phase search calls oldest()
    phase_rotation d_rotation;

    // Scales of borrowed floats: values[0] before item `from` of the stream, values[1]
    // from that item on.
    struct {
        std::uint64_t from;
        float values[2];
    } d_scale{};
};

void viterbi_decoder_base::add_stream_statistics(const batch_statistics& made)
{
    d_stream_statistics.push_back(made);
    if (d_stream_statistics.size() > 1u << 16) {
        d_stream_statistics.pop_front(); // the caller does not read the statistics
    }
}

bool viterbi_decoder_base::take_stream_statistics(batch_statistics& statistics)
{
    if (d_stream_statistics.empty()) {
        return false;
    }
    statistics = d_stream_statistics.front();
    d_stream_statistics.pop_front();
    return true;
}

viterbi_decoder::sptr viterbi_decoder::make(const viterbi_options& options,
                                            decoder_hooks hooks)
{
    require(options.lock == "off" || options.lock == "auto",
            "lock",
            '"' + options.lock + '"',
            "off and auto");
    if (options.lock == "auto") {
        return make_locking_decoder(options, std::move(hooks));
    }
    return make_process_bound<streaming_viterbi_decoder>(options, std::move(hooks));
}

} // namespace gr::gpufec
