// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Binds the frame finder of CCSDS telemetry and telecommands to Python, for arrays. */

#include "../interpreter.h"
#include <gnuradio/gpufec/ccsds.h>

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

namespace py = pybind11;
using namespace gr::gpufec;

namespace {

ccsds_framing framing_of(const py::dict& given)
{
    ccsds_framing framing;
    framing.code = given["code"].cast<std::string>();
    framing.interleaving = given["interleaving"].cast<unsigned>();
    framing.frame_bytes = given["frame_bytes"].cast<unsigned>();
    framing.randomiser = given["randomiser"].cast<std::string>();
    framing.constellation = given["constellation"].cast<std::string>();
    framing.differential = given["differential"].cast<bool>();
    framing.false_alarm = given["false_alarm"].cast<double>();
    framing.flywheel = given["flywheel"].cast<unsigned>();
    framing.drop_failed = given["drop_failed"].cast<bool>();
    framing.positive_bit = given["positive_bit"].cast<unsigned>();
    framing.llr_scale = given["llr_scale"].cast<float>();
    framing.max_iterations = given["max_iterations"].cast<unsigned>();
    return framing;
}

// Finds the frames. Pushes the items in parts, so that a signal handler can end the call
// between two parts.
template <class Item>
std::vector<ccsds_frame>
find_all(ccsds_frame_finder& finder, const Item* items, std::size_t count)
{
    constexpr std::size_t part = 1 << 20;
    std::vector<ccsds_frame> found;
    ccsds_frame frame;
    const auto pull = [&] {
        while (finder.pull(frame)) {
            found.push_back(std::move(frame));
        }
    };
    paced_signals signals;
    for (std::size_t i = 0; i < count; i += part) {
        signals.check();
        finder.push(items + i, std::min(part, count - i));
        pull();
    }
    finder.finish();
    pull();
    return found;
}

// Returns an array with one value for each frame.
template <class Value, class Get>
py::array_t<Value> column(const std::vector<ccsds_frame>& frames, Get&& get)
{
    py::array_t<Value> values(frames.size());
    std::transform(frames.begin(), frames.end(), values.mutable_data(), get);
    return values;
}

// Returns an array with a row for each frame.
template <class Value, class Get>
py::array_t<Value>
rows(const std::vector<ccsds_frame>& frames, std::size_t columns, Get&& get)
{
    py::array_t<Value> values(std::vector<std::size_t>{ frames.size(), columns });
    auto* to = values.mutable_data();
    for (const auto& frame : frames) {
        const auto& row = get(frame);
        to = std::copy(row.begin(), row.end(), to);
    }
    return values;
}

py::dict facts_of(const ccsds_frame_finder& finder,
                  const std::vector<ccsds_frame>& frames,
                  std::size_t interleaving,
                  bool telecommand)
{
    using frame = ccsds_frame;
    py::dict facts;
    facts["good"] = column<bool>(frames, [](const frame& f) { return f.good; });
    facts["position"] =
        column<std::uint64_t>(frames, [](const frame& f) { return f.position; });
    facts["inverted"] = column<bool>(frames, [](const frame& f) { return f.inverted; });
    facts["orientation"] =
        column<std::uint8_t>(frames, [](const frame& f) { return f.orientation; });
    facts["marker_found"] =
        column<bool>(frames, [](const frame& f) { return f.marker_found; });
    facts["marker_correlation"] =
        column<double>(frames, [](const frame& f) { return f.marker_correlation; });
    const bool corrects = std::any_of(frames.begin(), frames.end(), [](const frame& f) {
        return !f.corrected.empty();
    });
    if (telecommand) {
        facts["tail_found"] =
            column<bool>(frames, [](const frame& f) { return f.tail_found; });
        facts["corrected"] = column<int>(frames, [](const frame& f) {
            return std::accumulate(f.corrected.begin(), f.corrected.end(), 0);
        });
    } else {
        facts["corrected"] = rows<int>(
            frames, corrects ? interleaving : 0, [](const frame& f) -> auto& {
                return f.corrected;
            });
    }
    const auto counts = finder.counts();
    facts["frame_count"] = counts.frames;
    facts["failed_frame_count"] = counts.failed;
    facts["corrected_symbol_count"] = counts.corrected;
    facts["missed_marker_count"] = counts.missed;
    facts["lock_count"] = counts.locks;
    facts["slip_count"] = counts.slips;
    facts["verdict"] = finder.verdict();
    return facts;
}

} // namespace

void bind_ccsds(py::module& m)
{
    // Returns the name of each LDPC code with its parameters of ldpc_decode(): standard,
    // frame size and rate.
    m.def("ccsds_ldpc_codes", [] {
        py::list codes;
        for (const auto& c : ccsds_ldpc_codes()) {
            codes.append(py::make_tuple(c.name, c.standard, c.frame_size, c.rate));
        }
        return codes;
    });
    m.def("ccsds_codes", &ccsds_codes);
    // Returns whether each telecommand code is an LDPC code, by name.
    m.def("ccsds_telecommand_codes", [] {
        py::dict codes;
        for (const auto& c : ccsds_telecommand_codes()) {
            codes[py::str(c.name)] = c.ldpc;
        }
        return codes;
    });
    // Encodes the bytes of frames to the bytes of a CLTU.
    m.def("ccsds_encode_cltu",
          [](const py::array_t<std::uint8_t, py::array::c_style>& frame,
             const std::string& code,
             const std::string& randomiser) {
              const auto cltu = ccsds_encode_cltu(
                  frame.data(), std::size_t(frame.size()), code, randomiser);
              return py::array_t<std::uint8_t>(cltu.size(), cltu.data());
          });
    // Accepts uint8 (packed bits) or int8 (soft values). Returns the frames and
    // a dictionary with the other results. The frames are the rows of an array or, for
    // telecommands, a list of arrays.
    m.def("ccsds_frames", [](const py::array& items, const py::dict& given) {
        const bool soft = items.dtype().kind() == 'i';
        const auto framing = framing_of(given);
        ccsds_frame_finder finder(framing, soft, "", given["threads"].cast<unsigned>());
        const auto* const data = items.data();
        const auto count = std::size_t(items.size());
        const auto frames = released([&] {
            return soft ? find_all(finder, static_cast<const std::int8_t*>(data), count)
                        : find_all(finder, static_cast<const std::uint8_t*>(data), count);
        });
        const bool telecommand = find_ccsds_telecommand_code(framing.code);
        const auto facts = facts_of(finder, frames, framing.interleaving, telecommand);
        if (telecommand) {
            py::list contents;
            for (const auto& f : frames) {
                contents.append(
                    py::array_t<std::uint8_t>(f.bytes.size(), f.bytes.data()));
            }
            return py::make_tuple(contents, facts);
        }
        if (finder.soft_output()) {
            return py::make_tuple(
                rows<std::int8_t>(
                    frames, finder.frame_items(), [](const ccsds_frame& f) -> auto& {
                        return f.soft;
                    }),
                facts);
        }
        return py::make_tuple(rows<std::uint8_t>(
                                  frames,
                                  finder.frame_items(),
                                  [](const ccsds_frame& f) -> auto& { return f.bytes; }),
                              facts);
    });
}
