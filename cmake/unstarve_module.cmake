# unstarve_module(NAME [DEPENDS module...] [LIBRARIES target...])
#
# One static library `unstarve_NAME` from every *.cpp below the calling folder that is not for
# tests, and one test program `NAME_test` from those that are: *_test.cpp, and the helpers in
# folders named testing/. Folders listed in EXCLUDE are left to CMakeLists.txt files of their own.
# OPTIMISED_ALONE says that the library is compiled with optimisations of its own, COMPILED_BRIEFLY
# that its speed does not matter. OBJECTS names a target whose objects are taken for those sources
# that it compiles.
# Suites named ...Stress are run once more as the test NAME_stress with the label `stress`, which
# `make check` repeats under ThreadSanitizer.
function(unstarve_module NAME)
  cmake_parse_arguments(ARG "OPTIMISED_ALONE;COMPILED_BRIEFLY" "OBJECTS"
      "DEPENDS;LIBRARIES;TEST_LIBRARIES;EXCLUDE" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  foreach(excluded IN LISTS ARG_EXCLUDE)
    list(FILTER sources EXCLUDE REGEX "^${CMAKE_CURRENT_SOURCE_DIR}/${excluded}/")
  endforeach()
  set(tests ${sources})
  set(of_tests "(_test|/testing/[^/]+)\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "${of_tests}")
  list(FILTER tests INCLUDE REGEX "${of_tests}")

  if(ARG_OBJECTS)
    get_target_property(compiled_elsewhere ${ARG_OBJECTS} SOURCES)
    list(REMOVE_ITEM sources ${compiled_elsewhere})
    list(APPEND sources $<TARGET_OBJECTS:${ARG_OBJECTS}>)
  endif()

  list(TRANSFORM ARG_DEPENDS PREPEND unstarve_)
  if(sources)
    add_library(unstarve_${NAME} STATIC ${sources})
    target_link_libraries(unstarve_${NAME}
        PUBLIC ${ARG_DEPENDS} ${ARG_LIBRARIES} PRIVATE unstarve_flags)
    target_include_directories(unstarve_${NAME} PUBLIC "${CMAKE_SOURCE_DIR}/src")
    if(ARG_COMPILED_BRIEFLY)
      unstarve_compile_briefly(unstarve_${NAME})
    elseif(NOT ARG_OPTIMISED_ALONE)
      unstarve_precompile(unstarve_${NAME} modules)
    endif()
    unstarve_compile_in_units(unstarve_${NAME} ${sources})
  else()
    add_library(unstarve_${NAME} INTERFACE)
    target_link_libraries(unstarve_${NAME} INTERFACE ${ARG_DEPENDS} ${ARG_LIBRARIES})
    target_include_directories(unstarve_${NAME} INTERFACE "${CMAKE_SOURCE_DIR}/src")
  endif()

  if(UNSTARVE_BUILD_TESTS AND tests)
    add_executable(${NAME}_test ${tests})
    target_link_libraries(${NAME}_test PRIVATE
        unstarve_${NAME} unstarve_flags ${ARG_TEST_LIBRARIES} GTest::gmock GTest::gtest_main)
    target_compile_definitions(${NAME}_test PRIVATE
        UNSTARVE_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
    unstarve_compile_test(${NAME}_test)
    unstarve_compile_in_units(${NAME}_test ${tests})
    add_test(NAME ${NAME} COMMAND ${NAME}_test)
    set_tests_properties(${NAME} PROPERTIES TIMEOUT 300)
    foreach(test IN LISTS tests)
      file(STRINGS "${test}" stress_suites LIMIT_COUNT 1
          REGEX "^TEST(_F|_P)?\\([A-Za-z0-9]*Stress,")
      if(stress_suites)
        add_test(NAME ${NAME}_stress COMMAND ${NAME}_test --gtest_filter=*Stress.*)
        set_tests_properties(${NAME}_stress PROPERTIES TIMEOUT 300 LABELS stress)
        break()
      endif()
    endforeach()
  endif()
endfunction()
