// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Viterbi decoding of arrays of soft values. */

#include "array_decoder.h"
#include "common/packed_bits.h"
#include "common/ranges.h"
#include "drive.h"
#include "pipeline/stream_decoder.h"
#include "viterbi/phase_lock/lock_plan.h"
#include "viterbi/stream/signal_judge.h"
#include "viterbi/stream/traits.h"
#include <gnuradio/gpufec/pinned_memory.h>
#include <limits>
#include <utility>

namespace gr::gpufec {

using namespace viterbi;

class viterbi_array_decoder::impl
    : public array_decoder<viterbi_options, viterbi_decoder, device_viterbi>
{
public:
    impl(const viterbi_options& options, bool packed, std::uint64_t expected)
        : array_decoder(options), d_packed(packed), d_setup(make_setup(options))
    {
        check_run_options(options, traits::max_work_items);
        require_above_0("soft_scale", options.soft_scale);
        if (searches()) {
            const lock_plan checked(options);
        }
        if (expected > 0) {
            d_options.max_batch =
                std::min<std::uint64_t>(work_items(expected), traits::max_work_items);
        }
    }

    // Returns a number of parallel blocks that suffices for an array of \p items items.
    std::uint64_t work_items(std::uint64_t items) const
    {
        const auto& plan = d_setup.plan;
        if (!plan.streaming()) {
            return (items / items_per_frame() + 1) * plan.blocks_per_frame;
        }
        const auto stages = d_setup.code.stages(items * (d_setup.packed4 ? 2 : 1));
        return stages / plan.decode_length + 1;
    }

    const block_layout& plan() const { return d_setup.plan; }

    std::uint64_t items_per_frame() const
    {
        return d_setup.plan.streaming() ? 0 : d_setup.frame_input_bytes();
    }

    std::uint64_t output_items(std::uint64_t items) const
    {
        const std::uint64_t values = items * (d_setup.packed4 ? 2 : 1);
        if (d_setup.plan.streaming()) {
            const auto bits = d_setup.code.stages(values);
            return items_of(bits, d_packed);
        }
        require(items % items_per_frame() == 0,
                "items",
                items,
                "multiples of " + std::to_string(items_per_frame()) +
                    ", the items of a frame");
        const std::uint64_t bits = d_setup.plan.frame_bits;
        return items / items_per_frame() * items_of(bits, d_packed);
    }

    status decode(const void* in, std::uint64_t items, void* out)
    {
        require(
            !searches(),
            "lock",
            "\"auto\"",
            "\"off\" in decode(), because the length of the output is not known before "
            "decoding; use decode_stream()");
        const auto from = place_of(in);
        const auto capacity = output_items(items);
        // A device also decodes pinned floats, which saves a conversion by the host.
        // Pinned bytes need no conversion, and the stream decoder reads them in place.
        if (decoded_on_device(from,
                              d_options.format == soft_format::float32,
                              [&](device_viterbi& device) {
                                  device.decode({ static_cast<const std::byte*>(in),
                                                  static_cast<std::byte*>(out),
                                                  d_check },
                                                items);
                              })) {
            constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
            signal_judge judge(d_options, {});
            judge_first(judge, in, items, item_bytes(d_options.format));
            judge.conclude();
            return { unknown, unknown, judge.chance_error_rate(), judge.verdict() };
        }
        fresh_start fresh(host());
        d_means = {};
        d_begun = false;
        const bool borrow = from.kind == memory_kind::page_locked &&
                            pinned_input::bytes_needed(host()) > 0 &&
                            host().active_backend() == "cuda";
        pinned_input input(host());
        const auto* const bytes = static_cast<const std::byte*>(in);
        auto* const to = static_cast<std::uint8_t*>(out);
        std::uint64_t back = 0, written = 0;
        drive(
            host(),
            d_check,
            items,
            [&](std::uint64_t taken) {
                return borrow ? input.borrow(bytes + back, items - back)
                              : push(bytes, taken, items);
            },
            [&] {
                const auto n = pull(to + written, capacity - written);
                written += n;
                back += input.release();
                return n > 0;
            });
        return measured();
    }

    std::vector<std::uint8_t>
    decode_stream(const void* in, std::uint64_t items, bool last, status* so_far)
    {
        require(plan().streaming() || searches(),
                "frame_bits",
                plan().frame_bits,
                "0 in decode_stream() without a phase search");
        if (place_of(in).kind == memory_kind::device) {
            throw std::invalid_argument("in is in device memory: decode_stream() "
                                        "requires input in host memory");
        }
        auto& d = host();
        if (!d_begun) {
            d_means = {};
        }
        fresh_start fresh(d, std::exchange(d_begun, false));
        const auto* const bytes = static_cast<const std::byte*>(in);
        std::vector<std::uint8_t> out;
        std::uint64_t written = 0;
        drive(
            d,
            d_check,
            items,
            [&](std::uint64_t taken) { return push(bytes, taken, items); },
            [&] {
                constexpr std::size_t most = 1 << 16;
                out.resize(written + most);
                const auto n = pull(out.data() + written, most);
                written += n;
                return n > 0;
            },
            last);
        out.resize(written);
        d_begun = !last && fresh.keep();
        if (so_far) {
            *so_far = measured();
        }
        return out;
    }

private:
    struct means {
        double channel_error_rate = 0, metric = 0;
        std::size_t places = 0;
    };

    bool searches() const { return d_options.lock == "auto"; }

    // Returns the statistics of the stream so far, and the lock changes since the last
    // call.
    status measured()
    {
        status s{ d_means.channel_error_rate / d_means.places,
                  d_means.metric / d_means.places,
                  host().chance_error_rate(),
                  host().verdict(),
                  host().lock() };
        for (viterbi_lock change; host().take_lock(change);) {
            s.lock_changes.push_back(change);
        }
        return s;
    }

    // Pushes the items from number \p taken on, and returns how many were pushed.
    std::size_t push(const std::byte* all, std::uint64_t taken, std::uint64_t items)
    {
        return host().push({ all + taken * item_bytes(d_options.format), items - taken });
    }

    std::size_t pull(std::uint8_t* to, std::uint64_t capacity)
    {
        const auto n = host().pull({ to, capacity, d_packed });
        viterbi_decoder::batch_statistics s;
        while (host().take_stream_statistics(s)) {
            d_means.channel_error_rate += s.channel_error_rate;
            d_means.metric += s.metric;
            ++d_means.places;
        }
        return n;
    }

    std::unique_ptr<device_viterbi> make_device(int number) const override
    {
        return make_device_viterbi(d_options, d_packed, number);
    }

    const bool d_packed;
    const setup d_setup;
    means d_means;
    bool d_begun = false; // whether a stream has begun but not ended
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
void viterbi_array_decoder::set_check(std::function<void()> check)
{
    d_impl->d_check = std::move(check);
}
std::vector<std::uint8_t> viterbi_array_decoder::decode_stream(const void* in,
                                                               std::uint64_t items,
                                                               bool last,
                                                               status* so_far)
{
    return d_impl->decode_stream(in, items, last, so_far);
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
