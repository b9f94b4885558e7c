// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Measures the CCSDS receiver in noise: error rates, the time until frames are found, and
 * the number of false frames. */

#include "ccsds_link.h"
#include "json.h"
#include <atomic>
#include <iostream>
#include <mutex>
#include <thread>

using namespace gr::gpufec;

namespace {

constexpr const char* usage =
    R"(Usage: ccsds_receiver MODE [--trials N] [--threads N] [--only NAME]

Measures the CCSDS receiver on CPU threads, and prints JSON. Noise is white and Gaussian,
with fixed seeds, so results do not depend on the number of threads. Eb/N0 does not
include the energy of markers.

MODE is
  rates    measures the frame error rate against Eb/N0. With LDPC codes, also measures
           a decoder that is given the beginnings of frames, on the same noise.
           N is the number of frames per point (default 1000)
  first    measures the number of whole frames until the first correct frame, at 1 dB
           above the threshold: at the beginning, after a slip by one symbol, and after
           a rotation (bpsk: an inversion). 1 means that no whole frame was lost. N is
           the number of trials (default 100). Frames that were never sent count as
           wrong, and as complements if they are inverted frames
  noise    counts locks and false frames in noise. N is the number of soft values per
           row (default 1e7)

--only NAME     measures only the scheme or row with this name
--threads N     number of threads (default 1)
)";

// Thresholds are measured with mode "rates", and rounded to 0.1 dB.
constexpr link_scheme schemes[] = {
    { "reed_solomon", "ccsds-223", 5, false, 6.4 },
    { "concatenated", "ccsds-223", 5, true, 2.3 },
    { "c2", "c2", 1, false, 3.8 },
    { "ar4ja-1024-1/2", "ar4ja-1024-1/2", 1, false, 1.9 },
};

struct settings {
    std::uint64_t trials = 0;
    unsigned threads = 1;
    std::string only;

    bool wanted(const std::string& name) const { return only.empty() || only == name; }
};

// Calls make_worker() in each thread. The threads then call the returned functions, once
// for each number below `count`.
template <class Make>
void share(unsigned threads, std::uint64_t count, Make&& make_worker)
{
    std::atomic<std::uint64_t> next{ 0 };
    std::mutex mutex;
    std::exception_ptr error;
    std::vector<std::thread> running;
    for (unsigned t = 0; t < threads; ++t) {
        running.emplace_back([&] {
            try {
                auto work = make_worker();
                for (std::uint64_t i; (i = next++) < count;) {
                    work(i);
                }
            } catch (...) {
                std::lock_guard<std::mutex> guard(mutex);
                error = std::current_exception();
            }
        });
    }
    for (auto& thread : running) {
        thread.join();
    }
    if (error) {
        std::rethrow_exception(error);
    }
}

double now()
{
    const auto t = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double>(t).count();
}

// Returns the Eb/N0 in dB at which a rate is 1e-3, by interpolation of its logarithm; NaN
// if the rate stays above 1e-3.
double crossing(const std::vector<std::pair<double, double>>& points)
{
    for (std::size_t i = 1; i < points.size(); ++i) {
        const auto [x0, y0] = points[i - 1];
        const auto [x1, y1] = points[i];
        if (y0 >= 1e-3 && y1 < 1e-3 && y1 > 0) {
            const double part = std::log(y0 / 1e-3) / std::log(y0 / y1);
            return x0 + part * (x1 - x0);
        }
    }
    return std::nan("");
}

// Returns the probability that more than 16 of 255 symbols are wrong, if the symbols are
// wrong independently of each other with probability p (CCSDS 130.1-G-2, 6.2 and 6.3).
double ideal_codeword_error_rate(double p)
{
    double sum = 0;
    for (int j = 17; j <= 255; ++j) {
        sum += std::exp(std::lgamma(256) - std::lgamma(j + 1) - std::lgamma(256 - j) +
                        j * std::log(p) + (255 - j) * std::log1p(-p));
    }
    return sum;
}

