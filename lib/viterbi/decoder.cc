// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The stream decoder: fills slots with soft values, keeps what the next blocks overlap,
 * and hands the decoded bits out in order. */

#include "backends.h"
#include "job.h"
#include "pipeline/deadline_timer.h"
#include "pipeline/pipeline.h"
#include "statistics.h"
#include <volk/volk.h>
#include <cmath>
#include <cstring>
#include <deque>
#include <optional>
#include <sstream>

namespace gr::gpufec {

using namespace viterbi;

namespace {

using clock = deadline_timer::clock;

template <class Value>
void check(bool good, const char* name, const Value& value, const char* allowed)
{
    if (!good) {
        std::ostringstream text;
        text << name << " is " << value << ": allowed are " << allowed;
        throw std::invalid_argument(text.str());
    }
}

void check_scale(float scale)
{
    check(
        std::isfinite(scale) && scale > 0, "soft_scale", scale, "finite values above 0");
}

void check_latency(double ms)
{
    check(std::isfinite(ms) && ms >= 0, "max_latency_ms", ms, "finite values from 0");
}

// Bits from number `first` on, most significant first, one a byte.
void unpack(const std::byte* from, std::size_t first, std::size_t n, std::uint8_t* out)
{
    std::size_t i = 0;
    const auto one = [&] {
        out[i] = std::uint8_t(from[(first + i) / 8] >> (7 - (first + i) % 8)) & 1u;
        ++i;
    };
    while (i < n && (first + i) % 8 != 0) {
        one();
    }
    for (; i + 8 <= n; i += 8) {
        // A copy of the byte for each of its bits, all but that bit masked out, and what
        // is left made 1.
        constexpr std::uint64_t each = 0x0101010101010101u;
        const auto copies = std::uint64_t(from[(first + i) / 8]) * each;
        const auto bits = (((copies & 0x0102040810204080u) + 0x7f * each) >> 7) & each;
        std::memcpy(out + i, &bits, 8);
    }
    while (i < n) {
        one();
    }
}

const viterbi_options& checked(const viterbi_options& o)
{
    check(o.slots >= 1 && o.slots <= 16, "slots", o.slots, "1 to 16");
    check(o.threads >= 1 && o.threads <= 256, "threads", o.threads, "1 to 256");
    check(o.batch <= 1u << 24, "batch", o.batch, "0 to 16777216");
    check(!o.devices.empty() && o.devices.size() <= 16,
          "number of devices",
          o.devices.size(),
          "1 to 16");
    check(o.cuda_kernel == "auto" || o.cuda_kernel == "pbvd" ||
              o.cuda_kernel == "registers" || o.cuda_kernel == "fused",
          "cuda_kernel",
          '"' + o.cuda_kernel + '"',
          "auto, pbvd, registers and fused");
    check_scale(o.soft_scale);
    check_latency(o.max_latency_ms);
    return o;
}

} // namespace

class viterbi_decoder::impl
{
public:
    impl(const viterbi_options& options, viterbi_decoder::hooks h)
        : d_options(checked(options)),
          d_hooks(std::move(h)),
          d_setup(d_options.code,
                  make_block_plan(d_options.code,
                                  d_options.ends,
                                  d_options.frame_bits,
                                  d_options.decode_length,
                                  d_options.overlap),
                  d_options.format == soft_format::packed4),
          d_estimate(d_setup),
          d_timer([this] { d_hooks.wake(); })
    {
        make_pipeline();
        reset();
    }

    std::size_t push(const void* items, std::size_t count)
    {
        return take(count,
                    [&](std::size_t first, std::size_t n) { store(items, first, n); });
    }

    bool can_lend() const
    {
        return d_options.format != soft_format::float32 && have() == 0;
    }

    std::size_t lend(const void* items, std::size_t count)
    {
        d_lending = true;
        d_lent = static_cast<const std::byte*>(items);
        return take(count - lent(), [](std::size_t, std::size_t) {});
    }

    std::size_t lent() const
    {
        return d_lending ? (have() - d_lent_from) / values_per_item() : 0;
    }

    std::size_t take_back()
    {
        if (!d_lending) {
            return 0;
        }
        const auto needed = done()              ? have()
                            : d_batches.empty() ? d_first_value
                                                : d_batches.front().first_value;
        const auto items = (needed - d_lent_from) / values_per_item();
        d_lent += items;
        d_lent_from += items * values_per_item();
        return items;
    }

