// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Conversion of block parameters to a decoder's options, with the checks that the
 * options' unsigned types cannot express. */

#ifndef INCLUDED_GPUFEC_BLOCKS_COMMON_PARAMETERS_H
#define INCLUDED_GPUFEC_BLOCKS_COMMON_PARAMETERS_H

#include "blocks/device/device_ports.h"
#include "common/refuse.h"
#include <gnuradio/gpufec/decoder.h>
#include <string>
#include <vector>

namespace gr::gpufec {

/*!
 * \brief Returns the int \p value of a parameter as an unsigned number.
 * \throws std::invalid_argument if \p value is negative
 */
inline unsigned
not_negative(const std::string& name, int value, const std::string& allowed = "0 or more")
{
    require(value >= 0, name, value, allowed);
    return value;
}

//! Returns the indices of the CUDA devices: \p devices or, if empty, \p device.
//! \throws std::invalid_argument if an index is negative
inline std::vector<int> devices_of(int device, const std::vector<int>& devices = {})
{
    not_negative("device", device);
    for (const int d : devices) {
        not_negative("devices", d);
    }
    return devices.empty() ? std::vector<int>{ device } : devices;
}

//! Sets the run options from the options of a decoder block.
//! \throws std::invalid_argument if an integer is negative, or if the memory of the ports
//!         is not available
template <class Options>
void set_run_options(run_options& run, const Options& given)
{
    run.batch = not_negative("batch", given.batch);
    run.slots = not_negative("slots", given.slots, "1 to 16");
    run.max_latency_ms = given.max_latency_ms;
    run.backend = given.backend;
    run.devices = devices_of(given.device, given.devices);
    run.threads = not_negative("threads", given.threads, "1 to 256");
    run.device_timeout_ms = given.device_timeout_ms;
    check_port_memory(run, given.io);
}

//! Sets the run options of a decoder in a hierarchical block.
template <class Part, class Options>
void pass_run_options(Part& part, const Options& given)
{
    part.batch = given.batch;
    part.slots = given.slots;
    part.max_latency_ms = given.max_latency_ms;
    part.backend = given.backend;
    part.device = given.device;
    part.threads = given.threads;
}

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_COMMON_PARAMETERS_H */
