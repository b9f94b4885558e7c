// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Implements the block qpsk_soft_values, which converts QPSK symbols to soft values. */

#include "blocks/common/tagged_block.h"
#include "qpsk_soft_values.h"
#include <gnuradio/io_signature.h>
#include <algorithm>

namespace gr::gpufec {

namespace {

class qpsk_soft_values_impl : public tagged_block<qpsk_soft_values>
{
public:
    qpsk_soft_values_impl(demap::symbol_format format, const std::string& length_tag)
        : gr::block("qpsk_soft_values",
                    gr::io_signature::make(1, 1, demap::symbol_bytes(format)),
                    gr::io_signature::make(1, 1, sizeof(std::int8_t))),
          tagged_block(length_tag, false),
          d_quantiser(format)
    {
        set_output_multiple(2);
        set_relative_rate(2, 1);
    }

    int general_work(int noutput_items,
                     gr_vector_int& ninput_items,
                     gr_vector_const_void_star& input_items,
                     gr_vector_void_star& output_items) override
    {
        const std::size_t n =
            std::min(ninput_items[0], std::max(noutput_items, output_multiple()) / 2);
        read_tags(ninput_items[0]);
        d_quantiser.convert(
            input_items[0], n, static_cast<std::int8_t*>(output_items[0]));
        const auto output_of = [](std::uint64_t item) { return 2 * item; };
        move_tags(d_taken + n, output_of, output_of);
        return leave(n, 2 * n);
    }

private:
    void restart() override { d_quantiser.restart(); }

    demap::qpsk_quantiser d_quantiser;
};

} // namespace

qpsk_soft_values::sptr qpsk_soft_values::make(demap::symbol_format format,
                                              const std::string& length_tag)
{
    return gnuradio::make_block_sptr<qpsk_soft_values_impl>(format, length_tag);
}

} // namespace gr::gpufec
