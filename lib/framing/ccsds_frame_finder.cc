// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Class telemetry_receiver, which decodes the frames that frame_tracker finds and stores
 * them until they are pulled, and class ccsds_frame_finder, which owns a receiver. */

#include "ccsds_format.h"
#include "common/refuse.h"
#include "frame_receiver.h"
#include "frame_tracker.h"
#include "pipeline/thread_team.h"
#include "randomiser.h"
#include <gnuradio/gpufec/ccsds.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

namespace gr::gpufec {

using namespace framing;

namespace {

class telemetry_receiver final : public frame_receiver
{
public:
    telemetry_receiver(const ccsds_framing& framing,
                       bool soft,
                       const std::string& variant,
                       unsigned threads)
        : d_framing(framing),
          d_format(framing),
          d_orientations(orientations_of(framing.constellation)),
          d_sequence(randomiser_sequence(
              choose<const char*>(
                  "randomiser",
                  framing.randomiser,
                  { { "none", "none" }, { "short", "short" }, { "long", "long" } }),
              d_format.sent_bits / 8)),
          d_signs(d_format.ldpc ? signs_of(d_sequence) : std::vector<std::int8_t>()),
          d_threads(d_format.code ? threads : 1),
          d_piece(d_threads > 1
                      ? std::min(d_threads, max_parts) * part_of_thread * (soft ? 8 : 1)
                      : small_piece),
          d_chunk(std::max<std::size_t>(8 * chunk_bytes / d_format.sent_bits, 1)),
          d_team(d_threads),
          d_bits(soft && !framing.differential,
                 framing.positive_bit,
                 framing.differential,
                 variant),
          d_tracker(
              { d_format.marker,
                d_format.sent_bits,
                d_orientations,
                framing.false_alarm,
                framing.flywheel,
                8 * framing.interleaving,
                d_format.code ? d_format.code->t() : 0,
                d_threads > 1
                    ? unsigned(d_piece * (soft ? 1 : 8) / d_format.sent_bits + 1)
                    : 1 },
              [this](const located_frame& first, std::size_t n) { prepare(first, n); },
              [this](std::size_t index) -> const located_frame& {
                  return ahead(index).place;
              },
              [this](const located_frame& f) { return check(f); },
              [this](const located_frame& f, frame_check result) { take(f, result); },
              d_counts,
              variant)
    {
        require(!d_format.ldpc || soft,
                "code",
                framing.code,
                "\"none\" and Reed-Solomon codes with bits as input");
        if (framing.differential && (d_format.ldpc || d_orientations.size() != 1)) {
            refuse("differential",
                   "true",
                   "the only allowed value is false with LDPC codes, and with a "
                   "constellation other than \"bpsk\"");
        }
        if (d_format.code) {
            d_decoder.emplace(*d_format.code, framing.interleaving, variant);
        }
        require(threads >= 1 && threads <= 256, "threads", threads, "1 to 256");
    }

    std::size_t frame_items() const override
    {
        return d_format.ldpc ? d_format.sent_bits : d_format.frame_bytes;
    }
    bool soft_output() const override { return d_format.ldpc; }
    unsigned marker_bits() const override { return d_format.marker.bits; }
    std::size_t period() const override
    {
        return d_format.marker.bits + d_format.sent_bits;
    }
    unsigned search_errors() const override { return d_tracker.tolerated().search; }
    unsigned track_errors() const override { return d_tracker.tolerated().track; }

    void push(const std::uint8_t* bytes, std::size_t count) override
    {
        push_pieces(bytes, count);
    }
    void push(const std::int8_t* values, std::size_t count) override
    {
        push_pieces(values, count);
    }
    std::size_t piece() const override { return d_piece; }
    void finish() override { run(true); }
    std::uint64_t needed() const override { return d_tracker.needed(); }
    bool locked() const override { return d_tracker.locked(); }
    ccsds_frame* next(const std::uint8_t*& items) override
    {
        if (d_pulled == d_found) {
            return nullptr;
        }
        auto& [frame, slot] = d_frames[d_pulled++];
        if (d_pulled == d_found) {
            d_pulled = d_found = 0;
        }
        items = slot            ? slot
                : soft_output() ? reinterpret_cast<const std::uint8_t*>(frame.soft.data())
                                : frame.bytes.data();
        return &frame;
    }
    void set_output(std::uint8_t* to, std::size_t capacity) override
    {
        d_output = to;
        d_slots = capacity / d_format.frame_bytes;
        d_used_slots = 0;
    }
    void reset() override
    {
        d_bits.clear();
        d_tracker.restart();
        d_prepared = d_next = d_pulled = d_found = 0;
        d_slots = 0;
        d_counts = {};
        d_judged = false;
        d_fitting.clear();
    }

