# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

# The steps of the downstream test: install BUILD below WORK, look for what must not be
# exported, then configure, build and run the project in SOURCE.

cmake_minimum_required(VERSION 3.22)
set(prefix ${WORK}/prefix)
file(REMOVE_RECURSE ${WORK})

function(step)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output
                  ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    string(JOIN " " command ${ARGN})
    message("${output}")
    message(FATAL_ERROR "${command}: ${status}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

step(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})

file(GLOB_RECURSE exported ${prefix}/*gnuradio-gpufec*.cmake)
if(NOT exported)
  message(FATAL_ERROR "No CMake package files below ${prefix}")
endif()
foreach(file IN LISTS exported)
  file(STRINGS ${file} leaks REGEX "gpufec_core|gpufec_options|CUDA|cudart|Volk|/build/")
  if(leaks)
    message(FATAL_ERROR "${file} exports what is private:\n${leaks}")
  endif()
endforeach()

step(${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/build -G ${GENERATOR}
     -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_BUILD_TYPE=${CONFIG} -DCMAKE_CXX_COMPILER=${CXX})
step(${CMAKE_COMMAND} --build ${WORK}/build --config ${CONFIG})
step(${WORK}/build/downstream)
message(STATUS "${output}")