struct error_counts {
    std::atomic<std::uint64_t> frames{ 0 }, lost{ 0 }, lost_in_sync{ 0 }, wrong{ 0 };
    // The next members are used only with Reed-Solomon.
    std::atomic<std::uint64_t> failed_codewords{ 0 }, symbols{ 0 }, wrong_symbols{ 0 };
};

// Number of frames that are counted in each stream of mode "rates". Two more frames, at
// the ends of the stream, are not counted, because a Viterbi decoder does not know the
// states before and after the stream.
constexpr unsigned frames_of_stream = 100;

std::uint64_t lost_frames(const std::vector<bool>& received)
{
    return std::count(received.begin() + 1, received.end() - 1, false);
}

// Receives one stream with a Reed-Solomon code and counts its errors.
class reed_solomon_counter
{
public:
    reed_solomon_counter(const link_scheme& scheme, const sent_frames& sent)
        : d_sent(sent), d_bits(sent.source.packed()), d_finder([&] {
              auto framing = scheme.framing();
              framing.drop_failed = false;
              return ccsds_frame_finder(framing, !scheme.convolutional);
          }())
    {
        if (scheme.convolutional) {
            d_viterbi.emplace("bpsk", "auto");
        }
    }

    void operator()(const soft_values& values, error_counts& counts)
    {
        bytes bits;
        if (d_viterbi) {
            d_viterbi->reset();
            d_viterbi->push(values, true, [&](const std::uint8_t* data, std::size_t n) {
                bits.insert(bits.end(), data, data + n);
            });
        } else {
            bits.resize(values.size() / 8);
            for (std::size_t i = 0; i < 8 * bits.size(); ++i) {
                bits[i / 8] |= std::uint8_t((values[i] < 0) << (7 - i % 8));
            }
        }
        count_symbols(bits, counts);
        d_finder.reset();
        const auto found =
            d_viterbi ? find_frames(d_finder, bits) : find_frames(d_finder, values);
        std::vector<bool> right(frames_of_stream + 2);
        std::uint64_t intact = 0;
        for (const auto& frame : found) {
            const auto index = frame.good ? d_sent.index_of(frame.bytes) : -1;
            counts.wrong += frame.good && index < 0;
            if (index >= 0) {
                right[index] = true;
            }
            const auto period = d_sent.source.period;
            if (frame.position + 100 > period &&
                frame.position + 100 < (frames_of_stream + 1) * period) {
                intact += std::count_if(frame.corrected.begin(),
                                        frame.corrected.end(),
                                        [](int n) { return n >= 0; });
            }
        }
        counts.frames += frames_of_stream;
        counts.lost += lost_frames(right);
        counts.failed_codewords += 5 * frames_of_stream - intact;
    }

private:
    // Counts wrong bytes before Reed-Solomon decoding. The convolutional code is
    // transparent, so all bits may be inverted.
    void count_symbols(const bytes& bits, error_counts& counts)
    {
        const auto n = (frames_of_stream + 1) * d_sent.source.period / 8;
        if (bits.size() < n) {
            return;
        }
        std::uint64_t same = 0, inverse = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const unsigned difference = bits[i] ^ d_bits[i];
            same += difference == 0;
            inverse += difference == 0xff;
        }
        counts.symbols += n;
        counts.wrong_symbols += n - std::max(same, inverse);
    }

    const sent_frames& d_sent;
    const bytes d_bits;
    std::optional<stream_viterbi> d_viterbi;
    ccsds_frame_finder d_finder;
};

// Receives one stream of LDPC codewords, with and without a search for the marker, and
// counts its errors.
class ldpc_counter
{
public:
    ldpc_counter(const link_scheme& scheme, const sent_frames& sent)
        : d_sent(sent),
          d_framing(scheme.framing()),
          d_finder(d_framing, true),
          d_decoder(*ldpc_code_of(scheme)),
          d_sequence(framing::randomiser_sequence("short", d_finder.frame_items() / 8))
    {
    }

