# unstarve_precompile(TARGET SET)
#
# Has TARGET's sources begin with a set of headers that the compiler has read before: reading them
# again is half of what compiling takes. A source still includes what it uses, since clang's presets
# compile without this. Each set is compiled once, by the flags of the targets that share it: what
# is compiled with other optimisation (-O, -f...) must not take it.
#
#   emulated  the standard library, visible whatever the flags: for the emulated GPU's libraries
#   modules   the same and what results and texts are made with, hidden: for our static libraries
#   brief     the same, for those of them that say COMPILED_BRIEFLY
#   tests     the same and GoogleTest, for test programs
set(UNSTARVE_STANDARD_HEADERS
    <algorithm> <array> <atomic> <chrono> <cmath> <condition_variable> <cstdint> <cstring> <deque>
    <filesystem> <functional> <map> <memory> <mutex> <optional> <span> <stop_token> <string>
    <string_view> <thread> <unordered_map> <vector>)
set(UNSTARVE_BRIEF_OPTIONS $<$<CONFIG:Release>:-O1>)

set(precompile OFF)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_BUILD_TYPE STREQUAL "Release" AND
    NOT UNSTARVE_SANITIZE)
  set(precompile ON)
endif()
option(UNSTARVE_PRECOMPILE "Read the standard library's headers once (g++)" ${precompile})

set(UNSTARVE_PRECOMPILED_SETS emulated modules brief)
if(UNSTARVE_BUILD_TESTS)
  list(APPEND UNSTARVE_PRECOMPILED_SETS tests)
endif()
foreach(set IN LISTS UNSTARVE_PRECOMPILED_SETS)
  if(UNSTARVE_PRECOMPILE)
    set(owner unstarve_precompiled_${set})
    set(source "${CMAKE_BINARY_DIR}/${owner}.cpp")
    # The headers are what is compiled.
    file(CONFIGURE OUTPUT "${source}" CONTENT "int main() {}\n")
    if(set STREQUAL "tests")  # programs are compiled as such: -fPIE
      add_executable(${owner} EXCLUDE_FROM_ALL "${source}")
    else()
      add_library(${owner} OBJECT EXCLUDE_FROM_ALL "${source}")
    endif()
    target_precompile_headers(${owner} PRIVATE ${UNSTARVE_STANDARD_HEADERS})
    target_link_libraries(${owner} PRIVATE unstarve_flags)
    if(NOT set STREQUAL "emulated")
      target_precompile_headers(${owner} PRIVATE <fmt/format.h> <tl/expected.hpp>)
      target_link_libraries(${owner} PRIVATE fmt::fmt tl::expected)
    endif()
    if(set STREQUAL "tests")
      target_precompile_headers(${owner} PRIVATE <gmock/gmock.h> <gtest/gtest.h>)
      target_link_libraries(${owner} PRIVATE GTest::gmock GTest::gtest)
    endif()
    if(set MATCHES "^(brief|tests)$")
      target_compile_options(${owner} PRIVATE ${UNSTARVE_BRIEF_OPTIONS})
    endif()
  endif()
endforeach()

function(unstarve_precompile TARGET SET)
  if(UNSTARVE_PRECOMPILE)
    target_precompile_headers(${TARGET} REUSE_FROM unstarve_precompiled_${SET})
  endif()
endfunction()

# unstarve_compile_briefly(TARGET): for what runs a few times in a run and would not be noticed to
# run faster, which -O1 compiles in two thirds of the time.
function(unstarve_compile_briefly TARGET)
  target_compile_options(${TARGET} PRIVATE ${UNSTARVE_BRIEF_OPTIONS})
  unstarve_precompile(${TARGET} brief)
endfunction()

# unstarve_compile_test(TARGET): a test program's own sources, whose speed does not matter. What it
# tests is compiled as users get it.
function(unstarve_compile_test TARGET)
  target_compile_options(${TARGET} PRIVATE ${UNSTARVE_BRIEF_OPTIONS})
  unstarve_precompile(${TARGET} tests)
endfunction()
