// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* How channel values become codewords of a batch, and their decisions bits again. */

#include "frame_batch.h"
#include "input_format.h"
#include "pipeline/packed_bits.h"
#include "pipeline/stream_decoder.h"
#include "room.h"
#include "sent_values.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <optional>

namespace gr::gpufec {

using namespace ldpc;

namespace {

void check_scale(float scale, const char* name = "llr_scale")
{
    require(std::isfinite(scale) && scale > 0, name, scale, "finite values above 0");
}

} // namespace

class ldpc_decoder::impl : public stream_decoder<room>
{
public:
    impl(const ldpc_options& options, decoder_hooks hooks)
        : stream_decoder(options, std::move(hooks), 1, item_bytes_of(options)),
          d_options(options),
          d_formats(options.codes.size())
    {
        check_scale(options.llr_scale);
        require(std::isfinite(options.soft_scale) && options.soft_scale >= 0,
                "soft_scale",
                options.soft_scale,
                "finite values from 0");
        open(make_setup(options));
        d_filling.emplace(*d_setup, d_pipeline->active().limits());
        std::size_t largest = 0, spread = 0;
        for (const auto& code : options.codes) {
            largest = std::max(largest, code.sent() * d_setup->raw_value_bytes());
            if (!code.sent_positions().empty()) {
                spread = std::max(spread, code.sent() * d_setup->value_bytes());
            }
        }
        if (symbols()) {
            largest = d_pipeline->active().limits().raw_bytes / d_batch;
        }
        d_partial.resize(largest);
        d_steps.resize(spread);
    }

    void select(unsigned code, unsigned constellation)
    {
        const auto check = [](const char* what, auto index, auto count) {
            if (index >= count) {
                throw std::out_of_range(what + (' ' + std::to_string(index)) + " of " +
                                        std::to_string(count));
            }
        };
        check("code", code, d_options.codes.size());
        if (symbols()) {
            check("constellation", constellation, d_setup->constellation_of.size());
            constellation = d_setup->constellation_of[constellation];
        }
        d_next = { code, constellation, d_next.level };
    }

    void set_esn0_db(double esn0_db)
    {
        d_next.level = std::isnan(esn0_db) ? demap::estimated : demap::level_of(esn0_db);
    }

    unsigned selected() const { return now().code; }
    std::size_t frame_items() const { return items_of(now()); }
    std::size_t missing() const { return d_have ? items_of(d_kind) - d_have : 0; }

    std::size_t push(const void* values, std::size_t count)
    {
        std::size_t taken = 0;
        advance();
        while (taken < count && d_pipeline->filling()) {
            if (d_have == 0) {
                d_kind = d_next;
            }
            const auto& code = d_options.codes[d_kind.code];
            const auto n = items_of(d_kind);
            const auto m = std::min(count - taken, n - d_have);
            // Whole frames go to the slot at once; pieces of one are gathered first, and
            // what is sent of a codeword.
            if (m == n && code.sent_positions().empty()) {
                taken += add_frames(values, taken, n, (count - taken) / n);
                continue;
            }
            const auto size = d_setup->raw_value_bytes();
            std::memcpy(d_partial.data() + d_have * size,
                        static_cast<const std::byte*>(values) + taken * size,
                        m * size);
            taken += m;
            d_have += m;
            if (d_have == n) {
                d_have = 0;
                if (code.sent_positions().empty()) {
                    add_frames(d_partial.data(), 0, n, 1);
                    continue;
                }
                format().convert(d_partial.data(), 0, n, d_steps.data());
                spread_sent(code, *d_setup, d_steps.data(), place_of_frame());
                if (d_filling->full()) {
                    advance();
                }
            }
        }
        advance();
        return taken;
    }

    bool can_lend() const override
    {
        return stream_decoder::can_lend() && whole_codewords();
    }

    std::size_t skip(std::size_t count)
    {
        advance();
        if (!lending()) {
            return count;
        }
        if (room_lent() == 0 && d_pipeline->filling()) {
            send(*d_pipeline->filling());
        }
        const auto n = std::min(count, room_lent());
        d_input.took(n);
        forget_unneeded();
        return n;
    }

    void drop_incomplete()
    {
        d_have = 0;
        forget_unneeded();
    }

    void finish() override
    {
        drop_incomplete();
        stream_decoder::finish();
    }

