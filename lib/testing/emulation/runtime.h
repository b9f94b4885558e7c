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
void set_memory(std::size_t bytes); //!< total of all devices
std::size_t used_memory();          //!< bytes allocated on all devices
std::size_t refused_allocations();  //!< number of device allocations beyond the memory
std::size_t registered_ranges();    //!< number of pinned ranges of host memory

} // namespace gr::gpufec::cuda::emulation

#endif /* INCLUDED_GPUFEC_TESTING_EMULATION_RUNTIME_H */
