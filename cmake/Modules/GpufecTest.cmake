# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

# gpufec_test(DECODER SOURCE [gpu]) adds a GoogleTest from SOURCE, a file qa_NAME.cc. DECODER
# becomes a label of the test. gpu is a second label; scripts/gpu-test runs tests with this label.
include(GoogleTest)

# Programs that a test starts keep settings and caches in the build folder, and do not change the
# user's own. Python still finds packages that the user installed with --user.
set(gpufec_test_home ${PROJECT_BINARY_DIR}/home)
file(MAKE_DIRECTORY ${gpufec_test_home})
set(GPUFEC_TEST_HOME "HOME=set:${gpufec_test_home}")
foreach(kind IN ITEMS CONFIG CACHE DATA STATE)
  list(APPEND GPUFEC_TEST_HOME "XDG_${kind}_HOME=unset:")
endforeach()
if(NOT DEFINED ENV{PYTHONUSERBASE})
  list(APPEND GPUFEC_TEST_HOME "PYTHONUSERBASE=set:$ENV{HOME}/.local")
endif()

# File with the names of the tests that use a GPU, for scripts/gpu-test.
set(gpufec_gpu_tests ${PROJECT_BINARY_DIR}/lib/gpu_tests)
file(WRITE ${gpufec_gpu_tests} "")

function(gpufec_test decoder source)
  get_filename_component(name ${source} NAME_WE)
  string(REGEX REPLACE "^qa_" "" name ${name})
  set(target qa_${decoder}_${name})
  add_executable(${target} ${source})
  # Tests find reference data by this absolute path; __FILE__ may be relative.
  target_compile_definitions(${target} PRIVATE GPUFEC_SOURCE_FOLDER="${PROJECT_SOURCE_DIR}")
  target_link_libraries(${target} gpufec_core gpufec_lab gpufec_options GTest::gtest_main)
  gtest_discover_tests(${target} TEST_PREFIX ${decoder}. DISCOVERY_TIMEOUT 60
                       NO_PRETTY_VALUES TEST_LIST ${target}_tests)
  # The labels are set here, because gtest_discover_tests() would set only the first label.
  set(labels ${decoder} ${ARGN})
  set(labels_file ${CMAKE_CURRENT_BINARY_DIR}/${target}_labels.cmake)
  file(WRITE ${labels_file}
      "if(${target}_tests)\n"
      "  set_tests_properties(\${${target}_tests} PROPERTIES LABELS \"${labels}\")\n"
      "endif()\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${labels_file})
  if("gpu" IN_LIST ARGN)
    file(APPEND ${gpufec_gpu_tests} "${target}\n")
    # This library can limit the tests to the resources of a smaller GPU; see lib/testing/README.md.
    target_link_libraries(${target} $<TARGET_NAME_IF_EXISTS:gpufec_limited_card>)
  endif()
endfunction()
