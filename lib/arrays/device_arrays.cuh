// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Shared parts of the decoders of arrays on CUDA devices: batch sizes, pinned memory, and
 * copies and conversions of input and output. */

#ifndef INCLUDED_GPUFEC_ARRAYS_DEVICE_ARRAYS_CUH
#define INCLUDED_GPUFEC_ARRAYS_DEVICE_ARRAYS_CUH

#include "common/host_memory.h"
#include "cuda/slot_launches.h"
#include "device_arrays.h"
#include <algorithm>
#include <memory>
#include <string>

namespace gr::gpufec::cuda::arrays {

constexpr unsigned threads = 256;

inline unsigned blocks_of(std::size_t items)
{
    return unsigned(std::min<std::size_t>((items + threads - 1) / threads, 1u << 16));
}

__device__ inline std::size_t first_item()
{
    return std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline std::size_t item_stride()
{
    return std::size_t(gridDim.x) * blockDim.x;
}

__device__ inline float value_of(std::int8_t x) { return x == -128 ? -127.0f : float(x); }
__device__ inline float value_of(std::uint8_t x)
{
    return x == 0 ? -127.0f : float(x) - 128;
}
__device__ inline float value_of(float x) { return x == x ? x : 0.0f; }
__device__ inline void set(std::int8_t& to, float x)
{
    to = std::int8_t(__float2int_rn(x));
}
__device__ inline void set(std::int16_t& to, float x)
{
    to = std::int16_t(__float2int_rn(x));
}
__device__ inline void set(float& to, float x) { to = x; }

//! Launches a kernel that converts rows of decoded bits to the caller's format. \p from
//! has \p rows packed rows, whose first bytes are \p row_bytes apart. \p bits bits of
//! each row are copied: bit b of the copy is bit positions[b] of the row, or bit b if \p
//! positions is nullptr. The copies follow one another in \p to. Each copy has eight bits
//! per byte if \p packed is true, otherwise one.
void launch_give_bits(const std::uint8_t* from,
                      std::size_t row_bytes,
                      const std::uint32_t* positions,
                      std::size_t rows,
                      unsigned bits,
                      bool packed,
                      std::uint8_t* to,
                      cudaStream_t stream);

using bytes_buffer = std::unique_ptr<buffer<std::uint8_t>>;

struct array_slot : round_slot {
    bytes_buffer caller_format, input, output, dense;
    event arrived; // records the end of the copy of input from the host
};

//! Base class of array decoders on a device. For the parameters of the template and the
//! constructor, see slot_rounds (slot_launches.h).
template <class Traits, class Slot>
class device_arrays : public slot_rounds<Traits, Slot>
{
public:
    device_arrays(const typename Traits::setup& s,
                  const run_options& run,
                  int device,
                  unsigned times = 1,
                  bool caller_format = false)
        : slot_rounds<Traits, Slot>(s, run, device, times, caller_format)
    {
    }

protected:
    using slot_rounds<Traits, Slot>::d_chosen;
    using slot_rounds<Traits, Slot>::d_work_items;
    using slot_rounds<Traits, Slot>::ensure;

    // Returns the batch size for an array of \p work_items. For input in device memory,
    // this size is the largest possible one. Other input is divided into 16 or more
    // batches if the array is large enough: the copy of the first batch and the kernels
    // of the last batch overlap with no other work, so these batches should be small.
    std::size_t batch_of(const std::byte* in, std::size_t work_items) const
    {
        constexpr std::size_t many = 16;
        return place_of(in).kind == memory_kind::device
                   ? d_work_items
                   : std::clamp(
                         work_items / many / d_chosen * d_chosen, d_chosen, d_work_items);
    }

    // Queues the conversion of a slot's output bits to the caller's format; see
    // launch_give_bits(). If the caller's memory is not on a device, also queues the copy
    // to that memory.
    static void give(Slot& s,
                     std::size_t row_bytes,
                     const std::uint32_t* positions,
                     std::size_t rows,
                     unsigned bits,
                     bool packed,
                     std::byte* out)
    {
        const std::size_t items = packed ? (bits + 7) / 8 : bits;
        const auto bytes = rows * items;
        const bool there = place_of(out).kind == memory_kind::device;
        auto* const to =
            there ? reinterpret_cast<std::uint8_t*>(out) : ensure(s.dense, bytes);
        launch_give_bits(
            s.output->get(), row_bytes, positions, rows, bits, packed, to, s.queue);
        if (!there) {
            check(cudaMemcpyAsync(out, to, bytes, cudaMemcpyDefault, s.queue),
                  "copy of the output");
        }
    }

    // Queues the copy of \p rows rows of \p row bytes to the caller's memory. The rows
    // begin \p pitch bytes apart in \p from and follow one another in \p out.
    static void give_rows(const Slot& s,
                          const std::uint8_t* from,
                          std::size_t pitch,
                          std::size_t row,
                          std::size_t rows,
                          std::byte* out)
    {
        check(cudaMemcpy2DAsync(
                  out, row, from, pitch, row, rows, cudaMemcpyDefault, s.queue),
              "copy of the output");
    }

    // Returns the address of the input in device memory. For input in host memory, queues
    // a copy to device memory, and the slot's stream waits for that copy. All slots share
    // one stream for these copies: concurrent copies would share the bus, and even the
    // first copy would end late.
    const std::byte* on_device(Slot& s, const std::byte* in, std::size_t bytes)
    {
        if (place_of(in).kind == memory_kind::device) {
            return in;
        }
        auto* const to = ensure(s.caller_format, bytes);
        check(cudaMemcpyAsync(to, in, bytes, cudaMemcpyDefault, d_copies.get()),
              "copy of the input");
        check(cudaEventRecord(s.arrived.get(), d_copies.get()), "event");
        check(cudaStreamWaitEvent(s.queue, s.arrived.get(), 0), "event");
        return reinterpret_cast<const std::byte*>(to);
    }

private:
    const stream d_copies;
};

std::string name_of(int device);

//! Pinned host memory of a slot.
class locked_memory
{
public:
    explicit locked_memory(std::size_t bytes) : d_memory(bytes)
    {
        page_lock(d_memory.data(), bytes);
    }
    ~locked_memory() { page_unlock(d_memory.data()); }
    locked_memory(const locked_memory&) = delete;
    std::byte* data() const { return d_memory.data(); }
    std::size_t size() const { return d_memory.size(); }

private:
    const host_memory d_memory;
};

} // namespace gr::gpufec::cuda::arrays

#endif /* INCLUDED_GPUFEC_ARRAYS_DEVICE_ARRAYS_CUH */
