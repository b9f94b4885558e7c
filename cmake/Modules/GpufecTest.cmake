# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

# gpufec_test(ROOM NAME [gpu]): GoogleTest of ROOM/qa_NAME.cc
include(GoogleTest)

# The tests that use a GPU, by name, for scripts/gpu-test.
set(gpufec_gpu_tests ${PROJECT_BINARY_DIR}/lib/gpu_tests)
file(WRITE ${gpufec_gpu_tests} "")

function(gpufec_test room name)
  set(target qa_${room}_${name})
  add_executable(${target} ${room}/qa_${name}.cc)
  # Where reference data may lie beside the sources; __FILE__ may be relative.
  target_compile_definitions(${target} PRIVATE GPUFEC_SOURCE_FOLDER="${PROJECT_SOURCE_DIR}")
  target_link_libraries(${target} gpufec_core gpufec_lab gpufec_options GTest::gtest_main)
  gtest_discover_tests(${target} TEST_PREFIX ${room}. DISCOVERY_TIMEOUT 60
                       NO_PRETTY_VALUES TEST_LIST ${target}_tests)
  # As a property given above, all labels but the first would be lost.
  set(labels ${room} ${ARGN})
  set(labels_file ${CMAKE_CURRENT_BINARY_DIR}/${target}_labels.cmake)
  file(WRITE ${labels_file}
      "if(${target}_tests)\n"
      "  set_tests_properties(\${${target}_tests} PROPERTIES LABELS \"${labels}\")\n"
      "endif()\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${labels_file})
  if("gpu" IN_LIST ARGN)
    file(APPEND ${gpufec_gpu_tests} "${target}\n")
  endif()
endfunction()
