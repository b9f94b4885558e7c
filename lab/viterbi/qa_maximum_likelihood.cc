// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests the fast maximum-likelihood decoder against the reference. */

#include "channel/awgn.h"
#include "lab/viterbi/maximum_likelihood.h"
#include "viterbi/model/reference.h"
#include <gtest/gtest.h>

namespace {

using namespace gr::gpufec;
using namespace gr::gpufec::viterbi;

std::vector<std::int8_t> noisy_frame(const conv_code& code,
                                     termination ends,
                                     unsigned bits,
                                     std::uint64_t seed,
                                     double amplitude)
{
    std::vector<std::uint8_t> data(bits);
    counter_random(seed).bits(0, bits, data.data());
    conv_encoder_kernel encoder(code, ends, ends == termination::streaming ? 0 : bits);
    std::vector<std::uint8_t> coded(encoder.coded_bits(bits));
    if (ends == termination::streaming) {
        encoder.encode(data.data(), bits, coded.data());
    } else {
        encoder.encode_frame(data.data(), coded.data());
    }
    std::vector<std::int8_t> values(coded.size());
    awgn_channel(0.5, code.rate(), seed, amplitude)
        .int8(0, coded.data(), coded.size(), values.data());
    return values;
}

class every_code : public testing::TestWithParam<conv_preset>
{
};

// At 0.5 dB many bits are decoded wrongly, and with an amplitude of 2 steps many path
// metrics are equal. Equal output therefore shows that both decoders break ties alike.
TEST_P(every_code, NoisyValues_DecodeAsReference)
{
    const auto& p = GetParam();
    const conv_code code(p.constraint_length, p.polynomials, p.puncturing);
    std::uint64_t seed = 1;
    for (const auto ends : { termination::streaming,
                             termination::terminated,
                             termination::truncated,
                             termination::tailbiting }) {
        maximum_likelihood_decoder decoder(code, ends);
        for (const double amplitude : { 2.0, 32.0 }) {
            const unsigned bits = ends == termination::tailbiting ? 40 : 1500;
            const auto values = noisy_frame(code, ends, bits, ++seed, amplitude);
            std::vector<std::uint8_t> decoded(bits);
            decoder.decode(values.data(), values.size(), bits, decoded.data());
            EXPECT_EQ(decoded, reference::maximum_likelihood(code, ends, values, bits))
                << p.name << ", termination " << int(ends) << ", amplitude " << amplitude;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(presets,
                         every_code,
                         testing::ValuesIn(conv_presets()),
                         [](const auto& info) { return info.param.name; });

TEST(maximum_likelihood, LongExtremeInput_DecodesAsReference)
{
    const conv_code code(9, { 0557, 0663, 0711, 0557, 0663, 0711 });
    const unsigned bits = 5000;
    std::vector<std::int8_t> values(bits * code.outputs());
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = counter_random(3)(i) & 1 ? 127 : -128;
    }
    maximum_likelihood_decoder decoder(code, termination::streaming);
    std::vector<std::uint8_t> decoded(bits);
    decoder.decode(values.data(), values.size(), bits, decoded.data());
    EXPECT_EQ(decoded,
              reference::maximum_likelihood(code, termination::streaming, values, bits));
}

TEST(maximum_likelihood, SmallestCode_DecodesAsReference)
{
    const conv_code code(3, { 07, 05 });
    const auto values = noisy_frame(code, termination::terminated, 300, 9, 32);
    maximum_likelihood_decoder decoder(code, termination::terminated);
    std::vector<std::uint8_t> decoded(300);
    decoder.decode(values.data(), values.size(), 300, decoded.data());
    EXPECT_EQ(decoded,
              reference::maximum_likelihood(code, termination::terminated, values, 300));
}

} // namespace
