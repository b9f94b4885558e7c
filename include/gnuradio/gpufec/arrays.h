// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Decoding of whole arrays in one call. Arrays may be in ordinary memory, pinned memory
 * or memory of a CUDA device. */

#ifndef INCLUDED_GPUFEC_ARRAYS_H
#define INCLUDED_GPUFEC_ARRAYS_H

#include <gnuradio/gpufec/api.h>
#include <gnuradio/gpufec/ldpc.h>
#include <gnuradio/gpufec/sync_map.h>
#include <gnuradio/gpufec/sync_reads.h>
#include <gnuradio/gpufec/viterbi.h>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace gr::gpufec {

enum class memory_kind {
    ordinary,
    page_locked, //!< pinned memory of the host, which devices read at full speed
    device       //!< memory of a CUDA device
};

struct memory_place {
    memory_kind kind = memory_kind::ordinary;
    int device = 0; //!< number of the device, if kind is device
};

//! Returns the kind of memory that \p data points to.
GPUFEC_API memory_place place_of(const void* data);

//! Waits for all work on a CUDA stream. \p stream is the address of the stream; 0 and 1
//! are the legacy default stream, 2 is that of the calling thread. \throws device_error
GPUFEC_API void wait_for_stream(int device, std::uintptr_t stream);

//! Copies between memory of any kind and waits for the end of the copy.
//! \throws device_error
GPUFEC_API void copy_memory(void* to, const void* from, std::size_t bytes);

//! Owner of memory of any kind.
class GPUFEC_API array_memory
{
public:
    //! Allocates pinned memory, or ordinary memory if there is no CUDA device.
    //! \throws std::bad_alloc
    static std::shared_ptr<array_memory> page_locked(std::size_t bytes);
    //! Allocates memory of a CUDA device. \throws device_error, or std::runtime_error if
    //! there is no such device
    static std::shared_ptr<array_memory> on_device(std::size_t bytes, int device);

    virtual ~array_memory() = default;
    void* data() const { return d_data; }
    std::size_t bytes() const { return d_bytes; }
    memory_place place() const { return d_place; }

protected:
    array_memory(void* data, std::size_t bytes, memory_place place)
        : d_data(data), d_bytes(bytes), d_place(place)
    {
    }
    void* d_data;
    std::size_t d_bytes;
    memory_place d_place;
};

/*!
 * \brief Viterbi decoder of arrays of soft values: a whole stream, or any number of
 * frames.
 *
 * The output is that of a viterbi_decoder, in memory of any kind. Input in device memory
 * is decoded by that device. Only one thread at a time may call it.
 */
class GPUFEC_API viterbi_array_decoder
{
public:
    struct status {
        //! Means over viterbi_decoder::take_stream_statistics(); NaN for device memory.
        double channel_error_rate, metric;
        //! See viterbi_decoder::chance_error_rate().
        double chance_error_rate;
        //! See decoder::verdict(). Only the first array in device memory is checked.
        std::string verdict;
        //! With options.lock "auto": state at the end of the array.
        viterbi_lock lock{};
        //! With options.lock "auto": changes since the last call, in their order.
        std::vector<viterbi_lock> lock_changes{};
    };

    /*!
     * \param options of the decoder
     * \param packed_output whether the output has eight bits per byte, the first most
     *        significant, or one
     * \param expected input items of the largest array, to limit the memory that is
     *        allocated; 0: not known
     * \throws std::invalid_argument
     */
    viterbi_array_decoder(const viterbi_options& options,
                          bool packed_output,
                          std::uint64_t expected = 0);
    ~viterbi_array_decoder();

    //! Returns D, the number of decoded stages of a parallel block.
    unsigned decode_length() const;
    //! Returns L, the number of further stages on either side of a parallel block.
    unsigned overlap() const;
    //! Returns the input items per frame; 0 if streaming.
    std::uint64_t items_per_frame() const;
    //! Returns the output items (bytes, or bits one per byte) for \p items input items,
    //! in frames a multiple of items_per_frame(). For decoders without lock.
    //! \throws std::invalid_argument for another number
    std::uint64_t output_items(std::uint64_t items) const;

    /*!
     * \brief Decodes \p items items to output_items(items) bytes at \p out.
     *
     * It returns once the output is complete. \throws device_error;
     * std::invalid_argument or std::runtime_error if the decoder cannot be made;
     * std::invalid_argument as output_items(), and with options.lock "auto", which
     * requires decode_stream() as the length of the output is not known beforehand
     */
    status decode(const void* in, std::uint64_t items, void* out);

    /*!
     * \brief Decodes the next \p items items of a stream in host memory, and returns the
     * output that is ready. For streaming, and with options.lock "auto".
     *
     * Consecutive calls give the output of one decode() of all items. decode() discards a
     * stream that has not ended.
     * \param in the items
     * \param items their number; any
     * \param last whether the stream ends with them
     * \param so_far if not nullptr, gets the status since the beginning of the stream
     * \throws std::invalid_argument for frames without lock, and for device memory; and
     *         as decode(), after which the stream is discarded
     */
    std::vector<std::uint8_t> decode_stream(const void* in,
                                            std::uint64_t items,
                                            bool last,
                                            status* so_far = nullptr);

