// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The base class of the blocks whose names begin with gpu_. The class connects GNU
 * Radio's scheduler to a decoder that has its own threads. */

#ifndef INCLUDED_GPUFEC_BLOCKS_COMMON_DECODER_BLOCK_H
#define INCLUDED_GPUFEC_BLOCKS_COMMON_DECODER_BLOCK_H

#include "block_memory.h"
#include "common/ranges.h"
#include "input_port.h"
#include "length_tags.h"
#include "parameters.h"
#include "tag_queue.h"
#include "wake_port.h"
#include <gnuradio/block.h>
#include <gnuradio/block_detail.h>
#include <gnuradio/buffer_reader.h>
#include <gnuradio/gpufec/decoder.h>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace gr::gpufec {

/*!
 * \brief Base class of a block around a decoder.
 *
 * The derived block defines how items are pushed to and pulled from the decoder, and to
 * which output items tags move. While the flowgraph runs, only the block's own thread
 * calls the decoder; setters queue changes for it. A ring is GNU Radio's circular buffer
 * between two blocks.
 * \tparam Block the public block, with one or two inputs
 */
template <class Block>
class decoder_block : public block_memory<Block>
{
    using memory = block_memory<Block>;

public:
    bool check_topology(int, int) override
    {
        this->widen_buffers();
        return true;
    }

    bool start() override
    {
        // lock() and unlock() keep the block_detail and its buffers, so the stream
        // continues unless it has ended or failed.
        const bool goes_on =
            d_detail.lock() == this->detail() && !d_finished && d_failure.empty();
        if (!goes_on) {
            guarded([this] {
                d_failure.clear();
                engine().reset();
                d_taken = d_emitted = 0;
                d_finished = false;
                d_tags.clear();
                d_input_tags.clear();
                d_detail = this->detail();
                restart();
                this->begin_input_port();
                this->borrow_input();
                publish_status("started", engine().active_device());
            });
        } else {
            resume();
        }
        if (d_failure.empty()) {
            guarded([this] { this->pin_output_ring(); });
        }
        return Block::start();
    }

    // Unpins the rings, because the scheduler may replace them before the next start().
    bool stop() override
    {
        return_rings();
        if (d_ports && d_failure.empty()) {
            guarded([this] { d_ports->stop(); });
        }
        return Block::stop();
    }

    void forecast(int, gr_vector_int& required) override
    {
        std::fill(required.begin(), required.end(), 0);
        guarded([&] {
            apply_settings();
            if (d_failure.empty() && !d_finished && !engine().ready() &&
                !engine().due()) {
                require_items(required);
            }
        });
    }

    int general_work(int noutput_items,
                     gr_vector_int&,
                     gr_vector_const_void_star& input_items,
                     gr_vector_void_star& output_items) override
    {
        int given = Block::WORK_DONE;
        guarded([&] {
            if (d_failure.empty()) {
                apply_settings();
                // The buffer has space for an output multiple even if a small
                // max_noutput_items makes noutput_items 0.
                given = decode(std::max(noutput_items, this->output_multiple()),
                               input_items,
                               static_cast<std::byte*>(output_items[0]));
            }
        });
        // An exception that left this function would end only this block's thread, and
        // other blocks would wait forever. The block therefore ends its output stream.
        if (!d_failure.empty() && !std::exchange(d_failure_logged, true)) {
            this->d_logger->error("decoding ends because of an error: {}", d_failure);
            publish_status("failed", d_failure);
        }
        return d_failure.empty() ? given : int(Block::WORK_DONE);
    }

    std::string active_backend() const override
    {
        std::lock_guard<std::mutex> guard(d_settings_mutex);
        return d_backend;
    }
    int batch() const override
    {
        std::lock_guard<std::mutex> guard(d_settings_mutex);
        return d_batch;
    }
    std::string verdict() const override
    {
        std::lock_guard<std::mutex> guard(d_settings_mutex);
        return d_verdict;
    }
    void set_max_latency_ms(double milliseconds) override
    {
        require_from_0("max_latency_ms", milliseconds);
        d_max_latency_ms = milliseconds;
        change("max_latency_ms",
               [this, milliseconds] { engine().set_max_latency_ms(milliseconds); });
    }
    double max_latency_ms() const override
    {
        return d_max_latency_ms < 0 ? run().max_latency_ms : d_max_latency_ms.load();
    }

protected:
    using memory::borrowed, memory::borrowed_input, memory::borrowed_output,
        memory::borrows, memory::copies_input, memory::copies_output, memory::d_borrowed,
        memory::d_borrowed_output, memory::d_input_size, memory::d_output_size,
        memory::d_ports, memory::engine, memory::max_available, memory::one_more,
        memory::run, memory::space;

