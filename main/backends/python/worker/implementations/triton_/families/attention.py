"""softmax(q kT / sqrt(headDim)) v for each head, keys and values a block at a time with a running maximum (Dao et al. 2022), so scores never reach memory.

A program has some queries of one head. Blocks of keys that all of them see come first, without masks; then those at the end
and, with causal, on the diagonal. f32 is IEEE.
"""
import triton
import triton.language as tl

from ..launch import ceil_div, is_wide, power_of_two, prepare
from ..tuner import tuned

OPS = {"scaled_dot_product_attention": ("f32", "f16", "bf16")}

# BLOCK_M queries, BLOCK_N keys, warps, stages
HALF = ((128, 128, 8, 3), (128, 64, 8, 3), (128, 64, 4, 3), (64, 64, 4, 3), (64, 32, 4, 2), (16, 64, 4, 3), (16, 32, 4, 2), (16, 16, 4, 1))
SINGLE = ((64, 64, 8, 2), (64, 32, 4, 2), (32, 32, 4, 2), (16, 32, 4, 2), (16, 16, 4, 1))
TRIED = 4


@triton.jit
def attend(sums, greatest, total, left, k, v, query, depth, start, seq_k, DIM: tl.constexpr, BLOCK_D: tl.constexpr, BLOCK_N: tl.constexpr, MASKED: tl.constexpr, CAUSAL: tl.constexpr, WIDE: tl.constexpr, SCALE: tl.constexpr, PRECISION: tl.constexpr):
    # One block of keys and values: scores are powers of two from here on.
    key = start + tl.arange(0, BLOCK_N)
    at = (key.to(tl.int64) if WIDE else key)[:, None] * DIM + depth[None, :]
    if MASKED:
        inside = (key < seq_k)[:, None] & (depth < DIM)[None, :]
        keys = tl.load(k + at, mask=inside, other=0.0)
        values = tl.load(v + at, mask=inside, other=0.0)
    elif DIM != BLOCK_D:
        keys = tl.load(k + at, mask=(depth < DIM)[None, :], other=0.0)
        values = tl.load(v + at, mask=(depth < DIM)[None, :], other=0.0)
    else:
        keys = tl.load(k + at)
        values = tl.load(v + at)
    scores = tl.dot(left, tl.trans(keys), input_precision=PRECISION) * SCALE
    if MASKED:
        seen = (key < seq_k)[None, :]
        if CAUSAL:
            seen = seen & (key[None, :] <= query[:, None])
        scores = tl.where(seen, scores, float("-inf"))
    above = tl.maximum(greatest, tl.max(scores, axis=1))
    powers = tl.exp2(scores - above[:, None])
    shrink = tl.exp2(greatest - above)
    total = total * shrink + tl.sum(powers, axis=1)
    sums = tl.dot(powers.to(values.dtype), values, sums * shrink[:, None], input_precision=PRECISION)
    return sums, above, total


@triton.jit(do_not_specialize=["seq_q", "seq_k"])
def kernel(
    q, k, v, out, seq_q, seq_k, HEADS: tl.constexpr, KV_HEADS: tl.constexpr, DIM: tl.constexpr, BLOCK_D: tl.constexpr, CAUSAL: tl.constexpr, WIDE: tl.constexpr,
    SCALE: tl.constexpr, PRECISION: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):
    # Of the queries of a head the last ones come first: with causal they take longest.
    tiles = tl.cdiv(seq_q, BLOCK_M)
    tile = tiles - 1 - tl.program_id(0) % tiles
    head = tl.program_id(0) // tiles
    source = (head // HEADS) * KV_HEADS + (head % HEADS) // (HEADS // KV_HEADS)
    query = tile * BLOCK_M + tl.arange(0, BLOCK_M)
    depth = tl.arange(0, BLOCK_D)
    place = head.to(tl.int64) * seq_q * DIM + (query.to(tl.int64) if WIDE else query)[:, None] * DIM + depth[None, :]
    written = (query < seq_q)[:, None] & (depth < DIM)[None, :]
    left = tl.load(q + place, mask=written, other=0.0)
    k += source.to(tl.int64) * seq_k * DIM
    v += source.to(tl.int64) * seq_k * DIM
    sums = tl.zeros([BLOCK_M, BLOCK_D], dtype=tl.float32)
    # The first block has key 0, which every query sees: no maximum stays at minus infinity.
    greatest = tl.full([BLOCK_M], float("-inf"), dtype=tl.float32)
    total = tl.zeros([BLOCK_M], dtype=tl.float32)
    end = seq_k
    whole = seq_k // BLOCK_N * BLOCK_N
    if CAUSAL:
        end = tl.minimum(seq_k, (tile + 1) * BLOCK_M)
        whole = tl.minimum(whole, tile * BLOCK_M // BLOCK_N * BLOCK_N)
    for start in range(0, whole, BLOCK_N):
        sums, greatest, total = attend(sums, greatest, total, left, k, v, query, depth, start, seq_k, DIM, BLOCK_D, BLOCK_N, False, CAUSAL, WIDE, SCALE, PRECISION)
    for start in range(whole, end, BLOCK_N):
        sums, greatest, total = attend(sums, greatest, total, left, k, v, query, depth, start, seq_k, DIM, BLOCK_D, BLOCK_N, True, CAUSAL, WIDE, SCALE, PRECISION)
    tl.store(out + place, (sums / total[:, None]).to(out.dtype.element_ty), mask=written)


def build(problem):
    batch, heads, kv_heads, seq_q, seq_k, dim, causal = problem.dims
    depth = max(16, power_of_two(dim))
    meta = {
        "HEADS": heads, "KV_HEADS": kv_heads, "DIM": dim, "BLOCK_D": depth, "CAUSAL": bool(causal), "WIDE": is_wide(max(seq_q, seq_k) * dim),
        # exp(x) is 2^(x log2 e).
        "SCALE": dim**-0.5 * 1.4426950408889634, "PRECISION": "ieee" if problem.dtype == "f32" else "tf32",
    }

    def ready(config, inputs, outputs):
        grid = (ceil_div(seq_q, config["BLOCK_M"]) * batch * heads,)
        return prepare(kernel, grid, (*inputs, outputs[0], seq_q, seq_k), {**meta, **{name: config[name] for name in ("BLOCK_M", "BLOCK_N")}}, warps=config["warps"], stages=config["stages"])

    return tuned(problem, configurations(problem.dtype, seq_q, depth), ready)


def configurations(dtype, seq_q, depth):
    """Tiles worth trying: not far taller than there are queries, and small ones for deep heads, which registers must hold."""
    shapes = [shape for shape in (SINGLE if dtype == "f32" else HALF) if shape[0] <= max(16, power_of_two(seq_q)) and shape[0] * depth <= (4096 if dtype == "f32" else 16384)]
    tried = shapes[:TRIED] or [(16, 16, 4, 1)]
    return [dict(zip(("BLOCK_M", "BLOCK_N", "warps", "stages"), shape)) for shape in tried]
