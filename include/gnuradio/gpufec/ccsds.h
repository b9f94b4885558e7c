// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Decoding of CCSDS telemetry and telecommands, from bits or soft values to transfer
 * frames, without GNU Radio. */

#ifndef INCLUDED_GPUFEC_CCSDS_H
#define INCLUDED_GPUFEC_CCSDS_H

#include <gnuradio/gpufec/api.h>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gr::gpufec {

namespace framing {
class frame_receiver;
}

//! LDPC code of CCSDS 131.0-B, section 7, whose codewords are frames with a marker.
struct ccsds_ldpc_code {
    std::string name; //!< name in ccsds_framing::code, such as "c2" or "ar4ja-1024-1/2"
    //! parameters of ldpc_code::standard()
    std::string standard, frame_size, rate;
    unsigned sent_bits;    //!< number of sent bits of a codeword, without marker
    unsigned message_bits; //!< number of bits of a transfer frame
};

//! Returns the LDPC codes of CCSDS.
GPUFEC_API const std::vector<ccsds_ldpc_code>& ccsds_ldpc_codes();

//! Code of telecommands (CCSDS 231.0-B). Its codewords are sent in a CLTU (communications
//! link transmission unit): a start sequence, codewords, and a tail sequence.
struct ccsds_telecommand_code {
    //! name in ccsds_framing::code: "tc-bch" (BCH (63,56), which corrects one wrong bit
    //! per codeword), "tc-bch-detect" (the same code, but errors are only detected),
    //! "tc-ldpc-128" or "tc-ldpc-512"
    std::string name;
    bool ldpc;              //!< whether it is an LDPC code, which needs soft values
    unsigned codeword_bits; //!< number of sent bits per codeword
    unsigned message_bits;
};

//! Returns the codes of telecommands.
GPUFEC_API const std::vector<ccsds_telecommand_code>& ccsds_telecommand_codes();

//! Returns the telecommand code of that name; null if there is none.
GPUFEC_API const ccsds_telecommand_code*
find_ccsds_telecommand_code(const std::string& name);

/*!
 * \brief Returns the CLTU of a transfer frame or of several, as packed bits.
 *
 * The last codeword is filled with alternating bits that begin with 0. The acquisition
 * and idle sequences, which are alternating bits too, are not included. The tail sequence
 * of "tc-ldpc-128" is that of CCSDS 231.0-B-4, corrigendum 1; "tc-ldpc-512" has none.
 * \param frame, bytes the frames, 1 to 16384 bytes
 * \param code name of a telecommand code
 * \param randomiser "none" or "short". With LDPC codes, each codeword is randomised, as
 *    the standard requires. With the BCH code, the frames are randomised, which the
 *    standard leaves optional
 * \throws std::invalid_argument naming the parameter, its value and what is allowed
 */
GPUFEC_API std::vector<std::uint8_t>
ccsds_encode_cltu(const std::uint8_t* frame,
                  std::size_t bytes,
                  const std::string& code = "tc-bch",
                  const std::string& randomiser = "short");

//! Returns the names that ccsds_framing::code may have: "none", those of Reed-Solomon,
//! those of ccsds_ldpc_codes() and those of ccsds_telecommand_codes().
GPUFEC_API std::vector<std::string> ccsds_codes();

