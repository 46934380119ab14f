"""Gradients of layer_norm and rms_norm: of the input row by row, of weight and bias as sums over rows.

Rows that fit in registers are read once: each program takes every n-th tile of rows and keeps its share of both sums; a second
kernel adds the shares in a fixed order. Longer rows go through rows_kernel, and the sums are read again by columns.
"""
import torch
import triton
import triton.language as tl

from ..launch import ceil_div, clamp, is_wide, multiprocessors, power_of_two, prepare
from ..row_table import TABLE
from ..tuner import tuned
from .rows import bound, elements, meta_of, of_rows, rows_kernel

OPS = {op: ("f32", "f16", "bf16") for op in ("layer_norm_backward", "rms_norm_backward")}

# Longest row whose gradients and sums one program keeps in registers.
FUSED = 8192
# Shares of the sums that the second kernel adds at a time.
TILE = 32


@triton.jit
def fused_kernel(
    a, b, w, u, v, out, weights, biases, rows, apply: tl.constexpr, gather: tl.constexpr, settle: tl.constexpr, U: tl.constexpr, COLS: tl.constexpr,
    WIDE: tl.constexpr, PROGRAMS: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):
    program = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    of_weight = tl.zeros([ROWS, BLOCK], dtype=tl.float32)
    of_bias = tl.zeros([ROWS, BLOCK], dtype=tl.float32)
    for tile in range(program, tl.cdiv(rows, ROWS), PROGRAMS):
        row = tile * ROWS + tl.arange(0, ROWS)
        inside = (row < rows)[:, None] & (column < COLS)[None, :]
        pivot, mean, rstd = of_rows(a, u, v, u, row, rows, U, True, False, COLS, WIDE)
        grad, x, weight, bias = elements(a, b, w, w, w, row, column, inside, True, True, False, False, COLS, 1, 1, WIDE)
        p, q = gather(grad, x, pivot, inside, weight, mean, rstd)
        s, t = settle(p, q, COLS, 0.0, 1)
        result = apply(grad, x, pivot, weight, bias, mean, rstd, s, t, COLS)
        start = row.to(tl.int64) if WIDE else row
        tl.store(out + start[:, None] * COLS + column[None, :], result.to(out.dtype.element_ty), mask=inside)
        of_weight += grad * ((x - mean) * rstd)
        of_bias += grad
    shares = program.to(tl.int64) * COLS + column
    tl.store(weights + shares, tl.sum(of_weight, axis=0), mask=column < COLS)
    if U:
        tl.store(biases + shares, tl.sum(of_bias, axis=0), mask=column < COLS)


@triton.jit
def columns_kernel(
    a, b, u, v, weights, biases, rows, U: tl.constexpr, COLS: tl.constexpr, WIDE: tl.constexpr, PROGRAMS: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):
    program = tl.program_id(1)
    column = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    of_weight = tl.zeros([ROWS, BLOCK], dtype=tl.float32)
    of_bias = tl.zeros([ROWS, BLOCK], dtype=tl.float32)
    for tile in range(program, tl.cdiv(rows, ROWS), PROGRAMS):
        row = tile * ROWS + tl.arange(0, ROWS)
        inside = (row < rows)[:, None] & (column < COLS)[None, :]
        _pivot, mean, rstd = of_rows(a, u, v, u, row, rows, U, True, False, COLS, WIDE)
        grad, x, _weight, _bias = elements(a, b, a, a, a, row, column, inside, True, False, False, False, COLS, 1, 1, WIDE)
        of_weight += grad * ((x - mean) * rstd)
        of_bias += grad
    shares = program.to(tl.int64) * COLS + column
    tl.store(weights + shares, tl.sum(of_weight, axis=0), mask=column < COLS)
    if U:
        tl.store(biases + shares, tl.sum(of_bias, axis=0), mask=column < COLS)