    void operator()(const soft_values& values, error_counts& counts)
    {
        const auto n = d_finder.frame_items();
        d_finder.reset();
        auto found = find_frames(d_finder, values);
        // Decoded codewords: first the codewords at the known positions, then the
        // codewords that the receiver found.
        soft_values codewords;
        for (unsigned f = 1; f <= frames_of_stream; ++f) {
            const auto first = f * d_sent.period + d_finder.marker_bits();
            for (std::size_t i = 0; i < n; ++i) {
                const bool flip = d_sequence[i / 8] >> (7 - i % 8) & 1;
                const auto v = values[first + i];
                codewords.push_back(flip ? std::int8_t(-v) : v);
            }
        }
        for (const auto& frame : found) {
            codewords.insert(codewords.end(), frame.soft.begin(), frame.soft.end());
        }
        const auto decoded = d_decoder(codewords);
        std::vector<bool> in_sync(frames_of_stream + 2), right(frames_of_stream + 2);
        for (std::size_t i = 0; i < decoded.size(); ++i) {
            const auto index = d_sent.index_of(decoded[i].message);
            if (i < frames_of_stream) {
                in_sync[i + 1] = index == int(i) + 1;
            } else if (index >= 0) {
                right[index] = true;
            } else {
                counts.wrong += decoded[i].codeword;
            }
        }
        counts.frames += frames_of_stream;
        counts.lost += lost_frames(right);
        counts.lost_in_sync += lost_frames(in_sync);
    }

private:
    const sent_frames& d_sent;
    const ccsds_framing d_framing;
    ccsds_frame_finder d_finder;
    codeword_decoder d_decoder;
    const bytes d_sequence;
};

template <class Counter>
void count_errors(const link_scheme& scheme,
                  const sent_frames& sent,
                  double ebn0_db,
                  const settings& s,
                  error_counts& counts)
{
    const auto streams = (s.trials + frames_of_stream - 1) / frames_of_stream;
    share(s.threads, streams, [&] {
        auto counter = std::make_shared<Counter>(scheme, sent);
        return [&, counter, values = soft_values(sent.coded.size())](
                   std::uint64_t stream) mutable {
            const auto seed = 1000 * stream + std::uint64_t(std::lround(100 * ebn0_db));
            channel_of(scheme, ebn0_db, seed)
                .int8(0, sent.coded.data(), sent.coded.size(), values.data());
            (*counter)(values, counts);
        };
    });
}

json rates(const settings& s)
{
    auto rows = json::array();
    for (const auto& scheme : schemes) {
        if (!s.wanted(scheme.name)) {
            continue;
        }
        const sent_frames sent(scheme, frames_of_stream + 2);
        const bool ldpc = framing::ccsds_format(scheme.framing()).ldpc;
        auto points = json::array();
        std::vector<std::pair<double, double>> lost, lost_in_sync, codewords, ideal;
        const auto begin = now();
        for (int step = -4; step <= 2; ++step) {
            const double ebn0_db = scheme.threshold_db + 0.05 * step;
            error_counts counts;
            if (ldpc) {
                count_errors<ldpc_counter>(scheme, sent, ebn0_db, s, counts);
            } else {
                count_errors<reed_solomon_counter>(scheme, sent, ebn0_db, s, counts);
            }
            const double n = double(counts.frames);
            auto point = json::object({ { "ebn0_db", ebn0_db },
                                        { "frames", counts.frames.load() },
                                        { "lost", counts.lost.load() },
                                        { "wrong", counts.wrong.load() },
                                        { "frame_error_rate", counts.lost / n } });
            lost.emplace_back(ebn0_db, counts.lost / n);
            if (ldpc) {
                point.add("lost_in_perfect_sync", counts.lost_in_sync.load());
                lost_in_sync.emplace_back(ebn0_db, counts.lost_in_sync / n);
            } else {
                const double symbols = double(counts.wrong_symbols) / counts.symbols;
                codewords.emplace_back(
                    ebn0_db, counts.failed_codewords / (n * scheme.interleaving));
                ideal.emplace_back(ebn0_db, ideal_codeword_error_rate(symbols));
                point.add("symbol_error_rate", symbols)
                    .add("codeword_error_rate", codewords.back().second)
                    .add("ideal_codeword_error_rate", ideal.back().second);
            }
            points.add(point);
            std::cerr << scheme.name << ' ' << point.to_string() << '\n';
        }
        auto row = json::object(
            { { "scheme", scheme.name }, { "ebn0_db_at_1e-3", crossing(lost) } });
        if (ldpc) {
            row.add("ebn0_db_at_1e-3_in_perfect_sync", crossing(lost_in_sync))
                .add("loss_db", crossing(lost) - crossing(lost_in_sync));
        } else {
            row.add("codeword_ebn0_db_at_1e-3", crossing(codewords))
                .add("ideal_codeword_ebn0_db_at_1e-3", crossing(ideal));
        }
        rows.add(row.add("points", points).add("seconds", now() - begin));
    }
    return rows;
}

