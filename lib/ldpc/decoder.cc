// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The stream decoder: fills slots with frames, and hands decided bits out in order. */

#include "backends.h"
#include "frame_batch.h"
#include "input_format.h"
#include "pipeline/deadline_timer.h"
#include "pipeline/pipeline.h"
#include "pipeline/refuse.h"
#include <cmath>
#include <cstring>
#include <deque>
#include <optional>

namespace gr::gpufec {

using namespace ldpc;

namespace {

using clock = deadline_timer::clock;

template <class Value>
void check(bool good, const char* name, const Value& value, const char* allowed)
{
    if (!good) {
        refuse(name, value, std::string("allowed are ") + allowed);
    }
}

void check_scale(float scale)
{
    check(std::isfinite(scale) && scale > 0, "llr_scale", scale, "finite values above 0");
}

void check_latency(double ms)
{
    check(std::isfinite(ms) && ms >= 0, "max_latency_ms", ms, "finite values from 0");
}

const ldpc_options& checked(const ldpc_options& o)
{
    check(!o.codes.empty(), "number of codes", o.codes.size(), "1 and more");
    check(o.max_iterations >= 1 && o.max_iterations <= 1000,
          "max_iterations",
          o.max_iterations,
          "1 to 1000");
    check(o.slots >= 1 && o.slots <= 16, "slots", o.slots, "1 to 16");
    check(o.threads >= 1 && o.threads <= 256, "threads", o.threads, "1 to 256");
    check(o.batch <= 1u << 14, "batch", o.batch, "0 to 16384");
    check(!o.devices.empty() && o.devices.size() <= 16,
          "number of devices",
          o.devices.size(),
          "1 to 16");
    check_scale(o.llr_scale);
    check_latency(o.max_latency_ms);
    for (const auto& code : o.codes) {
        if (!o.codeword && !code.can_encode()) {
            refuse("output",
                   "message",
                   "the message positions of " + code.name() +
                       " are not known, allowed is codeword");
        }
    }
    return o;
}

} // namespace

class ldpc_decoder::impl
{
public:
    impl(const ldpc_options& options, ldpc_decoder::hooks h)
        : d_options(checked(options)),
          d_hooks(std::move(h)),
          d_setup(make_setup(d_options)),
          d_formats(d_options.codes.size()),
          d_timer([this] { d_hooks.wake(); })
    {
        make_pipeline();
        d_filling.emplace(d_setup, d_pipeline->active().limits());
        reset();
    }

    void select(unsigned code)
    {
        if (code >= d_options.codes.size()) {
            throw std::out_of_range("code " + std::to_string(code) + " of " +
                                    std::to_string(d_options.codes.size()));
        }
        d_next_code = code;
    }

    unsigned selected() const { return d_have ? d_code : d_next_code; }

    std::size_t missing() const
    {
        return d_have ? d_options.codes[d_code].n() - d_have : 0;
    }

    std::size_t push(const void* values, std::size_t count)
    {
        std::size_t taken = 0;
        advance();
        while (taken < count && d_pipeline->filling()) {
            if (d_have == 0) {
                d_code = d_next_code;
            }
            const std::size_t n = d_options.codes[d_code].n();
            const auto m = std::min(count - taken, n - d_have);
            // A whole frame goes to the slot at once, pieces of one are gathered first.
            auto* const to = m == n ? place_of_frame() : d_partial.data();
            format().convert(
                values, taken, m, to + (m == n ? 0 : d_have * d_setup.value_bytes()));
            taken += m;
            d_have += m;
            if (d_have == n) {
                if (m < n) {
                    std::memcpy(
                        place_of_frame(), d_partial.data(), n * d_setup.value_bytes());
                }
                d_have = 0;
            }
            advance();
        }
        return taken;
    }

    void drop_incomplete() { d_have = 0; }

    void finish()
    {
        d_finishing = true;
        d_have = 0;
        advance();
    }

    std::size_t pull_packed(std::uint8_t* out, std::size_t bytes)
    {
        return pull(bytes, true, [out](const std::uint8_t* from, auto first, auto n) {
            std::memcpy(out, from + first, n);
        });
    }

    std::size_t pull_bits(std::uint8_t* out, std::size_t bits)
    {
        return pull(bits, false, [out](const std::uint8_t* from, auto first, auto n) {
            for (std::size_t i = 0; i < n; ++i) {
                out[i] = from[(first + i) / 8] >> (7 - (first + i) % 8) & 1u;
            }
        });
    }

    bool ready() { return d_pipeline->ready() != nullptr; }
    bool full() const { return d_pipeline->full(); }
    bool due() const { return d_filling->size() > 0 && clock::now() >= d_deadline; }
    bool done() const
    {
        return d_finishing && d_filling->size() == 0 && d_pipeline->empty();
    }
    bool wait(std::chrono::milliseconds limit) { return d_pipeline->wait(limit); }

