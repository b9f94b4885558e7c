// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The dictionary of the tag ccsds_frame. */

#ifndef INCLUDED_GPUFEC_BLOCKS_CCSDS_FRAME_STATE_H
#define INCLUDED_GPUFEC_BLOCKS_CCSDS_FRAME_STATE_H

#include <gnuradio/gpufec/ccsds.h>
#include <pmt/pmt.h>
#include <tuple>
#include <utility>
#include <vector>

namespace gr::gpufec {

//! Makes the dictionaries of successive frames. An entry that is equal to that of the
//! previous frame is shared with the previous dictionary. Without this sharing, making
//! the entries would take longer than decoding a frame.
class frame_state
{
public:
    //! \param telecommand whether dictionaries have the entry \c tail_found
    explicit frame_state(bool telecommand) : d_telecommand(telecommand) {}

    //! Begins a new stream.
    void restart()
    {
        d_error_rate = {};
        d_flags = {};
    }

    //! Sets the channel error rate of later frames.
    void set_error_rate(const pmt::pmt_t& rate)
    {
        d_error_rate = rate;
        d_flags = {};
    }

    pmt::pmt_t of(const ccsds_frame& frame)
    {
        const flags now{ frame.good,
                         frame.marker_found,
                         frame.inverted,
                         frame.tail_found,
                         frame.orientation };
        bool changed = !d_flags || d_flag_values != now;
        if (changed) {
            d_flag_values = now;
            d_flags = pmt::make_dict();
            add(d_flags, d_good_key, pmt::from_bool(frame.good));
            add(d_flags, d_found_key, pmt::from_bool(frame.marker_found));
            add(d_flags, d_inverted_key, pmt::from_bool(frame.inverted));
            add(d_flags, d_orientation_key, pmt::from_long(long(frame.orientation)));
            if (d_telecommand) {
                add(d_flags, d_tail_key, pmt::from_bool(frame.tail_found));
            }
            if (d_error_rate) {
                add(d_flags, d_error_rate_key, d_error_rate);
            }
        }
        changed = changed || d_correlation != frame.marker_correlation;
        if (changed) {
            d_correlation = frame.marker_correlation;
            d_marker = d_flags;
            add(d_marker, d_correlation_key, pmt::from_double(d_correlation));
        }
        changed = changed || d_corrected != frame.corrected;
        if (changed) {
            d_corrected = frame.corrected;
            d_code = d_marker;
            if (!d_corrected.empty()) {
                add(d_code,
                    d_corrected_key,
                    pmt::init_s32vector(d_corrected.size(), d_corrected));
            }
        }
        auto state = d_code;
        add(state, d_position_key, pmt::from_uint64(frame.position));
        return state;
    }

private:
    using flags = std::tuple<bool, bool, bool, bool, unsigned>;

    // Adds an entry without the search of dict_add(), because the key is known to be
    // absent.
    static void
    add(pmt::pmt_t& dictionary, const pmt::pmt_t& key, const pmt::pmt_t& value)
    {
        dictionary = pmt::acons(key, value, std::move(dictionary));
    }

    const bool d_telecommand;
    const pmt::pmt_t d_good_key = pmt::mp("good");
    const pmt::pmt_t d_found_key = pmt::mp("marker_found");
    const pmt::pmt_t d_inverted_key = pmt::mp("inverted");
    const pmt::pmt_t d_tail_key = pmt::mp("tail_found");
    const pmt::pmt_t d_orientation_key = pmt::mp("orientation");
    const pmt::pmt_t d_error_rate_key = pmt::mp("channel_error_rate");
    const pmt::pmt_t d_correlation_key = pmt::mp("marker_correlation");
    const pmt::pmt_t d_corrected_key = pmt::mp("corrected");
    const pmt::pmt_t d_position_key = pmt::mp("position");

    pmt::pmt_t d_error_rate; // null if unknown
    // Dictionaries of the last frame. Each contains the entries of the previous one and
    // further entries. d_flags is null before the first frame.
    pmt::pmt_t d_flags, d_marker, d_code;
    flags d_flag_values;
    double d_correlation = 0;
    std::vector<int> d_corrected;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_CCSDS_FRAME_STATE_H */
