// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Measures the LDPC kernels of the CUDA backend: speed, and frame error rates with QPSK
 * and white Gaussian noise, which the device generates. Compares the sum-product kernel
 * of ldpc_sum_product.cuh with the reference. Prints one JSON object per line. */

#include "ldpc/cuda/kernels.h"
#include "ldpc/model/reference.h"
#include "ldpc_sum_product.cuh"
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <map>
#include <random>
#include <string>

using namespace gr::gpufec;
using namespace gr::gpufec::ldpc;
using namespace gr::gpufec::ldpc::device;

namespace {

constexpr unsigned words = 64; // number of different codewords that are sent

__device__ std::uint64_t mix(std::uint64_t x) // one step of SplitMix64
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

// Writes two channel values per thread. A sent bit becomes a value with Gaussian noise
// (Box-Muller transform), scaled and limited as in message_rule.h and, for integers,
// rounded. A punctured bit becomes 0, and a shortened bit the limit.
template <class T>
__global__ void transmit(std::uint8_t* input,
                         const ldpc::frame_place* table,
                         const std::uint8_t* codewords,
                         const std::int8_t* kinds, // 0: sent, −1: punctured, 1: shortened
                         unsigned n,
                         std::uint64_t seed,
                         float amplitude,
                         float sigma,
                         float to_quantised,
                         float limit,
                         bool rounded)
{
    const unsigned f = blockIdx.y, i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n) {
        return;
    }
    const auto random = mix(mix(seed + f) + i);
    const float u = (float(random >> 40) + 0.5f) * 0x1p-24f;
    const float v = float(random & 0xffffffu) * 0x1p-23f;
    const float radius = sigma * sqrtf(-2 * logf(u));
    float noise[2];
    sincospif(v, &noise[0], &noise[1]);
    auto* const to = reinterpret_cast<T*>(input + table[f].input);
    for (unsigned k = 0; k < 2 && i + k < n; ++k) {
        if (kinds[i + k]) {
            to[i + k] = T(kinds[i + k] > 0 ? limit : 0);
            continue;
        }
        const bool bit = codewords[std::size_t(f % words) * n + i + k];
        float x = ((bit ? -amplitude : amplitude) + radius * noise[k]) * to_quantised;
        x = fminf(fmaxf(x, -limit), limit);
        to[i + k] = T(rounded ? rintf(x) : x);
    }
}

// Counts wrong frames, wrong bits, and frames with more than \p t wrong bits, which a
// t-error-correcting outer code cannot correct.
__global__ void
compare(const std::uint8_t* output,
        const ldpc::frame_place* table,
        const std::uint8_t* sent,
        const std::uint8_t* counts, // mask with a 1 for each bit to compare
        unsigned bytes,
        unsigned stride, // bytes per codeword in sent
        unsigned t,
        unsigned long long* errors)
{
    const unsigned f = blockIdx.x;
    unsigned count = 0;
    for (unsigned b = threadIdx.x; b < bytes; b += blockDim.x) {
        count += __popc((output[table[f].output + b] ^ sent[(f % words) * stride + b]) &
                        counts[b]);
    }
    __shared__ unsigned total;
    if (threadIdx.x == 0) {
        total = 0;
    }
    __syncthreads();
    atomicAdd(&total, count);
    __syncthreads();
    if (threadIdx.x == 0 && total) {
        atomicAdd(errors, 1ull);
        atomicAdd(errors + 1, static_cast<unsigned long long>(total));
        atomicAdd(errors + 2, total > t ? 1ull : 0ull);
    }
}

// Returns the number of errors that DVB-S2's outer BCH code corrects (EN 302 307-1,
// tables 5a and 5b).
unsigned bch_corrects(const ldpc_code& code)
{
    const auto k = code.k();
    return k == 43200 || k == 54000 ? 10 : k == 57600 || k == 58320 ? 8 : 12;
}

struct options {
    ldpc_precision precision = ldpc_precision::int8;
    std::string precision_name = "int8";
    // A name in plan_makers; "-" or "flooding" means the plan that the library chooses
    // for the layered or the flooding schedule.
    std::string plan = "-";
    bool sum_product = false;
    double offset = -1; // in nats; −1: default of the code
    float scale = 0, limit = 0;
    ldpc_algorithm algorithm = ldpc_algorithm::offset_min_sum;
    ldpc_schedule schedule = ldpc_schedule::layered;
    ldpc_soft_output soft = ldpc_soft_output::none;
};

