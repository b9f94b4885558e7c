/* -*- c++ -*- */
/*
 * Copyright 2026 gr-gpufec developers
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

/* Measures the LDPC kernels of the CUDA backend on every code of DVB-S2: speed, and frame
 * error rates over QPSK with white noise, made on the device. One JSON object a line. */

#include "ldpc/cuda_kernels.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <string>

using namespace gr::gpufec;
using namespace gr::gpufec::ldpc_cuda;

namespace {

constexpr unsigned words = 64; // distinct codewords sent

__device__ std::uint64_t mix(std::uint64_t x) // splitmix64
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

// Two received values a thread, quantised by the rule.
template <class T>
__global__ void transmit(std::uint8_t* input,
                         const ldpc_frame* table,
                         const std::uint8_t* codewords,
                         unsigned n,
                         std::uint64_t seed,
                         float amplitude,
                         float sigma,
                         float to_steps,
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
    for (unsigned k = 0; k < 2; ++k) {
        const bool bit = codewords[std::size_t(f % words) * n + i + k];
        float x = ((bit ? -amplitude : amplitude) + radius * noise[k]) * to_steps;
        x = fminf(fmaxf(x, -limit), limit);
        to[i + k] = T(rounded ? rintf(x) : x);
    }
}

// Frames that differ from what was sent, and their bits.
__global__ void compare(const std::uint8_t* output,
                        const ldpc_frame* table,
                        const std::uint8_t* sent,
                        unsigned bytes,
                        unsigned long long* errors)
{
    const unsigned f = blockIdx.x;
    unsigned count = 0;
    for (unsigned b = threadIdx.x; b < bytes; b += blockDim.x) {
        count += __popc(output[table[f].output + b] ^ sent[(f % words) * bytes + b]);
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
    }
}

struct options {
    ldpc_precision precision = ldpc_precision::int8;
    std::string precision_name = "int8";
    bool generic = false;
    ldpc_algorithm algorithm = ldpc_algorithm::offset_min_sum;
    ldpc_schedule schedule = ldpc_schedule::layered;
};

// A batch of noisy codewords of one code on the device.
class trial
{
public:
    trial(const ldpc_code& code, const options& o, std::size_t frames)
        : d_code(code),
          d_options(o),
          d_frames(frames),
          d_rule(make_message_rule(code, o.algorithm, o.precision, -1, -1)),
          d_kernel(make_kernel()),
          d_value_bytes(o.precision == ldpc_precision::int8    ? 1
                        : o.precision == ldpc_precision::int16 ? 2
                                                               : 4),
          d_input(frames * stride()),
          d_output(frames * ((code.n() + 31) / 32 * 4)),
          d_status(frames),
          d_table(frames),
          d_codewords(words * code.n()),
          d_sent(words * (code.k() / 8)),
          d_errors(2),
          d_scratch(d_kernel->scratch_bytes(frames))
    {
        std::mt19937 random(1);
        std::vector<std::uint8_t> codewords(words * code.n()),
            sent(words * (code.k() / 8));
        const ldpc_encoder_kernel encoder(code);
        for (unsigned w = 0; w < words; ++w) {
            std::vector<std::uint8_t> message(code.k());
            for (unsigned i = 0; i < code.k(); ++i) {
                message[i] = random() >> 31;
                sent[w * (code.k() / 8) + i / 8] |= message[i] << (7 - i % 8);
            }
            encoder.encode(message.data(), &codewords[std::size_t(w) * code.n()]);
        }
        std::vector<ldpc_frame> table;
        for (std::uint32_t f = 0; f < frames; ++f) {
            table.push_back(
                { std::uint32_t(f * stride()), f * ((code.n() + 31) / 32 * 4), f });
        }
        put(d_codewords, codewords);
        put(d_sent, sent);
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
        d_kernel->launch({ d_table.get(),
                           std::uint32_t(d_frames),
                           d_input.get(),
                           d_output.get(),
                           d_status.get() },
                         { iterations, early_stop, d_code.k() },
                         d_scratch.get(),
                         nullptr);
    }

    // Erroneous frames and bits of the last decode.
    std::pair<unsigned long long, unsigned long long> errors()
    {
        cudaMemset(d_errors.get(), 0, d_errors.bytes());
        compare<<<d_frames, 128>>>(
            d_output.get(), d_table.get(), d_sent.get(), d_code.k() / 8, d_errors.get());
        unsigned long long e[2];
        cuda::check(cudaMemcpy(e, d_errors.get(), sizeof(e), cudaMemcpyDeviceToHost),
                    "copy");
        return { e[0], e[1] };
    }

    double mean_iterations() const
    {
        std::vector<ldpc_status> s(d_frames);
        cuda::check(
            cudaMemcpy(
                s.data(), d_status.get(), d_status.bytes(), cudaMemcpyDeviceToHost),
            "copy");
        double sum = 0;
        for (const auto& x : s) {
            sum += x.iterations;
        }
        return sum / d_frames;
    }

    std::size_t frames() const { return d_frames; }

private:
    std::size_t stride() const { return (d_code.n() * d_value_bytes + 15) / 16 * 16; }

    std::unique_ptr<code_kernel> make_kernel() const
    {
        if (d_options.schedule == ldpc_schedule::flooding) {
            return make_flooding_kernel(d_code, d_rule);
        }
        std::unique_ptr<code_kernel> k;
        if (!d_options.generic) {
            k = make_dvbs2_kernel(d_code, d_rule, 0);
        }
        return k ? std::move(k) : make_layered_kernel(d_code, d_rule, 0);
    }

