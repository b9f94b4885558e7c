/* -*- c++ -*- */
/*
 * Copyright 2026 gr-gpufec developers
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

/* Curves of error rates as pictures, drawn by plot_ber.py. */

#ifndef INCLUDED_GPUFEC_APPS_PLOT_H
#define INCLUDED_GPUFEC_APPS_PLOT_H

#include "json.h"

namespace gr {
namespace gpufec {

//! Draws what `gpufec ber` reports to a PNG file. \throws std::runtime_error
void plot_error_rates(const json& report, const std::string& png);

} // namespace gpufec
} // namespace gr

#endif /* INCLUDED_GPUFEC_APPS_PLOT_H */
