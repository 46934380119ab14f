"""Reductions over all elements, the last or the first axis, or several; dims [outer, reduce, inner, groups], accumulated in f32.

Long ones are split: every program writes a partial result, and the last one to arrive (a counter says which) combines them
in their order and clears the counter. One launch, and the same bits in every run. reduction_table.py has the operations.
"""
import torch
import triton
import triton.language as tl

from ..launch import ceil_div, clamp, is_wide, multiprocessors, power_of_two, prepare
from ..reduction_table import ARGMAX, TABLE
from ..tuner import tuned

OPS = {op: ("f32", "f16", "bf16") for op in TABLE}

# Rows up to this many elements are reduced by one program at once.
SHORT = 8192
MAX_SPLITS = 1024


@triton.jit
def start_of(x, KIND: tl.constexpr):
    # A total of no terms for every element of x, and that no element has been found.
    zeros = tl.zeros_like(x)
    if KIND == 0:
        total = zeros
    elif KIND == 1 or KIND == 3:
        total = zeros - float("inf")
    else:
        total = zeros + float("inf")
    return total, zeros.to(tl.int32) - 1


@triton.jit
def combine(total, place, term, index, inside, KIND: tl.constexpr):
    # Adds terms to totals lane by lane; indices come in rising order, so the first of equal terms stays.
    if KIND == 0:
        total += tl.where(inside, term, 0.0)
    elif KIND == 1:
        total = tl.where(inside, tl.maximum(total, term), total)
    elif KIND == 2:
        total = tl.where(inside, tl.minimum(total, term), total)
    else:
        if KIND == 3:
            better = inside & ((term > total) | (place < 0))
        else:
            better = inside & ((term < total) | (place < 0))
        total = tl.where(better, term, total)
        place = tl.where(better, index, place)
    return total, place


@triton.jit
def fold(total, place, KIND: tl.constexpr, AXIS: tl.constexpr):
    # One total along an axis; with an index, the smallest of those whose term is best.
    if KIND == 0:
        best = tl.sum(total, axis=AXIS)
        first = best
    elif KIND == 1:
        best = tl.max(total, axis=AXIS)
        first = best
    elif KIND == 2:
        best = tl.min(total, axis=AXIS)
        first = best
    else:
        if KIND == 3:
            kept = tl.max(total, axis=AXIS, keep_dims=True)
            best = tl.max(total, axis=AXIS)
        else:
            kept = tl.min(total, axis=AXIS, keep_dims=True)
            best = tl.min(total, axis=AXIS)
        first = tl.min(tl.where((total == kept) & (place >= 0), place, 2147483647), axis=AXIS)
    return best, first


@triton.jit
def emit(out, at, total, place, inside, KIND: tl.constexpr, finish: tl.constexpr, COUNT: tl.constexpr):
    if KIND >= 3:
        tl.store(out + at, place, mask=inside)
    else:
        tl.store(out + at, finish(total, COUNT).to(out.dtype.element_ty), mask=inside)


@triton.jit
def term_of(x, y, at, inside, element: tl.constexpr, INPUTS: tl.constexpr):
    a = tl.load(x + at, mask=inside, other=0.0).to(tl.float32)
    b = a
    if INPUTS > 1:
        b = tl.load(y + at, mask=inside, other=0.0).to(tl.float32)
    return element(a, b)


@triton.jit
def short_rows_kernel(
    x, y, out, rows, element: tl.constexpr, finish: tl.constexpr, KIND: tl.constexpr, INPUTS: tl.constexpr, REDUCE: tl.constexpr, WIDE: tl.constexpr,
    ROWS: tl.constexpr, BLOCK: tl.constexpr,
):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, BLOCK)
    inside = (row < rows)[:, None] & (column < REDUCE)[None, :]
    start = row.to(tl.int64) if WIDE else row
    term = term_of(x, y, start[:, None] * REDUCE + column[None, :], inside, element, INPUTS)
    total, place = start_of(term, KIND)
    total, place = combine(total, place, term, tl.broadcast_to(column[None, :], (ROWS, BLOCK)), inside, KIND)
    total, place = fold(total, place, KIND, 1)
    emit(out, row, total, place, row < rows, KIND, finish, REDUCE)


