#!/usr/bin/env bash
# Makes .venv from the active python3 and installs the pinned packages of a set.
#   usage: scripts/setup_python.sh build|demo|test|zoo
# A stamp per set holds what was installed from, so that a second run does nothing. A PyTorch that
# the active Python already has is used as it is.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/patiently.sh
source scripts/patiently.sh

say() { printf 'python: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

# The version of a distribution that an interpreter can import, or nothing.
version_of() {
  "$1" -c 'import importlib.metadata, sys
try: print(importlib.metadata.version(sys.argv[1]))
except importlib.metadata.PackageNotFoundError: pass' "$2"
}

has_gpu() {
  [[ -e /proc/driver/nvidia/version ]] || command -v nvidia-smi >/dev/null ||
    ldconfig -p 2>/dev/null | grep -q 'libcuda\.so\.1'
}

base_identity() {
  python3 -c 'import sys; print(sys.base_prefix, sys.prefix, sys.version.split()[0])'
}

make_venv() {
  local identity
  identity="$(base_identity)"
  if [[ -e .venv/.torch-without-gpu ]] && has_gpu; then
    say "there is a GPU now: .venv is made anew, with NVIDIA's libraries"
    rm -rf .venv
  fi
  if [[ -x .venv/bin/python && "$(cat .venv/.base 2>/dev/null)" == "$identity" ]]; then return; fi
  # Inside somebody's activated environment python3 may be our own .venv: keep that.
  if [[ -x .venv/bin/python && "$(command -v python3)" -ef .venv/bin/python ]]; then return; fi
  local options=()
  if [[ -n "$(version_of python3 torch)" ]]; then
    options+=(--system-site-packages)
    say "making .venv on top of $(command -v python3), which has torch $(version_of python3 torch)"
  else
    say "making .venv with $(python3 --version)"
  fi
  python3 -m venv --clear "${options[@]}" .venv ||
    die "python3 -m venv failed; install python3-venv"
  # A venv made from an activated venv sees the system's packages, not that venv's.
  if [[ ${#options[@]} -gt 0 && -z "$(version_of .venv/bin/python torch)" ]]; then
    python3 -c 'import site; print("\n".join(site.getsitepackages()))' \
      > "$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/outer.pth"
  fi
  echo "$identity" > .venv/.base
}

pip_install() {
  patiently "python: pip" .venv/bin/python -m pip install --quiet --disable-pip-version-check \
    --no-input "$@" </dev/null ||
    die "pip could not install $*; is there a network?"
}

# NVIDIA's libraries, 3 GB, are left out where no GPU could use them. PyTorch's list of requirements
# is shortened by them and Triton, so that pip does not bring them for the next package after all.
install_torch_without_gpu() {
  local site
  site="$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("platlib"))')"
  say "there is no NVIDIA GPU here: installing $(grep -v '^#' requirements/torch.txt | xargs)" \
    "without NVIDIA's libraries (0.5 GB instead of 3)"
  touch .venv/.torch-without-gpu .venv/.torch-unfinished
  pip_install --no-deps -r requirements/torch.txt
  .venv/bin/python tools/cuda_stand_ins.py "$site/torch" >/dev/null ||
    die "PyTorch could not be prepared for a machine without a GPU"
  sed -i -E '/^Requires-Dist: (nvidia|cuda|triton)/d' "$site"/torch-*.dist-info/METADATA
  pip_install -r requirements/torch.txt
  rm .venv/.torch-unfinished
}

install_torch() {
  local torch torchvision
  torch="$(version_of .venv/bin/python torch)"
  torchvision="$(version_of .venv/bin/python torchvision)"
  if [[ -e .venv/.torch-unfinished ]]; then
    install_torch_without_gpu  # the last time it was interrupted
  elif [[ -z "$torch" && "$(uname -m)" == x86_64 ]] && ! has_gpu; then
    install_torch_without_gpu
  elif [[ -z "$torch" ]]; then
    say "installing $(grep -v '^#' requirements/torch.txt | xargs) (about 3 GB, a minute or two)"
    pip_install -r requirements/torch.txt
  elif [[ -z "$torchvision" ]]; then
    say "installing the torchvision that fits torch $torch"
    pip_install --constraint <(echo "torch==$torch") torchvision
  fi
}

# install_set NAME FILE...: everything pinned in FILE..., once.
install_set() {
  local name="$1"
  shift
  local stamp=".venv/.stamp-$name" wanted
  wanted="$(cat .venv/.base "$@" requirements/torch.txt | sha256sum)"
  if [[ "$(cat "$stamp" 2>/dev/null)" == "$wanted" ]]; then return; fi
  if [[ "$name" == demo ]]; then install_torch; fi
  say "installing $(grep -hv '^#' "$@" | xargs)"
  local file options=()
  for file in "$@"; do options+=(-r "$file"); done
  pip_install "${options[@]}"
  echo "$wanted" > "$stamp"
}

main() {
  # A .venv that is a link belongs to whoever made the link: nothing is installed there.
  if [[ -L .venv ]]; then exit 0; fi
  command -v python3 >/dev/null || die "there is no python3; run scripts/install_packages.sh build"
  make_venv
  case "${1:-}" in
    build) install_set build requirements/build.txt ;;
    demo) install_set demo requirements/build.txt requirements/demo.txt ;;
    test)
      install_set demo requirements/build.txt requirements/demo.txt
      install_set test requirements/test.txt
      ;;
    zoo)
      "$0" test
      install_set zoo requirements/zoo.txt
      ;;
    *) die "usage: scripts/setup_python.sh build|demo|test|zoo" ;;
  esac
}

main "$@"
