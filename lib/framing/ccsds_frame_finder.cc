// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Decodes the frames that frame_tracker finds, and stores them until they are pulled. */

#include "ccsds_format.h"
#include "common/refuse.h"
#include "frame_tracker.h"
#include "randomiser.h"
#include <gnuradio/gpufec/ccsds.h>
#include <algorithm>
#include <cmath>
#include <deque>
#include <utility>

namespace gr::gpufec {

using namespace framing;

class ccsds_frame_finder::implementation
{
public:
    implementation(const ccsds_framing& framing, bool soft, const std::string& variant)
        : d_framing(framing),
          d_format(framing),
          d_orientations(orientations_of(framing.constellation)),
          d_sequence(randomiser_sequence(framing.randomiser, d_format.sent_bits / 8)),
          d_sent(d_format.sent_bits / 8),
          d_decoded(d_sent.size()),
          d_bits(
              soft && !framing.differential, framing.positive_bit, framing.differential),
          d_tracker(
              { d_format.marker,
                d_format.sent_bits,
                d_orientations,
                framing.false_alarm,
                framing.flywheel,
                8 * framing.interleaving,
                d_format.code ? d_format.code->t() : 0 },
              [this](const located_frame& f) { return check(f); },
              [this](const located_frame& f, frame_check result) { take(f, result); },
              variant)
    {
        require(!d_format.ldpc || soft,
                "code",
                framing.code,
                "with bits as input \"none\" and Reed-Solomon codes");
        require(!framing.differential || (!d_format.ldpc && d_orientations.size() == 1),
                "differential",
                framing.differential,
                "with LDPC codes, and with a constellation other than \"bpsk\", false");
        if (d_format.code) {
            d_decoder.emplace(*d_format.code, framing.interleaving, variant);
            d_corrected.resize(framing.interleaving);
        }
    }

    const ccsds_format& format() const { return d_format; }
    const frame_tracker& tracker() const { return d_tracker; }

    template <class Item>
    void push(const Item* items, std::size_t count)
    {
        // Pushes in pieces, so that the stored bits are few.
        constexpr std::size_t piece = 8192;
        for (std::size_t i = 0; i < count; i += piece) {
            d_bits.push(items + i, std::min(piece, count - i));
            run(false);
        }
    }
    void run(bool ended)
    {
        d_tracker.run(d_bits, ended);
        d_bits.discard(d_tracker.needed());
    }
    bool pull(ccsds_frame& frame)
    {
        if (d_frames.empty()) {
            return false;
        }
        frame = std::move(d_frames.front());
        d_frames.pop_front();
        return true;
    }
    void reset()
    {
        d_bits.clear();
        d_tracker.restart();
        d_frames.clear();
        d_counts = {};
        d_judged = false;
        d_fitting.clear();
    }

    ccsds_counts counts() const
    {
        auto all = d_counts;
        const auto& found = d_tracker.counts();
        all.missed = found.missed;
        all.locks = found.locks;
        all.losses = found.losses;
        all.slips = found.slips;
        all.unconfirmed = found.unconfirmed;
        all.cut = found.cut;
        return all;
    }
    std::string verdict() const;

private:
    // Number of frames, none of which could be decoded, after which the parameters are
    // judged.
    static constexpr unsigned enough_frames = 8;

    frame_check check(const located_frame& frame);
    void take(const located_frame& frame, frame_check result);

