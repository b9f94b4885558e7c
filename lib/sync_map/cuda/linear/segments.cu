// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Launch of the kernels for segments. */

#include "kernel_choice.h"
#include "segments.cuh"
#include "segments.h"
#include <cstdlib>

namespace gr::gpufec::sync_map {

namespace {

using namespace cuda;

template <class Row, class Metric>
class segments : public segments_plan
{
public:
    segments(const setup& setup,
             const sync_geometry& g,
             const linear_layout& layout,
             unsigned warps,
             int device)
        : d_geometry(g), d_cut(g.symbols, g.outputs), d_layout(layout), d_warps(warps)
    {
        if (setup.code.alphabet() != 2 || g.n != 10 || g.priors ||
            g.window > chain_threads) {
            return;
        }
        d_kernel = g.q <= 32 ? work_on_segments<bit_items, 10, true, Row, Metric>
                             : work_on_segments<bit_items, 10, false, Row, Metric>;
        allow_shared(d_kernel, d_layout.bytes, "the window of drifts");
        d_resident = resident_blocks(d_kernel, 32 * d_warps, d_layout.bytes, device);
        // Segments are used up to four rounds of matrix rows, the choice in
        // docs/decisions/2026-11-23-sync-word-lengths.md.
        const char* const to = std::getenv("GPUFEC_SYNC_SEGMENTS_TO");
        d_max = to ? std::atoi(to) : 4 * d_resident / (d_cut.count * g.window);
    }

    bool take(std::size_t frames) const override { return frames <= d_max; }

    std::size_t work_bytes(std::size_t frames) const override
    {
        carver c(nullptr);
        carve(c, std::min(frames, d_max));
        return c.used();
    }

    void launch(const sync_geometry& g,
                const linear_memory& words,
                std::byte* work,
                const std::byte* input,
                std::byte* output,
                sync_status* status,
                cudaStream_t stream) const override
    {
        carver c(work);
        const auto memory = carve(c, g.frames);
        const row_weights<Row> weights(g);
        const auto run = [&](segment_work what, std::size_t jobs) {
            d_kernel<<<unsigned(std::min(jobs, d_resident)),
                       32 * d_warps,
                       d_layout.bytes,
                       stream>>>(
                g, d_cut, d_layout, weights, words, memory, what, input, output, status);
        };
        run(segment_work::transfers, std::size_t(g.frames) * d_cut.count * g.window);
        chain<<<g.frames, 2 * chain_threads, chain_bytes<Metric>(g, d_cut), stream>>>(
            g, d_cut, memory, input, output, status);
        run(segment_work::symbols, std::size_t(g.frames) * d_cut.putting_out);
    }

private:
    using kernel = void (*)(const sync_geometry,
                            const segment_geometry,
                            const linear_layout,
                            const row_weights<Row>,
                            const linear_memory,
                            const segment_memory<Metric>,
                            segment_work,
                            const std::byte*,
                            std::byte*,
                            const sync_status*);

    segment_memory<Metric> carve(carver& c, std::size_t frames) const
    {
        const std::size_t W = d_geometry.window, matrices = frames * d_cut.count;
        const auto blocks = std::min(frames * d_cut.putting_out, d_resident);
        return { c.take<Metric>(matrices * W * W),
                 c.take<std::int32_t>(matrices * W),
                 c.take<Metric>((matrices + frames) * 2 * W),
                 c.take<Metric>(blocks * segment_symbols * d_layout.length) };
    }

    static constexpr auto chain = chain_segments<Metric>;

    const sync_geometry d_geometry;
    const segment_geometry d_cut;
    const linear_layout d_layout;
    const unsigned d_warps;
    kernel d_kernel = nullptr;
    std::size_t d_resident = 0, d_max = 0;
};

} // namespace

template <class Row, class Metric>
std::unique_ptr<segments_plan> make_segments_plan(const setup& setup,
                                                  const sync_geometry& g,
                                                  const linear_layout& layout,
                                                  unsigned warps,
                                                  int device)
{
    return std::make_unique<segments<Row, Metric>>(setup, g, layout, warps, device);
}

template std::unique_ptr<segments_plan> make_segments_plan<float, float>(
    const setup&, const sync_geometry&, const linear_layout&, unsigned, int);

template std::unique_ptr<segments_plan> make_segments_plan<float, double>(
    const setup&, const sync_geometry&, const linear_layout&, unsigned, int);

template std::unique_ptr<segments_plan> make_segments_plan<double, double>(
    const setup&, const sync_geometry&, const linear_layout&, unsigned, int);

} // namespace gr::gpufec::sync_map
