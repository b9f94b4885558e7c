// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* A transmitter and a receiver of CCSDS telemetry for measurements, without a flowgraph.
 */

#ifndef INCLUDED_GPUFEC_BENCH_CCSDS_LINK_H
#define INCLUDED_GPUFEC_BENCH_CCSDS_LINK_H

#include "channel/awgn.h"
#include "framing/test/telemetry.h"
#include <gnuradio/gpufec/viterbi.h>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

namespace gr::gpufec {

using bytes = std::vector<std::uint8_t>;
using soft_values = std::vector<std::int8_t>;

//! Coding of a measured link. Soft values are positive for bit 0.
struct link_scheme {
    const char* name;
    const char* code; //!< name of the code, as in ccsds_framing
    unsigned interleaving;
    bool convolutional;  //!< whether the inner code "ccsds" of rate 1/2 is used
    double threshold_db; //!< measured Eb/N0 in dB at a frame error rate of 1e-3

    ccsds_framing framing(const std::string& constellation = "bpsk") const
    {
        ccsds_framing f;
        f.code = code;
        f.interleaving = interleaving;
        f.positive_bit = 0;
        // A Viterbi decoder resolves rotations itself.
        f.constellation = convolutional ? "bpsk" : constellation;
        return f;
    }
    //! Returns the number of information bits per sent bit. Markers are not counted, as
    //! in the curves of CCSDS 130.1-G.
    double rate() const
    {
        const framing::ccsds_format format(framing());
        const auto sent = format.sent_bits * (convolutional ? 2 : 1);
        return 8.0 * format.frame_bytes / double(sent);
    }
};

//! Sent frames, and the coded bits of their stream.
struct sent_frames {
    telemetry source;
    bytes coded;        //!< coded bits, one per byte
    std::size_t period; //!< number of coded bits per frame

    sent_frames(const link_scheme& scheme, unsigned frames)
        : source(scheme.framing(), frames, 1)
    {
        if (scheme.convolutional) {
            conv_encoder_kernel encoder(
                conv_code::preset("ccsds"), termination::streaming, 0);
            coded.resize(encoder.coded_bits(source.bits.size()));
            encoder.encode(source.bits.data(), source.bits.size(), coded.data());
        } else {
            coded = source.bits;
        }
        period = coded.size() / frames;
    }

    //! Returns the index of a transfer frame, or −1.
    int index_of(const bytes& frame) const
    {
        const auto& all = source.frames;
        const auto found = std::find(all.begin(), all.end(), frame);
        return found == all.end() ? -1 : int(found - all.begin());
    }
};

inline std::optional<ldpc_code> ldpc_code_of(const link_scheme& scheme)
{
    const framing::ccsds_format format(scheme.framing());
    if (!format.ldpc) {
        return std::nullopt;
    }
    return ldpc_code::standard(
        format.ldpc->standard, format.ldpc->frame_size, format.ldpc->rate);
}

//! Decodes LDPC codewords with the defaults of ccsds_fec_receiver except llr_scale.
class codeword_decoder
{
public:
    static constexpr float llr_scale = 4;

    struct result {
        bytes message;
        bool codeword; //!< whether all checks are satisfied
    };

    explicit codeword_decoder(const ldpc_code& code) : d_message(code.k() / 8)
    {
        ldpc_options options;
        options.codes = { code };
        options.backend = backend::cpu;
        options.llr_scale = llr_scale;
        // The block ccsds_fec_receiver uses the same precision.
        options.precision = code.name().find("ar4ja") != std::string::npos
                                ? ldpc_precision::int16
                                : ldpc_precision::int8;
        options.max_latency_ms = 1e9;
        options.watch = false;
        d_decoder = ldpc_decoder::make(options);
    }

