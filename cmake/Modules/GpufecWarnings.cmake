# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

option(GPUFEC_WERROR "Treat warnings as errors" OFF)
option(GPUFEC_ASSERTIONS "The standard library checks indices and the like" OFF)
set(GPUFEC_SANITIZE "" CACHE STRING "Sanitizers, as for -fsanitize: address,undefined or thread")

# Sets the compiler options of every target of this project.
add_library(gpufec_options INTERFACE)
target_compile_options(
  gpufec_options
  INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wno-unused-parameter>
            $<$<AND:$<BOOL:${GPUFEC_WERROR}>,$<COMPILE_LANGUAGE:CXX>>:-Werror>)
if(GPUFEC_ASSERTIONS)
  add_compile_definitions(_GLIBCXX_ASSERTIONS)
endif()
if(GPUFEC_SANITIZE)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX,C>:-fsanitize=${GPUFEC_SANITIZE}>
                      $<$<COMPILE_LANGUAGE:CXX,C>:-fno-omit-frame-pointer>
                      $<$<COMPILE_LANGUAGE:CXX,C>:-fno-sanitize-recover=all>)
  add_link_options(-fsanitize=${GPUFEC_SANITIZE})
endif()
