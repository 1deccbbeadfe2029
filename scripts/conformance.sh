#!/usr/bin/env bash
# Runs other projects' tests of DataLoader with torch's loader and with unstarve's.
#   usage: scripts/conformance.sh [ARGUMENTS OF tests/conformance/run.py]
set -euo pipefail
cd "$(dirname "$0")/.."

# What those tests import lies in an environment of their own, which sees .venv's packages as well.
environment=build/conformance
if [[ ! -x "$environment/bin/python" ]]; then
  .venv/bin/python -m venv "$environment"
fi
packages='import sysconfig; print(sysconfig.get_path("purelib"))'
.venv/bin/python -c "$packages" >"$("$environment/bin/python" -c "$packages")/tests.pth"
"$environment/bin/python" -m pip install --quiet --no-deps -r requirements/conformance.txt

export PYTHONPATH="$PWD/build/release/python"
exec "$environment/bin/python" tests/conformance/run.py "$@"
