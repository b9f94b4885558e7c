// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "sync_encoder_impl.h"
#include "sync_parameters.h"
#include <gnuradio/io_signature.h>
#include <algorithm>

namespace gr::gpufec {

sync_encoder::sptr sync_encoder::make(const std::vector<std::uint8_t>& codebook,
                                      int q,
                                      int n,
                                      int frame_symbols,
                                      const std::string& length_tag,
                                      int alphabet)
{
    return gnuradio::make_block_sptr<sync_encoder_impl>(
        sync_code_of(codebook, q, n, frame_symbols, alphabet), length_tag);
}

sync_encoder_impl::sync_encoder_impl(const sync_code& code, const std::string& length_tag)
    : gr::block("sync_encoder",
                gr::io_signature::make(1, 1, symbol_item_size(code)),
                gr::io_signature::make(1, 1, sizeof(std::uint8_t))),
      d_encoder(code),
      d_length_key(length_tag.empty() ? pmt::pmt_t() : pmt::mp(length_tag)),
      d_source(pmt::mp(alias()))
{
    // Whole frames only, so that nothing is left over between calls.
    set_output_multiple(code.frame_bits());
    set_relative_rate(std::uint64_t(code.n()), 1);
    set_tag_propagation_policy(TPP_CUSTOM);
}

void sync_encoder_impl::forecast(int noutput_items, gr_vector_int& ninput_items_required)
{
    const auto& code = d_encoder.code();
    const int frames = std::max(1, noutput_items / int(code.frame_bits()));
    ninput_items_required[0] = frames * code.frame_symbols();
}

int sync_encoder_impl::general_work(int noutput_items,
                                    gr_vector_int& ninput_items,
                                    gr_vector_const_void_star& input_items,
                                    gr_vector_void_star& output_items)
{
    const auto& code = d_encoder.code();
    // There is room for a multiple, though a small max_noutput_items makes it 0 here.
    const std::size_t room = std::max(noutput_items, output_multiple());
    const auto frames = std::min(room / code.frame_bits(),
                                 std::size_t(ninput_items[0]) / code.frame_symbols());
    const auto symbols = frames * code.frame_symbols();
    auto* const out = static_cast<std::uint8_t*>(output_items[0]);
    if (symbol_item_size(code) == sizeof(std::uint8_t)) {
        d_encoder.encode(static_cast<const std::uint8_t*>(input_items[0]), symbols, out);
    } else {
        d_encoder.encode(static_cast<const std::uint16_t*>(input_items[0]), symbols, out);
    }
    add_tags(frames);
    consume_each(symbols);
    return frames * code.frame_bits();
}

void sync_encoder_impl::add_tags(std::size_t frames)
{
    const auto& code = d_encoder.code();
    for (std::size_t f = 0; d_length_key && f < frames; ++f) {
        add_item_tag(0,
                     nitems_written(0) + f * code.frame_bits(),
                     d_length_key,
                     pmt::from_long(code.frame_bits()),
                     d_source);
    }
    std::vector<tag_t> tags;
    get_tags_in_range(
        tags, 0, nitems_read(0), nitems_read(0) + frames * code.frame_symbols());
    for (auto& tag : tags) {
        if (!d_length_key || !pmt::eqv(tag.key, d_length_key)) {
            tag.offset = nitems_written(0) + (tag.offset - nitems_read(0)) * code.n();
            add_item_tag(0, tag);
        }
    }
}

} // namespace gr::gpufec
