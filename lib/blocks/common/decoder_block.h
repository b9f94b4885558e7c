// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* What the blocks of decoders share: between GNU Radio's scheduler and a decoder with
 * threads of its own. */

#ifndef INCLUDED_GPUFEC_BLOCKS_DECODER_BLOCK_H
#define INCLUDED_GPUFEC_BLOCKS_DECODER_BLOCK_H

#include "parameters.h"
#include "pipeline/other_pages.h"
#include "pipeline/refuse.h"
#include "tag_queue.h"
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
#include <thread>
#include <utility>
#include <vector>

namespace gr::gpufec {

//! A message port through which any thread makes the scheduler look at its block again.
class wake_port
{
public:
    explicit wake_port(gr::block& block) : d_block(block), d_port(pmt::mp("wake"))
    {
        block.message_port_register_in(d_port);
        // The message itself says nothing.
        block.set_msg_handler(d_port, [this](const pmt::pmt_t&) { d_waking = false; });
    }

    void wake()
    {
        if (d_waking.exchange(true)) {
            return;
        }
        // Called from threads that nothing may be thrown into; and a block that is not
        // woken sleeps for ever, so what lacks memory is tried again.
        for (unsigned tries = 0; tries < 1000; ++tries) {
            try {
                d_block._post(d_port, pmt::PMT_NIL);
                return;
            } catch (const std::exception&) {
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
        }
        d_waking = false;
    }

private:
    gr::block& d_block;
    const pmt::pmt_t d_port;
    std::atomic<bool> d_waking{ false }; // a message is on its way to the block
};

//! A block that may read its input where it lies.
class ring_borrower
{
public:
    //! Known once topologies are checked.
    virtual bool may_borrow_input() const = 0;

protected:
    ~ring_borrower() = default;
};

/*!
 * \brief A block around a decoder.
 *
 * The room's block, derived from it, says how items go in and out and what becomes of
 * tags. Only the block's own thread calls the decoder, so that no setter waits while it
 * works or sleeps. \tparam Block the public block, with one or two inputs
 */
template <class Block>
class decoder_block : public Block, public ring_borrower
{
public:
    bool check_topology(int, int) override
    {
        d_may_borrow = lends() && active_backend() == "cuda";
        widen_buffers();
        return true;
    }
    bool may_borrow_input() const override { return d_may_borrow; }

    bool start() override
    {
        // lock() and unlock() keep the detail, and what is in its buffers: the same
        // stream goes on. Else another one begins.
        const bool goes_on =
            d_detail.lock() == this->detail() && !d_finished && d_failure.empty();
        if (!goes_on) {
            guarded([this] {
                d_failure.clear();
                engine().reset();
                d_taken = d_given = 0;
                d_finished = false;
                d_tags.clear();
                d_input_tags.clear();
                d_detail = this->detail();
                restart();
                borrow_input();
                publish_status("started", engine().active_device());
            });
        }
        if (d_failure.empty()) {
            guarded([this] { borrow_output(); });
        }
        return Block::start();
    }

