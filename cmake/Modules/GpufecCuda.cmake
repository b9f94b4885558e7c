# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

# Enables CUDA if a toolkit is found, and sets ENABLE_CUDA. The default of
# CMAKE_CUDA_ARCHITECTURES is the environment variable CUDAARCHS. If CUDAARCHS is not set, the
# default is every architecture from sm_75 on that the toolkit supports, and PTX of the newest one.

include(CheckLanguage)
if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX} AND EXISTS /usr/local/cuda/bin/nvcc)
  set(ENV{CUDACXX} /usr/local/cuda/bin/nvcc)
endif()
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER AND (NOT DEFINED ENABLE_CUDA OR ENABLE_CUDA))
  # check_language() does not report an nvcc that fails.
  find_program(gpufec_nvcc nvcc PATHS /usr/local/cuda/bin NO_CACHE)
  if(gpufec_nvcc)
    message(WARNING "${gpufec_nvcc} fails, so this build has no CUDA. The usual reason is a C++ "
                    "compiler that this nvcc does not support: set CUDAHOSTCXX to a supported one. "
                    "The messages of nvcc are in ${CMAKE_BINARY_DIR}/CMakeFiles, in "
                    "CMakeError.log or CMakeConfigureLog.yaml.")
  endif()
endif()
if(ENABLE_GNURADIO)
  GR_REGISTER_COMPONENT("cuda" ENABLE_CUDA CMAKE_CUDA_COMPILER)
else()
  option(ENABLE_CUDA "Build the CUDA backend" ON)
  if(NOT CMAKE_CUDA_COMPILER)
    set(ENABLE_CUDA OFF)
  endif()
endif()
if(NOT ENABLE_CUDA)
  return()
endif()

# If CUDAARCHS is set, enable_language() copies CUDAARCHS to CMAKE_CUDA_ARCHITECTURES.
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND "$ENV{CUDAARCHS}" STREQUAL "")
  execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --list-gpu-code OUTPUT_VARIABLE known
                  ERROR_QUIET)
  string(REGEX MATCHALL "sm_[0-9]+" known "${known}")
  set(architectures)
  foreach(code IN LISTS known)
    string(REPLACE "sm_" "" number ${code})
    if(number GREATER_EQUAL 75)
      list(APPEND architectures ${number})
    endif()
  endforeach()
  if(architectures)
    list(SORT architectures COMPARE NATURAL)
    list(GET architectures -1 newest)
    list(TRANSFORM architectures APPEND "-real")
    list(APPEND architectures ${newest}-virtual)
  else()
    set(architectures 75)
  endif()
  set(CMAKE_CUDA_ARCHITECTURES ${architectures} CACHE STRING
      "CUDA architectures for which kernels are compiled")
endif()
set(CMAKE_CUDA_STANDARD 17)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
# With the static CUDA runtime, a CUDA build also loads and runs on a machine without a driver and
# without the toolkit. The shared runtime is for packages that depend on libcudart.so.
set(CMAKE_CUDA_RUNTIME_LIBRARY Static CACHE STRING "CUDA runtime to link: Static or Shared")
set_property(CACHE CMAKE_CUDA_RUNTIME_LIBRARY PROPERTY STRINGS Static Shared)
enable_language(CUDA)
if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12.1)
  message(FATAL_ERROR "CUDA ${CMAKE_CUDA_COMPILER_VERSION} is too old: kernels with more than 4 KB "
                      "of parameters need CUDA 12.1. Use -DENABLE_CUDA=OFF to build without CUDA.")
endif()
find_package(CUDAToolkit REQUIRED)
if(CMAKE_CUDA_RUNTIME_LIBRARY STREQUAL "Shared")
  set(gpufec_cuda_runtime CUDA::cudart)
else()
  set(gpufec_cuda_runtime CUDA::cudart_static)
endif()
message(STATUS "CUDA ${CMAKE_CUDA_COMPILER_VERSION}, architectures ${CMAKE_CUDA_ARCHITECTURES}")
