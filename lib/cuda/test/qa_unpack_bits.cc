// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tests of unpacking bits on a real or emulated device, compared with the host's
 * unpacking. */

#include "common/packed_bits.h"
#include "cuda/devices.h"
#include "cuda/unpack_bits.h"
#include <gtest/gtest.h>
#include <random>

using namespace gr::gpufec;

TEST(unpack_bits, AnyLayout_EqualsHostResult)
{
    const auto& found = find_cuda_devices();
    if (found.devices.empty()) {
        GTEST_SKIP() << "no CUDA device: " << found.missing;
    }
    cuda::select(found.devices.front().index);
    const cuda::stream stream;
    std::mt19937 random(1);
    // The layouts include rows with an incomplete last byte, gaps between rows, more rows
    // than the grid has blocks, and a row with more bytes than the grid has threads.
    for (const output_rows rows : { output_rows{ 0, 1, 4050, 4050, 32400 },
                                    output_rows{ 0, 3, 4050, 4052, 32400 },
                                    output_rows{ 16, 70, 8, 12, 61 },
                                    output_rows{ 0, 5, 1, 1, 1 },
                                    output_rows{ 4, 5000, 2, 3, 16 },
                                    output_rows{ 0, 1, 1100000, 1100000, 8799997 } }) {
        std::vector<std::uint8_t> packed(rows.first + rows.rows * rows.pitch);
        for (auto& x : packed) {
            x = std::uint8_t(random());
        }
        std::vector<std::uint8_t> expected(rows.total());
        for (std::size_t r = 0; r < rows.rows; ++r) {
            unpack_bits(packed.data() + rows.first + r * rows.pitch,
                        0,
                        rows.bits,
                        expected.data() + r * rows.bits);
        }
        expected.resize(rows.total() + 8, 0); // the bytes after the rows stay 0
        const auto from = cuda::uploaded(packed, "packed bits");
        cuda::buffer<std::uint8_t> to(expected.size());
        to.clear();
        cuda::launch_unpack(from.get(), rows, to.get(), stream.get());
        cuda::check(cudaStreamSynchronize(stream.get()), "unpacking");
        std::vector<std::uint8_t> bits(expected.size());
        cuda::check(
            cudaMemcpy(bits.data(), to.get(), bits.size(), cudaMemcpyDeviceToHost),
            "copy to the host");
        EXPECT_TRUE(bits == expected) << rows.rows << " rows of " << rows.bits;
    }
}
