// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Arrays of soft values. */

#include "array_decoder.h"
#include "drive.h"
#include "pipeline/stream_decoder.h"
#include "viterbi/room.h"
#include <cmath>
#include <limits>

namespace gr::gpufec {

using namespace viterbi;

class viterbi_array_decoder::impl
    : public array_decoder<viterbi_options, viterbi_decoder, device_viterbi>
{
public:
    impl(const viterbi_options& options, bool packed, std::uint64_t expected)
        : array_decoder(options), d_packed(packed), d_setup(make_setup(options))
    {
        check_run_options(options, room::most_pieces);
        require(std::isfinite(options.soft_scale) && options.soft_scale > 0,
                "soft_scale",
                options.soft_scale,
                "finite values above 0");
        if (expected > 0) {
            d_options.most = std::min<std::uint64_t>(pieces(expected), room::most_pieces);
        }
    }

    // Parallel blocks of so many items.
    std::uint64_t pieces(std::uint64_t items) const
    {
        const auto& plan = d_setup.plan;
        if (!plan.streaming()) {
            return (items / items_per_frame() + 1) * plan.blocks_per_frame;
        }
        const auto stages = d_setup.code.stages(items * (d_setup.packed4 ? 2 : 1));
        return stages / plan.decode_length + 1;
    }

    const block_plan& plan() const { return d_setup.plan; }

    std::uint64_t items_per_frame() const
    {
        return d_setup.plan.streaming() ? 0 : d_setup.frame_input_bytes();
    }

    std::uint64_t output_items(std::uint64_t items) const
    {
        const std::uint64_t values = items * (d_setup.packed4 ? 2 : 1);
        if (d_setup.plan.streaming()) {
            const auto bits = d_setup.code.stages(values);
            return d_packed ? (bits + 7) / 8 : bits;
        }
        const std::uint64_t bits = d_setup.plan.frame_bits;
        return items / items_per_frame() * (d_packed ? (bits + 7) / 8 : bits);
    }

    status decode(const void* in, std::uint64_t items, void* out)
    {
        const auto from = place_of(in);
        // Page-locked floats are converted by the device.
        if (decoded_on_device(from,
                              d_options.format == soft_format::float32,
                              [&](device_viterbi& device) {
                                  device.decode({ static_cast<const std::byte*>(in),
                                                  static_cast<std::byte*>(out) },
                                                items);
                              })) {
            constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
            return { unknown, unknown };
        }
        fresh_start fresh(host());
        const bool lend = from.kind == memory_kind::page_locked && host().can_lend() &&
                          host().active_backend() == "cuda";
        const std::size_t item_bytes =
            d_options.format == soft_format::float32 ? sizeof(float) : 1;
        const auto* const bytes = static_cast<const std::byte*>(in);
        auto* const to = static_cast<std::uint8_t*>(out);
        const auto room = output_items(items);
        std::uint64_t taken = 0, back = 0, given = 0;
        status sum{ 0, 0 };
        std::size_t places = 0;
        drive(
            host(),
            [&](bool& all) {
                const auto n =
                    lend ? host().lend(bytes + back, items - back)
                         : host().push(bytes + taken * item_bytes, items - taken);
                taken += n;
                all = taken == items;
                return n > 0;
            },
            [&] {
                const auto n = d_packed ? host().pull_packed(to + given, room - given)
                                        : host().pull_bits(to + given, room - given);
                given += n;
                back += host().take_back();
                viterbi_decoder::batch_statistics s;
                while (host().take_stream_statistics(s)) {
                    sum.channel_error_rate += s.channel_error_rate;
                    sum.metric += s.metric;
                    ++places;
                }
                return n > 0;
            });
        return { sum.channel_error_rate / places, sum.metric / places };
    }

private:
    std::unique_ptr<device_viterbi> make_device(int number) const override
    {
        return make_device_viterbi(d_options, d_packed, number);
    }

    const bool d_packed;
    const setup d_setup;
};

viterbi_array_decoder::viterbi_array_decoder(const viterbi_options& options,
                                             bool packed_output,
                                             std::uint64_t expected)
    : d_impl(std::make_unique<impl>(options, packed_output, expected))
{
}
viterbi_array_decoder::~viterbi_array_decoder() = default;

unsigned viterbi_array_decoder::decode_length() const
{
    return d_impl->plan().decode_length;
}
unsigned viterbi_array_decoder::overlap() const { return d_impl->plan().overlap; }
std::uint64_t viterbi_array_decoder::items_per_frame() const
{
    return d_impl->items_per_frame();
}
std::uint64_t viterbi_array_decoder::output_items(std::uint64_t items) const
{
    return d_impl->output_items(items);
}
viterbi_array_decoder::status
viterbi_array_decoder::decode(const void* in, std::uint64_t items, void* out)
{
    return d_impl->decode(in, items, out);
}
std::string viterbi_array_decoder::active_backend() const
{
    return d_impl->active_backend();
}
std::string viterbi_array_decoder::active_device() const
{
    return d_impl->active_device();
}

} // namespace gr::gpufec