    //! State of one input in a call of general_work(). `taken` includes borrowed items.
    struct input {
        const std::byte* items = nullptr;
        std::size_t available = 0, taken = 0;
        bool ended = true;

        std::size_t left() const { return available - taken; }
    };

    //! \p input_size and \p output_size are the sizes of items in bytes. \p device is
    //! the device of the ports' memory unless \p io is host.
    decoder_block(std::size_t input_size,
                  std::size_t output_size,
                  port_memory io = port_memory::host,
                  int device = 0)
        : memory(input_size, output_size, io, device),
          d_source(pmt::mp(this->alias())),
          d_status_port(pmt::mp("status")),
          d_wake_port(*this)
    {
        d_tag.srcid = d_source;
        this->message_port_register_out(d_status_port);
        this->set_tag_propagation_policy(gr::block::TPP_CUSTOM);
    }

    ~decoder_block() override = default;

    void set_exact_rate(std::uint64_t output, std::uint64_t input)
    {
        const auto common = std::gcd(output, input);
        this->set_relative_rate(output / common, input / common);
    }

    //! Returns the callbacks that connect a decoder to this block.
    decoder_hooks hooks()
    {
        decoder_hooks h;
        h.wake = [this] { d_wake_port.wake(); };
        h.log = [this](log_level level, const std::string& text) {
            if (level == log_level::info) {
                this->d_logger->info("{}", text);
            } else if (level == log_level::warning) {
                this->d_logger->warn("{}", text);
            } else {
                this->d_logger->error("{}", text);
                publish_status("device_failed", text);
            }
        };
        return h;
    }

    // Functions for the derived block to implement.

    //! Called at the beginning of a stream.
    virtual void restart() {}
    //! Returns the size of the incomplete frame at the end of the input. Called before
    //! finish().
    virtual incomplete_frame incomplete() const { return {}; }
    //! Called when all output has been emitted.
    virtual void ending() {}
    //! Returns the verdict on the input so far; see decoder::verdict().
    virtual std::string judgement() const { return engine().verdict(); }
    //! Number of frames after which a verdict is published if all of them have failed. A
    //! shorter input is judged at its end.
    static constexpr std::uint64_t frames_before_verdict = 100;
    //! Called when the stream continues after lock() and unlock().
    virtual void resume() {}
    //! Writes at most \p capacity items to \p out and returns their number. \p first is
    //! the stream index of the first of these items.
    virtual std::size_t
    pull(std::byte* out, std::size_t capacity, std::uint64_t first) = 0;
    //! Pushes input and returns whether any item was pushed or dropped; called until it
    //! returns false.
    virtual bool push(input& in, input& second) = 0;
    //! Called once with each tag of input 0, before the tag's item is pushed. Returns
    //! true if the tag must not be passed on.
    virtual bool on_tag(const tag_t&) { return false; }
    //! Returns whether the decoder accepts no more input until a batch has finished.
    virtual bool held_up() { return engine().full(); }
    //! Returns whether all items taken from the input have been pushed to the decoder.
    virtual bool all_pushed() { return true; }
    //! Returns whether all items pulled from the decoder have been emitted.
    virtual bool all_emitted() { return true; }
    //! Sets how many items general_work() requires at each input; all counts are
    //! initially 0.
    virtual void require_items(gr_vector_int& required)
    {
        const auto in = look_at(0, nullptr);
        required[0] = in.ended ? 0 : one_more();
    }
    //! Returns the number of bytes that were pulled from the decoder but not yet emitted.
    virtual std::size_t held_output() const { return 0; }

    // Functions for the derived block to call.

