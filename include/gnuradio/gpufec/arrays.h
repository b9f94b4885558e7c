// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Decoding of what lies in memory as a whole: arrays in, arrays out. It may be ordinary
 * memory, memory whose pages are locked, or that of a CUDA device.
 */

#ifndef INCLUDED_GPUFEC_ARRAYS_H
#define INCLUDED_GPUFEC_ARRAYS_H

#include <gnuradio/gpufec/api.h>
#include <gnuradio/gpufec/ldpc.h>
#include <gnuradio/gpufec/sync_map.h>
#include <gnuradio/gpufec/sync_reads.h>
#include <gnuradio/gpufec/viterbi.h>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gr::gpufec {

enum class memory_kind {
    ordinary,
    page_locked, //!< of the host, which devices copy from at full speed
    device       //!< of a CUDA device
};

struct memory_place {
    memory_kind kind = memory_kind::ordinary;
    int device = 0; //!< of memory of a device
};

//! What memory \p data points to.
GPUFEC_API memory_place place_of(const void* data);

//! Sleeps until what was put on a CUDA stream is done. \p stream is the address of the
//! stream; 0 and 1 are the legacy default stream, 2 is that of the calling thread.
//! \throws device_error
GPUFEC_API void wait_for_stream(int device, std::uintptr_t stream);

//! Copies between memory of any kind, and returns when it is done. \throws device_error
GPUFEC_API void copy_memory(void* to, const void* from, std::size_t bytes);

//! Memory that is given back when its owner goes.
class GPUFEC_API array_memory
{
public:
    //! Page-locked memory where there is a CUDA device, else memory that is not.
    //! \throws std::bad_alloc
    static std::shared_ptr<array_memory> page_locked(std::size_t bytes);
    //! Memory of a CUDA device. \throws device_error, or std::runtime_error if there is
    //! no such device
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
 * \brief Decodes arrays of soft values: a stream as a whole, or any number of frames.
 *
 * The output is that of a viterbi_decoder. Memory of a device is decoded where it is, and
 * the output goes to memory of any kind. One thread at a time calls it.
 */
class GPUFEC_API viterbi_array_decoder
{
public:
    struct status {
        //! Means over the places where viterbi_decoder::take_stream_statistics() gives
        //! them; NaN of device memory.
        double channel_error_rate, metric;
    };

    /*!
     * \param options of the decoder
     * \param packed_output eight bits per byte, first bit most significant, else one
     * \param expected input items of the largest array, so that no more memory is taken
     *        than that needs; 0: any
     * \throws std::invalid_argument
     */
    viterbi_array_decoder(const viterbi_options& options,
                          bool packed_output,
                          std::uint64_t expected = 0);
    ~viterbi_array_decoder();

    //! Decoded stages of a parallel block, and the stages on either side of it.
    unsigned decode_length() const;
    unsigned overlap() const;
    //! Input items per frame; 0 in streaming.
    std::uint64_t items_per_frame() const;
    //! Output items (bytes, or bits one per byte) of so many input items, which in frames
    //! are a multiple of items_per_frame().
    std::uint64_t output_items(std::uint64_t items) const;

    /*!
     * \brief Decodes \p items items to output_items(items) bytes at \p out.
     *
     * It returns once the output is there. \throws device_error, or std::invalid_argument
     * or std::runtime_error where the decoder cannot be made
     */
    status decode(const void* in, std::uint64_t items, void* out);

    //! "cuda" or "cpu", and the device: what has decoded.
    std::string active_backend() const;
    std::string active_device() const;

private:
    class impl;
    const std::unique_ptr<impl> d_impl;
};

/*!
 * \brief Decodes arrays of channel values of frames of one code.
 *
 * The output is that of an ldpc_decoder. Memory of a device is decoded where it is, and
 * so is page-locked memory. One thread at a time calls it.
 */
class GPUFEC_API ldpc_array_decoder
{
public:
    struct status {
        std::uint32_t iterations;  //!< that were made
        std::uint32_t unsatisfied; //!< checks that the decisions violate
    };

    //! \p options with one code. \throws std::invalid_argument
    ldpc_array_decoder(const ldpc_options& options, bool packed_output);
    ~ldpc_array_decoder();

    //! Channel values of a frame.
    std::size_t items_per_frame() const;
    //! Output items (bytes, or bits one per byte) of a frame.
    std::size_t output_items() const;

    /*!
     * \brief Decodes \p frames frames, one after the other at \p in, to \p out; with one
     * \p status for each, in ordinary memory.
     *
     * It returns once the output is there. \throws device_error, or std::invalid_argument
     * or std::runtime_error where the decoder cannot be made
     */
    void decode(const void* in, std::size_t frames, void* out, status* statuses);

    //! "cuda" or "cpu", and the device: what has decoded.
    std::string active_backend() const;
    std::string active_device() const;

private:
    class impl;
    const std::unique_ptr<impl> d_impl;
};

/*!
 * \brief Decodes arrays of received items, in frames or as a stream.
 *
 * The output is that of a sync_decoder; of several reads, that of a sync_reads_decoder.
 * Frames of one read without priors may lie in memory of a device, which decodes them
 * there, and so it does from page-locked memory; other items lie in memory of the host.
 * One thread at a time calls it.
 */
class GPUFEC_API sync_array_decoder
{
public:
    //! Frames that a stream has given.
    struct frames {
        std::vector<std::uint8_t> output; //!< frame_bytes() each
        std::vector<sync_status> statuses;
        std::vector<std::int64_t> begins; //!< the item each most likely begins with
        std::vector<std::uint8_t> locked; //!< whether boundaries are followed
    };

    //! \throws std::invalid_argument
    explicit sync_array_decoder(const sync_reads_options& options);
    ~sync_array_decoder();

    //! Output bytes of a frame.
    std::size_t frame_bytes() const;
    //! Received copies of a frame.
    unsigned reads() const;

    /*!
     * \brief Mode framed: decodes \p count frames, frame f of which is the \p lengths[f]
     * items from item \p begins[f] on. With several reads those of a frame follow one
     * another: read r of frame f has number f · reads + r.
     *
     * \param items of all frames, of sync_options::item_bytes() each
     * \param begins of each read
     * \param lengths of each read
     * \param count of frames
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

    //! Mode stream: decodes \p count items to their end.
    frames decode_stream(const void* items, std::size_t count);

    //! "cuda" or "cpu", and the device: what has decoded.
    std::string active_backend() const;
    std::string active_device() const;

private:
    class impl;
    const std::unique_ptr<impl> d_impl;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_ARRAYS_H */
