// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "conv_parameters.h"
#include "parameters.h"
#include "viterbi/block_plan.h"
#include <gnuradio/gpufec/arrays.h>
#include <gnuradio/gpufec/fec_viterbi_decoder.h>
#include <map>

namespace gr::gpufec {

namespace {

class fec_viterbi_decoder_impl : public fec_viterbi_decoder
{
public:
    fec_viterbi_decoder_impl(const viterbi_options& options, unsigned frame_size)
        : gr::fec::generic_decoder("gpufec_viterbi_decoder"), d_options(options)
    {
        d_options.frame_bits = frame_size;
        decoder();
    }

    // Which of the two is virtual depends on the release of GNU Radio.
    void generic_work(void* in, void* out)
    {
        generic_work(static_cast<const void*>(in), out);
    }
    void generic_work(const void* in, void* out)
    {
        auto& d = decoder();
        d.decode(in, d.items_per_frame(), out);
        d_backend = d.active_backend();
    }

    // Of the code, tails not counted. gr-fec cuts the fraction from its product with a
    // number of items: that must not lack a bit by rounding.
    double rate() override { return d_options.code.rate() * (1 + 1e-9); }
    int get_input_size() override { return decoder().items_per_frame(); }
    int get_output_size() override { return d_options.frame_bits; }

    bool set_frame_size(unsigned int frame_size) override
    {
        try {
            viterbi::check_frame_bits(d_options.code, d_options.ends, frame_size);
        } catch (const std::invalid_argument& error) {
            d_logger->info("{}", error.what());
            return false;
        }
        d_options.frame_bits = frame_size;
        return true;
    }

    std::string active_backend() const override { return d_backend; }

private:
    // That of this frame size; those of the last sizes are kept.
    viterbi_array_decoder& decoder()
    {
        auto& d = d_decoders[d_options.frame_bits];
        if (!d) {
            constexpr std::size_t most = 16;
            if (d_decoders.size() > most) {
                d_decoders.clear();
            }
            auto made = std::make_unique<viterbi_array_decoder>(d_options, false, 1);
            auto& kept = d_decoders[d_options.frame_bits];
            kept = std::move(made);
            return *kept;
        }
        return *d;
    }

    viterbi_options d_options;
    std::map<unsigned, std::unique_ptr<viterbi_array_decoder>> d_decoders;
    std::string d_backend;
};

} // namespace

fec_viterbi_decoder::sptr
fec_viterbi_decoder::make(int frame_size,
                          std::optional<int> constraint_length,
                          const std::optional<std::vector<int>>& polynomials,
                          const std::optional<std::string>& puncturing,
                          const std::optional<std::string>& termination,
                          float soft_scale,
                          const std::string& backend,
                          int device,
                          const std::string& preset,
                          int positive_bit)
{
    auto [code, ends] =
        conv_code_of(constraint_length, polynomials, puncturing, termination, preset);
    if (!termination && ends == gr::gpufec::termination::streaming) {
        ends = gr::gpufec::termination::terminated;
    }
    require(ends != gr::gpufec::termination::streaming,
            "termination",
            "streaming",
            "terminated, truncated and tailbiting");
    viterbi_options options{ code };
    options.ends = ends;
    options.format = soft_format::float32;
    options.soft_scale = soft_scale;
    options.positive_bit = not_negative("positive_bit", positive_bit, "0 and 1");
    set_run_options(options,
                    0,
                    1,
                    options.max_latency_ms,
                    backend,
                    device,
                    {},
                    1,
                    options.device_timeout_ms);
    return std::make_shared<fec_viterbi_decoder_impl>(
        options, not_negative("frame_size", frame_size, "1 and more"));
}

} // namespace gr::gpufec
