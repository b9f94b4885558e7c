// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The decoder_trait of the BCH codes of DVB, through which the commands use them. */

#include "bbframe/header.h"
#include "common/packed_bits.h"
#include "encode.h"
#include <gnuradio/gpufec/bch.h>
#include <algorithm>
#include <functional>
#include <iostream>

namespace gr::gpufec {

namespace {

const char* const code_options = R"(
standard    dvbs2|dvbs2x|dvbt2  dvbs2   standard of the code
frame-size  text                normal  name of the LDPC code's frame size; gpufec info lists the names
rate        text                1/2     rate of the LDPC code
)";

bch_code code_of(const option_values& values, json& facts)
{
    const auto code = bch_code::standard(
        values.text("standard"), values.text("frame-size"), values.text("rate"));
    facts = json::object({ { "code", code.name() },
                           { "n", code.n() },
                           { "k", code.k() },
                           { "t", code.t() } });
    return code;
}

// Returns the packed scrambling sequence of \p k bits. All bits are zero unless \p option
// is "true".
byte_vector
scrambling_of(const option_values& values, const std::string& option, unsigned k)
{
    const auto bytes = (k + 7) / 8;
    return values.text(option) == "true" ? bbframe::scrambling(bytes)
                                         : byte_vector(bytes);
}

std::unique_ptr<byte_coder> make_encoder(const option_values& values, json& facts)
{
    const auto code = code_of(values, facts);
    const auto encode = [kernel = bch_encoder_kernel(code),
                         scrambling = scrambling_of(values, "scramble", code.k()),
                         packed = byte_vector((code.n() + 7) / 8)](
                            const byte_vector& message, byte_vector& coded) mutable {
        pack_bits(message.data(), message.size(), packed.data());
        std::transform(scrambling.begin(),
                       scrambling.end(),
                       packed.begin(),
                       packed.begin(),
                       std::bit_xor<>{});
        kernel.encode(packed.data(), packed.data());
        coded.resize(kernel.code().n());
        unpack_bits(packed.data(), 0, coded.size(), coded.data());
    };
    return make_bit_encoder(values, { code.k(), encode });
}

//! A BCH decoder that counts frames, failures and corrected bits.
class bch_stream : public piece_coder
{
public:
    bch_stream(const bch_code& code, const byte_vector& scrambling, bool unpacked)
        : piece_coder({ 1, (code.n() + 7) / 8 / double(code.k()), 0, (code.n() + 7) / 8 },
                      (code.n() + 7) / 8,
                      [=, this](const std::uint8_t* items,
                                std::size_t count,
                                byte_vector& out) { decode(items, count, out); }),
          d_kernel(code),
          d_scrambling(scrambling),
          d_unpacked(unpacked)
    {
    }

    json conclude() override
    {
        std::cerr << "gpufec: " << d_frames << (d_frames == 1 ? " frame, " : " frames, ")
                  << d_errors << " bits corrected, " << d_failed
                  << " frames cannot be corrected\n";
        return json::object({ { "frames", d_frames },
                              { "wrong_frames", d_failed },
                              { "corrected_bits", d_errors } });
    }
    bool no_signal() const override { return d_frames > 0 && d_failed == d_frames; }

private:
    void decode(const std::uint8_t* items, std::size_t count, byte_vector& out)
    {
        if (count == 0) {
            return;
        }
        byte_vector frame(items, items + count);
        const int errors = d_kernel.decode(frame.data());
        ++d_frames;
        d_failed += errors < 0;
        d_errors += std::max(errors, 0);
        std::transform(d_scrambling.begin(),
                       d_scrambling.end(),
                       frame.begin(),
                       frame.begin(),
                       std::bit_xor<>{});
        const auto k = d_kernel.code().k();
        byte_vector bits(k);
        unpack_bits(frame.data(), 0, k, bits.data());
        if (!d_unpacked) {
            frame.resize((k + 7) / 8);
            pack_bits(bits.data(), k, frame.data());
        }
        const auto& written = d_unpacked ? bits : frame;
        out.insert(out.end(), written.begin(), written.end());
    }

    const bch_decoder_kernel d_kernel;
    const byte_vector d_scrambling; // zeros unless --descramble is true
    const bool d_unpacked;
    std::uint64_t d_frames = 0, d_failed = 0, d_errors = 0;
};

} // namespace

decoder_trait bch_trait()
{
    decoder_trait t;
    t.name = "bch";
    t.code_options = code_options;
    t.decode = {
        "Corrects codewords, packed eight bits per byte, each padded to a byte, "
        "and writes their messages.",
        "descramble true|false false descramble the messages, which are BBFRAMEs\n"
        "unpacked flag - write one bit per byte to OUT\n",
        R"(
# Decode the messages of LDPC frames to BBFRAMEs
gpufec decode bch --rate 1/2 --descramble true messages.bin bbframes.out
# Write one bit per byte
gpufec decode bch --rate 1/2 --descramble true --unpacked messages.bin bits.bin
)"
    };
    t.make_decoder = [](const option_values& values, json& facts) {
        const auto code = code_of(values, facts);
        return std::make_unique<bch_stream>(
            code, scrambling_of(values, "descramble", code.k()), values.has("unpacked"));
    };
    t.encode = { "Encodes messages, packed eight bits per byte, each padded to a byte. "
                 "The codewords are the messages of the LDPC code.",
                 "scramble true|false false scramble the messages, which are BBFRAMEs\n" +
                     bit_encoder_options(),
                 R"(
# Encode BBFRAMEs to the messages of LDPC frames
gpufec encode bch --rate 1/2 --scramble true bbframes.bin messages.bin
# Encode BBFRAMEs to QPSK symbols
gpufec encode bch --rate 1/2 --scramble true bbframes.bin - | gpufec encode ldpc --modcod "QPSK 1/2" --output symbols - symbols.cf32
)" };
    t.make_encoder = make_encoder;
    return t;
}

} // namespace gr::gpufec
