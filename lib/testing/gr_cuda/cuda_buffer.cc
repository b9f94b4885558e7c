// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The test double of gr-cuda's buffer. */

#include <gnuradio/cuda/cuda_buffer.h>
#include <cstring>

namespace gr {

buffer_type cuda_buffer::type(buftype<cuda_buffer, cuda_buffer>{});
std::atomic<int> cuda_buffer::waits_for_items{ 0 }, cuda_buffer::waits_for_space{ 0 };

cuda_buffer::cuda_buffer(int nitems,
                         std::size_t sizeof_item,
                         std::uint64_t downstream_lcm_nitems,
                         std::uint32_t downstream_max_out_mult,
                         block_sptr link,
                         block_sptr buf_owner)
    : buffer_single_mapped(nitems,
                           sizeof_item,
                           downstream_lcm_nitems,
                           downstream_max_out_mult,
                           link,
                           buf_owner),
      d_copies(gpufec::device_copies::make(0))
{
    if (!allocate_buffer(nitems)) {
        throw std::bad_alloc();
    }
}

bool cuda_buffer::do_allocate_buffer(std::size_t final_nitems, std::size_t sizeof_item)
{
    const auto bytes = final_nitems * sizeof_item;
    d_device = gpufec::device_ring::make(0, bytes, 1);
    d_host.resize(bytes);
    d_base = d_host.data();
    return true;
}

char* cuda_buffer::device_memory() const
{
    return reinterpret_cast<char*>(d_device->data());
}

bool cuda_buffer::writer_on_device() const
{
    return d_transfer_type != transfer_type::HOST_TO_DEVICE;
}

bool cuda_buffer::reader_on_device() const
{
    return d_transfer_type != transfer_type::DEVICE_TO_HOST;
}

void cuda_buffer::post_work(int nitems)
{
    if (nitems <= 0 || writer_on_device() == reader_on_device()) {
        return;
    }
    const auto at = d_write_index * d_sizeof_item, bytes = nitems * d_sizeof_item;
    auto* const device = device_memory() + at;
    auto* const host = d_base + at;
    writer_on_device() ? (*d_copies)(host, device, bytes)
                       : (*d_copies)(device, host, bytes);
}

void* cuda_buffer::write_pointer()
{
    return (writer_on_device() ? device_memory() : d_base) +
           d_write_index * d_sizeof_item;
}

const void* cuda_buffer::_read_pointer(unsigned read_index)
{
    return (reader_on_device() ? device_memory() : d_base) + read_index * d_sizeof_item;
}

// Moves items in both memories, because the scheduler changes the indices of both.
mem_func_t cuda_buffer::move()
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

bool cuda_buffer::input_blocked_callback(int items_required,
                                         int items_avail,
                                         unsigned read_index)
{
    return input_blocked_callback_logic(
        items_required, items_avail, read_index, d_base, move(), move());
}

bool cuda_buffer::output_blocked_callback(int output_multiple, bool force)
{
    return output_blocked_callback_logic(output_multiple, force, d_base, move());
}

buffer_sptr cuda_buffer::make_buffer(int nitems,
                                     std::size_t sizeof_item,
                                     std::uint64_t downstream_lcm_nitems,
                                     std::uint32_t downstream_max_out_mult,
                                     block_sptr link,
                                     block_sptr buf_owner)
{
    return buffer_sptr(new cuda_buffer(nitems,
                                       sizeof_item,
                                       downstream_lcm_nitems,
                                       downstream_max_out_mult,
                                       link,
                                       buf_owner));
}

} // namespace gr
