"""Reads a torchvision composition and says what the native engine would have to do for the same.

Transforms are known by their exact class: a subclass may do anything. The order of the parts has to
mean the same as the engine's own (geometry, colours, conversion, erasing); `read_transform` goes
through them one by one and keeps what the image is at that point: a PIL image or a tensor, of which
type, already resized, already normalised.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from unstarve.lowering.partial_plan import NotLowerable, PartialPlan
from unstarve.lowering.plan import Plan
from unstarve.lowering.reader import flatten, read, readers


@dataclass(frozen=True)
class Verdict:
    """One transform: its description, and why it cannot run natively, or None if it can."""

    part: str
    obstacle: str | None


@dataclass(frozen=True)
class Prefix:
    """The first parts of a composition, which the engine can do, and what comes behind them."""

    plan: Plan
    #: Whether the image is then a PIL image, as it would be in torchvision, or a tensor.
    is_pil: bool
    #: How many parts the plan stands for.
    count: int
    #: The parts behind, in their order.
    rest: tuple[Any, ...]


def read_transform(transform: Any) -> tuple[Plan | None, list[Verdict]]:
    """The plan that does what `transform` does to a PIL image, or None; and a verdict per part."""
    image = PartialPlan()
    verdicts: list[Verdict] = []
    stopped = False
    for part in flatten(transform):
        try:
            if stopped and type(part) in readers():
                raise NotLowerable("comes after a part that stays Python")
            read(image, part)
            verdicts.append(Verdict(_describe(part), None))
        except NotLowerable as reason:
            stopped = True
            verdicts.append(Verdict(_describe(part), str(reason)))
    if stopped:
        return None, verdicts
    try:
        return image.finish(), verdicts
    except NotLowerable as reason:
        return None, [*verdicts, Verdict("the composition as a whole", str(reason))]


def read_prefix(transform: Any) -> Prefix | None:
    """As many first parts of `transform` as the engine can do; None where they do not give the
    images one size, since reading and decoding alone would gain little."""
    parts = list(flatten(transform))
    image, count = PartialPlan(), 0
    for part in parts:
        try:
            read(image, part)
        except NotLowerable:
            break
        count += 1
    image = PartialPlan()  # in which a part that was refused left nothing behind
    for part in parts[:count]:
        read(image, part)
    if image.geometry is None:
        return None
    image.plan.geometry = image.geometry
    return Prefix(image.plan, image.form == "pil", count, tuple(parts[count:]))


def _describe(part: Any) -> str:
    """On one line: a function's name, or what the object says of itself."""
    name = getattr(part, "__qualname__", None)
    if name is None and type(part).__repr__ is object.__repr__:  # type: ignore[comparison-overlap]
        name = type(part).__qualname__
    return " ".join((name or repr(part)).split())[:120]
