"""Times PyTorch eager on the cases in a JSON-lines file written by `opscope_cuda_kernels time FILE`.

The same method as Opscope's own timer: cold calls after the L2 cache was emptied by reading, outside the timed window, CUDA
events around each, and a spinning kernel that holds the stream while work queues, so that host gaps are not measured.

usage: torch_reference.py CASES OUT
"""
import json
import statistics
import sys

import torch

DTYPES = {"f32": torch.float32, "tf32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
SPIN_CYCLES = 4_000_000


def calls(op, dims, dtype):
    """A function that runs the op once on fresh random inputs, or None when PyTorch has no such op."""
    make = lambda *shape: torch.randn(*shape, device="cuda", dtype=dtype)
    if op in ("add", "mul"):
        a, b = make(dims[0]), make(dims[0])
        out = torch.empty_like(a)
        return (lambda: torch.add(a, b, out=out)) if op == "add" else (lambda: torch.mul(a, b, out=out))
    if op == "copy":
        x = make(dims[0])
        out = torch.empty_like(x)
        return lambda: out.copy_(x)
    if op == "exp":
        x = make(dims[0])
        out = torch.empty_like(x)
        return lambda: torch.exp(x, out=out)
    if op == "gelu":
        x = make(dims[0])
        return lambda: torch.nn.functional.gelu(x)
    if op == "sum":
        outer, reduce, inner = dims
        x = make(outer, reduce, inner)
        if inner == 1:
            x = x.view(outer, reduce)
            return (lambda: torch.sum(x)) if outer == 1 else (lambda: torch.sum(x, -1))
        x = x.view(reduce, inner)
        return lambda: torch.sum(x, 0)
    if op == "softmax":
        x = make(*dims)
        return lambda: torch.softmax(x, -1)
    if op == "layer_norm":
        x, w, b = make(*dims), make(dims[1]), make(dims[1])
        return lambda: torch.nn.functional.layer_norm(x, [dims[1]], w, b)
    if op == "matmul":
        batch, m, n, k, ta, tb = dims
        a = make(batch, k, m).transpose(1, 2) if ta else make(batch, m, k)
        b = make(batch, n, k).transpose(1, 2) if tb else make(batch, k, n)
        if batch == 1:
            a, b = a[0], b[0]
        out = torch.empty(a.shape[:-1] + (n,), device="cuda", dtype=dtype)
        return lambda: torch.matmul(a, b, out=out)
    return None


def elapsed_us(pairs):
    torch.cuda.synchronize()
    return statistics.median(start.elapsed_time(end) * 1e3 for start, end in pairs)


def events():
    return torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)


def cold_us(call, flush, rounds=5, samples=12):
    pairs = []
    for _ in range(rounds):
        torch.cuda.synchronize()
        torch.cuda._sleep(SPIN_CYCLES)
        for _ in range(samples):
            start, end = events()
            flush.max()
            start.record()
            call()
            end.record()
            pairs.append((start, end))
    return elapsed_us(pairs)


def hot_us(call, rounds=8, inner=20):
    pairs = []
    for _ in range(rounds):
        torch.cuda.synchronize()
        torch.cuda._sleep(SPIN_CYCLES)
        call()
        start, end = events()
        start.record()
        for _ in range(inner):
            call()
        end.record()
        pairs.append((start, end))
    return elapsed_us(pairs) / inner


def main():
    source, target = sys.argv[1:]
    properties = torch.cuda.get_device_properties(0)
    flush = torch.zeros(max(64 << 20, 2 * properties.L2_cache_size) // 4, device="cuda")
    rows = []
    with open(source) as lines:
        cases = [json.loads(line) for line in lines]
    for case in cases:
        torch.backends.cuda.matmul.allow_tf32 = case["dtype"] == "tf32"
        call = calls(case["op"], case["dims"], DTYPES[case["dtype"]])
        if call is None:
            continue
        for _ in range(3):
            call()
        row = {"op": case["op"], "dtype": case["dtype"], "dims": case["dims"], "coldUs": round(cold_us(call, flush), 3), "hotUs": round(hot_us(call), 3)}
        rows.append(row)
        torch.cuda.empty_cache()
    with open(target, "w") as out:
        json.dump({"torch": torch.__version__, "device": properties.name, "rows": rows}, out)
    ours = {(c["op"], c["dtype"], tuple(c["dims"])): c for c in cases}
    print(f"{'case':38} {'opscope':>9} {'torch':>9} {'speed-up':>8}  (cold us)")
    for row in rows:
        own = ours[(row["op"], row["dtype"], tuple(row["dims"]))]
        name = f"{row['op']} {row['dtype']} {'x'.join(map(str, row['dims']))}"
        print(f"{name:38} {own['coldUs']:9.2f} {row['coldUs']:9.2f} {row['coldUs'] / own['coldUs']:7.2f}x   hot {own['hotUs']:.2f} / {row['hotUs']:.2f}")


if __name__ == "__main__":
    main()
