#!/usr/bin/env bash
# Runs the tests of the hook, the drop-in loader and the emulated GPU with another PyTorch, on the
# release build, or (but for the emulated GPU) on the wheel that UNSTARVE_WHEEL names.
#   usage: scripts/test_torch_version.sh VERSION [--emulated] [PYTEST-ARGUMENT...]
# --emulated: those of the emulated GPU alone.
# .venv-torch-VERSION is made from requirements/torch-VERSION.txt when there is none, without
# NVIDIA's 3 GB: no GPU is used.
set -euo pipefail
cd "$(dirname "$0")/.."

version="${1:?usage: scripts/test_torch_version.sh VERSION [--emulated] [PYTEST-ARGUMENT...]}"
shift
emulated_alone=
if [[ "${1:-}" == --emulated ]]; then
  emulated_alone=yes
  shift
fi
readonly LIST="requirements/torch-$version.txt" VENV=".venv-torch-$version"
# What torch and torchvision import, and what runs the tests.
readonly OTHERS=(filelock typing-extensions sympy networkx jinja2 fsspec requests)
readonly TESTS=(
  tests/python/hook/test_hook_{start,torch,device,fix,calibrate,workers}.py
  tests/python/tuning/test_hook_tuning_habits.py
  tests/python/loader/test_dataloader{,_native,_state}.py
  tests/python/loader/test_drop_in_{classes,habits,samplers}.py
  tests/python/loader/test_{augment,inside,late_images,lowering,opened_images}.py
  tests/python/loader/test_{own_state,partly_native,slot_collation,workers}.py
  tests/python/loader/test_{image_files,opened_pngs,random_crop,tensor_functions}.py
)
# These run in .venv and start the other PyTorch, on an emulated GPU.
readonly EMULATED=(
  tests/emulated/test_{semantics,libraries}.py
  'tests/emulated/test_jobs.py::test_a_job_runs_to_its_end[reference_classification]'
)

say() { printf 'torch %s: %s\n' "$version" "$*" >&2; }
die() { say "$*"; exit 1; }

pip_install() {
  "$VENV/bin/python" -m pip install --quiet --disable-pip-version-check --no-input "$@" </dev/null
}

make_venv() {
  local wanted
  wanted="$(cat "$LIST" "$0" tools/cuda_stand_ins.py requirements/test.txt | sha256sum)"
  if [[ "$(cat "$VENV/.stamp" 2>/dev/null)" == "$wanted" ]]; then return; fi
  say "making $VENV (a download of up to 900 MB)"
  python3 -m venv --clear "$VENV" || die "python3 -m venv failed; install python3-venv"
  # Everything but torch first: pip would go on about NVIDIA's packages that torch asks for.
  pip_install "${OTHERS[@]}" -r <(grep -E '^(pytest|jsonschema)' requirements/test.txt) \
    -r <(grep -v '^torch' "$LIST") || die "pip could not install $(xargs <"$LIST")"
  pip_install --no-deps -r <(grep '^torch' "$LIST") 2>"$VENV/pip.log" ||
    { cat "$VENV/pip.log" >&2; die "has PyPI a torch $version for $(python3 --version)?"; }
  "$VENV/bin/python" tools/cuda_stand_ins.py "$("$VENV/bin/python" -c \
    'import sysconfig; print(sysconfig.get_path("purelib"))')/torch" >/dev/null ||
    die "torch could not be prepared"
  echo "$wanted" > "$VENV/.stamp"
}

# The package that is tested. The release build uses the system's libjpeg, for which an old
# torchvision brings a namesake that lacks functions (docs/known_gaps.md): the system's goes first.
choose_package() {
  unset PYTHONPATH
  if [[ -n "${UNSTARVE_WHEEL:-}" ]]; then
    pip_install --no-deps --force-reinstall "$UNSTARVE_WHEEL" || die "is there $UNSTARVE_WHEEL?"
    return
  fi
  local module
  module="$(compgen -G 'build/release/python/unstarve/_native*.so')" ||
    die "there is no release build: run scripts/build.sh release"
  export PYTHONPATH="$PWD/build/release/python"
  LD_PRELOAD="$(ldd "$module" | awk '/libjpeg/ { print $3 }')"
  export LD_PRELOAD
}

main() {
  [[ -f "$LIST" ]] || die "there is no $LIST"
  make_venv
  choose_package
  "$VENV/bin/python" -c 'import torch; print("torch", torch.__version__)'
  if [[ -z "$emulated_alone" ]]; then
    "$VENV/bin/python" -m pytest -q -p no:cacheprovider "$@" "${TESTS[@]}"
  fi
  unset LD_PRELOAD
  export UNSTARVE_EMULATED_PYTHON="$PWD/$VENV/bin/python" PATH="$PWD/build/release/src/cli:$PATH"
  local emulated=(.venv/bin/python -m pytest -q -p no:cacheprovider)
  "${emulated[@]}" "$@" "${EMULATED[@]}"
  "${emulated[@]}" -m other_torch tests/emulated
}

main "$@"
