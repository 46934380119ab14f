#!/bin/sh
# Checks, sanitizes and times the CUDA kernels on a machine with an NVIDIA GPU, through the addon in Node as the product runs them.
#   scripts/gpu/kernels.sh [check|sanitize|nvrtc|time|all] [key=value...]
# Needs node, out/bench/bench.mjs (npm run bench:bundle) and native/build/opscope.node.
#   check      every operation and dtype over ordinary and odd sizes against float64, and the kernels that are wrong on purpose
#   sanitize   compute-sanitizer over the smallest case of every kernel and dtype, of the sizes of the conformance tests and of
#              test/bench/fuzz/branches.json: memcheck, racecheck and initcheck, or the tools that OPSCOPE_CHECKERS names, all at once and each
#              in OPSCOPE_JOBS processes (4), for OPSCOPE_SECONDS at most (600). The next call goes on where the time ended
#   nvrtc      the small sizes against float64 with every kernel compiled by NVRTC at first use, for OPSCOPE_SECONDS at most
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
judge() { node -e 'const { figures } = JSON.parse(require("fs").readFileSync(process.argv[1], "utf8")); process.exit(figures.some((f) => f.aim === 0 && f.value !== 0) ? 1 : 0)' "${1:-$results/kernels-cuda.json}" || failed=1; }

# A tool takes a minute to load the kernels, and cases are small: processes for many cases, beside each other. The logs are kept, so that
# the next call goes on where this one ended.
sanitize() {
  mkdir -p "$results"
  seconds=${OPSCOPE_SECONDS:-600}
  jobs=${OPSCOPE_JOBS:-4}
  for checker in ${OPSCOPE_CHECKERS:-memcheck racecheck initcheck}; do
    share=0
    while [ "$share" -lt "$jobs" ]; do
      for list in sizes branches; do
        cases=
        [ $list = branches ] && cases=cases=test/bench/fuzz/branches.json
        log=$results/sanitize-$checker-$list-$share.log
        # Reports are read from the log: the tool's own exit status says nothing of a run that its time ended.
        # shellcheck disable=SC2086 # no cases, no argument
        timeout -k 5 "$seconds" compute-sanitizer --tool "$checker" --print-limit 1000 node out/bench/bench.mjs sanitize devices=cuda:0 share="$share/$jobs" $cases log="$log" seconds=$((seconds * 9 / 10)) "$@" results="$(mktemp -d)" >>"$log" 2>&1 &
      done
      share=$((share + 1))
    done
  done
  wait
  for checker in ${OPSCOPE_CHECKERS:-memcheck racecheck initcheck}; do
    echo "compute-sanitizer $checker"
    logs=$(printf '%s\n' "$results/sanitize-$checker-"*.log | paste -sd,)
    node out/bench/bench.mjs sanitize part=read log="$logs" results="$results/$checker" && judge "$results/$checker/sanitize.json" || failed=1
  done
}

# The kernels as NVRTC compiles them at first use, from an empty cache.
nvrtc() {
  cache=$(mktemp -d)
  OPSCOPE_NVRTC=1 OPSCOPE_KERNEL_CACHE="$cache" node out/bench/bench.mjs kernels devices=cuda:0 part=check sizes=few impls=kernel seconds="${OPSCOPE_SECONDS:-600}" "$@" results="$results/nvrtc" && judge "$results/nvrtc/kernels-cuda.json" || failed=1
  echo "$(find "$cache" -type f | wc -l) modules compiled by NVRTC, $(du -sh "$cache" | cut -f1)"
  [ -n "$(find "$cache" -type f)" ] || { echo 'kernels.sh: NVRTC compiled nothing' >&2; failed=1; }
  rm -rf "$cache"
}

case $what in
  check) OPSCOPE_RED_TEAM=1 bench part=check "$@" && judge || failed=1 ;;
  sanitize) sanitize "$@" ;;
  nvrtc) nvrtc "$@" ;;
  time) bench part=time "$@" || failed=1 ;;
  all)
    sanitize "$@"
    OPSCOPE_RED_TEAM=1 bench "$@" && judge || failed=1
    ;;
  *) echo "kernels.sh: expected check, sanitize, nvrtc, time or all, received $what" >&2; exit 2 ;;
esac
exit $failed
