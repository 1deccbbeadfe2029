"""transformers' image processors in a worker process: images that a data set has opened are
decoded, resized and cropped by the engine, and normalised in the same pass.

Those processors alone whose steps are transformers' own: of the torchvision backend of version 5.
The first images are made by transformers too, and compared.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from typing import Any

import torch

from unstarve.engine.cut import Cut
from unstarve.engine.late_tensors import LateImage, decoded, late_of, to_short_side
from unstarve.engine.opened_image import FURTHER_MAX, here, pixels_of
from unstarve.lowering.tables.processors import MODULE, RESAMPLINGS, backend, has_own_steps

#: Images that transformers makes too.
_COMPARED = 3


class _Process:
    """Of this process."""

    left_to_compare = _COMPARED
    images_differ = False


def process_image(original: Callable[..., Any]) -> Callable[..., Any]:
    """In the place of the method: the image stays encoded."""

    def process_image(processor: Any, image: Any, *given: Any, **more: Any) -> Any:
        late = None
        if not given and not _Process.images_differ and has_own_steps(processor):
            with contextlib.suppress(Exception):  # a device that torch does not know
                device = more.get("device")
                is_here = device is None or torch.device(device).type == "cpu"
                late = late_of(image) if is_here else None
        return original(processor, image, *given, **more) if late is None else late

    return process_image


def preprocess(original: Callable[..., Any]) -> Callable[..., Any]:
    """In the place of the method `_preprocess`."""

    def _preprocess(processor: Any, images: Any, *given: Any, **more: Any) -> Any:
        made = None
        if not given and not _Process.images_differ and has_own_steps(processor):
            with contextlib.suppress(Exception):  # arguments that transformers refuses
                made = _made(processor, images, more)
        if made is not None and _Process.left_to_compare <= 0:
            return _feature(made, more)
        expected = original(processor, _plain(images), *given, **more)
        if made is not None:
            here.in_vain = 0  # transformers wanted their pixels only to compare them
            _Process.left_to_compare -= len(made)
            _Process.images_differ = _differ(processor, made, expected["pixel_values"], more)
        return expected

    return _preprocess


def _plain(images: Any) -> Any:
    """As `process_image` itself would have given them."""
    if isinstance(images, list):
        return [_plain(image) for image in images]
    if type(images) is not LateImage:
        return images
    return decoded(images).as_subclass(torch.Tensor).contiguous()


def _made(processor: Any, images: Any, options: dict[str, Any]) -> list[Any] | None:
    """Float32 of shape 3 x height x width each; None where one step is not the engine's."""
    if not options["do_rescale"] or not options["do_normalize"] or options["do_pad"]:
        return None
    if not images or not all(
        type(image) is LateImage and image._values is None for image in images
    ):
        return None
    cuts = [_cut(image._cut, options) for image in images]
    if None in cuts:
        return None
    mean, deviation = _mean_and_deviation(processor, options)
    return [
        _normalised(image._encoded, cut, mean.tolist(), deviation.tolist())
        for image, cut in zip(images, cuts, strict=True)
        if cut is not None
    ]


def _mean_and_deviation(processor: Any, options: dict[str, Any]) -> tuple[Any, Any]:
    """Of the bytes."""
    mean, deviation, _ = processor._fuse_mean_std_and_rescale_factor(
        do_normalize=True,
        image_mean=options["image_mean"],
        image_std=options["image_std"],
        do_rescale=True,
        rescale_factor=options["rescale_factor"],
        device=torch.device("cpu"),
    )
    return mean, deviation


def _cut(cut: Cut, options: dict[str, Any]) -> Cut | None:
    made: Cut | None = cut
    if options["do_resize"]:
        made = _resized(cut, options["size"], options["resample"])
    if made is not None and options["do_center_crop"]:
        wanted = options["crop_size"]
        width, height = made.size
        left, top = int((width - wanted.width) / 2.0), int((height - wanted.height) / 2.0)
        # None where the image is smaller: transformers pads it.
        made = made.cropped(left, top, wanted.width, wanted.height)
    return made


def _resized(cut: Cut, size: Any, resample: Any) -> Cut | None:
    is_bicubic = (
        False if resample is None else RESAMPLINGS.get(getattr(resample, "value", resample))
    )
    if is_bicubic is None or size.longest_edge or size.max_height or size.max_width:
        return None
    if size.shortest_edge:
        width, height = to_short_side(cut.size, size.shortest_edge)
    else:
        width, height = size.width, size.height
    return cut.resized(width, height, is_bicubic)


def _normalised(encoded: bytes, cut: Cut, mean: list[float], deviation: list[float]) -> Any:
    from unstarve import _native

    width, height = cut.size
    made = torch.empty((3, height, width))
    pixels = torch.frombuffer(pixels_of(encoded, cut), dtype=torch.uint8)
    _native.convert_pixels(pixels.numpy(), mean, deviation, made.view(-1).numpy(), scale="none")
    return made


def _differ(processor: Any, made: list[Any], expected: Any, options: dict[str, Any]) -> bool:
    """Whether bytes are further apart than those of two resizers are."""
    _, deviation = _mean_and_deviation(processor, options)
    for own, other in zip(made, expected, strict=True):
        if own.shape != tuple(other.shape):
            return True
        away = (own - torch.as_tensor(other)).abs() * deviation.view(3, 1, 1)
        if float((away > 2.5).float().mean()) > FURTHER_MAX:
            return True
    return False


def _feature(made: list[Any], options: dict[str, Any]) -> Any:
    feature = sys.modules[MODULE].BatchFeature
    return feature(data={"pixel_values": made}, tensor_type=options["return_tensors"])


__all__ = ["backend", "preprocess", "process_image"]
