// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Measures the frame error rate after BCH decoding for every MODCOD of EN 302 307-1, or,
 * with --vl-snr, for every MODCOD of VL-SNR frames (EN 302 307-2). The input is symbols,
 * Es/N0 is estimated from each frame, and early stop is on. Options add outliers, bursts,
 * fades or gaps to the symbols. With --loss, the program measures instead the loss in dB
 * of max-log demapping against log-MAP. Prints JSON. */

#include "apps/json.h"
#include "channel/counter_random.h"
#include "common/packed_bits.h"
#include "demap/rule.h"
#include "demap/vlsnr.h"
#include <gnuradio/gpufec/bch.h>
#include <gnuradio/gpufec/ldpc.h>
#include <condition_variable>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <complex>
#include <iostream>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

using namespace gr::gpufec;

namespace {

using symbol = std::complex<float>;

const char* const usage =
    R"(Usage: dvbs2_error_rates [options]
Measures frame error rates of the MODCODs of DVB-S2, and prints JSON. Default values are in
parentheses.

  --frames N             number of frames per MODCOD (10000)
  --normal DB            Es/N0 of normal frames, in dB above EN 302 307-1, table 13 (0.2)
  --short DB             Es/N0 of short frames, in dB above EN 302 307-1, table 13 (0.6)
  --vl-snr DB            measure only MODCODs of VL-SNR frames, at an Es/N0 DB above the ideal
                         Es/N0 of EN 302 307-2, clause 6
  --only WORD            measure only MODCODs whose names contain WORD, such as "8psk"
  --backend NAME         auto, cpu or cuda (auto)
  --threads N            number of threads that make frames (number of cores minus one)
  --decoder-threads N    number of threads of the CPU decoder (1)
  --iterations N         maximum number of iterations (50)
  --demapper NAME        log_map or max_log (log_map)
  --precision NAME       int8, int16 or float (int8)
  --offset NATS          offset of offset min-sum; negative: the default of the code (-1)
  --outlier MULTIPLE     replace symbols by outliers of MULTIPLE times the mean magnitude (0: none)
  --outliers N           number of outliers per frame, at random positions and phases (1)
  --impairment NAME[:X]  impulsive:DB    1 % of the symbols have noise DB above the signal (20)
                         interferer:DB   a tone DB above the signal on 1 % of the symbols (20)
                         half_fade:DB    the second half of each frame is DB weaker (6)
                         slow_fade:DB    frames fade by DB from beginning to end (6)
                         blanked:PART    the fraction PART of each frame is zero (0.05)
                         noise_only:PART the fraction PART of each frame is only noise (0.05)
                         Es/N0 is that of the strongest part of the signal.
  --loss                 measure the Es/N0 at which the frame error rate is 0.1, with max-log
                         and with log-MAP demapping, at points 0.05 dB apart

All frames are one stream with ACM. A frame depends only on its index.
)";

struct modcod {
    const char *constellation, *rate;
    double esn0_db; // threshold of normal frames (EN 302 307-1, table 13)
};
const std::vector<modcod> modcods = {
    { "qpsk", "1/4", -2.35 },    { "qpsk", "1/3", -1.24 },    { "qpsk", "2/5", -0.30 },
    { "qpsk", "1/2", 1.00 },     { "qpsk", "3/5", 2.23 },     { "qpsk", "2/3", 3.10 },
    { "qpsk", "3/4", 4.03 },     { "qpsk", "4/5", 4.68 },     { "qpsk", "5/6", 5.18 },
    { "qpsk", "8/9", 6.20 },     { "qpsk", "9/10", 6.42 },    { "8psk", "3/5", 5.50 },
    { "8psk", "2/3", 6.62 },     { "8psk", "3/4", 7.91 },     { "8psk", "5/6", 9.35 },
    { "8psk", "8/9", 10.69 },    { "8psk", "9/10", 10.98 },   { "16apsk", "2/3", 8.97 },
    { "16apsk", "3/4", 10.21 },  { "16apsk", "4/5", 11.03 },  { "16apsk", "5/6", 11.61 },
    { "16apsk", "8/9", 12.89 },  { "16apsk", "9/10", 13.13 }, { "32apsk", "3/4", 12.73 },
    { "32apsk", "4/5", 13.64 },  { "32apsk", "5/6", 14.28 },  { "32apsk", "8/9", 15.69 },
    { "32apsk", "9/10", 16.05 },
};

