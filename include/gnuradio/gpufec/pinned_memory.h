// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Input and output in the caller's memory, which a GPU reads and writes without a copy.
 */

#ifndef INCLUDED_GPUFEC_PINNED_MEMORY_H
#define INCLUDED_GPUFEC_PINNED_MEMORY_H

#include <gnuradio/gpufec/api.h>
#include <gnuradio/gpufec/decoder.h>
#include <cstddef>

namespace gr::gpufec {

/*!
 * \brief Memory of the caller, such as a ring buffer, in which a decoder reads its input.
 *
 * The memory is pinned (page-locked) while the object exists, so that a GPU can read it.
 * Destroy the object before the decoder and before the memory. Input can also be borrowed
 * if pinning fails.
 */
class GPUFEC_API pinned_input
{
public:
    //! Returns the size in bytes of the input that the decoder holds at most. The memory
    //! should be larger than this. Returns 0 if the stream of \p d cannot begin with
    //! borrow(): the stream has begun, or the decoder always copies its input.
    static std::size_t bytes_needed(decoder& d);

    //! Pins \p bytes bytes at \p memory. If this succeeds, the decoder's own input
    //! buffers are not pinned while this object exists.
    pinned_input(decoder& d, void* memory, std::size_t bytes);
    //! Pins nothing, for memory that is pinned already or that a CPU reads.
    explicit pinned_input(decoder& d);
    //! Ends borrowing like end(), but discards exceptions, and unpins the memory.
    ~pinned_input();
    pinned_input(const pinned_input&) = delete;
    pinned_input& operator=(const pinned_input&) = delete;

    //! Returns whether pinning succeeded.
    bool pinned() const { return d_pinned; }
    /*!
     * \brief Accepts input like push(), but reads it in place.
     *
     * The items must not change before release() has released them.
     * \param items pointer to the oldest item not yet released (in the first call, the
     *        first item of the stream)
     * \param count number of items from there on, including those already borrowed
     * \throws std::runtime_error if the device lacks the memory to convert the items
     * \return the number of items that this call borrowed
     */
    std::size_t borrow(const void* items, std::size_t count);
    //! Returns the number of items that are borrowed and not released.
    std::size_t borrowed() const;
    //! Releases the oldest items, up to the first that a batch still needs, and returns
    //! the number of released items.
    std::size_t release();
    //! Ends borrowing: waits for the batches in flight and copies the items that are not
    //! yet part of a batch in flight. Afterwards input continues with push().
    //! \throws device_error if a batch in flight fails
    void end();

private:
    memory_in_place* const d_decoder;
    void* const d_memory;
    const bool d_pinned;
};

/*!
 * \brief Memory of the caller, such as a ring buffer, to which a decoder writes its
 * output in place.
 *
 * The memory is pinned while the object exists, so that a GPU can write it. Destroy the
 * object before the decoder and before the memory. Output that the host must process
 * further cannot be written in place, see bytes_needed(). One bit per byte requires the
 * option bits_in_place.
 *
 * If the decoder abandons a device that may still write to the memory, the decoder maps
 * other pages with the same contents at the same addresses. If that fails, or if the
 * memory does not consist of whole pages, decoding ends with an exception. On processors
 * other than x86-64 a device may write to the new pages too, so memory is not pinned.
 */
class GPUFEC_API pinned_output
{
public:
    //! Returns the size in bytes of the output of all slots. The memory should be larger
    //! than this. Returns 0 if output cannot be written in place, for example of Viterbi
    //! decoders with lock, of frames whose number of bits is not a multiple of 32, of
    //! LDPC decoders with keep_codeword or keep_soft, and of streams of sync_decoder.
    static std::size_t bytes_needed(decoder& d);

    /*!
     * \brief Pins memory.
     *
     * \param d the decoder that writes to the memory
     * \param memory the first byte
     * \param bytes the size
     * \param mapped_twice whether the memory is a ring whose second half maps the same
     *        pages as the first
     */
    pinned_output(decoder& d, void* memory, std::size_t bytes, bool mapped_twice = false);
    //! Ends borrowing like end(), but discards exceptions, and unpins the memory.
    ~pinned_output();
    pinned_output(const pinned_output&) = delete;
    pinned_output& operator=(const pinned_output&) = delete;

    //! Returns whether pinning succeeded. If not, output is copied.
    bool pinned() const { return d_pinned; }
    /*!
     * \brief Borrows a part of the memory for the next output.
     *
     * A GPU may write to this part until all submitted output has been pulled. A pull of
     * this output to its own address needs no copy.
     * \param next the address to which the next output will be pulled; all later output
     *        must follow without a gap
     * \param bytes free bytes at \p next
     * \return whether \p bytes is enough for the output that is still to be pulled and the
     *         output of one more full batch, so that this batch's output is not copied;
     *         always true if all submitted output has been pulled, and without pinning
     */
    bool borrow(void* next, std::size_t bytes);
    //! Ends borrowing: waits for the batches in flight, and keeps their output in the
    //! slots.
    //! \throws device_error if a batch in flight fails
    void end();

private:
    memory_in_place* const d_decoder;
    void* const d_memory;
    const bool d_pinned;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_PINNED_MEMORY_H */
