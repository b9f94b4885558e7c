// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The interface of the CUDA kernels: arguments, launch plans and their makers. */

#ifndef INCLUDED_GPUFEC_LDPC_CUDA_KERNELS_H
#define INCLUDED_GPUFEC_LDPC_CUDA_KERNELS_H

#include "cuda/runtime.h"
#include "ldpc/model/job.h"
#include "ldpc/model/layer_plan.h"
#include "ldpc/model/setup.h"
#include "ldpc/model/value_types.h"
#include <cstdint>
#include <memory>
#include <vector>

namespace gr::gpufec::ldpc {
namespace device {

//! The codewords of one job::run, which have the same code, in device memory.
struct device_frames {
    const frame_place* table; //!< one entry per codeword
    std::uint32_t count;
    const std::uint8_t* input; //!< origin of the input offsets in the table
    std::uint8_t* output;
    ldpc_status* status;
};

struct device_arithmetic {
    float offset;
    declining_offset offset_x2_others, offset_x2_min;
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
    std::uint32_t soft_at; //!< offset in bytes of the LLRs in a codeword's output
};

inline device_arithmetic arithmetic_of(const message_rule& r)
{
    return { r.offset,        r.offset_x2_others, r.offset_x2_min, r.decline,
             r.message_limit, r.normalization,    r.sixteenths };
}

//! Returns a copy of a code's table on the device.
template <class T>
cuda::buffer<T> to_device(const std::vector<T>& table)
{
    return cuda::uploaded(table, "copy of a code's tables");
}

//! The tables of a code on a device, and the launch of kernels that decode it.
class launch_plan
{
public:
    virtual ~launch_plan() = default;
    //! Returns false if shared memory is too small for the fastest kernel, so that the
    //! plan uses a slower one.
    virtual bool fits_shared_memory() const { return true; }
    //! Returns the number of bytes of scratch memory for a launch of up to \p codewords
    //! codewords.
    virtual std::size_t scratch_bytes(std::size_t codewords) const = 0;
    virtual void launch(const device_frames& frames,
                        const stopping& stop,
                        void* scratch,
                        cudaStream_t stream) const = 0;
};

//! Returns the first plan in the list of plans.cu that accepts the code. If \p soft is
//! set, the plan's kernels write LLRs.
std::unique_ptr<launch_plan> make_launch_plan(const ldpc_code& code,
                                              const message_rule& rule,
                                              bool soft,
                                              ldpc_schedule schedule,
                                              int device);

// These functions return nullptr if their kernels do not support the code or the device.
// make_layered_plan() and make_flooding_plan() accept every code.

//! Returns a layered plan for DVB-S2 codes. In int8, a word holds two checks of one
//! codeword for batches of at most one codeword per multiprocessor, and for codes whose
//! posteriors do not fit in shared memory for two codewords. Otherwise a word holds the
//! same check of two codewords. If only one of these two forms supports the code, all
//! batches use that form. In int16 and float, each block decodes one codeword.
std::unique_ptr<launch_plan>
make_dvbs2_plan(const ldpc_code& code, const message_rule& rule, bool soft, int device);

//! Returns the int8 plan for DVB-S2 codes with two codewords per block.
std::unique_ptr<launch_plan> make_dvb_int8x2_plan(const ldpc_code& code,
                                                  const message_rule& rule,
                                                  bool soft,
                                                  int device);

//! Returns the int8 plan for DVB-S2 codes with one codeword per block and two of its
//! checks per word.
std::unique_ptr<launch_plan> make_two_checks_per_word_plan(const ldpc_code& code,
                                                           const message_rule& rule,
                                                           bool soft,
                                                           int device);

//! Returns the int16 or float plan for DVB-S2 codes with one codeword per block.
std::unique_ptr<launch_plan> make_dvb_float_plan(const ldpc_code& code,
                                                 const message_rule& rule,
                                                 bool soft,
                                                 int device);

//! Returns the layered int8 plan for quasi-cyclic codes in which some bits have a single
//! check (NR, AR4JA). A team of threads decodes up to two codewords.
std::unique_ptr<launch_plan> make_quasi_cyclic_plan(const ldpc_code& code,
                                                    const message_rule& rule,
                                                    bool soft,
                                                    int device);

//! Returns the layered int8 plan for codes in which no layer has a bit twice, with up to
//! two codewords per block. Posteriors that do not fit in shared memory are in device
//! memory.
std::unique_ptr<launch_plan> make_unstructured_int8x2_plan(const ldpc_code& code,
                                                           const message_rule& rule,
                                                           bool soft,
                                                           int device);

//! Returns a layered plan for any code.
std::unique_ptr<launch_plan>
make_layered_plan(const ldpc_code& code, const message_rule& rule, bool soft, int device);

//! Returns a flooding plan for any code.
std::unique_ptr<launch_plan> make_flooding_plan(const ldpc_code& code,
                                                const message_rule& rule);

//! Quantises the values of \p count codewords from the caller's format at
//! \p caller_format to the kernels' input at \p input.
void launch_quantise(const caller_frame* frames,
                     std::uint32_t count,
                     const std::uint8_t* caller_format,
                     const setup& setup,
                     std::uint8_t* input,
                     cudaStream_t stream);

} // namespace device
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CUDA_KERNELS_H */
