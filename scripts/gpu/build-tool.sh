#!/bin/sh
# Builds one target of native/CMakeLists.txt with kernels for the GPU of this machine alone; what the build says comes only when it fails.
#   scripts/gpu/build-tool.sh TARGET      prints the build folder
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$root/.cache/gpu
log=$(mktemp)
trap 'rm -f "$log"' EXIT
capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1 | tr -d .)
case $capability in 90) target=90a ;; *) target=$capability ;; esac
cmake -S "$root/native" -B "$build" -G Ninja -DOPSCOPE_CUDA_TARGETS="$target" >"$log" 2>&1 &&
  cmake --build "$build" --target "$1" >>"$log" 2>&1 || { tail -n 40 "$log" >&2; exit 1; }
echo "$build"