//! Format of a stream of telemetry frames (CCSDS 131.0-B) or of telecommands (CCSDS
//! 231.0-B).
struct ccsds_framing {
    //! code of the frame: "none"; a Reed-Solomon code "ccsds-223", "ccsds-239" or, in the
    //! conventional basis, "ccsds-223-conventional", "ccsds-239-conventional"; or an LDPC
    //! code "c2" or "ar4ja-1024-1/2" and so on; or a telecommand code, "tc-bch",
    //! "tc-bch-detect", "tc-ldpc-128" or "tc-ldpc-512"
    std::string code = "ccsds-223";
    //! number of Reed-Solomon codewords per frame, 1 to 8
    unsigned interleaving = 1;
    //! length of a transfer frame in bytes, 1 to 16384; 0: the longest of the code. With
    //! Reed-Solomon it is a multiple of \c interleaving, and shorter frames have a
    //! virtual fill. With telecommand codes, the largest number of bytes of the frames of
    //! a CLTU; 0: 16384
    unsigned frame_bytes = 0;
    //! "none", "short" (period of 255 bits) or, not with telecommand codes, "long"
    //! (131,071 bits)
    std::string randomiser = "short";
    //! ambiguity that the marker resolves besides the sign of all bits: none with "bpsk",
    //! rotation and exchange of I and Q with "qpsk", and with "oqpsk" also I and Q of a
    //! pair in consecutive symbols
    std::string constellation = "bpsk";
    //! whether the bits before this stage were sent as changes of the level (NRZ-M)
    bool differential = false;
    //! probability of a false lock per frame length of random bits; with telecommand
    //! codes, of a false start sequence per random bit
    double false_alarm = 1e-6;
    //! largest number of successive frames without a marker that are kept while locked
    unsigned flywheel = 2;
    //! whether frames that could not be decoded, and frames without code whose marker is
    //! missing, are dropped; LDPC codewords are never dropped
    bool drop_failed = true;
    //! the bit, 0 or 1, that a positive soft value means
    unsigned positive_bit = 1;
    //! with LDPC codes of telecommands: steps per nat of the soft values, above 0
    float llr_scale = 2;
    //! with LDPC codes of telecommands: largest number of iterations, 1 to 1000
    unsigned max_iterations = 25;
};

//! A frame and how it was found.
struct ccsds_frame {
    //! the transfer frame, or the content of a CLTU; with an LDPC code of telemetry empty
    std::vector<std::uint8_t> bytes;
    //! with an LDPC code of telemetry, the soft values of the codeword in the sign of the
    //! input, with right polarity and without the randomiser
    std::vector<std::int8_t> soft;
    //! index of the first bit or soft value of the marker in the input
    std::uint64_t position = 0;
    //! false if the frame could not be decoded or, without Reed-Solomon, if its marker is
    //! missing
    bool good = false;
    bool marker_found = false; //!< whether the marker has a tolerated number of errors
    //! correlation of the received marker with the expected one, 0 to 1. For bits it is 1
    //! − 2 e / n, where e of n bits are wrong. For soft values v it is Σ s·v / √(n·Σ v²),
    //! where s are the signs of the marker
    double marker_correlation = 0;
    bool inverted = false; //!< whether all bits were inverted
    //! index of the orientation of the symbols: 0 as received; 1: rotated by 90 degrees;
    //! 2: second bit of each pair inverted; 3: bits of each pair exchanged; 4 and 5: as 1
    //! and 3 with pairs from consecutive symbols
    unsigned orientation = 0;
    //! corrected symbols per codeword, −1 for a codeword that could not be corrected;
    //! empty without Reed-Solomon. With telecommand codes, corrected bits per codeword
    std::vector<int> corrected;
    //! index of the first bit or soft value after the frame or after the last codeword
    std::uint64_t end = 0;
    //! with telecommand codes, whether a tail sequence follows the last codeword
    bool tail_found = false;
};

//! Counts since the beginning of the stream.
struct ccsds_counts {
    std::uint64_t frames = 0;      //!< good frames
    std::uint64_t failed = 0;      //!< frames that are not good
    std::uint64_t corrected = 0;   //!< symbols that Reed-Solomon corrected in good
                                   //!< frames; bits of telecommands
    std::uint64_t missed = 0;      //!< frames whose marker was missing
    std::uint64_t locks = 0;       //!< searches that ended with a frame
    std::uint64_t losses = 0;      //!< locks that were lost
    std::uint64_t slips = 0;       //!< frames found elsewhere than expected, while locked
    std::uint64_t unconfirmed = 0; //!< markers in a search that began no frame
    std::uint64_t cut = 0;         //!< incomplete frames at the end of the stream
};

