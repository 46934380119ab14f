"""Holds PyTorch's cold medians of a session against triton.testing.do_bench called directly on the same shapes.

usage: torch_agreement.py SESSION.json.gz RESULT.json COMMIT
       torch_agreement.py torch-draw-python.json RESULT.json COMMIT     (what `bench.mjs torch-draw` has measured on drawn shapes)

Run it right after the session or the bench, on the same card. do_bench is called twice for each case: as it is, which zeroes 256 MB
before each call and leaves the L2 full of dirty lines that the timed call must write back first, and with a flush that reads,
as Opscope's does. The rule: from 50 us up, Opscope and do_bench with the reading flush within 2 %; where the power limit holds
one of the clocks down, the case is listed apart. Below 50 us the differences are published.
"""
import datetime
import gzip
import json
import statistics
import subprocess
import sys
import time

import torch
import triton
from triton.testing import do_bench

RULE_FROM_US, RULE_PERCENT = 50, 2
# Below this share of the best clock the power limit sets it, and it wanders from one moment to the next.
LIMITED = 0.97
DTYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "tf32": torch.float32}
functional = torch.nn.functional


def call_of(case):
    """The op as a user would call it with a given output, or with the allocation that PyTorch insists on."""
    op, p = case["op"], case["params"]
    kind = DTYPES[case["dtype"]]
    torch.backends.cuda.matmul.allow_tf32 = case["dtype"] == "tf32"

    def normal(*shape):
        return torch.randn(*shape, device="cuda", dtype=torch.float32).to(kind)

    if op == "matmul":
        a, b, out = normal(p["m"], p["k"]), normal(p["k"], p["n"]), torch.empty(p["m"], p["n"], device="cuda", dtype=kind)
        return lambda: torch.matmul(a, b, out=out)
    if op == "layer_norm":
        x, weight, bias = normal(p["tokens"], p["dim"]), normal(p["dim"]), normal(p["dim"])
        return lambda: functional.layer_norm(x, [p["dim"]], weight, bias, 1e-5)
    if op in ("softmax", "sum"):
        x = normal(p["rows"], p["cols"])
        if op == "softmax":
            out = torch.empty_like(x)
            return lambda: torch.softmax(x, -1, out=out)
        flat, axis = (x.view(-1), 0) if p["axis"] == "all" else (x, 1 if p["axis"] == "last" else 0)
        out = torch.sum(flat, axis)
        return lambda: torch.sum(flat, axis, out=out)
    x, y = normal(p["n"]), normal(p["n"])
    out = torch.empty_like(x)
    return {
        "copy": lambda: out.copy_(x),
        "add": lambda: torch.add(x, y, out=out),
        "mul": lambda: torch.mul(x, y, out=out),
        "exp": lambda: torch.exp(x, out=out),
        "gelu": lambda: torch._C._nn.gelu(x, out=out),
    }[op]


def bench(call, expected_us, clear=None):
    driver = triton.runtime.driver.active
    own = driver.clear_cache
    driver.clear_cache = clear or own
    try:
        return statistics.median(do_bench(call, warmup=25, rep=max(100, expected_us / 20), return_mode="all")) * 1e3
    finally:
        driver.clear_cache = own


def results_of(source):
    """Cold results of eager PyTorch that were right: of a session, or of drawn shapes in the same form."""
    if not source.endswith(".gz"):
        with open(source) as file:
            rows = [row for row in json.load(file)["rows"] if row["status"] == "ok"]
        return [
            {"case": {"op": row["op"], "dtype": row["dtype"], "params": json.loads(row["params"])}, "summary": {"medianNs": row["medianNs"]}, "hostCallNs": row.get("hostCallNs"), "clocksMhz": [row["mhz"], row["mhz"], row["maxMhz"]] if "mhz" in row else []}
            for row in rows
        ]
    with gzip.open(source) as file:
        results = json.load(file)["results"]
    return [r for r in results if r["status"] == "ok" and r["case"]["impl"] == "torch" and r["case"]["device"].startswith("python:cuda") and r["case"]["mode"] == "cold"]


