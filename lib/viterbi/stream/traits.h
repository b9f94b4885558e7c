// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The traits of the Viterbi decoder for the templates that all decoders share. */

#ifndef INCLUDED_GPUFEC_VITERBI_STREAM_TRAITS_H
#define INCLUDED_GPUFEC_VITERBI_STREAM_TRAITS_H

#include "pipeline/batch_decoder.h"
#include "viterbi/model/setup.h"
#include <gnuradio/gpufec/decoder.h>
#include <memory>
#include <string>

namespace gr::gpufec::viterbi {

//! Traits of the Viterbi decoder; pipeline/backends.h describes each member.
struct traits {
    using options = viterbi_options;
    using setup = viterbi::setup;
    using job = viterbi::job;
    using decoder = std::unique_ptr<batch_decoder<job>>;

    static constexpr const char* work_items_name = "parallel blocks";
    static constexpr std::size_t max_work_items = 1u << 24;

    static std::size_t batch_granularity(const setup& s)
    {
        return s.plan.blocks_per_frame;
    }
    static std::string describe(const setup& s);

    static std::size_t cpu_batch(const setup& s, unsigned threads);
    //! \p variant is one of cpu_variants(), or "" for the fastest.
    static decoder make_cpu(const setup& s,
                            std::size_t work_items,
                            unsigned threads,
                            const std::string& variant = "");

    static std::size_t cuda_batch(const setup& s, const run_options& run, int device);
    //! \throws std::runtime_error if CUDA cannot be used or cuda_kernel does not support
    //! the code
    static decoder
    make_cuda(const setup& s, std::size_t work_items, unsigned slots, int device);
};

} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_STREAM_TRAITS_H */
