// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The block that decodes codes for insertion/deletion channels. */

#ifndef INCLUDED_GPUFEC_GPU_SYNC_MAP_H
#define INCLUDED_GPUFEC_GPU_SYNC_MAP_H

#include <gnuradio/block.h>
#include <gnuradio/gpufec/api.h>
#include <gnuradio/gpufec/backend.h>
#include <gnuradio/gpufec/port_memory.h>
#include <gnuradio/gpufec/status_tags.h>
#include <gnuradio/gpufec/sync_map.h>
#include <cstdint>
#include <string>
#include <vector>

namespace gr::gpufec {

//! Input items of gpu_sync_map.
enum class sync_input {
    hard,   //!< received bits or channel symbols, one per byte
    float32 //!< probabilities or likelihoods as floats
};

//! Converts the name "hard" or "float" to an enumerator.
//! \throws std::invalid_argument for any other name
GPUFEC_API sync_input sync_input_from_string(const std::string& name);

//! Parameters of gpu_sync_map, in Python's order. Values in quotes are those of
//! Python; enumerators have the same names, except automatic ("auto"), float32 ("float")
//! and float64 ("double").
struct gpu_sync_map_options {
    // Code
    //! N·q rows of n bits; row i·q + D is the word for message symbol D at index i of a
    //! frame, and its leftmost bit is sent first
    std::vector<std::uint8_t> codebook;
    //! q, number of values of a message symbol, 2 to 65536
    int q = 32;
    //! n, number of bits per message symbol, 1 to 4096
    int n = 10;
    //! N, number of message symbols per frame
    int frame_symbols = 210;
    //! probability of an insertion before a bit, 0 to 0.99
    double p_insert = 1e-3;
    //! probability that a bit is deleted; p_insert + p_delete is below 1
    double p_delete = 1e-3;
    //! probability that a transmitted bit is flipped, 0 to 1
    double p_substitute = 0.0;

    // Input
    //! "framed" or "stream"
    sync_mode mode = sync_mode::framed;
    //! key of the tags with the number of items of a frame. The key can be empty in
    //! stream mode, or if \p frame_items is set
    std::string length_tag = "packet_len";
    //! "hard" or "float". The combination of "float", form "corridor" and an alphabet
    //! larger than 2 is decoded on the CPU only
    sync_input soft_input = sync_input::hard;

    // Output
    //! "symbols", "posteriors", "extrinsics" or "llr" (q a power of two)
    sync_output output = sync_output::symbols;

    // Advanced
    //! "float", "double" or "mixed" (lattices in float, everything else in double)
    sync_precision precision = sync_precision::float32;
    //! storage of branch metrics (form "corridor"): "global" stores those of a whole
    //! frame, "local" stores those of one message symbol and computes them twice, and
    //! "auto" is "global" if memory allows
    sync_storage storage = sync_storage::automatic;

    // Running
    //! number of frames per batch; 0: chosen for the device
    int batch = 0;
    //! number of batches in flight on each device, 1 to 16
    int slots = 3;
    //! longest time in ms that an incomplete batch waits for more input
    double max_latency_ms = 50;
    //! "auto", "cuda" or "cpu"
    gpufec::backend backend = gpufec::backend::automatic;
    //! index of the CUDA device
    int device = 0;
    //! number of threads of the CPU backend, 1 to 256
    int threads = 1;

    // Advanced
    //! "linear" (exact) or "corridor" (the decoder of Briffa's paper)
    sync_form form = sync_form::linear;
    //! largest probability of drifts outside the window of drifts that are considered,
    //! 1e-15 to below 1
    double exclusion = 1e-10;
    //! smallest drift change per message symbol, −n to 0 (form "corridor")
    int mn_min = 0;
    //! largest drift change per message symbol (form "corridor"). If mn_min and mn_max
    //! are 0, both are derived from the exclusion
    int mn_max = 0;
    //! look-ahead: number of message symbols after each frame that are decoded with it,
    //! up to 2^20; 0: chosen from the channel (stream mode)
    int lookahead = 0;

    // Input
    //! number of items at the start of the stream within which the first frame begins, up
    //! to 2^20; 0: the first frame begins at the first item (stream mode)
    int acquire = 0;

    // Code
    //! number of channel symbol values, 2 to 16; 2: the channel symbols are bits
    int alphabet = 2;

