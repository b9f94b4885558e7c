// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* A helper for main() of programs that measure in rounds. */

#ifndef INCLUDED_GPUFEC_BENCH_ROUNDS_H
#define INCLUDED_GPUFEC_BENCH_ROUNDS_H

#include <cstdlib>
#include <exception>
#include <iostream>

namespace gr::gpufec::bench {

// Calls \p run with the number of rounds: the first argument of the program or, without
// arguments, \p standard. Returns the exit status for main().
template <class Run>
int main_of_rounds(int argc, char** argv, int standard, Run&& run)
try {
    const int rounds = argc > 1 ? std::atoi(argv[1]) : standard;
    if (rounds < 1) {
        std::cerr << "usage: " << argv[0] << " [ROUNDS]\n";
        return 1;
    }
    run(rounds);
    return 0;
} catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
}

} // namespace gr::gpufec::bench

#endif /* INCLUDED_GPUFEC_BENCH_ROUNDS_H */