@triton.jit
def long_rows_kernel(
    x, y, out, partials, places, arrived, element: tl.constexpr, finish: tl.constexpr, KIND: tl.constexpr, INPUTS: tl.constexpr, REDUCE: tl.constexpr,
    SINGLE: tl.constexpr, WIDE: tl.constexpr, SPLITS: tl.constexpr, SPLITS_BLOCK: tl.constexpr, BLOCK: tl.constexpr,
):
    # A lone row starts at 0, which is aligned whatever its length: said so, it is read in whole vectors.
    row = tl.program_id(0) * 0 if SINGLE else tl.program_id(0)
    split = tl.program_id(1)
    lane = tl.arange(0, BLOCK)
    start = row.to(tl.int64) * REDUCE if WIDE else row * REDUCE
    full = REDUCE // BLOCK
    total, place = start_of(lane.to(tl.float32), KIND)
    for tile in range(split, full, SPLITS):
        first = tile.to(tl.int64) * BLOCK if WIDE else tile * BLOCK
        a = tl.load(x + start + first + lane).to(tl.float32)
        b = a
        if INPUTS > 1:
            b = tl.load(y + start + first + lane).to(tl.float32)
        total, place = combine(total, place, element(a, b), tile * BLOCK + lane, lane >= 0, KIND)
    if REDUCE % BLOCK != 0:
        if split == full % SPLITS:
            rest = REDUCE - REDUCE % BLOCK
            inside = lane < REDUCE % BLOCK
            total, place = combine(total, place, term_of(x, y, start + rest + lane, inside, element, INPUTS), rest + lane, inside, KIND)
    total, place = fold(total, place, KIND, 0)
    always = lane == 0
    if SPLITS == 1:
        emit(out, row + lane * 0, total + lane * 0.0, place + lane * 0, always, KIND, finish, REDUCE)
    else:
        tl.store(partials + row * SPLITS + split, total)
        if KIND >= 3:
            tl.store(places + row * SPLITS + split, place)
        tl.debug_barrier()
        if tl.atomic_add(arrived + row, 1, sem="acq_rel") == SPLITS - 1:
            tl.debug_barrier()
            part = tl.arange(0, SPLITS_BLOCK)
            read = part < SPLITS
            found = tl.load(partials + row * SPLITS + part, mask=read, other=0.0, cache_modifier=".cg")
            index = part
            if KIND >= 3:
                index = tl.load(places + row * SPLITS + part, mask=read, other=0, cache_modifier=".cg")
            whole, where = start_of(found, KIND)
            whole, where = combine(whole, where, found, index, read, KIND)
            whole, where = fold(whole, where, KIND, 0)
            emit(out, row + part * 0, whole + part * 0.0, where + part * 0, part == 0, KIND, finish, REDUCE)
            tl.store(arrived + row, 0)


