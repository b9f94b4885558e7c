// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The ports of a decoder block in device memory, and the check of the parameter io. */

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

// Size of the memory of the host through which items pass if the decoder does not read or
// write in place.
constexpr std::size_t host_bytes = 4u << 20;

bool is_before(const std::string& version, int api, int minor)
{
    int major = 0, given_api = 0, given_minor = 0;
    return std::sscanf(version.c_str(), "%d.%d.%d", &major, &given_api, &given_minor) ==
               3 &&
           (given_api < api || (given_api == api && given_minor < minor));
}

// Returns a warning if the buffer has several readers and this GNU Radio deadlocks then.
std::string warning_of_readers(const gr::buffer& buffer, const char* port)
{
    const auto readers = buffer.nreaders();
    if (readers < 2 || !is_before(gr::version(), 10, 13)) {
        return {};
    }
    return "the buffer of the " + std::string(port) + " in device memory has " +
           std::to_string(readers) + " readers, with which GNU Radio " + gr::version() +
           " deadlocks (mended after 3.10.12 by gnuradio pull request 8029): copy the "
           "items by a block for each reader";
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
        refuse("io", name, "backend is \"cpu\"; allowed is \"host\"");
    }
    if (run.devices.size() > 1) {
        refuse("io",
               name,
               "devices has " + std::to_string(run.devices.size()) +
                   " elements; allowed is one, the device of the buffers");
    }
    run.backend = backend::cuda;
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

device_ports::device_ports(port_memory io,
                           int device,
                           std::size_t input_item,
                           std::size_t output_item)
    : d_io(io),
      d_device(device),
      d_input_item(input_item),
      d_output_item(output_item),
      d_copies(device_copies::make(device))
{
}

std::vector<std::string> device_ports::begin(decoder& d,
                                             const gr::block& block,
                                             bool input_in_place,
                                             bool output_in_place)
{
    std::vector<std::string> messages;
    const auto say = [&](const std::string& text) {
        if (!text.empty()) {
            messages.push_back(text);
        }
    };
    d_input.reset();
    d_output.reset();
    d_first = d_held = d_next = 0;
    say(warning_of_readers(*block.detail()->input(0)->buffer(), "input"));
    const auto in_flight = input_in_place ? pinned_input::bytes_needed(d) : 0;
    if (in_flight > 0) {
        // While all slots are in flight, the ring has space for another half.
        d_in_ring = device_ring::make(d_device, in_flight + in_flight / 2, d_input_item);
        d_in_bytes = d_in_ring->size();
        d_input.emplace(d, d_in_ring->data(), 2 * d_in_bytes);
    }
    if (!d_input || !d_input->pinned()) {
        d_input.reset();
        d_in_ring.reset();
        d_in_bytes = host_bytes / d_input_item * d_input_item;
        d_in_host.resize(d_in_bytes);
        say("the input passes the host, because this decoder does not read it in place");
    }
    if (!gives_output()) {
        return messages;
    }
    say(warning_of_readers(*block.detail()->output(0), "output"));
    const auto out = output_in_place ? pinned_output::bytes_needed(d) : 0;
    if (out > 0) {
        d_out_ring = device_ring::make(d_device, out + out / 2, d_output_item);
        d_out_bytes = d_out_ring->size();
        d_output.emplace(d, d_out_ring->data(), 2 * d_out_bytes);
    }
    if (!d_output || !d_output->pinned()) {
        d_output.reset();
        d_out_ring.reset();
        d_out_bytes = host_bytes / d_output_item * d_output_item;
        d_out_host.resize(d_out_bytes);
        say("the output passes the host, because this decoder does not write it in "
            "place");
    }
    return messages;
}

std::size_t
device_ports::bring_in(gr::buffer& buffer, const void* items, std::size_t count)
{
    const auto n = std::min(count, capacity() - d_held);
    if (n == 0) {
        return 0;
    }
    gr_cuda::wait_for_items(buffer, d_copies->stream());
    const auto held = d_held * d_input_item, bytes = n * d_input_item;
    auto* to = d_in_host.data();
    if (d_in_ring) {
        to = d_in_ring->data() + (d_first + held) % d_in_bytes;
    } else {
        if (d_first + held + bytes > d_in_bytes) {
            std::memmove(to, to + d_first, held);
            d_first = 0;
        }
        to += d_first + held;
    }
    (*d_copies)(to, items, bytes);
    d_held += n;
    return n;
}

const std::byte* device_ports::items() const
{
    return (d_in_ring ? d_in_ring->data() : d_in_host.data()) + d_first;
}

void device_ports::release(std::size_t items)
{
    d_held -= items;
    d_first += items * d_input_item;
    if (d_in_ring) {
        d_first %= d_in_bytes;
    }
}

std::byte* device_ports::next_output()
{
    return d_out_ring ? d_out_ring->data() + d_next : d_out_host.data();
}

void device_ports::give(gr::buffer& buffer, void* to, std::size_t items)
{
    if (items == 0) {
        return;
    }
    gr_cuda::wait_for_space(buffer, d_copies->stream());
    (*d_copies)(to, next_output(), items * d_output_item);
    if (d_out_ring) {
        d_next = (d_next + items * d_output_item) % d_out_bytes;
    }
}

} // namespace gr::gpufec
