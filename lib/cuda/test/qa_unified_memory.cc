// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests of decoders on devices that share the memory of the host. The environment
 * variable GPUFEC_CARD_UNIFIED makes an emulated or a real device act as such a device.
 */

#include "testing/faulty_decoders.h"
#include <algorithm>
#include <cstdlib>

namespace gr::gpufec {
namespace {

using namespace qa;

template <class Kind>
class unified : public faulty<Kind>
{
protected:
    void TearDown() override
    {
        unsetenv("GPUFEC_CARD_UNIFIED");
        faulty<Kind>::TearDown();
    }

    // Decodes, compares the output with that of the CPU, and returns the number of copies
    // between host and device. \p pinned is false if pinning must fail.
    std::size_t copies(const char* accessible, bool pinned = true)
    {
        const auto expected = this->decode(this->run(backend::cpu));
        setenv("GPUFEC_CARD_UNIFIED", accessible, 1);
        if (!*accessible) {
            unsetenv("GPUFEC_CARD_UNIFIED");
        }
        faults::begin();
        if (!pinned) {
            faults::fail("cudaHostRegister", 0, cudaErrorMemoryAllocation, true);
        }
        const auto o = this->decode(this->run(backend::cuda));
        EXPECT_EQ(o.backend, "cuda");
        EXPECT_TRUE(this->same(o.output, expected.output));
        const auto calls = faults::calls();
        return std::count(calls.begin(), calls.end(), "cudaMemcpyAsync");
    }
};

using whole_slots = testing::Types<kind<viterbi_streams, false>,
                                   kind<viterbi_bits, false>,
                                   kind<viterbi_frames, false>,
                                   kind<ldpc_frames, false>,
                                   kind<ldpc_bits, false>,
                                   kind<ldpc_llrs, false>,
                                   kind<sync_frames<sync_mode::framed>, true>,
                                   kind<sync_frames<sync_mode::stream>, true>>;
TYPED_TEST_SUITE(unified, whole_slots);

TYPED_TEST(unified, PinnedSlots_AreNotCopied)
{
    EXPECT_GT(this->copies(""), 0u);
    EXPECT_EQ(this->copies("pinned"), 0u);
}

TYPED_TEST(unified, SlotsThatCannotBePinned_AreCopied)
{
    EXPECT_GT(this->copies("pinned", false), 0u);
}

#ifdef GPUFEC_EMULATED
TYPED_TEST(unified, DeviceWithHostPageTables_NeedsNoPinning)
{
    EXPECT_EQ(this->copies("all", false), 0u);
}
#endif

template <class Kind>
class unified_borrowed : public unified<Kind>
{
};

using borrowed_input =
    testing::Types<kind<viterbi_borrowed<std::int8_t>, false>,
                   kind<viterbi_borrowed<float>, false>,
                   kind<ldpc_borrowed<std::int8_t>, false>,
                   kind<ldpc_borrowed<float>, false>,
                   kind<ldpc_symbol_frames<true>, false, true>,
                   kind<sync_borrowed<sync_mode::framed, float>, true>,
                   kind<sync_borrowed<sync_mode::stream, std::uint8_t>, true>>;
TYPED_TEST_SUITE(unified_borrowed, borrowed_input);

// In streams, the frame search reads tables and items at fixed offsets of one buffer, so
// borrowed items are still copied to that buffer.
TYPED_TEST(unified_borrowed, BorrowedInput_GivesSameOutputWithFewerCopies)
{
    const auto before = this->copies("");
    EXPECT_LT(this->copies("pinned"), before);
}

} // namespace
} // namespace gr::gpufec
