"""Operations over the rows of a matrix: rows that fit stay in registers, longer ones are read twice, a block at a time. row_table.py has the operations.

group_norm is one of them: a row is a group of an image, and its columns share the weight of their channel.
"""
import triton
import triton.language as tl

from ..launch import ceil_div, is_wide, power_of_two, prepare
from ..row_configurations import ONE_PASS, long_rows, one_pass
from ..row_table import TABLE
from ..tuner import tuned

# Those whose other outputs are sums over rows are in norm_backward.py.
OPS = {op: ("f32", "f16", "bf16") for op in TABLE if op not in ("layer_norm_backward", "rms_norm_backward")}


@triton.jit
def elements(a, b, w, z, target, row, column, inside, B: tl.constexpr, W: tl.constexpr, Z: tl.constexpr, TARGET: tl.constexpr, COLS: tl.constexpr, PLANE: tl.constexpr, GROUPS: tl.constexpr, WIDE: tl.constexpr):
    # Inputs a and b of elements, and w and z of their columns.
    start = row.to(tl.int64) if WIDE else row
    at = start[:, None] * COLS + column[None, :]
    x = tl.load(a + at, mask=inside, other=0.0).to(tl.float32)
    y = x
    if B:
        y = tl.load(b + at, mask=inside, other=0.0).to(tl.float32)
    if TARGET:
        chosen = tl.load(target + row[:, None] + column[None, :] * 0, mask=inside, other=0)
        y = (column[None, :] == chosen).to(tl.float32)
    if PLANE == 1 and GROUPS == 1:
        channel = column[None, :]
        known = (column < COLS)[None, :]
    else:
        channel = (row % GROUPS)[:, None] * (COLS // PLANE) + (column // PLANE)[None, :]
        known = inside
    weight = x
    bias = x
    if W:
        weight = tl.load(w + channel, mask=known, other=0.0).to(tl.float32)
    if Z:
        bias = tl.load(z + channel, mask=known, other=0.0).to(tl.float32)
    return x, y, weight, bias


@triton.jit
def of_rows(a, u, v, loss, row, rows, U: tl.constexpr, V: tl.constexpr, LOSS: tl.constexpr, COLS: tl.constexpr, WIDE: tl.constexpr):
    # The first element of each row, and its u and v.
    valid = (row < rows)[:, None]
    start = row.to(tl.int64) if WIDE else row
    pivot = tl.load(a + start[:, None] * COLS, mask=valid, other=0.0).to(tl.float32)
    first = tl.zeros_like(pivot)
    second = first
    if U:
        first = tl.load(u + row[:, None], mask=valid, other=0.0)
    if V:
        second = tl.load(v + row[:, None], mask=valid, other=0.0)
    if LOSS:
        first = first + tl.load(loss) / rows
    return pivot, first, second


@triton.jit
def rows_kernel(
    a, b, w, z, u, v, target, loss, out, rows, gather: tl.constexpr, merge: tl.constexpr, settle: tl.constexpr, apply: tl.constexpr, B: tl.constexpr,
    W: tl.constexpr, Z: tl.constexpr, U: tl.constexpr, V: tl.constexpr, TARGET: tl.constexpr, LOSS: tl.constexpr, ADDS: tl.constexpr, COLS: tl.constexpr,
    EPS: tl.constexpr, PLANE: tl.constexpr, GROUPS: tl.constexpr, WIDE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    lane = tl.arange(0, BLOCK)
    start = row.to(tl.int64) if WIDE else row
    inside = (row < rows)[:, None] & (lane < COLS)[None, :]
    pivot, first, second = of_rows(a, u, v, loss, row, rows, U, V, LOSS, COLS, WIDE)
    x, y, weight, bias = elements(a, b, w, z, target, row, lane, inside, B, W, Z, TARGET, COLS, PLANE, GROUPS, WIDE)
    p, q = gather(x, y, pivot, inside, weight, first, second)
    if COLS > BLOCK:
        for left in range(BLOCK, COLS, BLOCK):
            column = left + lane
            inside = (row < rows)[:, None] & (column < COLS)[None, :]
            x, y, weight, bias = elements(a, b, w, z, target, row, column, inside, B, W, Z, TARGET, COLS, PLANE, GROUPS, WIDE)
            if ADDS:
                more_p, more_q = gather(x, y, pivot, inside, weight, first, second)
                p += more_p
                q += more_q
            else:
                p, q = merge(p, q, x, y, pivot, inside, weight, first, second)
        s, t = settle(p, q, COLS, EPS, 1)
        for left in range(0, COLS, BLOCK):
            column = left + lane
            inside = (row < rows)[:, None] & (column < COLS)[None, :]
            x, y, weight, bias = elements(a, b, w, z, target, row, column, inside, B, W, Z, TARGET, COLS, PLANE, GROUPS, WIDE)
            result = apply(x, y, pivot, weight, bias, first, second, s, t, COLS)
            tl.store(out + start[:, None] * COLS + column[None, :], result.to(out.dtype.element_ty), mask=inside)
    else:
        s, t = settle(p, q, COLS, EPS, 1)
        result = apply(x, y, pivot, weight, bias, first, second, s, t, COLS)
        tl.store(out + start[:, None] * COLS + lane[None, :], result.to(out.dtype.element_ty), mask=inside)


def layout_of(problem):
    """Rows, columns, columns that share a weight, and rows after which weights repeat."""
    if problem.op == "group_norm":
        batch, channels, plane, groups = problem.dims
        return batch * groups, channels // groups * plane, plane, groups
    return (*problem.dims, 1, 1)


def bound(op, inputs):
    """Tensors by the names of row_table.py; what the op does not read is its first input."""
    tensors = dict(zip(TABLE[op].reads, inputs))
    return [tensors.get(name, inputs[0]) for name in ("a", "b", "w", "z", "u", "v", "target", "loss")]


def meta_of(problem):
    """Constants of rows_kernel that do not depend on the configuration."""
    entry = TABLE[problem.op]
    rows, cols, plane, groups = layout_of(problem)
    flags = {name.upper(): entry.has(name) for name in ("b", "w", "z", "u", "v", "target", "loss")}
    return {
        "gather": entry.gather, "merge": entry.merge or entry.gather, "settle": entry.settle, "apply": entry.apply, **flags, "ADDS": entry.merge is None,
        "COLS": cols, "EPS": problem.scalars[0] if problem.scalars else 0.0, "PLANE": plane, "GROUPS": groups, "WIDE": is_wide(rows * cols),
    }


def build(problem):
    rows, cols, _plane, _groups = layout_of(problem)
    meta = meta_of(problem)

    def ready(config, inputs, outputs):
        height = config.get("ROWS", 1)
        args = (*bound(problem.op, inputs), outputs[0], rows)
        return prepare(rows_kernel, (ceil_div(rows, height),), args, {**meta, "ROWS": height, "BLOCK": config["BLOCK"]}, warps=config["warps"], stages=3 if cols > config["BLOCK"] else 1)

    return tuned(problem, one_pass(rows, power_of_two(cols)) if cols <= ONE_PASS else long_rows(), ready)
