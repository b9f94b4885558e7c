// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* What the launch plans share whose blocks keep their messages in scratch memory. */

#ifndef INCLUDED_GPUFEC_LDPC_CUDA_BLOCK_PLAN_H
#define INCLUDED_GPUFEC_LDPC_CUDA_BLOCK_PLAN_H

#include "cuda_kernels.h"
#include <algorithm>
#include <cstdint>

namespace gr::gpufec::ldpc {
namespace device {

struct block_arguments {
    device_frames frames;
    stopping stop;
    std::uint32_t* state;     // of blocks at once
    std::uint32_t* taken;     // of its parts, one where a block has it
    std::uint32_t slots;      // parts
    std::uint32_t slots_each; // of a multiprocessor
};

/*!
 * \brief A plan whose blocks keep their messages in scratch memory.
 *
 * It has a slot for each block that runs at once, and before the slots a flag for each,
 * which is set where a block has it.
 */
class block_plan : public launch_plan
{
protected:
    //! \p each: blocks at once, of a multiprocessor.
    block_plan(unsigned each, unsigned multiprocessors)
        : d_each(each), d_blocks(each * multiprocessors)
    {
    }

    //! Blocks at once, of the device.
    unsigned blocks() const { return d_blocks; }
    unsigned multiprocessors() const { return d_blocks / d_each; }

    //! Bytes for \p codewords whose blocks keep \p words each.
    std::size_t scratch_for(std::size_t codewords, std::size_t words) const
    {
        const auto slots = slots_for(codewords);
        return flag_bytes(slots) + slots * words * sizeof(std::uint32_t);
    }

    //! Clears the flags, too.
    block_arguments arguments(const device_frames& frames,
                              const stopping& stop,
                              void* scratch,
                              cudaStream_t stream) const
    {
        const auto slots = slots_for(frames.count);
        auto* const taken = static_cast<std::uint32_t*>(scratch);
        cuda::check(cudaMemsetAsync(taken, 0, flag_bytes(slots), stream), "memset");
        return { frames, stop,  taken + flag_bytes(slots) / sizeof(*taken),
                 taken,  slots, d_each };
    }

private:
    unsigned slots_for(std::size_t codewords) const
    {
        return unsigned(std::min<std::size_t>(d_blocks, codewords));
    }
    static std::size_t flag_bytes(unsigned slots)
    {
        return (slots * sizeof(std::uint32_t) + 255) / 256 * 256;
    }

    const unsigned d_each, d_blocks;
};

} // namespace device
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CUDA_BLOCK_PLAN_H */
