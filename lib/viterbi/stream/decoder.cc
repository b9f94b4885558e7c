// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* How a stream of soft values becomes parallel blocks, which overlap in their input, and
 * how their bits become a stream again. */

#include "decoder_impl.h"
#include "pipeline/packed_bits.h"
#include "pipeline/refuse.h"
#include "pipeline/stream_decoder.h"
#include "room.h"
#include "soft_input.h"
#include "statistics.h"
#ifdef GPUFEC_VOLK
#include <volk/volk.h>
#endif
#include <cmath>
#include <cstring>
#include <deque>
#include <optional>

namespace gr::gpufec {

using namespace viterbi;

namespace viterbi {

void check_scale(float scale)
{
    require(
        std::isfinite(scale) && scale > 0, "soft_scale", scale, "finite values above 0");
}

void convert(const float* from, float scale, std::byte* to, std::size_t n)
{
    constexpr std::size_t chunk = 1024;
    alignas(64) float clean[chunk];
    for (std::size_t i = 0; i < n; i += chunk) {
        const auto m = std::min(chunk, n - i);
        for (std::size_t k = 0; k < m; ++k) {
            const float x = from[i + k];
            clean[k] = x == x ? x : 0.0f; // VOLK would make something of a NaN
        }
        auto* const steps = reinterpret_cast<std::int8_t*>(to) + i;
#ifdef GPUFEC_VOLK
        volk_32f_s32f_convert_8i(steps, clean, scale, m);
#else
        for (std::size_t k = 0; k < m; ++k) {
            const float x = clean[k] * scale;
            const float above = x > -128.0f ? x : -128.0f;
            steps[k] = std::int8_t(std::lrint(above < 127.0f ? above : 127.0f));
        }
#endif
    }
}

void convert(const job& job,
             const float* floats,
             std::size_t first,
             std::size_t n,
             std::int8_t* to)
{
    const auto before =
        std::clamp<std::size_t>(job.scaled_before, first, first + n) - first;
    auto* const bytes = reinterpret_cast<std::byte*>(to);
    convert(floats + first, job.scale[0], bytes, before);
    convert(floats + first + before, job.scale[1], bytes + before, n - before);
}

void read_steps(const job& job,
                bool packed4,
                const std::byte* input,
                std::size_t first,
                std::size_t count,
                std::int8_t* to)
{
    if (job.turn.any()) {
        auto received = job;
        received.turn = {};
        const auto even = first / 2 * 2, pairs = (first + count - even + 1) / 2;
        const auto there = std::min<std::size_t>(2 * pairs, job.values - even);
        to[2 * pairs - 1] = 0;
        read_steps(received, packed4, input, even, there, to);
        turn_pairs(job.turn, to, pairs, to);
        std::copy_n(to + (first - even), count, to);
    } else if (job.floats) {
        convert(job, reinterpret_cast<const float*>(input), first, count, to);
    } else if (packed4) {
        unpack4(input, first, count, to);
    } else {
        std::memcpy(to, input + first, count);
    }
}

} // namespace viterbi

class viterbi_decoder::streaming : public stream_decoder<room>,
                                   public viterbi_decoder::impl
{
public:
    streaming(const viterbi_options& options, decoder_hooks hooks)
        : stream_decoder(options,
                         std::move(hooks),
                         1,
                         options.format == soft_format::float32 ? sizeof(float) : 1),
          d_options(options),
          d_estimate(make_setup(options))
    {
        check_scale(options.soft_scale);
        if (const auto doubt = options.code.doubt(); !doubt.empty()) {
            log(log_level::warning, doubt);
        }
        open(make_setup(options));
        restart();
    }

    std::size_t push(const void* items, std::size_t count) override
    {
        const auto* const from = static_cast<const std::byte*>(items);
        return take(count, [&](std::size_t first, std::size_t n, std::byte* to) {
            put(from + first * d_setup->raw_factor(), n, d_options.soft_scale, to);
        });
    }

    std::size_t push_steps(const std::int8_t* steps, std::size_t count) override
    {
        return take(count, [&](std::size_t first, std::size_t n, std::byte* to) {
            std::memcpy(to, steps + first, n);
        });
    }

    // From one batch only: its statistics belong to its first item.
    template <class Copy>
    std::size_t pull(std::size_t room, bool packed, Copy&& copy)
    {
        advance();
        const auto* slot = d_pipeline->ready();
        if (!slot || room == 0) {
            return 0;
        }
        if (d_given == 0) {
            tell_statistics(*slot);
        }
        const auto size = batch_size(d_batches.front(), packed);
        const auto n = std::min(room, size - d_given);
        if (!in_place(*slot, !packed)) {
            copy(slot->output, d_given, n);
        }
        pulled(n);
        d_given += n;
        if (d_given == size) {
            release_oldest();
        }
        return n;
    }

    void set_turn(const turn& t) override { d_turn = t; }

    void watch() override { d_watched = true; }
    std::optional<decoded_batch> oldest() override
    {
        advance();
        const auto* const slot = d_pipeline->ready();
        if (!slot) {
            return {};
        }
        tell_statistics(*slot);
        const auto& batch = d_batches.front();
        return decoded_batch{ reinterpret_cast<const std::uint8_t*>(slot->output),
                              batch.first_bit,
                              batch.first_bit + batch.bits,
                              slot->job.first_value + slot->job.values,
                              slot->job.blocks == d_batch,
                              slot->job.tallies
                                  ? reinterpret_cast<const check_tallies*>(slot->status)
                                  : nullptr,
                              d_setup->checks.every };
    }
    void release_oldest() override
    {
        d_given = 0;
        d_batches.pop_front();
        release();
        advance();
    }

    void
    read_values(std::uint64_t first, std::size_t count, std::int8_t* out) const override
    {
        // What is checked is mostly all in one batch.
        std::size_t left = count;
        const auto read = [&](const job& job, const std::byte* input) {
            const auto begin = std::max(first, job.first_value);
            const auto end = std::min(first + count, job.first_value + job.values);
            if (begin >= end) {
                return true;
            }
            const auto i = begin - job.first_value;
            if (left == count && end - begin < count) {
                std::fill_n(out, count, std::int8_t(0));
            }
            left -= std::min<std::size_t>(left, end - begin);
            if (job.floats) {
                convert(job,
                        reinterpret_cast<const float*>(input),
                        i,
                        end - begin,
                        out + (begin - first));
            } else {
                std::memcpy(out + (begin - first), input + i, end - begin);
            }
            return end - begin < count;
        };
        if (!d_pipeline->each_in_flight(
                [&](const slot& s) { return read(s.job, s.from); })) {
            return;
        }
        job open;
        open.first_value = d_input.first();
        open.values = d_input.end() - d_input.first();
        scale_lent(open);
        const auto* const s = d_pipeline->filling();
        read(open, d_input.contents(s ? s->input : nullptr));
        if (left == count) {
            std::fill_n(out, count, std::int8_t(0));
        }
    }

    std::size_t open_items() const override { return d_input.end() - d_input.first(); }

    std::size_t pull_packed(std::uint8_t* out, std::size_t bytes) override
    {
        const auto frame = output_bytes_per_frame();
        return pull(
            bytes, true, [&](const std::byte* from, std::size_t first, std::size_t n) {
                if (plan().streaming()) {
                    std::memcpy(out, from + first, n);
                    return;
                }
                in_frames(first, n, frame, [&](auto at, auto in_frame, auto i, auto m) {
                    std::memcpy(out + i, from + at + in_frame, m);
                });
            });
    }

    std::size_t pull_bits(std::uint8_t* out, std::size_t bits) override
    {
        return pull(
            bits, false, [&](const std::byte* from, std::size_t first, std::size_t n) {
                const std::size_t frame =
                    plan().streaming() ? first + n : plan().frame_bits;
                in_frames(first, n, frame, [&](auto at, auto in_frame, auto i, auto m) {
                    const auto* const bytes =
                        reinterpret_cast<const std::uint8_t*>(from + at);
                    unpack_bits(bytes, in_frame, m, out + i);
                });
            });
    }

    std::uint64_t output_of_item(std::uint64_t item, bool packed) const override
    {
        if (plan().streaming()) {
            const auto bit = code().stage_of(item * values_per_item());
            return packed ? bit / 8 : bit;
        }
        const auto frame = item / items_per_frame();
        const auto stage = code().stage_of(item % items_per_frame() * values_per_item());
        const auto bit = std::min<std::uint64_t>(stage, plan().frame_bits - 1);
        return packed ? frame * output_bytes_per_frame() + bit / 8
                      : frame * plan().frame_bits + bit;
    }

    std::size_t items_per_frame() const override
    {
        return plan().streaming() ? 1 : d_setup->frame_input_bytes();
    }

    void set_soft_scale(float scale) override
    {
        check_scale(scale);
        d_options.soft_scale = scale;
        // What is lent is scaled when its batch is decoded.
        if (!lending()) {
            d_scale = { 0, { scale, scale } };
        } else if (d_scale.from <= d_input.first()) {
            d_scale = { d_input.end(), { d_scale.values[1], scale } };
        } else { // a batch has two at most
            d_scale.values[1] = scale;
        }
    }
    const conv_code& code() const override { return d_options.code; }
    unsigned decode_length() const override { return plan().decode_length; }
    unsigned overlap() const override { return plan().overlap; }
    const block_plan& plan() const { return d_setup->plan; }

private:
    static constexpr std::size_t most_statistics = 1u << 16;

    // What a submitted slot will give.
    struct submitted {
        std::uint64_t first_bit;
        std::size_t bits;
        std::size_t frames;
        std::optional<batch_statistics> statistics; // if they are made
        std::vector<batch_statistics> fixed;        // of fixed places of the stream
    };

    // Pieces: parallel blocks of a stream, or frames.

    std::size_t pieces_per_slot() const { return d_batch / plan().blocks_per_frame; }
    std::size_t output_bytes_per_frame() const { return (plan().frame_bits + 7) / 8; }
    std::uint64_t values_per_item() const { return d_setup->packed4 ? 2 : 1; }
    // Soft values that have been taken; with padding, where frames have some.
    std::uint64_t have() const { return d_input.end() * values_per_item(); }
    bool in_pairs() const { return d_turn.any(); }

    // The item that the last piece of the open slot ends before.
    std::uint64_t end_of_slot() const
    {
        const auto pieces = d_next_piece + pieces_per_slot();
        if (!plan().streaming()) {
            return pieces * items_per_frame();
        }
        const auto values = code().values(pieces * plan().decode_length + plan().overlap);
        const auto unit = in_pairs() ? 2 : values_per_item();
        return (values + unit - 1) / unit * unit / values_per_item();
    }

    // The item a slot must begin with, if its first piece is number `piece`.
    std::uint64_t begin_of(std::uint64_t piece) const
    {
        if (!plan().streaming()) {
            return piece * items_per_frame();
        }
        const auto stage = piece * plan().decode_length;
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
        // The stages that all their values are there for.
        const auto values = in_pairs() ? have() / 2 * 2 : have();
        auto stages = code().stages(values);
        stages -= code().values(stages) > values;
        const auto end = d_next_piece * plan().decode_length + plan().overlap;
        return stages < end ? 0 : (stages - end) / plan().decode_length;
    }

    std::size_t left() const override
    {
        if (!plan().streaming()) {
            return waiting();
        }
        const auto stages = code().stages(have());
        const auto blocks = (stages + plan().decode_length - 1) / plan().decode_length;
        return blocks - std::min<std::uint64_t>(blocks, d_next_piece);
    }

    void advance() override
    {
        while (open_input()) {
            const auto whole = finishing() ? left() : waiting();
            const auto n = std::min(whole, pieces_per_slot());
            if (n == 0 || (n < pieces_per_slot() && !send_now())) {
                return;
            }
            submit_pieces(n);
        }
    }

    void submit_pieces(std::size_t pieces)
    {
        job job;
        submitted batch{};
        job.blocks = pieces * plan().blocks_per_frame;
        scale_lent(job);
        if (plan().streaming()) {
            job.first_block = d_next_piece;
            job.first_value = d_input.first() * values_per_item();
            job.values = have() - job.first_value;
            job.turn = d_turn;
            // A CPU's are counted where they are asked for.
            job.tallies = d_watched && d_setup->checks.every > 0 &&
                          d_pipeline->active().backend() == "cuda";
            const auto end = std::min<std::uint64_t>(
                (d_next_piece + pieces) * plan().decode_length, code().stages(have()));
            batch.first_bit = d_next_piece * plan().decode_length;
            batch.bits = end - batch.first_bit;
        } else {
            batch.first_bit = d_next_piece * plan().frame_bits;
            batch.bits = pieces * plan().frame_bits;
            batch.frames = pieces;
        }
        d_batches.push_back(batch);
        d_next_piece += pieces;
        const auto bytes = batch_size(batch, true);
        submit(job,
               std::min(begin_of(d_next_piece), d_input.end()),
               { 0, 1, bytes, bytes, lends_bits() ? batch.bits : 0 });
        if (waiting() > 0) {
            d_deadline.start();
        }
    }

    // The batch that is pulled begins.
    void tell_statistics(const slot& s)
    {
        auto& batch = d_batches.front();
        if (!batch.statistics) {
            estimate(s, batch);
        }
        statistics = batch.statistics;
        stream_statistics.insert(
            stream_statistics.end(), batch.fixed.begin(), batch.fixed.end());
        while (stream_statistics.size() > most_statistics) {
            stream_statistics.pop_front(); // nobody takes them
        }
    }

    // Says how floats are scaled that are lent for the open batch.
    void scale_lent(job& job) const
    {
        if (d_setup->floats && d_input.lending()) {
            job.floats = true;
            job.scaled_before = std::max(d_scale.from, d_input.first()) - d_input.first();
            std::copy_n(d_scale.values, 2, job.scale);
        }
    }

    // Frames that are packed in whole words lie as they are given.
    bool can_lend_output() const override
    {
        return plan().streaming() || plan().frame_bits % 32 == 0;
    }
    bool lends_bits() const override { return d_options.lend_bits; }

    void restart() override
    {
        d_batches.clear();
        d_given = 0;
        d_next_piece = 0;
        statistics.reset();
        stream_statistics.clear();
        d_scale = { 0, { d_options.soft_scale, d_options.soft_scale } };
    }

    void store(const std::byte* from, std::size_t items, std::byte* to) override
    {
        const auto begin = d_input.first();
        const auto before = std::clamp(d_scale.from, begin, begin + items) - begin;
        put(from, before, d_scale.values[0], to);
        put(from + before * d_setup->raw_factor(),
            items - before,
            d_scale.values[1],
            to + before);
    }

    // Items as they are pushed into a slot.
    void put(const std::byte* from, std::size_t items, float scale, std::byte* to) const
    {
        if (d_setup->floats) {
            convert(reinterpret_cast<const float*>(from), scale, to, items);
        } else if (items > 0) {
            copy_to_slot(to, from, items);
        }
    }

    // Estimated from input that is about to go.
    void settled(const slot& s, std::size_t batch) override
    {
        if (!d_batches[batch].statistics) {
            estimate(s, d_batches[batch]);
        }
    }

    std::uint64_t byte_of(std::uint64_t bit) const
    {
        return plan().streaming() ? bit / 8
                                  : bit / plan().frame_bits * output_bytes_per_frame() +
                                        bit % plan().frame_bits / 8;
    }

    void estimate(const slot& s, submitted& batch)
    {
        batch.statistics = d_estimate(s.job, s.from, s.output, batch.bits);
        batch.statistics->first_bit = batch.first_bit;
        batch.statistics->first_byte = byte_of(batch.first_bit);
        const std::size_t bits =
            plan().streaming() ? plan().decode_length : plan().frame_bits;
        const auto every = d_estimate.pieces_between();
        const auto pieces = (batch.bits + bits - 1) / bits;
        const auto past = batch.first_bit / bits % every;
        for (auto piece = past ? every - past : 0; piece < pieces; piece += every) {
            batch.fixed.push_back(d_estimate.of_piece(
                s.job, piece, s.from, s.output, batch.bits - piece * bits));
            batch.fixed.back().first_bit = batch.first_bit + piece * bits;
            batch.fixed.back().first_byte = byte_of(batch.fixed.back().first_bit);
        }
    }

    // Calls copy(output of the frame, first in it, first of n, count) for each frame.
    template <class Copy>
    void in_frames(std::size_t first, std::size_t n, std::size_t frame, Copy&& copy) const
    {
        for (std::size_t i = 0; i < n;) {
            const auto in_frame = (first + i) % frame;
            const auto m = std::min(n - i, frame - in_frame);
            copy((first + i) / frame * d_setup->frame_output_bytes(), in_frame, i, m);
            i += m;
        }
    }

    std::size_t batch_size(const submitted& batch, bool packed) const
    {
        if (!packed) {
            return batch.bits;
        }
        return plan().streaming() ? (batch.bits + 7) / 8
                                  : batch.frames * output_bytes_per_frame();
    }

    viterbi_options d_options;
    channel_estimator d_estimate;
    std::deque<submitted> d_batches; // in flight, oldest first
    std::size_t d_given = 0;         // output items of the oldest already pulled
    std::uint64_t d_next_piece = 0;  // that the open slot begins with
    bool d_watched = false;          // by who takes batches as they are
    turn d_turn;                     // of the input

    // Of floats that are lent: the scale before an item of the stream, and from it on.
    struct {
        std::uint64_t from;
        float values[2];
    } d_scale{};
};

std::unique_ptr<decoder::engine> viterbi_decoder::make(const viterbi_options& options,
                                                       decoder_hooks hooks)
{
    require(options.lock == "off" || options.lock == "auto",
            "lock",
            '"' + options.lock + '"',
            "off and auto");
    if (options.lock == "auto") {
        return make_locking(options, std::move(hooks));
    }
    return std::make_unique<streaming>(options, std::move(hooks));
}

viterbi_decoder::viterbi_decoder(const viterbi_options& options, decoder_hooks hooks)
    : decoder(make(options, std::move(hooks)))
{
}

viterbi_decoder::impl& viterbi_decoder::self() const
{
    return dynamic_cast<impl&>(inside());
}

std::size_t viterbi_decoder::push(const void* items, std::size_t count)
{
    return self().push(items, count);
}

std::size_t viterbi_decoder::pull_packed(std::uint8_t* out, std::size_t bytes)
{
    return self().pull_packed(out, bytes);
}

std::size_t viterbi_decoder::pull_bits(std::uint8_t* out, std::size_t bits)
{
    return self().pull_bits(out, bits);
}

bool viterbi_decoder::take_statistics(batch_statistics& statistics)
{
    auto& there = self().statistics;
    if (!there) {
        return false;
    }
    statistics = *there;
    there.reset();
    return true;
}

bool viterbi_decoder::take_stream_statistics(batch_statistics& statistics)
{
    auto& there = self().stream_statistics;
    if (there.empty()) {
        return false;
    }
    statistics = there.front();
    there.pop_front();
    return true;
}

void viterbi_decoder::set_soft_scale(float scale) { self().set_soft_scale(scale); }

bool viterbi_decoder::take_lock(viterbi_lock& change) { return self().take_lock(change); }
viterbi_lock viterbi_decoder::lock() const { return self().lock(); }
std::uint64_t viterbi_decoder::placed_items() const { return self().placed_items(); }
const conv_code& viterbi_decoder::code() const { return self().code(); }
unsigned viterbi_decoder::decode_length() const { return self().decode_length(); }
unsigned viterbi_decoder::overlap() const { return self().overlap(); }
std::size_t viterbi_decoder::items_per_frame() const { return self().items_per_frame(); }

std::uint64_t viterbi_decoder::output_of_item(std::uint64_t item, bool packed) const
{
    return self().output_of_item(item, packed);
}

} // namespace gr::gpufec
