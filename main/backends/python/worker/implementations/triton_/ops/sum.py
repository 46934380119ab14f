"""Sum over all elements, the last or the first axis; dims [outer, reduce, inner], accumulated in f32.

Long sums are split: every program writes a partial sum, and the last one to arrive (a counter says which) adds the
partial sums in their order and clears the counter. One launch, and the same bits in every run.
"""
import torch
import triton
import triton.language as tl

from ..launch import ceil_div, is_wide, multiprocessors, power_of_two, prepare
from ..tuner import tuned

DTYPES = ("f32", "f16", "bf16")

# Rows up to this many elements are summed by one program at once.
SHORT = 8192
MAX_SPLITS = 1024


@triton.jit
def short_rows_kernel(x, out, rows, REDUCE: tl.constexpr, WIDE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    first = tl.program_id(0) * ROWS
    row = first + tl.arange(0, ROWS)
    column = tl.arange(0, BLOCK)
    inside = (row < rows)[:, None] & (column < REDUCE)[None, :]
    start = row.to(tl.int64) if WIDE else row
    values = tl.load(x + start[:, None] * REDUCE + column[None, :], mask=inside, other=0.0).to(tl.float32)
    tl.store(out + row, tl.sum(values, axis=1).to(out.dtype.element_ty), mask=row < rows)


@triton.jit
def long_rows_kernel(x, out, partials, arrived, REDUCE: tl.constexpr, SINGLE: tl.constexpr, WIDE: tl.constexpr, SPLITS: tl.constexpr, SPLITS_BLOCK: tl.constexpr, BLOCK: tl.constexpr):
    # A lone row starts at 0, which is aligned whatever its length: said so, it is read in whole vectors.
    row = tl.program_id(0) * 0 if SINGLE else tl.program_id(0)
    split = tl.program_id(1)
    lane = tl.arange(0, BLOCK)
    start = row.to(tl.int64) * REDUCE if WIDE else row * REDUCE
    full = REDUCE // BLOCK
    sums = tl.zeros([BLOCK], dtype=tl.float32)
    for tile in range(split, full, SPLITS):
        at = tile.to(tl.int64) * BLOCK if WIDE else tile * BLOCK
        sums += tl.load(x + start + at + lane).to(tl.float32)
    if REDUCE % BLOCK != 0:
        if split == full % SPLITS:
            rest = REDUCE - REDUCE % BLOCK
            sums += tl.load(x + start + rest + lane, mask=lane < REDUCE % BLOCK, other=0.0).to(tl.float32)
    result = tl.sum(sums, axis=0)
    if SPLITS == 1:
        tl.store(out + row, result.to(out.dtype.element_ty))
    else:
        tl.store(partials + row * SPLITS + split, result)
        tl.debug_barrier()
        if tl.atomic_add(arrived + row, 1, sem="acq_rel") == SPLITS - 1:
            tl.debug_barrier()
            part = tl.arange(0, SPLITS_BLOCK)
            parts = tl.load(partials + row * SPLITS + part, mask=part < SPLITS, other=0.0, cache_modifier=".cg")
            tl.store(out + row, tl.sum(parts, axis=0).to(out.dtype.element_ty))
            tl.store(arrived + row, 0)


@triton.jit
def columns_kernel(x, out, partials, arrived, reduce, INNER: tl.constexpr, WIDE: tl.constexpr, SPLITS: tl.constexpr, SPLITS_BLOCK: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    block = tl.program_id(0)
    split = tl.program_id(1)
    column = block * BLOCK + tl.arange(0, BLOCK)
    sums = tl.zeros([ROWS, BLOCK], dtype=tl.float32)
    for first in range(split * ROWS, reduce, SPLITS * ROWS):
        row = first + tl.arange(0, ROWS)
        start = row.to(tl.int64) * INNER if WIDE else row * INNER
        inside = (row < reduce)[:, None] & (column < INNER)[None, :]
        sums += tl.load(x + start[:, None] + column[None, :], mask=inside, other=0.0).to(tl.float32)
    result = tl.sum(sums, axis=0)
    if SPLITS == 1:
        tl.store(out + column, result.to(out.dtype.element_ty), mask=column < INNER)
    else:
        tl.store(partials + split * INNER + column, result, mask=column < INNER)
        # Every thread wrote some of the partial sums; all must have before the one that counts them says so.
        tl.debug_barrier()
        if tl.atomic_add(arrived + block, 1, sem="acq_rel") == SPLITS - 1:
            tl.debug_barrier()
            part = tl.arange(0, SPLITS_BLOCK)
            inside = (part < SPLITS)[:, None] & (column < INNER)[None, :]
            parts = tl.load(partials + part[:, None] * INNER + column[None, :], mask=inside, other=0.0, cache_modifier=".cg")
            tl.store(out + column, tl.sum(parts, axis=0).to(out.dtype.element_ty), mask=column < INNER)
            tl.store(arrived + block, 0)


def build(problem):
    outer, reduce, inner, groups = (*problem.dims, 1)[:4]
    if groups > 1:
        raise ValueError(f"sum in Triton adds over neighbouring axes; dims {list(problem.dims)} name two that are apart")
    if inner > 1:
        if outer != 1:
            raise ValueError(f"sum adds over the first or the last axis; dims {list(problem.dims)} name one in between")
        return _columns(problem, reduce, inner)
    if reduce <= SHORT and outer > 1 or reduce <= 1024:
        return _short_rows(problem, outer, reduce)
    return _long_rows(problem, outer, reduce)


def _short_rows(problem, rows, reduce):
    block = power_of_two(reduce)

    def ready(config, inputs, output):
        height = config["ROWS"]
        meta = {"REDUCE": reduce, "WIDE": is_wide(rows * reduce), "ROWS": height, "BLOCK": block}
        return prepare(short_rows_kernel, (ceil_div(rows, height),), (inputs[0], output, rows), meta, warps=config["warps"], stages=1)

    heights = sorted({min(power_of_two(rows), max(1, elements // block)) for elements in (1024, 4096, 16384)})
    warps = (1, 4) if block <= 128 else (4, 8)
    return tuned(problem, [{"ROWS": height, "warps": count} for height in heights for count in warps], ready)


def _long_rows(problem, rows, reduce):
    def ready(config, inputs, output):
        splits = config["SPLITS"]
        partials, arrived = _workspace(inputs[0], rows * splits, rows)
        meta = {
            "REDUCE": reduce, "SINGLE": rows == 1, "WIDE": is_wide(rows * reduce), "SPLITS": splits, "SPLITS_BLOCK": power_of_two(splits),
            "BLOCK": config["BLOCK"],
        }
        return prepare(long_rows_kernel, (rows, splits), (inputs[0], output, partials, arrived), meta, warps=config["warps"], stages=1)

    programs = multiprocessors(problem.ordinal)
    candidates = []
    for block, warps in ((2048, 4), (4096, 8), (8192, 8)):
        for share in (0, 1, 2, 4):
            splits = max(1, min(ceil_div(share * programs, rows), ceil_div(reduce, block), MAX_SPLITS))
            config = {"BLOCK": block, "SPLITS": splits, "warps": warps}
            if config not in candidates and (share > 0 or rows >= programs or reduce <= 65536):
                candidates.append(config)
    return tuned(problem, candidates, ready, scratch_bytes=4 * rows * (max(config["SPLITS"] for config in candidates) + 1))


def _columns(problem, reduce, inner):
    def ready(config, inputs, output):
        splits, blocks = config["SPLITS"], ceil_div(inner, config["BLOCK"])
        partials, arrived = _workspace(inputs[0], inner * splits, blocks)
        meta = {
            "INNER": inner, "WIDE": is_wide(reduce * inner), "SPLITS": splits, "SPLITS_BLOCK": power_of_two(splits),
            "ROWS": config["ROWS"], "BLOCK": config["BLOCK"],
        }
        return prepare(columns_kernel, (blocks, splits), (inputs[0], output, partials, arrived, reduce), meta, warps=config["warps"], stages=1)

    programs = multiprocessors(problem.ordinal)
    candidates = []
    for width, height, warps in ((64, 64, 4), (128, 32, 4), (128, 64, 8), (256, 16, 4)):
        for share in (0, 1, 3):
            block, rows = min(width, power_of_two(inner)), min(height, power_of_two(reduce))
            splits = max(1, min(share * programs // ceil_div(inner, block), ceil_div(reduce, rows), 64 if block > 64 else 128))
            config = {"BLOCK": block, "ROWS": rows, "SPLITS": splits, "warps": warps}
            if config not in candidates:
                candidates.append(config)
    return tuned(problem, candidates, ready, scratch_bytes=4 * inner * (max(config["SPLITS"] for config in candidates) + 1))


def _workspace(like, partials, counters):
    """Partial sums, and counters that a kernel finds at 0 and leaves at 0."""
    return torch.empty(partials, device=like.device, dtype=torch.float32), torch.zeros(counters, device=like.device, dtype=torch.int32)
