// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* LDPC codes. */

#ifndef INCLUDED_GPUFEC_LDPC_ROOM_H
#define INCLUDED_GPUFEC_LDPC_ROOM_H

#include "job.h"
#include "pipeline/batch_decoder.h"
#include <memory>
#include <string>

namespace gr::gpufec::ldpc {

//! What the shared layers know of this room; pipeline/backends.h says what each is for.
struct room {
    using options = ldpc_options;
    using setup = ldpc::setup;
    using job = ldpc::job;
    using decoder = std::unique_ptr<batch_decoder<job>>;

    static constexpr const char* piece = "codewords";
    static constexpr std::size_t most_pieces = 1u << 14;

    static std::size_t unit(const setup&) { return 1; }
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

} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_ROOM_H */
