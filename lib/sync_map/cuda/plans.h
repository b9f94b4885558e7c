// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Launch plans of the CUDA backend: the kernels for a setup, their memory in a slot, and
 * their launch. */

#ifndef INCLUDED_GPUFEC_SYNC_MAP_CUDA_PLANS_H
#define INCLUDED_GPUFEC_SYNC_MAP_CUDA_PLANS_H

#include "common.cuh"
#include "cuda/runtime.h"
#include "sync_map/model/job.h"
#include "sync_map/model/setup.h"
#include <cstdint>
#include <memory>
#include <vector>

namespace gr::gpufec::sync_map {

//! Returns the geometry of a setup, with 0 as the number of frames.
sync_geometry make_geometry(const setup& setup);

inline cuda::buffer<std::uint32_t> upload(const std::vector<std::uint32_t>& words)
{
    return cuda::uploaded(words, "copy of a codebook");
}

//! Device memory of a batch's launch, and the stream of the launch.
struct launch_memory {
    std::byte* work;
    std::size_t work_bytes;
    const std::byte* input;
    std::byte* output;
    sync_status* status;
    cudaStream_t stream;
};

//! Kernels of a form, and the device memory that they need in a slot.
class launch_plan
{
public:
    virtual ~launch_plan() = default;
    //! Returns the bytes of work memory in a slot, for batches of up to \p frames frames.
    virtual std::size_t work_bytes(std::size_t frames) const = 0;
    virtual void launch(sync_geometry g, const launch_memory& memory) const = 0;
};

// Places consecutive arrays in one allocation, or only counts their bytes if \p memory is
// nullptr.
class carver
{
public:
    explicit carver(std::byte* memory) : d_memory(memory) {}
    template <class T>
    T* take(std::size_t count)
    {
        auto* const array = reinterpret_cast<T*>(d_memory + d_used);
        d_used += (count * sizeof(T) + 255) / 256 * 256;
        return array;
    }
    std::size_t used() const { return d_used; }

    //! Returns the number of bytes that \p carve(carver&) needs.
    template <class Carve>
    static std::size_t bytes_of(Carve&& carve)
    {
        carver c(nullptr);
        carve(c);
        return c.used();
    }

private:
    std::byte* d_memory;
    std::size_t d_used = 0;
};

inline bool has_likelihoods(const setup& s)
{
    return s.soft_input && s.code.alphabet() > 2;
}

//! The linear form without tries, as a fallback of the trie lattice.
class linear_fallback : public launch_plan
{
public:
    //! Decodes the frames on a list; decodes none if the list is too long (see
    //! frame_list in common.cuh).
    virtual void launch_listed(const sync_geometry& g,
                               const frame_list& frames,
                               const launch_memory& memory) const = 0;
};

//! Returns the fallback in the precision of \p Real.
template <class Real>
std::unique_ptr<linear_fallback> make_linear_fallback(const setup& setup, int device);

//! Returns the first of the plans below that supports a setup.
std::unique_ptr<launch_plan> make_launch_plan(const setup& setup, int device);

// The following functions return nullptr if their kernels do not support a setup or a
// device.

//! Linear form, words of ten bits in float: tries in a band of drifts.
std::unique_ptr<launch_plan> make_banded_lattice_plan(const setup& setup, int device);

//! Linear form, words of ten bits in float: tries over all drifts.
std::unique_ptr<launch_plan> make_float_trie_lattice_plan(const setup& setup, int device);

//! Linear form, words of ten bits in double: tries over all drifts.
std::unique_ptr<launch_plan> make_double_trie_lattice_plan(const setup& setup,
                                                           int device);

//! Linear form, any code.
template <class Row, class Metric>
std::unique_ptr<launch_plan> make_linear_plan(const setup& setup, int device);

//! Corridor form, any code.
template <class Lattice, class Metric>
std::unique_ptr<launch_plan> make_corridor_plan(const setup& setup, int device);

//! Returns the number of frames that a device decodes concurrently with the trie lattice,
//! or 1 if a setup does not use the trie lattice.
std::size_t frames_of_a_wave(const setup& setup, int device);

//! Launch plan of the search for the beginnings of a stream's frames.
class start_plan
{
public:
    virtual ~start_plan() = default;
    virtual std::size_t work_bytes(std::size_t frames) const = 0;
    virtual void launch(const job& j,
                        std::byte* work,
                        const std::byte* batch,
                        std::byte* frames,
                        std::byte* output,
                        cudaStream_t stream) const = 0;
};

//! Returns the plan, or nullptr for frames without a search.
std::unique_ptr<start_plan>
make_start_plan(const setup& setup, std::size_t frames, int device);

} // namespace gr::gpufec::sync_map

#endif /* INCLUDED_GPUFEC_SYNC_MAP_CUDA_PLANS_H */