    ccsds_counts counts() const override { return d_counts; }
    std::string verdict() const override;

private:
    // Number of undecodable frames at the beginning of a stream after which other
    // parameters are tried.
    static constexpr unsigned enough_frames = 8;

    // Number of bytes in a piece of the input for each thread. Decoding this many bytes
    // takes much longer than waking a thread.
    static constexpr std::size_t part_of_thread = 128u << 10;
    // Number of threads whose parts a piece contains. More threads share them.
    static constexpr unsigned max_parts = 16;
    // Number of bytes in the frames that a thread decodes at a time.
    static constexpr std::size_t chunk_bytes = 16u << 10;
    // Number of items that one thread processes at a time.
    static constexpr std::size_t small_piece = 32u << 10;

    // A frame in the correct polarity, derandomised, and corrected if possible.
    struct decoded_frame {
        located_frame place;
        std::vector<std::uint8_t> bytes; // only if slot is null
        std::uint8_t* slot = nullptr;    // memory in d_output with the frame's bytes
        std::array<int, 8> corrected;    // one number for each interleaved codeword
        frame_check result = frame_check::none;
    };
    // A frame to be pulled, and the memory in d_output that has its bytes, or null.
    struct found_frame {
        ccsds_frame frame;
        const std::uint8_t* slot;
    };

    template <class Item>
    void push_pieces(const Item* items, std::size_t count)
    {
        // The input is pushed in pieces, so that the finder stores few bits.
        for (std::size_t i = 0; i < count; i += d_piece) {
            d_bits.push(items + i, std::min(d_piece, count - i));
            run(false);
        }
        leave_output();
    }
    void run(bool ended)
    {
        d_tracker.run(d_bits, ended);
        wait_all();
        d_bits.discard(d_tracker.needed());
    }
    static std::vector<std::int8_t> signs_of(const std::vector<std::uint8_t>& sequence);
    void decode(const located_frame& frame,
                std::vector<std::uint8_t>& bytes,
                decoded_frame& to) const;
    void prepare(const located_frame& first, std::size_t count);
    decoded_frame& ahead(std::size_t index);
    void wait_all();
    void leave_output();
    void find_fitting(const located_frame& frame);
    frame_check check(const located_frame& frame);
    void take(const located_frame& frame, frame_check result);

