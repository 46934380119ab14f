#!/bin/sh
# Checks and times what Python computes with on an NVIDIA GPU: Triton's kernels of our own, PyTorch, torch.compile, JAX and CuPy.
#   scripts/gpu/python-kernels.sh check [key=value...]   every operation x dtype x implementation on odd shapes, against float64
#   scripts/gpu/python-kernels.sh time [key=value...]    our CUDA kernels, PyTorch eager and Triton on large cases of every family
# Needs node, out/bench/bench.mjs (npm run bench:bundle), and the addon and libopscope_guest in native/build. Arguments with a `=` go to
# the bench (test/bench/kernels.bench.ts names them all: impls=, ops=, draws=, seconds=). The seed of the shapes is printed;
# OPSCOPE_CONFORMANCE_SEED repeats them. OPSCOPE_JOBS: processes at once (8). Writes kernels-python-check.json or kernels-python-time.json
# to test/bench/results, or to results=FOLDER. OPSCOPE_COMMIT names the commit where there is no git. Exits 1 when something failed.
set -eu
cd "$(dirname "$0")/../.."
what=$1
shift
results=test/bench/results
for word in "$@"; do case $word in results=*) results=${word#results=} ;; esac; done
mkdir -p "$results"
jobs=${OPSCOPE_JOBS:-8}
parts=$(mktemp -d)
trap 'rm -rf "$parts"' EXIT
export OPSCOPE_CONFORMANCE_SEED="${OPSCOPE_CONFORMANCE_SEED:-$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}"

# Several processes share the GPU: what they check or compile does not depend on the time it takes.
shared() {
  pids=
  for k in $(seq 0 $((jobs - 1))); do
    node out/bench/bench.mjs kernels "$@" share="$k/$jobs" results="$parts/$k" >"$parts/$k.log" 2>&1 &
    pids="$pids $!"
  done
  for pid in $pids; do wait "$pid" || failed=1; done
}

failed=0
case $what in
  check)
    # One configuration of each Triton kernel, by the seed: another seed checks others.
    export OPSCOPE_TRITON_PICK="$OPSCOPE_CONFORMANCE_SEED"
    shared devices=python:cuda:0 part=check sizes=odd "$@"
    grep -hE '^  (  |[a-z].* [1-9][0-9]* faults)' "$parts"/*.log || true
    node scripts/gpu/join-kernels.mjs "$parts" "$results/kernels-python-check.json" || failed=1
    ;;
  time)
    sides="devices=cuda:0 beside=python:cuda:0/torch,python:cuda:0/triton cases=families"
    shared $sides part=open "$@"
    node out/bench/bench.mjs kernels $sides part=time "$@" results="$parts/time" || failed=1
    mv "$parts/time/kernels-cuda.json" "$results/kernels-python-time.json"
    ;;
  *) echo "python-kernels.sh: expected check or time, received $what" >&2; exit 2 ;;
esac
exit $failed
