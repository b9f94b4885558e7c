// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests of the decoder objects for gr-fec with PDUs of any length. In one test, gr-fec's
 * async_decoder calls the objects. The other test calls their functions directly, in
 * random order. A build with -fsanitize=address detects memory errors. The environment
 * variable GPUFEC_TEST_PDUS sets the number of PDUs. */

#include <gnuradio/constants.h>
#include <gnuradio/fec/async_decoder.h>
#include <gnuradio/gpufec/fec_ldpc_decoder.h>
#include <gnuradio/gpufec/fec_viterbi_decoder.h>
#include <gnuradio/gpufec/ldpc.h>
#include <gnuradio/gpufec/viterbi.h>
#include <gnuradio/io_signature.h>
#include <gnuradio/sync_block.h>
#include <gtest/gtest.h>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <optional>
#include <random>

namespace {

using namespace gr::gpufec;
using bytes = std::vector<std::uint8_t>;
using floats = std::vector<float>;
using object = gr::fec::generic_decoder::sptr;

unsigned pdus()
{
    const auto* const given = std::getenv("GPUFEC_TEST_PDUS");
    return given ? std::atoi(given) : 1000;
}

// Returns whether gr-fec rounds the product of a length and a rate. If so, gr-fec may
// read one value beyond the end of a PDU.
bool rounds() { return std::stoi(gr::minor_version()) >= 10; }

class collector : public gr::sync_block
{
public:
    collector()
        : sync_block("collector",
                     gr::io_signature::make(0, 0, 0),
                     gr::io_signature::make(0, 0, 0))
    {
        message_port_register_in(pmt::mp("in"));
    }
    int work(int items, gr_vector_const_void_star&, gr_vector_void_star&) override
    {
        return items;
    }
};

// An async_decoder that handles messages synchronously.
class pdu_decoder
{
public:
    pdu_decoder(const object& decoder, bool packed, bool reversed, int mtu)
        : d_block(gr::fec::async_decoder::make(decoder, packed, reversed, mtu)),
          d_sink(gnuradio::make_block_sptr<collector>())
    {
        d_block->message_port_sub(pmt::mp("out"),
                                  pmt::cons(d_sink->alias_pmt(), pmt::mp("in")));
    }

