// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The frames in the slot that is being filled; make_job() turns them into a job. */

#ifndef INCLUDED_GPUFEC_LDPC_STREAM_FRAME_BATCH_H
#define INCLUDED_GPUFEC_LDPC_STREAM_FRAME_BATCH_H

#include "ldpc/model/job.h"
#include <cstdint>
#include <vector>

namespace gr::gpufec::ldpc {

class frame_batch
{
public:
    struct frame {
        unsigned code;
        std::uint32_t input, output; //!< byte offsets in the slot's input and output
        float soft_factor; //!< output LLR steps per step of an LLR in the message rule
        // For frames in the caller's format: the offset in bytes from the batch's first
        // frame, and the parameters of quantisation.
        std::uint32_t caller_format = 0;
        float factor = 0, limit = 0;
        // Used only for symbols.
        unsigned constellation = 0;
        int level = 0;
    };

    frame_batch(const setup& setup, const batch_limits& limits)
        : d_setup(setup), d_limits(limits)
    {
        clear();
    }

    std::size_t size() const { return d_frames.size(); }
    bool full() const { return size() == d_limits.work_items; }

    //! Adds a frame, and returns the offset in bytes of its values in the slot's input.
    std::size_t add(unsigned code, float soft_factor)
    {
        const auto at = d_input;
        d_frames.push_back(
            { code, std::uint32_t(d_input), std::uint32_t(d_output), soft_factor });
        d_input += d_setup.frame_input_bytes(d_setup.codes[code]);
        d_output += d_setup.frame_output_bytes(d_setup.codes[code]);
        return at;
    }

    //! Adds a frame that stays in the caller's format, \p caller_format bytes after the
    //! batch's first frame.
    void add_caller_frame(unsigned code,
                          float soft_factor,
                          std::size_t caller_format,
                          float factor,
                          float limit,
                          unsigned constellation,
                          int level)
    {
        add(code, soft_factor);
        auto& f = d_frames.back();
        f.caller_format = std::uint32_t(caller_format);
        f.factor = factor;
        f.limit = limit;
        f.constellation = constellation;
        f.level = level;
        d_caller_item_bytes = caller_format + caller_item_bytes(f);
    }

    const std::vector<frame>& frames() const { return d_frames; }

    //! Returns the offset at which the next frame in the caller's format begins if it is
    //! copied to the slot. For symbols the offset is a multiple of 16 bytes.
    std::size_t next_caller_frame() const
    {
        return d_setup.symbols ? (d_caller_item_bytes + 15) / 16 * 16
                               : d_caller_item_bytes;
    }

    //! Ends in-place input after the frames have been quantised to the slot.
    void copy_borrowed() { d_caller_item_bytes = 0; }
    //! Ends in-place input. Calls copy(from, to, bytes), with offsets in bytes, to copy
    //! each frame in the caller's format to the slot.
    template <class Copy>
    void copy_borrowed(Copy&& copy)
    {
        d_caller_item_bytes = 0;
        for (auto& f : d_frames) {
            const auto to = next_caller_frame();
            copy(f.caller_format, to, caller_item_bytes(f));
            f.caller_format = std::uint32_t(to);
            d_caller_item_bytes = to + caller_item_bytes(f);
        }
    }

    //! Returns the job of the batch, and writes the tables of its frames to \p input, the
    //! input of the slot.
    job make_job(std::byte* input) const;

    //! Returns the frames, and empties the batch.
    std::vector<frame> take()
    {
        auto frames = std::move(d_frames);
        clear();
        d_frames.reserve(frames.size());
        return frames;
    }

    void clear()
    {
        d_frames.clear();
        d_input = job::values_offset(d_limits.work_items);
        d_output = 0;
        d_caller_item_bytes = 0;
    }

private:
    std::size_t caller_item_bytes(const frame& f) const
    {
        return d_setup.caller_values(d_setup.codes[f.code], f.constellation) *
               d_setup.caller_value_bytes();
    }

    const setup& d_setup;
    const batch_limits d_limits;
    std::vector<frame> d_frames;
    std::size_t d_input, d_output, d_caller_item_bytes; // number of bytes used so far
};

} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_STREAM_FRAME_BATCH_H */
