// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Channel model, codebooks, encoder and MAP decoder for insertion/deletion channels,
 * without GNU Radio. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_H
#define INCLUDED_GPUFEC_SYNC_MAP_H

#include <gnuradio/gpufec/api.h>
#include <gnuradio/gpufec/decoder.h>
#include <gnuradio/gpufec/spans.h>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gr::gpufec {

/*!
 * \brief Channel that inserts, deletes and substitutes symbols (BSID channel).
 *
 * For each symbol the channel draws an event: insertion of a random symbol (probability
 * p_insert), deletion (p_delete), or else transmission. After an insertion it draws again
 * for the same symbol. A transmitted symbol is replaced by another with probability
 * p_substitute. The \em drift is the number of received symbols minus the number of sent
 * symbols.
 *
 * Source: J. A. Briffa, Graphics processing unit implementation and optimisation of a
 * flexible maximum a-posteriori decoder for synchronisation correction (2014), section
 * 2.2. This is a value type; every object is valid.
 */
class GPUFEC_API bsid_model
{
public:
    static constexpr unsigned max_alphabet = 16;
    //! Limit of p_insert, which corresponds to about 100 insertions before each symbol.
    //! No useful channel has more.
    static constexpr double max_p_insert = 0.99;

    /*!
     * \param p_insert probability of an insertion, 0 to max_p_insert
     * \param p_delete probability of a deletion, from 0; p_insert + p_delete is below 1
     * \param p_substitute probability that a transmitted symbol is replaced, 0 to 1
     * \param alphabet number of channel symbol values, 2 to 16
     * \throws std::invalid_argument that names the parameter, its value and what is
     *         allowed
     */
    bsid_model(double p_insert,
               double p_delete,
               double p_substitute = 0,
               unsigned alphabet = 2);

    double p_insert() const { return d_insert; }
    double p_delete() const { return d_delete; }
    double p_substitute() const { return d_substitute; }
    double p_transmit() const { return 1 - d_insert - d_delete; }
    unsigned alphabet() const { return d_alphabet; }

    //! Returns the natural logarithm of the probability that the drift is \p drift after
    //! \p symbols sent symbols.
    double log_drift_probability(unsigned symbols, int drift) const;

private:
    double d_insert, d_delete, d_substitute;
    unsigned d_alphabet;
};

//! Range of drifts from first to last, both included.
struct drift_range {
    static constexpr unsigned max_size = 1u << 16; //!< largest size() of drift_limits()

    int first = 0;
    int last = 0;

    unsigned size() const { return unsigned(last - first + 1); }
    bool contains(int drift) const { return first <= drift && drift <= last; }
    bool operator==(const drift_range& o) const
    {
        return first == o.first && last == o.last;
    }
};

//! Prior of a drift: drift first + k has a probability proportional to probability[k].
struct drift_prior {
    static constexpr unsigned max_size = 1u << 14; //!< limit of probability.size()
    static constexpr int max_first = 1 << 20;      //!< limit of the magnitude of first

    int first = 0;
    std::vector<double> probability = { 1 };
};

/*!
 * \brief Returns a range of drifts outside which a channel's drift lies only with a small
 * probability.
 *
 * The range always contains drift 0.
 * \param channel the channel
 * \param symbols number of sent symbols, up to 2 * sync_code::max_frame_bits
 * \param exclusion largest probability of drifts outside the range, above 0 and below 1
 * \param start prior of the drift before the first symbol, by default 0 for certain. A
 *        drift of the range is the sum of this drift and the drift that the channel adds
 * \throws std::invalid_argument if a parameter is not allowed, or if the range would be
 *         larger than drift_range::max_size
 */
GPUFEC_API drift_range drift_limits(const bsid_model& channel,
                                    unsigned symbols,
                                    double exclusion,
                                    const drift_prior& start = {});

/*!
 * \brief A codebook: for each of the N message symbols of a frame, q words of n channel
 * symbols, one for each value of the message symbol.
 *
 * Limits: n is 1 to max_n, q is 2 to max_q and at most alphabet^n, N is 1 to
 * max_frame_symbols, n·N is at most max_frame_bits and n·q·N at most max_codebook. The q
 * words of a message symbol differ. The index of a message symbol is its position in the
 * frame, 0 to N − 1. This is a value type; every object is valid.
 */
