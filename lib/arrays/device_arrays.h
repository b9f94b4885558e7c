// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Decoding of arrays in device memory or pinned memory by one CUDA device, without copies
 * by the host. */

#ifndef INCLUDED_GPUFEC_ARRAYS_DEVICE_ARRAYS_H
#define INCLUDED_GPUFEC_ARRAYS_DEVICE_ARRAYS_H

#include "common/host_memory.h"
#include <gnuradio/gpufec/arrays.h>

namespace gr::gpufec {

//! Memory of the host that is not pinned.
class ordinary_array_memory : public array_memory
{
public:
    explicit ordinary_array_memory(std::size_t bytes)
        : array_memory(nullptr, bytes, {}), d_memory(bytes)
    {
        d_data = d_memory.data();
    }

private:
    const host_memory d_memory;
};

//! Arguments of a call of decode(). Output may be in memory of any kind.
struct device_call {
    const std::byte* in;
    std::byte* out;
    //! Called after each batch; an exception ends the call.
    const std::function<void()>& check;
};

class device_viterbi
{
public:
    virtual ~device_viterbi() = default;
    //! Decodes \p items items. An item is one soft value or one byte with two packed
    //! values.
    virtual void decode(const device_call& call, std::uint64_t items) = 0;
    virtual std::string device() const = 0;
};

class device_ldpc
{
public:
    virtual ~device_ldpc() = default;
    //! Decodes \p frames codewords and writes one status per codeword.
    virtual void decode(const device_call& call,
                        std::size_t frames,
                        ldpc_array_decoder::status* statuses) = 0;
    virtual std::string device() const = 0;
};

class device_sync
{
public:
    virtual ~device_sync() = default;
    //! Decodes frames and writes one status per frame. Frame f has lengths[f] items, the
    //! first at index begins[f].
    virtual void decode(const device_call& call,
                        const std::uint64_t* begins,
                        const std::uint64_t* lengths,
                        std::size_t frames,
                        sync_status* statuses) = 0;
    virtual std::string device() const = 0;
};

//! Creates a decoder on a device.
//! \throws std::invalid_argument if an option is not allowed
//! \throws std::runtime_error if there is no such device
std::unique_ptr<device_viterbi>
make_device_viterbi(const viterbi_options& options, bool packed, int device);
//! \copydoc make_device_viterbi
std::unique_ptr<device_ldpc>
make_device_ldpc(const ldpc_options& options, bool packed, int device);
//! \copydoc make_device_viterbi
std::unique_ptr<device_sync> make_device_sync(const sync_options& options, int device);

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_ARRAYS_DEVICE_ARRAYS_H */