    void end_lending()
    {
        if (!d_lending) {
            return;
        }
        auto batch = d_batches.begin();
        d_pipeline->settle([&](const auto& slot) {
            batch->statistics = estimate(slot, *batch);
            ++batch;
        });
        const auto* const rest = open_input();
        d_kept.assign(rest, rest + d_setup.input_bytes(d_values));
        d_carry = { d_kept.data(), d_kept.size() };
        d_open = false;
        d_lending = false;
    }

    bool lock_lent(void* memory, std::size_t bytes)
    {
        return d_pipeline->lock_lent(memory, bytes);
    }
    void unlock_lent(void* memory) { d_pipeline->unlock_lent(memory); }

    void finish()
    {
        d_finishing = true;
        advance();
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
        const auto& batch = d_batches.front();
        if (d_given == 0) {
            d_statistics = batch.statistics ? batch.statistics : estimate(*slot, batch);
        }
        const auto size = batch_size(batch, packed);
        const auto n = std::min(room, size - d_given);
        copy(slot->output, d_given, n);
        d_given += n;
        if (d_given == size) {
            d_given = 0;
            d_batches.pop_front();
            d_pipeline->release();
            advance();
        }
        return n;
    }

    std::size_t pull_packed(std::uint8_t* out, std::size_t bytes)
    {
        const auto frame = output_bytes_per_frame();
        return pull(
            bytes, true, [&](const std::byte* from, std::size_t first, std::size_t n) {
                if (d_setup.plan.streaming()) {
                    std::memcpy(out, from + first, n);
                    return;
                }
                for (std::size_t i = 0; i < n;) {
                    const auto in_frame = (first + i) % frame;
                    const auto m = std::min(n - i, frame - in_frame);
                    const auto at = (first + i) / frame * d_setup.frame_output_bytes();
                    std::memcpy(out + i, from + at + in_frame, m);
                    i += m;
                }
            });
    }

    std::size_t pull_bits(std::uint8_t* out, std::size_t bits)
    {
        return pull(
            bits, false, [&](const std::byte* from, std::size_t first, std::size_t n) {
                const std::size_t frame =
                    d_setup.plan.streaming() ? first + n : d_setup.plan.frame_bits;
                for (std::size_t i = 0; i < n;) {
                    const auto in_frame = (first + i) % frame;
                    const auto m = std::min(n - i, frame - in_frame);
                    const auto at = (first + i) / frame * d_setup.frame_output_bytes();
                    unpack(from + at, in_frame, m, out + i);
                    i += m;
                }
            });
    }

    bool ready() { return d_pipeline->ready() != nullptr; }
    bool full() const { return d_pipeline->full(); }
    bool due() const { return whole_pieces() > 0 && clock::now() >= d_deadline; }
    bool done() const { return d_finishing && remaining() == 0 && d_pipeline->empty(); }
    bool wait(std::chrono::milliseconds limit) { return d_pipeline->wait(limit); }

    void reset()
    {
        d_pipeline->drain();
        d_batches.clear();
        d_given = 0;
        d_next_piece = 0;
        d_first_value = 0;
        d_values = 0;
        d_carry = {};
        d_open = true;
        d_lending = false;
        d_lent_from = 0;
        d_finishing = false;
        d_statistics.reset();
        stop_clock();
    }

    std::uint64_t output_of_item(std::uint64_t item, bool packed) const
    {
        const auto& plan = d_setup.plan;
        if (plan.streaming()) {
            const auto bit = d_options.code.stage_of(item * values_per_item());
            return packed ? bit / 8 : bit;
        }
        const auto frame = item / items_per_frame();
        const auto stage =
            d_options.code.stage_of(item % items_per_frame() * values_per_item());
        const auto bit = std::min<std::uint64_t>(stage, plan.frame_bits - 1);
        return packed ? frame * output_bytes_per_frame() + bit / 8
                      : frame * plan.frame_bits + bit;
    }

    std::size_t items_per_frame() const
    {
        return d_setup.plan.streaming() ? 1 : d_setup.frame_input_bytes();
    }

    void set_max_latency_ms(double milliseconds)
    {
        d_options.max_latency_ms = milliseconds;
        if (d_waiting) {
            set_deadline();
        }
    }

    //! Bytes of the input of all slots.
    std::size_t input_bytes() const
    {
        return d_pipeline->slots() * d_pipeline->active().limits().input_bytes;
    }

    const batch_decoder<job>& active() const { return d_pipeline->active(); }