using plan_maker = std::unique_ptr<launch_plan> (*)(const ldpc_code&,
                                                    const message_rule&,
                                                    bool soft,
                                                    int device);
struct declined : std::runtime_error {
    using std::runtime_error::runtime_error;
};
const std::map<std::string, plan_maker> plan_makers{
    { "dvb_int8x2", make_dvb_int8x2_plan },
    { "two_checks_per_word", make_two_checks_per_word_plan },
    { "dvb_float", make_dvb_float_plan },
    { "quasi_cyclic", make_quasi_cyclic_plan },
    { "unstructured_int8x2", make_unstructured_int8x2_plan },
    { "layered", make_layered_plan },
};

// A batch of noisy codewords of one code on the device.
class trial
{
public:
    trial(const ldpc_code& code, const options& o, std::size_t frames)
        : d_code(code),
          d_options(o),
          d_frames(frames),
          d_rule(rule_of(code, o)),
          d_plan(make_plan()),
          d_value_bytes(o.precision == ldpc_precision::int8    ? 1
                        : o.precision == ldpc_precision::int16 ? 2
                                                               : 4),
          d_input(frames * stride()),
          d_output(frames * output_stride()),
          d_status(frames),
          d_table(frames),
          d_codewords(words * code.n()),
          d_sent(words * bytes()),
          d_counts(bytes()),
          d_kinds(code.n()),
          d_errors(3),
          d_scratch(d_plan->scratch_bytes(frames))
    {
        std::mt19937 random(1);
        std::vector<std::uint8_t> codewords(words * code.n()), sent(words * bytes(), 0),
            counts(bytes(), 0);
        const ldpc_encoder_kernel encoder(code);
        for (unsigned w = 0; w < words; ++w) {
            std::vector<std::uint8_t> message(code.k());
            for (auto& bit : message) {
                bit = random() >> 31;
            }
            auto* const word = &codewords[std::size_t(w) * code.n()];
            encoder.encode(message.data(), word);
            for (unsigned i = 0; i < code.n(); ++i) {
                sent[w * bytes() + i / 8] |= word[i] << (7 - i % 8);
            }
        }
        for (const auto position : code.message_positions()) {
            counts[position / 8] |= 1u << (7 - position % 8);
        }
        std::vector<std::int8_t> kinds(code.n(), 0);
        for (const auto position : code.punctured()) {
            kinds[position] = -1;
        }
        for (const auto position : code.shortened()) {
            kinds[position] = 1;
        }
        std::vector<ldpc::frame_place> table;
        for (std::uint32_t f = 0; f < frames; ++f) {
            table.push_back({ std::uint32_t(f * stride()),
                              std::uint32_t(f * output_stride()),
                              f,
                              2 / d_rule.scale });
        }
        put(d_codewords, codewords);
        put(d_sent, sent);
        put(d_counts, counts);
        put(d_kinds, kinds);
        put(d_table, table);
    }

    void receive(double es_n0_db, std::uint64_t seed)
    {
        switch (d_value_bytes) {
        case 1:
            return receive_as<std::int8_t>(es_n0_db, seed);
        case 2:
            return receive_as<std::int16_t>(es_n0_db, seed);
        default:
            return receive_as<float>(es_n0_db, seed);
        }
    }

    void decode(unsigned iterations, bool early_stop)
    {
        d_plan->launch({ d_table.get(),
                         std::uint32_t(d_frames),
                         d_input.get(),
                         d_output.get(),
                         d_status.get() },
                       { iterations,
                         early_stop,
                         out_bits(),
                         d_options.soft,
                         std::uint32_t(decision_bytes()) },
                       d_scratch.get(),
                       nullptr);
    }

    struct error_counts {
        unsigned long long frames = 0, bits = 0, beyond_bch = 0;
    };
    // Counts errors in the batch that was decoded last.
    error_counts errors()
    {
        cudaMemset(d_errors.get(), 0, d_errors.bytes());
        compare<<<d_frames, 128>>>(d_output.get(),
                                   d_table.get(),
                                   d_sent.get(),
                                   d_counts.get(),
                                   out_bits() / 8,
                                   bytes(),
                                   bch_corrects(d_code),
                                   d_errors.get());
        error_counts e;
        cuda::check(cudaMemcpy(&e, d_errors.get(), sizeof(e), cudaMemcpyDeviceToHost),
                    "copy");
        return e;
    }

