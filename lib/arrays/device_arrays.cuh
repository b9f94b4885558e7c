// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Shared parts of the decoders of arrays on CUDA devices: batch sizes, and copies and
 * conversions of input and output. */

#ifndef INCLUDED_GPUFEC_ARRAYS_DEVICE_ARRAYS_CUH
#define INCLUDED_GPUFEC_ARRAYS_DEVICE_ARRAYS_CUH

#include "common/packed_bits.h"
#include "cuda/slot_launches.h"
#include "device_arrays.h"
#include <algorithm>
#include <memory>
#include <string>
#include <utility>

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

//! Packed rows of decoded bits, and the bits of each row that the caller receives.
struct bit_rows {
    const std::uint8_t* from;
    std::size_t row_bytes; //!< distance between the first bytes of rows
    //! Bit b of a copied row is bit positions[b] of the row, or bit b if this is nullptr.
    const std::uint32_t* positions;
    std::size_t rows;
    unsigned bits; //!< number of bits of a copied row
    bool packed;   //!< whether copied rows have eight bits per byte, not one

    std::size_t copied_bytes() const { return rows * items_of(bits, packed); }
};

//! Launches a kernel that copies rows of decoded bits in the caller's format. The copies
//! follow one another in \p to.
void launch_give_bits(const bit_rows& rows, std::uint8_t* to, cudaStream_t stream);

using bytes_buffer = std::unique_ptr<buffer<std::uint8_t>>;

struct array_slot : round_slot {
    bytes_buffer caller_format, input, output, dense;
    event arrived; // records the end of the copy of input from the host
};

//! Slot of a decoder of frames with a status and a table entry per frame.
struct frames_slot : array_slot {
    std::unique_ptr<locked_memory> statuses, table;
    // Index of the batch's first frame, and number of its frames.
    std::size_t first = 0, frames = 0;

    void allocate(std::size_t status_bytes, std::size_t table_bytes)
    {
        statuses = std::make_unique<locked_memory>(status_bytes);
        table = std::make_unique<locked_memory>(table_bytes);
    }
    std::byte* output_bytes() const
    {
        return reinterpret_cast<std::byte*>(output->get());
    }
};

//! Base class of array decoders on a device, with the interface \p Decoder. For the other
//! parameters of the template and for those of the constructor, see slot_rounds
//! (slot_launches.h).
template <class Decoder, class Traits, class Slot>
class device_arrays : public Decoder, protected slot_rounds<Traits, Slot>
{
public:
    std::string device() const override { return this->device_name(); }

protected:
    template <class... Arguments>
    explicit device_arrays(Arguments&&... arguments)
        : slot_rounds<Traits, Slot>(std::forward<Arguments>(arguments)...)
    {
    }

    using slot_rounds<Traits, Slot>::d_chosen;
    using slot_rounds<Traits, Slot>::d_work_items;
    using slot_rounds<Traits, Slot>::ensure;

    // Returns the batch size for an array of \p work_items work items. For input in
    // device memory, this size is the largest possible one. Other input is divided into
    // 16 or more batches if the array is large enough: the copy of the first batch and
    // the kernels of the last batch overlap with no other work, so these batches should
    // be small.
    std::size_t batch_of(const std::byte* in, std::size_t work_items) const
    {
        constexpr std::size_t many = 16;
        return place_of(in).kind == memory_kind::device
                   ? d_work_items
                   : std::clamp(
                         work_items / many / d_chosen * d_chosen, d_chosen, d_work_items);
    }

    // Queues the conversion of rows of a slot's output to the caller's format. If the
    // caller's memory is not on a device, also queues the copy to that memory.
    static void give(Slot& s, const bit_rows& rows, std::byte* out)
    {
        const auto bytes = rows.copied_bytes();
        const bool there = place_of(out).kind == memory_kind::device;
        auto* const to =
            there ? reinterpret_cast<std::uint8_t*>(out) : ensure(s.dense, bytes);
        launch_give_bits(rows, to, s.queue);
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
        check(cudaEventRecord(s.arrived.get(), d_copies.get()), "event recording");
        check(cudaStreamWaitEvent(s.queue, s.arrived.get(), 0), "event wait");
        return reinterpret_cast<const std::byte*>(to);
    }

private:
    const stream d_copies;
};

} // namespace gr::gpufec::cuda::arrays

#endif /* INCLUDED_GPUFEC_ARRAYS_DEVICE_ARRAYS_CUH */
