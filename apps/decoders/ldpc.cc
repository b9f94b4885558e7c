// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* What the commands ask of the LDPC decoder. */

#include "lab/ldpc/simulation.h"
#include "lab/ldpc/slot_benchmark.h"
#include "trait.h"
#include <gnuradio/gpufec/ldpc.h>
#include <algorithm>
#include <cmath>
#include <iostream>
#include <sstream>

namespace gr::gpufec {

using namespace ldpc;

namespace {

// ---- the code's options: the parameters of the gpu_ldpc_dvbs2 block ----

const char* const code_options = R"(
standard        dvbs2|dvbs2x|dvbt2|ccsds_c2|ccsds_ar4ja|wifi|nr  dvbs2
frame-size      text          normal  as the standard has them: normal, 8160, "bg1 z384"
rate            text          1/2     as the standard has them; of nr blocks of message/sent
code-file       file          -       alist or base matrix, in place of the three above
punctured       text          -       positions that are not sent, as 0-53,60
shortened       text          -       positions that are 0 and not sent
soft-input      int8|float    int8
llr-scale       real          2       int8 steps per nat, in and (of LLRs) out
algorithm       offset_min_sum|normalized_min_sum|min_sum     offset_min_sum
precision       int8|int16|float  int8
schedule        layered|flooding  layered
max-iterations  int           25      1 to 1000
early-stop      true|false    true    stop once every check is satisfied
offset          real          -1      nats; negative: the code's own, in float declining
normalization   real          -1      factor; negative: the code's own
output          message|codeword|llr|extrinsic  message  K bits per frame, or N; N LLRs, posterior or extrinsic
positive-bit    0|1           0       the bit that a positive soft value means: 0 in gr-dvbs2rx
)";

const char* const ber_options = R"(
range             text   1:0.1:1.3  Eb/N0 in dB: A:STEP:B, one value, or inf for no noise
es-n0             flag   -          the range is Es/N0 of QPSK instead
min-frame-errors  count  20         a point ends with this many wrong frames; 0: with --max-frames only
max-frames        count  1e4        or with this many frames
until-clean       flag   -          stop after the first point at which no frame is wrong
reference         flag   -          decode the same noise by sum-product in double too; slow
sim-threads       int    0          make noise and run the reference; 0: as --threads
channel           auto|host|device  auto  where noise is made and errors are counted; auto: on the device that decodes, if --soft-input is not float, there is no --reference, and --device is one
)";

// "0-53,60"
std::vector<std::uint32_t> positions(const option_values& values, const std::string& name)
{
    std::vector<std::uint32_t> list;
    std::istringstream text(values.text(name));
    for (std::string item; std::getline(text, item, ',');) {
        const auto dash = item.find('-');
        const std::string ends[] = { item.substr(0, dash),
                                     dash == item.npos ? item : item.substr(dash + 1) };
        for (const auto& end : ends) {
            if (end.empty() || end.size() > 7 ||
                end.find_first_not_of("0123456789") != end.npos) {
                refuse_option(name, '"' + item + '"', "positions and ranges, as 0-53,60");
            }
        }
        const auto first = std::stoul(ends[0]), last = std::stoul(ends[1]);
        if (last < first || last > ldpc_code::max_bits) {
            refuse_option(name, '"' + item + '"', "ranges that ascend");
        }
        for (auto p = first; p <= last; ++p) {
            list.push_back(std::uint32_t(p));
        }
    }
    return list;
}

ldpc_code code_of(const option_values& values)
{
    const auto file = values.text("code-file");
    const auto code = file.empty() ? ldpc_code::standard(values.text("standard"),
                                                         values.text("frame-size"),
                                                         values.text("rate"))
                                   : ldpc_code::from_file(file);
    const auto punctured = positions(values, "punctured");
    const auto shortened = positions(values, "shortened");
    return punctured.empty() && shortened.empty()
               ? code
               : code.with_positions(punctured, shortened);
}

ldpc_options parse(const option_values& values)
{
    ldpc_options o;
    o.codes = { code_of(values) };
    o.format = llr_format_from_string(values.text("soft-input"));
    o.llr_scale = values.real("llr-scale");
    o.algorithm = ldpc_algorithm_from_string(values.text("algorithm"));
    o.precision = ldpc_precision_from_string(values.text("precision"));
    o.schedule = ldpc_schedule_from_string(values.text("schedule"));
    o.max_iterations = values.integer("max-iterations");
    o.early_stop = values.text("early-stop") == "true";
    o.offset = values.real("offset");
    o.normalization = values.real("normalization");
    const auto output = values.text("output");
    o.codeword = output == "codeword";
    o.soft = output == "llr"         ? ldpc_soft_output::posterior
             : output == "extrinsic" ? ldpc_soft_output::extrinsic
                                     : ldpc_soft_output::none;
    o.positive_bit = values.integer("positive-bit");
    values.set_run_options(o);
    return o;
}