    // Advanced
    //! computation of branch metrics in form "corridor": "corridor" (a lattice within the
    //! limits of the drift change), "lattice" (the whole lattice) or "trellis" (a cap on
    //! insertions). "lattice" and "trellis" run on the CPU only
    sync_receiver receiver = sync_receiver::corridor;
    //! largest number of insertions before a bit (receiver "trellis")
    int insertion_cap = 2;
    //! fraction of the largest boundary metric, 0 to below 1; smaller metrics are set to
    //! 0 (form "corridor"). CUDA requires 0
    double state_threshold = 0.0;
    //! fraction of the largest lattice value of a row, 0 to below 1; smaller values of
    //! the row are set to 0 (form "corridor"). CUDA requires 0
    double lattice_threshold = 0.0;

    // Input
    //! drift to which the first entry of start_prior belongs (framed mode)
    int start_first = 0;
    //! weights of the drifts start_first, start_first + 1, … at the beginning of a frame;
    //! a frame with drift m begins at item m. Empty: start_first is certain
    std::vector<double> start_prior = {};
    //! drift to which the first entry of end_prior belongs (framed mode)
    int end_first = 0;
    //! weights of the drifts end_first, end_first + 1, … at the end of a frame; a frame
    //! with drift m ends before item n·N + m. Empty: the frame ends with its last item
    std::vector<double> end_prior = {};

    // Running
    //! indices of up to 16 CUDA devices, which receive batches in rotation and replace
    //! \p device; empty: \p device only
    std::vector<int> devices = {};

    // Output
    //! the bit, 0 or 1, that a positive LLR of output "llr" means
    int positive_bit = 0;

    // Running
    //! timeout in ms for one batch, counted from the end of the previous one, up to 1e9;
    //! on expiry the device is abandoned. 0: no timeout
    double device_timeout_ms = 10000;

    // Output
    //! whether to add tags \c sync_bound (stream mode)
    bool bounds = false;
    //! frames to which status tags are added: "all", "failures" (those that are not
    //! valid) or "none"
    gpufec::status_tags status_tags = gpufec::status_tags::all;

    // Input
    //! number of received items of every frame (framed mode); a frame may end before the
    //! last of these items, see \p end_prior. 0: length tags mark frames
    int frame_items = 0;

    // Running
    //! memory of the stream ports: "host"; "device_in", with input in the memory of
    //! \p device, in a buffer of gr-cuda; or "device", with input and output in such
    //! memory. The last two require a CUDA device and a build with gr-cuda, and decode on
    //! the device only
    port_memory io = port_memory::host;
};

/*!
 * \brief MAP decoder of codes for channels that insert, delete and flip bits, on a GPU or
 * the CPU.
 * \ingroup gpufec
 *
 * \details
 * A transmitter encodes frames of N message symbols with a codebook, see sync_encoder.
 * The channel deletes, flips and inserts bits, for example by bit slips of the receiver's
 * clock recovery. This block recovers the message symbols with the maximum
 * a-posteriori decoder of J. A. Briffa, "Graphics processing unit implementation and
 * optimisation of a flexible maximum a-posteriori decoder for synchronisation correction"
 * (2014), by default in a form that is exact and faster.
 *
 * The input is the received bits. With \p soft_input "hard" they are bytes, and values
 * other than 0 and 1 are erasures. With "float" an item is the probability that a 1 was
 * received, and NaN is an erasure. The decoder applies \p p_substitute to this
 * probability; if \p p_substitute is 0, the item is the probability that a 1 was sent.
 *
 * With a larger \p alphabet, items are channel symbols of 0 to alphabet − 1, or vectors
 * of \p alphabet floats. A vector has the likelihood that each channel symbol was
 * received, for example from the quality scores of a DNA sequencer. Negative likelihoods
 * count as 0. The largest likelihood of an item is 1e-30 to 1e30. A common factor of an
 * item has no effect. An item of zeros only, or with a NaN or an infinity, is an erasure.
 *
 * The \p mode determines how the input is divided into frames:
 *  - "framed": a frame begins at a tag of key \p length_tag, whose value is its number of
 *    items. Items outside frames, and length tags whose value is not an integer of at
 *    least 1, are dropped with one warning. A frame also ends at the next tag and at the
 *    end of the input. With \p frame_items all frames have this length, and length tags
 *    are ordinary tags.
 *  - "stream": frames follow one another without length tags, and the decoder finds them.
 *
 * In framed mode a second input may be connected, for the priors of each frame: N·q
 * weights as floats, one for each value of each message symbol. If the second input ends
 * before the priors of a frame are complete, the frame is decoded without priors.
 *
 * The \p output of a frame has for each of its N message symbols:
 *  - "symbols": the most likely value, as a byte up to q = 256, else as an unsigned
 *    short,
 *  - "posteriors": q posterior probabilities as floats, of sum 1,
 *  - "extrinsics": q floats of sum 1, proportional to posteriors divided by priors,
 *  - "llr": log2 q extrinsic LLRs of the symbol's bits as signed bytes, the most
 *    significant bit first, 8 steps per nat; \b positive \b means \b bit \b 0, unless
 *    \p positive_bit is 1.
 *
 * The block adds these tags on the first output item of each frame that \p status_tags
 * selects:
 *  - \c sync_drift (long): most likely drift over the frame, which is the number of
 *    received items minus the number of sent items,
 *  - \c sync_logp (double): natural log of the probability of the received items. In
 *    stream mode the log-probability of the same number of random items is subtracted,
 *  - \c sync_valid (bool): false if the frame cannot be decoded, because its length is
 *    outside the limits or no message explains it; symbols are then 0, and posteriors
 *    uniform,
 *  - \c sync_lock (bool, stream mode): whether the decoder tracks the frame boundaries,
 *  - \c sync_bound (double, stream mode with \p bounds): upper bound on errors of
 *    posteriors. The bound covers this frame's errors that result from uncertainty about
 *    where the frame begins, and the previous frame's errors that result from its limited
 *    look-ahead. The bound is 1 if items were lost or inserted, or if the previous frame
 *    was not tracked,
 *  - key \p length_tag (long): number of output items of the frame; on every frame,
 *    regardless of \p status_tags, unless \p frame_items is set.
 *
 * Other tags move to the first output item of their message symbol.
 *
 * The message port \c status sends a dictionary when the block starts and ends, when a
 * device fails, and for a verdict() on the input. The keys are \c event, \c text,
 * \c backend, \c items_in and \c items_out.
 */
class GPUFEC_API gpu_sync_map : virtual public gr::block
{
public:
    typedef std::shared_ptr<gpu_sync_map> sptr;

