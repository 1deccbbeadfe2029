# Writes OUTPUT: a function for each name that the file NAMES lists, which reports itself as missing
# in LIBRARY and gives back the number on the file's first line. They are weak: what is written by
# hand wins.
file(STRINGS "${NAMES}" names)
list(POP_FRONT names error)
set(text "#include \"device/emulated/process/gpu.h\"\n\n")
string(APPEND text "#define MISSING(name)                                              \\\n")
string(APPEND text "  extern \"C\" __attribute__((weak, visibility(\"default\"))) int name(); \\\n")
string(APPEND text "  int name() {                                                      \\\n")
string(APPEND text "    unstarve::emulated::report_missing(\"${LIBRARY}\", #name); \\\n")
string(APPEND text "    return ${error};                                                \\\n  }\n\n")
foreach(name IN LISTS names)
  string(APPEND text "MISSING(${name})\n")
endforeach()
file(WRITE "${OUTPUT}" "${text}")