    // channel() returns the float channel values of frame f, and decided() the packed
    // decisions of frame f.
    std::vector<double> channel(std::size_t f) const
    {
        std::vector<float> x(d_code.n());
        cuda::check(cudaMemcpy(x.data(),
                               d_input.get() + f * stride(),
                               x.size() * sizeof(float),
                               cudaMemcpyDeviceToHost),
                    "copy");
        return { x.begin(), x.end() };
    }
    std::vector<std::uint8_t> decided(std::size_t f) const
    {
        std::vector<std::uint8_t> bytes(out_bits() / 8);
        cuda::check(cudaMemcpy(bytes.data(),
                               d_output.get() + f * output_stride(),
                               bytes.size(),
                               cudaMemcpyDeviceToHost),
                    "copy");
        return bytes;
    }
    std::vector<ldpc_status> status() const
    {
        std::vector<ldpc_status> s(d_frames);
        cuda::check(
            cudaMemcpy(
                s.data(), d_status.get(), d_status.bytes(), cudaMemcpyDeviceToHost),
            "copy");
        return s;
    }

    double mean_iterations() const
    {
        double sum = 0;
        for (const auto& x : status()) {
            sum += x.iterations;
        }
        return sum / d_frames;
    }

    std::size_t frames() const { return d_frames; }

private:
    static message_rule rule_of(const ldpc_code& code, const options& o)
    {
        auto rule = make_message_rule(code, o.algorithm, o.precision, o.offset, -1);
        if (o.sum_product) { // The sum-product kernel expects LLRs in nats.
            rule.channel_limit /= rule.scale;
            rule.scale = 1;
        }
        if (o.scale > 0 && o.precision == ldpc_precision::int8) {
            rule.scale = o.scale;
            rule.message_limit = o.limit;
            rule.channel_limit = 127 - o.limit;
            rule.offset = float(std::rint(o.offset * o.scale));
        }
        return rule;
    }
    // Returns the number of bits that are compared, a multiple of 8: k if the codeword
    // begins with the message and k is a multiple of 8, otherwise n, rounded down.
    unsigned out_bits() const
    {
        return d_code.systematic_prefix() && d_code.k() % 8 == 0 ? d_code.k()
                                                                 : d_code.n() / 8 * 8;
    }
    std::size_t bytes() const { return (d_code.n() + 7) / 8; }
    std::size_t decision_bytes() const { return (d_code.n() + 127) / 128 * 16; }
    std::size_t output_stride() const
    {
        return decision_bytes() + (d_options.soft == ldpc_soft_output::none
                                       ? 0
                                       : std::size_t(d_code.n() + 15) / 16 * 16);
    }
    std::size_t stride() const { return (d_code.n() * d_value_bytes + 15) / 16 * 16; }

    std::unique_ptr<launch_plan> make_plan() const
    {
        if (d_options.sum_product) {
            return std::make_unique<sum_product_kernel::kernel>(d_code);
        }
        const bool soft = d_options.soft != ldpc_soft_output::none;
        if (d_options.plan != "-" && d_options.plan != "flooding") {
            auto plan = plan_makers.at(d_options.plan)(d_code, d_rule, soft, 0);
            if (!plan) {
                throw declined("the plan " + d_options.plan + " does not support " +
                               d_code.name());
            }
            return plan;
        }
        return make_launch_plan(d_code, d_rule, soft, d_options.schedule, 0);
    }

    template <class T>
    void receive_as(double es_n0_db, std::uint64_t seed)
    {
        const double variance = std::pow(10, -es_n0_db / 10) / 2;
        const double amplitude = std::sqrt(0.5);
        const dim3 grid(((d_code.n() + 1) / 2 + 255) / 256, d_frames);
        transmit<T><<<grid, 256>>>(d_input.get(),
                                   d_table.get(),
                                   d_codewords.get(),
                                   d_kinds.get(),
                                   d_code.n(),
                                   seed * 1000003,
                                   float(amplitude),
                                   float(std::sqrt(variance)),
                                   float(2 * amplitude / variance * d_rule.scale),
                                   d_rule.channel_limit,
                                   d_rule.precision != ldpc_precision::float32);
        cuda::check(cudaGetLastError(), "transmit");
    }

