# shellcheck shell=bash
# patiently WHAT COMMAND...: runs a command that prints nothing for a while; every 15 s a line says
# that it goes on. For other scripts to source.
patiently() {
  local what="$1" started=$SECONDS pid status=0
  shift
  "$@" &
  pid=$!
  # A shell starts what is in the background deaf to Ctrl-C.
  trap 'kill "$pid" 2>/dev/null; exit 130' INT TERM
  while kill -0 "$pid" 2>/dev/null; do
    if (((SECONDS - started) % 15 == 14)); then
      printf '%s: still at it after %d s\n' "$what" $((SECONDS - started + 1)) >&2
    fi
    sleep 1
  done
  wait "$pid" || status=$?
  trap - INT TERM
  return "$status"
}
