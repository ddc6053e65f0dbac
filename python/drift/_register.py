"""``field.drift`` for every Dataset of xarray, without importing xarray, which takes longer than all of drift."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType
from typing import Any, Optional


class _Finder:
    """Waits for the import of xarray, once."""

    def find_spec(self, name: str, path: Any = None, target: Optional[ModuleType] = None) -> Any:
        if name != "xarray":
            return None
        sys.meta_path.remove(self)  # xarray itself is found as always
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            setattr(spec, "loader", _Loader(spec.loader))
        return spec


class _Loader:
    """xarray's own loader, after which the accessor is registered."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def create_module(self, spec: Any) -> Any:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        self._loader.exec_module(module)
        from . import _accessor  # noqa: F401


def accessor() -> None:
    """Registers ``.drift`` now if xarray is there, else as soon as it is imported."""
    if "xarray" in sys.modules:
        from . import _accessor  # noqa: F401
    else:
        sys.meta_path.insert(0, _Finder())
