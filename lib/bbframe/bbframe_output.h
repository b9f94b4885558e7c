// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* What an LDPC decoder gives, on its way through BCH to the output. */

#ifndef INCLUDED_GPUFEC_BLOCKS_BBFRAME_OUTPUT_H
#define INCLUDED_GPUFEC_BLOCKS_BBFRAME_OUTPUT_H

#include <gnuradio/gpufec/bch.h>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace gr::gpufec {

//! Whether the LDPC codes of a frame size have BCH codes around them.
bool has_bch(const std::string& standard, const std::string& frame_size);

//! One BBFRAME after the other, which leaves in pieces.
class bbframe_output
{
public:
    //! \p names of codes of \p standard, as "normal 1/2"
    bbframe_output(const std::string& standard,
                   const std::vector<std::string>& names,
                   bool packed,
                   bool descramble);

    //! Where a message goes, packed; there is room for any.
    std::vector<std::uint8_t>& message() { return d_message; }
    //! The message is there, of the code of an index.
    void decode(unsigned code);
    //! Bits of that message that were corrected; negative if they could not be.
    int errors() const { return d_errors; }
    //! Bits of a BBFRAME of a code.
    std::size_t bits(unsigned code) const { return d_codes[code].k(); }

    std::size_t pull(std::uint8_t* out, std::size_t room);
    bool all_given() const { return d_given == d_items; }
    //! Another stream begins.
    void restart() { d_given = d_items = 0; }

private:
    const bch_decoder_kernel& decoder(unsigned code);

    std::vector<bch_code> d_codes;
    bool d_packed;
    std::vector<std::uint8_t> d_scrambling;            // empty: none
    std::map<unsigned, bch_decoder_kernel> d_decoders; // of the codes met so far
    std::vector<std::uint8_t> d_message;
    int d_errors = 0;
    std::size_t d_items = 0, d_given = 0; // of the frame
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_BBFRAME_OUTPUT_H */
