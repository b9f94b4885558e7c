// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Conversion of block parameters to a decoder's options, with the checks that the
 * options' unsigned types cannot express. */

#ifndef INCLUDED_GPUFEC_BLOCKS_COMMON_PARAMETERS_H
#define INCLUDED_GPUFEC_BLOCKS_COMMON_PARAMETERS_H

#include "common/refuse.h"
#include <gnuradio/gpufec/decoder.h>
#include <string>
#include <vector>

namespace gr::gpufec {

/*!
 * \brief Returns the int \p value of a parameter as an unsigned number.
 * \throws std::invalid_argument if \p value is negative
 */
inline unsigned not_negative(const std::string& name,
                             int value,
                             const std::string& allowed = "0 and more")
{
    require(value >= 0, name, value, allowed);
    return value;
}

//! Sets the run options from the parameters of a block or object with a backend.
//! \throws std::invalid_argument if an integer is negative or the backend is unknown
inline void set_run_options(run_options& run,
                            int batch,
                            int slots,
                            double max_latency_ms,
                            const std::string& backend,
                            int device,
                            const std::vector<int>& devices,
                            int threads,
                            double device_timeout_ms)
{
    run.batch = not_negative("batch", batch);
    run.slots = not_negative("slots", slots, "1 to 16");
    run.max_latency_ms = max_latency_ms;
    run.where = backend_from_string(backend);
    not_negative("device", device);
    for (const int d : devices) {
        not_negative("devices", d);
    }
    run.devices = devices.empty() ? std::vector<int>{ device } : devices;
    run.threads = not_negative("threads", threads, "1 to 256");
    run.device_timeout_ms = device_timeout_ms;
}

//! Values of the parameter status_tags: the frames for which a block adds status tags.
enum class status_tags { all, failures, none };

//! Converts the value of the parameter status_tags. \throws std::invalid_argument
inline status_tags status_tags_from_string(const std::string& name)
{
    return choose<status_tags>("status_tags",
                               name,
                               { { "all", status_tags::all },
                                 { "failures", status_tags::failures },
                                 { "none", status_tags::none } });
}

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_COMMON_PARAMETERS_H */
