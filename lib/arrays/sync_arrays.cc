// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Arrays of received items. */

#include "drive.h"
#include "pipeline/refuse.h"
#include <gnuradio/gpufec/arrays.h>
#include <cstring>

namespace gr::gpufec {

class sync_array_decoder::impl
{
public:
    explicit impl(const sync_options& options) : d_options(options), d_decoder(options) {}

    std::size_t frame_bytes() const
    {
        return d_decoder.symbol_bytes() * d_options.code.frame_symbols();
    }

    // Calls each(frame) with what is decoded, in order.
    template <class Push, class Each>
    void decode(Push&& push, Each&& each)
    {
        fresh_start fresh(d_decoder);
        drive(d_decoder, push, [&] {
            sync_decoder::frame f;
            const bool some = d_decoder.pull(f);
            if (some) {
                each(f);
            }
            return some;
        });
    }

    std::size_t item_bytes() const { return d_options.soft_input ? sizeof(float) : 1; }

    const sync_options d_options;
    sync_decoder d_decoder;
};

sync_array_decoder::sync_array_decoder(const sync_options& options)
    : d_impl(std::make_unique<impl>(options))
{
}
sync_array_decoder::~sync_array_decoder() = default;

std::size_t sync_array_decoder::frame_bytes() const { return d_impl->frame_bytes(); }

void sync_array_decoder::decode(const void* items,
                                const std::uint64_t* begins,
                                const std::uint64_t* lengths,
                                std::size_t count,
                                const float* priors,
                                void* out,
                                sync_status* statuses)
{
    const auto* const bytes = static_cast<const std::byte*>(items);
    const auto& options = d_impl->d_options;
    require(options.mode == sync_mode::framed, "mode", "stream", "framed");
    const std::size_t priors_per_frame =
        std::size_t(options.code.frame_symbols()) * options.code.q();
    std::size_t pushed = 0;
    d_impl->decode(
        [&](bool& all) {
            bool some = false;
            while (pushed < count &&
                   d_impl->d_decoder.push_frame(
                       bytes + begins[pushed] * d_impl->item_bytes(),
                       lengths[pushed],
                       priors ? priors + pushed * priors_per_frame : nullptr)) {
                ++pushed;
                some = true;
            }
            all = pushed == count;
            return some;
        },
        [&](const sync_decoder::frame& f) {
            std::memcpy(static_cast<std::byte*>(out) + f.number * frame_bytes(),
                        f.output,
                        f.output_bytes);
            statuses[f.number] = f.status;
        });
}

sync_array_decoder::frames sync_array_decoder::decode_stream(const void* items,
                                                             std::size_t count)
{
    require(d_impl->d_options.mode == sync_mode::stream, "mode", "framed", "stream");
    const auto* const bytes = static_cast<const std::byte*>(items);
    frames found;
    std::size_t pushed = 0;
    d_impl->decode(
        [&](bool& all) {
            const auto n = d_impl->d_decoder.push(bytes + pushed * d_impl->item_bytes(),
                                                  count - pushed);
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
    return d_impl->d_decoder.active_backend();
}
std::string sync_array_decoder::active_device() const
{
    return d_impl->d_decoder.active_device();
}

} // namespace gr::gpufec
