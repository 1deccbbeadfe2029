# unstarve_profile_files(TARGET FOLDER folder)
#
# Adds to TARGET the function `profile_files()` of emulated/profile/profile_files.h: the text
# of every *.json in FOLDER, so that an emulation needs no files beside its library.
function(unstarve_profile_files TARGET)
  cmake_parse_arguments(ARG "" "FOLDER" "" ${ARGN})
  file(GLOB files CONFIGURE_DEPENDS "${ARG_FOLDER}/*.json")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${files})
  set(entries "")
  foreach(file IN LISTS files)
    get_filename_component(name "${file}" NAME_WE)
    file(READ "${file}" text)
    string(APPEND entries "      {\"${name}\", R\"json(${text})json\"},\n")
  endforeach()
  set(output "${CMAKE_CURRENT_BINARY_DIR}/profile_files.cpp")
  file(CONFIGURE OUTPUT "${output}" @ONLY CONTENT [=[
// Made by the build from the files of emulated/profile/data.
#include "emulated/profile/profile_files.h"

namespace unstarve::emulated {

std::vector<ProfileFile> profile_files() {
  return {
@entries@  };
}

}  // namespace unstarve::emulated
]=])
  target_sources(${TARGET} PRIVATE "${output}")
endfunction()
