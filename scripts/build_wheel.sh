#!/usr/bin/env bash
# Builds a wheel that needs nothing but a C library, or an archive of sources to build one from.
#   usage: scripts/build_wheel.sh [--sdist] [PYTHON]
# The wheel is for PYTHON (python3), from 3.12 on for every later one as well. It lies in
# build/wheel/dist, and is for systems with this one's glibc or a later. UNSTARVE_WHEEL_COMPILER=zig
# compiles with Zig's clang against an older glibc instead.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly GLIBC=2.17 FOLDER=build/wheel
say() { printf 'wheel: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

make_tools() {
  local wanted list="$FOLDER/tools.txt"
  # A compiler of 450 MB is installed only where it is used.
  grep -v "^ziglang" requirements/wheel.txt > "$list"
  if [[ $compiler == zig ]]; then grep "^ziglang" requirements/wheel.txt >> "$list"; fi
  wanted="$("$python" --version) $(sha256sum < "$list")"
  if [[ "$(cat "$tools/.stamp" 2>/dev/null)" == "$wanted" ]]; then return; fi
  say "installing $(grep -v '^#' "$list" | xargs) for $("$python" --version)"
  "$python" -m venv --clear "$tools" || die "python -m venv failed; install python3-venv"
  "$tools/bin/python" -m pip install --quiet --disable-pip-version-check --no-input \
    -r "$list" </dev/null || die "pip could not install what $list names"
  echo "$wanted" > "$tools/.stamp"
}

# Zig's compilers under names that CMake and ccache know.
use_zig() {
  local zig bin="$PWD/$FOLDER/zig"
  zig="$(compgen -G "$PWD/$tools/lib/python*/site-packages/ziglang/zig")"
  mkdir -p "$bin"
  wrap() { printf '#!/bin/sh\nexec "%s" %s "$@"\n' "$zig" "$2" > "$bin/$1"; }
  wrap clang "cc -target x86_64-linux-gnu.$GLIBC"
  # std::jthread is there in its libc++, but has to be asked for.
  wrap clang++ "c++ -target x86_64-linux-gnu.$GLIBC -D_LIBCPP_ENABLE_EXPERIMENTAL"
  wrap ar ar
  wrap ranlib ranlib
  chmod +x "$bin"/*
  export CC="$bin/clang" CXX="$bin/clang++"
  settings+=(--config-settings "build-dir=$FOLDER/zig-{wheel_tag}")
  # The wrappers are always new, the compiler behind them is not.
  CCACHE_COMPILERCHECK="string:$("$zig" version) glibc $GLIBC"
  export CCACHE_COMPILERCHECK
  settings+=(--config-settings "cmake.define.CMAKE_AR=$bin/ar"
             --config-settings "cmake.define.CMAKE_RANLIB=$bin/ranlib")
}

build() {
  local settings=(--config-settings cmake.define.UNSTARVE_DEPENDENCIES=bundled)
  local log="$FOLDER/build.log" platform=auto
  export CCACHE_BASEDIR="$PWD" CCACHE_NOHASHDIR=1
  if [[ $compiler == zig ]]; then
    use_zig
    platform="manylinux_${GLIBC/./_}_x86_64"
  fi
  rm -rf "$FOLDER/raw"
  say "compiling (what is printed goes to $log)"
  "$tools/bin/python" -m pip wheel . --no-build-isolation --no-deps --no-cache-dir \
    --disable-pip-version-check --verbose --wheel-dir "$FOLDER/raw" "${settings[@]}" \
    >"$log" 2>&1 </dev/null || { tail -n 60 "$log" >&2; die "the build failed"; }
  # Nothing is to be brought along: this names the systems that the wheel may be used on, or fails.
  rm -rf "$FOLDER/dist"
  PATH="$PWD/$tools/bin:$PATH" "$tools/bin/auditwheel" repair --plat "$platform" --only-plat \
    --wheel-dir "$FOLDER/dist" "$FOLDER"/raw/*.whl >"$FOLDER/audit.log" 2>&1 </dev/null ||
    { cat "$FOLDER/audit.log" >&2; die "the wheel is not one for $platform"; }
  say "made $(echo "$FOLDER"/dist/*.whl)"
}

main() {
  local what=build
  if [[ "${1:-}" == --sdist ]]; then what=sdist; shift; fi
  python="${1:-python3}"
  compiler="${UNSTARVE_WHEEL_COMPILER:-gcc}"
  # Zig's wrappers are for one processor; elsewhere the system's compiler does.
  [[ "$(uname -m)" == x86_64 ]] || compiler=gcc
  [[ $compiler == zig || $compiler == gcc ]] || die "UNSTARVE_WHEEL_COMPILER is zig or gcc"
  command -v "$python" >/dev/null || die "there is no $python"
  tools="$FOLDER/tools-$compiler-$("$python" -c 'import sys; print(sys.implementation.cache_tag)')"
  mkdir -p "$FOLDER"
  scripts/fetch_dependencies.sh
  make_tools
  if [[ $what == build ]]; then build; return; fi
  "$tools/bin/python" -c 'import sys, scikit_build_core.build as b; b.build_sdist(sys.argv[1])' \
    "$FOLDER/dist" >/dev/null || die "the archive could not be made"
  say "made $(echo "$FOLDER"/dist/*.tar.gz)"
}

main "$@"
