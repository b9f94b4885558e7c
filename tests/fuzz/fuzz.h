// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Helpers of the fuzzing targets: reading the input, checking results, and ending a
 * stream. */

#ifndef INCLUDED_GPUFEC_TESTS_FUZZ_H
#define INCLUDED_GPUFEC_TESTS_FUZZ_H

#include <gnuradio/gpufec/ldpc.h>
#include <gnuradio/gpufec/sync_map.h>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace gr::gpufec::fuzz {

//! A reader of values from the fuzzer's input. After the end of the input, bytes are 0.
class reader
{
public:
    reader(const std::uint8_t* data, std::size_t size) : d_at(data), d_end(data + size) {}
    std::size_t left() const { return d_end - d_at; }
    unsigned byte() { return d_at < d_end ? *d_at++ : 0u; }
    //! Returns a value from 0 to \p most.
    unsigned up_to(unsigned most) { return (byte() << 8 | byte()) % (most + 1); }
    std::string line()
    {
        const auto* const end = std::find(d_at, d_end, std::uint8_t('\n'));
        std::string text(d_at, end);
        d_at = end == d_end ? end : end + 1;
        return text;
    }
    std::string rest() { return { d_at, std::exchange(d_at, d_end) }; }

private:
    const std::uint8_t *d_at, *const d_end;
};

//! Aborts if \p good is false; libFuzzer then reports the input.
inline void demand(bool good)
{
    if (!good) {
        std::abort();
    }
}

//! Finishes the stream, and calls \p take, which pulls output, until the decoder is done.
template <class Decoder, class Take>
void finish(Decoder& decoder, Take&& take)
{
    decoder.finish();
    while (!decoder.done()) {
        take();
        decoder.wait(std::chrono::milliseconds(10));
    }
}

} // namespace gr::gpufec::fuzz

#endif /* INCLUDED_GPUFEC_TESTS_FUZZ_H */
