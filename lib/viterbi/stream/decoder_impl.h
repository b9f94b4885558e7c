// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The interface of viterbi_decoder's implementations, and the check of soft_scale.
 * pipeline/engine.h has the functions that all decoders share. */

#ifndef INCLUDED_GPUFEC_VITERBI_STREAM_DECODER_IMPL_H
#define INCLUDED_GPUFEC_VITERBI_STREAM_DECODER_IMPL_H

#include "watched_decoder.h"
#include <gnuradio/gpufec/viterbi.h>
#include <deque>
#include <memory>
#include <optional>

namespace gr::gpufec {

class viterbi_decoder::impl : public viterbi::watched_decoder
{
public:
    virtual std::size_t push(const void* items, std::size_t count) = 0;
    virtual void drop_incomplete() {}
    virtual std::size_t skip(std::size_t count) { return count; }
    virtual std::size_t pull_packed(std::uint8_t* out, std::size_t bytes) = 0;
    virtual std::size_t pull_bits(std::uint8_t* out, std::size_t bits) = 0;
    virtual void set_soft_scale(float scale) = 0;
    virtual bool take_lock(viterbi_lock&) { return false; }
    virtual viterbi_lock lock() const { return {}; }
    virtual std::uint64_t placed_items() const { return ~std::uint64_t(0); }
    virtual const conv_code& code() const = 0;
    virtual unsigned decode_length() const = 0;
    virtual unsigned overlap() const = 0;
    virtual std::size_t items_per_frame() const = 0;
    virtual std::uint64_t output_of_item(std::uint64_t item, bool packed) const = 0;

    // Statistics of the batch from which output was last pulled. The batch's first
    // output sets them, and take_statistics() resets them.
    std::optional<batch_statistics> statistics;
    // Statistics at fixed positions of the stream, not yet read with
    // take_stream_statistics().
    std::deque<batch_statistics> stream_statistics;
};

namespace viterbi {

//! \throws std::invalid_argument unless soft_scale is finite and above 0
void check_scale(float scale);

} // namespace viterbi
} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_VITERBI_STREAM_DECODER_IMPL_H */
