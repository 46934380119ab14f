"""Times the same launches as Opscope does and as Triton's do_bench does, in one process and turn about.

usage: measure.py LIBRARY OUT.json
"""
import datetime
import json
import statistics
import subprocess
import sys
import time

import torch
import triton
from triton.testing import do_bench, do_bench_cudagraph

from calls import MOST_STAMPS, Calls, Case, cases

median = statistics.median
ROUNDS = 2
# Kernels that take less than this are timed by do_bench with the host's gaps in them, which stamps would lengthen.
LAUNCH_NS = 40e3
PAUSE_S = 0.02
PACED = 20


def ours(calls, expected_ns):
    """Functions that take one round of samples each, by what they show: lists of ns and MHz."""
    count = max(16, min(100, int(60e6 / expected_ns)))
    inner = max(1, min(400, round(200e3 / expected_ns)))
    graph_inner = max(1, min(400, round(2e6 / expected_ns)))

    def take(mode, inner=1, **how):
        return lambda: calls.sample(0, mode, max(16, count // inner), inner, **how)

    def paced(mode, warm=False):
        """One at a time with pauses between, as under Nsight Compute: the card stays cool and its clock high."""

        def run():
            ns, mhz = [], []
            for _ in range(PACED):
                time.sleep(PAUSE_S)
                if warm:
                    calls.run(0)
                one = calls.sample(0, mode, 1)
                ns, mhz = ns + one[0], mhz + one[1]
            return ns, mhz

        return run

    return {
        "cold": take("cold"), "coldPaced": paced("cold"), "coldNoStamps": take("cold", stamps=False),
        "coldWrite": take("cold", flush="write"), "coldWriteRead": take("cold", flush="write_and_read"),
        "hot": take("hot", inner), "hotOne": take("hot"), "hotPaced": paced("hot"), "hotAlone": paced("graph", warm=True), "hotOneNoStamps": take("hot", stamps=False),
        "graph": take("graph", graph_inner),
    }


def theirs(calls, expected_ns, drained):
    """The same for do_bench: as it is, with a flush that leaves no dirty lines, and without flush."""
    driver = triton.runtime.driver.active
    zero = driver.clear_cache
    stream = torch.cuda.current_stream().cuda_stream
    launch = lambda: calls.lib.opscope_launch(0, stream)
    rep = max(60, 16 * expected_ns / 1e6)

    def read(cache):
        drained.max()

    def bench(clear, stamped=False):
        def take():
            stamps = 0

            def clear_and_stamp(cache):
                nonlocal stamps
                clear(cache)
                if stamped and expected_ns >= LAUNCH_NS and stamps < MOST_STAMPS:
                    calls.stamp(stamps, stream)
                    stamps += 1

            driver.clear_cache = clear_and_stamp
            try:
                ns = [ms * 1e6 for ms in do_bench(launch, warmup=10, rep=rep, return_mode="all")]
            finally:
                driver.clear_cache = zero
            # The first were its own warm-up.
            return ns, calls.clocks(stamps - 1)[-len(ns) + 1 :] if stamps > len(ns) > 1 else []

        return take

    def graph():
        with torch.cuda.stream(torch.cuda.Stream()):
            inside = lambda: calls.lib.opscope_launch(0, torch.cuda.current_stream().cuda_stream)
            return [ms * 1e6 for ms in do_bench_cudagraph(inside, rep=20, return_mode="all")], []

    # No rests here: do_bench does not hold the stream, so after one the host's own launch would be timed.
    return {
        "doBenchCold": bench(zero, stamped=True), "doBenchColdClean": bench(read, stamped=True),
        "doBenchHot": bench(lambda cache: None), "doBenchGraph": graph,
    }


def row_of(calls, case, drained):
    calls.open(0, case)
    calls.run(0)
    expected = max(2000, median(calls.sample(0, "hot", 8, 4)[0]))
    calls.sample(0, "hot", 8, max(1, int(10e6 / expected)))
    takers = {**ours(calls, expected), **theirs(calls, expected, drained)}
    rounds = {name: [] for name in takers}
    clocks = {name: [] for name in takers}
    order = list(takers)
    # Products wander by a percent over seconds, those at the power limit by more: more rounds tell that from a difference.
    for turn in range(2 * ROUNDS if case.op == "matmul" else ROUNDS):
        for name in order if turn % 2 == 0 else reversed(order):
            ns, mhz = takers[name]()
            rounds[name].append(ns)
            clocks[name] += mhz
    calls.close(0)
    row = {"op": case.op, "dtype": case.dtype, "dims": list(case.dims), "us": {}, "roundsUs": {}, "madUs": {}, "samples": {}, "mhz": {}}
    for name, parts in rounds.items():
        pooled = [ns / 1e3 for part in parts for ns in part]
        middle = median(pooled)
        row["us"][name] = round(middle, 4)
        row["madUs"][name] = round(median(abs(us - middle) for us in pooled), 4)
        row["roundsUs"][name] = [round(median(part) / 1e3, 4) for part in parts]
        row["samples"][name] = len(pooled)
        if any(clocks[name]):
            row["mhz"][name] = round(median(clocks[name]), 1)
    return row


def ladder(calls):
    """Spins of known duration, up and down: what each mode shows for them."""
    rungs = [1000, 2000, 3000, 4000, 5000, 7000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000, 2_000_000, 5_000_000, 10_000_000]
    found = []
    calls.open(0, Case("spin_ns", "f32", (8, 10_000_000)))
    calls.sample(0, "hot", 20)
    for ns in rungs + rungs[::-1]:
        calls.open(0, Case("spin_ns", "f32", (8, ns)))
        count = max(12, min(100, int(40e6 / ns)))
        shown = {mode: median(calls.sample(0, mode, count)[0]) for mode in ("cold", "hot", "graph")}
        calls.close(0)
        found.append({"ns": ns, **{mode: round(value, 1) for mode, value in shown.items()}})
    return found


def spins(calls):
    """Dependent multiply-adds: ns and cycles per step."""
    found = []
    for iterations in (1000, 10_000, 100_000, 1_000_000):
        calls.open(0, Case("spin", "f32", (8, iterations)))
        ns, mhz = calls.sample(0, "hot", 24)
        calls.close(0)
        found.append({"iterations": iterations, "ns": median(ns), "mhz": round(median(mhz), 1), "cyclesPerStep": median(ns) * median(mhz) / 1e3 / iterations})
    return found


def main():
    library, out = sys.argv[1:]
    started = time.monotonic()
    torch.cuda.init()
    calls = Calls(library)
    drained = torch.zeros(256 << 20, dtype=torch.int8, device="cuda").view(torch.int32)
    rows = []
    for case in cases():
        row = row_of(calls, case, drained)
        rows.append(row)
        us = row["us"]
        print(f"{case.label:34}" + " ".join(f"{us[name]:9.2f}" for name in us), flush=True)
    print(" " * 34 + " ".join(f"{name[-9:]:>9}" for name in rows[0]["us"]))
    query = ["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"]
    name, driver, memory = subprocess.run(query, capture_output=True, text=True, check=True).stdout.splitlines()[0].split(", ")
    record = {
        "machine": {"id": "cuda:0", "name": name, "driver": driver, "memory": memory},
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "torch": torch.__version__, "triton": triton.__version__,
        "l2Bytes": torch.cuda.get_device_properties(0).L2_cache_size,
        "tickNs": calls.lib.opscope_tick_ns(), "timerStepNs": calls.lib.opscope_timer_step_ns(),
        "rows": rows, "ladder": ladder(calls), "spin": spins(calls),
    }
    for part in ("ladder", "spin"):
        for entry in record[part]:
            print(part, entry)
    record["seconds"] = round(time.monotonic() - started, 1)
    with open(out, "w") as file:
        json.dump(record, file)


if __name__ == "__main__":
    main()
