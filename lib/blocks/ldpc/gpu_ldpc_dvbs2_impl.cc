// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gpu_ldpc_dvbs2_impl.h"
#include "ldpc_code_of.h"
#include "pmt_text.h"
#include <gnuradio/io_signature.h>
#include <algorithm>
#include <cmath>

namespace gr::gpufec {

namespace {

std::size_t item_size(llr_format format)
{
    return format == llr_format::float32 ? sizeof(float) : 1;
}

std::string rate_of(const std::string& code) { return code.substr(code.rfind(' ') + 1); }
std::string size_of(const std::string& code) { return code.substr(0, code.rfind(' ')); }

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
    void add_others(const std::string& standard,
                    const std::string& frame_size,
                    const std::string& but_rate)
    {
        for (const auto& rate : ldpc_code::rates(standard, frame_size)) {
            if (rate != but_rate) {
                add(frame_size + " " + rate,
                    ldpc_code::standard(standard, frame_size, rate));
            }
        }
    }
};

void check_llr_scale(float scale)
{
    require(
        std::isfinite(scale) && scale > 0, "llr_scale", scale, "finite values above 0");
}

// Of the first frame first; of other rates too, and by tags all there are.
std::vector<ldpc_constellation>
constellations_of(const std::string& standard, const ldpc_constellation& first, bool acm)
{
    std::vector<ldpc_constellation> all{ first };
    for (const auto& m : demap::modcods()) {
        const bool wanted =
            demap::is_of(m, standard) &&
            (acm || (m.name == first.name && m.frame_size == first.frame_size));
        if (wanted && !(m.name == first.name && m.rate == first.rate &&
                        m.frame_size == first.frame_size)) {
            all.push_back({ m.name, m.rate, m.frame_size });
        }
    }
    return all;
}

void check_esn0_db(double esn0_db)
{
    require(esn0_db >= -10 && esn0_db <= 30, "esn0_db", esn0_db, "-10 to 30 dB");
}

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
                     const std::vector<int>& devices,
                     int positive_bit,
                     double device_timeout_ms,
                     const std::vector<int>& punctured,
                     const std::vector<int>& shortened,
                     const std::string& status_tags,
                     bool descramble,
                     const std::string& constellation,
                     const std::string& esn0,
                     double esn0_db,
                     const std::string& demapper)
{
    auto symbols = ldpc_symbols::none;
    std::size_t item_bytes = 0;
    enum class source { estimated, given, tag };
    const auto noise = choose<source>("esn0",
                                      esn0,
                                      { { "estimated", source::estimated },
                                        { "given", source::given },
                                        { "tag", source::tag } });
    const auto how = choose<ldpc_demapper>(
        "demapper",
        demapper,
        { { "max_log", ldpc_demapper::max_log }, { "log_map", ldpc_demapper::log_map } });
    check_esn0_db(esn0_db);
    if (soft_input.rfind("symbols", 0) == 0) {
        symbols = choose<ldpc_symbols>("soft_input",
                                       soft_input,
                                       { { "int8", ldpc_symbols::none },
                                         { "float", ldpc_symbols::none },
                                         { "symbols", ldpc_symbols::float32 },
                                         { "symbols16", ldpc_symbols::int16 },
                                         { "symbols8", ldpc_symbols::int8 } });
        if ((standard != "dvbs2" && standard != "dvbs2x") || !code_file.empty() ||
            !named_codes.empty() || !punctured.empty() || !shortened.empty()) {
            refuse("soft_input",
                   '"' + soft_input + '"',
                   "only the codes of dvbs2 and dvbs2x as they are have symbols");
        }
        // These refuse what is none.
        ldpc_code::standard(standard, frame_size, rate);
        demap::make_constellation(constellation, rate, frame_size, standard);
        item_bytes = symbols == ldpc_symbols::float32 ? 8
                     : symbols == ldpc_symbols::int16 ? 4
                                                      : 2;
    }
    enum class kind { message, codeword, bbframe, llr, extrinsic };
    const auto given = choose<kind>("output",
                                    output,
                                    { { "message", kind::message },
                                      { "codeword", kind::codeword },
                                      { "bbframe", kind::bbframe },
                                      { "llr", kind::llr },
                                      { "extrinsic", kind::extrinsic } });
    const bool bbframe = given == kind::bbframe;
    const bool as_it_is = code_file.empty() && named_codes.empty() && punctured.empty() &&
                          shortened.empty();
    if (bbframe && !(as_it_is && has_bch(standard, frame_size))) {
        refuse("output", "\"bbframe\"", "only codes of DVB as they are have BBFRAMEs");
    }
    code_list list;
    list.add(code_file.empty() ? frame_size + " " + rate : code_file,
             ldpc_code_of(standard, frame_size, rate, code_file, punctured, shortened));
    const bool many = standard != "nr"; // which has too many
    if (code_file.empty() && many) {
        list.add_others(standard, frame_size, rate);
    }
    if (acm && many) {
        for (const auto& size : ldpc_code::frame_sizes(standard)) {
            const bool wanted =
                (!bbframe || has_bch(standard, size)) &&
                (symbols == ldpc_symbols::none || size == "normal" || size == "short");
            if (wanted && (!code_file.empty() || size != frame_size)) {
                list.add_others(standard, size, "");
            }
        }
    }
    for (const auto& named : named_codes) {
        list.add(named.first, ldpc_code::from_file(named.second));
    }

    ldpc_options options;
    options.codes = list.codes;
    std::optional<symbol_input> input;
    if (symbols == ldpc_symbols::none) {
        options.format = llr_format_from_string(soft_input);
    } else {
        options.symbols = symbols;
        options.demapper = how;
        options.constellations =
            constellations_of(standard, { constellation, rate, frame_size }, acm);
        input.emplace(options.constellations,
                      noise == source::estimated ? std::nan("") : esn0_db);
    }
    options.llr_scale = llr_scale; // of symbols that of LLRs that are given
    options.algorithm = ldpc_algorithm_from_string(algorithm);
    options.precision = ldpc_precision_from_string(precision);
    options.schedule = ldpc_schedule_from_string(schedule);
    options.max_iterations = not_negative("max_iterations", max_iterations, "1 to 1000");
    options.early_stop = early_stop;
    options.codeword = given == kind::codeword;
    options.soft = given == kind::llr         ? ldpc_soft_output::posterior
                   : given == kind::extrinsic ? ldpc_soft_output::extrinsic
                                              : ldpc_soft_output::none;
    options.keep_soft = llr_pdu;
    options.offset = offset;
    options.normalization = normalization;
    options.positive_bit = not_negative("positive_bit", positive_bit, "0 and 1");
    options.lend_bits = !packed_output;
    set_run_options(options,
                    batch,
                    slots,
                    max_latency_ms,
                    backend,
                    device,
                    devices,
                    threads,
                    device_timeout_ms);
    std::optional<bbframe_output> bbframes;
    if (bbframe) {
        bbframes.emplace(standard, list.names, packed_output, descramble);
    }
    return gnuradio::make_block_sptr<gpu_ldpc_dvbs2_impl>(
        options,
        list.names,
        packed_output,
        acm,
        status_tags_from_string(status_tags),
        std::move(bbframes),
        std::move(input),
        item_bytes ? item_bytes : item_size(options.format),
        noise == source::tag);
}

