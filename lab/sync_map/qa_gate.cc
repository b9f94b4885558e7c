// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Compares symbol error rates with those of another program (docs/performance.md,
 * "Synchronisation: error rates"). The environment variable GPUFEC_GATE_FRAMES sets the
 * number of frames per point, 300 by default; a full run has 3000. */

#include "sync_map/cpu/decoder.h"
#include "sync_map/test/qa_support.h"
#include <gtest/gtest.h>
#include <cmath>
#include <cstdlib>

namespace gr::gpufec::sync_map {
namespace {

struct point {
    bool sparse; // true: Davey-MacKay codebook; false: random words
    double p, p_substitute;
    double rate, rounding; // expected symbol error rate, and its rounding error
};

// All points have n = 10 bits per codebook word, codebooks of q = 32 words, and N = 210
// symbols per frame.
const point points[] = {
    { true, 1e-3, 0, 0.0073, 0.00005 },  { true, 1e-2, 0, 0.0713, 0.00005 },
    { true, 1e-2, 1e-2, 0.129, 0.0005 }, { false, 1e-3, 0, 0.00179, 0.000005 },
    { false, 1e-2, 0, 0.0222, 0.00005 }, { false, 3e-2, 0, 0.0961, 0.00005 },
};

TEST(sync_gate, SameCodes_MatchIndependentProgram)
{
    const char* given = std::getenv("GPUFEC_GATE_FRAMES");
    const unsigned frames = given ? std::max(2, std::atoi(given)) : 300;
    for (const auto& at : points) {
        const auto code = at.sparse ? codebook_davey_mackay(10, 32, 210, 1)
                                    : codebook_random(10, 32, 210, 1);
        auto data = random_frames(code, { at.p, at.p, at.p_substitute }, frames);
        auto o = data.options;
        o.precision = sync_precision::float32;
        o.output = sync_output::symbols;
        o.drifts = false;
        const auto decoded =
            decode_frames(data, o, [](const setup& setup, std::size_t count) {
                return traits::make_cpu(setup, count, 1);
            });
        // Errors come in bursts, so the standard deviation is computed over frames.
        double sum = 0, squares = 0;
        for (unsigned f = 0; f < frames; ++f) {
            unsigned errors = 0;
            for (unsigned i = 0; i < 210; ++i) {
                errors += decoded[f].values[i] != data.messages[f][i];
            }
            sum += errors / 210.0;
            squares += errors / 210.0 * (errors / 210.0);
        }
        const double rate = sum / frames;
        const double deviation =
            std::sqrt((squares / frames - rate * rate) / (frames - 1));
        std::printf("%s p %g Ps %g: %.5f, known %.5f, deviation %.5f\n",
                    at.sparse ? "sparse" : "random",
                    at.p,
                    at.p_substitute,
                    rate,
                    at.rate,
                    deviation);
        EXPECT_NEAR(rate, at.rate, 3.29 * deviation + at.rounding);
    }
}

} // namespace
} // namespace gr::gpufec::sync_map
