// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Encodes bits and decodes them with the installed library, for the downstream test. */

#include <gnuradio/gpufec/viterbi.h>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

using namespace gr::gpufec;

int main()
{
    const auto code = conv_code::preset("dvb_3_4");
    std::mt19937 random(1);
    std::vector<std::uint8_t> bits(30000);
    for (auto& bit : bits) {
        bit = random() & 1;
    }

    conv_encoder_kernel encoder(code, termination::streaming, 0);
    std::vector<std::uint8_t> coded(encoder.coded_bits(bits.size()));
    encoder.encode(bits.data(), bits.size(), coded.data());
    std::vector<std::int8_t> soft;
    for (const auto bit : coded) {
        soft.push_back(bit ? 32 : -32); // By default, a positive value means bit 1.
    }

    viterbi_options options{ code };
    options.backend = backend::cpu;
    const auto decoder = viterbi_decoder::make(options);
    std::vector<std::uint8_t> decoded(bits.size() + 1);
    std::size_t pushed = 0, pulled = 0;
    bool finished = false;
    while (!decoder->done()) {
        pushed += decoder->push(span(soft).from(pushed));
        if (pushed == soft.size() && !finished) {
            decoder->finish();
            finished = true;
        }
        decoder->wait(std::chrono::milliseconds(100));
        pulled += decoder->pull(unpacked_bits(span(decoded).from(pulled)));
    }

    std::size_t errors = 0;
    for (std::size_t i = 0; i < bits.size(); ++i) {
        errors += decoded[i] != bits[i];
    }
    std::printf("%s: %zu bits, %zu errors\n", code.to_string().c_str(), pulled, errors);
    return pulled == bits.size() && errors == 0 ? 0 : 1;
}