gpu_ldpc_dvbs2_impl::gpu_ldpc_dvbs2_impl(const ldpc_options& options,
                                         const std::vector<std::string>& names,
                                         bool packed_output,
                                         bool acm,
                                         status_tags tags,
                                         std::optional<bbframe_output> bbframes,
                                         std::optional<symbol_input> symbols,
                                         std::size_t item_bytes,
                                         bool esn0_by_tags)
    : gr::block("gpu_ldpc_dvbs2",
                gr::io_signature::make(1, 1, item_bytes),
                gr::io_signature::make(1, 1, sizeof(std::uint8_t))),
      decoder_block(item_bytes, sizeof(std::uint8_t)),
      d_options(options),
      d_index(index_of(names)),
      d_soft(options.soft != ldpc_soft_output::none),
      d_packed(packed_output && !d_soft),
      d_acm(acm),
      d_status_tags(tags),
      d_iterations_key(pmt::mp("ldpc_iterations")),
      d_valid_key(pmt::mp("ldpc_valid")),
      d_weight_key(pmt::mp("ldpc_syndrome_weight")),
      d_bch_errors_key(pmt::mp("bch_errors")),
      d_bch_valid_key(pmt::mp("bch_valid")),
      d_length_key(pmt::mp("bbframe_length")),
      d_skipped_key(pmt::mp("ldpc_skipped")),
      d_xfecframe_key(pmt::mp("XFECFRAME")),
      d_code_key(pmt::mp("ldpc_code")),
      d_llr_port(pmt::mp("llr_pdu")),
      d_names(names),
      d_bbframes(std::move(bbframes)),
      d_symbols(std::move(symbols)),
      d_esn0_key(d_symbols && esn0_by_tags ? pmt::mp("esn0_db") : pmt::pmt_t()),
      d_decoder(options, hooks())
{
    publish_choices();
    message_port_register_out(d_llr_port);
    set_exact_rate(output_items(0), d_decoder.frame_items());
    if (d_symbols) {
        d_decoder.set_esn0_db(d_symbols->esn0_db());
    }
}

