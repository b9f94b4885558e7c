// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Error rates of the LDPC decoders over QPSK, or BPSK, with white Gaussian noise. */

#ifndef INCLUDED_GPUFEC_LDPC_SIMULATION_H
#define INCLUDED_GPUFEC_LDPC_SIMULATION_H

#include "channel/awgn.h"
#include "lab/device_link.h"
#include <gnuradio/gpufec/ldpc.h>
#include <functional>

namespace gr::gpufec::ldpc {

//! Noisy frames of a code: frame f is the same however frames are made or batched.
class frame_source
{
public:
    //! Codewords that are sent in turn; the noise never repeats.
    static constexpr unsigned words = 64;

    //! Of the first code of \p options. \throws std::invalid_argument
    frame_source(const ldpc_options& options, double ebn0_db, std::uint64_t seed);

    //! Bytes of the channel values of a frame.
    std::size_t frame_bytes() const;
    //! Writes the channel values of frame \p f as \p options want them.
    void channel_values(std::uint64_t f, std::byte* out) const;
    //! The channel of int8 values, in which frame f begins with value f · sent().
    const awgn_channel& int8_channel() const { return d_int8; }
    //! What is sent of codeword \p w, one bit per byte, 0 where a value is positive.
    std::vector<std::uint8_t> sent_bits(unsigned w) const;
    //! The same frame's codeword, one bit per byte.
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
    const double d_nats; // the LLR of +1
    const awgn_channel d_int8;
    std::vector<std::uint8_t> d_codewords;
};

//! What became of one frame.
struct frame_result {
    std::uint32_t errors; //!< of the message
    std::uint32_t iterations;
    std::uint32_t unsatisfied;
};

struct simulation_options;

//! Sends frames, receives and decodes them on a device.
class device_link
{
public:
    //! The frames that come next; says whether to go on.
    using taker = std::function<bool(const std::vector<frame_result>&)>;

    virtual ~device_link() = default;
    virtual std::string device() const = 0;
    //! Gives what became of the first \p frames frames, in order, to \p take.
    //! \throws device_error
    virtual void run(std::uint64_t frames, const taker& take) = 0;
};

struct simulation_options {
    ldpc_options decoder; //!< with one code that can be encoded
    double ebn0_db = 1;   //!< of information bits; infinity for no noise
    std::uint64_t seed = 1;
    std::uint64_t min_frame_errors = 20; //!< a point ends with the frame that has them
    std::uint64_t max_frames = 100000;   //!< or with so many frames
    bool reference =
        false;            //!< sum-product in double, the same schedule, on the same noise
    unsigned threads = 1; //!< that make noise, and run the reference
    //! Where noise is made; on a device of int8 values alone, and without a reference.
    link_options<device_link, simulation_options> link = {};
};

//! A link on the only device of \p options; nullptr in a program without CUDA.
//! \throws std::runtime_error if it cannot be had
std::unique_ptr<device_link> make_device_link(const simulation_options& options);

//! What became of the frames that were sent.
struct error_counts {
    std::uint64_t frames = 0;
    std::uint64_t frame_errors = 0; //!< with a wrong message bit
    std::uint64_t bits = 0;         //!< of messages
    std::uint64_t errors = 0;
    std::uint64_t undetected = 0; //!< wrong frames that satisfy every check
    std::uint64_t iterations = 0; //!< of all frames together

    void add(const error_counts& more);
    double bit_error_rate() const { return bits ? double(errors) / bits : 0; }
    double frame_error_rate() const { return frames ? double(frame_errors) / frames : 0; }
};

struct simulation_result {
    error_counts decoded, reference;
    std::string backend, device;
    std::string channel = "host"; //!< or "device": where noise was made
};

/*!
 * \brief Sends random messages until enough of them are wrong.
 *
 * The same options give the same counts on every backend, with any batch and any number
 * of threads, and wherever noise is made.
 *
 * \param progress called now and then; it may throw
 */
simulation_result
simulate(const simulation_options& options,
         const std::function<void(const simulation_result&)>& progress = {});

} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_SIMULATION_H */
