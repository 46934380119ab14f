"""The implementations: every folder here."""
from __future__ import annotations

import importlib
import pkgutil
from typing import Dict

from .types import Implementation


def discover() -> Dict[str, Implementation]:
    """By id, in the order of folders."""
    modules = [importlib.import_module("%s.%s" % (__name__, found.name)) for found in pkgutil.iter_modules(__path__) if found.ispkg]
    return {module.ID: module for module in sorted(modules, key=lambda module: str(module.__name__))}  # type: ignore[misc]
