"""Paddings: how wide they are and what is in them."""

from __future__ import annotations

from typing import Any

from unstarve.lowering.partial_plan import NotLowerable, PartialPlan
from unstarve.lowering.plan import Padding, Widths


def padding_of(image: PartialPlan, part: Any) -> Padding:
    """Of Pad or RandomCrop.

    Raises:
        NotLowerable: it is one that the engine does not do.
    """
    widths = _widths(part)
    if not any(widths) and not getattr(part, "pad_if_needed", False):
        return Padding()
    if min(widths) < 0:
        raise NotLowerable(f"padding={part.padding!r} below zero, which cuts")
    if part.padding_mode not in ("constant", "edge", "reflect", "symmetric"):
        raise NotLowerable(f"padding_mode={part.padding_mode!r}")
    if part.padding_mode != "constant":
        return Padding(widths, part.padding_mode)
    fill = _fill(image, part)
    if image.is_float and (any(fill) or image.plan.mean is not None):
        raise NotLowerable("a padding of floating-point pixels, but for zeros of bytes")
    return Padding(widths, "constant", fill)


def _is_v2(part: Any) -> bool:
    return type(part).__module__.startswith("torchvision.transforms.v2.")


def _widths(part: Any) -> Widths:
    given = 0 if part.padding is None else part.padding
    sides = [given] if isinstance(given, int) else list(given)
    if len(sides) not in (1, 2, 4):
        raise NotLowerable(f"padding={given!r}")
    left, top, right, bottom = (int(sides[side % len(sides)]) for side in range(4))
    if _is_v2(part) and type(part).__name__ == "RandomCrop" and len(sides) == 4:
        left, right, top, bottom = sides  # in an order of its own
    return left, top, right, bottom


def _fill(image: PartialPlan, part: Any) -> tuple[int, int, int]:
    given = 0 if part.fill is None else part.fill
    is_one = isinstance(given, (int, float))
    if not is_one and not isinstance(given, (list, tuple)):
        raise NotLowerable(f"fill={given!r}")
    if not is_one and image.form != "pil" and not _is_v2(part):
        raise NotLowerable(f"fill={given!r} around a tensor, for which there is one number")
    values: list[Any] = [given] * 3 if isinstance(given, (int, float)) else list(given)
    # Pillow raises for fractions.
    if len(values) != 3 or not all(_is_byte(value) for value in values):
        raise NotLowerable(f"fill={given!r}")
    return int(values[0]), int(values[1]), int(values[2])


def _is_byte(value: Any) -> bool:
    return value == 0 or (isinstance(value, int) and 0 <= value <= 255)


def add_up(first: Padding | None, second: Padding) -> Padding:
    """One padding and another around it.

    Raises:
        NotLowerable: they are not the same in all but their widths.
    """
    if first is None or not any(second.widths):
        return first or second
    is_same = (first.mode, first.fill) == (second.mode, second.fill)
    if not is_same or first.mode not in ("constant", "edge"):
        raise NotLowerable("a second padding of another kind")
    left, top, right, bottom = (a + b for a, b in zip(first.widths, second.widths, strict=True))
    return Padding((left, top, right, bottom), first.mode, first.fill)


def around_a_crop(padding: Padding, size: tuple[int, int], pads_if_needed: bool) -> None:
    """
    Raises:
        NotLowerable: a crop of this height and width may lack what the padding is made from.
    """
    mirrors = padding.mode in ("reflect", "symmetric")
    most = [(side - 1) // (2 if mirrors else 1) for side in (size[1], size[0])]
    if any(width > most[side % 2] for side, width in enumerate(padding.widths)):
        raise NotLowerable(f"padding={padding.widths} around a crop of {size[0]} x {size[1]}")
    if mirrors and pads_if_needed:
        raise NotLowerable(f"pad_if_needed with {padding.mode}")
