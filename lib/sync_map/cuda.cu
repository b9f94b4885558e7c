// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The CUDA backend: words as kernels read them, the launch setup of each form, and a
 * stream and device memory for each slot. */

#include "cuda/device_decoder.h"
#include "cuda/first_plan.h"
#include "cuda_band.cuh"
#include "cuda_corridor.cuh"
#include "cuda_frames.cuh"
#include "cuda_linear_any.cuh"
#include "cuda_links.cuh"
#include "cuda_segments.cuh"
#include "cuda_starts.cuh"
#include "cuda_tries.cuh"
#include "cuda_words.h"
#include "pipeline/refuse.h"
#include "room.h"
#include <type_traits>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

namespace gr::gpufec::sync_map {

namespace {

using namespace cuda;


sync_geometry make_geometry(const setup& p)
{
    const bsid_weights w(p.channel);
    const double scale = 1 / p.largest_weight();
    sync_geometry g{};
    g.n = p.code.n();
    g.q = p.code.q();
    g.frame_symbols = p.code.frame_symbols();
    g.symbols = p.symbols;
    g.outputs = p.outputs;
    g.window = p.window;
    g.alphabet = p.code.alphabet();
    g.max_items = p.max_items;
    g.change_first = p.change.first;
    g.change_last = p.change.last;
    g.soft_input = p.soft_input;
    g.priors = p.priors;
    g.drifts = p.drifts;
    g.links = p.links;
    g.output = p.output;
    g.positive_bit = p.positive_bit;
    g.symbol_bytes = p.symbol_bytes();
    g.input_bytes = p.input_bytes();
    g.start_at = p.start_at();
    g.end_at = p.end_at();
    g.priors_at = p.priors_at();
    g.items_at = p.items_at();
    g.output_bytes = p.output_bytes();
    g.drifts_at = p.drifts_at();
    g.metrics_at = p.metrics_at();
    g.insertion = p.insertion();
    g.deletion = p.deletion();
    g.match = w.match * scale;
    g.mismatch = w.mismatch * scale;
    g.erased = w.transmission(1.0 / g.alphabet) * scale;
    g.log_scale = p.log_scale();
    return g;
}

buffer<std::uint32_t> upload(const std::vector<std::uint32_t>& words)
{
    return uploaded(words, "codebook to the device");
}

//! The kernels of a form, and the device memory that they need in a slot.
class launch_plan
{
public:
    virtual ~launch_plan() = default;
    //! Bytes of work memory in a slot, for batches of up to \p frames.
    virtual std::size_t work_bytes(std::size_t frames) const = 0;
    virtual void launch(sync_geometry g,
                        std::byte* work,
                        std::size_t work_bytes,
                        const std::byte* input,
                        std::byte* output,
                        sync_status* status,
                        cudaStream_t stream) const = 0;
};

// Consecutive pieces of one allocation.
class carver
{
public:
    explicit carver(std::byte* memory) : d_memory(memory) {}
    template <class T>
    T* take(std::size_t count)
    {
        auto* const piece = reinterpret_cast<T*>(d_memory + d_used);
        d_used += (count * sizeof(T) + 255) / 256 * 256;
        return piece;
    }
    std::size_t used() const { return d_used; }

private:
    std::byte* d_memory;
    std::size_t d_used = 0;
};

// ---- the linear form ----

// Words as kernels with so many rows in registers read them.
std::vector<std::uint32_t> packed(const sync_code& code, unsigned rows)
{
    return code.alphabet() == 2 ? pack_bits(code) : pack_nibbles(code, rows);
}

// What linear_layout is told of the items of such kernels.
unsigned symbols_of_items(const sync_code& code)
{
    return code.alphabet() == 2 ? 0 : code.alphabet();
}

bool has_likelihoods(const setup& s) { return s.soft_input && s.code.alphabet() > 2; }

std::size_t most_shared(int device)
{
    int most = 0;
    check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
          "device attribute");
    return most;
}

// Whether a block of such kernels has room for the items of a window.
template <class Row, class Metric>
bool items_fit(const sync_geometry& g, unsigned rows, const sync_code& code, int device)
{
    const auto symbols = symbols_of_items(code);
    return symbols == 0 || linear_layout::of<Row, Metric>(g, rows, 1, symbols).bytes <=
                               most_shared(device);
}

template <template <int, class, class> class Items>
constexpr bool are_bits = false;
template <>
constexpr bool are_bits<bit_items> = true;

// Blocks that a device holds at a time.
template <class Kernel>
std::size_t
resident_blocks(Kernel kernel, unsigned threads, std::size_t shared, int device)
{
    int resident = 0, multiprocessors = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
              &resident, kernel, int(threads), shared),
          "occupancy");
    check(
        cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device),
        "device attribute");
    return std::size_t(std::max(1, resident)) * multiprocessors;
}

//! A kernel with so many rows in registers, which words of that many symbols or a few
//! less take; or none.
template <class Kernel>
struct kernel_of_rows {
    Kernel run;
    unsigned rows;
};

//! The kernel that words of a code are for, and how they and its blocks' memory lie.
template <class Row, class Metric, class Kernel>
struct linear_kernel {
    //! \p bits and \p symbols: taken if there is one, and a block has room for what items
    //! weigh.
    linear_kernel(const setup& setup,
                  const sync_geometry& g,
                  const kernel_of_rows<Kernel>& bits,
                  const kernel_of_rows<Kernel>& symbols,
                  Kernel for_any,
                  const char* window,
                  int device)
        : own(setup.code.alphabet() == 2 ? bits : symbols),
          in_registers(own.run &&
                       items_fit<Row, Metric>(g, own.rows, setup.code, device)),
          run(in_registers ? own.run : for_any),
          parts((g.n + nibble_segment - 1) / nibble_segment),
          first_part(g.n - (parts - 1) * nibble_segment),
          words(upload(in_registers ? packed(setup.code, own.rows)
                                    : pack_segments(setup.code, parts, first_part)))
    {
        // A warp for every 32 words, as far as shared memory reaches.
        const auto most = most_shared(device);
        for (warps = std::min(most_warps, (g.q + 31) / 32);; --warps) {
            layout = linear_layout::of<Row, Metric>(
                g,
                in_registers ? own.rows : g.n,
                warps,
                in_registers ? symbols_of_items(setup.code) : 0);
            if (warps == 1 || layout.bytes <= most / 2) {
                break;
            }
        }
        allow_shared(run, layout.bytes, window);
        resident = resident_blocks(run, 32 * warps, layout.bytes, device);
    }

