// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Decodes several reads (received copies) of each frame, one read per step. The priors of
 * a read come from the reads that were decoded before. A batch contains one read of each
 * of its frames; the frames may be at different steps. Frames finish in order, because
 * all frames need the same number of steps. If each frame has one read, an ordinary
 * decoder decodes the frames.
 */

#include "common/checked_size.h"
#include "common/host_memory.h"
#include "pipeline/guards.h"
#include "reads.h"
#include "sync_map/model/frame.h"
#include <gnuradio/gpufec/sync_reads.h>
#include <algorithm>
#include <climits>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace gr::gpufec {

using namespace sync_map;

namespace {

const sync_reads_options& checked(const sync_reads_options& o)
{
    check_reads(o);
    if (o.mode != sync_mode::framed) {
        refuse("mode", "stream", "a decoder of reads requires framed mode");
    }
    if (o.drifts) {
        refuse("drifts", "true", "a decoder of reads does not output drifts");
    }
    return o;
}

// Returns whether posteriors are passed between reads as doubles.
bool in_doubles(const sync_options& o) { return o.precision != sync_precision::float32; }

// Returns the options of the decoder that decodes one of several reads.
sync_options one_read(const sync_reads_options& o, std::size_t most)
{
    sync_options one = o;
    one.max_batch = o.max_batch ? std::min(o.max_batch, most) : most;
    one.priors = true;
    one.output = in_doubles(o) ? sync_output::posteriors64 : sync_output::posteriors;
    return one;
}

//! Decoder of frames with one read each.
class single_read_decoder : public sync_reads_decoder
{
public:
    single_read_decoder(const sync_reads_options& options, decoder_hooks hooks)
        : d_options(checked(options)),
          d_decoder(sync_decoder::make(options, std::move(hooks)))
    {
    }

    bool push_frame(input_items items, const float* priors) override
    {
        return d_decoder->push_frame(items, priors);
    }
    bool pull(sync_decoder::frame& f) override { return d_decoder->pull(f); }

    void finish() override { d_decoder->finish(); }
    bool ready() override { return d_decoder->ready(); }
    bool due() const override { return d_decoder->due(); }
    void flush() override { d_decoder->flush(); }
    bool full() const override { return d_decoder->full(); }
    bool done() override { return d_decoder->done(); }
    bool wait(std::chrono::milliseconds limit) override { return d_decoder->wait(limit); }
    void reset() override { d_decoder->reset(); }
    void set_max_latency_ms(double ms) override { d_decoder->set_max_latency_ms(ms); }
    std::size_t batch() const override { return d_decoder->batch(); }
    std::string active_backend() const override { return d_decoder->active_backend(); }
    std::string active_device() const override { return d_decoder->active_device(); }
    std::string verdict() const override { return d_decoder->verdict(); }

    const sync_reads_options& options() const override { return d_options; }
    drift_range window() const override { return d_decoder->window(); }
    std::size_t symbol_bytes() const override { return d_decoder->symbol_bytes(); }

private:
    const sync_reads_options d_options;
    const sync_decoder::sptr d_decoder;
};

//! Decoder of frames with several reads each.
class several_reads_decoder : public sync_reads_decoder
{
public:
    several_reads_decoder(const sync_reads_options& options, decoder_hooks hooks)
        : d_options(checked(options)),
          d_setup(make_setup(options)),
          d_rule(options.code.frame_symbols(),
                 options.code.q(),
                 options.reads,
                 options.passes > 1),
          d_max_work(max_work()),
          d_decoder(sync_decoder::make(
              one_read(options, std::max(1.0, d_max_work / slots())), std::move(hooks))),
          d_scratch(d_setup)
    {
    }

    bool push_frame(input_items items, const float* priors) override
    {
        if (full()) {
            advance();
            if (full()) {
                return false;
            }
        }
        if (!d_open) {
            open(priors);
        }
        add_read(items);
        if (d_open->lengths.size() == d_options.reads) {
            d_waiting.push_back(std::move(d_open));
            ++d_whole;
            advance();
        }
        return true;
    }

