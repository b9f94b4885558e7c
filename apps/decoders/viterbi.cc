// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* What the commands ask of the Viterbi decoder. */

#include "channel/counter_random.h"
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
polynomials        text                -     comma separated, octal, newest bit most significant; a negative one is an inverted output; the default is 171,133
puncturing         text                -     one string of 0 and 1 per output, comma separated: DVB rate 3/4 is 101,110
termination        streaming|terminated|truncated|tailbiting  -  the default is that of the preset, else streaming
frame-bits         int                 0     information bits per frame; 0 in streaming
soft-input         int8|float|packed4  int8
soft-scale         real                32    int8 steps per unit of float
decode-length      int                 0     D; 0: chosen
overlap            int                 0     L; 0: chosen
cuda-kernel        auto|pbvd|registers|fused  auto
positive-bit       0|1                 1     the bit that a positive soft value means: 1 in gr-fec and SatDump
)";

const char* const ber_options = R"(
range        text   2:0.5:4  Eb/N0 in dB: A:STEP:B, one value, or inf for no noise
min-errors   count  100      a point ends with this many wrong bits; 0: with --max-bits only
max-bits     count  1e8      or with this many information bits
amplitude    real   32       int8 steps of a noiseless value; 32 are 4.4 of packed4
reference    flag   -        decode the same noise by full maximum likelihood too
positions    flag   -        count error events by position in a parallel block
sim-threads  int    0        make noise and decode the reference; 0: as --threads
channel      auto|host|device  auto  where data and noise are made and errors are found; auto: on the device that decodes, if --soft-input is not float, there is no --reference, and --device is one
)";

std::string preset_option()
{
    std::string names;
    for (const auto& p : conv_presets()) {
        names += (names.empty() ? "" : "|") + p.name;
    }
    return "preset " + names + " - options below override it";
}

// Of the preset, or the default, before other options override it.
conv_preset preset_of(const option_values& values)
{
    if (values.has("preset")) {
        return find_conv_preset(values.text("preset"));
    }
    return { "", "", "", 7, { 0171, 0133 }, "", termination::streaming };
}

viterbi_options parse(const option_values& values)
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
        code.ends = termination_from_string(values.text("termination"));
    }
    viterbi_options o{ conv_code(
        code.constraint_length, code.polynomials, code.puncturing) };
    if (const auto doubt = o.code.doubt(); !doubt.empty()) {
        std::cerr << "gpufec: WARNING: " << doubt << "\n";
    }
    o.ends = code.ends;
    o.frame_bits = values.integer("frame-bits");
    o.format = soft_format_from_string(values.text("soft-input"));
    o.soft_scale = values.real("soft-scale");
    o.decode_length = values.integer("decode-length");
    o.overlap = values.integer("overlap");
    o.cuda_kernel = values.text("cuda-kernel");
    o.positive_bit = values.integer("positive-bit");
    values.set_run_options(o);
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
                          { "termination", termination_name(options.ends) } });
}

// ---- the decoder as a stream ----

bool is_float(const viterbi_options& o) { return o.format == soft_format::float32; }

// Soft values of a frame; 0: it is a stream, or a lock finds where frames begin.
std::size_t frame_values(const viterbi_options& o)
{
    const auto tail =
        o.ends == termination::terminated ? o.code.constraint_length() - 1 : 0;
    const auto stages = o.frame_bits && o.lock != "auto" ? o.frame_bits + tail : 0;
    return o.code.values(stages);
}

stream_rates rates_of(const viterbi_options& o, bool unpacked)
{
    const double values_per_item = o.format == soft_format::packed4 ? 2 : 1;
    // Frames are padded to whole bytes.
    const double frame = o.frame_bits;
    const double packed = o.frame_bits ? frame / std::ceil(frame / 8) : 8;
    return { is_float(o) ? sizeof(float) : 1,
             1 / o.code.rate() / values_per_item,
             unpacked ? 1 : packed,
             std::size_t(std::ceil(frame_values(o) / values_per_item)) };
}

// The channel's error rate, from the statistics of batches. Each stands for the stages
// that it was made of.
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
    //! Where a batch ends is known once the next begins.
    void close(std::uint64_t end)
    {
        if (d_open) {
            constexpr std::uint64_t most = 2048;
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
        const auto n = d_unpacked ? d_decoder.pull_bits(out, bytes)
                                  : d_decoder.pull_packed(out, bytes);
        viterbi_decoder::batch_statistics s;
        if (d_decoder.take_statistics(s)) {
            d_estimate.add(s);
        }
        d_bits += n * (d_unpacked ? 1 : 8);
        return n;
    }
    json state() const override
    {
        return decoder_adapter::state()
            .add("decode_length", d_decoder.decode_length())
            .add("overlap", d_decoder.overlap());
    }

    //! Of all that was pulled.
    const channel_estimate& estimate()
    {
        d_estimate.close(d_bits);
        return d_estimate;
    }

private:
    const bool d_unpacked;
    channel_estimate d_estimate;
    std::uint64_t d_bits = 0; // pulled
};

