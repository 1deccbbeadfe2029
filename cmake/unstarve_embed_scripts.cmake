# unstarve_embed_scripts(TARGET NAMESPACE namespace HEADER header FOLDER folder)
#
# Adds to TARGET, for each NAME.py of FOLDER, the function `std::string_view NAME_script()` of
# HEADER: its text, for an interpreter that is given it by `python -c`. A script may import another
# one of the folder, which then stands before it in that text: such lines are left out.
function(unstarve_embed_scripts TARGET)
  cmake_parse_arguments(ARG "" "NAMESPACE;HEADER;FOLDER" "" ${ARGN})
  file(GLOB files CONFIGURE_DEPENDS "${ARG_FOLDER}/*.py")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${files})
  set(functions "")
  foreach(file IN LISTS files)
    get_filename_component(name "${file}" NAME_WE)
    file(READ "${file}" text)
    foreach(other IN LISTS files)
      get_filename_component(module "${other}" NAME_WE)
      string(REGEX REPLACE "\nfrom ${module} import [^\n]*" "" text "${text}")
    endforeach()
    string(APPEND functions
        "std::string_view ${name}_script() {\n  return R\"~script~(${text})~script~\";\n}\n\n")
  endforeach()
  set(output "${CMAKE_CURRENT_BINARY_DIR}/embedded_scripts.cpp")
  file(CONFIGURE OUTPUT "${output}" @ONLY CONTENT [=[
// Made by the build from the scripts of @ARG_FOLDER@.
#include "@ARG_HEADER@"

namespace @ARG_NAMESPACE@ {

@functions@}  // namespace @ARG_NAMESPACE@
]=])
  target_sources(${TARGET} PRIVATE "${output}")
endfunction()
