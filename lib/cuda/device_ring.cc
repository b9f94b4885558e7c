// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* A circular buffer in device memory, mapped with CUDA's virtual memory management, and
 * copies on a separate stream. */

#include "device_ring.h"
#include "runtime.h"
#include <cuda.h>
#include <numeric>

namespace gr::gpufec {

using namespace cuda;

namespace {

// Returns a function of the CUDA driver. The library is not linked with the driver, so
// that the library can be loaded on machines without a driver.
template <class Function>
Function* driver_function(const char* name)
{
    void* function = nullptr;
#if CUDART_VERSION >= 12050
    cudaDriverEntryPointQueryResult found{};
    check(cudaGetDriverEntryPointByVersion(
              name, &function, 12000, cudaEnableDefault, &found),
          name);
#else
    check(cudaGetDriverEntryPoint(name, &function, cudaEnableDefault), name);
#endif
    if (!function) {
        throw device_error(std::string("the CUDA driver has no function ") + name);
    }
    return reinterpret_cast<Function*>(function);
}
#define GPUFEC_DRIVER(name) driver_function<decltype(name)>(#name)

void check_driver(CUresult result, const char* what)
{
    if (result == CUDA_ERROR_OUT_OF_MEMORY) {
        throw device_memory_error(std::string("CUDA: ") + what + ": out of memory");
    }
    if (result != CUDA_SUCCESS) {
        throw device_error(std::string("CUDA: ") + what + ": error " +
                           std::to_string(result));
    }
}

class mapped_ring : public device_ring
{
public:
    mapped_ring(int device, std::size_t bytes, std::size_t item_bytes)
        : d_unmap(GPUFEC_DRIVER(cuMemUnmap)), d_free(GPUFEC_DRIVER(cuMemAddressFree))
    {
        select(device);
        CUmemAllocationProp kind{};
        kind.type = CU_MEM_ALLOCATION_TYPE_PINNED;
        kind.location = { CU_MEM_LOCATION_TYPE_DEVICE, { device } };
        std::size_t page = 0;
        check_driver(GPUFEC_DRIVER(cuMemGetAllocationGranularity)(
                         &page, &kind, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
                     "query of the page size");
        const auto unit = std::lcm(page, item_bytes);
        d_size = (bytes + unit - 1) / unit * unit;
        CUmemGenericAllocationHandle memory{};
        const auto what = "allocation of " + std::to_string(d_size >> 20) + " MiB";
        check_driver(GPUFEC_DRIVER(cuMemCreate)(&memory, d_size, &kind, 0), what.c_str());
        try {
            map(memory, device);
        } catch (...) {
            unmap();
            GPUFEC_DRIVER(cuMemRelease)(memory);
            throw;
        }
        GPUFEC_DRIVER(cuMemRelease)(memory); // freed when it is no longer mapped
    }
    ~mapped_ring() override { unmap(); }

private:
    void map(CUmemGenericAllocationHandle memory, int device)
    {
        check_driver(GPUFEC_DRIVER(cuMemAddressReserve)(&d_address, 2 * d_size, 0, 0, 0),
                     "address reservation");
        for (; d_mapped < 2; ++d_mapped) {
            check_driver(GPUFEC_DRIVER(cuMemMap)(
                             d_address + d_mapped * d_size, d_size, 0, memory, 0),
                         "mapping");
        }
        CUmemAccessDesc access{};
        access.location = { CU_MEM_LOCATION_TYPE_DEVICE, { device } };
        access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        check_driver(GPUFEC_DRIVER(cuMemSetAccess)(d_address, 2 * d_size, &access, 1),
                     "access to device memory");
        d_data = reinterpret_cast<std::byte*>(d_address);
    }
    void unmap() noexcept
    {
        for (; d_mapped > 0; --d_mapped) {
            d_unmap(d_address + (d_mapped - 1) * d_size, d_size);
        }
        if (d_address) {
            d_free(d_address, 2 * d_size);
        }
    }

    decltype(cuMemUnmap)* const d_unmap;
    decltype(cuMemAddressFree)* const d_free;
    CUdeviceptr d_address = 0;
    unsigned d_mapped = 0; // number of mappings
};

// Copies have a high priority: otherwise they would wait for the end of kernels that
// occupy the whole device.
class copies_on_stream : public device_copies
{
public:
    explicit copies_on_stream(int device) : d_device(device), d_ended(make_event(device))
    {
        int lowest = 0, highest = 0;
        check(cudaDeviceGetStreamPriorityRange(&lowest, &highest), "query of priorities");
        check(cudaStreamCreateWithPriority(&d_stream, cudaStreamNonBlocking, highest),
              "stream creation");
    }
    ~copies_on_stream() override { cudaStreamDestroy(d_stream); }

    void start(void* to, const void* from, std::size_t bytes) override
    {
        use(d_device);
        check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, d_stream), "copy");
    }
    void wait() override
    {
        check(cudaEventRecord(d_ended.get(), d_stream), "event recording");
        check(cudaEventSynchronize(d_ended.get()), "copy");
    }
    void* stream() const override { return d_stream; }

private:
    static event make_event(int device)
    {
        select(device);
        return event(cudaEventDisableTiming | cudaEventBlockingSync);
    }

    const int d_device;
    const event d_ended;
    cudaStream_t d_stream = nullptr;
};

} // namespace

std::unique_ptr<device_ring>
device_ring::make(int device, std::size_t bytes, std::size_t item_bytes)
{
    return std::make_unique<mapped_ring>(device, bytes, item_bytes);
}

std::unique_ptr<device_copies> device_copies::make(int device)
{
    return std::make_unique<copies_on_stream>(device);
}

} // namespace gr::gpufec
