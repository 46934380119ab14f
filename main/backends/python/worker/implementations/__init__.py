"""The implementations: every folder here."""
from __future__ import annotations

import importlib
import pkgutil
from typing import Any, Dict, List

from .types import Implementation


def discover() -> Dict[str, Implementation]:
    """By id, in the order of ids."""
    modules = [importlib.import_module("%s.%s" % (__name__, found.name)) for found in pkgutil.iter_modules(__path__) if found.ispkg]
    return {module.ID: module for module in sorted(modules, key=lambda module: str(module.ID))}  # type: ignore[misc]


def described(hardware: str) -> List[Dict[str, Any]]:
    """implSchema of core/backend.ts for each that is made for this hardware. Where the preferred one is missing, the first usable one is preferred."""
    impls = [_describe(one, hardware) for one in discover().values() if hardware in one.HARDWARE]
    usable = [impl for impl in impls if impl["available"]["ok"]]
    if usable and not any(impl["preferred"] for impl in usable):
        usable[0]["preferred"] = True
    return impls


def _describe(implementation: Implementation, hardware: str) -> Dict[str, Any]:
    problem = implementation.availability(hardware)
    return {
        "id": implementation.ID,
        "title": implementation.TITLE,
        "available": {"ok": True} if problem is None else {"ok": False, "reason": problem},
        "kernels": implementation.kernels(hardware) if problem is None else {},
        "preferred": implementation.PREFERRED,
    }
