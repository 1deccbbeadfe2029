"""Transforms that change colours, behind the geometry."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from unstarve.lowering.partial_plan import NotLowerable, PartialPlan, pair
from unstarve.lowering.plan import Blur, Colour


def add_colour(image: PartialPlan, step: Colour) -> None:
    """Behind what is there.

    Raises:
        NotLowerable: the image is not what the engine changes the colours of.
    """
    if image.geometry is None:
        raise NotLowerable("a change of colours before the image has its size")
    if image.is_float:
        raise NotLowerable("a change of colours on floating-point pixels")
    image.plan.is_interleaved = False
    image.plan.colour.append(step)


def color_jitter(image: PartialPlan, part: Any) -> None:
    names = ("brightness", "contrast", "saturation", "hue")
    values = {name: getattr(part, name) for name in names}
    step = Colour("jitter")
    for name, value in values.items():
        setattr(step, name, None if value is None else pair(value))
    add_colour(image, step)


def grayscale(image: PartialPlan, part: Any) -> None:
    if part.num_output_channels != 3:
        raise NotLowerable(f"{part.num_output_channels} channel: the engine writes three")
    add_colour(image, Colour("greyscale"))


def random_grayscale(image: PartialPlan, part: Any) -> None:
    add_colour(image, Colour("greyscale", probability=float(part.p)))


def gaussian_blur(image: PartialPlan, part: Any) -> None:
    across, down = (int(taps) for taps in part.kernel_size)
    if image.geometry is not None:
        height, width = image.geometry.size
        if max(across, down) > 255 or across // 2 >= width or down // 2 >= height:
            raise NotLowerable(f"kernel_size={part.kernel_size} for {height} x {width} pixels")
    add_colour(image, Colour("blur", blur=Blur((across, down), pair(part.sigma))))


#: By class name, as torchvision has them.
READERS: dict[str, Callable[[PartialPlan, Any], None]] = {
    "ColorJitter": color_jitter,
    "Grayscale": grayscale,
    "RandomGrayscale": random_grayscale,
    "GaussianBlur": gaussian_blur,
}
