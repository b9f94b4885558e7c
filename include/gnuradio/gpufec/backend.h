// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The choice between the CUDA and the CPU backend. */

#ifndef INCLUDED_GPUFEC_BACKEND_H
#define INCLUDED_GPUFEC_BACKEND_H

#include <gnuradio/gpufec/api.h>
#include <string>

namespace gr::gpufec {

//! Backend of a decoder: the processor that it runs on.
enum class backend {
    automatic, //!< CUDA if a usable device exists, otherwise the CPU
    cuda,      //!< CUDA; without a usable device, construction throws
    cpu        //!< the CPU
};

/*!
 * \brief Converts the name "auto", "cuda" or "cpu" to a backend.
 * \throws std::invalid_argument for any other name
 */
GPUFEC_API backend backend_from_string(const std::string& name);

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BACKEND_H */
