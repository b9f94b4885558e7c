// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The types and functions with which the shared pipeline makes LDPC decoders. */

#ifndef INCLUDED_GPUFEC_LDPC_STREAM_TRAITS_H
#define INCLUDED_GPUFEC_LDPC_STREAM_TRAITS_H

#include "ldpc/model/job.h"
#include "pipeline/batch_decoder.h"
#include <gnuradio/gpufec/decoder.h>
#include <memory>
#include <string>

namespace gr::gpufec::ldpc {

//! Traits of the LDPC decoder for the shared layers; see pipeline/backends.h.
struct traits {
    using options = ldpc_options;
    using setup = ldpc::setup;
    using job = ldpc::job;
    using decoder = std::unique_ptr<batch_decoder<job>>;

    static constexpr const char* work_items_name = "codewords";
    static constexpr std::size_t max_work_items = 1u << 14;

    static std::size_t batch_granularity(const setup&) { return 1; }
    static std::string describe(const setup& s);

    static std::size_t cpu_batch(const setup& s, unsigned threads);
    //! Makes the CPU's decoder. \p variant is one of cpu_variants(), or "" for the best
    //! variant.
    static decoder make_cpu(const setup& s,
                            std::size_t work_items,
                            unsigned threads,
                            const std::string& variant = "");

    static std::size_t cuda_batch(const setup& s, const run_options& run, int device);
    //! Makes the GPU's decoder.
    //! \throws std::runtime_error with the reason if the device cannot be used
    static decoder
    make_cuda(const setup& s, std::size_t work_items, unsigned slots, int device);
};

} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_STREAM_TRAITS_H */
