// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* A decoder together with functions that push its test input and pull its output, and
 * ring buffers like those of GNU Radio. */

#ifndef INCLUDED_GPUFEC_TESTING_KINDS_USER_H
#define INCLUDED_GPUFEC_TESTING_KINDS_USER_H

#include "common/page_mappings.h"
#include "pipeline/test/memory_of.h"
#include <gnuradio/gpufec/pinned_memory.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <type_traits>
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <fstream>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace gr::gpufec {
namespace qa {

using bytes = std::vector<std::uint8_t>;

class output_ring;

//! A decoder and its input, which is divided into portions of one or more work items. The
//! input of a decoder with positive_bit 1 is negated, so that the output bits do not
//! depend on positive_bit.
struct user {
    user() = default;
    user(user&&) = default;
    user& operator=(user&&) = default;
    // Ends output in place, and then destroys the decoder before the ring buffers, which
    // the decoder may still use.
    ~user();

    std::shared_ptr<decoder> engine;
    //! Pushes portion number \p f, beginning with its item \p first. Returns the number
    //! of items accepted.
    std::function<std::size_t(unsigned f, std::size_t first)> push;
    //! Pulls available output to \p to. Returns the number of bytes pulled.
    std::function<std::size_t(std::uint8_t* to, std::size_t capacity)> pull;
    std::size_t portion;                    //!< input items per portion
    std::shared_ptr<output_ring> ring = {}; //!< ring for output in place, or null
};

//! Representation of the soft value 0: 128 in offset binary (uint8), otherwise 0.
template <class Item>
constexpr int middle = std::is_same_v<Item, std::uint8_t> ? 128 : 0;

//! Whether ring buffers are leaked on purpose, because abandoned devices may still use
//! them.
inline bool leak_rings = false;

//! Buffer from which a decoder borrows input. Released items are overwritten immediately,
//! so that tests detect a decoder that still reads released items.
template <class Item>
class input_ring
{
public:
    explicit input_ring(std::vector<Item> items)
        : d_items(std::move(items)), d_ring(d_items)
    {
    }

    ~input_ring()
    {
        if (leak_rings) {
            new std::vector<Item>(std::move(d_ring));
        }
    }

    //! Restores all items before item \p first of portion 0, so that they can be borrowed
    //! again.
    void restart_at_first(unsigned portion, std::size_t first)
    {
        if (portion == 0 && first == 0) {
            d_ring = d_items;
            d_kept = d_taken = 0;
        }
    }

    std::size_t borrow(decoder& d, std::size_t count)
    {
        const auto n =
            memory_of(d).borrow(d_ring.data() + d_kept, d_taken - d_kept + count);
        d_taken += n;
        release_borrowed(d);
        return n;
    }
    template <class Decoder>
    std::size_t skip(Decoder& d, std::size_t count)
    {
        const auto n = d.skip(count);
        d_taken += n;
        release_borrowed(d);
        return n;
    }
    void release_borrowed(decoder& d)
    {
        const auto n = memory_of(d).release_borrowed();
        std::fill_n(d_ring.begin() + d_kept, n, Item(55));
        d_kept += n;
    }

private:
    const std::vector<Item> d_items;
    std::vector<Item> d_ring;
    std::size_t d_kept = 0, d_taken = 0;
};

//! Ring buffer for output in place. Like GNU Radio's buffers, its memory is mapped twice
//! in succession. A simulated reader consumes random amounts, so that the free space
//! varies.
class output_ring
{
public:
    static constexpr std::size_t size = 4096;
    static constexpr std::size_t min_capacity = 600; // more bytes than any frame has

    //! Pins the ring for \p d. The first output is written to byte \p first of the ring.
    //! Unless \p replaceable is true, the pinned memory is not whole pages, so that its
    //! pages cannot be replaced.
    output_ring(decoder& d, std::size_t first, bool replaceable)
        : d_decoder(d),
          d_replaceable(replaceable),
          d_written(first),
          d_read(first),
          d_random(first)
    {
        auto* const both =
            mmap(nullptr, 2 * size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        d_base = static_cast<char*>(both);
        if (both == MAP_FAILED || !put_other_pages(d_base, size, 2)) {
            throw std::bad_alloc();
        }
        d_file = file();
        begin();
    }
    output_ring(const output_ring&) = delete;
    ~output_ring()
    {
        if (!leak_rings) {
            munmap(d_base, 2 * size);
        }
    }

    void begin()
    {
        constexpr bool mapped_twice = true;
        d_memory.emplace(
            d_decoder, d_base, 2 * size - (d_replaceable ? 0 : 2), mapped_twice);
    }

    void end() { d_memory.reset(); }

    //! Pulls output to the ring and to \p some. Returns the number of bytes pulled.
    std::size_t pull(user& u, bytes& some)
    {
        EXPECT_TRUE(is_as_written());
        d_read += d_random() % (d_written - d_read + 1);
        d_read = std::max(d_read,
                          d_written + min_capacity -
                              std::min(d_written + min_capacity, size - 1));
        const auto free = size - 1 - (d_written - d_read);
        if (d_memory) {
            d_memory->borrow(at(d_written), free);
        }
        std::fill(some.begin(), some.end(), 0xee);
        const auto n = u.pull(some.data(), d_random() % 2 ? free : min_capacity);
        const auto untouched = [](std::uint8_t x) { return x == 0xee; };
        if (n >= 4 && std::all_of(some.begin(), some.begin() + n, untouched)) {
            std::memcpy(some.data(), at(d_written), n);
            in_place += n;
        } else {
            std::memcpy(at(d_written), some.data(), n);
        }
        d_written += n;
        d_unread.insert(d_unread.end(), some.begin(), some.begin() + n);
        return n;
    }

    //! Returns whether the output that the reader has not consumed is unchanged.
    bool is_as_written()
    {
        d_unread.erase(d_unread.begin(),
                       d_unread.end() - std::ptrdiff_t(d_written - d_read));
        return std::equal(d_unread.begin(), d_unread.end(), at(d_read));
    }

    //! Returns whether the pages have been replaced.
    bool replaced() const { return file() != d_file; }

    std::size_t in_place = 0; //!< number of bytes that devices wrote in place

private:
    // Returns the number (inode) of the file whose pages are mapped at the ring.
    std::string file() const
    {
        std::ostringstream address;
        address << std::hex << reinterpret_cast<std::uintptr_t>(d_base) << '-';
        std::ifstream maps("/proc/self/maps");
        for (std::string line; std::getline(maps, line);) {
            if (line.compare(0, address.str().size(), address.str()) == 0) {
                std::istringstream fields(line);
                std::string addresses, access, offset, device, number;
                fields >> addresses >> access >> offset >> device >> number;
                return number;
            }
        }
        return {};
    }

    std::uint8_t* at(std::size_t place) const
    {
        return reinterpret_cast<std::uint8_t*>(d_base) + place % size;
    }

    decoder& d_decoder;
    const bool d_replaceable;
    char* d_base = nullptr;
    std::size_t d_written, d_read; // bytes written and read since the beginning
    std::mt19937 d_random;
    std::deque<std::uint8_t> d_unread;
    std::string d_file; // number of the file of the first pages
    std::optional<pinned_output> d_memory;
};

inline user::~user()
{
    if (ring) {
        ring->end();
    }
    engine.reset();
}

} // namespace qa
} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_TESTING_KINDS_USER_H */