    std::size_t blocks(std::size_t frames) const { return std::min(frames, resident); }

    // Values that lie between the parts of a word, of so many blocks.
    std::size_t rows_between(const sync_geometry& g, std::size_t count) const
    {
        return in_registers || parts == 1 ? 0 : count * g.q * layout.window;
    }

    //! One of the kernels that \p frames of a batch go through.
    template <class Listed, class... Arguments>
    void launch(Listed kernel,
                std::size_t frames,
                cudaStream_t stream,
                const Arguments&... arguments) const
    {
        kernel<<<unsigned(blocks(frames)), 32 * warps, layout.bytes, stream>>>(
            arguments...);
    }

    linear_memory memory(void* alpha = nullptr,
                         void* rows = nullptr,
                         double* prior_sums = nullptr) const
    {
        return { words.get(), parts, first_part, alpha, rows, prior_sums };
    }

    const kernel_of_rows<Kernel> own;
    const bool in_registers;
    const Kernel run;
    const unsigned parts, first_part; // of a word, where it is not in registers
    const buffer<std::uint32_t> words;
    unsigned warps;
    linear_layout layout;
    std::size_t resident; // blocks
};

/* Few frames, which would leave most of a device idle, in segments: words of ten bits,
 * without priors. GPUFEC_SYNC_SEGMENTS_TO, for tests: the most frames that are few. */
template <class Row, class Metric>
class segments
{
public:
    //! \p layout and \p warps: those of a block that decodes a frame.
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
        // A matrix' rows are soon computed where they are a few times what a device
        // holds.
        const char* const to = std::getenv("GPUFEC_SYNC_SEGMENTS_TO");
        d_most = to ? std::atoi(to) : 4 * d_resident / (d_cut.count * g.window);
    }

    bool take(std::size_t frames) const { return frames <= d_most; }

    std::size_t work_bytes(std::size_t frames) const
    {
        carver c(nullptr);
        carve(c, std::min(frames, d_most));
        return c.used();
    }

    void launch(const sync_geometry& g,
                const linear_memory& words,
                std::byte* work,
                const std::byte* input,
                std::byte* output,
                sync_status* status,
                cudaStream_t stream) const
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
    std::size_t d_resident = 0, d_most = 0;
};

template <class Row, class Metric>
class linear_plan : public launch_plan
{
public:
    static std::unique_ptr<launch_plan> make(const setup& setup, int device)
    {
        return setup.form == sync_form::linear
                   ? std::make_unique<linear_plan>(setup, device)
                   : nullptr;
    }

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
          d_segments(setup, d_geometry, d_kernel.layout, d_kernel.warps, device)
    {
    }

    std::size_t work_bytes(std::size_t frames) const override
    {
        carver c(nullptr);
        carve(c, d_kernel.blocks(frames));
        return std::max(c.used(), d_segments.work_bytes(frames));
    }