/*!
 * \brief Finds the frames of a stream by their markers, and decodes them.
 *
 * The bits after the marker are derandomised and decoded by Reed-Solomon. Bits come from
 * a Viterbi decoder or a slicer, soft values from a demodulator.
 *
 * The marker is that of CCSDS 131.0-B, 9.3: 034776C7272895B0 (hexadecimal, 64 bits) with
 * the AR4JA codes, and 1ACFFC1D (32 bits) with all others. The numbers of errors that are
 * tolerated in it follow from \c false_alarm: docs/reference/ccsds.md has the formula.
 *
 * With a telecommand code a frame is the content of a CLTU. It begins with a start
 * sequence in either polarity, EB90 (16 bits) with the BCH code and 034776C7272895B0
 * with LDPC codes, and ends before the first codeword that cannot be decoded. The tail
 * sequence is such a codeword. A start sequence that no codeword follows is counted as
 * unconfirmed. The content includes the fill of the last codeword.
 */
class GPUFEC_API ccsds_frame_finder
{
public:
    //! \param framing the format
    //! \param soft_input whether the input is soft values; otherwise, packed bits
    //! \param variant instruction set; "": the best of this processor
    //! \param threads threads that decode Reed-Solomon while the frames are tracked, 1 to
    //!        256, the caller's included. Their number does not change the frames
    //! \throws std::invalid_argument naming the parameter, its value and what is allowed
    ccsds_frame_finder(const ccsds_framing& framing,
                       bool soft_input,
                       const std::string& variant = "",
                       unsigned threads = 1);
    ~ccsds_frame_finder();

    //! Returns the number of bytes of a transfer frame or, with an LDPC code of
    //! telemetry, of soft values of a codeword; with telecommand codes, the number of
    //! message bytes per codeword.
    std::size_t frame_items() const;
    //! Returns whether frames have soft values in place of bytes (LDPC codes
    //! of telemetry).
    bool soft_output() const;
    //! Returns the number of bits of a marker or start sequence.
    unsigned marker_bits() const;
    //! Returns the number of bits from one marker to the next; with telecommand codes, of
    //! a codeword.
    std::size_t period() const;
    //! Returns the numbers of errors that are tolerated in a marker, in a search and
    //! while locked; with telecommand codes, in a start and in a tail sequence.
    unsigned search_errors() const;
    unsigned track_errors() const;

    //! Accepts \p count bytes of packed bits.
    void push(const std::uint8_t* bytes, std::size_t count);
    //! Accepts \p count soft values. −128 counts as −127, and 0 as an erasure.
    void push(const std::int8_t* values, std::size_t count);
    //! Returns the number of items that push() processes at a time. Frames can be pulled
    //! before more items are pushed.
    std::size_t piece() const;
    //! Ends the stream and decodes its last frames.
    void finish();
    //! Moves the next frame to \p frame. Returns whether there was one.
    bool pull(ccsds_frame& frame);
    /*!
     * \brief Returns the next frame without moving it, or null if there is none.
     *
     * The frame is valid until the next call of push(), finish() or reset().
     * \param items receives where the bytes or soft values of the frame are: in the frame
     *        or in the memory of set_output(). In the latter case the frame's own
     *        \c bytes are undefined
     */
    const ccsds_frame* next(const std::uint8_t*& items);
    /*!
     * \brief Sets memory in which the next call of push() may store bytes of frames.
     *
     * The caller pulls the frames of that call by next() and copies them to \p to, one
     * after the other, as many as fit. The bytes of a frame may already be at this place,
     * and are never before it. All earlier frames must have been pulled.
     */
    void set_output(std::uint8_t* to, std::size_t capacity);
    //! Returns the index in the input of the first bit that later frames may contain.
    std::uint64_t needed() const;
    //! Begins a new stream.
    void reset();

    bool locked() const;
    ccsds_counts counts() const;
    //! Returns a diagnosis of parameters that do not fit the input, which names the
    //! parameter to change; "" if there is none.
    std::string verdict() const;

private:
    std::unique_ptr<framing::frame_receiver> d_receiver;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_CCSDS_H */