    void reset()
    {
        d_pipeline->drain();
        d_batches.clear();
        d_filling->clear();
        d_have = 0;
        d_next_code = 0;
        d_given_frames = 0;
        d_given = 0;
        d_frame = 0;
        d_finishing = false;
        d_report.reset();
        stop_clock();
    }

    std::size_t output_bits(unsigned code) const
    {
        const auto& c = d_options.codes.at(code);
        return d_options.codeword ? c.n() : c.k();
    }

    void set_llr_scale(float scale)
    {
        check_scale(scale);
        d_options.llr_scale = scale;
        for (auto& f : d_formats) {
            f.reset();
        }
    }

    const batch_decoder<job>& active() const { return d_pipeline->active(); }

    ldpc_options d_options;
    std::optional<report> d_report;
    std::vector<std::uint8_t> d_codeword; // of the frame it is about

private:
    using frames = std::vector<frame_batch::frame>;

    void make_pipeline()
    {
        auto made = make_ldpc_decoders(d_setup, d_options);
        const auto batch = made.decoders.front()->limits().pieces;
        log_backend(*made.decoders.front(), made.missing);

        pipeline<job>::hooks h;
        h.completion = d_hooks.wake;
        if (d_options.where == backend::automatic) {
            h.fallback = [this, batch] {
                return make_cpu(d_setup, batch, d_options.threads);
            };
        }
        h.failed_over = [this](const std::string& what) {
            d_hooks.log(level::error, failed_over_text(what, d_pipeline->devices()));
        };
        std::size_t largest = 0;
        for (const auto& code : d_options.codes) {
            largest = std::max(largest, d_setup.frame_input_bytes(code));
        }
        d_partial.resize(largest);
        d_pipeline.emplace(std::move(made.decoders), d_options.slots, std::move(h));
    }

    void log_backend(const batch_decoder<job>& decoder, const std::string& reason) const
    {
        const auto& codes = d_options.codes;
        std::string text = codes[0].name();
        if (codes.size() > 1) {
            text += " and " + std::to_string(codes.size() - 1) + " more codes";
        }
        text += " on " + decoder.backend() + " (" + decoder.device() + "), batches of " +
                std::to_string(decoder.limits().pieces);
        if (!reason.empty()) {
            text += "; no CUDA: " + reason;
        }
        d_hooks.log(level::info, text);
    }

    const input_format& format()
    {
        auto& f = d_formats[d_code];
        if (!f) {
            f.emplace(d_setup.rule(d_options.codes[d_code]),
                      d_options.format,
                      d_options.llr_scale);
        }
        return *f;
    }

    std::byte* place_of_frame()
    {
        start_clock();
        return d_pipeline->filling()->input + d_filling->add(d_code);
    }

    // Submits a batch that is full, due, or, at the end, left.
    void advance()
    {
        const bool now = d_filling->full() || d_finishing || clock::now() >= d_deadline;
        auto* const slot = d_pipeline->filling();
        if (now && slot && d_filling->size() > 0) {
            const auto job = d_filling->make_job(slot->input);
            d_batches.push_back(d_filling->take());
            stop_clock();
            d_pipeline->submit(job);
        }
    }

    // From one frame only: its report belongs to its first item.
    template <class Copy>
    std::size_t pull(std::size_t room, bool packed, Copy&& copy)
    {
        advance();
        const auto* const slot = d_pipeline->ready();
        if (!slot || room == 0) {
            return 0;
        }
        const auto& batch = d_batches.front();
        const auto& frame = batch[d_given_frames];
        if (d_given == 0) {
            begin_frame(*slot, frame);
        }
        const auto bits = output_bits(frame.code);
        const auto size = packed ? (bits + 7) / 8 : bits;
        const auto n = std::min(room, size - d_given);
        copy(d_bits, d_given, n);
        d_given += n;
        if (d_given == size) {
            end_frame(batch.size());
        }
        return n;
    }

    void begin_frame(const pipeline<job>::slot& slot, const frame_batch::frame& frame)
    {
        const auto& status =
            reinterpret_cast<const frame_status*>(slot.status)[d_given_frames];
        d_report = report{ d_frame++, frame.code, status.iterations, status.unsatisfied };
        d_bits = reinterpret_cast<const std::uint8_t*>(slot.output + frame.output);
        const auto& code = d_options.codes[frame.code];
        if (d_options.keep_codeword) {
            d_codeword.assign(d_bits, d_bits + (code.n() + 7) / 8);
        }
        // Where the message comes first, it is there already, padding included unless
        // parity follows in its last byte.
        const bool as_it_is =
            code.systematic_prefix() && (d_setup.message_only || code.k() % 8 == 0);
        if (!d_options.codeword && !as_it_is) {
            d_message.assign((code.k() + 7) / 8, 0);
            for (unsigned i = 0; i < code.k(); ++i) {
                const auto at = code.message_positions()[i];
                d_message[i / 8] |= (d_bits[at / 8] >> (7 - at % 8) & 1u) << (7 - i % 8);
            }
            d_bits = d_message.data();
        }
    }