    void launch(sync_geometry g,
                std::byte* work,
                std::size_t,
                const std::byte* input,
                std::byte* output,
                sync_status* status,
                cudaStream_t stream) const override
    {
        if (d_segments.take(g.frames)) {
            return d_segments.launch(
                g, d_kernel.memory(), work, input, output, status, stream);
        }
        d_kernel.launch(d_kernel.run,
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

    //! Before launch_listed().
    void allow_listed() const
    {
        allow_shared(kernel_of_list(), d_kernel.layout.bytes, "the window of drifts");
    }
    //! Those on a list, of words of ten bits.
    void launch_listed(const sync_geometry& g,
                       const listed_frames& frames,
                       std::byte* work,
                       const std::byte* input,
                       std::byte* output,
                       sync_status* status,
                       cudaStream_t stream) const
    {
        d_kernel.launch(kernel_of_list(),
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

    auto kernel_of_list() const
    {
        return d_geometry.q <= 32 ? linear_words_listed<10, true, Row, Metric>
                                  : linear_words_listed<10, false, Row, Metric>;
    }

    struct pieces {
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
        // In float alone, so that a build does not take for ever.
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

    pieces carve(carver& c, std::size_t count) const
    {
        const auto& g = d_geometry;
        return { c.take<Metric>(count * (g.symbols + 1) * d_kernel.layout.length),
                 c.take<Row>(d_kernel.rows_between(g, count)),
                 c.take<double>(g.priors ? count * g.outputs : 0) };
    }

    const sync_geometry d_geometry;
    const linear_kernel<Row, Metric, kernel> d_kernel;
    const segments<Row, Metric> d_segments;
};

// ---- the linear form, words of ten bits as tries ----

// Warps of a batch, each of which decodes some frames at a time: a block of as many as a
// multiprocessor holds on each.
struct trie_grid {
    trie_grid(const trie_layout& layout, std::size_t most_warps, int device)
        : frames(layout.frames),
          warps(
              std::min<std::size_t>(most_warps, most_shared(device) / layout.warp_bytes))
    {
        int count = 0;
        check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device),
              "device attribute");
        processors = count;
    }

    std::size_t groups(std::size_t count) const { return (count + frames - 1) / frames; }
    std::size_t blocks(std::size_t count) const
    {
        return std::min(groups(count), processors);
    }
    std::size_t block_warps(std::size_t count) const
    {
        const auto all = blocks(count);
        return std::min((groups(count) + all - 1) / all, warps);
    }
    //! Those of all blocks.
    std::size_t all_warps(std::size_t count) const
    {
        return blocks(count) * block_warps(count);
    }

    std::size_t frames; //!< of a warp
    std::size_t warps;  //!< of a block, at most
    std::size_t processors;
};

//! A plan that can be told to decode some of a batch's frames.
class listing_plan : public launch_plan
{
public:
    //! Those that the device put on a list before.
    virtual void launch_listed(const sync_geometry& g,
                               const std::uint32_t* frames,
                               const std::uint32_t* count,
                               std::byte* work,
                               const std::byte* input,
                               std::byte* output,
                               sync_status* status,
                               cudaStream_t stream) const = 0;
};

/* Few frames do not fill the device with as many as a warp holds, so these are for
 * linear_plan. GPUFEC_SYNC_TRIES_FROM, for tests: the least number of frames that are
 * not few. */
template <class Row, int C, int J, int Reach, int Warps>
class tries_plan : public listing_plan
{
public:
    static std::unique_ptr<listing_plan> make(const setup& setup, int device)
    {
        const auto g = make_geometry(setup);
        // Eight warps with thirteen drifts per lane do as much as five of twelve with
        // nine.
        const auto in_a_warp = [&g](unsigned drifts) {
            return 32 / ((g.window + drifts - 1) / drifts);
        };
        const bool pays = C < 13 || 5 * in_a_warp(C) >= 8 * in_a_warp(9);
        // What is lost of insertions weighs so little beside them.
        const double lost = std::pow(g.insertion, J == C ? J * Reach : J);
        if (setup.form != sync_form::linear || setup.code.alphabet() != 2 ||
            g.n != trie_bits || g.q > 1u << trie_bits || g.soft_input || g.priors ||
            g.window > 32 * C || !pays || lost > (sizeof(Row) == 4 ? 1e-11 : 1e-16) ||
            !trie_weights<Row, C>::possible(g)) {
            return nullptr;
        }
        auto plan = std::make_unique<tries_plan>(setup, device);
        std::size_t free = 0, total = 0;
        check(cudaMemGetInfo(&free, &total), "device memory");
        const bool fits =
            plan->bytes_of(plan->d_grid.warps * plan->d_grid.processors) <= free / 8;
        // With fewer warps, too little hides what each waits for.
        return fits && plan->d_grid.warps >= 8 ? std::move(plan) : nullptr;
    }

    tries_plan(const setup& setup, int device)
        : d_geometry(make_geometry(setup)),
          d_layout(trie_layout::of<Row, C>(setup.window, setup.symbols)),
          d_weights(d_geometry),
          d_few(setup, device),
          d_words(upload(pack_trie_words(setup.code))),
          d_grid(d_layout, Warps, device)
    {
        d_few.allow_listed();
        allow_shared(kernel, d_grid.warps * d_layout.warp_bytes, "the window of drifts");
        const char* const from = std::getenv("GPUFEC_SYNC_TRIES_FROM");
        // A round takes 0.67 + q/96 of its time with 32 words, in which the others decode
        // half as many frames, or with more words fewer.
        const double q = std::max(32u, d_geometry.q);
        const double part = (0.67 + q / 96) * 16 / q;
        d_many = from ? std::atoi(from)
                      : part * d_grid.warps * d_grid.processors * d_layout.frames;
    }

    std::size_t work_bytes(std::size_t frames) const override
    {
        const auto few = d_few.work_bytes(frames);
        return frames < d_many ? few : std::max(few, bytes_of(d_grid.all_warps(frames)));
    }

    void launch(sync_geometry g,
                std::byte* work,
                std::size_t work_bytes,
                const std::byte* input,
                std::byte* output,
                sync_status* status,
                cudaStream_t stream) const override
    {
        if (g.frames < d_many) {
            return d_few.launch(g, work, work_bytes, input, output, status, stream);
        }
        launch_tries(g, {}, work, input, output, status, stream);
    }

    void launch_listed(const sync_geometry& g,
                       const std::uint32_t* frames,
                       const std::uint32_t* count,
                       std::byte* work,
                       const std::byte* input,
                       std::byte* output,
                       sync_status* status,
                       cudaStream_t stream) const override
    {
        // All frames as tries take as long as half of them in another way.
        const bool many = g.frames >= d_many;
        const unsigned most = many ? g.frames / 2 : g.frames;
        d_few.launch_listed(
            g, { frames, count, most }, work, input, output, status, stream);
        if (many) {
            launch_tries(g, { count, most }, work, input, output, status, stream);
        }
    }

private:
    static constexpr auto kernel = linear_tries<Warps, Row, C, J, Reach>;

    void launch_tries(const sync_geometry& g,
                      const if_many_listed& run,
                      std::byte* work,
                      const std::byte* input,
                      std::byte* output,
                      sync_status* status,
                      cudaStream_t stream) const
    {
        const auto grid = d_grid.blocks(g.frames), warps = d_grid.block_warps(g.frames);
        carver c(work);
        const auto memory = carve(c, grid * warps);
        kernel<<<grid, 32 * warps, warps * d_layout.warp_bytes, stream>>>(
            g, d_layout, d_weights, memory, run, input, output, status);
    }

    trie_memory carve(carver& c, std::size_t warps) const
    {
        const auto& g = d_geometry;
        return { d_words.get(),
                 c.take<Row>(warps * (g.outputs + 2) * 32 * C),
                 c.take<Row>(warps * g.q * 32),
                 c.take<trie_items>(warps * d_layout.frames * d_layout.item_words) };
    }

    std::size_t bytes_of(std::size_t warps) const
    {
        carver c(nullptr);
        carve(c, warps);
        return c.used();
    }

    const sync_geometry d_geometry;
    const trie_layout d_layout;
    const trie_weights<Row, C> d_weights;
    const linear_plan<Row, Row> d_few;
    const buffer<std::uint32_t> d_words;
    const trie_grid d_grid;
    std::size_t d_many;
};

// The narrowest tries in float whose insertions go as far as they must; or none.
std::unique_ptr<listing_plan> make_float_tries(const setup& setup, int device)
{
    return first_plan(
        {
#ifndef GPUFEC_FEW_KERNELS
            tries_plan<float, 13, 13, 1, 8>::make,
            tries_plan<float, 9, 4, 1, 12>::make,
            tries_plan<float, 9, 6, 1, 12>::make,
#endif
            tries_plan<float, 9, 9, 2, 12>::make },
        setup,
        device);
}

std::unique_ptr<launch_plan> float_tries(const setup& setup, int device)
{
    return make_float_tries(setup, device);
}
std::unique_ptr<launch_plan> double_tries(const setup& setup, int device)
{
    return tries_plan<double, 6, 6, 2, 8>::make(setup, device);
}

/* ---- the same in a band of drifts that follows a frame's path ----
 *
 * For frames of whose insertions and deletions there are few enough that nearly all of
 * them lose nothing. For tests, GPUFEC_SYNC_BAND_FROM: the least number of frames, on
 * any channel; GPUFEC_SYNC_BAND_ALONE: those that are to be decoded again are not. */
class band_plan : public launch_plan
{
public:
    static constexpr int drifts = 16, warps = 6;
    // Those of all drifts at the ends, and the indices that are decoded so.
    static constexpr int end_drifts = 13, end_warps = 8;
    static constexpr unsigned end_symbols = 6;

    static std::unique_ptr<launch_plan> make(const setup& setup, int device)
    {
        const auto g = make_geometry(setup);
        if (setup.form != sync_form::linear || setup.code.alphabet() != 2 ||
            g.n != trie_bits || g.q > 1u << trie_bits || g.soft_input || g.priors ||
            g.links || g.outputs != g.symbols || g.window < 3 * drifts / 2 ||
            g.window > 32 * end_drifts || std::pow(g.insertion, end_drifts) > 1e-11 ||
            !trie_weights<float, drifts>::possible(g) || !pays(setup, g)) {
            return nullptr;
        }
        auto all = make_float_tries(setup, device);
        if (!all) {
            return nullptr;
        }
        auto plan = std::make_unique<band_plan>(setup, std::move(all), device);
        std::size_t free = 0, total = 0;
        check(cudaMemGetInfo(&free, &total), "device memory");
        const auto all_at_once =
            plan->d_grid.warps * plan->d_grid.processors * plan->d_grid.frames;
        const bool fits = plan->bytes_of(all_at_once) <= free / 8;
        return fits && plan->d_grid.warps >= 4 ? std::move(plan) : nullptr;
    }

    band_plan(const setup& setup, std::unique_ptr<listing_plan> all, int device)
        : d_all(std::move(all)),
          d_geometry(make_geometry(setup)),
          d_layout(layout_of(setup)),
          d_weights(d_geometry),
          d_bound(bound_of(d_geometry)),
          d_words(upload(pack_trie_words(setup.code))),
          d_grid(d_layout, warps, device),
          d_ends(spread(setup.end) > drifts / 2
                     ? std::max(setup.symbols, end_symbols + 1) - end_symbols
                     : 0),
          d_end_layout(trie_layout::of<float, end_drifts>(setup.window, end_symbols)),
          d_end_weights(d_geometry),
          d_end_grid(d_end_layout, end_warps, device)
    {
        allow_shared(kernel, d_grid.warps * d_layout.warp_bytes, "the band of drifts");
        allow_shared(
            end_kernel, d_end_grid.warps * d_end_layout.warp_bytes, "the ends of frames");
        const char* const from = std::getenv("GPUFEC_SYNC_BAND_FROM");
        // A warp on each multiprocessor takes nearly as long as four; with 32 words, two
        // take as long as all drifts do.
        const double q = std::max(32u, d_geometry.q);
        const double part = (0.67 + q / 96) * 16 / q;
        d_many = from ? std::atoi(from) : part * 4 * d_grid.processors * d_layout.frames;
    }

    std::size_t work_bytes(std::size_t frames) const override
    {
        const auto others = d_all->work_bytes(frames);
        return frames < d_many ? others
                               : list_bytes(frames) + std::max(others, bytes_of(frames));
    }

    void launch(sync_geometry g,
                std::byte* work,
                std::size_t work_bytes,
                const std::byte* input,
                std::byte* output,
                sync_status* status,
                cudaStream_t stream) const override
    {
        if (g.frames < d_many) {
            return d_all->launch(g, work, work_bytes, input, output, status, stream);
        }
        carver before(work);
        const auto again = carve_list(before, g.frames);
        std::byte* const rest = work + before.used();
        check(cudaMemsetAsync(again.count, 0, sizeof(*again.count), stream), "clearing");
        carver c(rest);
        const auto own = carve(c, g.frames);
        if (own.ends.from > 0) {
            const auto warps = d_end_grid.block_warps(g.frames);
            end_kernel<<<d_end_grid.blocks(g.frames),
                         32 * warps,
                         warps * d_end_layout.warp_bytes,
                         stream>>>(
                g, d_end_layout, d_end_weights, own.end_tries, own.ends, input);
        }
        const auto warps = d_grid.block_warps(g.frames);
        kernel<<<d_grid.blocks(g.frames),
                 32 * warps,
                 warps * d_layout.warp_bytes,
                 stream>>>(g,
                           d_layout,
                           d_weights,
                           d_bound,
                           own.tries,
                           own.boundaries,
                           own.ends,
                           again,
                           input,
                           output,
                           status);
        if (!d_alone) {
            d_all->launch_listed(
                g, again.frames, again.count, rest, input, output, status, stream);
        }
    }

private:
    static constexpr auto kernel = band_tries<warps, drifts>;
    static constexpr auto end_kernel = ends_of_frames<end_warps, end_drifts>;

    struct pieces {
        trie_memory tries;
        band_boundary* boundaries;
        band_ends ends;
        trie_memory end_tries;
    };

    // A frame is a lane; items are those of all drifts.
    static trie_layout layout_of(const setup& s)
    {
        auto l = trie_layout::of<float, drifts>(s.window, s.symbols);
        l.lanes = 1;
        l.frames = 32;
        l.warp_bytes = 32 * trie_row<float, drifts>::lane_bytes;
        return l;
    }

    static band_bound bound_of(const sync_geometry& g)
    {
        return { g.insertion,
                 std::max(g.match + g.mismatch, 2 * g.erased) / g.deletion,
                 g.n,
                 drifts };
    }

    // Drifts between the first and the last that have a metric.
    static unsigned spread(const std::vector<double>& metrics)
    {
        const auto there = [](double x) { return x > 0; };
        const auto first = std::find_if(metrics.begin(), metrics.end(), there);
        const auto last = std::find_if(metrics.rbegin(), metrics.rend(), there);
        return first == metrics.end() ? 0 : unsigned(last.base() - first);
    }

    // Whether less than one frame in twenty is decoded again.
    static bool pays(const setup& s, const sync_geometry& g)
    {
        const auto& c = s.channel;
        const double mean = double(s.code.frame_bits()) *
                            (c.p_insert() / (1 - c.p_insert()) + c.p_delete());
        const double rarest =
            g.insertion > 0 ? std::min(g.insertion, g.deletion) : g.deletion;
        const auto bound = bound_of(g);
        if (!(mean < 100) || !(bound.growth < 1e36)) {
            return false;
        }
        if (std::getenv("GPUFEC_SYNC_BAND_FROM")) {
            return true;
        }
        // Where the band about a path may not hold all that a frame may begin with, paths
        // need not come from it.
        if (spread(s.start) > drifts / 2) {
            return false;
        }
        const double allowed = bound.events_allowed(g.symbols, most_lost, 1 / rarest);
        double part = std::exp(-mean), more = 1 - part;
        for (unsigned k = 1; k <= allowed; ++k) {
            part *= mean / k;
            more -= part;
        }
        return allowed >= 0 && more < 0.05;
    }

    frames_again carve_list(carver& c, std::size_t frames) const
    {
        return { c.take<std::uint32_t>(frames), c.take<std::uint32_t>(1) };
    }
    std::size_t list_bytes(std::size_t frames) const
    {
        carver c(nullptr);
        carve_list(c, frames);
        return c.used();
    }

    pieces carve(carver& c, std::size_t frames) const
    {
        const auto& g = d_geometry;
        const auto warps = d_grid.all_warps(frames);
        pieces p{};
        p.tries = { d_words.get(),
                    c.take<float>(warps * (g.outputs + 2) * 32 * drifts),
                    c.take<float>(warps * g.q * 32),
                    c.take<trie_items>(warps * d_layout.frames * d_layout.item_words) };
        p.boundaries = c.take<band_boundary>(warps * (g.outputs + 1) * 32);
        if (d_ends > 0) {
            p.ends = { d_ends,
                       c.take<float>(frames * g.window),
                       c.take<std::int32_t>(frames) };
            p.end_tries = { d_words.get(),
                            nullptr,
                            p.tries.partial,
                            c.take<trie_items>(d_end_grid.all_warps(frames) *
                                               d_end_layout.frames *
                                               d_end_layout.item_words) };
        }
        return p;
    }
    std::size_t bytes_of(std::size_t frames) const
    {
        carver c(nullptr);
        carve(c, frames);
        return c.used();
    }

    const std::unique_ptr<listing_plan> d_all;
    const sync_geometry d_geometry;
    const trie_layout d_layout;
    const trie_weights<float, drifts> d_weights;
    const band_weights<drifts> d_bound;
    const buffer<std::uint32_t> d_words;
    const trie_grid d_grid;
    const unsigned d_ends; // index that ends of frames begin with; 0: they are known
    const trie_layout d_end_layout;
    const trie_weights<float, end_drifts> d_end_weights;
    const trie_grid d_end_grid;
    const bool d_alone = std::getenv("GPUFEC_SYNC_BAND_ALONE");
    std::size_t d_many;
};

// ---- the corridor form ----

template <class Lattice, class Metric>
class corridor_plan : public launch_plan
{
public:
    static std::unique_ptr<launch_plan> make(const setup& setup, int device)
    {
        return std::make_unique<corridor_plan>(setup, device);
    }

    corridor_plan(const setup& setup, int device)
        : d_geometry(make_geometry(setup)),
          d_rows(lattice_rows(setup.code)),
          d_words(upload(d_rows ? pack_bits(setup.code, d_rows - setup.code.n())
                                : pack_nibbles(setup.code, setup.code.n()))),
          d_kernels(kernels_of(d_rows))
    {
        if (setup.code.n() > unsigned(longest_word)) {
            refuse("n",
                   setup.code.n(),
                   "up to 256 is allowed with the corridor form on CUDA");
        }
        std::size_t free = 0, total = 0;
        check(cudaMemGetInfo(&free, &total), "device memory");
        const auto kept = work_of(1, true);
        if (setup.storage == sync_storage::global && kept > free) {
            throw std::runtime_error("storage global needs " +
                                     std::to_string(kept >> 20) +
                                     " MiB a frame, the CUDA device has " +
                                     std::to_string(free >> 20) + " MiB free");
        }
        d_keep = setup.storage == sync_storage::global ||
                 (setup.storage == sync_storage::automatic && kept <= free / 64);
        d_budget = std::max(work_of(1, d_keep), free / 8);
        d_boundary_threads = std::min(256u, (d_geometry.window + 31) / 32 * 32);
        while (d_branch_warps > 1 && branch_shared() > 64u << 10) {
            d_branch_warps /= 2;
        }
        while (d_warps > 1 && posterior_shared() > 64u << 10) {
            d_warps /= 2;
        }
        allow_shared(d_kernels.branches, branch_shared(), "the drift changes");
        allow_shared(corridor_boundaries<Lattice, Metric>,
                     boundary_shared(),
                     "the window of drifts");
        allow_shared(d_kernels.posteriors, posterior_shared(), "the alphabet");
    }

    std::size_t work_bytes(std::size_t frames) const override
    {
        const auto most = std::max<std::size_t>(1, d_budget / work_of(1, d_keep));
        return work_of(std::min({ frames, most, std::size_t(65535) }), d_keep);
    }

    void launch(sync_geometry g,
                std::byte* work,
                std::size_t work_bytes,
                const std::byte* input,
                std::byte* output,
                sync_status* status,
                cudaStream_t stream) const override
    {
        std::size_t pass = std::min<std::size_t>(g.frames, 65535);
        while (pass > 1 && work_of(pass, d_keep) > work_bytes) {
            pass -= (pass + 15) / 16;
        }
        const unsigned frames = g.frames;
        for (unsigned first = 0; first < frames; first += pass) {
            g.frames = std::min<unsigned>(pass, frames - first);
            carver c(work);
            auto m = carve(c, pass, d_keep);
            m.words = d_words.get();
            m.words_per_word = d_rows ? 1 : (g.n + 7) / 8;
            m.input = input + first * g.input_bytes;
            m.output = output + first * g.output_bytes;
            m.status = status + first;
            d_kernels.branches<<<dim3(g.symbols, g.frames),
                                 32 * d_branch_warps,
                                 branch_shared(),
                                 stream>>>(g, m, d_kernels.branch_bytes(g));
            corridor_boundaries<<<g.frames,
                                  d_boundary_threads,
                                  boundary_shared(),
                                  stream>>>(g, m);
            d_kernels.posteriors<<<dim3(g.outputs, g.frames),
                                   32 * d_warps,
                                   posterior_shared(),
                                   stream>>>(
                g, m, boundary_shared() + sums_shared(), d_kernels.items_bytes(g));
        }
    }

private:
    using memory = corridor_memory<Lattice, Metric>;
    struct kernels {
        void (*branches)(const sync_geometry, const memory, unsigned);
        void (*posteriors)(const sync_geometry, const memory, unsigned, unsigned);
        std::size_t (*branch_bytes)(const sync_geometry&); // of a warp
        std::size_t (*items_bytes)(const sync_geometry&);  // of a warp, for posteriors
    };

    // Rows in registers for words of such a code, 0: in local memory.
    static unsigned lattice_rows(const sync_code& code)
    {
        if (code.alphabet() != 2 || code.n() > 20) {
            return 0;
        }
        return code.n() <= 10 ? 10 : 20;
    }

    template <int N>
    static kernels kernels_with()
    {
        return { corridor_branches<N, Lattice, Metric>,
                 corridor_posteriors<N, Lattice, Metric>,
                 branch_warp_bytes<N, Lattice, Metric>,
                 [](const sync_geometry& g) {
                     return corridor_items<N, Lattice>::bytes(g, posterior_batch);
                 } };
    }

    static kernels kernels_of(unsigned rows)
    {
#ifndef GPUFEC_FEW_KERNELS
        if (rows > 0) {
            return rows == 10 ? kernels_with<10>() : kernels_with<20>();
        }
#endif
        return kernels_with<0>();
    }

    std::size_t changes() const
    {
        return d_geometry.change_last - d_geometry.change_first + 1;
    }
    std::size_t branch_shared() const
    {
        return d_branch_warps * d_kernels.branch_bytes(d_geometry);
    }
    std::size_t boundary_shared() const
    {
        return setup::round_up(64 * sizeof(double) +
                               2 * d_geometry.window * sizeof(Metric));
    }
    std::size_t sums_shared() const // of the posteriors, of each warp
    {
        return setup::round_up(d_warps * d_geometry.q * sizeof(Metric));
    }
    std::size_t posterior_shared() const
    {
        return boundary_shared() + sums_shared() +
               (d_keep ? 0 : d_warps * d_kernels.items_bytes(d_geometry));
    }

    memory carve(carver& c, std::size_t frames, bool keep) const
    {
        const auto& g = d_geometry;
        const std::size_t M = g.window;
        memory m{};
        m.prior_sums = c.take<double>(g.priors ? frames * g.outputs : 0);
        m.sums = c.take<Metric>(frames * g.symbols * changes() * M);
        m.alpha = c.take<Metric>(frames * (g.symbols + 1) * M);
        m.beta = c.take<Metric>(frames * (g.symbols + 1) * M);
        m.valid = c.take<std::uint32_t>(frames);
        m.branches =
            keep ? c.take<Lattice>(frames * g.outputs * M * changes() * g.q) : nullptr;
        return m;
    }

    std::size_t work_of(std::size_t frames, bool keep) const
    {
        carver c(nullptr);
        carve(c, frames, keep);
        return c.used();
    }

    const sync_geometry d_geometry;
    const unsigned d_rows;
    const buffer<std::uint32_t> d_words;
    const kernels d_kernels;
    bool d_keep = false;
    std::size_t d_budget = 0;
    unsigned d_boundary_threads = 32;
    unsigned d_branch_warps = corridor_warps, d_warps = corridor_warps;
};

template <class Row, class Metric>
std::unique_ptr<launch_plan> make_launch_plan(const setup& setup, int device)
{
    const auto linear = linear_plan<Row, Metric>::make;
    const auto corridor = corridor_plan<Row, Metric>::make;
    if constexpr (std::is_same<Metric, float>::value) {
        return first_plan(
            { band_plan::make, float_tries, linear, corridor }, setup, device);
    } else if constexpr (std::is_same<Row, double>::value) {
        return first_plan({ double_tries, linear, corridor }, setup, device);
    } else {
        return first_plan({ linear, corridor }, setup, device);
    }
}

std::unique_ptr<launch_plan> make_launch_plan(const setup& setup, int device)
{
    if (setup.form == sync_form::corridor &&
        (setup.receiver != sync_receiver::corridor || setup.state_threshold > 0 ||
         setup.lattice_threshold > 0)) {
        throw std::runtime_error("receivers other than corridor, and thresholds, are "
                                 "decoded by backend cpu alone");
    }
    if (setup.form == sync_form::corridor && has_likelihoods(setup)) {
        throw std::runtime_error("soft_input float with an alphabet of more than 2 and "
                                 "form corridor is decoded by backend cpu alone");
    }
    switch (setup.precision) {
    case sync_precision::float32:
        return make_launch_plan<float, float>(setup, device);
    case sync_precision::float64:
        return make_launch_plan<double, double>(setup, device);
    case sync_precision::mixed:
        break;
    }
    return make_launch_plan<float, double>(setup, device);
}

// Frames that a device decodes at once.
std::size_t frames_of_a_round(const setup& s, int device)
{
    if (s.form != sync_form::linear || s.code.alphabet() != 2 ||
        s.code.n() != trie_bits || s.soft_input || s.priors) {
        return 1;
    }
    int shared = 0, processors = 0;
    check(
        cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
        "device attribute");
    check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device),
          "device attribute");
    const auto of = [&](const trie_layout& l, unsigned most) -> std::size_t {
        const auto warps = std::min(most, shared / l.warp_bytes);
        return std::max(1u, l.frames * warps) * std::size_t(processors);
    };
    if (s.window > 32 * 9 && s.precision != sync_precision::float64) {
        return 1;
    }
    return s.precision == sync_precision::float64
               ? (s.window > 32 * 6
                      ? 1
                      : of(trie_layout::of<double, 6>(s.window, s.symbols), 8))
               : of(trie_layout::of<float, 9>(s.window, s.symbols), 12);
}

// ---- where frames of a stream begin ----

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

template <class Row, class Metric>
class linear_starts : public start_plan
{
public:
    linear_starts(const setup& setup, std::size_t frames, int device)
        : d_geometry(geometry_of_tries(setup)),
          d_starts(starts_of(setup, frames)),
          d_kernel(setup,
                   d_geometry,
                   kernel_for<bit_items>(setup.code.n(), setup.code.q()),
                   kernel_for<symbol_items>(setup.code.n(), setup.code.q()),
                   has_likelihoods(setup) ? starts_of_any<true, Row, Metric>
                                          : starts_of_any<false, Row, Metric>,
                   "the search for frames",
                   device)
    {
    }

