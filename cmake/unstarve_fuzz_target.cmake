# unstarve_fuzz_target(NAME [DEPENDS module...])
#
# One fuzz target, fuzz_NAME, from the calling folder's target.cpp, which defines
# LLVMFuzzerTestOneInput. In the `fuzz` preset it is a libFuzzer program; in every other build the
# same code replays the folder's corpus/ as the ordinary test fuzz_NAME.
function(unstarve_fuzz_target NAME)
  cmake_parse_arguments(ARG "" "" "DEPENDS" ${ARGN})
  if(NOT UNSTARVE_BUILD_TESTS)
    return()
  endif()
  list(TRANSFORM ARG_DEPENDS PREPEND unstarve_)
  set(corpus "${CMAKE_CURRENT_SOURCE_DIR}/corpus")

  add_executable(fuzz_${NAME} target.cpp)
  target_link_libraries(fuzz_${NAME} PRIVATE ${ARG_DEPENDS} unstarve_flags)
  if(UNSTARVE_FUZZ)
    target_link_options(fuzz_${NAME} PRIVATE -fsanitize=fuzzer)
    add_test(NAME fuzz_${NAME} COMMAND fuzz_${NAME} -runs=0 "${corpus}")
  else()
    target_sources(fuzz_${NAME} PRIVATE "${CMAKE_SOURCE_DIR}/fuzz/replay_main.cpp")
    add_test(NAME fuzz_${NAME} COMMAND fuzz_${NAME} "${corpus}")
  endif()
  set_tests_properties(fuzz_${NAME} PROPERTIES LABELS fuzz TIMEOUT 300)
endfunction()
