// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#ifndef INCLUDED_GPUFEC_API_H
#define INCLUDED_GPUFEC_API_H

// As GNU Radio's own macros, which programs without GNU Radio do not have.
#if defined(__GNUC__) || defined(__clang__)
#define GPUFEC_API __attribute__((visibility("default")))
#else
#define GPUFEC_API
#endif

#endif /* INCLUDED_GPUFEC_API_H */
