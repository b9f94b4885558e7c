// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gpu_viterbi_pbvd_impl.h"
#include "parameters.h"
#include <gnuradio/gpufec/batch_decoder.h>
#include <gnuradio/io_signature.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace gr::gpufec {

namespace {

// Of input, between the block upstream and a GPU.
constexpr std::size_t wide_buffer_bytes = 1u << 20;
constexpr std::size_t widest_buffer_bytes = 64u << 20; // for each device

void check_soft_scale(float scale)
{
    check_number("soft_scale",
                 scale,
                 std::isfinite(scale) && scale > 0,
                 "allowed are finite values above 0");
}

void check_max_latency_ms(double milliseconds)
{
    check_number("max_latency_ms",
                 milliseconds,
                 std::isfinite(milliseconds) && milliseconds >= 0,
                 "allowed are finite values from 0");
}

std::size_t item_size(soft_format format)
{
    return format == soft_format::float32 ? sizeof(float) : 1;
}

} // namespace

gpu_viterbi_pbvd::sptr gpu_viterbi_pbvd::make(int constraint_length,
                                              const std::vector<int>& polynomials,
                                              const std::string& puncturing,
                                              const std::string& termination,
                                              int frame_bits,
                                              const std::string& soft_input,
                                              float soft_scale,
                                              bool packed_output,
                                              int decode_length,
                                              int overlap,
                                              int batch,
                                              int slots,
                                              double max_latency_ms,
                                              const std::string& backend,
                                              int device,
                                              int threads,
                                              const std::string& cuda_kernel,
                                              const std::string& length_tag_key,
                                              const std::vector<int>& devices)
{
    const std::string from_0 = "allowed are 0 and more";
    viterbi_options options{ conv_code(constraint_length, polynomials, puncturing) };
    options.ends = termination_from_string(termination);
    options.frame_bits = not_negative("frame_bits", frame_bits, from_0);
    options.format = soft_format_from_string(soft_input);
    options.soft_scale = soft_scale;
    options.decode_length = not_negative("decode_length", decode_length, from_0);
    options.overlap = not_negative("overlap", overlap, from_0);
    options.batch = not_negative("batch", batch, from_0);
    options.slots = not_negative("slots", slots, "allowed are 1 to 16");
    options.max_latency_ms = max_latency_ms;
    options.where = backend_from_string(backend);
    options.devices = devices_of(device, devices);
    options.threads = not_negative("threads", threads, "allowed are 1 to 256");
    options.cuda_kernel = cuda_kernel;
    return gnuradio::make_block_sptr<gpu_viterbi_pbvd_impl>(
        options, packed_output, length_tag_key);
}

gpu_viterbi_pbvd_impl::gpu_viterbi_pbvd_impl(const viterbi_options& options,
                                             bool packed_output,
                                             const std::string& length_tag_key)
    : gr::block("gpu_viterbi_pbvd",
                gr::io_signature::make(1, 1, item_size(options.format)),
                gr::io_signature::make(1, 1, sizeof(std::uint8_t))),
      d_options(options),
      d_packed(packed_output),
      d_length_tag_key(length_tag_key.empty() ? pmt::pmt_t() : pmt::mp(length_tag_key)),
      d_ber_key(pmt::mp("viterbi_ber")),
      d_metric_key(pmt::mp("viterbi_metric")),
      d_source(pmt::mp(alias())),
      d_item_size(item_size(options.format)),
      d_soft_scale(options.soft_scale),
      d_max_latency_ms(options.max_latency_ms),
      d_wake_port(*this),
      d_decoder(options, make_hooks<viterbi_decoder>(d_wake_port, d_logger))
{
    publish_backend();
    set_tag_propagation_policy(TPP_CUSTOM);
    set_exact_rate();
}