// ---- gpufec decode ----

// Noise of the same magnitudes: each value's sign is drawn anew.
std::vector<std::byte> with_random_signs(soft_format format, std::vector<std::byte> items)
{
    const counter_random random(1);
    for (std::size_t i = 0; i < items.size(); ++i) {
        const auto bits = random(i);
        const int value = int(items[i]);
        if (format == soft_format::float32) { // its sign is in the last of four bytes
            items[i] ^= std::byte(i % sizeof(float) == 3 ? bits & 0x80 : 0);
        } else if (format == soft_format::int8) {
            items[i] = std::byte(bits & 1 ? -value : value);
        } else {
            const int high = bits & 1 ? -(value >> 4) : value >> 4;
            const int low = bits & 2 ? -value : value;
            items[i] = std::byte((high & 15) << 4 | (low & 15));
        }
    }
    return items;
}

// Of \p items, in small batches, for but the first stages of each count.
channel_estimate estimate_of(viterbi_options options, const std::vector<std::byte>& items)
{
    options.where = backend::cpu;
    options.batch = 32;
    viterbi_stream decoder(options);
    const auto size = decoder.rates.item_bytes;
    std::vector<std::uint8_t> out(1u << 16);
    for (std::size_t at = 0; !decoder.done(); decoder.flush_if_due()) {
        const auto left = items.size() / size - at;
        const auto taken = decoder.push(items.data() + at * size, left);
        at += taken;
        if (left == 0) {
            decoder.finish();
        }
        bool some = taken > 0;
        while (decoder.pull(out.data(), out.size()) > 0) {
            some = true;
        }
        if (!some && !decoder.done()) {
            decoder.wait();
        }
    }
    return decoder.estimate();
}

// A stream that says at its end whether it was one of this code.
class judged_stream : public viterbi_stream
{
public:
    judged_stream(const viterbi_options& options, bool unpacked)
        : viterbi_stream(options, unpacked), d_options(options)
    {
    }

    std::size_t push(const void* items, std::size_t count) override
    {
        const auto taken = viterbi_stream::push(items, count);
        const auto* const bytes = static_cast<const std::byte*>(items);
        const auto n = std::min(taken * rates.item_bytes, sample_bytes - d_sample.size());
        d_sample.insert(d_sample.end(), bytes, bytes + n);
        d_whole = d_whole && n == taken * rates.item_bytes;
        return taken;
    }

    json conclude() override
    {
        // A decoder finds the codeword that is nearest to anything, so noise shows far
        // less than one half: 0.13 for rate 1/2, 0.02 for 7/8. Wrong codes, punctures and
        // phases were measured at 0.93 to 1.08 of what noise shows, right ones below
        // 0.8 up to where every twentieth bit comes out wrong.
        constexpr double limit = 0.9;
        auto options = d_options;
        if (d_whole && options.frame_bits == 0) {
            options.decode_length = 64; // no bit is left out of 32 blocks
        }
        auto all = estimate_of(options, d_sample);
        const auto signs = with_random_signs(options.format, d_sample);
        const double noise = estimate_of(options, signs).rate();
        if (all.stages() < 256 || !(noise > 0)) {
            return json::object(); // too little, or nothing but erasures
        }
        if (!d_whole) {
            all.add(estimate());
        }
        const double rate = all.rate();
        const bool wrong = rate > limit * noise;
        std::cerr << std::setprecision(3)
                  << (wrong ? "gpufec: WARNING: this is no signal of this code. "
                            : "gpufec: ")
                  << "Channel bit error rate " << rate << ", noise would show " << noise
                  << (wrong ? ": check the code, its puncturing, the value that a period "
                              "begins with, and signs\n"
                            : "\n");
        return json::object({ { "channel_error_rate", rate },
                              { "noise_error_rate", noise },
                              { "wrong_code", wrong } });
    }

private:
    static constexpr std::size_t sample_bytes = 1u << 22;

    const viterbi_options d_options;
    std::vector<std::byte> d_sample; // the beginning
    bool d_whole = true;             // it is all
};

const char* const decode_options = R"(
unpacked            flag             -        one bit per byte
lock                off|auto         off      auto: find where pairs and puncturing periods begin, and terminated frames
lock-constellation  bpsk|qpsk|oqpsk  bpsk     qpsk: quarter turns, and I and Q exchanged, too; oqpsk: I or Q late by a symbol, too
lock-first-item     i|q              i        which of a symbol's two soft values comes first
lock-presets        text             -        comma separated: codes to search for, besides the one below
lock-memory         count            1000000  soft values kept while searching
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

// A stream that finds its phase, and says what it found.
class locking_stream : public viterbi_stream
{
public:
    using viterbi_stream::viterbi_stream;

