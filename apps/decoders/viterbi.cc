// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The decoder_trait of convolutional codes, through which the commands use encoder,
 * decoder and simulation. */

#include "encode.h"
#include "lab/viterbi/distance_spectrum.h"
#include "lab/viterbi/simulation.h"
#include "lab/viterbi/slot_benchmark.h"
#include "trait.h"
#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <sstream>

namespace gr::gpufec {

using namespace viterbi;

namespace {

// ---- the code's options: the parameters of the gpu_viterbi_pbvd block ----

const char* const code_options = R"(
constraint-length  int                 -     K, 3 to 9; the default is 7
polynomials        text                -     generator polynomials in octal, comma separated, with the newest bit most significant; a negative polynomial inverts its output; the default is 171,133
puncturing         text                -     one string of 0 and 1 per output, comma separated: DVB rate 3/4 is 101,110
termination        streaming|terminated|truncated|tailbiting  -  trellis termination; the default is that of the preset or, without a preset, streaming
frame-bits         int                 0     information bits per frame; 0 with termination streaming
)";

const char* const decoder_options = R"(
soft-input         int8|float|packed4|uint8  int8  format of soft values; uint8: offset binary, in which 128 stands for 0
soft-scale         real                32    int8 steps per unit of float values
decode-length      int                 0     D, number of stages decoded per parallel block; 0: chosen for the code
overlap            int                 0     L, number of further stages on either side of a parallel block; 0: chosen for the code
cuda-kernel        auto|pbvd|registers|fused  auto  CUDA kernel; all kernels decode the same bits
positive-bit       0|1                 1     the bit that a positive soft value means: 1 in gr-fec and SatDump
)";

const char* const ber_options = R"(
range        text   2:0.5:4  Eb/N0 in dB: A:STEP:B, one value, or inf for no noise
min-errors   count  100      a point ends after this many wrong bits; 0: only after --max-bits
max-bits     count  1e8      a point ends after this many information bits
amplitude    real   32       amplitude of a noiseless soft value in int8 steps; 32 corresponds to 4.4 steps of packed4
reference    flag   -        also decode the same noise by maximum likelihood, without parallel blocks
positions    flag   -        count error events by position in a parallel block
sim-threads  int    0        number of threads that generate noise and decode the reference; 0: the value of --threads
channel      auto|host|device  auto  where data and noise are generated and errors are counted; auto: on the CUDA device that decodes; on the host if the CPU or several devices decode, with --reference, and with --soft-input float or uint8
)";

std::string preset_option()
{
    std::string names;
    for (const auto& p : conv_presets()) {
        names += (names.empty() ? "" : "|") + p.name;
    }
    return "preset " + names +
           " - name of a code; the options below override its parameters";
}

// Returns the code of the preset or, without a preset, the default code. Other options
// may then override parts of the code.
conv_preset preset_of(const option_values& values)
{
    if (values.has("preset")) {
        return find_conv_preset(values.text("preset"));
    }
    return { "", "", "", 7, { 0171, 0133 }, "", termination::streaming };
}

viterbi_options parse_code(const option_values& values)
{
    auto code = preset_of(values);
    if (values.has("constraint-length")) {
        code.constraint_length = values.integer("constraint-length");
    }
    if (values.has("polynomials")) {
        code.polynomials = values.integers("polynomials", 8);
    }
    if (values.has("puncturing")) {
        code.puncturing = values.text("puncturing");
    }
    if (values.has("termination")) {
        code.termination = termination_from_string(values.text("termination"));
    }
    viterbi_options o{ conv_code(
        code.constraint_length, code.polynomials, code.puncturing) };
    if (const auto doubt = o.code.doubt(); !doubt.empty()) {
        std::cerr << "gpufec: WARNING: " << doubt << "\n";
    }
    o.termination = code.termination;
    o.frame_bits = values.integer("frame-bits");
    return o;
}

