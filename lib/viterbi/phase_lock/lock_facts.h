// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Passes the members of a viterbi_lock to a function, each with its name in Python and in
 * tags. */

#ifndef INCLUDED_GPUFEC_VITERBI_LOCK_FACTS_H
#define INCLUDED_GPUFEC_VITERBI_LOCK_FACTS_H

#include <gnuradio/gpufec/viterbi.h>

namespace gr::gpufec::viterbi {

//! Calls add(name, value) for each member of \p lock except first_bit and first_byte.
//! Without a lock, the members that are valid only while locked are left out.
template <class Add>
void each_fact(const viterbi_lock& lock, Add&& add)
{
    add("locked", lock.locked);
    if (lock.locked) {
        add("preset", lock.preset);
        add("code", lock.code);
        add("pair_phase", lock.pair_phase);
        add("puncturing_phase", lock.puncturing_phase);
        add("rotation", lock.rotation);
        add("swapped", lock.swapped);
        add("half_symbol", lock.half_symbol);
        add("inverted", lock.inverted);
        add("error_rate", lock.error_rate);
        add("chance_error_rate", lock.chance_error_rate);
    }
    add("first_value", lock.first_value);
    add("known_value", lock.known_value);
    add("dropped", lock.dropped);
    add("locks", lock.locks);
}

} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_LOCK_FACTS_H */
