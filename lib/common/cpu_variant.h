// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Selection of the instruction set of SIMD code. */

#ifndef INCLUDED_GPUFEC_COMMON_CPU_VARIANT_H
#define INCLUDED_GPUFEC_COMMON_CPU_VARIANT_H

#include <string>
#include <vector>

namespace gr::gpufec {

/*!
 * \brief Returns the instruction sets that this processor supports, best first, of
 * "avx512", "avx2" and "baseline".
 *
 * If the environment variable GPUFEC_CPU_VARIANT names an instruction set, only that one
 * is returned.
 */
std::vector<std::string> cpu_variants();

//! Returns \p name, or the best instruction set if \p name is "". \throws
//! std::invalid_argument if the processor does not support \p name
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

// Initialises compiled_variants with the object of that name in each variant's namespace.
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
