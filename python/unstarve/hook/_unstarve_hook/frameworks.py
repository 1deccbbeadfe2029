"""Notes that a job trains with something that is not PyTorch, whose loops nobody watches here."""

from __future__ import annotations

import sys
from types import ModuleType

from .recorder import RECORDER

_NAMES = {"jax": "JAX", "tensorflow": "TensorFlow"}


def watch(module: ModuleType) -> None:
    """jax or tensorflow. Which of them trains is not known: the one that came first is named."""
    if RECORDER.facts("framework") is None:
        RECORDER.describe(framework=_NAMES[module.__name__])


def _say() -> None:
    """A job without PyTorch records nothing: at its end it says at least what it has."""
    if RECORDER.facts("framework") is not None and "torch" not in sys.modules:
        RECORDER.announce()


RECORDER.before_end.append(_say)
