// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Detects the processor's instruction sets and reads GPUFEC_CPU_VARIANT. */

#include "cpu_variant.h"
#include "refuse.h"
#include <algorithm>
#include <cstdlib>

namespace gr::gpufec {

namespace {

std::vector<std::string> usable()
{
    std::vector<std::string> names;
#ifdef GPUFEC_X86_VARIANTS
    if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512dq")) {
        names.push_back("avx512");
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        names.push_back("avx2");
    }
#endif
#ifdef __aarch64__
    names.push_back("neon");
#else
    names.push_back("baseline");
#endif
    return names;
}

std::string chosen(const std::string& parameter,
                   const std::string& name,
                   const std::vector<std::string>& from)
{
    if (std::find(from.begin(), from.end(), name) == from.end()) {
        std::string allowed;
        for (const auto& n : from) {
            allowed += (allowed.empty() ? "" : ", ") + n;
        }
        refuse(parameter,
               '"' + name + '"',
               "allowed values on this processor are " + allowed);
    }
    return name;
}

} // namespace

std::vector<std::string> cpu_variants()
{
    const char* const only = std::getenv("GPUFEC_CPU_VARIANT");
    if (only && *only) {
        return { chosen("GPUFEC_CPU_VARIANT", only, usable()) };
    }
    return usable();
}

std::string cpu_variant(const std::string& name)
{
    const auto variants = cpu_variants();
    return name.empty() ? variants.front() : chosen("instruction set", name, variants);
}

} // namespace gr::gpufec
