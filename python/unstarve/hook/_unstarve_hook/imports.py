"""Runs a callback after a module's first import, without importing anything itself."""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # The name that type checkers know; importing typing takes time.
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any

_callbacks: dict[str, Callable[[ModuleType], None]] = {}
_in_progress: set[str] = set()


def after_import(name: str, callback: Callable[[ModuleType], None]) -> None:
    """`callback(module)` once, after `name` was imported; at once if it already is."""
    module = sys.modules.get(name)
    if module is not None:
        callback(module)
    else:
        _callbacks[name] = callback


def forget() -> None:
    """Modules that are imported from now on are not ours to touch."""
    _callbacks.clear()


class Finder:
    """First in sys.meta_path; answers only for watched names, and only with others' answers."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        # Whoever is asked below may ask in turn.
        callback = _callbacks.pop(name, None)
        if callback is None:
            return None
        try:
            for finder in sys.meta_path:
                find = getattr(finder, "find_spec", None)
                if isinstance(finder, Finder) or find is None:
                    continue
                spec: ModuleSpec | None = find(name, path, target)
                if spec is not None:
                    _call_afterwards(spec, name)
                    return spec
            return None
        finally:
            # Not importable now, or only asked for (`importlib.util.find_spec("torch")`, as
            # transformers does): it may be imported later.
            _callbacks[name] = callback


def _call_afterwards(spec: ModuleSpec, name: str) -> None:
    """The module keeps the loader it would have had: only its exec_module is borrowed, once."""
    loader: Any = spec.loader
    try:
        original = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            if module.__name__ == name:
                vars(loader).pop("exec_module", None)
            # cv2 imports its compiled part by its own name, and hands on what that holds: the one
            # that was begun first is the job's.
            is_outer = module.__name__ == name and name not in _in_progress
            if is_outer:
                _in_progress.add(name)
            try:
                original(module)
            finally:
                if is_outer:
                    _in_progress.discard(name)
            callback = _callbacks.pop(name, None) if is_outer else None
            if callback is not None:
                callback(module)

        loader.exec_module = exec_module
    except Exception:
        pass  # A loader that takes no attributes: the module goes unwatched.
