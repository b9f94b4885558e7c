// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#ifndef INCLUDED_GPUFEC_BCH_DECODER_H
#define INCLUDED_GPUFEC_BCH_DECODER_H

#include <gnuradio/block.h>
#include <gnuradio/gpufec/api.h>
#include <cstdint>
#include <string>

namespace gr::gpufec {

/*!
 * \brief Decoder of the BCH codes of DVB-S2, DVB-S2X and DVB-T2, on the CPU.
 * \ingroup gpufec
 *
 * \details
 * The input is the N_bch bits of each frame, which are the messages that gpu_ldpc_dvbs2
 * gives: eight per byte, the first of which is the most significant, or one. The output
 * is the K_bch bits of its BBFRAME, likewise, padded to a byte. Up to 8, 10 or 12 wrong
 * bits are corrected, as the code has it. A frame with more of them that is not by chance
 * near another codeword leaves as it came. A frame that is not complete when the input
 * ends is dropped.
 *
 * Tags on the input go to the output item that holds their bit. The block adds, on the
 * first output item of each frame, or as \p status_tags says:
 *  - \c bch_errors (long): bits that were corrected, parity bits included; −1 if they
 *    could not be,
 *  - \c bch_valid (bool): whether the frame is a codeword now.
 */
class GPUFEC_API bch_decoder : virtual public gr::block
{
public:
    typedef std::shared_ptr<bch_decoder> sptr;

    /*!
     * Makes a decoder.
     *
     * \param standard "dvbs2", "dvbs2x" or "dvbt2"
     * \param frame_size "normal" or "short"; of dvbs2x also "vl-snr normal", "vl-snr
     *        medium", "vl-snr short" and "vl-snr short sf2"
     * \param rate of the LDPC code before it, as gpu_ldpc_dvbs2 has them
     * \param packed_input eight bits per byte, first bit most significant, else one
     * \param packed_output the same of the output
     * \param status_tags of which frames tags say what became of them: "all", those that
     *        are not valid ("failures"), or "none"
     * \throws std::invalid_argument naming the parameter, its value and what is allowed
     */
    static sptr make(const std::string& standard = "dvbs2",
                     const std::string& frame_size = "normal",
                     const std::string& rate = "1/2",
                     bool packed_input = true,
                     bool packed_output = true,
                     const std::string& status_tags = "all");

    //! Frames so far.
    virtual std::uint64_t frame_count() const = 0;
    //! Frames that could not be corrected.
    virtual std::uint64_t error_count() const = 0;
    //! Bits that were corrected.
    virtual std::uint64_t corrected_bits() const = 0;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BCH_DECODER_H */
