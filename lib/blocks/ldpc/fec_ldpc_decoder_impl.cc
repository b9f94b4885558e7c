// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "ldpc_code_of.h"
#include "parameters.h"
#include <gnuradio/gpufec/arrays.h>
#include <gnuradio/gpufec/fec_ldpc_decoder.h>

namespace gr::gpufec {

namespace {

class fec_ldpc_decoder_impl : public fec_ldpc_decoder
{
public:
    explicit fec_ldpc_decoder_impl(const ldpc_options& options)
        : gr::fec::generic_decoder("gpufec_ldpc_decoder"),
          d_code(options.codes[0]),
          d_decoder(options, false)
    {
    }

    // Which of the two is virtual depends on the release of GNU Radio.
    void generic_work(void* in, void* out)
    {
        generic_work(static_cast<const void*>(in), out);
    }
    void generic_work(const void* in, void* out)
    {
        d_decoder.decode(in, 1, out, &d_status);
    }

    // See fec_viterbi_decoder.
    double rate() override { return double(d_code.k()) / d_code.sent() * (1 + 1e-9); }
    int get_input_size() override { return d_code.sent(); }
    int get_output_size() override { return d_code.k(); }
    bool set_frame_size(unsigned int frame_size) override
    {
        return frame_size == d_code.k();
    }

    std::string active_backend() const override { return d_decoder.active_backend(); }
    int iterations() const override { return d_status.iterations; }
    int unsatisfied() const override { return d_status.unsatisfied; }

private:
    const ldpc_code d_code;
    ldpc_array_decoder d_decoder;
    ldpc_array_decoder::status d_status{};
};

} // namespace

fec_ldpc_decoder::sptr fec_ldpc_decoder::make(const std::string& standard,
                                              const std::string& frame_size,
                                              const std::string& rate,
                                              const std::string& code_file,
                                              const std::string& algorithm,
                                              const std::string& precision,
                                              int max_iterations,
                                              const std::string& backend,
                                              int device,
                                              int positive_bit)
{
    ldpc_options options;
    options.codes = { ldpc_code_of(standard, frame_size, rate, code_file, {}, {}) };
    options.format = llr_format::float32;
    options.algorithm = ldpc_algorithm_from_string(algorithm);
    options.precision = ldpc_precision_from_string(precision);
    options.max_iterations = not_negative("max_iterations", max_iterations, "1 to 1000");
    options.positive_bit = not_negative("positive_bit", positive_bit, "0 and 1");
    options.most = 1;
    set_run_options(options,
                    0,
                    1,
                    options.max_latency_ms,
                    backend,
                    device,
                    {},
                    1,
                    options.device_timeout_ms);
    return std::make_shared<fec_ldpc_decoder_impl>(options);
}

} // namespace gr::gpufec
