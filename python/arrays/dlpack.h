// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Exchanges arrays by the unversioned DLPack protocol, which applies unless a consumer
 * requests a version: https://dmlc.github.io/dlpack/latest/c_api.html */

#ifndef INCLUDED_GPUFEC_ARRAYS_DLPACK_H
#define INCLUDED_GPUFEC_ARRAYS_DLPACK_H

#include <gnuradio/gpufec/arrays.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gr::gpufec {
namespace dlpack {

struct device_type {
    std::int32_t type, number;
};
constexpr std::int32_t cuda = 2;

struct data_type {
    // Type code (0: signed integer, 1: unsigned integer, 2: floating point, 5: complex,
    // 6: Boolean), and size of an item in bits.
    std::uint8_t code, bits;
    std::uint16_t lanes;
};

struct tensor {
    void* data;
    device_type device;
    std::int32_t dimensions;
    data_type type;
    std::int64_t* shape;
    std::int64_t* strides; // in items; nullptr: the array is contiguous in C order
    std::uint64_t byte_offset;
};

struct managed_tensor {
    tensor array;
    void* context;
    void (*deleter)(managed_tensor*);
};

} // namespace dlpack

//! Returns (address, shape, strides in items or None, type code, bits per item, device
//! number) of the array in a capsule, which keeps ownership. The type code is that of
//! data_type, or -1 for vector types.
//! \throws ValueError if the capsule is invalid
inline pybind11::tuple read_dlpack(const pybind11::object& object)
{
    namespace py = pybind11;
    const auto* const managed = static_cast<dlpack::managed_tensor*>(
        PyCapsule_GetPointer(object.ptr(), "dltensor"));
    if (!managed) {
        throw py::error_already_set();
    }
    const auto& a = managed->array;
    constexpr int max_dimensions = 64; // limit of NumPy 2
    if (a.dimensions < 0 || a.dimensions > max_dimensions) {
        throw py::value_error("it has " + std::to_string(a.dimensions) + " dimensions");
    }
    if (a.dimensions > 0 && !a.shape) {
        throw py::value_error("it has no shape");
    }
    const std::vector<std::int64_t> shape(a.shape, a.shape + a.dimensions);
    py::object strides = py::none();
    if (a.strides) {
        strides =
            py::cast(std::vector<std::int64_t>(a.strides, a.strides + a.dimensions));
    }
    return py::make_tuple(reinterpret_cast<std::uintptr_t>(a.data) + a.byte_offset,
                          shape,
                          strides,
                          a.type.lanes == 1 ? int(a.type.code) : -1,
                          int(a.type.bits),
                          int(a.device.number));
}

//! Returns a capsule with an array in the memory of a CUDA device, in C order. \p code
//! and \p bits describe the items as in data_type.
inline pybind11::capsule make_dlpack(const std::shared_ptr<array_memory>& memory,
                                     const std::vector<std::int64_t>& shape,
                                     int code,
                                     int bits)
{
    struct owner {
        dlpack::managed_tensor managed;
        std::shared_ptr<array_memory> memory;
        std::vector<std::int64_t> shape;
    };
    auto* const o = new owner{ {}, memory, shape };
    o->managed.array = { memory->data(),
                         { dlpack::cuda, memory->place().device },
                         std::int32_t(shape.size()),
                         { std::uint8_t(code), std::uint8_t(bits), 1 },
                         o->shape.data(),
                         nullptr,
                         0 };
    o->managed.context = o;
    o->managed.deleter = [](dlpack::managed_tensor* m) {
        delete static_cast<owner*>(m->context);
    };
    // A consumer that accepts the array renames the capsule and calls the deleter itself.
    // Without a consumer, the capsule's destructor calls the deleter.
    return pybind11::capsule(
        static_cast<void*>(&o->managed), "dltensor", [](PyObject* capsule) {
            if (PyCapsule_IsValid(capsule, "dltensor")) {
                auto* const m = static_cast<dlpack::managed_tensor*>(
                    PyCapsule_GetPointer(capsule, "dltensor"));
                m->deleter(m);
            }
        });
}

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_ARRAYS_DLPACK_H */
