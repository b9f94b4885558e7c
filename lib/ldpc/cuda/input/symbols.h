// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Demapping of symbols on the device, by demap/rule.h, to the quantised input of decoding
 * kernels. */

#ifndef INCLUDED_GPUFEC_LDPC_CUDA_INPUT_SYMBOLS_H
#define INCLUDED_GPUFEC_LDPC_CUDA_INPUT_SYMBOLS_H

#include "cuda/runtime.h"
#include "ldpc/model/job.h"
#include "ldpc/model/setup.h"
#include <cstdint>
#include <memory>

namespace gr::gpufec::ldpc {
namespace device {

/*!
 * \brief A demapper for the frames of successive batches.
 *
 * Tables with the LLRs of all cells of the I/Q plane are computed on the device when
 * frames first need them. New tables replace old ones in cyclic order, except tables that
 * frames of the batch need. Frames for which no table is free are demapped without one.
 */
class symbol_demapper
{
public:
    //! \param codewords largest number of frames per batch
    //! \param tables largest number of tables in device memory, 1 to 64
    symbol_demapper(const setup& setup, std::size_t codewords, unsigned tables = 32);
    ~symbol_demapper();

    //! Demaps the symbols at \p caller_format to the kernels' input at \p input.
    void launch(const caller_frame* frames,
                std::uint32_t count,
                const std::uint8_t* caller_format,
                std::uint8_t* input,
                cudaStream_t stream);

    //! Es/N0 level of a frame of the last batch, which must have finished, and the number
    //! of passes over the frame.
    struct outcome {
        int level;
        unsigned passes;
    };
    outcome of(std::uint32_t index) const;

private:
    struct memory;
    const std::unique_ptr<memory> d_memory;
};

} // namespace device
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CUDA_INPUT_SYMBOLS_H */
