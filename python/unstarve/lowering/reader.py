"""Reads one transform into the plan so far, by its exact class: a subclass may do anything."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from unstarve.lowering import augment, colours, geometry, inside, of_timm, presets, values
from unstarve.lowering.originals import is_plain
from unstarve.lowering.partial_plan import NotLowerable, PartialPlan
from unstarve.lowering.plan import Choice, Colour
from unstarve.lowering.tables import processors

Reader = Callable[[PartialPlan, Any], None]


class Steps(tuple[Any, ...]):
    """Callables that a function calls one after the other, in the place of a composition."""

    __slots__ = ()


def read(image: PartialPlan, part: Any) -> None:
    """Adds what `part` does to the plan.

    Raises:
        NotLowerable: the engine cannot do that at this place.
    """
    reader = readers().get(type(part))
    if (reader is not None or type(part) in containers()) and not is_plain(part):
        raise NotLowerable("a hook or an exchanged method changes what the class does")
    if reader is None:
        raise NotLowerable(_unknown(part))
    reader(image, part)


def _unknown(part: Any) -> str:
    for base in type(part).__mro__[1:]:
        if base in readers():
            return f"a subclass of {base.__name__}, which may do something else"
    return "not among the transforms that the engine knows"


def random_apply(image: PartialPlan, part: Any) -> None:
    probability = float(part.p)
    inner = list(part.transforms)
    if len(inner) == 1 and readers().get(type(inner[0])) is values.gaussian_noise:
        if image.depth:
            raise NotLowerable("GaussianNoise within two others")
        read(image, inner[0])
        if image.plan.noise is not None:
            image.plan.noise.probability *= probability
        return
    steps = _changes_within(image, part, inner)
    if len(steps) == 1:
        steps[0].probability *= probability
    elif steps:
        steps = [Colour("choice", probability, choices=(Choice(1.0, tuple(steps)),))]
    image.plan.colour += steps


def random_choice(image: PartialPlan, part: Any) -> None:
    inner = list(part.transforms)
    weights = [1.0] * len(inner) if part.p is None else [float(weight) for weight in part.p]
    if len(weights) != len(inner):
        raise NotLowerable(f"{len(weights)} weights of {len(inner)} transforms")
    steps = [tuple(_changes_within(image, part, [one])) for one in inner]
    if any(steps):
        choices = tuple(map(Choice, weights, steps))
        image.plan.colour.append(Colour("choice", choices=choices))


def _changes_within(image: PartialPlan, outer: Any, inner: list[Any]) -> list[Colour]:
    """What these do to the pixels, left to the caller to put into the plan."""
    known = {*colours.READERS.values(), *augment.READERS.values(), values.leave_alone}
    known |= {random_apply, random_choice}
    begin = len(image.plan.colour)
    if image.depth == _DEEPEST:
        raise NotLowerable("too many transforms within others")
    image.depth += 1
    for one in inner:
        for part in flatten(one):
            if readers().get(type(part)) not in known:
                raise NotLowerable(f"other than changes of the pixels in {type(outer).__name__}")
            read(image, part)
    image.depth -= 1
    steps = image.plan.colour[begin:]
    del image.plan.colour[begin:]
    return steps


def as_rgb(image: PartialPlan, _part: Any) -> None:
    """The engine's images are RGB, as those of torchvision's loader."""
    if image.form != "pil":
        raise NotLowerable("convert() of a tensor")


_READERS: dict[str, Reader] = {
    **geometry.READERS,
    **colours.READERS,
    **augment.READERS,
    "RandomApply": random_apply,
    "RandomChoice": random_choice,
    **values.READERS,
}


def readers() -> dict[type, Reader]:
    """By exact class, of the libraries that the process has loaded."""
    found = {}
    for library in _libraries():
        for name, reader in _READERS.items():
            kind = getattr(library, name, None)
            if isinstance(kind, type):
                found[kind] = reader
    for (module, name), reader in {**presets.READERS, **of_timm.READERS}.items():
        kind = getattr(sys.modules.get(module), name, None)
        if isinstance(kind, type):
            found[kind] = reader
    found[inside.AsRgb] = as_rgb
    found[processors.Processed] = processors.processed
    return found


def containers() -> set[type]:
    """Classes that do what their parts do, one after the other."""
    found = {library.Compose for library in _libraries()}
    if "torch" in sys.modules:
        found.add(sys.modules["torch"].nn.Sequential)
    return found


#: One that is deeper holds itself.
_DEEPEST = 16


def flatten(transform: Any, depth: int = 0) -> Iterator[Any]:
    """What a transform does one after the other, of whatever it is made."""
    if transform is None:
        return
    steps = None if depth == _DEEPEST else _steps_of(transform)
    if steps is None:
        yield transform
        return
    for step in steps:
        yield from flatten(step, depth + 1)


def _steps_of(transform: Any) -> Iterable[Any] | None:
    """What a transform does one after the other; None where it is one step."""
    if type(transform) is Steps:
        return transform
    if type(transform) in containers():
        if not is_plain(transform):
            return None
        steps: Iterable[Any] = transform
        return steps if type(transform).__name__ == "Sequential" else list(transform.transforms)
    return None if type(transform) in readers() else inside.steps_within(transform)


def _libraries() -> list[Any]:
    names = ("torchvision.transforms", "torchvision.transforms.v2")
    return [sys.modules[name] for name in names if name in sys.modules]