@triton.jit
def blocks_kernel(
    x, out, partials, places, arrived, element: tl.constexpr, finish: tl.constexpr, KIND: tl.constexpr, INNER: tl.constexpr, REDUCE: tl.constexpr,
    OUTER: tl.constexpr, GROUPS: tl.constexpr, WIDE: tl.constexpr, SPLITS: tl.constexpr, SPLITS_BLOCK: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):
    # Columns (INNER > 1): axis 0 of a tile is reduced, axis 1 are outputs. Groups: axis 0 are groups, axis 1 elements of one.
    block = tl.program_id(0)
    split = tl.program_id(1)
    lane = tl.arange(0, BLOCK)
    side = tl.arange(0, ROWS)
    total, place = start_of(tl.zeros([ROWS, BLOCK], dtype=tl.float32), KIND)
    if INNER > 1:
        column = block * BLOCK + lane
        for first in range(split * ROWS, REDUCE, SPLITS * ROWS):
            row = first + side
            start = row.to(tl.int64) * INNER if WIDE else row * INNER
            inside = (row < REDUCE)[:, None] & (column < INNER)[None, :]
            a = tl.load(x + start[:, None] + column[None, :], mask=inside, other=0.0).to(tl.float32)
            total, place = combine(total, place, element(a, a), tl.broadcast_to(row[:, None], (ROWS, BLOCK)), inside, KIND)
        total, place = fold(total, place, KIND, 0)
    else:
        column = block + lane
        for first in range(split * ROWS, GROUPS, SPLITS * ROWS):
            group = first + side
            start = (group.to(tl.int64) * OUTER + block) * REDUCE if WIDE else (group * OUTER + block) * REDUCE
            for left in range(0, REDUCE, BLOCK):
                inside = (group < GROUPS)[:, None] & (left + lane < REDUCE)[None, :]
                a = tl.load(x + start[:, None] + (left + lane)[None, :], mask=inside, other=0.0).to(tl.float32)
                index = group[:, None] * REDUCE + (left + lane)[None, :]
                total, place = combine(total, place, element(a, a), index, inside, KIND)
        best, first_place = fold(total, place, KIND, 1)
        best, first_place = fold(best, first_place, KIND, 0)
        total = best + lane * 0.0
        place = first_place + lane * 0
    outputs: tl.constexpr = INNER if INNER > 1 else OUTER
    written = column < outputs
    if INNER == 1:
        written = written & (lane == 0)
    if SPLITS == 1:
        emit(out, column, total, place, written, KIND, finish, REDUCE * GROUPS)
    else:
        tl.store(partials + split * outputs + column, total, mask=written)
        if KIND >= 3:
            tl.store(places + split * outputs + column, place, mask=written)
        # Every thread wrote some of the partial results; all must have before the one that counts them says so.
        tl.debug_barrier()
        if tl.atomic_add(arrived + block, 1, sem="acq_rel") == SPLITS - 1:
            tl.debug_barrier()
            part = tl.arange(0, SPLITS_BLOCK)
            read = (part < SPLITS)[:, None] & written[None, :]
            found = tl.load(partials + part[:, None] * outputs + column[None, :], mask=read, other=0.0, cache_modifier=".cg")
            index = tl.broadcast_to(part[:, None], (SPLITS_BLOCK, BLOCK))
            if KIND >= 3:
                index = tl.load(places + part[:, None] * outputs + column[None, :], mask=read, other=0, cache_modifier=".cg")
            whole, where = start_of(found, KIND)
            whole, where = combine(whole, where, found, index, read, KIND)
            whole, where = fold(whole, where, KIND, 0)
            emit(out, column, whole, where, written, KIND, finish, REDUCE * GROUPS)
            tl.store(arrived + block, 0)


def build(problem):
    outer, reduce, inner, groups = (1, problem.dims[0], 1, 1) if len(problem.dims) == 1 else (*problem.dims, 1)[:4]
    entry = TABLE[problem.op]
    if entry.kind >= ARGMAX and reduce * groups >= 2**31:
        raise ValueError(f"{problem.op} gives indices as i32; {reduce * groups} elements are more than it can name")
    if inner > 1 and outer > 1:
        raise ValueError(f"Triton's reductions take the first or the last axis; dims {list(problem.dims)} name one in between")
    shared = {"element": entry.element, "finish": entry.finish, "KIND": entry.kind}
    if inner > 1 or groups > 1:
        return _blocks(problem, shared, outer, reduce, inner, groups)
    if reduce <= SHORT and outer > 1 or reduce <= 1024:
        return _short_rows(problem, shared, outer, reduce)
    return _long_rows(problem, shared, outer, reduce)


