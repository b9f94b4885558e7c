// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The decoder object fec_viterbi_decoder for gr-fec. */

#include "blocks/common/fec_decoder_base.h"
#include "blocks/common/parameters.h"
#include "conv_parameters.h"
#include "viterbi/model/block_layout.h"
#include <gnuradio/gpufec/arrays.h>
#include <gnuradio/gpufec/fec_viterbi_decoder.h>
#include <map>

namespace gr::gpufec {

namespace {

class fec_viterbi_decoder_impl : public fec_decoder_base<fec_viterbi_decoder>
{
public:
    fec_viterbi_decoder_impl(const viterbi_options& options, unsigned frame_size)
        : gr::fec::generic_decoder("gpufec_viterbi_decoder"),
          fec_decoder_base(frame_size),
          d_options(options)
    {
        decoder(frame_size);
    }

    std::string active_backend() const override { return d_backend; }

private:
    double code_rate() const override { return d_options.code.rate(); }
    unsigned tail() const override
    {
        return d_options.termination == termination::terminated
                   ? d_options.code.constraint_length() - 1
                   : 0;
    }
    int values(unsigned frame_size) const override
    {
        return d_options.code.values(frame_size + tail());
    }

    void prepare(std::int64_t frame_size) override { decoder(frame_size); }
    void
    decode(const void* in, int count, unsigned frame_size, std::uint8_t* out) override
    {
        const int all = values(frame_size);
        if (count < all) { // missing values become erasures (0)
            const auto* const values = static_cast<const float*>(in);
            d_padded.assign(values, values + count);
            d_padded.resize(all);
            in = d_padded.data();
        }
        auto& d = decoder(frame_size);
        d.decode(in, all, out);
        d_backend = d.active_backend();
    }

    // Returns a decoder for this frame size. Decoders are stored for later calls. Before
    // a new decoder is added, all others are destroyed if there are more than 16, or if
    // the sum of all frame sizes would exceed 2^20 bits.
    viterbi_array_decoder& decoder(unsigned frame_size)
    {
        auto kept = d_decoders.find(frame_size);
        if (kept == d_decoders.end()) {
            d_options.frame_bits = frame_size;
            auto made = std::make_unique<viterbi_array_decoder>(d_options, false, 1);
            constexpr std::size_t most = 16, max_bits = 1 << 20;
            d_kept_bits += frame_size;
            if (d_decoders.size() > most || d_kept_bits > max_bits) {
                d_decoders.clear();
                d_kept_bits = frame_size;
            }
            made->decode(nullptr, 0, nullptr); // allocates all memory now; may throw
            kept = d_decoders.emplace(frame_size, std::move(made)).first;
        }
        return *kept->second;
    }

    viterbi_options d_options;
    std::map<unsigned, std::unique_ptr<viterbi_array_decoder>> d_decoders;
    std::size_t d_kept_bits = 0; // sum of the frame sizes of d_decoders
    std::vector<float> d_padded;
    std::string d_backend;
};

} // namespace

fec_viterbi_decoder::sptr
fec_viterbi_decoder::make(const fec_viterbi_decoder_options& given)
{
    auto [code, ends] = conv_code_of(given.constraint_length,
                                     given.polynomials,
                                     given.puncturing,
                                     given.termination,
                                     given.preset);
    if (!given.termination && ends == termination::streaming) {
        ends = termination::terminated;
    }
    require(ends != termination::streaming,
            "termination",
            "streaming",
            "terminated, truncated and tailbiting");
    viterbi_options options{ code };
    options.termination = ends;
    options.format = soft_format::float32;
    // Verdicts are not computed, because the object cannot report them through gr-fec.
    options.watch = false;
    options.soft_scale = given.soft_scale;
    options.positive_bit = not_negative("positive_bit", given.positive_bit, "0 and 1");
    options.slots = 1;
    options.backend = given.backend;
    options.devices = devices_of(given.device);
    return std::make_shared<fec_viterbi_decoder_impl>(
        options, not_negative("frame_size", given.frame_size, "1 or more"));
}

} // namespace gr::gpufec
