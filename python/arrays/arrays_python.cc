// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Defines the Python module _gpufec, which needs no GNU Radio: codes, decoders of arrays,
 * encoders, channels, and memory of the host and of devices. The functions of arrays.py,
 * which users import, check arrays and pass their addresses to this module. */

#include "blocks/common/parameters.h"
#include "blocks/viterbi/lock_parameters.h"
#include "channel/awgn.h"
#include "channel/bsid.h"
#include "channel/counter_random.h"
#include "codebook.h"
#include "common/packed_bits.h"
#include "common/ranges.h"
#include "cuda/devices.h"
#include "dlpack.h"
#include "interpreter.h"
#include "viterbi/phase_lock/lock_facts.h"
#include <gnuradio/gpufec/arrays.h>

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <type_traits>
#include <algorithm>
#include <cstring>

namespace py = pybind11;
using namespace gr::gpufec;

void bind_ccsds(py::module& m);
void bind_ldpc_codes(py::module& m);
void bind_reed_solomon(py::module& m);
void bind_sync_map(py::module& m);
void bind_viterbi(py::module& m);

namespace {

using address = std::uintptr_t;

const void* in_memory(address a) { return reinterpret_cast<const void*>(a); }
void* out_memory(address a) { return reinterpret_cast<void*>(a); }

using bytes_array = py::array_t<std::uint8_t, py::array::c_style>;

const char* name_of(memory_kind kind)
{
    return kind == memory_kind::device        ? "device"
           : kind == memory_kind::page_locked ? "page_locked"
                                              : "ordinary";
}

// Copies the options that all decoders share from a dictionary to \p run.
void set_run(run_options& run, const py::dict& given)
{
    run.batch = not_negative("batch", given["batch"].cast<int>());
    run.slots = not_negative("slots", given["slots"].cast<int>(), "1 to 16");
    run.backend = backend_from_string(given["backend"].cast<std::string>());
    run.devices = devices_of(given["device"].cast<int>(),
                             given["devices"].cast<std::vector<int>>());
    run.threads = not_negative("threads", given["threads"].cast<int>(), "1 to 256");
    run.copy_threads = std::max(run.threads, given["copy_threads"].cast<unsigned>());
    run.max_batch = given["most"].cast<std::size_t>();
}

// Makes a decoder without the GIL. The decoder's calls run Python's handlers of pending
// signals, so that Ctrl-C ends a call.
template <class Decoder, class... Arguments>
std::unique_ptr<Decoder> made(const Arguments&... arguments)
{
    return released([&] {
        auto decoder = std::make_unique<Decoder>(arguments...);
        decoder->set_check(check_signals);
        return decoder;
    });
}

void bind_memory(py::module& m)
{
    py::class_<array_memory, std::shared_ptr<array_memory>>(
        m, "memory", py::module_local(), "Memory that is freed with its last owner.")
        .def_property_readonly("address",
                               [](const array_memory& o) { return address(o.data()); })
        .def_property_readonly("bytes", &array_memory::bytes)
        .def_property_readonly(
            "kind", [](const array_memory& o) { return name_of(o.place().kind); })
        .def_property_readonly("device",
                               [](const array_memory& o) { return o.place().device; })
        .def("array", [](const std::shared_ptr<array_memory>& o) {
            return py::array_t<std::uint8_t>(
                o->bytes(), static_cast<std::uint8_t*>(o->data()), py::cast(o));
        });
    m.def("page_locked", &array_memory::page_locked);
    m.def("on_device", &array_memory::on_device);
    m.def("place_of", [](address a) {
        const auto place = place_of(in_memory(a));
        return py::make_tuple(name_of(place.kind), place.device);
    });
    m.def("wait_for_stream", &wait_for_stream, py::call_guard<without_gil>());
    m.def(
        "copy",
        [](address to, address from, std::size_t bytes) {
            copy_memory(out_memory(to), in_memory(from), bytes);
        },
        py::call_guard<without_gil>());
    m.def("read_dlpack", &read_dlpack);
    m.def("make_dlpack", &make_dlpack);
    m.def("cuda_devices", [] {
        std::vector<std::string> names;
        for (const auto& d : find_cuda_devices().devices) {
            names.push_back(d.name);
        }
        return names;
    });
}

py::dict facts_of(const viterbi_lock& lock)
{
    py::dict facts;
    viterbi::each_fact(lock,
                       [&](const char* name, const auto& value) { facts[name] = value; });
    facts["first_bit"] = lock.first_bit;
    facts["first_byte"] = lock.first_byte;
    return facts;
}

void bind_viterbi_decoder(py::module& m)
{
    using decoder = viterbi_array_decoder;
    py::class_<decoder>(m, "viterbi_array_decoder", py::module_local())
        .def(py::init([](int constraint_length,
                         const std::vector<int>& polynomials,
                         const std::string& puncturing,
                         const std::string& ends,
                         int frame_bits,
                         const std::string& soft_input,
                         float soft_scale,
                         bool packed_output,
                         int decode_length,
                         int overlap,
                         const std::string& cuda_kernel,
                         int positive_bit,
                         const std::string& lock,
                         const std::string& lock_constellation,
                         const std::vector<std::string>& lock_presets,
                         int lock_memory,
                         const std::string& lock_first_item,
                         const std::string& preset,
                         const py::dict& run,
                         std::uint64_t expected) {
            viterbi_options o{ conv_code(constraint_length, polynomials, puncturing) };
            o.termination = termination_from_string(ends);
            o.frame_bits = not_negative("frame_bits", frame_bits);
            o.format = soft_format_from_string(soft_input);
            o.soft_scale = soft_scale;
            o.decode_length = not_negative("decode_length", decode_length);
            o.overlap = not_negative("overlap", overlap);
            o.cuda_kernel = cuda_kernel;
            o.positive_bit = not_negative("positive_bit", positive_bit, "0 and 1");
            set_lock_options(o,
                             { lock,
                               lock_constellation,
                               lock_presets,
                               lock_memory,
                               lock_first_item,
                               preset });
            set_run(o, run);
            return made<decoder>(o, packed_output, expected);
        }))
        .def("decode_length", &decoder::decode_length)
        .def("overlap", &decoder::overlap)
        .def("items_per_frame", &decoder::items_per_frame)
        .def("output_items", &decoder::output_items)
        .def("decode",
             [](decoder& d, address in, std::uint64_t items, address out) {
                 const auto s = released(
                     [&] { return d.decode(in_memory(in), items, out_memory(out)); });
                 return py::make_tuple(
                     s.channel_error_rate, s.metric, s.chance_error_rate, s.verdict);
             })
        .def("decode_stream",
             [](decoder& d, address in, std::uint64_t items, bool last) {
                 decoder::status s;
                 const auto out = released(
                     [&] { return d.decode_stream(in_memory(in), items, last, &s); });
                 py::list changes;
                 for (const auto& change : s.lock_changes) {
                     changes.append(facts_of(change));
                 }
                 return py::make_tuple(bytes_array(out.size(), out.data()),
                                       s.channel_error_rate,
                                       s.metric,
                                       s.chance_error_rate,
                                       s.verdict,
                                       facts_of(s.lock),
                                       changes);
             })
        .def("active_backend", &decoder::active_backend)
        .def("active_device", &decoder::active_device);

    // The input and the output are rows of packed bits.
    m.def("conv_encode",
          [](const bytes_array& rows,
             std::size_t bits,
             int constraint_length,
             const std::vector<int>& polynomials,
             const std::string& puncturing,
             const std::string& ends) {
              const conv_code code(constraint_length, polynomials, puncturing);
              const auto kind = termination_from_string(ends);
              const bool frames = kind != termination::streaming;
              const std::size_t count = rows.shape(0), row = rows.shape(1);
              const conv_encoder_kernel encoder(code, kind, frames ? bits : 0);
              const auto coded_bits = encoder.coded_bits(bits);
              const auto coded = (coded_bits + 7) / 8;
              bytes_array out(std::vector<std::size_t>{ count, coded });
              const auto* const from = rows.data();
              auto* const to = out.mutable_data();
              if (frames) {
                  released([&] {
                      paced_signals signals;
                      for (std::size_t k = 0; k < count; ++k) {
                          signals.check();
                          encoder.encode_frame_packed(from + k * row, to + k * coded);
                      }
                  });
              }
              for (std::size_t k = 0; !frames && k < count; ++k) {
                  auto one = encoder;
                  std::size_t sent = 0;
                  released_in_parts(bits, [&](std::size_t first, std::size_t n) {
                      sent += one.encode_packed(from + k * row + first / 8,
                                                n,
                                                to + k * coded + sent / 8,
                                                sent % 8);
                  });
              }
              return py::make_tuple(out, coded_bits);
          });
}

// Makes a decoder of codewords of a code, or of PPDUs. \p Format is ldpc_code or
// wifi_ppdu.
template <class Format>
std::unique_ptr<ldpc_array_decoder> made_ldpc_decoder(const Format& format,
                                                      const std::string& soft_input,
                                                      float llr_scale,
                                                      const std::string& algorithm,
                                                      const std::string& precision,
                                                      int max_iterations,
                                                      bool early_stop,
                                                      const std::string& output,
                                                      bool packed_output,
                                                      const std::string& schedule,
                                                      double offset,
                                                      double normalization,
                                                      int positive_bit,
                                                      const py::dict& run)
{
    ldpc_options o;
    o.format = llr_format_from_string(soft_input);
    require_above_0("llr_scale", llr_scale);
    o.llr_scale = llr_scale;
    o.algorithm = ldpc_algorithm_from_string(algorithm);
    o.precision = ldpc_precision_from_string(precision);
    o.schedule = ldpc_schedule_from_string(schedule);
    o.max_iterations = not_negative("max_iterations", max_iterations, "1 to 1000");
    o.early_stop = early_stop;
    enum class kind { message, codeword, llr, extrinsic };
    const auto given = choose<kind>("output",
                                    output,
                                    { { "message", kind::message },
                                      { "codeword", kind::codeword },
                                      { "llr", kind::llr },
                                      { "extrinsic", kind::extrinsic } });
    o.codeword = given == kind::codeword;
    o.soft = given == kind::llr         ? ldpc_soft_output::posterior
             : given == kind::extrinsic ? ldpc_soft_output::extrinsic
                                        : ldpc_soft_output::none;
    o.offset = offset;
    o.normalization = normalization;
    o.positive_bit = not_negative("positive_bit", positive_bit, "0 and 1");
    set_run(o, run);
    if constexpr (std::is_same_v<Format, wifi_ppdu>) {
        return made<ldpc_array_decoder>(format, o, packed_output);
    } else {
        o.codes = { format };
        return made<ldpc_array_decoder>(o, packed_output);
    }
}

// Encodes rows of packed bits to rows of packed bits.
template <class Encode>
bytes_array
encoded_rows(const bytes_array& messages, std::size_t coded_bits, Encode&& encode)
{
    const std::size_t rows = messages.shape(0), row = messages.shape(1);
    const std::size_t coded = (coded_bits + 7) / 8;
    bytes_array out(std::vector<std::size_t>{ rows, coded });
    const auto* const from = messages.data();
    auto* const to = out.mutable_data();
    released([&] {
        paced_signals signals;
        for (std::size_t k = 0; k < rows; ++k) {
            signals.check();
            encode(from + k * row, to + k * coded);
        }
    });
    return out;
}

void bind_ldpc(py::module& m)
{
    using decoder = ldpc_array_decoder;
    py::class_<decoder>(m, "ldpc_array_decoder", py::module_local())
        .def(py::init(&made_ldpc_decoder<ldpc_code>))
        .def(py::init(&made_ldpc_decoder<wifi_ppdu>))
        .def("items_per_frame", &decoder::items_per_frame)
        .def("output_items", &decoder::output_items)
        .def("decode",
             [](decoder& d, address in, std::size_t frames, address out) {
                 static_assert(sizeof(decoder::status) == 2 * sizeof(std::uint32_t));
                 py::array_t<std::uint32_t> statuses(
                     std::vector<std::size_t>{ frames, 2 });
                 auto* const to =
                     reinterpret_cast<decoder::status*>(statuses.mutable_data());
                 released([&] { d.decode(in_memory(in), frames, out_memory(out), to); });
                 return statuses;
             })
        .def("verdict", &decoder::verdict)
        .def("active_backend", &decoder::active_backend)
        .def("active_device", &decoder::active_device);

    // The input and the output are rows of packed bits.
    m.def("ldpc_encode", [](const bytes_array& messages, const ldpc_code& code) {
        const ldpc_encoder_kernel encoder(code);
        return encoded_rows(messages, code.sent(), [&](auto* message, auto* coded) {
            encoder.encode_packed(message, coded);
        });
    });
    m.def("ldpc_encode", [](const bytes_array& messages, const wifi_ppdu& ppdu) {
        std::vector<std::uint8_t> payload(ppdu.payload_bits()), bits(ppdu.coded_bits());
        return encoded_rows(messages, bits.size(), [&](auto* message, auto* coded) {
            unpack_bits(message, 0, payload.size(), payload.data());
            ppdu.encode(payload.data(), bits.data());
            pack_bits(bits.data(), bits.size(), coded);
        });
    });
}

drift_prior prior_of(int first, const std::vector<double>& weights)
{
    return { first, weights };
}

void bind_sync_decoder(py::module& m)
{
    using decoder = sync_array_decoder;
    py::class_<sync_code>(m, "sync_code", py::module_local())
        .def(py::init([](const py::object& codebook,
                         int q,
                         int n,
                         int frame_symbols,
                         int alphabet) {
            return sync_code(not_negative("n", n, "1 or more"),
                             not_negative("q", q, "2 to 65536"),
                             not_negative("frame_symbols", frame_symbols, "1 or more"),
                             words_of(codebook, q, n, frame_symbols, alphabet),
                             not_negative("alphabet", alphabet, "2 to 16"));
        }));

    py::class_<decoder>(m, "sync_array_decoder", py::module_local())
        .def(py::init([](const sync_code& code,
                         double p_insert,
                         double p_delete,
                         double p_substitute,
                         const py::dict& more,
                         const py::dict& run) {
            const auto text = [&](const char* name) {
                return more[name].cast<std::string>();
            };
            const auto number = [&](const char* name) {
                return not_negative(name, more[name].cast<int>());
            };
            sync_reads_options o(sync_options(
                code, bsid_model(p_insert, p_delete, p_substitute, code.alphabet())));
            o.reads = number("reads");
            o.passes = number("passes");
            o.mode = sync_mode_from_string(text("mode"));
            o.soft_input = choose<bool>("soft_input",
                                        text("soft_input"),
                                        { { "hard", false }, { "float", true } });
            o.output = sync_output_from_string(text("output"));
            o.form = sync_form_from_string(text("form"));
            o.precision = sync_precision_from_string(text("precision"));
            o.storage = sync_storage_from_string(text("storage"));
            o.receiver = sync_receiver_from_string(text("receiver"));
            o.exclusion = more["exclusion"].cast<double>();
            o.change_first = more["mn_min"].cast<int>();
            o.change_last = more["mn_max"].cast<int>();
            o.lookahead = number("lookahead");
            o.acquire = number("acquire");
            o.priors = more["priors"].cast<bool>();
            o.positive_bit = number("positive_bit");
            o.start = prior_of(more["start_first"].cast<int>(),
                               more["start_prior"].cast<std::vector<double>>());
            if (o.start.probability.empty()) {
                o.start.probability = { 1 };
            }
            o.end = prior_of(more["end_first"].cast<int>(),
                             more["end_prior"].cast<std::vector<double>>());
            set_run(o, run);
            return made<decoder>(o);
        }))
        .def("frame_bytes", &decoder::frame_bytes)
        .def("decode",
             [](decoder& d,
                address items,
                const py::array_t<std::uint64_t, py::array::c_style>& begins,
                const py::array_t<std::uint64_t, py::array::c_style>& lengths,
                address priors,
                address out) {
                 const std::size_t frames = begins.size() / d.reads();
                 bytes_array statuses(frames * sizeof(sync_status));
                 auto* const to = reinterpret_cast<sync_status*>(statuses.mutable_data());
                 const auto* const from = begins.data();
                 const auto* const long_each = lengths.data();
                 released([&] {
                     d.decode(in_memory(items),
                              from,
                              long_each,
                              frames,
                              static_cast<const float*>(in_memory(priors)),
                              out_memory(out),
                              to);
                 });
                 return statuses;
             })
        .def("decode_stream",
             [](decoder& d, address items, std::size_t count, bool last) {
                 const auto f = released(
                     [&] { return d.decode_stream(in_memory(items), count, last); });
                 bytes_array statuses(f.statuses.size() * sizeof(sync_status));
                 if (!f.statuses.empty()) {
                     std::memcpy(
                         statuses.mutable_data(), f.statuses.data(), statuses.size());
                 }
                 return py::make_tuple(
                     bytes_array(f.output.size(), f.output.data()),
                     statuses,
                     py::array_t<std::int64_t>(f.begins.size(), f.begins.data()),
                     bytes_array(f.locked.size(), f.locked.data()));
             })
        .def("active_backend", &decoder::active_backend)
        .def("active_device", &decoder::active_device);
    m.attr("sync_status_bytes") = sizeof(sync_status);

    m.def("sync_encode",
          [](const py::array_t<std::uint16_t, py::array::c_style>& symbols,
             const sync_code& code) {
              const std::size_t count = symbols.size();
              bytes_array out(count * code.n());
              const auto* const from = symbols.data();
              auto* const to = out.mutable_data();
              const sync_encoder_kernel encoder(code);
              released_in_parts(count, [&](std::size_t first, std::size_t n) {
                  encoder.encode(from + first,
                                 n,
                                 to + first * code.n(),
                                 first % code.frame_symbols());
              });
              return out;
          });
}

void bind_channels(py::module& m)
{
    m.def("random_bits", [](std::size_t count, std::uint64_t seed, std::uint64_t first) {
        bytes_array out(count);
        auto* const to = out.mutable_data();
        released_in_parts(count, [&](std::size_t done, std::size_t n) {
            counter_random(seed).bits(first + done, n, to + done);
        });
        return out;
    });
    m.def("awgn",
          [](const bytes_array& bits,
             double ebn0_db,
             double rate,
             std::uint64_t seed,
             const std::string& format,
             double amplitude,
             std::uint64_t first) {
              const awgn_channel channel(ebn0_db, rate, seed, amplitude);
              const auto kind = soft_format_from_string(format);
              const std::size_t n = bits.size();
              const auto* const from = bits.data();
              const std::size_t bytes = kind == soft_format::float32   ? n * sizeof(float)
                                        : kind == soft_format::packed4 ? (n + 1) / 2
                                                                       : n;
              bytes_array out(bytes);
              auto* const to = out.mutable_data();
              released_in_parts(n, [&](std::size_t done, std::size_t count) {
                  const auto at = first + done;
                  if (kind == soft_format::float32) {
                      auto* const values = reinterpret_cast<float*>(to) + done;
                      channel.float32(at, from + done, count, values);
                  } else if (kind == soft_format::packed4) {
                      channel.packed4(at, from + done, count, to + done / 2);
                  } else {
                      auto* const values = reinterpret_cast<std::int8_t*>(to) + done;
                      channel.int8(at, from + done, count, values);
                  }
                  if (kind == soft_format::uint8) {
                      std::for_each(to + done, to + done + count, [](auto& value) {
                          value ^= 0x80u;
                      });
                  }
              });
              return out;
          });
    m.def("bsid",
          [](const bytes_array& symbols,
             double p_insert,
             double p_delete,
             double p_substitute,
             std::uint64_t seed,
             int alphabet) {
              bsid_channel channel(
                  bsid_model(p_insert,
                             p_delete,
                             p_substitute,
                             not_negative("alphabet", alphabet, "2 to 16")),
                  seed);
              const std::size_t rows = symbols.shape(0), columns = symbols.shape(1);
              const auto* const from = symbols.data();
              std::vector<std::uint8_t> received;
              py::array_t<std::int64_t> lengths(rows);
              auto* const length = lengths.mutable_data();
              std::fill_n(length, rows, 0);
              released_in_parts(rows * columns, [&](std::size_t first, std::size_t n) {
                  for (auto i = first; i < first + n; ++i) {
                      length[i / columns] += channel.send(from[i], received);
                  }
              });
              return py::make_tuple(bytes_array(received.size(), received.data()),
                                    lengths);
          });
}

} // namespace

PYBIND11_MODULE(_gpufec, m)
{
    m.attr("__version__") = GPUFEC_VERSION;
    m.attr("pybind11_version") =
        py::make_tuple(PYBIND11_VERSION_MAJOR, PYBIND11_VERSION_MINOR);
    watch_interpreter();
    m.def("known_name",
          [](const std::string& parameter,
             const std::string& name,
             const name_list& names) { return known_name(parameter, name, names); });
    m.def("nearest_name", &nearest_name);
    bind_ccsds(m);
    bind_reed_solomon(m);
    bind_sync_map(m);
    bind_viterbi(m);
    bind_memory(m);
    bind_viterbi_decoder(m);
    bind_ldpc_codes(m);
    bind_ldpc(m);
    bind_sync_decoder(m);
    bind_channels(m);
}
