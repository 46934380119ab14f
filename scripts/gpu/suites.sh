#!/bin/sh
# Runs the benchmark suites on a machine with an NVIDIA GPU through the command line, and measures the shapes of two models.
#   scripts/gpu/suites.sh OUT [NAME=SECONDS...]
# NAME is a suite (genesis, performance-guide, comprehensive, tenflowers, trueno, transformer-block) or a script of scripts/models
# (resnet50, bert); SECONDS is the time after which it is stopped (600): what is measured until then is kept, and its report says how many
# cases that is. The same call again goes on where it stopped and leaves out what is complete; the history is in OUT/data, every result is
# in it before the next case begins. Without names: all of them. Needs Node 24, the built app (out/), the addon and opscope_guest, and a
# python3 with PyTorch, torchvision and transformers. OPSCOPE_RULE: options of `opscope run`, by default those of the preset quick with less
# time a case (with --quick it rehearses). OPSCOPE_DEVICES: where the models are measured (cuda:0,python:cuda:0), OPSCOPE_CEILINGS: whose
# ceilings are measured first (cpu,cuda:0). Writes into OUT, for each: NAME.session.json.gz (to import), NAME.report.json.gz, NAME.md, NAME.svg,
# and MODEL.sweep.json. Exits 1 where a session lacks cases. `node scripts/suite-tables.mjs` makes the tables of docs/suites.md and README.md from these files.
set -eu
cd "$(dirname "$0")/../.."
out=$1
shift
[ $# -gt 0 ] || set -- genesis performance-guide comprehensive tenflowers trueno transformer-block resnet50 bert
mkdir -p "$out"
rule=${OPSCOPE_RULE:---preset quick --min-seconds 0.03 --max-seconds 0.4}
export OPSCOPE_DATA_DIR="$out/data"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Seconds, then words of the command line. SIGINT has a run keep what it has; a step that hangs beyond that is ended.
opscope() {
  seconds=$1
  shift
  timeout -s INT -k 20 "$seconds" node out/main/cli.js "$@"
}
# The newest session of this name as `ID RESULTS PLANNED`; nothing where there is none.
session() {
  opscope 60 sessions --json >"$work/sessions.json" 2>/dev/null || echo '[]' >"$work/sessions.json"
  node -e 'const [file, name] = process.argv.slice(1); const one = JSON.parse(require("fs").readFileSync(file, "utf8")).find((s) => s.name === name); if (one) console.log(one.id, one.results, one.planned)' "$work/sessions.json" "$1"
}
# Runs the words after SECONDS as the session NAME, or measures what that session has left. Its exit status says only whether some case failed.
measure() {
  name=$1
  seconds=$2
  shift 2
  # shellcheck disable=SC2046 # three words
  set -- "$@" -- $(session "$name")
  words=
  while [ "$1" != -- ]; do
    words="$words $1"
    shift
  done
  shift
  if [ $# -eq 0 ]; then
    # shellcheck disable=SC2086 # options are words
    opscope $((seconds + 60)) run $words --name "$name" $rule --stop-after "$seconds" >"$work/$name.txt" 2>&1 || echo "$name ended with $?"
  elif [ "$2" -lt "$3" ]; then
    echo "$name goes on: $2 of $3 cases"
    opscope "$seconds" resume "$1" >"$work/$name.txt" 2>&1 || echo "$name ended with $?"
  else
    echo "$name is complete: $3 cases"
    return 1
  fi
  grep '^opscope:' "$work/$name.txt" | tail -n 6
}
# Whether a session as `session` tells it has all of its cases.
complete() { [ "${2:-0}" -gt 0 ] && [ "$2" -ge "$3" ]; }
# Reports of the session NAME in the formats that follow, as FORMAT=FILE.
keep() {
  id=$(session "$1" | cut -d' ' -f1)
  shift
  for entry in "$@"; do opscope 120 export "$id" --format "${entry%%=*}" --out "$out/${entry#*=}" 2>/dev/null || echo "${entry#*=} was not written"; done
}
if [ ! -e "$out/ceilings.txt" ]; then
  if opscope 180 ceilings --devices "${OPSCOPE_CEILINGS:-cpu,cuda:0}" >"$work/ceilings.txt" 2>&1; then mv "$work/ceilings.txt" "$out/ceilings.txt"; else
    echo "ceilings ended with $?"
    tail -n 3 "$work/ceilings.txt"
  fi
fi
incomplete=0
for entry in "$@"; do
  name=${entry%%=*}
  seconds=600
  [ "$name" = "$entry" ] || seconds=${entry#*=}
  echo "== $name, $seconds s"
  if [ -f "scripts/models/$name.py" ]; then
    [ -s "$out/$name.sweep.json" ] || opscope 180 capture --out "$out/$name.sweep.json" --name "Shapes of $name" -- python3 "scripts/models/$name.py" >"$work/capture.txt" 2>&1 || { tail -n 5 "$work/capture.txt"; incomplete=1; continue; }
    measure "$name" "$seconds" --plan "$out/$name.sweep.json" --devices "${OPSCOPE_DEVICES:-cuda:0,python:cuda:0}" --impls kernel,torch --modes hot || continue
    keep "$name" json="$name.session.json" markdown="$name.md"
  else
    measure "$name" "$seconds" --suite "$name" || continue
    keep "$name" json="$name.session.json" suite="$name.md" suite-picture="$name.svg" suite-json="$name.report.json"
  fi
  gzip -9f "$out/$name".session.json "$out/$name".report.json 2>/dev/null || true
  # shellcheck disable=SC2046 # three words
  complete $(session "$name") || incomplete=1
done
exit $incomplete
