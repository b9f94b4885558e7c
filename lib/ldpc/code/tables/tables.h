// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tables of the standards' LDPC codes: addresses for DVB codes, shifts of circulants for
 * the others. */

#ifndef INCLUDED_GPUFEC_LDPC_CODE_TABLES_TABLES_H
#define INCLUDED_GPUFEC_LDPC_CODE_TABLES_TABLES_H

#include <cstdint>
#include <vector>

namespace gr::gpufec::ldpc {

struct dvbs2_table {
    const char* rate;
    unsigned k;
    //! For each of the k/360 groups, the number of addresses and the addresses.
    const std::uint16_t* addresses;
};

const std::vector<dvbs2_table>& dvbs2_normal_tables(); //!< 64800 bits per frame
const std::vector<dvbs2_table>& dvbs2_short_tables();  //!< 16200 bits per frame

const std::vector<dvbs2_table>& dvbs2x_normal_tables(); //!< 64800 bits per frame
const std::vector<dvbs2_table>& dvbs2x_medium_tables(); //!< 32400 bits per frame
const std::vector<dvbs2_table>& dvbs2x_short_tables();  //!< 16200 bits per frame

//! The codes of DVB-T2 that are not codes of DVB-S2.
const std::vector<dvbs2_table>& dvbt2_normal_tables();
const std::vector<dvbs2_table>& dvbt2_short_tables();

struct wifi_table {
    unsigned n;
    const char* rate;
    unsigned rows;
    const std::int8_t* shifts; //!< shifts of 24 blocks per row, −1 for a block of zeros
};
const std::vector<wifi_table>& wifi_tables();

//! A base graph of NR: its numbers of rows, columns, message columns and entries. Each
//! entry has ten values: row, column and the shifts for eight sets of lifting sizes.
struct nr_table {
    unsigned rows, columns, message, entries;
    const std::uint16_t* entry;
};
nr_table nr_graph(unsigned graph);

//! ar4ja_theta() and ar4ja_phi() return entries of AR4JA's tables (CCSDS 131.0-B, 7.4.2).
//! \p k is the permutation, counted from 0, and \p quarter is 0 to 3. \p size is 0 to 6
//! for M from 128 to 8192.
unsigned ar4ja_theta(unsigned k);
unsigned ar4ja_phi(unsigned quarter, unsigned k, unsigned size);

//! Returns shift i (0 or 1) of a block of the CCSDS C2 code.
unsigned c2_shift(unsigned row, unsigned column, unsigned i);
//! Returns whether, in C2's generator matrix, each message bit of a block column is added
//! to an odd number of bits of parity block \p parity.
bool c2_is_odd(unsigned column, unsigned parity);

//! Returns the 32 circulants of a telecommand code (CCSDS 231.0-B, section 4) of \p n
//! bits, 128 or 512. Each circulant has three values: row, column and shift. The lifting
//! size is n/8.
const std::uint8_t (&telecommand_circulants(unsigned n))[96];

} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_CODE_TABLES_TABLES_H */
