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

# A build looks for sources that came or went by itself; who only wants their list has it made.
if [[ ! -f "build/$preset/build.ninja" || CMakePresets.json -nt "build/$preset/CMakeCache.txt" ||
      "${1:-}" == --configure-only ]]
then
  printf 'build: configuring %s\n' "$preset" >&2
  log="build/configure-$preset.log"
  cmake --preset "$preset" >"$log" 2>&1 </dev/null || { cat "$log" >&2; exit 1; }
  touch "build/$preset/CMakeCache.txt"
fi

if [[ "${1:-}" == --configure-only ]]; then exit 0; fi

# Into a log goes how far it is, every 15 s at least, and what went wrong.
show_progress() {
  local line="" at="" shown=$SECONDS status
  while true; do
    status=0
    IFS= read -r -t 5 line || status=$?
    if ((status == 0)) && [[ "$line" =~ ^\[([0-9]+/[0-9]+)\]\  ]]; then
      at="${BASH_REMATCH[1]}"
    elif ((status == 0)) && [[ "$line" != "ninja: no work to do." ]]; then
      printf '%s\n' "$line"
    elif ((status > 0 && status <= 128)); then  # the end; more than 128: nothing for 5 s
      return 0
    fi
    if ((SECONDS - shown >= 10)); then
      printf 'build: %s: %s done after %d s\n' "$preset" "${at:-0}" "$SECONDS" >&2
      shown=$SECONDS
    fi
  done
}

printf 'build: compiling %s\n' "$preset" >&2
compile=(cmake --build --preset "$preset" ${1:+--target "$@"})
# On a terminal ninja draws one line of progress.
if [[ -t 1 ]]; then
  "${compile[@]}" </dev/null
else
  "${compile[@]}" </dev/null 2>&1 | show_progress
fi
