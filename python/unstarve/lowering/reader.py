"""Reads one transform into the plan so far, by its exact class: a subclass may do anything."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from unstarve.lowering import augment, colours, geometry, inside, of_timm, presets, values
from unstarve.lowering.originals import is_plain
from unstarve.lowering.partial_plan import NotLowerable, PartialPlan
from unstarve.lowering.tables import processors

Reader = Callable[[PartialPlan, Any], None]


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
    inner = list(part.transforms)
    known = {*colours.READERS.values(), *augment.READERS.values(), values.gaussian_noise}
    reader = readers().get(type(inner[0])) if len(inner) == 1 else None
    if reader not in known:
        raise NotLowerable("other than one change of the pixels in RandomApply")
    read(image, inner[0])
    step = image.plan.noise if reader is values.gaussian_noise else image.plan.colour[-1]
    if step is not None:
        step.probability *= float(part.p)


def as_rgb(image: PartialPlan, _part: Any) -> None:
    """The engine's images are RGB, as those of torchvision's loader."""
    if image.form != "pil":
        raise NotLowerable("convert() of a tensor")


_READERS: dict[str, Reader] = {
    **geometry.READERS,
    **colours.READERS,
    **augment.READERS,
    "RandomApply": random_apply,
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


def _libraries() -> list[Any]:
    names = ("torchvision.transforms", "torchvision.transforms.v2")
    return [sys.modules[name] for name in names if name in sys.modules]
