// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Error rates of a viterbi_decoder over a simulated channel, beside those of full
 * maximum likelihood on the same noise. */

#ifndef INCLUDED_GPUFEC_VITERBI_SIMULATION_H
#define INCLUDED_GPUFEC_VITERBI_SIMULATION_H

#include "channel/awgn.h"
#include "lab/device_link.h"
#include <gnuradio/gpufec/viterbi.h>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace gr::gpufec::viterbi {

/*!
 * \brief Counts wrong bits, in order, and how they cluster.
 *
 * A Viterbi decoder errs in bursts. Errors with at most \p gap right bits between them,
 * in the same frame, are one event; events are independent, bits are not.
 */
class error_counter
{
public:
    /*!
     * \param gap bits
     * \param frame_bits 0 if there are no frames
     * \param positions length of the parallel blocks whose positions are counted
     */
    error_counter(unsigned gap, unsigned frame_bits, unsigned positions);

    //! The next \p count bits, one per byte.
    void
    compare(const std::uint8_t* sent, const std::uint8_t* decoded, std::size_t count);
    //! The next \p count bits, which are right but for the \p wrong ones: they ascend,
    //! counted from \p first for the first of these bits.
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
    //! Half of the 95 % confidence interval of rate(): events follow a compound Poisson
    //! law, its variance is the sum of their squared sizes.
    double confidence() const;
    //! Events that begin at each position of a parallel block.
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
    std::uint64_t d_last_error = 0; // index + 1; 0: none yet
    double d_squares = 0;           // of events that are over
    std::uint64_t d_event_size = 0;
    std::uint64_t d_wrong_frame = 0; // index + 1 of the last one
};

//! A test of whether events avoid or prefer any position of a parallel block.
struct position_test {
    std::vector<std::uint64_t> events; //!< in each of equally wide bins
    std::vector<double> expected;      //!< if all positions were alike
    double chi_square = 0;
    unsigned degrees = 0;
    double p_value = 1; //!< of a chi-square at least this large
};

//! \p frame_bits 0 in streaming. A frame's own ends are not like its middle: events near
//! known ends are rarer, and one that wraps around a tail-biting frame begins at 0.
position_test test_positions(const error_counter& counter, unsigned frame_bits);

struct simulation_options;

//! Sends random data, receives and decodes them on a device.
class device_link
{
public:
    //! So many information bits more, and which of them are decoded wrong: ascending,
    //! counted from the first of these bits. Says whether to go on.
    using taker =
        std::function<bool(std::uint64_t bits, const std::vector<std::uint64_t>& wrong)>;

    virtual ~device_link() = default;
    virtual std::string device() const = 0;
    //! Gives the first \p bits bits of the simulation, in order, to \p take.
    //! \throws device_error
    virtual void run(std::uint64_t bits, const taker& take) = 0;
};

struct simulation_options {
    viterbi_options decoder;
    double ebn0_db = 3;             //!< infinity: no noise
    double amplitude = 32;          //!< int8 steps; that of packed4 in proportion
    std::uint64_t seed = 1;         //!< of data and noise
    std::uint64_t min_errors = 100; //!< stops once reached (by both decoders); 0: never
    std::uint64_t max_bits = 100'000'000;
    unsigned threads = 1;   //!< that make noise and decode by maximum likelihood
    bool reference = false; //!< full maximum likelihood on the same noise
    //! Where data and noise are made; on a device of int8 and packed4 values alone, and
    //! without a reference.
    link_options<device_link, simulation_options> link = {};
};

//! The channel that the decoder of \p options hears. \throws std::invalid_argument
awgn_channel channel_of(const simulation_options& options);
//! The data that are sent.
inline counter_random data_of(const simulation_options& options)
{
    return counter_random(options.seed);
}

//! A link on the only device of \p options; nullptr in a program without CUDA.
//! \throws std::runtime_error if it cannot be had
std::unique_ptr<device_link> make_device_link(const simulation_options& options);

struct simulation_result {
    explicit simulation_result(const error_counter& empty)
        : decoded(empty), reference(empty)
    {
    }
    error_counter decoded;
    error_counter reference;
    //! Errors of the decoder in each tenth of max_bits.
    std::vector<std::uint64_t> errors_by_tenth = std::vector<std::uint64_t>(10);
    std::string backend, device;  //!< that decoded
    std::string channel = "host"; //!< or "device": where data and noise were made
    unsigned decode_length = 0;   //!< D
    unsigned overlap = 0;         //!< L
    double ratio = 0;             //!< of error rates, decoder over reference
    double ratio_confidence = 0;  //!< half of its 95 % interval, noise in common
};

/*!
 * \brief Random data, encoded, sent over an AWGN channel and decoded.
 *
 * One stream from beginning to end, or frame after frame, in segments that are made by
 * threads, or on the device that decodes; the result depends neither on where nor on the
 * number of threads nor on batches. \p progress is called after each segment, or batch of
 * the device.
 * \throws std::invalid_argument, or std::runtime_error if the decoder fails or does not
 *         return as many bits as it was sent
 */
simulation_result simulate(
    const simulation_options& options,
    const std::function<void(const simulation_result&)>& progress = [](const auto&) {});

//! The soft values of the same max_bits, at least, as the decoder of \p options gets
//! them.
std::vector<std::byte> received_items(const simulation_options& options);

} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_SIMULATION_H */
