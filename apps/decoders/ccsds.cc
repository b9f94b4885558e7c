// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The decoder_trait of CCSDS telemetry and telecommands, from soft symbols to transfer
 * frames. */

#include "common/names.h"
#include "trait.h"
#include "viterbi/model/soft_input.h"
#include <gnuradio/gpufec/ccsds.h>
#include <gnuradio/gpufec/ldpc.h>
#include <gnuradio/gpufec/viterbi.h>
#include <algorithm>
#include <iostream>
#include <sstream>
#include <vector>

namespace gr::gpufec {

namespace {

const char* const code_options = R"(
convolutional  text             ccsds      inner convolutional code: none or a preset's name, such as ccsds_3_4
code           text             ccsds-223  code of the frame: none; Reed-Solomon: ccsds-223 or ccsds-239, each also with the suffix -conventional; LDPC: c2, ar4ja-1024-1/2 and so on; telecommands: tc-bch, tc-bch-detect, tc-ldpc-128 or tc-ldpc-512
interleaving   int              1          number of Reed-Solomon codewords per frame
frame-bytes    int              0          length of a transfer frame in bytes; 0: the longest frame of the code. With telecommand codes, the largest length of a CLTU in bytes
randomiser     none|short|long  short      pseudo-randomiser; short: 255 bits; long: 131,071 bits, not with telecommand codes
differential   true|false       false      whether bits were sent as changes of the level (NRZ-M)
)";

const char* const decoder_options = R"(
soft-input      int8|float|uint8  int8     format of soft values; uint8: offset binary, in which 128 stands for 0
soft-scale      real              32       int8 steps per unit of float values
llr-scale       real              2        int8 steps per nat with LDPC codes, whose float values are in nats
positive-bit    0|1               1        the bit that a positive soft value means: 1 in gr-fec and SatDump
constellation   bpsk|qpsk|oqpsk   bpsk     constellation, whose ambiguities are resolved; qpsk: also rotations by 90 degrees and exchanged I and Q; oqpsk: also I or Q late by a symbol
lock            off|auto          auto     whether the phase of the convolutional code is searched for
lock-presets    text              -        names of further convolutional codes to search for, comma separated
lock-memory     count             1000000  number of soft values that are kept during the search
keep-failed     flag              -        also write frames that could not be decoded
max-iterations  int               25       largest number of LDPC iterations
false-alarm     real              1e-6     probability of a false lock per frame length of random bits; with telecommand codes, of a false start sequence per random bit
flywheel        int               2        largest number of successive frames without a recognised marker that are kept
)";

//! The Viterbi decoder, with packed bits as output.
class inner_decoder : public decoder_adapter<viterbi_decoder>
{
public:
    explicit inner_decoder(const viterbi_options& options)
        : decoder_adapter(options, { 1, 1, 8 })
    {
    }
    std::size_t pull(std::uint8_t* out, std::size_t bytes) override
    {
        return d_decoder->pull({ out, bytes, true });
    }
};

//! The LDPC decoder, with packed messages as output.
class outer_decoder : public decoder_adapter<ldpc_decoder>
{
public:
    explicit outer_decoder(const ldpc_options& options)
        : decoder_adapter(options, { 1, 1, 8 })
    {
    }
    std::size_t pull(std::uint8_t* out, std::size_t bytes) override
    {
        const auto n = d_decoder->pull({ out, bytes, true });
        if (const auto status = d_decoder->status()) {
            d_valid = status->unsatisfied == 0;
        }
        return n;
    }
    //! Returns whether the frame that is being pulled is a codeword.
    bool valid() const { return d_valid; }

private:
    bool d_valid = false;
};

ccsds_framing framing_of(const option_values& values, bool inner)
{
    ccsds_framing framing;
    framing.code = values.text("code");
    framing.interleaving = unsigned(values.integer("interleaving"));
    framing.frame_bytes = unsigned(values.integer("frame-bytes"));
    framing.randomiser = values.text("randomiser");
    framing.differential = values.text("differential") == "true";
    framing.constellation = inner ? "bpsk" : values.text("constellation");
    framing.false_alarm = values.real("false-alarm");
    framing.flywheel = unsigned(values.integer("flywheel", 0, 100));
    framing.drop_failed = !values.has("keep-failed");
    framing.positive_bit = unsigned(values.integer("positive-bit"));
    framing.llr_scale = float(values.real("llr-scale"));
    framing.max_iterations = unsigned(values.integer("max-iterations", 1));
    return framing;
}

viterbi_options viterbi_part(const option_values& values)
{
    const auto preset = find_conv_preset(values.text("convolutional"));
    viterbi_options options{ conv_code::preset(preset.name) };
    options.termination = preset.termination;
    options.format = soft_format_from_string(values.text("soft-input"));
    options.soft_scale = float(values.real("soft-scale"));
    options.positive_bit = unsigned(values.integer("positive-bit"));
    options.lock = values.text("lock");
    options.lock_constellation = values.text("constellation");
    options.lock_preset = preset.name;
    options.lock_memory = values.count("lock-memory");
    std::istringstream names(values.text("lock-presets"));
    for (std::string name; std::getline(names, name, ',');) {
        options.lock_presets.push_back(find_conv_preset(name).name);
    }
    values.set_run_options(options);
    return options;
}