    //! Queues \p action for the block's own thread. Replaces a queued action of the same
    //! \p name.
    void change(const std::string& name, std::function<void()> action)
    {
        change_when(name, [action = std::move(action)] {
            action();
            return true;
        });
    }
    //! Queues \p action like change(), but keeps it queued until a call returns true.
    void change_when(const std::string& name, std::function<bool()> action)
    {
        {
            std::lock_guard<std::mutex> guard(d_settings_mutex);
            d_changes[name] = std::move(action);
        }
        d_wake_port.wake();
    }
    void apply_settings()
    {
        changes now;
        {
            std::lock_guard<std::mutex> guard(d_settings_mutex);
            now.swap(d_changes);
        }
        for (auto& [name, action] : now) {
            if (!action()) {
                std::lock_guard<std::mutex> guard(d_settings_mutex);
                d_changes.try_emplace(name, std::move(action)); // keeps a newer action
            }
        }
    }

    input look_at(unsigned port, const void* items) const
    {
        const auto reader = this->detail()->input(port);
        gr::thread::scoped_lock guard(*reader->mutex());
        input in;
        in.items = static_cast<const std::byte*>(items);
        in.available = reader->items_available();
        in.ended = ended_after(*reader, in.available);
        if (port == 0 && copies_input()) {
            in.available += d_ports->held();
        }
        return in;
    }

    //! Adds the event, the text, the backend and the item counts to \p status, and
    //! publishes \p status.
    void publish_status(const std::string& event,
                        const std::string& text,
                        pmt::pmt_t status = pmt::make_dict())
    {
        const auto add = [&](const char* key, const pmt::pmt_t& value) {
            status = pmt::dict_add(status, pmt::mp(key), value);
        };
        add("event", pmt::mp(event));
        add("text", pmt::mp(text));
        add("backend", pmt::mp(active_backend()));
        add("items_in", pmt::from_uint64(d_taken));
        add("items_out", pmt::from_uint64(d_emitted));
        this->message_port_pub(d_status_port, status);
    }

    void publish_choices()
    {
        std::lock_guard<std::mutex> guard(d_settings_mutex);
        d_backend = engine().active_backend();
        d_batch = engine().batch();
    }

    void publish_verdict()
    {
        const auto verdict = judgement();
        if (verdict != d_verdict) { // no mutex: only this thread writes d_verdict
            {
                std::lock_guard<std::mutex> guard(d_settings_mutex);
                d_verdict = verdict;
            }
            publish_status("verdict", verdict);
        }
    }

    //! Returns the stream index of the next item of \p in, which must be input 0.
    std::uint64_t next_item(const input& in) const { return d_first + in.taken; }

    //! Adds a tag to output item \p item of the stream, which the current pull() writes.
    void add_tag(std::uint64_t item, const pmt::pmt_t& key, const pmt::pmt_t& value)
    {
        d_tag.offset = item - d_emitted + this->nitems_written(0);
        d_tag.key = key;
        d_tag.value = value;
        this->add_item_tag(0, d_tag);
    }

    //! Stores a tag of this block until output item \p item of the stream is emitted.
    void hold_tag(std::uint64_t item, const pmt::pmt_t& key, const pmt::pmt_t& value)
    {
        tag_t tag;
        tag.offset = item;
        tag.key = key;
        tag.value = value;
        tag.srcid = d_source;
        d_tags.hold(tag);
    }

    void warn_once(bool& warned, const std::string& text) const
    {
        if (!std::exchange(warned, true)) {
            this->d_logger->warn("{}", text);
        }
    }

    const pmt::pmt_t d_source; // srcid of the tags that this block adds

    // Item counts of this stream; GNU Radio's own counts restart with unlock().
    std::uint64_t d_taken = 0; // items taken, including borrowed items
    std::uint64_t d_emitted = 0;
    bool d_finished = false; // whether engine().finish() has been called
    incomplete_frame d_incomplete;

    input_tags d_input_tags; // input tags that are not converted yet
    tag_queue d_tags;        // tags of output items that are not emitted yet

    //! Ends borrowing and frees the memory of device_ports, unless a failed device may
    //! still access that memory. Derived classes' destructors must call this.
    void release_memory()
    {
        return_rings();
        if (!d_failure.empty()) {
            (void)d_ports.release();
        }
        d_ports.reset();
    }

