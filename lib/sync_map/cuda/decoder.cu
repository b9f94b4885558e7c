// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The CUDA backend: slots in flight on a device, each with a stream and memory, the
 * kernel that writes the input of placed frames, and the default size of a batch. */

#include "boundary_matches.cuh"
#include "cuda/device_decoder.h"
#include "plans.h"
#include "sync_map/stream/traits.h"
#include <algorithm>
#include <vector>

namespace gr::gpufec::sync_map {

namespace {

using namespace cuda;

constexpr unsigned row_threads = 128;

// Copies placed frames, given their offsets and lengths in a batch's items, to the frame
// input that the decoding kernels read, one frame per block at a time. \p first: first
// drift of the window. \p ends: start metrics of all frames, then their end metrics if \p
// same_ends is true.
__global__ void __launch_bounds__(row_threads) write_rows(const sync_geometry g,
                                                          int first,
                                                          unsigned item_bytes,
                                                          bool same_ends,
                                                          const placed_frame* places,
                                                          const double* ends,
                                                          const std::byte* items,
                                                          std::byte* rows)
{
    for (unsigned f = blockIdx.x; f < g.frames; f += gridDim.x) {
        const placed_frame place = places[f];
        std::byte* const row = rows + f * g.input_bytes;
        if (threadIdx.x == 0) {
            *reinterpret_cast<frame_header*>(row) = { place.length, 0, first, 0 };
        }
        const bool known = place.length >= 0;
        const std::int64_t last =
            std::int64_t(place.length) - std::int64_t(g.n) * g.frame_symbols - first;
        auto* const start = reinterpret_cast<double*>(row + g.start_at);
        auto* const end = reinterpret_cast<double*>(row + g.end_at);
        for (unsigned m = threadIdx.x; m < g.window; m += blockDim.x) {
            start[m] = ends[m];
            end[m] = same_ends ? ends[g.window + m] : known && last == m ? 1.0 : 0.0;
        }
        const std::size_t bytes = known ? std::size_t(place.length) * item_bytes : 0;
        const std::byte* const from = items + std::size_t(place.at) * item_bytes;
        std::byte* const to = row + g.items_at;
#pragma unroll 8
        for (std::size_t k = threadIdx.x; k < bytes; k += blockDim.x) {
            to[k] = from[k];
        }
    }
}

struct sync_slot : device_slot {
    sync_slot(const batch_limits& l, std::size_t work_bytes, std::size_t found_bytes)
        : input(l.input_bytes),
          output(l.output_bytes),
          status(l.work_items),
          work(work_bytes),
          found(found_bytes)
    {
        output.clear();
    }
    std::size_t bytes() const
    {
        return input.bytes() + output.bytes() + status.bytes() + work.bytes() +
               found.bytes();
    }
    buffer<std::byte> input, output;
    buffer<sync_status> status;
    buffer<std::byte> work;
    // Complete inputs of frames, written by the kernels that search for the beginnings of
    // frames or copy placed frames (see setup.h); empty without such kernels.
    buffer<std::byte> found;
};

class cuda_sync : public device_decoder<job, sync_slot>
{
public:
    cuda_sync(const setup& setup, std::size_t frames, unsigned slots, int device)
        : device_decoder(device, true),
          d_setup(setup),
          d_geometry(make_geometry(setup)),
          d_launch(make_launch_plan(setup, device)),
          d_starts(make_start_plan(setup, frames, device)),
          d_ends(ends_of(setup))
    {
        d_limits = setup.limits(frames);
        const auto work = std::max(d_launch->work_bytes(frames),
                                   d_starts ? d_starts->work_bytes(frames) : 0);
        const auto found = d_starts || setup.placed ? frames * setup.input_bytes() : 0;
        need_memory(slots * (d_limits.input_bytes + d_limits.output_bytes +
                             d_limits.status_bytes + work + found));
        for (unsigned i = 0; i < slots; ++i) {
            d_slots.emplace_back(d_limits, work, found);
        }
        d_limits.device_bytes = d_slots.front().bytes();
    }

    ~cuda_sync() override { wait_idle(); }

    bool reserve_conversion_buffers() noexcept override { return true; }

private:
    // Returns a buffer with the start metrics and the end metrics of placed frames. The
    // buffer is empty if the setup has no placed frames.
    static buffer<double> ends_of(const setup& setup)
    {
        std::vector<double> ends;
        if (setup.placed) {
            ends = setup.start;
            ends.insert(ends.end(), setup.end.begin(), setup.end.end());
        }
        return uploaded(ends, "copy of metrics");
    }

    // Copies the table and the items of placed frames to the device, unless kernels can
    // read both in place. Returns the addresses that kernels read.
    batch_input bring_in_placed(sync_slot& s, const job& job, const batch_memory& memory)
    {
        const auto items_at = d_setup.placed_input(d_limits.work_items).items_at;
        batch_input input(job, memory, items_at);
        input.table =
            bring_in(s, s.input.get(), input.table, job.frames * sizeof(placed_frame));
        if (job.items > 0) {
            input.items = bring_in(s,
                                   s.input.get() + items_at,
                                   input.items,
                                   job.items * d_setup.item_bytes());
        }
        return input;
    }

