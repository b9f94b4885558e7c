// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Helpers of the Viterbi kernels: arithmetic on two 16-bit path metrics in a word,
 * unpacking of soft values, and the output of decoded bits. */

#ifndef INCLUDED_GPUFEC_VITERBI_CUDA_COMMON_CUH
#define INCLUDED_GPUFEC_VITERBI_CUDA_COMMON_CUH

#include "kernels.h"
#include <cuda_runtime.h>
#include <cstdint>

namespace gr::gpufec::viterbi {
namespace device {

/* Arithmetic on words of two unsigned 16-bit path metrics, one for each parallel block of
 * a pair. GPUs before Hopper have no instruction for the minimum of both halves. */

#if CUDART_VERSION >= 12000 && __CUDA_ARCH__ >= 900 && !defined(GPUFEC_WITHOUT_DPX)
#define GPUFEC_PAIRS_ARE_NATIVE
#endif

__device__ inline std::uint32_t both(std::uint32_t x) { return x << 16 | x; }

__device__ inline std::uint32_t add2(std::uint32_t a, std::uint32_t b)
{
    return __vadd2(a, b);
}

__device__ inline std::uint32_t min2(std::uint32_t a, std::uint32_t b)
{
#ifdef GPUFEC_PAIRS_ARE_NATIVE
    return __vminu2(a, b);
#else
    // The upper half of the minimum of two words is the minimum of their upper halves.
    // The lower halves are shifted up by a multiplication, because a multiplication and
    // the minimum use different execution pipes.
    return __byte_perm(min(a * 65536u, b * 65536u), min(a, b), 0x7632);
#endif
}

__device__ inline std::uint32_t max2(std::uint32_t a, std::uint32_t b)
{
    return __vmaxu2(a, b);
}

//! Returns min(a + b, c) for each half. Sums wrap around.
__device__ inline std::uint32_t
add_min2(std::uint32_t a, std::uint32_t b, std::uint32_t c)
{
#ifdef GPUFEC_PAIRS_ARE_NATIVE
    return __viaddmin_u16x2(a, b, c); // a DPX instruction of Hopper
#else
    return min2(add2(a, b), c);
#endif
}

//! Returns min(a + b, c) for each half. The sum of each half must fit 16 bits.
__device__ inline std::uint32_t
add_min2_within(std::uint32_t a, std::uint32_t b, std::uint32_t c)
{
#ifdef GPUFEC_PAIRS_ARE_NATIVE
    return add_min2(a, b, c);
#else
    return min2(a + b, c);
#endif
}

//! Selects four of the eight bytes of \p a (0 to 3) and \p b (4 to 7) with the PTX
//! instruction prmt. Nibble i of the selector is the index of the byte that becomes byte
//! i of the result. If 8 is added to the index, byte i is filled with the selected byte's
//! sign bit.
__device__ inline std::uint32_t
permute(std::uint32_t a, std::uint32_t b, std::uint32_t selector)
{
    std::uint32_t d;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(selector));
    return d;
}

//! Returns the soft values of output \p r of both blocks of a pair, as two signed 16-bit
//! values. \p word is the word, written by prepare(), that holds this output.
__device__ inline std::uint32_t prepared_value(std::uint32_t word, unsigned r)
{
    return r % 2 ? permute(word, 0, 0xb3a2) : permute(word, 0, 0x9180);
}

/*
 * Writer of the decoded bits of a parallel block. The bits arrive in groups of
 * consecutive stages, the last group first. The first bit of a byte is its most
 * significant. Memory is written in whole sectors of 32 bytes where possible, because ECC
 * memory must read a sector before a partial write.
 */
class bit_writer
{
public:
    //! \p count is the number of bits to write.
    __device__ bit_writer(std::uint32_t* out, std::uint32_t count)
        : d_out(out), d_count(count), d_word((int(count) + 64) / 32)
    {
    }

    //! Adds the bits of consecutive stages. The lowest bit belongs to stage \p position,
    //! counted from the first stage to write. Bits of stages below 0, and from stage
    //! `count` on, are not written.
    __device__ void put(int position, std::uint32_t bits)
    {
        const int word = position >> 5;
        if (word != d_word) {
            flush(d_word + 1);
            d_bits <<= 32;
            d_word = word;
        }
        d_bits |= std::uint64_t(bits) << (position & 31);
    }

    __device__ void finish()
    {
        flush(d_word + 1);
        d_bits <<= 32;
        flush(d_word);
    }

private:
    static constexpr unsigned sector = 8; // number of words per sector

    __device__ void flush(int word)
    {
        if (word < 0 || std::uint32_t(word) * 32 >= d_count) {
            return;
        }
        std::uint32_t bits = std::uint32_t(d_bits >> 32);
        const std::uint32_t left = d_count - std::uint32_t(word) * 32;
        if (left < 32) {
            bits &= (1u << left) - 1;
        }
#pragma unroll
        for (unsigned i = sector - 1; i > 0; --i) {
            d_sector[i] = d_sector[i - 1];
        }
        d_sector[0] = __byte_perm(__brev(bits), 0, 0x0123);
        if (word % sector == 0) {
            write(d_out + word, (left + 31) / 32);
        }
    }

    // Writes the words of d_sector, but at most `left` of them.
    __device__ void write(std::uint32_t* to, std::uint32_t left) const
    {
        if (left >= sector && reinterpret_cast<std::uintptr_t>(to) % sizeof(uint4) == 0) {
            auto* const four = reinterpret_cast<uint4*>(to);
            four[0] = { d_sector[0], d_sector[1], d_sector[2], d_sector[3] };
            four[1] = { d_sector[4], d_sector[5], d_sector[6], d_sector[7] };
            return;
        }
#pragma unroll
        for (unsigned i = 0; i < sector; ++i) {
            if (i < left) {
                to[i] = d_sector[i];
            }
        }
    }

    std::uint32_t* d_out;
    std::uint32_t d_count;
    // The lower half holds bits of output word d_word, and the upper half holds bits of
    // the next word.
    std::uint64_t d_bits = 0;
    int d_word;
    // The output word that was flushed last, and the seven words after it in memory.
    std::uint32_t d_sector[sector] = {};
};

} // namespace device
} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_CUDA_COMMON_CUH */
