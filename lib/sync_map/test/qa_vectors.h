// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Reads the reference vectors of the synchronisation decoder for its tests. The file
 * README.md in the folder above the vectors describes their format. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_TEST_QA_VECTORS_H
#define INCLUDED_GPUFEC_SYNC_MAP_TEST_QA_VECTORS_H

#include <gnuradio/gpufec/sync_map.h>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace gr::gpufec::sync_map {

struct test_vector {
    std::string name;
    sync_code code;
    bsid_model channel;
    double exclusion;
    drift_range window, change;
    std::vector<std::uint16_t> message;
    std::vector<std::uint8_t> sent, received;
    std::vector<double> posteriors; // symbol posteriors: N × q
    std::vector<double> drifts;     // drift posteriors: (N + 1) × window
};

//! Returns the folder of the vectors: $GPUFEC_TEST_DATA/sync, or ../shared/data/sync
//! beside the source tree; empty if there is none.
inline std::filesystem::path sync_vector_folder()
{
    namespace fs = std::filesystem;
    const char* variable = std::getenv("GPUFEC_TEST_DATA");
    const fs::path source = fs::path(GPUFEC_SOURCE_FOLDER) / "../shared/data";
    const auto folder = (variable ? fs::path(variable) : source) / "sync";
    return fs::is_directory(folder) ? folder : fs::path();
}

inline test_vector read_test_vector(const std::filesystem::path& path)
{
    std::ifstream file(path);
    std::stringstream numbers;
    for (std::string line; std::getline(file, line);) {
        numbers << line.substr(0, line.find('#')) << '\n';
    }
    const auto next = [&] {
        double x = 0;
        numbers >> x;
        return x;
    };
    const auto list = [&](auto element, std::size_t count) {
        std::vector<decltype(element)> values(count);
        for (auto& v : values) {
            v = next();
        }
        return values;
    };
    // Channel symbols are not separated by spaces.
    const auto digits = [&](std::size_t count) {
        std::vector<std::uint8_t> values(count);
        for (auto& v : values) {
            char c = '0';
            numbers >> c;
            v = c - '0';
        }
        return values;
    };
    const unsigned n = next(), q = next(), N = next();
    const double Pi = next(), Pd = next(), Ps = next(), Pr = next();
    const unsigned rho = next();
    drift_range window, change;
    window.first = next();
    window.last = next();
    change.first = next();
    change.last = next();
    const sync_code code(n, q, N, digits(std::size_t(n) * q * N));
    test_vector v{ path.stem().string(),
                   code,
                   bsid_model(Pi, Pd, Ps),
                   Pr,
                   window,
                   change,
                   {},
                   {},
                   {},
                   {},
                   {} };
    v.message = list(std::uint16_t(), N);
    v.sent = digits(code.frame_bits());
    v.received = digits(rho);
    list(0, N + 1); // skips the true drifts
    v.posteriors = list(0.0, std::size_t(N) * q);
    v.drifts = list(0.0, (N + 1) * std::size_t(window.size()));
    return v;
}

//! Reads all vectors whose file name begins with one of \p prefixes, in order of name.
inline std::vector<test_vector>
read_sync_vectors(const std::vector<std::string>& prefixes)
{
    std::vector<std::filesystem::path> paths;
    const auto folder = sync_vector_folder();
    if (!folder.empty()) {
        for (const auto& entry : std::filesystem::directory_iterator(folder)) {
            const auto name = entry.path().filename().string();
            for (const auto& prefix : prefixes) {
                if (name.rfind(prefix, 0) == 0) {
                    paths.push_back(entry.path());
                }
            }
        }
    }
    std::sort(paths.begin(), paths.end());
    std::vector<test_vector> vectors;
    for (const auto& path : paths) {
        vectors.push_back(read_test_vector(path));
    }
    return vectors;
}

//! Returns the largest absolute difference between elements of two lists; infinity if the
//! sizes differ or an element is NaN.
template <class A, class B>
double largest_difference(const A& a, const B& b)
{
    double largest = a.size() == b.size() ? 0 : INFINITY;
    for (std::size_t k = 0; k < std::min(a.size(), b.size()); ++k) {
        const double d = std::abs(double(a[k]) - double(b[k]));
        largest = d <= largest ? largest : (std::isnan(d) ? INFINITY : d);
    }
    return largest;
}

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_TEST_QA_VECTORS_H */
