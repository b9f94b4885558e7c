// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The decoder_trait of LDPC codes, through which the commands use encoder, decoder and
 * simulation. */

#include "bbframe/bbframe_output.h"
#include "bbframe/packets.h"
#include "common/ranges.h"
#include "demap/rule.h"
#include "demap/vlsnr.h"
#include "encode.h"
#include "lab/ldpc/simulation.h"
#include "lab/ldpc/slot_benchmark.h"
#include "ldpc_options.h"
#include "trait.h"
#include <gnuradio/gpufec/ldpc.h>
#include <gnuradio/gpufec/wifi.h>
#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <optional>

namespace gr::gpufec {

using namespace ldpc;
namespace {

const char* const ber_options = R"(
range             text   1:0.1:1.3  Eb/N0 in dB: A:STEP:B, one value, or inf for no noise
es-n0             flag   -          interpret --range as Es/N0 of QPSK symbols in dB instead of Eb/N0
min-frame-errors  count  20         a point ends after this many wrong frames; 0: only after --max-frames
max-frames        count  1e4        a point ends after this many frames
until-clean       flag   -          end the range after the first point without a wrong frame
reference         flag   -          also decode the same noise by sum-product in double precision, which is slow
sim-threads       int    0          number of threads that generate noise and decode the reference; 0: the value of --threads
channel           auto|host|device  auto  where noise is generated and errors are counted; auto: on the CUDA device that decodes; on the host if the CPU or several devices decode, with --reference, and with --soft-input float or uint8
)";

const char* const decode_options = R"(
esn0-db       real             -        Es/N0 of symbols in dB, -10 to 30; without it, Es/N0 is estimated from each frame
demapper      log_map|max_log  log_map  LLRs of symbols: exact (log_map) or approximate (max_log)
llr-factor    real             1        factor that converts float input to LLRs in nats: 4 Es/N0 for amplitudes 1 and -1
descramble    true|false       false    descramble BBFRAMEs; with --output ts, BBFRAMEs are always descrambled
unpacked      flag             -        write one bit per byte to OUT
)";

