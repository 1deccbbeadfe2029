#!/usr/bin/env bash
# Tries the release build with trackers, Prometheus and tmux (tests/other_programs).
#   usage: scripts/test_other_programs.sh [PYTEST-ARGUMENT...]
# What of it is not installed comes into build/other-programs: a virtual environment, which takes
# PyTorch from .venv, and packages of Debian 12, unpacked there. Needs a network once, and no root.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/own_apt.sh
source scripts/own_apt.sh

readonly LIST=requirements/other-programs.txt PLACE="$PWD/build/other-programs"
readonly VENV="$PLACE/venv" BIN="$PLACE/bin"

say() { printf 'other programs: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

make_venv() {
  local wanted
  wanted="$({ .venv/bin/python -VV; cat "$LIST"; } | sha256sum)"
  if [[ "$(cat "$VENV/.stamp" 2>/dev/null)" != "$wanted" ]]; then
    say "making ${VENV#"$PWD/"} (a download of up to 100 MB)"
    .venv/bin/python -m venv --clear "$VENV" || die "python3 -m venv failed; install python3-venv"
    "$VENV/bin/python" -m pip install --quiet --disable-pip-version-check --no-input -r "$LIST" \
      </dev/null || die "pip could not install $(grep -v '^#' "$LIST" | xargs)"
    echo "$wanted" > "$VENV/.stamp"
  fi
  # Behind its own packages it finds those of .venv.
  local site
  site="$("$VENV/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"
  .venv/bin/python -c 'import sys; print(*(p for p in sys.path if "-packages" in p), sep="\n")' \
    > "$site/project.pth"
}

# unpack NAME...: Debian's packages into $PLACE/debian.
unpack() {
  local name
  if [[ ! -d "$work/apt" ]]; then set_up_apt; fi
  for name in "$@"; do
    say "unpacking Debian's $name"
    fetch_package "$name" >/dev/null ||
      die "$name is not offered by this system's repositories (Debian 12 has it): install it"
    cp -a "$work/$name/." "$PLACE/debian/"
  done
}

# Those that are there already, by whatever means, are used.
has() { command -v "$1" >/dev/null; }

make_programs() {
  local name
  mkdir -p "$BIN" "$PLACE/debian"
  export PATH="$BIN:$PATH"
  work="$(mktemp -d)"
  trap 'rm -rf "$work"' EXIT
  if ! has prometheus || ! has promtool; then
    unpack prometheus
    for name in prometheus promtool; do ln -sf "$PLACE/debian/usr/bin/$name" "$BIN/$name"; done
  fi
  if ! has tmux; then
    unpack tmux
    local needs
    needs="$(dpkg-deb -f "$(compgen -G "$work/tmux_*.deb")" Depends | tr ',' '\n' |
      awk '$1 !~ /^lib(c6|tinfo6)$/ { print $1 }')"
    # shellcheck disable=SC2086  # names of packages
    unpack $needs
    printf '#!/bin/sh\nLD_LIBRARY_PATH=%q exec %q "$@"\n' \
      "$(dirname "$(compgen -G "$PLACE/debian/usr/lib/*/libevent_core-2.1.so.7")")" \
      "$PLACE/debian/usr/bin/tmux" > "$work/tmux.sh"
    install "$work/tmux.sh" "$BIN/tmux"
  fi
  rm -rf "$work"
}

main() {
  [[ -x build/release/src/cli/unstarve ]] || die "there is no build: run scripts/build.sh release"
  make_venv
  make_programs
  say "$(prometheus --version 2>&1 | head -n 1), $(tmux -V)"
  # What starts the program, and reads runs, is that of tests/python.
  PYTHONPATH="$PWD/build/release/python:$PWD/tests/python" exec "$VENV/bin/python" -m pytest -q \
    -p no:cacheprovider -n 2 --dist worksteal tests/other_programs "$@"
}

main "$@"
