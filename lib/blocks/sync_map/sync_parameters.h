// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Parameters that gpu_sync_map, sync_encoder and channel_bsid share. */

#ifndef INCLUDED_GPUFEC_BLOCKS_SYNC_MAP_SYNC_PARAMETERS_H
#define INCLUDED_GPUFEC_BLOCKS_SYNC_MAP_SYNC_PARAMETERS_H

#include "blocks/common/parameters.h"
#include <gnuradio/gpufec/sync_map.h>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace gr::gpufec {

//! Returns the code that the options of a block select.
//! \throws std::invalid_argument
template <class Options>
sync_code sync_code_of(const Options& given)
{
    return { not_negative("n", given.n, "1 or more"),
             not_negative("q", given.q, "2 to 65536"),
             not_negative("frame_symbols", given.frame_symbols, "1 or more"),
             given.codebook,
             not_negative("alphabet", given.alphabet, "2 to 16") };
}

//! Returns the item size of message symbols in bytes: 1 if q is at most 256, otherwise 2.
inline std::size_t symbol_item_size(const sync_code& code)
{
    return code.q() <= 256 ? sizeof(std::uint8_t) : sizeof(std::int16_t);
}

//! Channel parameters that one thread sets and another reads.
class channel_setting
{
public:
    explicit channel_setting(const bsid_model& channel) : d_channel(channel) {}

    void set_p_insert(double p) { change(p, {}, {}); }
    void set_p_delete(double p) { change({}, p, {}); }
    void set_p_substitute(double p) { change({}, {}, p); }

    bsid_model get() const
    {
        std::lock_guard<std::mutex> guard(d_mutex);
        return d_channel;
    }
    //! Returns the channel if it has changed since the last take(), otherwise nothing.
    std::optional<bsid_model> take()
    {
        std::lock_guard<std::mutex> guard(d_mutex);
        return std::exchange(d_changed, false) ? std::optional(d_channel) : std::nullopt;
    }

private:
    void change(std::optional<double> p_insert,
                std::optional<double> p_delete,
                std::optional<double> p_substitute)
    {
        std::lock_guard<std::mutex> guard(d_mutex);
        d_channel = { p_insert.value_or(d_channel.p_insert()),
                      p_delete.value_or(d_channel.p_delete()),
                      p_substitute.value_or(d_channel.p_substitute()),
                      d_channel.alphabet() };
        d_changed = true;
    }

    mutable std::mutex d_mutex;
    bsid_model d_channel;
    bool d_changed = false;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_SYNC_MAP_SYNC_PARAMETERS_H */