def _short_rows(problem, shared, rows, reduce):
    block = power_of_two(reduce)

    def ready(config, inputs, outputs):
        height = config["ROWS"]
        meta = {**shared, "INPUTS": len(inputs), "REDUCE": reduce, "WIDE": is_wide(rows * reduce), "ROWS": height, "BLOCK": block}
        return prepare(short_rows_kernel, (ceil_div(rows, height),), (inputs[0], inputs[-1], outputs[0], rows), meta, warps=config["warps"], stages=1)

    heights = sorted({min(power_of_two(rows), max(1, elements // block)) for elements in (1024, 4096, 16384)})
    warps = (1, 4) if block <= 128 else (4, 8)
    return tuned(problem, [{"ROWS": height, "warps": count} for height in heights for count in warps], ready)


def _long_rows(problem, shared, rows, reduce):
    programs = multiprocessors(problem.ordinal)

    def splits_of(config):
        return clamp(min(ceil_div(config["SHARE"] * programs, rows), ceil_div(reduce, config["BLOCK"])), 1, MAX_SPLITS)

    def ready(config, inputs, outputs):
        splits = splits_of(config)
        meta = {
            **shared, "INPUTS": len(inputs), "REDUCE": reduce, "SINGLE": rows == 1, "WIDE": is_wide(rows * reduce), "SPLITS": splits,
            "SPLITS_BLOCK": power_of_two(splits), "BLOCK": config["BLOCK"],
        }
        args = (inputs[0], inputs[-1], outputs[0], *_workspace(inputs[0], rows * splits, rows, shared["KIND"]))
        return prepare(long_rows_kernel, (rows, splits), args, meta, warps=config["warps"], stages=1)

    shares = (1, 2, 4) if rows < programs and reduce > 65536 else (0, 1, 2, 4)
    candidates = [{"BLOCK": block, "SHARE": share, "warps": warps} for block, warps in ((2048, 4), (4096, 8), (8192, 8)) for share in shares]
    return tuned(problem, candidates, ready, scratch_bytes=_scratch(rows * max(map(splits_of, candidates)), rows, shared["KIND"]))


def _blocks(problem, shared, outer, reduce, inner, groups):
    programs = multiprocessors(problem.ordinal)
    columns = inner > 1
    # What axis 0 of a tile runs over, and axis 1.
    down, across = (reduce, inner) if columns else (groups, reduce)

    def tile(config):
        rows, block = min(config["ROWS"], power_of_two(down)), min(config["BLOCK"], power_of_two(across))
        blocks = ceil_div(inner, block) if columns else outer
        return rows, block, blocks, clamp(min(config["SHARE"] * programs // blocks, ceil_div(down, rows)), 1, 64 if block > 64 else 128)

    def ready(config, inputs, outputs):
        rows, block, blocks, splits = tile(config)
        meta = {
            **shared, "INNER": inner, "REDUCE": reduce, "OUTER": outer, "GROUPS": groups, "WIDE": is_wide(outer * reduce * inner * groups), "SPLITS": splits,
            "SPLITS_BLOCK": power_of_two(splits), "ROWS": rows, "BLOCK": block,
        }
        args = (inputs[0], outputs[0], *_workspace(inputs[0], splits * (inner if columns else outer), blocks, shared["KIND"]))
        return prepare(blocks_kernel, (blocks, splits), args, meta, warps=config["warps"], stages=1)

    shapes = ((64, 64, 4), (128, 32, 4), (128, 64, 8), (256, 16, 4)) if columns else ((1024, 2, 4), (256, 16, 4), (64, 64, 4))
    candidates = [{"BLOCK": width, "ROWS": height, "SHARE": share, "warps": warps} for width, height, warps in shapes for share in (0, 1, 3)]
    return tuned(problem, candidates, ready, scratch_bytes=_scratch((inner if columns else outer) * max(tile(one)[3] for one in candidates), outer * inner, shared["KIND"]))


def _scratch(partials, counters, kind):
    return 4 * (partials * (2 if kind >= ARGMAX else 1) + counters)


def _workspace(like, partials, counters, kind):
    """Partial results, their places, and counters that a kernel finds at 0 and leaves at 0."""
    arrived = torch.zeros(counters, device=like.device, dtype=torch.int32)
    places = torch.empty(partials, device=like.device, dtype=torch.int32) if kind >= ARGMAX else arrived
    return torch.empty(partials, device=like.device, dtype=torch.float32), places, arrived
