// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Decoding of arrays of items received from a channel with insertions and deletions. */

#include "array_decoder.h"
#include "common/refuse.h"
#include "drive.h"
#include "pipeline/stream_decoder.h"
#include "sync_map/stream/traits.h"
#include <cstring>
#include <utility>

namespace gr::gpufec {

namespace {

// Received frames in framed mode, with the arguments of sync_array_decoder::decode().
struct received_frames {
    const std::byte* items;
    const std::uint64_t *begins, *lengths; // one entry per received copy
    std::size_t count;
    const float* priors; // q weights for each symbol of each frame; null: uniform priors
};

} // namespace

class sync_array_decoder::impl
    : public array_decoder<sync_reads_options, sync_decoder, device_sync>
{
public:
    explicit impl(const sync_reads_options& options) : array_decoder(options)
    {
        check_reads(options);
        if (options.reads > 1) {
            d_several = sync_reads_decoder::make(options);
            return;
        }
        d_setup.emplace(sync_map::make_setup(options));
        check_run_options(options, sync_map::traits::max_work_items);
    }

    std::size_t frame_bytes() const
    {
        return d_several ? d_several->symbol_bytes() * d_options.code.frame_symbols()
                         : d_setup->symbol_bytes() * d_setup->outputs;
    }

    std::string active_backend() const
    {
        return d_several ? d_several->active_backend() : array_decoder::active_backend();
    }
    std::string active_device() const
    {
        return d_several ? d_several->active_device() : array_decoder::active_device();
    }

    void decode_framed(const received_frames& in, std::byte* out, sync_status* statuses)
    {
        const auto place = place_of(in.items);
        require(place.kind != memory_kind::device || (!in.priors && !d_several),
                "items",
                "in device memory with priors or several reads",
                "items in host memory");
        // A device also decodes pinned items, which saves a copy by the host.
        if (!in.priors && !d_several &&
            decoded_on_device(place, true, [&](device_sync& device) {
                device.decode({ in.items, out, d_check },
                              in.begins,
                              in.lengths,
                              in.count,
                              statuses);
            })) {
            return;
        }
        const auto decode = [&](auto& with) {
            const auto row = frame_bytes();
            decode_frames(with, in, [&](const auto& f) {
                std::memcpy(out + f.number * row, f.output, f.output_bytes);
                statuses[f.number] = f.status;
            });
        };
        d_several ? decode(*d_several) : decode(host());
    }

    // Decodes the items that \p push passes to the decoder (see drive()), and calls
    // each(frame) with the decoded frames in order.
    template <class Decoder, class Push, class Each>
    void
    decode(Decoder& with, std::size_t items, Push&& push, Each&& each, bool last = true)
    {
        fresh_start fresh(with, std::exchange(d_begun, false));
        drive(
            with,
            d_check,
            items,
            push,
            [&] {
                sync_decoder::frame f;
                const bool some = with.pull(f);
                if (some) {
                    each(f);
                }
                return some;
            },
            last);
        d_begun = !last && fresh.keep();
    }

    // Decodes frames, each of which was received d_options.reads times. Calls each(frame)
    // with each decoded frame.
    template <class Decoder, class Each>
    void decode_frames(Decoder& with, const received_frames& in, Each&& each)
    {
        const auto values =
            std::size_t(d_options.code.frame_symbols()) * d_options.code.q();
        const auto reads = in.count * d_options.reads;
        const auto push = [&](std::size_t r) {
            return with.push_frame(
                { in.items + in.begins[r] * item_bytes(), in.lengths[r] },
                in.priors ? in.priors + r / d_options.reads * values : nullptr);
        };
        decode(
            with,
            reads,
            [&](std::size_t pushed) {
                auto next = pushed;
                while (next < reads && push(next)) {
                    ++next;
                }
                return next - pushed;
            },
            each);
    }

    std::size_t item_bytes() const { return d_options.item_bytes(); }

    using array_decoder::d_options;
    using array_decoder::host;

private:
    std::unique_ptr<device_sync> make_device(int number) const override
    {
        return make_device_sync(d_options, number);
    }

    sync_reads_decoder::sptr d_several; // empty if each frame is received once
    std::optional<sync_map::setup> d_setup;
    bool d_begun = false; // whether a stream has begun but not ended
};

sync_array_decoder::sync_array_decoder(const sync_reads_options& options)
    : d_impl(std::make_unique<impl>(options))
{
}
sync_array_decoder::~sync_array_decoder() = default;

std::size_t sync_array_decoder::frame_bytes() const { return d_impl->frame_bytes(); }
unsigned sync_array_decoder::reads() const { return d_impl->d_options.reads; }

void sync_array_decoder::decode(const void* items,
                                const std::uint64_t* begins,
                                const std::uint64_t* lengths,
                                std::size_t count,
                                const float* priors,
                                void* out,
                                sync_status* statuses)
{
    require(d_impl->d_options.mode == sync_mode::framed, "mode", "stream", "framed");
    d_impl->decode_framed(
        { static_cast<const std::byte*>(items), begins, lengths, count, priors },
        static_cast<std::byte*>(out),
        statuses);
}

sync_array_decoder::frames
sync_array_decoder::decode_stream(const void* items, std::size_t count, bool last)
{
    require(d_impl->d_options.mode == sync_mode::stream, "mode", "framed", "stream");
    const auto* const bytes = static_cast<const std::byte*>(items);
    frames found;
    auto& decoder = d_impl->host();
    d_impl->decode(
        decoder,
        count,
        [&](std::size_t pushed) {
            return decoder.push(
                { bytes + pushed * d_impl->item_bytes(), count - pushed });
        },
        [&](const sync_decoder::frame& f) {
            const auto* const output = static_cast<const std::uint8_t*>(f.output);
            found.output.insert(found.output.end(), output, output + f.output_bytes);
            found.statuses.push_back(f.status);
            found.begins.push_back(f.begin);
            found.locked.push_back(f.locked);
        },
        last);
    return found;
}

void sync_array_decoder::set_check(std::function<void()> check)
{
    d_impl->d_check = std::move(check);
}
std::string sync_array_decoder::active_backend() const
{
    return d_impl->active_backend();
}
std::string sync_array_decoder::active_device() const { return d_impl->active_device(); }

} // namespace gr::gpufec
