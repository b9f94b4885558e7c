// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* A block inside dvbs_fec_receiver that converts QPSK symbols to int8 soft values. */

#ifndef INCLUDED_GPUFEC_BLOCKS_DVBS_QPSK_SOFT_VALUES_H
#define INCLUDED_GPUFEC_BLOCKS_DVBS_QPSK_SOFT_VALUES_H

#include "demap/qpsk.h"
#include <gnuradio/block.h>
#include <memory>
#include <string>

namespace gr::gpufec {

//! Converts QPSK symbols to soft values, two output items per symbol, I and Q.
class qpsk_soft_values : virtual public gr::block
{
public:
    typedef std::shared_ptr<qpsk_soft_values> sptr;

    //! \param format format of the symbols
    //! \param length_tag key of the length tags, which the block drops; "" for none
    static sptr make(demap::symbol_format format, const std::string& length_tag);
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_BLOCKS_DVBS_QPSK_SOFT_VALUES_H */