// Rotates a symbol of BPSK by 180 degrees, or a symbol of QPSK by 90 degrees.
void rotate(soft_values& values, std::size_t first, unsigned per_symbol)
{
    for (auto i = first; i + per_symbol <= values.size(); i += per_symbol) {
        if (per_symbol == 2) {
            std::swap(values[i], values[i + 1]);
        }
        values[i] = std::int8_t(-values[i]);
    }
}

json summary(std::vector<unsigned> frames)
{
    std::sort(frames.begin(), frames.end());
    const auto within =
        std::upper_bound(frames.begin(), frames.end(), 3) - frames.begin();
    return json::object({ { "median", frames[frames.size() / 2] },
                          { "max", frames.back() },
                          { "later_than_3", frames.size() - within },
                          { "within_3", double(within) / double(frames.size()) } });
}

json first(const settings& s)
{
    // A stream has `count` frames, with a slip in frame slip_frame and a rotation in
    // frame rotation_frame. Reception begins within frame 0.
    constexpr unsigned slip_frame = 6, rotation_frame = 12, count = 19;
    auto rows = json::array();
    for (const auto& scheme : schemes) {
        if (!s.wanted(scheme.name)) {
            continue;
        }
        const sent_frames sent(scheme, count);
        for (const std::string constellation : { "bpsk", "qpsk" }) {
            const unsigned per_symbol = constellation == "qpsk" ? 2 : 1;
            // The result of each trial, by event: the number of frames until one is
            // received, or `count` if no frame is received.
            std::vector<unsigned> waits[3];
            for (auto& wait : waits) {
                wait.resize(s.trials);
            }
            std::atomic<std::uint64_t> wrong{ 0 }, complements{ 0 };
            const auto begin = now();
            share(s.threads, s.trials, [&] {
                auto receiver = std::make_shared<link_receiver>(scheme, constellation);
                return [&, receiver](std::uint64_t trial) {
                    const counter_random random(trial);
                    // Returns the index of the soft value at which an event in a frame
                    // occurs, which is the first value of a random symbol.
                    const auto place = [&](unsigned frame, unsigned which) {
                        const auto symbols = sent.period / per_symbol;
                        return frame * sent.period +
                               (1 + random(which) % (symbols - 1)) * per_symbol;
                    };
                    soft_values values(sent.coded.size());
                    channel_of(scheme, scheme.threshold_db + 1, random(0))
                        .int8(0, sent.coded.data(), sent.coded.size(), values.data());
                    for (unsigned turns = random(1) % 4; turns > 0; --turns) {
                        rotate(values, 0, per_symbol);
                    }
                    rotate(values, place(rotation_frame, 2), per_symbol);
                    const auto slip = values.begin() + place(slip_frame, 3);
                    if (random(4) % 2) {
                        values.erase(slip, slip + per_symbol);
                    } else {
                        const soft_values repeated(slip, slip + per_symbol);
                        values.insert(slip, repeated.begin(), repeated.end());
                    }
                    values.erase(values.begin(), values.begin() + place(0, 5));
                    std::vector<bool> found(count);
                    for (auto& frame : (*receiver)(values)) {
                        const auto index = sent.index_of(frame);
                        if (index >= 0) {
                            found[index] = true;
                            continue;
                        }
                        ++wrong;
                        for (auto& byte : frame) {
                            byte = std::uint8_t(~byte);
                        }
                        complements += sent.index_of(frame) >= 0;
                    }
                    const unsigned begins[] = { 0, slip_frame, rotation_frame };
                    for (unsigned event = 0; event < 3; ++event) {
                        const auto from = found.begin() + begins[event] + 1;
                        waits[event][trial] = std::min<unsigned>(
                            count, std::find(from, found.end(), true) - from + 1);
                    }
                };
            });
            const auto row = json::object({ { "scheme", scheme.name },
                                            { "constellation", constellation },
                                            { "ebn0_db", scheme.threshold_db + 1 },
                                            { "trials", s.trials },
                                            { "beginning", summary(waits[0]) },
                                            { "slip", summary(waits[1]) },
                                            { "rotation", summary(waits[2]) },
                                            { "wrong", wrong.load() },
                                            { "wrong_complements", complements.load() },
                                            { "seconds", now() - begin } });
            std::cerr << row.to_string() << '\n';
            rows.add(row);
        }
    }
    return rows;
}