class GPUFEC_API sync_code
{
public:
    static constexpr unsigned max_n = 4096;
    static constexpr unsigned max_q = 65536;
    static constexpr unsigned max_frame_symbols = 1u << 20;
    static constexpr unsigned max_frame_bits = 1u << 20; //!< channel symbols of a frame
    static constexpr unsigned max_codebook = 1u << 28;   //!< channel symbols of all words

    /*!
     * \param n channel symbols per word
     * \param q number of values of a message symbol
     * \param frame_symbols N, message symbols per frame
     * \param words N·q rows of n channel symbols; row i·q + D is the word of message
     *        symbol D at index i, and its leftmost channel symbol is sent first
     * \param alphabet number of channel symbol values, 2 to 16
     * \throws std::invalid_argument that names the parameter, its value and what is
     *         allowed
     */
    sync_code(unsigned n,
              unsigned q,
              unsigned frame_symbols,
              std::vector<std::uint8_t> words,
              unsigned alphabet = 2);

    /*!
     * \brief Reads a codebook from a file of N·q rows of n hexadecimal digits.
     *
     * The rows have the order of the constructor's words. White space may separate rows
     * and digits, and a # begins a comment.
     *
     * \param path path of the file
     * \param n channel symbols per word
     * \param q number of values of a message symbol
     * \param frame_symbols N, message symbols per frame
     * \param alphabet number of channel symbol values, 2 to 16
     * \throws std::invalid_argument naming the parameter, its value and what is allowed
     */
    static sync_code from_file(const std::string& path,
                               unsigned n,
                               unsigned q,
                               unsigned frame_symbols,
                               unsigned alphabet = 2);

    unsigned n() const { return d_n; }
    unsigned q() const { return d_q; }
    unsigned frame_symbols() const { return d_frame_symbols; }
    unsigned alphabet() const { return d_alphabet; }
    //! Returns the number of channel symbols per frame.
    unsigned frame_bits() const { return d_n * d_frame_symbols; }
    //! Returns the n channel symbols of message symbol \p D at index \p i of a frame.
    const std::uint8_t* word(unsigned i, unsigned D) const
    {
        return d_words->data() + (std::size_t(i) * d_q + D) * d_n;
    }

private:
    unsigned d_n, d_q, d_frame_symbols, d_alphabet;
    std::shared_ptr<const std::vector<std::uint8_t>> d_words;
};

/*!
 * \brief Returns a codebook of Davey and MacKay.
 *
 * The words are the q words of n bits with the least weight, sorted by weight and then by
 * value. At each index, a random marker of n bits is added to all words modulo 2.
 *
 * \param n bits per word
 * \param q number of values of a message symbol, 2 to 65536 and at most 2^n
 * \param frame_symbols N, message symbols per frame
 * \param seed seed of the random markers
 * \throws std::invalid_argument naming the parameter, its value and what is allowed
 */
GPUFEC_API sync_code codebook_davey_mackay(unsigned n,
                                           unsigned q,
                                           unsigned frame_symbols,
                                           std::uint64_t seed);

/*!
 * \brief Returns the codebook of a marker code: each word consists of the log2 q bits of
 * the message symbol, most significant first, and then the marker.
 *
 * The marker is inverted at random indices. If the words were the same at all indices, a
 * stream decoder could not find where frames begin, and would lose synchronisation
 * sooner.
 *
 * \param q number of values of a message symbol, a power of two, 2 to 65536
 * \param frame_symbols N, message symbols per frame
 * \param marker a string of 0 and 1
 * \param seed selects the indices at which the marker is inverted; 0: none
 * \throws std::invalid_argument naming the parameter, its value and what is allowed
 */
GPUFEC_API sync_code codebook_marker(unsigned q,
                                     unsigned frame_symbols,
                                     const std::string& marker,
                                     std::uint64_t seed = 1);

/*!
 * \brief Returns a codebook of q different random words at each index.
 *
 * \param n channel symbols per word
 * \param q number of values of a message symbol, 2 to 65536 and at most alphabet^n
 * \param frame_symbols N, message symbols per frame
 * \param seed seed of the random words
 * \param alphabet number of channel symbol values, 2 to 16
 * \throws std::invalid_argument naming the parameter, its value and what is allowed
 */
GPUFEC_API sync_code codebook_random(unsigned n,
                                     unsigned q,
                                     unsigned frame_symbols,
                                     std::uint64_t seed,
                                     unsigned alphabet = 2);

//! Encoder that maps each message symbol to its word in the codebook.
class GPUFEC_API sync_encoder_kernel
{
public:
    explicit sync_encoder_kernel(const sync_code& code);

