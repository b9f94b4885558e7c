// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Decoders of whole arrays in one call, and owners of memory for arrays. Arrays may be in
 * ordinary or pinned memory of the host, or in memory of a CUDA device. */

#ifndef INCLUDED_GPUFEC_ARRAYS_H
#define INCLUDED_GPUFEC_ARRAYS_H

#include <gnuradio/gpufec/api.h>
#include <gnuradio/gpufec/ldpc.h>
#include <gnuradio/gpufec/sync_map.h>
#include <gnuradio/gpufec/sync_reads.h>
#include <gnuradio/gpufec/viterbi.h>
#include <gnuradio/gpufec/wifi.h>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace gr::gpufec {

//! Kinds of memory that an array can be in.
enum class memory_kind {
    ordinary,    //!< pageable memory of the host
    page_locked, //!< pinned memory of the host, which devices can read directly
    device       //!< memory of a CUDA device
};

//! Location of an array: the kind of memory and, for device memory, the device.
struct memory_place {
    memory_kind kind = memory_kind::ordinary;
    int device = 0; //!< index of the CUDA device, if kind is device
};

//! Returns the location of the memory that \p data points to. CUDA's managed memory
//! counts as device memory.
GPUFEC_API memory_place place_of(const void* data);

/*!
 * \brief Waits for all work on a CUDA stream.
 * \param device index of the CUDA device
 * \param stream the cudaStream_t as an integer; 0 and 1 are the legacy default stream, 2
 *        is the default stream of the calling thread
 * \throws device_error if the wait fails
 * \throws std::runtime_error in a build without CUDA
 */
GPUFEC_API void wait_for_stream(int device, std::uintptr_t stream);

//! Copies between two locations of any kind and waits for the end of the copy.
//! \throws device_error if the copy fails
GPUFEC_API void copy_memory(void* to, const void* from, std::size_t bytes);

//! Owner of a block of memory of any kind, which its destructor frees.
class GPUFEC_API array_memory
{
public:
    //! Allocates \p bytes bytes, 0 or more, of pinned memory, or of ordinary memory if
    //! there is no CUDA device.
    //! \throws std::bad_alloc if there is not enough memory
    static std::shared_ptr<array_memory> page_locked(std::size_t bytes);
    //! Allocates \p bytes bytes, 0 or more, of memory of the CUDA device with index
    //! \p device, from 0.
    //! \throws device_error if the allocation fails
    //! \throws std::runtime_error if there is no such device
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
 * The decoded bits equal those of a viterbi_decoder. Input in device memory is decoded by
 * that device, and its output may be in memory of any kind. Input in host memory requires
 * output in host memory. Only one thread at a time may call a decoder.
 */
class GPUFEC_API viterbi_array_decoder
{
public:
    //! Results of decoding besides the output.
    struct status {
        //! Means of the fields of viterbi_decoder::take_stream_statistics() over the
        //! array. NaN if the array was empty, or if a device decoded it without
        //! statistics (device memory and pinned floats).
        double channel_error_rate, metric;
        //! See viterbi_decoder::chance_error_rate().
        double chance_error_rate;
        //! See decoder::verdict(). Only the first of the arrays that were decoded without
        //! statistics is checked.
        std::string verdict;
        //! With options.lock "auto": lock state at the end of the array.
        viterbi_lock lock{};
        //! With options.lock "auto": changes of the lock state since the last call, the
        //! oldest first.
        std::vector<viterbi_lock> lock_changes{};
    };

    /*!
     * \param options code and options of the decoder
     * \param packed_output true: eight bits per output byte, the first most significant;
     *        false: one bit per byte
     * \param expected number of input items of the largest array, which limits the memory
     *        that is allocated; 0: unknown
     * \throws std::invalid_argument if an option is not allowed
     */
    viterbi_array_decoder(const viterbi_options& options,
                          bool packed_output,
                          std::uint64_t expected = 0);
    ~viterbi_array_decoder();

    //! Returns D, the number of decoded stages of a parallel block.
    unsigned decode_length() const;
    //! Returns L, the number of further stages on either side of a parallel block.
    unsigned overlap() const;
    //! Returns the number of input items per frame; 0 if streaming.
    std::uint64_t items_per_frame() const;
    /*!
     * \brief Returns the number of output bytes for \p items items with lock "off".
     * \param items number of input items; in frames, a multiple of items_per_frame()
     * \throws std::invalid_argument for any other number
     */
    std::uint64_t output_items(std::uint64_t items) const;

