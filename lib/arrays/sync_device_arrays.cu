// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Decoding of arrays from a channel with insertions and deletions, on CUDA devices. */

#include "device_arrays.cuh"
#include "sync_map/stream/traits.h"
#include <cmath>
#include <cstring>

namespace gr::gpufec {

using namespace cuda;
using namespace cuda::arrays;

namespace {

// Decoder of frames in framed mode, without priors.
class device_sync_arrays final
    : public device_arrays<device_sync, sync_map::traits, frames_slot>
{
public:
    device_sync_arrays(const sync_options& options, int device)
        : device_arrays(sync_map::make_setup(options), options, device),
          d_limits(d_setup.limits(d_work_items)),
          d_layout(d_setup.placed_input(d_work_items)),
          d_log_item(std::log(d_setup.item_weight))
    {
        for (auto& s : d_slots) {
            ensure(s.output, d_limits.output_bytes);
            s.allocate(d_limits.status_bytes, d_layout.items_at);
        }
    }

    void decode(const device_call& call,
                const std::uint64_t* begins,
                const std::uint64_t* lengths,
                std::size_t frames,
                sync_status* statuses) override
    {
        const auto batches = cut(begins, lengths, frames);
        run(
            batches.size(),
            [&](frames_slot& s, unsigned number, std::size_t b) {
                s.first = batches[b];
                s.frames = (b + 1 < batches.size() ? batches[b + 1] : frames) - s.first;
                fill(s, number, call, begins + s.first, lengths + s.first);
            },
            [&](frames_slot& s) {
                empty(s, call, lengths + s.first, statuses + s.first);
                call.check();
                return true;
            });
    }

private:
    // Returns \p length, or 0 if a frame of that length cannot be decoded.
    std::uint64_t decodable_length(std::uint64_t length) const
    {
        return std::max(0, sync_map::length_of_frame(d_setup, length));
    }

    // Divides the frames into batches, and returns the index of each batch's first frame.
    // A batch has at most d_work_items frames, for which a slot has memory. A batch also
    // ends before a frame that begins before the batch's first frame, or that would
    // extend the range of the batch's items beyond d_layout.item_capacity.
    std::vector<std::size_t> cut(const std::uint64_t* begins,
                                 const std::uint64_t* lengths,
                                 std::size_t frames) const
    {
        std::vector<std::size_t> first;
        for (std::size_t f = 0; f < frames; ++f) {
            const bool open =
                !first.empty() && f - first.back() < d_work_items &&
                begins[f] >= begins[first.back()] &&
                begins[f] + decodable_length(lengths[f]) - begins[first.back()] <=
                    d_layout.item_capacity;
            if (!open) {
                first.push_back(f);
            }
        }
        return first;
    }

    void fill(frames_slot& s,
              unsigned number,
              const device_call& call,
              const std::uint64_t* begins,
              const std::uint64_t* lengths)
    {
        auto* const table = reinterpret_cast<sync_map::placed_frame*>(s.table->data());
        sync_map::job j{ s.frames };
        j.placed = j.borrowed = true;
        for (std::size_t f = 0; f < s.frames; ++f) {
            const auto length = sync_map::length_of_frame(d_setup, lengths[f]);
            const auto at = length > 0 ? begins[f] - begins[0] : 0;
            table[f] = { length, std::uint32_t(at) };
            j.items = std::max<std::size_t>(j.items, at + std::max(0, length));
        }
        submit(s,
               number,
               j,
               { call.in + begins[0] * d_setup.item_bytes(),
                 s.output_bytes(),
                 s.statuses->data(),
                 s.table->data() });
    }

    void empty(const frames_slot& s,
               const device_call& call,
               const std::uint64_t* lengths,
               sync_status* statuses)
    {
        const auto row = d_setup.outputs * d_setup.symbol_bytes();
        give_rows(s,
                  s.output->get(),
                  d_setup.output_bytes(),
                  row,
                  s.frames,
                  call.out + s.first * row);
        std::memcpy(statuses, s.statuses->data(), s.frames * sizeof(sync_status));
        for (std::size_t f = 0; f < s.frames; ++f) {
            statuses[f].log_probability -= double(lengths[f]) * d_log_item;
        }
    }

    const batch_limits d_limits;
    const sync_map::setup::placed_batch d_layout;
    const double d_log_item;
};

} // namespace

std::unique_ptr<device_sync> make_device_sync(const sync_options& options, int device)
{
    auto symbols_alone = options;
    symbols_alone.drifts = false;
    return std::make_unique<device_sync_arrays>(symbols_alone, device);
}

} // namespace gr::gpufec
