// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The negotiation of frame sizes between the blocks of gr-fec and a decoder object.
 *
 * async_decoder and tagged_decoder size their buffers from rate() and their MTU, derive a
 * frame size from the length of a PDU, and call generic_work() whether set_frame_size()
 * accepts that size or not. The object knows neither the MTU nor the length, so its
 * answers must keep itself and gr-fec inside those buffers:
 *  - A caller that calls rate() and not get_input_size() has not subtracted the tail:
 *    async_decoder with packed output and tagged_decoder of GNU Radio 3.10.5.
 *  - After a refusal async_decoder divides the PDU into blocks of get_input_size()
 *    values, copies it without comparing its length with the MTU, and throws an
 *    exception if the length is not a multiple. A PDU that may be long is therefore not
 *    refused. Instead, the next rate() makes gr-fec derive a frame size of 0, and the
 *    result is an empty PDU. A PDU shorter than the tail is refused, and
 *    get_input_size() then returns 1 and get_output_size() 0. */

#ifndef INCLUDED_GPUFEC_BLOCKS_COMMON_FEC_DECODER_BASE_H
#define INCLUDED_GPUFEC_BLOCKS_COMMON_FEC_DECODER_BASE_H

#include "common/refuse.h"
#include <gnuradio/constants.h>
#include <gnuradio/fec/generic_decoder.h>
#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdint>
#include <new>
#include <optional>
#include <string>
#include <utility>

namespace gr::gpufec {

//! Implementation of gr-fec's interface for \p Public by means of the protected virtual
//! functions.
template <class Public>
class fec_decoder_base : public Public
{
public:
    // The release of GNU Radio decides which of the two functions is virtual.
    void generic_work(void* in, void* out)
    {
        generic_work(static_cast<const void*>(in), out);
    }
    void generic_work(const void* in, void* out)
    {
        auto* const bits = static_cast<std::uint8_t*>(out);
        const auto asked = std::exchange(d_asked, {});
        const auto expected = std::exchange(d_untrimmed, 0);
        d_next_rate.reset();
        // After a refusal, a caller of both size functions uses the last accepted sizes.
        d_accepted = d_accepted || (!d_refused && asked.input && asked.output);
        if (d_accepted && d_frame_size > 0) {
            const int all = values(d_frame_size);
            decode(in, std::min({ all, frame_values(), d_there }), d_frame_size, bits);
        }
        // async_decoder packs these bits too, and its buffer still holds the previous
        // PDU.
        for (auto n = d_accepted ? d_frame_size : 0; n < expected && !asked.output; ++n) {
            bits[n] = 0;
        }
    }

    // async_decoder calls this function and then divides its MTU by the result of rate().
    // The streaming decoder calls this function too, but not rate().
    int get_history() override
    {
        d_async = true;
        d_limits = 1;
        d_tail_rate = rounds() && !d_derived;
        return 0;
    }

    // gr-fec truncates products with the rate. If the rate is not an exact binary
    // fraction, a slightly larger rate is therefore returned, so that rounding does not
    // lose a bit. gr-fec also derives limits from its MTU, which must not be too low.
    // For these limits a slightly smaller rate is returned: once for async_decoder, and
    // before each packet size for tagged_decoder.
    // From release 3.10.10 on, gr-fec rounds rate() * get_input_size() and subtracts
    // get_output_size(): that is the tail. If the frame ends within a puncturing period,
    // the product with the code's rate can round to a wrong tail. For this product the
    // rate of the current frame is therefore returned. gr-fec derives the sizes of later
    // frames, for which frame_values() suits the code's rate.
    double rate() override
    {
        d_asked.rate = true;
        if (d_next_rate) {
            return *std::exchange(d_next_rate, std::nullopt);
        }
        d_refused = false;
        const bool limit = d_limits > 0;
        d_limits -= limit;
        if (!limit && std::exchange(d_tail_rate, false)) {
            return (double(d_frame_size) + tail()) / values(d_frame_size);
        }
        return limit ? adjusted_rate(1 - 1e-9) : derivation_rate();
    }
    int get_input_size() override
    {
        d_asked.input = true;
        return d_refused ? 1 : frame_values();
    }
    int get_output_size() override
    {
        d_asked.output = true;
        return d_refused ? 0 : d_frame_size;
    }

    bool set_frame_size(unsigned int frame_size) override
    {
        const auto asked = std::exchange(d_asked, {});
        const bool derived = asked.rate;
        // Any other caller is tagged_decoder, which first also sets its relative rate.
        if (!d_async) {
            d_limits = derived ? 1 : 2;
        }
        const bool with_tail = derived && !asked.input;
        const auto taken_off = with_tail ? 0
                               : rounds()
                                   ? std::int64_t(tail())
                                   : cut(code_rate() * frame_values() - d_frame_size);
        std::int64_t bits = frame_size;
        if (bits >= (std::int64_t(1) << 32) - taken_off) {
            bits -= std::int64_t(1) << 32; // a negative size that gr-fec derived
        }
        const auto untrimmed = bits + taken_off;
        const auto there = derived ? fewest_values(untrimmed) : INT_MAX;
        d_untrimmed = with_tail ? bits : 0;
        if (with_tail) {
            bits = std::max<std::int64_t>(bits - tail(), 0);
        }

        std::string reason;
        try {
            if (bits > 0) {
                prepare(bits);
            } else if (bits < 0 || tail() == 0) {
                require(derived, "frame_size", bits, "1 and more");
                reason = "allowed are " + allowed_values();
            }
        } catch (const std::invalid_argument& error) {
            reason = error.what();
        } catch (const std::bad_alloc&) {
            reason = "there is no memory for frames of " + std::to_string(bits) + " bits";
        }
        d_accepted = reason.empty();
        d_refused = !d_accepted && derived;
        d_next_rate.reset();
        if (d_accepted) {
            d_frame_size = bits;
            d_derived = derived;
            d_there = there;
        }
        d_tail_rate = rounds() && !d_derived;
        if (d_accepted) {
            return true;
        }
        if (derived && !std::exchange(d_told, true)) {
            this->d_logger->warn(
                "a PDU or packet has {} soft values: {}. It is not decoded: its output "
                "is empty, or zeros where gr-fec sends bits anyhow (reported once)",
                value_range(untrimmed, bits < 0),
                reason);
        }
        if (!derived || bits < 0) {
            return false;
        }
        d_next_rate =
            taken_off ? (taken_off + 0.25) * code_rate() / double(bits + taken_off) : 0;
        return true;
    }

