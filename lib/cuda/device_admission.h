// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Limits the number of long batches that the decoders of a process run on a shared
 * device. */

#ifndef INCLUDED_GPUFEC_CUDA_DEVICE_ADMISSION_H
#define INCLUDED_GPUFEC_CUDA_DEVICE_ADMISSION_H

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace gr::gpufec {
namespace cuda {

/*!
 * \brief Admission of batches to a device, with a limit on long batches, so that short
 * batches can run.
 *
 * A device takes kernels from its streams in rotation, without regard to their duration.
 * Without a limit, a decoder with short batches (0.3 ms, for example) would wait for all
 * long batches (6 ms) that other decoders have in flight. While at least two decoders are
 * active, the device therefore runs at most \c long_batches long batches; further long
 * batches wait on the host.
 */
class device_admission
{
public:
    using clock = std::chrono::steady_clock;

    //! Maximum number of long batches on a device. With a limit of one, the device would
    //! be idle between two batches (docs/decisions/2026-11-23-sharing-a-card.md).
    static constexpr unsigned long_batches = 2;
    //! A decoder counts as active while one of its batches runs, and for this time after
    //! the latest call of begin().
    static constexpr std::chrono::milliseconds active_time{ 50 };
    //! During this time after a wake-up, the woken decoder has precedence over decoders
    //! that have waited for a shorter time. Without this rule, equal decoders have
    //! unequal shares of a device (docs/decisions/2026-11-23-sharing-a-card.md).
    static constexpr std::chrono::milliseconds precedence_time{ 1 };

    //! Returns the object that all decoders on \p device share in this process.
    static std::shared_ptr<device_admission> of(int device);

    //! Registration of one decoder. One thread begins batches; any thread may end them.
    class place
    {
    public:
        //! \p long_ones is true if each of the decoder's batches takes milliseconds.
        //! \p wake is called from any thread when the decoder should call begin()
        //! again.
        place(std::shared_ptr<device_admission> admission,
              bool long_ones,
              std::function<void()> wake);
        ~place();
        place(const place&) = delete;
        place& operator=(const place&) = delete;

        //! Admits a batch and returns true. If the batch must wait, returns false; the
        //! wake callback is called later.
        bool begin(clock::time_point now = clock::now());
        //! Admits a batch even if the limit is reached.
        void take();
        //! Ends an admitted batch. The caller must also end a batch whose submission
        //! failed.
        void end(clock::time_point now = clock::now()) noexcept;
        //! Ends all batches of an idle or abandoned decoder and wakes waiting decoders.
        void leave_queue() noexcept;

    private:
        friend device_admission;
        struct state;
        void begins();
        const std::shared_ptr<device_admission> d_admission;
        const std::shared_ptr<state> d_state;
    };

private:
    bool others_active(const place::state& m, clock::time_point now) const;
    bool reserved_for_others(const place::state& m, clock::time_point now) const;
    void wake_waiting(clock::time_point now) noexcept;

    std::mutex d_mutex;
    std::vector<std::shared_ptr<place::state>> d_members;
    std::vector<std::shared_ptr<place::state>> d_waiting; // in the order of refusal
    unsigned d_long_running = 0;                          // admitted long batches
};

} // namespace cuda
} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_CUDA_DEVICE_ADMISSION_H */