viterbi_options parse(const option_values& values)
{
    auto o = parse_code(values);
    o.format = soft_format_from_string(values.text("soft-input"));
    o.soft_scale = values.real("soft-scale");
    o.decode_length = values.integer("decode-length");
    o.overlap = values.integer("overlap");
    o.cuda_kernel = values.text("cuda-kernel");
    o.positive_bit = values.integer("positive-bit");
    values.set_run_options(o);
    values.warn_unused(
        o.format == soft_format::float32, { "soft-scale" }, "--soft-input float");
    return o;
}

json code_facts(const viterbi_options& options)
{
    const auto& code = options.code;
    auto polynomials = json::array();
    for (unsigned r = 0; r < code.outputs(); ++r) {
        std::ostringstream octal;
        octal << (code.inverted(r) ? "-" : "") << std::oct << code.polynomial(r);
        polynomials.add(octal.str());
    }
    return json::object({ { "code", code.to_string() },
                          { "constraint_length", code.constraint_length() },
                          { "polynomials", polynomials },
                          { "rate", code.rate() },
                          { "termination", termination_name(options.termination) } });
}

// ---- the decoder as a stream ----

bool is_float(const viterbi_options& o) { return o.format == soft_format::float32; }

// Returns the number of soft values per frame of a code; 0 for a stream.
std::size_t frame_values(const viterbi_options& o, const conv_code& code)
{
    const auto tail =
        o.termination == termination::terminated ? code.constraint_length() - 1 : 0;
    return code.values(o.frame_bits ? o.frame_bits + tail : 0);
}

stream_rates rates_of(const viterbi_options& o, bool unpacked)
{
    const double values_per_item = o.format == soft_format::packed4 ? 2 : 1;
    // Packed output has whole bytes per frame.
    const double frame = o.frame_bits;
    const double packed = o.frame_bits ? frame / std::ceil(frame / 8) : 8;
    const double frame_items = std::ceil(frame_values(o, o.code) / values_per_item);
    return { item_bytes(o.format),
             o.frame_bits ? frame_items / frame : 1 / o.code.rate() / values_per_item,
             unpacked ? 1 : packed,
             // With phase search, the input need not begin with a frame.
             o.lock == "auto" ? 0 : std::size_t(frame_items) };
}

// The channel's bit error rate, averaged over batches. The weight of a batch is the
// number of its re-encoded stages.
class channel_estimate
{
public:
    explicit channel_estimate(unsigned frame_bits) : d_frame_bits(frame_bits) {}

    void add(const viterbi_decoder::batch_statistics& s)
    {
        close(s.first_bit);
        d_open = true;
        d_last = s;
    }
    //! Adds the last batch, which ends at bit \p end, to the mean. The batch is not added
    //! earlier, because its weight depends on its length.
    void close(std::uint64_t end)
    {
        if (d_open) {
            constexpr std::uint64_t most =
                2048; // maximum number of stages re-encoded per batch
            const auto bits = d_frame_bits ? d_frame_bits : end - d_last.first_bit;
            const double stages = std::min(most, std::uint64_t(bits));
            d_stages += stages;
            d_sum += stages * d_last.channel_error_rate;
            d_open = false;
        }
    }
    void add(const channel_estimate& other)
    {
        d_stages += other.d_stages;
        d_sum += other.d_sum;
    }
    double stages() const { return d_stages; }
    double rate() const { return d_stages > 0 ? d_sum / d_stages : 0; }

private:
    const unsigned d_frame_bits;
    bool d_open = false;
    viterbi_decoder::batch_statistics d_last;
    double d_stages = 0, d_sum = 0;
};

class viterbi_stream : public decoder_adapter<viterbi_decoder>
{
public:
    explicit viterbi_stream(const viterbi_options& options, bool unpacked = false)
        : decoder_adapter(options, rates_of(options, unpacked)),
          d_unpacked(unpacked),
          d_estimate(options.frame_bits)
    {
    }

    std::size_t pull(std::uint8_t* out, std::size_t bytes) override
    {
        const auto n = d_decoder->pull({ out, bytes, !d_unpacked });
        if (const auto statistics = d_decoder->status()) {
            d_estimate.add(*statistics);
        }
        d_bits += n * (d_unpacked ? 1 : 8);
        return n;
    }
    json state() const override
    {
        return decoder_adapter::state()
            .add("decode_length", d_decoder->decode_length())
            .add("overlap", d_decoder->overlap());
    }

