// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The decoder object fec_ldpc_decoder for gr-fec. */

#include "blocks/common/fec_decoder_base.h"
#include "blocks/common/parameters.h"
#include "ldpc_code_of.h"
#include <gnuradio/gpufec/arrays.h>
#include <gnuradio/gpufec/fec_ldpc_decoder.h>

namespace gr::gpufec {

namespace {

class fec_ldpc_decoder_impl : public fec_decoder_base<fec_ldpc_decoder>
{
public:
    explicit fec_ldpc_decoder_impl(const ldpc_options& options)
        : gr::fec::generic_decoder("gpufec_ldpc_decoder"),
          fec_decoder_base(options.codes[0].k()),
          d_code(options.codes[0]),
          d_decoder(options, false),
          d_statuses(1)
    {
        if (!d_code.warning().empty()) {
            d_logger->warn("{}", d_code.warning());
        }
        d_decoder.decode(nullptr, 0, nullptr, nullptr); // allocates memory; may throw
    }

    std::string active_backend() const override { return d_decoder.active_backend(); }
    int iterations() const override { return d_statuses.back().iterations; }
    int unsatisfied() const override { return d_statuses.back().unsatisfied; }

private:
    double code_rate() const override { return double(d_code.k()) / d_code.sent(); }
    int values(unsigned frame_size) const override
    {
        return frame_size / d_code.k() * d_code.sent();
    }
    std::string allowed_values() const override
    {
        return "multiples of " + std::to_string(d_code.sent());
    }
    float last_iterations() const override { return iterations(); }

    void prepare(std::int64_t frame_size) override
    {
        const auto k = d_code.k();
        require(frame_size % k == 0 && frame_size / k <= INT_MAX / d_code.n(),
                "frame_size",
                frame_size,
                "multiples of " + std::to_string(k) + ", the bits of a message");
        d_statuses.reserve(frame_size / k);
    }
    void decode(const void* in, int, unsigned frame_size, std::uint8_t* out) override
    {
        d_statuses.resize(frame_size / d_code.k());
        d_decoder.decode(in, d_statuses.size(), out, d_statuses.data());
    }

    const ldpc_code d_code;
    ldpc_array_decoder d_decoder;
    // One status per codeword of the last call of decode().
    std::vector<ldpc_array_decoder::status> d_statuses;
};

} // namespace

fec_ldpc_decoder::sptr fec_ldpc_decoder::make(const fec_ldpc_decoder_options& given)
{
    ldpc_options options;
    options.codes = { ldpc_code_of({ given.standard,
                                     given.frame_size,
                                     given.rate,
                                     given.code_file,
                                     {},
                                     {},
                                     given.message_positions }) };
    options.format = llr_format::float32;
    // Verdicts are not computed, because the object cannot report them through gr-fec.
    options.watch = false;
    options.algorithm = given.algorithm;
    options.precision = given.precision;
    options.max_iterations =
        not_negative("max_iterations", given.max_iterations, "1 to 1000");
    options.positive_bit = not_negative("positive_bit", given.positive_bit, "0 and 1");
    options.max_batch = 1;
    options.slots = 1;
    options.backend = given.backend;
    options.devices = devices_of(given.device);
    return std::make_shared<fec_ldpc_decoder_impl>(options);
}

} // namespace gr::gpufec
