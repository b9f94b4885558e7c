// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Error rates of the synchronisation decoder behind a channel that inserts, deletes and
 * substitutes. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_SIMULATION_H
#define INCLUDED_GPUFEC_SYNC_MAP_SIMULATION_H

#include <gnuradio/gpufec/sync_reads.h>
#include <functional>

namespace gr::gpufec::sync_map {

//! Frames of random symbols, and what is received of them: frame f is always the same.
class frame_source
{
public:
    frame_source(const sync_options& options, std::uint64_t seed);

    struct frame {
        std::vector<std::uint16_t> message;
        std::vector<std::byte> items; //!< as the options want them
        std::size_t count;            //!< of items
    };
    //! \p read: the same message, sent once more.
    frame make(std::uint64_t f, unsigned read = 0) const;

private:
    const sync_code d_code;
    const bsid_model d_channel;
    const std::size_t d_soft_values; // of an item; 0: items are hard
    const std::uint64_t d_seed;
};

struct simulation_options {
    //! Without priors; the channel is the one that is simulated.
    sync_reads_options decoder;
    std::uint64_t seed = 1;
    std::uint64_t min_errors =
        2000; //!< a point ends with the frame that has them; 0: not
    std::uint64_t max_frames = 3000; //!< or with so many frames
};

//! What became of the symbols that were sent.
struct error_counts {
    std::uint64_t frames = 0;
    std::uint64_t frame_errors = 0; //!< with a wrong symbol
    std::uint64_t symbols = 0;
    std::uint64_t errors = 0;        //!< wrong symbols
    std::uint64_t error_squares = 0; //!< sum over frames of their squared errors
    std::uint64_t invalid = 0;       //!< frames that could not be decoded
    std::uint64_t unlocked = 0;      //!< streams: frames decoded without lock

    //! Counts a frame of \p frame_symbols symbols.
    void add(std::uint64_t frame_symbols, std::uint64_t frame_errors);
    double symbol_error_rate() const { return symbols ? double(errors) / symbols : 0; }
    double frame_error_rate() const { return frames ? double(frame_errors) / frames : 0; }
    //! Standard deviation of symbol_error_rate(). Errors come in bursts, so it is that of
    //! frames; infinite for fewer than two.
    double deviation() const;
};

struct simulation_result {
    error_counts decoded;
    std::string backend, device;
};

/*!
 * \brief Sends random symbols, in frames or in a stream of them, until enough are wrong.
 *
 * The same options give the same counts with any batch and any number of threads, and on
 * every backend but for ties in floating point.
 *
 * \param progress called now and then; it may throw
 */
simulation_result
simulate(const simulation_options& options,
         const std::function<void(const simulation_result&)>& progress = {});

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_SIMULATION_H */
