// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gpu_ldpc_dvbs2_impl.h"
#include "parameters.h"
#include <gnuradio/gpufec/batch_decoder.h>
#include <gnuradio/io_signature.h>
#include <algorithm>
#include <cmath>
#include <numeric>

namespace gr::gpufec {

namespace {

std::size_t item_size(llr_format format)
{
    return format == llr_format::float32 ? sizeof(float) : 1;
}

std::map<std::string, unsigned> index_of(const std::vector<std::string>& names)
{
    std::map<std::string, unsigned> index;
    for (const auto& name : names) {
        index.emplace(name, unsigned(index.size()));
    }
    return index;
}

// Codes and the names by which tags and set_code() call them.
struct code_list {
    std::vector<ldpc_code> codes;
    std::vector<std::string> names;

    void add(const std::string& name, const ldpc_code& code)
    {
        codes.push_back(code);
        names.push_back(name);
    }
    void add_dvbs2(const std::string& frame_size, const std::string& but_rate)
    {
        for (const auto& rate : ldpc_code::dvbs2_rates(frame_size)) {
            if (rate != but_rate) {
                add(frame_size + " " + rate, ldpc_code::dvbs2(frame_size, rate));
            }
        }
    }
};

} // namespace

gpu_ldpc_dvbs2::sptr
gpu_ldpc_dvbs2::make(const std::string& standard,
                     const std::string& frame_size,
                     const std::string& rate,
                     const std::string& code_file,
                     const std::string& soft_input,
                     float llr_scale,
                     const std::string& algorithm,
                     const std::string& precision,
                     int max_iterations,
                     bool early_stop,
                     const std::string& output,
                     bool packed_output,
                     int batch,
                     int slots,
                     double max_latency_ms,
                     const std::string& backend,
                     int device,
                     int threads,
                     const std::string& schedule,
                     double offset,
                     double normalization,
                     bool acm,
                     const std::map<std::string, std::string>& named_codes,
                     bool llr_pdu,
                     const std::vector<int>& devices)
{
    const std::string from_0 = "allowed are 0 and more";
    if (output != "message" && output != "codeword") {
        throw std::invalid_argument("output is \"" + output +
                                    "\": allowed are message and codeword");
    }
    code_list list;
    list.add(code_file.empty() ? frame_size + " " + rate : code_file,
             ldpc_code_of(standard, frame_size, rate, code_file));
    if (code_file.empty()) {
        list.add_dvbs2(frame_size, rate);
    }
    if (acm) {
        for (const char* size : { "normal", "short" }) {
            if (!code_file.empty() || size != frame_size) {
                list.add_dvbs2(size, "");
            }
        }
    }
    for (const auto& named : named_codes) {
        list.add(named.first, ldpc_code::from_alist_file(named.second));
    }

    ldpc_options options;
    options.codes = list.codes;
    options.format = llr_format_from_string(soft_input);
    options.llr_scale = llr_scale;
    options.algorithm = ldpc_algorithm_from_string(algorithm);
    options.precision = ldpc_precision_from_string(precision);
    options.schedule = ldpc_schedule_from_string(schedule);
    options.max_iterations =
        not_negative("max_iterations", max_iterations, "allowed are 1 to 1000");
    options.early_stop = early_stop;
    options.codeword = output == "codeword";
    options.keep_codeword = llr_pdu;
    options.offset = offset;
    options.normalization = normalization;
    options.batch = not_negative("batch", batch, from_0);
    options.slots = not_negative("slots", slots, "allowed are 1 to 16");
    options.max_latency_ms = max_latency_ms;
    options.where = backend_from_string(backend);
    options.devices = devices_of(device, devices);
    options.threads = not_negative("threads", threads, "allowed are 1 to 256");
    return gnuradio::make_block_sptr<gpu_ldpc_dvbs2_impl>(
        options, list.names, packed_output, acm);
}

gpu_ldpc_dvbs2_impl::gpu_ldpc_dvbs2_impl(const ldpc_options& options,
                                         const std::vector<std::string>& names,
                                         bool packed_output,
                                         bool acm)
    : gr::block("gpu_ldpc_dvbs2",
                gr::io_signature::make(1, 1, item_size(options.format)),
                gr::io_signature::make(1, 1, sizeof(std::uint8_t))),
      d_options(options),
      d_index(index_of(names)),
      d_packed(packed_output),
      d_acm(acm),
      d_iterations_key(pmt::mp("ldpc_iterations")),
      d_valid_key(pmt::mp("ldpc_valid")),
      d_weight_key(pmt::mp("ldpc_syndrome_weight")),
      d_xfecframe_key(pmt::mp("XFECFRAME")),
      d_code_key(pmt::mp("ldpc_code")),
      d_llr_port(pmt::mp("llr_pdu")),
      d_source(pmt::mp(alias())),
      d_item_size(item_size(options.format)),
      d_wake_port(*this),
      d_decoder(options, make_hooks<ldpc_decoder>(d_wake_port, d_logger))
{
    d_active_backend = d_decoder.active_backend();
    message_port_register_out(d_llr_port);
    set_tag_propagation_policy(TPP_CUSTOM);
    const std::uint64_t output = output_items(0), input = d_decoder.code(0).n();
    const auto common = std::gcd(output, input);
    set_relative_rate(output / common, input / common);
}

bool gpu_ldpc_dvbs2_impl::start()
{
    // lock() and unlock() keep the detail, and what is in its buffers: the same stream
    // goes on. Else another one begins.
    const bool goes_on = d_detail.lock() == detail() && !d_finished && d_failure.empty();
    if (!goes_on) {
        restart();
        d_detail = detail();
    }
    return block::start();
}

void gpu_ldpc_dvbs2_impl::restart()
{
    const auto code = d_decoder.selected();
    d_decoder.reset();
    d_decoder.select(d_acm ? 0 : code);
    d_tags.clear();
    d_frame_tags.clear();
    d_taken = d_given = d_frame_output = 0;
    d_skip = 0;
    d_lost = false;
    d_finished = false;
    d_failure.clear();
}

void gpu_ldpc_dvbs2_impl::apply_settings()
{
    std::lock_guard<std::mutex> guard(d_settings_mutex);
    if (d_new_code) {
        d_decoder.select(*d_new_code);
        d_new_code.reset();
    }
    if (d_new_max_latency_ms) {
        d_decoder.set_max_latency_ms(*d_new_max_latency_ms);
        d_new_max_latency_ms.reset();
    }
    if (d_new_llr_scale && d_decoder.missing() == 0) {
        d_decoder.set_llr_scale(*d_new_llr_scale);
        d_new_llr_scale.reset();
    }
}

void gpu_ldpc_dvbs2_impl::forecast(int, gr_vector_int& ninput_items_required)
{
    apply_settings();
    try {
        const bool call_me = d_decoder.ready() || d_decoder.due() || input_ended(*this);
        ninput_items_required[0] = call_me ? 0 : 1;
    } catch (const device_error& error) {
        d_failure = error.what();
        ninput_items_required[0] = 0;
    }
}

int gpu_ldpc_dvbs2_impl::general_work(int noutput_items,
                                      gr_vector_int&,
                                      gr_vector_const_void_star& input_items,
                                      gr_vector_void_star& output_items)
{
    apply_settings();
    try {
        if (!d_failure.empty()) {
            throw device_error(d_failure);
        }
        return decode(noutput_items,
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

int gpu_ldpc_dvbs2_impl::decode(std::size_t room, const std::byte* in, std::uint8_t* out)
{
    // In this order: what had arrived when the input ended is available afterwards.
    const bool ended = input_ended(*this);
    const auto available = input_available(*this);
    read_tags(available);
    std::size_t taken = 0;
    std::size_t given = 0;
    for (;;) {
        const auto pulled = pull(out + given, room - given, given);
        given += pulled;
        const auto pushed = push(in, taken, available);
        taken += pushed;
        if (ended && taken == available && !d_finished) {
            d_decoder.finish();
            d_finished = true;
        }
        if (pulled + pushed > 0) {
            continue;
        }
        const bool stuck = d_decoder.full() || (d_finished && !d_decoder.done());
        if (taken + given > 0 || !stuck || !d_decoder.wait(longest_sleep)) {
            break;
        }
    }

    consume_each(taken);
    d_taken += taken;
    d_tags.release(d_given + given, [this](tag_t tag) {
        tag.offset += nitems_written(0) - d_given;
        add_item_tag(0, tag);
    });
    d_given += given;
    {
        std::lock_guard<std::mutex> guard(d_settings_mutex);
        d_active_backend = d_decoder.active_backend();
    }
    if (d_finished && d_decoder.done()) {
        produce(0, given); // WORK_DONE alone would throw it away
        return WORK_DONE;
    }
    return given;
}

// \p at: output items already produced in this call.
std::size_t
gpu_ldpc_dvbs2_impl::pull(std::uint8_t* out, std::size_t room, std::uint64_t at)
{
    const auto pulled =
        d_packed ? d_decoder.pull_packed(out, room) : d_decoder.pull_bits(out, room);
    ldpc_decoder::report report;
    if (d_decoder.take_report(report)) {
        add_report(nitems_written(0) + at, report);
        if (d_options.keep_codeword) {
            send_decisions(report);
        }
    }
    return pulled;
}

void gpu_ldpc_dvbs2_impl::send_decisions(const ldpc_decoder::report& report)
{
    constexpr std::int8_t certain = 127;
    const auto& packed = d_decoder.codeword();
    std::vector<std::int8_t> llr(d_decoder.code(report.code).n());
    for (std::size_t i = 0; i < llr.size(); ++i) {
        llr[i] = packed[i / 8] >> (7 - i % 8) & 1u ? -certain : certain;
    }
    auto meta = pmt::make_dict();
    meta = pmt::dict_add(meta, pmt::mp("simd_size"), pmt::from_long(1));
    meta = pmt::dict_add(meta, pmt::mp("frame_cnt"), pmt::from_uint64(report.frame));
    message_port_pub(d_llr_port,
                     pmt::cons(meta, pmt::init_s8vector(llr.size(), llr.data())));
}

void gpu_ldpc_dvbs2_impl::add_report(std::uint64_t item,
                                     const ldpc_decoder::report& report)
{
    const bool valid = report.unsatisfied == 0;
    add_item_tag(0, item, d_iterations_key, pmt::from_long(report.iterations), d_source);
    add_item_tag(0, item, d_valid_key, pmt::from_bool(valid), d_source);
    if (!valid) {
        add_item_tag(0, item, d_weight_key, pmt::from_long(report.unsatisfied), d_source);
    }
}

// Takes input items \p from and on; of one frame, or that are skipped.
std::size_t
gpu_ldpc_dvbs2_impl::push(const std::byte* in, std::size_t from, std::size_t available)
{
    const auto item = d_taken + from;
    const auto end = d_taken + available;
    obey_tags_at(item);
    const auto limit = next_code_tag(item + 1, end);
    if (d_lost) {
        d_decoder.push(nullptr, 0); // sends what is due
        return limit - item;
    }
    if (d_skip > 0) {
        const auto n = std::min<std::uint64_t>(d_skip, limit - item);
        d_skip -= n;
        return n;
    }
    return push_frame(in, from, std::size_t(limit - item));
}

std::size_t
gpu_ldpc_dvbs2_impl::push_frame(const std::byte* in, std::size_t from, std::size_t count)
{
    const auto missing = d_decoder.missing();
    const std::size_t n = d_decoder.code(d_decoder.selected()).n();
    const auto left = missing ? missing : n;
    const auto pushed = d_decoder.push(in + from * d_item_size, std::min(count, left));
    if (pushed == 0) {
        return 0;
    }
    const auto item = d_taken + from;
    // Tags are held until the frame is complete: it may yet be dropped.
    for (const auto& tag : d_window) {
        if (tag.offset >= item && tag.offset < item + pushed) {
            auto moved = tag;
            moved.offset = d_frame_output + output_in_frame(n - left + tag.offset - item);
            d_frame_tags.push_back(moved);
        }
    }
    if (pushed == left) {
        for (const auto& tag : d_frame_tags) {
            d_tags.hold(tag);
        }
        d_frame_tags.clear();
        d_frame_output += output_items(d_decoder.selected());
        apply_settings();
    }
    return pushed;
}

std::size_t gpu_ldpc_dvbs2_impl::output_items(unsigned code) const
{
    const auto bits = d_decoder.output_bits(code);
    return d_packed ? (bits + 7) / 8 : bits;
}

// The output item, counted in its frame, with a bit of the frame being pushed.
std::uint64_t gpu_ldpc_dvbs2_impl::output_in_frame(std::uint64_t in_frame) const
{
    const auto code = d_decoder.selected();
    auto bit = in_frame;
    if (!d_options.codeword) {
        const auto& message = d_decoder.code(code).message_positions();
        const auto next = std::upper_bound(message.begin(), message.end(), in_frame);
        bit = next == message.begin() ? 0 : next - message.begin() - 1;
    }
    return d_packed ? bit / 8 : bit;
}

void gpu_ldpc_dvbs2_impl::read_tags(std::size_t available)
{
    d_window.clear();
    get_tags_in_range(d_window, 0, nitems_read(0), nitems_read(0) + available);
    tag_queue::sort(d_window);
    for (auto& tag : d_window) {
        tag.offset = tag.offset - nitems_read(0) + d_taken;
    }
}

std::uint64_t gpu_ldpc_dvbs2_impl::next_code_tag(std::uint64_t from,
                                                 std::uint64_t end) const
{
    for (const auto& tag : d_window) {
        const bool names_code =
            pmt::eqv(tag.key, d_xfecframe_key) || pmt::eqv(tag.key, d_code_key);
        if (d_acm && tag.offset >= from && names_code) {
            return std::min(end, tag.offset);
        }
    }
    return end;
}

void gpu_ldpc_dvbs2_impl::obey_tags_at(std::uint64_t item)
{
    if (!d_acm) {
        return;
    }
    for (const auto& tag : d_window) {
        if (tag.offset == item &&
            (pmt::eqv(tag.key, d_xfecframe_key) || pmt::eqv(tag.key, d_code_key))) {
            obey(tag);
        }
    }
}

std::optional<frame_kind> gpu_ldpc_dvbs2_impl::kind_of(const tag_t& tag) const
{
    return pmt::eqv(tag.key, d_xfecframe_key) ? kind_of_xfecframe(tag.value)
                                              : kind_of_ldpc_code(tag.value);
}

void gpu_ldpc_dvbs2_impl::obey(const tag_t& tag)
{
    if (d_decoder.missing() > 0 || d_skip > 0) {
        warn_once(d_warned_of_place,
                  "a tag names a code inside a frame, which is dropped: " +
                      pmt::write_string(tag.value));
    }
    d_decoder.drop_incomplete();
    d_frame_tags.clear();
    d_skip = 0;
    d_lost = false;
    const auto kind = kind_of(tag);
    const auto code = kind ? d_index.find(kind->code) : d_index.end();
    if (code != d_index.end()) {
        d_decoder.select(code->second);
        return;
    }
    d_skip = kind ? kind->skip_bits : 0;
    d_lost = d_skip == 0;
    warn_once(
        d_warned_of_code,
        "a tag names no code that is known: " + pmt::write_string(tag.key) + " " +
            pmt::write_string(tag.value) +
            (d_lost ? "; dropping input up to the next tag" : "; skipping frames of it"));
}

void gpu_ldpc_dvbs2_impl::warn_once(bool& warned, const std::string& text)
{
    if (!warned) {
        warned = true;
        d_logger->warn("{}", text);
    }
}

std::string gpu_ldpc_dvbs2_impl::active_backend() const
{
    std::lock_guard<std::mutex> guard(d_settings_mutex);
    return d_active_backend;
}

void gpu_ldpc_dvbs2_impl::set_code(const std::string& name)
{
    const auto code = d_index.find(name);
    if (code == d_index.end()) {
        std::string known;
        for (const auto& i : d_index) {
            known += (known.empty() ? "" : ", ") + i.first;
        }
        throw std::invalid_argument("code is \"" + name + "\": allowed are " + known);
    }
    std::lock_guard<std::mutex> guard(d_settings_mutex);
    d_new_code = code->second;
}

void gpu_ldpc_dvbs2_impl::set_llr_scale(float llr_scale)
{
    check_number("llr_scale",
                 llr_scale,
                 std::isfinite(llr_scale) && llr_scale > 0,
                 "allowed are finite values above 0");
    std::lock_guard<std::mutex> guard(d_settings_mutex);
    d_new_llr_scale = llr_scale;
}

void gpu_ldpc_dvbs2_impl::set_max_latency_ms(double max_latency_ms)
{
    check_number("max_latency_ms",
                 max_latency_ms,
                 std::isfinite(max_latency_ms) && max_latency_ms >= 0,
                 "allowed are finite values from 0");
    {
        std::lock_guard<std::mutex> guard(d_settings_mutex);
        d_new_max_latency_ms = max_latency_ms;
    }
    d_wake_port.wake();
}

} // namespace gr::gpufec
