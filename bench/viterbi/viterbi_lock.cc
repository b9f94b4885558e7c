// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Measures the Viterbi decoder's phase search: its speed, reliability and cost. Prints
 * JSON.
 *
 * Usage: viterbi_lock lock TRIALS | slips SLIPS | noise VALUES | rates SECONDS
 *                     [--backend cpu|cuda] [--threads N] [--limit SECONDS]
 *                     [--every VALUES]
 *
 * lock:  time to lock of QPSK receivers for DVB-S's five rates. Reception starts at a
 *        random value of the stream, with a random rotation and exchange of I and Q.
 * slips: relocking in streams that lose or repeat a soft value about every VALUES
 *        (default 30,000).
 * noise: false locks on VALUES values of Gaussian noise; ends early after --limit
 *        SECONDS. The hypotheses are those of "lock": each is a code, the position of the
 *        first value in the puncturing period, and a rotation and exchange of I and Q.
 * rates: soft values per second while locked, with and without phase search, and during
 *        the search. Rates are per second of wall time and per second of processor time.
 *        Costs are medians over pairs of short runs.
 */

#include "channel/awgn.h"
#include "json.h"
#include "viterbi/phase_lock/phase_search.h"
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <ctime>
#include <iostream>
#include <mutex>
#include <string>
#include <thread>

using namespace gr::gpufec;
using namespace gr::gpufec::viterbi;

namespace {

struct rate {
    const char* preset;
    double ebn0_db; // Eb/N0 in dB at a decoded bit error rate of 1e-4
};

// The values of Eb/N0 were measured with gpufec ber viterbi --preset … --min-errors 2000,
// and interpolated between points 0.1 dB apart.
constexpr rate rates[] = { { "dvb_1_2", 3.44 },
                           { "dvb_2_3", 3.92 },
                           { "dvb_3_4", 4.42 },
                           { "dvb_5_6", 4.95 },
                           { "dvb_7_8", 5.36 } };

struct settings {
    gr::gpufec::backend backend = gr::gpufec::backend::cpu;
    unsigned threads = 1;
    double limit = 1e9; // maximum duration of mode "noise", in seconds
    std::uint64_t every = 30000;
};

double now()
{
    const auto t = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double>(t).count();
}

std::vector<conv_code> codes()
{
    std::vector<conv_code> all;
    for (const auto& r : rates) {
        all.push_back(conv_code::preset(r.preset));
    }
    return all;
}

viterbi_options options_of(const settings& s)
{
    viterbi_options o{ codes()[0] };
    o.backend = s.backend;
    o.lock = "auto";
    o.lock_constellation = "qpsk";
    for (const auto& r : rates) {
        o.lock_presets.push_back(r.preset);
    }
    return o;
}

// Divides `count` work items among threads, and calls work(thread, first, count) in each.
template <class Work>
void share(unsigned threads, std::uint64_t count, Work&& work)
{
    std::vector<std::thread> running;
    for (unsigned t = 0; t < threads; ++t) {
        const auto first = count * t / threads, end = count * (t + 1) / threads;
        running.emplace_back([=, &work] { work(t, first, end - first); });
    }
    for (auto& r : running) {
        r.join();
    }
}

// A generator of an endless noisy coded stream.
class transmitter
{
public:
    transmitter(const conv_code& code, double ebn0_db, std::uint64_t seed)
        : d_encoder(code, termination::streaming, 0),
          d_channel(ebn0_db, code.rate(), seed),
          d_bits(seed + 1)
    {
    }

