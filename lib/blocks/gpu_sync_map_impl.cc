// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gpu_sync_map_impl.h"
#include <gnuradio/gpufec/batch_decoder.h>
#include <gnuradio/io_signature.h>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

namespace gr::gpufec {

namespace {

std::size_t symbol_items(const sync_options& o)
{
    switch (o.output) {
    case sync_output::symbols:
        return 1;
    case sync_output::llr:
        return std::lround(std::log2(o.code.q()));
    default:
        return o.code.q();
    }
}

std::size_t output_size(const sync_options& o)
{
    switch (o.output) {
    case sync_output::symbols:
        return symbol_item_size(o.code);
    case sync_output::llr:
        return sizeof(std::int8_t);
    default:
        return sizeof(float);
    }
}

io_signature::sptr signature_of_input(const sync_options& o)
{
    const int size = o.soft_input ? sizeof(float) : 1;
    return o.mode == sync_mode::stream ? io_signature::make(1, 1, size)
                                       : io_signature::make2(1, 2, size, sizeof(float));
}

bool soft_input_from_string(const std::string& name)
{
    if (name != "hard" && name != "float") {
        throw std::invalid_argument("soft_input is \"" + name +
                                    "\": allowed are hard and float");
    }
    return name == "float";
}

sync_output output_from_string(const std::string& name)
{
    if (name == "posteriors64") {
        throw std::invalid_argument("output is \"posteriors64\": allowed are symbols, "
                                    "posteriors, extrinsics and llr");
    }
    return sync_output_from_string(name);
}

// The most items of a frame that can be decoded.
std::size_t most_items(const sync_options& o, const bsid_model& channel)
{
    const auto drifts = drift_limits(channel, o.code.frame_bits(), o.exclusion, o.start);
    return o.code.frame_bits() + std::max(0, drifts.last);
}

// Weights that are none count as 0, and symbols of which nothing is known as alike.
void mend(std::vector<float>& priors, std::size_t q)
{
    for (auto row = priors.begin(); row != priors.end(); row += q) {
        for (auto w = row; w != row + q; ++w) {
            *w = *w >= 0 && std::isfinite(*w) ? *w : 0;
        }
        if (std::all_of(row, row + q, [](float w) { return w == 0; })) {
            std::fill_n(row, q, 1.0f);
        }
    }
}

} // namespace

gpu_sync_map::sptr gpu_sync_map::make(const std::vector<std::uint8_t>& codebook,
                                      int q,
                                      int n,
                                      int frame_symbols,
                                      double p_insert,
                                      double p_delete,
                                      double p_substitute,
                                      const std::string& mode,
                                      const std::string& length_tag,
                                      const std::string& soft_input,
                                      const std::string& output,
                                      const std::string& precision,
                                      const std::string& storage,
                                      int batch,
                                      int slots,
                                      double max_latency_ms,
                                      const std::string& backend,
                                      int device,
                                      int threads,
                                      const std::string& form,
                                      double exclusion,
                                      int mn_min,
                                      int mn_max,
                                      int lookahead,
                                      int acquire,
                                      int alphabet,
                                      const std::string& receiver,
                                      int insertion_cap,
                                      double state_threshold,
                                      double lattice_threshold,
                                      int start_first,
                                      const std::vector<double>& start_prior,
                                      int end_first,
                                      const std::vector<double>& end_prior,
                                      const std::vector<int>& devices)
{
    const std::string from_0 = "0 and more is allowed";
    const auto code = sync_code_of(codebook, q, n, frame_symbols, alphabet);
    sync_options options(code, { p_insert, p_delete, p_substitute, code.alphabet() });
    options.mode = sync_mode_from_string(mode);
    options.soft_input = soft_input_from_string(soft_input);
    options.output = output_from_string(output);
    options.precision = sync_precision_from_string(precision);
    options.storage = sync_storage_from_string(storage);
    options.form = sync_form_from_string(form);
    options.exclusion = exclusion;
    options.change_first = mn_min;
    options.change_last = mn_max;
    options.lookahead = not_negative("lookahead", lookahead, from_0);
    options.acquire = not_negative("acquire", acquire, from_0);
    options.receiver = sync_receiver_from_string(receiver);
    options.insertion_cap = not_negative("insertion_cap", insertion_cap, from_0);
    options.state_threshold = state_threshold;
    options.lattice_threshold = lattice_threshold;
    options.start.first = start_first;
    if (!start_prior.empty()) {
        options.start.probability = start_prior;
    }
    options.end = { end_first, end_prior };
    options.batch = not_negative("batch", batch, from_0);
    options.slots = not_negative("slots", slots, "1 to 16 is allowed");
    options.max_latency_ms = max_latency_ms;
    options.where = backend_from_string(backend);
    options.devices = devices_of(device, devices);
    options.threads = not_negative("threads", threads, "1 to 256 is allowed");
    if (options.mode == sync_mode::framed && length_tag.empty()) {
        throw std::invalid_argument(
            "length_tag is \"\": a key is needed in framed mode, or mode \"stream\"");
    }
    return gnuradio::make_block_sptr<gpu_sync_map_impl>(options, length_tag);
}

gpu_sync_map_impl::gpu_sync_map_impl(const sync_options& options,
                                     const std::string& length_tag)
    : gr::block("gpu_sync_map",
                signature_of_input(options),
                gr::io_signature::make(1, 1, output_size(options))),
      d_options(options),
      d_stream(options.mode == sync_mode::stream),
      d_item_size(options.soft_input ? sizeof(float) : 1),
      d_symbol_items(symbol_items(options)),
      d_output_size(output_size(options)),
      d_prior_count(std::size_t(options.code.frame_symbols()) * options.code.q()),
      d_length_key(length_tag.empty() ? pmt::pmt_t() : pmt::mp(length_tag)),
      d_drift_key(pmt::mp("sync_drift")),
      d_logp_key(pmt::mp("sync_logp")),
      d_valid_key(pmt::mp("sync_valid")),
      d_lock_key(pmt::mp("sync_lock")),
      d_source(pmt::mp(alias())),
      d_frame(d_length_key,
              d_item_size,
              [this](const std::string& text) { d_logger->warn("{}", text); }),
      d_channel(options.channel),
      d_wake_port(*this)
{
    make_decoder();
    set_tag_propagation_policy(TPP_CUSTOM);
    const std::uint64_t output = d_symbol_items, input = options.code.n();
    const auto common = std::gcd(output, input);
    set_relative_rate(output / common, input / common);
}

void gpu_sync_map_impl::make_decoder()
{
    d_decoder.reset();
    d_decoder = std::make_unique<sync_decoder>(
        d_options, make_hooks<sync_decoder>(d_wake_port, d_logger));
    d_most_items = most_items(d_options, d_options.channel);
    d_frame.keep(d_most_items);
    publish_choices();
}

// Called before the flowgraph runs: priors cost memory and time where there are none.
bool gpu_sync_map_impl::check_topology(int ninputs, int)
{
    if (d_options.priors != (ninputs == 2)) {
        try {
            d_options.priors = ninputs == 2;
            make_decoder();
        } catch (const std::exception& error) {
            d_logger->error("with {} inputs: {}", ninputs, error.what());
            d_options.priors = !d_options.priors;
            make_decoder();
            return false;
        }
    }
    return true;
}

bool gpu_sync_map_impl::start()
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

void gpu_sync_map_impl::restart()
{
    d_decoder->reset();
    d_frame.clear();
    d_priors.clear();
    d_rest.clear();
    d_rest_given = 0;
    d_input_tags.clear();
    d_tags.clear();
    d_taken = d_given = d_pushed = 0;
    d_finished = false;
    d_failure.clear();
}

void gpu_sync_map_impl::apply_settings()
{
    if (const auto channel = d_channel.take()) {
        d_options.channel = *channel;
        d_most_items = std::max(d_most_items, most_items(d_options, *channel));
        d_frame.keep(d_most_items);
        d_decoder->set_channel(*channel);
    }
    std::lock_guard<std::mutex> guard(d_settings_mutex);
    if (d_new_max_latency_ms) {
        d_options.max_latency_ms = *d_new_max_latency_ms;
        d_decoder->set_max_latency_ms(*d_new_max_latency_ms);
        d_new_max_latency_ms.reset();
    }
}

gpu_sync_map_impl::input gpu_sync_map_impl::look_at(unsigned port,
                                                    const void* items) const
{
    // In this order: what had arrived when the input ended is available afterwards.
    const auto reader = detail()->input(port);
    gr::thread::scoped_lock guard(*reader->mutex());
    input in;
    in.items = static_cast<const std::byte*>(items);
    in.ended = reader->done();
    in.available = reader->items_available();
    return in;
}

// 0 where the block must be called without any.
int gpu_sync_map_impl::required_items() const
{
    const auto in = look_at(0, nullptr);
    return d_frame.complete() || (in.ended && in.available == 0) ? 0 : 1;
}

int gpu_sync_map_impl::required_priors() const
{
    const auto in = look_at(0, nullptr);
    const bool frame_there =
        d_frame.complete() || (d_frame.open() && in.ended && in.available == 0);
    const auto priors = look_at(1, nullptr);
    const bool more = priors.available > 0 || !priors.ended;
    return frame_there && d_priors.size() < d_prior_count && more;
}

void gpu_sync_map_impl::forecast(int, gr_vector_int& ninput_items_required)
{
    std::fill(ninput_items_required.begin(), ninput_items_required.end(), 0);
    try {
        apply_settings();
        if (!d_rest.empty() || d_finished || d_decoder->ready() || d_decoder->due()) {
            return;
        }
    } catch (const std::exception& error) {
        d_failure = error.what();
        return;
    }
    ninput_items_required[0] = required_items();
    if (d_options.priors) {
        ninput_items_required[1] = required_priors();
    }
}

int gpu_sync_map_impl::general_work(int noutput_items,
                                    gr_vector_int&,
                                    gr_vector_const_void_star& input_items,
                                    gr_vector_void_star& output_items)
{
    try {
        if (!d_failure.empty()) {
            throw device_error(d_failure);
        }
        apply_settings();
        return decode(
            noutput_items, input_items, static_cast<std::byte*>(output_items[0]));
    } catch (const std::exception& error) {
        // An exception would end this thread only, and its neighbours would wait for
        // ever.
        d_failure = error.what();
        d_logger->error("decoding stops here: {}", error.what());
        return WORK_DONE;
    }
}

int gpu_sync_map_impl::decode(std::size_t room,
                              const gr_vector_const_void_star& input_items,
                              std::byte* out)
{
    auto in = look_at(0, input_items[0]);
    input priors;
    if (d_options.priors) {
        priors = look_at(1, input_items[1]);
    }
    read_tags(in.available);
    std::size_t given = 0;
    for (;;) {
        const auto pulled = pull(out + given * d_output_size, room - given);
        given += pulled;
        const bool pushed = d_stream ? push_stream(in) : push_frames(in, priors);
        if (in.ended && in.left() == 0 && !d_frame.open() && !d_finished) {
            d_decoder->finish();
            d_finished = true;
            continue;
        }
        if (pulled > 0 || pushed) {
            continue;
        }
        const bool held_up =
            d_stream ? in.left() > 0 : d_frame.complete() && priors_known();
        const bool stuck = held_up || (d_finished && !d_decoder->done());
        const bool idle = in.taken + priors.taken + given == 0;
        if (!idle || !stuck || !d_decoder->wait(longest_sleep)) {
            break;
        }
    }

    consume(0, in.taken);
    if (d_options.priors) {
        consume(1, priors.taken);
    }
    d_taken += in.taken;
    d_tags.release(d_given + given, [this](tag_t tag) {
        tag.offset += nitems_written(0) - d_given;
        add_item_tag(0, tag);
    });
    d_given += given;
    publish_choices();
    if (d_finished && d_rest.empty() && d_decoder->done()) {
        produce(0, given); // WORK_DONE alone would throw it away
        return WORK_DONE;
    }
    return given;
}

// Gives items of one frame.
std::size_t gpu_sync_map_impl::pull(std::byte* out, std::size_t room)
{
    if (d_rest.empty()) {
        sync_decoder::frame f;
        if (room == 0 || !d_decoder->pull(f)) {
            return 0;
        }
        const auto first_item =
            f.number * d_options.code.frame_symbols() * d_symbol_items;
        hold_report(f, first_item);
        hold_input_tags(f, first_item);
        const auto* const bytes = static_cast<const std::byte*>(f.output);
        d_rest.assign(bytes, bytes + f.output_bytes);
        d_rest_given = 0;
    }
    const auto n = std::min(room * d_output_size, d_rest.size() - d_rest_given);
    std::memcpy(out, d_rest.data() + d_rest_given, n);
    d_rest_given += n;
    if (d_rest_given == d_rest.size()) {
        d_rest.clear();
    }
    return n / d_output_size;
}

// Whether something went on.
bool gpu_sync_map_impl::push_stream(input& in)
{
    const auto n = d_decoder->push(in.items + in.taken * d_item_size, in.left());
    for (const auto& tag : d_window) {
        const auto item = d_taken + in.taken;
        if (tag.offset >= item && tag.offset < item + n && !d_frame.is_length(tag)) {
            d_input_tags.push_back(tag);
        }
    }
    in.taken += n;
    return n > 0;
}

bool gpu_sync_map_impl::push_frames(input& in, input& priors)
{
    std::size_t taken = 0;
    if (!d_frame.complete()) {
        taken = gather(in);
        in.taken += taken;
    }
    if (in.ended && in.left() == 0) {
        d_frame.end();
    }
    const bool got_priors = d_options.priors && gather_priors(priors);
    return push_frame() || taken > 0 || got_priors;
}

// Takes items of one frame, or of none; says how many.
std::size_t gpu_sync_map_impl::gather(const input& in)
{
    const auto first = d_taken + in.taken, before = d_frame.count();
    const auto n =
        d_frame.gather(in.items + in.taken * d_item_size, first, in.left(), d_window);
    for (auto tag : d_window) {
        if (d_frame.open() && tag.offset >= first && tag.offset < first + n &&
            !d_frame.is_length(tag)) {
            const std::uint64_t N = d_options.code.frame_symbols();
            const auto symbol = (before + tag.offset - first) / d_options.code.n();
            tag.offset = d_pushed * N + std::min(symbol, N - 1);
            d_input_tags.push_back(tag);
        }
    }
    return n;
}

bool gpu_sync_map_impl::gather_priors(input& priors)
{
    const auto n = std::min(priors.left(), d_prior_count - d_priors.size());
    const auto* const from = reinterpret_cast<const float*>(priors.items) + priors.taken;
    d_priors.insert(d_priors.end(), from, from + n);
    priors.taken += n;
    d_priors_ended = priors.ended && priors.left() == 0;
    return n > 0;
}

// Whether the frame's weights are there, or will never be.
bool gpu_sync_map_impl::priors_known() const
{
    return !d_options.priors || d_priors.size() == d_prior_count || d_priors_ended;
}

// Pushes the frame if it is complete and the decoder takes it.
bool gpu_sync_map_impl::push_frame()
{
    if (!d_frame.complete() || !priors_known()) {
        return false;
    }
    const bool priors_there = d_options.priors && d_priors.size() == d_prior_count;
    if (d_options.priors && !priors_there) {
        if (!std::exchange(d_warned_of_priors, true)) {
            d_logger->warn("the weights of the symbols have ended: decoding without");
        }
    } else if (d_options.priors) {
        mend(d_priors, d_options.code.q());
    }
    const bool whole = d_frame.kept() == d_frame.count();
    const std::size_t beyond_limits = std::numeric_limits<std::int32_t>::max();
    if (!d_decoder->push_frame(d_frame.items(),
                               whole ? d_frame.count() : beyond_limits,
                               priors_there ? d_priors.data() : nullptr)) {
        return false;
    }
    ++d_pushed;
    d_frame.clear();
    d_priors.clear();
    return true;
}

void gpu_sync_map_impl::read_tags(std::size_t available)
{
    d_window.clear();
    get_tags_in_range(d_window, 0, nitems_read(0), nitems_read(0) + available);
    tag_queue::sort(d_window);
    for (auto& tag : d_window) {
        tag.offset = tag.offset - nitems_read(0) + d_taken;
    }
}

void gpu_sync_map_impl::hold_report(const sync_decoder::frame& f,
                                    std::uint64_t first_item)
{
    const auto hold = [&](const pmt::pmt_t& key, const pmt::pmt_t& value) {
        tag_t tag;
        tag.offset = first_item;
        tag.key = key;
        tag.value = value;
        tag.srcid = d_source;
        d_tags.hold(tag);
    };
    const auto& s = f.status;
    hold(d_drift_key, pmt::from_long(s.end_drift - s.start_drift));
    hold(d_logp_key, pmt::from_double(s.log_probability));
    hold(d_valid_key, pmt::from_bool(s.valid));
    if (d_stream) {
        hold(d_lock_key, pmt::from_bool(f.locked));
    }
    if (d_length_key) {
        const auto length = d_options.code.frame_symbols() * d_symbol_items;
        hold(d_length_key, pmt::from_long(length));
    }
}

void gpu_sync_map_impl::hold_input_tags(const sync_decoder::frame& f,
                                        std::uint64_t first_item)
{
    const std::int64_t n = d_options.code.n(), N = d_options.code.frame_symbols();
    const std::int64_t begin = d_stream ? f.begin : f.number * N;
    const std::int64_t size =
        d_stream ? n * N + f.status.end_drift - f.status.start_drift : N;
    while (!d_input_tags.empty()) {
        auto tag = d_input_tags.front();
        const std::int64_t at = std::int64_t(tag.offset) - begin;
        if (at >= size) {
            break;
        }
        const auto symbol = std::clamp<std::int64_t>(d_stream ? at / n : at, 0, N - 1);
        tag.offset = first_item + symbol * d_symbol_items;
        d_tags.hold(tag);
        d_input_tags.pop_front();
    }
}

void gpu_sync_map_impl::publish_choices()
{
    std::lock_guard<std::mutex> guard(d_settings_mutex);
    d_active_backend = d_decoder->active_backend();
    d_batch = d_decoder->batch();
}

std::string gpu_sync_map_impl::active_backend() const
{
    std::lock_guard<std::mutex> guard(d_settings_mutex);
    return d_active_backend;
}

int gpu_sync_map_impl::batch() const
{
    std::lock_guard<std::mutex> guard(d_settings_mutex);
    return d_batch;
}

void gpu_sync_map_impl::set_max_latency_ms(double max_latency_ms)
{
    check_number("max_latency_ms",
                 max_latency_ms,
                 std::isfinite(max_latency_ms) && max_latency_ms >= 0,
                 "finite values from 0 are allowed");
    {
        std::lock_guard<std::mutex> guard(d_settings_mutex);
        d_new_max_latency_ms = max_latency_ms;
    }
    d_wake_port.wake();
}

} // namespace gr::gpufec
