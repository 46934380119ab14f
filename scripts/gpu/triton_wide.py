#!/usr/bin/env python3
"""Checks Triton's kernels on tensors of more than 2^31 elements, whose offsets have 64 bits: the first and last rows against PyTorch.

usage: triton_wide.py [WORKER [LOG]]     (default: main/backends/python/worker; on a machine with out/bench alone, out/bench/worker)
LOG: a line of JSON for each kernel as soon as it is checked; kernels that passed there before are left out.
Needs a GPU with 24 GiB of free memory. Exits 1 when something is wrong.
"""
import json
import os
import pathlib
import sys

sys.dont_write_bytecode = True
os.environ.setdefault("OPSCOPE_TRITON_PICK", "0")
ROOT = pathlib.Path(__file__).resolve().parents[2]
WORKER = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "main" / "backends" / "python" / "worker"
LOG = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
sys.path.insert(0, str(WORKER))

import torch  # noqa: E402
from implementations import triton_  # noqa: E402
from implementations.types import Problem, Tensor  # noqa: E402

ROWS, COLS = 524_353, 4099
N = ROWS * COLS
EDGE = 64
functional = torch.nn.functional


def run(op, dims, scalars, inputs, shapes):
    """Outputs of one call, filled with NaN before it."""
    outputs = [torch.full(shape, float("nan"), device="cuda", dtype=inputs[0].dtype) for shape in shapes]
    tensors = [Tensor(str(i), tuple(x.shape), "f16", "in") for i, x in enumerate(inputs)] + [Tensor("out", shape, "f16", "out") for shape in shapes]
    problem = Problem(op, "f16", "cuda", 0, None, {}, dims, scalars, tensors)
    call = triton_.build(problem).bind(inputs, outputs)
    for output in outputs:
        output.fill_(float("nan"))
    call()
    torch.cuda.synchronize()
    return outputs


def edges(tensor):
    return torch.cat((tensor[:EDGE], tensor[-EDGE:])).float()


def passed_before():
    if LOG is None or not LOG.exists():
        return set()
    return {row["op"] for row in map(json.loads, filter(str.strip, LOG.read_text().splitlines())) if row["passed"]}


def main():
    x = torch.empty(ROWS, COLS, device="cuda", dtype=torch.float16).normal_()
    y = torch.empty(ROWS, COLS, device="cuda", dtype=torch.float16).normal_()
    w, z, row = (torch.randn(size, device="cuda", dtype=torch.float32) for size in (COLS, COLS, ROWS))
    w, z = w.half(), z.half()
    last = edges(x)
    cases = {
        "add": ([N], (), [x.view(-1), y.view(-1)], [(N,)], lambda out: edges(out.view(ROWS, COLS)), lambda: last + edges(y)),
        "softmax": ([ROWS, COLS], (), [x], [(ROWS, COLS)], edges, lambda: torch.softmax(last, -1)),
        "layer_norm": ([ROWS, COLS], (1e-5,), [x, w, z], [(ROWS, COLS)], edges, lambda: functional.layer_norm(last, [COLS], w.float(), z.float())),
        "rms_norm_backward": ([ROWS, COLS], (), [y, x, w, row.abs() + 0.5], [(ROWS, COLS), (COLS,)], edges, lambda: rms_norm_backward(edges(y), last, w.float(), torch.cat((row[:EDGE], row[-EDGE:])).abs() + 0.5)),
        "norm_linf": ([ROWS, COLS, 1], (), [x], [(ROWS,)], edges, lambda: last.abs().amax(-1)),
        "max": ([1, ROWS, COLS], (), [x], [(COLS,)], lambda out: out.float(), lambda: x.amax(0).float()),
        "min": ([1, N, 1], (), [x.view(-1)], [(1,)], lambda out: out.float(), lambda: x.amin().float().view(1)),
    }
    wrong = 0
    known = passed_before()
    for op, (dims, scalars, inputs, shapes, taken, expected) in cases.items():
        if op in known:
            print(f"{op:20} passed before", flush=True)
            continue
        got, reference = taken(run(op, dims, scalars, inputs, shapes)[0]), expected()
        off = ((got - reference).norm() / reference.norm()).item()
        right = off < 2e-3
        wrong += not right
        print(f"{op:20} {'x'.join(map(str, dims)):20} relative error {off:.1e} {'passed' if right else 'FAILED'}", flush=True)
        if LOG is not None:
            with LOG.open("a") as log:
                log.write(json.dumps({"op": op, "dims": dims, "relative_error": off, "passed": right}) + "\n")
        torch.cuda.empty_cache()
    print(f"{len(cases)} kernels beyond 2^31 elements, {wrong} failed")
    return 1 if wrong else 0


def rms_norm_backward(grad, x, weight, rstd):
    normal, inner = x * rstd[:, None], grad * weight
    return rstd[:, None] * (inner - normal * (inner * normal).mean(-1, keepdim=True))


if __name__ == "__main__":
    sys.exit(main())
