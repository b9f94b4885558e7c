// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* What decodes an array: a device where the array lies in its memory or in memory that it
 * reads, else the host's decoder. */

#ifndef INCLUDED_GPUFEC_ARRAYS_ARRAY_DECODER_H
#define INCLUDED_GPUFEC_ARRAYS_ARRAY_DECODER_H

#include "device_arrays.h"
#include <optional>
#include <stdexcept>

namespace gr::gpufec {

template <class Options, class Host, class Device>
class array_decoder
{
public:
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

    Host& host()
    {
        if (!d_host) {
            d_host.emplace(d_options);
        }
        return *d_host;
    }

    /*!
     * \brief Calls \p decode with a device's decoder if that suits \p from.
     *
     * Page-locked memory suits if \p page_locked. Where it fails, the answer is false:
     * the host's decoder has its own way of going on.
     * \throws std::runtime_error if input lies on the device, or backend cuda is asked
     * for
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
            d_options.where == backend::cpu || d_options.devices.size() != 1) {
            return false;
        }
        try {
            decode(device(d_options.devices[0]));
            return true;
        } catch (const std::runtime_error&) {
            d_on_device = nullptr;
            d_device.reset();
            if (d_options.where == backend::cuda) {
                throw;
            }
        }
        return false;
    }

    Options d_options;

private:
    Device& device(int number)
    {
        if (!d_device || d_device_number != number) {
            d_device = make_device(number);
            d_device_number = number;
        }
        d_on_device = d_device.get();
        return *d_device;
    }

    std::optional<Host> d_host;
    std::unique_ptr<Device> d_device;
    int d_device_number = -1;
    const Device* d_on_device = nullptr; // what decoded last, if it was that
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_ARRAYS_ARRAY_DECODER_H */
