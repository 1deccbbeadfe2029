# What an installation consists of: the command, and the Python package, which carries what the
# command needs besides itself (the hook, the emulated GPUs' libraries, the demo). The command finds
# the package from where it lies itself: src/launch/installation.cpp.
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
# What stands in for NVIDIA's libraries: all in one folder, found by each other and by the command.
get_property(stand_ins GLOBAL PROPERTY UNSTARVE_STAND_INS)
list(TRANSFORM stand_ins PREPEND unstarve_stand_in_)
foreach(stand_in IN LISTS stand_ins ITEMS unstarve_emulated_gpu unstarve_redirect)
  string(MAKE_C_IDENTIFIER "${stand_in}" target)
  if(TARGET ${target})
    install(TARGETS ${target}
            LIBRARY DESTINATION "${package_folder}/lib/emulated" COMPONENT unstarve)
  endif()
endforeach()
# What the CUDA driver and the hook load into a job.
foreach(library unstarve_cupti unstarve_looks_library)
  if(TARGET ${library})
    install(TARGETS ${library} LIBRARY DESTINATION "${package_folder}/lib" COMPONENT unstarve)
  endif()
endforeach()
install(FILES examples/train.py examples/train_image_loader.py
        DESTINATION "${package_folder}/demo" COMPONENT unstarve)
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