    //! Returns the estimate over all output that was pulled.
    const channel_estimate& estimate()
    {
        d_estimate.close(d_bits);
        return d_estimate;
    }

private:
    const bool d_unpacked;
    channel_estimate d_estimate;
    std::uint64_t d_bits = 0; // number of bits pulled
};

// ---- gpufec decode ----

// A stream decoder that reports the channel's error rate at the end.
class judged_stream : public viterbi_stream
{
public:
    using viterbi_stream::viterbi_stream;

    json conclude() override
    {
        const double noise = d_decoder->chance_error_rate();
        if (!(noise > 0)) {
            return json::object(); // too few values, or only erasures
        }
        const double rate = estimate().rate();
        std::cerr << std::setprecision(3) << "gpufec: Channel bit error rate " << rate
                  << "; noise alone would show " << noise << "\n";
        return json::object({ { "channel_error_rate", rate },
                              { "noise_error_rate", noise },
                              { "wrong_code", !d_decoder->verdict().empty() } });
    }
};

const char* const decode_options = R"(
unpacked            flag             -        write one bit per byte to OUT
lock                off|auto         off      auto: find where pairs of soft values, puncturing periods and terminated frames begin
lock-constellation  bpsk|qpsk|oqpsk  bpsk     constellation, whose ambiguities are searched; qpsk: also rotations by 90 degrees and exchanged I and Q; oqpsk: also I or Q late by a symbol
lock-first-item     i|q              i        which of a symbol's two soft values comes first
lock-presets        text             -        names of further codes to search for, comma separated
lock-memory         count            1000000  number of soft values that are kept during the search
)";

std::vector<std::string> names_in(const std::string& text)
{
    std::vector<std::string> names;
    std::istringstream stream(text);
    for (std::string name; std::getline(stream, name, ',');) {
        names.push_back(name);
    }
    return names;
}

// A stream decoder with phase search that reports each change of the phase lock.
class locking_stream : public viterbi_stream
{
public:
    locking_stream(const viterbi_options& options, bool unpacked)
        : viterbi_stream(options, unpacked), d_options(options)
    {
    }

    std::size_t push(const void* items, std::size_t count) override
    {
        const auto n = viterbi_stream::push(items, count);
        d_values += n * (d_options.format == soft_format::packed4 ? 2 : 1);
        return n;
    }

    std::size_t pull(std::uint8_t* out, std::size_t bytes) override
    {
        const auto n = viterbi_stream::pull(out, bytes);
        for (viterbi_lock lock; d_decoder->take_lock(lock);) {
            tell(lock);
        }
        return n;
    }

    json conclude() override
    {
        const auto lock = d_decoder->lock();
        if (lock.locks == 0 && d_decoder->verdict().empty()) {
            std::cerr << "gpufec: WARNING: found no signal of this code: check the code, "
                         "its puncturing, --lock-presets, --lock-constellation and "
                         "--soft-input\n";
        }
        const auto frame = frame_values(d_options, d_decoder->code());
        const auto rest =
            frame && lock.locked ? (d_values - lock.first_value) % frame : 0;
        if (rest > 0) {
            std::cerr << "gpufec: the input ends in the middle of a frame, after " << rest
                      << " of its " << frame << " soft values, which are dropped\n";
        }
        return json::object({ { "locks", lock.locks },
                              { "dropped", lock.dropped },
                              { "changes", d_told } });
    }

    bool no_signal() const override
    {
        return viterbi_stream::no_signal() || d_decoder->lock().locks == 0;
    }

private:
    // Maximum number of lock changes that are reported.
    static constexpr unsigned max_reported = 1000;

