// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Threads that help a decoder's caller to copy input into slots. */

#ifndef INCLUDED_GPUFEC_PIPELINE_COPY_TEAM_H
#define INCLUDED_GPUFEC_PIPELINE_COPY_TEAM_H

#include "thread_team.h"
#include <algorithm>

namespace gr::gpufec {

class copy_team
{
public:
    //! \p threads includes the caller's thread. The other threads start when large input
    //! is first copied.
    explicit copy_team(unsigned threads) : d_team(std::min(threads, max_threads)) {}

    //! Copies \p units units of \p bytes bytes each by calls of copy(first, count), which
    //! must not throw. Large inputs are divided among the threads.
    template <class Copy>
    void operator()(std::size_t units, std::size_t bytes, const Copy& copy)
    {
        d_team(units, units * bytes / least_part, copy);
    }

private:
    // In measurements, more than eight threads did not copy faster.
    static constexpr unsigned max_threads = 8;
    static constexpr std::size_t least_part = 256u << 10;

    thread_team d_team;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_PIPELINE_COPY_TEAM_H */