    //! Makes a decoder.
    //! \throws std::invalid_argument naming the parameter, its value and what is allowed
    //! \throws std::runtime_error if the backend is "cuda" and the device cannot be used
    static sptr make(const gpu_sync_map_options& options);

    //! Returns the current backend, "cuda" or "cpu".
    virtual std::string active_backend() const = 0;
    //! Returns the number of frames per batch.
    virtual int batch() const = 0;
    //! Returns the number of frames whose beginning did not match the end of the previous
    //! frame (stream mode).
    virtual std::uint64_t links_failed() const = 0;
    //! Returns the number of frames that were decoded again because the beginning of a
    //! frame did not match the end of the previous frame.
    virtual std::uint64_t frames_again() const = 0;

    //! Sets p_insert for frames that are not yet in a batch.
    //! \throws std::invalid_argument unless \p p_insert is 0 to 0.99 and p_insert +
    //! p_delete is below 1
    virtual void set_p_insert(double p_insert) = 0;
    //! Returns the p_insert that was set last.
    virtual double p_insert() const = 0;
    //! Sets p_delete for frames that are not yet in a batch.
    //! \throws std::invalid_argument unless \p p_delete is at least 0 and p_insert +
    //! p_delete is below 1
    virtual void set_p_delete(double p_delete) = 0;
    //! Returns the p_delete that was set last.
    virtual double p_delete() const = 0;
    //! Sets p_substitute for frames that are not yet in a batch.
    //! \throws std::invalid_argument unless \p p_substitute is 0 to 1
    virtual void set_p_substitute(double p_substitute) = 0;
    //! Returns the p_substitute that was set last.
    virtual double p_substitute() const = 0;
    //! Sets the longest time in ms that an incomplete batch waits for more input.
    //! \throws std::invalid_argument unless the time is finite and 0 or more
    virtual void set_max_latency_ms(double max_latency_ms) = 0;
    //! Returns the longest time in ms that an incomplete batch waits for more input.
    virtual double max_latency_ms() const = 0;
    //! Returns the number of frames decoded so far.
    virtual std::uint64_t frame_count() const = 0;
    //! Returns the number of frames so far that are not valid.
    virtual std::uint64_t error_count() const = 0;
    //! Returns the number of length tags whose value is not an integer of at least 1. The
    //! frames of these tags are dropped.
    virtual std::uint64_t skipped_frame_count() const = 0;
    //! Returns the diagnosis of unsuitable input, naming the parameter to change; "" if
    //! the input seems right. The diagnosis is also logged once as a warning, and sent
    //! from the message port \c status as \c event "verdict".
    virtual std::string verdict() const = 0;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_GPU_SYNC_MAP_H */
