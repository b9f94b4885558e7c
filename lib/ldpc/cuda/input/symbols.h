// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Symbols become what kernels decode, on the device: what demap/rule.h says. */

#ifndef INCLUDED_GPUFEC_LDPC_CUDA_SYMBOLS_H
#define INCLUDED_GPUFEC_LDPC_CUDA_SYMBOLS_H

#include "cuda/runtime.h"
#include "job.h"
#include "setup.h"
#include <cstdint>
#include <memory>

namespace gr::gpufec::ldpc {
namespace device {

/*!
 * \brief Demaps the frames of batches, one batch after the other.
 *
 * Tables of cells are made on the device, when frames first need them, and the last ones
 * stay. What of a batch finds no room for its tables is demapped without.
 */
class symbol_demapper
{
public:
    //! \param codewords of a batch at most
    //! \param tables that stay, 1 to 64
    symbol_demapper(const setup& setup, std::size_t codewords, unsigned tables = 32);
    ~symbol_demapper();

    //! What lies at \p raw becomes what the kernels decode at \p input.
    void launch(const raw_frame* frames,
                std::uint32_t count,
                const std::uint8_t* raw,
                std::uint8_t* input,
                cudaStream_t stream);

    //! Of frame \p index of the last batch, which is through.
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

#endif /* INCLUDED_GPUFEC_LDPC_CUDA_SYMBOLS_H */