    template <class T>
    static void put(const cuda::buffer<T>& to, const std::vector<T>& from)
    {
        cuda::check(cudaMemcpy(to.get(), from.data(), to.bytes(), cudaMemcpyHostToDevice),
                    "copy");
    }

    const ldpc_code d_code;
    const options d_options;
    const std::size_t d_frames;
    const message_rule d_rule;
    const std::unique_ptr<launch_plan> d_plan;
    const std::size_t d_value_bytes;
    const cuda::buffer<std::uint8_t> d_input, d_output;
    const cuda::buffer<ldpc_status> d_status;
    const cuda::buffer<ldpc::frame_place> d_table;
    const cuda::buffer<std::uint8_t> d_codewords, d_sent, d_counts;
    const cuda::buffer<std::int8_t> d_kinds;
    const cuda::buffer<unsigned long long> d_errors;
    const cuda::buffer<std::uint8_t> d_scratch;
};

// Prints the speed of decoding with early stop, or with a fixed number of iterations.
void speed(const ldpc_code& code,
           const options& o,
           double es_n0_db,
           unsigned iterations,
           bool early_stop,
           std::size_t frames)
{
    trial t(code, o, frames);
    t.receive(es_n0_db, 1);
    cuda::event begin(cudaEventDefault), end(cudaEventDefault);
    float best = 1e9f;
    for (unsigned i = 0; i < 6; ++i) {
        cudaEventRecord(begin.get());
        t.decode(iterations, early_stop);
        cudaEventRecord(end.get());
        cuda::check(cudaEventSynchronize(end.get()), "decoding");
        float ms;
        cudaEventElapsedTime(&ms, begin.get(), end.get());
        best = i ? std::min(best, ms) : best; // The first run is not measured.
    }
    const double mean = t.mean_iterations();
    const double edges = double(frames) * mean * code.edges();
    std::printf(
        "{\"speed\": \"%s\", \"precision\": \"%s\", \"schedule\": \"%s\", "
        "\"plan\": \"%s\", \"llrs\": %d, "
        "\"es_n0_db\": %.2f, "
        "\"early_stop\": %d, "
        "\"frames\": %zu, \"frame_errors\": %llu, \"iterations\": %u, "
        "\"mean_iterations\": %.2f, \"ms\": %.4f, \"T_edge_iterations_per_s\": %.4f, "
        "\"information_Gb_per_s\": %.3f}\n",
        code.name().c_str(),
        o.precision_name.c_str(),
        o.schedule == ldpc_schedule::flooding ? "flooding" : "layered",
        o.plan.c_str(),
        o.soft != ldpc_soft_output::none,
        es_n0_db,
        early_stop,
        frames,
        t.errors().frames,
        iterations,
        mean,
        best,
        edges / best / 1e9,
        double(frames) * code.k() / best / 1e6);
    std::fflush(stdout);
}

double error_rate(const ldpc_code& code,
                  const options& o,
                  double es_n0_db,
                  unsigned iterations,
                  unsigned min_errors,
                  std::size_t most)
{
    trial t(code, o, code.n() > 20000 ? 1056 : 4224);
    unsigned long long frames = 0, wrong = 0, bits = 0, beyond_bch = 0;
    double mean = 0;
    unsigned rounds = 0;
    while (frames < most && wrong < min_errors) {
        t.receive(es_n0_db, 77 + rounds);
        t.decode(iterations, true);
        const auto e = t.errors();
        frames += t.frames();
        wrong += e.frames;
        bits += e.bits;
        beyond_bch += e.beyond_bch;
        mean += t.mean_iterations();
        ++rounds;
    }
    std::printf("{\"fer\": \"%s\", \"precision\": \"%s\", \"es_n0_db\": %.3f, "
                "\"iterations\": %u, \"frames\": %llu, \"frame_errors\": %llu, "
                "\"frame_error_rate\": %.3e, \"bit_error_rate\": %.3e, "
                "\"beyond_bch\": %llu, \"mean_iterations\": %.2f}\n",
                code.name().c_str(),
                o.precision_name.c_str(),
                es_n0_db,
                iterations,
                frames,
                wrong,
                double(wrong) / frames,
                double(bits) / frames / code.k(),
                beyond_bch,
                mean / rounds);
    std::fflush(stdout);
    return double(wrong) / frames;
}

