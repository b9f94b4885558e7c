// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

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
 * \brief The channel that inserts, deletes and substitutes symbols (BSID).
 *
 * Before each transmitted symbol the channel inserts a random symbol with probability
 * p_insert, and then asks again. Else it drops the symbol with probability p_delete, or
 * transmits it. A transmitted symbol is replaced by another with probability
 * p_substitute. The \em drift is the number of received less the number of transmitted
 * symbols.
 *
 * J. A. Briffa: Graphics processing unit implementation and optimisation of a flexible
 * maximum a-posteriori decoder for synchronisation correction (2014), section 2.2. A
 * value type: it is valid once it exists.
 */
class GPUFEC_API bsid_model
{
public:
    static constexpr unsigned max_alphabet = 16;
    //! Some hundred insertions before each symbol: more is no channel, and never ends.
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

    //! Natural logarithm of the probability of \p drift after \p symbols symbols.
    double log_drift_probability(unsigned symbols, int drift) const;

private:
    double d_insert, d_delete, d_substitute;
    unsigned d_alphabet;
};

//! Drifts from first to last, both included.
struct drift_range {
    static constexpr unsigned max_size = 1u << 16; //!< that are considered

    int first = 0;
    int last = 0;

    unsigned size() const { return unsigned(last - first + 1); }
    bool contains(int drift) const { return first <= drift && drift <= last; }
    bool operator==(const drift_range& o) const
    {
        return first == o.first && last == o.last;
    }
};

//! What is known of a drift: probability[k] of first + k, up to a common factor.
struct drift_prior {
    static constexpr unsigned max_size = 1u << 14; //!< of probability
    static constexpr int max_first = 1 << 20;      //!< in magnitude

    int first = 0;
    std::vector<double> probability = { 1 };
};

/*!
 * \brief The drifts to be considered after \p symbols symbols, so that the rest together
 * has a probability below \p exclusion (1e-15 to below 1).
 *
 * With a prior on the drift at the start, the range is that of the drift since the
 * prior's origin. It always contains drift 0. \throws std::invalid_argument, also where
 * \p symbols is above 2 * sync_code::max_frame_bits, or more than drift_range::max_size
 * drifts would have to be considered
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
 * differ. A value type: it is valid once it exists.
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
     * \brief The codebook in a file: N·q rows of n digits (base 16, 0 to f). White space
     * stands between rows or digits, and a # begins a comment.
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
    //! Channel symbols per frame.
    unsigned frame_bits() const { return d_n * d_frame_symbols; }
    //! The n channel symbols of message symbol \p D at index \p i of a frame.
    const std::uint8_t* word(unsigned i, unsigned D) const
    {
        return d_words->data() + (std::size_t(i) * d_q + D) * d_n;
    }

private:
    unsigned d_n, d_q, d_frame_symbols, d_alphabet;
    std::shared_ptr<const std::vector<std::uint8_t>> d_words;
};

/*!
 * \brief The codebook of Davey and MacKay: the q words of least weight (of equal weight
 * the smaller first), with a random marker of n bits added at each index.
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
 * \brief The codebook of a marker code: the bits of the symbol, most significant first,
 * then the marker. So a word has log2 q bits and those of the marker.
 *
 * The marker is inverted at some indices, drawn at random: a stream whose words are the
 * same at all indices cannot tell where a frame begins, and loses itself sooner.
 *
 * \param q words per index, a power of two, 2 to 65536
 * \param frame_symbols N, message symbols per frame
 * \param marker a string of 0 and 1
 * \param seed says at which indices it is inverted; 0: at none
 * \throws std::invalid_argument naming the parameter, its value and what is allowed
 */
GPUFEC_API sync_code codebook_marker(unsigned q,
                                     unsigned frame_symbols,
                                     const std::string& marker,
                                     std::uint64_t seed = 1);