    //! Ends borrowing and unpins the rings.
    void return_rings()
    {
        if (d_borrowed_output) {
            guarded([this] { d_borrowed_output->end(); });
            d_borrowed_output.reset();
        }
        if (d_borrowed) {
            guarded([this] { d_borrowed->end(); });
            d_borrowed.reset();
        }
    }

    //! Passes at most \p limit items to the decoder: borrows them in place or calls
    //! \p copy(items, count). Returns the number of items passed.
    template <class Copy>
    std::size_t take(input& in, std::size_t limit, Copy&& copy)
    {
        return took(in,
                    borrows() ? borrow(in, limit)
                              : copy(in.items + in.taken * d_input_size, limit));
    }
    template <class Copy>
    bool take(input& in, Copy&& copy)
    {
        return take(in, in.left(), copy) > 0;
    }

    //! Calls \p skip(), which makes the decoder skip items, and returns the number of
    //! items skipped.
    template <class Skip>
    std::size_t pass_over(input& in, Skip&& skip)
    {
        if (borrows()) {
            borrow(in, 0);
        }
        return took(in, skip());
    }

private:
    using changes = std::map<std::string, std::function<bool()>>; // keyed by name

    // Longest sleep in general_work(), and thus the longest delay of tb.stop().
    static constexpr std::chrono::milliseconds longest_sleep{ 100 };
    std::size_t borrow(const input& in, std::size_t more)
    {
        const auto before = in.taken - d_consumed;
        return borrowed_input()->borrow(in.items + d_consumed * d_input_size,
                                        before + more);
    }
    std::size_t took(input& in, std::size_t n)
    {
        in.taken += n;
        d_consumed += borrows() ? borrowed_input()->release() : n;
        return n;
    }

    //! Runs \p action and stores the text of an exception for general_work() to report.
    template <class Action>
    void guarded(Action&& action)
    {
        try {
            action();
        } catch (const std::exception& error) {
            d_failure = error.what();
            d_failure_logged = false;
        }
    }

    int decode(std::size_t capacity,
               const gr_vector_const_void_star& input_items,
               std::byte* out)
    {
        auto in = look_at(0, input_items[0]);
        input second;
        if (input_items.size() > 1) {
            second = look_at(1, input_items[1]);
        }
        auto* const port = out;
        if (d_ports) {
            d_ports->wait_for_items(this->nitems_read(0) + in.available);
        }
        if (copies_output()) {
            out = d_ports->next_output();
            capacity = std::min(capacity, d_ports->output_bytes() / d_output_size);
        }
        bool has_capacity = borrow_output(out, 0);
        const auto before = borrowed();
        in.taken = before;
        d_consumed = 0;
        d_first = d_taken - before;
        const auto arrived = copies_input() ? bring_in(in) : 0;
        if (!copies_input()) {
            read_tags(d_first, in.available);
        }
        std::size_t given = 0;
        for (;;) {
            const auto pulled =
                pull(out + given * d_output_size, capacity - given, d_emitted + given);
            given += pulled;
            if (borrows()) {
                d_consumed += borrowed_input()->release(); // pulling may release input
            }
            if (pulled > 0) {
                has_capacity = borrow_output(out, given);
            }
            const bool pushed = has_capacity && push(in, second);
            if (in.ended && in.left() == 0 && all_pushed() && !d_finished) {
                d_incomplete = incomplete();
                engine().finish();
                d_finished = true;
                continue;
            }
            if (pulled > 0 || pushed) {
                continue;
            }
            // A full ring receives no more input, so the incomplete batch is submitted.
            const bool ring_full =
                borrows() && in.left() == 0 && in.available >= max_available();
            if (ring_full) {
                engine().flush();
            }
            const bool stuck = !has_capacity || held_up() || ring_full ||
                               (d_finished && !engine().done());
            const bool idle = in.taken == before && second.taken + given + arrived == 0;
            if (!idle || !stuck) {
                break;
            }
            if (!engine().wait(longest_sleep)) {
                if (!has_capacity) {
                    wait_for_reader();
                }
                break;
            }
        }

        d_taken += in.taken - before;
        if (copies_input()) {
            d_ports->release(d_consumed);
            this->consume(0, arrived);
        } else {
            this->consume(0, d_consumed);
        }
        if (copies_output()) {
            d_ports->give(*this->detail()->output(0), port, given);
        }
        if (input_items.size() > 1) {
            this->consume(1, second.taken);
        }
        d_tags.give(d_emitted + given,
                    this->nitems_written(0) - d_emitted,
                    [this](const tag_t& tag) { this->add_item_tag(0, tag); });
        d_emitted += given;
        publish_choices();
        const bool ended = d_finished && engine().done() && all_emitted();
        if (ended) {
            d_incomplete.log(*this->d_logger, d_emitted > 0);
            ending();
        }
        publish_verdict();
        if (ended) {
            publish_status("ended", "all input has been decoded");
            this->produce(0, given); // WORK_DONE alone would discard this output
            return Block::WORK_DONE;
        }
        return given;
    }

