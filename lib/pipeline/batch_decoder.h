// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The interface of backends that decode batches of independent work items, the errors of
 * devices, and the limits and memory of a batch. */

#ifndef INCLUDED_GPUFEC_PIPELINE_BATCH_DECODER_H
#define INCLUDED_GPUFEC_PIPELINE_BATCH_DECODER_H

#include <gnuradio/gpufec/decoder.h>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace gr::gpufec {

//! Transient error: the device is busy, or short of a resource.
class passing_device_error : public device_error
{
public:
    using device_error::device_error;
};

//! Error of a device that lacks memory; a smaller request may succeed.
class device_memory_error : public passing_device_error
{
public:
    using passing_device_error::passing_device_error;
};

//! Calls \p action and returns its result. After a passing_device_error the function
//! calls \p action again, at most three times, after pauses of 10, 40 and 160 ms. The
//! fourth error is thrown.
template <class Action>
auto with_back_off(Action&& action)
{
    using std::chrono::milliseconds;
    for (auto pause = milliseconds(10);; pause *= 4) {
        try {
            return action();
        } catch (const passing_device_error&) {
            if (pause > milliseconds(160)) {
                throw;
            }
        }
        std::this_thread::sleep_for(pause);
    }
}

//! Largest batch that a decoder accepts, and the memory that a slot needs for such a
//! batch.
struct batch_limits {
    std::size_t work_items = 0;   //!< parallel blocks, codewords or frames
    std::size_t input_bytes = 0;  //!< host memory of the input of a full batch
    std::size_t output_bytes = 0; //!< host memory of the output of a full batch
    std::size_t status_bytes = 0; //!< host memory of the statuses of all work items
    std::size_t device_bytes = 0; //!< device memory of a slot
    //! Size of the first part of the slot's input buffer, in bytes. The decoder reads
    //! this part even if the items are borrowed.
    std::size_t table_bytes = 0;
    //! Size in bytes of a full batch's input in the caller's format; 0 if slots have that
    //! format.
    std::size_t caller_item_bytes = 0;
};

//! Layout of the part of a batch's output that users pull: \p rows rows of \p bytes
//! bytes, at the byte offsets first, first + pitch, …. If the output has no such layout,
//! the pitch is 0.
struct output_rows {
    std::size_t first = 0, rows = 0, bytes = 0, pitch = 0;
    //! Number of bits per row if users pull one bit per byte; 0 if users pull the bytes
    //! of a row as stored.
    std::size_t bits = 0;

    //! Returns the bytes per row when pulled.
    std::size_t given() const { return bits ? bits : bytes; }
    std::size_t total() const { return rows * given(); }
    bool regular() const { return pitch > 0; }
    //! Returns whether the stored rows have the layout of pulled rows.
    bool as_given() const
    {
        return bits == 0 && first == 0 && (rows == 1 || pitch == bytes);
    }
};

//! Borrowed memory to which a device writes rows without gaps. If rows are pulled as one
//! bit per byte, the device also writes the packed rows to the slot.
struct borrowed_output {
    std::byte* to = nullptr; //!< nullptr if the output goes to the slot
    output_rows rows;

    bool in_place_of_output() const { return to && rows.bits == 0; }
};

//! Addresses of the input, output and statuses of a batch.
struct batch_memory {
    const std::byte* input;
    std::byte* output;
    std::byte* status;
    const std::byte* table = nullptr; //!< the slot's own input, if \p input is borrowed
    borrowed_output borrowed = {};    //!< used by devices only
};

//! Duration of a step of a batch on a device.
struct timed_step {
    std::string name; //!< "copy_in", "kernels", "copy_out", …
    double ms;
};

/*!
 * \brief Interface of a decoder of batches, for every code and backend.
 *
 * The caller owns \em slots: numbered sets of host buffers for input, output and status.
 * The caller fills the input of a slot, submits the slot and continues with the next
 * slot. Once the batch is finished, the caller collects the output. A slot belongs to the
 * decoder from submit() until finished() has returned true. Only one thread at a time may
 * call a decoder.
 *
 * \tparam Job parameters of one batch; each decoder defines its own
 */
template <class Job>
class batch_decoder
{
public:
    virtual ~batch_decoder() = default;

    virtual batch_limits limits() const = 0;

    //! Returns "cuda" or "cpu".
    virtual std::string backend() const = 0;

    //! Returns the device's name or the instruction set, for a log line.
    virtual std::string device() const = 0;

    //! Pins host memory, either a slot's buffer or borrowed memory. Returns whether the
    //! memory is now pinned, or is memory of the device, which needs no pinning.
    virtual bool page_lock(void* /*memory*/, std::size_t /*bytes*/) noexcept
    {
        return false;
    }
    virtual void page_unlock(void* /*memory*/) noexcept {}

    //! Returns whether \p memory belongs to the decoder's device, so that the host cannot
    //! access it.
    virtual bool has(const void* /*memory*/) const noexcept { return false; }
    //! Copies \p bytes bytes from the device to \p to.
    //! \throws device_error
    virtual void
    copy_to_host(void* /*to*/, const void* /*from*/, std::size_t /*bytes*/) const
    {
    }
    //! Copies output that a device has written in place of a slot's buffer \p output to
    //! this buffer.
    //! \throws device_error
    void copy_to_slot(std::byte* output, const borrowed_output& borrowed) const
    {
        const auto& [from, rows] = borrowed;
        const auto count = borrowed.in_place_of_output() ? rows.rows : 0;
        const bool on_device = count > 0 && has(from);
        for (std::size_t i = 0; i < count; ++i) {
            auto* const to = output + rows.first + i * rows.pitch;
            const auto* const row = from + i * rows.bytes;
            if (on_device) {
                copy_to_host(to, row, rows.bytes);
            } else {
                std::memcpy(to, row, rows.bytes);
            }
        }
    }

    //! Reserves device memory for jobs whose input is in the caller's format, which the
    //! device converts. Returns false if the memory does not suffice.
    virtual bool reserve_conversion_buffers() noexcept { return false; }

    //! Reserves device memory for output in place with one bit per byte. Returns false if
    //! the memory does not suffice.
    virtual bool reserve_unpacked_output() noexcept { return false; }

    //! Sets the callback, called from any thread, for batches that may have finished.
    virtual void on_completion(std::function<void()> notify) = 0;

    //! Starts decoding. Batches may finish in any order.
    //! \throws device_error
    virtual void submit(unsigned slot, const Job& job, const batch_memory& memory) = 0;

    //! Returns whether the slot's output is complete. Never blocks.
    //! \throws device_error
    virtual bool finished(unsigned slot) = 0;

    //! Cancels queued batches; running batches may finish.
    virtual void drop() noexcept {}

    //! Waits up to \p limit until no batch, not even a failed one, accesses host memory.
    //! Returns false if the time expired first.
    virtual bool wait_idle(std::chrono::milliseconds /*limit*/) noexcept { return true; }

    //! Abandons a device that may still be running: no callback is called from then on,
    //! and the memory that running batches use, on the device and the host, is never
    //! freed.
    virtual void abandon() noexcept {}

    //! Returns the median durations of the steps of \p rounds batches that run one at a
    //! time; empty for the CPU. No other batch may be in flight.
    virtual std::vector<timed_step>
    time_steps(const Job& /*job*/, const batch_memory& /*memory*/, unsigned /*rounds*/)
    {
        return {};
    }
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_PIPELINE_BATCH_DECODER_H */
