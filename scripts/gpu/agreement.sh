#!/bin/sh
# Holds Opscope's CUDA times against Nsight Compute's gpu__time_duration and Triton's do_bench on the same launches.
#   scripts/gpu/agreement.sh [RESULT.json]
# Needs an NVIDIA GPU, nvcc 13 or newer, ncu, and a python3 with PyTorch and Triton. Changes no clock or mode of the GPU.
# OPSCOPE_CALLS names a ready-made libopscope_cuda_calls.so to use instead of building one; OPSCOPE_RAW a folder for what
# the tools said.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
result=${1:-$root/test/bench/results/agreement.json}
here=$root/scripts/gpu/agreement
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
raw=${OPSCOPE_RAW:-$work}

library=${OPSCOPE_CALLS:-}
if [ -z "$library" ]; then
  build=$("$root/scripts/gpu/build-tool.sh" opscope_cuda_calls)
  library=$build/libopscope_cuda_calls.so
fi

profile() { # CACHE_CONTROL NAME
  ncu --cache-control "$1" --clock-control none --metrics gpu__time_duration.sum,gpc__cycles_elapsed.max --print-units base \
    --kernel-name 'regex:^(empty|copy|add|sum|softmax|layer_norm|matmul)' --csv --page raw --log-file "$raw/ncu-$2.csv" \
    python3 "$here/replay.py" "$library" 23 "$raw/manifest.json" >"$raw/ncu-$2.log" 2>&1 || { tail -n 20 "$raw/ncu-$2.log" "$raw/ncu-$2.csv"; exit 1; }
}

# Before and after, so that what wanders over minutes does not look like a difference between the tools.
profile all cold-before
profile none hot-before
python3 "$here/measure.py" "$library" "$raw/measured.json"
profile all cold-after
profile none hot-after
mkdir -p "$(dirname "$result")"
python3 "$here/join.py" "$raw" "$result" "${OPSCOPE_COMMIT:-$(git -C "$root" rev-parse --short HEAD 2>/dev/null || echo unknown)}"
