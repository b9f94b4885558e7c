// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Who may put a batch on a device that several decoders of a process share. */

#ifndef INCLUDED_GPUFEC_CUDA_DEVICE_TURNS_H
#define INCLUDED_GPUFEC_CUDA_DEVICE_TURNS_H

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace gr::gpufec {
namespace cuda {

/*!
 * \brief Keeps decoders whose batches take long from filling a device.
 *
 * A device takes kernels from all streams in turn, one from each, however long they run.
 * So a few decoders with three batches of 6 ms in flight would leave others, whose
 * batches take 0.3 ms, three of these in each round. While others are at work, only a few
 * long batches are therefore on the device at a time; the rest wait on the host.
 */
class device_turns
{
public:
    using clock = std::chrono::steady_clock;

    static constexpr unsigned long_batches = 2; //!< on the device at a time
    //! Who began no batch for so long is not at work.
    static constexpr std::chrono::milliseconds at_work{ 50 };
    //! For who is woken a place is kept so long.
    static constexpr std::chrono::milliseconds kept{ 1 };

    //! The turns of a device of this process.
    static std::shared_ptr<device_turns> of(int device);

    //! A decoder's place; one thread begins batches, any thread ends them.
    class place
    {
    public:
        //! Whether a decoder's batches are \p long_ones; \p wake is called, from any
        //! thread, when one that waits may begin.
        place(std::shared_ptr<device_turns> turns,
              bool long_ones,
              std::function<void()> wake);
        ~place();
        place(const place&) = delete;
        place& operator=(const place&) = delete;

        //! Whether a batch may begin, which then has; else wake() will be called.
        bool begin(clock::time_point now = clock::now());
        //! A batch begins, whoever else is at work.
        void take();
        //! A batch that began has ended, or was not put on the device after all.
        void end(clock::time_point now = clock::now()) noexcept;
        //! Nothing is on the device any more, or it is lost; who waits is woken all the
        //! same.
        void rest() noexcept;

    private:
        friend device_turns;
        struct state;
        void begins();
        const std::shared_ptr<device_turns> d_turns;
        const std::shared_ptr<state> d_state;
    };

private:
    bool others_at_work(const place::state& m, clock::time_point now) const;
    bool kept_for_others(const place::state& m, clock::time_point now) const;
    void wake_waiting(clock::time_point now) noexcept;

    std::mutex d_mutex;
    std::vector<std::shared_ptr<place::state>> d_members;
    std::vector<std::shared_ptr<place::state>> d_waiting; // who asked first comes first
    unsigned d_long_running = 0;                          // batches on the device
};

} // namespace cuda
} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_CUDA_DEVICE_TURNS_H */