    /*!
     * \brief Decodes an array and returns once the output is complete.
     *
     * With options.lock "auto", the length of the output is not known beforehand; use
     * decode_stream().
     * \param in input items in the format of the options: int8, uint8, float, or with
     *        packed4 bytes of two soft values
     * \param items number of items, as in output_items()
     * \param out output of output_items(items) bytes
     * \throws std::invalid_argument for a number of items that output_items() refuses,
     *         with options.lock "auto", or if the decoder cannot be made
     * \throws std::runtime_error if the decoder cannot be made on the device
     * \throws device_error if the device fails
     */
    status decode(const void* in, std::uint64_t items, void* out);

    /*!
     * \brief Decodes the next items of a stream and returns the output that is ready.
     *
     * Valid with the termination "streaming" or with the lock "auto". The output of
     * consecutive calls, joined, equals the output of one decode() of all items. decode()
     * discards a stream that has not ended.
     * \param in input items as in decode(), in host memory
     * \param items number of items
     * \param last whether the stream ends with these items
     * \param so_far receives the status since the beginning of the stream; may be nullptr
     * \throws std::invalid_argument for frames without lock, and for device memory
     * \throws std::runtime_error, std::invalid_argument or device_error like decode();
     *         the stream is then discarded
     */
    std::vector<std::uint8_t> decode_stream(const void* in,
                                            std::uint64_t items,
                                            bool last,
                                            status* so_far = nullptr);

    //! Sets a function that is called in the caller's thread during decoding, about every
    //! 50 ms or after each batch of a device. An exception of the function ends the call
    //! and reaches the caller; the decoder can be used again.
    void set_check(std::function<void()> check);

    //! Returns the backend that decoded the last array: "cuda", "cpu", or "" before the
    //! first.
    std::string active_backend() const;
    //! Returns the name of the device or the instruction set of the CPU that decoded the
    //! last array; "" before the first.
    std::string active_device() const;

private:
    class impl;
    const std::unique_ptr<impl> d_impl;
};

/*!
 * \brief LDPC decoder of arrays of channel values (LLRs), for frames of one code.
 *
 * The output equals that of an ldpc_decoder. A device reads input in its own memory and
 * in pinned memory without a copy by the host. Input in host memory requires output in
 * host memory. Only one thread at a time may call a decoder.
 */
class GPUFEC_API ldpc_array_decoder
{
public:
    using status = ldpc_status;

    /*!
     * \param options one code, which sends no bit more than once, and its parameters;
     *        symbol input is not allowed
     * \param packed_output true: eight bits per output byte, the first most significant;
     *        false: one bit per byte; ignored for LLRs
     * \throws std::invalid_argument if an option is not allowed
     */
    ldpc_array_decoder(const ldpc_options& options, bool packed_output);
    /*!
     * \brief Makes a decoder whose frame is a Wi-Fi PPDU.
     *
     * Items are wifi_ppdu::coded_bits() values in and wifi_ppdu::payload_bits() bits out.
     * Input must be in host memory. The statuses are those of make_wifi_ppdu_decoder().
     * \param ppdu the format of all PPDUs
     * \param options as in make_wifi_ppdu_decoder()
     * \param packed_output as in the constructor above
     * \throws std::invalid_argument if an option is not allowed
     */
    ldpc_array_decoder(const wifi_ppdu& ppdu,
                       const ldpc_options& options,
                       bool packed_output);
    ~ldpc_array_decoder();

    //! Returns the number of channel values per frame: the code's sent(), or the PPDU's
    //! coded_bits().
    std::size_t items_per_frame() const;
    //! Returns the number of output bytes per frame.
    std::size_t output_items() const;

    /*!
     * \brief Decodes consecutive frames and returns once the output is complete.
     * \param in frames × items_per_frame() channel values in the format of the options
     * \param frames number of frames
     * \param out output of output_items() bytes per frame
     * \param statuses one per frame, in host memory
     * \throws std::invalid_argument if the decoder cannot be made
     * \throws std::runtime_error if the decoder cannot be made on the device
     * \throws device_error if the device fails
     */
    void decode(const void* in, std::size_t frames, void* out, status* statuses);