    viterbi_options d_options;
    const viterbi_decoder::hooks d_hooks;
    const setup d_setup;
    std::size_t d_batch = 0; // parallel blocks a slot
    std::optional<batch_statistics> d_statistics;

private:
    // What a submitted slot will give.
    struct submitted {
        std::uint64_t first_bit;
        std::size_t bits;
        std::size_t frames;
        std::uint64_t first_value;
        std::optional<batch_statistics> statistics; // if its input is gone
    };
    // Input of the slot before that the next slot begins with.
    struct carried {
        const std::byte* from = nullptr;
        std::size_t bytes = 0;
    };

    void make_pipeline()
    {
        auto made = make_viterbi_decoders(d_setup, d_options);
        d_batch = made.decoders.front()->limits().pieces;
        if (d_batch < d_options.batch) {
            d_hooks.log(level::warning,
                        "the device's memory holds batches of " +
                            std::to_string(d_batch) + " parallel blocks, not " +
                            std::to_string(d_options.batch));
        }
        report(*made.decoders.front(), made.missing);

        pipeline<job>::hooks h;
        h.completion = d_hooks.wake;
        if (d_options.where == backend::automatic) {
            h.fallback = [this] { return make_cpu(d_setup, d_batch, d_options.threads); };
        }
        h.failed_over = [this](const std::string& what) {
            d_hooks.log(level::error, failed_over_text(what, d_pipeline->devices()));
        };
        d_pipeline.emplace(std::move(made.decoders), d_options.slots, std::move(h));
    }

    void report(const batch_decoder<job>& decoder, const std::string& reason) const
    {
        const auto& plan = d_setup.plan;
        std::ostringstream text;
        text << d_options.code.to_string() << " on " << decoder.backend() << " ("
             << decoder.device() << "), D=" << plan.decode_length << " L=" << plan.overlap
             << ", batches of " << d_batch;
        if (!reason.empty()) {
            text << "; no CUDA: " << reason;
        }
        d_hooks.log(level::info, text.str());
    }

    // Pieces: parallel blocks of a stream, or frames.

    std::size_t pieces_per_slot() const
    {
        return d_batch / d_setup.plan.blocks_per_frame;
    }

    std::size_t output_bytes_per_frame() const
    {
        return (d_setup.plan.frame_bits + 7) / 8;
    }

    // The soft value, counted from the beginning, that piece number `piece` ends with.
    std::uint64_t end_value(std::uint64_t piece) const
    {
        const auto& plan = d_setup.plan;
        return plan.streaming() ? d_options.code.values((piece + 1) * plan.decode_length +
                                                        plan.overlap)
                                : (piece + 1) * values_per_frame();
    }

    // Soft values from one frame's beginning to the next one's, with padding.
    std::uint64_t values_per_frame() const
    {
        return d_setup.frame_input_bytes() * (d_setup.packed4 ? 2 : 1);
    }

    // The soft value a slot must begin with, if its first piece is number `piece`.
    std::uint64_t begin_value(std::uint64_t piece) const
    {
        const auto& plan = d_setup.plan;
        if (!plan.streaming()) {
            return piece * values_per_frame();
        }
        const auto stage = piece * plan.decode_length;
        const auto value =
            d_options.code.values(stage - std::min<std::uint64_t>(stage, plan.overlap));
        return d_setup.packed4 ? value / 2 * 2 : value;
    }

    std::uint64_t have() const { return d_first_value + d_values; }

    // Complete pieces in the open slot.
    std::size_t whole_pieces() const
    {
        const auto& plan = d_setup.plan;
        if (!plan.streaming()) {
            return d_values / values_per_frame();
        }
        // The stages that all their values are there for.
        const auto& code = d_options.code;
        auto stages = code.stages(have());
        stages -= code.values(stages) > have();
        const auto end = d_next_piece * plan.decode_length + plan.overlap;
        return stages < end ? 0 : (stages - end) / plan.decode_length;
    }

    // Pieces that finish() must still submit.
    std::size_t remaining() const
    {
        const auto& plan = d_setup.plan;
        if (!plan.streaming()) {
            return whole_pieces();
        }
        const auto stages = d_options.code.stages(have());
        const auto blocks = (stages + plan.decode_length - 1) / plan.decode_length;
        return blocks - std::min<std::uint64_t>(blocks, d_next_piece);
    }

    std::uint64_t values_per_item() const { return d_setup.packed4 ? 2 : 1; }

    batch_statistics estimate(const pipeline<job>::slot& slot,
                              const submitted& batch) const
    {
        auto statistics = d_estimate(slot.job, slot.from, slot.output, batch.bits);
        statistics.first_bit = batch.first_bit;
        return statistics;
    }

