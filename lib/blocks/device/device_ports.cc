// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Implements the ports of a decoder block in device memory, and checks the parameter io.
 * */

#include "common/refuse.h"
#include "device_ports.h"
#include "gr_cuda.h"
#include <gnuradio/block_detail.h>
#include <gnuradio/buffer.h>
#include <gnuradio/buffer_reader.h>
#include <gnuradio/constants.h>
#include <gnuradio/io_signature.h>
#include <algorithm>
#include <cstring>

namespace gr::gpufec {

namespace {

// Size of the host buffer through which items pass if the decoder does not read or write
// in place.
constexpr std::size_t host_bytes = 4u << 20;

bool is_before(const std::string& version, int api, int minor)
{
    int major = 0, given_api = 0, given_minor = 0;
    return std::sscanf(version.c_str(), "%d.%d.%d", &major, &given_api, &given_minor) ==
               3 &&
           (given_api < api || (given_api == api && given_minor < minor));
}

// Returns a warning if the buffer has several readers and the installed GNU Radio
// deadlocks with several readers.
std::vector<std::string> warning_of_readers(const gr::buffer& buffer, const char* port)
{
    const auto readers = buffer.nreaders();
    if (readers < 2 || !is_before(gr::version(), 10, 13)) {
        return {};
    }
    return { "the buffer of the " + std::string(port) + " in device memory has " +
             std::to_string(readers) + " readers, with which GNU Radio " + gr::version() +
             " deadlocks (fixed after 3.10.12 by gnuradio pull request 8029): insert "
             "a block that copies the items to one output port per reader" };
}

} // namespace

port_memory port_memory_from_string(const std::string& name)
{
    return choose<port_memory>("io",
                               name,
                               { { "host", port_memory::host },
                                 { "device_in", port_memory::device_in },
                                 { "device", port_memory::device } });
}

void check_port_memory(run_options& run, port_memory io)
{
    if (io == port_memory::host) {
        return;
    }
    gr_cuda::device_buffer();
    const std::string name = io == port_memory::device ? "\"device\"" : "\"device_in\"";
    if (run.backend == backend::cpu) {
        refuse("io", name, "the only allowed value is \"host\" with backend \"cpu\"");
    }
    if (run.devices.size() > 1) {
        refuse("io",
               name,
               "devices has " + std::to_string(run.devices.size()) +
                   " elements, but only one is allowed, the device of the buffers");
    }
    run.backend = backend::cuda;
    run.input_on_device = true;
}

gr::io_signature::sptr input_port(port_memory io, std::size_t item_bytes, bool priors)
{
    if (io == port_memory::host) {
        return priors ? gr::io_signature::make2(1, 2, item_bytes, sizeof(float))
                      : gr::io_signature::make(1, 1, item_bytes);
    }
    const auto& type = gr_cuda::device_buffer();
    return priors ? gr::io_signature::make2(1, 2, item_bytes, sizeof(float), type)
                  : gr::io_signature::make(1, 1, item_bytes, type);
}

gr::io_signature::sptr output_port(port_memory io, std::size_t item_bytes)
{
    return io == port_memory::device
               ? gr::io_signature::make(1, 1, item_bytes, gr_cuda::device_buffer())
               : gr::io_signature::make(1, 1, item_bytes);
}

// Prepares the port for a stream. \p needed is the number of bytes of the batches of all
// slots; it is 0 if the decoder does not access memory in place. \p beginning is the
// device address of the scheduler's buffer, and this buffer must have \p margin bytes
// more than \p needed. Returns whether the decoder accesses memory in place.
template <class Memory>
bool device_ports::port<Memory>::begin(decoder& d,
                                       int device,
                                       const gr::buffer_sptr& scheduled,
                                       const void* beginning,
                                       std::size_t needed,
                                       std::size_t margin)
{
    reset();
    if (needed > 0) {
        bytes = scheduled->bufsize() * item;
        if (scheduled->get_mapping_type() == buffer_mapping_type::double_mapped &&
            bytes > needed + margin) {
            memory.emplace(d, const_cast<void*>(beginning), 2 * bytes);
            if (memory->pinned()) {
                buffer = scheduled;
                return true;
            }
        }
        // The ring holds 1.5 times the bytes of all slots, so that some space is free
        // while all slots are in flight.
        memory.reset();
        ring = device_ring::make(device, needed + needed / 2, item);
        bytes = ring->size();
        memory.emplace(d, ring->data(), 2 * bytes);
        if (memory->pinned()) {
            return true;
        }
    }
    pass_the_host();
    return false;
}

template <class Memory>
void device_ports::port<Memory>::reset()
{
    memory.reset(); // unpins the memory of the buffer or ring
    buffer.reset();
    ring.reset();
    offset = 0;
    waited_for = -1;
}

template <class Memory>
void device_ports::port<Memory>::pass_the_host()
{
    reset();
    bytes = host_bytes / item * item;
    host.resize(bytes);
}

device_ports::device_ports(port_memory io,
                           int device,
                           std::size_t input_item,
                           std::size_t output_item)
    : d_io(io),
      d_device(device),
      d_copies(device_copies::make(device)),
      d_in(input_item),
      d_out(output_item)
{
}

std::vector<std::string>
device_ports::begin(decoder& d, const gr::block& block, bool in_place)
{
    d_held = 0;
    d_stopped = false;
    const auto in = block.detail()->input(0)->buffer();
    auto messages = warning_of_readers(*in, "input");
    if (!d_in.begin(d,
                    d_device,
                    in,
                    in->_read_pointer(0),
                    in_place ? pinned_input::bytes_needed(d) : 0,
                    in->link()->output_multiple() * d_in.item)) {
        messages.push_back("the input is copied through host memory, because this "
                           "decoder does not read it in place");
    }
    return messages;
}

std::vector<std::string>
device_ports::begin_output(decoder& d, const gr::block& block, bool in_place)
{
    const auto out = block.detail()->output(0);
    auto messages = warning_of_readers(*out, "output");
    const auto written = out->nitems_written() % out->bufsize() * d_out.item;
    const auto needed = in_place && !d_stopped ? pinned_output::bytes_needed(d) : 0;
    if (!d_out.begin(d,
                     d_device,
                     out,
                     static_cast<char*>(out->write_pointer()) - written,
                     needed,
                     needed) &&
        !d_stopped) {
        messages.push_back(
            "the output is copied through host memory, because this decoder does not "
            "write it in place");
    }
    return messages;
}

void device_ports::stop()
{
    d_stopped = true;
    if (d_out.memory) {
        d_out.memory->end();
        d_out.reset();
    }
    if (d_in.buffer) {
        d_in.memory->end();
        d_in.pass_the_host();
    }
}

std::size_t
device_ports::bring_in(gr::buffer& buffer, const void* items, std::size_t count)
{
    const auto n = std::min(count, capacity() - d_held);
    if (n == 0) {
        return 0;
    }
    gr_cuda::wait_for_items(buffer, d_copies->stream());
    const auto held = d_held * d_in.item, bytes = n * d_in.item;
    auto* to = d_in.data();
    if (d_in.ring) {
        to += (d_in.offset + held) % d_in.bytes;
    } else {
        if (d_in.offset + held + bytes > d_in.bytes) {
            std::memmove(to, to + d_in.offset, held);
            d_in.offset = 0;
        }
        to += d_in.offset + held;
    }
    (*d_copies)(to, items, bytes);
    d_held += n;
    return n;
}

void device_ports::release(std::size_t items)
{
    d_held -= items;
    d_in.offset += items * d_in.item;
    if (d_in.ring) {
        d_in.offset %= d_in.bytes;
    }
}

void device_ports::give(gr::buffer& buffer, void* to, std::size_t items)
{
    if (items == 0) {
        return;
    }
    gr_cuda::wait_for_space(buffer, d_copies->stream());
    (*d_copies)(to, next_output(), items * d_out.item);
    if (d_out.ring) {
        d_out.offset = (d_out.offset + items * d_out.item) % d_out.bytes;
    }
}

void device_ports::wait_for_items(std::uint64_t end)
{
    if (d_in.buffer && std::exchange(d_in.waited_for, end) != end &&
        gr_cuda::wait_for_items(*d_in.buffer, d_copies->stream())) {
        d_copies->wait();
    }
}

void device_ports::wait_for_space(std::uint64_t end)
{
    if (d_out.buffer && std::exchange(d_out.waited_for, end) != end &&
        gr_cuda::wait_for_space(*d_out.buffer, d_copies->stream())) {
        d_copies->wait();
    }
}

} // namespace gr::gpufec
