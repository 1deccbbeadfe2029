#!/usr/bin/env bash
# Makes .venv see the release build: `import unstarve` and the command `unstarve`.
#   usage: scripts/link_build.sh
set -euo pipefail
cd "$(dirname "$0")/.."

# A .venv that is a link is shared with others, who have builds of their own.
if [[ -L .venv ]]; then exit 0; fi
site="$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"
printf '%s\n' "$PWD/build/release/python" > "$site/unstarve.pth"
ln -sfn "$PWD/build/release/src/cli/unstarve" .venv/bin/unstarve
