// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The codes and frames that a phase search has to find. */

#ifndef INCLUDED_GPUFEC_VITERBI_PHASE_LOCK_LOCK_PLAN_H
#define INCLUDED_GPUFEC_VITERBI_PHASE_LOCK_LOCK_PLAN_H

#include "lock_output.h"
#include <gnuradio/gpufec/viterbi.h>
#include <string>
#include <vector>

namespace gr::gpufec::viterbi {

//! The codes and frames that a decoder's options select for the search.
struct lock_plan {
    //! \throws std::invalid_argument if an option is invalid
    explicit lock_plan(const viterbi_options& options);

    //! The decoder's own code and those of lock_presets, without duplicates.
    const std::vector<conv_code> codes;
    //! The same codes, inverted if a positive soft value means bit 1.
    const std::vector<conv_code> received;
    //! Bits and tail of a frame; frame_layout::stream() is true if the input is a stream.
    const frame_layout layout;

    //! Returns the number of stages of a search window.
    unsigned window_stages() const;
    //! Returns the number of soft values in \p frames frames of the code that sends the
    //! most values per frame; 0 for a stream.
    std::uint64_t values_of(std::uint64_t frames) const;
    //! Returns the preset name of codes[which], or "" if that code is no preset.
    std::string preset_of(unsigned which) const;

private:
    void check_frames(const viterbi_options& o) const;

    const std::string d_preset;
    const std::vector<std::string> d_presets;
};

} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_PHASE_LOCK_LOCK_PLAN_H */
