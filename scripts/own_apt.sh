# shellcheck shell=bash
# Packages of Debian's through the machine's own mirrors and keys, neither installed nor as root.
# For other scripts to source, which have a folder `work` for it and a function `die`.
: "${work:=}"

# Configurations of apt's of our own, so that root is not needed: one with the release's repository
# and those of its updates, one with the first alone, which has all that this needs in any case.
set_up_apt() {
  local codename uri release scope
  codename="$(. /etc/os-release && echo "${VERSION_CODENAME:-}")"
  mkdir -p "$work"/apt/{lists/partial,cache/archives/partial,parts}
  # shellcheck disable=SC2016  # apt fills these names in
  while IFS='|' read -r uri release; do
    [[ "$release" == "$codename"* ]] || continue
    for scope in updated released; do
      if [[ "$release" == "$codename" || $scope == updated ]]; then
        printf 'deb %s %s main\ndeb-src %s %s main\n' "$uri" "$release" "$uri" "$release" \
          >> "$work/apt/$scope.list"
      fi
    done
  done < <(apt-get indextargets --format '$(REPO_URI)|$(RELEASE)' 'Component: main' | sort -u)
  [[ -s "$work/apt/released.list" ]] || die "apt knows no repository of '$codename'"
  our_apt updated update >&2 || die "apt-get update failed (is there a network?)"
}

our_apt() {
  local scope="$1"
  shift
  apt-get -qq -o APT::Sandbox::User="$(id -un)" -o Acquire::Languages=none -o Acquire::Retries=3 \
    -o Dir::Etc::sourcelist="$work/apt/$scope.list" -o Dir::Etc::sourceparts="$work/apt/parts" \
    -o Dir::State::lists="$work/apt/lists" -o Dir::Cache="$work/apt/cache" "$@"
}

# download COMMAND...: into $work; what is missing from the updates is in the release.
download() {
  local scope
  for scope in updated released; do
    if (cd "$work" && our_apt "$scope" "$@") >>"$work/apt.log" 2>&1; then return 0; fi
  done
  cat "$work/apt.log" >&2
  return 1
}

# fetch_package NAME [VERSION]: a binary package, unpacked into $work/NAME without installing it.
fetch_package() {
  download download "$1" || return 1
  local archive
  archive="$(compgen -G "$work/$1_${2:-}*.deb" | head -n 1)" || return 1
  dpkg-deb -x "$archive" "$work/$1" || return 1
  basename "$archive" .deb
}
