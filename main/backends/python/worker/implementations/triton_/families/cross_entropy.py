"""Mean over tokens of log(sum of e^x) - x[target]: each program adds the losses of every n-th tile of rows, the last one to arrive all their sums."""
import torch
import triton
import triton.language as tl

from ..launch import ceil_div, clamp, is_wide, multiprocessors, power_of_two, prepare
from ..row_configurations import ONE_PASS, long_rows, one_pass
from ..row_table import TABLE
from ..tuner import tuned

OPS = {"cross_entropy": ("f32", "f16", "bf16")}

# What softmax gathers of a row is what the loss needs.
SOFTMAX = TABLE["softmax"]
MAX_PROGRAMS = 1024


@triton.jit
def losses_kernel(
    x, target, out, partials, arrived, rows, gather: tl.constexpr, merge: tl.constexpr, settle: tl.constexpr, COLS: tl.constexpr, WIDE: tl.constexpr,
    PROGRAMS: tl.constexpr, PROGRAMS_BLOCK: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):
    program = tl.program_id(0)
    lane = tl.arange(0, BLOCK)
    losses = tl.zeros([ROWS, 1], dtype=tl.float32)
    for tile in range(program, tl.cdiv(rows, ROWS), PROGRAMS):
        row = tile * ROWS + tl.arange(0, ROWS)
        valid = (row < rows)[:, None]
        start = (row.to(tl.int64) if WIDE else row)[:, None] * COLS
        inside = valid & (lane < COLS)[None, :]
        values = tl.load(x + start + lane[None, :], mask=inside, other=0.0).to(tl.float32)
        p, q = gather(values, values, values, inside, values, values, values)
        for left in range(BLOCK, COLS, BLOCK):
            column = left + lane
            inside = valid & (column < COLS)[None, :]
            values = tl.load(x + start + column[None, :], mask=inside, other=0.0).to(tl.float32)
            p, q = merge(p, q, values, values, values, inside, values, values, values)
        top, total = settle(p, q, COLS, 0.0, 1)
        chosen = tl.load(target + row[:, None], mask=valid, other=0)
        hit = tl.load(x + start + chosen, mask=valid, other=0.0).to(tl.float32)
        losses += tl.where(valid, top - hit + tl.log(total), 0.0)
    share = tl.sum(tl.sum(losses, axis=1), axis=0)
    tl.store(partials + program, share)
    tl.debug_barrier()
    if tl.atomic_add(arrived, 1, sem="acq_rel") == PROGRAMS - 1:
        tl.debug_barrier()
        part = tl.arange(0, PROGRAMS_BLOCK)
        shares = tl.load(partials + part, mask=part < PROGRAMS, other=0.0, cache_modifier=".cg")
        tl.store(out, (tl.sum(shares, axis=0) / rows).to(out.dtype.element_ty))
        tl.store(arrived, 0)


def build(problem):
    tokens, classes = problem.dims
    processors = multiprocessors(problem.ordinal)

    def ready(config, inputs, outputs):
        height = config.get("ROWS", 1)
        programs = clamp(4 * processors, 1, min(MAX_PROGRAMS, ceil_div(tokens, height)))
        meta = {
            "gather": SOFTMAX.gather, "merge": SOFTMAX.merge, "settle": SOFTMAX.settle, "COLS": classes, "WIDE": is_wide(tokens * classes), "PROGRAMS": programs,
            "PROGRAMS_BLOCK": power_of_two(programs), "ROWS": height, "BLOCK": config["BLOCK"],
        }
        partials = torch.empty(programs, device=inputs[0].device, dtype=torch.float32)
        arrived = torch.zeros(1, device=inputs[0].device, dtype=torch.int32)
        return prepare(losses_kernel, (programs,), (*inputs, outputs[0], partials, arrived, tokens), meta, warps=config["warps"], stages=1)

    return tuned(problem, one_pass(tokens, power_of_two(classes)) if classes <= ONE_PASS else long_rows(), ready, scratch_bytes=4 * (MAX_PROGRAMS + 1))