// Prints error rates at rising Es/N0 from \p es_n0_db on, in steps of \p by dB, until the
// frame error rate is below 1e-3 or Es/N0 has risen by 16 · \p by + 2 dB.
void threshold(const ldpc_code& code,
               const options& o,
               double es_n0_db,
               unsigned iterations,
               std::size_t most,
               double by)
{
    for (double above = 0; above < 16 * by + 2; above += by) {
        if (error_rate(code, o, es_n0_db + above, iterations, 50, most) < 1e-3) {
            break;
        }
    }
}

// Prints error rates for many offsets, scales and limits, at the first Es/N0 where fewer
// than 3 % of the frames are wrong, in up to 20 steps of 0.1 dB from \p es_n0_db.
void tune(const ldpc_code& code,
          options o,
          double es_n0_db,
          unsigned iterations,
          std::size_t frames)
{
    for (unsigned step = 0; step < 20; ++step, es_n0_db += 0.1) {
        if (error_rate(code, o, es_n0_db, iterations, 100, frames) < 0.03) {
            break;
        }
    }
    for (const float scale : { 2.0f, 3.0f, 4.0f }) {
        for (const double offset : { 1.0 / 6, 0.25, 1.0 / 3, 0.5, 2.0 / 3, 0.75, 1.0 }) {
            if (std::abs(offset * scale - std::rint(offset * scale)) > 0.01) {
                continue;
            }
            for (const float limit : { 31.0f, 63.0f }) {
                o.offset = offset;
                o.scale = scale;
                o.limit = limit;
                std::printf("{\"offset\": %.3f, \"scale\": %.0f, \"limit\": %.0f, "
                            "\"of\": ",
                            offset,
                            scale,
                            limit);
                error_rate(code, o, es_n0_db, iterations, 1u << 30, frames);
                std::printf("}\n");
            }
        }
    }
}

// Compares the sum-product kernel with the reference: prints the number of frames with
// equal decisions, with equal numbers of iterations, and with a codeword as the result of
// each of the two decoders.
void check(const ldpc_code& code,
           double es_n0_db,
           unsigned iterations,
           std::size_t frames)
{
    options o;
    o.precision_name = "float";
    o.precision = ldpc_precision::float32;
    o.sum_product = true;
    trial t(code, o, frames);
    t.receive(es_n0_db, 1);
    t.decode(iterations, true);
    const auto status = t.status();
    std::atomic<unsigned> same{ 0 }, valid{ 0 }, valid_here{ 0 }, alike{ 0 };
    std::vector<std::future<void>> threads;
    for (unsigned k = 0; k < 16; ++k) {
        threads.push_back(std::async(std::launch::async, [&, k] {
            for (std::size_t f = k; f < frames; f += 16) {
                const auto r = reference::sum_product(
                    code, ldpc_schedule::layered, t.channel(f), iterations, true);
                const auto decided = t.decided(f);
                std::vector<std::uint8_t> bytes(decided.size());
                for (unsigned i = 0; i < 8 * bytes.size(); ++i) {
                    bytes[i / 8] |= r.bits[i] << (7 - i % 8);
                }
                same += bytes == decided;
                alike += status[f].iterations == r.iterations;
                valid += r.unsatisfied == 0;
                valid_here += status[f].unsatisfied == 0;
            }
        }));
    }
    for (auto& thread : threads) {
        thread.get();
    }
    std::printf("{\"check\": \"%s\", \"es_n0_db\": %.3f, \"iterations\": %u, "
                "\"frames\": %zu, \"same_decisions\": %u, \"same_iterations\": %u, "
                "\"valid_in_reference\": %u, \"valid\": %u}\n",
                code.name().c_str(),
                es_n0_db,
                iterations,
                frames,
                same.load(),
                alike.load(),
                valid.load(),
                valid_here.load());
    std::fflush(stdout);
}

