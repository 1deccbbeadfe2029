# What an installation consists of: the command, and the Python package, which carries what the
# command needs besides itself (the hook, the emulated GPU's library, the demo). The command finds
# the package from where it lies itself: src/cli/installation.cpp.
#
# A wheel (SKBUILD) takes python/unstarve by itself; `cmake --install` puts the package where the
# Python of this build looks for packages below a prefix.
include(GNUInstallDirs)
if(SKBUILD)
  set(command_folder "${SKBUILD_SCRIPTS_DIR}")
  set(package_folder unstarve)
else()
  set(command_folder "${CMAKE_INSTALL_BINDIR}")
  set(python_folder lib/python3/site-packages)
  if(TARGET unstarve_python)
    # Asked of the Python below a virtual environment, whose packages are not a prefix's.
    execute_process(
      COMMAND "${Python_EXECUTABLE}" -c "import sys; print(sys._base_executable)"
      OUTPUT_VARIABLE base_python OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    execute_process(
      COMMAND "${base_python}" -I "${CMAKE_SOURCE_DIR}/cmake/python_folder.py"
      OUTPUT_VARIABLE python_folder OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  endif()
  set(UNSTARVE_PYTHON_FOLDER "${python_folder}" CACHE STRING "Below the prefix: Python's packages")
  set(package_folder "${UNSTARVE_PYTHON_FOLDER}/unstarve")
  install(DIRECTORY python/unstarve/ DESTINATION "${package_folder}" COMPONENT unstarve
          PATTERN __pycache__ EXCLUDE PATTERN ruff.toml EXCLUDE PATTERN README.md EXCLUDE)
endif()

install(TARGETS unstarve RUNTIME DESTINATION "${command_folder}" COMPONENT unstarve)
install(TARGETS unstarve_emulated_nvml
        LIBRARY DESTINATION "${package_folder}/lib" COMPONENT unstarve)
install(FILES examples/train.py DESTINATION "${package_folder}/demo" COMPONENT unstarve)
install(DIRECTORY tests/data/photos DESTINATION "${package_folder}/demo" COMPONENT unstarve)
if(TARGET unstarve_python)
  install(TARGETS unstarve_python LIBRARY DESTINATION "${package_folder}" COMPONENT unstarve)
endif()
if(UNSTARVE_BUNDLED)
  install(DIRECTORY "${UNSTARVE_THIRD_PARTY}/licenses" DESTINATION "${package_folder}"
          COMPONENT unstarve)
  install(FILES "${UNSTARVE_THIRD_PARTY}/versions.txt"
          DESTINATION "${package_folder}/licenses" COMPONENT unstarve)
endif()