    //! Decodes a PDU; returns nothing if it fails with "larger than max frame size".
    std::optional<bytes> operator()(const floats& values)
    {
        struct opened : gr::basic_block {
            static auto dispatch() { return &opened::dispatch_msg; }
        };
        const auto pdu =
            pmt::cons(pmt::PMT_NIL, pmt::init_f32vector(values.size(), values.data()));
        try {
            (*d_block.*opened::dispatch())(pmt::mp("in"), pdu);
        } catch (const std::runtime_error& error) {
            EXPECT_NE(std::string(error.what()).find("larger than max"),
                      std::string::npos)
                << error.what();
            return std::nullopt;
        }
        const auto result = d_sink->delete_head_nowait(pmt::mp("in"));
        EXPECT_TRUE(pmt::is_pair(result));
        return pmt::u8vector_elements(pmt::cdr(result));
    }

private:
    gr::basic_block_sptr d_block, d_sink;
};

bytes random_bits(std::size_t count, std::mt19937& random)
{
    bytes bits(count);
    for (auto& bit : bits) {
        bit = random() & 1u;
    }
    return bits;
}

bytes packed(const bytes& bits, bool reversed)
{
    bytes result(bits.size() / 8);
    for (std::size_t i = 0; i < 8 * result.size(); ++i) {
        result[i / 8] |= bits[i] << (reversed ? i % 8 : 7 - i % 8);
    }
    return result;
}

// A type of decoder object: its factory, and a function that returns the information bits
// and the soft values of a random frame with about `about` soft values.
struct kind {
    std::string name;
    double rate;
    std::function<object()> make;
    std::function<std::pair<bytes, floats>(std::size_t about, std::mt19937&)> frame;
};

kind viterbi_kind(int k,
                  const std::vector<int>& polynomials,
                  const std::string& puncturing,
                  const std::string& ends,
                  int frame_size)
{
    const conv_code code(k, polynomials, puncturing);
    const auto how = termination_from_string(ends);
    const unsigned tail = how == termination::terminated ? k - 1 : 0;
    return { code.to_string() + " " + ends,
             code.rate(),
             [=]() -> object {
                 fec_viterbi_decoder_options options;
                 options.frame_size = frame_size;
                 options.constraint_length = k;
                 options.polynomials = polynomials;
                 options.puncturing = puncturing;
                 options.termination = how;
                 return fec_viterbi_decoder::make(options);
             },
             [=](std::size_t about, std::mt19937& random) {
                 // gr-fec derives exact lengths if frames end with a puncturing period.
                 auto stages = std::max<std::size_t>(about * code.rate(), 2 * k);
                 stages += (code.period() - stages % code.period()) % code.period();
                 const auto bits = random_bits(stages - tail, random);
                 conv_encoder_kernel encoder(code, how, bits.size());
                 bytes coded(code.values(stages));
                 encoder.encode_frame(bits.data(), coded.data());
                 floats values(coded.size());
                 for (std::size_t i = 0; i < coded.size(); ++i) {
                     values[i] = 2.0f * coded[i] - 1;
                 }
                 return std::make_pair(bits, values);
             } };
}

kind ldpc_kind(const std::string& rate)
{
    const auto code = ldpc_code::standard("wifi", "648", rate);
    return { "ldpc " + rate,
             double(code.k()) / code.sent(),
             [=]() -> object {
                 fec_ldpc_decoder_options options;
                 options.standard = "wifi";
                 options.frame_size = "648";
                 options.rate = rate;
                 return fec_ldpc_decoder::make(options);
             },
             [=](std::size_t about, std::mt19937& random) {
                 const ldpc_encoder_kernel encoder(code);
                 bytes bits;
                 floats values;
                 for (std::size_t n = 0; n <= about / code.sent(); ++n) {
                     const auto message = random_bits(code.k(), random);
                     bytes word(code.n());
                     encoder.encode(message.data(), word.data());
                     bits.insert(bits.end(), message.begin(), message.end());
                     for (const auto bit : word) {
                         values.push_back(bit ? -8 : 8);
                     }
                 }
                 return std::make_pair(bits, values);
             } };
}

std::vector<kind> kinds()
{
    std::vector<kind> all;
    for (const auto* ends : { "terminated", "truncated", "tailbiting" }) {
        for (const int frame_size : { 2048, 20000 }) {
            all.push_back(viterbi_kind(7, { 0171, 0133 }, "", ends, frame_size));
        }
        all.push_back(viterbi_kind(7, { 0171, -0133 }, "101,110", ends, 100));
        all.push_back(viterbi_kind(7, { 0171, 0133 }, "011,110", ends, 96));
        all.push_back(viterbi_kind(9, { 0557, 0663, 0711 }, "", ends, 64));
        all.push_back(viterbi_kind(3, { 7, 5 }, "1000101,1111010", ends, 60));
        all.push_back(viterbi_kind(5, { 031, 027, 035, 023 }, "11,11,10,00", ends, 33));
    }
    all.push_back(ldpc_kind("1/2"));
    all.push_back(ldpc_kind("5/6"));
    return all;
}

std::ostream& operator<<(std::ostream& out, const kind& k) { return out << k.name; }

class FecObjects : public testing::TestWithParam<kind>
{
};

TEST_P(FecObjects, PdusOfRandomLength_StayInsideTheirBuffers)
{
    const auto& k = GetParam();
    std::mt19937 random(1);
    const auto number = [&](unsigned most) { return unsigned(random() % (most + 1)); };
    const unsigned each = 50, all = pdus() / kinds().size() + 1;
    unsigned decoded = 0, ended = 0;
    for (unsigned done = 0; done < all; done += each) {
        const bool packs = number(1), reversed = number(1);
        const int mtu = number(3) ? 1 + number(400) : 1500;
        const double most = mtu * 8 / k.rate;
        pdu_decoder decode(k.make(), packs, reversed, mtu);
        for (unsigned i = 0; i < each; ++i) {
            floats values;
            std::optional<bytes> expected;
            if (number(1)) {
                bytes bits;
                std::tie(bits, values) = k.frame(number(most), random);
                expected = packs ? packed(bits, reversed) : bits;
            } else {
                // Chooses one of four lengths: any length that the MTU allows, a very
                // short one, one close to the MTU, or any up to four times the MTU.
                const unsigned choices[] = { number(most),
                                             number(20),
                                             unsigned(most + 1e-6) + number(1),
                                             number(4 * most) };
                const auto n = choices[number(3)];
                values.resize(n);
                for (auto& v : values) {
                    v = float(number(2000)) / 1000 - 1;
                }
            }
            SCOPED_TRACE(std::to_string(values.size()) + " values, MTU " +
                         std::to_string(mtu) + (packs ? ", packed" : ""));
            auto found = decode(values);
            ended += !found;
            const auto limit = rounds() ? std::lround(most) : long(most + 1e-6);
            EXPECT_EQ(found.has_value(), long(values.size()) <= limit);
            if (!found) {
                decode = pdu_decoder(k.make(), packs, reversed, mtu);
            } else if (expected) {
                ++decoded;
                if (packs) { // GNU Radio 3.10.5 packs the tail bits too.
                    ASSERT_GE(found->size(), expected->size());
                    found->resize(expected->size());
                }
                EXPECT_EQ(*found, *expected);
            } else if (!rounds() && number(3) == 0) {
                pdu_decoder fresh(k.make(), packs, reversed, mtu);
                EXPECT_EQ(found, fresh(values)) << "the output depends on earlier PDUs";
            }
        }
    }
    EXPECT_GT(decoded, 0u);
    EXPECT_GT(ended, 0u);
    RecordProperty("pdus", all);
}

TEST_P(FecObjects, CallsInAnyOrder_StayInsideReturnedSizes)
{
    std::mt19937 random(2);
    const auto number = [&](unsigned most) { return unsigned(random() % (most + 1)); };
    const auto decoder = GetParam().make();
    for (unsigned i = 0; i < pdus() / kinds().size() + 1; ++i) {
        if (number(1)) {
            decoder->rate();
        }
        if (number(1)) {
            decoder->get_input_size();
        }
        const unsigned sizes[] = { number(40),   number(3000),    0u - number(20),
                                   1u << 31,     324 * number(4), (1u << 24) + 13,
                                   324 * 7 - 1u, ~0u >> 1 };
        const bool accepted = decoder->set_frame_size(sizes[number(7)]);
        if (!accepted && number(1)) {
            decoder->generic_work(nullptr, nullptr);
        }
        for (unsigned repeats = number(2); repeats > 0; --repeats) {
            floats values(decoder->get_input_size());
            bytes bits(decoder->get_output_size(), 2);
            decoder->generic_work(values.data(), bits.data());
            EXPECT_EQ(std::count(bits.begin(), bits.end(), 2), 0);
        }
        if (number(1)) {
            decoder->get_iterations();
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All, FecObjects, testing::ValuesIn(kinds()));

} // namespace
