#!/bin/sh
# Runs programs of the published Rust SDK against a real server process. Arguments: names of scenarios, or
# --report FILE. Everything it makes is under .cache/ of the repository.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
cache="$root/.cache/sdk-rust"
mkdir -p "$cache"

if [ -z "${DW_SDK_SERVER_BINARY:-}" ]; then
	(cd "$root" && CGO_ENABLED=0 go build -o "$cache/dwserver" ./cmd/dwserver)
	DW_SDK_SERVER_BINARY="$cache/dwserver"
fi

CARGO_TARGET_DIR="$cache/target" cargo build --quiet --locked --manifest-path "$here/Cargo.toml"

DW_SDK_WORK_DIR="$cache/work"
rm -rf "$DW_SDK_WORK_DIR"
mkdir -p "$DW_SDK_WORK_DIR"
export DW_SDK_SERVER_BINARY DW_SDK_WORK_DIR
exec "$cache/target/debug/dwserver-sdk-rust" "$@"
