// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests of sync_decoder with borrowed input: items that the decoder reads in place, in
 * the caller's memory. */

#include "pipeline/test/memory_of.h"
#include "qa_stream_support.h"
#include <gtest/gtest.h>
#include <random>

namespace gr::gpufec::sync_map {
namespace {

// A caller's buffer from which a decoder borrows items. Items are overwritten as soon as
// they are released, to detect later reads.
class borrowing
{
public:
    borrowing(sync_decoder& decoder, std::vector<std::uint8_t> items)
        : d_decoder(decoder), d_items(std::move(items)), d_ring(d_items)
    {
    }

    // Offers up to `count` more items, or pushes them after end().
    std::size_t offer(std::size_t count)
    {
        const auto n = d_over ? d_decoder.push({ d_items.data() + d_taken, count })
                              : memory_of(d_decoder).borrow(d_ring.data() + d_back,
                                                            d_taken - d_back + count);
        return took(n);
    }
    std::size_t skip(std::size_t count) { return took(d_decoder.skip(count)); }
    void end()
    {
        memory_of(d_decoder).copy_borrowed();
        EXPECT_EQ(memory_of(d_decoder).borrowed(), 0u);
        std::fill(d_ring.begin(), d_ring.end(), 77);
        d_over = true;
    }
    void release_borrowed()
    {
        const auto n = memory_of(d_decoder).release_borrowed();
        std::fill_n(d_ring.begin() + d_back, n, 77);
        d_back += n;
    }

    bool over() const { return d_over; }
    std::size_t taken() const { return d_taken; }
    std::size_t left() const { return d_items.size() - d_taken; }
    std::size_t back() const { return d_back; }

private:
    std::size_t took(std::size_t n)
    {
        d_taken += n;
        release_borrowed();
        return n;
    }