    // Also called by lock(), after which the scheduler writes the rings anew.
    bool stop() override
    {
        return_rings();
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
                // There is room for a multiple, though a small max_noutput_items makes it
                // 0 here.
                given = decode(std::max(noutput_items, this->output_multiple()),
                               input_items,
                               static_cast<std::byte*>(output_items[0]));
            }
        });
        // An exception would end this thread only, and its neighbours would wait for
        // ever.
        if (!d_failure.empty() && !std::exchange(d_failure_told, true)) {
            this->d_logger->error("decoding stops here: {}", d_failure);
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
    void set_max_latency_ms(double milliseconds) override
    {
        require(std::isfinite(milliseconds) && milliseconds >= 0,
                "max_latency_ms",
                milliseconds,
                "finite values from 0");
        change("max_latency_ms",
               [this, milliseconds] { engine().set_max_latency_ms(milliseconds); });
    }

protected:
    //! Items at hand on an input, of which some are already taken.
    struct input {
        const std::byte* items = nullptr;
        std::size_t available = 0, taken = 0;
        bool ended = true;

        std::size_t left() const { return available - taken; }
    };

    //! \p input_size and \p output_size of items, in bytes
    decoder_block(std::size_t input_size, std::size_t output_size)
        : d_input_size(input_size),
          d_output_size(output_size),
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

    //! What a decoder tells this block.
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

    // What a room's block adds.

    virtual decoder& engine() = 0;
    //! What it was made with.
    virtual const run_options& run() const = 0;
    //! Another stream begins.
    virtual void restart() {}
    //! Writes up to \p room output items, the first of which is number \p first of the
    //! stream, and says how many.
    virtual std::size_t pull(std::byte* out, std::size_t room, std::uint64_t first) = 0;
    //! Takes of the items at hand what the decoder takes; whether something went on.
    virtual bool push(input& in, input& second) = 0;
    //! Sees each tag of the input once, before its item is pushed. Whether nothing else
    //! is to be done with it.
    virtual bool note(const tag_t&) { return false; }
    //! Whether the decoder can take nothing before it has decoded something.
    virtual bool held_up() { return engine().full(); }
    //! Whether all that was taken has gone to the decoder.
    virtual bool all_pushed() { return true; }
    //! Whether all that the decoder gave has been given.
    virtual bool all_given() { return true; }
    //! The input items without which a call is of no use; all are 0.
    virtual void require_items(gr_vector_int& required)
    {
        const auto in = look_at(0, nullptr);
        required[0] = in.ended ? 0 : one_more();
    }
    //! Items of input 0 of which one is new, if there is room for that.
    int one_more()
    {
        return int(std::min<std::size_t>(engine().lent() + 1, most_available()));
    }
    //! Whether the input is decoded where it lies in the ring, if that can be.
    virtual bool lends() const { return true; }
    //! Whether what is pulled is what the decoder may put in its place by itself.
    virtual bool lends_output() const { return true; }
    //! Batches that the block upstream has room for while all slots are in flight. It may
    //! write half the ring at a time, and the batches of a slow decoder wait meanwhile.
    virtual std::size_t spare_batches() const { return 1; }
    //! Bytes that were pulled from the decoder and not given.
    virtual std::size_t held_output() const { return 0; }

    // What it is given.

    //! Makes a change on the block's own thread; the last one of a name counts.
    void change(const std::string& name, std::function<void()> action)
    {
        change_when(name, [action = std::move(action)] {
            action();
            return true;
        });
    }
    //! The same, tried again until \p action says that it was made.
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
                d_changes.try_emplace(name, std::move(action)); // unless there is a newer
            }
        }
    }

    input look_at(unsigned port, const void* items) const
    {
        // In this order: what had arrived when the input ended is available afterwards.
        const auto reader = this->detail()->input(port);
        gr::thread::scoped_lock guard(*reader->mutex());
        input in;
        in.items = static_cast<const std::byte*>(items);
        in.ended = reader->done();
        in.available = reader->items_available();
        return in;
    }

    //! Items that input 0 has at most.
    std::size_t most_available() const
    {
        return this->detail()->input(0)->max_possible_items_available();
    }
    //! Whether input is lent from the ring.
    bool borrows() const { return bool(d_borrowed); }

    //! Tells whoever listens at the status port, besides what \p status has already.
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
        add("items_out", pmt::from_uint64(d_given));
        this->message_port_pub(d_status_port, status);
    }

    void publish_choices()
    {
        std::lock_guard<std::mutex> guard(d_settings_mutex);
        d_backend = engine().active_backend();
        d_batch = engine().batch();
    }

    //! The stream's number of the next item of \p in, which is input 0.
    std::uint64_t next_item(const input& in) const { return d_first + in.taken; }

    //! Adds a tag of this block's own at output item \p item of the stream, which is
    //! being given.
    void add_tag(std::uint64_t item, const pmt::pmt_t& key, const pmt::pmt_t& value)
    {
        d_tag.offset = item - d_given + this->nitems_written(0);
        d_tag.key = key;
        d_tag.value = value;
        this->add_item_tag(0, d_tag);
    }

    //! Holds a tag of this block's own for output item \p item of the stream.
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

    const std::size_t d_input_size, d_output_size;
    const pmt::pmt_t d_source; // of the tags that this block adds

    // Items of this stream so far; the flowgraph's own counts restart with unlock().
    std::uint64_t d_taken = 0; // what is lent included
    std::uint64_t d_given = 0;
    bool d_finished = false; // the decoder knows that the input has ended

    input_tags d_input_tags; // of items that are not taken yet, and of some that are
    tag_queue d_tags;        // by output item of the stream, until it is given

    //! To be called by a derived class's destructor, while the decoder is there.
    void return_rings()
    {
        if (d_borrowed_output) {
            guarded([this] { engine().end_lending_output(); });
            engine().unlock_output(const_cast<char*>(d_borrowed_output->base()));
            d_borrowed_output.reset();
        }
        if (d_borrowed) {
            guarded([this] { engine().end_lending(); });
            engine().unlock_lent(const_cast<char*>(d_borrowed->base()));
            d_borrowed.reset();
        }
    }

    //! Items, up to \p limit of those left, go to the decoder through \p copy(items,
    //! count), or are lent; says how many did.
    template <class Copy>
    std::size_t take(input& in, std::size_t limit, Copy&& copy)
    {
        return took(in,
                    d_borrowed ? lend(in, limit)
                               : copy(in.items + in.taken * d_input_size, limit));
    }
    template <class Copy>
    bool take(input& in, Copy&& copy)
    {
        return take(in, in.left(), copy) > 0;
    }

    //! The next items are passed over by \p skip(), which says how many; so does this.
    template <class Skip>
    std::size_t pass_over(input& in, Skip&& skip)
    {
        if (d_borrowed) {
            lend(in, 0);
        }
        return took(in, skip());
    }

