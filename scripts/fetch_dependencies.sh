#!/usr/bin/env bash
# Fetches the sources of requirements/bundled.txt into third_party/, for builds that bring their
# libraries along (-DUNSTARVE_DEPENDENCIES=bundled): Debian's source packages with their security
# fixes, through the machine's own mirrors and keys. Needs Debian 12, dpkg-dev and make, not root.
#   usage: scripts/fetch_dependencies.sh
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/own_apt.sh
source scripts/own_apt.sh

readonly LIST=requirements/bundled.txt
readonly TARGET=third_party

say() { printf 'dependencies: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

# fetch_source NAME VERSION: unpacked and patched, in $work/NAME.
fetch_source() {
  download source --download-only "$1" || return 1
  local description
  description="$(compgen -G "$work/$1_$2*.dsc" | head -n 1)" || return 1
  dpkg-source --no-copy --no-check -x "$description" "$work/$1" >/dev/null 2>&1 || return 1
  basename "$description" .dsc
}

# SQLite's one big file is generated; a Tcl that is not installed is unpacked for the purpose.
make_sqlite() {
  local tclsh=tclsh
  if ! command -v tclsh >/dev/null; then
    fetch_package libtcl8.6 >/dev/null && fetch_package tcl8.6 >/dev/null || return 1
    local root="$work/libtcl8.6/usr"
    printf '#!/bin/sh\nLD_LIBRARY_PATH=%q TCL_LIBRARY=%q exec %q "$@"\n' \
      "$(dirname "$(compgen -G "$root/lib/*/libtcl8.6.so")")" "$root/share/tcltk/tcl8.6" \
      "$work/tcl8.6/usr/bin/tclsh8.6" > "$work/tclsh"
    chmod +x "$work/tclsh"
    tclsh="$work/tclsh"
  fi
  mkdir -p "$work/sqlite-build"
  (cd "$work/sqlite-build" && "$work/sqlite3/configure" -q && make TCLSH_CMD="$tclsh" sqlite3.c) \
    >"$work/sqlite.log" 2>&1 || { tail -n 20 "$work/sqlite.log" >&2; return 1; }
}

# keep NAME FROM...: what the build needs of a library, and its licence.
keep() {
  local name="$1" licence
  shift
  mkdir -p "$staged/$name"
  cp -r "$@" "$staged/$name/"
  licence="$(compgen -G "$work/$name/debian/copyright" ||
    compgen -G "$work/$name/usr/share/doc/$name/copyright")"
  install -D -m 644 "$licence" "$staged/licenses/$name.txt"
}

keep_all() {
  keep fmtlib "$work"/fmtlib/{include,src}
  keep simdjson "$work"/simdjson/singleheader/simdjson.{h,cpp}
  keep zlib "$work"/zlib/*.[ch]
  keep libdeflate "$work"/libdeflate/{lib,common_defs.h,libdeflate.h}
  keep libwebp "$work/libwebp/src"
  rm -rf "$staged"/libwebp/src/{demux,mux,enc/*.c}
  keep libzstd "$work/libzstd/lib"
  keep xxhash "$work"/xxhash/xxhash.[ch]
  make_sqlite || die "SQLite's sources could not be generated"
  keep sqlite3 "$work"/sqlite-build/sqlite3.[ch]
  rm -rf "$work"/libjpeg-turbo/{testimages,java,doc,fuzz,debian/patches}
  keep libjpeg-turbo "$work"/libjpeg-turbo/*
  keep highway "$work/highway/hwy"
  rm -rf "$staged"/highway/hwy/{contrib,examples,tests}
  rm -rf "$work"/libevent/{test,sample,WIN32-Code,debian/patches}
  keep libevent "$work"/libevent/*
  keep libjs-dygraphs "$work"/libjs-dygraphs/usr/share/javascript/dygraphs/dygraph.min.{js,css}
  local name
  for name in libexpected-dev libcli11-dev nlohmann-json3-dev; do
    keep "$name" "$work/$name/usr/include"
  done
}

# libjpeg-turbo's SIMD code is for nasm; where none is installed, one is unpacked.
keep_assembler() {
  command -v nasm >/dev/null || [[ "$(uname -m)" != x86_64 ]] && return 0
  fetch_package nasm >/dev/null && install -D "$work/nasm/usr/bin/nasm" "$staged/tools/nasm"
}

main() {
  local wanted
  wanted="$(cat "$LIST" "$0" scripts/own_apt.sh | sha256sum)"
  [[ "$(cat "$TARGET/.stamp" 2>/dev/null)" != "$wanted" ]] || exit 0
  [[ -n "$(command -v apt-get)" && -n "$(command -v dpkg-source)" ]] ||
    die "fetching the sources of the bundled libraries needs Debian 12 and dpkg-dev"
  work="$(mktemp -d)"
  trap 'rm -rf "$work"' EXIT
  staged="$work/staged"
  say "fetching the sources of $(grep -c '^[a-z]' "$LIST") libraries (20 MB)"
  set_up_apt
  local kind name version exact
  mkdir -p "$staged"
  while read -r kind name version; do
    exact="$("fetch_${kind/headers/package}" "$name" "$version")" ||
      die "$name $version is not offered by this system's repositories (Debian 12 has it)"
    echo "$exact" >> "$staged/versions.txt"
  done < <(grep -v '^#' "$LIST")
  keep_all
  keep_assembler
  echo "$wanted" > "$staged/.stamp"
  rm -rf "$TARGET"
  mv "$staged" "$TARGET"
}

main "$@"
