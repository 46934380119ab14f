#!/bin/sh
# What a session on a GPU machine measures, in its order. Any call may be cut off: the next one goes on where it stopped.
#   scripts/gpu/session.sh OUT [STEP[=SECONDS]...]
# Without steps: all of them. SECONDS is the limit of a step, after which it is ended and what it has written is kept; a step that has
# ended well is left out next time (OUT/done). Prints what each step took. OPSCOPE_DRY_RUN=1 prints the commands alone.
#
#   step         limit s  what comes of it                                                              needs
#   devices           60  what there is: fails where the addon, the guest library or PyTorch is missing
#   branches         120  kernels that few shapes take, against float64 (test/bench/fuzz/branches.json)
#   kernels          120  every operation and dtype over ordinary and odd sizes, against float64
#   drawn            120  30 odd shapes of every operation and dtype, against float64                     OPSCOPE_CONFORMANCE_SEED
#   slow             110  shapes that were behind PyTorch or the compilers (test/bench/fuzz/slow.json)
#   rates            150  every operation against the rate of a copy, and small ones beside PyTorch in graph mode
#   sanitize         240  memcheck, racecheck and initcheck over every kernel's smallest case               16 processors, 60 GiB on the GPU
#   energy           280  energy of a call of CUDA, cuBLASLt and PyTorch, twice each
#   nvrtc             60  kernels compiled at first use
#   fuzz             420  drawn shapes against PyTorch, torch.compile and Triton               OPSCOPE_FUZZ_SEED, OPSCOPE_FUZZ_BESIDE (without Triton, which times its configurations, four times as many cases), OPSCOPE_JOBS, guest library
#   families         150  drawn shapes of products, convolutions, attention, and of rows and moves, a family at a time              OPSCOPE_FUZZ_SEED
#   draw             240  PyTorch's cold medians against do_bench on 40 drawn shapes                    python3, Triton
#   check            480  PyTorch, torch.compile, Triton, JAX and CuPy on odd shapes against float64    OPSCOPE_JOBS=8
#   wide             300  tensors beyond 2^32 bytes and elements against float64; Triton beyond 2^31 elements  80 GiB
#   open             240  Triton's kernels of Comprehensive and of `time` compiled beforehand; may run beside check   16 processes
#   comprehensive    420  the suite in full, and so on                                                  guest library
#   genesis          420
#   guide            420
#   tenflowers       300
#   time             420  CUDA kernels, PyTorch and Triton on cases of every family
#   block            120  the transformer block
#   models           420  ResNet-50 and BERT                                                            torchvision, transformers
#   two-gpus         600  side by side against in turn                                                  two GPUs
#
# The results of every step lie in OUT, to be copied home after each call. `node scripts/suite-tables.mjs` makes the tables of the suites.
set -u
cd "$(dirname "$0")/../.."
out=$1
shift
mkdir -p "$out/done"
[ $# -gt 0 ] || set -- devices branches kernels drawn slow rates sanitize energy nvrtc fuzz families draw check open wide comprehensive genesis guide tenflowers time block models two-gpus
python=${OPSCOPE_SESSION_PYTHON:-python3}
worker=main/backends/python/worker
[ -d "$worker" ] || worker=out/bench/worker

limit() {
  case $1 in
    devices | nvrtc) echo 60 ;; slow) echo 110 ;; branches | kernels | drawn) echo 120 ;; sanitize | draw | open) echo 240 ;; energy) echo 280 ;; rates | families) echo 150 ;; check) echo 480 ;; wide) echo 300 ;; tenflowers) echo 300 ;; block) echo 120 ;; two-gpus) echo 600 ;; *) echo 420 ;;
  esac
}
# Yardsticks that compile do so beforehand, in OPSCOPE_JOBS processes (8) and a quarter of the time.
fuzz() {
  jobs=${OPSCOPE_JOBS:-8}
  # The same sides in every call: what can be drawn depends on the first of them.
  set -- shape-fuzz devices=cuda:0 seed="${OPSCOPE_FUZZ_SEED:-31415}" count=300 "beside=${OPSCOPE_FUZZ_BESIDE:-python:cuda:0/torch,python:cuda:0/torch.compile,python:cuda:0/triton}"
  share=0
  while [ $share -lt "$jobs" ]; do
    timeout $((seconds / 4 + 20)) node out/bench/bench.mjs "$@" part=open share=$share/$jobs seconds=$((seconds / 4)) "results=$out/fuzz-open-$share" >/dev/null &
    share=$((share + 1))
  done
  wait
  node out/bench/bench.mjs "$@" seconds=$((seconds * 3 / 4 - 50)) "log=$out/fuzz.jsonl" "results=$out"
}
# A family at a time: holes of one are few among cases of the whole catalogue.
families() {
  for family in products=matmul convolutions=conv1d,conv2d,conv3d attention=scaled_dot_product_attention rows=sum,mean,argmax,softmax,layer_norm,rms_norm_backward,scatter_add,cumsum,topk,transpose,avg_pool1d,max_pool2d; do
    node out/bench/bench.mjs shape-fuzz devices=cuda:0 seed="${OPSCOPE_FUZZ_SEED:-31415}" "ops=${family#*=}" count=140 verify=0 seconds=$((seconds / 4 - 8)) "log=$out/${family%%=*}.jsonl" "results=$out/${family%%=*}"
  done
}
# Those of `time` lie where it looks for them.
open() {
  mkdir -p "$out/time/python-parts"
  for cases in comprehensive families; do
    results=$out/open
    [ $cases = families ] && results=$out/time
    OPSCOPE_SECONDS=$((seconds - 75)) sh scripts/gpu/python-kernels.sh open "results=$results" "cases=$cases" &
  done
  wait
  touch "$out/time/python-parts/opened"
}
# Suites end by themselves before their limit, so that their reports are written.
suite() { sh scripts/gpu/suites.sh "$out/suites" "$1=$((seconds - 60))"; }
step() {
  case $1 in
    devices) node out/main/cli.js list devices ;;
    branches) node out/bench/bench.mjs shape-fuzz devices=cuda:0 beside=cuda:0/cublaslt cases=test/bench/fuzz/branches.json verify=2e7 "log=$out/branches.jsonl" "results=$out/branches" ;;
    kernels) sh scripts/gpu/kernels.sh check sizes=all impls=kernel "seconds=$((seconds - 15))" "results=$out/kernels" ;;
    drawn) sh scripts/gpu/kernels.sh check sizes=odd draws=30 few=no impls=kernel "seconds=$((seconds - 15))" "log=$out/drawn.jsonl" "results=$out/drawn" ;;
    slow) node out/bench/bench.mjs shape-fuzz devices=cuda:0 cases=test/bench/fuzz/slow.json verify=0 "log=$out/slow.jsonl" "results=$out/slow" ;;
    rates) node out/bench/bench.mjs rates devices=cuda:0 "parts=large:$((seconds / 2 - 15)),small:$((seconds / 2 - 15))" "log=$out/rates.jsonl" "results=$out/rates" ;;
    sanitize) OPSCOPE_SECONDS=$((seconds - 20)) OPSCOPE_JOBS=2 sh scripts/gpu/kernels.sh sanitize "results=$out/sanitize" ;;
    energy) node out/bench/bench.mjs energy "log=$out/energy.jsonl" "results=$out/energy" ;;
    nvrtc) OPSCOPE_SECONDS=$((seconds - 15)) sh scripts/gpu/kernels.sh nvrtc ops=add,softmax,matmul,conv2d,sort "results=$out/nvrtc" ;;
    fuzz) fuzz ;;
    families) families ;;
    draw) OPSCOPE_SECONDS=$((seconds / 2)) sh scripts/gpu/python-kernels.sh draw "results=$out/draw" seconds=0.5 ;;
    check) OPSCOPE_SECONDS=$((seconds - 90)) sh scripts/gpu/python-kernels.sh check "results=$out/check" impls=torch,torch.compile,triton,jax,cupy draws=1 ;;
    open) open ;;
    wide)
      node out/bench/bench.mjs shape-fuzz devices=cuda:0 beside=cuda:0/cublaslt cases=test/bench/fuzz/wide.json checked=1e11 "seconds=$((seconds / 2))" "log=$out/wide.jsonl" "results=$out/wide"
      "$python" scripts/gpu/triton_wide.py "$worker" "$out/triton-wide.jsonl"
      ;;
    comprehensive | genesis | tenflowers) suite "$1" ;;
    guide) suite performance-guide ;;
    time) OPSCOPE_SECONDS=$((seconds - 90)) sh scripts/gpu/python-kernels.sh time "results=$out/time" ;;
    block) suite transformer-block ;;
    models) sh scripts/gpu/suites.sh "$out/suites" resnet50=$((seconds / 2 - 60)) bert=$((seconds / 2 - 60)) ;;
    two-gpus) node scripts/gpu/two-gpus.mjs "$out/two-gpus" ;;
    *) echo "session.sh: there is no step $1" >&2; return 2 ;;
  esac
}
# A step runs in a shell of its own, so that its time ends all that it has started.
if [ "${OPSCOPE_STEP:-}" != '' ]; then
  seconds=$OPSCOPE_STEP
  step "$1"
  exit
fi
failed=0
for entry in "$@"; do
  name=${entry%%=*}
  seconds=$(limit "$name")
  [ "$name" = "$entry" ] || seconds=${entry#*=}
  if [ -e "$out/done/$name" ]; then
    echo "== $name is done"
    continue
  fi
  echo "== $name, at most $seconds s"
  [ "${OPSCOPE_DRY_RUN:-}" = 1 ] && continue
  from=$(date +%s)
  if OPSCOPE_STEP=$seconds timeout -k 15 "$seconds" sh "$0" "$out" "$name"; then touch "$out/done/$name"; else
    echo "== $name ended with $?"
    failed=1
  fi
  echo "== $name took $(($(date +%s) - from)) s"
done
exit $failed
