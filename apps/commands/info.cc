// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* gpufec info: lists the devices of this machine, the presets of the Viterbi decoder, the
 * LDPC codes, and the parameters that the decoders choose. */

#include "cuda/devices.h"
#include "file.h"
#include "progress.h"
#include "trait.h"
#include <gnuradio/gpufec/ldpc.h>
#include <gnuradio/gpufec/sync_map.h>
#include <gnuradio/gpufec/viterbi.h>
#include <iomanip>
#include <iostream>
#include <optional>
#include <utility>

namespace gr::gpufec {

namespace {

struct device_report {
    cuda_device device;
    std::optional<cuda_bandwidth> bandwidth;
};

std::vector<device_report> survey(const cuda_devices& found)
{
    std::vector<device_report> reports;
    for (const auto& d : found.devices) {
        reports.push_back({ d, {} });
        try {
            reports.back().bandwidth = measure_cuda_bandwidth(d.index);
        } catch (const std::exception& error) {
            std::cerr << "gpufec: device " << d.index << ": " << error.what() << "\n";
        }
    }
    return reports;
}

json to_json(const device_report& r)
{
    const auto& d = r.device;
    auto j = json::object({ { "index", d.index },
                            { "name", d.name },
                            { "compute_capability",
                              std::to_string(d.major) + "." + std::to_string(d.minor) },
                            { "multiprocessors", d.multiprocessors },
                            { "memory_bytes", d.memory_bytes },
                            { "free_bytes", d.free_bytes },
                            { "shared_bytes_per_block", d.shared_bytes_per_block },
                            { "l2_bytes", d.l2_bytes } });
    if (r.bandwidth) {
        j.add("to_device_bytes_per_s", r.bandwidth->to_device);
        j.add("to_host_bytes_per_s", r.bandwidth->to_host);
    }
    return j;
}

void print(const device_report& r)
{
    const auto& d = r.device;
    std::cout << "CUDA device " << d.index << ": " << d.name << ", sm_" << d.major
              << d.minor << ", " << d.multiprocessors << " multiprocessors, "
              << (d.memory_bytes >> 20) << " MiB (" << (d.free_bytes >> 20) << " free)";
    if (r.bandwidth) {
        std::cout << std::fixed << std::setprecision(1) << ", to device "
                  << r.bandwidth->to_device / 1e9 << " GB/s, to host "
                  << r.bandwidth->to_host / 1e9 << " GB/s";
    }
    std::cout << "\n";
}

// Returns the parameters that the synchronisation decoder chooses for the default code,
// in framed mode and in stream mode.
json sync_choices()
{
    auto choices = json::array();
    for (const auto* const mode : { "framed", "stream" }) {
        sync_options options(codebook_davey_mackay(10, 32, 210, 1), { 1e-3, 1e-3 });
        options.mode = sync_mode_from_string(mode);
        const auto decoder = sync_decoder::make(options);
        choices.add(json::object({ { "mode", mode },
                                   { "n", options.code.n() },
                                   { "q", options.code.q() },
                                   { "frame_symbols", options.code.frame_symbols() },
                                   { "p_insert", options.channel.p_insert() },
                                   { "p_delete", options.channel.p_delete() },
                                   { "drifts", decoder->window().size() },
                                   { "lookahead", decoder->lookahead() },
                                   { "backend", decoder->active_backend() },
                                   { "batch", decoder->batch() } }));
    }
    return choices;
}

json preset_choices()
{
    auto presets = json::array();
    for (const auto& p : conv_presets()) {
        // Default values are shown for streams, because frames have no usual length.
        viterbi_options options{ conv_code::preset(p.name) };
        options.termination = termination::streaming;
        options.backend = backend::cpu;
        const auto decoder = viterbi_decoder::make(options);
        presets.add(json::object({ { "name", p.name },
                                   { "title", p.title },
                                   { "source", p.source },
                                   { "code", options.code.to_string() },
                                   { "rate", options.code.rate() },
                                   { "termination", termination_name(p.termination) },
                                   { "decode_length", decoder->decode_length() },
                                   { "overlap", decoder->overlap() } }));
    }
    return presets;
}

json ldpc_choices()
{
    auto codes = json::array();
    for (const auto& standard : ldpc_code::standards()) {
        for (const auto& size : ldpc_code::frame_sizes(standard)) {
            const auto rates = ldpc_code::rates(standard, size);
            codes.add(json::object(
                { { "standard", standard },
                  { "frame_size", size },
                  { "rates", json::array({ rates.begin(), rates.end() }) } }));
        }
    }
    return codes;
}

// Prints words after a title, in lines of up to 80 characters.
void print(const std::string& title, const std::vector<std::string>& words)
{
    constexpr std::size_t width = 80;
    std::string line = title;
    for (const auto& word : words) {
        if (line.size() + 2 + word.size() > width) {
            std::cout << line << "\n";
            line = std::string(title.size(), ' ');
        }
        line += "  " + word;
    }
    std::cout << line << "\n";
}

// Prints the frame sizes and rates of each standard. Successive frame sizes with the same
// rates are printed together.
void print_ldpc_codes()
{
    std::cout << "\nLDPC codes: standard, frame sizes, rates\n";
    for (const auto& standard : ldpc_code::standards()) {
        std::vector<std::string> sizes, rates;
        const auto print_sizes = [&] {
            print("  " + standard + std::string(13 - standard.size(), ' ') + "size",
                  sizes);
            print(std::string(15, ' ') + "rate", rates);
            sizes.clear();
        };
        for (const auto& size : ldpc_code::frame_sizes(standard)) {
            auto next = ldpc_code::rates(standard, size);
            if (!sizes.empty() && next != rates) {
                print_sizes();
            }
            sizes.push_back(size);
            rates = std::move(next);
        }
        print_sizes();
    }
}

json to_json(const cuda_devices& found,
             const std::vector<device_report>& reports,
             const std::string& instruction_set)
{
    auto devices = json::array();
    for (const auto& r : reports) {
        devices.add(to_json(r));
    }
    auto j = json::object({ { "environment", environment() },
                            { "cpu_backend", instruction_set },
                            { "cuda_devices", devices } });
    if (!found.missing.empty()) {
        j.add("cuda_missing", found.missing);
    }
    return j.add("viterbi_presets", preset_choices())
        .add("ldpc_codes", ldpc_choices())
        .add("sync_defaults", sync_choices());
}

void print(const cuda_devices& found,
           const std::vector<device_report>& reports,
           const std::string& instruction_set)
{
    std::cout << "gpufec " GPUFEC_VERSION "\n";
    for (const auto& r : reports) {
        print(r);
    }
    if (reports.empty()) {
        std::cout << "CUDA: none, " << found.missing << "\n";
    }
    std::cout << "CPU backend: " << instruction_set << "\n\nViterbi presets\n";
    for (const auto& p : conv_presets()) {
        std::cout << "  " << std::left << std::setw(21) << p.name << std::setw(28)
                  << p.title << conv_code::preset(p.name).to_string() << ", "
                  << termination_name(p.termination) << "\n";
    }
    print_ldpc_codes();
}

} // namespace

int info(const arguments& args)
{
    const command_line line{
        "gpufec info",
        "[--json FILE]",
        "Lists the CUDA devices with their limits and measured copy rates in both "
        "directions, the instruction set of the CPU backend, the presets of the Viterbi "
        "decoder, and the standards, frame sizes and rates of LDPC codes. --json also "
        "writes the block lengths chosen for each preset and the parameters that the "
        "synchronisation decoder chooses for its default code.",
        { { "Options",
            "json file - write everything to this file, or to standard output if it is "
            "-" } },
        {},
        R"(
# List everything as text
gpufec info
# List everything as JSON
gpufec info --json info.json
)"
    };
    const auto values = line.parse(args);
    if (!values) {
        return 0;
    }
    json_file report(*values);
    const auto found = find_cuda_devices();
    const auto devices = survey(found);
    viterbi_options cpu{ conv_code(7, { 0171, 0133 }) };
    cpu.backend = backend::cpu;
    const auto instruction_set = viterbi_decoder::make(cpu)->active_device();
    if (report.target()) {
        report.write(to_json(found, devices, instruction_set));
    }
    if (!report.standard_output()) {
        print(found, devices, instruction_set);
    }
    return 0;
}

} // namespace gr::gpufec