    void tell(const viterbi_lock& lock)
    {
        if (d_count++ >= max_reported) {
            return;
        }
        auto j = json::object({ { "locked", lock.locked },
                                { "first_value", lock.first_value },
                                { "first_bit", lock.first_bit } });
        std::cerr << "gpufec: from soft value " << lock.first_value << " on ";
        if (!lock.locked) {
            std::cerr << "no lock\n";
            d_told.add(j);
            return;
        }
        std::cerr << (lock.preset.empty() ? lock.code : lock.preset) << ", pair phase "
                  << lock.pair_phase << ", puncturing phase " << lock.puncturing_phase
                  << ", rotated by " << lock.rotation << " degrees"
                  << (lock.swapped ? ", I and Q exchanged" : "")
                  << (lock.half_symbol ? ", half a symbol late" : "")
                  << (lock.inverted ? ", inverted" : "") << std::setprecision(3)
                  << ", channel bit error rate " << lock.error_rate << "\n";
        j.add("preset", lock.preset)
            .add("code", lock.code)
            .add("pair_phase", lock.pair_phase)
            .add("puncturing_phase", lock.puncturing_phase)
            .add("rotation", lock.rotation)
            .add("swapped", lock.swapped)
            .add("half_symbol", lock.half_symbol)
            .add("inverted", lock.inverted)
            .add("error_rate", lock.error_rate);
        d_told.add(j);
    }

    const viterbi_options d_options;
    std::uint64_t d_values = 0; // number of soft values pushed
    unsigned d_count = 0;
    json d_told = json::array();
};

// ---- gpufec encode ----

std::unique_ptr<byte_coder> make_encoder(const option_values& values, json& code)
{
    const auto options = parse_code(values);
    code = code_facts(options);
    const bool stream = options.termination == termination::streaming;
    const auto encode = [kernel = conv_encoder_kernel(
                             options.code, options.termination, options.frame_bits),
                         stream](const byte_vector& bits, byte_vector& coded) mutable {
        coded.resize(kernel.coded_bits(bits.size()));
        if (stream) {
            kernel.encode(bits.data(), bits.size(), coded.data());
        } else {
            kernel.encode_frame(bits.data(), coded.data());
        }
    };
    return make_bit_encoder(values, { options.frame_bits, encode });
}

// ---- gpufec bench ----

std::unique_ptr<slot_bench> make_slots(const viterbi_options& options,
                                       const std::vector<std::byte>& items)
{
    if (is_float(options) || options.format == soft_format::uint8) {
        // The decoder converts input of these formats to int8 while it fills a slot. A
        // slot_benchmark fills each slot once, so it does not measure the conversion.
        return nullptr;
    }
    auto slots = std::make_unique<slot_adapter<slot_benchmark>>(options, items, 1);
    slots->bits = slots->bench.bits();
    return slots;
}

std::unique_ptr<bench_subject> make_bench(const option_values& values, json& code)
{
    auto options = parse(values);
    options.watch = false;
    code = code_facts(options);
    auto subject = std::make_unique<bench_subject>();
    subject->title = options.code.to_string() + ", " +
                     termination_name(options.termination) + ", " +
                     values.text("soft-input");
    simulation_options recording{ options };
    recording.ebn0_db = 5;
    recording.max_bits = 1u << 22;
    subject->items = received_items(recording);
    subject->stream = [options] { return std::make_unique<viterbi_stream>(options); };
    subject->slots = [options, &items = subject->items] {
        return make_slots(options, items);
    };
    return subject;
}

// ---- gpufec ber ----

json to_json(const error_counter& c)
{
    return json::object({ { "bits", c.bits() },
                          { "errors", c.errors() },
                          { "ber", c.rate() },
                          { "confidence", c.confidence() },
                          { "events", c.events() },
                          { "frames", c.frames() },
                          { "frame_errors", c.frame_errors() },
                          { "fer", double(c.frame_errors()) / c.frames() } });
}

template <class Number>
json to_json(const std::vector<Number>& numbers)
{
    return json::array(std::vector<json>(numbers.begin(), numbers.end()));
}

json to_json(const position_test& t)
{
    return json::object({ { "events", to_json(t.events) },
                          { "expected", to_json(t.expected) },
                          { "chi_square", t.chi_square },
                          { "degrees", t.degrees },
                          { "p_value", t.p_value } });
}

