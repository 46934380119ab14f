"""out[b, i, j] = sum over l of A[b, i, l] * B[b, l, j], row-major, accumulated in f32; either input may be transposed.

f32 is IEEE, tf32 rounds the inputs on the way into the tensor cores. Programs walk the output in groups of rows, so that
neighbours in time share their tiles of A and B in the L2. On Hopper, 16-bit products whose rows are aligned may also
run on tiles that the bulk copy engine brings (`tma_kernel`), one program per tile or persistent; the tuner decides.
"""
import math

import torch
import triton
import triton.language as tl

from ..launch import COMPILED_LAUNCH, ceil_div, is_wide, multiprocessors, power_of_two, prepare
from ..tuner import tuned

OPS = {"matmul": ("f32", "f16", "bf16", "tf32")}
GROUP = 8

# BLOCK_M, BLOCK_N, BLOCK_K, warps, stages
SCALAR = ((128, 128, 16, 8, 3), (128, 64, 16, 8, 3), (64, 64, 16, 4, 3), (64, 32, 32, 4, 3), (32, 32, 32, 4, 3), (16, 64, 32, 4, 3), (16, 16, 64, 4, 2))
TF32 = ((128, 128, 32, 8, 3), (128, 128, 32, 4, 4), (128, 64, 32, 4, 4), (64, 128, 32, 4, 4), (64, 64, 32, 4, 4), (32, 64, 32, 4, 4), (16, 64, 64, 4, 3), (16, 16, 64, 4, 3))
HALF = ((128, 256, 64, 8, 3), (256, 128, 64, 8, 3), (128, 128, 64, 8, 4), (128, 128, 64, 4, 3), (128, 64, 64, 4, 4), (64, 128, 64, 4, 4), (64, 64, 64, 4, 4), (64, 32, 64, 4, 4), (16, 64, 128, 4, 4), (16, 16, 128, 4, 4))


@triton.jit
def tile_of(tile, m, n, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, GROUP: tl.constexpr):
    rows = tl.cdiv(m, BLOCK_M)
    columns = tl.cdiv(n, BLOCK_N)
    group = tile // (GROUP * columns)
    first = group * GROUP
    height = tl.minimum(rows - first, GROUP)
    within = tile % (GROUP * columns)
    return first + within % height, within // height


# Without specialising sizes: a 1 would become a constant of another type.
@triton.jit(do_not_specialize=["m_units", "n_units", "k_units"])
def pointer_kernel(
    a, b, out, m_units, n_units, k_units, M_UNIT: tl.constexpr, N_UNIT: tl.constexpr, K_UNIT: tl.constexpr, TRANS_A: tl.constexpr, TRANS_B: tl.constexpr,
    WIDE: tl.constexpr, EVEN_K: tl.constexpr, PRECISION: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr,
):
    # A size comes as a multiple of its unit, a constant: so the compiler knows how rows are aligned.
    m = m_units * M_UNIT
    n = n_units * N_UNIT
    k = k_units * K_UNIT
    tiles = tl.cdiv(m, BLOCK_M) * tl.cdiv(n, BLOCK_N)
    batch = (tl.program_id(0) // tiles).to(tl.int64)
    a += batch * m * k
    b += batch * k * n
    out += batch * m * n
    tile_m, tile_n = tile_of(tl.program_id(0) % tiles, m, n, BLOCK_M, BLOCK_N, GROUP)
    row = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    column = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    depth = tl.arange(0, BLOCK_K)
    # What lies beyond the edges is read from within them, and not stored.
    a_row = row % m
    b_column = column % n
    a_depth = depth
    b_depth = depth
    if WIDE:
        a_row = a_row.to(tl.int64)
        b_column = b_column.to(tl.int64)
        a_depth = depth.to(tl.int64)
        b_depth = depth.to(tl.int64)
        a_step = BLOCK_K * (m.to(tl.int64) if TRANS_A else 1)
        b_step = BLOCK_K * (1 if TRANS_B else n.to(tl.int64))
    else:
        a_step = BLOCK_K * (m if TRANS_A else 1)
        b_step = BLOCK_K * (1 if TRANS_B else n)
    if TRANS_A:
        a_at = a + a_depth[None, :] * m + a_row[:, None]
    else:
        a_at = a + a_row[:, None] * k + a_depth[None, :]
    if TRANS_B:
        b_at = b + b_column[None, :] * k + b_depth[:, None]
    else:
        b_at = b + b_depth[:, None] * n + b_column[None, :]
    sums = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)
    for step in range(0, tl.cdiv(k, BLOCK_K)):
        if EVEN_K:
            left = tl.load(a_at)
            right = tl.load(b_at)
        else:
            inside = depth < k - step * BLOCK_K
            left = tl.load(a_at, mask=inside[None, :], other=0.0)
            right = tl.load(b_at, mask=inside[:, None], other=0.0)
        sums = tl.dot(left, right, sums, input_precision=PRECISION)
        a_at += a_step
        b_at += b_step
    store_row = row.to(tl.int64) if WIDE else row
    tl.store(out + store_row[:, None] * n + column[None, :], sums.to(out.dtype.element_ty), mask=(row < m)[:, None] & (column < n)[None, :])


