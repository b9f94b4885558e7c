// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Where a simulation makes its data and noise, and counts: on the host, or on the device
 * that decodes. */

#ifndef INCLUDED_GPUFEC_LAB_DEVICE_LINK_H
#define INCLUDED_GPUFEC_LAB_DEVICE_LINK_H

#include "pipeline/refuse.h"
#include <gnuradio/gpufec/decoder.h>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

namespace gr::gpufec {

enum class link_place {
    automatic, //!< on a device where that can be, else on the host
    host,
    device
};

//! What the options of every simulation say of it. \p Link sends, receives and decodes on
//! a device.
template <class Link, class Options>
struct link_options {
    link_place place = link_place::automatic;
    //! Makes one, or nullptr in a program without CUDA; empty: the host does all.
    std::function<std::unique_ptr<Link>(const Options&)> make;
    //! Told why the host takes over from a device that failed.
    std::function<void(const std::string&)> warn = [](const std::string&) {};
};

//! Why input that \p run decodes cannot be made on a device; "": it can.
inline std::string needs_host(const run_options& run)
{
    return run.where == backend::cpu ? "the CPU decodes"
           : run.devices.size() != 1 ? "several devices decode"
                                     : "";
}

/*!
 * \brief What \p on_device(link) or \p on_host() returns.
 *
 * Data and noise depend on the seed alone, so where a device fails the host begins anew,
 * with the same figures. \p because says why it has to be the host; "": it has not.
 * \throws std::invalid_argument if a device is asked for and cannot be
 */
template <class Options, class OnDevice, class OnHost>
auto simulate_where(const Options& options,
                    const std::string& because,
                    OnDevice&& on_device,
                    OnHost&& on_host)
{
    const auto& link = options.link;
    const bool demanded = link.place == link_place::device;
    if (demanded && !because.empty()) {
        refuse("channel", "\"device\"", "allowed are auto and host, for " + because);
    }
    if (link.place == link_place::host || !because.empty() || !link.make) {
        return on_host();
    }
    try {
        if (const auto made = link.make(options)) {
            return on_device(*made);
        }
        if (demanded) {
            throw std::runtime_error("this build of gr-gpufec has no CUDA");
        }
    } catch (const std::runtime_error& error) {
        if (demanded || options.decoder.where == backend::cuda) {
            throw;
        }
        if (dynamic_cast<const device_error*>(&error)) {
            link.warn(std::string(error.what()) + ": the host makes data and noise");
        }
    }
    return on_host();
}

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_LAB_DEVICE_LINK_H */