    // Takes what fits of `count` items: store(first, n) puts n of them into the open
    // slot.
    template <class Store>
    std::size_t take(std::size_t count, Store&& store)
    {
        std::size_t taken = 0;
        advance();
        while (taken < count && open_slot()) {
            const auto n = std::min<std::size_t>(count - taken, items_wanted());
            if (n > 0) {
                store(taken, n);
                d_values += n * values_per_item();
                taken += n;
                start_clock();
            }
            advance();
        }
        return taken;
    }

    // Makes sure the slot to fill begins with what the last one left over.
    bool open_slot()
    {
        auto* const slot = d_pipeline->filling();
        if (slot && !d_open) {
            if (!d_lending) {
                std::memmove(slot->input, d_carry.from, d_carry.bytes);
            }
            d_open = true;
        }
        return slot != nullptr;
    }

    // Where the open slot's input begins.
    const std::byte* open_input()
    {
        return d_lending ? d_lent + d_setup.input_bytes(d_first_value - d_lent_from)
                         : d_pipeline->filling()->input;
    }

    std::size_t items_wanted() const
    {
        const auto wanted = end_value(d_next_piece + pieces_per_slot() - 1);
        const auto values = wanted - std::min(wanted, have());
        return d_setup.packed4 ? (values + 1) / 2 : values;
    }

    void store(const void* items, std::size_t first, std::size_t n)
    {
        auto* const to = d_pipeline->filling()->input + d_setup.input_bytes(d_values);
        if (d_options.format == soft_format::float32) {
            convert(static_cast<const float*>(items) + first, to, n);
        } else {
            std::memcpy(to, static_cast<const std::byte*>(items) + first, n);
        }
    }

    void convert(const float* from, std::byte* to, std::size_t n) const
    {
        constexpr std::size_t chunk = 1024;
        alignas(64) float clean[chunk];
        for (std::size_t i = 0; i < n; i += chunk) {
            const auto m = std::min(chunk, n - i);
            for (std::size_t k = 0; k < m; ++k) {
                const float x = from[i + k];
                clean[k] = x == x ? x : 0.0f; // VOLK would make something of a NaN
            }
            volk_32f_s32f_convert_8i(
                reinterpret_cast<std::int8_t*>(to) + i, clean, d_options.soft_scale, m);
        }
    }

    // Submits what is full, due, or, at the end, left.
    void advance()
    {
        while (open_slot()) {
            std::size_t n = std::min(whole_pieces(), pieces_per_slot());
            if (d_finishing) {
                n = std::min(remaining(), pieces_per_slot());
            } else if (n < pieces_per_slot() && clock::now() < d_deadline) {
                n = 0;
            }
            if (n == 0) {
                return;
            }
            submit(n);
        }
    }

    void submit(std::size_t pieces)
    {
        const auto& plan = d_setup.plan;
        job job;
        submitted batch{};
        job.blocks = pieces * plan.blocks_per_frame;
        if (plan.streaming()) {
            job.first_block = d_next_piece;
            job.first_value = d_first_value;
            job.values = d_values;
            const auto end =
                std::min<std::uint64_t>((d_next_piece + pieces) * plan.decode_length,
                                        d_options.code.stages(have()));
            batch.first_bit = d_next_piece * plan.decode_length;
            batch.bits = end - batch.first_bit;
        } else {
            batch.first_bit = d_next_piece * plan.frame_bits;
            batch.bits = pieces * plan.frame_bits;
            batch.frames = pieces;
        }
        batch.first_value = d_first_value;
        const auto* const input = open_input();
        const auto next = std::min(begin_value(d_next_piece + pieces), have());
        const auto skipped = next - d_first_value;
        const auto used = d_setup.packed4 ? skipped / 2 : skipped;

        d_pipeline->submit(job, input);
        d_batches.push_back(batch);
        d_next_piece += pieces;
        d_first_value = next;
        d_values -= skipped;
        d_carry = { input + used, d_setup.input_bytes(d_values) };
        d_open = false;
        stop_clock();
        if (whole_pieces() > 0) {
            start_clock();
        }
    }

    std::size_t batch_size(const submitted& batch, bool packed) const
    {
        if (!packed) {
            return batch.bits;
        }
        return d_setup.plan.streaming() ? (batch.bits + 7) / 8
                                        : batch.frames * output_bytes_per_frame();
    }

    void start_clock()
    {
        if (!d_waiting) {
            d_waiting = clock::now();
            set_deadline();
        }
    }

    void set_deadline()
    {
        const std::chrono::duration<double, std::milli> latency(d_options.max_latency_ms);
        d_deadline = *d_waiting + std::chrono::duration_cast<clock::duration>(latency);
        d_timer.set(d_deadline);
    }

