// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Coders that work on the caller's thread without batches (gpufec encode and the BCH
 * decoder), and the output formats of gpufec encode. */

#ifndef INCLUDED_GPUFEC_APPS_ENCODE_H
#define INCLUDED_GPUFEC_APPS_ENCODE_H

#include "demap/rule.h"
#include "trait.h"
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace gr::gpufec {

using byte_vector = std::vector<std::uint8_t>;

//! A coder that processes its input in blocks of a constant size on the caller's
//! thread.
class piece_coder : public byte_coder
{
public:
    //! A function that appends the output of a block of \p count items to \p out. At
    //! the end of the input, the coder calls the function with 0 items.
    using function = std::function<void(
        const std::uint8_t* items, std::size_t count, byte_vector& out)>;

    //! \p items is the number of items per block. An incomplete last block is coded if
    //!     r.frame_items is 0; otherwise it is dropped.
    piece_coder(const stream_rates& r, std::size_t items, function code);

    std::size_t push(const void* items, std::size_t count) override;
    std::size_t pull(std::uint8_t* out, std::size_t bytes) override;
    void flush_if_due() override {}
    void finish() override;
    bool done() override { return d_finished && d_pulled == d_out.size(); }
    void wait() override {}
    json state() const override { return json::object({ { "backend", "cpu" } }); }

private:
    void code();

    const std::size_t d_piece_bytes;
    const function d_code;
    byte_vector d_in, d_out;
    std::size_t d_pulled = 0;
    bool d_finished = false;
};

//! Returns rows of an option_table for make_bit_encoder(). \p outputs lists the formats
//! other than packed and unpacked bits, separated by '|', the default first; if it is
//! empty, packed is the default. \p positive_bit is the default of --positive-bit.
std::string bit_encoder_options(const std::string& outputs = "",
                                const std::string& positive_bit = "");

//! An encoder, and the parameters of its output formats.
struct bit_encoder {
    std::size_t frame_bits; //!< information bits per frame; 0: the input is a stream
    //! Encodes a message, or a block of a stream, to one bit per byte.
    std::function<void(const byte_vector& message, byte_vector& coded)> encode;
    float level = 1; //!< magnitude of float soft values
    //! Function that appends the symbols of a frame's coded bits; null if there is no
    //! symbol output.
    std::function<void(const byte_vector& coded, byte_vector& out)> map = nullptr;
};

//! Makes an encoder with the options of bit_encoder_options().
std::unique_ptr<byte_coder> make_bit_encoder(const option_values& values,
                                             const bit_encoder& encoder);

//! Appends the symbols of a frame's bits as complex float32, and dummy symbols up to a
//! multiple of the PLFRAME's slot length, 90.
void append_symbols(const demap::model& m, const byte_vector& bits, byte_vector& out);

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_APPS_ENCODE_H */
