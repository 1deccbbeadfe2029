#!/usr/bin/env bash
# Runs the tests that need a GPU, or says that there is none.
#   usage: scripts/gpu_test.sh
set -euo pipefail
cd "$(dirname "$0")/.."

if ! .venv/bin/python - <<'PY'
import ctypes, sys
try:
    nvml = ctypes.CDLL("libnvidia-ml.so.1")
except OSError:
    sys.exit(1)
count = ctypes.c_uint(0)
sys.exit(nvml.nvmlInit_v2() != 0 or nvml.nvmlDeviceGetCount_v2(ctypes.byref(count)) != 0
         or count.value == 0)
PY
then
  echo "There is no NVIDIA GPU here (libnvidia-ml.so.1 is missing or lists none): nothing was run."
  exit 0
fi

ctest --test-dir build/release --label-regex '^gpu$' --output-on-failure --no-tests=ignore
status=0
export PYTHONPATH="$PWD/build/release/python"
.venv/bin/python -m pytest -q -m gpu tests/python || status=$?
[[ $status -eq 5 ]] && status=0  # no Python test is marked gpu
exit $status
