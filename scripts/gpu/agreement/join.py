"""Joins what Opscope, do_bench and Nsight Compute said about the same launches, and judges it.

Opscope and do_bench time from event to event, which takes a while even around a kernel that does nothing; Nsight Compute
gives the kernel's own duration, which is not nothing for it either. The difference between the two for the empty kernel
is the offset between the clocks. The rule: from 50 us up, within 1 % once the offset is taken off (against do_bench, which
uses events as well, there is nothing to take off).

usage: join.py FOLDER RESULT COMMIT
"""
import csv
import json
import pathlib
import statistics
import sys

from judge import CLOCKS_DIFFER, LIMITED, PAIRS, RULE_FROM_US, RULE_PERCENT, compare, figures_of, name_of

TIME, CYCLES = "gpu__time_duration.sum", "gpc__cycles_elapsed.max"
UNIT_US = {"ns": 1e-3, "nsecond": 1e-3, "us": 1, "usecond": 1, "ms": 1e3, "msecond": 1e3, "s": 1e6, "second": 1e6}
WARM = 3
median = statistics.median


def read_ncu(path, manifest):
    """Duration in us and clock in MHz of every call, in lists by (op, dtype, dims); the first calls are left out."""
    with open(path) as file:
        head, units, *rows = csv.reader(line for line in file if line.startswith('"'))
    time, cycles = head.index(TIME), head.index(CYCLES)
    unit = UNIT_US[units[time]]
    number = lambda text: float(text.replace(",", ""))
    kernels = [(number(row[time]) * unit, number(row[cycles])) for row in rows]
    expected = sum(entry["kernels"] * entry["launches"] for entry in manifest)
    if len(kernels) != expected:
        sys.exit(f"{path}: expected {expected} kernels, found {len(kernels)}")
    found, at = {}, 0
    for entry in manifest:
        count = entry["kernels"]
        parts = [kernels[at + call * count : at + (call + 1) * count] for call in range(entry["launches"])]
        at += count * entry["launches"]
        sums = [(sum(us for us, _ in part), sum(n for _, n in part)) for part in parts[WARM:]]
        found[key(entry)] = [(us, n / us) for us, n in sums]
    return found


def pool(runs):
    """Medians over the calls of several runs."""
    calls = {}
    for run in runs:
        for case, found in run.items():
            calls.setdefault(case, []).extend(found)
    medians = {}
    for case, found in calls.items():
        us = median(us for us, _ in found)
        medians[case] = {"us": us, "madUs": median(abs(value - us) for value, _ in found), "mhz": median(mhz for _, mhz in found), "samples": len(found)}
    return medians


def key(row):
    return row["op"], row["dtype"], tuple(row["dims"])


def text_of(found):
    return f"{found['percent']:+.2f}" + (f" {found['cyclesPercent']:+.1f}c" if "cyclesPercent" in found else "") + ("!" if found.get("agrees") is False else "")


def label_of(row):
    return f"{row['op']} {row['dtype']} {'x'.join(map(str, row['dims']))}"


def main():
    folder, result, commit = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    measured = json.loads((folder / "measured.json").read_text())
    manifest = json.loads((folder / "manifest.json").read_text())
    ncu = {mode: pool(read_ncu(path, manifest) for path in sorted(folder.glob(f"ncu-{mode}*.csv"))) for mode in ("cold", "hot")}
    for row in measured["rows"]:
        for mode, name in (("cold", "ncuCold"), ("hot", "ncuHot")):
            entry = ncu[mode][key(row)]
            row["us"][name], row["madUs"][name] = round(entry["us"], 4), round(entry["madUs"], 4)
            row["mhz"][name], row["samples"][name] = round(entry["mhz"], 1), entry["samples"]
    empty, rows = measured["rows"][0], measured["rows"][1:]
    pairs = [pair for pair in PAIRS if pair.mine in empty["us"] and pair.other in empty["us"]]
    offsets = {name_of(pair): round(empty["us"][pair.mine] - empty["us"][pair.other], 4) if pair.apart else 0 for pair in pairs}
    best_mhz = max(value for row in rows for value in row["mhz"].values())
    print(f"empty kernel, us: {empty['us']}")
    print(f"{'difference in % (offset off)':34}" + " ".join(f"{pair.mine[:13]:>13}" for pair in pairs))
    print(f"{'':34}" + " ".join(f"{pair.other[-13:]:>13}" for pair in pairs))
    for row in rows:
        row["difference"] = {name_of(pair): compare(row, pair, offsets[name_of(pair)], best_mhz) for pair in pairs}
        print(f"{label_of(row):34}" + " ".join(text_of(found).rjust(13) for found in row["difference"].values()) + f"  {row['us']['cold']:.1f} us")
    figures = figures_of(rows, empty, pairs)
    for figure in figures:
        print(f"{figure['name']:80} {figure['value']} {figure['unit']}")
    head = {
        "bench": "agreement", "date": measured["date"], "commit": commit, "seconds": measured["seconds"],
        "machine": {"devices": [measured["machine"]], **{name: measured[name] for name in ("torch", "triton")}},
        "figures": figures,
        "columns": COLUMNS, "offsetsUs": offsets, "rule": {"percent": RULE_PERCENT, "fromUs": RULE_FROM_US, "cyclesWhereClocksDifferBy": CLOCKS_DIFFER, "powerLimitedBelow": LIMITED},
        **{name: measured[name] for name in ("l2Bytes", "tickNs", "timerStepNs", "ladder", "spin")},
    }
    text = json.dumps(head, indent=1)[:-2] + ',\n "rows": [\n' + ",\n".join("  " + json.dumps(row) for row in [empty, *rows]) + "\n ]\n}\n"
    pathlib.Path(result).write_text(text)
    print(result)


COLUMNS = {
    "cold": "Opscope: L2 flushed by reading 2 x its size, then one call, from event to event",
    "coldPaced": "the same with pauses of 20 ms between samples, as under Nsight Compute",
    "coldNoStamps": "cold without the kernel that notes the SM clock",
    "coldWrite": "cold with the flush that writes 2 x L2 and leaves dirty lines, as do_bench's does",
    "coldWriteRead": "cold with 2 x L2 written, then 2 x L2 elsewhere read",
    "hot": "Opscope: calls back to back for about 200 us between events, per call",
    "hotOne": "Opscope: one call on warm caches between events",
    "hotPaced": "the same with pauses of 20 ms between samples",
    "hotAlone": "one call as a CUDA graph, 20 ms and a single call after the one before: no load just ahead of it, as under Nsight Compute",
    "hotOneNoStamps": "hotOne without the kernel that notes the SM clock",
    "graph": "Opscope: a CUDA graph of calls for about 2 ms, at most 400, per call",
    "doBenchCold": "triton.testing.do_bench as it is: 256 MB zeroed before each call",
    "doBenchColdClean": "do_bench with a flush that reads 256 MB instead",
    "doBenchHot": "do_bench without flush",
    "doBenchGraph": "triton.testing.do_bench_cudagraph",
    "ncuCold": "Nsight Compute gpu__time_duration, --cache-control all --clock-control none",
    "ncuHot": "Nsight Compute gpu__time_duration, --cache-control none --clock-control none",
}


if __name__ == "__main__":
    main()
