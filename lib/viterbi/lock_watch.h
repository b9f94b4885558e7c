// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Watches a lock: what it decodes is encoded again and held against chance. */

#ifndef INCLUDED_GPUFEC_VITERBI_LOCK_WATCH_H
#define INCLUDED_GPUFEC_VITERBI_LOCK_WATCH_H

#include "encode_again.h"
#include "held_input.h"
#include "lock_output.h"
#include <vector>

namespace gr::gpufec::viterbi {

class lock_watch
{
public:
    //! From now on of another lock, which is sure up to stage \p clear.
    void begin(const encode_again& encoder,
               double error_rate,
               double chance,
               std::uint64_t clear);

    //! The same one was found again.
    void resume(double error_rate, std::uint64_t clear);

    /*!
     * \brief Whether the lock is lost somewhere before stage \p target.
     *
     * If so lost_stage() says where, else clear() up to where it holds for sure, which is
     * always a little before the target.
     */
    bool judge(const lock_segment& s, std::uint64_t target, const value_span& values);

    std::uint64_t lost_stage() const { return d_lost; }
    std::uint64_t clear() const { return d_clear; }
    double error_rate() const { return d_error_rate; }
    double chance() const { return d_chance; }

private:
    encode_again::tally encode(const lock_segment& s,
                               std::uint64_t first,
                               std::uint64_t end,
                               const value_span& v);

    const encode_again* d_encoder = nullptr;
    double d_error_rate = 0, d_chance = 0;
    std::uint64_t d_clear = 0, d_lost = 0;
    std::uint64_t d_sample = 0; // steps that are looked at, at a stretch's end
    std::vector<std::int8_t> d_read;
    std::vector<encode_again::tally> d_each;
};

} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_LOCK_WATCH_H */
