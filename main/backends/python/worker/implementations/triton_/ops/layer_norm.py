"""(x - mean) / sqrt(variance + eps) * weight + bias over the last axis, mean and biased variance in f32."""
import triton
import triton.language as tl

from ..launch import ceil_div, is_wide, power_of_two, prepare
from ..rows import ONE_PASS, long_rows, one_pass
from ..tuner import tuned

DTYPES = ("f32", "f16", "bf16")


@triton.jit
def one_pass_kernel(x, weight, bias, out, rows, COLS: tl.constexpr, EPS: tl.constexpr, WIDE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, BLOCK)
    start = row.to(tl.int64) if WIDE else row
    at = start[:, None] * COLS + column[None, :]
    inside = (row < rows)[:, None] & (column < COLS)[None, :]
    values = tl.load(x + at, mask=inside, other=0.0).to(tl.float32)
    scale = tl.load(weight + column, mask=column < COLS, other=0.0).to(tl.float32)
    shift = tl.load(bias + column, mask=column < COLS, other=0.0).to(tl.float32)
    mean = tl.sum(values, axis=1) / COLS
    centred = tl.where(inside, values - mean[:, None], 0.0)
    variance = tl.sum(centred * centred, axis=1) / COLS
    normal = centred * (1.0 / tl.sqrt(variance + EPS))[:, None]
    tl.store(out + at, (normal * scale[None, :] + shift[None, :]).to(out.dtype.element_ty), mask=inside)


@triton.jit
def three_pass_kernel(x, weight, bias, out, COLS: tl.constexpr, EPS: tl.constexpr, WIDE: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    start = row.to(tl.int64) * COLS if WIDE else row * COLS
    lane = tl.arange(0, BLOCK)
    sums = tl.zeros([BLOCK], dtype=tl.float32)
    for first in range(0, COLS, BLOCK):
        column = first + lane
        sums += tl.load(x + start + column, mask=column < COLS, other=0.0).to(tl.float32)
    mean = tl.sum(sums, axis=0) / COLS
    squares = tl.zeros([BLOCK], dtype=tl.float32)
    for first in range(0, COLS, BLOCK):
        column = first + lane
        centred = tl.load(x + start + column, mask=column < COLS, other=0.0).to(tl.float32) - mean
        squares += tl.where(column < COLS, centred * centred, 0.0)
    inverse = 1.0 / tl.sqrt(tl.sum(squares, axis=0) / COLS + EPS)
    for first in range(0, COLS, BLOCK):
        column = first + lane
        inside = column < COLS
        values = tl.load(x + start + column, mask=inside, other=0.0).to(tl.float32)
        scale = tl.load(weight + column, mask=inside, other=0.0).to(tl.float32)
        shift = tl.load(bias + column, mask=inside, other=0.0).to(tl.float32)
        tl.store(out + start + column, ((values - mean) * inverse * scale + shift).to(out.dtype.element_ty), mask=inside)


def build(problem):
    tokens, dim = problem.dims
    wide = is_wide(tokens * dim)

    def ready(config, inputs, output):
        meta = {"COLS": dim, "EPS": problem.scalars[0], "WIDE": wide, "BLOCK": config["BLOCK"]}
        if "ROWS" in config:
            meta["ROWS"] = config["ROWS"]
            grid = (ceil_div(tokens, config["ROWS"]),)
            return prepare(one_pass_kernel, grid, (*inputs, output, tokens), meta, warps=config["warps"], stages=1)
        return prepare(three_pass_kernel, (tokens,), (*inputs, output), meta, warps=config["warps"], stages=3)

    candidates = one_pass(tokens, power_of_two(dim)) if dim <= ONE_PASS else long_rows()
    return tuned(problem, candidates, ready)