struct vlsnr_modcod {
    const char *size, *constellation, *rate;
    double esn0_db; // ideal Es/N0 (EN 302 307-2, clause 6)
};
const std::vector<vlsnr_modcod> vlsnr_modcods = {
    { "vl-snr normal", "qpsk", "2/9", -2.85 },
    { "vl-snr medium", "pi/2-bpsk", "1/5", -6.85 },
    { "vl-snr medium", "pi/2-bpsk", "11/45", -5.50 },
    { "vl-snr medium", "pi/2-bpsk", "1/3", -4.00 },
    { "vl-snr short sf2", "pi/2-bpsk", "1/5", -9.90 },
    { "vl-snr short sf2", "pi/2-bpsk", "11/45", -8.30 },
    { "vl-snr short", "pi/2-bpsk", "1/5", -6.10 },
    { "vl-snr short", "pi/2-bpsk", "4/15", -4.90 },
    { "vl-snr short", "pi/2-bpsk", "1/3", -3.72 },
};

struct settings {
    std::uint64_t frames = 10000;
    double normal_db = 0.2, short_db = 0.6;
    std::optional<double> vlsnr_db;
    gr::gpufec::backend backend = gr::gpufec::backend::automatic;
    unsigned threads = std::max(2u, std::thread::hardware_concurrency()) - 1;
    unsigned decoder_threads = 1;
    unsigned iterations = 50;
    ldpc_demapper demapper = ldpc_demapper::log_map;
    ldpc_precision precision = ldpc_precision::int8;
    double offset = -1; // −1: default of the code
    std::string only;
    bool loss = false;
    float outlier = 0; // magnitude of outliers, for a mean symbol energy of 1; 0: none
    unsigned outliers = 1;
    std::string impairment; // NAME of --impairment; empty: no impairment
    double impairment_size = 0;
};

// A point of a curve: one MODCOD and frame size at one Es/N0, and counts over its frames.
struct point {
    std::string name;
    double esn0_db;
    const bch_encoder_kernel* bch;
    const bch_decoder_kernel* check;
    const ldpc_encoder_kernel* ldpc;
    const demap::model* model; // not used with π/2-BPSK
    std::optional<demap::constellation> pi2_bpsk;
    unsigned code, constellation;
    std::uint64_t wrong = 0, uncorrected = 0, corrected_bits = 0, iterations = 0;
};

struct codes {
    std::vector<std::unique_ptr<bch_encoder_kernel>> bch;
    std::vector<std::unique_ptr<bch_decoder_kernel>> checks;
    std::vector<std::unique_ptr<ldpc_encoder_kernel>> ldpc;
    std::vector<std::unique_ptr<demap::model>> models;
    ldpc_options options;

    unsigned code(const std::string& size, const std::string& rate)
    {
        const std::string standard = demap::is_vlsnr(size) ? "dvbs2x" : "dvbs2";
        const auto made = ldpc_code::standard(standard, size, rate);
        for (unsigned i = 0; i < options.codes.size(); ++i) {
            if (options.codes[i].name() == made.name()) {
                return i;
            }
        }
        const auto outer = bch_code::standard(standard, size, rate);
        options.codes.push_back(made);
        ldpc.push_back(std::make_unique<ldpc_encoder_kernel>(made));
        bch.push_back(std::make_unique<bch_encoder_kernel>(outer));
        checks.push_back(std::make_unique<bch_decoder_kernel>(outer));
        return unsigned(options.codes.size() - 1);
    }
    unsigned constellation(const std::string& name,
                           const std::string& rate,
                           const std::string& size)
    {
        for (unsigned i = 0; i < options.constellations.size(); ++i) {
            const auto& c = options.constellations[i];
            if (c.name == name && c.rate == rate && c.frame_size == size) {
                return i;
            }
        }
        options.constellations.push_back({ name, rate, size });
        models.push_back(name == "pi/2-bpsk"
                             ? nullptr
                             : std::make_unique<demap::model>(demap::make_model(
                                   demap::make_constellation(name, rate, size))));
        return unsigned(models.size() - 1);
    }
    point make(const std::string& name,
               const std::string& rate,
               const std::string& size,
               double esn0_db)
    {
        point p{};
        p.name = size + ' ' + name + ' ' + rate;
        p.esn0_db = esn0_db;
        p.code = code(size, rate);
        p.constellation = constellation(name, rate, size);
        if (name == "pi/2-bpsk") {
            p.pi2_bpsk = demap::make_constellation(name, rate, size);
        }
        p.bch = bch[p.code].get();
        p.check = checks[p.code].get();
        p.ldpc = ldpc[p.code].get();
        p.model = models[p.constellation].get();
        return p;
    }
};

