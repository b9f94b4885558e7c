// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Simulates an LDPC code on a device: sends the codewords of frame_source in rotation,
 * adds noise, decodes, and counts wrong bits. The counts equal those of the host. */

#include "common/packed_bits.h"
#include "lab/device_channel.cuh"
#include "ldpc/model/value_types.h"
#include "ldpc/stream/frame_batch.h"
#include "ldpc/stream/input_format.h"
#include "ldpc/stream/sent_values.h"
#include "ldpc/stream/traits.h"
#include "simulation.h"
#include <algorithm>
#include <cstring>

namespace gr::gpufec::ldpc {

namespace {

using namespace cuda;
using namespace on_device;

constexpr unsigned group_values = 16;
constexpr unsigned words_in_turn = frame_source::words;

// The sent codewords of a simulation and the generator of its noise, for receive().
struct frames_sent {
    counter_random noise;
    unsigned n, sent;
    const std::uint32_t* bits; // sent bits of each codeword, lowest bit first
    unsigned words;            // number of 32-bit words per codeword
    // Index of the sent bit of each position of a codeword, from sources_of(); nullptr if
    // all bits are sent in order.
    const std::uint32_t* sources;
};

/* Writes the decoder's input values for \p frames frames, beginning with frame \p first.
 * \p tables has the distribution of received int8 values, followed by the decoder's input
 * values for each of the 256 received values, for a punctured bit and for a shortened
 * bit. \p stride is the distance between frames in \p out, in values. */
template <class Value>
__global__ void receive(frames_sent s,
                        const std::uint64_t* tables,
                        unsigned table_words,
                        std::uint64_t first,
                        std::uint64_t frames,
                        std::uint64_t stride,
                        Value* out)
{
    take_tables(tables, table_words);
    const auto* const steps =
        reinterpret_cast<const Value*>(shared + discrete_distribution::values);
    const auto groups = (s.n + group_values - 1) / group_values;
    for (auto g = first_item(); g < frames * groups; g += item_stride()) {
        const auto f = quotient(g, groups);
        const auto begin = unsigned(g - f * groups) * group_values;
        const auto count = s.n - begin < group_values ? s.n - begin : group_values;
        const auto frame = first + f;
        const auto noise = frame * s.sent;
        const auto* const bits = s.bits + frame % words_in_turn * s.words;
        // If bits are sent in order, the 16 bits of the group lie in one word.
        const auto together = s.sources ? 0 : bits[begin / 32] >> begin % 32;
        group<Value, group_values> made;
#pragma unroll
        for (unsigned i = 0; i < group_values; ++i) {
            auto source = begin + i;
            auto bit = together >> i & 1u;
            if (s.sources) {
                source = i < count ? s.sources[source] : no_value;
                if (source >= s.sent) {
                    made.put(i, steps[source == certain_zero ? 257 : 256]);
                    continue;
                }
                bit = bits[source / 32] >> source % 32 & 1u;
            }
            made.put(i, steps[std::uint8_t(received(s.noise(noise + source), bit))]);
        }
        made.store(out + f * stride + begin, count);
    }
}

// Adds the number of wrong decisions of frame first + f to errors[f]. Only positions
// where the mask \p counted has ones are compared. \p sent and \p counted have the layout
// of the decoder's output.
__global__ void compare(std::uint64_t first,
                        std::uint64_t frames,
                        unsigned words,
                        const std::uint32_t* decided,
                        const std::uint32_t* sent,
                        const std::uint32_t* counted,
                        unsigned* errors)
{
    for (auto i = first_item(); i < frames * words; i += item_stride()) {
        const auto f = quotient(i, words);
        const auto w = unsigned(i - f * words);
        const auto codeword = (first + f) % words_in_turn;
        const auto wrong = (decided[i] ^ sent[codeword * words + w]) & counted[w];
        if (wrong) {
            atomicAdd(errors + f, unsigned(__popc(wrong)));
        }
    }
}

struct channel_slot : round_slot {
    std::unique_ptr<buffer<std::uint8_t>> input, output;
    std::unique_ptr<locked_memory> status;
    std::unique_ptr<host_memory> table;
    std::size_t tabled = 0; // number of frames in the input's frame table; 0: no table
    ldpc::job job;
    std::uint64_t first = 0; // index of the first frame of the batch in flight
    std::size_t frames = 0;
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
          d_code(options.decoder.codes.at(0)),
          d_limits(d_setup.limits(d_work_items)),
          d_output_words(unsigned(d_setup.frame_output_bytes(d_code) / 4)),
          d_errors(d_work_items)
    {
        const frame_source source(options.decoder, options.ebn0_db, options.seed);
        d_tables = copied(tables_of(source, options.decoder));
        take_codewords(source);
        if (!d_code.sent_positions().empty()) {
            d_sources = copied(sources_of(d_code));
        }
        d_frames.push_back({ source.int8_channel().random(),
                             d_code.n(),
                             d_code.sent(),
                             d_bits->get(),
                             (d_code.sent() + 31) / 32,
                             d_sources ? d_sources->get() : nullptr });
        for (auto& s : d_slots) {
            ensure(s.input, d_limits.input_bytes);
            ensure(s.output, d_limits.output_bytes);
            s.status = std::make_unique<locked_memory>(d_limits.status_bytes);
            s.table =
                std::make_unique<host_memory>(ldpc::job::values_offset(d_work_items));
        }
    }