// Returns the distance spectrum, from which the union bound follows; nullopt for a
// catastrophic code.
std::optional<distance_spectrum> spectrum_of(const conv_code& code)
{
    try {
        return distance_spectrum(code);
    } catch (const std::invalid_argument&) {
        std::cerr << "gpufec: theory is not shown: " << code.to_string()
                  << " is catastrophic and has no union bound\n";
        return {};
    }
}

class viterbi_simulation
    : public simulation_adapter<simulation_options, simulation_result>
{
public:
    viterbi_simulation(const option_values& values, json& code)
        : simulation_adapter({ parse(values) }),
          d_spectrum(spectrum_of(options.decoder.code)),
          d_positions(values.has("positions"))
    {
        code = code_facts(options.decoder);
        options.amplitude = values.real("amplitude");
        options.min_errors = values.count("min-errors");
        options.max_bits = values.count("max-bits");
        read_simulation(options, values, make_device_channel);
        title = options.decoder.code.to_string() + ", " +
                termination_name(options.decoder.termination);
        range = parse_range("range", values.text("range"));
        facts.add("amplitude", options.amplitude);
        columns = {
            { "Eb/N0", "ebn0_db", "%6.2f" },     { "BER", "ber", "%11.2e" },
            { "±95 %", "confidence", "%11.2e" }, { "theory", "theory", "%11.2e" },
            { "bits", "bits", "%11.2e" },        { "errors", "errors", "%9.0f" }
        };
        if (options.decoder.frame_bits) {
            columns.push_back({ "FER", "fer", "%11.2e" });
        }
        if (options.reference) {
            columns.push_back({ "ML BER", "reference.ber", "%11.2e" });
            columns.push_back({ "BER/ML", "ratio", "%8.4f" });
            columns.push_back({ "±95 %", "ratio_confidence", "%8.4f" });
        }
    }

    json decoder() const override
    {
        return simulation_adapter::decoder()
            .add("channel", result->channel)
            .add("decode_length", result->decode_length)
            .add("overlap", result->overlap);
    }

    std::string remark() const override
    {
        if (!d_positions) {
            return "";
        }
        const auto t = positions(result->decoded);
        std::ostringstream text;
        text << "        events by position in a parallel block:";
        for (const auto events : t.events) {
            text << " " << events;
        }
        text << "\n        chi-square " << std::fixed << std::setprecision(1)
             << t.chi_square << " with " << t.degrees
             << " degrees of freedom, p = " << std::setprecision(4) << t.p_value << "\n";
        return text.str();
    }

    json point() const override
    {
        const auto bound = theory();
        auto j = to_json(result->decoded);
        j.add("ebn0_db", options.ebn0_db); // infinity (no noise) becomes JSON null
        j.add("theory", bound ? json(*bound) : json());
        j.add("errors_by_tenth", to_json(result->errors_by_tenth));
        if (options.reference) {
            j.add("reference", to_json(result->reference));
            j.add("ratio", result->ratio);
            j.add("ratio_confidence", result->ratio_confidence);
        }
        if (d_positions) {
            j.add("positions", to_json(positions(result->decoded)));
        }
        if (d_positions && options.reference) {
            j.add("reference_positions", to_json(positions(result->reference)));
        }
        return j;
    }

private:
    void set(double at) override { options.ebn0_db = at; }

    std::optional<double> theory() const
    {
        return d_spectrum ? d_spectrum->bit_error_bound(options.ebn0_db)
                          : std::optional<double>();
    }
    position_test positions(const error_counter& counter) const
    {
        return test_positions(counter, options.decoder.frame_bits);
    }

    const std::optional<distance_spectrum> d_spectrum;
    const bool d_positions;
};

} // namespace

