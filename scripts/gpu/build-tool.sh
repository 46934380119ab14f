#!/bin/sh
# Builds one target of native/CMakeLists.txt with kernels for the GPU of this machine alone; what the build says comes only when it fails.
#   scripts/gpu/build-tool.sh TARGET      prints the build folder
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$root/.cache/gpu
log=$(mktemp)
trap 'rm -f "$log"' EXIT
cmake -S "$root/native" -B "$build" -G Ninja >"$log" 2>&1 &&
  cmake --build "$build" --target "$1" >>"$log" 2>&1 || { tail -n 40 "$log" >&2; exit 1; }
echo "$build"
