// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#ifndef INCLUDED_GPUFEC_DVBS2_FEC_RECEIVER_H
#define INCLUDED_GPUFEC_DVBS2_FEC_RECEIVER_H

#include <gnuradio/gpufec/api.h>
#include <gnuradio/hier_block2.h>
#include <cstdint>
#include <string>

namespace gr::gpufec {

/*!
 * \brief From the symbols of DVB-S2 or DVB-S2X to their transport stream: all that comes
 * behind synchronisation. \ingroup gpufec
 *
 * \details
 * A gpu_ldpc_dvbs2, which demaps, and decodes LDPC and BCH, and a bbframe_to_ts. What
 * they say of input, output, tags and messages holds here. The input is the symbols of
 * XFECFRAMEs, descrambled and without pilots, in any amplitude. The output is packets of
 * 188 bytes.
 *
 * The MODCODs are those of DVB-S2 (ETSI EN 302 307-1, table 12) or, with \p standard
 * "dvbs2x", of DVB-S2X too (EN 302 307-2, table 17a), in normal and short frames, but
 * for VL-SNR.
 *
 * With \p acm each frame's MODCOD is the one of the last \c XFECFRAME tag, as gr-dvbs2rx
 * sets it, or of an \c ldpc_code tag, which can also name those of DVB-S2X: a dictionary
 * of \c frame_size, \c rate and \c constellation. \p frame_size, \p rate and
 * \p constellation are of the frames before the first of them.
 *
 * The message ports are \c status, of both blocks, and \c generic, with BBFRAMEs of
 * generic streams.
 */
class GPUFEC_API dvbs2_fec_receiver : virtual public gr::hier_block2
{
public:
    typedef std::shared_ptr<dvbs2_fec_receiver> sptr;

    /*!
     * Makes a receiver.
     *
     * \param frame_size "normal" or "short"
     * \param rate "1/4" to "9/10"; of dvbs2x also its own, as "90/180"
     * \param constellation "qpsk", "8psk", "16apsk" or "32apsk"; of dvbs2x "8apsk",
     *        "64apsk", "128apsk" and "256apsk" too
     * \param soft_input "symbols" (complex), "symbols16" or "symbols8" (items of two
     *        int16 or int8, in any scale)
     * \param acm frames name their MODCODs by tags
     * \param isi of several input streams the one that is wanted, 0 to 255; −1: all
     * \param max_iterations of LDPC, 1 to 1000
     * \param esn0 "estimated" from each frame, "given", or from "tag"s with the key
     *        esn0_db (double), each for the frames that begin from there on
     * \param esn0_db in dB, −10 to 30, given, or up to the first tag
     * \param demapper "log_map" (all points count) or "max_log" (the nearest do)
     * \param batch frames decoded at once; 0: chosen from the device
     * \param slots batches in flight, 1 to 16
     * \param max_latency_ms a batch that does not fill within this time goes as it is
     * \param backend "auto", "cuda" or "cpu"
     * \param device index of the CUDA device
     * \param threads of the CPU backend, 1 to 256
     * \param standard "dvbs2" (EN 302 307-1), or "dvbs2x" (EN 302 307-2), which has all
     *        that dvbs2 has
     * \throws std::invalid_argument naming the parameter, its value and what is allowed
     * \throws std::runtime_error if \p backend is "cuda" and the device cannot be used
     */
    static sptr make(const std::string& frame_size = "normal",
                     const std::string& rate = "1/2",
                     const std::string& constellation = "qpsk",
                     const std::string& soft_input = "symbols",
                     bool acm = false,
                     int isi = -1,
                     int max_iterations = 25,
                     const std::string& esn0 = "estimated",
                     double esn0_db = 10.0,
                     const std::string& demapper = "log_map",
                     int batch = 0,
                     int slots = 3,
                     double max_latency_ms = 50,
                     const std::string& backend = "auto",
                     int device = 0,
                     int threads = 1,
                     const std::string& standard = "dvbs2");

    //! "cuda" or "cpu": what decodes now.
    virtual std::string active_backend() const = 0;
    //! Iterations of LDPC, their mean over the frames of the stream so far.
    virtual double mean_iterations() const = 0;
    //! Frames that were not decoded: of unknown MODCODs, or cut short by a tag.
    virtual std::uint64_t skipped_frame_count() const = 0;
    //! BBFRAMEs so far.
    virtual std::uint64_t frame_count() const = 0;
    //! BBFRAMEs dropped because of their header: not corrected, most often.
    virtual std::uint64_t dropped_frame_count() const = 0;
    //! Packets, null packets that were put in included.
    virtual std::uint64_t packet_count() const = 0;
    //! Packets whose CRC-8 is wrong.
    virtual std::uint64_t packet_error_count() const = 0;

    //! Of symbols whose Es/N0 is given, in dB, from the next frame on.
    //! \throws std::invalid_argument
    virtual void set_esn0_db(double esn0_db) = 0;
    //! A batch that does not fill within this time goes as it is.
    //! \throws std::invalid_argument
    virtual void set_max_latency_ms(double max_latency_ms) = 0;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_DVBS2_FEC_RECEIVER_H */