    std::size_t work_bytes(std::size_t frames) const override
    {
        return d_kernel.rows_between(d_geometry, d_kernel.blocks(frames)) * sizeof(Row);
    }

    void launch(const job& j,
                std::byte* work,
                const std::byte* batch,
                std::byte* frames,
                std::byte* output,
                cudaStream_t stream) const override
    {
        auto g = d_geometry;
        g.frames = j.frames;
        g.symbols = j.warmup;
        auto starts = d_starts;
        starts.items = j.items;
        starts.narrow = starts.search.narrows(j.warmup);
        d_kernel.launch(d_kernel.run,
                        j.frames,
                        stream,
                        g,
                        starts,
                        d_kernel.layout,
                        row_weights<Row>(g),
                        d_kernel.memory(nullptr, work),
                        batch,
                        frames,
                        output);
    }

private:
    using kernel = void (*)(const sync_geometry,
                            const start_geometry,
                            const linear_layout,
                            const row_weights<Row>,
                            const linear_memory,
                            const std::byte*,
                            std::byte*,
                            std::byte*);

    template <template <int, class, class> class Items, int N, int Spare>
    static kernel_of_rows<kernel> kernel_with(unsigned q)
    {
        return { q <= 32 ? starts_of_words<Items, N, Spare, true, Row, Metric>
                         : starts_of_words<Items, N, Spare, false, Row, Metric>,
                 N };
    }