    // Appends 840 information bits and their soft values.
    void more(std::vector<std::int8_t>& values, std::vector<std::uint8_t>& bits)
    {
        constexpr std::size_t count = 840;
        const auto first = bits.size();
        bits.resize(first + count);
        d_bits.bits(d_emitted, count, &bits[first]);
        d_emitted += count;
        d_coded.resize(d_encoder.coded_bits(count));
        d_encoder.encode(&bits[first], count, d_coded.data());
        const auto old = values.size();
        values.resize(old + d_coded.size());
        d_channel.int8(d_sent, d_coded.data(), d_coded.size(), &values[old]);
        d_sent += d_coded.size();
    }

private:
    conv_encoder_kernel d_encoder;
    awgn_channel d_channel;
    counter_random d_bits;
    std::vector<std::uint8_t> d_coded;
    std::uint64_t d_emitted = 0, d_sent = 0;
};

// Distorts sent values (rotation, exchange of I and Q) so that the receiver must find
// hypothesis \p h.
void receive(const hypothesis& h,
             const std::vector<std::int8_t>& values,
             std::vector<std::int8_t>& out)
{
    out.assign(values.size(), 0);
    for (std::size_t j = 0; j < values.size(); ++j) {
        if (std::size_t(h.from(j)) < out.size()) {
            out[h.from(j)] = h.flips(j) ? -values[j] : values[j];
        }
    }
}

json quantiles(std::vector<double> x)
{
    std::sort(x.begin(), x.end());
    const auto at = [&](double q) {
        return x.empty()
                   ? 0.0
                   : x[std::min(x.size() - 1, std::size_t(std::ceil(q * x.size())) - 1)];
    };
    return json::object({ { "median", at(0.5) },
                          { "99 %", at(0.99) },
                          { "99.9 %", at(0.999) },
                          { "most", x.empty() ? 0.0 : x.back() } });
}

json time_to_lock(const settings& s, std::uint64_t max_trials)
{
    auto rows = json::array();
    const auto all = codes();
    for (unsigned which = 0; which < all.size(); ++which) {
        for (const double over : { 0.0, 1.0, 2.0 }) {
            const auto& code = all[which];
            // The documentation quotes the times at 1 dB above the Eb/N0 of `rates`, so
            // this point has more trials.
            const auto trials = over == 1 ? max_trials : max_trials / 5;
            std::mutex mutex;
            std::vector<double> values_needed;
            std::uint64_t wrong = 0, never = 0, within = 0;
            const auto begin = now();
            share(s.threads, trials, [&](unsigned, std::uint64_t first, std::uint64_t n) {
                auto run = options_of(s);
                phase_search search(run, all, constellation::qpsk, {});
                for (auto trial = first; trial < first + n; ++trial) {
                    const counter_random random(trial * 31 + which * 7 +
                                                std::uint64_t(over * 3));
                    transmitter sender(code, rates[which].ebn0_db + over, random(0) >> 1);
                    // Chooses a random hypothesis of this code. The hypothesis determines
                    // the value of the stream at which reception starts.
                    std::vector<const hypothesis*> of_code;
                    for (const auto& h : search.hypotheses()) {
                        if (h.which() == which) {
                            of_code.push_back(&h);
                        }
                    }
                    const auto& picked = *of_code[random(1) % of_code.size()];
                    const auto cut = picked.cycle() - picked.place();
                    search.forget();
                    std::vector<std::int8_t> values, got;
                    std::vector<std::uint8_t> bits;
                    std::optional<phase_search::found> found;
                    std::uint64_t window = 0;
                    while (!found && window + search.window() <= 60000) {
                        while (values.size() < cut + window + search.window()) {
                            sender.more(values, bits);
                        }
                        receive(picked, values, got);
                        const value_span span{ got.data() + cut, 0, got.size() - cut };
                        found = search.search(span, window, 1);
                        window += search.stride();
                    }
                    const bool right =
                        found && &search.hypotheses()[found->index] == &picked;
                    std::lock_guard<std::mutex> guard(mutex);
                    never += !found;
                    wrong += found && !right;
                    if (found) {
                        const auto needed = double(found->looked_at);
                        values_needed.push_back(needed);
                        within += needed <= 20000;
                    }
                }
            });
            rows.add(json::object({ { "preset", rates[which].preset },
                                    { "ebn0_db", rates[which].ebn0_db + over },
                                    { "over_1e-4_db", over },
                                    { "trials", trials },
                                    { "wrong", wrong },
                                    { "never", never },
                                    { "within_20000", double(within) / trials },
                                    { "values", quantiles(values_needed) },
                                    { "seconds", now() - begin } }));
            std::cerr << rates[which].preset << " +" << over << " dB: " << wrong
                      << " wrong locks, " << never << " trials without a lock, " << within
                      << " locks within 20,000 values\n";
        }
    }
    return rows;
}

json slips(const settings& s, std::uint64_t count)
{
    const auto between = s.every;
    constexpr std::uint64_t of_stream = 100, near = 3000;
    auto rows = json::array();
    const auto all = codes();
    for (unsigned which = 0; which < all.size(); ++which) {
        const auto& code = all[which];
        std::mutex mutex;
        std::vector<double> needed, lost;
        std::uint64_t missed = 0;
        share(s.threads,
              (count + of_stream - 1) / of_stream,
              [&](unsigned, std::uint64_t first, std::uint64_t n) {
                  auto o = options_of(s);
                  o.batch = 64;
                  const auto decoder = viterbi_decoder::make(o);
                  for (auto stream = first; stream < first + n; ++stream) {
                      const counter_random random(stream * 5 + which);
                      transmitter sender(code, rates[which].ebn0_db + 1, random(0) >> 1);
                      std::vector<std::int8_t> sent, values;
                      std::vector<std::uint8_t> bits;
                      while (sent.size() < (of_stream + 1) * between) {
                          sender.more(sent, bits);
                      }
                      // `source` has the index of the sent value for each received value.
                      // `where` has the indices of the received values at which a slip
                      // occurs.
                      std::vector<std::uint64_t> source;
                      std::vector<std::uint64_t> where;
                      std::uint64_t from = 0;
                      for (std::uint64_t i = 0; i < of_stream; ++i) {
                          const auto end =
                              (i + 1) * between + random(2 * i + 2) % (between / 3);
                          for (; from < end; ++from) {
                              source.push_back(from);
                          }
                          where.push_back(source.size());
                          from += random(2 * i + 3) % 2 ? 1 : -1;
                      }
                      for (; from < sent.size(); ++from) {
                          source.push_back(from);
                      }
                      for (const auto f : source) {
                          values.push_back(sent[f]);
                      }

                      decoder->reset();
                      std::vector<std::uint8_t> got, out(1 << 16);
                      std::vector<viterbi_lock> locks;
                      std::size_t pushed = 0;
                      for (bool finished = false; !decoder->done();) {
                          pushed += decoder->push(span(values).from(pushed));
                          if (pushed == values.size() && !finished) {
                              decoder->finish();
                              finished = true;
                          }
                          const auto k = decoder->pull(unpacked_bits(out));
                          got.insert(got.end(), out.begin(), out.begin() + k);
                          if (k == 0 && !decoder->done()) {
                              decoder->wait(std::chrono::milliseconds(10));
                          }
                          for (viterbi_lock l; decoder->take_lock(l);) {
                              locks.push_back(l);
                          }
                      }

                      std::vector<std::uint8_t> right(bits.size() + near);
                      for (std::size_t i = 0; i < locks.size(); ++i) {
                          if (!locks[i].locked) {
                              continue;
                          }
                          const auto end =
                              i + 1 < locks.size() ? locks[i + 1].first_bit : got.size();
                          // Finds the information bits that were decoded during this
                          // lock. The index of their first puncturing period differs from
                          // value / period by at most 2.
                          const auto period = code.values_per_period();
                          const auto value = source[locks[i].first_value];
                          const std::int64_t all_bits = end - locks[i].first_bit;
                          std::int64_t bit = 0;
                          const auto agrees = [&](std::int64_t k) {
                              const auto at = bit + k;
                              return at >= 0 && at < std::int64_t(bits.size()) &&
                                     got[locks[i].first_bit + k] == bits[at];
                          };
                          std::int64_t best = -1, where_best = 0;
                          bool inverted = false;
                          for (std::int64_t near_by = -2; near_by <= 2; ++near_by) {
                              bit =
                                  std::int64_t(value / period + near_by) * code.period();
                              std::int64_t same = 0;
                              for (std::int64_t k = 0; k < all_bits; ++k) {
                                  same += agrees(k);
                              }
                              if (std::abs(2 * same - all_bits) > best) {
                                  best = std::abs(2 * same - all_bits);
                                  where_best = bit;
                                  inverted = 2 * same < all_bits;
                              }
                          }
                          bit = where_best;
                          for (std::int64_t k = std::max<std::int64_t>(0, -bit);
                               k < all_bits && bit + k < std::int64_t(bits.size());
                               ++k) {
                              right[bit + k] |= agrees(k) != inverted;
                          }
                      }
                      std::lock_guard<std::mutex> guard(mutex);
                      for (const auto at : where) {
                          const auto lock =
                              std::find_if(locks.begin(), locks.end(), [&](auto& l) {
                                  return l.locked && l.known_value >= at &&
                                         l.first_value + 1000 > at;
                              });
                          if (lock == locks.end() || lock->known_value > at + 25000) {
                              ++missed;
                              continue;
                          }
                          needed.push_back(double(lock->known_value - at));
                          const auto bit = code.stage_of(source[at]);
                          lost.push_back(double(std::count(right.begin() + bit - near,
                                                           right.begin() + bit + near,
                                                           std::uint8_t(0))));
                      }
                  }
              });
        const auto within = std::count_if(
            needed.begin(), needed.end(), [](double v) { return v <= 20000; });
        rows.add(json::object(
            { { "preset", rates[which].preset },
              { "ebn0_db", rates[which].ebn0_db + 1 },
              { "slips", needed.size() + missed },
              { "not_found", missed },
              { "within_20000", double(within) / double(needed.size() + missed) },
              { "values_to_lock", quantiles(needed) },
              { "bits_lost", quantiles(lost) } }));
    }
    return rows;
}

json noise(const settings& s, std::uint64_t values)
{
    std::array<double, 256> p{};
    for (int v = -127; v <= 127; ++v) {
        const auto above = [](double x) {
            return 0.5 * std::erfc(x / 32 / std::sqrt(2.0));
        };
        p[std::uint8_t(v)] =
            (v == -127 ? 1 : above(v - 0.5)) - (v == 127 ? 0 : above(v + 0.5));
    }
    const discrete_distribution gaussian(p);
    std::atomic<std::uint64_t> found{ 0 }, windows{ 0 }, searched{ 0 };
    std::size_t hypotheses = 0;
    const auto begin = now();
    share(s.threads, values, [&](unsigned t, std::uint64_t, std::uint64_t n) {
        auto run = options_of(s);
        phase_search search(run, codes(), constellation::qpsk, {});
        if (t == 0) {
            hypotheses = search.hypotheses().size();
        }
        const counter_random random(1000 + t);
        const auto at_once = search.windows_at_once();
        std::vector<std::int8_t> some(at_once * search.stride());
        std::uint64_t drawn = 0;
        for (std::uint64_t first = 0; first < n; first += some.size()) {
            for (auto& v : some) {
                v = std::int8_t(gaussian(random(drawn++)));
            }
            const value_span span{ some.data(), first, first + some.size() };
            found += bool(search.search(span, first, at_once));
            windows += at_once;
            searched += some.size();
            if (now() - begin > s.limit) {
                break;
            }
        }
    });
    return json::object({ { "values", searched.load() },
                          { "hypotheses", hypotheses },
                          { "windows", windows.load() },
                          { "false_locks", found.load() },
                          { "seconds", now() - begin } });
}

double processor_time()
{
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

// Rates in soft values per second of wall time, and of processor time.
struct pace {
    double by_clock = 0, by_processor = 0;
};

double median(std::vector<double> values)
{
    const auto middle = values.begin() + values.size() / 2;
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

pace pace_of(viterbi_decoder& decoder,
             const std::vector<std::int8_t>& values,
             double seconds)
{
    std::vector<std::uint8_t> out(1 << 20);
    std::uint64_t pushed = 0;
    std::size_t at = 0;
    const auto begin = now(), used = processor_time();
    auto last = begin;
    // Pushes values for \p seconds seconds, then waits for the batches in flight, which
    // would slow down the next run.
    for (bool idle = false; !idle;) {
        std::size_t n = 0;
        if (last - begin < seconds) {
            n = decoder.push({ values.data() + at,
                               std::min<std::size_t>(1 << 18, values.size() - at) });
            pushed += n;
            at = (at + n) % values.size();
        }
        const auto got = decoder.pull(packed_bits(out));
        if (n > 0 || got > 0) {
            last = now();
        } else {
            idle = !decoder.wait(std::chrono::milliseconds(10));
        }
    }
    return { double(pushed) / (last - begin),
             double(pushed) / (processor_time() - used) };
}

json paces(const settings& s, double seconds)
{
    auto rows = json::array();
    for (const auto& r : rates) {
        transmitter sender(conv_code::preset(r.preset), r.ebn0_db + 1, 1);
        std::vector<std::int8_t> values;
        std::vector<std::uint8_t> bits;
        const auto n = conv_code::preset(r.preset).values_per_period() * 840;
        while (values.size() < 20000000 || values.size() % n != 0) {
            sender.more(values, bits);
        }
        // The number of values is a multiple of the puncturing period, so the decoder
        // stays locked when the values repeat.
        auto o = options_of(s);
        o.code = conv_code::preset(r.preset);
        auto plain = o;
        plain.lock = "off";
        // The runs of a pair are short and follow each other directly, so that other
        // programs affect both equally.
        constexpr int turns = 21;
        const auto without = viterbi_decoder::make(plain);
        const auto with = viterbi_decoder::make(o);
        for (const auto& decoder : { without, with }) {
            pace_of(*decoder, values, seconds / 10);
        }
        std::vector<double> plain_rate, locked_rate, cost, cost_in_processor_time;
        for (int turn = 0; turn < turns; ++turn) {
            pace pair[2];
            for (const bool locked : { turn % 2 == 0, turn % 2 != 0 }) {
                pair[locked] =
                    pace_of(locked ? *with : *without, values, seconds / turns);
            }
            plain_rate.push_back(pair[0].by_clock);
            locked_rate.push_back(pair[1].by_clock);
            cost.push_back(1 - pair[1].by_clock / pair[0].by_clock);
            cost_in_processor_time.push_back(1 -
                                             pair[1].by_processor / pair[0].by_processor);
        }
        rows.add(json::object(
            { { "preset", r.preset },
              { "values_per_s", median(plain_rate) },
              { "values_per_s_locked", median(locked_rate) },
              { "turns", turns },
              { "cost", median(cost) },
              { "cost_in_processor_time", median(cost_in_processor_time) } }));
    }
    std::vector<std::int8_t> noise;
    const counter_random random(1);
    for (std::uint64_t i = 0; i < 20000000; ++i) {
        noise.push_back(std::int8_t((random(i) & 63) + (random(i) >> 6 & 63) - 63));
    }
    auto all = options_of(s);
    auto one = all;
    one.lock_presets = {};
    one.lock_constellation = "bpsk";
    const auto all_decoder = viterbi_decoder::make(all);
    const auto one_decoder = viterbi_decoder::make(one);
    const auto of_all = pace_of(*all_decoder, noise, seconds);
    const auto of_one = pace_of(*one_decoder, noise, seconds);
    return json::object(
        { { "locked", rows },
          { "searching_qpsk_five_rates",
            json::object({ { "values_per_s", of_all.by_clock },
                           { "values_per_s_of_a_processor", of_all.by_processor } }) },
          { "searching_bpsk_one_rate",
            json::object({ { "values_per_s", of_one.by_clock },
                           { "values_per_s_of_a_processor", of_one.by_processor } }) } });
}

} // namespace

int main(int count, char** arguments)
{
    settings s;
    std::string what = count > 1 ? arguments[1] : "";
    const double amount = count > 2 ? std::stod(arguments[2]) : 0;
    for (int i = 3; i + 1 < count; i += 2) {
        if (!std::strcmp(arguments[i], "--backend")) {
            s.backend =
                std::strcmp(arguments[i + 1], "cuda") ? backend::cpu : backend::cuda;
        } else if (!std::strcmp(arguments[i], "--limit")) {
            s.limit = std::stod(arguments[i + 1]);
        } else if (!std::strcmp(arguments[i], "--every")) {
            s.every = std::stoull(arguments[i + 1]);
        } else if (!std::strcmp(arguments[i], "--threads")) {
            s.threads = unsigned(std::stoul(arguments[i + 1]));
        }
    }
    auto result =
        json::object({ { "what", what },
                       { "backend", s.backend == backend::cuda ? "cuda" : "cpu" },
                       { "threads", s.threads } });
    if (what == "lock") {
        result.add("rows", time_to_lock(s, std::uint64_t(amount)));
    } else if (what == "slips") {
        result.add("rows", slips(s, std::uint64_t(amount)));
    } else if (what == "noise") {
        result.merge(noise(s, std::uint64_t(amount)));
    } else if (what == "rates") {
        result.merge(paces(s, amount));
    } else {
        std::cerr
            << "usage: viterbi_lock lock TRIALS | slips SLIPS | noise VALUES | rates "
               "SECONDS [--backend cpu|cuda] [--threads N] [--limit SECONDS] "
               "[--every VALUES]\n";
        return 1;
    }
    std::cout << result.to_string() << "\n";
}