    std::size_t pull_packed(std::uint8_t* out, std::size_t bytes)
    {
        require_bits(true);
        return pull(bytes, true, [out](const std::uint8_t* from, auto first, auto n) {
            std::memcpy(out, from + first, n);
        });
    }

    std::size_t pull_bits(std::uint8_t* out, std::size_t bits)
    {
        require_bits(true);
        return pull(bits, false, [out](const std::uint8_t* from, auto first, auto n) {
            unpack_bits(from, first, n, out);
        });
    }

    std::size_t pull_llrs(std::int8_t* out, std::size_t count)
    {
        require_bits(false);
        return pull(count, false, [out](const std::uint8_t* from, auto first, auto n) {
            std::memcpy(out, from + first, n);
        });
    }

    bool soft() const { return d_options.soft != ldpc_soft_output::none; }

    std::size_t output_bits(unsigned code) const
    {
        return output_bits(d_options.codes.at(code));
    }
    std::size_t output_bits(const ldpc_code& code) const
    {
        return d_options.codeword || soft() ? code.n() : code.k();
    }

    void set_llr_scale(float scale)
    {
        check_scale(scale);
        d_options.llr_scale = scale;
        for (auto& f : d_formats) {
            f.reset();
        }
    }

    void set_soft_scale(float scale)
    {
        check_scale(scale, "soft_scale");
        d_options.soft_scale = scale;
    }

    ldpc_options d_options;
    std::optional<report> d_report;
    std::vector<std::uint8_t> d_codeword; // of the frame it is about
    std::vector<std::int8_t> d_llrs;      // likewise

private:
    void require_bits(bool bits) const
    {
        if (soft() == bits) {
            throw std::logic_error(bits ? "the options of this decoder ask for LLRs"
                                        : "the options of this decoder ask for bits");
        }
    }

    // What there is to know of a frame.
    struct frame_kind {
        unsigned code = 0;
        unsigned constellation = 0; // of symbols, as its Es/N0
        int level = demap::estimated;
    };

    static std::size_t item_bytes_of(const ldpc_options& o)
    {
        switch (o.symbols) {
        case ldpc_symbols::none:
            return o.format == llr_format::float32 ? sizeof(float) : 1;
        case ldpc_symbols::float32:
            return 2 * sizeof(float);
        case ldpc_symbols::int16:
            return 4;
        default:
            return 2;
        }
    }

    bool symbols() const { return d_options.symbols != ldpc_symbols::none; }

    // What is sent of a codeword is not yet spread when its batch is decoded.
    bool whole_codewords() const
    {
        return std::all_of(
            d_options.codes.begin(), d_options.codes.end(), [](auto& code) {
                return code.sent_positions().empty() && code.sent() == code.n();
            });
    }

    // Whether the open batch has symbols, or values that a device makes steps of, as they
    // are pushed.
    bool stays_raw()
    {
        if (waiting() > 0) {
            return d_filling->next_raw() > 0;
        }
        d_may_stay_raw = d_may_stay_raw && on_device() && whole_codewords() &&
                         d_setup->raw_value_bytes() <= d_setup->value_bytes() &&
                         takes_raw();
        return symbols() || d_may_stay_raw;
    }

    const frame_kind& now() const { return d_have ? d_kind : d_next; }
    // That are pushed of a frame.
    std::size_t items_of(const frame_kind& kind) const
    {
        const auto& code = d_options.codes[kind.code];
        return symbols() ? d_setup->raw_values(code, kind.constellation) : code.sent();
    }

    const input_format& format()
    {
        auto& f = d_formats[d_kind.code];
        if (!f) {
            f.emplace(d_setup->rule(d_options.codes[d_kind.code]),
                      d_setup->format,
                      symbols() ? demap::steps_per_nat : d_options.llr_scale,
                      symbols() ? 0 : d_options.positive_bit);
        }
        return *f;
    }

    float soft_factor() const
    {
        return d_setup->soft == ldpc_soft_output::none
                   ? 0
                   : ldpc::soft_factor(d_setup->rule(d_options.codes[d_kind.code]),
                                       d_options.soft_scale > 0 ? d_options.soft_scale
                                                                : d_options.llr_scale,
                                       d_options.positive_bit);
    }

