// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#ifndef INCLUDED_GPUFEC_FEC_VITERBI_DECODER_H
#define INCLUDED_GPUFEC_FEC_VITERBI_DECODER_H

#include <gnuradio/fec/generic_decoder.h>
#include <gnuradio/gpufec/api.h>
#include <optional>
#include <string>
#include <vector>

namespace gr::gpufec {

/*!
 * \brief A Viterbi decoder for the blocks of gr-fec: extended_decoder, decoder,
 * async_decoder and tagged_decoder.
 * \ingroup gpufec
 *
 * \details
 * One call decodes one frame, and returns once it is decoded. So it is as convenient as
 * gr-fec's own decoders, and no faster than one frame at a time can be: for rates, use
 * gpu_viterbi_pbvd. Its input is floats. Its output is one bit per byte. Frames can
 * change their length, as those of packets do. Where the code is punctured gr-fec does
 * not tell lengths exactly: there, frames should end with a period.
 */
class GPUFEC_API fec_viterbi_decoder : virtual public gr::fec::generic_decoder
{
public:
    typedef std::shared_ptr<fec_viterbi_decoder> sptr;

    /*!
     * Makes a decoder.
     *
     * \param frame_size information bits per frame, which set_frame_size() changes
     * \param constraint_length K, 3 to 9; if none is given 7
     * \param polynomials 2 to 6 generator polynomials, octal as in the standards; those
     *        of gr-fec are converted by polynomials_from_gr_fec(); if none are given 171
     *        and 133
     * \param puncturing one string of 0 and 1 per output, comma separated; "" for none
     * \param termination "terminated", which it is if not given, "truncated" or
     *        "tailbiting"
     * \param soft_scale int8 steps for one unit of float amplitude
     * \param backend "auto", "cuda" or "cpu"
     * \param device index of the CUDA device
     * \param preset a code of conv_presets() by its name, in place of the four
     *        parameters after \p frame_size, of which none must be given then; that of a
     *        stream is decoded in terminated frames; "": none
     * \param positive_bit the bit, 0 or 1, that a positive value means
     * \throws std::invalid_argument naming the parameter, its value and what is allowed
     * \throws std::runtime_error if \p backend is "cuda" and the device cannot be used
     */
    static sptr make(int frame_size = 2048,
                     std::optional<int> constraint_length = std::nullopt,
                     const std::optional<std::vector<int>>& polynomials = std::nullopt,
                     const std::optional<std::string>& puncturing = std::nullopt,
                     const std::optional<std::string>& termination = std::nullopt,
                     float soft_scale = 32.0f,
                     const std::string& backend = "cpu",
                     int device = 0,
                     const std::string& preset = "",
                     int positive_bit = 1);

    //! "cuda" or "cpu": what has decoded.
    virtual std::string active_backend() const = 0;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_FEC_VITERBI_DECODER_H */
