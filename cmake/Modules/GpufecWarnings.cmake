# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

set(GPUFEC_WERROR OFF CACHE STRING
    "Whether warnings are errors: OFF, ON, or KNOWN (only with tested compilers)")
set_property(CACHE GPUFEC_WERROR PROPERTY STRINGS OFF KNOWN ON)
option(GPUFEC_ASSERTIONS "Enable assertions of the C++ standard library, such as index checks" OFF)
set(GPUFEC_SANITIZE "" CACHE STRING "Value of -fsanitize, such as address,undefined or thread")

# Major versions of the compilers in .github/workflows/test.yml. A newer compiler has new warnings,
# which must not break the build of a user who runs the tests.
set(gpufec_known_GNU 11 12 13 14)
set(gpufec_known_Clang 14)
string(TOUPPER "${GPUFEC_WERROR}" gpufec_werror)
if(gpufec_werror STREQUAL "KNOWN")
  string(REGEX MATCH "^[0-9]+" gpufec_compiler_major "${CMAKE_CXX_COMPILER_VERSION}")
  if(NOT gpufec_compiler_major IN_LIST gpufec_known_${CMAKE_CXX_COMPILER_ID})
    set(gpufec_werror OFF)
    string(REPLACE ";" ", " gpufec_known
           "GNU ${gpufec_known_GNU} and Clang ${gpufec_known_Clang}")
    message(NOTICE "Warnings are not errors: ${CMAKE_CXX_COMPILER_ID} "
            "${CMAKE_CXX_COMPILER_VERSION} is not among the tested compilers (${gpufec_known})")
  endif()
endif()

# Sets the compiler options of every target of this project.
add_library(gpufec_options INTERFACE)
target_compile_options(
  gpufec_options
  INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wno-unused-parameter>
            $<$<AND:$<BOOL:${gpufec_werror}>,$<COMPILE_LANGUAGE:CXX>>:-Werror>)
if(GPUFEC_ASSERTIONS)
  add_compile_definitions(_GLIBCXX_ASSERTIONS)
endif()
if(GPUFEC_SANITIZE)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX,C>:-fsanitize=${GPUFEC_SANITIZE}>
                      $<$<COMPILE_LANGUAGE:CXX,C>:-fno-omit-frame-pointer>
                      $<$<COMPILE_LANGUAGE:CXX,C>:-fno-sanitize-recover=all>)
  add_link_options(-fsanitize=${GPUFEC_SANITIZE})
endif()