ldpc_options ldpc_part(const option_values& values, const ccsds_ldpc_code& code)
{
    ldpc_options options;
    options.codes = { ldpc_code::standard(code.standard, code.frame_size, code.rate) };
    options.llr_scale = float(values.real("llr-scale"));
    options.positive_bit = unsigned(values.integer("positive-bit"));
    options.max_iterations = unsigned(values.integer("max-iterations", 1));
    // With int8, some correctly decoded messages have violated checks. The block
    // ccsds_fec_receiver uses int16 too.
    if (code.standard == "ccsds_ar4ja") {
        options.precision = ldpc_precision::int16;
    }
    values.set_run_options(options);
    return options;
}

class ccsds_stream : public byte_coder
{
public:
    //! \param scale name of the option with the steps per unit of float values
    ccsds_stream(const option_values& values,
                 const ccsds_ldpc_code* ldpc,
                 const char* scale)
        : byte_coder({ values.text("soft-input") == "float" ? sizeof(float) : 1, 1, 8 }),
          d_format(soft_format_from_string(values.text("soft-input"))),
          d_scale(float(values.real(scale))),
          d_keep_failed(values.has("keep-failed")),
          d_part(values.integer("threads") > 1 ? values.integer("threads") * (32u << 10)
                                               : 8192),
          d_finder(framing_of(values, inner(values)),
                   !inner(values),
                   "",
                   unsigned(values.integer("threads")))
    {
        if (inner(values)) {
            d_inner = std::make_unique<inner_decoder>(viterbi_part(values));
        }
        if (ldpc) {
            d_outer = std::make_unique<outer_decoder>(ldpc_part(values, *ldpc));
            d_message.resize(ldpc->message_bits / 8);
        }
        rates.items_per_bit =
            double(d_finder.period()) /
            (d_outer ? 8.0 * d_message.size() : 8.0 * d_finder.frame_items());
        if (d_inner) {
            rates.items_per_bit /= viterbi_part(values).code.rate();
        }
    }

    static bool inner(const option_values& values)
    {
        return folded(values.text("convolutional")) != "none";
    }

    std::size_t push(const void* items, std::size_t count) override
    {
        if (d_inner) {
            return d_inner->push(items, count);
        }
        const auto n = std::min(count, 8 * d_part);
        d_values.resize(n);
        if (d_format == soft_format::float32) {
            viterbi::convert(static_cast<const float*>(items),
                             d_scale,
                             reinterpret_cast<std::byte*>(d_values.data()),
                             n);
        } else if (d_format == soft_format::uint8) {
            viterbi::from_offset_binary(
                static_cast<const std::byte*>(items), n, d_values.data());
        } else {
            std::copy_n(static_cast<const std::int8_t*>(items), n, d_values.begin());
        }
        d_finder.push(d_values.data(), n);
        return n;
    }

    std::size_t pull(std::uint8_t* out, std::size_t bytes) override
    {
        if (d_pulled == d_out.size()) {
            d_out.clear();
            d_pulled = 0;
            while (d_out.empty() && advance()) {
            }
        }
        const auto n = std::min(bytes, d_out.size() - d_pulled);
        std::copy_n(d_out.begin() + std::ptrdiff_t(d_pulled), n, out);
        d_pulled += n;
        return n;
    }

    void flush_if_due() override
    {
        if (d_inner) {
            d_inner->flush_if_due();
        }
        if (d_outer) {
            d_outer->flush_if_due();
        }
    }
    void finish() override
    {
        d_ended = true;
        if (d_inner) {
            d_inner->finish();
        }
    }
    bool done() override
    {
        return d_found_all && d_pulled == d_out.size() && (!d_outer || d_outer->done());
    }
    void wait() override
    {
        if (d_inner && !d_inner->done()) {
            d_inner->wait();
        } else if (d_outer && d_fed_all && !d_outer->done()) {
            d_outer->wait();
        }
    }
    json state() const override
    {
        return d_inner   ? d_inner->state()
               : d_outer ? d_outer->state()
                         : json::object({ { "backend", "cpu" } });
    }

    json conclude() override
    {
        const auto counts = d_finder.counts();
        const auto good = d_outer ? d_valid : counts.frames;
        const auto failed = d_outer ? d_invalid : counts.failed;
        std::cerr << "gpufec: " << good << (good == 1 ? " frame, " : " frames, ")
                  << counts.corrected << " symbols corrected, " << failed
                  << " frames cannot be decoded\n";
        if (const auto verdict = d_finder.verdict(); !verdict.empty()) {
            std::cerr << "gpufec: WARNING: "
                      << (option_names ? option_names->warning(verdict) : verdict)
                      << "\n";
        }
        return json::object({ { "frames", good },
                              { "wrong_frames", failed },
                              { "corrected_symbols", counts.corrected },
                              { "missed_markers", counts.missed },
                              { "locks", counts.locks },
                              { "slips", counts.slips } });
    }
    bool no_signal() const override
    {
        return (d_outer ? d_valid : d_finder.counts().frames) == 0;
    }

private:
    // Moves data from one stage to the next. Returns whether data was moved.
    bool advance()
    {
        bool moved = false;
        if (d_inner) {
            d_bits.resize(d_part);
            std::size_t n = 0, pulled = 0;
            do {
                pulled = d_inner->pull(d_bits.data() + n, d_bits.size() - n);
                n += pulled;
            } while (pulled > 0 && n < d_bits.size());
            d_finder.push(d_bits.data(), n);
            moved = n > 0;
        }
        if (d_ended && !d_found_all && !moved && (!d_inner || d_inner->done())) {
            d_finder.finish();
            d_found_all = moved = true;
        }
        return (d_outer ? decode_codewords() : take_frames()) || moved;
    }

