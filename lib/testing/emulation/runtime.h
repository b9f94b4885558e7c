// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Settings and state of the emulated devices, for tests. */

#ifndef INCLUDED_GPUFEC_TESTING_EMULATION_RUNTIME_H
#define INCLUDED_GPUFEC_TESTING_EMULATION_RUNTIME_H

#include <cstddef>

namespace gr::gpufec::cuda::emulation {

//! Selects whether a thread runs the work of streams with delays and in random order
//! across streams. Otherwise each call runs its work before it returns. All streams must
//! be empty.
void set_asynchronous(bool on);
void set_devices(int count);
void set_memory(std::size_t bytes); //!< sets the total memory of all devices
std::size_t used_memory();          //!< returns the bytes allocated on all devices
//! Returns the number of allocations refused for lack of device memory.
std::size_t refused_allocations();
std::size_t registered_ranges(); //!< returns the number of pinned ranges of host memory

} // namespace gr::gpufec::cuda::emulation

#endif /* INCLUDED_GPUFEC_TESTING_EMULATION_RUNTIME_H */
