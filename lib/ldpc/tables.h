// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The address tables of the DVB-S2 LDPC codes. */

#ifndef INCLUDED_GPUFEC_LDPC_TABLES_H
#define INCLUDED_GPUFEC_LDPC_TABLES_H

#include <cstdint>
#include <vector>

namespace gr::gpufec::ldpc {

struct dvbs2_table {
    const char* rate;
    unsigned k;
    //! For each of the k/360 groups: the number of addresses, then the addresses.
    const std::uint16_t* addresses;
};

const std::vector<dvbs2_table>& dvbs2_normal_tables(); //!< 64800 bits a frame
const std::vector<dvbs2_table>& dvbs2_short_tables();  //!< 16200 bits a frame

} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_TABLES_H */
