// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Blocks that gpu_sync_map is measured beside. */

#ifndef INCLUDED_GPUFEC_BENCH_FLOW_BLOCKS_H
#define INCLUDED_GPUFEC_BENCH_FLOW_BLOCKS_H

#include <gnuradio/block.h>
#include <gnuradio/io_signature.h>
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace gr::gpufec {

// Frames of a length in, frames of symbols out, and nothing done to them but their tags.
class tags_only : public gr::block
{
public:
    typedef std::shared_ptr<tags_only> sptr;

    //! \p multiple of the decoder beside it, to have as much room as that has.
    tags_only(
        const std::string& key, int frame_items, int symbols, unsigned n, int multiple)
        : gr::block("tags_only",
                    gr::io_signature::make(1, 1, 1),
                    gr::io_signature::make(1, 1, 1)),
          d_frame_items(frame_items),
          d_symbols(symbols),
          d_key(pmt::mp(key))
    {
        set_tag_propagation_policy(TPP_CUSTOM);
        set_relative_rate(1, n);
        if (multiple > 1) {
            set_output_multiple(multiple);
            set_min_output_buffer(4l * multiple);
        }
    }

    void forecast(int, gr_vector_int& required) override { required[0] = d_frame_items; }

    int general_work(int room,
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
            if (end > std::uint64_t(available[0]) || given + d_symbols > room) {
                break;
            }
            const auto item = nitems_written(0) + given;
            add_item_tag(0, item, d_drift, pmt::from_long(0), d_source);
            add_item_tag(0, item, d_logp, pmt::from_double(-1), d_source);
            add_item_tag(0, item, d_valid, pmt::from_bool(true), d_source);
            add_item_tag(0, item, d_key, pmt::from_long(d_symbols), d_source);
            std::memset(static_cast<char*>(out[0]) + given, 0, d_symbols);
            given += d_symbols;
            taken = end;
        }
        consume_each(taken);
        return given;
    }

private:
    const int d_frame_items, d_symbols;
    const pmt::pmt_t d_key,
        d_drift = pmt::mp("sync_drift"), d_logp = pmt::mp("sync_logp"),
        d_valid = pmt::mp("sync_valid"), d_source = pmt::mp("tags_only");
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BENCH_FLOW_BLOCKS_H */