// A row of mode "noise".
struct noise_row {
    const char* name;
    const char* code;
    unsigned frame_bytes;
    unsigned interleaving;
    const char* constellation;
    double false_alarm;
    const char* lock; // name of a Viterbi decoder before the search; "" for none
};

constexpr noise_row noise_rows[] = {
    { "uncoded", "none", 1115, 1, "bpsk", 1e-6, "" },
    // The next two rows have enough false locks for a comparison with the formula: the
    // first with soft values, the second with decoded bits.
    { "short uncoded frames", "none", 223, 1, "bpsk", 1e-3, "" },
    { "short frames, convolutional", "none", 223, 1, "bpsk", 1e-3, "off" },
    { "reed_solomon", "ccsds-223", 0, 5, "bpsk", 1e-6, "" },
    { "reed_solomon, qpsk", "ccsds-223", 0, 5, "qpsk", 1e-6, "" },
    { "concatenated", "ccsds-223", 0, 5, "bpsk", 1e-6, "auto" },
    { "concatenated, no phase search", "ccsds-223", 0, 5, "bpsk", 1e-6, "off" },
    { "c2", "c2", 0, 1, "bpsk", 1e-6, "" },
    { "ar4ja-1024-1/2", "ar4ja-1024-1/2", 0, 1, "bpsk", 1e-6, "" },
};

