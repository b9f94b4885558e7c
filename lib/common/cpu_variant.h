// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Selection of the instruction set of lane-parallel code. */

#ifndef INCLUDED_GPUFEC_COMMON_CPU_VARIANT_H
#define INCLUDED_GPUFEC_COMMON_CPU_VARIANT_H

#include <string>
#include <vector>

namespace gr::gpufec {

/*!
 * \brief Returns the instruction sets that this processor supports, best first, of
 * "avx512", "avx2" and "baseline".
 *
 * If the environment variable GPUFEC_CPU_VARIANT names one, it returns that one only.
 */
std::vector<std::string> cpu_variants();

//! Returns the instruction set \p name, or the best for "". \throws
//! std::invalid_argument if the processor does not support it
std::string cpu_variant(const std::string& name = "");

//! The kernels of one source file, compiled for each instruction set.
template <class Kernels>
struct compiled_variants {
    const Kernels *avx512, *avx2, *baseline;

    const Kernels& of(const std::string& name) const
    {
        const auto variant = cpu_variant(name);
        return variant == "avx512" ? *avx512 : variant == "avx2" ? *avx2 : *baseline;
    }
};

// Initialiser of compiled_variants with an object that each variant's namespace declares.
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

#endif /* INCLUDED_GPUFEC_COMMON_CPU_VARIANT_H */
