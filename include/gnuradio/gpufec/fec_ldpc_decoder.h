// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#ifndef INCLUDED_GPUFEC_FEC_LDPC_DECODER_H
#define INCLUDED_GPUFEC_FEC_LDPC_DECODER_H

#include <gnuradio/fec/generic_decoder.h>
#include <gnuradio/gpufec/api.h>
#include <string>

namespace gr::gpufec {

/*!
 * \brief An LDPC decoder for the blocks of gr-fec: extended_decoder, decoder,
 * async_decoder and tagged_decoder.
 * \ingroup gpufec
 *
 * \details
 * One call decodes one frame, and returns once it is decoded. So it is as convenient as
 * gr-fec's own decoders, and no faster than one frame at a time can be: for rates, use
 * gpu_ldpc_dvbs2. Its input is floats (LLRs, in nats). Its output is
 * the K message bits, one per byte. The length of a frame is that of the code:
 * set_frame_size() of another says false.
 */
class GPUFEC_API fec_ldpc_decoder : virtual public gr::fec::generic_decoder
{
public:
    typedef std::shared_ptr<fec_ldpc_decoder> sptr;

    /*!
     * Makes a decoder.
     *
     * \param standard "dvbs2"
     * \param frame_size "normal" (64800 bits) or "short" (16200)
     * \param rate "1/4" and so on, as of gpu_ldpc_dvbs2
     * \param code_file an alist file, whose code takes the place of the three above; ""
     *        for none
     * \param algorithm "offset_min_sum", "normalized_min_sum" or "min_sum"
     * \param precision of the decoder: "int8", "int16" or "float"
     * \param max_iterations 1 to 1000
     * \param backend "auto", "cuda" or "cpu"
     * \param device index of the CUDA device
     * \param positive_bit the bit, 0 or 1, that a positive value means
     * \throws std::invalid_argument naming the parameter, its value and what is allowed
     * \throws std::runtime_error if \p backend is "cuda" and the device cannot be used
     */
    static sptr make(const std::string& standard = "dvbs2",
                     const std::string& frame_size = "normal",
                     const std::string& rate = "1/2",
                     const std::string& code_file = "",
                     const std::string& algorithm = "offset_min_sum",
                     const std::string& precision = "int8",
                     int max_iterations = 25,
                     const std::string& backend = "cpu",
                     int device = 0,
                     int positive_bit = 0);

    //! "cuda" or "cpu": what has decoded.
    virtual std::string active_backend() const = 0;
    //! Iterations that the last frame took.
    virtual int iterations() const = 0;
    //! Checks that the decisions on the last frame violate; 0: a codeword.
    virtual int unsatisfied() const = 0;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_FEC_LDPC_DECODER_H */
