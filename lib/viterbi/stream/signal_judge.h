// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Decides whether soft values are a signal of the convolutional code, in the declared
 * format.
 *
 * The judge decodes windows of the input and re-encodes the bits. W of the signs in a
 * window are wrong: they disagree with the re-encoded bits. A decoder finds a code
 * sequence close to any input, so even for noise fewer than half of the signs are wrong:
 * 13 % at rate 1/2, and 2 % at rate 7/8. C is the number of wrong signs by chance, which
 * is measured by decoding the window with random signs. The sums of W and C over several
 * windows are judged in the same way.
 *
 * - A window is a signal if W < 0.85 C and C − W ≥ 6 √C. Noise meets this condition
 *   with a probability below 1e-9, because its W varies less than a Poisson variable.
 * - A window is no signal if W > 0.9 C and W − 0.8 C ≥ 5 √(W + 0.32 C). A signal with
 *   one decoded bit in twenty wrong has W ≤ 0.8 C. Such a signal is classified as no
 *   signal with a probability below 3e-7, and stronger signals with a lower one.
 * - The input has another format or scale if a window is a signal when read with that
 *   format or scale, and if the ratio W / C is then lower by more than 0.15. If
 *   soft_scale saturates nearly all floats, a lower scale is reported even if the ratio
 *   is not lower. Hard bits 0 and 1 are reported if the window, read as hard bits, is a
 *   signal.
 * - If offset binary is read as int8, or int8 as offset binary, the signs are inverted,
 *   and the weakest values become the strongest. This confusion is also recognised from
 *   strong wrong signs, which are wrong signs of values that are above the mean magnitude
 *   but not saturated. The conditions are: the mean magnitude is at least 64; at least 40
 *   signs are wrong; more than half of the wrong signs are strong, but less than a
 *   quarter in the other format, in which the window is a signal. With Gaussian noise
 *   less than a tenth of the wrong signs are strong while the signal can be decoded, so
 *   the probability of a false alarm is below 1e-8. During a phase search, strong signs
 *   are not counted. Then, at a mean magnitude of 64 or more, a ratio W / C that is lower
 *   by more than 0.075 suffices.
 * - An inverted stream of a transparent code decodes without wrong signs. But a frame
 *   that is not tail-biting begins, and may end, in a known state. The cost of a frame is
 *   the sum of the magnitudes of values with wrong signs. The signs are reported as
 *   inverted if at least 30 frames have a lower cost with the other sign, and none with
 *   the declared sign. The probability of a false alarm is below 2^−30. */

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
    //! \p locked returns whether the phase search has found a lock. It is called only if
    //! options.lock is "auto".
    signal_judge(const viterbi_options& options,
                 const decoder_hooks& hooks,
                 std::function<bool()> locked = {});
    ~signal_judge() override;

    void look_at(const void* items, std::size_t first, std::size_t count) override;
    void conclude() override;
    void reset() override;
    double chance_error_rate() const override;
    void set_soft_scale(float scale) override { d_options.soft_scale = scale; }

    //! Number of judged windows after which a missing signal is reported; at the end of a
    //! stream, a missing signal is reported after fewer windows.
    static constexpr std::uint64_t max_undecided = 100;
    //! All streams of a decoder are judged until streams_judged successive streams had no
    //! fault. Later, only one stream in streams_judged is judged.
    static constexpr std::uint64_t streams_judged = 16;
    //! Number of frames with a lower cost for the other sign at which the signs are
    //! reported as inverted.
    static constexpr std::uint64_t frames_with_sign = 30;

private:
    // Numbers of signs that are not erased: all, wrong (W), and wrong by chance (C).
    struct evidence {
        double values = 0, wrong = 0, chance = 0;
        double strong = 0; // number of strong wrong signs
        std::vector<double> frame_costs = {};
        // Returns whether offset binary and int8 seem to be confused.
        bool upside_down() const { return wrong >= 40 && strong > 0.5 * wrong; }
        double ratio() const { return chance > 0 ? wrong / chance : 1; }
        bool signal() const;
        bool none() const;
    };
    // An interpretation of the bytes of a window.
    struct reading {
        soft_format format;
        float scale;
        bool bits = false; // whether values are hard bits: 0 and 1 are read as −1 and 1
        // Whether positive values mean the opposite of the declared bit.
        bool inverted = false;
        std::string advice = {}; // change of the options that the user should make
    };

    bool searches() const { return d_options.lock == "auto"; }
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
    viterbi_options d_decoding;     // options of the decoder that decodes windows
    std::size_t d_frame_values = 0; // values per frame; 0 for a stream
    // Length and distance of windows in items. A window has whole puncturing periods or
    // whole frames.
    std::size_t d_window = 0, d_stride = 0;
    viterbi_decoder::sptr d_decoder;
    std::unique_ptr<phase_search> d_search;

    std::vector<std::byte> d_sample; // the items of the current window so far
    std::uint64_t d_position = 0;    // number of items seen
    std::uint64_t d_next = 0;        // index of the current window
    std::uint64_t d_judged = 0;      // number of windows that were not blank
    bool d_settled = false;          // whether the judgement of this stream is final
    bool d_seen = false;             // whether the stream has had any items
    bool d_right_by_now = false;     // whether the input is as declared, or not judged
    std::uint64_t d_right = 0;       // number of successive streams as declared
    // Number of frames with a lower cost for the declared sign, and for the other sign.
    std::uint64_t d_upright = 0, d_inverted = 0;
    evidence d_sum; // sum over the judged windows of the stream
};

} // namespace gr::gpufec::viterbi

#endif /* INCLUDED_GPUFEC_VITERBI_STREAM_SIGNAL_JUDGE_H */
