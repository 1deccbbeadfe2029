#!/usr/bin/env bash
# Runs every fuzz target for some seconds, starting from its corpus; new inputs stay in build/fuzz.
#   usage: scripts/fuzz.sh SECONDS
set -euo pipefail
cd "$(dirname "$0")/.."

seconds="$1"
status=0
for folder in fuzz/*/; do
  name="$(basename "$folder")"
  found="build/fuzz/found/$name"
  mkdir -p "$found"
  printf 'fuzz: %s for %s s\n' "$name" "$seconds"
  "build/fuzz/fuzz/$name/fuzz_$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
    -artifact_prefix="$found/crash-" -print_final_stats=1 "$found" "$folder/corpus" \
    >"build/fuzz/$name.log" 2>&1 ||
    { status=1; tail -n 40 "build/fuzz/$name.log"; }
  grep -E 'stat::number_of_executed_units|stat::peak_rss_mb' "build/fuzz/$name.log" || true
done
exit $status