json ppdu_facts(const wifi_ppdu& ppdu)
{
    return json::object({ { "code", "wifi ppdu" },
                          { "n", ppdu.codeword_bits() },
                          { "sent", ppdu.coded_bits() },
                          { "k", ppdu.payload_bits() },
                          { "codewords", ppdu.codewords() },
                          { "symbols", ppdu.symbols() } });
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

stream_rates
rates_of(const ldpc_options& o, bool unpacked, const std::optional<wifi_ppdu>& ppdu)
{
    const auto& code = o.codes[0];
    const bool soft = o.soft != ldpc_soft_output::none;
    const unsigned k = ppdu ? ppdu->payload_bits() : code.k();
    const unsigned sent = ppdu ? ppdu->coded_bits() : code.sent();
    const double items = o.codeword || soft ? code.n() : k;
    return { o.item_bytes(),
             double(sent) / k,
             k / (unpacked || soft ? items : std::ceil(items / 8)),
             sent };
}

class ldpc_stream : public decoder_adapter<ldpc_decoder>
{
public:
    explicit ldpc_stream(const ldpc_options& options,
                         bool unpacked = false,
                         const std::optional<wifi_ppdu>& ppdu = {})
        : decoder_adapter(rates_of(options, unpacked, ppdu),
                          [&](decoder_hooks hooks) {
                              return ppdu ? make_wifi_ppdu_decoder(
                                                *ppdu, options, std::move(hooks))
                                          : ldpc_decoder::make(options, std::move(hooks));
                          }),
          d_soft(options.soft != ldpc_soft_output::none),
          d_unpacked(unpacked),
          d_edges_per_bit(edges_per_bit(options.codes[0]))
    {
        rates.items_per_bit *= double(d_decoder->frame_items()) / rates.frame_items;
        rates.frame_items = d_decoder->frame_items();
    }

    std::size_t pull(std::uint8_t* out, std::size_t bytes) override
    {
        const auto n =
            d_soft ? d_decoder->pull({ reinterpret_cast<std::int8_t*>(out), bytes })
                   : d_decoder->pull({ out, bytes, !d_unpacked });
        if (const auto status = d_decoder->status()) {
            d_iterations += status->iterations;
            count(status->unsatisfied > 0);
        }
        return n;
    }

    std::size_t push(const void* items, std::size_t count) override
    {
        if (d_factor == 1) {
            return decoder_adapter::push(items, count);
        }
        d_scaled.resize(std::min<std::size_t>(count, 1u << 16));
        std::transform(static_cast<const float*>(items),
                       static_cast<const float*>(items) + d_scaled.size(),
                       d_scaled.begin(),
                       [this](float x) { return x * d_factor; });
        return decoder_adapter::push(d_scaled.data(), d_scaled.size());
    }

    //! Sets the factor by which float input is multiplied to become LLRs in nats.
    void set_llr_factor(double factor) { d_factor = float(factor); }
    //! Sets the Es/N0 in dB of subsequent symbols. If \p esn0_db is NaN, the decoder
    //! estimates the Es/N0 of each frame.
    void set_esn0_db(double esn0_db) { d_decoder->set_esn0_db(esn0_db); }

    double work_per_bit() const override { return mean_iterations() * d_edges_per_bit; }

    json conclude() override
    {
        if (d_wrong > 0) {
            std::cerr << "gpufec: " << d_wrong << " of " << d_frames
                      << " frames cannot be decoded"
                      << (d_wrong == d_frames && !decoder_adapter::no_signal()
                              ? d_doubt + "\n"
                              : "\n");
        } else if (d_frames > 0) {
            std::cerr << "gpufec: " << d_frames
                      << (d_frames == 1 ? " frame, " : " frames, ") << std::fixed
                      << std::setprecision(1) << mean_iterations()
                      << " iterations on average\n";
        }
        return json::object({ { "frames", d_frames },
                              { "wrong_frames", d_wrong },
                              { "mean_iterations", mean_iterations() } });
    }

    //! Sets a text that conclude() adds to its message if no frame could be decoded and
    //! the decoder has no diagnosis (ldpc_decoder::verdict()).
    void set_doubt(const std::string& doubt) { d_doubt = doubt; }

    bool no_signal() const override
    {
        return decoder_adapter::no_signal() || (d_frames > 0 && d_wrong == d_frames);
    }

protected:
    //! Pulls a whole packed message and returns its size in bytes. Returns 0 if no
    //! message is ready.
    std::size_t pull_message(byte_vector& message)
    {
        const auto n = d_decoder->pull(packed_bits(message));
        const auto status = d_decoder->status();
        d_iterations += status ? status->iterations : 0;
        return n;
    }
    void count(bool wrong)
    {
        ++d_frames;
        d_wrong += wrong;
    }

private:
    double mean_iterations() const
    {
        return d_frames ? double(d_iterations) / d_frames : 0;
    }

    const bool d_soft, d_unpacked;
    const double d_edges_per_bit;
    float d_factor = 1;
    std::vector<float> d_scaled; // float input multiplied by d_factor
    std::uint64_t d_frames = 0, d_iterations = 0, d_wrong = 0;
    std::string d_doubt;
};

// ---- gpufec decode ----

// An LDPC decoder followed by a BCH decoder, with BBFRAMEs as output. With --output ts,
// the output is the packets of the transport stream in the BBFRAMEs.
class bbframe_stream : public ldpc_stream
{
public:
    bbframe_stream(const ldpc_options& options,
                   const dvb_names& names,
                   const option_values& values)
        : ldpc_stream(options),
          d_unpacked(values.has("unpacked")),
          d_bbframes(names.standard,
                     { names.frame_size + ' ' + names.rate },
                     !d_unpacked,
                     values.text("descramble") == "true" ||
                         values.text("output") == "ts"),
          d_frame((options.codes[0].k() + (d_unpacked ? 0 : 7)) / (d_unpacked ? 1 : 8))
    {
        if (values.text("output") == "ts") {
            d_packets.emplace(names.standard == "dvbt2", -1);
        }
    }

    std::size_t pull(std::uint8_t* out, std::size_t bytes) override
    {
        while (d_emitted == d_made.size()) {
            auto& message = d_bbframes.message();
            if (pull_message(message) == 0) {
                return 0;
            }
            d_bbframes.decode(0);
            count(d_bbframes.errors() < 0);
            d_made.clear();
            d_emitted = 0;
            const auto n = d_bbframes.pull(d_frame.data(), d_frame.size());
            if (d_packets) {
                std::vector<bbframe::packets::remark> remarks;
                d_packets->push(d_frame.data(), d_bbframes.bits(0), d_made, remarks);
            } else {
                d_made.assign(d_frame.begin(), d_frame.begin() + n);
            }
        }
        const auto n = std::min(bytes, d_made.size() - d_emitted);
        std::copy_n(d_made.begin() + d_emitted, n, out);
        d_emitted += n;
        return n;
    }

    json conclude() override
    {
        auto j = ldpc_stream::conclude();
        if (d_packets) {
            const auto& c = d_packets->count();
            std::cerr << "gpufec: " << c.packets << " packets, " << c.errors
                      << " of them with errors; " << c.dropped + c.generic
                      << " BBFRAMEs without packets\n";
            j.add("packets", c.packets)
                .add("packet_errors", c.errors)
                .add("dropped_frames", c.dropped)
                .add("generic_frames", c.generic);
        }
        return j;
    }

    bool no_signal() const override
    {
        return ldpc_stream::no_signal() || (d_packets && d_packets->count().frames > 0 &&
                                            d_packets->count().packets == 0);
    }

private:
    const bool d_unpacked;
    bbframe_output d_bbframes;
    byte_vector d_frame;
    std::optional<bbframe::packets> d_packets;
    byte_vector d_made;
    std::size_t d_emitted = 0;
};

std::unique_ptr<byte_coder> make_decoder(const option_values& values, json& code)
{
    const auto ppdu = wifi_ppdu_of(values);
    const auto options = parse_ldpc(values, ppdu);
    const auto output = values.text("output");
    const bool unpacked = values.has("unpacked");
    if (unpacked && (options.soft != ldpc_soft_output::none || output == "ts")) {
        throw usage_error(
            "--unpacked is given: it is allowed only with --output message, codeword "
            "and bbframe");
    }
    code = ppdu ? ppdu_facts(*ppdu) : code_facts(options);
    std::unique_ptr<ldpc_stream> stream;
    if (output == "bbframe" || output == "ts") {
        const dvb_names names(values, options.codes[0]);
        if (!has_bch(names.standard, names.frame_size)) {
            refuse("output",
                   '"' + output + '"',
                   "it is allowed only with codes of DVB that have a BCH code, without "
                   "--code-file, --punctured and --shortened");
        }
        stream = std::make_unique<bbframe_stream>(options, names, values);
    } else {
        stream = std::make_unique<ldpc_stream>(options, unpacked, ppdu);
    }
    stream->set_doubt(": the channel is too noisy, or one of these is wrong: " +
                      std::string(has_symbols(values)
                                      ? "--modcod, --frame-size, --soft-input, where "
                                        "frames begin, PL descrambling, pilots, the phase"
                                      : "--rate, --frame-size, --soft-input, "
                                        "--positive-bit, where frames begin"));
    if (options.format == llr_format::float32) {
        const double factor = values.real("llr-factor");
        require_above_0("llr-factor", factor);
        stream->set_llr_factor(factor);
    }
    if (has_symbols(values)) {
        const bool given = values.has("esn0-db");
        const double esn0_db = given ? values.real("esn0-db") : std::nan("");
        require(!given || (esn0_db >= -10 && esn0_db <= 30),
                "esn0_db",
                esn0_db,
                "-10 to 30 dB");
        stream->set_esn0_db(esn0_db);
    }
    return stream;
}

// ---- gpufec encode ----

std::unique_ptr<byte_coder> make_encoder(const option_values& values, json& facts)
{
    constexpr float level = 16; // magnitude of float soft values, in nats
    if (const auto ppdu = wifi_ppdu_of(values)) {
        if (values.text("output") == "symbols") {
            refuse_option(
                "output", "\"symbols\"", "int8, float and uint8 with --psdu-bytes");
        }
        facts = ppdu_facts(*ppdu);
        return make_bit_encoder(
            values,
            { ppdu->payload_bits(),
              [ppdu = *ppdu](const byte_vector& message, byte_vector& sent) {
                  sent.resize(ppdu.coded_bits());
                  ppdu.encode(message.data(), sent.data());
              },
              level });
    }
    ldpc_options options;
    options.codes = { ldpc_code_of(values) };
    facts = code_facts(options);
    const auto& code = options.codes[0];
    bit_encoder encoder{ code.k(),
                         [kernel = ldpc_encoder_kernel(code),
                          word = byte_vector(code.n())](const byte_vector& message,
                                                        byte_vector& sent) mutable {
                             sent.resize(kernel.code().sent());
                             kernel.encode(message.data(), word.data());
                             kernel.send(word.data(), sent.data());
                         },
                         level };
    values.warn_unused(
        values.text("output") == "symbols", { "constellation" }, "--output symbols");
    if (values.text("output") == "symbols") {
        const auto points = dvb_names(values, code).points("output", "symbols");
        if (points.bits == 1) {
            encoder.map = [points](const byte_vector& bits, byte_vector& out) {
                const auto symbols = demap::map_pi2_bpsk(points, bits);
                const auto* const bytes =
                    reinterpret_cast<const std::uint8_t*>(symbols.data());
                out.insert(out.end(), bytes, bytes + symbols.size() * sizeof symbols[0]);
            };
        } else {
            encoder.map = [model = demap::make_model(points)](const byte_vector& bits,
                                                              byte_vector& out) {
                append_symbols(model, bits, out);
            };
        }
    }
    return make_bit_encoder(values, encoder);
}

// ---- gpufec bench ----

// Returns about 4 MiB of noisy frames, but at least one frame of each codeword of the
// source.
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

// Refuses outputs of BBFRAMEs and packets, which only the command decode supports.
void refuse_bbframes(const option_values& values, const std::string& allowed)
{
    const auto output = values.text("output");
    if (output == "bbframe" || output == "ts") {
        refuse_option("output", '"' + output + '"', allowed);
    }
}

std::unique_ptr<bench_subject> make_bench(const option_values& values, json& code)
{
    refuse_bbframes(values, "message, codeword, llr and extrinsic");
    auto options = parse_ldpc(values);
    options.watch = false;
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

// Returns the half-width of the 95 % confidence interval of the frame error rate, for
// independent frames.
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
        : simulation_adapter({ parse_ldpc(values) }),
          d_es_n0(values.has("es-n0")),
          d_until_clean(values.has("until-clean"))
    {
        const std::string allowed = "message and codeword";
        refuse_bbframes(values, allowed);
        if (options.decoder.soft != ldpc_soft_output::none) {
            refuse_option("output", '"' + values.text("output") + '"', allowed);
        }
        code = code_facts(options.decoder);
        options.min_frame_errors = values.count("min-frame-errors");
        options.max_frames = values.count("max-frames");
        read_simulation(options, values, make_device_channel);
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

    bool range_is_done() const override
    {
        return d_until_clean && result->decoded.frame_errors == 0;
    }

    json point() const override
    {
        auto j = to_json(result->decoded);
        j.add("ebn0_db", options.ebn0_db); // infinity (no noise) becomes JSON null
        j.add("esn0_db", options.ebn0_db + eb_to_es_db());
        if (options.reference) {
            j.add("sum_product", to_json(result->reference));
        }
        return j;
    }

private:
    void set(double at) override { options.ebn0_db = d_es_n0 ? at - eb_to_es_db() : at; }

    // Returns Es/N0 minus Eb/N0 in dB for QPSK.
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
    t.code_options = ldpc_code_options;
    t.decoder_options = std::string(ldpc_decoder_options) + run_options_help;
    t.bench = { "Decodes noisy frames, and counts edge-iterations (edges of the code "
                "times iterations) besides bits. With --early-stop false, every "
                "frame uses all iterations, and the rate does not depend on the noise.",
                "eb-n0 real 3 Eb/N0 of the frames in dB",
                R"(
# Measure the decoding rate of DVB-S2 at rate 3/4
gpufec bench ldpc --rate 3/4 --seconds 1
# Measure the decoding rate of 5G NR with ten iterations for every frame
gpufec bench ldpc --standard nr --frame-size "bg1 z384" --rate 22/33 --early-stop false --max-iterations 10 --seconds 1
)" };
    t.make_bench = make_bench;
    t.ber = {
        "Encodes random data, sends it as QPSK over an AWGN channel, decodes, and "
        "counts wrong bits and frames. Eb is the energy per information bit of the code.",
        ber_options,
        R"(
# Simulate the error rates of short DVB-S2 frames, and draw them
gpufec ber ldpc --frame-size short --range 1:0.2:1.6 --max-frames 200 --plot rates.png
# Simulate an 802.11 code with normalised min-sum, and write a report as JSON
gpufec ber ldpc --standard wifi --frame-size 648 --algorithm normalized_min_sum --range 2 --max-frames 1000 --json rates.json
)"
    };
    t.make_simulation = [](const option_values& values, json& code) {
        return std::make_unique<ldpc_simulation>(values, code);
    };
    t.decode = { "Decodes frames of soft values (see --positive-bit) from IN to bits "
                 "in OUT, packed eight per byte, the first most significant; each frame "
                 "is padded to a byte. With --output llr or extrinsic, OUT has LLRs, one "
                 "signed byte per bit of the codeword. With --soft-input symbols, IN has "
                 "the symbols of XFECFRAMEs, descrambled and without pilots. An "
                 "incomplete frame at the end is dropped, with a message.",
                 std::string(ldpc_symbol_options) + ldpc_ppdu_options + decode_options,
                 R"(
# Decode soft values of DVB-S2, one signed byte each
gpufec decode ldpc --rate 1/2 coded.s8 decoded.bin
# Decode symbols, complex float32, to BBFRAMEs
gpufec decode ldpc --modcod "QPSK 1/2" --soft-input symbols --output bbframe symbols.cf32 bbframes.out
# Decode symbols to packets of a transport stream
gpufec decode ldpc --modcod "QPSK 1/2" --soft-input symbols --output ts symbols.cf32 packets.ts
)" };
    t.make_decoder = make_decoder;
    t.encode = { "Encodes messages, packed eight bits per byte, the first most "
                 "significant; each message begins at a byte boundary. With --output "
                 "symbols, OUT has the symbols of XFECFRAMEs, complex float32 of mean "
                 "energy 1, without "
                 "scrambling and without pilots.",
                 std::string(ldpc_symbol_options) + ldpc_ppdu_options +
                     bit_encoder_options("int8|float|uint8|symbols", "0"),
                 R"(
# Encode to soft values, which decode accepts with the same options
gpufec encode ldpc --rate 1/2 message.bin coded.s8
# Encode to 8PSK symbols, and decode them
gpufec encode ldpc --modcod "8PSK 3/4" --output symbols message.bin - | gpufec decode ldpc --modcod "8PSK 3/4" --soft-input symbols - decoded.bin
)" };
    t.make_encoder = make_encoder;
    return t;
}

} // namespace gr::gpufec
