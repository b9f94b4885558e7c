// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Simulates the error rates of the synchronisation decoder on the BSID channel, which
 * substitutes, inserts and deletes symbols. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_SIMULATION_H
#define INCLUDED_GPUFEC_SYNC_MAP_SIMULATION_H

#include <gnuradio/gpufec/sync_reads.h>
#include <functional>

namespace gr::gpufec::sync_map {

//! A source of frames of random symbols and their received items. For given options,
//! frame f depends only on the seed.
class frame_source
{
public:
    frame_source(const sync_options& options, std::uint64_t seed);

    struct frame {
        std::vector<std::uint16_t> message;
        std::vector<std::byte> items; //!< in the format of the options
        std::size_t count;            //!< number of items
    };
    //! Returns received copy \p read of frame \p f. Different copies have the same
    //! message and independent channel errors.
    frame make(std::uint64_t f, unsigned read = 0) const;

private:
    const sync_code d_code;
    const bsid_model d_channel;
    const std::size_t d_soft_values; // floats per item; 0: items are hard decisions
    const std::uint64_t d_seed;
};

struct simulation_options {
    //! Options of the decoder, without priors, which also define the simulated channel.
    sync_reads_options decoder;
    std::uint64_t seed = 1;
    //! The simulation ends after this many wrong symbols; 0: no limit.
    std::uint64_t min_errors = 2000;
    std::uint64_t max_frames = 3000;
};

//! Counts of frames, symbols and errors.
struct error_counts {
    std::uint64_t frames = 0;
    std::uint64_t frame_errors = 0; //!< number of frames with a wrong symbol
    std::uint64_t symbols = 0;
    std::uint64_t errors = 0; //!< number of wrong symbols
    //! Sum over all frames of the squared number of errors.
    std::uint64_t error_squares = 0;
    std::uint64_t invalid = 0;  //!< number of frames that could not be decoded
    std::uint64_t unlocked = 0; //!< number of stream frames decoded without lock

    //! Counts a frame of \p frame_symbols symbols with \p frame_errors wrong symbols.
    void add(std::uint64_t frame_symbols, std::uint64_t frame_errors);
    double symbol_error_rate() const { return symbols ? double(errors) / symbols : 0; }
    double frame_error_rate() const { return frames ? double(frame_errors) / frames : 0; }
    //! Returns the standard deviation of symbol_error_rate(), computed over frames
    //! because errors come in bursts; infinite for fewer than two frames.
    double deviation() const;
};

struct simulation_result {
    error_counts decoded;
    std::string backend, device;
};

/*!
 * \brief Sends random symbols, in frames or in a stream, until min_errors symbols are
 * wrong or max_frames are sent.
 *
 * For given options, the counts do not depend on the batch size or the number of threads.
 * Counts of different backends may differ where rounding decides between two symbols.
 *
 * \param progress called with the counts so far whenever frames have been decoded; an
 *        exception ends the simulation
 */
simulation_result
simulate(const simulation_options& options,
         const std::function<void(const simulation_result&)>& progress = {});

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_SIMULATION_H */
