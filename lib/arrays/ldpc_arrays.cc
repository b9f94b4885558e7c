// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Arrays of channel values. */

#include "device_arrays.h"
#include "drive.h"
#include "ldpc/room.h"
#include "pipeline/refuse.h"
#include "pipeline/stream_decoder.h"
#include <optional>

namespace gr::gpufec {

using namespace ldpc;

class ldpc_array_decoder::impl
{
public:
    impl(const ldpc_options& options, bool packed) : d_options(options), d_packed(packed)
    {
        make_setup(options); // refuses what cannot be decoded
        require(options.codes.size() == 1, "number of codes", options.codes.size(), "1");
        check_run_options(options, room::most_pieces);
    }

    const ldpc_code& code() const { return d_options.codes[0]; }

    std::size_t output_items() const
    {
        const std::size_t bits = d_options.codeword ? code().n() : code().k();
        return d_packed ? (bits + 7) / 8 : bits;
    }

    void decode(const void* in, std::size_t frames, void* out, status* statuses)
    {
        const auto from = place_of(in);
        d_on_device = nullptr;
        if (from.kind == memory_kind::device) {
            decode_on_device(from.device, in, frames, out, statuses);
            return;
        }
        // Page-locked input needs no copy of the host's. Where that fails, the host's
        // decoder has its own way of going on.
        if (from.kind == memory_kind::page_locked && d_options.where != backend::cpu &&
            d_options.devices.size() == 1) {
            try {
                decode_on_device(d_options.devices[0], in, frames, out, statuses);
                return;
            } catch (const std::runtime_error&) {
                d_on_device = nullptr;
                d_device.reset();
                if (d_options.where == backend::cuda) {
                    throw;
                }
            }
        }
        decode_on_host(in, frames, out, statuses);
    }

    std::string active_backend() const
    {
        return d_on_device ? "cuda" : d_host ? d_host->active_backend() : "";
    }
    std::string active_device() const
    {
        return d_on_device ? d_on_device->device()
               : d_host    ? d_host->active_device()
                           : "";
    }

private:
    ldpc_decoder& host()
    {
        if (!d_host) {
            d_host.emplace(d_options);
        }
        return *d_host;
    }

    void decode_on_host(const void* in, std::size_t frames, void* out, status* statuses)
    {
        fresh_start fresh(host());
        const std::size_t item_bytes =
            d_options.format == llr_format::float32 ? sizeof(float) : 1;
        const auto* const bytes = static_cast<const std::byte*>(in);
        auto* const to = static_cast<std::uint8_t*>(out);
        const std::size_t items = frames * code().sent(), room = frames * output_items();
        std::size_t taken = 0, given = 0;
        drive(
            host(),
            [&](bool& all) {
                const auto n = host().push(bytes + taken * item_bytes, items - taken);
                taken += n;
                all = taken == items;
                return n > 0;
            },
            [&] {
                const auto n = d_packed ? host().pull_packed(to + given, room - given)
                                        : host().pull_bits(to + given, room - given);
                given += n;
                ldpc_decoder::report r;
                if (host().take_report(r)) {
                    statuses[r.frame] = { r.iterations, r.unsatisfied };
                }
                return n > 0;
            });
    }

    void decode_on_device(
        int device, const void* in, std::size_t frames, void* out, status* statuses)
    {
        if (!d_device || d_device_number != device) {
            d_device = make_device_ldpc(d_options, d_packed, device);
            d_device_number = device;
        }
        d_on_device = d_device.get();
        d_device->decode(
            { static_cast<const std::byte*>(in), static_cast<std::byte*>(out) },
            frames,
            statuses);
    }

    const ldpc_options d_options;
    const bool d_packed;
    std::optional<ldpc_decoder> d_host;
    std::unique_ptr<device_ldpc> d_device;
    int d_device_number = -1;
    const device_ldpc* d_on_device = nullptr; // what decoded last, if it was that
};

ldpc_array_decoder::ldpc_array_decoder(const ldpc_options& options, bool packed_output)
    : d_impl(std::make_unique<impl>(options, packed_output))
{
}
ldpc_array_decoder::~ldpc_array_decoder() = default;

std::size_t ldpc_array_decoder::items_per_frame() const { return d_impl->code().sent(); }
std::size_t ldpc_array_decoder::output_items() const { return d_impl->output_items(); }
void ldpc_array_decoder::decode(const void* in,
                                std::size_t frames,
                                void* out,
                                status* statuses)
{
    d_impl->decode(in, frames, out, statuses);
}
std::string ldpc_array_decoder::active_backend() const
{
    return d_impl->active_backend();
}
std::string ldpc_array_decoder::active_device() const { return d_impl->active_device(); }

} // namespace gr::gpufec