/*!
 * \brief A codebook of q random words, all different, drawn anew at each index.
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

//! Encodes each message symbol with the codebook of its index.
class GPUFEC_API sync_encoder_kernel
{
public:
    explicit sync_encoder_kernel(const sync_code& code);

    //! Writes the n·count channel symbols of \p count message symbols, the first of which
    //! is at index \p first of a frame. A symbol of q or above counts modulo q.
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

//! Where frames begin and end.
enum class sync_mode {
    framed, //!< each push is a frame
    stream  //!< frames follow each other without a mark
};

//! How posteriors are computed.
enum class sync_form {
    linear,  //!< each word's lattice once over all drifts: exact and fastest
    corridor //!< with branch metrics of limited drift changes, as in Briffa 2014
};

enum class sync_precision {
    float32,
    float64,
    mixed //!< lattices in float, all else in double
};

//! What becomes of the corridor form's branch metrics.
enum class sync_storage {
    automatic, //!< global where memory allows
    global,    //!< all of a frame's are kept
    local      //!< they are computed twice, and those of one index kept
};

//! How the corridor form computes its branch metrics.
enum class sync_receiver {
    corridor, //!< a lattice, as far as the drift limits reach
    lattice,  //!< the whole lattice
    trellis   //!< a trellis over drifts with a cap on insertions before a symbol
};

//! What is given for each message symbol.
enum class sync_output {
    symbols,     //!< the most likely symbol: uint8 up to q = 256, else int16
    posteriors,  //!< q floats of sum 1
    extrinsics,  //!< q floats of sum 1: posteriors without the prior's part
    llr,         //!< log2 q int8, most significant bit first, 8 steps per nat, positive
                 //!< for the positive_bit of sync_options; of the extrinsics
    posteriors64 //!< q doubles of sum 1
};

//! \throws std::invalid_argument that says what is allowed
GPUFEC_API sync_mode sync_mode_from_string(const std::string& name);
//! \copydoc sync_mode_from_string
GPUFEC_API sync_form sync_form_from_string(const std::string& name);
//! "float", "double" or "mixed". \throws std::invalid_argument
GPUFEC_API sync_precision sync_precision_from_string(const std::string& name);
//! "auto", "global" or "local". \throws std::invalid_argument
GPUFEC_API sync_storage sync_storage_from_string(const std::string& name);
//! \copydoc sync_mode_from_string
GPUFEC_API sync_receiver sync_receiver_from_string(const std::string& name);
//! \copydoc sync_mode_from_string
GPUFEC_API sync_output sync_output_from_string(const std::string& name);

//! What a sync_decoder decodes, and how. A batch is frames.
struct sync_options : run_options {
    sync_options(sync_code c, const bsid_model& model)
        : code(std::move(c)), channel(model)
    {
    }

    sync_code code;
    bsid_model channel;
    sync_mode mode = sync_mode::framed;
    /*!
     * false: one channel symbol per byte, one out of range being an erasure. true:
     * floats.
     *
     * With alphabet 2, an item is one float, the probability that a 1 was received, 0 to
     * 1; NaN is an erasure.
     *
     * With a larger alphabet, an item is \p alphabet floats: L[b] is the likelihood that
     * channel symbol b was received, up to a factor that may differ from item to item.
     * They are 0 or more (less counts as 0), the largest 1e-30 to 1e30; all of them 0, or
     * one NaN or infinite, is an erasure. So the item weighs
     * sum over b of P(b received | a sent) * L[b] / (sum over b of L[b]) where a was
     * sent.
     */
    bool soft_input = false;
    //! Bytes of a received item.
    std::size_t item_bytes() const
    {
        const unsigned s = code.alphabet();
        return soft_input ? (s == 2 ? 1 : s) * sizeof(float) : 1;
    }
    sync_output output = sync_output::symbols;
    sync_form form = sync_form::linear;
    sync_precision precision = sync_precision::float32;
    double exclusion = 1e-10; //!< probability of drifts that are not considered
    bool priors = false;      //!< each frame comes with priors of its symbols
    bool drifts = false;      //!< give the drift posteriors of both ends of a frame

    // Frames: what is known of the drift at both ends. A start at drift m means that the
    // frame begins at item m. An end at drift m means m + n·N items since item 0; without
    // an end prior the frame ends with the last item.
    drift_prior start;
    drift_prior end = { 0, {} };

    // Streams.
    static constexpr unsigned max_lookahead = 1u << 20;
    static constexpr unsigned max_acquire = 1u << 20;
    //! Symbols beyond a frame that it is decoded with, up to max_lookahead; 0: chosen. n
    //! times frame and look-ahead is at most 2 * sync_code::max_frame_bits.
    unsigned lookahead = 0;
    //! The first frame begins at any of so many items, up to max_acquire; 0: at item 0.
    unsigned acquire = 0;

    // The corridor form.
    sync_storage storage = sync_storage::automatic;
    int change_first = 0; //!< drift changes per symbol; both 0: from the exclusion
    int change_last = 0;
    sync_receiver receiver = sync_receiver::corridor; //!< other than corridor: CPU only
    unsigned insertion_cap = 2; //!< trellis: the most insertions before a symbol
    //! Boundary metrics below this part of the largest count as 0, CPU only.
    double state_threshold = 0;
    //! Lattice values below this part of the row's largest count as 0, CPU only.
    double lattice_threshold = 0;

    //! The bit, 0 or 1, that a positive value of sync_output::llr means.
    unsigned positive_bit = 0;
};