    //! Returns decoder::verdict() of the last call. If a device reads arrays in device or
    //! pinned memory, the values of the decoder's first array only are checked.
    const std::string& verdict() const;

    //! Sets a function that is called in the caller's thread during decoding, about every
    //! 50 ms or after each batch of a device. An exception of the function ends the call
    //! and reaches the caller; the decoder can be used again.
    void set_check(std::function<void()> check);

    //! Returns the backend that decoded the last array: "cuda", "cpu", or "" before the
    //! first.
    std::string active_backend() const;
    //! Returns the name of the device or the instruction set of the CPU that decoded the
    //! last array; "" before the first.
    std::string active_device() const;

private:
    class impl;
    const std::unique_ptr<impl> d_impl;
};

/*!
 * \brief Synchronisation decoder of arrays of received items, in frames or as a stream.
 *
 * The output equals that of a sync_decoder or, if a frame has several received copies
 * (reads), that of a sync_reads_decoder. With one read and no priors, a device reads
 * items in its own memory and in pinned memory without a copy by the host. Other items
 * must be in host memory. Items in host memory require output in host memory. Only one
 * thread at a time may call a decoder.
 */
class GPUFEC_API sync_array_decoder
{
public:
    //! Decoded frames of a stream. All vectors but output have one entry per frame.
    struct frames {
        std::vector<std::uint8_t> output;  //!< frame_bytes() bytes per frame
        std::vector<sync_status> statuses; //!< drifts and validity of each frame
        std::vector<std::int64_t> begins;  //!< item with which a frame most likely begins
        std::vector<std::uint8_t> locked;  //!< 1: the decoder tracks the boundaries
    };

    //! \throws std::invalid_argument if an option is not allowed
    explicit sync_array_decoder(const sync_reads_options& options);
    ~sync_array_decoder();

    //! Returns the number of output bytes per frame.
    std::size_t frame_bytes() const;
    //! Returns the number of reads (received copies) per frame.
    unsigned reads() const;

    /*!
     * \brief Mode framed: decodes frames and returns once the output is complete.
     *
     * Read r of frame f consists of lengths[i] items from item begins[i] on, with
     * i = f · reads() + r.
     * \param items received items, of sync_options::item_bytes() bytes each
     * \param begins index of the first item of each read
     * \param lengths number of items of each read
     * \param count number of frames
     * \param priors frame_symbols × q weights per frame, or nullptr; see options.priors
     * \param out output of frame_bytes() bytes per frame
     * \param statuses one per frame, in host memory
     * \throws std::invalid_argument in mode stream, for items in device memory with
     *         priors or several reads, or if the decoder cannot be made
     * \throws std::runtime_error if the decoder cannot be made on the device
     * \throws device_error if the device fails
     */
    void decode(const void* items,
                const std::uint64_t* begins,
                const std::uint64_t* lengths,
                std::size_t count,
                const float* priors,
                void* out,
                sync_status* statuses);

    /*!
     * \brief Mode stream: decodes the next items of a stream and returns the frames that
     * are ready.
     *
     * After an exception the stream is discarded.
     * \param items received items in host memory, of sync_options::item_bytes() bytes
     *        each
     * \param count number of items
     * \param last whether the stream ends with these items
     * \throws std::invalid_argument in mode framed; the exceptions of decode()
     */
    frames decode_stream(const void* items, std::size_t count, bool last = true);

    //! Sets a function that is called in the caller's thread during decoding, about every
    //! 50 ms or after each batch of a device. An exception of the function ends the call
    //! and reaches the caller; the decoder can be used again.
    void set_check(std::function<void()> check);

    //! Returns the backend that decoded the last array, "cuda" or "cpu". Before the first
    //! array, a decoder with one read returns "".
    std::string active_backend() const;
    //! Returns the name of the device or the instruction set of the CPU that decoded the
    //! last array. Before the first array, a decoder with one read returns "".
    std::string active_device() const;

private:
    class impl;
    const std::unique_ptr<impl> d_impl;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_ARRAYS_H */
