// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Codes and MAP decoder for insertion/deletion channels, without GNU Radio. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_H
#define INCLUDED_GPUFEC_SYNC_MAP_H

#include <gnuradio/gpufec/api.h>
#include <gnuradio/gpufec/decoder.h>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace gr::gpufec {

/*!
 * \brief Channel that inserts, deletes and substitutes symbols (BSID channel).
 *
 * For each symbol the channel draws an event: insertion of a random symbol (probability
 * p_insert), after which it draws again; deletion (p_delete); or else transmission. A
 * transmitted symbol is replaced by another with probability p_substitute. The \em drift
 * is the number of received less the number of sent symbols.
 *
 * J. A. Briffa: Graphics processing unit implementation and optimisation of a flexible
 * maximum a-posteriori decoder for synchronisation correction (2014), section 2.2. This
 * is a value type; every object is valid.
 */
class GPUFEC_API bsid_model
{
public:
    static constexpr unsigned max_alphabet = 16;
    //! About 100 insertions before each symbol. A channel with more would be useless.
    static constexpr double max_p_insert = 0.99;

    /*!
     * \param p_insert 0 to max_p_insert
     * \param p_delete 0 to below 1, with p_insert + p_delete below 1
     * \param p_substitute 0 to 1
     * \param alphabet number of channel symbols, 2 to 16
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

    //! Returns the natural logarithm of the probability of \p drift after \p symbols
    //! symbols.
    double log_drift_probability(unsigned symbols, int drift) const;

private:
    double d_insert, d_delete, d_substitute;
    unsigned d_alphabet;
};

//! Range of drifts from first to last, both included.
struct drift_range {
    static constexpr unsigned max_size = 1u << 16; //!< limit of size() in a decoder

    int first = 0;
    int last = 0;

    unsigned size() const { return unsigned(last - first + 1); }
    bool contains(int drift) const { return first <= drift && drift <= last; }
    bool operator==(const drift_range& o) const
    {
        return first == o.first && last == o.last;
    }
};

//! Prior of a drift: probability[k] of first + k, up to a common factor.
struct drift_prior {
    static constexpr unsigned max_size = 1u << 14; //!< limit of probability.size()
    static constexpr int max_first = 1 << 20;      //!< limit of the magnitude of first

    int first = 0;
    std::vector<double> probability = { 1 };
};

/*!
 * \brief Returns the range of drifts after \p symbols symbols outside which the
 * probability is below \p exclusion (1e-15 to below 1).
 *
 * With a prior of the drift at the start, the range is that of the drift since the
 * prior's origin. It always contains drift 0. \throws std::invalid_argument, also if
 * \p symbols is above 2 * sync_code::max_frame_bits or the range would be larger than
 * drift_range::max_size
 */
GPUFEC_API drift_range drift_limits(const bsid_model& channel,
                                    unsigned symbols,
                                    double exclusion,
                                    const drift_prior& start = {});

/*!
 * \brief A codebook of q words of n channel symbols for each of N message symbols.
 *
 * n is 1 to max_n, q is 2 to max_q and at most alphabet^n, N is 1 to max_frame_symbols,
 * n·N is at most max_frame_bits, n·q·N at most max_codebook, and all words of an index
 * differ. This is a value type; every object is valid.
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
     * \param q words per index
     * \param frame_symbols N, message symbols per frame
     * \param words N·q rows of n channel symbols, row i·q + D; the leftmost is sent first
     * \param alphabet number of channel symbols, 2 to 16
     * \throws std::invalid_argument that names the parameter, its value and what is
     *         allowed
     */
    sync_code(unsigned n,
              unsigned q,
              unsigned frame_symbols,
              std::vector<std::uint8_t> words,
              unsigned alphabet = 2);