    /*!
     * \brief Encodes message symbols to n·count channel symbols, one per byte.
     * \param symbols message symbols of 0 to q − 1; larger ones count modulo q
     * \param count number of message symbols
     * \param out the channel symbols
     * \param first index in its frame of the first message symbol
     */
    void encode(const std::uint16_t* symbols,
                std::size_t count,
                std::uint8_t* out,
                unsigned first = 0) const;
    //! \copydoc encode
    void encode(const std::uint8_t* symbols,
                std::size_t count,
                std::uint8_t* out,
                unsigned first = 0) const;

    const sync_code& code() const { return d_code; }

private:
    template <class Symbol>
    void encode_symbols(const Symbol* symbols,
                        std::size_t count,
                        std::uint8_t* out,
                        unsigned first) const;

    sync_code d_code;
};

//! Whether the caller marks the frame boundaries.
enum class sync_mode {
    framed, //!< the caller marks where each frame begins and ends
    stream  //!< frames follow one another, and the decoder finds the boundaries
};

//! Algorithm that computes posteriors. The lattice of a word compares the word with the
//! received items. A point of the lattice is a pair: a number of sent symbols and a
//! number of received items.
enum class sync_form {
    linear,  //!< runs each word's lattice once over all drifts: exact and fastest
    corridor //!< uses branch metrics of limited drift changes, as in Briffa 2014
};

//! Floating-point format of a decoder.
enum class sync_precision {
    float32, //!< single precision
    float64, //!< double precision
    mixed    //!< lattices in single precision, everything else in double precision
};

//! Storage of the corridor form's branch metrics.
enum class sync_storage {
    automatic, //!< global if memory allows, otherwise local
    global,    //!< stores the metrics of a whole frame
    local      //!< computes the metrics twice, and stores those of one message symbol
};

//! Computation of the corridor form's branch metrics.
enum class sync_receiver {
    corridor, //!< a lattice within the limits of the drift change
    lattice,  //!< the whole lattice
    trellis   //!< a trellis over drifts with a cap on insertions before a symbol
};

//! Output for each message symbol.
enum class sync_output {
    symbols,     //!< the most likely symbol: uint8 up to q = 256, else uint16
    posteriors,  //!< q posterior probabilities as floats, of sum 1
    extrinsics,  //!< q floats of sum 1, proportional to posteriors divided by priors
    llr,         //!< log2 q extrinsic LLRs of the symbol's bits as int8, most significant
                 //!< bit first, 8 steps per nat; sync_options::positive_bit sets the sign
    posteriors64 //!< q posterior probabilities as doubles, of sum 1
};

//! Converts a name to its enumerator.
//! \throws std::invalid_argument for any other name; the message lists the names
GPUFEC_API sync_mode sync_mode_from_string(const std::string& name);
//! \copydoc sync_mode_from_string
GPUFEC_API sync_form sync_form_from_string(const std::string& name);
//! Converts the name "float", "double" or "mixed".
//! \throws std::invalid_argument for any other name
GPUFEC_API sync_precision sync_precision_from_string(const std::string& name);
//! Converts the name "auto", "global" or "local".
//! \throws std::invalid_argument for any other name
GPUFEC_API sync_storage sync_storage_from_string(const std::string& name);
//! \copydoc sync_mode_from_string
GPUFEC_API sync_receiver sync_receiver_from_string(const std::string& name);
//! \copydoc sync_mode_from_string
GPUFEC_API sync_output sync_output_from_string(const std::string& name);

//! Code, channel and options of a sync_decoder. The batch size is counted in frames.
struct sync_options : run_options {
    sync_options(sync_code c, const bsid_model& model)
        : code(std::move(c)), channel(model)
    {
    }

