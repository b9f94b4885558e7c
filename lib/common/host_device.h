// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Defines GPUFEC_HOST_DEVICE, which marks functions that both kernels and the host
 * call. */

#ifndef INCLUDED_GPUFEC_COMMON_HOST_DEVICE_H
#define INCLUDED_GPUFEC_COMMON_HOST_DEVICE_H

#ifdef __CUDACC__
#define GPUFEC_HOST_DEVICE __host__ __device__
#else
#define GPUFEC_HOST_DEVICE
#endif

#endif /* INCLUDED_GPUFEC_COMMON_HOST_DEVICE_H */
