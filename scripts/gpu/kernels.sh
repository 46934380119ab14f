#!/bin/sh
# Checks, sanitizes and times the CUDA kernels on a machine with an NVIDIA GPU, through the addon in Node as the product runs them.
#   scripts/gpu/kernels.sh [check|sanitize|time|all] [key=value...]
# Needs node, out/bench/bench.mjs (npm run bench:bundle) and native/build/opscope.node.
#   check      every operation and dtype over ordinary and odd sizes against float64, and the kernels that are wrong on purpose
#   sanitize   compute-sanitizer over the small sizes: memcheck, or the tools that OPSCOPE_CHECKERS names ("memcheck racecheck")
#   time       the nine operations that the first kernels were made for; before=ADDON times another build in turns with this one,
#              beside=python:cuda:0/torch an implementation of the Python backend
# Arguments with a `=` go to the bench (test/bench/kernels.bench.ts names them all). Prints a table and writes kernels-cuda.json to
# test/bench/results, or to results=FOLDER. OPSCOPE_COMMIT names the commit where there is no git. Exits 1 when something failed.
set -eu
cd "$(dirname "$0")/../.."
what=${1:-all}
[ $# -eq 0 ] || shift
results=test/bench/results
for word in "$@"; do case $word in results=*) results=${word#results=} ;; esac; done
failed=0

bench() { node out/bench/bench.mjs kernels devices=cuda:0 "$@" results="$results"; }
# A figure that should be zero and is not.
judge() { node -e 'const { figures } = JSON.parse(require("fs").readFileSync(process.argv[1], "utf8")); process.exit(figures.some((f) => f.aim === 0 && f.value !== 0) ? 1 : 0)' "$results/kernels-cuda.json" || failed=1; }

sanitize() {
  for checker in ${OPSCOPE_CHECKERS:-memcheck}; do
    log=$(mktemp)
    # Without the red team: a fault must be ours.
    compute-sanitizer --tool "$checker" --target-processes all --error-exitcode 3 node out/bench/bench.mjs kernels devices=cuda:0 part=check sizes=few "$@" results="$(dirname "$log")/opscope-sanitized" >"$log" 2>&1 || failed=1
    echo "compute-sanitizer $checker"
    grep -E '^=========|faults found' "$log" | tail -n 40
    rm -f "$log"
  done
}

case $what in
  check) OPSCOPE_RED_TEAM=1 bench part=check "$@" && judge || failed=1 ;;
  sanitize) sanitize "$@" ;;
  time) bench part=time "$@" || failed=1 ;;
  all)
    sanitize "$@"
    OPSCOPE_RED_TEAM=1 bench "$@" && judge || failed=1
    ;;
  *) echo "kernels.sh: expected check, sanitize, time or all, received $what" >&2; exit 2 ;;
esac
exit $failed
