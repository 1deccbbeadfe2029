#!/usr/bin/env bash
# Runs the Python tests: two at a time, but those that judge how fast a job is, one by one. PATH has
# the command, PYTHONPATH the package.
#   usage: scripts/pytest.sh [PATH or option of pytest...]
set -uo pipefail
cd "$(dirname "$0")/.." || exit

everyday='not gpu and not other_torch'
no_tests=5
failed=0
run() {
  local status=0
  .venv/bin/python -m pytest -q "$@" || status=$?
  if ((status != 0 && status != no_tests)); then failed=1; fi
}
run -n 2 --dist loadfile -m "$everyday and not alone" "$@"
run -m "$everyday and alone" "$@"
exit "$failed"
