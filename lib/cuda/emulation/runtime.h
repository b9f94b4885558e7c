// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* What tests set and see of the emulated devices. */

#ifndef INCLUDED_GPUFEC_CUDA_EMULATION_RUNTIME_H
#define INCLUDED_GPUFEC_CUDA_EMULATION_RUNTIME_H

#include <cstddef>

namespace gr::gpufec::cuda::emulation {

void set_devices(int count);
void set_memory(std::size_t bytes); //!< of all devices together
std::size_t used_memory();
std::size_t refused_allocations(); //!< for lack of memory
std::size_t registered_ranges();   //!< of host memory

} // namespace gr::gpufec::cuda::emulation

#endif /* INCLUDED_GPUFEC_CUDA_EMULATION_RUNTIME_H */
