# unstarve_stand_in(FOLDER SONAME [VERSION_NODE node] [MAJOR 12|13] [SOURCES file...])
#
# One library that stands in for NVIDIA's of the name SONAME: every *.cpp of the calling folder that
# is no test (or SOURCES), plus the stubs `../missing/SONAME.txt` lists, if it is there: one function
# name a line, each of which reports itself and fails with the number on the file's first line.
# Exports what begins as the API does (EXPORTS: patterns of a version script), nothing else, under
# the version VERSION_NODE if one is given. MAJOR compiles for that CUDA: UNSTARVE_CUDA_MAJOR.
# All lie in one folder beside libunstarve_emulated_gpu.so, the engine they share.
set(UNSTARVE_EMULATED_FOLDER "${CMAKE_BINARY_DIR}/lib/emulated")

function(unstarve_stand_in SONAME)
  cmake_parse_arguments(ARG "" "VERSION_NODE;MAJOR" "SOURCES;EXPORTS" ${ARGN})
  if(NOT ARG_SOURCES)
    file(GLOB ARG_SOURCES CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
    list(FILTER ARG_SOURCES EXCLUDE REGEX "_test\\.cpp$")
  endif()
  string(MAKE_C_IDENTIFIER "unstarve_stand_in_${SONAME}" target)

  set(names "${UNSTARVE_MISSING_FOLDER}/${SONAME}.txt")
  if(EXISTS "${names}")
    set(stubs "${CMAKE_CURRENT_BINARY_DIR}/missing_${SONAME}.cpp")
    add_custom_command(OUTPUT "${stubs}"
        COMMAND ${CMAKE_COMMAND} -DNAMES=${names} -DLIBRARY=${SONAME} -DOUTPUT=${stubs}
                -P "${CMAKE_SOURCE_DIR}/cmake/write_stubs.cmake"
        DEPENDS "${names}" "${CMAKE_SOURCE_DIR}/cmake/write_stubs.cmake" VERBATIM)
    list(APPEND ARG_SOURCES "${stubs}")
  endif()

  set(script "${CMAKE_CURRENT_BINARY_DIR}/${SONAME}.map")
  list(JOIN ARG_EXPORTS "; " exports)
  file(CONFIGURE OUTPUT "${script}" CONTENT "${ARG_VERSION_NODE} { global: ${exports}; local: *; };\n")

  add_library(${target} SHARED ${ARG_SOURCES})
  target_link_libraries(${target} PRIVATE unstarve_emulated_gpu unstarve_flags)
  target_compile_definitions(${target} PRIVATE $<$<BOOL:${ARG_MAJOR}>:UNSTARVE_CUDA_MAJOR=${ARG_MAJOR}>)
  target_link_options(${target} PRIVATE "LINKER:-soname,${SONAME}" "LINKER:--version-script,${script}"
      "LINKER:--exclude-libs,ALL" -static-libstdc++ -static-libgcc)
  set_target_properties(${target} PROPERTIES
      PREFIX "" SUFFIX "" OUTPUT_NAME "${SONAME}" NO_SONAME ON LINK_DEPENDS "${script}"
      LIBRARY_OUTPUT_DIRECTORY "${UNSTARVE_EMULATED_FOLDER}"
      BUILD_RPATH "$ORIGIN" INSTALL_RPATH "$ORIGIN" BUILD_WITH_INSTALL_RPATH ON)
  add_dependencies(unstarve_stand_ins ${target})
  set_property(GLOBAL APPEND PROPERTY UNSTARVE_STAND_INS ${target})
endfunction()