void gpu_ldpc_dvbs2_impl::restart()
{
    if (d_symbols) {
        d_symbols->restart();
        select({ d_names[d_acm ? 0 : d_code], d_symbols->first() });
        d_decoder.set_esn0_db(d_symbols->esn0_db());
    } else {
        d_decoder.select(d_acm ? 0 : d_code);
    }
    d_code_tags.clear();
    forget_obeyed();
    d_frame_tags.clear();
    d_frame_output = 0;
    d_skip = 0;
    d_lost = false;
    d_skipped = d_skipped_before = 0;
    d_frames = 0;
    if (d_bbframes) {
        d_bbframes->restart();
    }
}

void gpu_ldpc_dvbs2_impl::require_items(gr_vector_int& required)
{
    if (all_given()) {
        decoder_block::require_items(required);
    }
}

std::size_t
gpu_ldpc_dvbs2_impl::pull(std::byte* out, std::size_t room, std::uint64_t first)
{
    auto* const to = reinterpret_cast<std::uint8_t*>(out);
    std::size_t given = 0;
    std::optional<ldpc_decoder::report> last;
    double iterations = 0;
    const auto before = d_frames;
    while (given < room) {
        std::optional<ldpc_decoder::report> begun;
        const auto n = pull_frame(to + given, room - given, begun);
        if (n == 0) {
            break;
        }
        if (begun) {
            add_report(first + given, *begun);
            if (d_options.keep_soft) {
                send_llrs(*begun);
            }
            iterations += begun->iterations;
            ++d_frames;
            last = begun;
        }
        given += n;
    }
    if (last) {
        const auto mean = before ? d_mean_iterations.load() : 0;
        d_iterations = last->iterations;
        d_mean_iterations = mean + (iterations - mean * (d_frames - before)) / d_frames;
    }
    return given;
}

// Of one frame only.
std::size_t gpu_ldpc_dvbs2_impl::pull_frame(std::uint8_t* out,
                                            std::size_t room,
                                            std::optional<ldpc_decoder::report>& begun)
{
    std::size_t n = 0;
    if (d_bbframes && !d_bbframes->all_given()) {
        return d_bbframes->pull(out, room);
    }
    if (d_bbframes) {
        auto& message = d_bbframes->message(); // has room for all of it
        n = d_decoder.pull_packed(message.data(), message.size());
    } else if (d_soft) {
        n = d_decoder.pull_llrs(reinterpret_cast<std::int8_t*>(out), room);
    } else {
        n = d_packed ? d_decoder.pull_packed(out, room) : d_decoder.pull_bits(out, room);
    }
    ldpc_decoder::report report;
    if (n > 0 && d_decoder.take_report(report)) {
        begun = report;
        if (d_bbframes) {
            d_bbframes->decode(report.code);
            n = d_bbframes->pull(out, room);
        }
    }
    return n;
}

void gpu_ldpc_dvbs2_impl::send_llrs(const ldpc_decoder::report& report)
{
    const auto& llr = d_decoder.llrs();
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
    const bool correct = d_bbframes ? d_bbframes->errors() >= 0 : valid;
    if (d_bbframes && d_acm) {
        add_tag(item, d_length_key, pmt::from_long(output_items(report.code)));
    }
    if (d_status_tags == status_tags::none ||
        (d_status_tags == status_tags::failures && correct)) {
        return;
    }
    add_tag(item, d_iterations_key, pmt::from_long(report.iterations));
    add_tag(item, d_valid_key, pmt::from_bool(valid));
    if (!valid) {
        add_tag(item, d_weight_key, pmt::from_long(report.unsatisfied));
    }
    if (d_bbframes) {
        add_tag(item, d_bch_errors_key, pmt::from_long(d_bbframes->errors()));
        add_tag(item, d_bch_valid_key, pmt::from_bool(correct));
    }
}

// Takes items of frames of one code, or such that are skipped.
bool gpu_ldpc_dvbs2_impl::push(input& in, input&)
{
    const auto item = next_item(in);
    auto limit = item + in.left();
    obey_tags_at(item);
    if (d_repeated < d_code_tags.size()) {
        limit = std::min(limit, d_code_tags[d_repeated].offset);
    }
    return d_lost || d_skip > 0 ? skip(in, limit - item) : push_frames(in, limit - item);
}

