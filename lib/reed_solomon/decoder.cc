// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The Reed-Solomon decoder: corrects the codewords whose syndromes are not 0. */

#include "common/refuse.h"
#include "locator.h"
#include "syndromes.h"
#include <algorithm>

namespace gr::gpufec {

//! Tables that a decoder computes from its code.
struct reed_solomon_decoder_kernel::tables {
    tables(const reed_solomon_code& code,
           unsigned interleaving,
           const std::string& variant)
        : syndromes(code, interleaving, variant), locator(code, variant), basis(code)
    {
    }

    reed_solomon_syndromes syndromes;
    reed_solomon_locator locator;
    reed_solomon::basis basis;
};

reed_solomon_decoder_kernel::reed_solomon_decoder_kernel(const reed_solomon_code& code,
                                                         unsigned interleaving,
                                                         const std::string& variant)
    : d_code(code), d_interleaving(interleaving)
{
    require(interleaving >= 1 && interleaving <= reed_solomon_code::max_interleaving,
            "interleaving",
            interleaving,
            "1 to " + std::to_string(reed_solomon_code::max_interleaving));
    d_tables = std::make_shared<tables>(code, interleaving, variant);
}

void reed_solomon_decoder_kernel::decode(std::uint8_t* frame,
                                         int* corrected,
                                         const std::uint8_t* erasures) const
{
    std::fill_n(corrected, d_interleaving, 0);
    reed_solomon_syndromes::values syndromes;
    const auto wrong = d_tables->syndromes.compute(frame, syndromes);
    for (unsigned i = 0; wrong >> i; ++i) {
        if (wrong >> i & 1) {
            corrected[i] =
                correct(&syndromes[i], frame + i, erasures ? erasures + i : nullptr);
        }
    }
}

// Corrects one codeword, whose symbols are d_interleaving bytes apart and whose syndromes
// are syndrome_stride bytes apart. Returns the number of corrected symbols, or \c failed.
int reed_solomon_decoder_kernel::correct(const std::uint8_t* interleaved_syndromes,
                                         std::uint8_t* codeword,
                                         const std::uint8_t* erasures) const
{
    const auto n = d_code.n();
    std::uint8_t syndromes[reed_solomon_code::max_parity];
    for (unsigned j = 0; j < d_code.parity(); ++j) {
        syndromes[j] = interleaved_syndromes[j * reed_solomon::syndrome_stride];
    }
    std::uint8_t erased[reed_solomon::field::order];
    unsigned erased_count = 0;
    for (unsigned j = 0; erasures && j < n; ++j) {
        if (erasures[j * d_interleaving]) {
            erased[erased_count++] = std::uint8_t(n - 1 - j);
        }
    }
    reed_solomon_locator::errors found;
    if (!d_tables->locator.locate(syndromes, erased, erased_count, found)) {
        return failed;
    }
    int changed = 0;
    const auto& basis = d_tables->basis;
    for (unsigned i = 0; i < found.count; ++i) {
        codeword[(n - 1 - found.positions[i]) * d_interleaving] ^=
            basis.byte[found.values[i]];
        changed += found.values[i] != 0;
    }
    return changed;
}

} // namespace gr::gpufec