void make_message(const point& p, std::uint64_t frame, std::vector<std::uint8_t>& message)
{
    const counter_random random(2 * frame);
    message.assign((p.bch->code().n() + 7) / 8, 0);
    const auto bytes = p.bch->code().k() / 8; // the other bits of medium frames are 0
    for (std::size_t i = 0; i < bytes; ++i) {
        message[i] = std::uint8_t(random(i / 8) >> 8 * (i % 8));
    }
}

// A generator of the noisy symbols of a frame. Message and noise depend only on the
// frame's number, so results do not depend on the number of threads.
class transmitter
{
public:
    explicit transmitter(const settings& s) : d_settings(s) {}

    void make(const point& p, std::uint64_t frame, std::vector<symbol>& symbols)
    {
        const auto n = p.ldpc->code().sent();
        make_message(p, frame, d_message);
        p.bch->encode(d_message.data(), d_message.data());
        d_codeword.resize((n + 7) / 8);
        p.ldpc->encode_packed(d_message.data(), d_codeword.data());
        d_bits.resize(n);
        unpack_bits(d_codeword.data(), 0, n, d_bits.data());
        map(p, symbols);
        const auto count = std::uint32_t(symbols.size());
        const counter_random random(2 * frame + 1);
        const auto sigma = float(std::sqrt(std::pow(10, -p.esn0_db / 10)));
        constexpr float turn = 6.283185307f;
        for (std::uint32_t s = 0; s < count; ++s) { // Box-Muller transform
            const auto word = random(s);
            const float u = (float(word >> 32) + 0.5f) * 0x1p-32f;
            const float angle = turn * 0x1p-32f * float(std::uint32_t(word));
            const float radius = sigma * std::sqrt(-std::log(std::min(u, 1.0f)));
            const auto gain = gain_at(s, count);
            symbols[s] = { gain * symbols[s].real() + radius * std::cos(angle),
                           gain * symbols[s].imag() + radius * std::sin(angle) };
        }
        impair(frame, symbols);
    }

private:
    // Maps the sent bits to symbols.
    void map(const point& p, std::vector<symbol>& symbols)
    {
        if (p.pi2_bpsk) {
            symbols = demap::map_pi2_bpsk(*p.pi2_bpsk, d_bits);
            return;
        }
        const auto& m = *p.model;
        const auto count = m.symbols(std::uint32_t(d_bits.size()));
        d_labels.assign(count, 0);
        for (unsigned b = 0; b < m.bits; ++b) {
            const auto* const from = d_bits.data() + m.place(0, b, count);
            const unsigned stride = m.is_line() ? 2 : 1, shift = m.bits - 1 - b;
            for (std::uint32_t s = 0; s < count; ++s) {
                d_labels[s] |= std::uint8_t(from[stride * s] << shift);
            }
        }
        symbols.resize(count);
        for (std::uint32_t s = 0; s < count; ++s) {
            symbols[s] = { float(m.i[d_labels[s]]), float(m.q[d_labels[s]]) };
        }
    }

    float gain_at(std::uint32_t s, std::uint32_t count) const
    {
        const auto& name = d_settings.impairment;
        if (name == "half_fade" || name == "slow_fade") {
            const auto part =
                name == "slow_fade" ? double(s) / count : double(s >= count / 2);
            return float(std::pow(10, -d_settings.impairment_size * part / 20));
        }
        return name == "noise_only" && s < d_settings.impairment_size * count ? 0 : 1;
    }

