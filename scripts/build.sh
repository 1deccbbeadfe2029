#!/usr/bin/env bash
# Configures a preset when it has not been and builds it.
#   usage: scripts/build.sh PRESET [TARGET... | --configure-only]
set -euo pipefail
cd "$(dirname "$0")/.."

preset="$1"
shift
# Paths relative to the checkout make ccache's entries good for every checkout on the machine.
export CCACHE_BASEDIR="$PWD" CCACHE_NOHASHDIR=1
mkdir -p build

if [[ ! -f "build/$preset/build.ninja" || CMakePresets.json -nt "build/$preset/CMakeCache.txt" ]]
then
  printf 'build: configuring %s\n' "$preset" >&2
  log="build/configure-$preset.log"
  cmake --preset "$preset" >"$log" 2>&1 </dev/null || { cat "$log" >&2; exit 1; }
  touch "build/$preset/CMakeCache.txt"
fi

if [[ "${1:-}" == --configure-only ]]; then exit 0; fi

# On a terminal ninja draws one line of progress; into a log only what went wrong is worth a line.
quiet=()
[[ -t 1 ]] || quiet=(-- --quiet)
printf 'build: compiling %s\n' "$preset" >&2
cmake --build --preset "$preset" ${1:+--target "$@"} "${quiet[@]}" </dev/null
