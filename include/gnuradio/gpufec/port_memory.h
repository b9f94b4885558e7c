// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The memory of a block's ports. */

#ifndef INCLUDED_GPUFEC_PORT_MEMORY_H
#define INCLUDED_GPUFEC_PORT_MEMORY_H

#include <gnuradio/gpufec/api.h>
#include <string>

namespace gr::gpufec {

//! Memory of a block's stream ports. Memory of a device means gr-cuda's buffers.
enum class port_memory {
    host,      //!< both ports in host memory
    device_in, //!< the input in device memory, the output in host memory
    device     //!< both ports in device memory
};

//! Converts the name "host", "device_in" or "device".
//! \throws std::invalid_argument for any other name
GPUFEC_API port_memory port_memory_from_string(const std::string& name);

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_PORT_MEMORY_H */
