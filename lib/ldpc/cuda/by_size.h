// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Selection among kernels that are compiled for several sizes. */

#ifndef INCLUDED_GPUFEC_LDPC_CUDA_BY_SIZE_H
#define INCLUDED_GPUFEC_LDPC_CUDA_BY_SIZE_H

#include <type_traits>

namespace gr::gpufec::ldpc {
namespace device {

template <unsigned Size>
using size_constant = std::integral_constant<unsigned, Size>;

//! Returns \p make(size_constant<S>()) for the first S of \p Sizes that is at least
//! \p size. Returns an empty Variant if there is none.
template <class Variant, unsigned... Sizes, class Make>
Variant at_least(unsigned size, Make&& make)
{
    Variant v{};
    static_cast<void>(
        ((size <= Sizes && (v = make(size_constant<Sizes>()), true)) || ...));
    return v;
}

//! Returns \p make(size_constant<S>()) for the S of \p Sizes that is equal to \p size.
//! Returns an empty Variant if there is none.
template <class Variant, unsigned... Sizes, class Make>
Variant equal_to(unsigned size, Make&& make)
{
    Variant v{};
    static_cast<void>(
        ((size == Sizes && (v = make(size_constant<Sizes>()), true)) || ...));
    return v;
}

} // namespace device
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CUDA_BY_SIZE_H */