void gpu_viterbi_pbvd_impl::set_exact_rate()
{
    const bool packed_input = d_options.format == soft_format::packed4;
    std::uint64_t output, input;
    if (d_options.ends == termination::streaming) {
        output = d_options.code.period() * (packed_input ? 2 : 1);
        input = std::uint64_t(d_options.code.values_per_period()) * (d_packed ? 8 : 1);
    } else {
        output = d_packed ? (d_options.frame_bits + 7) / 8 : d_options.frame_bits;
        input = d_decoder.items_per_frame();
    }
    const auto common = std::gcd(output, input);
    set_relative_rate(output / common, input / common);
}

// Called before the buffers are made. A GPU decodes faster than threads hand small ones
// to each other: the scheduler gives the block upstream a ring of twice the items that
// one output multiple takes. Downstream finds at least as much in its ring as usual.
bool gpu_viterbi_pbvd_impl::check_topology(int, int)
{
    const bool as_the_user_says = output_multiple_set() || max_output_buffer(0) > 0;
    if (active_backend() == "cuda" && !as_the_user_says) {
        const auto multiple = int(wanted_input_buffer() / 2 / d_item_size *
                                  relative_rate_i() / relative_rate_d());
        set_output_multiple(std::max(1, multiple));
        set_min_output_buffer(4 * output_multiple());
    }
    return true;
}

// The input of every slot, to be decoded from there, and a little to be filled meanwhile.
std::size_t gpu_viterbi_pbvd_impl::wanted_input_buffer() const
{
    const auto in_flight = d_decoder.input_bytes();
    const auto wanted = in_flight + in_flight / 16;
    return d_decoder.can_lend() &&
                   wanted <= widest_buffer_bytes * d_options.devices.size()
               ? std::max(wanted, wide_buffer_bytes)
               : wide_buffer_bytes;
}

// A GPU reads the input from the ring where it lies, if that can be page-locked and has
// room for all that is in flight and for what the block upstream writes at a time;
// nothing is then copied on the host.
void gpu_viterbi_pbvd_impl::borrow_input()
{
    const auto ring = detail()->input(0)->buffer();
    const auto bytes = ring->bufsize() * d_item_size;
    const auto needed =
        d_decoder.input_bytes() + ring->link()->output_multiple() * d_item_size;
    if (active_backend() != "cuda" || !d_decoder.can_lend() || bytes <= needed ||
        ring->get_mapping_type() != buffer_mapping_type::double_mapped) {
        return;
    }
    try {
        if (d_decoder.lock_lent(const_cast<char*>(ring->base()), 2 * bytes)) {
            d_borrowed = ring;
        }
    } catch (const device_error&) {
        // The first batch meets it again, where it is dealt with; start() must not throw.
    }
}

void gpu_viterbi_pbvd_impl::return_input()
{
    if (!d_borrowed) {
        return;
    }
    try {
        d_decoder.end_lending();
    } catch (const device_error& error) {
        d_failure = error.what();
    }
    d_decoder.unlock_lent(const_cast<char*>(d_borrowed->base()));
    d_borrowed.reset();
}

bool gpu_viterbi_pbvd_impl::start()
{
    // lock() and unlock() keep the detail: the same stream goes on. Else another begins.
    const bool goes_on = d_detail.lock() == detail() && !d_finished && d_failure.empty();
    if (!goes_on) {
        d_decoder.reset();
        d_tags.clear();
        d_taken = d_given = 0;
        d_finished = false;
        d_failure.clear();
        d_detail = detail();
        borrow_input();
    }
    return block::start();
}

// Also called by lock(), after which the scheduler writes the ring anew.
bool gpu_viterbi_pbvd_impl::stop()
{
    return_input();
    return block::stop();
}

void gpu_viterbi_pbvd_impl::apply_settings()
{
    std::lock_guard<std::mutex> guard(d_settings_mutex);
    if (d_settings_changed) {
        d_settings_changed = false;
        d_decoder.set_soft_scale(d_soft_scale);
        d_decoder.set_max_latency_ms(d_max_latency_ms);
    }
}

