// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* BBFRAMEs from LDPC messages: BCH decoding, descrambling, output in chunks. */

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

//! Decodes one BBFRAME at a time and returns it in chunks.
class bbframe_output
{
public:
    //! \param names of codes of \p standard, such as "normal 1/2"
    bbframe_output(const std::string& standard,
                   const std::vector<std::string>& names,
                   bool packed,
                   bool descramble);

    //! Returns the buffer for the packed message of an LDPC codeword, as long as that of
    //! the longest code.
    std::vector<std::uint8_t>& message() { return d_message; }
    //! Decodes message(), a codeword of the BCH code with index \p code.
    void decode(unsigned code);
    //! Returns the bits corrected in that message; a negative value if decoding failed.
    int errors() const { return d_errors; }
    //! Returns the bits of a BBFRAME of a code.
    std::size_t bits(unsigned code) const { return d_codes[code].k(); }

    std::size_t pull(std::uint8_t* out, std::size_t capacity);
    bool all_emitted() const { return d_emitted == d_items; }
    //! Discards the frame, before another stream.
    void restart() { d_emitted = d_items = 0; }

private:
    const bch_decoder_kernel& decoder(unsigned code);

    std::vector<bch_code> d_codes;
    bool d_packed;
    std::vector<std::uint8_t> d_scrambling;            // empty: none
    std::map<unsigned, bch_decoder_kernel> d_decoders; // of the codes used so far
    std::vector<std::uint8_t> d_message;
    int d_errors = 0;
    std::size_t d_items = 0, d_emitted = 0; // output items of the frame
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BBFRAME_BBFRAME_OUTPUT_H */