    std::byte* place_of_frame()
    {
        d_deadline.start();
        return d_pipeline->filling()->input + d_filling->add(d_kind.code, soft_factor());
    }

    // As many of \p count frames of n values as there is room for; says how many values.
    std::size_t
    add_frames(const void* values, std::size_t first, std::size_t n, std::size_t count)
    {
        if (stays_raw()) {
            return add_raw_frames(values, first, n, count);
        }
        const auto& f = format();
        auto* const to = place_of_frame();
        std::size_t frames = 1;
        for (; frames < count && !d_filling->full(); ++frames) {
            place_of_frame();
        }
        const auto bytes = d_setup->frame_input_bytes(d_options.codes[d_kind.code]);
        copy(frames, bytes, [&](std::size_t begin, std::size_t some) {
            for (auto k = begin; k < begin + some; ++k) {
                f.convert(values, first + k * n, n, to + k * bytes);
            }
        });
        if (d_filling->full()) {
            advance();
        }
        return frames * n;
    }

    std::size_t add_raw_frames(const void* values,
                               std::size_t first,
                               std::size_t n,
                               std::size_t count)
    {
        const auto bytes = n * d_setup->raw_value_bytes();
        const auto* const from =
            static_cast<const std::byte*>(values) + first * d_setup->raw_value_bytes();
        const auto at = d_filling->next_raw();
        auto* const to = raw_of(*d_pipeline->filling()) + at;
        add_raw(at);
        const auto stride = d_filling->next_raw() - at;
        std::size_t frames = 1;
        for (; frames < count && !d_filling->full(); ++frames) {
            add_raw(d_filling->next_raw());
        }
        copy(frames, bytes, [&](std::size_t begin, std::size_t some) {
            if (stride == bytes) {
                copy_to_slot(to + begin * bytes, from + begin * bytes, some * bytes);
                return;
            }
            for (auto k = begin; k < begin + some; ++k) {
                copy_to_slot(to + k * stride, from + k * bytes, bytes);
            }
        });
        if (d_filling->full()) {
            advance();
        }
        return frames * n;
    }

    // Where symbols, and values, are in a slot that has them as they came.
    std::byte* raw_of(const slot& s) const
    {
        return s.input + d_pipeline->active().limits().table_bytes;
    }

    void add_raw(std::size_t at)
    {
        const auto& f = format();
        d_filling->add_raw(d_kind.code,
                           soft_factor(),
                           at,
                           f.factor(),
                           f.limit(),
                           d_kind.constellation,
                           d_kind.level);
        d_deadline.start();
    }

    std::size_t waiting() const override { return d_filling->size(); }

    void advance() override
    {
        auto* const slot = d_pipeline->filling();
        if (slot && waiting() > 0 && (d_filling->full() || send_now())) {
            send(*slot);
        }
    }

    void send(slot& to)
    {
        const auto job = d_filling->make_job(to.input);
        d_batches.push_back(d_filling->take());
        const auto rows = rows_of(d_batches.back());
        if (lending()) {
            submit(job, d_input.end() - d_have, rows);
        } else if (job.raw_bytes > 0) {
            submit_from(job, raw_of(to), rows);
        } else {
            submit(job, rows);
        }
    }

    // What is given of each frame. Frames of several codes are of several sizes.
    output_rows rows_of(const std::vector<frame_batch::frame>& frames) const
    {
        const auto& code = d_options.codes[frames.front().code];
        const auto bits = output_bits(code);
        output_rows rows{ soft() ? d_setup->soft_offset(code) : 0,
                          frames.size(),
                          soft() ? bits : (bits + 7) / 8,
                          d_setup->frame_output_bytes(code),
                          lends_bits() ? bits : 0 };
        const bool alike = std::all_of(frames.begin(), frames.end(), [&](auto& f) {
            return f.code == frames.front().code;
        });
        if (!alike) {
            rows = { 0, 1, 0, 0 };
            for (const auto& f : frames) {
                const auto n = output_bits(d_options.codes[f.code]);
                rows.bytes += soft() || lends_bits() ? n : (n + 7) / 8;
            }
        } else if (!as_it_is(code)) {
            rows.pitch = 0;
        }
        return rows;
    }

    bool can_lend_output() const override
    {
        return !d_options.keep_codeword && !d_options.keep_soft;
    }

    bool lends_bits() const override { return d_options.lend_bits && !soft(); }