bool gpu_ldpc_dvbs2_impl::skip(input& in, std::size_t count)
{
    const auto item = next_item(in);
    const auto most = d_lost ? count : std::min<std::uint64_t>(d_skip, count);
    const auto n = pass_over(in, [&] { return d_decoder.skip(most); });
    d_skip -= d_lost ? 0 : n;
    d_input_tags.release(item + n, [](const held_tag&) {});
    return n > 0;
}

// A frame that has begun is completed by itself: settings may wait for its end.
bool gpu_ldpc_dvbs2_impl::push_frames(input& in, std::size_t count)
{
    const auto item = next_item(in);
    const auto code = d_decoder.selected();
    const auto bits = std::size_t(d_decoder.code(code).sent());
    const auto n = d_decoder.frame_items(), before = have();
    const auto pushed = take(in,
                             before > 0 ? std::min(count, n - before) : count,
                             [this](const std::byte* items, std::size_t most) {
                                 return d_decoder.push(items, most);
                             });
    if (pushed == 0) {
        return false;
    }
    // Tags are held until their frame is complete: it may yet be dropped.
    const auto complete = (before + pushed) / n;
    if (complete > 0) {
        tag_skipped();
        for (auto& tag : d_frame_tags) {
            d_tags.hold(std::move(tag));
        }
        d_frame_tags.clear();
    }
    d_input_tags.release(item + pushed, [&](held_tag tag) {
        const auto at = before + (tag.offset - item);
        const auto frame = at / n;
        const auto bit = d_symbols ? d_symbols->bit_of(at % n, bits) : at % n;
        tag.offset =
            d_frame_output + frame * output_items(code) + output_in_frame(code, bit);
        if (frame < complete) {
            d_tags.hold(std::move(tag));
        } else {
            d_frame_tags.push_back(std::move(tag));
        }
    });
    d_frame_output += complete * output_items(code);
    if (complete > 0) {
        apply_settings();
    }
    return true;
}

// Says of the next frame to leave how many are missing before it.
void gpu_ldpc_dvbs2_impl::tag_skipped()
{
    const auto missing = d_skipped - d_skipped_before;
    if (missing > 0 && d_status_tags != status_tags::none) {
        hold_tag(d_frame_output, d_skipped_key, pmt::from_long(long(missing)));
    }
    d_skipped_before = d_skipped;
}

// Items of the frame that has begun.
std::size_t gpu_ldpc_dvbs2_impl::have() const
{
    const auto missing = d_decoder.missing();
    return missing ? d_decoder.frame_items() - missing : 0;
}

std::size_t gpu_ldpc_dvbs2_impl::output_items(unsigned code) const
{
    const auto bits = d_bbframes ? d_bbframes->bits(code) : d_decoder.output_bits(code);
    return d_packed ? (bits + 7) / 8 : bits;
}

// The output item, counted in its frame, with a bit of a frame.
std::uint64_t gpu_ldpc_dvbs2_impl::output_in_frame(unsigned code,
                                                   std::uint64_t in_frame) const
{
    const auto& sent = d_decoder.code(code).sent_positions();
    if (!sent.empty()) { // what is filled in comes after all others
        in_frame = std::min(sent[in_frame], d_decoder.code(code).n() - 1);
    }
    auto bit = in_frame;
    if (!d_options.codeword && !d_soft) {
        const auto& message = d_decoder.code(code).message_positions();
        const auto next = std::upper_bound(message.begin(), message.end(), in_frame);
        bit = next == message.begin() ? 0 : next - message.begin() - 1;
    }
    if (d_bbframes) { // the parity bits of BCH are not given
        bit = std::min<std::uint64_t>(bit, d_bbframes->bits(code) - 1);
    }
    return d_packed ? bit / 8 : bit;
}

bool gpu_ldpc_dvbs2_impl::note(const tag_t& tag)
{
    const bool names_code =
        pmt::eqv(tag.key, d_xfecframe_key) || pmt::eqv(tag.key, d_code_key);
    const bool gives_esn0 = d_esn0_key && pmt::eqv(tag.key, d_esn0_key);
    if ((d_acm && names_code) || gives_esn0) {
        d_code_tags.hold(tag);
    }
    return false; // it goes on with the others
}

