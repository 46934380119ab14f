#!/bin/sh
# The proofs of the measuring engine (docs/measuring.md) on a machine with an NVIDIA GPU: CUDA through the addon, WebGPU
# through the built app. Needs node 20 or newer, out/ (npm run build, npm run bench:bundle), native/build/opscope.node and,
# for WebGPU, a display and Electron (ELECTRON_OVERRIDE_DIST_PATH). Takes about 17 minutes.
#   scripts/gpu/proofs.sh OUT_FOLDER [ladder] [self] [self-webgpu] [coverage] [coverage-webgpu] [metamorphic]
#     [metamorphic-webgpu] [blocks] [time]
# Without names: all. OPSCOPE_COMMIT names the commit where there is no git; GPU and WEBGPU name other devices.
set -eu
cd "$(dirname "$0")/../.."
out=$1
shift
what=${*:-ladder self self-webgpu metamorphic metamorphic-webgpu coverage coverage-webgpu blocks time}
gpu=${GPU:-cuda:0}
webgpu=${WEBGPU:-webgpu:0}
mkdir -p "$out"
result=0

# A bench that fails or takes too long does not take the others with it.
bench() {
  limit=$1
  shift
  timeout "$limit" node out/bench/bench.mjs "$@" results="$out" >"$out/$1.log" 2>&1 || { result=1; echo "$1: failed"; tail -n 15 "$out/$1.log"; }
  rm -f "$out/$1.log"
}

for name in $what; do
  echo "$(date -u +%T) $name"
  case $name in
    ladder) bench 180 truth-ladder devices="$gpu,$webgpu" seconds=0.05 ;;
    self) bench 200 self-consistency devices="$gpu" pairs=300 injected=100 block=0.002 limit=170 ;;
    self-webgpu) bench 420 self-consistency devices="$webgpu" pairs=300 injected=100 block=0.006 own=8 limit=370 ;;
    coverage) bench 180 coverage devices="$gpu" trials=200 limit=140 ;;
    coverage-webgpu) bench 200 coverage devices="$webgpu" trials=200 limit=130 ;;
    metamorphic-webgpu) bench 180 metamorphic devices="$webgpu" seconds=0.05 rounds=1 runs=2 ;;
    metamorphic) bench 90 metamorphic devices="$gpu" seconds=0.05 ;;
    blocks) bench 150 blocks devices="$gpu,$webgpu" ;;
    # nvbench's own limit is 15 s; 5 s spares minutes, in its favour.
    time) bench 150 time-to-result devices="$gpu" limit=5 ;;
    *) echo "proofs.sh: there is no proof \"$name\"; expected ladder, self, self-webgpu, coverage, coverage-webgpu, metamorphic, metamorphic-webgpu, blocks or time" >&2; exit 2 ;;
  esac
done
node scripts/proof-figures.mjs "$out"
exit $result