    // Whether what is given of a frame lies in its slot. Where the message comes first,
    // it does, padding included unless parity follows in its last byte.
    bool as_it_is(const ldpc_code& code) const
    {
        return soft() || d_options.codeword ||
               (code.systematic_prefix() && (d_setup->message_only || code.k() % 8 == 0));
    }

    std::size_t take_lent(std::size_t count) override
    {
        std::size_t taken = 0;
        advance();
        while (taken < count && d_pipeline->filling()) {
            if (d_have == 0) {
                d_kind = d_next;
            }
            const auto n = items_of(d_kind);
            const auto m = std::min({ count - taken, n - d_have, room_lent() });
            if (m == 0) { // what was skipped has taken the room
                send(*d_pipeline->filling());
                continue;
            }
            d_input.took(m);
            taken += m;
            d_have += m;
            if (d_have == n) {
                const auto first = (d_input.end() - d_input.first()) - n;
                add_raw(first * d_setup->raw_value_bytes());
                d_have = 0;
                if (d_filling->full()) {
                    advance();
                }
            }
        }
        advance();
        return taken;
    }

    // Items that the open batch may yet reach over, with what lies between its frames.
    std::size_t room_lent() const
    {
        const auto limits = d_pipeline->active().limits();
        const auto most = std::min<std::size_t>(limits.raw_bytes, 0xffffffffu);
        const auto reached = d_input.end() - d_input.first();
        return most / d_setup->raw_value_bytes() - reached;
    }

    // What lies before the first frame of the open batch.
    void forget_unneeded()
    {
        if (lending() && waiting() == 0 && d_have == 0) {
            d_input.skip();
        }
    }

    void keep_lent() override
    {
        const auto* const lent = d_input.where_lent();
        if (symbols()) {
            d_filling->end_lending([&](auto from, auto to, auto bytes) {
                std::memcpy(raw_of(*d_pipeline->filling()) + to, lent + from, bytes);
            });
        } else {
            for (const auto& f : d_filling->frames()) {
                const auto n = d_options.codes[f.code].n();
                input_format(d_setup->precision, d_options.format, f.factor, f.limit)
                    .convert(lent + f.raw, 0, n, d_pipeline->filling()->input + f.input);
            }
            d_filling->end_lending();
        }
        if (d_have > 0) {
            const auto size = d_setup->raw_value_bytes();
            const auto* const begun =
                lent + (d_input.end() - d_have - d_input.first()) * size;
            std::memcpy(d_partial.data(), begun, d_have * size);
        }
        stream_decoder::keep_lent();
    }

    void restart() override
    {
        d_batches.clear();
        d_filling->clear();
        d_have = 0;
        d_next = {};
        d_given_frames = 0;
        d_given = 0;
        d_frame = 0;
        d_report.reset();
    }

    // From one frame only: its report belongs to its first item.
    template <class Copy>
    std::size_t pull(std::size_t room, bool packed, Copy&& copy)
    {
        advance();
        const auto* const slot = d_pipeline->ready();
        if (!slot || room == 0) {
            return 0;
        }
        const auto& batch = d_batches.front();
        const auto& frame = batch[d_given_frames];
        if (d_given == 0) {
            begin_frame(*slot, frame);
        }
        const auto bits = output_bits(frame.code);
        const auto size = packed ? (bits + 7) / 8 : bits;
        const auto n = std::min(room, size - d_given);
        if (!in_place(*slot, !packed && !soft())) {
            copy(given(*slot, frame), d_given, n);
        }
        pulled(n);
        d_given += n;
        if (d_given == size) {
            end_frame(batch.size());
        }
        return n;
    }

    void begin_frame(const slot& s, const frame_batch::frame& frame)
    {
        const auto& status =
            reinterpret_cast<const frame_status*>(s.status)[d_given_frames];
        d_report = report{ d_frame++, frame.code, status.iterations, status.unsatisfied };
        const auto* const bits = decisions(s, frame);
        const auto& code = d_options.codes[frame.code];
        if (d_options.keep_codeword) {
            d_codeword.assign(bits, bits + (code.n() + 7) / 8);
        }
        if (d_options.keep_soft) {
            const auto* const llrs = bits + d_setup->soft_offset(code);
            d_llrs.assign(reinterpret_cast<const std::int8_t*>(llrs),
                          reinterpret_cast<const std::int8_t*>(llrs) + code.n());
        }
        if (!as_it_is(code)) {
            d_message.assign((code.k() + 7) / 8, 0);
            for (unsigned i = 0; i < code.k(); ++i) {
                const auto at = code.message_positions()[i];
                d_message[i / 8] |= (bits[at / 8] >> (7 - at % 8) & 1u) << (7 - i % 8);
            }
        }
    }

