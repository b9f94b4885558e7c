// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The decoder of symbols of VL-SNR frames, which demaps them on the host. */

#include "common/ranges.h"
#include "common/refuse.h"
#include "decoder_impl.h"
#include "demap/vlsnr.h"
#include "frame_adapter.h"
#include "frame_judge.h"
#include "ldpc/model/setup.h"
#include "vlsnr_decoder.h"
#include <algorithm>
#include <cmath>
#include <deque>
#include <memory>
#include <stdexcept>
#include <utility>

namespace gr::gpufec::ldpc {

namespace {

// Returns the options of the inner decoder, whose input is the demapper's LLRs.
ldpc_options with_llrs(ldpc_options options)
{
    require_above_0("llr_scale", options.llr_scale);
    require_from_0("soft_scale", options.soft_scale);
    options.symbols = ldpc_symbols::none;
    options.constellations.clear();
    options.format = llr_format::int8;
    if (options.soft_scale == 0) {
        options.soft_scale = options.llr_scale;
    }
    options.llr_scale = demap::steps_per_nat;
    options.watch = false; // the judge needs the symbols
    return options;
}

class vlsnr_decoder : public frame_adapter
{
public:
    vlsnr_decoder(const ldpc_options& options, const decoder_hooks& hooks)
        : frame_adapter(ldpc_decoder::make(with_llrs(options), hooks), options),
          d_options(options)
    {
        for (const auto& c : options.constellations) {
            d_constellations.push_back(
                demap::make_constellation(c.name, c.rate, c.frame_size));
            d_demappers.emplace_back(d_constellations.back(),
                                     make_method(options.demapper),
                                     *make_symbol_format(options.symbols));
        }
        if (options.watch) {
            d_judge = std::make_unique<frame_judge>(options, hooks, d_constellations);
        }
    }

    void reset() override
    {
        frame_adapter::reset();
        d_next = {};
        d_begun = false;
        d_status.reset();
        if (d_judge) {
            d_judge->reset();
        }
    }
    void drop_incomplete() override
    {
        d_inner->drop_incomplete();
        frame_adapter::drop_incomplete();
        d_begun = false;
        if (d_judge) {
            d_judge->drop_incomplete();
        }
    }
    bool done() override
    {
        const bool is = frame_adapter::done();
        if (is && d_judge) {
            d_judge->conclude();
        }
        return is;
    }
    std::string verdict() const override { return d_judge ? d_judge->verdict() : ""; }

    void select(unsigned code, unsigned constellation) override
    {
        if (code >= d_options.codes.size() || constellation >= d_constellations.size()) {
            throw std::out_of_range(
                "code is " + std::to_string(code) + " and constellation is " +
                std::to_string(constellation) + ": allowed values are 0 to " +
                std::to_string(d_options.codes.size() - 1) + " and 0 to " +
                std::to_string(d_constellations.size() - 1));
        }
        d_next.code = code;
        d_next.constellation = constellation;
    }
    void set_esn0_db(double esn0_db) override { d_next.esn0_db = esn0_db; }
    unsigned selected() const override { return now().code; }
    std::size_t frame_items() const override
    {
        return d_constellations[now().constellation].frame_symbols(
            code(now().code).sent());
    }

    std::size_t push(input_items items) override
    {
        const auto kind = now();
        const auto n = frame_adapter::push(items);
        if (d_judge) {
            d_judge->select(kind.code, kind.constellation);
            d_judge->look_at(items.data(), 0, n);
        }
        return n;
    }
    std::size_t pull(bit_span out) override { return noted(d_inner->pull(out)); }
    std::size_t pull(span<std::int8_t> out) override { return noted(d_inner->pull(out)); }
    std::optional<frame_status> status() override { return std::exchange(d_status, {}); }

    void set_llr_scale(float scale) override
    {
        require_above_0("llr_scale", scale);
        if (d_options.soft_scale == 0) {
            d_inner->set_soft_scale(scale);
        }
    }
    void set_soft_scale(float scale) override
    {
        d_inner->set_soft_scale(scale);
        d_options.soft_scale = scale;
    }

private:
    struct frame_kind {
        unsigned code = 0, constellation = 0;
        double esn0_db = std::nan(""); // NaN if it is to be estimated
    };
    const frame_kind& now() const { return d_begun ? d_kind : d_next; }

    void begin_frame() override
    {
        d_kind = d_next;
        d_begun = true;
    }
    bool push_frame(const std::byte* items, bool again) override
    {
        if (!again) {
            d_llrs.resize(code(d_kind.code).sent());
            d_demappers[d_kind.constellation].demap(
                items, std::uint32_t(d_llrs.size()), d_kind.esn0_db, d_llrs.data());
            if (d_options.positive_bit == 1) {
                for (auto& llr : d_llrs) {
                    llr = std::int8_t(-llr);
                }
            }
            d_inner->select(d_kind.code);
            d_pushed = 0;
        }
        d_pushed += d_inner->push({ d_llrs.data() + d_pushed, d_llrs.size() - d_pushed });
        d_begun = d_pushed < d_llrs.size();
        return !d_begun;
    }

    std::size_t noted(std::size_t pulled)
    {
        if (const auto status = d_inner->status()) {
            d_status = status;
            if (d_judge) {
                d_judge->count(status->unsatisfied == 0);
            }
        }
        return pulled;
    }

    ldpc_options d_options;
    std::vector<demap::constellation> d_constellations;
    std::deque<demap::vlsnr_demapper> d_demappers; // one per constellation
    std::unique_ptr<frame_judge> d_judge;          // nullptr if the input is not checked
    frame_kind d_next;                             // kind selected for the next frame
    frame_kind d_kind;                    // kind of the frame that is being pushed
    bool d_begun = false;                 // whether the frame being pushed has begun
    std::vector<std::int8_t> d_llrs;      // LLRs of the frame being pushed
    std::size_t d_pushed = 0;             // number of these LLRs that the inner decoder
                                          // has accepted
    std::optional<frame_status> d_status; // not yet returned by status()
};

} // namespace

bool has_vlsnr_symbols(const ldpc_options& options)
{
    if (options.symbols == ldpc_symbols::none) {
        return false;
    }
    const auto& all = options.constellations;
    const auto count = std::count_if(all.begin(), all.end(), [](const auto& c) {
        return demap::is_vlsnr(c.frame_size);
    });
    require(count == 0 || std::size_t(count) == all.size(),
            "number of constellations of VL-SNR frames",
            count,
            "0 and " + std::to_string(all.size()) + ", the number of all constellations");
    return count > 0;
}

ldpc_decoder::sptr make_vlsnr_decoder(const ldpc_options& options, decoder_hooks hooks)
{
    return std::make_shared<vlsnr_decoder>(options, hooks);
}

} // namespace gr::gpufec::ldpc