    template <class T>
    void receive_as(double es_n0_db, std::uint64_t seed)
    {
        const double variance = std::pow(10, -es_n0_db / 10) / 2;
        const double amplitude = std::sqrt(0.5);
        const dim3 grid((d_code.n() / 2 + 255) / 256, d_frames);
        transmit<T><<<grid, 256>>>(d_input.get(),
                                   d_table.get(),
                                   d_codewords.get(),
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
    const std::unique_ptr<code_kernel> d_kernel;
    const std::size_t d_value_bytes;
    const cuda::buffer<std::uint8_t> d_input, d_output;
    const cuda::buffer<ldpc_status> d_status;
    const cuda::buffer<ldpc_frame> d_table;
    const cuda::buffer<std::uint8_t> d_codewords, d_sent;
    const cuda::buffer<unsigned long long> d_errors;
    const cuda::buffer<std::uint8_t> d_scratch;
};

void speed(const ldpc_code& code,
           const options& o,
           unsigned iterations,
           std::size_t frames)
{
    trial t(code, o, frames);
    t.receive(8, 1);
    cuda::event begin(cudaEventDefault), end(cudaEventDefault);
    float best = 1e9f;
    for (unsigned i = 0; i < 6; ++i) {
        cudaEventRecord(begin.get());
        t.decode(iterations, false);
        cudaEventRecord(end.get());
        cuda::check(cudaEventSynchronize(end.get()), "decoding");
        float ms;
        cudaEventElapsedTime(&ms, begin.get(), end.get());
        best = i ? std::min(best, ms) : best; // the first warms up
    }
    const double edges = double(frames) * iterations * code.edges();
    std::printf(
        "{\"speed\": \"%s\", \"precision\": \"%s\", \"generic\": %d, \"frames\": "
        "%zu, \"iterations\": %u, \"ms\": %.4f, \"T_edge_iterations_per_s\": %.4f, "
        "\"information_Gb_per_s\": %.3f}\n",
        code.name().c_str(),
        o.precision_name.c_str(),
        o.generic,
        frames,
        iterations,
        best,
        edges / best / 1e9,
        double(frames) * code.k() / best / 1e6);
    std::fflush(stdout);
}

void error_rate(const ldpc_code& code,
                const options& o,
                double es_n0_db,
                unsigned iterations,
                unsigned min_errors,
                std::size_t most)
{
    trial t(code, o, code.n() > 20000 ? 1056 : 4224);
    unsigned long long frames = 0, wrong = 0, bits = 0;
    double mean = 0;
    unsigned rounds = 0;
    while (frames < most && wrong < min_errors) {
        t.receive(es_n0_db, 77 + rounds);
        t.decode(iterations, true);
        const auto e = t.errors();
        frames += t.frames();
        wrong += e.first;
        bits += e.second;
        mean += t.mean_iterations();
        ++rounds;
    }
    std::printf("{\"fer\": \"%s\", \"precision\": \"%s\", \"es_n0_db\": %.3f, "
                "\"iterations\": %u, \"frames\": %llu, \"frame_errors\": %llu, "
                "\"frame_error_rate\": %.3e, \"bit_error_rate\": %.3e, "
                "\"mean_iterations\": %.2f}\n",
                code.name().c_str(),
                o.precision_name.c_str(),
                es_n0_db,
                iterations,
                frames,
                wrong,
                double(wrong) / frames,
                double(bits) / frames / code.k(),
                mean / rounds);
    std::fflush(stdout);
}

// Es/N0 of EN 302 307-1 table 13, normal frames.
const std::map<std::string, double> standard{
    { "1/4", -2.35 }, { "1/3", -1.24 }, { "2/5", -0.30 }, { "1/2", 1.00 },
    { "3/5", 2.23 },  { "2/3", 3.10 },  { "3/4", 4.03 },  { "4/5", 4.68 },
    { "5/6", 5.18 },  { "8/9", 6.20 },  { "9/10", 6.42 },
};

} // namespace

// ldpc_kernels speed|fer int8|int16|float SIZE RATE|all ITERATIONS FRAMES [MARGIN_DB]
// [generic|flooding]
int main(int argc, char** argv)
try {
    if (argc < 7) {
        std::fprintf(stderr,
                     "usage: %s speed|fer int8|int16|float normal|short RATE|all "
                     "ITERATIONS FRAMES [MARGIN_DB|-] [generic|flooding]\n",
                     argv[0]);
        return 1;
    }
    const std::string what = argv[1], size = argv[3], wanted = argv[4];
    options o;
    o.precision_name = argv[2];
    o.precision = o.precision_name == "int8"    ? ldpc_precision::int8
                  : o.precision_name == "int16" ? ldpc_precision::int16
                                                : ldpc_precision::float32;
    if (argc > 8) {
        o.generic = std::string(argv[8]) == "generic";
        o.schedule = std::string(argv[8]) == "flooding" ? ldpc_schedule::flooding
                                                        : ldpc_schedule::layered;
    }
    for (const auto& rate : ldpc_code::dvbs2_rates(size)) {
        if (wanted != "all" && wanted != rate) {
            continue;
        }
        const auto code = ldpc_code::dvbs2(size, rate);
        const unsigned iterations = std::atoi(argv[5]);
        if (what == "speed") {
            speed(code, o, iterations, std::atol(argv[6]));
        } else {
            const double margin = argc > 7 ? std::atof(argv[7]) : 0;
            error_rate(
                code, o, standard.at(rate) + margin, iterations, 20, std::atol(argv[6]));
        }
    }
    return 0;
} catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