    // Fewer than linear_plan has: frames are found with a part of a frame's work.
    template <template <int, class, class> class Items>
    static kernel_of_rows<kernel> kernel_for(unsigned n, unsigned q)
    {
        if (n == 10) {
            return kernel_with<Items, 10, 0>(q);
        }
#ifndef GPUFEC_FEW_KERNELS
        if constexpr (std::is_same<Metric, float>::value) {
            if (n > 1 && n <= 12) {
                return kernel_with<Items, 12, 10>(q);
            }
            if constexpr (are_bits<Items>) {
                if (n > 12 && n <= 20) {
                    return kernel_with<Items, 20, 7>(q);
                }
            }
        }
#endif
        return {};
    }

    static sync_geometry geometry_of_tries(const setup& setup)
    {
        auto g = make_geometry(setup);
        g.window = setup.search.window;
        g.items_at = 0;
        return g;
    }

    static start_geometry starts_of(const setup& setup, std::size_t frames)
    {
        const auto batch = setup.stream_input(frames);
        start_geometry s{};
        s.search = setup.search;
        s.log_symbol =
            setup.code.n() * std::log(setup.unit()) - std::log(double(setup.code.q()));
        s.window = setup.window;
        s.symbols = setup.symbols;
        s.input_bytes = setup.input_bytes();
        s.start_at = setup.start_at();
        s.end_at = setup.end_at();
        s.items_at = setup.items_at();
        s.output_bytes = setup.output_bytes();
        s.links_at = setup.links_at();
        s.item_bytes = setup.item_bytes();
        s.whole_at = batch.whole_at;
        s.batch_items_at = batch.items_at;
        return s;
    }

