// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* A Python module with a source and a sink for soak.py, real_time.py and cpu_flow.py.
 * Blocks in Python would be slower than the decoders, and would wait for the lock of the
 * Python interpreter. */

#include "ring_source.h"
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <array>
#include <mutex>
#include <tuple>

namespace py = pybind11;

namespace gr::gpufec::bench {
namespace {

using bytes = py::array_t<std::uint8_t, py::array::c_style>;
using values = py::array_t<std::int8_t, py::array::c_style>;

/* A sink that compares bytes with a repeated period. If \p paced is a source with a rate,
 * the sink also measures a delay in each work() call. The delay begins when the first
 * input value of the call's first byte was due, and ends when this byte arrives. A source
 * that is blocked and therefore late does not shorten this delay. */
class checking_sink : public gr::sync_block
{
public:
    typedef std::shared_ptr<checking_sink> sptr;
    using clock = ring_source::clock;

    checking_sink(std::vector<std::uint8_t> period,
                  ring_source::sptr paced,
                  std::uint64_t values_per_byte)
        : gr::sync_block("checking_sink",
                         gr::io_signature::make(1, 1, 1),
                         gr::io_signature::make(0, 0, 0)),
          d_period(std::move(period)),
          d_paced(std::move(paced)),
          d_values_per_byte(values_per_byte)
    {
        if (d_period.empty()) {
            throw std::invalid_argument("checking_sink: period is empty");
        }
    }

    std::uint64_t at() const { return d_at; }
    std::uint64_t count() const { return d_count; }
    std::uint64_t wrong() const { return d_wrong; }

    void reset() { d_at = 0; }

    //! Returns a row of two times in seconds for each call of work(): from the beginning
    //! of the stream until the call's first byte was due, and from then until the byte
    //! arrived.
    py::array_t<float> delays() const
    {
        const std::lock_guard<std::mutex> lock(d_mutex);
        return py::array_t<float>({ py::ssize_t(d_delays.size()), py::ssize_t(2) },
                                  d_delays.empty() ? nullptr : d_delays.data()->data());
    }

    int work(int count, gr_vector_const_void_star& in, gr_vector_void_star&) override
    {
        const auto* const items = static_cast<const std::uint8_t*>(in[0]);
        for (std::uint64_t done = 0; done < std::uint64_t(count);) {
            const auto at = (d_at + done) % d_period.size();
            const auto some = std::min<std::uint64_t>(count - done, d_period.size() - at);
            if (std::memcmp(items + done, &d_period[at], some) != 0) {
                for (std::uint64_t i = 0; i < some; ++i) {
                    d_wrong += items[done + i] != d_period[at + i];
                }
            }
            done += some;
        }
        if (d_paced) {
            const auto due = d_paced->due(d_at * d_values_per_byte);
            const std::chrono::duration<float> from_begin = due - d_paced->due(0),
                                               late = clock::now() - due;
            const std::lock_guard<std::mutex> lock(d_mutex);
            d_delays.push_back({ from_begin.count(), late.count() });
        }
        d_at += count;
        d_count += count;
        return count;
    }

private:
    const std::vector<std::uint8_t> d_period;
    const ring_source::sptr d_paced;
    const std::uint64_t d_values_per_byte;
    std::atomic<std::uint64_t> d_at{ 0 }, d_count{ 0 }, d_wrong{ 0 };
    mutable std::mutex d_mutex;
    std::vector<std::array<float, 2>> d_delays;
};

ring_source::sptr
make_source(const values& items,
            std::size_t least_bytes,
            const std::vector<std::tuple<std::uint64_t, std::string, long>>& tags,
            double rate)
{
    std::vector<ring_source::tag> all;
    for (const auto& [offset, key, value] : tags) {
        all.push_back({ offset, pmt::mp(key), pmt::from_long(value) });
    }
    return gnuradio::make_block_sptr<ring_source>(
        std::vector<std::int8_t>(items.data(), items.data() + items.size()),
        least_bytes,
        std::move(all),
        rate);
}

checking_sink::sptr
make_sink(const bytes& period, ring_source::sptr paced, std::uint64_t values_per_byte)
{
    return gnuradio::make_block_sptr<checking_sink>(
        std::vector<std::uint8_t>(period.data(), period.data() + period.size()),
        std::move(paced),
        values_per_byte);
}

} // namespace
} // namespace gr::gpufec::bench

PYBIND11_MODULE(endurance_blocks, m)
{
    using namespace gr::gpufec::bench;
    py::module::import("gnuradio.gr"); // registers the base classes of these blocks
    py::class_<ring_source,
               gr::sync_block,
               gr::block,
               gr::basic_block,
               ring_source::sptr>(m, "ring_source")
        .def(py::init(&make_source),
             py::arg("items"),
             py::arg("least_bytes") = 1 << 20,
             py::arg("tags") = py::tuple(),
             py::arg("rate") = 0.0)
        .def("given", &ring_source::given)
        .def("set_rests", &ring_source::set_rests)
        .def("reset", &ring_source::reset);
    py::class_<checking_sink,
               gr::sync_block,
               gr::block,
               gr::basic_block,
               checking_sink::sptr>(m, "checking_sink")
        .def(py::init(&make_sink),
             py::arg("period"),
             py::arg("paced") = nullptr,
             py::arg("values_per_byte") = 1)
        .def("at", &checking_sink::at)
        .def("count", &checking_sink::count)
        .def("wrong", &checking_sink::wrong)
        .def("delays", &checking_sink::delays)
        .def("reset", &checking_sink::reset);
}
