// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The source and the sink in device memory that device_rates.py imports. */

#include "cuda/device_ring.h"
#include <gnuradio/cuda/cuda_buffer.h>
#include <gnuradio/io_signature.h>
#include <gnuradio/sync_block.h>
#include <pybind11/pybind11.h>
#include <algorithm>

namespace py = pybind11;

namespace gr::gpufec::bench {
namespace {

//! A source that repeats items, which work() copies from device memory to the output.
class device_source : public gr::sync_block
{
public:
    typedef std::shared_ptr<device_source> sptr;

    device_source(const py::buffer& items, std::size_t buffer_bytes)
        : device_source(items.request(), buffer_bytes)
    {
    }

    int work(int capacity, gr_vector_const_void_star&, gr_vector_void_star& out) override
    {
        const auto bytes = std::min(capacity * d_item_bytes, d_bytes - d_at);
        (*d_copies)(out[0], d_items->data() + d_at, bytes);
        d_at = (d_at + bytes) % d_bytes;
        return int(bytes / d_item_bytes);
    }

private:
    device_source(const py::buffer_info& items, std::size_t buffer_bytes)
        : gr::sync_block("device_source",
                         gr::io_signature::make(0, 0, 0),
                         gr::io_signature::make(1, 1, items.itemsize, cuda_buffer::type)),
          d_item_bytes(items.itemsize),
          d_bytes(items.itemsize * items.size),
          d_copies(device_copies::make(0)),
          d_items(device_ring::make(0, d_bytes, 1))
    {
        (*d_copies)(d_items->data(), items.ptr, d_bytes);
        set_min_output_buffer(long(buffer_bytes / d_item_bytes));
    }

    const std::size_t d_item_bytes, d_bytes;
    const std::unique_ptr<device_copies> d_copies;
    const std::unique_ptr<device_ring> d_items;
    std::size_t d_at = 0;
};

//! A sink for items in device memory, which it does not read.
class device_sink : public gr::sync_block
{
public:
    typedef std::shared_ptr<device_sink> sptr;

    explicit device_sink(std::size_t item_bytes)
        : gr::sync_block("device_sink",
                         gr::io_signature::make(1, 1, item_bytes, cuda_buffer::type),
                         gr::io_signature::make(0, 0, 0))
    {
    }

    int work(int available, gr_vector_const_void_star&, gr_vector_void_star&) override
    {
        return available;
    }
};

} // namespace
} // namespace gr::gpufec::bench

PYBIND11_MODULE(device_blocks, m)
{
    using namespace gr::gpufec::bench;
    py::module::import("gnuradio.gr"); // registers the base classes of these blocks
    m.attr("buffer_type") =
        py::cast(gr::cuda_buffer::type, py::return_value_policy::reference);
    py::class_<device_source,
               gr::sync_block,
               gr::block,
               gr::basic_block,
               device_source::sptr>(m, "device_source")
        .def(py::init<py::buffer, std::size_t>(),
             py::arg("items"),
             py::arg("buffer_bytes") = 64 << 20);
    py::class_<device_sink,
               gr::sync_block,
               gr::block,
               gr::basic_block,
               device_sink::sptr>(m, "device_sink")
        .def(py::init<std::size_t>(), py::arg("item_bytes") = 1);
}
