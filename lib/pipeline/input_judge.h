// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Checks whether input has the format, scale and code that the options declare, and the
 * base class of decoders whose input is checked. */

#ifndef INCLUDED_GPUFEC_PIPELINE_INPUT_JUDGE_H
#define INCLUDED_GPUFEC_PIPELINE_INPUT_JUDGE_H

#include <gnuradio/gpufec/decoder.h>
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace gr::gpufec {

/*!
 * \brief Base class of checks that sample a decoder's input, and report once if its
 * format, scale or code seems wrong.
 *
 * A judge decodes a sample in the declared format and in formats that users confuse with
 * the declared format. The report, or verdict, is a text. The judge reports another
 * format only if the sample decodes as a signal of the code in that format, and fails or
 * is much worse in the declared format. The amplitude alone is never a reason to report.
 * docs/limits.md lists the rules and false-alarm probabilities. This class itself accepts
 * any input.
 */
class input_judge
{
public:
    explicit input_judge(decoder_hooks hooks) : d_hooks(std::move(hooks)) {}
    virtual ~input_judge() = default;

    //! Takes samples from the items first … first + count − 1 of the array \p items.
    virtual void
    look_at(const void* /*items*/, std::size_t /*first*/, std::size_t /*count*/)
    {
    }
    //! Judges the input when it has ended, and updates verdict(). May be called again.
    virtual void conclude() {}
    //! Begins another stream.
    virtual void reset() {}
    //! Sets the int8 steps per unit of amplitude of later float input.
    virtual void set_soft_scale(float /*scale*/) {}

    //! Returns the verdict on the stream; "" if nothing seems wrong.
    const std::string& verdict() const { return d_verdict; }
    //! Returns the expected fraction of input signs that differ from the re-encoded
    //! output if the input is noise without a signal; NaN if unknown.
    virtual double chance_error_rate() const;

protected:
    //! Makes \p verdict the text that verdict() returns. Logs only the first text of a
    //! stream.
    void say(const std::string& verdict)
    {
        if (d_verdict.empty() && !d_said) {
            d_hooks.log(log_level::warning, verdict);
        }
        d_verdict = verdict;
        d_said = true;
    }
    void withdraw(const std::string& why)
    {
        if (!d_verdict.empty()) {
            d_hooks.log(log_level::info, why);
        }
        d_verdict.clear();
    }
    void forget()
    {
        d_verdict.clear();
        d_said = false;
    }

    const decoder_hooks d_hooks;

private:
    std::string d_verdict;
    bool d_said = false;
};

//! Statistics of a sample that show its format and scale without decoding.
struct sample_facts {
    std::size_t items = 0;
    std::size_t zeros = 0, ones = 0;
    double mean = 0;   //!< mean magnitude of the nonzero items
    double spread = 0; //!< standard deviation of these magnitudes, relative to the mean
    //! Level a of the model ±a plus Gaussian noise, and the standard deviation of that
    //! noise; both are estimated from the moments.
    double amplitude = 0;
    double noise = 0;

    //! Returns whether all items are 0 or 1, and each of the two values occurs in more
    //! than an eighth of the items.
    bool only_bits() const
    {
        return zeros + ones == items && std::min(zeros, ones) > items / 8;
    }
    //! Returns whether more than 90 % of the items are 0.
    bool blank() const { return zeros > items - items / 10; }
};

sample_facts facts_of(const float* values, std::size_t count);
sample_facts facts_of(const std::int8_t* values, std::size_t count);

//! Formats a number with three significant digits.
std::string short_number(double x);

//! Base class that implements verdict() and done(). The verdict is final once done()
//! returns true.
//! \tparam Decoder the interface of the decoder, such as ldpc_decoder
template <class Decoder>
class judged_decoder : public Decoder
{
public:
    bool done() override
    {
        const bool is = all_pulled();
        if (is) {
            d_judge->conclude();
        }
        return is;
    }
    std::string verdict() const override { return d_judge->verdict(); }

protected:
    //! Returns whether finish() was called and all output has been pulled.
    virtual bool all_pulled() = 0;

    // Checks the input; never nullptr. At first it accepts any input.
    std::unique_ptr<input_judge> d_judge = std::make_unique<input_judge>(decoder_hooks());
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_PIPELINE_INPUT_JUDGE_H */
