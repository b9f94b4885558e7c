// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* What tests set and see of the emulated devices. */

#ifndef INCLUDED_GPUFEC_CUDA_EMULATION_RUNTIME_H
#define INCLUDED_GPUFEC_CUDA_EMULATION_RUNTIME_H

#include <cstddef>

namespace gr::gpufec::cuda::emulation {

//! Whether streams are carried out on a thread of their own, a while after each call, in
//! an order that is theirs; else within the calls. While nothing is on a stream.
void set_asynchronous(bool on);
void set_devices(int count);
void set_memory(std::size_t bytes); //!< of all devices together
std::size_t used_memory();
std::size_t refused_allocations(); //!< for lack of memory
std::size_t registered_ranges();   //!< of host memory

} // namespace gr::gpufec::cuda::emulation

#endif /* INCLUDED_GPUFEC_CUDA_EMULATION_RUNTIME_H */
