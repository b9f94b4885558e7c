// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Convolutional codes. */

#ifndef INCLUDED_GPUFEC_VITERBI_ROOM_H
#define INCLUDED_GPUFEC_VITERBI_ROOM_H

#include "job.h"
#include "pipeline/batch_decoder.h"
#include <memory>
#include <string>

namespace gr::gpufec::viterbi {

//! What the shared layers know of this room; pipeline/backends.h says what each is for.
struct room {
    using options = viterbi_options;
    using setup = viterbi::setup;
    using job = viterbi::job;
    using decoder = std::unique_ptr<batch_decoder<job>>;

    static constexpr const char* piece = "parallel blocks";
    static constexpr std::size_t most_pieces = 1u << 24;

    static std::size_t unit(const setup& s) { return s.plan.blocks_per_frame; }
    static std::string describe(const setup& s);

    static std::size_t cpu_batch(const setup& s, unsigned threads);
    //! \p variant of cpu_variants(), "" for the best.
    static decoder make_cpu(const setup& s,
                            std::size_t pieces,
                            unsigned threads,
                            const std::string& variant = "");

    static std::size_t cuda_batch(const setup& s, unsigned slots, int device);
    //! \throws std::runtime_error that says what is missing
    static decoder
    make_cuda(const setup& s, std::size_t pieces, unsigned slots, int device);
};

} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_ROOM_H */
