// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The kernels of the CUDA backend, as their launchers see them. */

#ifndef INCLUDED_GPUFEC_LDPC_CUDA_KERNELS_H
#define INCLUDED_GPUFEC_LDPC_CUDA_KERNELS_H

#include "cuda/runtime.h"
#include "job.h"
#include "layer_plan.h"
#include "setup.h"
#include <cstdint>
#include <memory>
#include <vector>

namespace gr::gpufec::ldpc {
namespace device {

//! The codewords of one run, in device memory.
struct device_frames {
    const frame_place* table; //!< of the run
    std::uint32_t count;
    const std::uint8_t* input; //!< what the table counts from
    std::uint8_t* output;
    frame_status* status;
};

struct device_arithmetic {
    float offset;
    declining_offset twice_to_all, twice_to_least;
    float decline;
    float message_limit;
    float normalization;
    int sixteenths;
};

struct stopping {
    std::uint32_t max_iterations;
    bool early_stop;
    std::uint32_t out_bits;
    ldpc_soft_output soft;
    std::uint32_t soft_at; //!< bytes from a codeword's output to its LLRs
};

inline device_arithmetic arithmetic_of(const message_rule& r)
{
    return { r.offset,        r.twice_to_all,  r.twice_to_least, r.decline,
             r.message_limit, r.normalization, r.sixteenths };
}

//! A table of a code, there.
template <class T>
cuda::buffer<T> to_device(const std::vector<T>& table)
{
    return cuda::uploaded(table, "copy of a code's tables");
}

//! How kernels decode a code on a device: its tables there, and how to launch.
class launch_plan
{
public:
    virtual ~launch_plan() = default;
    //! Bytes of scratch memory that a launch of up to \p codewords needs.
    virtual std::size_t scratch_bytes(std::size_t codewords) const = 0;
    virtual void launch(const device_frames& frames,
                        const stopping& stop,
                        void* scratch,
                        cudaStream_t stream) const = 0;
};

//! The first of those below that takes a code. \p soft: it gives LLRs.
std::unique_ptr<launch_plan> make_launch_plan(const ldpc_code& code,
                                              const message_rule& rule,
                                              bool soft,
                                              ldpc_schedule schedule,
                                              int device);

// The makers decline with nullptr where code or device do not suit their kernels; the
// last two take every code.

//! Layered, codes of DVB-S2: in int8 a folded plan where each codeword has a
//! multiprocessor to itself, for more one of pairs; else one of singles.
std::unique_ptr<launch_plan>
make_dvbs2_plan(const ldpc_code& code, const message_rule& rule, bool soft, int device);

//! Of those, for int8: a pair of codewords per block.
std::unique_ptr<launch_plan>
make_pairs_plan(const ldpc_code& code, const message_rule& rule, bool soft, int device);

//! Of those, for int8: a codeword per block, folded: two of its checks in a word.
std::unique_ptr<launch_plan>
make_folded_plan(const ldpc_code& code, const message_rule& rule, bool soft, int device);

//! Of those, for int16 and float: a codeword per block.
std::unique_ptr<launch_plan>
make_singles_plan(const ldpc_code& code, const message_rule& rule, bool soft, int device);

//! Layered, codes of circulants without a chain, int8: a pair of codewords per team of
//! threads.
std::unique_ptr<launch_plan> make_circulants_plan(const ldpc_code& code,
                                                  const message_rule& rule,
                                                  bool soft,
                                                  int device);

//! Layered, codes without structure, int8: a pair of codewords per block.
std::unique_ptr<launch_plan> make_any_pairs_plan(const ldpc_code& code,
                                                 const message_rule& rule,
                                                 bool soft,
                                                 int device);

//! Layered, any code.
std::unique_ptr<launch_plan>
make_layered_plan(const ldpc_code& code, const message_rule& rule, bool soft, int device);

//! Flooding, any code.
std::unique_ptr<launch_plan> make_flooding_plan(const ldpc_code& code,
                                                const message_rule& rule);

//! What is lent at \p raw becomes what the kernels decode at \p input, \p count
//! codewords.
void launch_steps(const raw_frame* frames,
                  std::uint32_t count,
                  const std::uint8_t* raw,
                  const setup& setup,
                  std::uint8_t* input,
                  cudaStream_t stream);

} // namespace device
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CUDA_KERNELS_H */
