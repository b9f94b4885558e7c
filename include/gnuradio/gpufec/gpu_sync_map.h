// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#ifndef INCLUDED_GPUFEC_GPU_SYNC_MAP_H
#define INCLUDED_GPUFEC_GPU_SYNC_MAP_H

#include <gnuradio/block.h>
#include <gnuradio/gpufec/api.h>
#include <cstdint>
#include <string>
#include <vector>

namespace gr::gpufec {

/*!
 * \brief Decodes codes for channels that insert, delete and flip bits, on a GPU or the
 * CPU. \ingroup gpufec
 *
 * \details
 * This is the maximum a-posteriori decoder of J. A. Briffa, "Graphics processing
 * unit implementation and optimisation of a flexible maximum a-posteriori decoder for
 * synchronisation correction" (2014), by default in a form that is exact and faster. It
 * finds what was sent although bits are missing and others were never sent, as after the
 * bit slips of a clock recovery.
 *
 * The input is what was received: one bit per byte (another value than 0 and 1 is an
 * erasure), or floats, the probability that a 1 was sent (NaN is an erasure). With a
 * larger \p alphabet, channel symbols of 0 to alphabet − 1 take the place of bits; or
 * items are vectors of \p alphabet floats, the likelihoods L[b] that each symbol b was
 * received, as of a sequencer's quality scores. They are 0 or more (less counts as 0),
 * the largest of an item 1e-30 to 1e30; a factor that all of an item have does not
 * matter. An item of zeros alone, or with a NaN or an infinity, is an erasure.
 *  - mode "framed": each frame is the items under a tag of key \p length_tag on its first
 *    one. Items under no tag are dropped, and so are tags without a length of at least 1,
 *    with one warning. A tag inside a frame ends that frame there, as does the end of the
 *    input. With \p frame_items each frame is so many items, and length tags are tags
 *    like others.
 *  - mode "stream": frames follow one another without a mark, and are found.
 *
 * The second input may be connected in framed mode. It takes N·q floats per frame, the
 * weights of its symbols beforehand. Frames whose weights do not come before that input
 * ends are decoded without.
 *
 * The output has N symbols per frame. "symbols" gives the most likely ones, as bytes up
 * to q = 256, else shorts. "posteriors" gives q floats per symbol, and "extrinsics" the
 * same without the part of the second input. "llr" gives log2 q signed bytes per symbol:
 * the LLRs of its bits without the part of the second input, the most significant bit
 * first, 8 steps per nat; \b positive \b means \b bit \b 0, unless \p positive_bit is 1.
 *
 * Tags on the first output item of each frame, or as \p status_tags says:
 *  - \c sync_drift (long): items received less items sent, most likely, of the frame,
 *  - \c sync_logp (double): natural logarithm of the probability of what was received; in
 *    a stream less that of as many random items,
 *  - \c sync_valid (bool): false if the frame cannot be decoded, because its length lies
 *    outside the limits or no message explains it: symbols are 0, posteriors uniform,
 *  - \c sync_lock (bool, stream mode): whether the decoder follows the frames,
 *  - \c sync_bound (double, stream mode with \p bounds): where the frame begins is known
 * so well that no posterior of it is off by more, and what lies behind the frame before
 * so well that none of that one is; 1 where items were lost or inserted,
 *  - key \p length_tag (long): output items of the frame, of every one, unless \p
 *    frame_items is given.
 * Other tags go to the first output item of the symbol they came with.
 */
class GPUFEC_API gpu_sync_map : virtual public gr::block
{
public:
    typedef std::shared_ptr<gpu_sync_map> sptr;

