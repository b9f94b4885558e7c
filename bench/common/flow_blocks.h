// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Blocks for benchmarks of gpu_sync_map in flowgraphs: the decoder block and, for
 * comparison, a block that makes the decoder's tags but outputs zeros. */

#ifndef INCLUDED_GPUFEC_BENCH_FLOW_BLOCKS_H
#define INCLUDED_GPUFEC_BENCH_FLOW_BLOCKS_H

#include <gnuradio/block.h>
#include <gnuradio/blocks/stream_to_tagged_stream.h>
#include <gnuradio/gpufec/gpu_sync_map.h>
#include <gnuradio/gpufec/sync_map.h>
#include <gnuradio/io_signature.h>
#include <gnuradio/top_block.h>
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace gr::gpufec::bench {

constexpr int q = 32, n = 10, symbols = 210, frame_items = n * symbols;
const std::string key = "packet_len";

inline sync_code code() { return codebook_davey_mackay(n, q, symbols, 1); }

//! Returns options of a decoder block for code(). Insertions and deletions have
//! probability \p p each.
inline gpu_sync_map_options block_options(double p)
{
    const auto words = code();
    gpu_sync_map_options options;
    options.codebook.assign(words.word(0, 0), words.word(0, 0) + q * n * symbols);
    options.q = q;
    options.n = n;
    options.frame_symbols = symbols;
    options.p_insert = options.p_delete = p;
    return options;
}

// Connects a source of items to a decoder. \p tagged adds length tags to the items.
inline void connect_source(const gr::top_block_sptr& graph,
                           const gr::block_sptr& source,
                           const gr::block_sptr& block,
                           bool tagged)
{
    if (tagged) {
        auto tags = gr::blocks::stream_to_tagged_stream::make(1, 1, frame_items, key);
        graph->connect(source, 0, tags, 0);
        graph->connect(tags, 0, block, 0);
    } else {
        graph->connect(source, 0, block, 0);
    }
}

// A block that has the decoder's rates and tags but outputs zeros.
class tags_only : public gr::block
{
public:
    typedef std::shared_ptr<tags_only> sptr;

    //! \p multiple is the output multiple of the decoder. With the same multiple, GNU
    //! Radio allocates buffers of the same size.
    explicit tags_only(int multiple)
        : gr::block("tags_only",
                    gr::io_signature::make(1, 1, 1),
                    gr::io_signature::make(1, 1, 1))
    {
        set_tag_propagation_policy(TPP_CUSTOM);
        set_relative_rate(1, n);
        if (multiple > 1) {
            set_output_multiple(multiple);
            set_min_output_buffer(4l * multiple);
        }
    }

    void forecast(int, gr_vector_int& required) override { required[0] = frame_items; }

    int general_work(int capacity,
                     gr_vector_int& available,
                     gr_vector_const_void_star&,
                     gr_vector_void_star& out) override
    {
        const auto base = nitems_read(0);
        std::vector<gr::tag_t> tags;
        get_tags_in_range(tags, 0, base, base + available[0]);
        std::sort(tags.begin(), tags.end(), gr::tag_t::offset_compare);
        int given = 0;
        std::uint64_t taken = 0;
        for (const auto& tag : tags) {
            if (tag.key != d_key) {
                continue;
            }
            const auto length = std::uint64_t(pmt::to_long(tag.value));
            const auto end = tag.offset - base + length;
            if (end > std::uint64_t(available[0]) || given + symbols > capacity) {
                break;
            }
            const auto item = nitems_written(0) + given;
            add_item_tag(0, item, d_drift, pmt::from_long(0), d_source);
            add_item_tag(0, item, d_logp, pmt::from_double(-1), d_source);
            add_item_tag(0, item, d_valid, pmt::from_bool(true), d_source);
            add_item_tag(0, item, d_key, pmt::from_long(symbols), d_source);
            std::memset(static_cast<char*>(out[0]) + given, 0, symbols);
            given += symbols;
            taken = end;
        }
        consume_each(taken);
        return given;
    }

private:
    const pmt::pmt_t d_key = pmt::mp(key), d_drift = pmt::mp("sync_drift"),
                     d_logp = pmt::mp("sync_logp"), d_valid = pmt::mp("sync_valid"),
                     d_source = pmt::mp("tags_only");
};

} // namespace gr::gpufec::bench

#endif /* INCLUDED_GPUFEC_BENCH_FLOW_BLOCKS_H */
