// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The base class of decoder objects for gr-fec, which negotiates frame sizes with the
 * blocks of gr-fec.
 *
 * The blocks async_decoder and tagged_decoder allocate buffers from rate() and their MTU.
 * For each PDU they derive a frame size in bits from the PDU's length and pass it to
 * set_frame_size(). Then they call generic_work(), even if the size was refused. The
 * decoder object receives neither the MTU nor the PDU's length, but must return values
 * with which neither gr-fec nor the object accesses memory outside those buffers:
 *  - A caller that calls rate() but not get_input_size() has not subtracted the tail from
 *    the frame size. Such callers are async_decoder with packed output, and
 *    tagged_decoder of GNU Radio 3.10.5.
 *  - After a refusal, async_decoder divides the PDU into blocks of get_input_size()
 *    values. async_decoder copies the PDU without comparing its length with the MTU, and
 *    throws an exception if the length is not a multiple of the block length. Therefore
 *    only a PDU shorter than the tail is refused; then get_input_size() returns 1, and
 *    get_output_size() returns 0.
 *  - For another PDU that cannot be decoded, set_frame_size() returns true. The next call
 *    of rate() returns a value from which gr-fec derives a frame size of 0, and the
 *    result is an empty PDU. */

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

//! Base class of decoder objects for gr-fec. \p Public is the public class; the derived
//! class describes its code with the protected virtual functions.
template <class Public>
class fec_decoder_base : public Public
{
public:
    // Releases of GNU Radio differ in the type of the first argument, so one of the two
    // functions overrides gr-fec's virtual function.
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
        // If a size was not accepted, a caller that has since called get_input_size() and
        // get_output_size() continues with the last sizes that can be decoded.
        d_accepted = d_accepted || (!d_refused && asked.input && asked.output);
        if (d_accepted && d_frame_size > 0) {
            const int all = values(d_frame_size);
            decode(in, std::min({ all, frame_values(), d_there }), d_frame_size, bits);
        }
        // async_decoder also packs the bits of a PDU that was not decoded. The bits are
        // cleared, because they would otherwise be those of the previous PDU.
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

    // gr-fec multiplies lengths by the rate, and before release 3.10.10 truncates the
    // product. If the rate is not an exact binary fraction, a slightly larger rate is
    // returned, so that truncation does not lose a bit. gr-fec also divides its MTU by
    // the rate, to limit the length. For this limit, which must not be too low, a
    // slightly smaller rate is returned. async_decoder computes the limit once, from its
    // first call of rate(); tagged_decoder computes the limit before each frame size.
    // From release 3.10.10 on, gr-fec rounds rate() * get_input_size() and subtracts
    // get_output_size(). The difference is the tail. If the frame ends within a
    // puncturing period, the product with the code's rate can round to a wrong tail. For
    // this product the rate of the current frame is returned. gr-fec derives the sizes of
    // later frames, for which frame_values() suits the code's rate.
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
        // A caller of rate() other than async_decoder is tagged_decoder, which calls
        // rate() for a limit before each packet, and before the first packet also to set
        // its relative rate.
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
                require(derived, "frame_size", bits, "1 or more");
                reason = "allowed values are " + allowed_values();
            }
        } catch (const std::invalid_argument& error) {
            reason = error.what();
        } catch (const std::bad_alloc&) {
            reason = "memory cannot hold frames of " + std::to_string(bits) + " bits";
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
                "a PDU or packet has {} soft values: {}. It is not decoded, and its "
                "output is empty, or zeros if gr-fec sends bits (reported once)",
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
    //! Returns the number of soft values per frame of \p frame_size information bits.
    virtual int values(unsigned frame_size) const = 0;
    //! Describes the allowed numbers of soft values of a PDU, for a message.
    virtual std::string allowed_values() const
    {
        return std::to_string(values(1)) + " or more";
    }
    //! Prepares decode() for frames of \p frame_size information bits.
    //! \throws std::invalid_argument, std::bad_alloc
    virtual void prepare(std::int64_t frame_size) = 0;
    //! Decodes a frame of \p frame_size information bits, one per byte of \p out. The
    //! input has the first \p count soft values of the frame.
    virtual void
    decode(const void* in, int count, unsigned frame_size, std::uint8_t* out) = 0;
    virtual float last_iterations() const { return -1; }

private:
    // Returns whether gr-fec rounds products with rates. Before release 3.10.10 of GNU
    // Radio, gr-fec truncates these products.
    static bool rounds()
    {
        static const bool result = gr::major_version() != "3" ||
                                   gr::api_version() != "10" ||
                                   std::stoi(gr::minor_version()) >= 10;
        return result;
    }
    // Rounds or truncates a number of bits as the installed gr-fec does.
    static std::int64_t cut(double bits)
    {
        return rounds() ? std::lround(bits) : std::int64_t(bits + 1e-6);
    }
    // Returns the code's rate, multiplied by \p factor unless the rate is a multiple of
    // 2^-20.
    double adjusted_rate(double factor) const
    {
        const double rate = code_rate(), scaled = std::ldexp(rate, 20);
        return scaled == std::floor(scaled) ? rate : rate * factor;
    }
    // Returns the rate from which gr-fec derives frame sizes.
    double derivation_rate() const { return adjusted_rate(1 + 1e-9); }
    // Returns, as text, the range of the numbers of soft values from which gr-fec derives
    // `bits` bits including the tail. If `negative` is true, gr-fec has derived a
    // negative frame size, which it also truncates towards 0.
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
    // Returns the number of soft values per frame. If gr-fec derived the frame size,
    // returns the smallest number from which gr-fec derives the same size again. gr-fec
    // computes the tail of the next frame from the returned number.
    int frame_values() const
    {
        return d_derived ? fewest_values(std::int64_t(d_frame_size) + tail())
                         : values(d_frame_size);
    }
    // Returns the smallest number of soft values from which gr-fec derives at least
    // `bits`. If `bits` / code_rate() is an integer, returns that integer.
    int fewest_values(std::int64_t bits) const
    {
        const double whole = std::min(double(bits) / code_rate(), double(INT_MAX));
        return std::abs(whole - std::round(whole)) < 1e-6
                   ? std::round(whole)
                   : std::ceil(whole - (rounds() ? 0.5 / code_rate() : 0));
    }

    struct {
        bool rate = false, input = false, output = false;
    } d_asked;             // functions called since set_frame_size() or generic_work()
    unsigned d_frame_size; // last frame size that can be decoded, in bits
    // Whether gr-fec derived the frame size from a number of values.
    bool d_derived = false;
    // Minimum number of soft values in the caller's frame, derived from the frame size.
    int d_there = INT_MAX;
    // Whether the last size given to set_frame_size() can be decoded.
    bool d_accepted = true;
    // Whether the last frame size was refused, so that get_output_size() returns 0.
    bool d_refused = false;
    std::optional<double> d_next_rate;
    // Whether the next call of rate() that is not for a limit returns the current
    // frame's rate.
    bool d_tail_rate = false;
    // Frame size requested by a caller that does not subtract the tail; otherwise 0.
    std::int64_t d_untrimmed = 0;
    bool d_told = false; // whether the warning about a PDU that is not decoded was logged
    bool d_async = false; // whether async_decoder is the caller
    // Number of further calls of rate() whose result is not used to derive a frame size.
    int d_limits = 0;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_COMMON_FEC_DECODER_BASE_H */