    std::string device() const override { return device_name(); }

    void run(std::uint64_t frames, const taker& take) override
    {
        slot_rounds::run((frames + d_work_items - 1) / d_work_items,
                         [&](channel_slot& s, unsigned number, std::size_t b) {
                             s.first = std::uint64_t(b) * d_work_items;
                             s.frames =
                                 std::min<std::uint64_t>(d_work_items, frames - s.first);
                             fill(s, number);
                         },
                         [&](channel_slot& s) {
                             count(s);
                             return take(d_results);
                         });
    }

private:
    using numbers = buffer<std::uint32_t>;

    // Limits the batch size to the number of frames in the simulation, so that a short
    // simulation allocates little memory.
    static run_options run_of(const simulation_options& options)
    {
        run_options run = options.decoder;
        run.max_batch =
            std::clamp<std::uint64_t>(options.max_frames, 1, traits::max_work_items);
        return run;
    }

    std::vector<std::uint64_t> tables_of(const frame_source& source,
                                         const ldpc_options& options) const
    {
        const auto channel = source.int8_channel();
        const auto& noise = channel.int8_values().entries();
        std::vector<std::uint64_t> tables(noise.begin(), noise.end());
        const auto rule = d_setup.rule(d_code);
        const auto size = d_setup.value_bytes();
        std::vector<std::int8_t> received;
        for (unsigned value = 0; value < 256; ++value) {
            received.push_back(std::int8_t(value));
        }
        // Entries: 256 for received bytes, one for punctured and one for shortened bits.
        // The 8 bytes after them allow a copy in whole 64-bit words.
        std::vector<std::byte> steps((received.size() + 2) * size + 8);
        input_format(rule, llr_format::int8, options.llr_scale, options.positive_bit)
            .convert(received.data(), 0, received.size(), steps.data());
        auto* const certain = &steps[257 * size];
        const auto limit = rule.channel_limit;
        with_channel_value(d_setup.precision, [&](auto value) {
            value = decltype(value)(limit);
            std::memcpy(certain, &value, size);
        });
        const auto begin = tables.size();
        tables.resize(begin + steps.size() / 8);
        std::memcpy(&tables[begin], steps.data(), (tables.size() - begin) * 8);
        return tables;
    }

    // Copies the sent bits and the correct decisions of all codewords, and the mask of
    // message bits, to the device.
    void take_codewords(const frame_source& source)
    {
        const auto words = (d_code.sent() + 31) / 32;
        std::vector<std::uint32_t> bits(std::size_t(words) * words_in_turn);
        std::vector<std::uint32_t> right(std::size_t(d_output_words) * words_in_turn);
        const auto given = d_setup.output_bits(d_code);
        for (unsigned w = 0; w < words_in_turn; ++w) {
            const auto sent = source.sent_bits(w);
            for (std::size_t i = 0; i < sent.size(); ++i) {
                bits[w * words + i / 32] |= std::uint32_t(sent[i]) << i % 32;
            }
            pack_bits(source.codeword(w),
                      given,
                      reinterpret_cast<std::uint8_t*>(&right[w * d_output_words]));
        }
        std::vector<std::uint8_t> message(given);
        for (const auto position : d_code.message_positions()) {
            message[position] = 1;
        }
        std::vector<std::uint32_t> counted(d_output_words);
        pack_bits(message.data(), given, reinterpret_cast<std::uint8_t*>(counted.data()));
        d_bits = copied(bits);
        d_right = copied(right);
        d_counted = copied(counted);
    }