    const sync_geometry d_geometry;
    const start_geometry d_starts;
    const linear_kernel<Row, Metric, kernel> d_kernel;
};

// Nothing for frames that do not search.
std::unique_ptr<start_plan>
make_starts(const setup& setup, std::size_t frames, int device)
{
    if (!setup.search) {
        return nullptr;
    }
    switch (setup.precision) {
    case sync_precision::float32:
        return std::make_unique<linear_starts<float, float>>(setup, frames, device);
    case sync_precision::float64:
        return std::make_unique<linear_starts<double, double>>(setup, frames, device);
    case sync_precision::mixed:
        break;
    }
    return std::make_unique<linear_starts<float, double>>(setup, frames, device);
}

// ---- slots ----

struct sync_slot : device_slot {
    sync_slot(const batch_limits& l, std::size_t work_bytes, std::size_t found_bytes)
        : input(l.input_bytes),
          output(l.output_bytes),
          status(l.pieces),
          work(work_bytes),
          found(found_bytes)
    {
        output.clear();
    }
    std::size_t bytes() const
    {
        return input.bytes() + output.bytes() + status.bytes() + work.bytes() +
               found.bytes();
    }
    buffer<std::byte> input, output;
    buffer<sync_status> status;
    buffer<std::byte> work;
    buffer<std::byte> found; // frames as they are decoded, made of what is in input
};

class cuda_sync : public device_decoder<job, sync_slot>
{
public:
    cuda_sync(const setup& setup, std::size_t frames, unsigned slots, int device)
        : device_decoder(device, true),
          d_setup(setup),
          d_geometry(make_geometry(setup)),
          d_launch(make_launch_plan(setup, device)),
          d_starts(make_starts(setup, frames, device)),
          d_ends(ends_of(setup))
    {
        d_limits = setup.limits(frames);
        const auto work = std::max(d_launch->work_bytes(frames),
                                   d_starts ? d_starts->work_bytes(frames) : 0);
        const auto found = d_starts || setup.placed ? frames * setup.input_bytes() : 0;
        need_memory(slots * (d_limits.input_bytes + d_limits.output_bytes +
                             d_limits.status_bytes + work + found));
        for (unsigned i = 0; i < slots; ++i) {
            d_slots.emplace_back(d_limits, work, found);
        }
        d_limits.device_bytes = d_slots.front().bytes();
    }

