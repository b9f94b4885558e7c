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

const std::vector<dvbs2_table>& dvbs2_normal_tables(); //!< 64800 bits per frame
const std::vector<dvbs2_table>& dvbs2_short_tables();  //!< 16200 bits per frame

const std::vector<dvbs2_table>& dvbs2x_normal_tables();
const std::vector<dvbs2_table>& dvbs2x_medium_tables(); //!< 32400 bits per frame
const std::vector<dvbs2_table>& dvbs2x_short_tables();

//! The codes of DVB-T2 that DVB-S2 has not; the others are the same.
const std::vector<dvbs2_table>& dvbt2_normal_tables();
const std::vector<dvbs2_table>& dvbt2_short_tables();

struct wifi_table {
    unsigned n;
    const char* rate;
    unsigned rows;
    const std::int8_t* shifts; //!< 24 of each row, −1 for none
};
const std::vector<wifi_table>& wifi_tables();

//! A base graph of NR: rows, columns, blocks of the message, and entries of row, column
//! and the shifts of eight sets of lifting sizes.
struct nr_table {
    unsigned rows, columns, message, entries;
    const std::uint16_t* entry;
};
nr_table nr_graph(unsigned graph);

//! AR4JA (CCSDS 131.0-B, 7.4.2): permutation k from 0, size 0 for M = 128 to 6 for 8192.
unsigned ar4ja_theta(unsigned k);
unsigned ar4ja_phi(unsigned quarter, unsigned k, unsigned size);

//! C2: shift i (0, 1) of a block.
unsigned c2_shift(unsigned row, unsigned column, unsigned i);
//! Whether a message bit of a block of columns has an odd number of parity bits in a
//! block.
bool c2_is_odd(unsigned column, unsigned parity);

} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_TABLES_H */
