// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Checks whether input has the format, scale and code that the options declare. */

#ifndef INCLUDED_GPUFEC_PIPELINE_INPUT_JUDGE_H
#define INCLUDED_GPUFEC_PIPELINE_INPUT_JUDGE_H

#include <gnuradio/gpufec/decoder.h>
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace gr::gpufec {

/*!
 * \brief Base class: samples a decoder's input and reports once what seems wrong with it.
 *
 * It decodes a sample in the declared format and in the other formats that users confuse
 * with it. Another format is reported only if the sample decodes as a signal of the code
 * in that format, and not or much worse as declared. So correct input is never reported,
 * whatever its amplitudes are.
 */
class input_judge
{
public:
    explicit input_judge(decoder_hooks hooks) : d_hooks(std::move(hooks)) {}
    virtual ~input_judge() = default;

    //! Samples the \p count items from number \p first on of the array \p items.
    virtual void look_at(const void* items, std::size_t first, std::size_t count) = 0;
    //! Reaches a verdict once everything is decoded; may be called again.
    virtual void conclude() = 0;
    //! Begins another stream.
    virtual void reset() = 0;

    //! Returns the verdict on the stream; "": nothing seems wrong.
    const std::string& verdict() const { return d_verdict; }
    //! Returns the fraction of signs that would be wrong for noise; NaN: not known.
    virtual double chance_error_rate() const;

protected:
    //! Sets the verdict; logs only the first on a stream.
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

//! Facts about the format and scale of a sample, known without any decoding.
struct sample_facts {
    std::size_t items = 0;
    std::size_t zeros = 0, ones = 0;
    double mean = 0;      //!< mean magnitude of the nonzero items
    double spread = 0;    //!< standard deviation of these magnitudes over their mean
    double amplitude = 0; //!< a of two levels ±a in Gaussian noise, from the moments
    double noise = 0;     //!< its standard deviation

    //! Returns whether all items are 0 or 1, and more than an eighth have each value.
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

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_PIPELINE_INPUT_JUDGE_H */
