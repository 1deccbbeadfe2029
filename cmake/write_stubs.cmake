# Writes OUTPUT: a function for each name that the file NAMES lists, which reports itself as missing
# in LIBRARY and gives back the number on the file's first line, or the one behind its own name.
# What describes an error gives back a text. They are weak: what is written by hand wins.
file(STRINGS "${NAMES}" lines)
list(POP_FRONT lines head)
string(REGEX REPLACE " .*" "" error "${head}")
set(text "#include \"emulated/process/gpu.h\"\n\n")
string(APPEND text
    "#define MISSING(type, name, result) \\\n"
    "  extern \"C\" __attribute__((weak, visibility(\"default\"))) type name(); \\\n"
    "  type name() { \\\n"
    "    unstarve::emulated::report_missing(\"${LIBRARY}\", #name); \\\n"
    "    return result; \\\n"
    "  }\n\n")
foreach(line IN LISTS lines)
  if(line MATCHES "^([A-Za-z0-9_]+) (-?[0-9]+)$")
    string(APPEND text "MISSING(long, ${CMAKE_MATCH_1}, ${CMAKE_MATCH_2})\n")
  elseif(line MATCHES "(Error|Status|Result|Last)[A-Za-z]*(String|Name|Message)$")
    string(APPEND text "MISSING(const char*, ${line}, \"not supported by the emulated GPU\")\n")
  else()
    string(APPEND text "MISSING(long, ${line}, ${error})\n")
  endif()
endforeach()
file(WRITE "${OUTPUT}" "${text}")
