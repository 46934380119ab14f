"""Softmax over the last axis, computed in f32: rows that fit stay in registers, longer ones are read twice."""
import triton
import triton.language as tl

from ..launch import ceil_div, is_wide, power_of_two, prepare
from ..rows import ONE_PASS, long_rows, one_pass
from ..tuner import tuned

DTYPES = ("f32", "f16", "bf16")


@triton.jit
def one_pass_kernel(x, out, rows, COLS: tl.constexpr, WIDE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, BLOCK)
    start = row.to(tl.int64) if WIDE else row
    at = start[:, None] * COLS + column[None, :]
    inside = (row < rows)[:, None] & (column < COLS)[None, :]
    # Rows beyond the last are computed on zeros and not stored; columns beyond the last add e^-inf = 0.
    values = tl.load(x + at, mask=inside, other=0.0).to(tl.float32)
    values = tl.where((column < COLS)[None, :], values, float("-inf"))
    powers = tl.exp(values - tl.max(values, axis=1)[:, None])
    scale = 1.0 / tl.sum(powers, axis=1)
    tl.store(out + at, (powers * scale[:, None]).to(out.dtype.element_ty), mask=inside)


@triton.jit
def online_kernel(x, out, COLS: tl.constexpr, WIDE: tl.constexpr, BLOCK: tl.constexpr):
    # COLS > BLOCK: the first block fills every lane, so that no lane's maximum stays at -inf.
    row = tl.program_id(0)
    start = row.to(tl.int64) * COLS if WIDE else row * COLS
    lane = tl.arange(0, BLOCK)
    greatest = tl.load(x + start + lane).to(tl.float32)
    sums = tl.full([BLOCK], 1.0, dtype=tl.float32)
    for first in range(BLOCK, COLS, BLOCK):
        column = first + lane
        values = tl.load(x + start + column, mask=column < COLS, other=float("-inf")).to(tl.float32)
        above = tl.maximum(greatest, values)
        sums = sums * tl.exp(greatest - above) + tl.exp(values - above)
        greatest = above
    top = tl.max(greatest, axis=0)
    scale = 1.0 / tl.sum(sums * tl.exp(greatest - top), axis=0)
    for first in range(0, COLS, BLOCK):
        column = first + lane
        values = tl.load(x + start + column, mask=column < COLS, other=0.0).to(tl.float32)
        tl.store(out + start + column, (tl.exp(values - top) * scale).to(out.dtype.element_ty), mask=column < COLS)


def build(problem):
    rows, cols = problem.dims
    wide = is_wide(rows * cols)

    def ready(config, inputs, output):
        meta = {"COLS": cols, "WIDE": wide, "BLOCK": config["BLOCK"]}
        if "ROWS" in config:
            meta["ROWS"] = config["ROWS"]
            grid = (ceil_div(rows, config["ROWS"]),)
            return prepare(one_pass_kernel, grid, (inputs[0], output, rows), meta, warps=config["warps"], stages=1)
        return prepare(online_kernel, (rows,), (inputs[0], output), meta, warps=config["warps"], stages=3)

    candidates = one_pass(rows, power_of_two(cols)) if cols <= ONE_PASS else long_rows()
    return tuned(problem, candidates, ready)
