// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The interface through which ccsds_frame_finder uses the receivers of telemetry and of
 * telecommands. */

#ifndef INCLUDED_GPUFEC_FRAMING_FRAME_RECEIVER_H
#define INCLUDED_GPUFEC_FRAMING_FRAME_RECEIVER_H

#include <gnuradio/gpufec/ccsds.h>
#include <memory>
#include <string>

namespace gr::gpufec::framing {

//! Receiver of telemetry or telecommands. ccsds_frame_finder describes the functions.
class frame_receiver
{
public:
    virtual ~frame_receiver() = default;

    virtual std::size_t frame_items() const = 0;
    virtual bool soft_output() const = 0;
    virtual unsigned marker_bits() const = 0;
    virtual std::size_t period() const = 0;
    virtual unsigned search_errors() const = 0;
    virtual unsigned track_errors() const = 0;

    virtual void set_output(std::uint8_t*, std::size_t) {}
    virtual void push(const std::uint8_t* bytes, std::size_t count) = 0;
    virtual void push(const std::int8_t* values, std::size_t count) = 0;
    virtual std::size_t piece() const = 0;
    virtual void finish() = 0;
    virtual ccsds_frame* next(const std::uint8_t*& items) = 0;
    virtual std::uint64_t needed() const = 0;
    virtual void reset() = 0;

    virtual bool locked() const = 0;
    virtual ccsds_counts counts() const = 0;
    virtual std::string verdict() const = 0;
};

//! Makes the receiver of a telecommand code.
//! \throws std::invalid_argument naming the parameter, its value and what is allowed
std::unique_ptr<frame_receiver> make_cltu_receiver(const ccsds_framing& framing,
                                                   const ccsds_telecommand_code& code,
                                                   bool soft_input,
                                                   const std::string& variant);

} // namespace gr::gpufec::framing

#endif /* INCLUDED_GPUFEC_FRAMING_FRAME_RECEIVER_H */
