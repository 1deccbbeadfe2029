# unstarve_list_functions(TARGET FUNCTION name RETURNS type NAMESPACE namespace HEADER header
#                         SUFFIX suffix FOLDERS folder...)
#
# Adds to TARGET the function `std::vector<type> name()` of HEADER: what the function NAME_suffix()
# of each file NAME.cpp in FOLDERS returns. So that whoever adds one adds a file and nothing else.
function(unstarve_list_functions TARGET)
  cmake_parse_arguments(ARG "" "FUNCTION;RETURNS;NAMESPACE;HEADER;SUFFIX" "FOLDERS" ${ARGN})
  set(declarations "")
  set(calls "")
  foreach(folder IN LISTS ARG_FOLDERS)
    file(GLOB files CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cpp")
    list(FILTER files EXCLUDE REGEX "_test\\.cpp$")
    foreach(file IN LISTS files)
      get_filename_component(name "${file}" NAME_WE)
      string(APPEND declarations "${ARG_RETURNS} ${name}${ARG_SUFFIX}();\n")
      string(APPEND calls "      ${name}${ARG_SUFFIX}(),\n")
    endforeach()
  endforeach()
  set(output "${CMAKE_CURRENT_BINARY_DIR}/${ARG_FUNCTION}.cpp")
  file(CONFIGURE OUTPUT "${output}" @ONLY CONTENT [=[
// Made by the build from the files in @ARG_FOLDERS@.
#include "@ARG_HEADER@"

namespace @ARG_NAMESPACE@ {

@declarations@
std::vector<@ARG_RETURNS@> @ARG_FUNCTION@() {
  return {
@calls@  };
}

}  // namespace @ARG_NAMESPACE@
]=])
  target_sources(${TARGET} PRIVATE "${output}")
endfunction()
