# unstarve_stand_in(SONAME [VERSION_NODE node] [MAJOR 12|13] [SOURCES file...] EXPORTS pattern...)
#
# One library that stands in for NVIDIA's of the name SONAME: every *.cpp below the calling folder
# that is no test (or SOURCES), plus the stubs that `missing/SONAME.txt` lists, if it is there (its
# README says how it looks): each reports itself and fails.
# Exports what begins as the API does (EXPORTS: patterns of a version script), nothing else, under
# the version VERSION_NODE, or what the list of stubs says. MAJOR compiles for that CUDA:
# UNSTARVE_CUDA_MAJOR. All lie in one folder beside libunstarve_emulated_gpu.so, which they share.
#
# unstarve_stubs_alone(SONAME): the same of a library of which nothing is written.
#
# unstarve_stand_in_test(NAME [MAJOR 12|13] SOURCES file...): the calling folder's *_test.cpp with
# those sources, as the test program NAME_test.
set(UNSTARVE_EMULATED_FOLDER "${CMAKE_BINARY_DIR}/lib/emulated")

# The stubs of SONAME as a source file, and what the list's first line says after the error number.
function(unstarve_stubs SONAME SOURCE_VARIABLE VERSION_NODE_VARIABLE)
  set(names "${UNSTARVE_MISSING_FOLDER}/${SONAME}.txt")
  set(${SOURCE_VARIABLE} "" PARENT_SCOPE)
  set(${VERSION_NODE_VARIABLE} "" PARENT_SCOPE)
  if(NOT EXISTS "${names}")
    return()
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${names}")
  set(stubs "${CMAKE_CURRENT_BINARY_DIR}/missing_${SONAME}.cpp")
  add_custom_command(OUTPUT "${stubs}"
      COMMAND ${CMAKE_COMMAND} -DNAMES=${names} -DLIBRARY=${SONAME} -DOUTPUT=${stubs}
              -P "${CMAKE_SOURCE_DIR}/cmake/write_stubs.cmake"
      DEPENDS "${names}" "${CMAKE_SOURCE_DIR}/cmake/write_stubs.cmake" VERBATIM)
  set(${SOURCE_VARIABLE} "${stubs}" PARENT_SCOPE)
  file(STRINGS "${names}" head LIMIT_COUNT 1)
  if(head MATCHES "^-?[0-9]+ (.+)$")
    set(${VERSION_NODE_VARIABLE} "${CMAKE_MATCH_1}" PARENT_SCOPE)
  endif()
endfunction()

function(unstarve_stand_in SONAME)
  cmake_parse_arguments(ARG "STUBS_ALONE" "VERSION_NODE;MAJOR" "SOURCES;EXPORTS" ${ARGN})
  if(NOT ARG_SOURCES AND NOT ARG_STUBS_ALONE)
    file(GLOB_RECURSE ARG_SOURCES CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
    list(FILTER ARG_SOURCES EXCLUDE REGEX "_test\\.cpp$")
  endif()
  string(MAKE_C_IDENTIFIER "unstarve_stand_in_${SONAME}" target)

  unstarve_stubs(${SONAME} stubs node)
  if(NOT ARG_VERSION_NODE)
    set(ARG_VERSION_NODE "${node}")
  endif()
  set(script "${CMAKE_CURRENT_BINARY_DIR}/${SONAME}.map")
  list(JOIN ARG_EXPORTS "; " exports)
  file(CONFIGURE OUTPUT "${script}"
      CONTENT "${ARG_VERSION_NODE} { global: ${exports}; local: *; };\n")

  add_library(${target} SHARED ${ARG_SOURCES} ${stubs})
  target_link_libraries(${target} PRIVATE unstarve_emulated_gpu unstarve_flags)
  target_compile_definitions(${target}
      PRIVATE $<$<BOOL:${ARG_MAJOR}>:UNSTARVE_CUDA_MAJOR=${ARG_MAJOR}>)
  target_link_options(${target} PRIVATE "LINKER:-soname,${SONAME}"
      "LINKER:--version-script,${script}" "LINKER:--exclude-libs,ALL"
      -static-libstdc++ -static-libgcc)
  set_target_properties(${target} PROPERTIES
      PREFIX "" SUFFIX "" OUTPUT_NAME "${SONAME}" NO_SONAME ON LINK_DEPENDS "${script}"
      LIBRARY_OUTPUT_DIRECTORY "${UNSTARVE_EMULATED_FOLDER}"
      CXX_VISIBILITY_PRESET default  # the script says what is exported
      BUILD_RPATH "$ORIGIN" INSTALL_RPATH "$ORIGIN" BUILD_WITH_INSTALL_RPATH ON)
  unstarve_precompile(${target} emulated)
  unstarve_compile_in_units(${target} ${ARG_SOURCES})
  add_dependencies(unstarve_stand_ins ${target})
  set_property(GLOBAL APPEND PROPERTY UNSTARVE_STAND_INS ${SONAME})
endfunction()

function(unstarve_stubs_alone SONAME)
  file(STRINGS "${UNSTARVE_MISSING_FOLDER}/${SONAME}.txt" exports)
  list(POP_FRONT exports)
  list(TRANSFORM exports REPLACE " .*" "")
  if(NOT exports)
    set(exports "unstarve_nothing")
  endif()
  unstarve_stand_in(${SONAME} STUBS_ALONE EXPORTS ${exports})
endfunction()

function(unstarve_stand_in_test NAME)
  if(NOT UNSTARVE_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "MAJOR" "SOURCES" ${ARGN})
  file(GLOB tests CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*_test.cpp")
  add_executable(${NAME}_test ${tests} ${ARG_SOURCES})
  target_link_libraries(${NAME}_test PRIVATE
      unstarve_emulated_gpu unstarve_flags fmt::fmt tl::expected GTest::gmock GTest::gtest_main)
  target_compile_definitions(${NAME}_test
      PRIVATE $<$<BOOL:${ARG_MAJOR}>:UNSTARVE_CUDA_MAJOR=${ARG_MAJOR}>)
  unstarve_compile_test(${NAME}_test)
  add_test(NAME ${NAME} COMMAND ${NAME}_test)
  set_tests_properties(${NAME} PROPERTIES TIMEOUT 60)
endfunction()
