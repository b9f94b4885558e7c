// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Admission of batches to a device that several decoders of a process share. */

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
 * \brief Limits the number of long batches on a device, so that short ones can run.
 *
 * A device takes one kernel from each stream in rotation, however long the kernels run.
 * If a few decoders had three batches of 6 ms in flight each, a decoder with batches of
 * 0.3 ms would wait for all of them in each round. So while other decoders are active,
 * only a few long batches are on the device at a time; the others wait on the host.
 */
class device_admission
{
public:
    using clock = std::chrono::steady_clock;

    static constexpr unsigned long_batches = 2; //!< limit on the device at a time
    //! A decoder counts as active for so long after it began a batch.
    static constexpr std::chrono::milliseconds at_work{ 50 };
    //! A decoder that was woken has precedence for so long.
    static constexpr std::chrono::milliseconds kept{ 1 };

    //! Returns the admission of a device, which the process shares.
    static std::shared_ptr<device_admission> of(int device);

    //! The membership of a decoder. One thread begins batches, any thread ends them.
    class place
    {
    public:
        //! \p long_ones tells whether the decoder's batches are long. \p wake is called
        //! from any thread when a waiting batch may begin.
        place(std::shared_ptr<device_admission> admission,
              bool long_ones,
              std::function<void()> wake);
        ~place();
        place(const place&) = delete;
        place& operator=(const place&) = delete;

        //! Begins a batch and returns true, or returns false; then wake() will be called.
        bool begin(clock::time_point now = clock::now());
        //! Begins a batch without regard to other decoders.
        void take();
        //! Ends a batch that began, whether or not it reached the device.
        void end(clock::time_point now = clock::now()) noexcept;
        //! Ends all batches of an idle or abandoned decoder, and wakes the others.
        void leave_queue() noexcept;

    private:
        friend device_admission;
        struct state;
        void begins();
        const std::shared_ptr<device_admission> d_admission;
        const std::shared_ptr<state> d_state;
    };

private:
    bool others_at_work(const place::state& m, clock::time_point now) const;
    bool kept_for_others(const place::state& m, clock::time_point now) const;
    void wake_waiting(clock::time_point now) noexcept;

    std::mutex d_mutex;
    std::vector<std::shared_ptr<place::state>> d_members;
    std::vector<std::shared_ptr<place::state>> d_waiting; // in the order of begin()
    unsigned d_long_running = 0;                          // batches on the device
};

} // namespace cuda
} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_CUDA_DEVICE_ADMISSION_H */
