// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The decoder with phase search, a wrapper around an ordinary decoder. */

#ifndef INCLUDED_GPUFEC_VITERBI_PHASE_LOCK_LOCKING_H
#define INCLUDED_GPUFEC_VITERBI_PHASE_LOCK_LOCKING_H

#include "lock_input.h"
#include "lock_monitor.h"
#include "lock_output.h"
#include "lock_plan.h"
#include "phase_search.h"
#include "pipeline/guards.h"
#include "pipeline/input_judge.h"
#include "pipeline/memory_in_place.h"
#include "viterbi/stream/decoder_impl.h"
#include "viterbi/stream/frame_finder.h"
#include "viterbi/stream/signal_judge.h"
#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gr::gpufec {

/*!
 * \brief The decoder with phase search.
 *
 * The decoder buffers input while it tries all hypotheses. Once a hypothesis fits, the
 * decoder locks: it decodes the buffered and all later input with this hypothesis, and
 * checks by re-encoding that the hypothesis still fits.
 *
 * The files of this folder use these terms:
 *  - Stream value n: the received soft value with index n. The first value after
 *    construction or reset() has index 0.
 *  - Hypothesis: a code, and the positions and signs that its soft values have among the
 *    stream values (class hypothesis).
 *  - Lock: a hypothesis that the search has found to fit.
 *  - Segment: the part of the stream that is decoded with one lock. Trellis stages are
 *    counted from the segment's beginning.
 *  - Code value j: the soft value with index j in the order of the code, counted from the
 *    segment's beginning. The hypothesis maps code values to stream values.
 *  - Check: the decision whether the lock is still correct at a stage. For a check, the
 *    decoded bits before the stage are re-encoded.
 *  - Stretch: the number of stages from one check to the next.
 */