@triton.jit
def shares_kernel(weights, biases, of_weight, of_bias, BIAS: tl.constexpr, COLS: tl.constexpr, PROGRAMS: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    column = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    sums = tl.zeros([ROWS, BLOCK], dtype=tl.float32)
    more = tl.zeros([ROWS, BLOCK], dtype=tl.float32)
    for first in range(0, PROGRAMS, ROWS):
        share = first + tl.arange(0, ROWS)
        inside = (share < PROGRAMS)[:, None] & (column < COLS)[None, :]
        at = share[:, None].to(tl.int64) * COLS + column[None, :]
        sums += tl.load(weights + at, mask=inside, other=0.0)
        if BIAS:
            more += tl.load(biases + at, mask=inside, other=0.0)
    tl.store(of_weight + column, tl.sum(sums, axis=0).to(of_weight.dtype.element_ty), mask=column < COLS)
    if BIAS:
        tl.store(of_bias + column, tl.sum(more, axis=0).to(of_bias.dtype.element_ty), mask=column < COLS)


def build(problem):
    tokens, dim = problem.dims
    candidates = _fused_configurations(tokens, power_of_two(dim)) if dim <= FUSED else [{"BLOCK": 4096, "SHARE": 2, "warps": 8}, {"BLOCK": 8192, "SHARE": 2, "warps": 16}]
    processors = multiprocessors(problem.ordinal)
    programs_of = lambda config: clamp(config["SHARE"] * processors, 1, ceil_div(tokens, config.get("ROWS", 16)))

    def ready(config, inputs, outputs):
        programs, has_bias = programs_of(config), TABLE[problem.op].has("u")
        shares = [torch.empty(programs * dim if kept else 1, device=inputs[0].device, dtype=torch.float32) for kept in (True, has_bias)]
        first = _fused(problem, config, programs, inputs, outputs, shares) if dim <= FUSED else _by_columns(problem, config, programs, inputs, outputs, shares)
        block = min(64, power_of_two(dim))
        meta = {"BIAS": has_bias, "COLS": dim, "PROGRAMS": programs, "ROWS": min(TILE, power_of_two(programs)), "BLOCK": block}
        last = prepare(shares_kernel, (ceil_div(dim, block),), (*shares, outputs[1], outputs[-1]), meta, warps=4, stages=1)

        def call():
            for one in first:
                one()
            last()

        return call

    return tuned(problem, candidates, ready, scratch_bytes=8 * dim * max(map(programs_of, candidates)))


def _fused_configurations(rows, block):
    found = []
    for elements_of_tile in (2048, 8192) if block <= 2048 else (block,):
        height = min(power_of_two(rows), max(1, elements_of_tile // block))
        for share in (1, 2):
            config = {"ROWS": height, "BLOCK": block, "SHARE": share, "warps": clamp(height * block // 512, 1, 16)}
            if config not in found:
                found.append(config)
    return found


def _fused(problem, config, programs, inputs, outputs, shares):
    tokens, dim = problem.dims
    whole = meta_of(problem)
    meta = {**{name: whole[name] for name in ("apply", "gather", "settle", "U", "COLS", "WIDE")}, "PROGRAMS": programs, "ROWS": config["ROWS"], "BLOCK": config["BLOCK"]}
    a, b, w, _z, u, v, _target, _loss = bound(problem.op, inputs)
    return [prepare(fused_kernel, (programs,), (a, b, w, u, v, outputs[0], *shares, tokens), meta, warps=config["warps"], stages=1)]


def _by_columns(problem, config, programs, inputs, outputs, shares):
    tokens, dim = problem.dims
    whole = meta_of(problem)
    a, b, _w, _z, u, v, _target, _loss = bound(problem.op, inputs)
    rows = prepare(rows_kernel, (tokens,), (*bound(problem.op, inputs), outputs[0], tokens), {**whole, "ROWS": 1, "BLOCK": config["BLOCK"]}, warps=config["warps"], stages=3)
    meta = {"U": whole["U"], "COLS": dim, "WIDE": whole["WIDE"], "PROGRAMS": programs, "ROWS": 16, "BLOCK": 64}
    return [rows, prepare(columns_kernel, (ceil_div(dim, 64), programs), (a, b, u, v, *shares, tokens), meta, warps=4, stages=1)]
