// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* What the batch decoders on a CUDA device have in common. */

#ifndef INCLUDED_GPUFEC_CUDA_DEVICE_DECODER_H
#define INCLUDED_GPUFEC_CUDA_DEVICE_DECODER_H

#include "runtime.h"
#include <functional>
#include <vector>

namespace gr::gpufec {
namespace cuda {

//! A batch in flight; decoders add their memory.
struct device_slot {
    stream queue;
    event done;
};

/*!
 * \brief A device with slots in flight on it.
 *
 * A decoder enqueues a batch on its slot's stream and ends it with complete(). Its
 * destructor calls settle() before what the batches use is gone.
 */
template <class Job, class Slot>
class device_decoder : public batch_decoder<Job>
{
public:
    std::string backend() const override { return "cuda"; }
    std::string device() const override { return d_name; }
    bool page_lock(void* memory, std::size_t bytes) override
    {
        use();
        return cuda::page_lock(memory, bytes);
    }
    void page_unlock(void* memory) noexcept override
    {
        cudaSetDevice(d_device);
        cuda::page_unlock(memory);
    }
    void on_completion(std::function<void()> notify) override
    {
        d_notify = std::move(notify);
    }
    bool finished(unsigned slot) override
    {
        use();
        const auto state = cudaEventQuery(d_slots.at(slot).done.get());
        if (state == cudaErrorNotReady) {
            return false;
        }
        check(state, "decoding");
        return true;
    }

protected:
    //! \throws std::runtime_error if there is no such usable device
    explicit device_decoder(int device) : d_device(device)
    {
        select(device);
        cudaDeviceProp properties;
        check(cudaGetDeviceProperties(&properties, device), "device properties");
        d_name = properties.name;
    }

    void use() const { cuda::use(d_device); }

    //! Ends what was enqueued on the slot: the caller is told once it is done.
    void complete(Slot& s)
    {
        // Before the callback, so that who is called finds the batch finished.
        check(cudaEventRecord(s.done.get(), s.queue.get()), "event");
        check(cudaLaunchHostFunc(
                  s.queue.get(),
                  [](void* self) { static_cast<device_decoder*>(self)->d_notify(); },
                  this),
              "completion callback");
    }

    //! Waits for all slots.
    void settle() noexcept
    {
        cudaSetDevice(d_device);
        for (auto& s : d_slots) {
            cudaStreamSynchronize(s.queue.get());
        }
    }

    const int d_device;
    std::vector<Slot> d_slots;

private:
    std::string d_name;
    std::function<void()> d_notify = [] {};
};

} // namespace cuda
} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_CUDA_DEVICE_DECODER_H */