    /*!
     * \brief Reads a codebook from a file of N·q rows of n hexadecimal digits. White
     * space may separate rows and digits, and a # begins a comment.
     *
     * \param path of the file
     * \param n channel symbols per word
     * \param q words per index
     * \param frame_symbols N, message symbols per frame
     * \param alphabet number of channel symbols, 2 to 16
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
    //! Returns the channel symbols per frame.
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
 * \brief Returns a codebook of Davey and MacKay: the q words of least weight, in
 * ascending order among those of equal weight, with a random marker of n bits added at
 * each index.
 *
 * \param n bits per word
 * \param q words per index, 2 to 65536 and at most 2^n
 * \param frame_symbols N, message symbols per frame
 * \param seed of the markers
 * \throws std::invalid_argument naming the parameter, its value and what is allowed
 */
GPUFEC_API sync_code codebook_davey_mackay(unsigned n,
                                           unsigned q,
                                           unsigned frame_symbols,
                                           std::uint64_t seed);

/*!
 * \brief Returns the codebook of a marker code: each word has the log2 q bits of the
 * symbol, most significant first, and then the marker.
 *
 * The marker is inverted at random indices. If the words were the same at all indices, a
 * stream decoder could not find where frames begin, and would lose synchronisation
 * sooner.
 *
 * \param q words per index, a power of two, 2 to 65536
 * \param frame_symbols N, message symbols per frame
 * \param marker a string of 0 and 1
 * \param seed selects the indices at which it is inverted; 0: none
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
 * \param q words per index, 2 to 65536 and at most alphabet^n
 * \param frame_symbols N, message symbols per frame
 * \param seed of the words
 * \param alphabet number of channel symbols, 2 to 16
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

    //! Encodes \p count message symbols to n·count channel symbols. \p first is the
    //! index in a frame of the first symbol. A symbol of q or above counts modulo q.
    void encode(const std::uint16_t* symbols,
                std::size_t count,
                std::uint8_t* out,
                unsigned first = 0) const;
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

//! Marking of frame boundaries.
enum class sync_mode {
    framed, //!< each push is a frame
    stream  //!< frames follow one another without marks
};

//! Algorithm that computes posteriors.
enum class sync_form {
    linear,  //!< runs each word's lattice once over all drifts: exact and fastest
    corridor //!< uses branch metrics of limited drift changes, as in Briffa 2014
};

enum class sync_precision {
    float32,
    float64,
    mixed //!< lattices in float, all else in double
};

//! Storage of the corridor form's branch metrics.
enum class sync_storage {
    automatic, //!< global if memory allows
    global,    //!< stores those of a whole frame
    local      //!< computes them twice and stores those of one index
};

//! Computation of the corridor form's branch metrics.
enum class sync_receiver {
    corridor, //!< a lattice within the drift limits
    lattice,  //!< the whole lattice
    trellis   //!< a trellis over drifts with a cap on insertions before a symbol
};

//! Output for each message symbol.
enum class sync_output {
    symbols,     //!< the most likely symbol: uint8 up to q = 256, else int16
    posteriors,  //!< q floats of sum 1
    extrinsics,  //!< q floats of sum 1: posteriors divided by the priors
    llr,         //!< log2 q extrinsic LLRs of the bits as int8, most significant bit
                 //!< first, 8 steps per nat; sync_options::positive_bit sets the sign
    posteriors64 //!< q doubles of sum 1
};

//! Returns the value of a name. \throws std::invalid_argument that says what is allowed
GPUFEC_API sync_mode sync_mode_from_string(const std::string& name);
//! \copydoc sync_mode_from_string
GPUFEC_API sync_form sync_form_from_string(const std::string& name);
//! Returns the precision "float", "double" or "mixed". \throws std::invalid_argument
GPUFEC_API sync_precision sync_precision_from_string(const std::string& name);
//! Returns the storage "auto", "global" or "local". \throws std::invalid_argument
GPUFEC_API sync_storage sync_storage_from_string(const std::string& name);
//! \copydoc sync_mode_from_string
GPUFEC_API sync_receiver sync_receiver_from_string(const std::string& name);
//! \copydoc sync_mode_from_string
GPUFEC_API sync_output sync_output_from_string(const std::string& name);

//! Code, channel and options of a sync_decoder. The batch size is counted in
//! frames.
struct sync_options : run_options {
    sync_options(sync_code c, const bsid_model& model)
        : code(std::move(c)), channel(model)
    {
    }

    sync_code code;
    bsid_model channel;
    sync_mode mode = sync_mode::framed;
    /*!
     * \brief Whether received items are floats. Else each is one channel symbol in a
     * byte, where a value out of range is an erasure.
     *
     * With alphabet 2, an item is one float, the probability that a 1 was received, 0 to
     * 1; NaN is an erasure. p_substitute is applied to it, so with 0 it is the
     * probability that a 1 was sent.
     *
     * With a larger alphabet, an item is \p alphabet floats: L[b] is the likelihood that
     * channel symbol b was received, up to a factor that may differ between items. These
     * likelihoods are 0 or more (less counts as 0), and the largest is 1e-30 to 1e30. An
     * item of zeros only, or with a NaN or an infinity, is an erasure. The probability of
     * an item, if a was sent, is the sum over b of P(b received | a sent) * L[b], divided
     * by the sum over b of L[b].
     */
    bool soft_input = false;
    //! Returns the bytes of a received item.
    std::size_t item_bytes() const
    {
        const unsigned s = code.alphabet();
        return soft_input ? (s == 2 ? 1 : s) * sizeof(float) : 1;
    }
    sync_output output = sync_output::symbols;
    sync_form form = sync_form::linear;
    sync_precision precision = sync_precision::float32;
    double exclusion = 1e-10; //!< probability of drifts outside the window
    bool priors = false;      //!< each frame has priors of its symbols
    bool drifts = false;      //!< output drift posteriors at both ends of a frame

    // Frames: priors of the drift at both ends. A frame with start drift m begins at item
    // m, one with end drift m ends m + n·N items after item 0. Without an end prior it
    // ends with the last item.
    drift_prior start;
    drift_prior end = { 0, {} };

    // Stream mode.
    static constexpr unsigned max_lookahead = 1u << 20;
    static constexpr unsigned max_acquire = 1u << 20;
    //! Number of look-ahead symbols used after each frame, up to max_lookahead; 0:
    //! chosen. n times frame and look-ahead is at most 2 * sync_code::max_frame_bits.
    unsigned lookahead = 0;
    //! Number of initial items at which the first frame may begin, up to max_acquire; 0:
    //! it begins at item 0.
    unsigned acquire = 0;

