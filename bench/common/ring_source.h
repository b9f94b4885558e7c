// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* A source block for benchmarks that writes to its output buffer only once. */

#ifndef INCLUDED_GPUFEC_BENCH_RING_SOURCE_H
#define INCLUDED_GPUFEC_BENCH_RING_SOURCE_H

#include <gnuradio/block_detail.h>
#include <gnuradio/buffer.h>
#include <gnuradio/io_signature.h>
#include <gnuradio/sync_block.h>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace gr::gpufec::bench {

/*! \brief A source of int8 without memory traffic.
 *
 * The block fills its output buffer once with repetitions of \p items, and then only
 * reports items as produced. Each repetition has the same \p tags, sorted by their
 * offsets from its first item. With a rate, an item is produced when the clock has
 * reached the time at which it is due. */
class ring_source : public gr::sync_block
{
public:
    typedef std::shared_ptr<ring_source> sptr;
    using clock = std::chrono::steady_clock;

    struct tag {
        std::uint64_t offset;
        pmt::pmt_t key, value;
    };

    /*! \p least_bytes is the minimum size of the buffer. \p rate is in items per second;
     * 0: the source produces items whenever the buffer has space. */
    ring_source(std::vector<std::int8_t> items,
                std::size_t least_bytes,
                std::vector<tag> tags = {},
                double rate = 0)
        : gr::sync_block("ring_source",
                         gr::io_signature::make(0, 0, 0),
                         gr::io_signature::make(1, 1, 1)),
          d_items(std::move(items)),
          d_tags(std::move(tags)),
          d_rate(rate)
    {
        if (d_items.empty()) {
            throw std::invalid_argument("ring_source: items is empty");
        }
        constexpr std::size_t page = 4096;
        const auto whole = std::lcm(d_items.size(), page);
        d_size = (least_bytes + whole - 1) / whole * whole;
        // GNU Radio allocates the largest size that any block requests for a buffer. The
        // buffer must hold whole repetitions, so this request must be the largest.
        set_min_output_buffer(long(d_size));
    }

    //! Returns the number of items produced since the stream began.
    std::uint64_t given() const { return d_emitted; }

    //! Pauses the production of items (true) or continues it (false).
    void set_rests(bool rests) { d_rests = rests; }

    //! Prepares for a restart of the flowgraph, which allocates new buffers.
    void reset()
    {
        d_emitted = 0;
        set_max_output_buffer(-1); // GNU Radio would otherwise use its own size.
    }

    //! Returns the time at which an item is due. The source must have a rate, and work()
    //! must have been called.
    clock::time_point due(std::uint64_t item) const
    {
        return clock::time_point(clock::duration(d_begin)) +
               std::chrono::duration_cast<clock::duration>(
                   std::chrono::duration<double>(double(item + 1) / d_rate));
    }

    // Fills the buffer at the beginning of the stream. GNU Radio calls start() also after
    // unlock(), which may have replaced the buffer; work() then fills the new buffer.
    bool start() override
    {
        check_buffer();
        d_filled_at = d_emitted + d_size;
        if (d_emitted == 0) {
            // Fills the buffer before the clock starts.
            fill(static_cast<std::int8_t*>(detail()->output(0)->write_pointer()),
                 0,
                 d_size);
            d_filled_at = 0;
        }
        return true;
    }

    int work(int capacity, gr_vector_const_void_star&, gr_vector_void_star& out) override
    {
        if (d_rests) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            return 0;
        }
        const auto first = d_emitted.load();
        const auto count = std::min<std::uint64_t>(capacity, allowed(first));
        if (first < d_filled_at) {
            fill(static_cast<std::int8_t*>(out[0]),
                 first,
                 std::min(count, d_filled_at - first));
        }
        add_tags(first, first + count);
        d_emitted = first + count;
        return int(count);
    }

private:
    void check_buffer() const
    {
        if (std::size_t(detail()->output(0)->bufsize()) != d_size) {
            throw std::runtime_error(
                "ring_source: the buffer does not hold a whole number of periods");
        }
    }

    void fill(std::int8_t* to, std::uint64_t first, std::uint64_t count) const
    {
        for (std::uint64_t done = 0; done < count;) {
            const auto at = (first + done) % d_items.size();
            const auto some = std::min<std::uint64_t>(count - done, d_items.size() - at);
            std::memcpy(to + done, &d_items[at], some);
            done += some;
        }
    }

    // Returns the number of items that work() may produce. With a rate, the function
    // waits until at least one item is due, and returns the number of items that are due.
    // If work() returned 0 instead, GNU Radio would wait for 0.25 s.
    std::uint64_t allowed(std::uint64_t given)
    {
        if (d_rate == 0) {
            return ~std::uint64_t(0);
        }
        if (d_begin == 0) {
            d_begin = clock::now().time_since_epoch().count();
        }
        while (clock::now() < due(given)) {
            std::this_thread::sleep_for(std::chrono::microseconds(200));
        }
        const auto now = clock::now().time_since_epoch().count();
        const std::chrono::duration<double> ran = clock::duration(now - d_begin);
        return std::max<std::uint64_t>(given + 1, std::uint64_t(ran.count() * d_rate)) -
               given;
    }

    void add_tags(std::uint64_t begin, std::uint64_t end)
    {
        if (d_tags.empty()) {
            return;
        }
        const auto period = d_items.size();
        for (auto start = begin / period * period; start < end; start += period) {
            for (const auto& each : d_tags) {
                const auto at = start + each.offset;
                if (at >= begin && at < end) {
                    add_item_tag(0, at, each.key, each.value);
                }
            }
        }
    }

    const std::vector<std::int8_t> d_items;
    const std::vector<tag> d_tags;
    const double d_rate;
    std::size_t d_size;
    std::uint64_t d_filled_at = 0; // work() copies items until d_emitted is this value
    std::atomic<std::uint64_t> d_emitted{ 0 };
    std::atomic<clock::rep> d_begin{ 0 };
    std::atomic<bool> d_rests{ false };
};

} // namespace gr::gpufec::bench

#endif /* INCLUDED_GPUFEC_BENCH_RING_SOURCE_H */
