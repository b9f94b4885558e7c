// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Flushes denormals to 0. Operations on denormals are very slow on x86 processors and on
 * some Arm processors, and values that small are negligible in the recursions.
 */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_CPU_FLUSH_DENORMALS_H
#define INCLUDED_GPUFEC_SYNC_MAP_CPU_FLUSH_DENORMALS_H

#include <cstdint>
#ifdef __SSE2__
#include <immintrin.h>
#endif

namespace gr::gpufec::sync_map {
namespace GPUFEC_ISA {
namespace {

//! Guard that makes its thread treat denormals as 0 during the guard's lifetime. The
//! guard does nothing on processors other than x86-64 and 64-bit Arm.
class flush_denormals
{
public:
#ifdef __SSE2__
    flush_denormals() : d_saved(_mm_getcsr()) { _mm_setcsr(d_saved | 0x8040); }
    ~flush_denormals() { _mm_setcsr(d_saved); }

private:
    unsigned d_saved;
#elif defined(__aarch64__)
    flush_denormals()
    {
        // Bit FZ of FPCR flushes inputs and results.
        constexpr std::uint64_t flush_to_zero = 1 << 24;
        asm volatile("mrs %0, fpcr" : "=r"(d_saved));
        set(d_saved | flush_to_zero);
    }
    ~flush_denormals() { set(d_saved); }

private:
    static void set(std::uint64_t fpcr)
    {
        // The compiler moves no access to memory across this instruction.
        asm volatile("msr fpcr, %0" : : "r"(fpcr) : "memory");
    }
    std::uint64_t d_saved;
#else
    flush_denormals() {}
#endif
};

} // namespace
} // namespace GPUFEC_ISA
} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_CPU_FLUSH_DENORMALS_H */
