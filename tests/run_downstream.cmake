# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

# Runs the downstream test: installs BUILD below WORK, checks that no private name is exported,
# configures, builds and runs the project in SOURCE, moves the installation, and uninstalls.

cmake_minimum_required(VERSION 3.22)
set(prefix ${WORK}/prefix)
file(REMOVE_RECURSE ${WORK})

function(step)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output
                  ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    string(JOIN " " command ${ARGN})
    message("${output}")
    message(FATAL_ERROR "The command ${command} failed: ${status}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

step(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})

file(GLOB_RECURSE exported ${prefix}/*gnuradio-gpufec*.cmake)
if(NOT exported)
  message(FATAL_ERROR "The installation has no CMake package files below ${prefix}")
endif()
foreach(file IN LISTS exported)
  file(STRINGS ${file} leaks REGEX "gpufec_core|gpufec_options|CUDA|cudart|Volk|/build/")
  if(leaks)
    message(FATAL_ERROR "${file} exports private names:\n${leaks}")
  endif()
endforeach()

# Extracts the program of docs/cpp.md, which the project builds too.
file(READ ${PAGE} page)
string(REGEX MATCH "<!-- example: program -->\n```cpp\n([^`]*)```" program "${page}")
file(WRITE ${WORK}/page.cc "${CMAKE_MATCH_1}")

step(${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/build -G ${GENERATOR} -DPAGE=${WORK}/page.cc
     -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_BUILD_TYPE=${CONFIG} -DCMAKE_CXX_COMPILER=${CXX})
step(${CMAKE_COMMAND} --build ${WORK}/build --config ${CONFIG})
foreach(program IN ITEMS downstream page)
  step(${WORK}/build/${program})
  message(STATUS "${output}")
endforeach()
if(NOT output MATCHES "Viterbi true, LDPC true, synchronisation true")
  message(FATAL_ERROR "The program of docs/cpp.md does not decode correctly")
endif()

# Tests that the installation works after its prefix is moved: the Python module finds the library
# by a relative path.
set(moved ${WORK}/moved)
file(RENAME ${prefix} ${moved})
file(GLOB_RECURSE modules ${moved}/*/gnuradio/gpufec/__init__.py)
if(modules)
  list(GET modules 0 module)
  get_filename_component(site ${module}/../../.. ABSOLUTE)
  set(program
      "from gnuradio import gpufec
assert gpufec.__file__.startswith('${moved}')
gpufec.viterbi_decode(gpufec.awgn(gpufec.random_bits(1000), 5.0), backend='cpu')
gpufec.gpu_viterbi_pbvd(backend='cpu')")
  step(${CMAKE_COMMAND} -E env PYTHONPATH=${site} PYTHONDONTWRITEBYTECODE= LD_LIBRARY_PATH=
       ${PYTHON} -c "${program}")
endif()
find_program(pkg_config pkg-config)
file(GLOB_RECURSE pc ${moved}/*/gnuradio-gpufec.pc)
if(pkg_config)
  get_filename_component(pc ${pc} DIRECTORY)
  step(${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${pc} ${pkg_config} --variable=includedir
       gnuradio-gpufec)
  separate_arguments(include UNIX_COMMAND "${output}") # pkg-config escapes spaces
  if(NOT EXISTS ${include}/gnuradio/gpufec/arrays.h)
    message(FATAL_ERROR "pkg-config reports ${include}, which has no headers")
  endif()
endif()
file(RENAME ${moved} ${prefix})

# Tests that uninstalling leaves no file or folder of the project. Names are relative to the prefix,
# whose own path may contain "gpufec".
step(${CMAKE_COMMAND} -P ${BUILD}/cmake_uninstall.cmake)
file(GLOB_RECURSE left LIST_DIRECTORIES true RELATIVE ${prefix} ${prefix}/*)
list(FILTER left INCLUDE REGEX "gpufec|gnuradio")
if(left)
  message(FATAL_ERROR "After uninstalling, these files and folders are left: ${left}")
endif()
