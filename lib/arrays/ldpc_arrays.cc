// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* LDPC decoding of arrays of channel values. */

#include "array_decoder.h"
#include "common/packed_bits.h"
#include "common/refuse.h"
#include "drive.h"
#include "ldpc/stream/frame_judge.h"
#include "ldpc/stream/ppdu_decoder.h"
#include "ldpc/stream/sent_values.h"
#include "ldpc/stream/traits.h"
#include "pipeline/stream_decoder.h"

namespace gr::gpufec {

using namespace ldpc;

class ldpc_array_decoder::impl
    : public array_decoder<ldpc_options, ldpc_decoder, device_ldpc>
{
public:
    impl(const ldpc_options& options, bool packed)
        : array_decoder(options), d_packed(packed)
    {
        require(options.codes.size() == 1, "number of codes", options.codes.size(), "1");
        if (repeats_bits(options.codes[0])) {
            refuse("code",
                   options.codes[0].name(),
                   "the code repeats bits; only PPDUs can have such codewords");
        }
        if (options.symbols != ldpc_symbols::none) {
            refuse("symbols",
                   "not ldpc_symbols::none",
                   "array decoders accept LLRs only; use ldpc_decoder for symbols");
        }
        check();
    }
    impl(const wifi_ppdu& ppdu, const ldpc_options& options, bool packed)
        : array_decoder(options), d_packed(packed), d_ppdu(ppdu)
    {
        d_options.codes = ppdu.codes();
        check_ppdu_options(options);
        check();
    }

    std::size_t items_per_frame() const
    {
        return d_ppdu ? d_ppdu->coded_bits() : code().sent();
    }
    std::size_t output_items() const
    {
        const bool all = d_options.codeword || soft();
        const std::size_t bits = d_ppdu ? d_ppdu->payload_bits()
                                 : all  ? code().n()
                                        : code().k();
        return items_of(bits, d_packed && !soft());
    }

    void decode(const void* in, std::size_t frames, void* out, status* statuses)
    {
        if (d_ppdu) {
            if (place_of(in).kind == memory_kind::device) {
                refuse("values", "in device memory", "PPDUs must be in host memory");
            }
            decode_on_host(in, frames, out, statuses);
            return;
        }
        // A device also decodes pinned input, which saves a copy by the host.
        if (!decoded_on_device(place_of(in), true, [&](device_ldpc& device) {
                device.decode({ static_cast<const std::byte*>(in),
                                static_cast<std::byte*>(out),
                                d_check },
                              frames,
                              statuses);
            })) {
            decode_on_host(in, frames, out, statuses);
            return;
        }
        frame_judge judge(d_options, {});
        judge_first(judge, in, frames * code().sent(), d_options.item_bytes());
        for (std::size_t f = 0; f < frames; ++f) {
            judge.count(statuses[f].unsatisfied == 0);
        }
        judge.conclude();
        d_verdict = judge.verdict();
    }

    const std::string& verdict() const { return d_verdict; }

private:
    const ldpc_code& code() const { return d_options.codes[0]; }

    void check() const
    {
        make_setup(d_options); // throws for invalid options
        check_run_options(d_options, traits::max_work_items);
    }

    ldpc_decoder::sptr make_host() const override
    {
        return d_ppdu ? make_wifi_ppdu_decoder(*d_ppdu, d_options)
                      : ldpc_decoder::make(d_options);
    }
    std::unique_ptr<device_ldpc> make_device(int number) const override
    {
        return make_device_ldpc(d_options, d_packed, number);
    }

    void decode_on_host(const void* in, std::size_t frames, void* out, status* statuses)
    {
        fresh_start fresh(host());
        const auto* const bytes = static_cast<const std::byte*>(in);
        auto* const to = static_cast<std::uint8_t*>(out);
        const std::size_t items = frames * items_per_frame(),
                          capacity = frames * output_items();
        std::size_t written = 0;
        drive(
            host(),
            d_check,
            items,
            [&](std::size_t taken) {
                return host().push(
                    { bytes + taken * d_options.item_bytes(), items - taken });
            },
            [&] {
                const auto n = pull(to + written, capacity - written);
                written += n;
                if (const auto s = host().status()) {
                    statuses[s->frame] = *s;
                }
                return n > 0;
            });
        d_verdict = host().verdict();
    }

    bool soft() const { return d_options.soft != ldpc_soft_output::none; }

    std::size_t pull(std::uint8_t* to, std::size_t capacity)
    {
        return soft() ? host().pull({ reinterpret_cast<std::int8_t*>(to), capacity })
                      : host().pull({ to, capacity, d_packed });
    }

    const bool d_packed;
    const std::optional<wifi_ppdu> d_ppdu; // empty if frames are codewords
    std::string d_verdict;
};

ldpc_array_decoder::ldpc_array_decoder(const ldpc_options& options, bool packed_output)
    : d_impl(std::make_unique<impl>(options, packed_output))
{
}
ldpc_array_decoder::ldpc_array_decoder(const wifi_ppdu& ppdu,
                                       const ldpc_options& options,
                                       bool packed_output)
    : d_impl(std::make_unique<impl>(ppdu, options, packed_output))
{
}
ldpc_array_decoder::~ldpc_array_decoder() = default;

std::size_t ldpc_array_decoder::items_per_frame() const
{
    return d_impl->items_per_frame();
}
std::size_t ldpc_array_decoder::output_items() const { return d_impl->output_items(); }
void ldpc_array_decoder::decode(const void* in,
                                std::size_t frames,
                                void* out,
                                status* statuses)
{
    d_impl->decode(in, frames, out, statuses);
}
void ldpc_array_decoder::set_check(std::function<void()> check)
{
    d_impl->d_check = std::move(check);
}
const std::string& ldpc_array_decoder::verdict() const { return d_impl->verdict(); }
std::string ldpc_array_decoder::active_backend() const
{
    return d_impl->active_backend();
}
std::string ldpc_array_decoder::active_device() const { return d_impl->active_device(); }

} // namespace gr::gpufec