    /*!
     * Makes a decoder.
     *
     * \param codebook N·q rows of n bits, row i·q + D for symbol D at index i, the
     *        leftmost bit sent first
     * \param q symbols to choose from, 2 to 65536
     * \param n bits per symbol
     * \param frame_symbols N, symbols per frame
     * \param p_insert probability of an insertion before a bit, 0 to 0.99
     * \param p_delete probability that a bit is dropped; p_insert + p_delete is below 1
     * \param p_substitute probability that a bit passed on is flipped, 0 to 1
     * \param mode "framed" or "stream"
     * \param length_tag key of the tags with a frame's length; may be "" in stream mode
     * \param soft_input "hard" or "float": likelihoods with an alphabet above 2, which
     *        form "corridor" takes on the CPU only
     * \param output "symbols", "posteriors", "extrinsics" or "llr" (q a power of two)
     * \param precision "float", "double" or "mixed"
     * \param storage of form "corridor": "auto", "global" or "local"
     * \param batch frames decoded at once; 0: chosen from the device
     * \param slots batches in flight, 1 to 16
     * \param max_latency_ms a batch that does not fill within this time goes as it is
     * \param backend "auto", "cuda" or "cpu"
     * \param device index of the CUDA device
     * \param threads of the CPU backend, 1 to 256
     * \param form "linear" (exact), or "corridor": the decoder of the paper
     * \param exclusion probability of the drifts that are not considered, 1e-15 to below
     *        1
     * \param mn_min of form "corridor", least drift change of a symbol, −n to 0
     * \param mn_max of form "corridor", largest; both 0: from the exclusion
     * \param lookahead of mode "stream", symbols beyond a frame that it is decoded with;
     *        0: chosen
     * \param acquire of mode "stream", the first frame begins at any of so many items; 0:
     *        at the first
     * \param alphabet channel symbols to choose from, 2 to 16
     * \param receiver of form "corridor": "corridor", "lattice" (all of it) or "trellis"
     *        (a cap on insertions); other than corridor on the CPU only
     * \param insertion_cap of receiver "trellis", the most insertions before a bit
     * \param state_threshold of form "corridor", boundary metrics below this part of the
     *        largest count as 0; 0 to below 1, above 0 on the CPU only
     * \param lattice_threshold of form "corridor", lattice values below this part of
     *        their row's largest count as 0; 0 to below 1, above 0 on the CPU only
     * \param start_first of mode "framed", the drift of start_prior's first entry
     * \param start_prior weights of the drifts start_first, start_first + 1, … with
     *        which a frame begins; drift m means at its item m. Empty: start_first for
     *        certain
     * \param end_first of mode "framed", the drift of end_prior's first entry
     * \param end_prior weights of the drifts end_first, end_first + 1, … with which a
     *        frame ends; drift m means n·N + m items after its first. Empty: with its
     *        last item
     * \param devices CUDA devices, up to 16, that take batches in turn, instead of
     *        \p device; empty: that one alone
     * \param positive_bit the bit, 0 or 1, that a positive LLR of output "llr" means
     * \param device_timeout_ms milliseconds that a device has for a batch, once those
     *        before it are finished, before it is given up, up to 1e9; 0: for ever
     * \param bounds of mode "stream", give \c sync_bound
     * \param status_tags of which frames tags say what became of them: "all", those that
     *        are not valid ("failures"), or "none"
     * \param frame_items of mode "framed", received items of every frame, one frame after
     *        the other without tags; \p end_prior says where they may end. 0: \p
     *        length_tag marks frames
     * \throws std::invalid_argument naming the parameter, its value and what is allowed
     * \throws std::runtime_error if \p backend is "cuda" and the device cannot be used
     */
    static sptr make(const std::vector<std::uint8_t>& codebook,
                     int q = 32,
                     int n = 10,
                     int frame_symbols = 210,
                     double p_insert = 1e-3,
                     double p_delete = 1e-3,
                     double p_substitute = 0.0,
                     const std::string& mode = "framed",
                     const std::string& length_tag = "packet_len",
                     const std::string& soft_input = "hard",
                     const std::string& output = "symbols",
                     const std::string& precision = "float",
                     const std::string& storage = "auto",
                     int batch = 0,
                     int slots = 3,
                     double max_latency_ms = 50,
                     const std::string& backend = "auto",
                     int device = 0,
                     int threads = 1,
                     const std::string& form = "linear",
                     double exclusion = 1e-10,
                     int mn_min = 0,
                     int mn_max = 0,
                     int lookahead = 0,
                     int acquire = 0,
                     int alphabet = 2,
                     const std::string& receiver = "corridor",
                     int insertion_cap = 2,
                     double state_threshold = 0.0,
                     double lattice_threshold = 0.0,
                     int start_first = 0,
                     const std::vector<double>& start_prior = {},
                     int end_first = 0,
                     const std::vector<double>& end_prior = {},
                     const std::vector<int>& devices = {},
                     int positive_bit = 0,
                     double device_timeout_ms = 10000,
                     bool bounds = false,
                     const std::string& status_tags = "all",
                     int frame_items = 0);

    //! "cuda" or "cpu": what decodes now.
    virtual std::string active_backend() const = 0;
    //! Frames per batch, as chosen.
    virtual int batch() const = 0;
    //! Mode "stream": frames so far that did not begin with what the one before ended
    //! with.
    virtual std::uint64_t links_failed() const = 0;
    //! Mode "stream": frames so far that were decoded again because of that.
    virtual std::uint64_t frames_again() const = 0;

    //! Takes effect with one of the next frames. \throws std::invalid_argument
    virtual void set_p_insert(double p_insert) = 0;
    //! Takes effect with one of the next frames. \throws std::invalid_argument
    virtual void set_p_delete(double p_delete) = 0;
    //! Takes effect with one of the next frames. \throws std::invalid_argument
    virtual void set_p_substitute(double p_substitute) = 0;
    //! A batch that does not fill within this time goes as it is.
    //! \throws std::invalid_argument
    virtual void set_max_latency_ms(double max_latency_ms) = 0;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_GPU_SYNC_MAP_H */