void gpu_viterbi_pbvd_impl::forecast(int, gr_vector_int& ninput_items_required)
{
    apply_settings();
    try {
        const bool call_me = d_decoder.ready() || d_decoder.due() || input_ended(*this);
        ninput_items_required[0] = call_me ? 0 : int(d_decoder.lent()) + 1;
    } catch (const device_error& error) {
        d_failure = error.what();
        ninput_items_required[0] = 0;
    }
}

int gpu_viterbi_pbvd_impl::general_work(int noutput_items,
                                        gr_vector_int&,
                                        gr_vector_const_void_star& input_items,
                                        gr_vector_void_star& output_items)
{
    apply_settings();
    try {
        if (!d_failure.empty()) {
            throw device_error(d_failure);
        }
        // There is room for a multiple, though a small max_noutput_items makes it 0 here.
        return decode(std::max(noutput_items, output_multiple()),
                      static_cast<const std::byte*>(input_items[0]),
                      static_cast<std::uint8_t*>(output_items[0]));
    } catch (const device_error& error) {
        // An exception would end this thread only, and its neighbours would wait for
        // ever.
        d_failure = error.what();
        d_logger->error("decoding stops here: {}", error.what());
        return WORK_DONE;
    }
}

int gpu_viterbi_pbvd_impl::decode(std::size_t room,
                                  const std::byte* in,
                                  std::uint8_t* out)
{
    // In this order: what had arrived when the input ended is available afterwards.
    const bool ended = input_ended(*this);
    const auto available = input_available(*this);
    const auto lent = d_decoder.lent();
    std::size_t taken = 0;
    std::size_t consumed = 0;
    std::size_t given = 0;
    for (;;) {
        const auto pulled = pull(out + given, room - given);
        given += pulled;
        consumed += d_decoder.take_back(); // what was pulled needs its input no more
        const auto* const items = in + consumed * d_item_size;
        const auto pushed = d_borrowed ? d_decoder.lend(items, available - consumed)
                                       : d_decoder.push(items, available - consumed);
        taken += pushed;
        consumed += d_borrowed ? d_decoder.take_back() : pushed;
        const bool ending = ended && end_of_input(lent + taken == available);
        if (pulled + pushed > 0) {
            continue;
        }
        const bool stuck = d_decoder.full() || (ending && !d_decoder.done());
        if (taken + given > 0 || !stuck || !d_decoder.wait(longest_sleep)) {
            break;
        }
    }

    hold_tags(lent, taken);
    consume_each(consumed);
    d_taken += taken;
    d_tags.release(d_given + given, [this](tag_t tag) {
        tag.offset = output_offset(tag.offset);
        add_item_tag(0, tag);
    });
    d_given += given;
    publish_backend();
    if (d_finished && d_decoder.done()) {
        produce(0, given); // WORK_DONE alone would throw it away
        return WORK_DONE;
    }
    return given;
}

void gpu_viterbi_pbvd_impl::publish_backend()
{
    std::lock_guard<std::mutex> guard(d_settings_mutex);
    d_active_backend = d_decoder.active_backend();
}

std::size_t gpu_viterbi_pbvd_impl::pull(std::uint8_t* out, std::size_t items)
{
    const auto pulled =
        d_packed ? d_decoder.pull_packed(out, items) : d_decoder.pull_bits(out, items);
    viterbi_decoder::batch_statistics statistics;
    if (d_decoder.take_statistics(statistics)) {
        add_statistics(statistics);
    }
    return pulled;
}

bool gpu_viterbi_pbvd_impl::end_of_input(bool everything_taken)
{
    if (everything_taken && !d_finished) {
        d_decoder.finish();
        d_finished = true;
    }
    return d_finished;
}