    const ccsds_framing d_framing;
    const ccsds_format d_format;
    const std::vector<orientation> d_orientations;
    const std::vector<std::uint8_t> d_sequence; // of the randomiser
    // The frame of the last check: as received in the right polarity, and decoded.
    std::vector<std::uint8_t> d_sent, d_decoded;
    std::vector<int> d_corrected;
    std::optional<reed_solomon_decoder_kernel> d_decoder;
    received_bits d_bits;
    frame_tracker d_tracker;
    std::deque<ccsds_frame> d_frames;
    ccsds_counts d_counts;
    bool d_judged = false; // whether d_fitting was searched for
    std::string d_fitting; // parameters that would decode the frames; "": unknown
};

frame_check ccsds_frame_finder::implementation::check(const located_frame& frame)
{
    if (d_format.ldpc) {
        return frame_check::none;
    }
    const auto data = frame.position + d_format.marker.bits;
    d_bits.read_bits(
        d_orientations[frame.orientation], data, d_sent.size(), d_sent.data());
    const std::uint8_t polarity = frame.inverted ? 0xff : 0;
    std::copy(d_sent.begin(), d_sent.end(), d_decoded.begin());
    randomise(d_decoded.data(), d_sequence.data(), d_decoded.size(), polarity);
    if (!d_decoder) {
        return frame_check::none;
    }
    d_decoder->decode(d_decoded.data(), d_corrected.data());
    const auto [least, most] =
        std::minmax_element(d_corrected.begin(), d_corrected.end());
    const bool cyclic = d_format.code->n() == 255;
    return *least < 0            ? frame_check::bad
           : *most > 0 && cyclic ? frame_check::corrected
                                 : frame_check::good;
}

void ccsds_frame_finder::implementation::take(const located_frame& frame,
                                              frame_check result)
{
    const bool good = result == frame_check::good ||
                      (result == frame_check::none && frame.marker_found);
    ++(good ? d_counts.frames : d_counts.failed);
    if (good) {
        for (const auto symbols : d_corrected) {
            d_counts.corrected += symbols;
        }
    } else if (d_decoder && !d_judged && d_counts.frames == 0 &&
               d_counts.failed == enough_frames) {
        d_judged = true;
        auto sent = d_sent;
        const std::vector<std::uint8_t> zeros(sent.size());
        randomise(sent.data(), zeros.data(), sent.size(), frame.inverted ? 0xff : 0);
        d_fitting = fitting_parameters(sent);
    }
    // The LDPC decoder judges codewords without a marker.
    if (!good && d_framing.drop_failed && !d_format.ldpc) {
        return;
    }
    ccsds_frame found;
    const auto& orientation = d_orientations[frame.orientation];
    if (d_format.ldpc) {
        found.soft.resize(d_format.sent_bits);
        d_bits.read_soft(orientation,
                         frame.position + d_format.marker.bits,
                         found.soft.size(),
                         found.soft.data());
        for (std::size_t i = 0; i < found.soft.size(); ++i) {
            const bool flip =
                frame.inverted != bool(d_sequence[i / 8] >> (7 - i % 8) & 1);
            found.soft[i] = flip ? std::int8_t(-found.soft[i]) : found.soft[i];
        }
    } else {
        found.bytes.assign(d_decoded.begin(), d_decoded.begin() + d_format.frame_bytes);
    }
    found.position = frame.position;
    found.good = good;
    found.marker_found = frame.marker_found;
    found.marker_correlation = std::abs(frame.correlation);
    found.inverted = frame.inverted;
    found.orientation = frame.orientation;
    found.corrected = d_corrected;
    d_frames.push_back(std::move(found));
}

std::string ccsds_frame_finder::implementation::verdict() const
{
    const auto period = d_tracker.other_period();
    if (period) {
        return "markers are " + std::to_string(period) + " bits apart and not " +
               std::to_string(d_format.marker.bits + d_format.sent_bits) +
               ": check frame_bytes, interleaving and code";
    }
    if (!d_judged || d_counts.frames > 0) {
        return "";
    }
    const std::string found =
        "markers are found, but no frame could be decoded by Reed-Solomon: ";
    return found + (d_fitting.empty()
                        ? "check code, interleaving, frame_bytes and randomiser"
                        : d_fitting + " would decode it");
}

ccsds_frame_finder::ccsds_frame_finder(const ccsds_framing& framing,
                                       bool soft_input,
                                       const std::string& variant)
    : d_implementation(std::make_unique<implementation>(framing, soft_input, variant))
{
}

ccsds_frame_finder::~ccsds_frame_finder() = default;

std::size_t ccsds_frame_finder::frame_items() const
{
    const auto& format = d_implementation->format();
    return format.ldpc ? format.sent_bits : format.frame_bytes;
}

bool ccsds_frame_finder::soft_output() const { return d_implementation->format().ldpc; }

unsigned ccsds_frame_finder::marker_bits() const
{
    return d_implementation->format().marker.bits;
}

std::size_t ccsds_frame_finder::period() const
{
    const auto& format = d_implementation->format();
    return format.marker.bits + format.sent_bits;
}

unsigned ccsds_frame_finder::search_errors() const
{
    return d_implementation->tracker().tolerated().search;
}

unsigned ccsds_frame_finder::track_errors() const
{
    return d_implementation->tracker().tolerated().track;
}

void ccsds_frame_finder::push(const std::uint8_t* bytes, std::size_t count)
{
    d_implementation->push(bytes, count);
}

void ccsds_frame_finder::push(const std::int8_t* values, std::size_t count)
{
    d_implementation->push(values, count);
}

void ccsds_frame_finder::finish() { d_implementation->run(true); }

bool ccsds_frame_finder::pull(ccsds_frame& frame)
{
    return d_implementation->pull(frame);
}

std::uint64_t ccsds_frame_finder::needed() const
{
    return d_implementation->tracker().needed();
}

void ccsds_frame_finder::reset() { d_implementation->reset(); }

bool ccsds_frame_finder::locked() const { return d_implementation->tracker().locked(); }

ccsds_counts ccsds_frame_finder::counts() const { return d_implementation->counts(); }

std::string ccsds_frame_finder::verdict() const { return d_implementation->verdict(); }

} // namespace gr::gpufec