json code_facts(const ldpc_options& options)
{
    const auto& code = options.codes[0];
    return json::object({ { "code", code.name() },
                          { "n", code.n() },
                          { "sent", code.sent() },
                          { "k", code.k() },
                          { "edges", code.edges() } });
}

std::string title_of(const ldpc_options& options, const option_values& values)
{
    return options.codes[0].name() + ", " + values.text("schedule") + " " +
           values.text("algorithm") + ", " + values.text("precision");
}

double edges_per_bit(const ldpc_code& code) { return double(code.edges()) / code.k(); }

// ---- the decoder as a stream ----

stream_rates rates_of(const ldpc_options& o, bool unpacked)
{
    const auto& code = o.codes[0];
    const bool soft = o.soft != ldpc_soft_output::none;
    const double items = o.codeword || soft ? code.n() : code.k();
    return { o.format == llr_format::int8 ? 1 : sizeof(float),
             code.sent() / items,
             code.k() / (unpacked || soft ? items : std::ceil(items / 8)),
             code.sent() };
}

class ldpc_stream : public decoder_adapter<ldpc_decoder>
{
public:
    explicit ldpc_stream(const ldpc_options& options, bool unpacked = false)
        : decoder_adapter(options, rates_of(options, unpacked)),
          d_soft(options.soft != ldpc_soft_output::none),
          d_unpacked(unpacked),
          d_edges_per_bit(edges_per_bit(options.codes[0]))
    {
    }

    std::size_t pull(std::uint8_t* out, std::size_t bytes) override
    {
        const auto n =
            d_soft       ? d_decoder.pull_llrs(reinterpret_cast<std::int8_t*>(out), bytes)
            : d_unpacked ? d_decoder.pull_bits(out, bytes)
                         : d_decoder.pull_packed(out, bytes);
        ldpc_decoder::report report;
        if (d_decoder.take_report(report)) {
            ++d_frames;
            d_iterations += report.iterations;
            d_wrong += report.unsatisfied > 0;
        }
        return n;
    }

    double work_per_bit() const override { return mean_iterations() * d_edges_per_bit; }

    json conclude() override
    {
        if (d_wrong > 0) {
            std::cerr << "gpufec: " << d_wrong << " of " << d_frames
                      << " frames cannot be decoded\n";
        }
        return json::object({ { "frames", d_frames },
                              { "wrong_frames", d_wrong },
                              { "mean_iterations", mean_iterations() } });
    }

private:
    double mean_iterations() const
    {
        return d_frames ? double(d_iterations) / d_frames : 0;
    }

    const bool d_soft, d_unpacked;
    const double d_edges_per_bit;
    std::uint64_t d_frames = 0, d_iterations = 0, d_wrong = 0;
};

// ---- gpufec bench ----

// Frames enough that caches do not hold them all; at least one of each codeword.
std::vector<std::byte> record(const ldpc_options& options, double ebn0_db)
{
    const frame_source source(options, ebn0_db, 1);
    const auto bytes = source.frame_bytes();
    const std::size_t frames =
        std::max<std::size_t>(frame_source::words, (1u << 22) / bytes);
    std::vector<std::byte> items(frames * bytes);
    for (std::size_t f = 0; f < frames; ++f) {
        source.channel_values(f, &items[f * bytes]);
    }
    return items;
}

std::unique_ptr<slot_bench> make_slots(const ldpc_options& options,
                                       const std::vector<std::byte>& items)
{
    const auto& code = options.codes[0];
    auto slots = std::make_unique<slot_adapter<slot_benchmark>>(options, items, code.k());
    auto& bench = slots->bench;
    slots->bits = double(bench.frames()) * code.k();
    slots->work_per_bit = bench.iterations() * edges_per_bit(code);
    slots->facts.add("mean_iterations", bench.iterations());
    return slots;
}

std::unique_ptr<bench_subject> make_bench(const option_values& values, json& code)
{
    const auto options = parse(values);
    code = code_facts(options);
    auto subject = std::make_unique<bench_subject>();
    subject->title = title_of(options, values);
    subject->items = record(options, values.real("eb-n0"));
    subject->stream = [options] { return std::make_unique<ldpc_stream>(options); };
    subject->slots = [options, &items = subject->items] {
        return make_slots(options, items);
    };
    return subject;
}

// ---- gpufec ber ----

// Half of a 95 % interval of a rate of independent events.
double confidence(const error_counts& c)
{
    const double p = c.frame_error_rate();
    return c.frames ? 1.96 * std::sqrt(p * (1 - p) / c.frames) : 0;
}

