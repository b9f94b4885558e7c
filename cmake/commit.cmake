# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

# Writes the commit of the source tree to FILE:
# cmake -DSOURCE=... -DFILE=... -P commit.cmake

cmake_minimum_required(VERSION 3.22)
set(commit "unknown")
find_package(Git QUIET)
if(GIT_FOUND)
  execute_process(COMMAND ${GIT_EXECUTABLE} -C ${SOURCE} describe --always --abbrev=12 --dirty
                          --exclude=*
                  OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET
                  RESULT_VARIABLE status)
  if(status EQUAL 0)
    set(commit ${described})
  endif()
endif()
file(WRITE ${FILE} "${commit}\n")