    bool take_frames()
    {
        const auto before = d_out.size();
        while (d_finder.pull(d_frame)) {
            d_out.insert(d_out.end(), d_frame.bytes.begin(), d_frame.bytes.end());
        }
        return d_out.size() > before;
    }

    bool decode_codewords()
    {
        bool moved = false;
        if (d_fed == d_frame.soft.size() && d_finder.pull(d_frame)) {
            d_fed = 0;
        }
        if (d_fed < d_frame.soft.size()) {
            const auto n =
                d_outer->push(d_frame.soft.data() + d_fed, d_frame.soft.size() - d_fed);
            d_fed += n;
            moved = n > 0;
        } else if (d_found_all && !d_fed_all) {
            d_outer->finish();
            d_fed_all = moved = true;
        }
        const auto n =
            d_outer->pull(d_message.data() + d_have, d_message.size() - d_have);
        d_have += n;
        if (d_have == d_message.size()) {
            d_have = 0;
            ++(d_outer->valid() ? d_valid : d_invalid);
            if (d_outer->valid() || d_keep_failed) {
                d_out.insert(d_out.end(), d_message.begin(), d_message.end());
            }
        }
        return moved || n > 0;
    }

    const soft_format d_format;
    const float d_scale;
    const bool d_keep_failed;
    // Largest number of bytes of bits that are pushed to the finder at a time. Several
    // threads divide the frames of one part.
    const std::size_t d_part;
    std::vector<std::uint8_t> d_bits;
    std::unique_ptr<inner_decoder> d_inner; // null without a convolutional code
    ccsds_frame_finder d_finder;
    std::unique_ptr<outer_decoder> d_outer; // null without an LDPC code
    std::vector<std::int8_t> d_values;
    // The last frame from the finder. With an LDPC code, d_fed is the number of its soft
    // values that the decoder has accepted.
    ccsds_frame d_frame;
    std::size_t d_fed = 0;
    std::vector<std::uint8_t>
        d_message; // message of the LDPC decoder; d_have bytes have been pulled
    std::size_t d_have = 0;
    std::vector<std::uint8_t> d_out; // output frames; d_pulled bytes have been pulled
    std::size_t d_pulled = 0;
    bool d_ended = false, d_found_all = false, d_fed_all = false;
    std::uint64_t d_valid = 0, d_invalid = 0;
};

std::unique_ptr<byte_coder> make_decoder(const option_values& values, json& facts)
{
    const ccsds_ldpc_code* ldpc = nullptr;
    for (const auto& code : ccsds_ldpc_codes()) {
        if (folded(code.name) == folded(values.text("code"))) {
            ldpc = &code;
        }
    }
    const auto* const telecommand = find_ccsds_telecommand_code(values.text("code"));
    if (ccsds_stream::inner(values) && (ldpc || telecommand)) {
        refuse_option("convolutional",
                      values.text("convolutional"),
                      "none with --code " + (ldpc ? ldpc->name : telecommand->name));
    }
    const bool llrs = ldpc || (telecommand && telecommand->ldpc);
    auto stream =
        std::make_unique<ccsds_stream>(values, ldpc, llrs ? "llr-scale" : "soft-scale");
    facts = json::object({ { "convolutional", values.text("convolutional") },
                           { "code", values.text("code") } });
    return stream;
}

} // namespace

decoder_trait ccsds_trait()
{
    decoder_trait t;
    t.name = "ccsds";
    t.code_options = code_options;
    t.decoder_options = std::string(decoder_options) + run_options_help;
    t.decode = {
        "Decodes soft symbols of CCSDS telemetry or telecommands to transfer "
        "frames, which are written one after the other. --threads is also the number of "
        "threads that decode Reed-Solomon.",
        "",
        R"(
# Decode frames of 1115 bytes in five Reed-Solomon codewords and the inner code of rate 1/2
gpufec decode ccsds --interleaving 5 telemetry.s8 telemetry.out
# Decode frames of an LDPC code from the float LLRs of QPSK
gpufec decode ccsds --convolutional none --code c2 --constellation qpsk --soft-input float telemetry.f32 messages.out
# Decode telecommands to the frames of each CLTU and their fill bytes
gpufec decode ccsds --convolutional none --code tc-bch uplink.s8 commands.out
)"
    };
    t.make_decoder = make_decoder;
    return t;
}

} // namespace gr::gpufec
