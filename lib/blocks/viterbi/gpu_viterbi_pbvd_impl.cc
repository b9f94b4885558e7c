// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Implements the block gpu_viterbi_pbvd: its factory, its input and output, its tags and
 * its phase lock. */

#include "common/ranges.h"
#include "conv_parameters.h"
#include "gpu_viterbi_pbvd_impl.h"
#include "lock_parameters.h"
#include "viterbi/phase_lock/lock_facts.h"
#include <gnuradio/io_signature.h>
#include <cmath>
#include <utility>

namespace gr::gpufec {

namespace {

viterbi_options decoder_options(const gpu_viterbi_pbvd_options& given)
{
    const auto [code, ends] = conv_code_of(given.constraint_length,
                                           given.polynomials,
                                           given.puncturing,
                                           given.termination,
                                           given.preset);
    viterbi_options options{ code };
    options.termination = ends;
    options.frame_bits = not_negative("frame_bits", given.frame_bits);
    options.format = given.soft_input;
    options.soft_scale = given.soft_scale;
    options.decode_length = not_negative("decode_length", given.decode_length);
    options.overlap = not_negative("overlap", given.overlap);
    options.cuda_kernel = given.cuda_kernel;
    options.positive_bit = not_negative("positive_bit", given.positive_bit, "0 and 1");
    options.bits_in_place = !given.packed_output;
    set_run_options(options, given);
    set_lock_options(options,
                     { given.lock,
                       given.lock_constellation,
                       given.lock_presets,
                       given.lock_memory,
                       given.lock_first_item,
                       given.preset });
    return options;
}

} // namespace

gpu_viterbi_pbvd::sptr gpu_viterbi_pbvd::make(const gpu_viterbi_pbvd_options& given)
{
    const auto options = decoder_options(given);
    require_from_0("status_period_s", given.status_period_s);
    return gnuradio::make_block_sptr<gpu_viterbi_pbvd_impl>(options,
                                                            given.packed_output,
                                                            given.length_tag_key,
                                                            given.status_period_s,
                                                            given.io);
}

gpu_viterbi_pbvd_impl::gpu_viterbi_pbvd_impl(const viterbi_options& options,
                                             bool packed_output,
                                             const std::string& length_tag_key,
                                             double status_period_s,
                                             port_memory io)
    : gr::block("gpu_viterbi_pbvd",
                input_port(io, item_bytes(options.format)),
                output_port(io, sizeof(std::uint8_t))),
      decoder_block(
          item_bytes(options.format), sizeof(std::uint8_t), io, options.devices[0]),
      d_options(options),
      d_packed(packed_output),
      d_ber_key(pmt::mp("viterbi_ber")),
      d_metric_key(pmt::mp("viterbi_metric")),
      d_lock_key(pmt::mp("viterbi_lock")),
      d_lengths(length_tag_key,
                [this](const std::string& text) { d_logger->warn("{}", text); }),
      d_locks(options.lock == "auto"),
      d_status_period_s(status_period_s),
      d_frame_output(options.termination == termination::streaming ? 0
                     : packed_output ? (options.frame_bits + 7) / 8
                                     : options.frame_bits),
      d_soft_scale(options.soft_scale),
      d_decoder(viterbi_decoder::make(options, hooks()))
{
    publish_choices();
    if (const auto unused = given_lock_options(options); !d_locks && !unused.empty()) {
        d_logger->warn("parameters without effect, because lock is \"off\": {}", unused);
    }
    if (status_period_s > 0) {
        d_status_timer.emplace([this] { change("status", [this] { tell_state(); }); });
    }
    const bool packed_input = options.format == soft_format::packed4;
    if (options.termination == termination::streaming) {
        // The phase search may choose any of several codes. GNU Radio needs one rate, so
        // the lowest code rate is used.
        auto code = options.code;
        for (const auto& name : options.lock_presets) {
            if (d_locks && conv_code::preset(name).rate() < code.rate()) {
                code = conv_code::preset(name);
            }
        }
        set_exact_rate(code.period() * (packed_input ? 2 : 1),
                       std::uint64_t(code.values_per_period()) * (d_packed ? 8 : 1));
    } else {
        set_exact_rate(d_frame_output, d_decoder->items_per_frame());
    }
}

bool gpu_viterbi_pbvd_impl::push(input& in, input&)
{
    if (d_options.termination != termination::streaming && !d_locks) {
        return push_frames(in);
    }
    const bool some = take(in, [this](const std::byte* items, std::size_t count) {
        return d_decoder->push({ items, count });
    });
    move_tags(std::min<std::uint64_t>(next_item(in), d_decoder->placed_items()));
    return some;
}

// Takes items of frames, or drops items between frames. Returns whether any item was
// taken or dropped. If a length tag cuts a frame short, drops that frame first.
bool gpu_viterbi_pbvd_impl::push_frames(input& in)
{
    const auto item = next_item(in);
    const auto frame = d_decoder->items_per_frame();
    if (d_have > 0 && d_lengths.cuts_frame(item)) {
        d_decoder->drop_incomplete();
        d_lengths.drop(d_input_tags, item);
        d_dropped += std::exchange(d_have, 0);
        ++d_skipped;
    }
    const auto run = d_lengths.next(item, in.left(), frame);
    d_skipped += run.lost;
    if (!run.of_frames) {
        const auto n = pass_over(in, [&] { return d_decoder->skip(run.items); });
        d_lengths.drop(d_input_tags, item + n);
        d_dropped += n;
        return n > 0;
    }
    const auto n = take(in, run.items, [this](const std::byte* items, std::size_t count) {
        return d_decoder->push({ items, count });
    });
    d_lengths.took(item + n);
    d_have = (d_have + n) % frame;
    // Moves only the tags of complete frames, because an incomplete frame may be dropped.
    move_tags(item + n - d_have);
    return n > 0;
}

std::size_t
gpu_viterbi_pbvd_impl::pull(std::byte* out, std::size_t capacity, std::uint64_t first)
{
    auto* const to = reinterpret_cast<std::uint8_t*>(out);
    const auto pulled = d_decoder->pull({ to, capacity, d_packed });
    if (const auto latest = d_decoder->status()) {
        d_channel_error_rate = latest->channel_error_rate;
        d_metric = latest->metric;
    }
    for (viterbi_decoder::batch_statistics s; d_decoder->take_stream_statistics(s);) {
        d_statistics.push_back(s);
    }
    for (; !d_statistics.empty(); d_statistics.pop_front()) {
        const auto& oldest = d_statistics.front();
        const auto item = d_packed ? oldest.first_byte : oldest.first_bit;
        if (item >= first + pulled) {
            break;
        }
        add_tag(item, d_ber_key, pmt::from_double(oldest.channel_error_rate));
        add_tag(item, d_metric_key, pmt::from_double(oldest.metric));
    }
    follow_lock(first + pulled);
    if (d_frame_output > 0) {
        d_frames = (first + pulled) / d_frame_output;
    }
    return pulled;
}

namespace {

pmt::pmt_t pmt_of(bool value) { return pmt::from_bool(value); }
pmt::pmt_t pmt_of(unsigned value) { return pmt::from_long(value); }
pmt::pmt_t pmt_of(std::uint64_t value) { return pmt::from_uint64(value); }
pmt::pmt_t pmt_of(double value) { return pmt::from_double(value); }
pmt::pmt_t pmt_of(const std::string& value) { return pmt::mp(value); }

pmt::pmt_t dictionary(const viterbi_lock& lock)
{
    auto d = pmt::make_dict();
    viterbi::each_fact(lock, [&](const char* key, const auto& value) {
        d = pmt::dict_add(d, pmt::mp(key), pmt_of(value));
    });
    return d;
}

} // namespace

// Publishes changes of the lock state immediately, and adds their tags to the output
// items before `end`, which are about to be emitted.
void gpu_viterbi_pbvd_impl::follow_lock(std::uint64_t end)
{
    if (!d_locks) {
        return;
    }
    for (viterbi_lock change; d_decoder->take_lock(change);) {
        d_changes.push_back(change);
        publish_status(
            change.locked ? "lock" : "unlock", change.code, dictionary(change));
    }
    for (; !d_changes.empty(); d_changes.pop_front()) {
        const auto& oldest = d_changes.front();
        const auto item = d_packed ? oldest.first_byte : oldest.first_bit;
        if (item >= end) {
            break;
        }
        add_tag(item, d_lock_key, oldest.locked ? dictionary(oldest) : pmt::PMT_F);
    }
    std::lock_guard<std::mutex> guard(d_lock_mutex);
    d_lock = d_decoder->lock();
}

void gpu_viterbi_pbvd_impl::tell_state()
{
    auto state = dictionary(d_decoder->lock());
    if (!d_locks) {
        state = pmt::dict_add(pmt::make_dict(),
                              pmt::mp("error_rate"),
                              pmt::from_double(d_channel_error_rate));
    }
    publish_status("status", d_decoder->code().to_string(), state);
    await_next_status();
}

void gpu_viterbi_pbvd_impl::await_next_status()
{
    if (d_status_timer) {
        const std::chrono::duration<double> period(std::min(d_status_period_s, 1e6));
        d_status_timer->set(
            deadline_timer::clock::now() +
            std::chrono::duration_cast<deadline_timer::clock::duration>(period));
    }
}

bool gpu_viterbi_pbvd_impl::stop()
{
    if (d_status_timer) {
        d_status_timer->clear();
    }
    return decoder_block::stop();
}

bool gpu_viterbi_pbvd_impl::start()
{
    await_next_status();
    return decoder_block::start();
}

void gpu_viterbi_pbvd_impl::restart()
{
    d_statistics.clear();
    d_changes.clear();
    d_channel_error_rate = d_metric = NAN;
    d_lengths.restart();
    d_have = d_dropped = d_skipped = d_frames = 0;
    std::lock_guard<std::mutex> guard(d_lock_mutex);
    d_lock = viterbi_lock();
}

bool gpu_viterbi_pbvd_impl::locked() const
{
    std::lock_guard<std::mutex> guard(d_lock_mutex);
    return d_lock.locked;
}

pmt::pmt_t gpu_viterbi_pbvd_impl::lock_state() const
{
    std::lock_guard<std::mutex> guard(d_lock_mutex);
    return d_lock.locked ? dictionary(d_lock) : pmt::make_dict();
}

std::uint64_t gpu_viterbi_pbvd_impl::dropped() const
{
    std::lock_guard<std::mutex> guard(d_lock_mutex);
    return d_lock.dropped;
}

// Moves the tags of items before `end` to the output.
void gpu_viterbi_pbvd_impl::move_tags(std::uint64_t end)
{
    const auto output_of_item = [this](std::uint64_t item) {
        return d_decoder->output_of_item(item - d_dropped, d_packed);
    };
    d_lengths.move(d_input_tags, end, d_tags, output_of_item, output_of_item);
}

void gpu_viterbi_pbvd_impl::set_soft_scale(float soft_scale)
{
    require_above_0("soft_scale", soft_scale);
    d_soft_scale = soft_scale;
    change("soft_scale", [this, soft_scale] { d_decoder->set_soft_scale(soft_scale); });
}

} // namespace gr::gpufec