    // Copies the table and the items of searching frames like bring_in_placed(), and
    // returns the address of their input.
    const std::byte*
    bring_in_search(sync_slot& s, const job& job, const batch_memory& memory)
    {
        const auto* const there =
            job.borrowed ? nullptr : d_unified_memory.address(memory.input);
        if (there) {
            return there;
        }
        const auto batch = d_setup.stream_input(d_limits.work_items);
        const batch_input input(job, memory, batch.items_at);
        const auto copy = [&](std::size_t at, const std::byte* from, auto bytes) {
            if (bytes > 0) {
                copy_in(s, s.input.get() + at, from, bytes);
            }
        };
        copy(0, input.table, job.frames * sizeof(stream_piece));
        copy(batch.whole_at,
             input.table + batch.whole_at,
             job.whole * d_setup.input_bytes());
        copy(batch.items_at, input.items, job.items * d_setup.item_bytes());
        return s.input.get();
    }

    void write_placed(sync_slot& s, const sync_geometry& g, const batch_input& input)
    {
        const auto* const places = reinterpret_cast<const placed_frame*>(input.table);
        const auto* const items = input.items;
        const auto* const ends = d_ends.get();
        auto* const to = s.found.get();
        const int first = d_setup.first;
        const unsigned item_bytes = d_setup.item_bytes();
        const bool same_ends = !d_setup.end.empty();
        write_rows<<<g.frames, row_threads, 0, s.queue.get()>>>(
            g, first, item_bytes, same_ends, places, ends, items, to);
        check(cudaGetLastError(), "kernel launch");
    }

    void enqueue(sync_slot& s,
                 const job& job,
                 const batch_memory& memory,
                 const marker& mark) override
    {
        mark("");
        auto* const output = target(s.output.get(), memory);
        auto* const status = target(s.status.get(), memory.status);
        const std::byte *input = nullptr, *frames = s.found.get();
        auto g = d_geometry;
        g.frames = job.frames;
        if (d_starts) {
            input = bring_in_search(s, job, memory);
            mark("copy_in");
            d_starts->launch(
                job, s.work.get(), input, s.found.get(), output, s.queue.get());
            check(cudaGetLastError(), "kernel launch");
            mark("starts");
        } else if (job.placed) {
            const auto placed = bring_in_placed(s, job, memory);
            mark("copy_in");
            write_placed(s, g, placed);
        } else {
            frames = bring_in(
                s, s.input.get(), memory.input, job.frames * d_setup.input_bytes());
            mark("copy_in");
        }
        d_launch->launch(
            g, { s.work.get(), s.work.bytes(), frames, output, status, s.queue.get() });
        check(cudaGetLastError(), "kernel launch");
        mark("kernels");
        if (d_starts && job.frames > 1) {
            const auto boundary_matches = d_setup.precision == sync_precision::float32
                                              ? compare_boundary_matches<float>
                                              : compare_boundary_matches<double>;
            constexpr unsigned per_block = boundary_match_threads / boundary_match_parts;
            const unsigned grid = (job.frames - 1 + per_block - 1) / per_block;
            const auto* const pieces = reinterpret_cast<const stream_piece*>(input);
            const unsigned boundary_matches_at = d_setup.boundary_matches_at();
            boundary_matches<<<grid, boundary_match_threads, 0, s.queue.get()>>>(
                g, boundary_matches_at, pieces, output);
            check(cudaGetLastError(), "kernel launch");
            mark("links");
        }
        copy_output(s, memory, output, job.frames * d_setup.output_bytes());
        copy_out(s, memory.status, status, job.frames * sizeof(sync_status));
        mark("copy_out");
    }

    const setup d_setup;
    const sync_geometry d_geometry;
    const std::unique_ptr<launch_plan> d_launch;
    const std::unique_ptr<start_plan> d_starts;
    const buffer<double> d_ends;
};

} // namespace

std::size_t traits::cuda_batch(const setup& s, const run_options& run, int device)
{
    select(device);
    // Without a search, a frame of a stream begins with the final metrics of the previous
    // frame, which one thread of the host computes. That thread limits the rate, so a
    // batch larger than 64 frames would only add delay.
    if (s.symbols > s.outputs && !s.search) {
        return 64;
    }
    const auto input = s.search ? s.code.frame_bits() * s.item_bytes() : s.input_bytes();
    const auto by_host = std::clamp<std::size_t>(
        2 * page_locked_bytes / run.slots / (input + s.output_bytes()), 1, 1 << 14);
    // A wave is the number of frames that a device decodes concurrently. A batch of one
    // wave or more is a multiple of waves, because a few additional frames would take as
    // long as another wave.
    const auto wave = frames_of_a_wave(s, device);
    return wave <= by_host ? by_host / wave * wave : by_host;
}

traits::decoder
traits::make_cuda(const setup& s, std::size_t frames, unsigned slots, int device)
{
    return std::make_unique<cuda_sync>(s, frames, slots, device);
}

} // namespace gr::gpufec::sync_map
