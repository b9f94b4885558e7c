// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The base class of the implementations of viterbi_decoder. */

#ifndef INCLUDED_GPUFEC_VITERBI_STREAM_DECODER_IMPL_H
#define INCLUDED_GPUFEC_VITERBI_STREAM_DECODER_IMPL_H

#include "watched_decoder.h"
#include <gnuradio/gpufec/viterbi.h>
#include <deque>
#include <optional>
#include <utility>

namespace gr::gpufec {

class viterbi_decoder_base : public viterbi_decoder, public viterbi::watched_decoder
{
public:
    memory_in_place* in_place() override = 0;

    void drop_incomplete() override {}
    std::size_t skip(std::size_t count) override { return count; }
    std::optional<batch_statistics> status() override
    {
        return std::exchange(d_statistics, {});
    }
    bool take_stream_statistics(batch_statistics& statistics) override;
    bool take_lock(viterbi_lock&) override { return false; }
    viterbi_lock lock() const override { return {}; }
    std::uint64_t placed_items() const override { return ~std::uint64_t(0); }

protected:
    // Adds statistics at a fixed position of the stream.
    void add_stream_statistics(const batch_statistics& made);

    // Statistics of the batch from which output was last pulled. They are set with the
    // batch's first output, and reset when the caller reads them.
    std::optional<batch_statistics> d_statistics;
    // Statistics at fixed positions of the stream, not yet read by the caller.
    std::deque<batch_statistics> d_stream_statistics;
};

//! Makes a decoder with phase search.
viterbi_decoder::sptr make_locking_decoder(const viterbi_options& options,
                                           decoder_hooks hooks);

namespace viterbi {

//! Returns the type of the items to push.
constexpr item_type item_type_of(soft_format format)
{
    return format == soft_format::float32 ? item_type::float32
           : format == soft_format::int8  ? item_type::int8
                                          : item_type::uint8;
}

} // namespace viterbi
} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_VITERBI_STREAM_DECODER_IMPL_H */