    float get_iterations() override
    {
        d_refused = false; // async_decoder calls this at the end of a PDU
        return d_accepted ? last_iterations() : -1;
    }

protected:
    explicit fec_decoder_base(unsigned frame_size) : d_frame_size(frame_size) {}

    //! Returns the number of information bits per soft value, without tails.
    virtual double code_rate() const = 0;
    //! Returns the number of tail bits per frame.
    virtual unsigned tail() const { return 0; }
    //! Returns the number of soft values per frame.
    virtual int values(unsigned frame_size) const = 0;
    //! Describes the allowed numbers of soft values of a PDU, for a message.
    virtual std::string allowed_values() const
    {
        return std::to_string(values(1)) + " and more";
    }
    //! Prepares decode() for a frame size. \throws std::invalid_argument, std::bad_alloc
    virtual void prepare(std::int64_t frame_size) = 0;
    //! Decodes a frame from its first \p count soft values.
    virtual void
    decode(const void* in, int count, unsigned frame_size, std::uint8_t* out) = 0;
    virtual float last_iterations() const { return -1; }

private:
    // Returns whether gr-fec rounds products with rates, as from release 3.10.10 on.
    static bool rounds()
    {
        static const bool result = gr::major_version() != "3" ||
                                   gr::api_version() != "10" ||
                                   std::stoi(gr::minor_version()) >= 10;
        return result;
    }
    // Rounds or truncates a number of bits as gr-fec does with products.
    static std::int64_t cut(double bits)
    {
        return rounds() ? std::lround(bits) : std::int64_t(bits + 1e-6);
    }
    // Returns the code's rate, multiplied by \p factor if it is not exact.
    double adjusted_rate(double factor) const
    {
        const double rate = code_rate(), scaled = std::ldexp(rate, 20);
        return scaled == std::floor(scaled) ? rate : rate * factor;
    }
    // Returns the rate from which gr-fec derives frame sizes.
    double derivation_rate() const { return adjusted_rate(1 + 1e-9); }
    // Returns the range of numbers of soft values for which gr-fec derives `bits`, tail
    // included. Negative results are truncated towards 0 as well.
    std::string value_range(std::int64_t bits, bool negative) const
    {
        const double rate = derivation_rate(), b = double(bits);
        const double first = rounds()   ? std::ceil((b - 0.5) / rate - 1e-6)
                             : negative ? std::floor((b - 1) / rate) + 1
                                        : std::ceil(b / rate);
        const double last = rounds()   ? std::floor((b + 0.5) / rate + 1e-6)
                            : negative ? std::floor(b / rate)
                                       : std::ceil((b + 1) / rate) - 1;
        const auto begin = std::max(std::int64_t(first), std::int64_t(0));
        return std::to_string(begin) +
               (last > double(begin) ? " to " + std::to_string(std::int64_t(last)) : "");
    }
    // Returns the number of soft values per frame. If gr-fec derived the frame size, it
    // computes the tail of the next frame from this number.
    int frame_values() const
    {
        return d_derived ? fewest_values(std::int64_t(d_frame_size) + tail())
                         : values(d_frame_size);
    }
    // Returns the smallest number of values for which cut() returns at least `bits`; a
    // whole number of puncturing periods if possible.
    int fewest_values(std::int64_t bits) const
    {
        const double whole = std::min(double(bits) / code_rate(), double(INT_MAX));
        return std::abs(whole - std::round(whole)) < 1e-6
                   ? std::round(whole)
                   : std::ceil(whole - (rounds() ? 0.5 / code_rate() : 0));
    }

    struct {
        bool rate = false, input = false, output = false;
    } d_asked;              // functions called since set_frame_size() or generic_work()
    unsigned d_frame_size;  // the last accepted frame size
    bool d_derived = false; // gr-fec derived the frame size from a number of values
    // Number of soft values that the caller's frame is known to have.
    int d_there = INT_MAX;
    bool d_accepted = true; // the last frame size was accepted
    // The last frame size was refused, and get_output_size() returns 0.
    bool d_refused = false;
    std::optional<double> d_next_rate;
    // The next rate() that gives no limit is that of the current frame.
    bool d_tail_rate = false;
    // Frame size requested by a caller that does not subtract the tail.
    std::int64_t d_untrimmed = 0;
    bool d_told = false;  // the warning was logged
    bool d_async = false; // async_decoder is the caller
    // Number of further calls of rate() from whose results gr-fec derives limits.
    int d_limits = 0;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_COMMON_FEC_DECODER_BASE_H */
