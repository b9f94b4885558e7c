// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Watches a lock: what it decodes is encoded again and held against chance. */

#ifndef INCLUDED_GPUFEC_VITERBI_LOCK_WATCH_H
#define INCLUDED_GPUFEC_VITERBI_LOCK_WATCH_H

#include "check_tallies.h"
#include "encode_again.h"
#include "lock_output.h"
#include <functional>
#include <vector>

namespace gr::gpufec::viterbi {

class lock_watch
{
public:
    //! Gives a segment's values, as its code has them: reader(first, count, to).
    using reader = std::function<void(std::uint64_t, std::size_t, std::int8_t*)>;

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
     * always a little before the target. \p made: tallies of this check, if there are
     * any.
     */
    bool judge(lock_segment& s,
               std::uint64_t target,
               const reader& values,
               const check_tallies* made);

    std::uint64_t lost_stage() const { return d_lost; }
    std::uint64_t clear() const { return d_clear; }
    double error_rate() const { return d_error_rate; }
    double chance() const { return d_chance; }

private:
    // Of the last steps before one, as many as tallies of a size.
    encode_again::tally sample(lock_segment& s,
                               unsigned size,
                               std::uint64_t end,
                               const reader& values,
                               const check_tallies* made);
    encode_again::tally
    encode(lock_segment& s, std::uint64_t first, std::uint64_t end, const reader& values);
    void weigh();
    // Whether signs come again every second value: idle, or nothing is modulated, and no
    // hypothesis can be told from others.
    bool repeats(std::uint64_t from, std::uint64_t to, const reader& values);
    double evidence(const encode_again::tally& t) const // for chance
    {
        return t.wrong * d_wrong + (t.values - t.wrong) * d_right;
    }

    const encode_again* d_encoder = nullptr;
    double d_error_rate = 0, d_chance = 0;
    std::uint64_t d_clear = 0, d_lost = 0;
    // By the error rate, and of use for so many more stretches: the logarithms of how
    // much likelier by chance a sign that is wrong is, and one that is right; the size of
    // what is to show, at a stretch's end, whether more has to be looked at.
    unsigned d_weighed = 0;
    double d_wrong = 0, d_right = 0;
    unsigned d_size = 0;
    std::vector<std::int8_t> d_read;
    std::vector<encode_again::tally> d_each;
};

} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_LOCK_WATCH_H */
