// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The slot that is being filled with frames, and the job it becomes. */

#ifndef INCLUDED_GPUFEC_LDPC_FRAME_BATCH_H
#define INCLUDED_GPUFEC_LDPC_FRAME_BATCH_H

#include "job.h"
#include <cstdint>
#include <vector>

namespace gr::gpufec::ldpc {

class frame_batch
{
public:
    struct frame {
        unsigned code;
        std::uint32_t input, output; //!< bytes from the slot's beginnings
    };

    frame_batch(const setup& setup, const batch_limits& limits)
        : d_setup(setup), d_limits(limits)
    {
        clear();
    }

    std::size_t size() const { return d_frames.size(); }
    bool full() const { return size() == d_limits.pieces; }

    //! Makes room for one more frame: where its values go in the slot's input.
    std::size_t add(unsigned code)
    {
        const auto at = d_input;
        d_frames.push_back({ code, std::uint32_t(d_input), std::uint32_t(d_output) });
        d_input += d_setup.frame_input_bytes(d_setup.codes[code]);
        d_output += d_setup.frame_output_bytes(d_setup.codes[code]);
        return at;
    }

    //! The job of these frames; writes their table to the slot's input.
    job make_job(std::byte* input) const;

    //! Empties it, and gives what was in it.
    std::vector<frame> take()
    {
        auto frames = std::move(d_frames);
        clear();
        return frames;
    }

    void clear()
    {
        d_frames.clear();
        d_input = job::values_offset(d_limits.pieces);
        d_output = 0;
    }

private:
    const setup& d_setup;
    const batch_limits d_limits;
    std::vector<frame> d_frames;
    std::size_t d_input, d_output; // used bytes
};

} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_FRAME_BATCH_H */
