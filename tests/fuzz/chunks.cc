// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Fuzzes the division of soft values into calls of push() and flush(), for Viterbi and
 * LDPC decoders. LDPC streams also have changes of code, which leave incomplete frames.
 * The division must not change the output. */

#include "fuzz.h"
#include <gnuradio/gpufec/viterbi.h>
#include <sstream>

using namespace gr::gpufec;

namespace {

using bytes = std::vector<std::uint8_t>;
using soft_values = std::vector<std::int8_t>;

// An event in an LDPC stream: if `code` is true, a change to code `value` mod 2,
// otherwise a push of `value` soft values.
struct event {
    bool code;
    unsigned value;
};

ldpc_code small_code(unsigned number)
{
    // The text of an alist file: a (7, 4) code for number 0, otherwise a (3, 1) code.
    std::istringstream text(number ? "3 2\n2 2\n1 2 1\n2 2\n1 0\n1 2\n2 0\n1 2\n2 3\n"
                                   : "7 3\n3 4\n1 1 2 1 2 2 3\n4 4 4\n1\n2\n1 2\n3\n1 3\n"
                                     "2 3\n1 2 3\n1 3 5 7\n2 3 6 7\n4 5 6 7\n");
    return ldpc_code::from_alist(text, std::to_string(number));
}

// Pushes `count` items, and calls pull() after each push. portion() returns the maximum
// number of items of the next push, or 0 for a call of flush() instead.
template <class Decoder, class Pull, class Portion>
void push(Decoder& decoder,
          const std::int8_t* items,
          std::size_t count,
          Pull&& pull,
          Portion&& portion)
{
    for (std::size_t at = 0; at < count;) {
        const auto n = std::min<std::size_t>(portion(), count - at);
        if (n == 0) {
            decoder.flush();
        }
        const auto taken = decoder.push({ items + at, n });
        at += taken;
        pull();
        if (taken == 0) {
            decoder.wait(std::chrono::milliseconds(1));
        }
    }
}

template <class Portion>
bytes viterbi(bool frames, const soft_values& items, unsigned batch, Portion&& portion)
{
    viterbi_options o(conv_code(5, { 023, 033 }));
    o.backend = backend::cpu;
    o.batch = batch;
    o.termination = frames ? termination::terminated : termination::streaming;
    o.frame_bits = frames ? 60 : 0;
    o.decode_length = frames ? 0 : 64;
    o.overlap = frames ? 0 : 32;
    const auto decoder = viterbi_decoder::make(o);
    bytes out;
    const auto pull = [&] {
        std::uint8_t some[100];
        while (const auto n = decoder->pull({ some, sizeof(some), true })) {
            out.insert(out.end(), some, some + n);
        }
    };
    push(*decoder, items.data(), items.size(), pull, portion);
    fuzz::finish(*decoder, pull);
    return out;
}

template <class Portion>
bytes ldpc(const std::vector<event>& events,
           const soft_values& items,
           unsigned batch,
           Portion&& portion)
{
    ldpc_options o;
    o.codes = { small_code(0), small_code(1) };
    o.backend = backend::cpu;
    o.batch = batch;
    o.max_iterations = 4;
    const auto decoder = ldpc_decoder::make(o);
    bytes out;
    const auto pull = [&] {
        std::uint8_t some[5];
        while (const auto n = decoder->pull({ some, sizeof(some), false })) {
            out.insert(out.end(), some, some + n);
        }
    };
    std::size_t at = 0;
    for (const auto& e : events) {
        if (e.code) {
            decoder->drop_incomplete();
            decoder->select(e.value % 2);
        } else {
            const auto n = std::min<std::size_t>(e.value, items.size() - at);
            push(*decoder, items.data() + at, n, pull, portion);
            at += n;
        }
    }
    fuzz::finish(*decoder, pull);
    return out;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size > 3000) {
        return 0;
    }
    fuzz::reader in(data, size);
    const auto kind = in.byte() % 3, batch = 1 + in.byte() % 5;
    std::vector<unsigned> portions;
    for (auto n = in.byte() % 20; n > 0; --n) {
        portions.push_back(in.up_to(400));
    }
    std::vector<event> events;
    for (auto n = in.byte() % 20; n > 0; --n) {
        const auto what = in.byte();
        events.push_back({ what % 3 == 0, what });
    }
    const auto text = in.rest();
    const soft_values items(text.begin(), text.end());
    std::size_t next = 0;
    const auto fuzzed = [&]() -> unsigned {
        if (portions.empty()) {
            return 1;
        }
        ++next;
        return portions[next % portions.size()] + (next % 31 == 0);
    };
    const auto whole = [] { return 1u << 20; };
    if (kind == 2) {
        fuzz::demand(ldpc(events, items, batch, fuzzed) ==
                     ldpc(events, items, 64, whole));
    } else {
        fuzz::demand(viterbi(kind == 1, items, kind == 1 ? batch : batch * 8, fuzzed) ==
                     viterbi(kind == 1, items, 64, whole));
    }
    return 0;
}
