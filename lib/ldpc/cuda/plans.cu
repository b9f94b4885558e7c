// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Selection of the launch plan for a code. For DVB-S2 codes, the plan depends on the
 * precision and on the number of codewords. */

#include "cuda/first_plan.h"
#include "kernels.h"
#include <algorithm>

namespace gr::gpufec::ldpc::device {

namespace {

// A plan for batches of up to \c max_few codewords, and another one for larger batches.
class plan_by_batch : public launch_plan
{
public:
    plan_by_batch(std::unique_ptr<launch_plan> few,
                  std::unique_ptr<launch_plan> many,
                  std::size_t max_few)
        : d_few(std::move(few)), d_many(std::move(many)), d_max_few(max_few)
    {
    }

    std::size_t scratch_bytes(std::size_t codewords) const override
    {
        return std::max(d_few->scratch_bytes(std::min(codewords, d_max_few)),
                        d_many->scratch_bytes(codewords));
    }
    void launch(const device_frames& frames,
                const stopping& stop,
                void* scratch,
                cudaStream_t stream) const override
    {
        const auto& plan = frames.count <= d_max_few ? d_few : d_many;
        plan->launch(frames, stop, scratch, stream);
    }

private:
    const std::unique_ptr<launch_plan> d_few, d_many;
    const std::size_t d_max_few;
};

} // namespace

std::unique_ptr<launch_plan>
make_dvbs2_plan(const ldpc_code& code, const message_rule& rule, bool soft, int device)
{
    if (rule.precision != ldpc_precision::int8) {
        return make_dvb_float_plan(code, rule, soft, device);
    }
    auto two_codewords = make_dvb_int8x2_plan(code, rule, soft, device);
    auto two_checks = make_two_checks_per_word_plan(code, rule, soft, device);
    if (!two_codewords || !two_checks) {
        return two_codewords ? std::move(two_codewords) : std::move(two_checks);
    }
    if (!two_codewords->fits_shared_memory()) {
        return two_checks;
    }
    // For batches with at most one codeword per multiprocessor, the kernels for two
    // codewords per word would leave half of each word unused.
    return std::make_unique<plan_by_batch>(
        std::move(two_checks), std::move(two_codewords), cuda::multiprocessors(device));
}

std::unique_ptr<launch_plan> make_launch_plan(const ldpc_code& code,
                                              const message_rule& rule,
                                              bool soft,
                                              ldpc_schedule schedule,
                                              int device)
{
    if (schedule == ldpc_schedule::flooding) {
        return make_flooding_plan(code, rule);
    }
    return cuda::first_plan({ make_dvbs2_plan,
                              make_quasi_cyclic_plan,
                              make_unstructured_int8x2_plan,
                              make_layered_plan },
                            code,
                            rule,
                            soft,
                            device);
}

} // namespace gr::gpufec::ldpc::device
