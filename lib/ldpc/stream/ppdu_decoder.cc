// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The decoder of Wi-Fi PPDUs, which distributes channel values to codewords and joins
 * their messages. */

#include "common/packed_bits.h"
#include "common/refuse.h"
#include "decoder_impl.h"
#include "frame_adapter.h"
#include "ppdu_decoder.h"
#include <gnuradio/gpufec/wifi.h>
#include <algorithm>
#include <chrono>
#include <deque>
#include <optional>
#include <stdexcept>
#include <utility>

namespace gr::gpufec {

namespace {

ldpc_options with_codes(ldpc_options options, const wifi_ppdu& ppdu)
{
    options.codes = ppdu.codes();
    return options;
}

class ppdu_decoder : public ldpc::frame_adapter
{
public:
    ppdu_decoder(const wifi_ppdu& ppdu, const ldpc_options& options, decoder_hooks hooks)
        : frame_adapter(ldpc_decoder::make(with_codes(options, ppdu), std::move(hooks)),
                        options),
          d_ppdu(ppdu),
          d_bits(ppdu.payload_bits()),
          d_packed((ppdu.payload_bits() + 7) / 8)
    {
    }

    void reset() override
    {
        frame_adapter::reset();
        d_begun = false;
        d_dropped.clear();
        d_before_pushed = d_before_pulled = 0;
        begin_output();
        d_frame = 0;
        d_new_status.reset();
    }
    void select(unsigned code, unsigned) override
    {
        if (code != 0) {
            throw std::out_of_range("code is " + std::to_string(code) +
                                    ": the only allowed value is 0");
        }
    }
    void set_esn0_db(double) override {}
    unsigned selected() const override { return 0; }
    std::size_t frame_items() const override { return d_ppdu.coded_bits(); }
    std::size_t output_bits(unsigned) const override { return d_ppdu.payload_bits(); }

    void drop_incomplete() override
    {
        if (d_begun) {
            std::size_t bits = 0;
            for (unsigned c = 0; c < d_codeword; ++c) {
                bits += d_ppdu.codes()[d_ppdu.code_of(c)].k();
            }
            d_inner->drop_incomplete();
            d_dropped.push_back({ d_before_pushed++, bits });
            d_begun = false;
        }
        frame_adapter::drop_incomplete();
    }

    bool ready() override { return complete(); }
    bool done() override { return !complete() && d_inner->done(); }
    bool wait(std::chrono::milliseconds limit) override
    {
        using clock = std::chrono::steady_clock;
        const auto end = clock::now() + limit;
        while (!complete()) {
            const auto left =
                std::chrono::duration_cast<std::chrono::milliseconds>(end - clock::now());
            if (!d_inner->wait(std::max(left, std::chrono::milliseconds(0)))) {
                return complete();
            }
        }
        return true;
    }
    std::size_t pull(bit_span out) override
    {
        const auto& from = out.packed ? d_packed : d_bits;
        if (out.size() == 0 || !complete()) {
            return 0;
        }
        if (d_emitted == 0) {
            d_status.frame = d_frame++;
            d_new_status = d_status;
        }
        const auto n = std::min(out.size(), from.size() - d_emitted);
        std::copy_n(from.begin() + d_emitted, n, out.data());
        d_emitted += n;
        if (d_emitted == from.size()) {
            ++d_before_pulled;
            begin_output();
        }
        return n;
    }
    std::size_t pull(span<std::int8_t>) override
    {
        throw std::logic_error("the output of this decoder is bits, not LLRs");
    }
    std::optional<frame_status> status() override
    {
        return std::exchange(d_new_status, {});
    }

private:
    // A PPDU that was dropped after its first codewords had been pushed to the inner
    // decoder.
    struct dropped_ppdu {
        std::uint64_t before; // number of PPDUs before this one
        std::size_t bits;     // number of message bits of the codewords
    };

    bool push_frame(const std::byte* items, bool again) override
    {
        if (!again) {
            d_codeword = 0;
            d_pushed = d_in_codeword = 0;
        }
        while (d_codeword < d_ppdu.codewords()) {
            const auto code = d_ppdu.code_of(d_codeword);
            const auto n = d_ppdu.codes()[code].sent();
            if (d_in_codeword == 0) {
                d_inner->select(code);
            }
            const auto taken =
                d_inner->push({ items + d_pushed * d_item_bytes, n - d_in_codeword });
            d_pushed += taken;
            d_in_codeword += taken;
            if (d_in_codeword < n) {
                d_begun = true;
                return false;
            }
            d_in_codeword = 0;
            ++d_codeword;
        }
        d_begun = false;
        ++d_before_pushed;
        return true;
    }

    void begin_output()
    {
        d_gathered = d_emitted = 0;
        d_status = {};
    }

    // Gathers decoded bits, and returns whether a PPDU is complete. The bits of dropped
    // PPDUs are discarded.
    bool complete()
    {
        while (!d_dropped.empty() && d_dropped.front().before == d_before_pulled) {
            if (!gather(d_dropped.front().bits)) {
                return false;
            }
            d_dropped.pop_front();
            ++d_before_pulled;
            begin_output();
        }
        return gather(d_bits.size());
    }

    // Gathers up to \p count bits of a PPDU, and returns whether all of them are decoded.
    bool gather(std::size_t count)
    {
        while (d_gathered < count) {
            const auto n =
                d_inner->pull({ d_bits.data() + d_gathered, count - d_gathered, false });
            if (n == 0) {
                return false;
            }
            d_gathered += n;
            if (const auto own = d_inner->status()) {
                d_status.iterations = std::max(d_status.iterations, own->iterations);
                d_status.unsatisfied += own->unsatisfied;
            }
            if (d_gathered == d_bits.size()) {
                pack_bits(d_bits.data(), d_bits.size(), d_packed.data());
            }
        }
        return true;
    }

    const wifi_ppdu d_ppdu;
    // State of the PPDU that is being pushed: the current codeword, the number of its
    // items that the inner decoder has accepted, and the number of all accepted items.
    unsigned d_codeword = 0;
    std::size_t d_in_codeword = 0, d_pushed = 0;
    // Whether the inner decoder has accepted only a part of the PPDU.
    bool d_begun = false;
    std::deque<dropped_ppdu> d_dropped;
    // Number of PPDUs before the one that is being pushed, and before the one that is
    // being pulled. Both numbers include dropped PPDUs.
    std::uint64_t d_before_pushed = 0, d_before_pulled = 0;
    // Decoded bits of the PPDU being pulled: one per byte, and packed.
    std::vector<std::uint8_t> d_bits, d_packed;
    std::size_t d_gathered = 0, d_emitted = 0;
    frame_status d_status{};
    std::uint64_t d_frame = 0;                // number of the next PPDU
    std::optional<frame_status> d_new_status; // not yet returned by status()
};

} // namespace

void ldpc::check_ppdu_options(const ldpc_options& options)
{
    if (options.codeword || options.keep_codeword || options.keep_soft ||
        options.soft != ldpc_soft_output::none) {
        refuse("output", "not message", "the decoder of PPDUs outputs only messages");
    }
    if (options.symbols != ldpc_symbols::none) {
        refuse("symbols",
               "not ldpc_symbols::none",
               "the decoder of PPDUs accepts only LLRs");
    }
}

ldpc_decoder::sptr make_wifi_ppdu_decoder(const wifi_ppdu& ppdu,
                                          const ldpc_options& options,
                                          decoder_hooks hooks)
{
    ldpc::check_ppdu_options(options);
    return std::make_shared<ppdu_decoder>(ppdu, options, std::move(hooks));
}

} // namespace gr::gpufec
