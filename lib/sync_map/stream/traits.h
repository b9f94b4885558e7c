// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Synchronisation. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_ROOM_H
#define INCLUDED_GPUFEC_SYNC_MAP_ROOM_H

#include "job.h"
#include "pipeline/batch_decoder.h"
#include <memory>
#include <string>

namespace gr::gpufec::sync_map {

//! What the shared layers know of this room; pipeline/backends.h says what each is for.
struct room {
    using options = sync_options;
    using setup = sync_map::setup;
    using job = sync_map::job;
    using decoder = std::unique_ptr<batch_decoder<job>>;

    static constexpr const char* piece = "frames";
    static constexpr std::size_t most_pieces = 1u << 20;

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

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_ROOM_H */
