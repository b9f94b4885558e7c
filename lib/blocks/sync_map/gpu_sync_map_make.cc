// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The factory and the constructor of gpu_sync_map, which check the block's options and
 * make its decoder, and changes of the channel. */

#include "gpu_sync_map_impl.h"
#include <cmath>

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

sync_options decoder_options(const gpu_sync_map_options& given)
{
    const auto code = sync_code_of(given);
    sync_options options(
        code, { given.p_insert, given.p_delete, given.p_substitute, code.alphabet() });
    options.mode = given.mode;
    options.soft_input = given.soft_input == sync_input::float32;
    options.output = given.output;
    options.precision = given.precision;
    options.storage = given.storage;
    options.form = given.form;
    options.exclusion = given.exclusion;
    options.change_first = given.mn_min;
    options.change_last = given.mn_max;
    options.lookahead = not_negative("lookahead", given.lookahead);
    options.acquire = not_negative("acquire", given.acquire);
    options.frame_items = not_negative("frame_items", given.frame_items);
    options.receiver = given.receiver;
    options.insertion_cap = not_negative("insertion_cap", given.insertion_cap);
    options.state_threshold = given.state_threshold;
    options.lattice_threshold = given.lattice_threshold;
    options.start.first = given.start_first;
    if (!given.start_prior.empty()) {
        options.start.probability = given.start_prior;
    }
    options.end = { given.end_first, given.end_prior };
    options.positive_bit = not_negative("positive_bit", given.positive_bit, "0 and 1");
    set_run_options(options, given);
    return options;
}

// Checks the options that the block refuses although the decoder accepts them.
// \throws std::invalid_argument
void check(const gpu_sync_map_options& given)
{
    if (given.output == sync_output::posteriors64) { // available only in the library
        refuse("output",
               "\"posteriors64\"",
               "allowed values are symbols, posteriors, extrinsics and llr");
    }
    if (given.mode == sync_mode::framed && given.length_tag.empty() &&
        given.frame_items == 0) {
        refuse("length_tag",
               "\"\"",
               "mode \"framed\" requires a key, unless frame_items is above 0");
    }
}

} // namespace

sync_input sync_input_from_string(const std::string& name)
{
    return choose<sync_input>(
        "soft_input",
        name,
        { { "hard", sync_input::hard }, { "float", sync_input::float32 } });
}

gpu_sync_map::sptr gpu_sync_map::make(const gpu_sync_map_options& given)
{
    const auto options = decoder_options(given);
    check(given);
    return gnuradio::make_block_sptr<gpu_sync_map_impl>(
        options,
        given.frame_items ? "" : given.length_tag,
        given.bounds,
        given.status_tags,
        given.io);
}

gpu_sync_map_impl::gpu_sync_map_impl(const sync_options& options,
                                     const std::string& length_tag,
                                     bool bounds,
                                     status_tags tags,
                                     port_memory io)
    : gr::block("gpu_sync_map",
                input_port(io, options.item_bytes(), options.mode == sync_mode::framed),
                output_port(io, output_size(options))),
      decoder_block(options.item_bytes(), output_size(options), io, options.devices[0]),
      d_options(options),
      d_stream(options.mode == sync_mode::stream),
      d_bounds(bounds),
      d_symbol_items(symbol_items(options)),
      d_frame_output(options.code.frame_symbols() * d_symbol_items),
      d_prior_count(std::size_t(options.code.frame_symbols()) * options.code.q()),
      d_status_tags(tags),
      d_length_key(length_tag.empty() ? pmt::pmt_t() : pmt::mp(length_tag)),
      d_drift_key(pmt::mp("sync_drift")),
      d_logp_key(pmt::mp("sync_logp")),
      d_valid_key(pmt::mp("sync_valid")),
      d_lock_key(pmt::mp("sync_lock")),
      d_bound_key(pmt::mp("sync_bound")),
      d_length_value(pmt::from_long(d_frame_output)),
      d_frame(d_length_key,
              d_input_size,
              [this](const std::string& text) { d_logger->warn("{}", text); }),
      d_channel(options.channel)
{
    d_frame.set_length(options.frame_items);
    make_decoder();
    set_exact_rate(d_symbol_items, options.code.n());
}

void gpu_sync_map_impl::make_decoder()
{
    d_decoder.reset();
    auto options = d_options;
    options.max_latency_ms = max_latency_ms();
    if (options.priors) {
        options.frame_items = 0; // d_frame then divides the input
    }
    d_decoder = sync_decoder::make(options, hooks());
    publish_choices();
}

// Enables priors only if the second input is connected, because priors cost memory and
// time.
bool gpu_sync_map_impl::check_topology(int ninputs, int noutputs)
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
    return ninputs == 2 || decoder_block::check_topology(ninputs, noutputs);
}

void gpu_sync_map_impl::set_channel(void (channel_setting::*set)(double), double p)
{
    (d_channel.*set)(p);
    change("channel", [this] { take_channel(); });
}

void gpu_sync_map_impl::take_channel()
{
    if (const auto channel = d_channel.take()) {
        d_options.channel = *channel;
        d_decoder->set_channel(*channel);
    }
}

} // namespace gr::gpufec
