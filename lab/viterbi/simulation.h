// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Simulates the error rates of a viterbi_decoder, and of maximum-likelihood decoding on
 * the same noise; counts errors and tests their positions. */

#ifndef INCLUDED_GPUFEC_VITERBI_SIMULATION_H
#define INCLUDED_GPUFEC_VITERBI_SIMULATION_H

#include "channel/awgn.h"
#include "lab/device_channel.h"
#include <gnuradio/gpufec/viterbi.h>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace gr::gpufec::viterbi {

/*!
 * \brief A counter of bit errors and error events.
 *
 * Errors of a Viterbi decoder come in bursts. Errors with at most \p gap correct bits
 * between them form one event. An event does not continue into the next frame. Unlike
 * errors, events are independent.
 */
class error_counter
{
public:
    /*!
     * \param gap largest number of correct bits between two errors of one event
     * \param frame_bits information bits per frame; 0: streaming
     * \param positions bits per parallel block, for events_at()
     */
    error_counter(unsigned gap, unsigned frame_bits, unsigned positions);

    //! Compares and counts the next \p count bits, one per byte.
    void
    compare(const std::uint8_t* sent, const std::uint8_t* decoded, std::size_t count);
    //! Counts the next \p count bits; the first bit has index \p first. The range from
    //! \p wrong to \p wrong_end has the indices of the wrong bits, in ascending order.
    void add(std::uint64_t count,
             const std::uint64_t* wrong,
             const std::uint64_t* wrong_end,
             std::uint64_t first);

    std::uint64_t bits() const { return d_bits; }
    std::uint64_t errors() const { return d_errors; }
    std::uint64_t frames() const { return d_frame_bits ? d_bits / d_frame_bits : 0; }
    std::uint64_t frame_errors() const { return d_frame_errors; }
    std::uint64_t events() const { return d_events; }
    double rate() const { return d_bits ? double(d_errors) / d_bits : 0; }
    //! Returns the half-width of the 95 % confidence interval of rate(). The error count
    //! is compound Poisson; its variance is estimated by the sum of squared event sizes.
    double confidence() const;
    //! Returns the number of events that begin at each position of a parallel block.
    const std::vector<std::uint64_t>& events_at() const { return d_events_at; }

private:
    void wrong_bit(std::uint64_t index);

    unsigned d_gap;
    unsigned d_frame_bits;
    std::vector<std::uint64_t> d_events_at;
    std::uint64_t d_bits = 0;
    std::uint64_t d_errors = 0;
    std::uint64_t d_events = 0;
    std::uint64_t d_frame_errors = 0;
    std::uint64_t d_last_error = 0; // index + 1 of the last wrong bit; 0: none
    double d_squares = 0;           // sum of squared sizes of completed events
    std::uint64_t d_event_size = 0;
    std::uint64_t d_wrong_frame = 0; // index + 1 of the last wrong frame; 0: none
};

//! The result of a chi-square test of whether events are distributed uniformly over the
//! positions of a parallel block.
struct position_test {
    std::vector<std::uint64_t> events; //!< events per bin, in the order of positions
    std::vector<double> expected; //!< expected events per bin, if uniformly distributed
    double chi_square = 0;
    unsigned degrees = 0;
    double p_value = 1; //!< probability of a chi-square at least this large
};

//! Tests the positions of events. \p frame_bits is 0 for streaming. With frames, a small
//! p-value does not indicate a fault: events are rarer near known end states, and an
//! event that wraps round a tail-biting frame counts at position 0.
position_test test_positions(const error_counter& counter, unsigned frame_bits);

struct simulation_options;

//! Interface of a simulation that runs entirely on a device. The device generates data
//! and noise, and decodes.
class device_channel
{
public:
    //! Callback for newly simulated bits: their number, and the ascending indices of the
    //! bit errors among them. Returns whether to continue.
    using taker =
        std::function<bool(std::uint64_t bits, const std::vector<std::uint64_t>& wrong)>;

    virtual ~device_channel() = default;
    virtual std::string device() const = 0;
    //! Simulates the first \p bits information bits and reports their errors, in order,
    //! to \p take, until \p take returns false.
    //! \throws device_error if the device fails
    virtual void run(std::uint64_t bits, const taker& take) = 0;
};

struct simulation_options {
    viterbi_options decoder;
    double ebn0_db = 3; //!< Eb/N0 in dB; infinity: no noise
    //! Noiseless received value in int8 steps, above 0 and up to 127. The amplitude of
    //! packed4 values is scaled in proportion; float values do not depend on it.
    double amplitude = 32;
    std::uint64_t seed = 1; //!< seed of data and noise
    //! The simulation ends after the segment (about 65,536 bits) in which each decoder
    //! reaches this number of errors, or at max_bits. 0: the simulation ends at max_bits.
    std::uint64_t min_errors = 100;
    //! Maximum number of information bits, rounded up to whole segments.
    std::uint64_t max_bits = 100'000'000;
    unsigned threads = 1;   //!< threads for noise and for maximum-likelihood decoding
    bool reference = false; //!< whether maximum likelihood decodes the same noise too
    //! Whether the host or the device generates data and noise. A device supports only
    //! int8 and packed4 values, and no reference decoder.
    channel_options<device_channel, simulation_options> simulated_channel = {};
};

//! Returns the AWGN channel for the options' Eb/N0, code rate and amplitude, seeded with
//! the complement of \p options.seed.
//! \throws std::invalid_argument if Eb/N0 or the amplitude is outside its range
awgn_channel channel_of(const simulation_options& options);
//! Returns the generator of the sent data.
inline counter_random data_of(const simulation_options& options)
{
    return counter_random(options.seed);
}

//! Makes a channel on the one device in \p options; returns nullptr in a program without
//! CUDA.
//! \throws std::runtime_error if the device is not available
std::unique_ptr<device_channel> make_device_channel(const simulation_options& options);

struct simulation_result {
    explicit simulation_result(const error_counter& empty)
        : decoded(empty), reference(empty)
    {
    }
    error_counter decoded;
    error_counter reference;
    //! Number of the decoder's errors in each tenth of max_bits.
    std::vector<std::uint64_t> errors_by_tenth = std::vector<std::uint64_t>(10);
    std::string backend, device;  //!< where the decoder ran
    std::string channel = "host"; //!< "host" or "device", which generated data and noise
    unsigned decode_length = 0;   //!< D of the decoder, in bits
    unsigned overlap = 0;         //!< L of the decoder, in stages
    //! Error rate of the decoder divided by that of the reference; 0 without reference.
    double ratio = 0;
    //! Half-width of the 95 % confidence interval of \p ratio, which takes into account
    //! that both decoders see the same noise.
    double ratio_confidence = 0;
};

/*!
 * \brief Encodes random data, sends them over an AWGN channel, decodes, and counts
 * errors.
 *
 * The data form one stream, or frames. The result does not depend on the device, the
 * number of threads or the batch size. \p progress is called after each segment (about
 * 65,536 bits) on the host, or after each batch on a device.
 * \throws std::invalid_argument if an option is not allowed
 * \throws std::runtime_error if the decoder fails or does not return all bits
 */
simulation_result simulate(
    const simulation_options& options,
    const std::function<void(const simulation_result&)>& progress = [](const auto&) {});

//! Returns the soft values that simulate() would push to the decoder, for at least
//! max_bits information bits.
std::vector<std::byte> received_items(const simulation_options& options);

} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_SIMULATION_H */