    sync_code code;
    bsid_model channel;
    sync_mode mode = sync_mode::framed;
    /*!
     * \brief Whether received items are floats. Otherwise an item is one channel symbol
     * in a byte, and a value out of range is an erasure.
     *
     * With alphabet 2, an item is one float, the probability that a 1 was received, 0 to
     * 1; NaN is an erasure. The decoder applies p_substitute to this probability; if
     * p_substitute is 0, the item is the probability that a 1 was sent.
     *
     * With a larger alphabet, an item is \p alphabet floats: L[b] is the likelihood that
     * channel symbol b was received, up to a factor that may differ between items.
     * Negative likelihoods count as 0, and the largest is 1e-30 to 1e30. An item of zeros
     * only, or with a NaN or an infinity, is an erasure. The probability of an item, if a
     * was sent, is the sum over b of P(b received | a sent) * L[b], divided by the sum
     * over b of L[b].
     */
    bool soft_input = false;
    //! Returns the size of a received item in bytes.
    std::size_t item_bytes() const
    {
        const unsigned s = code.alphabet();
        return soft_input ? (s == 2 ? 1 : s) * sizeof(float) : 1;
    }
    sync_output output = sync_output::symbols;
    sync_form form = sync_form::linear;
    sync_precision precision = sync_precision::float32;
    //! Largest probability of drifts outside the window of drifts that are considered,
    //! 1e-15 to below 1.
    double exclusion = 1e-10;
    bool priors = false; //!< whether each frame has priors of its message symbols
    bool drifts = false; //!< whether to output posteriors of the drift at a frame's ends

    // Framed mode only:
    //! Number of items of every frame; 0: end_frame() ends each frame. If this number is
    //! above 0, push() and borrowed input need no end_frame(), and finish() ends an
    //! incomplete last frame. With priors, only 0 is allowed.
    std::size_t frame_items = 0;
    //! Prior of the drift at the beginning of a frame. A frame with start drift m begins
    //! at item m.
    drift_prior start;
    //! Prior of the drift at the end of a frame. A frame with end drift m ends before
    //! item n·N + m. Empty: the frame ends with its last item.
    drift_prior end = { 0, {} };

    // Stream mode only:
    static constexpr unsigned max_lookahead = 1u << 20;
    static constexpr unsigned max_acquire = 1u << 20;
    //! Number of message symbols after each frame that are decoded with it (look-ahead),
    //! up to max_lookahead; 0: chosen from the channel. The channel symbols of a frame
    //! and its look-ahead are at most 2 * sync_code::max_frame_bits.
    unsigned lookahead = 0;
    //! Number of items at the start of the stream within which the first frame begins, up
    //! to max_acquire; 0: the first frame begins at item 0.
    unsigned acquire = 0;

    // Form corridor only:
    sync_storage storage = sync_storage::automatic;
    //! Smallest drift change per message symbol, −n to 0. If this and change_last are 0,
    //! both are derived from the exclusion.
    int change_first = 0;
    int change_last = 0; //!< largest drift change per message symbol, 0 or more
    sync_receiver receiver = sync_receiver::corridor; //!< other than corridor: CPU only
    //! Receiver trellis: largest number of insertions before a channel symbol.
    unsigned insertion_cap = 2;
    //! Fraction of the largest boundary metric, 0 to below 1. Smaller metrics are set to
    //! 0. CUDA requires 0.
    double state_threshold = 0;
    //! Fraction of the largest lattice value of a row, 0 to below 1. Smaller values of
    //! the row are set to 0. CUDA requires 0.
    double lattice_threshold = 0;

    //! The bit, 0 or 1, that a positive value of sync_output::llr means.
    unsigned positive_bit = 0;
};

//! Status of a decoded frame.
struct sync_status {
    //! Natural log of the probability of the frame's received items. In stream mode, the
    //! look-ahead is included, and the log-probability of the same number of random items
    //! is subtracted.
    double log_probability;
    float entropy;            //!< entropy in bits of the drift at the end
    std::int32_t start_drift; //!< most likely drift at the beginning
    std::int32_t end_drift;   //!< most likely drift at the end
    std::uint32_t valid;      //!< 0: cannot be decoded; posteriors are uniform, symbols 0
};

/*!
 * \brief MAP decoder for channels that insert, delete and substitute symbols, without a
 * flowgraph. The input is frames, or a stream of frames with unknown boundaries.
 *
 * Push received items and pull decoded frames. The decoder implements the maximum
 * a-posteriori decoder of Briffa (2014), by default in a form that runs each word's
 * lattice once over all drifts. Only one thread at a time may call a decoder.
 *
 * In a stream, frame boundaries are unknown. The decoder passes forward metrics of the
 * drift from the end of a frame to the beginning of the next. Backward metrics start
 * after the look-ahead, which is some message symbols after the frame. Items after the
 * look-ahead do not affect the frame.
 */
class GPUFEC_API sync_decoder : public decoder
{
public:
    using sptr = std::shared_ptr<sync_decoder>;

