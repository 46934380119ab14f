"""batch_norm: (x - mean) / sqrt(variance + eps) * weight + bias for every channel of x [batch, channels, plane].

In training a first kernel takes mean and deviation of each channel, split over programs; the last to arrive writes them.
"""
import torch
import triton
import triton.language as tl

from ..launch import ceil_div, clamp, is_wide, multiprocessors, power_of_two, prepare
from ..tuner import tuned

OPS = {"batch_norm": ("f32", "f16", "bf16")}

MAX_SPLITS = 256


@triton.jit
def statistics_kernel(
    x, mean, rstd, partials, arrived, BATCH: tl.constexpr, CHANNELS: tl.constexpr, PLANE: tl.constexpr, EPS: tl.constexpr, WIDE: tl.constexpr,
    SPLITS: tl.constexpr, SPLITS_BLOCK: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):
    channel = tl.program_id(0)
    split = tl.program_id(1)
    lane = tl.arange(0, BLOCK)
    # Squares are those of distances to the channel's first element: what cancels in the variance stays small.
    pivot = tl.load(x + channel * PLANE).to(tl.float32)
    sums = tl.zeros([ROWS, BLOCK], dtype=tl.float32)
    distances = tl.zeros([ROWS, BLOCK], dtype=tl.float32)
    squares = tl.zeros([ROWS, BLOCK], dtype=tl.float32)
    for first in range(split * ROWS, BATCH, SPLITS * ROWS):
        image = first + tl.arange(0, ROWS)
        start = (image.to(tl.int64) * CHANNELS + channel) * PLANE if WIDE else (image * CHANNELS + channel) * PLANE
        for left in range(0, PLANE, BLOCK):
            inside = (image < BATCH)[:, None] & (left + lane < PLANE)[None, :]
            values = tl.load(x + start[:, None] + (left + lane)[None, :], mask=inside, other=0.0).to(tl.float32)
            distance = tl.where(inside, values - pivot, 0.0)
            sums += values
            distances += distance
            squares += distance * distance
    total = tl.sum(tl.sum(sums, axis=1), axis=0)
    offset = tl.sum(tl.sum(distances, axis=1), axis=0)
    square = tl.sum(tl.sum(squares, axis=1), axis=0)
    share = partials + (channel * SPLITS + split) * 3
    tl.store(share, total)
    tl.store(share + 1, offset)
    tl.store(share + 2, square)
    tl.debug_barrier()
    if tl.atomic_add(arrived + channel, 1, sem="acq_rel") == SPLITS - 1:
        tl.debug_barrier()
        part = tl.arange(0, SPLITS_BLOCK)
        shares = partials + (channel * SPLITS + part) * 3
        known = part < SPLITS
        count: tl.constexpr = BATCH * PLANE
        shift = tl.sum(tl.load(shares + 1, mask=known, other=0.0, cache_modifier=".cg"), axis=0) / count
        variance = tl.sum(tl.load(shares + 2, mask=known, other=0.0, cache_modifier=".cg"), axis=0) / count - shift * shift
        tl.store(mean + channel, tl.sum(tl.load(shares, mask=known, other=0.0, cache_modifier=".cg"), axis=0) / count)
        tl.store(rstd + channel, 1.0 / tl.sqrt(tl.maximum(variance, 0.0) + EPS))
        tl.store(arrived + channel, 0)


@triton.jit
def normalize_kernel(
    x, weight, bias, mean, spread, out, rows, CHANNELS: tl.constexpr, PLANE: tl.constexpr, EPS: tl.constexpr, TRAINING: tl.constexpr, WIDE: tl.constexpr,
    ROWS: tl.constexpr, BLOCK: tl.constexpr,
):
    # A row is one plane. `spread` is the reciprocal deviation in training, the variance in inference.
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    valid = row < rows
    channel = row % CHANNELS
    scale = tl.load(spread + channel, mask=valid, other=1.0)
    if not TRAINING:
        scale = 1.0 / tl.sqrt(scale + EPS)
    middle = tl.load(mean + channel, mask=valid, other=0.0)
    factor = tl.load(weight + channel, mask=valid, other=0.0) * scale
    shift = tl.load(bias + channel, mask=valid, other=0.0)
    at = (row.to(tl.int64) if WIDE else row)[:, None] * PLANE + column[None, :]
    inside = valid[:, None] & (column < PLANE)[None, :]
    values = tl.load(x + at, mask=inside, other=0.0).to(tl.float32)
    tl.store(out + at, ((values - middle[:, None]) * factor[:, None] + shift[:, None]).to(out.dtype.element_ty), mask=inside)


def build(problem):
    batch, channels, plane, training = problem.dims
    eps, wide, programs = problem.scalars[0], is_wide(batch * channels * plane), multiprocessors(problem.ordinal)
    width = power_of_two(plane)
    splits_of = lambda config: clamp(min(config["SHARE"] * programs // channels, ceil_div(batch, _images(config, width, batch))), 1, MAX_SPLITS)

    def ready(config, inputs, outputs):
        calls = []
        block = min(config["BLOCK"], width)
        mean, spread = (outputs[1], outputs[2]) if training else (inputs[3], inputs[4])
        if training:
            splits = splits_of(config)
            partials = torch.empty(3 * channels * splits, device=inputs[0].device, dtype=torch.float32)
            arrived = torch.zeros(channels, device=inputs[0].device, dtype=torch.int32)
            meta = {
                "BATCH": batch, "CHANNELS": channels, "PLANE": plane, "EPS": eps, "WIDE": wide, "SPLITS": splits, "SPLITS_BLOCK": power_of_two(splits),
                "ROWS": _images(config, width, batch), "BLOCK": block,
            }
            calls.append(prepare(statistics_kernel, (channels, splits), (inputs[0], mean, spread, partials, arrived), meta, warps=config["warps"], stages=1))
        height = max(1, config["BLOCK"] // block)
        meta = {"CHANNELS": channels, "PLANE": plane, "EPS": eps, "TRAINING": bool(training), "WIDE": wide, "ROWS": height, "BLOCK": block}
        grid = (ceil_div(batch * channels, height), ceil_div(plane, block))
        calls.append(prepare(normalize_kernel, grid, (inputs[0], inputs[1], inputs[2], mean, spread, outputs[0], batch * channels), meta, warps=config["warps"], stages=1))
        return calls[0] if len(calls) == 1 else _in_order(calls)

    candidates = [{"BLOCK": block, "SHARE": share, "warps": warps} for block, warps in ((1024, 4), (4096, 8)) for share in ((2, 4) if training else (0,))]
    return tuned(problem, candidates, ready, scratch_bytes=4 * channels * (1 + 3 * max(map(splits_of, candidates))) if training else 0)


def _images(config, width, batch):
    """Images that a program reads at once: their planes fill a block."""
    return min(power_of_two(batch), max(1, config["BLOCK"] // width))


def _in_order(calls):
    def call():
        for one in calls:
            one()

    return call