json noise(const settings& s)
{
    auto rows = json::array();
    for (std::size_t which = 0; which < std::size(noise_rows); ++which) {
        const auto& r = noise_rows[which];
        if (!s.wanted(r.name)) {
            continue;
        }
        const bool viterbi = *r.lock;
        const link_scheme scheme{ r.name, r.code, r.interleaving, false, 0 };
        auto framing = scheme.framing(r.constellation);
        framing.frame_bytes = r.frame_bytes;
        framing.false_alarm = r.false_alarm;
        const auto code =
            std::string(r.code) == "none" ? std::nullopt : ldpc_code_of(scheme);
        // The noise is divided into streams of this length, so that results do not depend
        // on the number of threads.
        constexpr std::uint64_t of_stream = 1 << 24, piece = 1 << 16;
        const auto streams = (s.trials + of_stream - 1) / of_stream;
        std::atomic<std::uint64_t> values{ 0 }, searched{ 0 }, locks{ 0 }, frames{ 0 },
            codewords{ 0 };
        const auto begin = now();
        share(s.threads, streams, [&] {
            struct state {
                state(const ccsds_framing& f, bool soft) : finder(f, soft) {}
                ccsds_frame_finder finder;
                std::optional<stream_viterbi> decoder;
                std::optional<codeword_decoder> ldpc;
            };
            auto mine = std::make_shared<state>(framing, !viterbi);
            if (viterbi) {
                mine->decoder.emplace("bpsk", r.lock);
            }
            if (code) {
                mine->ldpc.emplace(*code);
            }
            return [&, mine](std::uint64_t stream) {
                auto& finder = mine->finder;
                finder.reset();
                if (mine->decoder) {
                    mine->decoder->reset();
                }
                // The amplitude is one thousandth of the noise's standard deviation, 30.
                const awgn_channel channel(-60, 0.5, 100 * stream + which, 0.03);
                const bytes zeros(piece);
                soft_values noise(piece), soft;
                ccsds_frame frame;
                const auto pull = [&] {
                    while (finder.pull(frame)) {
                        frames += !code && frame.good;
                        soft.insert(soft.end(), frame.soft.begin(), frame.soft.end());
                    }
                };
                const auto count =
                    std::min<std::uint64_t>(of_stream, s.trials - stream * of_stream);
                for (std::uint64_t at = 0; at < count; at += piece) {
                    noise.resize(std::min(piece, count - at));
                    channel.int8(at, zeros.data(), noise.size(), noise.data());
                    if (mine->decoder) {
                        mine->decoder->push(noise,
                                            at + piece >= count,
                                            [&](const std::uint8_t* bits, std::size_t n) {
                                                finder.push(bits, n);
                                                searched += 8 * n;
                                                pull();
                                            });
                    } else {
                        finder.push(noise.data(), noise.size());
                        searched += noise.size();
                        pull();
                    }
                }
                finder.finish();
                pull();
                if (!soft.empty()) {
                    for (const auto& decoded : (*mine->ldpc)(soft)) {
                        ++codewords;
                        frames += decoded.codeword;
                    }
                }
                values += count;
                locks += finder.counts().locks;
            };
        });
        const ccsds_frame_finder finder(framing, !viterbi);
        const double chance =
            framing::chance_of_marker(finder.marker_bits(), finder.search_errors());
        const unsigned hypotheses = framing.constellation == std::string("qpsk") ? 8 : 2;
        auto row = json::object(
            { { "name", r.name },
              { "values", values.load() },
              { "bits_searched", searched.load() },
              { "false_alarm", r.false_alarm },
              { "search_errors", finder.search_errors() },
              { "locks", locks.load() },
              { "locks_by_formula", double(searched) * hypotheses * chance * chance },
              { "false_frames", frames.load() } });
        if (code) {
            row.add("codewords_not_decoded", codewords - frames);
        }
        row.add("seconds", now() - begin);
        std::cerr << row.to_string() << '\n';
        rows.add(row);
    }
    return rows;
}

} // namespace

int main(int argc, char** argv)
try {
    settings s;
    const std::string mode = argc > 1 ? argv[1] : "";
    bool known = argc % 2 == 0;
    for (int i = 2; i + 1 < argc; i += 2) {
        const std::string name = argv[i], value = argv[i + 1];
        if (name == "--trials") {
            s.trials = std::uint64_t(std::stod(value));
        } else if (name == "--threads") {
            s.threads = unsigned(std::stoul(value));
        } else if (name == "--only") {
            s.only = value;
        } else {
            known = false;
        }
    }
    const auto run = [&](json (*measure)(const settings&), std::uint64_t trials) {
        s.trials = s.trials ? s.trials : trials;
        const auto rows = measure(s);
        std::cout << json::object({ { "benchmark", "ccsds_receiver" },
                                    { "mode", mode },
                                    { "trials", s.trials },
                                    { "threads", s.threads },
                                    { "rows", rows } })
                         .to_string()
                  << '\n';
        return 0;
    };
    if (known && mode == "rates") {
        return run(rates, 1000);
    }
    if (known && mode == "first") {
        return run(first, 100);
    }
    if (known && mode == "noise") {
        return run(noise, 10000000);
    }
    std::cerr << usage;
    return 1;
} catch (const std::exception& error) {
    std::cerr << "ccsds_receiver: " << error.what() << '\n';
    return 1;
}
