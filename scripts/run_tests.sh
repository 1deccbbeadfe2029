#!/usr/bin/env bash
# Runs every test on the release build: C++ first, then Python.
#   usage: scripts/run_tests.sh
set -euo pipefail
cd "$(dirname "$0")/.."

ctest --preset release -j 2 </dev/null
PATH="$PWD/build/release/src/cli:$PATH" PYTHONPATH=build/release/python scripts/pytest.sh
printf 'tests: all of it took %d:%02d minutes\n' $((SECONDS / 60)) $((SECONDS % 60))
