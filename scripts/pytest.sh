#!/usr/bin/env bash
# Runs the Python tests two files at a time, and those that drive a browser in a process of their
# own, whose pipes no other test's workers inherit. PATH has the command, PYTHONPATH the package.
#   usage: scripts/pytest.sh [PATH or option of pytest...]
set -uo pipefail
cd "$(dirname "$0")/.." || exit

readonly MOST_SECONDS=3300 # of a run whose end pytest itself cannot bring about
no_tests=5
failed=0
run() {
  local status=0
  timeout --kill-after=30 "$MOST_SECONDS" .venv/bin/python -m pytest -q "$@" || status=$?
  if ((status != 0 && status != no_tests)); then failed=1; fi
}
if (($#)); then
  run -n 2 --dist loadfile "$@"
else
  run -n 2 --dist loadfile tests/python tests/emulated tests/starving
  run tests/browser
fi
exit "$failed"
