// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The base class of decoders that convert whole frames of the caller on the host and
 * decode them with another LDPC decoder. */

#ifndef INCLUDED_GPUFEC_LDPC_STREAM_FRAME_ADAPTER_H
#define INCLUDED_GPUFEC_LDPC_STREAM_FRAME_ADAPTER_H

#include "decoder_impl.h"
#include <gnuradio/gpufec/ldpc.h>
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gr::gpufec::ldpc {

/*!
 * \brief An LDPC decoder that converts frames for another one, the inner decoder.
 *
 * The adapter gathers the items of a frame. The derived class then pushes the frame to
 * the inner decoder in another form. If the inner decoder does not accept the whole
 * frame, the adapter does not accept the last item of the frame, and the caller pushes
 * that item again later. missing(), drop_incomplete() and skip() concern only the
 * gathered items. The derived class implements select(), selected(), set_esn0_db() and
 * frame_items(). Each other function calls the same function of the inner decoder.
 */
class frame_adapter : public ldpc_decoder
{
public:
    void finish() override
    {
        drop_incomplete();
        d_inner->finish();
    }
    bool ready() override { return d_inner->ready(); }
    bool due() const override { return d_inner->due(); }
    void flush() override { d_inner->flush(); }
    bool full() const override { return d_waits && d_inner->full(); }
    bool done() override { return d_inner->done(); }
    bool wait(std::chrono::milliseconds limit) override { return d_inner->wait(limit); }
    void reset() override
    {
        d_inner->reset();
        d_have = 0;
        d_waits = false;
    }
    std::string verdict() const override { return d_inner->verdict(); }
    void set_max_latency_ms(double milliseconds) override
    {
        d_inner->set_max_latency_ms(milliseconds);
    }
    std::size_t batch() const override { return d_inner->batch(); }
    std::string active_backend() const override { return d_inner->active_backend(); }
    std::string active_device() const override { return d_inner->active_device(); }

    std::size_t missing() const override
    {
        return d_have > 0 ? frame_items() - d_have : 0;
    }
    void drop_incomplete() override
    {
        d_have = 0;
        d_waits = false;
    }
    std::size_t skip(std::size_t count) override { return count; }
    std::size_t push(input_items items) override
    {
        items.require(d_type);
        const auto* const from = static_cast<const std::byte*>(items.data());
        const auto count = items.size();
        std::size_t taken = 0;
        while (taken < count) {
            if (d_have == 0) {
                begin_frame();
            }
            const auto n = frame_items();
            d_frame.resize(n * d_item_bytes);
            const auto m = std::min(count - taken, n - d_have);
            std::memcpy(d_frame.data() + d_have * d_item_bytes,
                        from + taken * d_item_bytes,
                        m * d_item_bytes);
            taken += m;
            d_have += m;
            if (d_have < n) {
                break;
            }
            if (!push_frame(d_frame.data(), d_waits)) {
                d_waits = true;
                --d_have;
                return taken - 1;
            }
            d_waits = false;
            d_have = 0;
        }
        return taken;
    }

    std::size_t pull(bit_span out) override { return d_inner->pull(out); }
    std::size_t pull(span<std::int8_t> out) override { return d_inner->pull(out); }
    std::optional<frame_status> status() override { return d_inner->status(); }
    const std::vector<std::uint8_t>& codeword() const override
    {
        return d_inner->codeword();
    }
    const std::vector<std::int8_t>& llrs() const override { return d_inner->llrs(); }
    void set_llr_scale(float scale) override { d_inner->set_llr_scale(scale); }
    void set_soft_scale(float scale) override { d_inner->set_soft_scale(scale); }
    const ldpc_code& code(unsigned index) const override { return d_inner->code(index); }
    std::size_t output_bits(unsigned code) const override
    {
        return d_inner->output_bits(code);
    }

protected:
    //! \p options are those of the caller, which describe the items of push().
    frame_adapter(ldpc_decoder::sptr inner, const ldpc_options& options)
        : d_inner(std::move(inner)),
          d_item_bytes(options.item_bytes()),
          d_type(item_type_of(options))
    {
    }

    //! Applies the settings for a frame, before its first item.
    virtual void begin_frame() {}
    /*!
     * \brief Pushes a frame to the inner decoder, and returns whether all of it was
     * accepted.
     *
     * \param items the frame_items() items of the frame
     * \param again whether the previous call was for the same frame and returned false
     */
    virtual bool push_frame(const std::byte* items, bool again) = 0;

    const ldpc_decoder::sptr d_inner;
    const std::size_t d_item_bytes; // size of an item of push()

private:
    const item_type d_type;
    std::vector<std::byte> d_frame;
    std::size_t d_have = 0; // number of items in d_frame
    bool d_waits = false;   // whether the inner decoder has not accepted all of the frame
};

} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_STREAM_FRAME_ADAPTER_H */
