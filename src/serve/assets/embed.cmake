# cmake -DSOURCE=FOLDER -DDYGRAPHS=FILE.js -DDYGRAPHS_STYLE=FILE.css -DLICENCE=FILE
#       -DOUTPUT=FILE.cpp -P embed.cmake
#
# Writes the script and the style of SOURCE, and dygraphs' behind its licence, into a C++ file as
# string literals.

# A function that returns `content`. The delimiter of the literal does not occur in a page.
function(literal name content result)
  set(${result} "std::string_view ${name}() {\n  return R\"~embedded~(${content})~embedded~\";\n}\n"
      PARENT_SCOPE)
endfunction()

file(READ "${SOURCE}/serve.js" script)
file(READ "${SOURCE}/serve.css" style)
file(READ "${DYGRAPHS}" dygraphs)
file(READ "${DYGRAPHS_STYLE}" dygraph_style)
file(READ "${LICENCE}" licence)
string(REPLACE "*/" "* /" licence "${licence}")
# They name files that nobody serves.
string(REGEX REPLACE "//# sourceMappingURL=[^\n]*" "" dygraphs "${dygraphs}")
string(REGEX REPLACE "/[*]# sourceMappingURL=[^\n]*" "" dygraph_style "${dygraph_style}")

literal(script "${script}" script)
literal(style "${style}" style)
literal(dygraphs "/*\n${licence}*/\n${dygraphs}" dygraphs)
literal(dygraph_style "${dygraph_style}" dygraph_style)
file(WRITE "${OUTPUT}"
    "// Made by src/serve/assets/embed.cmake.\n#include \"serve/assets/assets.h\"\n\n"
    "namespace unstarve::serve::assets {\n\n${script}\n${style}\n${dygraphs}\n${dygraph_style}\n"
    "}  // namespace unstarve::serve::assets\n")
