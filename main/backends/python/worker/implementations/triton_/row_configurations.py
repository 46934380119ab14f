"""Configurations of kernels that work on rows: shared by softmax and layer_norm."""
from __future__ import annotations

from typing import Dict, List

from .launch import power_of_two

# Elements of a row that one program still keeps in registers: 32 of them for each of 1024 threads.
ONE_PASS = 32768


def one_pass(rows: int, block: int) -> List[Dict[str, int]]:
    """Whole rows in registers: 4 to 32 elements per thread, several short rows per program."""
    found: List[Dict[str, int]] = []
    for elements in (1024, 4096) if block <= 4096 else (block,):
        height = min(power_of_two(rows), max(1, elements // block))
        for per_thread in (8, 16, 32):
            warps = max(1, min(32, height * block // (32 * per_thread)))
            config = {"ROWS": height, "BLOCK": block, "warps": warps}
            if config not in found:
                found.append(config)
    return found


def long_rows() -> List[Dict[str, int]]:
    """Rows that are read more than once, a block at a time."""
    return [{"BLOCK": 4096, "warps": 8}, {"BLOCK": 8192, "warps": 16}, {"BLOCK": 16384, "warps": 32}]
