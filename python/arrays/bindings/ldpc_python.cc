// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Binds LDPC codes and the format of Wi-Fi PPDUs to Python. */

#include "blocks/ldpc/ldpc_code_of.h"
#include <gnuradio/gpufec/ldpc.h>
#include <gnuradio/gpufec/wifi.h>

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <string>
#include <vector>

namespace py = pybind11;
using namespace gr::gpufec;

void bind_ldpc_codes(py::module& m)
{
    py::class_<ldpc_code>(
        m,
        "ldpc_code",
        py::module_local(),
        "A binary LDPC code of a standard, or of an alist or base matrix file.\n\n"
        "The parameters are those of ldpc_decode(). A UserWarning explains why a file\n"
        "is probably not a parity-check matrix. Bits and checks are numbered from 0.\n\n"
        "Raises:\n"
        "    ValueError : if a parameter is refused; the message names the parameter,\n"
        "        its value and what is allowed")
        .def(py::init([](const std::string& standard,
                         const std::string& frame_size,
                         const std::string& rate,
                         const std::string& code_file,
                         const std::vector<int>& punctured,
                         const std::vector<int>& shortened,
                         const message_place_parameter& message_positions) {
                 const auto code = ldpc_code_of({ standard,
                                                  frame_size,
                                                  rate,
                                                  code_file,
                                                  punctured,
                                                  shortened,
                                                  message_positions });
                 if (!code.warning().empty() &&
                     PyErr_WarnEx(PyExc_UserWarning, code.warning().c_str(), 1)) {
                     throw py::error_already_set();
                 }
                 return code;
             }),
             py::arg("standard") = "dvbs2",
             py::arg("frame_size") = "normal",
             py::arg("rate") = "1/2",
             py::arg("code_file") = "",
             py::arg("punctured") = std::vector<int>(),
             py::arg("shortened") = std::vector<int>(),
             py::arg("message_positions") = "systematic")
        .def_property_readonly("name",
                               &ldpc_code::name,
                               "Name such as \"dvbs2 normal 1/2\", or path of the file.")
        .def_property_readonly(
            "n", &ldpc_code::n, "Number of bits of a codeword, sent or not.")
        .def_property_readonly("sent",
                               &ldpc_code::sent,
                               "Number of bits that are sent per frame, and number of "
                               "soft values per frame.")
        .def_property_readonly("punctured",
                               &ldpc_code::punctured,
                               "Positions in the codeword that are not sent, ascending.")
        .def_property_readonly(
            "shortened",
            &ldpc_code::shortened,
            "Positions in the codeword that are 0 and not sent, ascending.")
        .def_property_readonly("k", &ldpc_code::k, "Number of bits of a message.")
        .def_property_readonly(
            "checks", &ldpc_code::checks, "Number of checks, including redundant ones.")
        .def_property_readonly("warning",
                               &ldpc_code::warning,
                               "Reason why a file is probably not a parity-check matrix; "
                               "\"\" if the file seems right.")
        .def_property_readonly(
            "edges", &ldpc_code::edges, "Number of ones in the parity-check matrix.")
        .def_property_readonly(
            "can_encode", &ldpc_code::can_encode, "Whether message positions are known.")
        .def_property_readonly(
            "message_positions",
            [](const ldpc_code& c) {
                const auto& p = c.message_positions();
                return py::array_t<std::uint32_t>(p.size(), p.data());
            },
            "Position of each message bit in the codeword, uint32; empty if not known.")
        .def(
            "check",
            [](const ldpc_code& c, unsigned row) {
                if (row >= c.checks()) {
                    throw py::index_error("check " + std::to_string(row));
                }
                const auto bits = c.check(row);
                return std::vector<std::uint32_t>(bits.begin(), bits.end());
            },
            "Returns the positions of the bits in the check with the given index. Raises "
            "an IndexError if there is no such check.")
        .def_static("dvbs2_rates",
                    &ldpc_code::dvbs2_rates,
                    py::arg("frame_size"),
                    "Returns the rates of DVB-S2 in ascending order. Raises a ValueError "
                    "if the frame size is unknown.")
        .def_static(
            "standards", &ldpc_code::standards, "Returns the names of the standards.")
        .def_static("frame_sizes",
                    &ldpc_code::frame_sizes,
                    py::arg("standard"),
                    "Returns the frame sizes of a standard. Raises a ValueError if the "
                    "standard is unknown.")
        .def_static("rates",
                    &ldpc_code::rates,
                    py::arg("standard"),
                    py::arg("frame_size"),
                    "Returns the rates of a frame size in ascending order. Raises a "
                    "ValueError if a parameter is unknown.")
        .def("__repr__", [](const ldpc_code& c) {
            return "<ldpc_code " + c.name() + ": n=" + std::to_string(c.n()) +
                   ", k=" + std::to_string(c.k()) + ">";
        });

    py::class_<wifi_ppdu>(
        m,
        "wifi_ppdu",
        py::module_local(),
        "The format of a Wi-Fi PPDU (IEEE 802.11-2020, 19.3.11.7.5).\n\n"
        "The parameters are those of ldpc_decode(). The message of a PPDU is its "
        "SERVICE\n"
        "field (16 bits) and PSDU after scrambling. The message is distributed to\n"
        "codewords, which are shortened, and punctured or repeated to a whole number of\n"
        "OFDM symbols.\n\n"
        "Raises:\n"
        "    ValueError : if a parameter is refused; the message names the parameter,\n"
        "        its value and what is allowed")
        .def(py::init(
                 [](int psdu_bytes, int symbol_bits, const std::string& rate, bool stbc) {
                     return wifi_ppdu(
                         not_negative("psdu_bytes", psdu_bytes, "1 to 65535"),
                         not_negative("symbol_bits", symbol_bits, "1 to 65535"),
                         rate,
                         stbc);
                 }),
             py::arg("psdu_bytes"),
             py::arg("symbol_bits"),
             py::arg("rate") = "1/2",
             py::arg("stbc") = false)
        .def_property_readonly(
            "k", &wifi_ppdu::payload_bits, "Number of bits of SERVICE field and PSDU.")
        .def_property_readonly(
            "sent",
            &wifi_ppdu::coded_bits,
            "Number of bits that are sent per PPDU, and number of soft values per PPDU.")
        .def_property_readonly("symbols", &wifi_ppdu::symbols, "Number of OFDM symbols.")
        .def_property_readonly("codewords", &wifi_ppdu::codewords, "Number of codewords.")
        .def_property_readonly(
            "codeword_bits",
            &wifi_ppdu::codeword_bits,
            "Number of bits of a codeword before shortening and puncturing.")
        .def_property_readonly("shortened",
                               &wifi_ppdu::shortened,
                               "Number of shortened bits of all codewords.")
        .def_property_readonly("punctured",
                               &wifi_ppdu::punctured,
                               "Number of punctured bits of all codewords.")
        .def_property_readonly("repeated",
                               &wifi_ppdu::repeated,
                               "Number of repeated bits of all codewords.");
    // Returns the format of the PPDUs that the parameters select, or None.
    m.def("wifi_ppdu_of",
          [](const std::string& standard,
             const std::string& rate,
             const std::string& code_file,
             const std::vector<int>& punctured,
             const std::vector<int>& shortened,
             const message_place_parameter& message_positions,
             int psdu_bytes,
             int symbol_bits,
             bool stbc) {
              return wifi_ppdu_of(ldpc_code_parameters{ standard,
                                                        "",
                                                        rate,
                                                        code_file,
                                                        punctured,
                                                        shortened,
                                                        message_positions,
                                                        psdu_bytes,
                                                        symbol_bits,
                                                        stbc });
          });
}
