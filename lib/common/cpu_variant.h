// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Selects the instruction set for SIMD code when the program runs. */

#ifndef INCLUDED_GPUFEC_COMMON_CPU_VARIANT_H
#define INCLUDED_GPUFEC_COMMON_CPU_VARIANT_H

#include <string>
#include <vector>

namespace gr::gpufec {

/*!
 * \brief Returns the instruction sets that this processor supports, the best first.
 *
 * Their names are "avx512", "avx2" and "baseline" on x86-64, "neon" on 64-bit Arm and
 * "baseline" on other processors. If the environment variable GPUFEC_CPU_VARIANT is set,
 * only the instruction set that it names is returned.
 * \throws std::invalid_argument if the processor does not support that instruction set
 */
std::vector<std::string> cpu_variants();

//! Returns \p name, or the first of cpu_variants() if \p name is "".
//! \throws std::invalid_argument if \p name is not in cpu_variants()
std::string cpu_variant(const std::string& name = "");

//! The kernels of one source file, compiled for each instruction set. A pointer is null
//! if the build does not include that instruction set. `baseline` is the instruction set
//! that every processor of the architecture has: SSE2 on x86-64, NEON on 64-bit Arm.
template <class Kernels>
struct compiled_variants {
    const Kernels *avx512, *avx2, *baseline;

    //! Returns the kernels for the instruction set \p name; "" means the best one. Throws
    //! like cpu_variant().
    const Kernels& of(const std::string& name) const
    {
        const auto variant = cpu_variant(name);
        return variant == "avx512" ? *avx512 : variant == "avx2" ? *avx2 : *baseline;
    }
};

// Initialises an object of type compiled_variants. Each instruction set has a namespace
// that defines its kernels under the name `object`.
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