    ~cuda_sync() override { settle(); }

    bool take_raw() noexcept override { return true; }

private:
    // What placed frames begin and end with.
    static buffer<double> ends_of(const setup& setup)
    {
        std::vector<double> ends;
        if (setup.placed) {
            ends = setup.start;
            ends.insert(ends.end(), setup.end.begin(), setup.end.end());
        }
        return uploaded(ends, "metrics to the device");
    }

    void copy_placed(sync_slot& s, const job& job, const batch_memory& memory)
    {
        const auto items_at = d_setup.placed_input(d_limits.pieces).items_at;
        const batch_input input(job, memory, items_at);
        copy_in(s, s.input.get(), input.table, job.frames * sizeof(placed_frame));
        if (job.items > 0) {
            copy_in(s,
                    s.input.get() + items_at,
                    input.items,
                    job.items * d_setup.item_bytes());
        }
    }

    void write_placed(sync_slot& s, const job& job)
    {
        const auto items_at = d_setup.placed_input(d_limits.pieces).items_at;
        const row_layout rows{ d_setup.window,       unsigned(job.frames),
                               d_setup.first,        d_setup.code.frame_bits(),
                               !d_setup.end.empty(), unsigned(d_setup.item_bytes()),
                               d_setup.start_at(),   d_setup.end_at(),
                               d_setup.items_at(),   d_setup.input_bytes() };
        const auto* const places = reinterpret_cast<placed_frame*>(s.input.get());
        const auto* const items = s.input.get() + items_at;
        const auto* const ends = d_ends.get();
        auto* const to = s.found.get();
        const unsigned grid = job.frames;
        write_rows<<<grid, row_threads, 0, s.queue.get()>>>(
            rows, places, ends, items, to);
        check(cudaGetLastError(), "kernel launch");
    }

