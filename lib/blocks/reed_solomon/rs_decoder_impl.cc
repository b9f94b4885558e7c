// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Implements the block rs_decoder, which decodes frames, drops failed frames and adds
 * status tags. */

#include "rs_decoder_impl.h"
#include "rs_parameters.h"
#include <gnuradio/io_signature.h>
#include <algorithm>

namespace gr::gpufec {

rs_decoder::sptr rs_decoder::make(const rs_decoder_options& given)
{
    require(
        given.threads >= 1 && given.threads <= 256, "threads", given.threads, "1 to 256");
    return gnuradio::make_block_sptr<rs_decoder_impl>(
        rs_kernel_of<reed_solomon_decoder_kernel>(given), given);
}

rs_decoder_impl::rs_decoder_impl(const reed_solomon_decoder_kernel& kernel,
                                 const rs_decoder_options& given)
    : gr::block("rs_decoder",
                gr::io_signature::make(
                    given.erasures ? 2 : 1, given.erasures ? 2 : 1, sizeof(std::uint8_t)),
                gr::io_signature::make(1, 1, sizeof(std::uint8_t))),
      frame_block(kernel.interleaving() * kernel.code().n(),
                  given.erasures ? 2 : 1,
                  kernel.interleaving() * kernel.code().k(),
                  given.length_tag,
                  !given.drop),
      d_kernel(kernel),
      d_erasures(given.erasures),
      d_drop(given.drop),
      d_status_tags(given.status_tags),
      d_corrected_key(pmt::mp("rs_corrected")),
      d_valid_key(pmt::mp("rs_valid")),
      d_length_key(pmt::mp(given.length_tag)),
      d_team(unsigned(given.threads))
{
}

int rs_decoder_impl::general_work(int noutput_items,
                                  gr_vector_int& ninput_items,
                                  gr_vector_const_void_star& input_items,
                                  gr_vector_void_star& output_items)
{
    if (!d_erasures) {
        return frame_block::general_work(
            noutput_items, ninput_items, input_items, output_items);
    }
    const auto available = std::min(ninput_items[0], ninput_items[1]);
    const auto* const symbols = static_cast<const std::uint8_t*>(input_items[0]);
    const auto* const erasures = static_cast<const std::uint8_t*>(input_items[1]);
    d_pairs.resize(2 * available);
    for (int i = 0; i < available; ++i) {
        d_pairs[2 * i] = symbols[i];
        d_pairs[2 * i + 1] = erasures[i];
    }
    gr_vector_int counts = { available };
    gr_vector_const_void_star pairs = { d_pairs.data() };
    return frame_block::general_work(noutput_items, counts, pairs, output_items);
}

std::size_t rs_decoder_impl::make_frames(const std::uint8_t* in,
                                         std::size_t frames,
                                         std::uint8_t* out,
                                         std::uint64_t first)
{
    // Each thread decodes at least 16 KiB, because waking a thread takes as long as
    // decoding a smaller part.
    constexpr std::size_t least_part = 16u << 10;
    d_counts.resize(frames * d_kernel.interleaving());
    d_team(frames,
           frames * d_input / least_part,
           [&](std::size_t begin, std::size_t count) { decode(in, begin, count, out); });

    std::size_t kept = 0;
    std::uint64_t corrected = 0, failed = 0;
    for (const auto count : d_counts) {
        corrected += std::uint64_t(std::max(count, 0));
        failed += count == reed_solomon_decoder_kernel::failed;
    }
    for (std::size_t f = 0; f < frames; ++f) {
        if (drops_frame(f)) {
            continue;
        }
        if (kept != f) {
            std::copy_n(out + f * d_output, d_output, out + kept * d_output);
        }
        add_tags(f, first + kept * d_output);
        ++kept;
    }
    d_frames += frames;
    d_corrected += corrected;
    d_failed += failed;
    return kept;
}

// Decodes `count` frames, beginning with frame `first`. Several threads call this at the
// same time, for different frames.
void rs_decoder_impl::decode(const std::uint8_t* in,
                             std::size_t first,
                             std::size_t count,
                             std::uint8_t* out)
{
    std::vector<std::uint8_t> frame(d_input), erasures(d_erasures ? d_input : 0);
    for (auto f = first; f < first + count; ++f) {
        if (d_erasures) {
            const auto* const pairs = in + f * 2 * d_input;
            for (std::size_t i = 0; i < d_input; ++i) {
                frame[i] = pairs[2 * i];
                erasures[i] = pairs[2 * i + 1];
            }
        } else {
            std::copy_n(in + f * d_input, d_input, frame.begin());
        }
        d_kernel.decode(frame.data(),
                        &d_counts[f * d_kernel.interleaving()],
                        d_erasures ? erasures.data() : nullptr);
        std::copy_n(frame.begin(), d_output, out + f * d_output);
    }
}

bool rs_decoder_impl::is_valid(std::size_t frame) const
{
    const auto begin = d_counts.begin() + frame * d_kernel.interleaving();
    const auto end = begin + d_kernel.interleaving();
    return std::find(begin, end, reed_solomon_decoder_kernel::failed) == end;
}

// Adds the tags of a frame whose first output item has the tag offset `first`.
void rs_decoder_impl::add_tags(std::size_t frame, std::uint64_t first)
{
    if (d_drop && d_lengths.has_packets()) {
        add_item_tag(0, first, d_length_key, pmt::from_long(long(d_output)));
    }
    const bool valid = is_valid(frame);
    if (d_status_tags == status_tags::all ||
        (d_status_tags == status_tags::failures && !valid)) {
        const auto* const counts = &d_counts[frame * d_kernel.interleaving()];
        add_item_tag(0,
                     first,
                     d_corrected_key,
                     pmt::init_s32vector(d_kernel.interleaving(), counts));
        add_item_tag(0, first, d_valid_key, pmt::from_bool(valid));
    }
}

} // namespace gr::gpufec
