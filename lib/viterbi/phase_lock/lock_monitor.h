// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Monitors a lock: re-encodes decoded bits, counts the soft values whose sign disagrees,
 * and compares this error rate with the chance level, the rate for random signs.
 * locking.h defines lock, segment and check. */

#ifndef INCLUDED_GPUFEC_VITERBI_PHASE_LOCK_LOCK_MONITOR_H
#define INCLUDED_GPUFEC_VITERBI_PHASE_LOCK_LOCK_MONITOR_H

#include "lock_output.h"
#include "sign_error_counts.h"
#include "viterbi/code/reencoder.h"
#include <functional>
#include <vector>

namespace gr::gpufec::viterbi {

//! Monitor of the current lock. Class reencoder defines a step.
class lock_monitor
{
public:
    //! reader(first, count, to) copies `count` code values, from index `first` on.
    using reader = std::function<void(std::uint64_t, std::size_t, std::int8_t*)>;

    //! Begins to monitor a lock, from stage \p clear on. \p error_rate is the share of
    //! wrong signs in the search, and \p chance is the chance level.
    void begin(const reencoder& encoder,
               double error_rate,
               double chance,
               std::uint64_t clear);

    //! Continues with the same lock, which the search has found again. Monitoring
    //! continues at stage \p clear, unless clear() is already later.
    void resume(double error_rate, std::uint64_t clear);

    /*!
     * \brief Returns whether the lock was lost before stage \p target.
     *
     * If so, lost_stage() returns the stage at which the lock was lost. Otherwise clear()
     * returns the stage up to which the lock is known to hold. \p values reads the code
     * values of the segment. \p made points to the device's sign error counts for this
     * check, or is nullptr.
     */
    bool judge(lock_segment& s,
               std::uint64_t target,
               const reader& values,
               const sign_error_counts* made);

    std::uint64_t lost_stage() const { return d_lost; }
    std::uint64_t clear() const { return d_clear; }
    double error_rate() const { return d_error_rate; }
    double chance() const { return d_chance; }

private:
    // Returns the count of the last sign_error_counts::steps(size) steps before step
    // `end`, from `made` if `made` contains the count, or else by re-encoding.
    reencoder::sign_count sample(lock_segment& s,
                                 unsigned size,
                                 std::uint64_t end,
                                 const reader& values,
                                 const sign_error_counts* made);
    // Re-encodes the steps from `first` to `end` − 1 and returns the sum of their sign
    // counts. The count of each step is stored in d_each.
    reencoder::sign_count
    encode(lock_segment& s, std::uint64_t first, std::uint64_t end, const reader& values);
    // Derives the weights of evidence() from the error rate, unless one of the last 64
    // calls did so.
    void weigh();
    // Returns whether at least 95 % of the signs, not counting erasures, equal the sign
    // two values before. In this case the transmitter idles or sends an unmodulated
    // carrier, and several hypotheses fit.
    bool repeats(std::uint64_t from, std::uint64_t to, const reader& values);
    // Returns the log-likelihood ratio, in nats, of a lost lock to a lock that holds.
    double evidence(const reencoder::sign_count& t) const
    {
        return t.wrong * d_wrong + (t.values - t.wrong) * d_right;
    }

    const reencoder* d_encoder = nullptr;
    double d_error_rate = 0, d_chance = 0;
    std::uint64_t d_clear = 0, d_lost = 0;
    // Number of further calls of weigh() that leave the weights unchanged.
    unsigned d_weighed = 0;
    // The amounts that a wrong and a right sign add to evidence().
    double d_wrong = 0, d_right = 0;
    // Index in sign_error_counts of the count that usually suffices to decide a check.
    unsigned d_size = 0;
    std::vector<std::int8_t> d_read;
    std::vector<reencoder::sign_count> d_each;
};

} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_PHASE_LOCK_LOCK_MONITOR_H */
