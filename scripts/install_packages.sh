#!/usr/bin/env bash
# Installs the Debian or Ubuntu packages of one or more sets, and only those that are missing.
#   usage: scripts/install_packages.sh build|test|check...
# Touches no network, and needs no root, when nothing is missing.
# UNSTARVE_SKIP_PACKAGES=1 skips it, for systems whose packages somebody else manages.
set -euo pipefail
# shellcheck source=scripts/patiently.sh
source "$(dirname "$0")/patiently.sh"

say() { printf 'packages: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

has_package() {
  [[ "$(dpkg-query -W -f '${db:Status-Abbrev}' "$1" 2>/dev/null)" == ii* ]]
}

# A tool counts as there when its command runs, wherever it came from.
need_command() { command -v "$1" >/dev/null || missing+=("$2"); }
need_package() { has_package "$1" || missing+=("$1"); }

need_python() {
  if ! command -v python3 >/dev/null; then
    missing+=(python3 python3-venv python3-dev)
    return
  fi
  python3 -c 'import ensurepip, venv' 2>/dev/null || missing+=(python3-venv)
  python3 -c 'import os, sysconfig, sys
sys.exit(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))' ||
    missing+=(python3-dev)
}

jpeg_package() {
  local id=""
  id="$(grep -E '^ID(_LIKE)?=' /etc/os-release 2>/dev/null || true)"
  [[ "$id" == *ubuntu* ]] && echo libjpeg-turbo8-dev || echo libjpeg62-turbo-dev
}

need_build_set() {
  need_command g++ g++
  need_command cmake cmake
  need_command ninja ninja-build
  need_command ccache ccache
  need_command pkg-config pkg-config
  need_command git git
  need_python
  local package
  for package in libexpected-dev libfmt-dev libcli11-dev libsimdjson-dev \
      nlohmann-json3-dev zlib1g-dev libdeflate-dev libwebp-dev libzstd-dev libxxhash-dev \
      libsqlite3-dev libhwy-dev libevent-dev libjs-dygraphs libgtest-dev libgmock-dev \
      "$(jpeg_package)"; do
    need_package "$package"
  done
}

# The sanitizers' runtime is packaged per clang version: clang depends on clang-14, say, whose
# runtime is libclang-rt-14-dev, and libclang-common-14-dev on older systems.
clang_runtime_packages() {
  local version
  version="$( (dpkg-query -W -f '${Depends}' clang 2>/dev/null || apt-cache depends clang) |
    grep -o 'clang-[0-9]\+' | head -n 1 | grep -o '[0-9]\+' || true)"
  [[ -n "$version" ]] || return 0
  local package
  for package in "libclang-rt-$version-dev" "libclang-common-$version-dev"; do
    if has_package "$package" || apt-cache show "$package" >/dev/null 2>&1; then
      echo "$package"
      return 0
    fi
  done
}

need_check_set() {
  need_command clang++ clang
  need_command ld.lld lld
  need_command clang-format clang-format
  need_command clang-tidy clang-tidy
  need_command shellcheck shellcheck
  local package
  for package in $(clang_runtime_packages); do need_package "$package"; done
}

# Ubuntu's chromium-browser only fetches a snap, which a container cannot run.
need_test_set() {
  need_package libjemalloc2
  local browser
  for browser in chromium chromium-browser google-chrome google-chrome-stable; do
    if command -v "$browser" >/dev/null; then return; fi
  done
  missing+=(chromium)
}

collect() {
  missing=()
  local set
  for set in "$@"; do
    case "$set" in
      build) need_build_set ;;
      test) need_test_set ;;
      check) need_check_set ;;
      *) die "unknown set '$set'; use build, test or check" ;;
    esac
  done
}

as_root() {
  if [[ $EUID -eq 0 ]]; then "$@"; else sudo "$@"; fi
}

main() {
  [[ $# -gt 0 ]] || die "usage: scripts/install_packages.sh build|test|check..."
  [[ "${UNSTARVE_SKIP_PACKAGES:-}" != 1 ]] || exit 0
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    die "this needs apt (Debian 12 or Ubuntu 24.04 and later). Elsewhere, install the libraries" \
      "that docs/decisions/0002-dependencies.md lists and set UNSTARVE_SKIP_PACKAGES=1"
  fi
  collect "$@"
  [[ ${#missing[@]} -gt 0 ]] || exit 0

  [[ $EUID -eq 0 ]] || command -v sudo >/dev/null ||
    die "missing: ${missing[*]}; run as root: apt-get install ${missing[*]}"
  say "installing ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  local options=(-qq -o DPkg::Lock::Timeout=120)
  as_root apt-get "${options[@]}" update </dev/null ||
    say "apt-get update failed; trying with the package lists at hand"
  collect "$@"  # the runtime's name can only be looked up now
  patiently "packages: apt-get" \
    as_root env DEBIAN_FRONTEND=noninteractive apt-get "${options[@]}" install -y \
    --no-install-recommends "${missing[@]}" </dev/null >/dev/null ||
    die "could not install ${missing[*]}: see apt-get's message above (is there a network?)"
}

main "$@"
