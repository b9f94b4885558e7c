// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The test double of gr-cuda's buffer. */

#include <gnuradio/buffer.h>
#include <gnuradio/buffer_reader.h>
#include <gnuradio/buffer_single_mapped.h>
#include <gnuradio/cuda/cuda_buffer.h>
#include <type_traits>
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

namespace gr {

buffer_type cuda_buffer::type(buftype<cuda_buffer, cuda_buffer>{});
std::atomic<int> cuda_buffer::waits_for_items{ 0 }, cuda_buffer::waits_for_space{ 0 };

namespace {

// The part that both kinds of buffers have in common.
// \tparam Base gr::buffer or buffer_single_mapped
template <class Base>
class buffer_on_device : public Base, public cuda_buffer
{
public:
    using Base::Base;

    void post_work(int nitems) override
    {
        if (nitems <= 0 || writer_on_device() == reader_on_device()) {
            return;
        }
        const auto at = this->d_write_index * this->d_sizeof_item;
        copy_written(at, nitems * this->d_sizeof_item, !writer_on_device());
    }
    void* write_pointer() override
    {
        return (writer_on_device() ? device_memory() : this->d_base) +
               this->d_write_index * this->d_sizeof_item;
    }
    const void* _read_pointer(unsigned read_index) override
    {
        return (reader_on_device() ? device_memory() : this->d_base) +
               read_index * this->d_sizeof_item;
    }

protected:
    // Copies written items, which begin at an offset, to the memory of the other kind.
    virtual void copy_written(std::size_t at, std::size_t bytes, bool to_device)
    {
        auto* const device = device_memory() + at;
        auto* const host = this->d_base + at;
        to_device ? (*d_copies)(device, host, bytes) : (*d_copies)(host, device, bytes);
    }

private:
    bool writer_on_device() const
    {
        return this->d_transfer_type != transfer_type::HOST_TO_DEVICE;
    }
    bool reader_on_device() const
    {
        return this->d_transfer_type != transfer_type::DEVICE_TO_HOST;
    }
};

// The memory of the device is mapped twice. The host's memory has two copies of each
// item.
class mapped_twice : public buffer_on_device<buffer>
{
public:
    mapped_twice(int nitems,
                 std::size_t sizeof_item,
                 std::uint64_t downstream_lcm_nitems,
                 std::uint32_t downstream_max_out_mult,
                 block_sptr link)
        : buffer_on_device(buffer_mapping_type::double_mapped,
                           nitems,
                           sizeof_item,
                           downstream_lcm_nitems,
                           downstream_max_out_mult,
                           link)
    {
        d_device = gpufec::device_ring::make(0, nitems * sizeof_item, sizeof_item);
        d_bufsize = d_device->size() / sizeof_item;
        d_host.resize(2 * d_device->size());
        d_base = d_host.data();
    }

    int space_available() override
    {
        unsigned unread = 0;
        auto oldest = nitems_written();
        for (auto* const reader : d_readers) {
            unread = std::max(unread, unsigned(reader->items_available()));
            oldest = std::min(oldest, reader->nitems_read());
        }
        prune_tags(std::exchange(d_last_min_items_read, oldest));
        return int(d_bufsize - unread - 1);
    }

private:
    unsigned index_add(unsigned a, unsigned b) override { return (a + b) % d_bufsize; }
    unsigned index_sub(unsigned a, unsigned b) override
    {
        return (a + d_bufsize - b) % d_bufsize;
    }
    void copy_written(std::size_t at, std::size_t bytes, bool to_device) override
    {
        buffer_on_device::copy_written(at, bytes, to_device);
        if (!to_device) {
            const auto size = d_device->size(), end = std::min(at + bytes, size);
            (*d_copies)(d_base + size + at, device_memory() + at, end - at);
            (*d_copies)(d_base, device_memory(), at + bytes - end);
        }
    }

    std::vector<char> d_host;
};

class moving : public buffer_on_device<buffer_single_mapped>
{
public:
    moving(int nitems,
           std::size_t sizeof_item,
           std::uint64_t downstream_lcm_nitems,
           std::uint32_t downstream_max_out_mult,
           block_sptr link,
           block_sptr buf_owner)
        : buffer_on_device(nitems,
                           sizeof_item,
                           downstream_lcm_nitems,
                           downstream_max_out_mult,
                           link,
                           buf_owner)
    {
        if (!allocate_buffer(nitems)) {
            throw std::bad_alloc();
        }
    }

    bool input_blocked_callback(int items_required,
                                int items_avail,
                                unsigned read_index) override
    {
        return input_blocked_callback_logic(
            items_required, items_avail, read_index, d_base, move(), move());
    }
    bool output_blocked_callback(int output_multiple, bool force) override
    {
        return output_blocked_callback_logic(output_multiple, force, d_base, move());
    }

private:
    bool do_allocate_buffer(std::size_t final_nitems, std::size_t sizeof_item) override
    {
        const auto bytes = final_nitems * sizeof_item;
        d_device = gpufec::device_ring::make(0, bytes, 1);
        d_host.resize(bytes);
        d_base = d_host.data();
        return true;
    }
    // Moves items in both memories, because the scheduler changes the indices of both.
    mem_func_t move()
    {
        return [this](void* to, const void* from, std::size_t bytes) {
            std::memmove(to, from, bytes);
            auto* const device = device_memory();
            std::vector<char> items(bytes);
            (*d_copies)(
                items.data(), device + (static_cast<const char*>(from) - d_base), bytes);
            (*d_copies)(device + (static_cast<char*>(to) - d_base), items.data(), bytes);
            return to;
        };
    }

    std::vector<char> d_host;
};

} // namespace

buffer_sptr cuda_buffer::make_buffer(int nitems,
                                     std::size_t sizeof_item,
                                     std::uint64_t downstream_lcm_nitems,
                                     std::uint32_t downstream_max_out_mult,
                                     block_sptr link,
                                     block_sptr buf_owner)
{
    const auto make = [&](auto* kind, auto... owner) {
        return buffer_sptr(
            new std::remove_pointer_t<decltype(kind)>(nitems,
                                                      sizeof_item,
                                                      downstream_lcm_nitems,
                                                      downstream_max_out_mult,
                                                      link,
                                                      owner...));
    };
    return std::getenv("GPUFEC_BUFFERS_MAPPED_TWICE")
               ? make(static_cast<mapped_twice*>(nullptr))
               : make(static_cast<moving*>(nullptr), buf_owner);
}

} // namespace gr