//! What is known of a decoded frame.
struct sync_status {
    //! Natural logarithm of P(Y); in a stream that of the frame and its look-ahead, less
    //! that of as many random items.
    double log_probability;
    float entropy;            //!< of the drift at the frame's end, bits
    std::int32_t start_drift; //!< the most likely drift at its beginning
    std::int32_t end_drift;   //!< the most likely drift at its end
    std::uint32_t valid;      //!< 0: not to be decoded; posteriors are uniform, symbols 0
};

/*!
 * \brief Decodes frames, or a stream of frames that follow one another without a mark.
 *
 * Push received items, pull decoded frames: it does what a flowgraph's block does,
 * without a flowgraph. One thread calls it. It implements the maximum a-posteriori
 * decoder of Briffa (2014), by default in a form that runs each word's lattice once over
 * all drifts.
 *
 * A stream is decoded with unknown frame boundaries: each frame begins with what the
 * forward recursion knows of the drift at its boundary. It looks ahead through the
 * backward recursion alone, and bits beyond the look-ahead are unknown.
 */
class GPUFEC_API sync_decoder : public decoder
{
public:
    //! A decoded frame; what it points to is good until the next call of the decoder.
    struct frame {
        std::uint64_t number; //!< of the frame, from 0
        const void* output;   //!< frame_symbols times what sync_output says
        std::size_t output_bytes;
        bool in_place;             //!< it lies where lend_output() says that it goes
        const float* first_drifts; //!< posteriors of window() drifts; nullptr unless
        const float* last_drifts;  //!< asked for
        sync_status status;
        //! Streams: the received item that the frame most likely begins with.
        std::int64_t begin;
        //! Streams: whether the decoder follows the boundaries; frames: whether valid.
        bool locked;
        //! Streams: neither a posterior of this frame, because of where it begins, nor
        //! one of the frame before, because of what it did not look at, is off by more
        //! than this (to first order, 0 to 1) from what the whole stream says. 1 where
        //! items were lost or inserted before the frame, or the frame before was not
        //! locked.
        double bound;
    };

    //! \throws std::invalid_argument, or std::runtime_error if CUDA cannot be had
    explicit sync_decoder(const sync_options& options, decoder_hooks hooks = {});

    /*!
     * \brief Takes a frame, unless every slot is in flight: then it says false.
     *
     * Not while input is lent; end_frame() takes a frame then.
     * \param items the frame's received items, of sync_options::item_bytes() each
     * \param count how many they are; any number
     * \param priors frame_symbols × q weights of the symbols, with options.priors
     */
    bool push_frame(const void* items, std::size_t count, const float* priors = nullptr);

    //! Streams: takes up to \p count items, and says how many it took. Frames: takes
    //! items of a frame that comes in parts; so does lend().
    std::size_t push(const void* items, std::size_t count);
    //! Frames that come in parts: what came since the last one is a frame, unless every
    //! slot is in flight: then it says false. \p priors as above
    bool end_frame(const float* priors = nullptr);
    //! Frames that are lent: passes over items between two, as many as there is room for
    //! and at most \p count, and says how many.
    std::size_t skip(std::size_t count);

    //! The next frame in order, if it is decoded.
    bool pull(frame& f);

    //! Decodes with another channel, of the same alphabet, from the next frame on. Waits
    //! for the frames in flight, which must then be pulled before more are pushed.
    void set_channel(const bsid_model& channel);

    const sync_options& options() const;
    //! Drifts considered, of a stream about the expected one.
    drift_range window() const;
    //! Symbols of look-ahead of a stream.
    unsigned lookahead() const;
    //! Output bytes of one message symbol.
    std::size_t symbol_bytes() const;
    //! Streams: frames so far that did not begin with what the one before ended with.
    std::uint64_t links_failed() const;
    //! Streams: frames so far that were decoded again because of that.
    std::uint64_t frames_again() const;

private:
    class impl;
    impl& self() const;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_SYNC_MAP_H */
