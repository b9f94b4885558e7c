// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The Viterbi decoder as a decoder object for the blocks of gr-fec. */

#ifndef INCLUDED_GPUFEC_FEC_VITERBI_DECODER_H
#define INCLUDED_GPUFEC_FEC_VITERBI_DECODER_H

#include <gnuradio/fec/generic_decoder.h>
#include <gnuradio/gpufec/api.h>
#include <gnuradio/gpufec/backend.h>
#include <gnuradio/gpufec/viterbi.h>
#include <optional>
#include <string>
#include <vector>

namespace gr::gpufec {

//! Parameters of fec_viterbi_decoder, in Python's order. Values in quotes are those
//! of Python; enumerators have the same names, except automatic ("auto").
struct fec_viterbi_decoder_options {
    // Code
    //! number of information bits per frame, which set_frame_size() changes
    int frame_size = 2048;
    //! K, 3 to 9; default 7
    std::optional<int> constraint_length = std::nullopt;
    //! 2 to 6 generator polynomials as integers with the octal digits of the standards:
    //! octal 171 is 0171 in C++ and 0o171 in Python; polynomials_from_gr_fec() converts
    //! those of gr-fec. Default: 0171 and 0133
    std::optional<std::vector<int>> polynomials = std::nullopt;
    //! one string of 0 and 1 per output, comma separated, in the order of the
    //! polynomials: DVB rate 3/4 is "101,110"; "" for none
    std::optional<std::string> puncturing = std::nullopt;
    //! "terminated" (default), "truncated" or "tailbiting"
    std::optional<gpufec::termination> termination = std::nullopt;

    // Input
    //! int8 steps per unit of amplitude of the input
    float soft_scale = 32.0f;

    // Running
    //! "auto", "cuda" or "cpu"
    gpufec::backend backend = gpufec::backend::cpu;
    //! index of the CUDA device
    int device = 0;

    // Code
    //! name of a code of conv_presets(), instead of the four parameters after
    //! \p frame_size, which must then be omitted; the frames of a streaming preset are
    //! terminated; "": none
    std::string preset = "";

    // Input
    //! the bit, 0 or 1, that a positive soft value means
    int positive_bit = 1;
};

/*!
 * \brief A Viterbi decoder for the blocks of gr-fec: extended_decoder, decoder,
 * async_decoder and tagged_decoder.
 * \ingroup gpufec
 *
 * \details
 * A call of generic_work() decodes one frame and returns once it is decoded. Frames of
 * several calls do not share a batch, so for high rates use gpu_viterbi_pbvd. The input
 * is soft values as floats. The output is information bits, one per byte. The length of
 * frames may change from call to call. gr-fec rounds the lengths of frames of a punctured
 * code, so such frames should end with a puncturing period.
 *
 * set_frame_size() accepts 1 to 2^24 information bits; tail-biting frames have K−1 or
 * more. gr-fec's blocks for packets call rate() and derive the frame size from the number
 * of soft values of a packet. The calls of such a block since the previous frame decide
 * what the size means:
 *  - After rate(), the size may be 0 for a code with a tail.
 *  - After rate() without get_input_size(), the size includes the tail.
 *
 * If the packet is shorter than the tail, set_frame_size() returns false. For any other
 * derived size that cannot be decoded, set_frame_size() returns true, and the result of
 * the next rate() makes the caller derive 0 bits. In both cases generic_work() then reads
 * nothing and writes at most zeros, until a size is accepted, or until get_input_size()
 * and get_output_size() were both called.
 */
class GPUFEC_API fec_viterbi_decoder : virtual public gr::fec::generic_decoder
{
public:
    typedef std::shared_ptr<fec_viterbi_decoder> sptr;

    //! Makes a decoder.
    //! \throws std::invalid_argument naming the parameter, its value and what is allowed
    //! \throws std::runtime_error if the backend is "cuda" and the device cannot be used
    static sptr make(const fec_viterbi_decoder_options& options = {});

    //! Returns the backend that decoded the last frame, "cuda" or "cpu".
    virtual std::string active_backend() const = 0;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_FEC_VITERBI_DECODER_H */
