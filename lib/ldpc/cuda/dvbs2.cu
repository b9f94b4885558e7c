// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The kernels for DVB-S2 codes: which one a code gets, by the number of codewords. */

#include "cuda_kernels.h"
#include <algorithm>

namespace gr::gpufec::ldpc {
namespace device {

namespace {

// One plan for batches of up to so many codewords, another for larger ones.
class plan_by_batch : public launch_plan
{
public:
    plan_by_batch(std::unique_ptr<launch_plan> few,
                  std::unique_ptr<launch_plan> many,
                  std::size_t most_few)
        : d_few(std::move(few)), d_many(std::move(many)), d_most_few(most_few)
    {
    }

    std::size_t scratch_bytes(std::size_t codewords) const override
    {
        return std::max(d_few->scratch_bytes(std::min(codewords, d_most_few)),
                        d_many->scratch_bytes(codewords));
    }
    void launch(const device_frames& frames,
                const stopping& stop,
                void* scratch,
                cudaStream_t stream) const override
    {
        const auto& plan = frames.count <= d_most_few ? d_few : d_many;
        plan->launch(frames, stop, scratch, stream);
    }

private:
    const std::unique_ptr<launch_plan> d_few, d_many;
    const std::size_t d_most_few;
};

} // namespace

std::unique_ptr<launch_plan>
make_dvbs2_plan(const ldpc_code& code, const message_rule& rule, bool soft, int device)
{
    if (rule.precision != ldpc_precision::int8) {
        return make_singles_plan(code, rule, soft, device);
    }
    auto pairs = make_pairs_plan(code, rule, soft, device);
    auto folded = make_folded_plan(code, rule, soft, device);
    if (!pairs || !folded) {
        return pairs ? std::move(pairs) : std::move(folded);
    }
    // Where each codeword has a multiprocessor to itself, half of a pair would be empty.
    int multiprocessors = 0;
    cuda::check(
        cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device),
        "device attribute");
    return std::make_unique<plan_by_batch>(
        std::move(folded), std::move(pairs), std::size_t(multiprocessors));
}

} // namespace device
} // namespace gr::gpufec::ldpc
