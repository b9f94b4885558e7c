// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Traits of the synchronisation decoder for the layers that all decoders share. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_STREAM_TRAITS_H
#define INCLUDED_GPUFEC_SYNC_MAP_STREAM_TRAITS_H

#include "pipeline/batch_decoder.h"
#include "sync_map/model/job.h"
#include <gnuradio/gpufec/decoder.h>
#include <memory>
#include <string>

namespace gr::gpufec::sync_map {

//! Traits of this decoder; pipeline/backends.h documents each member.
struct traits {
    using options = sync_options;
    using setup = sync_map::setup;
    using job = sync_map::job;
    using decoder = std::unique_ptr<batch_decoder<job>>;

    static constexpr const char* work_items_name = "frames";
    static constexpr std::size_t max_work_items = 1u << 20;

    static std::size_t batch_granularity(const setup&) { return 1; }
    static std::string describe(const setup& s);

    static std::size_t cpu_batch(const setup& s, unsigned threads);
    //! Makes a CPU decoder. \p variant is one of cpu_variants(); "" selects the best.
    static decoder make_cpu(const setup& s,
                            std::size_t work_items,
                            unsigned threads,
                            const std::string& variant = "");

    static std::size_t cuda_batch(const setup& s, const run_options& run, int device);
    //! Makes a decoder on a device.
    //! \throws std::runtime_error with the reason if the device cannot decode the setup
    static decoder
    make_cuda(const setup& s, std::size_t work_items, unsigned slots, int device);
};

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_STREAM_TRAITS_H */