    void enqueue(sync_slot& s,
                 const job& job,
                 const batch_memory& memory,
                 const marker& mark) override
    {
        mark("");
        if (d_starts) {
            const auto batch = d_setup.stream_input(d_limits.pieces);
            const batch_input input(job, memory, batch.items_at);
            const auto copy = [&](std::size_t at, const std::byte* from, auto bytes) {
                if (bytes > 0) {
                    copy_in(s, s.input.get() + at, from, bytes);
                }
            };
            copy(0, input.table, job.frames * sizeof(stream_piece));
            copy(batch.whole_at,
                 input.table + batch.whole_at,
                 job.whole * d_setup.input_bytes());
            copy(batch.items_at, input.items, job.items * d_setup.item_bytes());
        } else if (job.placed) {
            copy_placed(s, job, memory);
        } else {
            copy_in(s, s.input.get(), memory.input, job.frames * d_setup.input_bytes());
        }
        mark("copy_in");
        if (d_starts) {
            d_starts->launch(job,
                             s.work.get(),
                             s.input.get(),
                             s.found.get(),
                             s.output.get(),
                             s.queue.get());
            check(cudaGetLastError(), "kernel launch");
            mark("starts");
        } else if (job.placed) {
            write_placed(s, job);
        }
        auto g = d_geometry;
        g.frames = job.frames;
        d_launch->launch(g,
                         s.work.get(),
                         s.work.bytes(),
                         d_starts || job.placed ? s.found.get() : s.input.get(),
                         s.output.get(),
                         s.status.get(),
                         s.queue.get());
        check(cudaGetLastError(), "kernel launch");
        mark("kernels");
        if (d_starts && job.frames > 1) {
            const auto links = d_setup.precision == sync_precision::float32
                                   ? compare_links<float>
                                   : compare_links<double>;
            constexpr unsigned per_block = link_threads / link_parts;
            const unsigned grid = (job.frames - 1 + per_block - 1) / per_block;
            const auto* const pieces = reinterpret_cast<stream_piece*>(s.input.get());
            const unsigned links_at = d_setup.links_at();
            auto* const output = s.output.get();
            links<<<grid, link_threads, 0, s.queue.get()>>>(g, links_at, pieces, output);
            check(cudaGetLastError(), "kernel launch");
            mark("links");
        }
        copy_output(s, memory, s.output.get(), job.frames * d_setup.output_bytes());
        copy_out(s, memory.status, s.status.get(), job.frames * sizeof(sync_status));
        mark("copy_out");
    }

    const setup d_setup;
    const sync_geometry d_geometry;
    const std::unique_ptr<launch_plan> d_launch;
    const std::unique_ptr<start_plan> d_starts;
    const buffer<double> d_ends;
};

} // namespace

std::size_t room::cuda_batch(const setup& s, unsigned slots, int device)
{
    select(device);
    // Frames that are carried over one after the other only wait in large batches.
    if (s.symbols > s.outputs && !s.search) {
        return 64;
    }
    const auto input = s.search ? s.code.frame_bits() * s.item_bytes() : s.input_bytes();
    const auto by_host = std::clamp<std::size_t>(
        2 * page_locked_bytes / slots / (input + s.output_bytes()), 1, 1 << 14);
    // A batch that ends with a few frames more than whole rounds takes one round more.
    const auto round = frames_of_a_round(s, device);
    return round <= by_host ? by_host / round * round : by_host;
}

room::decoder
room::make_cuda(const setup& s, std::size_t frames, unsigned slots, int device)
{
    return std::make_unique<cuda_sync>(s, frames, slots, device);
}

} // namespace gr::gpufec::sync_map