    std::size_t pull(std::uint8_t* out, std::size_t bytes) override
    {
        const auto n = viterbi_stream::pull(out, bytes);
        for (viterbi_lock lock; d_decoder.take_lock(lock);) {
            tell(lock);
        }
        return n;
    }

    json conclude() override
    {
        const auto lock = d_decoder.lock();
        if (lock.locks == 0) {
            std::cerr << "gpufec: WARNING: found no signal of this code\n";
        }
        return json::object({ { "locks", lock.locks },
                              { "dropped", lock.dropped },
                              { "changes", d_told } });
    }

private:
    // More are counted, and not told.
    static constexpr unsigned most_told = 1000;

    void tell(const viterbi_lock& lock)
    {
        if (d_count++ >= most_told) {
            return;
        }
        auto j = json::object({ { "locked", lock.locked },
                                { "first_value", lock.first_value },
                                { "first_bit", lock.first_bit } });
        std::cerr << "gpufec: from soft value " << lock.first_value << " on ";
        if (!lock.locked) {
            std::cerr << "nothing\n";
            d_told.add(j);
            return;
        }
        std::cerr << (lock.preset.empty() ? lock.code : lock.preset) << ", pair phase "
                  << lock.pair_phase << ", puncturing phase " << lock.puncturing_phase
                  << ", turned by " << lock.rotation << " degrees"
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

    unsigned d_count = 0;
    json d_told = json::array();
};

// ---- gpufec bench ----

std::unique_ptr<slot_bench> make_slots(const viterbi_options& options,
                                       const std::vector<std::byte>& items)
{
    if (is_float(options)) { // converted to int8 on its way into a slot
        return nullptr;
    }
    auto slots = std::make_unique<slot_adapter<slot_benchmark>>(options, items, 1);
    slots->bits = slots->bench.bits();
    return slots;
}

std::unique_ptr<bench_subject> make_bench(const option_values& values, json& code)
{
    const auto options = parse(values);
    code = code_facts(options);
    auto subject = std::make_unique<bench_subject>();
    subject->title = options.code.to_string() + ", " + termination_name(options.ends) +
                     ", " + values.text("soft-input");
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

// The union bound; nothing beside a catastrophic code.
std::optional<distance_spectrum> spectrum_of(const conv_code& code)
{
    try {
        return distance_spectrum(code);
    } catch (const std::invalid_argument&) {
        std::cerr << "gpufec: no theory beside: " << code.to_string()
                  << " is catastrophic\n";
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
        options.seed = values.seed("seed");
        options.amplitude = values.real("amplitude");
        options.min_errors = values.count("min-errors");
        options.max_bits = values.count("max-bits");
        options.reference = values.has("reference");
        const int threads = values.integer("sim-threads", 0, 1024);
        options.threads = threads ? threads : options.decoder.threads;
        set_link(options.link, values, make_device_link);
        title = options.decoder.code.to_string() + ", " +
                termination_name(options.decoder.ends);
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
        j.add("ebn0_db", options.ebn0_db); // null without noise
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

const char* termination_name(termination ends)
{
    switch (ends) {
    case termination::streaming:
        return "streaming";
    case termination::terminated:
        return "terminated";
    case termination::truncated:
        return "truncated";
    case termination::tailbiting:
        break;
    }
    return "tailbiting";
}

decoder_trait viterbi_trait()
{
    decoder_trait t;
    t.name = "viterbi";
    t.code_options = preset_option() + code_options + run_options;
    t.bench.description = "Decodes noisy data (Eb/N0 5 dB).";
    t.make_bench = make_bench;
    t.ber = { "Encodes random data, sends it as BPSK over an AWGN channel, decodes, and "
              "counts wrong bits and frames. Eb/N0 counts information bits: puncturing "
              "and the tails of frames are paid for. Theory is the union bound on "
              "maximum likelihood from the code's distance spectrum. The 95 % intervals "
              "take into account that a Viterbi decoder errs in bursts.",
              ber_options };
    t.make_simulation = [](const option_values& values, json& code) {
        return std::make_unique<viterbi_simulation>(values, code);
    };
    t.decode = {
        "Decodes soft values (see --positive-bit) from IN to bits in OUT, "
        "packed eight per byte, the first most significant; each frame is "
        "padded to a byte. At the end the channel's bit error rate is said, "
        "estimated by encoding decoded bits again, and whether it is that of "
        "noise, as with a wrong code. Where all polynomials have an odd "
        "number of ones, as 171 and 133, a wrong sign inverts the output, and "
        "nothing shows it. With --lock auto the phase is found, and what is found "
        "is said.",
        decode_options
    };
    t.make_decoder = [](const option_values& values,
                        json& code) -> std::unique_ptr<byte_decoder> {
        auto options = parse(values);
        code = code_facts(options);
        options.lock = values.text("lock");
        if (options.lock == "auto") {
            options.lock_constellation = values.text("lock-constellation");
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
