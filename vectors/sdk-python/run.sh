#!/bin/sh
# Runs the published Python SDK against a real server process. Arguments go to run.py:
# names of scenarios, or options (run.sh --help). Everything it makes is under .cache/ of the repository.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
cache="$root/.cache/sdk-python"
mkdir -p "$cache"

# The environment is made again only when the pinned versions change.
if ! cmp -s "$here/requirements.txt" "$cache/venv/installed.txt" 2>/dev/null; then
	rm -rf "$cache/venv"
	python3 -m venv "$cache/venv"
	"$cache/venv/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt"
	cp "$here/requirements.txt" "$cache/venv/installed.txt"
fi

if [ -z "${DW_SDK_SERVER_BINARY:-}" ]; then
	(cd "$root" && CGO_ENABLED=0 go build -o "$cache/dwserver" ./cmd/dwserver)
	DW_SDK_SERVER_BINARY="$cache/dwserver"
fi

export DW_SDK_SERVER_BINARY
export PYTHONPYCACHEPREFIX="$cache/pycache"
exec "$cache/venv/bin/python" "$here/run.py" "$@"
