// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The interface of the CPU's lane-parallel decoder. The decoder decodes one parallel
 * block per SIMD lane and is compiled for several instruction sets. */

#ifndef INCLUDED_GPUFEC_VITERBI_CPU_KERNELS_H
#define INCLUDED_GPUFEC_VITERBI_CPU_KERNELS_H

#include <cstddef>
#include <cstdint>

namespace gr::gpufec::viterbi {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
              "words of bits are copied to bytes, lowest byte first");

constexpr unsigned max_lanes = 32;

//! The parameters of a code's trellis, and the output words of its branches.
struct lane_trellis {
    unsigned constraint_length;
    unsigned outputs;
    unsigned history;  //!< number of decisions in the low bits of a path metric, 4 or 2
    unsigned inverted; //!< mask of inverted outputs, bit r for output r
    //! Whether the polynomials are 171 and 133 (octal), in either order; a specialised
    //! kernel decodes such codes.
    bool is_171_133;
    bool swapped; //!< whether the output of 133 is sent first; false for other codes
    //! Output words of the four branches of butterfly j: from state 2j with bit 0 and bit
    //! 1, then from state 2j+1 with bit 0 and bit 1. Bit 0 leads to state j, bit 1 to
    //! state j+N/2 of N.
    std::uint8_t word[128][4];
};

//! The parallel blocks to decode together, one per lane. All windows have the same
//! length.
struct lane_blocks {
    unsigned window; //!< number of stages per window
    //! Soft values of a lane's window, depunctured: [stage][output].
    const std::int8_t* soft[max_lanes];
    // The next three arrays hold members of each block's block_window (block_layout.h).
    bool from_zero[max_lanes];
    std::uint32_t lead[max_lanes];
    std::uint32_t count[max_lanes]; //!< number of decoded stages; 0 if the lane is idle
    //! Destination of a lane's decoded bits, the first bit most significant.
    std::uint8_t* bits[max_lanes];
};

//! A byte shuffle that depunctures whole puncturing periods, as many as fit in 16
//! depunctured values.
struct depuncturing {
    //! Number of received values per shuffle; 0 if no whole period fits.
    unsigned sent = 0;
    unsigned places = 0; //!< number of depunctured values per shuffle
    //! Index of the received value for each output byte; 0x80 for an erasure.
    alignas(16) std::uint8_t from[16];
};

//! The functions of the lane-parallel decoder for one instruction set.
struct lane_decoder {
    unsigned lanes;
    //! Returns the number of bytes of scratch memory for windows of \p window stages. The
    //! memory must be aligned to 64 bytes.
    std::size_t (*scratch_bytes)(const lane_trellis&, unsigned window);
    //! Decodes one parallel block in each lane.
    void (*decode)(const lane_trellis&, const lane_blocks&, void* scratch);
    //! Depunctures \p values received values at \p sent to \p places values at \p to by
    //! shuffles, while at least 16 received and 16 depunctured values remain. Returns the
    //! number of shuffles, 0 if the instruction set has no byte shuffle. The caller
    //! depunctures the remaining values.
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
