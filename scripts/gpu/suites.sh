#!/bin/sh
# Runs the benchmark suites on a machine with an NVIDIA GPU through the command line, and measures the shapes of two models.
#   scripts/gpu/suites.sh OUT [NAME=SECONDS...]
# NAME is a suite (genesis, performance-guide, comprehensive, tenflowers, trueno, transformer-block) or a script of scripts/models
# (resnet50, bert); SECONDS is the time after which it is stopped: what is measured until then is kept, and its report says how many
# cases that is. Without names: all of them, each for as long as it takes. Needs Node 24, the built app (out/), the addon, and a python3
# with PyTorch, torchvision and transformers. OPSCOPE_RULE: options of `opscope run`, by default those of the preset quick with less
# time a case. Writes into OUT, for each: NAME.session.json.gz (to import), NAME.report.json.gz, NAME.md, and MODEL.sweep.json.
# `node scripts/suite-tables.mjs` makes the tables of docs/suites.md and README.md from these files.
set -eu
cd "$(dirname "$0")/../.."
out=$1
shift
[ $# -gt 0 ] || set -- genesis performance-guide comprehensive tenflowers trueno transformer-block resnet50 bert
mkdir -p "$out"
rule=${OPSCOPE_RULE:---preset quick --min-seconds 0.03 --max-seconds 0.4}
opscope() { node out/main/cli.js "$@"; }
opscope ceilings --devices cpu,cuda:0 >"$out/ceilings.txt" 2>&1 || echo "ceilings ended with $?"

# Reports of the newest session; the exit status of a run says only whether some case failed.
keep() {
  opscope export last --format json --out "$work/session.json" && gzip -9c "$work/session.json" >"$out/$1.session.json.gz"
  opscope export last --format "$2" --out "$out/$1.md"
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for entry in "$@"; do
  name=${entry%%=*}
  stop=
  [ "$name" = "$entry" ] || stop="--stop-after ${entry#*=}"
  echo "== $name"
  # shellcheck disable=SC2086 # options are words
  if [ -f "scripts/models/$name.py" ]; then
    opscope capture --out "$out/$name.sweep.json" --name "Shapes of $name" -- python3 "scripts/models/$name.py" >"$work/$name.txt" 2>&1 || tail -n 5 "$work/$name.txt"
    opscope run --plan "$out/$name.sweep.json" --devices cuda:0,python:cuda:0 --impls kernel,torch --modes hot $rule $stop >"$work/$name.txt" 2>&1 || echo "$name ended with $?"
    keep "$name" markdown
  else
    opscope run --suite "$name" $rule $stop >"$work/$name.txt" 2>&1 || echo "$name ended with $?"
    keep "$name" suite
    opscope export last --format suite-json --out "$work/report.json" && gzip -9c "$work/report.json" >"$out/$name.report.json.gz"
  fi
  grep '^opscope:' "$work/$name.txt" | tail -n 6
done
