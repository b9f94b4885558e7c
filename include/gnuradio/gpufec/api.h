// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The macro that exports symbols from the library. */

#ifndef INCLUDED_GPUFEC_API_H
#define INCLUDED_GPUFEC_API_H

// The macros of gnuradio/attributes.h are not used, because programs may include these
// headers without GNU Radio.
#if defined(__GNUC__) || defined(__clang__)
#define GPUFEC_API __attribute__((visibility("default")))
#else
#define GPUFEC_API
#endif

#endif /* INCLUDED_GPUFEC_API_H */
