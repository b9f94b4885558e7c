// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Writing of soft output on a device, by the rule of message_rule.h. */

#ifndef INCLUDED_GPUFEC_LDPC_CUDA_SOFT_OUTPUT_CUH
#define INCLUDED_GPUFEC_LDPC_CUDA_SOFT_OUTPUT_CUH

#include "kernels.h"

namespace gr::gpufec::ldpc {
namespace device {

//! A writer of the LLRs of a codeword.
class soft_writer
{
public:
    //! Makes a writer. \p unit is the value by which posteriors represent one step.
    __device__ soft_writer(const device_frames& frames,
                           const frame_place& place,
                           const stopping& stop,
                           float unit = 1)
        : d_to(frames.output + place.output + stop.soft_at),
          d_channel(frames.input + place.input),
          d_factor(place.soft_factor / unit),
          d_unit(unit),
          d_extrinsic(stop.soft == ldpc_soft_output::extrinsic)
    {
    }

    //! Returns the LLR of a position as a byte.
    //! \tparam T type of the channel values
    template <class T>
    __device__ std::uint32_t byte(unsigned position, float posterior) const
    {
        float x = posterior;
        if (d_extrinsic) {
            const float known = reinterpret_cast<const T*>(d_channel)[position];
            x = __fsub_rn(x, known * d_unit);
        }
        x = fminf(fmaxf(__fmul_rn(x, d_factor), -soft_limit), soft_limit);
        return std::uint32_t(__float2int_rn(x)) & 0xffu;
    }

    template <class T>
    __device__ void write(unsigned position, float posterior) const
    {
        d_to[position] = std::uint8_t(byte<T>(position, posterior));
    }

    //! Writes the LLRs of four positions. \p first is a multiple of four.
    template <class T>
    __device__ void write_four(unsigned first, const float (&posterior)[4]) const
    {
        std::uint32_t word = 0;
#pragma unroll
        for (unsigned k = 0; k < 4; ++k) {
            word |= byte<T>(first + k, posterior[k]) << 8 * k;
        }
        reinterpret_cast<std::uint32_t*>(d_to)[first / 4] = word;
    }

    //! A writer of the LLRs of successive positions, in whole words where possible. The
    //! caller must call end() after the last add().
    template <class T>
    class run
    {
    public:
        __device__ run(const soft_writer& writer, unsigned first)
            : d_writer(writer), d_next(first)
        {
        }
        __device__ void add(float posterior)
        {
            const unsigned at = d_next % 4;
            d_word |= d_writer.byte<T>(d_next, posterior) << 8 * at;
            ++d_have;
            ++d_next;
            if (at == 3) {
                end();
            }
        }
        __device__ void end()
        {
            if (d_have == 4) {
                reinterpret_cast<std::uint32_t*>(d_writer.d_to)[d_next / 4 - 1] = d_word;
            } else {
                for (unsigned i = d_next - d_have; i < d_next; ++i) {
                    d_writer.d_to[i] = std::uint8_t(d_word >> 8 * (i % 4));
                }
            }
            d_word = 0;
            d_have = 0;
        }

    private:
        const soft_writer& d_writer;
        unsigned d_next, d_have = 0;
        std::uint32_t d_word = 0;
    };

private:
    std::uint8_t* const d_to;
    const std::uint8_t* const d_channel;
    const float d_factor, d_unit;
    const bool d_extrinsic;
};

} // namespace device
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CUDA_SOFT_OUTPUT_CUH */