decoder_trait viterbi_trait()
{
    decoder_trait t;
    t.name = "viterbi";
    t.code_options = preset_option() + code_options;
    t.decoder_options = std::string(decoder_options) + run_options_help;
    t.bench = { "Decodes random data with noise, at an Eb/N0 of 5 dB.", "", R"(
# Measure the decoding rate of the CCSDS code
gpufec bench viterbi --preset ccsds --seconds 1
# Measure the rate of two CPU threads, and write a report as JSON
gpufec bench viterbi --backend cpu --threads 2 --seconds 1 --runs 3 --json rate.json
)" };
    t.make_bench = make_bench;
    t.ber = { "Encodes random data, sends it as BPSK over an AWGN channel, decodes, and "
              "counts wrong bits and frames. Eb is the energy of all sent values, "
              "including those of frame tails, per information bit. Theory is the union "
              "bound on maximum likelihood decoding from the code's distance spectrum. "
              "The 95 % intervals take into account that the errors of a Viterbi decoder "
              "come in bursts.",
              ber_options,
              R"(
# Simulate the error rates of the CCSDS code, and write them as a table and as JSON
gpufec ber viterbi --preset ccsds --range 3:0.5:4 --max-bits 1e6 --json rates.json
# Draw the error rates of DVB-S at rate 3/4
gpufec ber viterbi --preset dvb_3_4 --range 3:0.5:5 --max-bits 1e6 --plot rates.png
)" };
    t.make_simulation = [](const option_values& values, json& code) {
        return std::make_unique<viterbi_simulation>(values, code);
    };
    t.decode = {
        "Decodes soft values (see --positive-bit) from IN to bits in OUT, "
        "packed eight per byte, the first most significant; each frame is "
        "padded to a byte. At the end, the command reports the channel's bit error rate, "
        "estimated by re-encoding decoded bits, and warns if this rate is that of noise, "
        "for example because the code is wrong. If all polynomials have an odd number of "
        "ones, like 171 and 133, a wrong sign inverts the output without a warning. With "
        "--lock auto, the command finds and reports the phase of the input.",
        decode_options,
        R"(
# Decode a file of soft values, one signed byte each, as SatDump writes it
gpufec decode viterbi --preset ccsds coded.s8 decoded.bin
# Decode a recording that may begin in the middle of a pair of soft values
gpufec decode viterbi --preset ccsds --lock auto recording.soft decoded.bin
# Encode and decode through pipes
gpufec encode viterbi --preset dvb_3_4 message.bin - | gpufec decode viterbi --preset dvb_3_4 - decoded.bin
)"
    };
    t.encode = { "Encodes bits, packed eight per byte, the first most significant. Each "
                 "frame begins at a byte boundary.",
                 bit_encoder_options("int8|float|uint8", "1"),
                 R"(
# Encode to soft values, which decode accepts with the same options
gpufec encode viterbi --preset ccsds message.bin coded.s8
# Encode to packed bits at rate 3/4
gpufec encode viterbi --preset dvb_3_4 --output packed message.bin coded.bin
# Encode and decode, with one bit per byte
gpufec encode viterbi --unpacked bits.bin - | gpufec decode viterbi --unpacked - bits.out
)" };
    t.make_encoder = make_encoder;
    t.make_decoder = [](const option_values& values,
                        json& code) -> std::unique_ptr<byte_coder> {
        auto options = parse(values);
        code = code_facts(options);
        options.lock = values.text("lock");
        values.warn_unused(
            options.lock == "auto",
            { "lock-constellation", "lock-first-item", "lock-presets", "lock-memory" },
            "--lock auto");
        if (options.lock == "auto") {
            options.lock_constellation = values.text("lock-constellation");
            values.warn_unused(options.lock_constellation != "bpsk",
                               { "lock-first-item" },
                               "--lock-constellation qpsk and oqpsk");
            options.lock_first_item = values.text("lock-first-item");
            options.lock_presets = names_in(values.text("lock-presets"));
            options.lock_preset = values.has("preset") ? values.text("preset") : "";
            options.lock_memory = values.count("lock-memory");
            return std::make_unique<locking_stream>(options, values.has("unpacked"));
        }
        return std::make_unique<judged_stream>(options, values.has("unpacked"));
    };
    return t;
}

} // namespace gr::gpufec
