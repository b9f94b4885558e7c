// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Binds the functions of Reed-Solomon codes on arrays to Python. */

#include "../interpreter.h"
#include "blocks/common/parameters.h"
#include "pipeline/thread_team.h"
#include <gnuradio/gpufec/reed_solomon.h>

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <algorithm>
#include <vector>

namespace py = pybind11;
using namespace gr::gpufec;

namespace {

using bytes_array = py::array_t<std::uint8_t, py::array::c_style>;

reed_solomon_code code_of(const std::string& name, int virtual_fill)
{
    return reed_solomon_code::standard(name).shortened(
        not_negative("virtual_fill", virtual_fill));
}

// Calls work(first, count) for parts of `frames` frames on several threads, without the
// GIL. Signals are handled between groups of parts.
template <class Work>
void each_frame(std::size_t frames, unsigned threads, const Work& work)
{
    constexpr std::size_t per_thread = 1024;
    thread_team team(threads);
    released([&] {
        paced_signals signals;
        for (std::size_t at = 0; at < frames;) {
            signals.check();
            const auto count = std::min(frames - at, threads * per_thread);
            team(count, threads, [&](std::size_t first, std::size_t n) {
                work(at + first, n);
            });
            at += count;
        }
    });
}

// Encodes rows of messages to rows of frames.
bytes_array encode(const bytes_array& messages,
                   const reed_solomon_encoder_kernel& encoder)
{
    const auto frames = std::size_t(messages.shape(0));
    const std::size_t in = messages.shape(1);
    const std::size_t out = encoder.interleaving() * encoder.code().n();
    bytes_array coded(std::vector<std::size_t>{ frames, out });
    const auto* const from = messages.data();
    auto* const to = coded.mutable_data();
    each_frame(frames, 1, [&](std::size_t first, std::size_t count) {
        for (auto f = first; f < first + count; ++f) {
            encoder.encode(from + f * in, to + f * out);
        }
    });
    return coded;
}

// Decodes rows of frames. Returns rows of messages and, for each codeword, the number of
// corrected symbols. `erasures` has no elements or as many as `frames`.
py::tuple decode(const bytes_array& frames,
                 const bytes_array& erasures,
                 const reed_solomon_decoder_kernel& decoder,
                 int threads)
{
    require(threads >= 1 && threads <= 256, "threads", threads, "1 to 256");
    const auto count = std::size_t(frames.shape(0));
    const std::size_t interleaving = decoder.interleaving();
    const std::size_t in = frames.shape(1), out = interleaving * decoder.code().k();
    bytes_array messages(std::vector<std::size_t>{ count, out });
    py::array_t<std::int32_t> corrected(std::vector<std::size_t>{ count, interleaving });
    static_assert(sizeof(int) == sizeof(std::int32_t));
    const auto* const from = frames.data();
    const auto* const erased = erasures.size() ? erasures.data() : nullptr;
    auto* const to = messages.mutable_data();
    int* const counts = corrected.mutable_data();
    each_frame(count, unsigned(threads), [&](std::size_t first, std::size_t n) {
        std::vector<std::uint8_t> frame(in);
        for (auto f = first; f < first + n; ++f) {
            std::copy_n(from + f * in, in, frame.begin());
            decoder.decode(frame.data(),
                           counts + f * interleaving,
                           erased ? erased + f * in : nullptr);
            std::copy_n(frame.begin(), out, to + f * out);
        }
    });
    return py::make_tuple(messages, corrected);
}

} // namespace

void bind_reed_solomon(py::module& m)
{
    using encoder = reed_solomon_encoder_kernel;
    using decoder = reed_solomon_decoder_kernel;
    py::class_<encoder>(m, "rs_encoder_kernel", py::module_local())
        .def(py::init([](const std::string& name, int interleaving, int virtual_fill) {
            return encoder(code_of(name, virtual_fill),
                           not_negative("interleaving", interleaving, "1 to 16"));
        }))
        .def_property_readonly(
            "message_bytes",
            [](const encoder& e) { return e.interleaving() * e.code().k(); })
        .def("encode", [](const encoder& e, const bytes_array& messages) {
            return encode(messages, e);
        });
    py::class_<decoder>(m, "rs_decoder_kernel", py::module_local())
        .def(py::init([](const std::string& name, int interleaving, int virtual_fill) {
            return decoder(code_of(name, virtual_fill),
                           not_negative("interleaving", interleaving, "1 to 16"));
        }))
        .def_property_readonly(
            "frame_bytes",
            [](const decoder& d) { return d.interleaving() * d.code().n(); })
        .def("decode",
             [](const decoder& d,
                const bytes_array& frames,
                const bytes_array& erasures,
                int threads) { return decode(frames, erasures, d, threads); });
}
