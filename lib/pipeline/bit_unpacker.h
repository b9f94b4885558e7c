// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Bits of a large array, one per byte: what is decoded comes packed, and threads of their
 * own unpack it, since writing memory that is new takes longer than copying what is
 * decoded. */

#ifndef INCLUDED_GPUFEC_PIPELINE_BIT_UNPACKER_H
#define INCLUDED_GPUFEC_PIPELINE_BIT_UNPACKER_H

#include "packed_bits.h"
#include "worker_pool.h"
#include <algorithm>
#include <array>
#include <vector>

namespace gr::gpufec {

class bit_unpacker
{
public:
    //! What takes a millisecond and more, so that threads are worth their start.
    static constexpr std::size_t least_bits = 8u << 20;

    //! Bits go to \p out, in frames of \p frame_bits, which begin at whole packed bytes.
    bit_unpacker(std::uint8_t* out, std::size_t frame_bits)
        : d_out(out),
          d_frame_bits(frame_bits),
          d_frame_bytes((frame_bits + 7) / 8),
          d_pool(std::clamp(std::thread::hardware_concurrency() / 2, 1u, 4u))
    {
        for (auto& stage : d_stages) {
            stage.bytes.resize(1u << 18);
        }
        d_pool.on_completion([this] {
            const std::lock_guard<std::mutex> lock(d_mutex);
            d_wake.notify_one();
        });
    }
    ~bit_unpacker() { d_pool.stop(); }
    bit_unpacker(const bit_unpacker&) = delete;

    //! Takes packed bytes, in order: \p pull(to, room) says how many there are, and so
    //! does this.
    template <class Pull>
    std::size_t take(Pull&& pull)
    {
        auto& stage = d_stages[d_current];
        wait(d_current);
        const auto count =
            pull(stage.bytes.data() + stage.size, stage.bytes.size() - stage.size);
        stage.size += count;
        if (stage.size == stage.bytes.size()) {
            submit();
        }
        return count;
    }

    //! Waits until all that was taken is unpacked.
    void finish()
    {
        if (d_stages[d_current].size > 0) {
            submit();
        }
        for (unsigned k = 0; k < d_stages.size(); ++k) {
            wait(k);
        }
    }

private:
    struct stage {
        std::vector<std::uint8_t> bytes;
        std::size_t size = 0;
    };

    void wait(unsigned number)
    {
        std::unique_lock<std::mutex> lock(d_mutex);
        d_wake.wait(lock, [&] { return d_pool.finished(number); });
    }

    void submit()
    {
        auto& full = d_stages[d_current];
        d_pool.submit(
            d_current, 1, [this, &full, begin = d_taken, count = full.size](auto, auto) {
                unpack(full.bytes.data(), begin, count);
            });
        d_taken += full.size;
        d_current = (d_current + 1) % d_stages.size();
        wait(d_current);
        d_stages[d_current].size = 0;
    }

    // Packed bytes from number \p begin on.
    void unpack(const std::uint8_t* from, std::size_t begin, std::size_t count) const
    {
        for (std::size_t i = 0; i < count;) {
            const auto frame = (begin + i) / d_frame_bytes,
                       at = (begin + i) % d_frame_bytes;
            const auto bytes = std::min(count - i, d_frame_bytes - at);
            unpack_bits(from + i,
                        0,
                        std::min(8 * bytes, d_frame_bits - 8 * at),
                        d_out + frame * d_frame_bits + 8 * at);
            i += bytes;
        }
    }

    std::uint8_t* const d_out;
    const std::size_t d_frame_bits, d_frame_bytes;
    std::array<stage, 8> d_stages;
    unsigned d_current = 0;
    std::size_t d_taken = 0; // bytes that were submitted
    std::mutex d_mutex;
    std::condition_variable d_wake;
    worker_pool d_pool;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_PIPELINE_BIT_UNPACKER_H */
