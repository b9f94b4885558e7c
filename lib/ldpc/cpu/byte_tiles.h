// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Transposition of tiles of 16 × 16 bytes. The functions are in an unnamed namespace, so
 * that each source that is compiled for several instruction sets has its own copy. */

#ifndef INCLUDED_GPUFEC_LDPC_CPU_BYTE_TILES_H
#define INCLUDED_GPUFEC_LDPC_CPU_BYTE_TILES_H

#include <cstdint>

namespace gr::gpufec::ldpc {
namespace {

typedef std::int8_t byte_row __attribute__((vector_size(16), may_alias));

// Interleaves eight bytes of a with eight bytes of b, beginning at index First in both.
template <int First>
inline byte_row interleaved(byte_row a, byte_row b)
{
    constexpr int f = First;
#ifdef __clang__
    return __builtin_shufflevector(a,
                                   b,
                                   f,
                                   f + 16,
                                   f + 1,
                                   f + 17,
                                   f + 2,
                                   f + 18,
                                   f + 3,
                                   f + 19,
                                   f + 4,
                                   f + 20,
                                   f + 5,
                                   f + 21,
                                   f + 6,
                                   f + 22,
                                   f + 7,
                                   f + 23);
#else
    const byte_row from{ f,     f + 16, f + 1, f + 17, f + 2, f + 18, f + 3, f + 19,
                         f + 4, f + 20, f + 5, f + 21, f + 6, f + 22, f + 7, f + 23 };
    return __builtin_shuffle(a, b, from);
#endif
}

// Transposes sixteen rows in four rounds of interleaving.
inline void transpose(byte_row (&a)[16])
{
    byte_row b[16];
    for (unsigned round = 0; round < 4; ++round) {
        for (unsigned l = 0; l < 8; ++l) {
            b[2 * l] = interleaved<0>(a[l], a[l + 8]);
            b[2 * l + 1] = interleaved<8>(a[l], a[l + 8]);
        }
        for (unsigned l = 0; l < 16; ++l) {
            a[l] = b[l];
        }
    }
}

} // namespace
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CPU_BYTE_TILES_H */