@triton.jit(do_not_specialize=["m", "n", "k"])
def tma_kernel(
    a, b, out, m, n, k, TRANS_A: tl.constexpr, TRANS_B: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
    GROUP: tl.constexpr, PROGRAMS: tl.constexpr, PERSISTENT: tl.constexpr,
):
    tiles = tl.cdiv(m, BLOCK_M) * tl.cdiv(n, BLOCK_N)
    for tile in tl.range(tl.program_id(0), tiles, PROGRAMS, flatten=PERSISTENT):
        tile_m, tile_n = tile_of(tile, m, n, BLOCK_M, BLOCK_N, GROUP)
        row = tile_m * BLOCK_M
        column = tile_n * BLOCK_N
        sums = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)
        for step in range(0, tl.cdiv(k, BLOCK_K)):
            depth = step * BLOCK_K
            if TRANS_A:
                left = a.load([depth, row]).T
            else:
                left = a.load([row, depth])
            if TRANS_B:
                right = b.load([column, depth]).T
            else:
                right = b.load([depth, column])
            sums = tl.dot(left, right, sums)
        out.store([row, column], sums.to(out.dtype))


def build(problem):
    def ready(config, inputs, outputs):
        if config["kernel"] == "pointers":
            return _with_pointers(problem, config, inputs, outputs[0])
        return _with_tma(problem, config, inputs, outputs[0])

    return tuned(problem, configurations(problem), ready)


def configurations(problem):
    """Tiles worth trying: none far larger than the product, none so small that large products would crawl."""
    batch, m, n, k, _trans_a, _trans_b = problem.dims
    processors = multiprocessors(problem.ordinal)
    shapes = {"f32": SCALAR, "tf32": TF32}.get(problem.dtype, HALF)
    fits = [s for s in shapes if s[0] <= max(16, power_of_two(m)) and s[1] <= max(16, power_of_two(n))]
    tiles = lambda s: batch * ceil_div(m, s[0]) * ceil_div(n, s[1])
    # Enough tiles for a quarter of the GPU, but not many times more than the largest tile would give it.
    kept = [s for s in fits if processors // 4 <= tiles(s) <= 24 * processors] or sorted(fits, key=lambda s: abs(tiles(s) - processors))[:3]
    if min(map(tiles, fits)) > 8 * processors:
        kept = fits[:4]
    found = [_config("pointers", s) for s in kept[:6]]
    if _tma_possible(problem):
        large = [s for s in kept if s[0] >= 64 and s[1] >= 64][:4]
        found += [_config("tma", s) for s in large]
        found += [_config("tma persistent", s) for s in large if tiles(s) > processors][:3]
    return found


def _config(kernel, shape):
    return dict(zip(("kernel", "BLOCK_M", "BLOCK_N", "BLOCK_K", "warps", "stages"), (kernel, *shape)))


def _tma_possible(problem):
    """Descriptors want rows of whole 16 bytes, a Hopper GPU, and a Triton that takes them as arguments (3.3)."""
    batch, m, n, k, trans_a, trans_b = problem.dims
    leading = (m if trans_a else k, k if trans_b else n, n)
    aligned = all(size % 8 == 0 for size in leading)
    if problem.dtype not in ("f16", "bf16") or batch != 1 or not aligned or not COMPILED_LAUNCH:
        return False
    return torch.cuda.get_device_capability(problem.ordinal)[0] >= 9


def _with_pointers(problem, config, inputs, output):
    batch, m, n, k, trans_a, trans_b = problem.dims
    units = [math.gcd(size, 16) for size in (m, n, k)]
    meta = {
        "M_UNIT": units[0], "N_UNIT": units[1], "K_UNIT": units[2], "TRANS_A": bool(trans_a), "TRANS_B": bool(trans_b),
        "WIDE": is_wide(max(m * k, k * n, m * n)), "EVEN_K": k % config["BLOCK_K"] == 0,
        "PRECISION": "ieee" if problem.dtype == "f32" else "tf32",
        "BLOCK_M": config["BLOCK_M"], "BLOCK_N": config["BLOCK_N"], "BLOCK_K": config["BLOCK_K"], "GROUP": GROUP,
    }
    grid = (ceil_div(m, config["BLOCK_M"]) * ceil_div(n, config["BLOCK_N"]) * batch,)
    args = (inputs[0], inputs[1], output, m // units[0], n // units[1], k // units[2])
    return prepare(pointer_kernel, grid, args, meta, warps=config["warps"], stages=config["stages"])


def _with_tma(problem, config, inputs, output):
    from triton.tools.tensor_descriptor import TensorDescriptor

    _batch, m, n, k, trans_a, trans_b = problem.dims
    block_m, block_n, block_k = config["BLOCK_M"], config["BLOCK_N"], config["BLOCK_K"]
    a, b, out = inputs[0][0], inputs[1][0], output[0]
    args = (
        TensorDescriptor.from_tensor(a, [block_k, block_m] if trans_a else [block_m, block_k]),
        TensorDescriptor.from_tensor(b, [block_n, block_k] if trans_b else [block_k, block_n]),
        TensorDescriptor.from_tensor(out, [block_m, block_n]),
        m, n, k,
    )
    tiles = ceil_div(m, block_m) * ceil_div(n, block_n)
    persistent = config["kernel"] == "tma persistent"
    programs = min(tiles, multiprocessors(problem.ordinal)) if persistent else tiles
    meta = {
        "TRANS_A": bool(trans_a), "TRANS_B": bool(trans_b), "BLOCK_M": block_m, "BLOCK_N": block_n, "BLOCK_K": block_k,
        "GROUP": GROUP, "PROGRAMS": programs, "PERSISTENT": persistent,
    }
    return prepare(tma_kernel, (programs,), args, meta, warps=config["warps"], stages=config["stages"])