    sync_decoder& d_decoder;
    const std::vector<std::uint8_t> d_items;
    std::vector<std::uint8_t> d_ring;
    std::size_t d_taken = 0, d_back = 0;
    bool d_over = false;
};

sync_options small_batches(sync_options o, unsigned batch, unsigned slots)
{
    o.batch = batch;
    o.slots = slots;
    o.max_latency_ms = batch == 2 ? 0 : 1e9;
    return o;
}

// Decodes frames that are borrowed up to item `until` and pushed from there on.
decoded_stream
decode_borrowed_frames(const sync_options& options,
                       const std::vector<std::vector<std::uint8_t>>& frames,
                       std::size_t until)
{
    const auto decoder = sync_decoder::make(options);
    EXPECT_TRUE(memory_of(*decoder).can_borrow());
    decoded_stream out;
    std::vector<std::uint8_t> items;
    for (std::size_t f = 0; f < frames.size(); ++f) {
        items.insert(items.end(), frames[f].begin(), frames[f].end());
        items.insert(items.end(), f % 4 * 11, 0); // these items belong to no frame
    }
    borrowing ring(*decoder, items);
    std::mt19937 random(5);
    const auto all = [&](auto&& pass, std::size_t count) {
        while (count > 0) {
            const auto n = pass(std::min<std::size_t>(count, 1 + random() % 700));
            count -= n;
            take_all<float>(*decoder, out);
            if (n == 0) {
                decoder->wait(milliseconds(10));
            }
            if (ring.taken() >= until && !ring.over()) {
                ring.end();
            }
        }
    };
    for (std::size_t f = 0; f < frames.size(); ++f) {
        all([&](auto n) { return ring.offer(n); }, frames[f].size());
        while (!decoder->end_frame()) {
            take_all<float>(*decoder, out);
            decoder->wait(milliseconds(10));
        }
        all([&](auto n) { return ring.skip(n); }, f % 4 * 11);
    }
    finish(*decoder, [&] { take_all<float>(*decoder, out); });
    ring.release_borrowed();
    EXPECT_TRUE(ring.over() || ring.back() == items.size());
    return out;
}

TEST(sync_decoder_borrowing, BorrowedFrames_DecodeAsPushed)
{
    auto data = random_frames(codebook_random(6, 8, 15, 4), { 0.02, 0.02 }, 40);
    data.received[7].resize(1);
    data.received[20].assign(3000, 1); // too long to be decoded
    data.received[21].assign(20000, 1);
    data.received[39].resize(5);
    auto o = data.options;
    o.backend = backend::cpu;
    o.output = sync_output::posteriors;
    o.drifts = false;
    std::size_t count = 0;
    decoded_stream pushed;
    {
        const auto decoder = sync_decoder::make(o);
        for (const auto& frame : data.received) {
            while (!decoder->push_frame(frame)) {
                take_all<float>(*decoder, pushed);
                decoder->wait(milliseconds(10));
            }
            count += frame.size();
        }
        finish(*decoder, [&] { take_all<float>(*decoder, pushed); });
    }
    ASSERT_EQ(pushed.begins.size(), data.received.size());
    EXPECT_FALSE(pushed.valid[20] || pushed.valid[21]);
    EXPECT_TRUE(pushed.valid[22]);
    for (const unsigned batch : { 1u, 2u, 3u, 16u, 64u }) {
        for (const unsigned slots : { 1u, 3u }) {
            for (const auto until :
                 { std::size_t(1), count / 5, count / 2, ~std::size_t(0) }) {
                const auto borrowed = decode_borrowed_frames(
                    small_batches(o, batch, slots), data.received, until);
                EXPECT_EQ(borrowed.values, pushed.values)
                    << "batch " << batch << ", borrowed up to item " << until;
                EXPECT_EQ(borrowed.valid, pushed.valid)
                    << "batch " << batch << ", borrowed up to item " << until;
            }
        }
    }
}

// Decodes frames of options.frame_items items, which are borrowed up to item `until` and
// pushed from there on.
decoded_stream decode_equal_frames(const sync_options& options,
                                   const std::vector<std::uint8_t>& items,
                                   std::size_t until)
{
    const auto decoder = sync_decoder::make(options);
    decoded_stream out;
    borrowing ring(*decoder, items);
    std::mt19937 random(5);
    while (ring.left() > 0) {
        if (ring.taken() >= until && !ring.over()) {
            ring.end();
        }
        const auto n = ring.offer(std::min<std::size_t>(ring.left(), 1 + random() % 900));
        take_all<float>(*decoder, out);
        ring.release_borrowed();
        if (n == 0) {
            decoder->wait(milliseconds(10));
        }
    }
    finish(*decoder, [&] { take_all<float>(*decoder, out); });
    ring.release_borrowed();
    EXPECT_TRUE(ring.over() || ring.back() == items.size());
    return out;
}

TEST(sync_decoder_borrowing, FramesOfConstantLength_DecodeAsPushed)
{
    const auto data = random_frames(codebook_random(6, 8, 15, 4), { 0.02, 0.02 }, 40);
    auto o = data.options;
    o.backend = backend::cpu;
    o.output = sync_output::posteriors;
    o.drifts = false;
    auto items = joined(data);
    items.resize(items.size() / 90 * 90 + 37);         // the last frame is incomplete
    for (const std::size_t length : { 5, 90, 3000 }) { // only 90 items can be decoded
        o.frame_items = 0;
        decoded_stream pushed;
        const auto reference = sync_decoder::make(o);
        for (std::size_t at = 0; at < items.size(); at += length) {
            const auto n = std::min(length, items.size() - at);
            while (!reference->push_frame({ items.data() + at, n })) {
                take_all<float>(*reference, pushed);
                reference->wait(milliseconds(10));
            }
        }
        finish(*reference, [&] { take_all<float>(*reference, pushed); });
        ASSERT_EQ(pushed.begins.size(), (items.size() + length - 1) / length);
        o.frame_items = length;
        for (const unsigned batch : { 1u, 2u, 3u, 16u }) {
            for (const auto until :
                 { std::size_t(0), items.size() / 2, ~std::size_t(0) }) {
                const auto found =
                    decode_equal_frames(small_batches(o, batch, 2), items, until);
                EXPECT_EQ(found.values, pushed.values)
                    << "frames of " << length << " items, batch " << batch
                    << ", borrowed up to item " << until;
                EXPECT_EQ(found.valid, pushed.valid)
                    << "frames of " << length << " items, batch " << batch
                    << ", borrowed up to item " << until;
            }
        }
    }
}

TEST(sync_decoder_borrowing, BorrowedStream_DecodesAsPushed)
{
    const auto data = random_frames(codebook_random(6, 8, 15, 4), { 0.01, 0.01 }, 200);
    auto items = joined(data);
    ASSERT_GT(items.size(), 9040u);
    items.erase(items.begin() + 9000,
                items.begin() + 9040); // a boundary match must fail at these lost items
    auto o = stream_options(data.options, sync_output::posteriors);
    const auto pushed = decode_stream<float>(o, items, 500);
    ASSERT_GT(pushed.begins.size(), 190u);
    for (const unsigned batch : { 1u, 2u, 16u, 64u }) {
        for (const unsigned slots : { 1u, 3u }) {
            for (const auto until :
                 { std::size_t(1), items.size() / 2, ~std::size_t(0) }) {
                const auto decoder = sync_decoder::make(small_batches(o, batch, slots));
                ASSERT_TRUE(memory_of(*decoder).can_borrow());
                borrowing ring(*decoder, items);
                decoded_stream borrowed;
                std::mt19937 random(5);
                while (ring.left() > 0) {
                    if (ring.taken() >= until && !ring.over()) {
                        ring.end();
                    }
                    const auto n = ring.offer(
                        std::min<std::size_t>(ring.left(), 1 + random() % 900));
                    take_all<float>(*decoder, borrowed);
                    ring.release_borrowed();
                    if (n == 0) {
                        decoder->wait(milliseconds(10));
                    }
                }
                finish(*decoder, [&] { take_all<float>(*decoder, borrowed); });
                ring.release_borrowed();
                EXPECT_TRUE(ring.over() || ring.back() == items.size());
                EXPECT_EQ(borrowed.values, pushed.values)
                    << "batch " << batch << ", borrowed up to item " << until;
                EXPECT_EQ(borrowed.begins, pushed.begins)
                    << "batch " << batch << ", borrowed up to item " << until;
                EXPECT_EQ(borrowed.locked, pushed.locked)
                    << "batch " << batch << ", borrowed up to item " << until;
            }
        }
    }
}

TEST(sync_decoder_borrowing, ChannelChangeWithinFrame_DecodesAsPushed)
{
    const auto data = random_frames(codebook_random(6, 8, 15, 4), { 0.02, 0.02 }, 12);
    auto o = small_batches(data.options, 3, 2);
    o.backend = backend::cpu;
    o.output = sync_output::posteriors;
    o.drifts = false;
    const bsid_model other{ 0.03, 0.01 };
    // Frame 7 has been pushed in part when the channel changes.
    std::vector<std::vector<float>> outputs[2];
    for (const bool borrow : { false, true }) {
        const auto decoder = sync_decoder::make(o);
        borrowing ring(*decoder, joined(data));
        const auto pull = [&] {
            sync_decoder::frame f;
            while (decoder->pull(f)) {
                const auto* const from = static_cast<const float*>(f.output);
                outputs[borrow].emplace_back(from, from + f.output_bytes / sizeof(float));
            }
            ring.release_borrowed();
        };
        if (!borrow) {
            ring.end();
        }
        for (unsigned f = 0; f < 12; ++f) {
            for (std::size_t left = data.received[f].size(); left > 0;) {
                const auto n = ring.offer(std::min<std::size_t>(left, 40));
                left -= n;
                if (f == 7 && left > 0 && left <= 40) {
                    decoder->set_channel(other);
                }
                pull();
                if (n == 0) {
                    decoder->wait(milliseconds(10));
                }
            }
            while (!decoder->end_frame()) {
                pull();
                decoder->wait(milliseconds(10));
            }
        }
        finish(*decoder, pull);
    }
    ASSERT_EQ(outputs[0].size(), 12u);
    EXPECT_EQ(outputs[0], outputs[1]);
}

TEST(sync_decoder_borrowing, ChannelThatAdmitsTheLength_DecodesTheNextFrames)
{
    const auto data = random_frames(codebook_random(6, 8, 15, 4), { 1e-4, 1e-4 }, 12);
    auto o = small_batches(data.options, 4, 3);
    o.backend = backend::cpu;
    o.output = sync_output::posteriors;
    o.drifts = false;
    constexpr std::size_t length = 100; // too long for the first channel
    auto items = joined(data);
    items.resize(9 * length);
    decoded_stream outputs[2];
    for (const bool constant : { false, true }) {
        auto& out = outputs[constant];
        o.frame_items = constant ? length : 0;
        const auto decoder = sync_decoder::make(o);
        borrowing ring(*decoder, items);
        EXPECT_EQ(ring.offer(length - 1), length - 1);
        decoder->set_channel({ 0.05, 0.05 });
        while (ring.left() > 0) {
            const auto frame = length - ring.taken() % length;
            EXPECT_EQ(ring.offer(constant ? ring.left() : frame),
                      constant ? items.size() - length + 1 : frame);
            EXPECT_TRUE(constant || decoder->end_frame());
            take_all<float>(*decoder, out);
            decoder->wait(milliseconds(10));
        }
        finish(*decoder, [&] { take_all<float>(*decoder, out); });
    }
    EXPECT_FALSE(outputs[0].valid.front());
    EXPECT_TRUE(outputs[0].valid.back());
    EXPECT_EQ(outputs[0].valid, outputs[1].valid);
    EXPECT_EQ(outputs[0].values, outputs[1].values);
}

} // namespace
} // namespace gr::gpufec::sync_map
