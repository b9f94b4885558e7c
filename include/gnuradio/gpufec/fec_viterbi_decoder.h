// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The Viterbi decoder as a decoder object for the blocks of gr-fec. */

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
 * One call decodes one frame and returns once it is decoded, so it is as convenient as
 * gr-fec's own decoders but cannot use batches. For high rates, use gpu_viterbi_pbvd. The
 * input is floats, the output one bit per byte. The length of frames can change, as that
 * of packets does. With a punctured code gr-fec does not compute lengths exactly, so
 * frames should end with a puncturing period.
 *
 * set_frame_size() accepts 1 (tail-biting frames: K−1) to 2^24 information bits. If
 * rate() was called since the previous frame, the caller has derived the size from a
 * number of values. Then the size may be 0 for a code with a tail, it includes the tail
 * unless get_input_size() was called too, and after a refusal the next rate() makes it 0
 * bits. After a refusal generic_work() reads and writes nothing, until a size is accepted
 * or both size functions were called.
 */
class GPUFEC_API fec_viterbi_decoder : virtual public gr::fec::generic_decoder
{
public:
    typedef std::shared_ptr<fec_viterbi_decoder> sptr;

    /*!
     * Makes a decoder.
     *
     * \param frame_size information bits per frame, which set_frame_size() changes
     * \param constraint_length K, 3 to 9; default 7
     * \param polynomials 2 to 6 generator polynomials, octal as in the standards;
     *        polynomials_from_gr_fec() converts those of gr-fec; default 171 and 133
     * \param puncturing one string of 0 and 1 per output, comma separated; "" for none
     * \param termination "terminated" (default), "truncated" or "tailbiting"
     * \param soft_scale int8 steps for one unit of float amplitude
     * \param backend "auto", "cuda" or "cpu"
     * \param device index of the CUDA device
     * \param preset name of a code of conv_presets(), in place of the four parameters
     *        after \p frame_size, which must not be given then; a streaming preset is
     *        decoded in terminated frames; "": none
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

    //! Returns the backend that has decoded, "cuda" or "cpu".
    virtual std::string active_backend() const = 0;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_FEC_VITERBI_DECODER_H */
