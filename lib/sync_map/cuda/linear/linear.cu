// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The launch plan of the linear form for any code: a block per frame, or segments of
 * frames (segments.cuh) if frames are few. */

#include "kernel_choice.h"
#include "linear.cuh"
#include "linear_any.cuh"
#include "segments.h"
#include <type_traits>
#include <algorithm>

namespace gr::gpufec::sync_map {

namespace {

using namespace cuda;

template <class Row, class Metric>
class linear_plan : public launch_plan
{
public:
    linear_plan(const setup& setup, int device)
        : d_geometry(make_geometry(setup)),
          d_kernel(setup,
                   d_geometry,
                   kernel_for<bit_items>(setup.code.n(), setup.code.q()),
                   kernel_for<symbol_items>(setup.code.n(), setup.code.q()),
                   has_likelihoods(setup) ? linear_any<true, Row, Metric>
                                          : linear_any<false, Row, Metric>,
                   "the window of drifts",
                   device),
          d_segments(make_segments_plan<Row, Metric>(
              setup, d_geometry, d_kernel.layout, d_kernel.warps, device))
    {
    }

    std::size_t work_bytes(std::size_t frames) const override
    {
        carver c(nullptr);
        carve(c, d_kernel.blocks(frames));
        return std::max(c.used(), d_segments->work_bytes(frames));
    }

    void launch(sync_geometry g,
                std::byte* work,
                std::size_t,
                const std::byte* input,
                std::byte* output,
                sync_status* status,
                cudaStream_t stream) const override
    {
        if (d_segments->take(g.frames)) {
            return d_segments->launch(
                g, d_kernel.memory(), work, input, output, status, stream);
        }
        launch_kernel(d_kernel.run,
                      g.frames,
                      stream,
                      g,
                      d_kernel.layout,
                      row_weights<Row>(g),
                      memory_of(work, g.frames),
                      input,
                      output,
                      status);
    }

    //! Allows the kernel of launch_listed() the shared memory that it needs.
    void allow_listed() const
    {
        allow_shared(kernel_of_list(), d_kernel.layout.bytes, "the window of drifts");
    }
    //! Decodes the frames on a list. Words have ten bits.
    void launch_listed(const sync_geometry& g,
                       const listed_frames& frames,
                       std::byte* work,
                       const std::byte* input,
                       std::byte* output,
                       sync_status* status,
                       cudaStream_t stream) const
    {
        launch_kernel(kernel_of_list(),
                      g.frames,
                      stream,
                      g,
                      d_kernel.layout,
                      row_weights<Row>(g),
                      memory_of(work, g.frames),
                      frames,
                      input,
                      output,
                      status);
    }

private:
    using kernel = void (*)(const sync_geometry,
                            const linear_layout,
                            const row_weights<Row>,
                            const linear_memory,
                            const std::byte*,
                            std::byte*,
                            sync_status*);

    //! Launches a kernel for \p frames of a batch.
    template <class Kernel, class... Arguments>
    void launch_kernel(Kernel run,
                       std::size_t frames,
                       cudaStream_t stream,
                       const Arguments&... arguments) const
    {
        const unsigned blocks = d_kernel.blocks(frames), threads = 32 * d_kernel.warps;
        const auto shared = d_kernel.layout.bytes;
        run<<<blocks, threads, shared, stream>>>(arguments...);
    }

    auto kernel_of_list() const
    {
        return d_geometry.q <= 32 ? linear_words_listed<10, true, Row, Metric>
                                  : linear_words_listed<10, false, Row, Metric>;
    }

    struct work_arrays {
        Metric* alpha;
        Row* rows;
        double* prior_sums;
    };

    template <template <int, class, class> class Items, int N, int Spare>
    static kernel_of_rows<kernel> kernel_with(unsigned q)
    {
        return { q <= 32 ? linear_words<Items, N, Spare, true, Row, Metric>
                         : linear_words<Items, N, Spare, false, Row, Metric>,
                 N };
    }

