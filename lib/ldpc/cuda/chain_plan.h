// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The base class of launch plans for codes with a chain_table. */

#ifndef INCLUDED_GPUFEC_LDPC_CUDA_CHAIN_PLAN_H
#define INCLUDED_GPUFEC_LDPC_CUDA_CHAIN_PLAN_H

#include "ldpc/model/chain_table.h"
#include "persistent_grid.h"
#include <memory>
#include <utility>

namespace gr::gpufec::ldpc {
namespace device {

//! \tparam Grid persistent_grid or a class derived from it
//! \tparam Variant a kernel and what its launch requires
template <class Grid, class Variant>
class chain_plan : public Grid
{
public:
    std::size_t scratch_bytes(std::size_t codewords) const override
    {
        return this->scratch_for(codewords, d_variant.state_words(*d_table));
    }

protected:
    //! \p grid are the arguments of the constructor of \p Grid.
    template <class... Arguments>
    chain_plan(std::unique_ptr<chain_table> table, const Variant& v, Arguments&&... grid)
        : Grid(std::forward<Arguments>(grid)...),
          d_table(std::move(table)),
          d_entries(cuda::uploaded(
              d_table->entries(v.form.message_edges, v.form.two_checks_per_word),
              "table of a code")),
          d_variant(v)
    {
    }

    const std::unique_ptr<chain_table> d_table;
    const cuda::buffer<std::uint32_t> d_entries;
    const Variant d_variant;
};

} // namespace device
} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CUDA_CHAIN_PLAN_H */
