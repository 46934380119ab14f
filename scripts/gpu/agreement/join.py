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

TIME, CYCLES = "gpu__time_duration.sum", "gpc__cycles_elapsed.max"
UNIT_US = {"ns": 1e-3, "nsecond": 1e-3, "us": 1, "usecond": 1, "ms": 1e3, "msecond": 1e3, "s": 1e6, "second": 1e6}
WARM = 3
median = statistics.median


def read_ncu(path, manifest):
    """Median duration in us and clock in MHz of every case, by (op, dtype, dims); the first launches are left out."""
    with open(path) as file:
        lines = [line for line in file if line.startswith('"')]
    table = list(csv.reader(lines))
    head, units, rows = table[0], table[1], table[2:]
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
        calls = []
        for _ in range(entry["launches"]):
            part = kernels[at : at + count]
            calls.append((sum(us for us, _ in part), sum(n for _, n in part)))
            at += count
        calls = calls[WARM:]
        us = median(us for us, _ in calls)
        found[key(entry)] = {"us": us, "madUs": median(abs(value - us) for value, _ in calls), "mhz": median(n / value for value, n in calls), "samples": len(calls)}
    return found


def key(row):
    return row["op"], row["dtype"], tuple(row["dims"])


# Ours, theirs, and whether an offset lies between the two clocks.
PAIRS = [
    ("cold", "ncuCold", True), ("coldPaced", "ncuCold", True), ("cold", "doBenchColdClean", False), ("coldWrite", "doBenchCold", False),
    ("hotOne", "ncuHot", True), ("hotPaced", "ncuHot", True), ("hotAlone", "ncuHot", True), ("hotOne", "doBenchHot", False),
    ("graph", "doBenchGraph", False), ("cold", "coldNoStamps", False), ("hotOne", "hotOneNoStamps", False),
]
RULE_FROM_US, RULE_PERCENT = 50, 1
CLOCKS_DIFFER = 0.005
# Below this share of the best clock the power limit sets it, and it wanders from one moment to the next.
LIMITED = 0.97


def compare(row, mine, other, offset, best_mhz):
    """Difference in percent, and in cycles where the clocks differ: then the same work took another time on either side."""
    us, mhz = row["us"], row["mhz"]
    found = {"percent": round(((us[mine] - offset) / us[other] - 1) * 100, 2)}
    if mine in mhz and other in mhz:
        if abs(mhz[mine] / mhz[other] - 1) > CLOCKS_DIFFER:
            found["cyclesPercent"] = round(((us[mine] - offset) * mhz[mine] / (us[other] * mhz[other]) - 1) * 100, 2)
    elif mhz.get(mine, best_mhz) < LIMITED * best_mhz:
        found["clockUnknown"] = True
    return found


def text_of(found):
    return f"{found['percent']:+.2f}" + (f" {found['cyclesPercent']:+.1f}c" if "cyclesPercent" in found else " ?" if "clockUnknown" in found else "")


def main():
    folder, result, commit = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    measured = json.loads((folder / "measured.json").read_text())
    manifest = json.loads((folder / "manifest.json").read_text())
    ncu = {mode: read_ncu(folder / f"ncu-{mode}.csv", manifest) for mode in ("cold", "hot")}
    rows = measured["rows"]
    for row in rows:
        for mode, name in (("cold", "ncuCold"), ("hot", "ncuHot")):
            entry = ncu[mode][key(row)]
            row["us"][name], row["madUs"][name] = round(entry["us"], 4), round(entry["madUs"], 4)
            row["mhz"][name], row["samples"][name] = round(entry["mhz"], 1), entry["samples"]
    empty = next(row for row in rows if row["op"] == "empty")
    offsets = {f"{mine}-{other}": round(empty["us"][mine] - empty["us"][other], 4) if apart else 0 for mine, other, apart in PAIRS}
    print(f"empty kernel, us: {empty['us']}")
    print(f"{'difference in % (offset off)':34}" + " ".join(f"{mine[:12]:>13}" for mine, _, _ in PAIRS))
    print(f"{'':34}" + " ".join(f"{other[-12:]:>13}" for _, other, _ in PAIRS))
    best_mhz = max(value for row in rows for value in row["mhz"].values())
    within = {name: [0, 0, 0] for name in offsets}
    for row in rows:
        if row is empty:
            continue
        row["difference"], texts = {}, []
        for mine, other, _ in PAIRS:
            name = f"{mine}-{other}"
            found = row["difference"][name] = compare(row, mine, other, offsets[name], best_mhz)
            if row["us"][other] >= RULE_FROM_US:
                good = min(abs(found["percent"]), abs(found.get("cyclesPercent", found["percent"]))) <= RULE_PERCENT
                within[name][0 if good else 2 if "clockUnknown" in found else 1] += 1
            texts.append(text_of(found).rjust(13))
        print(f"{row['op'] + ' ' + row['dtype'] + ' ' + 'x'.join(map(str, row['dims'])):34}" + " ".join(texts) + f"  {row['us']['cold']:.1f} us")
    counts = [f"{good} of {good + bad}" + (f" {unknown}?" if unknown else "") for good, bad, unknown in within.values()]
    print(f"{f'within {RULE_PERCENT} % from {RULE_FROM_US} us':34}" + " ".join(text.rjust(13) for text in counts))
    head = {
        **{name: measured[name] for name in ("machine", "date")},
        "commit": commit,
        **{name: measured[name] for name in ("torch", "triton", "l2Bytes", "tickNs", "timerStepNs")},
        "columns": COLUMNS,
        "offsetsUs": offsets,
        "rule": {"percent": RULE_PERCENT, "fromUs": RULE_FROM_US},
        "within": {name: {"good": good, "bad": bad, "clockUnknown": unknown} for name, (good, bad, unknown) in within.items()},
        "ladder": measured["ladder"],
        "spin": measured["spin"],
    }
    text = json.dumps(head, indent=1)[:-2] + ',\n "rows": [\n' + ",\n".join("  " + json.dumps(row) for row in rows) + "\n ]\n}\n"
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
