// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Error rates as a picture. */

#ifndef INCLUDED_GPUFEC_APPS_PLOT_H
#define INCLUDED_GPUFEC_APPS_PLOT_H

#include "json.h"

namespace gr::gpufec {

//! Draws the report of `gpufec ber` to the file \p png, with plot_ber.py.
//! \throws std::runtime_error that says what is missing
void plot(const json& report, const std::string& png);

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_APPS_PLOT_H */