    //! Decodes the soft values of consecutive codewords.
    std::vector<result> operator()(const soft_values& values)
    {
        std::vector<result> all;
        std::size_t pushed = 0;
        bool finished = false;
        d_decoder->reset();
        while (!d_decoder->done()) {
            pushed += d_decoder->push(span(values).from(pushed));
            if (pushed == values.size() && !finished) {
                d_decoder->finish();
                finished = true;
            }
            while (d_decoder->pull(packed_bits(d_message)) > 0) {
                const auto status = d_decoder->status();
                if (!status) {
                    throw std::logic_error("a frame was output in parts");
                }
                all.push_back({ d_message, status->unsatisfied == 0 });
            }
            d_decoder->wait(std::chrono::milliseconds(10));
        }
        return all;
    }

private:
    bytes d_message;
    ldpc_decoder::sptr d_decoder;
};

//! A Viterbi decoder with or without phase search.
class stream_viterbi
{
public:
    stream_viterbi(const std::string& constellation, const std::string& lock)
    {
        viterbi_options options(conv_code::preset("ccsds"));
        options.backend = backend::cpu;
        options.positive_bit = 0;
        options.lock = lock;
        options.lock_constellation = constellation;
        options.watch = false;
        d_decoder = viterbi_decoder::make(options);
    }

    void reset() { d_decoder->reset(); }

    //! Decodes soft values, and passes packed bits to \p take.
    template <class Take>
    void push(const soft_values& values, bool last, Take&& take)
    {
        std::size_t pushed = 0;
        bool finished = false;
        while (last ? !d_decoder->done() : pushed < values.size()) {
            pushed += d_decoder->push(span(values).from(pushed));
            if (last && pushed == values.size() && !finished) {
                d_decoder->finish();
                finished = true;
            }
            bool idle = true;
            for (std::size_t n; (n = d_decoder->pull(packed_bits(d_out))) > 0;) {
                take(d_out.data(), n);
                idle = false;
            }
            if (idle && (finished || pushed < values.size())) {
                d_decoder->wait(std::chrono::milliseconds(10));
            }
        }
    }

private:
    bytes d_out = bytes(1 << 16);
    viterbi_decoder::sptr d_decoder;
};

//! A receiver of one link, from soft values to transfer frames.
class link_receiver
{
public:
    link_receiver(const link_scheme& scheme, const std::string& constellation)
        : d_finder(scheme.framing(constellation), !scheme.convolutional)
    {
        if (scheme.convolutional) {
            d_viterbi = std::make_unique<stream_viterbi>(constellation, "auto");
        }
        if (const auto code = ldpc_code_of(scheme)) {
            d_decoder = std::make_unique<codeword_decoder>(*code);
        }
    }

    //! Returns the frames of a stream that decoded without an error.
    std::vector<bytes> operator()(const soft_values& values)
    {
        std::vector<ccsds_frame> found;
        d_finder.reset();
        if (d_viterbi) {
            bytes bits;
            d_viterbi->reset();
            d_viterbi->push(values, true, [&](const std::uint8_t* data, std::size_t n) {
                bits.insert(bits.end(), data, data + n);
            });
            found = find_frames(d_finder, bits);
        } else {
            found = find_frames(d_finder, values);
        }
        std::vector<bytes> frames;
        soft_values codewords;
        for (auto& frame : found) {
            codewords.insert(codewords.end(), frame.soft.begin(), frame.soft.end());
            if (!d_decoder) {
                frames.push_back(std::move(frame.bytes));
            }
        }
        if (d_decoder) {
            for (auto& decoded : (*d_decoder)(codewords)) {
                if (decoded.codeword) {
                    frames.push_back(std::move(decoded.message));
                }
            }
        }
        return frames;
    }

private:
    ccsds_frame_finder d_finder;
    std::unique_ptr<stream_viterbi> d_viterbi;
    std::unique_ptr<codeword_decoder> d_decoder;
};

//! Returns the channel of a link. With an LDPC code, the amplitude is that of LLRs.
inline awgn_channel
channel_of(const link_scheme& scheme, double ebn0_db, std::uint64_t seed)
{
    const awgn_channel plain(ebn0_db, scheme.rate(), seed);
    if (!framing::ccsds_format(scheme.framing()).ldpc) {
        return plain;
    }
    const double amplitude =
        codeword_decoder::llr_scale * 2 / (plain.sigma() * plain.sigma());
    return { ebn0_db, scheme.rate(), seed, std::min(amplitude, 64.0) };
}

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BENCH_CCSDS_LINK_H */