void gpu_ldpc_dvbs2_impl::obey_tags_at(std::uint64_t item)
{
    d_code_tags.release(item + 1, [&](const held_tag& tag) {
        if (d_repeated > 0) {
            --d_repeated;
        } else if (tag.offset == item) {
            obey(tag);
        }
    });
    // Tags that only say again of the next frames what holds need not part them.
    const auto repeats = [&](const held_tag& tag) {
        return (tag.offset - item + have()) % d_decoder.frame_items() == 0 &&
               pmt::eqv(tag.key, d_obeyed->key) && pmt::equal(tag.value, d_obeyed->value);
    };
    while (d_obeyed && d_repeated < d_code_tags.size() &&
           repeats(d_code_tags[d_repeated])) {
        ++d_repeated;
    }
}

void gpu_ldpc_dvbs2_impl::obey(const held_tag& tag)
{
    if (d_esn0_key && pmt::eqv(tag.key, d_esn0_key)) {
        if (pmt::is_real(tag.value) || pmt::is_integer(tag.value)) {
            d_symbols->set_esn0_db(pmt::to_double(tag.value));
            d_decoder.set_esn0_db(d_symbols->esn0_db());
        }
        return;
    }
    d_skipped += have() > 0;
    if (have() > 0 || d_skip > 0) {
        warn_once(d_warned_of_place,
                  "a tag names a code inside a frame, which is dropped: " +
                      pmt_text(tag.value));
    }
    d_decoder.drop_incomplete();
    d_frame_tags.clear();
    d_skip = 0;
    d_lost = false;
    const auto kind = pmt::eqv(tag.key, d_xfecframe_key) ? kind_of_xfecframe(tag.value)
                                                         : kind_of_ldpc_code(tag.value);
    forget_obeyed();
    if (kind && select(*kind)) {
        d_obeyed = tag;
        return;
    }
    d_skip = !kind ? 0 : d_symbols ? kind->skip_symbols : kind->skip_bits;
    d_lost = d_skip == 0;
    ++d_skipped;
    warn_once(
        d_warned_of_code,
        "a tag names no code that is known: " + pmt_text(tag.key) + " " +
            pmt_text(tag.value) +
            (d_lost ? "; dropping input up to the next tag" : "; skipping frames of it"));
}

// The next tag that names a code may change something.
void gpu_ldpc_dvbs2_impl::forget_obeyed()
{
    d_obeyed.reset();
    d_repeated = 0;
}

// False if there is no such code, or none with such symbols.
bool gpu_ldpc_dvbs2_impl::select(const frame_kind& kind)
{
    const auto code = d_index.find(kind.code);
    if (code == d_index.end()) {
        return false;
    }
    unsigned constellation = 0;
    if (d_symbols) {
        const auto found =
            d_symbols->find({ kind.constellation.empty() ? d_symbols->constellation()
                                                         : kind.constellation,
                              rate_of(kind.code),
                              size_of(kind.code) });
        if (!found) {
            return false;
        }
        constellation = *found;
        d_symbols->select(constellation);
    }
    d_decoder.select(code->second, constellation);
    return true;
}

void gpu_ldpc_dvbs2_impl::set_code(const std::string& name)
{
    const auto code = d_index.find(name);
    if (code == d_index.end()) {
        std::string known;
        for (const auto& i : d_index) {
            known += (known.empty() ? "" : ", ") + i.first;
        }
        refuse("code", '"' + name + '"', "allowed are " + known);
    }
    if (d_symbols && !d_acm) {
        d_symbols->require_one(
            { d_symbols->constellation(), rate_of(name), size_of(name) });
    }
    change_when("code", [this, name, index = code->second] {
        if (d_symbols && d_decoder.missing() > 0) {
            return false; // a frame has one code
        }
        d_code = index;
        forget_obeyed();
        return !d_symbols ? d_decoder.select(index), true : (select({ name, "" }), true);
    });
}

void gpu_ldpc_dvbs2_impl::set_llr_scale(float llr_scale)
{
    check_llr_scale(llr_scale);
    change_when("llr_scale", [this, llr_scale] {
        if (d_decoder.missing() > 0) {
            return false; // a frame has one scale
        }
        d_decoder.set_llr_scale(llr_scale);
        return true;
    });
}

void gpu_ldpc_dvbs2_impl::set_esn0_db(double esn0_db)
{
    check_esn0_db(esn0_db);
    change("esn0_db", [this, esn0_db] {
        if (d_symbols && d_symbols->level_is_given()) {
            d_symbols->set_esn0_db(esn0_db);
            d_decoder.set_esn0_db(esn0_db);
        }
    });
}

} // namespace gr::gpufec