    void impair(std::uint64_t frame, std::vector<symbol>& symbols) const
    {
        const counter_random random(~frame);
        std::uint64_t drawn = 0;
        const auto uniform = [&] { return double(random(drawn++) >> 11) * 0x1p-53; };
        const auto count = symbols.size();
        const auto turned = [&](double magnitude) {
            return std::polar(float(magnitude), float(6.283185307 * uniform()));
        };
        const auto& name = d_settings.impairment;
        const auto amplitude = std::pow(10, d_settings.impairment_size / 20);
        if (name == "impulsive") {
            for (auto& x : symbols) {
                if (uniform() < 0.01) {
                    x += turned(amplitude * std::sqrt(-std::log(1 - uniform())));
                }
            }
        } else if (name == "interferer") {
            const auto first = std::size_t(uniform() * 0.99 * double(count));
            const auto tone = turned(amplitude);
            for (auto s = first; s < first + count / 100; ++s) {
                symbols[s] += tone * std::polar(1.0f, 0.3f * float(s - first));
            }
        } else if (name == "blanked") {
            const auto part = d_settings.impairment_size;
            const auto first = std::size_t(uniform() * (1 - part) * double(count));
            std::fill_n(symbols.begin() + first, std::size_t(part * double(count)), 0.0f);
        }
        for (unsigned n = 0; d_settings.outlier > 0 && n < d_settings.outliers; ++n) {
            symbols[random(drawn++) % count] = turned(d_settings.outlier);
        }
    }

    const settings& d_settings;
    std::vector<std::uint8_t> d_message, d_codeword, d_bits, d_labels;
};

// A set of threads that generate frames in advance; the decoder reads them in order.
class frame_maker
{
public:
    frame_maker(const std::vector<point>& points, const settings& s)
        : d_points(points),
          d_settings(s),
          d_each(s.frames),
          d_ready(window),
          d_frames(window)
    {
        for (unsigned t = 0; t < s.threads; ++t) {
            d_threads.emplace_back([this] { run(); });
        }
    }
    ~frame_maker()
    {
        for (auto& t : d_threads) {
            t.join();
        }
    }

    const std::vector<symbol>& wait_for(std::uint64_t frame)
    {
        std::unique_lock<std::mutex> lock(d_mutex);
        d_changed.wait(lock, [&] { return d_ready[frame % window] == frame + 1; });
        return d_frames[frame % window];
    }
    void release(std::uint64_t frame)
    {
        {
            std::lock_guard<std::mutex> lock(d_mutex);
            d_released = frame + 1;
        }
        d_changed.notify_all();
    }

private:
    static constexpr std::uint64_t window = 256;

    void run()
    {
        transmitter t(d_settings);
        for (;;) {
            const auto frame = d_next++;
            if (frame >= d_each * d_points.size()) {
                return;
            }
            {
                std::unique_lock<std::mutex> lock(d_mutex);
                d_changed.wait(lock, [&] { return frame < d_released + window; });
            }
            t.make(d_points[frame / d_each], frame, d_frames[frame % window]);
            {
                std::lock_guard<std::mutex> lock(d_mutex);
                d_ready[frame % window] = frame + 1;
            }
            d_changed.notify_all();
        }
    }

    const std::vector<point>& d_points;
    const settings& d_settings;
    const std::uint64_t d_each;
    std::mutex d_mutex;
    std::condition_variable d_changed;
    std::vector<std::uint64_t> d_ready; // index + 1 of the frame in each buffer; 0: none
    std::vector<std::vector<symbol>> d_frames;
    std::uint64_t d_released = 0;
    std::atomic<std::uint64_t> d_next{ 0 };
    std::vector<std::thread> d_threads;
};

// Decodes the frames of all points with one decoder, as one ACM stream. Returns the name
// of the backend that decoded.
std::string measure(codes& all, std::vector<point>& points, const settings& s)
{
    auto options = all.options;
    options.backend = s.backend;
    options.threads = s.decoder_threads;
    options.max_iterations = s.iterations;
    options.symbols = ldpc_symbols::float32;
    options.demapper = s.demapper;
    options.precision = s.precision;
    options.offset = s.offset;
    options.max_latency_ms = 1e9;
    const auto decoder = ldpc_decoder::make(options);
    frame_maker maker(points, s);
    std::vector<std::uint8_t> found(64800 / 8), sent;
    const auto pull = [&] {
        for (std::size_t n; (n = decoder->pull(packed_bits(found))) > 0;) {
            const auto status = decoder->status();
            if (!status) {
                throw std::logic_error("a frame was output in parts");
            }
            auto& p = points[status->frame / s.frames];
            const auto bits = p.check->decode(found.data());
            make_message(p, status->frame, sent);
            p.wrong += !std::equal(
                sent.begin(), sent.begin() + p.bch->code().k() / 8, found.begin());
            p.uncorrected += bits < 0;
            p.corrected_bits += std::max(bits, 0);
            p.iterations += status->iterations;
        }
    };
    const auto frames = s.frames * points.size();
    for (std::uint64_t f = 0; f < frames; ++f) {
        const auto& p = points[f / s.frames];
        const auto& symbols = maker.wait_for(f);
        decoder->select(p.code, p.constellation);
        for (std::size_t first = 0; first < symbols.size();) {
            const auto n = decoder->push(span(symbols).from(first));
            first += n;
            if (n == 0) {
                decoder->wait(std::chrono::milliseconds(10));
            }
            pull();
        }
        maker.release(f);
        if (f % s.frames == s.frames - 1) {
            std::cerr << p.name << '\n';
        }
    }
    decoder->finish();
    while (!decoder->done()) {
        decoder->wait(std::chrono::milliseconds(10));
        pull();
    }
    return decoder->active_backend();
}

