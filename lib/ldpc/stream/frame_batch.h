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
        float soft_factor;           //!< of a frame_place
        std::uint32_t raw = 0;       //!< where it is lent, bytes from the batch's first
        float factor = 0, limit = 0; //!< that make steps of it then
        unsigned constellation = 0;  //!< of symbols
        int level = 0;
    };

    frame_batch(const setup& setup, const batch_limits& limits)
        : d_setup(setup), d_limits(limits)
    {
        clear();
    }

    std::size_t size() const { return d_frames.size(); }
    bool full() const { return size() == d_limits.pieces; }

    //! Makes room for one more frame: where its values go in the slot's input.
    std::size_t add(unsigned code, float soft_factor)
    {
        const auto at = d_input;
        d_frames.push_back(
            { code, std::uint32_t(d_input), std::uint32_t(d_output), soft_factor });
        d_input += d_setup.frame_input_bytes(d_setup.codes[code]);
        d_output += d_setup.frame_output_bytes(d_setup.codes[code]);
        return at;
    }

    //! The same for one that stays as it is, \p raw bytes from the batch's first.
    void add_raw(unsigned code,
                 float soft_factor,
                 std::size_t raw,
                 float factor,
                 float limit,
                 unsigned constellation,
                 int level)
    {
        add(code, soft_factor);
        auto& f = d_frames.back();
        f.raw = std::uint32_t(raw);
        f.factor = factor;
        f.limit = limit;
        f.constellation = constellation;
        f.level = level;
        d_raw_bytes = raw + raw_bytes(f);
    }

    const std::vector<frame>& frames() const { return d_frames; }

    //! Where the next raw frame begins if it is copied: symbols at a whole vector.
    std::size_t next_raw() const
    {
        return d_setup.symbols ? (d_raw_bytes + 15) / 16 * 16 : d_raw_bytes;
    }

    //! The frames are not lent any more: their values are in the slot.
    void end_lending() { d_raw_bytes = 0; }
    //! Or they are there as they are, each where \p copy(from, to, bytes) has put it.
    template <class Copy>
    void end_lending(Copy&& copy)
    {
        d_raw_bytes = 0;
        for (auto& f : d_frames) {
            const auto to = next_raw();
            copy(f.raw, to, raw_bytes(f));
            f.raw = std::uint32_t(to);
            d_raw_bytes = to + raw_bytes(f);
        }
    }

    //! The job of these frames; writes their tables to the slot's input.
    job make_job(std::byte* input) const;

    //! Empties it, and gives what was in it.
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
        d_input = job::values_offset(d_limits.pieces);
        d_output = 0;
        d_raw_bytes = 0;
    }

private:
    std::size_t raw_bytes(const frame& f) const
    {
        return d_setup.raw_values(d_setup.codes[f.code], f.constellation) *
               d_setup.raw_value_bytes();
    }

    const setup& d_setup;
    const batch_limits d_limits;
    std::vector<frame> d_frames;
    std::size_t d_input, d_output, d_raw_bytes; // used
};

} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_FRAME_BATCH_H */