std::uint64_t gpu_viterbi_pbvd_impl::output_of_bit(std::uint64_t bit) const
{
    if (!d_packed || d_options.ends == termination::streaming) {
        return d_packed ? bit / 8 : bit;
    }
    const std::uint64_t frame_bits = d_options.frame_bits;
    return bit / frame_bits * ((frame_bits + 7) / 8) + bit % frame_bits / 8;
}

std::uint64_t gpu_viterbi_pbvd_impl::output_offset(std::uint64_t item)
{
    return nitems_written(0) + item - d_given;
}

void gpu_viterbi_pbvd_impl::hold_tags(std::size_t lent, std::size_t taken)
{
    if (taken == 0) {
        return;
    }
    std::vector<tag_t> tags;
    const auto first = nitems_read(0) + lent;
    get_tags_in_range(tags, 0, first, first + taken);
    tag_queue::sort(tags);
    for (auto& tag : tags) {
        const auto item = tag.offset - first + d_taken;
        tag.offset = d_decoder.output_of_item(item, d_packed);
        if (d_length_tag_key && pmt::eqv(tag.key, d_length_tag_key)) {
            hold_length_tag(tag, item);
        } else {
            d_tags.hold(tag);
        }
    }
}

void gpu_viterbi_pbvd_impl::hold_length_tag(tag_t tag, std::uint64_t input_item)
{
    // Lengths of packets that follow one another add up to the output, so both ends
    // are rounded alike.
    constexpr long longest = std::numeric_limits<int>::max();
    const long length = pmt::is_integer(tag.value) ? pmt::to_long(tag.value) : 0;
    const bool possible = length > 0 && length <= longest;
    const auto end =
        possible ? d_decoder.output_of_item(input_item + length, d_packed) : tag.offset;
    if (end == tag.offset) {
        warn_of_length_tag(tag.value);
        return;
    }
    tag.value = pmt::from_long(end - tag.offset);
    d_tags.hold(tag);
}

void gpu_viterbi_pbvd_impl::warn_of_length_tag(const pmt::pmt_t& value)
{
    if (!d_warned_of_length) {
        d_warned_of_length = true;
        d_logger->warn("dropping tags {} that hold no length of at least one output "
                       "item; the first holds {}",
                       pmt::write_string(d_length_tag_key),
                       pmt::write_string(value));
    }
}

void gpu_viterbi_pbvd_impl::add_statistics(
    const viterbi_decoder::batch_statistics& statistics)
{
    const auto item = output_offset(output_of_bit(statistics.first_bit));
    const auto ber = pmt::from_double(statistics.channel_error_rate);
    add_item_tag(0, item, d_ber_key, ber, d_source);
    add_item_tag(0, item, d_metric_key, pmt::from_double(statistics.metric), d_source);
}

std::string gpu_viterbi_pbvd_impl::active_backend() const
{
    std::lock_guard<std::mutex> guard(d_settings_mutex);
    return d_active_backend;
}

void gpu_viterbi_pbvd_impl::set_soft_scale(float soft_scale)
{
    check_soft_scale(soft_scale);
    std::lock_guard<std::mutex> guard(d_settings_mutex);
    d_soft_scale = soft_scale;
    d_settings_changed = true;
}

float gpu_viterbi_pbvd_impl::soft_scale() const
{
    std::lock_guard<std::mutex> guard(d_settings_mutex);
    return d_soft_scale;
}

void gpu_viterbi_pbvd_impl::set_max_latency_ms(double max_latency_ms)
{
    check_max_latency_ms(max_latency_ms);
    {
        std::lock_guard<std::mutex> guard(d_settings_mutex);
        d_max_latency_ms = max_latency_ms;
        d_settings_changed = true;
    }
    d_wake_port.wake();
}

double gpu_viterbi_pbvd_impl::max_latency_ms() const
{
    std::lock_guard<std::mutex> guard(d_settings_mutex);
    return d_max_latency_ms;
}

} // namespace gr::gpufec
