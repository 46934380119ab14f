#!/bin/sh
# Checks and times every CUDA kernel on a machine with an NVIDIA GPU and nvcc 13 or newer, beside PyTorch where there is one.
#   scripts/gpu/kernels.sh [check|sanitize|time|all] [RESULT.json]
# OPSCOPE_KERNELS names a ready-made opscope_cuda_kernels to use instead of building one.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
what=${1:-all}
result=${2:-$root/test/bench/results/cuda-kernels.json}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

tool=${OPSCOPE_KERNELS:-}
if [ -z "$tool" ]; then
  build=$("$root/scripts/gpu/build-tool.sh" opscope_cuda_kernels)
  tool=$build/opscope_cuda_kernels
fi

# The checks include that of the kernels which are wrong on purpose.
export OPSCOPE_RED_TEAM=1
if [ "$what" = check ] || [ "$what" = all ]; then "$tool" check; fi

if [ "$what" = sanitize ] || [ "$what" = all ]; then
  for checker in memcheck racecheck; do
    echo "compute-sanitizer $checker"
    compute-sanitizer --tool "$checker" --error-exitcode 3 "$tool" check small | tail -n 30
  done
fi

if [ "$what" = time ] || [ "$what" = all ]; then
  "$tool" devices
  "$tool" time "$work/ours.jsonl"
  python3 -c 'import torch' 2>/dev/null && python3 "$root/scripts/gpu/torch_reference.py" "$work/ours.jsonl" "$work/torch.json"
  mkdir -p "$(dirname "$result")"
  python3 "$root/scripts/gpu/collect.py" "$work" "$result" "${OPSCOPE_COMMIT:-$(git -C "$root" rev-parse --short HEAD 2>/dev/null || echo unknown)}"
fi
