// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The block ldpc_encoder, based on ldpc_encoder_kernel or wifi_ppdu. */

#include "blocks/common/encoder_block.h"
#include "common/packed_bits.h"
#include "ldpc_code_of.h"
#include "ldpc_parameters.h"
#include <gnuradio/gpufec/ldpc.h>
#include <gnuradio/gpufec/ldpc_encoder.h>
#include <gnuradio/gpufec/wifi.h>
#include <gnuradio/io_signature.h>
#include <algorithm>
#include <vector>

namespace gr::gpufec {

namespace {

// The signature of input and output.
gr::io_signature::sptr bytes()
{
    return gr::io_signature::make(1, 1, sizeof(std::uint8_t));
}

// Base class of the encoders for codewords and for PPDUs.
class ldpc_frame_encoder : public encoder_block<ldpc_encoder>
{
protected:
    ldpc_frame_encoder(std::size_t input_bits,
                       std::size_t output_bits,
                       const ldpc_encoder_options& given)
        : encoder_block(items_of(input_bits, given.packed_input),
                        items_of(output_bits, given.packed_output),
                        given.length_tag),
          d_packed_input(given.packed_input),
          d_packed_output(given.packed_output)
    {
        set_frame_rate();
    }

    // Returns the index of the coded bit to which the tags of a message bit move.
    virtual std::size_t coded_bit(std::size_t message_bit) const = 0;

    std::uint64_t output_of_item(std::uint64_t item) const override
    {
        const auto bit = coded_bit(item % d_block_items * (d_packed_input ? 8 : 1));
        return item / d_block_items * d_frame_output + (d_packed_output ? bit / 8 : bit);
    }

    const bool d_packed_input, d_packed_output;
};

// An encoder whose frame is one codeword.
class codeword_encoder : public ldpc_frame_encoder
{
public:
    codeword_encoder(const ldpc_code& code, const ldpc_encoder_options& given)
        : gr::block("ldpc_encoder", bytes(), bytes()),
          ldpc_frame_encoder(code.k(), code.sent(), given),
          d_kernel(code)
    {
        if (!code.warning().empty()) {
            d_logger->warn("{}", code.warning());
        }
    }

private:
    void encode(const std::vector<std::uint8_t>& items,
                std::vector<std::uint8_t>& coded) override
    {
        const auto& code = d_kernel.code();
        if (!d_packed_input) {
            d_packed.resize((code.k() + 7) / 8);
            pack_bits(items.data(), code.k(), d_packed.data());
        }
        const auto& message = d_packed_input ? items : d_packed;
        coded.resize(d_frame_output);
        if (d_packed_output) {
            d_kernel.encode_packed(message.data(), coded.data());
        } else {
            d_codeword.resize((code.sent() + 7) / 8);
            d_kernel.encode_packed(message.data(), d_codeword.data());
            unpack_bits(d_codeword.data(), 0, code.sent(), coded.data());
        }
    }

    std::size_t coded_bit(std::size_t message_bit) const override
    {
        const auto& message = d_kernel.code().message_positions();
        // Finds the last transmitted bit at or before the message bit, because the
        // message bit itself may be punctured.
        auto bit = message_bit < message.size() ? std::size_t(message[message_bit]) : 0;
        const auto& sent = d_kernel.code().sent_positions();
        if (!sent.empty()) {
            const auto next = std::upper_bound(sent.begin(), sent.end(), bit);
            bit = next == sent.begin() ? 0 : next - sent.begin() - 1;
        }
        return bit;
    }

    const ldpc_encoder_kernel d_kernel;
    // Packed message and packed sent bits of a frame, if items are single bits.
    std::vector<std::uint8_t> d_packed, d_codeword;
};

// An encoder whose frame is one Wi-Fi PPDU.
class ppdu_encoder : public ldpc_frame_encoder
{
public:
    ppdu_encoder(const wifi_ppdu& ppdu, const ldpc_encoder_options& given)
        : gr::block("ldpc_encoder", bytes(), bytes()),
          ldpc_frame_encoder(ppdu.payload_bits(), ppdu.coded_bits(), given),
          d_ppdu(ppdu),
          d_payload(ppdu.payload_bits()),
          d_bits(ppdu.coded_bits())
    {
    }

private:
    void encode(const std::vector<std::uint8_t>& items,
                std::vector<std::uint8_t>& coded) override
    {
        if (d_packed_input) {
            unpack_bits(items.data(), 0, d_payload.size(), d_payload.data());
        } else {
            std::transform(items.begin(), items.end(), d_payload.begin(), [](auto item) {
                return item & 1;
            });
        }
        d_ppdu.encode(d_payload.data(), d_bits.data());
        coded.resize(d_frame_output);
        if (d_packed_output) {
            pack_bits(d_bits.data(), d_bits.size(), coded.data());
        } else {
            coded = d_bits;
        }
    }

    std::size_t coded_bit(std::size_t message_bit) const override
    {
        return d_ppdu.coded_bit(unsigned(message_bit));
    }

    const wifi_ppdu d_ppdu;
    std::vector<std::uint8_t> d_payload, d_bits; // one bit per byte
};

} // namespace

ldpc_encoder::sptr ldpc_encoder::make(const ldpc_encoder_options& given)
{
    if (const auto ppdu = wifi_ppdu_of(given)) {
        return gnuradio::make_block_sptr<ppdu_encoder>(*ppdu, given);
    }
    return gnuradio::make_block_sptr<codeword_encoder>(
        ldpc_code_of({ given.standard,
                       given.frame_size,
                       given.rate,
                       given.code_file,
                       given.punctured,
                       given.shortened,
                       given.message_positions }),
        given);
}

} // namespace gr::gpufec
