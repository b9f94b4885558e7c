// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The implementation class of the stream decoder. copied_input.cc defines the functions
 * for input that is copied, and decoder.cc defines the other functions. */

#ifndef INCLUDED_GPUFEC_LDPC_STREAM_DECODER_IMPL_H
#define INCLUDED_GPUFEC_LDPC_STREAM_DECODER_IMPL_H

#include "frame_batch.h"
#include "frame_judge.h"
#include "input_format.h"
#include "pipeline/stream_decoder.h"
#include "traits.h"
#include <algorithm>
#include <cmath>
#include <deque>
#include <optional>
#include <utility>

namespace gr::gpufec {

//! Returns the type of the items that a decoder with these options accepts.
item_type item_type_of(const ldpc_options& options);

class ldpc_decoder_impl : public stream_decoder<ldpc_decoder, ldpc::traits>
{
public:
    ldpc_decoder_impl(const ldpc_options& options, decoder_hooks hooks);

    void select(unsigned code, unsigned constellation) override;
    void set_esn0_db(double esn0_db) override
    {
        d_next.level = std::isnan(esn0_db) ? demap::estimated : demap::level_of(esn0_db);
    }

    unsigned selected() const override { return now().code; }
    std::size_t frame_items() const override { return items_of(now()); }
    std::size_t missing() const override
    {
        return d_have ? items_of(d_kind) - d_have : 0;
    }
    const ldpc_code& code(unsigned index) const override
    {
        return d_options.codes.at(index);
    }
    std::size_t output_bits(unsigned index) const override
    {
        return output_bits(code(index));
    }

    std::size_t push(input_items items) override;
    std::size_t skip(std::size_t count) override;
    void drop_incomplete() override;
    void finish() override
    {
        drop_incomplete();
        stream_decoder::finish();
    }

    std::size_t pull(bit_span out) override;
    std::size_t pull(span<std::int8_t> out) override;
    std::optional<frame_status> status() override { return std::exchange(d_status, {}); }
    const std::vector<std::uint8_t>& codeword() const override { return d_codeword; }
    const std::vector<std::int8_t>& llrs() const override { return d_llrs; }

    void set_llr_scale(float scale) override;
    void set_soft_scale(float scale) override;

private:
    // Code of a frame and, for symbols, its constellation and Es/N0 level.
    struct frame_kind {
        unsigned code = 0;
        unsigned constellation = 0;
        int level = demap::estimated;
    };
    const frame_kind& now() const { return d_have ? d_kind : d_next; }

    bool can_borrow() const override
    {
        return stream_decoder::can_borrow() && whole_codewords();
    }

    bool soft() const { return d_options.soft != ldpc_soft_output::none; }
    std::size_t output_bits(const ldpc_code& code) const
    {
        return d_options.codeword || soft() ? code.n() : code.k();
    }
    std::size_t add_input(const void* values, std::size_t count);

    void require_bits(bool bits) const;

    bool symbols() const { return d_options.symbols != ldpc_symbols::none; }

    // Returns whether all bits of all codes are sent. Otherwise input cannot be read in
    // place, because the host fills in the values of punctured and shortened positions.
    bool whole_codewords() const;

    // Returns whether the frames of the batch that is being filled are stored in the
    // caller's format. Symbols are always stored in this format. Channel values are
    // stored in it if all earlier batches were, the decoder runs on a device with memory
    // for the conversion, all bits of all codes are sent, and the values have no more
    // bytes than quantised values.
    bool stays_in_caller_format();

    // Returns the number of items that are pushed for a frame.
    std::size_t items_of(const frame_kind& kind) const
    {
        const auto& code = d_options.codes[kind.code];
        return symbols() ? d_setup->caller_values(code, kind.constellation) : code.sent();
    }

    const ldpc::input_format& format();

    float soft_factor() const;

    std::byte* place_of_frame()
    {
        d_deadline.start();
        return filling()->input + d_filling->add(d_kind.code, soft_factor());
    }

    // Adds up to \p count frames of n values to the batch, and returns the number of
    // values added. For symbols, values are symbols.
    std::size_t
    add_frames(const void* values, std::size_t first, std::size_t n, std::size_t count);

    std::size_t add_caller_frames(const void* values,
                                  std::size_t first,
                                  std::size_t n,
                                  std::size_t count);

