// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Converts codebooks between Python and the library. */

#ifndef INCLUDED_GPUFEC_BINDINGS_CODEBOOK_H
#define INCLUDED_GPUFEC_BINDINGS_CODEBOOK_H

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <gnuradio/gpufec/sync_map.h>
#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

//! Returns the words of a code as an array of N·q rows of n channel symbols.
inline pybind11::array_t<std::uint8_t> array_of(const gr::gpufec::sync_code& code)
{
    const std::size_t rows = std::size_t(code.frame_symbols()) * code.q();
    const std::vector<std::size_t> shape = { rows, code.n() };
    return pybind11::array_t<std::uint8_t>(shape, code.word(0, 0));
}

//! Returns the words of a code, one channel symbol per byte. \p codebook is an array,
//! nested lists, or the path of a file.
//! \throws std::invalid_argument if the array is masked, is not of integers or booleans,
//! has rows of a length other than \p n, or has entries outside the alphabet, or if the
//! file is invalid
inline std::vector<std::uint8_t>
words_of(const pybind11::object& codebook, int q, int n, int frame_symbols, int alphabet)
{
    namespace py = pybind11;
    if (py::isinstance<py::str>(codebook) || py::hasattr(codebook, "__fspath__")) {
        const auto path =
            py::module_::import("os").attr("fspath")(codebook).cast<std::string>();
        // from_file() accepts unsigned values only. The caller passes an empty codebook
        // and the negative value to the constructor of the code, which refuses the value.
        if (q < 0 || n < 0 || frame_symbols < 0 || alphabet < 0) {
            return {};
        }
        const auto code =
            gr::gpufec::sync_code::from_file(path, n, q, frame_symbols, alphabet);
        const auto* const words = code.word(0, 0);
        return { words, words + std::size_t(code.frame_bits()) * code.q() };
    }
    const auto numpy = py::module_::import("numpy");
    if (numpy.attr("ma").attr("isMaskedArray")(codebook).cast<bool>()) {
        throw std::invalid_argument(
            "codebook is a masked array: allowed values are arrays without a mask");
    }
    const py::array given = numpy.attr("asarray")(codebook);
    const auto shape = py::str(given.attr("shape")).cast<std::string>();
    const auto kind = given.attr("dtype").attr("kind").cast<std::string>();
    if (kind != "b" && kind != "i" && kind != "u") {
        throw std::invalid_argument("codebook is of type " +
                                    py::str(given.dtype()).cast<std::string>() +
                                    ": allowed values are rows of integers");
    }
    if (given.ndim() < 2 || given.shape(given.ndim() - 1) != n) {
        throw std::invalid_argument(
            "codebook is of shape " + shape +
            ": allowed values are frame_symbols * q rows of n = " + std::to_string(n) +
            " channel symbols");
    }
    // The check precedes the conversion to bytes, which would turn 256 into 0.
    const auto wide = py::array_t<long, py::array::c_style | py::array::forcecast>(given);
    // An invalid alphabet is clamped here, because the constructor of the code refuses
    // it.
    const int largest = std::clamp(alphabet, 2, 16) - 1;
    std::vector<std::uint8_t> words(wide.size());
    for (py::ssize_t k = 0; k < wide.size(); ++k) {
        if (wide.data()[k] < 0 || wide.data()[k] > largest) {
            throw std::invalid_argument(
                "codebook entry is " + std::to_string(wide.data()[k]) +
                ": allowed values are 0 to " + std::to_string(largest));
        }
        words[k] = wide.data()[k];
    }
    return words;
}

#endif /* INCLUDED_GPUFEC_BINDINGS_CODEBOOK_H */
