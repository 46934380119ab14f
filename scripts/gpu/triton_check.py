"""Checks the Triton implementation against float64 on a GPU, then times it beside PyTorch eager.

usage: triton_check.py [--ops add,sum] [--quick] [--no-times]
Prints one line per case; writes $OUT/triton-check.json. Exits 1 when a result is wrong or an op fails.
"""
import argparse
import json
import math
import os
import sys
import time
import traceback
from pathlib import Path

import torch
from triton.testing import do_bench

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "main/backends/python/worker"))
from implementations import triton_  # noqa: E402
from implementations.types import Problem  # noqa: E402

DTYPES = {"f32": torch.float32, "tf32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
STORAGE = {"f16": 2e-3, "bf16": 1e-2, "tf32": 1e-3}
# float64 references of at most so many elements of the largest tensor; larger ones are compared in float32.
DOUBLE_ELEMENTS = 1 << 26


def shapes(op, quick):
    """(dims, timed) of an op: odd ones for the result alone, presets also for the time."""
    if op in ("copy", "add", "mul", "exp", "gelu"):
        odd = [1, 3, 127, 1000, 12345, 1000003]
        timed = [1 << 20, 1 << 26] if quick else [1 << 16, 1 << 20, 1 << 24, 1 << 26]
        return [((n,), False) for n in odd] + [((n,), True) for n in timed]
    if op == "sum":
        odd = [(1, 1, 1), (1, 3, 1), (1, 12345, 1), (1, 1000003, 1), (127, 1000, 1), (3, 100003, 1), (1000, 1, 1), (1, 1, 127), (1, 127, 1009), (1, 5003, 3)]
        timed = [(1, 1 << 20, 1), (1, 1 << 26, 1), (4096, 4096, 1), (1, 4096, 4096)]
        return [(d, False) for d in odd] + [(d, True) for d in timed + ([] if quick else [(1, 1 << 16, 1), (1, 1 << 24, 1), (8192, 8192, 1), (1, 8192, 8192)])]
    if op in ("softmax", "layer_norm"):
        odd = [(1, 1), (1, 3), (3, 127), (127, 1000), (1009, 12345), (3, 100003)]
        timed = [(4096, 4096)] + ([] if quick else [(16384, 4096), (4096, 32768), (256, 256), (8192, 8192)])
        return [(d, False) for d in odd] + [(d, True) for d in timed]
    odd = [(1, 1, 1, 1, 0, 0), (1, 3, 127, 5, 0, 0), (3, 127, 65, 33, 1, 0), (2, 100, 40, 1000, 0, 1), (1, 1000, 1000, 1000, 1, 1), (1, 257, 129, 1009, 0, 0)]
    timed = [512, 4096] if quick else [512, 1024, 2048, 4096, 8192]
    return [(d, False) for d in odd] + [((1, n, n, n, 0, 0), True) for n in timed]


def inputs_of(op, dims, dtype):
    make = lambda *shape: torch.randn(shape, device="cuda", dtype=torch.float32).to(dtype)
    if op == "matmul":
        batch, m, n, k, ta, tb = dims
        return [make(batch, *((k, m) if ta else (m, k))), make(batch, *((n, k) if tb else (k, n)))], (batch, m, n)
    if op == "sum":
        outer, reduce, inner = dims
        return [make(outer, reduce) if inner == 1 else make(reduce, inner)], (outer * inner,)
    if op == "layer_norm":
        return [make(*dims), make(dims[1]), make(dims[1])], dims
    return [make(*dims) for _ in range(2 if op in ("add", "mul") else 1)], dims


def eager(op, dims, x):
    if op == "matmul":
        return torch.matmul(x[0].transpose(1, 2) if dims[4] else x[0], x[1].transpose(1, 2) if dims[5] else x[1])
    if op == "sum":
        return torch.sum(x[0], -1 if dims[2] == 1 else 0)
    return {
        "copy": lambda: x[0].clone(), "add": lambda: x[0] + x[1], "mul": lambda: x[0] * x[1], "exp": lambda: torch.exp(x[0]),
        "gelu": lambda: torch.nn.functional.gelu(x[0]), "softmax": lambda: torch.softmax(x[0], -1),
        "layer_norm": lambda: torch.nn.functional.layer_norm(x[0], [x[0].shape[-1]], x[1], x[2]),
    }[op]()


def allowed(op, dtype, dims):
    """Relative L2 error of core/ops/tolerance.ts."""
    if op == "copy":
        return 0.0
    if dtype != "f32":
        return STORAGE[dtype]
    if op in ("sum", "matmul"):
        return max(1e-6, 1e-5 * math.sqrt((dims[1] if op == "sum" else dims[3]) / 1024))
    return 1e-5 if op in ("softmax", "layer_norm") else 1e-6


def error_of(op, dims, x, output):
    wide = torch.float64 if max(t.numel() for t in (*x, output)) <= DOUBLE_ELEMENTS else torch.float32
    truth = eager(op, dims, [t.to(wide) for t in x]).reshape(output.shape)
    difference = torch.linalg.vector_norm(output.to(wide) - truth, dtype=torch.float64)
    # A sum of few outputs may lie near zero by chance: it is held against the size that such sums have.
    scale = math.sqrt(dims[1] if op == "sum" else dims[3]) * math.sqrt(output.numel()) if op in ("sum", "matmul") else 0.0
    return float(difference) / max(float(torch.linalg.vector_norm(truth, dtype=torch.float64)), scale, 1e-30)


def check(op, dtype, dims, timed):
    torch.manual_seed(1)
    torch.backends.cuda.matmul.allow_tf32 = False
    x, out_shape = inputs_of(op, dims, DTYPES[dtype])
    # Room behind the output shows writes beyond its end.
    room = torch.full((math.prod(out_shape) + 64,), float("nan"), device="cuda", dtype=DTYPES[dtype])
    output = room[:-64].view(out_shape)
    problem = Problem(op=op, dtype=dtype, hardware="cuda", ordinal=0, threads=None, params={}, dims=dims, input_shapes=[tuple(t.shape) for t in x], output_shape=tuple(out_shape))
    started = time.perf_counter()
    built = triton_.build(problem)
    call = built.bind(x, output)
    row = {"op": op, "dtype": dtype, "dims": list(dims), "tuneS": round(time.perf_counter() - started, 2)}
    output.fill_(float("nan"))
    call()
    torch.cuda.synchronize()
    row["error"] = error_of(op, dims, x, output)
    first = output.clone()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        call()
    output.fill_(float("nan"))
    graph.replay()
    torch.cuda.synchronize()
    row["repeats"] = torch.equal(first, output)
    row["beyond"] = not bool(room[-64:].isnan().all())
    row["ok"] = row["error"] <= allowed(op, dtype, dims) and row["repeats"] and not row["beyond"]
    row["notes"] = built.notes
    if timed:
        torch.backends.cuda.matmul.allow_tf32 = dtype == "tf32"
        row["tritonUs"] = do_bench(call, warmup=5, rep=30, return_mode="median") * 1e3
        row["eagerUs"] = do_bench(lambda: eager(op, dims, x), warmup=5, rep=30, return_mode="median") * 1e3
    return row


def report(row):
    shape = "x".join(map(str, row["dims"]))
    if "failure" in row:
        return f"FAIL  {row['op']:10} {row['dtype']:4} {shape:24} {row['failure']}"
    times = f"  triton {row['tritonUs']:10.2f} us  eager {row['eagerUs']:10.2f} us  x{row['eagerUs'] / row['tritonUs']:.2f}" if "tritonUs" in row else ""
    wrong = ("" if row["repeats"] else " DIFFERS WHEN REPEATED") + (" WRITES BEYOND THE END" if row["beyond"] else "")
    return f"{'ok  ' if row['ok'] else 'WRONG'}  {row['op']:10} {row['dtype']:4} {shape:24} error {row['error']:.1e}{wrong}  tuned {row['tuneS']:.1f} s{times}  {' '.join(row['notes'])}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ops", help="comma-separated; all by default")
    parser.add_argument("--quick", action="store_true", help="fewer sizes")
    parser.add_argument("--no-times", action="store_true", help="results only")
    options = parser.parse_args()
    problem = triton_.availability("cuda")
    if problem is not None:
        sys.exit(problem)
    rows = []
    with torch.inference_mode():
        for op, dtypes in triton_.kernels("cuda").items():
            if options.ops and op not in options.ops.split(","):
                continue
            for dtype in dtypes:
                for dims, timed in shapes(op, options.quick):
                    try:
                        row = check(op, dtype, dims, timed and not options.no_times)
                    except Exception as error:
                        traceback.print_exc(limit=-4)
                        row = {"op": op, "dtype": dtype, "dims": list(dims), "ok": False, "failure": str(error).splitlines()[:1], "cause": repr(error.__cause__)[:2000]}
                    rows.append(row)
                    print(report(row), flush=True)
    if "OUT" in os.environ:
        Path(os.environ["OUT"], "triton-check.json").write_text(json.dumps(rows, indent=1))
    wrong = [row for row in rows if not row["ok"]]
    print(f"{len(rows) - len(wrong)} of {len(rows)} right")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
