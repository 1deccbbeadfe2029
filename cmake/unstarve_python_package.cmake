# Stages the Python package: build/PRESET/python/unstarve gets links to python/unstarve/*, and the
# native module (src/binding) lands beside them, so that PYTHONPATH=build/PRESET/python is the
# package. The hook that `unstarve run` loads into a job lives there as well, so this does not
# depend on UNSTARVE_PYTHON.
set(UNSTARVE_PYTHON_STAGE "${CMAKE_BINARY_DIR}/python/unstarve")
file(MAKE_DIRECTORY "${UNSTARVE_PYTHON_STAGE}")
file(GLOB package_entries CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/python/unstarve/*")
foreach(entry IN LISTS package_entries)
  get_filename_component(entry_name "${entry}" NAME)
  if(NOT entry_name STREQUAL "__pycache__")
    file(CREATE_LINK "${entry}" "${UNSTARVE_PYTHON_STAGE}/${entry_name}" SYMBOLIC)
  endif()
endforeach()

# The link to a file that was removed or renamed must not stay.
file(GLOB staged_entries "${UNSTARVE_PYTHON_STAGE}/*")
foreach(entry IN LISTS staged_entries)
  if(IS_SYMLINK "${entry}" AND NOT EXISTS "${entry}")
    file(REMOVE "${entry}")
  endif()
endforeach()
