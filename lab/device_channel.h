// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Selects where a simulation generates data and noise and counts errors: on the host, or
 * on the device that decodes. */

#ifndef INCLUDED_GPUFEC_LAB_DEVICE_CHANNEL_H
#define INCLUDED_GPUFEC_LAB_DEVICE_CHANNEL_H

#include "common/refuse.h"
#include <gnuradio/gpufec/decoder.h>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

namespace gr::gpufec {

enum class channel_place {
    automatic, //!< on a device if possible, otherwise on the host
    host,
    device
};

//! Selects where a simulation runs, and has callbacks that make a device channel
//! (\p Link) and report its failure.
template <class Link, class Options>
struct channel_options {
    channel_place place = channel_place::automatic;
    //! Makes a device channel; returns nullptr in a build without CUDA. If the function
    //! is empty, the host is used.
    std::function<std::unique_ptr<Link>(const Options&)> make;
    //! Callback with the reason of a device's failure, before the host repeats the
    //! simulation.
    std::function<void(const std::string&)> warn = [](const std::string&) {};
};

//! Returns why a device cannot generate the input for \p run, or "" if it can.
inline std::string needs_host(const run_options& run)
{
    return run.backend == backend::cpu ? "the CPU decodes"
           : run.devices.size() != 1   ? "several devices decode"
                                       : "";
}

/*!
 * \brief Returns the result of \p on_device(channel) or of \p on_host().
 *
 * If a device fails or cannot be used, the function calls \p on_host() or throws one of
 * the exceptions below. The results of host and device are equal, because data and noise
 * depend only on the seed.
 * \param because the reason why a device cannot be used, or ""
 * \throws std::invalid_argument if the options demand a device and \p because is not
 *         empty
 * \throws std::runtime_error if the options demand a device and the build has no CUDA,
 *         or if a device or the CUDA backend is demanded and the device fails
 */
template <class Options, class OnDevice, class OnHost>
auto simulate_where(const Options& options,
                    const std::string& because,
                    OnDevice&& on_device,
                    OnHost&& on_host)
{
    const auto& simulated_channel = options.simulated_channel;
    const bool demanded = simulated_channel.place == channel_place::device;
    if (demanded && !because.empty()) {
        refuse("channel",
               "\"device\"",
               "allowed values are auto and host, because " + because);
    }
    if (simulated_channel.place == channel_place::host || !because.empty() ||
        !simulated_channel.make) {
        return on_host();
    }
    try {
        if (const auto made = simulated_channel.make(options)) {
            return on_device(*made);
        }
        if (demanded) {
            throw std::runtime_error("this build of gr-gpufec has no CUDA");
        }
    } catch (const std::runtime_error& error) {
        if (demanded || options.decoder.backend == backend::cuda) {
            throw;
        }
        if (dynamic_cast<const device_error*>(&error)) {
            simulated_channel.warn(std::string(error.what()) +
                                   "; the host makes data and noise instead");
        }
    }
    return on_host();
}

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_LAB_DEVICE_CHANNEL_H */
