# Sources of one folder are compiled as one unit: reading the headers is most of what compiling a
# short source takes. So names in the anonymous namespaces of a folder's sources differ. Where one
# source at a time is compiled (UNSTARVE_UNITS=OFF: the preset `alone`) a missing #include shows.
option(UNSTARVE_UNITS "Compile the sources of a folder as one unit" ON)

# unstarve_compile_in_units(TARGET SOURCE...)
#
# Makes a unit of each folder's sources. A folder with fewer than a few adds its own to its
# parent's, so that units are neither small nor depend on what other folders hold.
set(UNSTARVE_SMALLEST_UNIT 8)

function(unstarve_compile_in_units TARGET)
  if(NOT UNSTARVE_UNITS)
    return()
  endif()
  set(folders "")
  foreach(source IN LISTS ARGN)
    if(NOT source MATCHES "^\\$<|_simd\\.cpp$")  # Highway compiles those once for each target
      get_filename_component(folder "${source}" DIRECTORY)
      list(APPEND folders "${folder}")
      list(APPEND "sources_of_${folder}" "${source}")
    endif()
  endforeach()
  # From the deepest up.
  while(folders)
    list(REMOVE_DUPLICATES folders)
    list(SORT folders COMPARE STRING ORDER DESCENDING)
    list(POP_FRONT folders folder)
    list(LENGTH "sources_of_${folder}" count)
    get_filename_component(parent "${folder}" DIRECTORY)
    if(count LESS UNSTARVE_SMALLEST_UNIT AND NOT folder STREQUAL CMAKE_CURRENT_SOURCE_DIR AND
        folder MATCHES "^${CMAKE_CURRENT_SOURCE_DIR}/")
      list(APPEND folders "${parent}")
      list(APPEND "sources_of_${parent}" ${sources_of_${folder}})
    elseif(count GREATER 1)
      file(RELATIVE_PATH unit "${CMAKE_CURRENT_SOURCE_DIR}" "${folder}")
      string(MAKE_C_IDENTIFIER "in_${unit}" unit)
      set_source_files_properties(${sources_of_${folder}} PROPERTIES UNITY_GROUP "${unit}")
    endif()
  endwhile()
  set_target_properties(${TARGET} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # It takes a type of a source's own for one of a header, since a unit includes the source.
    target_compile_options(${TARGET} PRIVATE -Wno-subobject-linkage)
  endif()
endfunction()
