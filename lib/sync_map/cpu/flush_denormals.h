// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Flushes denormals to 0. Operations on denormals are very slow on x86 processors, and
 * values that small are negligible in the recursions.
 */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_CPU_FLUSH_DENORMALS_H
#define INCLUDED_GPUFEC_SYNC_MAP_CPU_FLUSH_DENORMALS_H

#ifdef __SSE2__
#include <immintrin.h>
#endif

namespace gr::gpufec::sync_map {
namespace GPUFEC_ISA {
namespace {

//! Guard that makes its thread treat denormals as 0 during the guard's lifetime. Without
//! SSE2 the guard does nothing.
class flush_denormals
{
public:
#ifdef __SSE2__
    flush_denormals() : d_saved(_mm_getcsr()) { _mm_setcsr(d_saved | 0x8040); }
    ~flush_denormals() { _mm_setcsr(d_saved); }

private:
    unsigned d_saved;
#else
    flush_denormals() {}
#endif
};

} // namespace
} // namespace GPUFEC_ISA
} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_CPU_FLUSH_DENORMALS_H */
