// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The judge of input tests whether frames are codewords of the declared LDPC code in the
 * declared format. If they are not, the judge logs a diagnosis with advice.
 *
 * If no more than half of the first frames decode, the number of checks that their hard
 * decisions violate distinguishes a weak signal from no signal. S is the number of checks
 * without erased bits (value 0). A random word violates S / 2 of these checks on average,
 * with a standard deviation of √S / 2. z is the number of standard deviations by which
 * the number of violated checks is below S / 2.
 *
 * - If all frames fail, z is compared with its expected value E on the worst channel that
 *   the code could correct. If E is 10 or more and z is less than E / 2, the diagnosis is
 *   that the frames do not belong to the code. On the worst channel, this diagnosis is
 *   wrong with a probability below 3e-7. A check of degree d is violated with a
 *   probability of (1 − (1 − 2p)^d) / 2, where p is the error rate at which the capacity
 *   of a binary symmetric channel is 0.8 times the code's rate.
 * - Another sign, format, scale or rate, or another interpretation of symbols (phase, I
 *   and Q, format, MODCOD, PLFRAMEs) is recommended only if more frames decode with it
 *   than as declared. The difference must be at least half of the frames tried. Frames
 *   that decode are strong evidence, because a random word satisfies M independent checks
 *   only with a probability of 2^−M. */

#ifndef INCLUDED_GPUFEC_LDPC_STREAM_FRAME_JUDGE_H
#define INCLUDED_GPUFEC_LDPC_STREAM_FRAME_JUDGE_H

#include "demap/rule.h"
#include "pipeline/input_judge.h"
#include "symbol_readings.h"
#include <gnuradio/gpufec/ldpc.h>
#include <string>
#include <vector>

namespace gr::gpufec::ldpc {

class frame_judge : public input_judge
{
public:
    //! For symbols, select() accepts an index into \p constellations.
    frame_judge(const ldpc_options& options,
                const decoder_hooks& hooks,
                const std::vector<demap::constellation>& constellations = {});

    //! Sets the indices of the code and constellation of the next items.
    void select(unsigned code, unsigned constellation = 0);
    void look_at(const void* items, std::size_t first, std::size_t count) override;
    //! Discards the items of a frame that is not complete.
    void drop_incomplete();
    //! Counts a decoded frame, judges the input once all frames of the sample are
    //! decoded, and logs a diagnosis if all of the first max_undecided frames failed.
    void count(bool valid);
    void conclude() override;
    void reset() override;
    void set_llr_scale(float scale) { d_options.llr_scale = scale; }

    //! If the first max_undecided frames all fail, the judge logs a diagnosis after these
    //! frames and does not wait for the end of the stream.
    static constexpr std::uint64_t max_undecided = 100;

private:
    struct syndrome {
        double z = 0, expected = 0;
    };

    bool of_symbols() const { return d_options.symbols != ldpc_symbols::none; }
    demap::symbol_format symbol_format() const;
    std::size_t frame_items() const;
    std::size_t sampled() const;
    void judge();
    void judge_format();
    void judge_symbols();
    bool judge_phase(const symbol_vector& symbols);
    bool judge_symbol_format();
    bool judge_modcods(const symbol_vector& symbols);
    bool better_symbols(const ldpc_code& code,
                        const demap::constellation& points,
                        const symbol_vector& symbols,
                        const std::string& mend);
    bool better(const ldpc_code& code,
                const std::vector<float>& nats,
                unsigned positive_bit,
                const std::string& mend);
    void judge_scale(std::vector<float> nats);
    void judge_rates(const std::vector<float>& nats);
    std::vector<float> nats(llr_format format, float scale) const;
    syndrome syndrome_of(const ldpc_code& code,
                         const std::vector<float>& nats,
                         unsigned positive_bit) const;
    std::size_t decoded(const ldpc_code& code,
                        const std::vector<float>& nats,
                        unsigned positive_bit,
                        std::size_t frames) const;
    void say_none();

    ldpc_options d_options;
    std::vector<demap::constellation> d_constellations;
    unsigned d_code = 0, d_points = 0;
    // Whether all frames of the sample have the same code and constellation.
    bool d_one_code = true;
    std::size_t d_wanted = 0; // size of the sample in items
    std::vector<std::byte> d_sample;
    std::uint64_t d_frames = 0, d_failed = 0;
    std::size_t d_tried = 0, d_valid = 0; // numbers of decoded frames of the sample,
                                          // and of valid ones among them
    bool d_judged = false, d_concluded = false;
    syndrome d_syndrome;
};

} // namespace gr::gpufec::ldpc

#endif /* INCLUDED_GPUFEC_LDPC_STREAM_FRAME_JUDGE_H */