    const ccsds_framing d_framing;
    const ccsds_format d_format;
    const std::vector<orientation> d_orientations;
    const std::vector<std::uint8_t> d_sequence; // sequence of the randomiser
    const std::vector<std::int8_t> d_signs; // for LDPC codes: −1 where d_sequence is 1,
                                            // and 1 elsewhere
    const unsigned d_threads;
    const std::size_t d_piece;
    const std::size_t d_chunk; // number of frames that a thread decodes at a time
    thread_team d_team;
    // The first d_prepared elements of d_ahead are frames decoded in advance; d_next is
    // the index of the next one. Other frames are decoded to d_single. d_last points to
    // the frame that was checked last.
    std::vector<decoded_frame> d_ahead;
    std::size_t d_prepared = 0, d_next = 0;
    decoded_frame d_single;
    decoded_frame* d_last = &d_single;
    std::optional<reed_solomon_decoder_kernel> d_decoder;
    received_bits d_bits;
    ccsds_counts d_counts;
    frame_tracker d_tracker;
    // Frames to be pulled: d_frames[d_pulled … d_found − 1]. The memory of other frames
    // is reused.
    std::vector<found_frame> d_frames;
    std::size_t d_pulled = 0, d_found = 0;
    // Slot s is the memory in the output for frame d_frames[s]. Frames decoded in advance
    // are stored in slots that no other frame has used since set_output(). A found frame
    // keeps slot s only if its index in d_frames is at most s. The caller copies frames
    // to the slots of their indices in ascending order. It therefore overwrites a slot
    // only with the frame that keeps it or after that frame was pulled.
    std::uint8_t* d_output = nullptr;
    std::size_t d_slots = 0, d_used_slots = 0; // numbers of slots
    bool d_judged = false;                     // whether d_fitting was searched for
    std::string d_fitting; // parameters that would decode the frames; "" if unknown
};

std::vector<std::int8_t>
telemetry_receiver::signs_of(const std::vector<std::uint8_t>& sequence)
{
    std::vector<std::int8_t> signs(8 * sequence.size());
    for (std::size_t i = 0; i < signs.size(); ++i) {
        signs[i] = std::int8_t(-(sequence[i / 8] >> (7 - i % 8) & 1));
    }
    return signs;
}

// Decodes a frame. Several threads call this function at the same time.
void telemetry_receiver::decode(const located_frame& frame,
                                std::vector<std::uint8_t>& bytes,
                                decoded_frame& to) const
{
    to.place = frame;
    bytes.resize(d_sequence.size());
    d_bits.read_bits(d_orientations[frame.orientation],
                     frame.position + d_format.marker.bits,
                     d_sequence,
                     frame.inverted ? std::uint8_t(0xff) : std::uint8_t(0),
                     bytes.data());
    if (!d_decoder) {
        return;
    }
    d_decoder->decode(bytes.data(), to.corrected.data());
    const auto [least, most] = std::minmax_element(
        to.corrected.begin(), to.corrected.begin() + d_framing.interleaving);
    const bool cyclic = d_format.code->n() == 255;
    to.result = *least < 0            ? frame_check::bad
                : *most > 0 && cyclic ? frame_check::corrected
                                      : frame_check::good;
}

// Begins to locate and decode frames with several threads.
void telemetry_receiver::prepare(const located_frame& first, std::size_t count)
{
    wait_all();
    d_ahead.resize(std::max(d_ahead.size(), count));
    d_prepared = count;
    d_next = 0;
    const auto slot = std::max(d_used_slots, d_found);
    d_used_slots = std::max(slot, std::min(slot + count, d_slots));
    const auto in_slots = d_used_slots - slot;
    d_team.begin((count + d_chunk - 1) / d_chunk, [=](std::size_t chunk) {
        std::vector<std::uint8_t> bytes;
        auto expected = first;
        const auto end = std::min((chunk + 1) * d_chunk, count);
        for (auto i = chunk * d_chunk; i < end; ++i) {
            auto& to = d_ahead[i];
            to.slot = nullptr;
            expected.position = first.position + i * period();
            const auto frame = d_tracker.located(d_bits, expected);
            if (i < in_slots) {
                to.slot = d_output + (slot + i) * d_format.frame_bytes;
                decode(frame, bytes, to);
                std::copy_n(bytes.begin(), d_format.frame_bytes, to.slot);
            } else {
                decode(frame, to.bytes, to);
            }
        }
    });
}

// Returns a frame that was passed to prepare(), after it has been decoded.
telemetry_receiver::decoded_frame& telemetry_receiver::ahead(std::size_t index)
{
    d_team.wait(index / d_chunk);
    return d_ahead[index];
}

// Waits until all frames that were passed to prepare() are decoded.
void telemetry_receiver::wait_all()
{
    for (std::size_t i = 0; i < d_prepared; i += d_chunk) {
        ahead(i);
    }
}

// Copies frames that are not found yet from their slots, because the output may move
// before the next call of push().
void telemetry_receiver::leave_output()
{
    for (auto i = d_next; i < d_prepared; ++i) {
        auto& frame = d_ahead[i];
        if (const auto* const slot = std::exchange(frame.slot, nullptr)) {
            frame.bytes.assign(slot, slot + d_format.frame_bytes);
        }
    }
    d_slots = 0;
}

frame_check telemetry_receiver::check(const located_frame& frame)
{
    if (d_format.ldpc) {
        return frame_check::none;
    }
    while (d_next < d_prepared && ahead(d_next).place.position < frame.position) {
        ++d_next;
    }
    if (d_next < d_prepared && same_place(ahead(d_next).place, frame)) {
        d_last = &d_ahead[d_next];
    } else {
        decode(frame, d_single.bytes, d_single);
        d_last = &d_single;
    }
    return d_last->result;
}

// Searches for parameters that decode the frame.
void telemetry_receiver::find_fitting(const located_frame& frame)
{
    std::vector<std::uint8_t> sent(d_sequence.size());
    d_bits.read_bits(d_orientations[frame.orientation],
                     frame.position + d_format.marker.bits,
                     sent.size(),
                     sent.data());
    for (auto& byte : sent) {
        byte ^= frame.inverted ? 0xff : 0;
    }
    d_judged = true;
    d_fitting = fitting_parameters(sent);
}

void telemetry_receiver::take(const located_frame& frame, frame_check result)
{
    const bool good = result == frame_check::good ||
                      (result == frame_check::none && frame.marker_found);
    ++(good ? d_counts.frames : d_counts.failed);
    const auto* const corrected = d_last->corrected.data();
    const auto codewords = d_decoder ? d_framing.interleaving : 0;
    if (good) {
        for (unsigned i = 0; i < codewords; ++i) {
            d_counts.corrected += corrected[i];
        }
    } else if (d_decoder && !d_judged && d_counts.frames == 0 &&
               d_counts.failed == enough_frames) {
        find_fitting(frame);
    }
    // For a frame without a marker, the LDPC decoder's result decides.
    if (!good && d_framing.drop_failed && !d_format.ldpc) {
        return;
    }
    if (d_found == d_frames.size()) {
        d_frames.emplace_back();
    }
    const auto index = d_found++;
    auto& [found, slot] = d_frames[index];
    slot = nullptr;
    if (d_format.ldpc) {
        found.soft.resize(d_format.sent_bits);
        d_bits.read_soft(d_orientations[frame.orientation],
                         frame.position + d_format.marker.bits,
                         found.soft.size(),
                         found.soft.data());
        const int polarity = frame.inverted ? -1 : 0;
        auto* const values = found.soft.data();
        const auto* const signs = d_signs.data();
        for (std::size_t i = 0; i < d_format.sent_bits; ++i) {
            const int flip = signs[i] ^ polarity; // −1 changes the sign
            values[i] = std::int8_t((values[i] ^ flip) - flip);
        }
    } else if (!d_last->slot) {
        std::swap(found.bytes, d_last->bytes);
        found.bytes.resize(d_format.frame_bytes);
    } else if (d_last->slot >= d_output + index * d_format.frame_bytes) {
        slot = d_last->slot;
    } else {
        found.bytes.assign(d_last->slot, d_last->slot + d_format.frame_bytes);
    }
    found.position = frame.position;
    found.end = frame.position + period();
    found.good = good;
    found.marker_found = frame.marker_found;
    found.marker_correlation = std::abs(frame.correlation);
    found.inverted = frame.inverted;
    found.orientation = frame.orientation;
    found.corrected.assign(corrected, corrected + codewords);
}

std::string telemetry_receiver::verdict() const
{
    const auto period = d_tracker.other_period();
    if (period) {
        return "markers are " + std::to_string(period) + " bits apart instead of " +
               std::to_string(d_format.marker.bits + d_format.sent_bits) +
               ": check frame_bytes, interleaving and code";
    }
    if (!d_judged || d_counts.frames > 0) {
        return "";
    }
    const std::string found =
        "markers were found, but the Reed-Solomon decoder could decode no frame: ";
    return found + (d_fitting.empty()
                        ? "check code, interleaving, frame_bytes and randomiser"
                        : d_fitting + " would decode a frame");
}

} // namespace

ccsds_frame_finder::ccsds_frame_finder(const ccsds_framing& framing,
                                       bool soft_input,
                                       const std::string& variant,
                                       unsigned threads)
{
    if (const auto* const code = find_ccsds_telecommand_code(framing.code)) {
        d_receiver = make_cltu_receiver(framing, *code, soft_input, variant);
    } else {
        d_receiver =
            std::make_unique<telemetry_receiver>(framing, soft_input, variant, threads);
    }
}

ccsds_frame_finder::~ccsds_frame_finder() = default;

std::size_t ccsds_frame_finder::frame_items() const { return d_receiver->frame_items(); }

bool ccsds_frame_finder::soft_output() const { return d_receiver->soft_output(); }

unsigned ccsds_frame_finder::marker_bits() const { return d_receiver->marker_bits(); }

std::size_t ccsds_frame_finder::period() const { return d_receiver->period(); }

unsigned ccsds_frame_finder::search_errors() const { return d_receiver->search_errors(); }

unsigned ccsds_frame_finder::track_errors() const { return d_receiver->track_errors(); }

void ccsds_frame_finder::push(const std::uint8_t* bytes, std::size_t count)
{
    d_receiver->push(bytes, count);
}

void ccsds_frame_finder::push(const std::int8_t* values, std::size_t count)
{
    d_receiver->push(values, count);
}

std::size_t ccsds_frame_finder::piece() const { return d_receiver->piece(); }

void ccsds_frame_finder::finish() { d_receiver->finish(); }

bool ccsds_frame_finder::pull(ccsds_frame& frame)
{
    const std::uint8_t* items;
    auto* const found = d_receiver->next(items);
    if (found) {
        std::swap(frame, *found);
    }
    return found;
}

const ccsds_frame* ccsds_frame_finder::next(const std::uint8_t*& items)
{
    return d_receiver->next(items);
}

void ccsds_frame_finder::set_output(std::uint8_t* to, std::size_t capacity)
{
    d_receiver->set_output(to, capacity);
}

std::uint64_t ccsds_frame_finder::needed() const { return d_receiver->needed(); }

void ccsds_frame_finder::reset() { d_receiver->reset(); }

bool ccsds_frame_finder::locked() const { return d_receiver->locked(); }

ccsds_counts ccsds_frame_finder::counts() const { return d_receiver->counts(); }

std::string ccsds_frame_finder::verdict() const { return d_receiver->verdict(); }

} // namespace gr::gpufec