    // Waits until the downstream block has taken items or a message has arrived. Without
    // this wait, the scheduler would call general_work() again and again while the output
    // has space for an output multiple, but not for a batch.
    void wait_for_reader()
    {
        auto& changes = this->detail()->d_tpb;
        // stop() interrupts the thread during this wait. The exception must not leave
        // this function, because the caller must still report its counts of items.
        boost::this_thread::disable_interruption without_interruption;
        gr::thread::scoped_lock guard(changes.mutex);
        changes.output_cond.timed_wait(
            guard, boost::posix_time::milliseconds(longest_sleep.count()), [&changes] {
                return changes.output_changed;
            });
    }

    // Copies items from the scheduler's buffer to the memory of device_ports; \p in then
    // describes these copies. Returns the number of items copied.
    std::size_t bring_in(input& in)
    {
        const auto offered = in.available - d_ports->held();
        const auto first = d_first + d_ports->held();
        const auto arrived =
            d_ports->bring_in(*this->detail()->input(0)->buffer(), in.items, offered);
        read_tags(first, arrived);
        in.items = d_ports->items();
        in.available = d_ports->held();
        in.ended = in.ended && arrived == offered;
        return arrived;
    }

    // Reads the tags of the available items. \p first is the stream index of the first
    // item in the scheduler's buffer.
    void read_tags(std::uint64_t first, std::size_t available)
    {
        const auto base = this->nitems_read(0);
        const auto fetch = [&](std::vector<tag_t>& tags, std::uint64_t from) {
            this->get_tags_in_range(tags, 0, base + from, base + available);
            for (auto& tag : tags) {
                tag.offset -= base + from;
            }
        };
        d_input_tags.read(
            first, available, fetch, [this](const tag_t& tag) { return on_tag(tag); });
    }

    // Lets the decoder write to a pinned output ring, behind the items of this call and
    // the output that is still held. Returns false if a batch's output would not fit. The
    // caller should then submit the batch later, because copying its output would delay
    // other batches.
    bool borrow_output(std::byte* out, std::size_t given)
    {
        auto* const memory = borrowed_output();
        if (!memory) {
            return true;
        }
        const auto items = space();
        const auto free =
            copies_output() ? d_ports->output_bytes() : items * d_output_size;
        if (d_ports) {
            d_ports->wait_for_space(this->nitems_written(0) + items);
        }
        const auto taken = std::min(free, given * d_output_size + held_output());
        return memory->borrow(out + taken, free - taken);
    }

    tag_t d_tag; // reused for each added tag, because GNU Radio copies it
    std::weak_ptr<gr::block_detail> d_detail; // block_detail of this stream, see start()
    std::uint64_t d_first = 0;                // stream index of the first available item
    std::size_t d_consumed = 0;               // number of items consumed in this call
    std::string d_failure;                    // error that ended decoding, or ""
    bool d_failure_logged = false;

    // Shared with the threads that call setters and getters.
    mutable std::mutex d_settings_mutex;
    changes d_changes;
    std::string d_backend, d_verdict;
    int d_batch = 0;
    std::atomic<double> d_max_latency_ms{ -1 }; // if negative, the value of run() applies

    const pmt::pmt_t d_status_port;
    wake_port d_wake_port;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_COMMON_DECODER_BLOCK_H */
