// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Converts LDPC messages to BBFRAMEs: BCH decoding, descrambling, and output in chunks.
 * */

#ifndef INCLUDED_GPUFEC_BBFRAME_BBFRAME_OUTPUT_H
#define INCLUDED_GPUFEC_BBFRAME_BBFRAME_OUTPUT_H

#include <gnuradio/gpufec/bch.h>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace gr::gpufec {

//! Returns whether the LDPC codes of a frame size have outer BCH codes.
bool has_bch(const std::string& standard, const std::string& frame_size);

//! Decoder of one BBFRAME at a time. The output is pulled in chunks.
class bbframe_output
{
public:
    //! \param standard name of a standard, see bch_code::standards()
    //! \param names LDPC codes of the standard by frame size and rate, for example
    //!        "normal 1/2"
    //! \param packed whether pull() writes packed bits instead of one bit per byte
    //! \param descramble whether decode() also descrambles the frame
    bbframe_output(const std::string& standard,
                   const std::vector<std::string>& names,
                   bool packed,
                   bool descramble);

    //! Returns the buffer for the packed message of an LDPC codeword. The buffer fits the
    //! longest message of all codes.
    std::vector<std::uint8_t>& message() { return d_message; }
    //! Decodes the contents of message() with the BCH code of element \p code of the
    //! constructor's names. If \c descramble was set, also descrambles the frame. A
    //! codeword with too many errors is output without
    //! correction.
    void decode(unsigned code);
    //! Returns the number of bits that decode() corrected; negative if decoding failed.
    int errors() const { return d_errors; }
    //! Returns the size in bits of a BBFRAME of the code with index \p code.
    std::size_t bits(unsigned code) const { return d_codes[code].k(); }

    //! Writes up to \p capacity further bytes of the decoded frame to \p out, with one or
    //! eight bits each. Returns the number of bytes written.
    std::size_t pull(std::uint8_t* out, std::size_t capacity);
    bool all_emitted() const { return d_emitted == d_items; }
    //! Discards the remaining bytes of the frame, so that another stream can begin.
    void restart() { d_emitted = d_items = 0; }

private:
    const bch_decoder_kernel& decoder(unsigned code);

    std::vector<bch_code> d_codes;
    bool d_packed;
    std::vector<std::uint8_t> d_scrambling; // empty if frames are not descrambled
    // BCH decoders by index in d_codes, each constructed on first use.
    std::map<unsigned, bch_decoder_kernel> d_decoders;
    std::vector<std::uint8_t> d_message;
    int d_errors = 0;
    // Number of output bytes of the frame, and number of those already pulled.
    std::size_t d_items = 0, d_emitted = 0;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BBFRAME_BBFRAME_OUTPUT_H */
