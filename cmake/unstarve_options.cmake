# Language, warnings and sanitizers, the same for every target of the project.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)   # everything may end up in the Python module
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

set(UNSTARVE_SANITIZE "" CACHE STRING "Value for -fsanitize=, for example address,undefined")
option(UNSTARVE_ONLY_TESTED "Build what no C++ test runs, the command line say, only on demand" OFF)
option(UNSTARVE_FUZZ "Build the libFuzzer targets (clang only)" OFF)
option(UNSTARVE_PYTHON "Build the Python module" ON)
option(UNSTARVE_BUILD_TESTS "Build the unit tests" ON)
option(UNSTARVE_WERROR "Warnings are errors (the presets of development say so)" OFF)
option(UNSTARVE_STATIC_RUNTIME "Link libstdc++ and libgcc statically" OFF)
option(UNSTARVE_CUDA_COMPILE "Also compile the CUDA kernels (needs nvcc, not a GPU)" OFF)

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER "${CCACHE_PROGRAM}")
  # ccache keeps what began with precompiled headers only if it is told to, and would read their
  # 90 MB again for each source.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      env CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_INODECACHE=1 "${CCACHE_PROGRAM}")
endif()

add_library(unstarve_flags INTERFACE)
target_include_directories(unstarve_flags INTERFACE "${CMAKE_SOURCE_DIR}/src")
target_compile_options(unstarve_flags INTERFACE
    -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wnon-virtual-dtor -Wold-style-cast)
if(UNSTARVE_WERROR)
  target_compile_options(unstarve_flags INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  target_compile_options(unstarve_flags INTERFACE -Wthread-safety)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # At -O3 g++ 12 takes libstdc++'s own inlined vector and string code for overflows (GCC bugs
  # 105329, 107852), and what an empty optional holds for a value that was read (80635).
  # AddressSanitizer and clang's analyser look for the real ones.
  target_compile_options(unstarve_flags INTERFACE
      -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread
      -Wno-maybe-uninitialized)
endif()
if(UNSTARVE_STATIC_RUNTIME AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # A job may bring a libstdc++ of another age; what we export is listed where it is linked.
  add_link_options(-static-libstdc++ -static-libgcc)
endif()
if(CMAKE_BUILD_TYPE STREQUAL "Debug")
  target_compile_definitions(unstarve_flags INTERFACE _GLIBCXX_ASSERTIONS)
endif()
if(UNSTARVE_SANITIZE)
  add_compile_options(
      -fsanitize=${UNSTARVE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${UNSTARVE_SANITIZE})
endif()
if(UNSTARVE_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
