#!/bin/sh
# Checks and times what Python computes with on an NVIDIA GPU: Triton's kernels of our own, PyTorch, torch.compile, JAX and CuPy.
#   scripts/gpu/python-kernels.sh check [key=value...]   every operation x dtype x implementation on odd shapes, against float64
#   scripts/gpu/python-kernels.sh time [key=value...]    our CUDA kernels, PyTorch eager and Triton on large cases of every family
#   scripts/gpu/python-kernels.sh open [key=value...]    opens the cases of a suite with Triton, so that compilers fill their caches (cases=comprehensive)
#   scripts/gpu/python-kernels.sh draw [key=value...]    PyTorch cold on 40 drawn shapes, and do_bench on the same right after it
# Needs node, out/bench/bench.mjs (npm run bench:bundle), and the addon and libopscope_guest in native/build. Arguments with a `=` go to
# the bench (test/bench/kernels.bench.ts names them all: impls=, ops=, draws=). Each part ends after OPSCOPE_SECONDS (600). Every row is in
# RESULTS/python-parts before the next is measured, with the seed of the shapes, so the same call again goes on where it ended; remove that
# folder, or name another OPSCOPE_CONFORMANCE_SEED, to begin anew. OPSCOPE_JOBS: processes at once (8). Writes kernels-python-check.json,
# kernels-python-time.json, or torch-draw-python.json and torch-agreement-drawn.json to test/bench/results, or to results=FOLDER.
# OPSCOPE_DEVICE: cuda:0 (python:DEVICE is checked). OPSCOPE_COMMIT names the commit where there is no git. Exits 1 when something failed
# or was not reached.
set -eu
cd "$(dirname "$0")/../.."
what=$1
shift
results=test/bench/results
for word in "$@"; do case $word in results=*) results=${word#results=} ;; esac; done
jobs=${OPSCOPE_JOBS:-8}
seconds=${OPSCOPE_SECONDS:-600}
device=${OPSCOPE_DEVICE:-cuda:0}
parts=$results/python-parts
mkdir -p "$parts"
seed=${OPSCOPE_CONFORMANCE_SEED:-$(cat "$parts/seed" 2>/dev/null || od -An -N4 -tu4 /dev/urandom | tr -d ' ')}
echo "$seed" >"$parts/seed"
export OPSCOPE_CONFORMANCE_SEED="$seed"

# A part that hangs beyond its time is ended; what it has kept stays.
bench() { timeout -k 10 "$((seconds + 60))" node out/bench/bench.mjs "$@"; }

# Several processes share the GPU: what they check or compile does not depend on the time it takes.
shared() {
  pids=
  for k in $(seq 0 $((jobs - 1))); do
    bench kernels "$@" share="$k/$jobs" log="$parts/$what-$k-of-$jobs" results="$parts/$k" >"$parts/$k.log" 2>&1 &
    pids="$pids $!"
  done
  for pid in $pids; do wait "$pid" || failed=1; done
}

failed=0
case $what in
  check)
    # One configuration of each Triton kernel, by the seed: another seed checks others.
    export OPSCOPE_TRITON_PICK="$seed"
    rm -f "$parts"/*/kernels-python.json "$parts"/*.log
    shared "devices=python:$device" part=check sizes=odd seconds="$seconds" "$@"
    grep -hE '^  (  |[a-z].* [1-9][0-9]* faults)' "$parts"/*.log || true
    node scripts/gpu/join-kernels.mjs "$parts" "$results/kernels-python-check.json" || failed=1
    ;;
  time)
    sides="devices=$device beside=python:$device/torch,python:$device/triton cases=families"
    # shellcheck disable=SC2086 # words
    [ -e "$parts/opened" ] || shared $sides part=open "$@"
    touch "$parts/opened"
    # shellcheck disable=SC2086 # words
    bench kernels $sides part=time log="$parts/time" "$@" results="$parts/time-results" || failed=1
    mv "$parts"/time-results/kernels-*.json "$results/kernels-python-time.json" || failed=1
    ;;
  open)
    shared "devices=$device" "beside=python:$device/triton" part=open "$@"
    ;;
  draw)
    bench torch-draw "devices=python:$device" seed="$seed" log="$parts/draw" "$@" results="$results" || failed=1
    [ "$failed" = 1 ] || timeout -k 10 "$seconds" python3 scripts/gpu/torch_agreement.py "$results/torch-draw-python.json" "$results/torch-agreement-drawn.json" "${OPSCOPE_COMMIT:-$(git rev-parse --short HEAD 2>/dev/null || echo unknown)}" || failed=1
    ;;
  *) echo "python-kernels.sh: expected check, open, time or draw, received $what" >&2; exit 2 ;;
esac
exit $failed