    void stop_clock()
    {
        d_waiting.reset();
        d_deadline = clock::time_point::max();
        d_timer.clear();
    }

    const channel_estimator d_estimate;
    std::deque<submitted> d_batches; // in flight, oldest first
    std::size_t d_given = 0;         // output items of the oldest already pulled

    std::uint64_t d_next_piece = 0;  // that the open slot begins with
    std::uint64_t d_first_value = 0; // that the open slot's input begins with
    std::uint64_t d_values = 0;      // in the open slot
    carried d_carry;
    bool d_open = true; // whether the carried input is in its slot
    bool d_finishing = false;
    std::optional<clock::time_point> d_waiting; // since when: the first item for a batch
    clock::time_point d_deadline = clock::time_point::max();

    // While the caller lends its input:
    bool d_lending = false;
    const std::byte* d_lent = nullptr; // the oldest item that was not taken back
    std::uint64_t d_lent_from = 0;     // and the number of its first value
    std::vector<std::byte> d_kept;     // what was carried over when lending ended

    deadline_timer d_timer;
    std::optional<pipeline<job>> d_pipeline; // last: its decoders call the hooks
};

viterbi_decoder::viterbi_decoder(const viterbi_options& options, hooks h)
    : d_impl(std::make_unique<impl>(options, std::move(h)))
{
}

viterbi_decoder::viterbi_decoder(const viterbi_options& options)
    : viterbi_decoder(options, hooks())
{
}

viterbi_decoder::~viterbi_decoder() = default;

std::size_t viterbi_decoder::push(const void* items, std::size_t count)
{
    return d_impl->push(items, count);
}

bool viterbi_decoder::can_lend() const { return d_impl->can_lend(); }

std::size_t viterbi_decoder::lend(const void* items, std::size_t count)
{
    return d_impl->lend(items, count);
}

std::size_t viterbi_decoder::lent() const { return d_impl->lent(); }
std::size_t viterbi_decoder::take_back() { return d_impl->take_back(); }
void viterbi_decoder::end_lending() { d_impl->end_lending(); }

bool viterbi_decoder::lock_lent(void* memory, std::size_t bytes)
{
    return d_impl->lock_lent(memory, bytes);
}

void viterbi_decoder::unlock_lent(void* memory) { d_impl->unlock_lent(memory); }

void viterbi_decoder::finish() { d_impl->finish(); }

std::size_t viterbi_decoder::pull_packed(std::uint8_t* out, std::size_t bytes)
{
    return d_impl->pull_packed(out, bytes);
}

std::size_t viterbi_decoder::pull_bits(std::uint8_t* out, std::size_t bits)
{
    return d_impl->pull_bits(out, bits);
}

bool viterbi_decoder::ready() { return d_impl->ready(); }
bool viterbi_decoder::due() const { return d_impl->due(); }
bool viterbi_decoder::full() const { return d_impl->full(); }
bool viterbi_decoder::done() const { return d_impl->done(); }

bool viterbi_decoder::wait(std::chrono::milliseconds limit)
{
    return d_impl->wait(limit);
}

void viterbi_decoder::reset() { d_impl->reset(); }

bool viterbi_decoder::take_statistics(batch_statistics& statistics)
{
    if (!d_impl->d_statistics) {
        return false;
    }
    statistics = *d_impl->d_statistics;
    d_impl->d_statistics.reset();
    return true;
}

void viterbi_decoder::set_soft_scale(float scale)
{
    check_scale(scale);
    d_impl->d_options.soft_scale = scale;
}

void viterbi_decoder::set_max_latency_ms(double milliseconds)
{
    check_latency(milliseconds);
    d_impl->set_max_latency_ms(milliseconds);
}

const conv_code& viterbi_decoder::code() const { return d_impl->d_options.code; }

unsigned viterbi_decoder::decode_length() const
{
    return d_impl->d_setup.plan.decode_length;
}

unsigned viterbi_decoder::overlap() const { return d_impl->d_setup.plan.overlap; }
std::size_t viterbi_decoder::batch() const { return d_impl->d_batch; }

std::size_t viterbi_decoder::input_bytes() const { return d_impl->input_bytes(); }

std::size_t viterbi_decoder::items_per_frame() const { return d_impl->items_per_frame(); }

std::uint64_t viterbi_decoder::output_of_item(std::uint64_t item, bool packed) const
{
    return d_impl->output_of_item(item, packed);
}

std::string viterbi_decoder::active_backend() const { return d_impl->active().backend(); }
std::string viterbi_decoder::active_device() const { return d_impl->active().device(); }

} // namespace gr::gpufec
