# cmake -DSOURCE=FOLDER -DOUTPUT=FILE.cpp -P embed.cmake
#
# Writes report.html, report.css and report.js of SOURCE into a C++ file as string literals, with
# the hashes that the page's Content-Security-Policy names.

# Hexadecimal digits to base64: three bytes become four letters.
function(base64_from_hex hex result)
  set(alphabet "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
  string(LENGTH "${hex}" digits)
  set(encoded "")
  set(at 0)
  while(at LESS digits)
    string(SUBSTRING "${hex}" ${at} 6 group)
    string(LENGTH "${group}" group_digits)
    string(SUBSTRING "${group}0000" 0 6 group)
    math(EXPR bits "0x${group}")
    math(EXPR letters "${group_digits} / 2 + 1")
    foreach(letter RANGE 0 3)
      if(letter LESS letters)
        math(EXPR index "(${bits} >> (18 - 6 * ${letter})) & 63")
        string(SUBSTRING "${alphabet}" ${index} 1 character)
      else()
        set(character "=")
      endif()
      string(APPEND encoded "${character}")
    endforeach()
    math(EXPR at "${at} + 6")
  endwhile()
  set(${result} "${encoded}" PARENT_SCOPE)
endfunction()

# A function that returns the file's bytes. The delimiter of the literal does not occur in a page.
function(literal name file result)
  file(READ "${file}" content)
  set(${result} "std::string_view ${name}() {\n  return R\"~embedded~(${content})~embedded~\";\n}\n"
      PARENT_SCOPE)
endfunction()

function(hash name file result)
  file(SHA256 "${file}" hex)
  base64_from_hex("${hex}" encoded)
  set(${result} "std::string_view ${name}() { return \"${encoded}\"; }\n" PARENT_SCOPE)
endfunction()

literal(page "${SOURCE}/report.html" page)
literal(style "${SOURCE}/report.css" style)
literal(script "${SOURCE}/report.js" script)
hash(style_hash "${SOURCE}/report.css" style_hash)
hash(script_hash "${SOURCE}/report.js" script_hash)
file(WRITE "${OUTPUT}"
    "// Made by src/report/html/embed.cmake.\n#include \"report/html/assets.h\"\n\n"
    "namespace unstarve::report::assets {\n\n${page}\n${style}\n${script}\n${style_hash}"
    "${script_hash}\n}  // namespace unstarve::report::assets\n")
