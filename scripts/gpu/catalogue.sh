#!/bin/sh
# Measures every operation in f32 on CUDA, WebGPU and PyTorch eager of one NVIDIA GPU through the command line, and compares the backends.
#   scripts/gpu/catalogue.sh OUT [options of opscope run]
# Needs node, the built app (out/), the addon, a display, and OPSCOPE_ELECTRON, the path of an Electron binary. Writes OUT/catalogue-session.json.gz
# (to import), OUT/catalogue-session.md (its report) and OUT/catalogue-compare.md (speedup of each backend over CUDA, case by case).
# OPSCOPE_SECONDS: the time after which the sweep is stopped and what is there is kept.
set -eu
cd "$(dirname "$0")/../.."
out=$1
shift
mkdir -p "$out"
opscope() { node out/main/cli.js "$@"; }
timeout -s INT "${OPSCOPE_SECONDS:-3600}" node out/main/cli.js run --ops all --sizes large --dtypes f32 --devices cuda:0,webgpu:0,python:cuda:0 --impls kernel,wgsl,torch --modes cold --preset quick --name "Every operation" "$@" || echo "opscope run ended with $?"
opscope export last --format json --out "$out/catalogue-session.json"
opscope export last --format markdown --out "$out/catalogue-session.md"
opscope compare last --by backend --baseline cuda --format markdown >"$out/catalogue-compare.md" || echo "opscope compare ended with $?"
gzip -9f "$out/catalogue-session.json"
