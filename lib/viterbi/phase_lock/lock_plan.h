// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* What a decoder that finds its phase is to find. */

#ifndef INCLUDED_GPUFEC_VITERBI_LOCK_PLAN_H
#define INCLUDED_GPUFEC_VITERBI_LOCK_PLAN_H

#include "lock_output.h"
#include <gnuradio/gpufec/viterbi.h>
#include <string>
#include <vector>

namespace gr::gpufec::viterbi {

struct lock_plan {
    //! \throws std::invalid_argument
    explicit lock_plan(const viterbi_options& options);

    const std::vector<conv_code> codes;    //!< the decoder's own, and lock_presets
    const std::vector<conv_code> received; //!< with positive values for 0
    const frame_layout layout;

    //! Stages of a window that is searched.
    unsigned window_stages() const;
    //! Values of as many frames of any code; 0 of a stream.
    std::uint64_t values_of(std::uint64_t frames) const;
    //! The name of a code, or "".
    std::string preset_of(unsigned which) const;

private:
    void check_frames(const viterbi_options& o) const;

    const std::string d_preset;
    const std::vector<std::string> d_presets;
};

} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_LOCK_PLAN_H */