    //! Status of a frame of the stream. The pointers are valid until the next call of the
    //! decoder.
    struct frame_status {
        std::uint64_t number; //!< number of the frame, from 0
        //! Posterior of each drift of window() at the beginning of the frame; nullptr
        //! without options.drifts.
        const float* first_drifts;
        //! Posterior of each drift of window() at the end of the frame; nullptr without
        //! options.drifts.
        const float* last_drifts;
        sync_status status;
        //! Received item with which the frame most likely begins (stream mode).
        std::int64_t begin;
        //! Stream mode: whether the decoder tracks the boundaries. Framed mode: whether
        //! the frame is valid.
        bool locked;
        //! Stream mode: an upper bound from 0 to 1, valid to first order, on errors of
        //! posteriors. The bound covers this frame's errors that result from uncertainty
        //! about where the frame begins, and the previous frame's errors that result from
        //! its limited look-ahead. The bound is 1 if items were lost or inserted, or if
        //! the previous frame was not tracked.
        double bound;
    };

    //! A decoded frame, whose output is valid until the next call of the decoder.
    struct frame : frame_status {
        const void* output;       //!< output of all message symbols, see sync_output
        std::size_t output_bytes; //!< size of the output in bytes
        bool in_place;            //!< whether output is in memory of a pinned_output
    };

    //! \throws std::invalid_argument if an option is not allowed
    //! \throws std::runtime_error if CUDA is required and cannot be used
    static sptr make(const sync_options& options, decoder_hooks hooks = {});

    /*!
     * \brief Accepts a frame. Returns false, and accepts nothing, if every slot is in
     * flight.
     *
     * While input is borrowed, call end_frame() instead.
     * \param items the frame's received items, of sync_options::item_bytes() bytes each
     * \param priors with options.priors, frame_symbols × q weights, one for each value of
     *        each message symbol; nullptr: equal weights
     * \throws std::invalid_argument for items of another type than the options declare
     */
    virtual bool push_frame(input_items items, const float* priors = nullptr) = 0;

    //! Accepts items of a stream, of frames of constant length, or of a frame that is
    //! pushed in parts, and returns their number.
    //! \throws std::invalid_argument for items of another type than the options declare
    virtual std::size_t push(input_items items) = 0;
    //! Ends a frame that was pushed or borrowed in parts. Returns false, and does
    //! nothing, if every slot is in flight. \p priors is as in push_frame().
    virtual bool end_frame(const float* priors = nullptr) = 0;
    //! Skips up to \p count items between two frames, and returns their number. Needed
    //! only with borrow(); with push(), leave such items out.
    virtual std::size_t skip(std::size_t count) = 0;

    //! Writes the output of the next frame to \p out, and returns the number of items
    //! written; 0 if that frame is not decoded yet. An item is a symbol, LLR or
    //! probability, as options.output says.
    //! \throws std::invalid_argument for items of another type, and if the memory is
    //!         smaller than the output of a frame
    virtual std::size_t pull(output_items out) = 0;
    //! Returns the status of the frame that was pulled last, once; nothing if there is no
    //! such frame.
    virtual std::optional<frame_status> status() = 0;
    //! Retrieves up to \p count frames in order without a copy. Returns their number; 0
    //! if the next frame is not decoded yet.
    virtual std::size_t pull(frame* frames, std::size_t count) = 0;
    //! Retrieves the next frame like pull(&f, 1), and returns whether it is decoded.
    bool pull(frame& f) { return pull(&f, 1) > 0; }

    //! Changes the channel from the next frame on; the alphabet must stay the same. No
    //! further frame is decoded until the frames in flight have been pulled.
    //! \throws std::invalid_argument if the channel is not allowed
    //! \throws device_error if the device fails
    virtual void set_channel(const bsid_model& channel) = 0;

    virtual const sync_options& options() const = 0;
    //! Returns the range of drifts that are considered. In a stream, the drifts are
    //! relative to the expected drift.
    virtual drift_range window() const = 0;
    //! Returns the look-ahead of a stream in message symbols.
    virtual unsigned lookahead() const = 0;
    //! Returns the number of output bytes per message symbol.
    virtual std::size_t symbol_bytes() const = 0;
    //! Returns the number of frames whose beginning did not match the end of the previous
    //! frame (stream mode).
    virtual std::uint64_t links_failed() const = 0;
    //! Returns the number of frames that were decoded again because the beginning of a
    //! frame did not match the end of the previous frame.
    virtual std::uint64_t frames_again() const = 0;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_SYNC_MAP_H */
