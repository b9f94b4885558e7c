// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Codebooks of the synchronisation decoder: checked, read from a file or constructed. */

#include "common/checked_size.h"
#include <gnuradio/gpufec/sync_map.h>
#include <algorithm>
#include <cctype>
#include <cstring>
#include <fstream>
#include <random>
#include <set>

namespace gr::gpufec {

namespace {

using word_list = std::vector<std::uint8_t>;

// Appends \p value as n bits, most significant first.
void append_bits(word_list& words, std::uint64_t value, unsigned n)
{
    for (unsigned t = n; t-- > 0;) {
        words.push_back(t < 64 ? value >> t & 1u : 0u);
    }
}

// Returns whether alphabet^n is at least q.
bool enough_words(unsigned n, unsigned q, unsigned alphabet)
{
    std::uint64_t words = 1;
    for (unsigned t = 0; t < n && words < q; ++t) {
        words *= alphabet;
    }
    return words >= q;
}

void check_shape(unsigned n, unsigned q, unsigned frame_symbols, unsigned alphabet)
{
    checked_size(n).within(1, sync_code::max_n, "n");
    checked_size(frame_symbols).within(1, sync_code::max_frame_symbols, "frame_symbols");
    require(alphabet >= 2 && alphabet <= bsid_model::max_alphabet,
            "alphabet",
            alphabet,
            "2 to 16");
    if (q < 2 || q > 65536 || !enough_words(n, q, alphabet)) {
        refuse("q",
               q,
               "allowed values are 2 to 65536, at most the number of words of n = " +
                   std::to_string(n) + " channel symbols");
    }
    const auto bits = checked_size(n) * frame_symbols;
    bits.within(1, sync_code::max_frame_bits, "n * frame_symbols");
    (bits * q).within(1, sync_code::max_codebook, "n * q * frame_symbols");
}

[[noreturn]] void refuse_size(const std::string& size, std::size_t needed)
{
    refuse("size of codebook",
           size,
           "required are frame_symbols * q rows of n symbols, " + std::to_string(needed) +
               " symbols in total");
}

std::size_t codebook_size(unsigned n, unsigned q, unsigned frame_symbols)
{
    return (checked_size(n) * q * frame_symbols).value();
}

// Throws if two symbols share a word at index i.
void check_distinct(const sync_code& code, unsigned i)
{
    std::vector<unsigned> order(code.q());
    for (unsigned D = 0; D < code.q(); ++D) {
        order[D] = D;
    }
    const auto compare = [&](unsigned a, unsigned b) {
        return std::memcmp(code.word(i, a), code.word(i, b), code.n());
    };
    std::sort(order.begin(), order.end(), [&](unsigned a, unsigned b) {
        return compare(a, b) < 0;
    });
    for (unsigned k = 1; k < code.q(); ++k) {
        if (compare(order[k - 1], order[k]) == 0) {
            refuse("codebook",
                   "ambiguous at index " + std::to_string(i),
                   "symbols " + std::to_string(order[k - 1]) + " and " +
                       std::to_string(order[k]) +
                       " share a word; all words of an index must differ");
        }
    }
}

} // namespace

sync_code::sync_code(unsigned n,
                     unsigned q,
                     unsigned frame_symbols,
                     std::vector<std::uint8_t> words,
                     unsigned alphabet)
    : d_n(n), d_q(q), d_frame_symbols(frame_symbols), d_alphabet(alphabet)
{
    check_shape(n, q, frame_symbols, alphabet);
    const auto needed = codebook_size(n, q, frame_symbols);
    if (words.size() != needed) {
        refuse_size(std::to_string(words.size()), needed);
    }
    for (const unsigned symbol : words) {
        if (symbol >= alphabet) {
            refuse("codebook entry",
                   symbol,
                   "allowed values are 0 to " + std::to_string(alphabet - 1));
        }
    }
    d_words = std::make_shared<const word_list>(std::move(words));
    for (unsigned i = 0; i < frame_symbols; ++i) {
        check_distinct(*this, i);
    }
}

sync_code sync_code::from_file(const std::string& path,
                               unsigned n,
                               unsigned q,
                               unsigned frame_symbols,
                               unsigned alphabet)
{
    std::ifstream file(path);
    if (!file) {
        refuse("codebook", '"' + path + '"', "the file cannot be read");
    }
    check_shape(n, q, frame_symbols, alphabet);
    const auto needed = codebook_size(n, q, frame_symbols);
    // The limit stops reading from a pipe or a device that never ends, such as /dev/zero.
    const auto most = 16 * needed + (std::size_t(1) << 24);
    word_list words;
    std::size_t read = 0;
    bool comment = false;
    for (char c; file.get(c);) {
        if (++read > most) {
            refuse("codebook",
                   '"' + path + '"',
                   "the file is longer than the " + std::to_string(most) +
                       " characters allowed for " + std::to_string(needed) + " symbols");
        }
        comment = c != '\n' && (comment || c == '#');
        const auto byte = static_cast<unsigned char>(c);
        if (comment || std::isspace(byte)) {
            continue;
        }
        if (!std::isxdigit(byte)) {
            refuse("codebook",
                   '"' + path + '"',
                   std::string("'") + c + "' is not a hexadecimal digit");
        }
        if (words.size() == needed) {
            refuse_size("above " + std::to_string(needed), needed);
        }
        words.push_back(byte <= '9' ? byte - '0' : (byte | 0x20) - 'a' + 10);
    }
    return sync_code(n, q, frame_symbols, std::move(words), alphabet);
}

sync_code
codebook_davey_mackay(unsigned n, unsigned q, unsigned frame_symbols, std::uint64_t seed)
{
    check_shape(n, q, frame_symbols, 2);
    // Lists the words in ascending order of weight (number of ones) and value. The inner
    // loop steps from a number to the next larger one of the same weight.
    const unsigned width = std::min(n, 63u);
    std::vector<std::uint64_t> sparse = { 0 };
    for (unsigned weight = 1; weight <= width && sparse.size() < q; ++weight) {
        const std::uint64_t end = std::uint64_t(1) << width;
        for (std::uint64_t w = (std::uint64_t(1) << weight) - 1;
             w < end && sparse.size() < q;) {
            sparse.push_back(w);
            const auto low = w & -w;
            const auto ripple = w + low;
            w = ripple | ((w ^ ripple) / low >> 2);
        }
    }
    std::mt19937_64 random(seed);
    word_list words;
    for (unsigned i = 0; i < frame_symbols; ++i) {
        word_list marker(n);
        for (auto& bit : marker) {
            bit = random() >> 63;
        }
        for (const auto w : sparse) {
            append_bits(words, w, n);
            std::transform(marker.begin(),
                           marker.end(),
                           words.end() - n,
                           words.end() - n,
                           [](unsigned a, unsigned b) { return a ^ b; });
        }
    }
    return sync_code(n, q, frame_symbols, std::move(words));
}

sync_code codebook_marker(unsigned q,
                          unsigned frame_symbols,
                          const std::string& marker,
                          std::uint64_t seed)
{
    require(q >= 2 && q <= 65536 && (q & (q - 1)) == 0,
            "q",
            q,
            "powers of two from 2 to 65536");
    if (marker.find_first_not_of("01") != std::string::npos) {
        refuse("marker",
               '"' + marker + '"',
               "allowed values are strings of the characters 0 and 1");
    }
    const unsigned bits = __builtin_ctz(q);
    const auto n =
        (checked_size(bits) + marker.size())
            .within(1, sync_code::max_n, "n, that is log2(q) plus the marker's length,");
    check_shape(n, q, frame_symbols, 2);
    std::mt19937_64 random(seed);
    word_list words;
    for (unsigned i = 0; i < frame_symbols; ++i) {
        const bool inverted = seed > 0 && random() >> 63;
        for (unsigned D = 0; D < q; ++D) {
            append_bits(words, D, bits);
            for (const char c : marker) {
                words.push_back((c == '1') != inverted);
            }
        }
    }
    return sync_code(n, q, frame_symbols, std::move(words));
}

sync_code codebook_random(
    unsigned n, unsigned q, unsigned frame_symbols, std::uint64_t seed, unsigned alphabet)
{
    check_shape(n, q, frame_symbols, alphabet);
    std::mt19937_64 random(seed);
    word_list words;
    for (unsigned i = 0; i < frame_symbols; ++i) {
        std::set<word_list> seen;
        while (seen.size() < q) {
            word_list w(n);
            for (auto& symbol : w) {
                symbol = (random() >> 32) * alphabet >> 32;
            }
            if (seen.insert(w).second) {
                words.insert(words.end(), w.begin(), w.end());
            }
        }
    }
    return sync_code(n, q, frame_symbols, std::move(words), alphabet);
}

} // namespace gr::gpufec