double mean_iterations(const error_counts& c)
{
    return c.frames ? double(c.iterations) / c.frames : 0;
}

json to_json(const error_counts& c)
{
    return json::object({ { "frames", c.frames },
                          { "frame_errors", c.frame_errors },
                          { "fer", c.frame_error_rate() },
                          { "fer_confidence", confidence(c) },
                          { "bits", c.bits },
                          { "errors", c.errors },
                          { "ber", c.bit_error_rate() },
                          { "undetected", c.undetected },
                          { "mean_iterations", mean_iterations(c) } });
}

class ldpc_simulation : public simulation_adapter<simulation_options, simulation_result>
{
public:
    ldpc_simulation(const option_values& values, json& code)
        : simulation_adapter({ parse(values) }),
          d_es_n0(values.has("es-n0")),
          d_until_clean(values.has("until-clean"))
    {
        if (options.decoder.soft != ldpc_soft_output::none) {
            refuse_option("output",
                          '"' + values.text("output") + '"',
                          "message and codeword: errors are counted in bits");
        }
        code = code_facts(options.decoder);
        options.seed = values.seed("seed");
        options.min_frame_errors = values.count("min-frame-errors");
        options.max_frames = values.count("max-frames");
        options.reference = values.has("reference");
        const int threads = values.integer("sim-threads", 0, 1024);
        options.threads = threads ? threads : options.decoder.threads;
        set_link(options.link, values, make_device_link);
        title = title_of(options.decoder, values);
        range = parse_range("range", values.text("range"));
        columns = { { "Eb/N0", "ebn0_db", "%6.2f" },
                    { "Es/N0", "esn0_db", "%7.2f" },
                    { "frames", "frames", "%11.0f" },
                    { "wrong", "frame_errors", "%7.0f" },
                    { "FER", "fer", "%11.2e" },
                    { "±95 %", "fer_confidence", "%11.2e" },
                    { "BER", "ber", "%11.2e" },
                    { "iterations", "mean_iterations", "%12.2f" } };
        if (options.reference) {
            columns.push_back({ "SP FER", "sum_product.fer", "%11.2e" });
            columns.push_back({ "SP BER", "sum_product.ber", "%11.2e" });
        }
    }

    json decoder() const override
    {
        return simulation_adapter::decoder().add("channel", result->channel);
    }

    bool enough() const override
    {
        return d_until_clean && result->decoded.frame_errors == 0;
    }

    json point() const override
    {
        auto j = to_json(result->decoded);
        j.add("ebn0_db", options.ebn0_db); // null without noise
        j.add("esn0_db", options.ebn0_db + eb_to_es_db());
        if (options.reference) {
            j.add("sum_product", to_json(result->reference));
        }
        return j;
    }

private:
    void set(double at) override { options.ebn0_db = d_es_n0 ? at - eb_to_es_db() : at; }

    // Of QPSK.
    double eb_to_es_db() const
    {
        const auto& code = options.decoder.codes[0];
        return 10 * std::log10(2.0 * code.k() / code.sent());
    }

    const bool d_es_n0, d_until_clean;
};

} // namespace

decoder_trait ldpc_trait()
{
    decoder_trait t;
    t.name = "ldpc";
    t.work = "edge_iteration";
    t.code_options = std::string(code_options) + run_options;
    t.bench = { "Decodes noisy frames, and counts edge-iterations (edges of the code "
                "times iterations made) beside bits. With --early-stop false every "
                "frame takes all iterations, and the noise does not matter.",
                "eb-n0 real 3 of the frames, dB" };
    t.make_bench = make_bench;
    t.ber = { "Encodes random data, sends it as QPSK over an AWGN channel, decodes, and "
              "counts wrong bits and frames. Eb/N0 counts the code's information bits.",
              ber_options };
    t.make_simulation = [](const option_values& values, json& code) {
        return std::make_unique<ldpc_simulation>(values, code);
    };
    t.decode = { "Decodes frames of soft values (see --positive-bit) from IN to bits "
                 "in OUT, packed eight per byte, the first most significant; each frame "
                 "is padded to a byte. With --output llr or extrinsic to LLRs, a signed "
                 "byte for each bit of the code. A frame that is not complete at the end "
                 "is dropped.",
                 "unpacked flag - one bit per byte" };
    t.make_decoder = [](const option_values& values, json& code) {
        const auto options = parse(values);
        if (options.soft != ldpc_soft_output::none && values.has("unpacked")) {
            refuse_option("unpacked", "given", "bits, not LLRs, to be unpacked");
        }
        code = code_facts(options);
        return std::make_unique<ldpc_stream>(options, values.has("unpacked"));
    };
    return t;
}

} // namespace gr::gpufec