    bool pull(sync_decoder::frame& f) override
    {
        advance();
        if (d_decoded.empty()) {
            return false;
        }
        const auto& w = *d_decoded.front();
        f = {};
        f.number = d_number++;
        f.output = w.output.data();
        f.output_bytes = w.output.size();
        f.status = w.status;
        f.begin = w.status.start_drift;
        f.locked = w.status.valid;
        d_emitted = true;
        return true;
    }

    // ---- the interface of all decoders ----

    void finish() override
    {
        d_finishing = true;
        while (d_open) {
            push_frame({}, nullptr);
        }
        advance();
    }
    bool ready() override
    {
        advance();
        return !d_decoded.empty();
    }
    bool due() const override { return d_decoder->due(); }
    void flush() override
    {
        d_flushed = d_whole;
        advance();
    }
    bool full() const override { return !d_open && in_work() >= most(); }
    bool done() override
    {
        advance();
        return d_finishing && !d_open && in_work() == 0;
    }
    bool wait(std::chrono::milliseconds limit) override
    {
        if (!ready()) {
            d_decoder->wait(limit);
        }
        return ready();
    }
    void reset() override
    {
        d_decoder->reset();
        for (auto* const queue : { &d_waiting, &d_in_flight, &d_decoded }) {
            while (!queue->empty()) {
                d_spare.push_back(std::move(queue->front()));
                queue->pop_front();
            }
        }
        d_open.reset();
        d_emitted = d_finishing = false;
        d_whole = d_ended = d_flushed = d_number = 0;
    }
    void set_max_latency_ms(double ms) override { d_decoder->set_max_latency_ms(ms); }
    std::size_t batch() const override { return d_decoder->batch(); }
    std::string active_backend() const override { return d_decoder->active_backend(); }
    std::string active_device() const override { return d_decoder->active_device(); }

    std::string verdict() const override { return {}; }

    // ---- sync_reads_decoder ----

    const sync_reads_options& options() const override { return d_options; }
    drift_range window() const override { return d_decoder->window(); }
    std::size_t symbol_bytes() const override { return d_setup.symbol_bytes(); }

private:
    static constexpr std::size_t beyond_limits = INT_MAX;

    // A frame, from its first read until its output has been pulled.
    struct work {
        std::vector<std::byte> items; // items of all reads
        std::vector<std::size_t> lengths, begins;
        read_beliefs beliefs;
        unsigned step = 0; // index of the next decoding step
        sync_status status{};
        std::vector<std::byte> output;
    };
    using works = std::deque<std::unique_ptr<work>>;

    std::size_t slots() const
    {
        return std::max<std::size_t>(1, d_options.slots * d_options.devices.size());
    }

    // Returns how many frames may be in progress: as many as fit in 2 GiB and in a
    // quarter of the physical memory. Throws if one frame exceeds that quarter.
    double max_work() const
    {
        const double bytes =
            d_rule.bytes() +
            double(d_options.reads) * d_setup.max_items * d_setup.item_bytes() +
            d_setup.outputs * d_setup.symbol_bytes();
        const double memory = physical_memory() / 4;
        if (bytes > memory) {
            refuse(
                "reads",
                d_options.reads,
                "it must be smaller, because a frame must not need more than a quarter "
                "of the machine's memory");
        }
        return std::min<double>(memory, 2u << 30) / bytes;
    }

    // Returns the number of frames in progress that are needed to fill all slots, at most
    // max_work().
    std::size_t most() const
    {
        return std::max<std::size_t>(
            1, std::min<double>(d_max_work, slots() * d_decoder->batch()));
    }

    std::size_t in_work() const
    {
        return d_waiting.size() + d_in_flight.size() + d_decoded.size() - d_emitted;
    }

    void open(const float* priors)
    {
        if (d_spare.empty()) {
            d_open = std::make_unique<work>();
        } else {
            d_open = std::move(d_spare.back());
            d_spare.pop_back();
        }
        auto& w = *d_open;
        w.items.clear();
        w.lengths.clear();
        w.begins.clear();
        w.step = 0;
        w.status = { 0, 0, 0, 0, 0 };
        d_rule.begin(w.beliefs, d_options.priors ? priors : nullptr);
    }

    void add_read(const input_items& items)
    {
        const auto count = items.size();
        auto& w = *d_open;
        w.begins.push_back(w.items.size());
        const bool possible = length_of_frame(d_setup, count) >= 0;
        w.lengths.push_back(possible ? count : beyond_limits);
        if (possible && count > 0) {
            const auto* const from = static_cast<const std::byte*>(items.data());
            w.items.insert(w.items.end(), from, from + count * d_setup.item_bytes());
        }
    }

