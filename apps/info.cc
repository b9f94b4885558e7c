// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* gpufec info: what this machine offers, and what would be chosen on it. */

#include "command.h"
#include "cuda/devices.h"
#include "viterbi_options.h"
#include <gnuradio/gpufec/sync_map.h>
#include <gnuradio/gpufec/viterbi.h>
#include <iomanip>
#include <iostream>
#include <optional>

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

// What is chosen for frames and for a stream of the code that the parameters begin with.
json sync_choices()
{
    auto choices = json::array();
    for (const auto* const mode : { "framed", "stream" }) {
        sync_options options(codebook_davey_mackay(10, 32, 210, 1), { 1e-3, 1e-3 });
        options.mode = sync_mode_from_string(mode);
        const sync_decoder decoder(options);
        choices.add(json::object({ { "mode", mode },
                                   { "n", options.code.n() },
                                   { "q", options.code.q() },
                                   { "frame_symbols", options.code.frame_symbols() },
                                   { "p_insert", options.channel.p_insert() },
                                   { "p_delete", options.channel.p_delete() },
                                   { "drifts", decoder.window().size() },
                                   { "lookahead", decoder.lookahead() },
                                   { "backend", decoder.active_backend() },
                                   { "batch", decoder.batch() } }));
    }
    return choices;
}

} // namespace

int info(const arguments& args)
{
    command_line line{
        "gpufec info",
        "[--json]",
        "Lists the CUDA devices with their limits and the measured rate of "
        "copies each way,\nthe instruction set of the CPU backend, and for "
        "each preset of the Viterbi decoder\nthe block lengths that are "
        "chosen; with --json also what the synchronisation decoder chooses.",
        {},
        {}
    };
    line.options.add_options()("json", "for machines");
    boost::program_options::variables_map values;
    if (!line.parse(args, values)) {
        return 0;
    }

    const auto found = find_cuda_devices();
    const auto reports = survey(found);
    viterbi_options cpu{ conv_code(7, { 0171, 0133 }) };
    cpu.where = backend::cpu;
    const auto instruction_set = viterbi_decoder(cpu).active_device();
    auto devices = json::array();
    for (const auto& r : reports) {
        devices.add(to_json(r));
    }
    auto presets = json::array();
    for (const auto& p : conv_presets()) {
        // Defaults depend on the code alone; frames have no usual length.
        viterbi_options options{ conv_code::preset(p.name) };
        options.where = backend::cpu;
        const viterbi_decoder decoder(options);
        presets.add(json::object({ { "name", p.name },
                                   { "title", p.title },
                                   { "source", p.source },
                                   { "code", options.code.to_string() },
                                   { "rate", options.code.rate() },
                                   { "termination", to_string(p.ends) },
                                   { "decode_length", decoder.decode_length() },
                                   { "overlap", decoder.overlap() } }));
    }
    if (values.count("json")) {
        auto j = json::object({ { "environment", environment() },
                                { "cpu_backend", instruction_set },
                                { "cuda_devices", devices } });
        if (!found.missing.empty()) {
            j.add("cuda_missing", found.missing);
        }
        j.add("viterbi_presets", presets);
        write_json(j.add("sync_defaults", sync_choices()), "-");
        return 0;
    }

    std::cout << "gpufec " GPUFEC_VERSION "\n";
    for (const auto& r : reports) {
        print(r);
    }
    if (reports.empty()) {
        std::cout << "CUDA: none, " << found.missing << "\n";
    }
    std::cout << "CPU backend: " << instruction_set << "\n\nViterbi presets\n";
    for (const auto& p : conv_presets()) {
        std::cout << "  " << std::left << std::setw(12) << p.name << std::setw(26)
                  << p.title << conv_code::preset(p.name).to_string() << ", "
                  << to_string(p.ends) << "\n";
    }
    return 0;
}

} // namespace gr::gpufec