    static const std::uint8_t* decisions(const slot& s, const frame_batch::frame& frame)
    {
        return reinterpret_cast<const std::uint8_t*>(s.output + frame.output);
    }

    // What is given of the frame that has begun.
    const std::uint8_t* given(const slot& s, const frame_batch::frame& frame) const
    {
        const auto& code = d_options.codes[frame.code];
        return !as_it_is(code)
                   ? d_message.data()
                   : decisions(s, frame) + (soft() ? d_setup->soft_offset(code) : 0);
    }

    void end_frame(std::size_t frames_in_batch)
    {
        d_given = 0;
        if (++d_given_frames == frames_in_batch) {
            d_given_frames = 0;
            d_batches.pop_front();
            release();
            advance();
        }
    }

    std::vector<std::optional<input_format>> d_formats; // of each code, once needed
    std::optional<frame_batch> d_filling;
    std::deque<std::vector<frame_batch::frame>> d_batches; // in flight, oldest first

    frame_kind d_next;                // the frames to come
    frame_kind d_kind;                // the frame that is being pushed
    std::size_t d_have = 0;           // items of it
    std::vector<std::byte> d_partial; // its values, or symbols, as they are pushed
    std::vector<std::byte> d_steps;   // of what is sent of a codeword
    bool d_may_stay_raw = true;       // values, as far as is known

    std::uint64_t d_frame = 0;      // frames begun to be pulled
    std::size_t d_given_frames = 0; // frames of the oldest batch already pulled
    std::size_t d_given = 0;        // items of the next one already pulled
    std::vector<std::uint8_t> d_message;
};

ldpc_decoder::ldpc_decoder(const ldpc_options& options, decoder_hooks hooks)
    : decoder(std::make_unique<impl>(options, std::move(hooks)))
{
}

ldpc_decoder::impl& ldpc_decoder::self() const { return static_cast<impl&>(inside()); }

void ldpc_decoder::select(unsigned code, unsigned constellation)
{
    self().select(code, constellation);
}
void ldpc_decoder::set_esn0_db(double esn0_db) { self().set_esn0_db(esn0_db); }
std::size_t ldpc_decoder::frame_items() const { return self().frame_items(); }
unsigned ldpc_decoder::selected() const { return self().selected(); }
std::size_t ldpc_decoder::missing() const { return self().missing(); }
void ldpc_decoder::drop_incomplete() { self().drop_incomplete(); }
std::size_t ldpc_decoder::skip(std::size_t count) { return self().skip(count); }

std::size_t ldpc_decoder::push(const void* values, std::size_t count)
{
    return self().push(values, count);
}

std::size_t ldpc_decoder::pull_packed(std::uint8_t* out, std::size_t bytes)
{
    return self().pull_packed(out, bytes);
}

std::size_t ldpc_decoder::pull_bits(std::uint8_t* out, std::size_t bits)
{
    return self().pull_bits(out, bits);
}

std::size_t ldpc_decoder::pull_llrs(std::int8_t* out, std::size_t count)
{
    return self().pull_llrs(out, count);
}

bool ldpc_decoder::take_report(report& r)
{
    auto& there = self().d_report;
    if (!there) {
        return false;
    }
    r = *there;
    there.reset();
    return true;
}

const std::vector<std::uint8_t>& ldpc_decoder::codeword() const
{
    return self().d_codeword;
}

const std::vector<std::int8_t>& ldpc_decoder::llrs() const { return self().d_llrs; }

void ldpc_decoder::set_llr_scale(float scale) { self().set_llr_scale(scale); }
void ldpc_decoder::set_soft_scale(float scale) { self().set_soft_scale(scale); }

const ldpc_code& ldpc_decoder::code(unsigned index) const
{
    return self().d_options.codes.at(index);
}

std::size_t ldpc_decoder::output_bits(unsigned code) const
{
    return self().output_bits(code);
}

} // namespace gr::gpufec