    void advance()
    {
        if (d_emitted) {
            d_spare.push_back(std::move(d_decoded.front()));
            d_decoded.pop_front();
            d_emitted = false;
        }
        for (bool moved = true; moved;) {
            moved = false;
            sync_decoder::frame f;
            while (d_decoder->pull(f)) {
                take(f);
                moved = true;
            }
            while (!d_waiting.empty() && decode(*d_waiting.front())) {
                d_in_flight.push_back(std::move(d_waiting.front()));
                d_waiting.pop_front();
                moved = true;
            }
        }
        // Submits an incomplete batch if no further frame can be added, or if the caller
        // has called flush().
        const bool last = d_finishing || full() || d_ended < d_flushed;
        if (last && d_waiting.empty() && !d_in_flight.empty()) {
            d_decoder->flush();
        }
    }

    // Pushes the frame's next read; returns false if the decoder cannot accept it yet.
    bool decode(const work& w)
    {
        if (d_decoder->full()) {
            return false;
        }
        const auto r = w.step % d_options.reads;
        return d_decoder->push_frame({ w.items.data() + w.begins[r], w.lengths[r] },
                                     d_rule.priors(w.beliefs, r));
    }

    void take(const sync_decoder::frame& f)
    {
        auto& w = *d_in_flight.front();
        const auto R = d_options.reads;
        if (f.status.valid) {
            const auto r = w.step % R;
            in_doubles(d_options)
                ? d_rule.take(w.beliefs, r, static_cast<const double*>(f.output))
                : d_rule.take(w.beliefs, r, static_cast<const float*>(f.output));
            auto status = f.status;
            status.log_probability =
                w.status.log_probability + (w.step < R ? f.status.log_probability : 0);
            w.status = status;
        }
        if (++w.step < R * d_options.passes) {
            d_waiting.push_back(std::move(d_in_flight.front()));
        } else {
            write(w);
            d_decoded.push_back(std::move(d_in_flight.front()));
            ++d_ended;
        }
        d_in_flight.pop_front();
    }

    void write(work& w)
    {
        w.output.resize(d_setup.outputs * d_setup.symbol_bytes());
        if (!w.status.valid) {
            return write_unknown(d_setup, d_scratch, w.output.data(), w.status);
        }
        const bool extrinsic = d_options.output == sync_output::extrinsics ||
                               d_options.output == sync_output::llr;
        for (unsigned i = 0; i < d_setup.outputs; ++i) {
            write_symbol(d_setup,
                         d_rule.symbol(w.beliefs, i, extrinsic),
                         nullptr,
                         d_scratch.weights.data(),
                         w.output.data() + i * d_setup.symbol_bytes());
        }
    }

    const sync_reads_options d_options;
    const setup d_setup;
    read_rule d_rule;
    const double d_max_work;
    const sync_decoder::sptr d_decoder;
    frame_scratch d_scratch;
    std::unique_ptr<work> d_open; // the frame whose reads are being pushed
    works d_waiting, d_in_flight, d_decoded, d_spare;
    bool d_emitted = false; // whether the first frame of d_decoded has been pulled
    bool d_finishing = false;
    // Counts of frames: complete, decoded, and complete at the last flush().
    std::uint64_t d_whole = 0, d_ended = 0, d_flushed = 0;
    std::uint64_t d_number = 0;
};

} // namespace

void check_reads(const sync_reads_options& o)
{
    checked_size(o.reads).within(1, sync_reads_options::max_reads, "reads");
    checked_size(o.passes).within(1, sync_reads_options::max_passes, "passes");
    if (o.reads > 1 && o.mode != sync_mode::framed) {
        refuse("reads", o.reads, "several reads require framed mode");
    }
}

sync_reads_decoder::sptr sync_reads_decoder::make(const sync_reads_options& options,
                                                  decoder_hooks hooks)
{
    if (options.reads == 1) {
        return make_process_bound<single_read_decoder>(options, std::move(hooks));
    }
    return make_process_bound<several_reads_decoder>(options, std::move(hooks));
}

} // namespace gr::gpufec