    // The corridor form.
    sync_storage storage = sync_storage::automatic;
    int change_first = 0; //!< smallest and largest drift change per symbol; both 0:
    int change_last = 0;  //!< derived from the exclusion
    sync_receiver receiver = sync_receiver::corridor; //!< other than corridor: CPU only
    unsigned insertion_cap = 2; //!< trellis: maximum insertions before a symbol
    //! Boundary metrics below this fraction of the largest count as 0, CPU only.
    double state_threshold = 0;
    //! Lattice values below this fraction of the row's largest count as 0, CPU only.
    double lattice_threshold = 0;

    //! The bit, 0 or 1, that a positive value of sync_output::llr means.
    unsigned positive_bit = 0;
};

//! Status of a decoded frame.
struct sync_status {
    //! Natural log of the probability of the received items. In stream mode, those of the
    //! frame and its look-ahead, minus the log-probability of the same number of random
    //! items.
    double log_probability;
    float entropy;            //!< entropy of the drift at the end, bits
    std::int32_t start_drift; //!< most likely drift at the beginning
    std::int32_t end_drift;   //!< most likely drift at the end
    std::uint32_t valid;      //!< 0: cannot be decoded; posteriors are uniform, symbols 0
};

/*!
 * \brief MAP decoder of frames, or of a stream of frames without marks, for channels that
 * insert, delete and substitute symbols, without a flowgraph.
 *
 * Push received items and pull decoded frames. Only one thread at a time may call it. It
 * implements the maximum a-posteriori decoder of Briffa (2014), by default in a form that
 * runs each word's lattice once over all drifts.
 *
 * In a stream, frame boundaries are unknown. Each frame begins with the forward metrics
 * of the drift at its boundary; its look-ahead only contributes backward metrics, and
 * items after the look-ahead are ignored.
 */
class GPUFEC_API sync_decoder : public decoder
{
public:
    //! A decoded frame. Its pointers are valid until the next call of the decoder.
    struct frame {
        std::uint64_t number; //!< number of the frame, from 0
        const void* output;   //!< frame_symbols values of the kind sync_output
        std::size_t output_bytes;
        bool in_place; //!< the output is in the memory of borrow_output()
        //! Posteriors of the window() drifts at the beginning of the frame; nullptr
        //! without options.drifts.
        const float* first_drifts;
        //! Posteriors of the window() drifts at the end; nullptr without options.drifts.
        const float* last_drifts;
        sync_status status;
        //! Received item with which the frame most likely begins (stream mode).
        std::int64_t begin;
        //! Whether the decoder tracks the boundaries (stream mode), or whether the frame
        //! is valid (framed mode).
        bool locked;
        //! Upper bound (to first order, 0 to 1) on the error of any posterior of this
        //! frame due to uncertainty about where it begins, and of any posterior of the
        //! previous frame due to its limited look-ahead (stream mode). It is 1 if items
        //! were lost or inserted, or if the previous frame was not tracked.
        double bound;
    };

    //! \throws std::invalid_argument, or std::runtime_error if CUDA is required and
    //! cannot be used
    explicit sync_decoder(const sync_options& options, decoder_hooks hooks = {});

    /*!
     * \brief Takes a frame; returns false if every slot is in flight.
     *
     * It must not be called while input is borrowed; call end_frame() then.
     * \param items the frame's received items, of sync_options::item_bytes() each
     * \param count number of items, from 0
     * \param priors frame_symbols × q weights of the symbols, with options.priors
     */
    bool push_frame(const void* items, std::size_t count, const float* priors = nullptr);

    //! Takes up to \p count items of a stream, or of a frame that is pushed in parts, and
    //! returns how many.
    std::size_t push(const void* items, std::size_t count);
    //! Ends a frame that was pushed or borrowed in parts; returns false if every slot is
    //! in flight. \p priors as in push_frame().
    bool end_frame(const float* priors = nullptr);
    //! Skips up to \p count borrowed items between two frames, and returns how many.
    std::size_t skip(std::size_t count);

    //! Gets the next frame in order; returns false if it is not decoded yet.
    bool pull(frame& f);

    //! Changes the channel, of the same alphabet, from the next frame on. It waits for
    //! the frames in flight, which must be pulled before more are pushed.
    void set_channel(const bsid_model& channel);

    const sync_options& options() const;
    //! Returns the drifts considered; in a stream, relative to the expected drift.
    drift_range window() const;
    //! Returns the look-ahead of a stream in symbols.
    unsigned lookahead() const;
    //! Returns the output bytes per message symbol.
    std::size_t symbol_bytes() const;
    //! Returns the number of frames whose start state did not match the end state of the
    //! previous frame (stream mode).
    std::uint64_t links_failed() const;
    //! Returns the number of frames that were decoded again because of such a mismatch.
    std::uint64_t frames_again() const;

private:
    class impl;
    impl& self() const;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_SYNC_MAP_H */
