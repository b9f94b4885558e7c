// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Settings and state of the emulated devices, for tests. */

#ifndef INCLUDED_GPUFEC_TESTING_EMULATION_RUNTIME_H
#define INCLUDED_GPUFEC_TESTING_EMULATION_RUNTIME_H

#include <cstddef>

namespace gr::gpufec::cuda::emulation {

//! Sets whether streams are asynchronous. If \p on is true, a thread runs the work of all
//! streams, with delays and in random order across streams. Otherwise each call runs its
//! work before it returns. No work may be waiting in a stream.
void set_asynchronous(bool on);
void set_devices(int count);
//! Sets the size in bytes of the memory that all devices share, by default 1 GiB.
void set_memory(std::size_t bytes);
//! Returns the number of bytes allocated on all devices.
std::size_t used_memory();
//! Returns the number of allocations refused for lack of device memory.
std::size_t refused_allocations();
//! Returns the number of ranges of host memory that are pinned.
std::size_t registered_ranges();

} // namespace gr::gpufec::cuda::emulation

#endif /* INCLUDED_GPUFEC_TESTING_EMULATION_RUNTIME_H */
