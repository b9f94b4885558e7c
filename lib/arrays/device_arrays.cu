// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Arrays on CUDA devices. The batch decoders of the rooms read and write memory of the
 * device as well as that of the host, so what is added here is little: the conversion of
 * input that is not as a batch has it, and of output that is not as the caller wants it.
 */

#include "cuda/slot_rounds.h"
#include "device_arrays.h"
#include "ldpc/frame_batch.h"
#include "ldpc/room.h"
#include "pipeline/backends.h"
#include "pipeline/host_memory.h"
#include "sync_map/room.h"
#include "viterbi/room.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>
#include <optional>
#include <vector>

namespace gr::gpufec {

using namespace cuda;

namespace {

// ---- memory ----

class device_array_memory : public array_memory
{
public:
    device_array_memory(std::size_t bytes, int device)
        : array_memory(nullptr, bytes, { memory_kind::device, device })
    {
        select(device);
        const auto what = std::to_string(bytes >> 20) + " MiB of device memory";
        check(cudaMalloc(&d_data, std::max<std::size_t>(bytes, 1)), what.c_str());
    }
    ~device_array_memory() override { cudaFree(d_data); }
};

class locked_array_memory : public array_memory
{
public:
    explicit locked_array_memory(std::size_t bytes)
        : array_memory(nullptr, bytes, { memory_kind::page_locked, 0 })
    {
        if (cudaHostAlloc(&d_data,
                          std::max<std::size_t>(bytes, 1),
                          cudaHostAllocPortable) != cudaSuccess) {
            cudaGetLastError();
            throw std::bad_alloc();
        }
    }
    ~locked_array_memory() override { cudaFreeHost(d_data); }
};

class ordinary_array_memory : public array_memory
{
public:
    explicit ordinary_array_memory(std::size_t bytes)
        : array_memory(nullptr, bytes, {}), d_memory(bytes)
    {
        d_data = d_memory.data();
    }

private:
    const host_memory d_memory;
};

// ---- conversions ----

constexpr unsigned threads = 256;

unsigned blocks_of(std::size_t items)
{
    return unsigned(std::min<std::size_t>((items + threads - 1) / threads, 1u << 16));
}

__device__ std::size_t first_item()
{
    return std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ std::size_t item_stride() { return std::size_t(gridDim.x) * blockDim.x; }

__device__ float value_of(std::int8_t x) { return x == -128 ? -127.0f : float(x); }
__device__ float value_of(float x) { return x == x ? x : 0.0f; }
__device__ void set(std::int8_t& to, float x) { to = std::int8_t(__float2int_rn(x)); }
__device__ void set(std::int16_t& to, float x) { to = std::int16_t(__float2int_rn(x)); }
__device__ void set(float& to, float x) { to = x; }

// Values times a factor, within limits, rounded to even; NaN is 0.
__global__ void
convert(const float* from, std::size_t count, float factor, float limit, std::int8_t* to)
{
    for (auto i = first_item(); i < count; i += item_stride()) {
        const float x = __fmul_rn(value_of(from[i]), factor);
        set(to[i], fminf(fmaxf(x, -limit - 1), limit));
    }
}

// Codewords of \p n bits, \p stride values apart, from what is sent of them: \p sources
// says of each bit which of the \p sent values is its own, or no_value, or certain_zero.
// A codeword per row of blocks.
constexpr std::uint32_t no_value = ~0u, certain_zero = ~1u;
template <class From, class To>
__global__ void convert_sent(const From* from,
                             std::size_t codewords,
                             unsigned n,
                             unsigned sent,
                             const std::uint32_t* sources,
                             unsigned stride,
                             float factor,
                             float limit,
                             To* to)
{
    for (std::size_t r = blockIdx.y; r < codewords; r += gridDim.y) {
        for (auto i = first_item(); i < n; i += item_stride()) {
            const auto source = sources[i];
            float x = source == certain_zero ? limit : 0.0f;
            if (source < sent) {
                x = __fmul_rn(value_of(from[r * sent + source]), factor);
            }
            set(to[r * stride + i], fminf(fmaxf(x, -limit), limit));
        }
    }
}

// Bits of rows as the caller wants them: bit b of a row is bit positions[b], or b, of
// what lies there packed, the first most significant.
template <bool packed>
__global__ void give_bits(const std::uint8_t* from,
                          std::size_t row_bytes,
                          const std::uint32_t* positions,
                          std::size_t rows,
                          unsigned bits,
                          std::uint8_t* to)
{
    const unsigned items = packed ? (bits + 7) / 8 : bits;
    for (auto i = first_item(); i < rows * items; i += item_stride()) {
        const auto row = i / items;
        const auto item = unsigned(i - row * items);
        const auto* const there = from + row * row_bytes;
        const auto bit = [&](unsigned b) -> unsigned {
            const auto at = positions ? positions[b] : b;
            return there[at / 8] >> (7 - at % 8) & 1u;
        };
        if (!packed) {
            to[i] = bit(item);
            continue;
        }
        unsigned byte = 0;
        for (unsigned k = 0; k < 8; ++k) {
            const auto b = 8 * item + k;
            byte = byte << 1 | (b < bits ? bit(b) : 0);
        }
        to[i] = byte;
    }
}

// ---- arrays ----

using bytes_buffer = std::unique_ptr<buffer<std::uint8_t>>;

struct array_slot : round_slot {
    bytes_buffer raw, input, output, dense;
    event arrived; // input that the caller has in the host's memory
};

// Arrays through the batch decoder of a room on a device.
template <class Room, class Slot>
class device_arrays : public slot_rounds<Room, Slot>
{
public:
    device_arrays(const typename Room::setup& s,
                  const run_options& run,
                  int device,
                  unsigned times = 1,
                  bool raw = false)
        : slot_rounds<Room, Slot>(s, run, device, times, raw)
    {
    }

protected:
    using slot_rounds<Room, Slot>::d_chosen;
    using slot_rounds<Room, Slot>::d_pieces;
    using slot_rounds<Room, Slot>::ensure;

    // Pieces of each batch of an array of so many. What is there already goes in the
    // largest batches. Of what crosses the link the first copy and the last kernel have
    // nothing beside them, so that there are many batches.
    std::size_t batch_of(const std::byte* in, std::size_t pieces) const
    {
        constexpr std::size_t many = 16;
        return place_of(in).kind == memory_kind::device
                   ? d_pieces
                   : std::clamp(pieces / many / d_chosen * d_chosen, d_chosen, d_pieces);
    }

    // Rows of bits of a slot's output to the caller's memory.
    static void give(Slot& s,
                     std::size_t row_bytes,
                     const std::uint32_t* positions,
                     std::size_t rows,
                     unsigned bits,
                     bool packed,
                     std::byte* out)
    {
        const std::size_t items = packed ? (bits + 7) / 8 : bits;
        const auto bytes = rows * items;
        const bool there = place_of(out).kind == memory_kind::device;
        auto* const to =
            there ? reinterpret_cast<std::uint8_t*>(out) : ensure(s.dense, bytes);
        const auto stream = s.queue;
        const auto* const from = s.output->get();
        const auto bits_of = packed ? give_bits<true> : give_bits<false>;
        bits_of<<<blocks_of(bytes), threads, 0, stream>>>(
            from, row_bytes, positions, rows, bits, to);
        check(cudaGetLastError(), "kernel launch");
        if (!there) {
            check(cudaMemcpyAsync(out, to, bytes, cudaMemcpyDefault, stream),
                  "copy of the output");
        }
    }

    // Rows of bytes, \p pitch apart, to the caller's memory, where they are not.
    static void give_rows(const Slot& s,
                          const std::uint8_t* from,
                          std::size_t pitch,
                          std::size_t row,
                          std::size_t rows,
                          std::byte* out)
    {
        check(cudaMemcpy2DAsync(
                  out, row, from, pitch, row, rows, cudaMemcpyDefault, s.queue),
              "copy of the output");
    }

    // Input that lies in the device's memory; page-locked input is copied there, that of
    // one slot after that of another, so that the first arrives soon.
    const std::byte* on_device(Slot& s, const std::byte* in, std::size_t bytes)
    {
        if (place_of(in).kind == memory_kind::device) {
            return in;
        }
        auto* const to = ensure(s.raw, bytes);
        check(cudaMemcpyAsync(to, in, bytes, cudaMemcpyDefault, d_copies.get()),
              "copy of the input");
        check(cudaEventRecord(s.arrived.get(), d_copies.get()), "event");
        check(cudaStreamWaitEvent(s.queue, s.arrived.get(), 0), "event");
        return reinterpret_cast<const std::byte*>(to);
    }

private:
    const stream d_copies;
};

std::string name_of(int device)
{
    cudaDeviceProp properties;
    check(cudaGetDeviceProperties(&properties, device), "device properties");
    return properties.name;
}

// Page-locked memory of a slot.
class locked_memory
{
public:
    explicit locked_memory(std::size_t bytes) : d_memory(bytes)
    {
        page_lock(d_memory.data(), bytes);
    }
    ~locked_memory() { page_unlock(d_memory.data()); }
    locked_memory(const locked_memory&) = delete;
    std::byte* data() const { return d_memory.data(); }
    std::size_t size() const { return d_memory.size(); }

private:
    const host_memory d_memory;
};

// ---- Viterbi ----

struct viterbi_array_slot : array_slot {
    // Of the batch in flight:
    bool direct = false;
    std::size_t first_item = 0; // of the output
    std::size_t rows = 0;
    std::size_t bits = 0; // of a row
};

class device_viterbi_arrays final
    : public device_viterbi,
      private device_arrays<viterbi::room, viterbi_array_slot>
{
public:
    device_viterbi_arrays(const viterbi_options& options, bool packed, int device)
        : device_arrays(viterbi::make_setup(options), options, device),
          d_options(options),
          d_packed(packed),
          d_name(name_of(device))
    {
    }

    std::string device() const override { return d_name; }

    void decode(const device_call& call, std::uint64_t items) override
    {
        const auto& plan = d_setup.plan;
        const std::uint64_t per_item = d_setup.packed4 ? 2 : 1;
        const auto values = items * per_item;
        const std::uint64_t stages = plan.streaming() ? d_setup.code.stages(values) : 0;
        const auto pieces = plan.streaming()
                                ? (stages + plan.decode_length - 1) / plan.decode_length
                                : items / d_setup.frame_input_bytes();
        const auto per_batch = d_pieces / plan.blocks_per_frame;
        run((pieces + per_batch - 1) / per_batch,
            [&](viterbi_array_slot& s, unsigned number, std::size_t b) {
                const auto first = b * per_batch;
                const auto n = std::min<std::uint64_t>(per_batch, pieces - first);
                if (plan.streaming()) {
                    fill_stream(s, number, call, first, n, values, stages);
                } else {
                    fill_frames(s, number, call, first, n);
                }
            },
            [&](viterbi_array_slot& s) {
                empty(s, call);
                return true;
            });
    }

private:
    void fill_frames(viterbi_array_slot& s,
                     unsigned number,
                     const device_call& call,
                     std::uint64_t first,
                     std::size_t n)
    {
        const auto row = d_setup.frame_input_bytes();
        s.rows = n;
        s.bits = d_setup.plan.frame_bits;
        s.first_item = first * items_of(s.bits);
        viterbi::job j;
        j.blocks = n * d_setup.plan.blocks_per_frame;
        start(s,
              number,
              call,
              j,
              first * row,
              n * row,
              d_packed && items_of(s.bits) == d_setup.frame_output_bytes(),
              n * d_setup.frame_output_bytes());
    }

    // As viterbi_decoder cuts a stream into batches.
    void fill_stream(viterbi_array_slot& s,
                     unsigned number,
                     const device_call& call,
                     std::uint64_t first,
                     std::size_t n,
                     std::uint64_t values,
                     std::uint64_t stages)
    {
        const auto& plan = d_setup.plan;
        const std::uint64_t per_item = d_setup.packed4 ? 2 : 1;
        const auto begin_stage = first * plan.decode_length;
        const auto begin =
            d_setup.code.values(begin_stage -
                                std::min<std::uint64_t>(begin_stage, plan.overlap)) /
            per_item;
        const auto end_value = std::min<std::uint64_t>(
            values, d_setup.code.values((first + n) * plan.decode_length + plan.overlap));
        const auto end = (end_value + per_item - 1) / per_item;
        viterbi::job j;
        j.first_block = first;
        j.blocks = n;
        j.first_value = begin * per_item;
        j.values = std::min(end * per_item, values) - j.first_value;
        s.rows = 1;
        s.bits = std::min<std::uint64_t>((first + n) * plan.decode_length, stages) -
                 begin_stage;
        s.first_item = items_of(begin_stage);
        const auto whole = n * (plan.decode_length / 8);
        start(s,
              number,
              call,
              j,
              begin,
              end - begin,
              d_packed && items_of(s.bits) == whole,
              whole);
    }

    // \p items from item \p begin on; \p dense: the output is as the caller wants it.
    void start(viterbi_array_slot& s,
               unsigned number,
               const device_call& call,
               const viterbi::job& j,
               std::size_t begin,
               std::size_t items,
               bool dense,
               std::size_t output_bytes)
    {
        auto* const out = call.out + s.first_item;
        s.direct = dense && place_of(out).kind != memory_kind::ordinary;
        const auto* in = call.in + begin * item_bytes();
        if (d_options.format == soft_format::float32) {
            in = converted(s, in, items);
        }
        submit(s,
               number,
               j,
               { in,
                 s.direct ? out
                          : reinterpret_cast<std::byte*>(ensure(s.output, output_bytes)),
                 nullptr });
    }

    const std::byte* converted(viterbi_array_slot& s, const std::byte* in, std::size_t n)
    {
        const auto* const from =
            reinterpret_cast<const float*>(on_device(s, in, n * sizeof(float)));
        auto* const to = reinterpret_cast<std::int8_t*>(ensure(s.input, n));
        convert<<<blocks_of(n), threads, 0, s.queue>>>(
            from, n, d_options.soft_scale, 127.0f, to);
        check(cudaGetLastError(), "kernel launch");
        return reinterpret_cast<const std::byte*>(to);
    }

    void empty(viterbi_array_slot& s, const device_call& call)
    {
        if (!s.direct) {
            give(s,
                 d_setup.plan.streaming() ? 0 : d_setup.frame_output_bytes(),
                 nullptr,
                 s.rows,
                 s.bits,
                 d_packed,
                 call.out + s.first_item);
        }
    }

    std::size_t items_of(std::size_t bits) const
    {
        return d_packed ? (bits + 7) / 8 : bits;
    }
    std::size_t item_bytes() const
    {
        return d_options.format == soft_format::float32 ? sizeof(float) : 1;
    }

    const viterbi_options d_options;
    const bool d_packed;
    const std::string d_name;
};

// ---- LDPC ----

struct ldpc_array_slot : array_slot {
    std::unique_ptr<locked_memory> statuses, table;
    std::size_t tabled = 0; // frames that the table in its input is of
    ldpc::job job;
    std::size_t first = 0, frames = 0; // of the batch in flight
};

class device_ldpc_arrays final : public device_ldpc,
                                 private device_arrays<ldpc::room, ldpc_array_slot>
{
public:
    device_ldpc_arrays(const ldpc_options& options, bool packed, int device)
        // Kernels of single waves leave a device idle between them.
        : device_arrays(ldpc::make_setup(options),
                        options,
                        device,
                        4,
                        options.codes[0].sent_positions().empty()),
          d_options(options),
          d_packed(packed),
          d_code(options.codes[0]),
          d_limits(d_setup.limits(d_pieces)),
          d_name(name_of(device))
    {
        if (!options.codeword && d_setup.bits &&
            !(d_setup.message_only && d_code.systematic_prefix())) {
            d_positions = copied(d_code.message_positions());
        }
        if (const auto& sent = d_code.sent_positions(); !sent.empty()) {
            std::vector<std::uint32_t> sources(d_code.n(), no_value);
            for (const auto bit : d_code.shortened()) {
                sources[bit] = certain_zero;
            }
            for (std::size_t i = 0; i < sent.size(); ++i) {
                if (sent[i] != ldpc_code::fill) {
                    sources[sent[i]] = std::uint32_t(i);
                }
            }
            d_sources = copied(sources);
        }
        for (auto& s : d_slots) {
            if (!whole()) {
                ensure(s.input, d_limits.input_bytes);
            }
            ensure(s.output, d_limits.output_bytes);
            s.statuses = std::make_unique<locked_memory>(d_limits.status_bytes);
            s.table = std::make_unique<locked_memory>(ldpc::job::values_offset(d_pieces));
        }
    }

    std::string device() const override { return d_name; }

    void decode(const device_call& call,
                std::size_t frames,
                ldpc_array_decoder::status* statuses) override
    {
        const auto batch = batch_of(call.in, frames);
        run((frames + batch - 1) / batch,
            [&](ldpc_array_slot& s, unsigned number, std::size_t b) {
                s.first = b * batch;
                s.frames = std::min(batch, frames - s.first);
                fill(s, number, call);
            },
            [&](ldpc_array_slot& s) {
                if (d_options.soft == ldpc_soft_output::none) {
                    give_decisions(s, call.out);
                } else {
                    give_llrs(s, call.out);
                }
                const auto* const from =
                    reinterpret_cast<const ldpc::frame_status*>(s.statuses->data());
                for (std::size_t f = 0; f < s.frames; ++f) {
                    statuses[s.first + f] = { from[f].iterations, from[f].unsatisfied };
                }
                return true;
            });
    }

private:
    void give_decisions(ldpc_array_slot& s, std::byte* out)
    {
        const auto bits = d_options.codeword ? d_code.n() : d_code.k();
        const std::size_t items = d_packed ? (bits + 7) / 8 : bits;
        give(s,
             d_setup.frame_output_bytes(d_code),
             d_positions ? d_positions->get() : nullptr,
             s.frames,
             bits,
             d_packed,
             out + s.first * items);
    }

    void give_llrs(ldpc_array_slot& s, std::byte* out)
    {
        const std::size_t n = d_code.n();
        give_rows(s,
                  s.output->get() + d_setup.soft_offset(d_code),
                  d_setup.frame_output_bytes(d_code),
                  n,
                  s.frames,
                  out + s.first * n);
    }

    using numbers = buffer<std::uint32_t>;

    static std::unique_ptr<numbers> copied(const std::vector<std::uint32_t>& list)
    {
        return std::make_unique<numbers>(uploaded(list, "positions"));
    }

    // Values of whole codewords become steps where the batch is decoded.
    bool whole() const { return d_code.sent_positions().empty(); }
    std::size_t value_bytes() const
    {
        return d_options.format == llr_format::float32 ? sizeof(float) : 1;
    }
    float factor() const
    {
        const float scale = d_setup.rule(d_code).scale;
        return (d_options.positive_bit ? -1 : 1) * (d_options.format == llr_format::int8
                                                        ? scale / d_options.llr_scale
                                                        : scale);
    }

    void fill(ldpc_array_slot& s, unsigned number, const device_call& call)
    {
        const auto row = d_code.sent() * value_bytes();
        const auto* const in = call.in + s.first * row;
        if (s.tabled != s.frames) {
            make_table(s, row);
        }
        if (whole()) {
            submit(
                s, number, s.job, { in, out_of(s), s.statuses->data(), s.table->data() });
            return;
        }
        const auto* const there = on_device(s, in, s.frames * row);
        auto* const to = s.input->get() + ldpc::job::values_offset(d_pieces);
        if (d_options.format == llr_format::float32) {
            convert_from(s, reinterpret_cast<const float*>(there), to);
        } else {
            convert_from(s, reinterpret_cast<const std::int8_t*>(there), to);
        }
        check(cudaGetLastError(), "kernel launch");
        submit(s,
               number,
               s.job,
               { reinterpret_cast<const std::byte*>(s.input->get()),
                 out_of(s),
                 s.statuses->data() });
    }

    static std::byte* out_of(const ldpc_array_slot& s)
    {
        return reinterpret_cast<std::byte*>(s.output->get());
    }

    void make_table(ldpc_array_slot& s, std::size_t row)
    {
        ldpc::frame_batch batch(d_setup, d_limits);
        const auto rule = d_setup.rule(d_code);
        const auto soft = ldpc::soft_factor(
            rule,
            d_options.soft_scale > 0 ? d_options.soft_scale : d_options.llr_scale,
            d_options.positive_bit);
        for (std::size_t f = 0; f < s.frames; ++f) {
            if (whole()) {
                batch.add_raw(0, soft, f * row, factor(), rule.channel_limit, 0, 0);
            } else {
                batch.add(0, soft);
            }
        }
        s.job = batch.make_job(s.table->data());
        if (!whole()) {
            check(cudaMemcpyAsync(s.input->get(),
                                  s.table->data(),
                                  s.table->size(),
                                  cudaMemcpyDefault,
                                  s.queue),
                  "copy of the table");
        }
        s.tabled = s.frames;
    }

    // As ldpc::input_format does.
    template <class From>
    void convert_from(const ldpc_array_slot& s, const From* from, std::uint8_t* to)
    {
        switch (d_setup.precision) {
        case ldpc_precision::int8:
            return convert_to(s, from, reinterpret_cast<std::int8_t*>(to));
        case ldpc_precision::int16:
            return convert_to(s, from, reinterpret_cast<std::int16_t*>(to));
        default:
            return convert_to(s, from, reinterpret_cast<float*>(to));
        }
    }
    template <class From, class To>
    void convert_to(const ldpc_array_slot& s, const From* from, To* to)
    {
        constexpr std::size_t most_rows = 65535;
        const auto frames = s.frames;
        const auto n = d_code.n(), sent = d_code.sent();
        const auto* const sources = d_sources->get();
        const auto stride = unsigned(d_setup.frame_input_bytes(d_code) / sizeof(To));
        const float by = factor(), limit = d_setup.rule(d_code).channel_limit;
        const dim3 blocks(std::min(blocks_of(n), 8u), std::min(frames, most_rows));
        const auto stream = s.queue;
        convert_sent<<<blocks, threads, 0, stream>>>(
            from, frames, n, sent, sources, stride, by, limit, to);
    }

    const ldpc_options d_options;
    const bool d_packed;
    const ldpc_code d_code;
    const batch_limits d_limits;
    const std::string d_name;
    std::unique_ptr<numbers> d_positions; // unless the message comes first
    std::unique_ptr<numbers> d_sources;   // unless a codeword is sent as it is
};

// ---- synchronisation ----

struct sync_array_slot : array_slot {
    std::unique_ptr<locked_memory> statuses, table;
    std::size_t first = 0, frames = 0; // of the batch in flight
};

// Frames in mode framed, without priors.
class device_sync_arrays final : public device_sync,
                                 private device_arrays<sync_map::room, sync_array_slot>
{
public:
    device_sync_arrays(const sync_options& options, int device)
        : device_arrays(sync_map::make_setup(options), options, device),
          d_limits(d_setup.limits(d_pieces)),
          d_layout(d_setup.placed_input(d_pieces)),
          d_log_item(std::log(d_setup.item_weight)),
          d_name(name_of(device))
    {
        for (auto& s : d_slots) {
            ensure(s.output, d_limits.output_bytes);
            s.statuses = std::make_unique<locked_memory>(d_limits.status_bytes);
            s.table = std::make_unique<locked_memory>(d_layout.items_at);
        }
    }

    std::string device() const override { return d_name; }

    void decode(const device_call& call,
                const std::uint64_t* begins,
                const std::uint64_t* lengths,
                std::size_t frames,
                sync_status* statuses) override
    {
        const auto batches = cut(begins, lengths, frames);
        run(
            batches.size(),
            [&](sync_array_slot& s, unsigned number, std::size_t b) {
                s.first = batches[b];
                s.frames = (b + 1 < batches.size() ? batches[b + 1] : frames) - s.first;
                fill(s, number, call, begins + s.first, lengths + s.first);
            },
            [&](sync_array_slot& s) {
                empty(s, call, lengths + s.first, statuses + s.first);
                return true;
            });
    }

private:
    // Items of a frame that it can be decoded with.
    std::uint64_t kept(std::uint64_t length) const
    {
        return std::max(0, sync_map::length_of_frame(d_setup, length));
    }

    // First frames of batches: none has more items, with those between its frames, than
    // there is room for.
    std::vector<std::size_t> cut(const std::uint64_t* begins,
                                 const std::uint64_t* lengths,
                                 std::size_t frames) const
    {
        std::vector<std::size_t> first;
        for (std::size_t f = 0; f < frames; ++f) {
            const bool open = !first.empty() && f - first.back() < d_pieces &&
                              begins[f] >= begins[first.back()] &&
                              begins[f] + kept(lengths[f]) - begins[first.back()] <=
                                  d_layout.most_items;
            if (!open) {
                first.push_back(f);
            }
        }
        return first;
    }

    void fill(sync_array_slot& s,
              unsigned number,
              const device_call& call,
              const std::uint64_t* begins,
              const std::uint64_t* lengths)
    {
        auto* const table = reinterpret_cast<sync_map::placed_frame*>(s.table->data());
        sync_map::job j{ s.frames };
        j.placed = j.lent = true;
        for (std::size_t f = 0; f < s.frames; ++f) {
            const auto length = sync_map::length_of_frame(d_setup, lengths[f]);
            const auto at = length > 0 ? begins[f] - begins[0] : 0;
            table[f] = { length, std::uint32_t(at) };
            j.items = std::max<std::size_t>(j.items, at + std::max(0, length));
        }
        submit(s,
               number,
               j,
               { call.in + begins[0] * d_setup.item_bytes(),
                 reinterpret_cast<std::byte*>(s.output->get()),
                 s.statuses->data(),
                 s.table->data() });
    }

    void empty(const sync_array_slot& s,
               const device_call& call,
               const std::uint64_t* lengths,
               sync_status* statuses)
    {
        const auto row = d_setup.outputs * d_setup.symbol_bytes();
        give_rows(s,
                  s.output->get(),
                  d_setup.output_bytes(),
                  row,
                  s.frames,
                  call.out + s.first * row);
        std::memcpy(statuses, s.statuses->data(), s.frames * sizeof(sync_status));
        for (std::size_t f = 0; f < s.frames; ++f) {
            statuses[f].log_probability -= double(lengths[f]) * d_log_item;
        }
    }

    const batch_limits d_limits;
    const sync_map::setup::placed_batch d_layout;
    const double d_log_item;
    const std::string d_name;
};

} // namespace

memory_place place_of(const void* data)
{
    cudaPointerAttributes attributes;
    if (cudaPointerGetAttributes(&attributes, data) != cudaSuccess) {
        cudaGetLastError(); // no device, no such memory
        return {};
    }
    switch (attributes.type) {
    case cudaMemoryTypeHost:
        return { memory_kind::page_locked, attributes.device };
    case cudaMemoryTypeDevice:
    case cudaMemoryTypeManaged:
        return { memory_kind::device, attributes.device };
    default:
        return {};
    }
}

void wait_for_stream(int device, std::uintptr_t stream)
{
    use(device);
    check(cudaStreamSynchronize(stream == 2   ? cudaStreamPerThread
                                : stream <= 1 ? cudaStreamLegacy
                                              : reinterpret_cast<cudaStream_t>(stream)),
          "the stream of an array");
}

void copy_memory(void* to, const void* from, std::size_t bytes)
{
    // A copy within a device does not wait for its end by itself.
    check(cudaMemcpy(to, from, bytes, cudaMemcpyDefault), "copy");
    check(cudaStreamSynchronize(cudaStreamLegacy), "copy");
}

std::shared_ptr<array_memory> array_memory::page_locked(std::size_t bytes)
{
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        cudaGetLastError();
        return std::make_shared<ordinary_array_memory>(bytes);
    }
    return std::make_shared<locked_array_memory>(bytes);
}

std::shared_ptr<array_memory> array_memory::on_device(std::size_t bytes, int device)
{
    return std::make_shared<device_array_memory>(bytes, device);
}

std::unique_ptr<device_viterbi>
make_device_viterbi(const viterbi_options& options, bool packed, int device)
{
    return std::make_unique<device_viterbi_arrays>(options, packed, device);
}

std::unique_ptr<device_ldpc>
make_device_ldpc(const ldpc_options& options, bool packed, int device)
{
    return std::make_unique<device_ldpc_arrays>(options, packed, device);
}

std::unique_ptr<device_sync> make_device_sync(const sync_options& options, int device)
{
    auto symbols_alone = options;
    symbols_alone.drifts = false;
    return std::make_unique<device_sync_arrays>(symbols_alone, device);
}

} // namespace gr::gpufec
