// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Marks functions that kernels call as well as the host. */

#ifndef INCLUDED_GPUFEC_PIPELINE_HOST_DEVICE_H
#define INCLUDED_GPUFEC_PIPELINE_HOST_DEVICE_H

#ifdef __CUDACC__
#define GPUFEC_HOST_DEVICE __host__ __device__
#else
#define GPUFEC_HOST_DEVICE
#endif

#endif /* INCLUDED_GPUFEC_PIPELINE_HOST_DEVICE_H */
