// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Simulates a convolutional code on a device: generates data and noise, encodes, decodes,
 * and lists wrong bits. The result equals the host's. */

#include "lab/device_channel.cuh"
#include "simulation.h"
#include "viterbi/stream/traits.h"
#include <algorithm>
#include <cstring>

namespace gr::gpufec::viterbi {

namespace {

using namespace cuda;
using namespace on_device;

// A 32-bit word describes each value that is sent in a puncturing period: bits 0 to 15
// are the polynomial, bits 16 to 23 the stage in the period, and bit 31 is 1 if the value
// is inverted.
constexpr unsigned stage_at = 16, flipped_at = 31;

// Parameters of the code, and the generators of data and noise.
struct message {
    counter_random data, noise;
    unsigned constraint_length, period, values_per_period;
    std::uint32_t frame_bits; // information bits per frame; 0: streaming
    bool tailbiting;
};

// Returns 64 data bits. The lowest is bit `first` of the stream.
__device__ std::uint64_t bits_from(const counter_random& data, std::uint64_t first)
{
    const auto word = first / 64;
    const unsigned shift = first % 64;
    return shift ? data(word) >> shift | data(word + 1) << (64 - shift) : data(word);
}

// Returns 64 input bits of the encoder for the stream or a frame. The lowest bit is the
// oldest bit in the register: the input K−1 stages before `stage`.
__device__ std::uint64_t
window_at(const message& m, std::uint64_t frame, std::uint64_t stage)
{
    const unsigned before = m.constraint_length - 1;
    const auto base = frame * m.frame_bits;
    const unsigned missing = stage < before ? before - unsigned(stage) : 0;
    auto bits = bits_from(m.data, missing ? base : base + stage - before) << missing;
    if (m.frame_bits) {
        const auto known = m.frame_bits + before - stage;
        if (known < 64) {
            bits &= (std::uint64_t(1) << known) - 1; // tail bits are zero
        }
    }
    if (m.tailbiting && missing) {
        const auto tail = bits_from(m.data, base + m.frame_bits - missing);
        bits |= tail & ((std::uint64_t(1) << missing) - 1);
    }
    return bits;
}

// Number of consecutive values that a thread makes. The 64 bits of window_at() suffice
// for the stages of these values and for the register's content before them.
constexpr unsigned group_values = 16;

/* Writes the received soft values of rows. With frames, each row is a frame, and the
 * first one is frame \p first_row. A stream has one row. Its first value is value
 * \p first_value of the stream, and value \p first_position of the puncturing period that
 * begins at stage \p first_stage. \p tables has the distribution of received values, then
 * the words that describe the values of a puncturing period. */
template <bool Packed>
__global__ void receive(message m,
                        const std::uint64_t* tables,
                        unsigned table_words,
                        std::uint64_t first_row,
                        std::uint64_t first_value,
                        unsigned first_position,
                        std::uint64_t first_stage,
                        std::uint64_t rows,
                        std::uint64_t row_values,
                        std::uint64_t row_bytes,
                        std::uint8_t* out)
{
    take_tables(tables, table_words);
    const auto* const period =
        reinterpret_cast<const std::uint32_t*>(shared + discrete_distribution::values);
    const auto groups = (row_values + group_values - 1) / group_values;
    const auto newest = (1u << m.constraint_length) - 1;
    for (auto g = first_item(); g < rows * groups; g += item_stride()) {
        const auto row = rows == 1 ? 0 : quotient(g, unsigned(groups));
        const auto begin = (g - row * groups) * group_values; // index in the row
        const auto left = row_values - begin;
        const auto count = left < group_values ? unsigned(left) : group_values;
        const auto frame = first_row + row;
        const auto noise = frame * row_values + first_value + begin;
        const auto whole = quotient(begin + first_position, m.values_per_period);
        auto position = unsigned(begin + first_position - whole * m.values_per_period);
        const unsigned stage = period[position] >> stage_at & 255;
        const auto bits = window_at(m, frame, first_stage + whole * m.period + stage);
        // Number of stages from the first value's stage to the first stage of the current
        // period. The number is modulo 2^32, because it is negative in the first period.
        unsigned stages = 0u - stage;
        group<std::uint8_t, Packed ? group_values / 2 : group_values> made;
#pragma unroll
        for (unsigned i = 0; i < group_values; ++i) {
            const auto sent = period[position];
            const auto entered = unsigned(bits >> (stages + (sent >> stage_at & 255)));
            const auto bit =
                (unsigned(__popc(entered & sent & newest)) & 1u) ^ sent >> flipped_at;
            const int soft = received(m.noise(noise + i), bit);
            if (Packed) {
                // The unused nibble of an odd count is 0.
                made.put(i / 2,
                         std::uint8_t(i < count ? (soft & 15) << (i % 2 ? 0 : 4) : 0));
            } else {
                made.put(i, std::uint8_t(soft));
            }
            if (++position == m.values_per_period) {
                position = 0;
                stages += m.period;
            }
        }
        if (Packed) {
            made.store(out + row * row_bytes + begin / 2, (count + 1) / 2);
        } else {
            made.store(out + row * row_bytes + begin, count);
        }
    }
}

// Lists the wrong bits of rows of `bits` decoded bits, as 64-bit words in any order. The
// upper half of a word is the index of a group of 32 bits; the lower half is the mask of
// wrong bits in the group, with the first bit in the lowest position.
__global__ void compare(counter_random sent,
                        std::uint64_t first_bit,
                        std::uint32_t rows,
                        std::uint64_t bits,
                        std::uint64_t row_bytes,
                        const std::uint8_t* decoded,
                        std::uint64_t* wrong,
                        unsigned* count)
{
    const auto words = (bits + 31) / 32;
    for (auto i = first_item(); i < rows * words; i += item_stride()) {
        const auto row = rows == 1 ? 0 : quotient(i, unsigned(words));
        const auto begin = (i - row * words) * 32;
        const auto* const at = decoded + row * row_bytes + begin / 8;
        const unsigned ordered = __brev(unsigned(at[0]) << 24 | unsigned(at[1]) << 16 |
                                        unsigned(at[2]) << 8 | unsigned(at[3]));
        auto different =
            ordered ^ unsigned(bits_from(sent, first_bit + row * bits + begin));
        if (bits - begin < 32) {
            different &= (1u << (bits - begin)) - 1;
        }
        if (different) {
            wrong[atomicAdd(count, 1)] = i << 32 | different;
        }
    }
}

struct channel_slot : round_slot {
    std::unique_ptr<buffer<std::uint8_t>> input, output;
    // The next members describe the batch in flight.
    std::uint64_t first_bit = 0; // index of its first bit among all data bits
    std::uint32_t rows = 0;      // number of frames; 1 for a stream
    std::uint64_t bits = 0;      // decoded bits per row
};

class cuda_channel final : public device_channel,
                           private slot_rounds<traits, channel_slot>
{
public:
    cuda_channel(const simulation_options& options, unsigned times)
        : slot_rounds(make_setup(options.decoder),
                      run_of(options),
                      options.decoder.devices.at(0),
                      times),
          d_message(message_of(options)),
          d_tables(copied(tables_of(options))),
          d_table_words(unsigned(d_tables->bytes() / sizeof(std::uint64_t))),
          d_count(1)
    {
        const auto limits = d_setup.limits(d_work_items);
        for (auto& s : d_slots) {
            ensure(s.input, limits.input_bytes);
            ensure(s.output, limits.output_bytes);
        }
        ensure(d_wrong, limits.output_bytes / 4 + 1);
    }

    std::string device() const override { return device_name(); }

    void run(std::uint64_t bits, const taker& take) override
    {
        const auto& plan = d_setup.plan;
        const std::uint64_t unit =
            plan.streaming() ? plan.decode_length : plan.frame_bits;
        const auto work_items = (bits + unit - 1) / unit;
        const auto per_batch = d_work_items / plan.blocks_per_frame;
        slot_rounds::run((work_items + per_batch - 1) / per_batch,
                         [&](channel_slot& s, unsigned number, std::size_t b) {
                             const auto first = b * per_batch;
                             const auto n =
                                 std::min<std::uint64_t>(per_batch, work_items - first);
                             if (plan.streaming()) {
                                 fill_stream(s, number, first, n, bits);
                             } else {
                                 fill_frames(s, number, first, n);
                             }
                         },
                         [&](channel_slot& s) {
                             find_wrong(s);
                             return take(s.rows * s.bits, d_bits);
                         });
    }

private:
    // Limits the batch size to the number of bits in the simulation, so that a short
    // simulation allocates little memory.
    static run_options run_of(const simulation_options& options)
    {
        run_options run = options.decoder;
        const auto plan = make_setup(options.decoder).plan;
        const std::uint64_t bits =
            plan.streaming() ? plan.decode_length : plan.frame_bits;
        const auto work_items = (options.max_bits / bits + 1) * plan.blocks_per_frame;
        run.max_batch = std::min<std::uint64_t>(work_items, traits::max_work_items);
        return run;
    }

    static message message_of(const simulation_options& options)
    {
        const auto& o = options.decoder;
        return { data_of(options),
                 channel_of(options).random(),
                 o.code.constraint_length(),
                 o.code.period(),
                 o.code.values_per_period(),
                 o.termination == termination::streaming ? 0 : o.frame_bits,
                 o.termination == termination::tailbiting };
    }

    static std::vector<std::uint64_t> tables_of(const simulation_options& options)
    {
        const auto& o = options.decoder;
        const auto channel = channel_of(options);
        const auto& noise = o.format == soft_format::packed4 ? channel.packed4_values()
                                                             : channel.int8_values();
        std::vector<std::uint64_t> tables(noise.entries().begin(), noise.entries().end());
        std::vector<std::uint32_t> period;
        for (unsigned stage = 0; stage < o.code.period(); ++stage) {
            for (unsigned r = 0; r < o.code.outputs(); ++r) {
                if (o.code.sent(stage, r)) {
                    const unsigned flipped = o.code.inverted(r) != bool(o.positive_bit);
                    period.push_back(o.code.polynomial(r) | stage << stage_at |
                                     flipped << flipped_at);
                }
            }
        }
        const auto begin = tables.size();
        tables.resize(begin + (period.size() + 1) / 2);
        std::memcpy(&tables[begin], period.data(), period.size() * sizeof(period[0]));
        return tables;
    }

    // Submits `n` parallel blocks, beginning with block `first`, of a stream of `bits`
    // bits, with the same job as viterbi_decoder.
    void fill_stream(channel_slot& s,
                     unsigned number,
                     std::uint64_t first,
                     std::uint64_t n,
                     std::uint64_t bits)
    {
        const auto& plan = d_setup.plan;
        const auto& code = d_setup.code;
        const std::uint64_t per_item = d_setup.packed4 ? 2 : 1;
        const auto begin_stage = first * plan.decode_length;
        const auto end_stage = std::min((first + n) * plan.decode_length, bits);
        viterbi::job j;
        j.first_block = first;
        j.blocks = std::uint32_t(n);
        j.first_value = code.values(begin_stage -
                                    std::min<std::uint64_t>(begin_stage, plan.overlap)) /
                        per_item * per_item;
        j.values =
            code.values(std::min((first + n) * plan.decode_length + plan.overlap, bits)) -
            j.first_value;
        s.first_bit = begin_stage;
        s.rows = 1;
        s.bits = end_stage - begin_stage;
        start(s, number, j, 0, j.values);
    }

    void
    fill_frames(channel_slot& s, unsigned number, std::uint64_t first, std::uint64_t n)
    {
        const auto& plan = d_setup.plan;
        viterbi::job j;
        j.blocks = std::uint32_t(n * plan.blocks_per_frame);
        s.first_bit = first * plan.frame_bits;
        s.rows = std::uint32_t(n);
        s.bits = plan.frame_bits;
        start(s, number, j, first, plan.frame_values);
    }

    void start(channel_slot& s,
               unsigned number,
               const viterbi::job& j,
               std::uint64_t first_row,
               std::uint64_t row_values)
    {
        const auto kernel = d_setup.packed4 ? receive<true> : receive<false>;
        const auto groups = s.rows * ((row_values + group_values - 1) / group_values);
        const auto stream = s.queue;
        const auto shared_bytes = d_table_words * sizeof(std::uint64_t);
        const auto m = d_message;
        const auto* const tables = d_tables->get();
        const auto words = d_table_words;
        const auto first_value = j.first_value;
        const auto whole = first_value / m.values_per_period;
        const auto first_position = unsigned(first_value - whole * m.values_per_period);
        const auto first_stage = whole * m.period;
        const std::uint64_t rows = s.rows;
        const std::uint64_t row_bytes = d_setup.frame_input_bytes();
        auto* const to = s.input->get();
        kernel<<<blocks_of(groups), threads, shared_bytes, stream>>>(m,
                                                                     tables,
                                                                     words,
                                                                     first_row,
                                                                     first_value,
                                                                     first_position,
                                                                     first_stage,
                                                                     rows,
                                                                     row_values,
                                                                     row_bytes,
                                                                     to);
        check(cudaGetLastError(), "kernel launch");
        submit(s,
               number,
               j,
               { reinterpret_cast<const std::byte*>(s.input->get()),
                 reinterpret_cast<std::byte*>(s.output->get()),
                 nullptr });
    }

    // Sets d_bits to the ascending indices of wrong bits within the slot's batch.
    void find_wrong(channel_slot& s)
    {
        const auto stream = s.queue;
        const auto items = s.rows * ((s.bits + 31) / 32);
        const auto sent = d_message.data;
        const auto first_bit = s.first_bit;
        const auto rows = s.rows;
        const auto bits = s.bits;
        const std::uint64_t row_bytes = d_setup.frame_output_bytes();
        const auto* const decoded = s.output->get();
        auto* const wrong = d_wrong->get();
        auto* const count = d_count.get();
        check(cudaMemsetAsync(count, 0, sizeof(unsigned), stream), "memset");
        compare<<<blocks_of(items), threads, 0, stream>>>(
            sent, first_bit, rows, bits, row_bytes, decoded, wrong, count);
        check(cudaGetLastError(), "kernel launch");
        unsigned found = 0;
        copy_back(stream, &found, count, sizeof(found));
        d_words.resize(found);
        if (found > 0) {
            copy_back(stream, d_words.data(), wrong, found * sizeof(std::uint64_t));
        }
        std::sort(d_words.begin(), d_words.end());
        d_bits.clear();
        const auto words = (bits + 31) / 32;
        for (const auto w : d_words) {
            const auto number = w >> 32;
            const auto row = number / words;
            const auto begin = row * bits + (number - row * words) * 32;
            for (auto left = std::uint32_t(w); left; left &= left - 1) {
                d_bits.push_back(begin + unsigned(__builtin_ctz(left)));
            }
        }
    }

    static void
    copy_back(cudaStream_t stream, void* to, const void* from, std::size_t bytes)
    {
        check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream),
              "copy to the host");
        check(cudaStreamSynchronize(stream), "search for wrong bits");
    }

    const message d_message;
    const std::unique_ptr<buffer<std::uint64_t>> d_tables;
    const unsigned d_table_words;
    std::unique_ptr<buffer<std::uint64_t>> d_wrong;
    const buffer<unsigned> d_count;
    std::vector<std::uint64_t> d_words, d_bits;
};

} // namespace

std::unique_ptr<device_channel> make_device_channel(const simulation_options& options)
{
    return made<cuda_channel>(options);
}

} // namespace gr::gpufec::viterbi