def rows_of(cold):
    """One row for each result; do_bench beside it."""
    best = max((max(r.get("clocksMhz") or [0]) for r in cold), default=0)
    drained = torch.zeros(64 << 20, dtype=torch.int32, device="cuda")
    rows = []
    for result in cold:
        case, ours = result["case"], result["summary"]["medianNs"] / 1e3
        call = call_of(case)
        clean = bench(call, ours, lambda cache: drained.max())
        dirty = bench(call, ours)
        clock = statistics.median(result["clocksMhz"]) if result.get("clocksMhz") else None
        row = {
            "op": case["op"], "params": case["params"], "dtype": case["dtype"], "us": {"opscope": round(ours, 3), "doBench": round(dirty, 3), "doBenchClean": round(clean, 3)},
            "percent": {"doBench": round((ours / dirty - 1) * 100, 2), "doBenchClean": round((ours / clean - 1) * 100, 2)},
        }
        if result.get("hostCallNs"):
            row["us"]["host"] = round(result["hostCallNs"] / 1e3, 2)
        if clock is not None:
            row["mhz"] = round(clock, 1)
            if clock < LIMITED * best:
                row["powerLimited"] = True
        rows.append(row)
        print(f"{case['op']:11}{' '.join(f'{v}' for v in case['params'].values()):22}{case['dtype']:6}{ours:10.2f}{clean:10.2f}{dirty:10.2f} us {row['percent']['doBenchClean']:7.2f} %{' limited' if row.get('powerLimited') else ''}", flush=True)
        del call
    return rows


def figures_of(rows):
    """As test/bench/bench.ts has them."""
    long = [row for row in rows if row["us"]["doBenchClean"] >= RULE_FROM_US]
    short = [row for row in rows if row["us"]["doBenchClean"] < RULE_FROM_US]
    free = [row for row in long if not row.get("powerLimited")]
    limited = [row for row in long if row.get("powerLimited")]
    agree = lambda some, other: sum(abs(row["percent"][other]) <= RULE_PERCENT for row in some)
    figures = [{"name": "cold PyTorch from 50 us up, do_bench with a flush that reads: cases within 2 %", "value": agree(free, "doBenchClean"), "unit": f"of {len(free)}", "aim": len(free), "better": "more"}]
    figures.append({"name": "the same cases, do_bench as it is: within 2 %", "value": agree(free, "doBench"), "unit": f"of {len(free)}", "published": True})
    if limited:
        figures.append({"name": "cases at the power limit within 2 %, flush that reads", "value": agree(limited, "doBenchClean"), "unit": f"of {len(limited)}", "published": True})
    if free:
        figures.append({"name": "from 50 us up, median difference, flush that reads", "value": round(statistics.median(row["percent"]["doBenchClean"] for row in free), 3), "unit": "%", "published": True})
        figures.append({"name": "from 50 us up, median difference, do_bench as it is", "value": round(statistics.median(row["percent"]["doBench"] for row in free), 3), "unit": "%", "published": True})
    if short:
        apart = [row["us"]["opscope"] - row["us"]["doBenchClean"] for row in short]
        figures.append({"name": f"below 50 us, {len(short)} cases: median difference, flush that reads", "value": round(statistics.median(apart), 3), "unit": "us", "published": True})
        figures.append({"name": "below 50 us: largest difference, flush that reads", "value": round(max(apart, key=abs), 3), "unit": "us", "published": True})
    return figures


def main():
    source, out, commit = sys.argv[1:]
    started = time.monotonic()
    rows = rows_of(results_of(source))
    name, driver = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], capture_output=True, text=True, check=True).stdout.splitlines()[0].split(", ")
    record = {
        "bench": "torch-agreement", "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"), "commit": commit, "seconds": 0,
        "machine": {"devices": [{"id": "cuda:0", "name": name, "driver": driver}], "torch": torch.__version__, "triton": triton.__version__},
        "figures": figures_of(rows), "rows": rows,
    }
    record["seconds"] = round(time.monotonic() - started, 1)
    for figure in record["figures"]:
        print(figure["name"], figure["value"], figure["unit"])
    with open(out, "w") as file:
        json.dump(record, file, indent=1)


if __name__ == "__main__":
    main()
