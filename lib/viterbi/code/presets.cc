// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The presets: convolutional codes of standards and of other programs, found by name. */

#include "common/names.h"
#include <gnuradio/gpufec/viterbi.h>

namespace gr::gpufec {

namespace {

constexpr auto streaming = termination::streaming;
constexpr auto terminated = termination::terminated;
constexpr auto tailbiting = termination::tailbiting;

const char* const ccsds = "CCSDS 131.0-B-5, 3";
const char* const gr_satellites = "gr-satellites, hier/ccsds_viterbi";
const char* const dvb = "ETSI EN 300 421, 4.4.3; ETSI EN 300 744, 4.3.3";
const char* const ieee80211 = "IEEE 802.11-2020, 17.3.5.6";
const char* const lte = "3GPP TS 36.212, 5.1.3.1";

} // namespace

const std::vector<conv_preset>& conv_presets()
{
    static const std::vector<conv_preset> presets{
        { "ccsds", "CCSDS 1/2", ccsds, 7, { 0171, -0133 }, "", streaming },
        { "ccsds_2_3", "CCSDS 2/3", ccsds, 7, { 0171, 0133 }, "10,11", streaming },
        { "ccsds_3_4", "CCSDS 3/4", ccsds, 7, { 0171, 0133 }, "101,110", streaming },
        { "ccsds_5_6", "CCSDS 5/6", ccsds, 7, { 0171, 0133 }, "10101,11010", streaming },
        { "ccsds_7_8",
          "CCSDS 7/8",
          ccsds,
          7,
          { 0171, 0133 },
          "1000101,1111010",
          streaming },
        { "ccsds_uninverted",
          "CCSDS 1/2, not inverted",
          gr_satellites,
          7,
          { 0171, 0133 },
          "",
          streaming },
        { "nasa_dsn", "NASA-DSN 1/2", gr_satellites, 7, { -0133, 0171 }, "", streaming },
        { "nasa_dsn_uninverted",
          "NASA-DSN 1/2, not inverted",
          gr_satellites,
          7,
          { 0133, 0171 },
          "",
          streaming },
        { "gr_fec",
          "gr-fec's default 1/2",
          "gr-fec, [109, 79] in its notation",
          7,
          { 0133, 0171 },
          "",
          streaming },
        { "dvb_1_2", "DVB-S/T 1/2", dvb, 7, { 0171, 0133 }, "", streaming },
        { "dvb_2_3", "DVB-S/T 2/3", dvb, 7, { 0171, 0133 }, "10,11", streaming },
        { "dvb_3_4", "DVB-S/T 3/4", dvb, 7, { 0171, 0133 }, "101,110", streaming },
        { "dvb_5_6", "DVB-S/T 5/6", dvb, 7, { 0171, 0133 }, "10101,11010", streaming },
        { "dvb_7_8",
          "DVB-S/T 7/8",
          dvb,
          7,
          { 0171, 0133 },
          "1000101,1111010",
          streaming },
        { "80211_1_2", "802.11 1/2", ieee80211, 7, { 0133, 0171 }, "", terminated },
        { "80211_2_3", "802.11 2/3", ieee80211, 7, { 0133, 0171 }, "11,10", terminated },
        { "80211_3_4",
          "802.11 3/4",
          ieee80211,
          7,
          { 0133, 0171 },
          "110,101",
          terminated },
        { "80211_5_6",
          "802.11n/ac 5/6",
          "IEEE 802.11-2020, 19.3.11.6",
          7,
          { 0133, 0171 },
          "11010,10101",
          terminated },
        { "lte",
          "LTE / NB-IoT control 1/3",
          lte,
          7,
          { 0133, 0171, 0165 },
          "",
          tailbiting },
        { "wimax",
          "WiMAX 1/2",
          "IEEE 802.16-2009, 8.4.9.2.1",
          7,
          { 0171, 0133 },
          "",
          tailbiting },
        { "dab",
          "DAB mother code 1/4",
          "ETSI EN 300 401, 11.1.1",
          7,
          { 0133, 0171, 0145, 0133 },
          "",
          terminated },
        { "gsm", "GSM 1/2", "3GPP TS 45.003, 3.1.1.3", 5, { 023, 033 }, "", terminated },
        { "umts_1_2",
          "UMTS 1/2",
          "3GPP TS 25.212, 4.2.3.1",
          9,
          { 0561, 0753 },
          "",
          terminated },
        { "umts_1_3",
          "UMTS 1/3",
          "3GPP TS 25.212, 4.2.3.1",
          9,
          { 0557, 0663, 0711 },
          "",
          terminated },
        { "cdma_1_2",
          "IS-95 / CDMA2000 1/2",
          "3GPP2 C.S0002, 3.1.3.1.5",
          9,
          { 0753, 0561 },
          "",
          terminated },
        { "cdma_1_3",
          "IS-95 / CDMA2000 1/3",
          "3GPP2 C.S0002, 2.1.3.1.5",
          9,
          { 0557, 0663, 0711 },
          "",
          terminated },
        { "gps",
          "GPS L5 / SBAS 1/2",
          "IS-GPS-705, 3.3.3.1.1",
          7,
          { 0171, 0133 },
          "",
          streaming },
        { "nrsc5",
          "NRSC-5 (HD Radio) 2/5",
          "NRSC-5-D, 1011s rev. G, 9.4",
          7,
          { 0133, 0171, 0165 },
          "11,11,10",
          tailbiting },
    };
    return presets;
}

const conv_preset& find_conv_preset(const std::string& name)
{
    name_list names;
    for (const auto& p : conv_presets()) {
        names.push_back(p.name);
    }
    const auto found = index_of_name(
        "preset", name, names, "allowed values are", "conv_presets(), gpufec info");
    return conv_presets()[found];
}

conv_code conv_code::preset(const std::string& name)
{
    const auto& p = find_conv_preset(name);
    conv_code code(p.constraint_length, p.polynomials, p.puncturing);
    code.d_termination = p.termination;
    return code;
}

} // namespace gr::gpufec