    // Returns the address at which a slot stores input in the caller's format.
    std::byte* caller_format_of(const slot& s) const
    {
        return s.input + d_pipeline->active().limits().table_bytes;
    }

    void add_caller_frame(std::size_t at);

    std::size_t waiting() const override { return d_filling->size(); }

    void advance() override
    {
        auto* const slot = filling();
        if (slot && waiting() > 0 && (d_filling->full() || send_now())) {
            send(*slot);
        }
    }

    void send(slot& to);

    // Returns the rows of a batch's output: one row per frame, or a single row if frames
    // have different codes.
    output_rows rows_of(const std::vector<ldpc::frame_batch::frame>& frames) const;

    bool can_borrow_output() const override
    {
        return !d_options.keep_codeword && !d_options.keep_soft;
    }
    bool all_output_in_rows() const override
    {
        return std::all_of(d_options.codes.begin(),
                           d_options.codes.end(),
                           [this](auto& code) { return stays_in_slot(code); });
    }
    // Returns whether the batch must end before the next frame. In memory of a device,
    // the output of a batch has equal rows, so its frames have one code.
    bool ends_batch() const
    {
        return output_on_device() && waiting() > 0 &&
               d_filling->frames().front().code != d_kind.code;
    }
    bool begin_frame();

    bool borrows_bits() const override { return d_options.bits_in_place && !soft(); }

    // Returns whether the slot holds a frame's output as it is emitted. Otherwise its
    // message bits must be gathered, because the message is not at the front or shares
    // its last byte with parity bits.
    bool stays_in_slot(const ldpc_code& code) const;

    std::size_t take_borrowed(std::size_t count) override;

    // Returns the number of further borrowed items, including skipped items between
    // frames, for which the batch being filled has space.
    std::size_t borrowed_capacity() const;

    // Releases all borrowed input so far if neither the batch being filled nor the frame
    // being pushed uses it.
    void forget_unneeded();

    void store_borrowed() override;

    void restart() override;

    // Pulls from one frame only, because a status belongs to the first item of its frame.
    template <class Copy>
    std::size_t pull(std::size_t capacity, bool packed, Copy&& copy);

    void begin_frame(const slot& s, const ldpc::frame_batch::frame& frame);

    static const std::uint8_t* decisions(const slot& s,
                                         const ldpc::frame_batch::frame& frame)
    {
        return reinterpret_cast<const std::uint8_t*>(s.output + frame.output);
    }

    // Returns the output of the frame that is being pulled.
    const std::uint8_t* output_of(const slot& s,
                                  const ldpc::frame_batch::frame& frame) const;

    void end_frame(std::size_t frames_in_batch);

    ldpc::frame_judge* d_frame_judge = nullptr; // nullptr if the input is not checked
    ldpc_options d_options;
    std::optional<frame_status> d_status;
    // The codeword and the LLRs of the frame whose output is being pulled, if the options
    // keep_codeword and keep_soft are set.
    std::vector<std::uint8_t> d_codeword;
    std::vector<std::int8_t> d_llrs;

    // The input format of each code, made when it is first needed.
    std::vector<std::optional<ldpc::input_format>> d_formats;
    std::optional<ldpc::frame_batch> d_filling;
    // The frames of each batch in flight, oldest batch first.
    std::deque<std::vector<ldpc::frame_batch::frame>> d_batches;

    frame_kind d_next;                // kind selected for the next frame
    frame_kind d_kind;                // kind of the frame that is being pushed
    std::size_t d_have = 0;           // number of pushed items of that frame
    std::vector<std::byte> d_partial; // these items, in the caller's format
    // Quantised sent values of a frame of a punctured or shortened code.
    std::vector<std::byte> d_quantised;
    // For channel values: whether no batch so far was quantised on the host; see
    // stays_in_caller_format().
    bool d_may_stay_in_caller_format = true;

    std::uint64_t d_frame = 0;        // number of frames whose output has begun
    std::size_t d_emitted_frames = 0; // number of frames of the oldest batch that have
                                      // been pulled
    std::size_t d_emitted = 0;        // number of items that have been pulled from the
                                      // current frame
    std::vector<std::uint8_t> d_message;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_LDPC_STREAM_DECODER_IMPL_H */
