// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The base of launch plans whose thread blocks store messages in scratch memory. */

#ifndef INCLUDED_GPUFEC_LDPC_CUDA_PERSISTENT_GRID_H
#define INCLUDED_GPUFEC_LDPC_CUDA_PERSISTENT_GRID_H

#include "kernels.h"
#include <algorithm>
#include <cstdint>

namespace gr::gpufec::ldpc {
namespace device {

struct block_arguments {
    device_frames frames;
    stopping stop;
    std::uint32_t* state; // first slot in scratch memory
    // One flag per slot, which is 1 while a block uses the slot. unstructured_int8x2 has
    // no flags and stores its counter of codewords at this address.
    std::uint32_t* taken;
    std::uint32_t slots;
    std::uint32_t slots_per_sm; // slots per multiprocessor, one for each resident block
};

/*!
 * \brief A plan whose blocks store their messages in scratch memory.
 *
 * Scratch memory has a slot for each resident block. Flags before the slots mark the
 * slots in use.
 */
class persistent_grid : public launch_plan
{
protected:
    //! Makes a grid with \p per_sm resident blocks per multiprocessor.
    explicit persistent_grid(unsigned per_sm)
        : d_per_sm(per_sm), d_blocks(per_sm * cuda::multiprocessors())
    {
    }

    //! Returns the number of blocks that are resident on the device at a time.
    unsigned blocks() const { return d_blocks; }
    unsigned multiprocessors() const { return d_blocks / d_per_sm; }

    //! Returns the size in bytes of the scratch memory for \p codewords codewords, with
    //! \p words words per slot.
    std::size_t scratch_for(std::size_t codewords, std::size_t words) const
    {
        const auto slots = slots_for(codewords);
        return flag_bytes(slots) + slots * words * sizeof(std::uint32_t);
    }

    //! Returns the block_arguments of a launch, and clears the slots' flags on \p stream.
    block_arguments arguments(const device_frames& frames,
                              const stopping& stop,
                              void* scratch,
                              cudaStream_t stream) const
    {
        const auto slots = slots_for(frames.count);
        auto* const taken = static_cast<std::uint32_t*>(scratch);
        cuda::check(cudaMemsetAsync(taken, 0, flag_bytes(slots), stream), "memset");
        return { frames, stop,  taken + flag_bytes(slots) / sizeof(*taken),
                 taken,  slots, d_per_sm };
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

    const unsigned d_per_sm, d_blocks;
};

} // namespace device
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CUDA_PERSISTENT_GRID_H */