    void fill(channel_slot& s, unsigned number)
    {
        if (s.tabled != s.frames) {
            frame_batch batch(d_setup, d_limits);
            for (std::size_t f = 0; f < s.frames; ++f) {
                batch.add(0, 0);
            }
            s.job = batch.make_job(s.table->data());
            check(cudaMemcpyAsync(s.input->get(),
                                  s.table->data(),
                                  s.table->size(),
                                  cudaMemcpyDefault,
                                  s.queue),
                  "copy of the table");
            s.tabled = s.frames;
        }
        with_channel_value(d_setup.precision,
                           [&](auto value) { make_values<decltype(value)>(s); });
        submit(s,
               number,
               s.job,
               { reinterpret_cast<const std::byte*>(s.input->get()),
                 reinterpret_cast<std::byte*>(s.output->get()),
                 s.status->data() });
    }

    template <class Value>
    void make_values(channel_slot& s)
    {
        const auto kernel = receive<Value>;
        const auto made = d_frames.front();
        const auto* const tables = d_tables->get();
        const auto words = unsigned(d_tables->bytes() / sizeof(std::uint64_t));
        const auto shared_bytes = d_tables->bytes();
        const auto stream = s.queue;
        const auto first = s.first;
        const std::uint64_t frames = s.frames;
        const std::uint64_t stride = d_setup.frame_input_bytes(d_code) / sizeof(Value);
        const auto groups = frames * ((d_code.n() + group_values - 1) / group_values);
        auto* const to = reinterpret_cast<Value*>(s.input->get() +
                                                  ldpc::job::values_offset(d_work_items));
        kernel<<<blocks_of(groups), threads, shared_bytes, stream>>>(
            made, tables, words, first, frames, stride, to);
        check(cudaGetLastError(), "kernel launch");
    }

    // Counts the errors of the slot's frames; sets d_results.
    void count(channel_slot& s)
    {
        const auto stream = s.queue;
        const auto first = s.first;
        const std::uint64_t frames = s.frames;
        const auto words = d_output_words;
        const auto* const decided =
            reinterpret_cast<const std::uint32_t*>(s.output->get());
        const auto* const right = d_right->get();
        const auto* const counted = d_counted->get();
        auto* const errors = d_errors.get();
        check(cudaMemsetAsync(errors, 0, frames * sizeof(unsigned), stream), "memset");
        compare<<<blocks_of(frames * words), threads, 0, stream>>>(
            first, frames, words, decided, right, counted, errors);
        check(cudaGetLastError(), "kernel launch");
        d_wrong.resize(frames);
        check(cudaMemcpyAsync(d_wrong.data(),
                              errors,
                              frames * sizeof(unsigned),
                              cudaMemcpyDefault,
                              stream),
              "copy to the host");
        check(cudaStreamSynchronize(stream), "count of wrong bits");
        const auto* const status = reinterpret_cast<const ldpc_status*>(s.status->data());
        d_results.resize(frames);
        for (std::size_t f = 0; f < frames; ++f) {
            d_results[f] = { d_wrong[f], status[f].iterations, status[f].unsatisfied };
        }
    }

    const ldpc_code d_code;
    const batch_limits d_limits;
    const unsigned d_output_words; // 32-bit words of decoder output per frame
    std::unique_ptr<buffer<std::uint64_t>> d_tables;
    std::unique_ptr<numbers> d_bits, d_right, d_counted, d_sources;
    std::vector<frames_sent> d_frames; // one element, with pointers into the tables above
    const buffer<unsigned> d_errors;
    std::vector<unsigned> d_wrong;
    std::vector<frame_result> d_results;
};

} // namespace

std::unique_ptr<device_channel> make_device_channel(const simulation_options& options)
{
    return made<cuda_channel>(options);
}

} // namespace gr::gpufec::ldpc