json describe(const point& p, const settings& s)
{
    json row = json::object();
    row.add("modcod", p.name)
        .add("esn0_db", p.esn0_db)
        .add("frames", s.frames)
        .add("wrong", p.wrong)
        .add("bch_failed", p.uncorrected)
        .add("bch_corrected_bits", p.corrected_bits)
        .add("mean_iterations", double(p.iterations) / double(s.frames));
    return row;
}

bool wanted(const std::string& name, const settings& s)
{
    return s.only.empty() || name.find(s.only) != std::string::npos;
}

json thresholds(const settings& s, std::string& decoded_by)
{
    codes all;
    std::vector<point> points;
    const auto add = [&](const auto& m, const std::string& size, double above_db) {
        const auto name = size + ' ' + m.constellation + ' ' + m.rate;
        if (wanted(name, s)) {
            points.push_back(
                all.make(m.constellation, m.rate, size, m.esn0_db + above_db));
        }
    };
    if (s.vlsnr_db) {
        for (const auto& m : vlsnr_modcods) {
            add(m, m.size, *s.vlsnr_db);
        }
    } else {
        for (const auto& m : modcods) {
            add(m, "normal", s.normal_db);
        }
        for (const auto& m : modcods) {
            if (std::string(m.rate) != "9/10") {
                add(m, "short", s.short_db);
            }
        }
    }
    decoded_by = measure(all, points, s);
    json rows = json::array();
    for (const auto& p : points) {
        rows.add(describe(p, s));
    }
    return rows;
}

// Returns the Es/N0 in dB at which the frame error rate falls below 0.1, interpolated
// between two consecutive points; NaN if the points have no such crossing.
double crossing(const std::vector<point>& points, std::uint64_t frames)
{
    const auto rate = [&](const point& p) {
        return std::log10(std::max<double>(p.wrong, 0.5) / double(frames));
    };
    for (std::size_t i = 1; i < points.size(); ++i) {
        const auto before = rate(points[i - 1]), after = rate(points[i]);
        if (before >= -1 && after < -1) {
            const auto part = (before + 1) / (before - after);
            return points[i - 1].esn0_db +
                   part * (points[i].esn0_db - points[i - 1].esn0_db);
        }
    }
    return std::nan("");
}

json losses(settings s, std::string& decoded_by)
{
    json rows = json::array();
    for (const auto& m : modcods) {
        const auto name = std::string(m.constellation) + ' ' + m.rate;
        if ((name != "qpsk 1/2" && name != "8psk 3/5" && name != "8psk 3/4" &&
             name != "16apsk 2/3" && name != "16apsk 3/4" && name != "32apsk 3/4" &&
             name != "32apsk 9/10") ||
            !wanted(name, s)) {
            continue;
        }
        json row = json::object();
        row.add("modcod", "normal " + name);
        double at[2] = {};
        for (const auto how : { ldpc_demapper::max_log, ldpc_demapper::log_map }) {
            codes all;
            std::vector<point> points;
            for (int step = -9; step <= 3; ++step) {
                points.push_back(
                    all.make(m.constellation, m.rate, "normal", m.esn0_db + 0.05 * step));
            }
            s.demapper = how;
            decoded_by = measure(all, points, s);
            json curve = json::array();
            for (const auto& p : points) {
                curve.add(describe(p, s));
            }
            const bool max_log = how == ldpc_demapper::max_log;
            at[max_log] = crossing(points, s.frames);
            row.add(max_log ? "max_log" : "log_map", curve);
            row.add(max_log ? "max_log_esn0_db" : "log_map_esn0_db", at[max_log]);
        }
        row.add("loss_db", at[1] - at[0]);
        rows.add(row);
    }
    return rows;
}