    void end_frame(std::size_t frames_in_batch)
    {
        d_given = 0;
        if (++d_given_frames == frames_in_batch) {
            d_given_frames = 0;
            d_batches.pop_front();
            d_pipeline->release();
            advance();
        }
    }

    void start_clock()
    {
        if (d_deadline == clock::time_point::max()) {
            const std::chrono::duration<double, std::milli> latency(
                d_options.max_latency_ms);
            d_deadline =
                clock::now() + std::chrono::duration_cast<clock::duration>(latency);
            d_timer.set(d_deadline);
        }
    }

    void stop_clock()
    {
        d_deadline = clock::time_point::max();
        d_timer.clear();
    }

    const ldpc_decoder::hooks d_hooks;
    const setup d_setup;
    std::vector<std::optional<input_format>> d_formats; // of each code, once needed
    std::optional<frame_batch> d_filling;
    std::deque<frames> d_batches; // in flight, oldest first

    unsigned d_next_code = 0;         // of the frames to come
    unsigned d_code = 0;              // of the frame that is being pushed
    std::size_t d_have = 0;           // values of it
    std::vector<std::byte> d_partial; // those values

    std::uint64_t d_frame = 0;            // frames begun to be pulled
    std::size_t d_given_frames = 0;       // frames of the oldest batch already pulled
    std::size_t d_given = 0;              // items of the next one already pulled
    const std::uint8_t* d_bits = nullptr; // of that frame
    std::vector<std::uint8_t> d_message;

    bool d_finishing = false;
    clock::time_point d_deadline = clock::time_point::max();

    deadline_timer d_timer;
    std::optional<pipeline<job>> d_pipeline; // last: its decoders call the hooks
};

ldpc_decoder::ldpc_decoder(const ldpc_options& options, hooks h)
    : d_impl(std::make_unique<impl>(options, std::move(h)))
{
}

ldpc_decoder::ldpc_decoder(const ldpc_options& options) : ldpc_decoder(options, hooks())
{
}

ldpc_decoder::~ldpc_decoder() = default;

void ldpc_decoder::select(unsigned code) { d_impl->select(code); }
unsigned ldpc_decoder::selected() const { return d_impl->selected(); }
std::size_t ldpc_decoder::missing() const { return d_impl->missing(); }
void ldpc_decoder::drop_incomplete() { d_impl->drop_incomplete(); }

std::size_t ldpc_decoder::push(const void* values, std::size_t count)
{
    return d_impl->push(values, count);
}

void ldpc_decoder::finish() { d_impl->finish(); }

std::size_t ldpc_decoder::pull_packed(std::uint8_t* out, std::size_t bytes)
{
    return d_impl->pull_packed(out, bytes);
}

std::size_t ldpc_decoder::pull_bits(std::uint8_t* out, std::size_t bits)
{
    return d_impl->pull_bits(out, bits);
}

bool ldpc_decoder::take_report(report& r)
{
    if (!d_impl->d_report) {
        return false;
    }
    r = *d_impl->d_report;
    d_impl->d_report.reset();
    return true;
}

const std::vector<std::uint8_t>& ldpc_decoder::codeword() const
{
    return d_impl->d_codeword;
}

bool ldpc_decoder::ready() { return d_impl->ready(); }
bool ldpc_decoder::due() const { return d_impl->due(); }
bool ldpc_decoder::full() const { return d_impl->full(); }
bool ldpc_decoder::done() const { return d_impl->done(); }
bool ldpc_decoder::wait(std::chrono::milliseconds limit) { return d_impl->wait(limit); }
void ldpc_decoder::reset() { d_impl->reset(); }
void ldpc_decoder::set_llr_scale(float scale) { d_impl->set_llr_scale(scale); }

void ldpc_decoder::set_max_latency_ms(double milliseconds)
{
    check_latency(milliseconds);
    d_impl->d_options.max_latency_ms = milliseconds;
}

const ldpc_code& ldpc_decoder::code(unsigned index) const
{
    return d_impl->d_options.codes.at(index);
}

std::size_t ldpc_decoder::output_bits(unsigned code) const
{
    return d_impl->output_bits(code);
}

std::size_t ldpc_decoder::batch() const { return d_impl->active().limits().pieces; }
std::string ldpc_decoder::active_backend() const { return d_impl->active().backend(); }
std::string ldpc_decoder::active_device() const { return d_impl->active().device(); }

} // namespace gr::gpufec
