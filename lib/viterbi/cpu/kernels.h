// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The lane-parallel decoder of the CPU: its interface to the variants of one source that
 * are compiled for different instruction sets. */

#ifndef INCLUDED_GPUFEC_VITERBI_CPU_KERNELS_H
#define INCLUDED_GPUFEC_VITERBI_CPU_KERNELS_H

#include <cstddef>
#include <cstdint>

namespace gr::gpufec::viterbi {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
              "words of bits are written as bytes");

constexpr unsigned max_lanes = 32;

//! What a lane-parallel decoder knows of a code.
struct lane_trellis {
    unsigned constraint_length;
    unsigned outputs;
    unsigned history;  //!< decisions kept in the low bits of a path metric: 4 or 2
    unsigned inverted; //!< mask of inverted outputs, bit r for output r
    bool is_171_133;   //!< in either order: the standards' code has a kernel of its own
    bool swapped;      //!< of these two, 133 is sent first
    //! Output words of the branches of butterfly j (states 2j, 2j+1 to j, j+N/2):
    //! 2j with bit 0, 2j with bit 1, 2j+1 with bit 0, 2j+1 with bit 1.
    std::uint8_t word[128][4];
};

//! One parallel block per lane, all of the same window.
struct lane_blocks {
    unsigned window; //!< stages
    //! Soft values of a lane: window × outputs, interleaved.
    const std::int8_t* soft[max_lanes];
    bool from_zero[max_lanes];
    std::uint32_t lead[max_lanes];
    std::uint32_t count[max_lanes]; //!< 0: the lane is idle
    //! Where the decoded bits of a lane go, first bit most significant.
    std::uint8_t* bits[max_lanes];
};

//! Whole puncturing periods, as many as 16 bytes hold on either side.
struct depuncturing {
    unsigned sent = 0;   //!< values that come in; 0: a period has more than 16
    unsigned places = 0; //!< values that go out
    alignas(16) std::uint8_t from[16]; //!< which one goes out; 0x80: none, erased
};

struct lane_decoder {
    unsigned lanes;
    //! Bytes of scratch memory, aligned to 64, for blocks of \p window stages.
    std::size_t (*scratch_bytes)(const lane_trellis&, unsigned window);
    void (*decode)(const lane_trellis&, const lane_blocks&, void* scratch);
    //! Puts values in their places while there are 16 to be read, and as many places:
    //! each time \p d.sent of them. Returns how many times; 0 if it cannot.
    std::size_t (*depuncture)(const depuncturing& d,
                              const std::int8_t* sent,
                              std::size_t values,
                              std::int8_t* to,
                              std::size_t places);
};

namespace baseline {
extern const lane_decoder decoder;
}
namespace avx2 {
extern const lane_decoder decoder;
}
namespace avx512 {
extern const lane_decoder decoder;
}

} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_CPU_KERNELS_H */
