// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The instruction sets that lane-parallel code is compiled for, and which one is used. */

#ifndef INCLUDED_GPUFEC_PIPELINE_CPU_VARIANT_H
#define INCLUDED_GPUFEC_PIPELINE_CPU_VARIANT_H

#include <string>
#include <vector>

namespace gr::gpufec {

/*!
 * \brief What this processor can run, best first, of "avx512", "avx2" and "baseline".
 *
 * The environment variable GPUFEC_CPU_VARIANT makes one of them the only one.
 */
std::vector<std::string> cpu_variants();

//! The one of \p name, "" for the best. \throws std::invalid_argument if it is none
std::string cpu_variant(const std::string& name = "");

//! What one source became for each instruction set.
template <class Kernels>
struct compiled_variants {
    const Kernels *avx512, *avx2, *baseline;

    const Kernels& of(const std::string& name) const
    {
        const auto variant = cpu_variant(name);
        return variant == "avx512" ? *avx512 : variant == "avx2" ? *avx2 : *baseline;
    }
};

// The variants of an object that is declared in the namespace of each.
#ifdef GPUFEC_X86_VARIANTS
#define GPUFEC_VARIANTS(object)                           \
    {                                                     \
        &avx512::object, &avx2::object, &baseline::object \
    }
#else
#define GPUFEC_VARIANTS(object)             \
    {                                       \
        nullptr, nullptr, &baseline::object \
    }
#endif

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_PIPELINE_CPU_VARIANT_H */