    template <template <int, class, class> class Items>
    static kernel_of_rows<kernel> kernel_for(unsigned n, unsigned q)
    {
        if (n == 10) {
            return kernel_with<Items, 10, 0>(q);
        }
#ifndef GPUFEC_FEW_KERNELS
        // More kernels exist in float only, to limit the build time.
        if constexpr (std::is_same<Metric, float>::value) {
            switch (n) {
            case 2:
            case 3:
            case 4:
                return kernel_with<Items, 4, 2>(q);
            case 5:
                return kernel_with<Items, 5, 0>(q);
            case 6:
                return kernel_with<Items, 6, 0>(q);
            case 7:
            case 8:
                return kernel_with<Items, 8, 1>(q);
            case 9:
                return kernel_with<Items, 10, 1>(q);
            case 11:
            case 12:
                return kernel_with<Items, 12, 1>(q);
            }
            if constexpr (are_bits<Items>) {
                if (n > 12 && n <= 16) {
                    return kernel_with<Items, 16, 3>(q);
                }
                if (n > 16 && n <= 20) {
                    return kernel_with<Items, 20, 3>(q);
                }
            }
        }
#endif
        return {};
    }

    linear_memory memory_of(std::byte* work, std::size_t frames) const
    {
        carver c(work);
        const auto w = carve(c, d_kernel.blocks(frames));
        return d_kernel.memory(w.alpha, w.rows, w.prior_sums);
    }

    work_arrays carve(carver& c, std::size_t count) const
    {
        const auto& g = d_geometry;
        return { c.take<Metric>(count * (g.symbols + 1) * d_kernel.layout.length),
                 c.take<Row>(d_kernel.rows_between(g, count)),
                 c.take<double>(g.priors ? count * g.outputs : 0) };
    }

    const sync_geometry d_geometry;
    const linear_kernel<Row, Metric, kernel> d_kernel;
    const std::unique_ptr<segments_plan> d_segments;
};

template <class Real>
class linear_fallback_plan : public linear_fallback
{
public:
    linear_fallback_plan(const setup& setup, int device) : d_plan(setup, device)
    {
        d_plan.allow_listed();
    }

    std::size_t work_bytes(std::size_t frames) const override
    {
        return d_plan.work_bytes(frames);
    }

    void launch(sync_geometry g,
                std::byte* work,
                std::size_t work_bytes,
                const std::byte* input,
                std::byte* output,
                sync_status* status,
                cudaStream_t stream) const override
    {
        d_plan.launch(g, work, work_bytes, input, output, status, stream);
    }

    void launch_listed(const sync_geometry& g,
                       const listed_frames& frames,
                       std::byte* work,
                       const std::byte* input,
                       std::byte* output,
                       sync_status* status,
                       cudaStream_t stream) const override
    {
        d_plan.launch_listed(g, frames, work, input, output, status, stream);
    }

private:
    const linear_plan<Real, Real> d_plan;
};

} // namespace

template <class Row, class Metric>
std::unique_ptr<launch_plan> make_linear_plan(const setup& setup, int device)
{
    return setup.form == sync_form::linear
               ? std::make_unique<linear_plan<Row, Metric>>(setup, device)
               : nullptr;
}

template <class Real>
std::unique_ptr<linear_fallback> make_linear_fallback(const setup& setup, int device)
{
    return std::make_unique<linear_fallback_plan<Real>>(setup, device);
}

template std::unique_ptr<launch_plan> make_linear_plan<float, float>(const setup&, int);

template std::unique_ptr<launch_plan> make_linear_plan<float, double>(const setup&, int);

template std::unique_ptr<launch_plan> make_linear_plan<double, double>(const setup&, int);

template std::unique_ptr<linear_fallback> make_linear_fallback<float>(const setup&, int);

template std::unique_ptr<linear_fallback> make_linear_fallback<double>(const setup&, int);

} // namespace gr::gpufec::sync_map
