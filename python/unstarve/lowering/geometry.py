"""Transforms that decide which pixels are kept: crops, changes of size, flips, paddings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from unstarve.lowering.padding import add_up, around_a_crop, padding_of
from unstarve.lowering.partial_plan import NotLowerable, PartialPlan, pair
from unstarve.lowering.plan import Colour, Geometry, Padding


def _interpolation(image: PartialPlan, part: Any) -> Literal["bilinear", "bicubic"]:
    name = getattr(part.interpolation, "value", part.interpolation)
    if name not in ("bilinear", "bicubic"):
        raise NotLowerable(f"interpolation {name!r}: only bilinear and bicubic run natively")
    # On PIL images, resizing is always antialiased, whatever the argument says.
    if image.form != "pil" and part.antialias is not True:
        raise NotLowerable(f"antialias={part.antialias!r} on a tensor")
    return "bicubic" if name == "bicubic" else "bilinear"


def _before_geometry(image: PartialPlan) -> None:
    image.plan.is_interleaved = False  # of a tensor that is resized nobody can say
    if image.geometry is not None or image.pending_resize is not None:
        raise NotLowerable("a second change of size")
    if image.pending_padding is not None:
        raise NotLowerable("a padding before what is not a random crop")
    if image.plan.colour:
        raise NotLowerable("a change of size after a change of colours")
    if image.is_float:
        raise NotLowerable("resizing floating-point pixels")


def random_resized_crop(image: PartialPlan, part: Any) -> None:
    _before_geometry(image)
    scale, ratio = pair(part.scale), pair(part.ratio)
    if not (0 < scale[0] <= scale[1] <= 1 and 0 < ratio[0] <= ratio[1]):
        raise NotLowerable(f"scale={scale}, ratio={ratio}: not 0 < low <= high (scale <= 1)")
    image.geometry = Geometry(
        "random_resized_crop",
        (int(part.size[0]), int(part.size[1])),
        scale=scale,
        ratio=ratio,
        interpolation=_interpolation(image, part),
    )


def resize(image: PartialPlan, part: Any) -> None:
    _before_geometry(image)
    if part.max_size is not None or part.size is None:
        raise NotLowerable("max_size")
    interpolation = _interpolation(image, part)
    sides = [part.size] if isinstance(part.size, int) else list(part.size)
    if len(sides) == 2:
        image.geometry = Geometry(
            "resize", (int(sides[0]), int(sides[1])), interpolation=interpolation
        )
    else:
        image.pending_resize = (int(sides[0]), interpolation)


def center_crop(image: PartialPlan, part: Any) -> None:
    size = (int(part.size[0]), int(part.size[1]))
    if image.pending_resize is None and image.geometry is not None and image.geometry.size == size:
        return
    if image.plan.horizontal_flip or image.plan.vertical_flip:
        # The centre of an odd remainder lies half a pixel to one side.
        raise NotLowerable("a flip before Resize or between it and CenterCrop")
    if image.geometry is None and image.pending_resize is None:
        _before_geometry(image)
        image.geometry = Geometry("center_crop", size)
    else:
        _crop(image, "resize_center_crop", size)


def random_crop(image: PartialPlan, part: Any) -> None:
    size = (int(part.size[0]), int(part.size[1]))
    padding = padding_of(image, part)
    if image.pending_padding is not None:
        if any(padding.widths) or part.pad_if_needed:
            raise NotLowerable("a second padding")
        padding, image.pending_padding = image.pending_padding, None
    elif image.geometry is not None and any(image.geometry.frame.widths):
        padding = _without_frame(image.geometry, padding)
    around_a_crop(padding, size, bool(part.pad_if_needed))
    if not padding.is_even and (image.plan.horizontal_flip or image.plan.vertical_flip):
        raise NotLowerable("a flip before a crop whose padding differs from side to side")
    if image.geometry is not None or image.pending_resize is not None:
        _crop(image, "resize_random_crop", size, padding)
        return
    # An image that turns out to be too small is Python's, which raises.
    _before_geometry(image)
    image.geometry = Geometry(
        "random_crop", size, padding=padding, pads_if_needed=bool(part.pad_if_needed)
    )


def _without_frame(geometry: Geometry, padding: Padding) -> Padding:
    """The frame around a resized image becomes what is cut from."""
    if geometry.kind != "resize" or any(padding.widths):
        raise NotLowerable("a crop after a padding of what is not resized")
    padding, size = geometry.frame, geometry.framed_size
    geometry.size, geometry.frame = size, Padding()
    return padding


def pad(image: PartialPlan, part: Any) -> None:
    padding = padding_of(image, part)
    _before_noise(image)
    if image.plan.colour or image.plan.erasing is not None:
        raise NotLowerable("a padding after a change of colours or RandomErasing")
    image.plan.is_interleaved = False
    geometry = image.geometry
    if geometry is None:
        image.pending_padding = add_up(image.pending_padding, padding)
        return
    frame = add_up(geometry.frame if any(geometry.frame.widths) else None, padding)
    height, width = geometry.framed_size
    left, top, right, bottom = frame.widths
    aside = {"reflect": 1, "symmetric": 0}.get(frame.mode)
    if aside is not None and not (
        max(left, right) + aside <= width and max(top, bottom) + aside <= height
    ):
        raise NotLowerable(f"padding={part.padding!r} around {height} x {width} pixels")
    geometry.frame = frame
    geometry.size = (height + top + bottom, width + left + right)


def _crop(
    image: PartialPlan,
    kind: Literal["resize_center_crop", "resize_random_crop"],
    size: tuple[int, int],
    padding: Padding | None = None,
) -> None:
    """Of what Resize made."""
    padding = padding or Padding()
    _before_noise(image)
    image.plan.is_interleaved = False
    if image.plan.colour or image.plan.erasing is not None:
        raise NotLowerable("a crop after a change of colours or RandomErasing")
    short, resized = 0, (0, 0)
    if image.pending_resize is not None:
        short, interpolation = image.pending_resize
        least = (short, short)
    elif image.geometry is not None and _is_resized_alone(image.geometry):
        least = resized = image.geometry.size
        # "either" is of random crops alone.
        interpolation = "bicubic" if image.geometry.interpolation == "bicubic" else "bilinear"
    else:
        raise NotLowerable("a crop after another change of size")
    if image.pending_padding is not None:
        raise NotLowerable("a padding before what is not a random crop")
    mirrors = padding.mode in ("reflect", "symmetric")
    if mirrors and max(padding.widths) >= min(least):
        raise NotLowerable(f"padding={padding.widths} around {min(least)} pixels")
    left, top, right, bottom = padding.widths
    least = (least[0] + top + bottom, least[1] + left + right)
    if size[0] > least[0] or size[1] > least[1]:
        raise NotLowerable(f"a crop of {max(size)} pixels after Resize to {max(least)}")
    image.pending_resize = None
    image.geometry = Geometry(
        kind, size, short, interpolation=interpolation, resize_to=resized, padding=padding
    )


def _is_resized_alone(geometry: Geometry) -> bool:
    return geometry.kind == "resize" and not any(geometry.frame.widths)


def _before_noise(image: PartialPlan) -> None:
    if image.plan.noise is not None:
        raise NotLowerable("a change of places after GaussianNoise")


def _is_tied_to_places(step: Colour) -> bool:
    """Whether it changes pixels in another way where the image is flipped before."""
    if step.kind == "choice":
        return any(_is_tied_to_places(one) for choice in step.choices for one in choice.steps)
    return step.kind in ("augment", "affine", "perspective", "mix", "jpeg", "elastic")


def _flip(image: PartialPlan) -> None:
    _before_noise(image)
    if image.geometry is not None and not image.geometry.frame.is_even:
        raise NotLowerable("a flip after a padding that differs from side to side")
    if image.plan.erasing is not None:
        raise NotLowerable("a flip after RandomErasing")
    if any(map(_is_tied_to_places, image.plan.colour)):
        raise NotLowerable("a flip after an augmentation, which may move pixels")


def horizontal_flip(image: PartialPlan, part: Any) -> None:
    _flip(image)
    image.plan.horizontal_flip = _exactly_one(image.plan.horizontal_flip, float(part.p))


def vertical_flip(image: PartialPlan, part: Any) -> None:
    _flip(image)
    image.plan.vertical_flip = _exactly_one(image.plan.vertical_flip, float(part.p))


def _exactly_one(p: float, q: float) -> float:
    """The probability that exactly one of two independent flips happens."""
    return p * (1 - q) + q * (1 - p)


#: By class name; both torchvision.transforms and torchvision.transforms.v2 have most of them.
READERS: dict[str, Callable[[PartialPlan, Any], None]] = {
    "RandomResizedCrop": random_resized_crop,
    "Resize": resize,
    "CenterCrop": center_crop,
    "RandomCrop": random_crop,
    "Pad": pad,
    "RandomHorizontalFlip": horizontal_flip,
    "RandomVerticalFlip": vertical_flip,
}
