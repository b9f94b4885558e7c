// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Arrays of received items. */

#include "drive.h"
#include "pipeline/refuse.h"
#include <gnuradio/gpufec/arrays.h>
#include <cstring>
#include <optional>

namespace gr::gpufec {

class sync_array_decoder::impl
{
public:
    explicit impl(const sync_reads_options& options) : d_options(options)
    {
        check_reads(options);
        if (options.reads == 1) {
            d_one.emplace(options);
        } else {
            d_several.emplace(options);
        }
    }

    std::size_t frame_bytes() const
    {
        const auto symbol_bytes =
            d_one ? d_one->symbol_bytes() : d_several->symbol_bytes();
        return symbol_bytes * d_options.code.frame_symbols();
    }

    const decoder& any() const
    {
        return d_one ? static_cast<const decoder&>(*d_one) : *d_several;
    }

    // Calls each(frame) with what is decoded, in order.
    template <class Decoder, class Push, class Each>
    void decode(Decoder& with, Push&& push, Each&& each)
    {
        fresh_start fresh(with);
        drive(with, push, [&] {
            sync_decoder::frame f;
            const bool some = with.pull(f);
            if (some) {
                each(f);
            }
            return some;
        });
    }

    // Reads from \p items, whose frames are given to each(frame).
    template <class Decoder, class Each>
    void decode_frames(Decoder& with,
                       const std::byte* items,
                       const std::uint64_t* begins,
                       const std::uint64_t* lengths,
                       std::size_t count,
                       const float* priors,
                       Each&& each)
    {
        const auto values =
            std::size_t(d_options.code.frame_symbols()) * d_options.code.q();
        const auto reads = count * d_options.reads;
        std::size_t pushed = 0;
        const auto push_next = [&] {
            return with.push_frame(items + begins[pushed] * item_bytes(),
                                   lengths[pushed],
                                   priors ? priors + pushed / d_options.reads * values
                                          : nullptr);
        };
        decode(
            with,
            [&](bool& all) {
                bool some = false;
                while (pushed < reads && push_next()) {
                    ++pushed;
                    some = true;
                }
                all = pushed == reads;
                return some;
            },
            each);
    }

    std::size_t item_bytes() const { return d_options.item_bytes(); }

    const sync_reads_options d_options;
    std::optional<sync_decoder> d_one;
    std::optional<sync_reads_decoder> d_several;
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
    const auto* const bytes = static_cast<const std::byte*>(items);
    require(d_impl->d_options.mode == sync_mode::framed, "mode", "stream", "framed");
    const auto decode = [&](auto& with) {
        d_impl->decode_frames(with,
                              bytes,
                              begins,
                              lengths,
                              count,
                              priors,
                              [&](const sync_decoder::frame& f) {
                                  std::memcpy(static_cast<std::byte*>(out) +
                                                  f.number * frame_bytes(),
                                              f.output,
                                              f.output_bytes);
                                  statuses[f.number] = f.status;
                              });
    };
    d_impl->d_one ? decode(*d_impl->d_one) : decode(*d_impl->d_several);
}

sync_array_decoder::frames sync_array_decoder::decode_stream(const void* items,
                                                             std::size_t count)
{
    require(d_impl->d_options.mode == sync_mode::stream, "mode", "framed", "stream");
    const auto* const bytes = static_cast<const std::byte*>(items);
    frames found;
    std::size_t pushed = 0;
    auto& decoder = *d_impl->d_one;
    d_impl->decode(
        decoder,
        [&](bool& all) {
            const auto n =
                decoder.push(bytes + pushed * d_impl->item_bytes(), count - pushed);
            pushed += n;
            all = pushed == count;
            return n > 0;
        },
        [&](const sync_decoder::frame& f) {
            const auto* const output = static_cast<const std::uint8_t*>(f.output);
            found.output.insert(found.output.end(), output, output + f.output_bytes);
            found.statuses.push_back(f.status);
            found.begins.push_back(f.begin);
            found.locked.push_back(f.locked);
        });
    return found;
}

std::string sync_array_decoder::active_backend() const
{
    return d_impl->any().active_backend();
}
std::string sync_array_decoder::active_device() const
{
    return d_impl->any().active_device();
}

} // namespace gr::gpufec
