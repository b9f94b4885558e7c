// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The base class of array decoders. For each array, it chooses between a decoder on one
 * CUDA device (for device memory and pinned memory) and a stream decoder. */

#ifndef INCLUDED_GPUFEC_ARRAYS_ARRAY_DECODER_H
#define INCLUDED_GPUFEC_ARRAYS_ARRAY_DECODER_H

#include "device_arrays.h"
#include "pipeline/input_judge.h"
#include <stdexcept>
#include <utility>
#include <vector>

namespace gr::gpufec {

//! Base class of the array decoders of one kind of code.
//! \tparam Host the stream decoder, which has its own threads
//! \tparam Device the interface of the decoder on one CUDA device
template <class Options, class Host, class Device>
class array_decoder
{
public:
    std::function<void()> d_check = [] {};

    std::string active_backend() const
    {
        return d_on_device ? "cuda" : d_host ? d_host->active_backend() : "";
    }
    std::string active_device() const
    {
        return d_on_device ? d_on_device->device()
               : d_host    ? d_host->active_device()
                           : "";
    }

protected:
    explicit array_decoder(const Options& options) : d_options(options) {}
    virtual ~array_decoder() = default;
    virtual std::unique_ptr<Device> make_device(int number) const = 0;
    virtual typename Host::sptr make_host() const { return Host::make(d_options); }

    Host& host()
    {
        d_on_device = nullptr;
        if (!d_host) {
            d_host = make_host();
        }
        return *d_host;
    }

    /*!
     * \brief Calls \p decode with a device's decoder if that decoder can read the input.
     * Returns whether the array was decoded; if not, the caller uses host().
     *
     * Input in a device's memory is always decoded by that device. Input in pinned memory
     * is decoded on a device if \p page_locked is true, the backend is not cpu, and the
     * options name exactly one device.
     * \throws std::runtime_error after an error of the device, if the input is in device
     *         memory or the backend is cuda. Otherwise the function returns false after
     *         such an error, because host() can fail over to the CPU.
     */
    template <class Decode>
    bool decoded_on_device(const memory_place& from, bool page_locked, Decode&& decode)
    {
        d_on_device = nullptr;
        if (from.kind == memory_kind::device) {
            decode(device(from.device));
            return true;
        }
        if (from.kind != memory_kind::page_locked || !page_locked ||
            d_options.backend == backend::cpu || d_options.devices.size() != 1) {
            return false;
        }
        try {
            decode(device(d_options.devices[0]));
            return true;
        } catch (const std::runtime_error&) {
            d_on_device = nullptr;
            d_device.reset();
            if (d_options.backend == backend::cuda) {
                throw;
            }
        }
        return false;
    }

    // Passes to \p judge the first items, at most max_judged, of an array that a device
    // decodes. Only one array per decoder is judged, because the judged items are copied
    // to the host. Does nothing if the options disable verdicts.
    void judge_first(input_judge& judge,
                     const void* in,
                     std::size_t items,
                     std::size_t item_bytes)
    {
        if (!d_options.watch || std::exchange(d_judged, true)) {
            return;
        }
        std::vector<std::byte> sample(std::min(items, max_judged) * item_bytes);
        copy_memory(sample.data(), in, sample.size());
        judge.look_at(sample.data(), 0, sample.size() / item_bytes);
    }

    Options d_options;

private:
    static constexpr std::size_t max_judged = 1u << 18;

    bool d_judged = false;
    Device& device(int number)
    {
        if (!d_device || d_device_number != number) {
            d_device = make_device(number);
            d_device_number = number;
        }
        d_on_device = d_device.get();
        return *d_device;
    }

    typename Host::sptr d_host;
    std::unique_ptr<Device> d_device;
    int d_device_number = -1;
    // Equals d_device if the last array was decoded on a device; otherwise null.
    const Device* d_on_device = nullptr;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_ARRAYS_ARRAY_DECODER_H */
