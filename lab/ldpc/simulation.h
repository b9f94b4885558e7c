// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Simulates the error rates of the LDPC decoders on the AWGN channel, with QPSK or, at
 * the same Eb/N0, BPSK. */

#ifndef INCLUDED_GPUFEC_LDPC_SIMULATION_H
#define INCLUDED_GPUFEC_LDPC_SIMULATION_H

#include "channel/awgn.h"
#include "lab/device_channel.h"
#include <gnuradio/gpufec/ldpc.h>
#include <functional>

namespace gr::gpufec::ldpc {

//! A source of noisy frames of a code. For a given code and noise, frame f depends only
//! on the seed, not on the batch size or on whether host or device generates the frame.
class frame_source
{
public:
    //! Number of different codewords, which repeat. The noise does not repeat.
    static constexpr unsigned words = 64;

    //! Makes frames of the first code of \p options. \p ebn0_db is in dB; infinity means
    //! no noise.
    //! \throws std::invalid_argument if the code cannot be encoded, or if
    //! \p ebn0_db is below −100 or NaN
    frame_source(const ldpc_options& options, double ebn0_db, std::uint64_t seed);

    //! Returns the size in bytes of a frame's channel values.
    std::size_t frame_bytes() const;
    //! Writes the channel values of frame \p f in the format of the options.
    void channel_values(std::uint64_t f, std::byte* out) const;
    //! Returns the channel that makes int8 values. The values of frame f begin at index
    //! f · ldpc_code::sent() of the channel.
    const awgn_channel& int8_channel() const { return d_int8; }
    //! Returns the transmitted bits of codeword \p w, one per byte. The channel sends 0
    //! as a positive value, so the bits are inverted if positive_bit is 1.
    std::vector<std::uint8_t> sent_bits(unsigned w) const;
    //! Returns the codeword of frame \p f: n bits, one per byte.
    const std::uint8_t* codeword(std::uint64_t f) const
    {
        return &d_codewords[f % words * d_code.n()];
    }

private:
    const ldpc_code d_code;
    const ldpc_encoder_kernel d_encoder;
    const llr_format d_format;
    const unsigned d_positive_bit;
    const awgn_channel d_unit;
    const double d_nats; // LLR, in nats, of a received amplitude of +1
    const awgn_channel d_int8;
    std::vector<std::uint8_t> d_codewords;
};

//! The result of decoding one frame.
struct frame_result {
    std::uint32_t errors; //!< number of wrong message bits
    std::uint32_t iterations;
    std::uint32_t unsatisfied;
};

struct simulation_options;

//! Interface of a simulation that runs entirely on a device. The device generates
//! messages and noise, and decodes.
class device_channel
{
public:
    //! Callback for the results of the next frames; returns whether to continue.
    using taker = std::function<bool(const std::vector<frame_result>&)>;

    virtual ~device_channel() = default;
    virtual std::string device() const = 0;
    //! Simulates up to \p frames frames and passes their results, in order, to \p take,
    //! until \p take returns false.
    //! \throws device_error if the device fails
    virtual void run(std::uint64_t frames, const taker& take) = 0;
};

struct simulation_options {
    ldpc_options decoder; //!< must have one code that can be encoded
    double ebn0_db = 1;   //!< Eb/N0 in dB; infinity for no noise
    std::uint64_t seed = 1;
    //! The simulation ends after this many wrong frames; 0: no limit.
    std::uint64_t min_frame_errors = 20;
    std::uint64_t max_frames = 100000;
    bool reference = false; //!< whether sum-product in double also decodes the frames
    unsigned threads = 1;   //!< number of threads for noise and for the reference
    //! Whether the host or the device generates messages and noise. A device supports
    //! only int8 values, and no reference.
    channel_options<device_channel, simulation_options> simulated_channel = {};
};

//! Makes a channel on the one device in \p options; returns nullptr in a program without
//! CUDA.
//! \throws std::runtime_error if the device cannot be used
std::unique_ptr<device_channel> make_device_channel(const simulation_options& options);

//! Counts of frames, message bits, errors and iterations.
struct error_counts {
    std::uint64_t frames = 0;
    std::uint64_t frame_errors = 0; //!< number of frames with a wrong message bit
    std::uint64_t bits = 0;         //!< number of message bits
    std::uint64_t errors = 0;       //!< number of wrong message bits
    std::uint64_t undetected = 0;   //!< number of wrong frames that satisfy every check
    std::uint64_t iterations = 0;   //!< sum of the iterations of all frames

    void add(const error_counts& more);
    double bit_error_rate() const { return bits ? double(errors) / bits : 0; }
    double frame_error_rate() const { return frames ? double(frame_errors) / frames : 0; }
};

struct simulation_result {
    error_counts decoded, reference;
    std::string backend, device;
    std::string channel = "host"; //!< what generated the noise: "host" or "device"
};

/*!
 * \brief Sends random messages until min_frame_errors frames are wrong or max_frames are
 * sent.
 *
 * For given options, the counts do not depend on the backend, the batch size, the number
 * of threads, or on whether host or device generates the noise.
 *
 * \param progress called with the counts so far, after each round of frames on the host,
 *        or after each batch on a device; an exception ends the simulation
 */
simulation_result
simulate(const simulation_options& options,
         const std::function<void(const simulation_result&)>& progress = {});

} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_SIMULATION_H */
