// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests a sample of the input as declared and in other formats, signs, scales, rates,
 * constellations and phases, and formulates the advice. */

#include "frame_judge.h"
#include "ldpc/model/setup.h"
#include <algorithm>
#include <cmath>
#include <cstring>

namespace gr::gpufec::ldpc {

namespace {

constexpr std::size_t max_tried = 8; // largest number of frames decoded per trial
constexpr double certain_z = 8;      // frames with this z or more count as codewords
constexpr double certain = 100;      // LLR of a shortened bit in nats

double entropy(double p) { return -p * std::log2(p) - (1 - p) * std::log2(1 - p); }

// Returns the bit error rate p of the worst binary symmetric channel that a code could
// correct (see frame_judge.h).
double highest_error_rate(const ldpc_code& code)
{
    const double rate = double(code.k()) / code.sent();
    double low = 1e-9, high = 0.5;
    for (int i = 0; i < 60; ++i) {
        const double p = (low + high) / 2;
        (entropy(p) < 1 - 0.8 * rate ? low : high) = p;
    }
    return low;
}

// Returns the n values of a codeword from its sent values. \p zero is the value of a bit
// that is certainly 0.
std::vector<float> spread(const ldpc_code& code, const float* sent, float zero)
{
    std::vector<float> all(code.n(), 0.0f);
    if (code.sent_positions().empty()) {
        std::copy_n(sent, code.n(), all.begin());
        return all;
    }
    for (const auto position : code.shortened()) {
        all[position] = zero;
    }
    for (std::size_t i = 0; i < code.sent(); ++i) {
        const auto position = code.sent_positions()[i];
        if (position != ldpc_code::fill) {
            all[position] += sent[i]; // a bit may be sent several times
        }
    }
    return all;
}

std::string of_frames(std::size_t valid, std::size_t frames)
{
    return std::to_string(valid) + " of " + std::to_string(frames) +
           (frames == 1 ? " frame decodes" : " frames decode");
}

} // namespace

frame_judge::frame_judge(const ldpc_options& options,
                         const decoder_hooks& hooks,
                         const std::vector<demap::constellation>& constellations)
    : input_judge(hooks), d_options(options), d_constellations(constellations)
{
    reset();
}

void frame_judge::reset()
{
    forget();
    d_sample.clear();
    d_frames = d_failed = 0;
    d_tried = d_valid = 0;
    d_judged = d_concluded = false;
    d_syndrome = {};
    d_one_code = true;
    select(0);
}

demap::symbol_format frame_judge::symbol_format() const
{
    return *make_symbol_format(d_options.symbols);
}

std::size_t frame_judge::frame_items() const
{
    const auto& code = d_options.codes[d_code];
    return of_symbols() ? d_constellations[d_points].frame_symbols(code.sent())
                        : code.sent();
}

void frame_judge::select(unsigned code, unsigned constellation)
{
    if (!d_sample.empty()) {
        d_one_code = d_one_code && code == d_code && constellation == d_points;
        return;
    }
    d_code = code;
    d_points = constellation;
    const auto sent = d_options.codes[code].sent();
    d_wanted =
        frame_items() * std::clamp<std::size_t>((1u << 17) / sent, 4, max_undecided);
}

void frame_judge::look_at(const void* items, std::size_t first, std::size_t count)
{
    const auto size = d_options.item_bytes();
    if (d_judged || !d_one_code) {
        return;
    }
    const auto n = std::min(count, d_wanted - std::min(d_wanted, d_sample.size() / size));
    const auto* const from = static_cast<const std::byte*>(items) + first * size;
    d_sample.insert(d_sample.end(), from, from + n * size);
}

void frame_judge::drop_incomplete()
{
    const auto frame = frame_items() * d_options.item_bytes();
    if (d_sample.size() < d_wanted * d_options.item_bytes()) {
        d_sample.resize(d_sample.size() / frame * frame);
    }
}

std::size_t frame_judge::sampled() const
{
    return d_one_code ? d_sample.size() / d_options.item_bytes() / frame_items() : 0;
}

void frame_judge::count(bool valid)
{
    ++d_frames;
    d_failed += !valid;
    if (!d_judged) {
        d_valid += valid && d_frames <= max_tried;
        if (d_frames * frame_items() >= d_wanted) {
            judge();
        }
    }
    if (d_frames == max_undecided && d_failed == d_frames) {
        say_none();
    }
}

void frame_judge::conclude()
{
    if (std::exchange(d_concluded, true) || d_frames == 0) {
        return;
    }
    judge();
    if (d_failed == d_frames) {
        say_none();
    }
}

void frame_judge::judge()
{
    if (std::exchange(d_judged, true)) {
        return;
    }
    const auto frames = std::min<std::size_t>(sampled(), max_tried);
    if (frames > 0) {
        d_tried = std::min<std::size_t>(frames, d_frames);
        of_symbols() ? judge_symbols() : judge_format();
    }
    d_sample.clear();
    d_sample.shrink_to_fit();
}

std::vector<float> frame_judge::nats(llr_format format, float scale) const
{
    std::vector<float> values;
    if (format == llr_format::float32) {
        values.resize(d_sample.size() / sizeof(float));
        std::memcpy(values.data(), d_sample.data(), values.size() * sizeof(float));
    } else {
        for (const auto item : d_sample) {
            const int v =
                format == llr_format::uint8 ? int(item) - 128 : int(std::int8_t(item));
            values.push_back(float(std::max(v, -127)) / scale);
        }
    }
    return values;
}

void frame_judge::judge_format()
{
    const auto& code = d_options.codes[d_code];
    const auto format = d_options.format;
    const auto sign = d_options.positive_bit;
    const auto declared = nats(format, d_options.llr_scale);
    const auto facts = facts_of(declared.data(), declared.size());
    const auto steps = nats(format, 1);
    const bool only_bits = facts_of(steps.data(), steps.size()).only_bits();
    // If values are so small that most of them round to 0, they decode to the all-zero
    // word, which is no evidence of the code.
    const double step = d_options.precision == ldpc_precision::float32
                            ? 0
                            : 1 / make_setup(d_options).rule(code).scale;
    const bool rounded = facts.mean < step / 2;
    d_valid = rounded ? 0 : d_valid;
    if (!only_bits && !rounded && (facts.blank() || d_valid * 2 > d_tried)) {
        return;
    }
    d_syndrome = syndrome_of(code, declared, sign);
    const auto looks = [](const std::string& like, const std::string& use) {
        return "the input looks like " + like + ": use soft_input=\"" + use + '"';
    };
    if (only_bits) {
        auto values = steps;
        for (auto& x : values) {
            x = x > 0 ? 4 : -4;
        }
        const auto mend =
            "the input looks like hard bits 0 and 1, but a 0 counts as an erasure: "
            "send 1 and -1, multiplied by ln((1 - p) / p) nats, where p is the "
            "error rate";
        for (const auto positive : { sign, 1 - sign }) {
            if (syndrome_of(code, values, positive).z >= certain_z) {
                return say(mend);
            }
        }
    }
    const auto other = 1 - sign;
    const auto bytes = [&](llr_format f) { return nats(f, d_options.llr_scale); };
    const auto offset_binary = looks("offset binary, with 128 in the middle", "uint8");
    const auto signed_bytes = looks("signed bytes", "int8");
    if (better(code,
               declared,
               other,
               "the signs look inverted: use positive_bit=" + std::to_string(other))) {
        return;
    }
    for (const auto positive : { sign, other }) {
        if ((format != llr_format::uint8 &&
             better(code, bytes(llr_format::uint8), positive, offset_binary)) ||
            (format != llr_format::int8 &&
             better(code, bytes(llr_format::int8), positive, signed_bytes))) {
            return;
        }
    }
    if (format != llr_format::float32) {
        const auto floats = nats(llr_format::float32, 1);
        const auto f = facts_of(floats.data(), floats.size());
        if (f.mean > 1e-6 && f.mean < 1e6 &&
            better(code, floats, sign, looks("floats", "float"))) {
            return;
        }
    }
    judge_scale(declared);
    if (verdict().empty() && d_syndrome.z < certain_z) {
        judge_rates(declared);
    }
}

// Decodes the sample with the values \p nats. Counts the valid frames, and compares the
// count with that of the declared input. If the count is larger by at least half the
// number of tested frames, logs the advice \p mend and returns true.
bool frame_judge::better(const ldpc_code& code,
                         const std::vector<float>& nats,
                         unsigned positive_bit,
                         const std::string& mend)
{
    const auto frames = std::min(d_tried, nats.size() / code.sent());
    // If nearly all values have one sign, the word is nearly all-zero or all-one. Such
    // words satisfy the checks of many codes.
    const auto positive =
        std::count_if(nats.begin(), nats.end(), [](float x) { return x > 0; });
    const auto negative =
        std::count_if(nats.begin(), nats.end(), [](float x) { return x < 0; });
    if (frames == 0 || std::size_t(std::min(positive, negative)) < nats.size() / 16 ||
        syndrome_of(code, nats, positive_bit).z < certain_z) {
        return false;
    }
    const auto valid = decoded(code, nats, positive_bit, frames);
    if (valid == 0 || (valid - std::min(valid, d_valid)) * 2 < frames) {
        return false;
    }
    say(mend + " (" + of_frames(valid, frames) + " with this change, " +
        std::to_string(d_valid) + " of " + std::to_string(d_tried) + " without it)");
    return true;
}

// Tries another scale. A factor of 2a/s² converts values ±a in noise of variance s² to
// LLRs in nats. Factors between 0.5 and 2 are not tried.
void frame_judge::judge_scale(std::vector<float> nats)
{
    const auto& code = d_options.codes[d_code];
    const auto f = facts_of(nats.data(), nats.size());
    const double factor = 2 * f.amplitude / (f.noise * f.noise);
    if (!(factor > 0) || !std::isfinite(factor) || (factor > 0.5 && factor < 2)) {
        return;
    }
    for (auto& x : nats) {
        x = float(x * factor);
    }
    const auto mean = "mean |LLR| is " + short_number(f.mean) + " nat";
    const auto mend =
        d_options.format == llr_format::float32
            ? mean +
                  ": the values may be amplitudes, not LLRs; if so, multiply them by " +
                  short_number(factor) + ", which is 4·Es/N0 for symbols at ±1"
            : mean + ": use llr_scale=" + short_number(d_options.llr_scale / factor) +
                  " in place of " + short_number(d_options.llr_scale);
    better(code, nats, d_options.positive_bit, mend);
}

void frame_judge::judge_rates(const std::vector<float>& nats)
{
    const auto& code = d_options.codes[d_code];
    for (const auto& standard : ldpc_code::standards()) {
        if (code.name().rfind(standard + ' ', 0) != 0) {
            continue;
        }
        for (const auto& size : ldpc_code::frame_sizes(standard)) {
            if (code.name().rfind(standard + ' ' + size + ' ', 0) != 0) {
                continue;
            }
            for (const auto& rate : ldpc_code::rates(standard, size)) {
                const auto other = ldpc_code::standard(standard, size, rate);
                for (const auto sign :
                     { d_options.positive_bit, 1 - d_options.positive_bit }) {
                    if (other.name() != code.name() && other.sent() == code.sent() &&
                        better(other,
                               nats,
                               sign,
                               "the frames look like those of another rate: use rate=\"" +
                                   rate + '"' +
                                   (sign == d_options.positive_bit
                                        ? ""
                                        : " and positive_bit=" + std::to_string(sign)))) {
                        return;
                    }
                }
            }
        }
    }
}

void frame_judge::judge_symbols()
{
    if (d_valid * 2 > d_tried) {
        return;
    }
    const auto& code = d_options.codes[d_code];
    const auto& points = d_constellations[d_points];
    const auto declared = read_symbols(d_sample, symbol_format());
    const auto facts =
        facts_of(reinterpret_cast<const float*>(declared.data()), 2 * declared.size());
    if (facts.blank()) {
        return;
    }
    const auto how = make_method(d_options.demapper);
    d_syndrome =
        syndrome_of(code, llrs_of(points, how, declared, code.sent(), d_tried), 0);
    if (d_valid == 0 && better_symbols(code,
                                       points,
                                       declared,
                                       "frames decode with an estimated Es/N0: correct "
                                       "esn0_db, or let the decoder estimate it")) {
        return;
    }
    if (judge_phase(declared) || judge_symbol_format()) {
        return;
    }
    // PLFRAMEs of VL-SNR frames have other headers and pilots.
    const bool vlsnr = demap::is_vlsnr(d_options.constellations[0].frame_size);
    for (unsigned parts = 1; parts < 8 && !vlsnr; ++parts) {
        const plframe_parts p{ bool(parts & 4), bool(parts & 2), bool(parts & 1) };
        if (better_symbols(code, points, without(p, declared, frame_items()), p.mend())) {
            return;
        }
    }
    if (d_syndrome.z < certain_z) {
        judge_modcods(declared);
    }
}

bool frame_judge::judge_phase(const symbol_vector& symbols)
{
    const auto& points = d_constellations[d_points];
    const int turns = points.name == "8psk" ? 8 : 4; // number of rotations that map the
                                                     // points onto themselves
    for (const bool exchanged : { false, true }) {
        for (int turn = !exchanged; turn < turns; ++turn) {
            const auto by = "rotate the symbols by " +
                            std::to_string(360 / turns * turn) + " degrees";
            const auto mend = !exchanged ? "the constellation looks rotated: " + by
                                         : "I and Q look exchanged: exchange I and Q" +
                                               (turn ? ", then " + by : "");
            if (better_symbols(d_options.codes[d_code],
                               points,
                               turned(symbols, exchanged, double(turn) / turns),
                               mend)) {
                return true;
            }
        }
    }
    return false;
}

bool frame_judge::judge_symbol_format()
{
    const struct {
        demap::symbol_format format;
        const char *looks, *name;
    } others[] = { { demap::symbol_format::float32, "complex floats", "symbols" },
                   { demap::symbol_format::int16, "pairs of int16", "symbols16" },
                   { demap::symbol_format::int8, "pairs of int8", "symbols8" } };
    for (const auto& other : others) {
        if (other.format != symbol_format() &&
            better_symbols(d_options.codes[d_code],
                           d_constellations[d_points],
                           read_symbols(d_sample, other.format),
                           std::string("the input looks like ") + other.looks +
                               ": use soft_input=\"" + other.name + '"')) {
            return true;
        }
    }
    return false;
}

bool frame_judge::judge_modcods(const symbol_vector& symbols)
{
    const auto& name = d_options.codes[d_code].name();
    const auto standard = name.substr(0, name.find(' '));
    if (standard == name) { // a code from a file, which no MODCOD names
        return false;
    }
    const auto size =
        name.substr(standard.size() + 1, name.rfind(' ') - standard.size() - 1);
    for (const bool same_size : { true, false }) {
        for (const auto& m :
             demap::is_vlsnr(size) ? demap::vlsnr_modcods() : demap::modcods()) {
            if (!demap::is_of(m, standard) || (m.frame_size == size) != same_size) {
                continue;
            }
            const auto code = ldpc_code::standard(standard, m.frame_size, m.rate);
            if (code.name() == name && m.name == d_constellations[d_points].name) {
                continue;
            }
            auto modcod = m.name + ' ' + m.rate;
            std::transform(modcod.begin(), modcod.end(), modcod.begin(), ::toupper);
            const auto mend =
                "the frames look like those of another MODCOD: use rate=\"" + modcod +
                '"' + (same_size ? "" : " and frame_size=\"" + m.frame_size + '"');
            if (better_symbols(
                    code,
                    demap::make_constellation(m.name, m.rate, m.frame_size, standard),
                    symbols,
                    mend)) {
                return true;
            }
        }
    }
    return false;
}

// Demaps symbols and calls better() with their LLRs. To save time, returns false without
// decoding if the hard decisions of the first frame do not look like a codeword.
bool frame_judge::better_symbols(const ldpc_code& code,
                                 const demap::constellation& points,
                                 const symbol_vector& symbols,
                                 const std::string& mend)
{
    const auto how = make_method(d_options.demapper);
    const auto first = llrs_of(points, how, symbols, code.sent(), 1);
    return syndrome_of(code, first, 0).z >= certain_z &&
           better(code, llrs_of(points, how, symbols, code.sent(), d_tried), 0, mend);
}

frame_judge::syndrome frame_judge::syndrome_of(const ldpc_code& code,
                                               const std::vector<float>& nats,
                                               unsigned positive_bit) const
{
    const double p = highest_error_rate(code);
    double checks = 0, violated = 0, expected = 0;
    const float zero = positive_bit ? -certain : certain;
    for (std::size_t f = 0; (f + 1) * code.sent() <= nats.size(); ++f) {
        const auto all = spread(code, nats.data() + f * code.sent(), zero);
        for (unsigned c = 0; c < code.checks(); ++c) {
            bool whole = true;
            unsigned sum = 0;
            for (const auto bit : code.check(c)) {
                const float x = all[bit];
                whole = whole && (x < 0 || x > 0);
                sum ^= (x > 0) == bool(positive_bit);
            }
            if (whole) {
                ++checks;
                violated += sum;
                expected += std::pow(1 - 2 * p, double(code.check(c).size()));
            }
        }
    }
    if (checks == 0) {
        return {};
    }
    return { (checks / 2 - violated) / (std::sqrt(checks) / 2),
             expected / std::sqrt(checks) };
}

std::size_t frame_judge::decoded(const ldpc_code& code,
                                 const std::vector<float>& nats,
                                 unsigned positive_bit,
                                 std::size_t frames) const
{
    auto o = d_options;
    o.codes = { code };
    o.symbols = ldpc_symbols::none;
    o.constellations.clear();
    o.format = llr_format::float32;
    o.backend = backend::cpu;
    o.watch = false;
    o.batch = 0;
    o.max_batch = max_tried;
    o.slots = 1;
    o.threads = 1;
    o.positive_bit = positive_bit;
    o.early_stop = true;
    o.codeword = true;
    o.soft = ldpc_soft_output::none;
    o.keep_codeword = o.keep_soft = false;
    const auto decoder = ldpc_decoder::make(o);
    auto& d = *decoder;
    const auto items = frames * code.sent();
    std::vector<std::uint8_t> bits((code.n() + 7) / 8);
    std::size_t pushed = 0, valid = 0;
    while (!d.done()) {
        if (pushed < items) {
            pushed += d.push({ nats.data() + pushed, items - pushed });
            if (pushed == items) {
                d.finish();
            }
        }
        const auto n = d.pull(packed_bits(bits));
        const auto status = d.status();
        if (status && status->unsatisfied == 0) {
            // Words that are nearly all-zero or all-one satisfy the checks of many codes
            // and are not counted.
            std::size_t ones = 0;
            for (const auto byte : bits) {
                ones += __builtin_popcount(byte);
            }
            valid += std::min(ones, code.n() - ones) > code.n() / 16;
        }
        if (n == 0 && !d.done()) {
            d.wait(std::chrono::milliseconds(100));
        }
    }
    return valid;
}

void frame_judge::say_none()
{
    if (!verdict().empty()) {
        return;
    }
    const auto frames = d_frames == max_undecided && !d_concluded
                            ? "none of the first " + std::to_string(d_frames)
                            : "none of " + std::to_string(d_frames);
    const std::string checks =
        !of_symbols()
            ? "check the code, its rate, soft_input, where frames begin, and the order "
              "of bits"
            : "check the MODCOD (constellation and rate), frame_size and soft_input, "
              "where frames begin, that PLHEADERs and pilots are removed and the PL "
              "scrambling is undone, and the carrier's phase";
    if (d_syndrome.expected >= 10 && d_syndrome.z < d_syndrome.expected / 2) {
        say("no signal of this code: " + frames +
            " frames decodes, and their hard decisions do not resemble words of " +
            d_options.codes[d_code].name() + ": " + checks);
        return;
    }
    d_hooks.log(log_level::info,
                frames +
                    " frames decodes: the channel is too noisy, or the frames are "
                    "not of this code: " +
                    checks);
}

} // namespace gr::gpufec::ldpc
