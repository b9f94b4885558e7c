// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The constellations that EN 302 307-2 (DVB-S2X) adds to those of EN 302 307-1. */

#ifndef INCLUDED_GPUFEC_DEMAP_TABLES_DVBS2X_H
#define INCLUDED_GPUFEC_DEMAP_TABLES_DVBS2X_H

#include <vector>

namespace gr::gpufec::demap {

struct point {
    float i, q;
};

struct dvbs2x_constellation {
    const char *name, *frame_size, *rate;
    const char* columns; //!< interleaver columns, one digit per bit of a label
    const point* points; //!< points in the order of their labels; mean energy 1
};

//! Returns the constellations of DVB-S2X, except QPSK, which DVB-S2 has too.
const std::vector<dvbs2x_constellation>& dvbs2x_constellations();

} // namespace gr::gpufec::demap

#endif /* INCLUDED_GPUFEC_DEMAP_TABLES_DVBS2X_H */