    //! Sets a function that decode() calls about every 50 ms in the caller's thread. An
    //! exception that it throws ends the call and reaches the caller; the decoder can be
    //! used again.
    void set_check(std::function<void()> check);

    //! Returns the backend that has decoded, "cuda" or "cpu".
    std::string active_backend() const;
    //! Returns the name of the device that has decoded.
    std::string active_device() const;

private:
    class impl;
    const std::unique_ptr<impl> d_impl;
};

/*!
 * \brief LDPC decoder of arrays of channel values of frames of one code.
 *
 * The output is that of an ldpc_decoder. A device reads input in its own memory and in
 * pinned memory in place. Only one thread at a time may call it.
 */
class GPUFEC_API ldpc_array_decoder
{
public:
    struct status {
        std::uint32_t iterations;  //!< number of iterations
        std::uint32_t unsatisfied; //!< number of violated checks
    };

    //! \p options must have one code and no symbols. \throws std::invalid_argument
    ldpc_array_decoder(const ldpc_options& options, bool packed_output);
    ~ldpc_array_decoder();

    //! Returns the channel values per frame.
    std::size_t items_per_frame() const;
    //! Returns the output items (bytes, or bits one per byte) per frame.
    std::size_t output_items() const;

    /*!
     * \brief Decodes \p frames consecutive frames at \p in to \p out, with one status for
     * each in ordinary memory.
     *
     * It returns once the output is complete. \throws device_error;
     * std::invalid_argument or std::runtime_error if the decoder cannot be made
     */
    void decode(const void* in, std::size_t frames, void* out, status* statuses);

    //! Returns decoder::verdict() of the last call. Only the first array in device memory
    //! is checked.
    const std::string& verdict() const;

    //! Sets a function that decode() calls about every 50 ms in the caller's thread. An
    //! exception that it throws ends the call and reaches the caller; the decoder can be
    //! used again.
    void set_check(std::function<void()> check);

    //! Returns the backend that has decoded, "cuda" or "cpu".
    std::string active_backend() const;
    //! Returns the name of the device that has decoded.
    std::string active_device() const;

private:
    class impl;
    const std::unique_ptr<impl> d_impl;
};

/*!
 * \brief Synchronisation decoder of arrays of received items, in frames or as a stream.
 *
 * The output is that of a sync_decoder; with several reads, that of a sync_reads_decoder.
 * A device reads frames of one read without priors in its own memory and in pinned memory
 * in place; other items must be in host memory. Only one thread at a time may call it.
 */
class GPUFEC_API sync_array_decoder
{
public:
    //! Decoded frames of a stream.
    struct frames {
        std::vector<std::uint8_t> output; //!< frame_bytes() each
        std::vector<sync_status> statuses;
        std::vector<std::int64_t> begins; //!< item with which each most likely begins
        std::vector<std::uint8_t> locked; //!< whether the decoder tracks the boundaries
    };

    //! \throws std::invalid_argument
    explicit sync_array_decoder(const sync_reads_options& options);
    ~sync_array_decoder();

    //! Returns the output bytes per frame.
    std::size_t frame_bytes() const;
    //! Returns the received copies per frame.
    unsigned reads() const;

    /*!
     * \brief Mode framed: decodes \p count frames. Frame f has the lengths[f] items from
     * item begins[f] on. With several reads, read r of frame f has number
     * f · reads + r.
     *
     * \param items of all frames, of sync_options::item_bytes() each
     * \param begins first item of each read
     * \param lengths number of items of each read
     * \param count number of frames
     * \param priors frame_symbols × q floats per frame, with options.priors, or nullptr
     * \param out frame_bytes() per frame
     * \param statuses one per frame
     */
    void decode(const void* items,
                const std::uint64_t* begins,
                const std::uint64_t* lengths,
                std::size_t count,
                const float* priors,
                void* out,
                sync_status* statuses);

    //! Mode stream: decodes the next \p count items of a stream, which ends with them if
    //! \p last, and returns the frames that are ready. An exception discards the stream.
    frames decode_stream(const void* items, std::size_t count, bool last = true);

    //! Sets a function that decode() calls about every 50 ms in the caller's thread. An
    //! exception that it throws ends the call and reaches the caller; the decoder can be
    //! used again.
    void set_check(std::function<void()> check);

    //! Returns the backend that has decoded, "cuda" or "cpu".
    std::string active_backend() const;
    //! Returns the name of the device that has decoded.
    std::string active_device() const;

private:
    class impl;
    const std::unique_ptr<impl> d_impl;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_ARRAYS_H */
