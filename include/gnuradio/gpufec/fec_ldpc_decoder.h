// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The LDPC decoder as a decoder object for the blocks of gr-fec. */

#ifndef INCLUDED_GPUFEC_FEC_LDPC_DECODER_H
#define INCLUDED_GPUFEC_FEC_LDPC_DECODER_H

#include <gnuradio/fec/generic_decoder.h>
#include <gnuradio/gpufec/api.h>
#include <gnuradio/gpufec/backend.h>
#include <gnuradio/gpufec/ldpc.h>
#include <string>
#include <variant>
#include <vector>

namespace gr::gpufec {

//! Parameters of fec_ldpc_decoder, in Python's order. Values in quotes are those of
//! Python; enumerators have the same names, except automatic ("auto") and float32
//! ("float").
struct fec_ldpc_decoder_options {
    // Code
    //! standard of the code, as in gpu_ldpc_dvbs2
    std::string standard = "dvbs2";
    //! frame size of the code, as in gpu_ldpc_dvbs2
    std::string frame_size = "normal";
    //! rate of the code, as in gpu_ldpc_dvbs2, without MODCODs
    std::string rate = "1/2";
    //! an alist or base matrix file, whose code replaces \p standard, \p frame_size and
    //! \p rate; "" for none
    std::string code_file = "";

    // Advanced
    //! "offset_min_sum", "normalized_min_sum" or "min_sum"
    ldpc_algorithm algorithm = ldpc_algorithm::offset_min_sum;
    //! number format of the decoder: "int8", "int16" or "float"
    ldpc_precision precision = ldpc_precision::int8;

    // Running
    //! largest number of iterations, 1 to 1000
    int max_iterations = 25;
    //! "auto", "cuda" or "cpu"
    gpufec::backend backend = gpufec::backend::cpu;
    //! index of the CUDA device
    int device = 0;

    // Input
    //! the bit, 0 or 1, that a positive LLR means
    int positive_bit = 0;

    // Code
    //! positions of the message bits in the codeword of \p code_file: "systematic" (found
    //! by elimination), "first" or "last" (the first or last K bits),
    //! "gr_fec_ldpc_encoder" (as in gr-fec), or a list of the positions of all message
    //! bits, from 0
    std::variant<std::string, std::vector<int>> message_positions = "systematic";
};

/*!
 * \brief An LDPC decoder for the blocks of gr-fec: extended_decoder, decoder,
 * async_decoder and tagged_decoder.
 * \ingroup gpufec
 *
 * \details
 * A call of generic_work() decodes one frame and returns once it is decoded. Frames of
 * several calls do not share a batch, so for high rates use gpu_ldpc_dvbs2. The input is
 * LLRs in nats as floats, one for each bit that is sent. The output is the K message
 * bits, one per byte. set_frame_size() accepts multiples of K; with m·K, a call decodes m
 * codewords. Other sizes are refused as in fec_viterbi_decoder.
 */
class GPUFEC_API fec_ldpc_decoder : virtual public gr::fec::generic_decoder
{
public:
    typedef std::shared_ptr<fec_ldpc_decoder> sptr;

    //! Makes a decoder.
    //! \throws std::invalid_argument naming the parameter, its value and what is allowed
    //! \throws std::runtime_error if the backend is "cuda" and the device cannot be used
    static sptr make(const fec_ldpc_decoder_options& options = {});

    //! Returns the backend that decoded the last frame, "cuda" or "cpu".
    virtual std::string active_backend() const = 0;
    //! Returns the number of iterations of the last codeword, like get_iterations().
    virtual int iterations() const = 0;
    //! Returns the number of checks that the decided bits of the last codeword violate.
    virtual int unsatisfied() const = 0;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_FEC_LDPC_DECODER_H */