void set_impairment(settings& s, const std::string& value)
{
    const std::vector<std::pair<std::string, double>> all = {
        { "impulsive", 20 }, { "interferer", 20 }, { "half_fade", 6 },
        { "slow_fade", 6 },  { "blanked", 0.05 },  { "noise_only", 0.05 }
    };
    s.impairment = value.substr(0, value.find(':'));
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& known) {
        return known.first == s.impairment;
    });
    if (found == all.end()) {
        throw std::invalid_argument("unknown impairment " + value + "; see --help");
    }
    const auto colon = value.find(':');
    s.impairment_size =
        colon == std::string::npos ? found->second : std::stod(value.substr(colon + 1));
}

settings parse(int argc, char** argv)
{
    settings s;
    for (int i = 1; i < argc; ++i) {
        const std::string name = argv[i];
        if (name == "--loss") {
            s.loss = true;
            continue;
        }
        if (i + 1 == argc) {
            throw std::invalid_argument("option " + name + " needs a value; see --help");
        }
        const std::string value = argv[++i];
        if (name == "--frames") {
            s.frames = std::stoull(value);
        } else if (name == "--normal") {
            s.normal_db = std::stod(value);
        } else if (name == "--short") {
            s.short_db = std::stod(value);
        } else if (name == "--vl-snr") {
            s.vlsnr_db = std::stod(value);
        } else if (name == "--backend") {
            s.backend = backend_from_string(value);
        } else if (name == "--threads") {
            s.threads = unsigned(std::stoul(value));
        } else if (name == "--decoder-threads") {
            s.decoder_threads = unsigned(std::stoul(value));
        } else if (name == "--iterations") {
            s.iterations = unsigned(std::stoul(value));
        } else if (name == "--demapper") {
            s.demapper =
                value == "max_log" ? ldpc_demapper::max_log : ldpc_demapper::log_map;
        } else if (name == "--precision") {
            s.precision = ldpc_precision_from_string(value);
        } else if (name == "--offset") {
            s.offset = std::stod(value);
        } else if (name == "--only") {
            s.only = value;
        } else if (name == "--outlier") {
            s.outlier = std::stof(value);
        } else if (name == "--outliers") {
            s.outliers = unsigned(std::stoul(value));
        } else if (name == "--impairment") {
            set_impairment(s, value);
        } else {
            throw std::invalid_argument("unknown option " + name + "; see --help");
        }
    }
    return s;
}

} // namespace

int main(int argc, char** argv)
{
    try {
        if (std::any_of(argv, argv + argc, [](const std::string& word) {
                return word == "--help";
            })) {
            std::cout << usage;
            return 0;
        }
        const auto s = parse(argc, argv);
        const auto begin = std::chrono::steady_clock::now();
        std::string decoded_by;
        auto rows = s.loss ? losses(s, decoded_by) : thresholds(s, decoded_by);
        const std::chrono::duration<double> took =
            std::chrono::steady_clock::now() - begin;
        json result = json::object();
        result.add("benchmark", "dvbs2_error_rates")
            .add("backend", decoded_by)
            .add("demapper",
                 s.loss                                 ? "both"
                 : s.demapper == ldpc_demapper::max_log ? "max_log"
                                                        : "log_map")
            .add("max_iterations", s.iterations)
            .add("precision",
                 s.precision == ldpc_precision::int8    ? "int8"
                 : s.precision == ldpc_precision::int16 ? "int16"
                                                        : "float")
            .add("offset", s.offset)
            .add("threads", s.threads);
        if (s.outlier > 0) {
            result.add("outlier", s.outlier).add("outliers", s.outliers);
        }
        if (!s.impairment.empty()) {
            result.add("impairment", s.impairment)
                .add("impairment_size", s.impairment_size);
        }
        result.add("seconds", took.count()).add(s.loss ? "losses" : "modcods", rows);
        std::cout << result.to_string() << '\n';
        return 0;
    } catch (const std::exception& error) {
        std::cerr << "dvbs2_error_rates: " << error.what() << '\n';
        return 2;
    }
}