// QPSK's threshold by rate, as Es/N0 in dB (EN 302 307-1, table 13, normal frames).
const std::map<std::string, double> standard{
    { "1/4", -2.35 }, { "1/3", -1.24 }, { "2/5", -0.30 }, { "1/2", 1.00 },
    { "3/5", 2.23 },  { "2/3", 3.10 },  { "3/4", 4.03 },  { "4/5", 4.68 },
    { "5/6", 5.18 },  { "8/9", 6.20 },  { "9/10", 6.42 },
};

} // namespace

/* The modes:
 * speed      the time of FRAMES frames at Es/N0 = 8 dB, with a fixed number of iterations
 * early      the time of FRAMES frames with early stop, at the standard's Es/N0 +
 *            MARGIN_DB
 * fer        error rates at the standard's Es/N0 + MARGIN_DB, until 20 frames are wrong
 *            or FRAMES frames are decoded
 * threshold  error rates at rising Es/N0, until the frame error rate is below 1e-3
 * tune       error rates for many offsets, scales and limits of offset min-sum
 * check      the sum-product kernel (float) compared with the reference (double) */
int main(int argc, char** argv)
try {
    if (argc < 7) {
        std::fprintf(stderr,
                     "usage: %s speed|early|fer|threshold|tune|check "
                     "int8|int16|float|sum-product [STANDARD/]SIZE|file/ALIST RATE|all|- "
                     "ITERATIONS FRAMES "
                     "[MARGIN_DB|-] [PLAN|flooding|-] [llr|extrinsic]\n"
                     "The margin is in dB above the Es/N0 of EN 302 307-1 or, for other "
                     "standards, "
                     "above the Es/N0 at which the capacity of the Gaussian channel is "
                     "QPSK's rate.\n"
                     "PLAN: dvb_int8x2, two_checks_per_word, dvb_float, quasi_cyclic, "
                     "unstructured_int8x2, layered\n",
                     argv[0]);
        return 1;
    }
    const std::string what = argv[1], name = argv[3], wanted = argv[4];
    const auto slash = name.find('/');
    const auto of = slash == name.npos ? "dvbs2" : name.substr(0, slash);
    const auto size = slash == name.npos ? name : name.substr(slash + 1);
    options o;
    o.precision_name = argv[2];
    o.precision = o.precision_name == "int8"    ? ldpc_precision::int8
                  : o.precision_name == "int16" ? ldpc_precision::int16
                                                : ldpc_precision::float32;
    o.sum_product = o.precision_name == "sum-product";
    if (argc > 8) {
        o.plan = argv[8];
        if (o.plan != "-" && o.plan != "flooding" && !plan_makers.count(o.plan)) {
            throw std::invalid_argument("unknown PLAN " + o.plan);
        }
        o.schedule =
            o.plan == "flooding" ? ldpc_schedule::flooding : ldpc_schedule::layered;
    }
    if (argc > 9) {
        o.soft = std::string(argv[9]) == "llr" ? ldpc_soft_output::posterior
                                               : ldpc_soft_output::extrinsic;
    }
    const bool file = of == "file";
    for (const auto& rate :
         file ? std::vector<std::string>{ wanted } : ldpc_code::rates(of, size)) {
        if (wanted != "all" && wanted != rate) {
            continue;
        }
        const auto code =
            file ? ldpc_code::from_alist_file(size) : ldpc_code::standard(of, size, rate);
        const unsigned iterations = std::atoi(argv[5]);
        const std::size_t frames = std::atol(argv[6]);
        const double capacity =
            10 * std::log10(std::pow(2, 2.0 * code.k() / code.sent()) - 1);
        const double es_n0_db = (of == "dvbs2" ? standard.at(rate) : capacity) +
                                (argc > 7 ? std::atof(argv[7]) : 0);
        try {
            if (what == "speed") {
                speed(code, o, 8, iterations, false, frames);
            } else if (what == "early") {
                speed(code, o, es_n0_db, iterations, true, frames);
            } else if (what == "check") {
                check(code, es_n0_db, iterations, frames);
            } else if (what == "tune") {
                tune(code, o, es_n0_db, iterations, frames);
            } else if (what == "threshold") {
                threshold(
                    code, o, es_n0_db, iterations, frames, of == "dvbs2" ? 0.05 : 0.1);
            } else {
                error_rate(code, o, es_n0_db, iterations, 20, frames);
            }
        } catch (const declined& error) {
            std::fprintf(stderr, "%s\n", error.what());
        }
    }
    return 0;
} catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