private:
    using changes = std::map<std::string, std::function<bool()>>; // by setting

    // How long work() may sleep: tb.stop() waits for it.
    static constexpr std::chrono::milliseconds longest_sleep{ 100 };
    // Of input, between the block upstream and a GPU.
    static constexpr std::size_t wide_buffer_bytes = 1u << 20;
    static constexpr std::size_t widest_output_bytes = 32u << 20; // at a time
    static constexpr std::size_t widest_buffer_bytes = 256u
                                                       << 20; // for each slot's device

    std::size_t lend(const input& in, std::size_t more)
    {
        const auto before = in.taken - d_consumed;
        return engine().lend(in.items + d_consumed * d_input_size, before + more);
    }
    std::size_t took(input& in, std::size_t n)
    {
        in.taken += n;
        d_consumed += d_borrowed ? engine().take_back() : n;
        return n;
    }

    //! Whatever goes wrong is told by general_work().
    template <class Action>
    void guarded(Action&& action)
    {
        try {
            action();
        } catch (const std::exception& error) {
            d_failure = error.what();
            d_failure_told = false;
        }
    }

    int
    decode(std::size_t room, const gr_vector_const_void_star& input_items, std::byte* out)
    {
        auto in = look_at(0, input_items[0]);
        input second;
        if (input_items.size() > 1) {
            second = look_at(1, input_items[1]);
        }
        bool has_room = lend_output(out, 0);
        const auto lent = engine().lent();
        in.taken = lent;
        d_consumed = 0;
        d_first = d_taken - lent;
        read_tags(in.available);
        std::size_t given = 0;
        for (;;) {
            const auto pulled =
                pull(out + given * d_output_size, room - given, d_given + given);
            given += pulled;
            d_consumed += engine().take_back(); // what was pulled needs its input no more
            if (pulled > 0) {
                has_room = lend_output(out, given);
            }
            const bool pushed = has_room && push(in, second);
            if (in.ended && in.left() == 0 && all_pushed() && !d_finished) {
                engine().finish();
                d_finished = true;
                continue;
            }
            if (pulled > 0 || pushed) {
                continue;
            }
            // What fills the ring is all that comes before some of it is taken back.
            const bool ring_full =
                d_borrowed && in.left() == 0 && in.available >= most_available();
            if (ring_full) {
                engine().flush();
            }
            const bool stuck =
                !has_room || held_up() || ring_full || (d_finished && !engine().done());
            const bool idle = in.taken == lent && second.taken + given == 0;
            if (!idle || !stuck || !engine().wait(longest_sleep)) {
                break;
            }
        }

        d_taken += in.taken - lent;
        this->consume(0, d_consumed);
        if (input_items.size() > 1) {
            this->consume(1, second.taken);
        }
        d_tags.give(d_given + given,
                    this->nitems_written(0) - d_given,
                    [this](const tag_t& tag) { this->add_item_tag(0, tag); });
        d_given += given;
        publish_choices();
        if (d_finished && engine().done() && all_given()) {
            publish_status("ended", "all input is decoded");
            this->produce(0, given); // WORK_DONE alone would throw it away
            return Block::WORK_DONE;
        }
        return given;
    }

    void read_tags(std::size_t available)
    {
        const auto base = this->nitems_read(0);
        const auto fetch = [&](std::vector<tag_t>& tags, std::uint64_t from) {
            this->get_tags_in_range(tags, 0, base + from, base + available);
            for (auto& tag : tags) {
                tag.offset -= base + from;
            }
        };
        d_input_tags.read(
            d_first, available, fetch, [this](const tag_t& tag) { return note(tag); });
    }

    // Lends what is free in the output's ring, of which so many items are \p given
    // already. False if a batch that is submitted now would not find room: it would be
    // copied, for which others wait, and is better submitted once more has been read.
    bool lend_output(std::byte* out, std::size_t given)
    {
        if (!d_borrowed_output) {
            return true;
        }
        const auto free = space() * d_output_size;
        const auto taken = std::min(free, given * d_output_size + held_output());
        return engine().lend_output(out + taken, free - taken);
    }

    // Items of the output for which there is room. Only this block takes some of it.
    std::size_t space() const
    {
        const auto ring = this->detail()->output(0);
        gr::thread::scoped_lock guard(*ring->mutex());
        return ring->space_available();
    }

    // Called before the buffers are made. A GPU decodes faster than threads hand small
    // ones to each other: the scheduler gives the block upstream a ring of twice the
    // items that one output multiple takes. Downstream finds at least as much in its ring
    // as usual.
    void widen_buffers()
    {
        const bool as_the_user_says =
            this->output_multiple_set() || this->max_output_buffer(0) > 0;
        if (active_backend() != "cuda" || as_the_user_says) {
            return;
        }
        // The input of every slot, to be decoded from there, and what is filled
        // meanwhile, or at least a little.
        const auto in_flight = engine().input_bytes();
        const auto spare = in_flight / run().slots * spare_batches();
        const auto widest = widest_buffer_bytes * run().devices.size();
        const bool in_place =
            lends() && engine().can_lend() && in_flight + in_flight / 16 <= widest;
        const auto wanted = in_place ? std::min(in_flight + spare, widest) : 0;
        const auto bytes = std::max(wanted, wide_buffer_bytes);
        const auto multiple = std::min<std::size_t>(
            bytes / 2 / d_input_size * this->relative_rate_i() / this->relative_rate_d(),
            widest_output_bytes / d_output_size);
        this->set_output_multiple(std::max(1, int(multiple)));
        // The output of every slot, and half as much that is given and read meanwhile.
        const auto out = lends_output() ? engine().output_bytes() : 0;
        const auto to_lend = out <= widest ? out + out / 2 : 0;
        this->set_min_output_buffer(
            std::max<long>(4l * this->output_multiple(), to_lend / d_output_size));
    }

    // A GPU reads the input from the ring where it lies, if that can be page-locked and
    // has room for all that is in flight and for what the block upstream writes at a
    // time; nothing is then copied on the host.
    void borrow_input()
    {
        const auto ring = this->detail()->input(0)->buffer();
        if (!lends() || active_backend() != "cuda" || !engine().can_lend()) {
            return;
        }
        const auto needed =
            engine().input_bytes() + ring->link()->output_multiple() * d_input_size;
        d_borrowed = borrowed(ring, "input", needed, [&](char* base, std::size_t bytes) {
            return engine().lock_lent(base, 2 * bytes);
        });
    }

    // A GPU puts the output into the ring, where it will be given, if that has room for
    // all that is in flight. One that the next block's GPU may read in place is left to
    // that.
    void borrow_output()
    {
        const auto ring = this->detail()->output(0);
        const auto needed =
            lends_output() && active_backend() == "cuda" ? engine().output_bytes() : 0;
        bool taken = needed == 0 || !pages_can_be_replaced;
        for (std::size_t i = 0; i < ring->nreaders(); ++i) {
            const auto* const next =
                dynamic_cast<ring_borrower*>(ring->reader(i)->link().get());
            taken |= next && next->may_borrow_input();
        }
        if (taken) {
            return;
        }
        d_borrowed_output =
            borrowed(ring, "output", needed, [&](char* base, std::size_t bytes) {
                return engine().lock_output(
                    base, 2 * bytes, [=] { return put_other_pages(base, bytes); });
            });
    }

    // The ring, if lock(base, bytes) has locked its pages; says why it is not so.
    template <class Lock>
    gr::buffer_sptr borrowed(const gr::buffer_sptr& ring,
                             const char* what,
                             std::size_t needed,
                             Lock&& lock)
    {
        const auto bytes = ring->bufsize() * ring->get_sizeof_item();
        const bool mapped_twice =
            ring->get_mapping_type() == buffer_mapping_type::double_mapped;
        const char* const reason =
            bytes <= needed ? "is too small"
            : !mapped_twice ? "is not mapped twice"
            : !lock(const_cast<char*>(ring->base()), bytes)
                ? "cannot be page-locked, or the device lacks memory"
                : nullptr;
        if (!reason) {
            return ring;
        }
        this->d_logger->info("{} is copied: its buffer of {} KiB {}; {} KiB are wanted",
                             what,
                             bytes >> 10,
                             reason,
                             needed >> 10);
        return {};
    }

    tag_t d_tag; // that is being added, of which a copy is taken
    std::weak_ptr<gr::block_detail> d_detail; // that the stream came through
    std::uint64_t d_first = 0;                // item of the stream, of those at hand
    std::size_t d_consumed = 0;               // of those at hand
    std::string d_failure;                    // what ended decoding
    bool d_failure_told = false;

    // Shared with the threads that call setters and getters.
    mutable std::mutex d_settings_mutex;
    changes d_changes;
    std::string d_backend;
    int d_batch = 0;

    bool d_may_borrow = false;  // the ring before it
    gr::buffer_sptr d_borrowed; // ring that the decoder reads its input from in place
    gr::buffer_sptr d_borrowed_output; // and that it puts its output to
    const pmt::pmt_t d_status_port;
    wake_port d_wake_port;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_DECODER_BLOCK_H */
