// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Decides whether soft values are a signal of the convolutional code, in the declared
 * format.
 *
 * Windows of the stream, the sample, are decoded, and the bits are re-encoded. W of the
 * signs are wrong: they disagree with the re-encoded bits. A decoder finds a code
 * sequence near any input, so even noise has fewer than half of its signs wrong: 13 % at
 * rate 1/2, 2 % at 7/8. C is the number of wrong signs by chance. It is measured by
 * decoding the sample with random signs.
 *
 * - The sample is a signal if W < 0.85 C and C − W ≥ 6 √C. Noise meets this condition
 *   with a probability below 1e-9, because its W varies less than a Poisson variable.
 * - It is no signal if W > 0.9 C and W − 0.8 C ≥ 5 √(W + 0.32 C). A signal with one
 *   decoded bit in twenty wrong has W ≤ 0.8 C. It is classified as no signal with a
 *   probability below 3e-7, and stronger signals with a smaller one.
 * - It has another format if the sample, read in that format, is a signal, and its ratio
 *   W / C is lower by at least 0.15. Input in the declared format has no better reading.
 * - Offset binary that is read as int8, or the reverse, decodes inverted, and the weakest
 *   values become the strongest. This mistake is also recognised from strong wrong signs,
 *   those of values that are above the mean magnitude but not saturated. The conditions
 *   are: the mean magnitude is at least 64; at least 40 signs are wrong; more than half
 *   of them are strong, but in the other format less than a quarter. With Gaussian noise
 *   less than a tenth are strong while the signal can be decoded, so the probability of
 *   a false alarm is below 1e-8. During a phase search, strong signs are not counted; a
 *   ratio W / C that is lower by at least 0.075 suffices instead.
 * - An inverted stream of a transparent code decodes without errors. But a frame begins,
 *   and may end, in a known state. The cost of a frame is the sum of the magnitudes with
 *   wrong signs. The signs are reported as inverted if at least 30 frames have a smaller
 *   cost with the other sign, and none with the declared sign. The probability of a
 *   false alarm is below 2^−30. */

#ifndef INCLUDED_GPUFEC_VITERBI_STREAM_SIGNAL_JUDGE_H
#define INCLUDED_GPUFEC_VITERBI_STREAM_SIGNAL_JUDGE_H

#include "pipeline/input_judge.h"
#include "viterbi/phase_lock/lock_plan.h"
#include "viterbi/phase_lock/phase_search.h"
#include <functional>
#include <memory>
#include <optional>

namespace gr::gpufec::viterbi {

class signal_judge : public input_judge
{
public:
    //! \p locked tells whether the phase search, if there is one, has found a lock.
    signal_judge(const viterbi_options& options,
                 const decoder_hooks& hooks,
                 std::function<bool()> locked = {});
    ~signal_judge() override;

    void look_at(const void* items, std::size_t first, std::size_t count) override;
    void conclude() override;
    void reset() override;
    double chance_error_rate() const override;
    void set_soft_scale(float scale) { d_options.soft_scale = scale; }

    //! Number of consecutive windows without a signal before a report.
    static constexpr std::uint64_t max_undecided = 100;
    //! The first streams_judged streams of a decoder are all judged. If they are right,
    //! only one in streams_judged is judged from then on.
    static constexpr std::uint64_t streams_judged = 16;
    //! Number of frames that must all fit the other sign before a report.
    static constexpr std::uint64_t frames_with_sign = 30;

private:
    // Numbers of signs: all, wrong ones (W), and wrong ones by chance (C).
    struct evidence {
        double values = 0, wrong = 0, chance = 0;
        double strong = 0; // wrong signs of values above the mean that do not saturate
        std::vector<double> frame_costs = {};
        bool upside_down() const { return wrong >= 40 && strong > 0.5 * wrong; }
        double ratio() const { return chance > 0 ? wrong / chance : 1; }
        bool signal() const;
        bool none() const;
    };
    // An interpretation of the sample.
    struct reading {
        soft_format format;
        float scale;
        bool bits = false;     // the values 0 and 1 stand for −1 and 1
        bool inverted = false; // a positive value means the opposite of the declared bit
        std::string mend = {}; // text that tells the user what to change
    };

    bool searches() const { return d_options.lock == "auto"; }
    std::size_t item_bytes(soft_format format) const
    {
        return format == soft_format::float32 ? sizeof(float) : 1;
    }
    void judge();
    void go_on();
    void skip();
    std::vector<std::int8_t> steps(const reading& r) const;
    std::vector<reading> readings() const;
    static bool varied(const std::vector<std::int8_t>& values);
    bool saturates(const evidence& as_declared) const;
    evidence measure(const std::vector<std::int8_t>& values);
    evidence search(const std::vector<std::int8_t>& values);
    evidence count(const std::vector<std::int8_t>& values);
    std::string no_signal() const;
    std::string changed_signs() const;
    void compare_signs(const evidence& as_declared);

    viterbi_options d_options;
    const std::function<bool()> d_locked;
    viterbi_options d_decoding;     // options of the decoder of windows
    std::size_t d_frame_values = 0; // 0: windows are parts of a stream
    // Length and distance of windows in items. They are whole puncturing periods or
    // frames.
    std::size_t d_window = 0, d_stride = 0;
    std::unique_ptr<viterbi_decoder> d_decoder;
    std::unique_ptr<phase_search> d_search;

    std::vector<std::byte> d_sample;
    std::uint64_t d_position = 0; // number of items seen
    std::uint64_t d_next = 0;     // number of the next window
    std::uint64_t d_judged = 0;   // number of windows that were not blank
    bool d_settled = false;
    bool d_seen = false;         // the stream has had items
    bool d_right_by_now = false; // the stream was found to be right
    std::uint64_t d_right = 0;   // number of consecutive streams that were right
    // Number of frames that fit the declared sign better, and the other sign better.
    std::uint64_t d_upright = 0, d_inverted = 0;
    evidence d_sum;
};

} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_STREAM_SIGNAL_JUDGE_H */
