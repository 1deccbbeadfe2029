"""Notes that a job trains with something that is not PyTorch, whose loops nobody watches here."""

from __future__ import annotations

import sys
from types import ModuleType

from .recorder import RECORDER

_NAMES = {"jax": "JAX", "tensorflow": "TensorFlow"}


def watch(module: ModuleType) -> None:
    """jax or tensorflow, as it is imported. One may import the other: Keras takes all that are
    installed."""
    RECORDER.describe(framework=_names(_imported()))


def _imported() -> list[str]:
    return [name for name in _NAMES if name in sys.modules]


def _names(modules: list[str]) -> str:
    return " and ".join(_NAMES[name] for name in modules)


def _in_use(name: str) -> bool:
    """Whether its runtime has started: what is imported only has none."""
    if name == "jax":
        bridge = sys.modules.get("jax._src.xla_bridge")
        return bool(getattr(bridge, "_backends", None))
    context = getattr(sys.modules.get("tensorflow.python.eager.context"), "_context", None)
    return bool(getattr(context, "_initialized", False))


def _say() -> None:
    """A job without PyTorch records nothing: at its end it says at least what it has."""
    if RECORDER.facts("framework") is None:
        return
    used = [name for name in _imported() if _in_use(name)]
    if used:
        RECORDER.describe(framework=_names(used))
    if "torch" not in sys.modules:
        RECORDER.announce()


RECORDER.before_end.append(_say)
