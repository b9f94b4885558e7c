// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The blocks bch_encoder and bch_decoder. */

#include "blocks/common/frame_block.h"
#include "common/packed_bits.h"
#include <gnuradio/gpufec/bch.h>
#include <gnuradio/gpufec/bch_decoder.h>
#include <gnuradio/gpufec/bch_encoder.h>
#include <gnuradio/io_signature.h>
#include <algorithm>
#include <atomic>
#include <vector>

namespace gr::gpufec {

namespace {

// Base class of both blocks, whose frames have constant numbers of bits.
template <class Block>
class bch_block : public frame_block<Block>
{
protected:
    template <class Options>
    bch_block(const bch_code& code,
              std::size_t input_bits,
              std::size_t output_bits,
              const Options& given)
        : frame_block<Block>(items_of(input_bits, given.packed_input),
                             sizeof(std::uint8_t),
                             items_of(output_bits, given.packed_output),
                             given.length_tag),
          d_packed_input(given.packed_input),
          d_packed_output(given.packed_output),
          d_packed((code.n() + 7) / 8)
    {
    }

    std::size_t output_of_item(std::size_t item) const override
    {
        const auto bit = item * (d_packed_input ? 8 : 1);
        return d_packed_output ? bit / 8 : bit;
    }

    const bool d_packed_input, d_packed_output;
    std::vector<std::uint8_t> d_packed; // packed bits of the current frame
};

template <class Options>
bch_code code_of(const Options& given)
{
    return bch_code::standard(given.standard, given.frame_size, given.rate);
}

class bch_encoder_impl : public bch_block<bch_encoder>
{
public:
    bch_encoder_impl(const bch_code& code, const bch_encoder_options& given)
        : gr::block("bch_encoder",
                    gr::io_signature::make(1, 1, sizeof(std::uint8_t)),
                    gr::io_signature::make(1, 1, sizeof(std::uint8_t))),
          bch_block(code, code.k(), code.n(), given),
          d_kernel(code)
    {
    }

private:
    void make_frame(const std::uint8_t* in, std::uint8_t* out, std::uint64_t) override
    {
        const auto& code = d_kernel.code();
        if (!d_packed_input) {
            pack_bits(in, code.k(), d_packed.data());
            in = d_packed.data();
        }
        if (d_packed_output) {
            d_kernel.encode(in, out);
        } else {
            d_kernel.encode(in, d_packed.data());
            unpack_bits(d_packed.data(), 0, code.n(), out);
        }
    }

    const bch_encoder_kernel d_kernel;
};

class bch_decoder_impl : public bch_block<bch_decoder>
{
public:
    bch_decoder_impl(const bch_code& code, const bch_decoder_options& given)
        : gr::block("bch_decoder",
                    gr::io_signature::make(1, 1, sizeof(std::uint8_t)),
                    gr::io_signature::make(1, 1, sizeof(std::uint8_t))),
          bch_block(code, code.n(), code.k(), given),
          d_kernel(code),
          d_status_tags(given.status_tags),
          d_errors_key(pmt::mp("bch_errors")),
          d_valid_key(pmt::mp("bch_valid"))
    {
    }

    std::uint64_t frame_count() const override { return d_frames; }
    std::uint64_t error_count() const override { return d_failures; }
    std::uint64_t corrected_bits() const override { return d_corrected; }
    std::uint64_t skipped_frame_count() const override { return d_skipped; }

private:
    void
    make_frame(const std::uint8_t* in, std::uint8_t* out, std::uint64_t first) override
    {
        const auto& code = d_kernel.code();
        if (d_packed_input) {
            std::copy_n(in, d_packed.size(), d_packed.begin());
        } else {
            pack_bits(in, code.n(), d_packed.data());
        }
        const auto errors = d_kernel.decode(d_packed.data());
        const bool valid = errors != bch_decoder_kernel::failed;
        if (d_packed_output) {
            std::copy_n(d_packed.begin(), d_output, out);
            if (code.k() % 8) {
                out[d_output - 1] &= 0xff00u >> code.k() % 8;
            }
        } else {
            unpack_bits(d_packed.data(), 0, code.k(), out);
        }

        ++d_frames;
        d_failures += !valid;
        d_corrected += valid ? errors : 0;
        if (d_status_tags == status_tags::all ||
            (d_status_tags == status_tags::failures && !valid)) {
            add_item_tag(0, first, d_errors_key, pmt::from_long(errors));
            add_item_tag(0, first, d_valid_key, pmt::from_bool(valid));
        }
    }

    const bch_decoder_kernel d_kernel;
    const status_tags d_status_tags;
    const pmt::pmt_t d_errors_key, d_valid_key;
    std::atomic<std::uint64_t> d_frames{ 0 }, d_failures{ 0 }, d_corrected{ 0 };
};

} // namespace

bch_encoder::sptr bch_encoder::make(const bch_encoder_options& given)
{
    return gnuradio::make_block_sptr<bch_encoder_impl>(code_of(given), given);
}

bch_decoder::sptr bch_decoder::make(const bch_decoder_options& given)
{
    return gnuradio::make_block_sptr<bch_decoder_impl>(code_of(given), given);
}

} // namespace gr::gpufec