class locking_viterbi_decoder : public judged_decoder<viterbi_decoder_base>,
                                public memory_in_place
{
public:
    locking_viterbi_decoder(const viterbi_options& options, decoder_hooks hooks);

    // ---- the common interface of all decoders ----

    void finish() override
    {
        d_finishing = true;
        advance();
    }
    bool ready() override
    {
        advance();
        return d_output.available();
    }
    bool due() const override { return d_state == state::locked && d_decoder->due(); }
    void flush() override;
    bool full() const override
    {
        return d_input.passing() ? d_decoder->full() : ahead() >= d_max_ahead;
    }
    bool wait(std::chrono::milliseconds limit) override
    {
        return ready() || (d_state == state::locked && d_decoder->wait(limit));
    }
    void reset() override;
    void set_max_latency_ms(double ms) override
    {
        d_decoder->set_max_latency_ms(ms);
        d_options.max_latency_ms = ms;
    }
    std::size_t batch() const override { return d_decoder->batch(); }
    std::string active_backend() const override { return d_decoder->active_backend(); }
    std::string active_device() const override { return d_decoder->active_device(); }

    // ---- input in the caller's memory ----

    memory_in_place* in_place() override { return this; }
    std::size_t input_bytes() const override
    {
        return d_decoder->in_place()->input_bytes();
    }
    bool can_borrow() const override { return d_input.can_borrow(); }
    std::size_t borrow(const void* items, std::size_t count) override;
    std::size_t borrowed() const override { return d_input.borrowed(); }
    std::size_t release_borrowed() override { return d_input.release_borrowed(); }
    void copy_borrowed() override { d_input.copy_borrowed(); }
    bool pin_input(void* memory, std::size_t bytes) override
    {
        return d_input.pin_input(memory, bytes);
    }
    void unpin_input(void*) override { d_input.unpin_input(); }

    // ---- functions of this decoder ----

    std::size_t push(input_items items) override;
    std::size_t pull(bit_span out) override;

    void set_soft_scale(float scale) override
    {
        d_decoder->set_soft_scale(scale);
        d_options.soft_scale = scale;
        d_judge->set_soft_scale(scale);
    }
    double chance_error_rate() const override;

    bool take_lock(viterbi_lock& change) override;

    viterbi_lock lock() const override;
    std::uint64_t placed_items() const override;

    const conv_code& code() const override { return d_plan.codes[d_which]; }
    unsigned decode_length() const override { return d_decoder->decode_length(); }
    unsigned overlap() const override { return d_decoder->overlap(); }
    std::size_t items_per_frame() const override;
    std::uint64_t output_of_item(std::uint64_t item, bool packed) const override
    {
        return d_output.item_of(item * d_input.values_per_item(), packed);
    }

private:
    static constexpr std::uint64_t never = ~std::uint64_t(0);
    // Maximum number of items to buffer between two calls of advance().
    static constexpr std::size_t max_at_once = 1u << 16;

    enum class state {
        searching, // there is no lock, or the stream has ended
        locked,
        doubting // a check has failed, and the search decides whether the lock ends
    };

    // Calls take(number of items taken so far, maximum number to take now) until `count`
    // items are accepted, no more fit, or take() returns 0. Returns the number of
    // accepted items.
    template <class Take>
    std::size_t take_items(std::size_t count, Take&& take)
    {
        require_same_process(d_forks); // buffered items are not pushed to the inner
                                       // decoder, which would check this
        const auto values = d_input.values_per_item();
        std::size_t taken = 0;
        while (taken < count) {
            advance();
            if (full()) {
                break;
            }
            const auto left = count - taken;
            const auto capacity = (d_max_ahead - ahead() + values - 1) / values;
            const auto n = take(
                taken,
                d_input.passing() ? left : std::min({ left, capacity, max_at_once }));
            if (n == 0) {
                break;
            }
            taken += n;
        }
        advance();
        return taken;
    }

    // A hypothesis, and the stream value from which decoding with it starts.
    struct start {
        viterbi::phase_search::found found;
        std::uint64_t value;
        std::uint64_t known; // last stream value that the search examined
        std::optional<viterbi::frame_finder::place> frames{};
    };

    const viterbi::frame_layout& layout() const { return d_output.layout(); }
    void open(unsigned which);

    viterbi::lock_segment& segment() { return d_output.last(); }
    const viterbi::lock_segment& segment() const { return d_output.last(); }
    const viterbi::hypothesis& reading(unsigned index) const
    {
        return d_search.hypotheses()[index];
    }
    std::size_t ahead() const;

    void advance();
    bool all_pulled() override
    {
        advance();
        return d_finishing && d_ended && !d_output.available();
    }

    // ---- while searching ----

    bool search();
    bool find_frames();
    void missed(std::size_t windows);
    void forget_before(std::uint64_t window);
    void drop_unlocked(std::uint64_t value);
    void abandon();
    void take(const viterbi::phase_search::found& found,
              const std::optional<viterbi::frame_finder::place>& frames);
    static std::uint64_t stages_before(const viterbi::lock_segment& s,
                                       std::uint64_t value);
    std::uint64_t whole(const viterbi::lock_segment& s, std::uint64_t stages) const;
    std::uint64_t lead_of(const viterbi::frame_finder::place& frames,
                          std::uint64_t start) const;
    bool same_frames(const viterbi::lock_segment& s,
                     const viterbi::frame_finder::place& frames) const;
    void begin(const start& from);
    void end_segment(std::uint64_t stages, std::uint64_t known);
    void note_change();

    // ---- while locked ----

    bool decode();
    bool feed();
    bool all_collected() { return d_inner_finished && d_decoder->done(); }

    bool collect();
    bool collect_batches();
    bool collect_frames();
    void collect_statistics();
    void release_batch();
    std::uint64_t needed() const { return d_until == never ? d_monitor.clear() : never; }
    batch_statistics moved(batch_statistics made) const;
    bool check();
    void drop_checked(std::uint64_t clear);
    std::uint64_t next_check() const;
    bool checks_finely() const;
    std::uint64_t checks_from(std::uint64_t target) const;
    void doubt(std::uint64_t target);
    std::uint64_t values_until_end() const;
    bool reach_end();

    viterbi_options d_options;
    const decoder_hooks d_hooks;
    const viterbi::lock_plan d_plan;
    viterbi::phase_search d_search;
    viterbi::lock_input d_input;
    viterbi::lock_output d_output;
    const std::size_t d_max_ahead;
    const viterbi::lock_monitor::reader d_values;
    viterbi::lock_monitor d_monitor;
    std::optional<viterbi::frame_finder> d_finder;
    const unsigned d_forks = forks_so_far();
    std::shared_ptr<viterbi_decoder_base> d_decoder; // the inner decoder, of code d_which
    unsigned d_which = 0;

    state d_state = state::searching;
    std::uint64_t d_next_window = 0; // first stream value of the next search window
    unsigned d_windows = 0;          // number of windows searched since a check failed
    // A hypothesis that fits, while its frame boundaries are not found yet.
    std::optional<viterbi::phase_search::found> d_unframed;
    unsigned d_frames = 0; // number of frames in which boundaries are searched

    // Stage at which the segment ends; `never` if unknown.
    std::uint64_t d_until = never;
    // The stretch at the beginning of a segment, and the stretch after the beginning.
    std::uint64_t d_stretch = 0, d_long_stretch = 0;
    std::uint64_t d_checked = 0; // last stage that was checked
    // End of the last batch that was submitted before it was full, to keep the latency
    // low. The distance of checks before this stage is d_stretch.
    std::uint64_t d_finely_until = 0;
    std::optional<start> d_next; // start of the next segment
    // The latest lock, and the position at which one of its frames begins.
    std::optional<viterbi::phase_search::lock> d_before;
    std::optional<viterbi::frame_finder::place> d_before_frames;
    // Stage at which the lock was lost, and stage of the check that detected the loss.
    std::uint64_t d_lost_stage = 0, d_lost_target = 0;
    // End of the stream values that were needed to decode up to the failed check.
    std::uint64_t d_judged = 0;
    // Packed bits pulled from the inner decoder, and the beginning of an incomplete
    // frame.
    std::vector<std::uint8_t> d_part, d_frame;
    bool d_finishing = false, d_inner_finished = false, d_ended = false;

    // Changes of the lock, not yet read with take_lock().
    std::deque<viterbi_lock> d_changes;
    viterbi_lock d_now;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_VITERBI_PHASE_LOCK_LOCKING_H */
