"""Images that a data set's own Python opens, in a worker process: decoded when they are asked for.

Most data sets of people's own open a file with Pillow, convert it to RGB and give it to a
composition of torchvision's transforms. In a worker process of ours the image stays encoded until
somebody wants its pixels. A composition that is given such an image has the engine decode and
transform it, as far as the engine knows the transforms; whoever else wants pixels gets Pillow's.

The first images of each composition are made by Pillow too, and compared. Where they differ the
composition stays Python.
"""

from __future__ import annotations

import contextlib
import functools
import io
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch
from PIL import Image, PngImagePlugin

from unstarve.engine import png_loading, tensor_functions
from unstarve.engine.arrays import albumented, reading
from unstarve.engine.cut import Cut
from unstarve.engine.native_options import EPOCHS, most_pixels
from unstarve.engine.native_plan import native_plan, plan_obstacle
from unstarve.engine.opened_image import (
    IN_VAIN_MAX,
    LATER,
    OpenedImage,
    by_pillow,
    differ,
    here,
    pillows,
)
from unstarve.engine.opening_view import reads_arrays
from unstarve.engine.pillow_files import KINDS, file_of, leave_file, waits_in_memory
from unstarve.engine.prefix_images import PrefixImages
from unstarve.lowering.composition import Prefix, read_prefix
from unstarve.lowering.inside import steps_within
from unstarve.lowering.plan import Plan

#: Of each composition: so many images are compared with Pillow's.
_COMPARED = 3
_COMPARED_IN_ALL = 30
#: As many are remembered.
_COMPOSITIONS_MAX = 64


class _Process:
    """Of this process."""

    def __init__(self) -> None:
        self.left_to_compare = _COMPARED_IN_ALL
        #: Of compositions; a class that derives from one of them may do anything.
        self.kinds: set[type] = set()
        #: Tensors whose pixels nobody has wanted yet are decoded.
        self.decode: Callable[[Any], Any] = lambda made: made


class _Thread(threading.local):
    """Of a thread: a data set may make samples in several, and what makes images has memory."""

    def __init__(self) -> None:
        #: By the identity of a composition, which is kept with it.
        self.compositions: dict[int, _Composition] = {}
        #: Of calls of compositions within others.
        self.depth = 0


_process = _Process()
_thread = _Thread()
_installed: list[bool] = []


def encoded_of(image: Any) -> bytes | None:
    """The file of an image that nobody has decoded or changed; None of any other."""
    return image.file_for_view() if type(image) is OpenedImage else file_of(image)


class _Composition:
    """One composition, with what the engine does of it."""

    def __init__(self, composition: Any) -> None:
        self.composition = composition  # so that its identity is not given to another
        self._parts = _looks(composition)
        prefix = read_prefix(composition)
        possible = prefix is not None and plan_obstacle(prefix.plan) is None
        self._images = PrefixImages(prefix) if prefix is not None and possible else None
        self._plan = prefix.plan if prefix is not None else None
        self._left_to_compare = _COMPARED

    def is_unchanged(self) -> bool:
        try:
            return all(look.is_unchanged() for look in self._parts)
        except Exception:  # what nobody can compare
            return False

    def made_of(self, encoded: bytes) -> Any:
        """The image as the parts in `rest` get it; None where the engine cannot make it."""
        if self._images is None or self._plan is None:
            return None
        # As Python's own transforms, from the generator that the worker was seeded with.
        draw = int(torch.empty((), dtype=torch.int64).random_())
        epoch, index = (draw >> 32) % EPOCHS, draw & 0xFFFFFFFF
        if self._left_to_compare > 0 and _process.left_to_compare > 0:
            self._left_to_compare -= 1
            _process.left_to_compare -= 1
            if _differs(self._plan, encoded, epoch, index):
                self._images = None
                return None
        return self._images.of_bytes(encoded, epoch, index)

    @property
    def rest(self) -> tuple[Any, ...]:
        return () if self._images is None else self._images.rest


class _Look(NamedTuple):
    """At a composition or one of its parts: what it was, to compare later."""

    part: Any
    kind: type
    attributes: dict[str, Any]
    values: list[Any]

    def is_unchanged(self) -> bool:
        return type(self.part) is self.kind and list(self.attributes.values()) == self.values


def _looks(composition: Any) -> list[_Look]:
    """While none of them changes, these are its parts."""
    found = []
    for part in _parts(composition, 0):
        attributes = getattr(part, "__dict__", {})
        found.append(_Look(part, type(part), attributes, [_kept(v) for v in attributes.values()]))
    return found


#: Deeper ones hold themselves.
_DEEPEST = 8
#: Of their transforms, those that hold others name them `transforms`.
_LIBRARIES = ("torchvision.", "timm.")


def _parts(part: Any, depth: int) -> Iterator[Any]:
    yield part
    if depth == _DEEPEST:
        return
    inner = getattr(part, "transforms", None)
    if not isinstance(inner, (list, tuple)):
        is_known = type(part).__module__.startswith(_LIBRARIES)
        inner = () if is_known else steps_within(part) or ()
    for item in inner:
        yield from _parts(item, depth + 1)


def _kept(value: Any) -> Any:
    """A copy of what may be changed in place."""
    return value.copy() if isinstance(value, (list, dict, set)) else value


def _differs(plan: Plan, encoded: bytes, epoch: int, index: int) -> bool:
    """Whether the engine's pixels, before their colours are changed, are others than Pillow's."""
    from unstarve import _native

    geometry = Plan(plan.geometry, plan.horizontal_flip, plan.vertical_flip)
    own = PrefixImages(Prefix(geometry, True, 0, ())).of_bytes(encoded, epoch, index)
    size = Image.open(io.BytesIO(encoded)).size
    options: Any = _native.LoaderOptions()
    options.transform = native_plan(geometry, "nhwc")
    options.max_pixels = most_pixels()
    drawn = _native.sample_draws(options, epoch, index, size)
    crop, target, window = (tuple(drawn[name]) for name in ("crop", "target", "window"))
    is_bicubic = drawn["interpolation"] == "bicubic"
    cut = Cut(size, crop, target, window, is_bicubic, drawn["flip"], drawn["vertical_flip"])
    return differ(bytearray(own.tobytes()), by_pillow(encoded, cut))


def _known(composition: Any) -> _Composition:
    known = _thread.compositions.get(id(composition))
    if known is None or not known.is_unchanged():
        _thread.compositions.pop(id(composition), None)
        if len(_thread.compositions) == _COMPOSITIONS_MAX:  # a new one for each sample
            del _thread.compositions[next(iter(_thread.compositions))]
        known = _thread.compositions[id(composition)] = _Composition(composition)
    return known


def _applied(original: Callable[..., Any], composition: Any, image: Any) -> Any:
    """In the place of a composition's call, with one image."""
    encoded = encoded_of(image) if type(composition) in _process.kinds else None
    if encoded is None:
        return original(composition, image)
    made: Any = None
    rest: tuple[Any, ...] = ()
    with contextlib.suppress(Exception):  # whatever is wrong with us, the composition runs
        known = _known(composition)
        made, rest = known.made_of(encoded), known.rest
    if made is None:
        return original(composition, image)
    here.in_vain = 0
    for part in rest:
        made = part(made)
    return made


def _exchange(owner: Any, name: str, make: Callable[[Any], Any]) -> None:
    original = getattr(owner, name)  # which a class that it derives from may have
    exchanged: Any = functools.wraps(original)(make(original))
    exchanged.unstarve_original = original
    setattr(owner, name, exchanged)


def _of_one_image(original: Any) -> Any:
    def call(composition: Any, *images: Any) -> Any:
        _thread.depth += 1
        try:
            if len(images) != 1:
                made = original(composition, *images)
            else:
                made = _applied(original, composition, images[0])
        finally:
            _thread.depth -= 1
        # Whoever goes on with it may look at its class.
        return made if _thread.depth else _process.decode(made)

    return call


def _convert(original: Any) -> Any:
    here.convert = original

    def convert(image: Any, mode: Any = None, *given: Any, **more: Any) -> Any:
        is_plain = mode == "RGB" and not given and not more
        if is_plain and here.in_vain < IN_VAIN_MAX:
            encoded = file_of(image, to_convert=True)
            if encoded is not None:
                leave_file(image, encoded)
                return OpenedImage(encoded, image)
        return original(image, mode, *given, **more)

    return convert


def _load(original: Any) -> Any:
    """`datasets` loads what it has opened, so that no file stays open; from memory none does."""

    def load(image: Any) -> Any:
        by = sys._getframe(1).f_globals.get("__name__")
        may_wait = by == "datasets.features.image" and here.in_vain < IN_VAIN_MAX
        if may_wait and waits_in_memory(image):
            return None
        return original(image)

    return load


def _later(name: str) -> Callable[[Any], Any]:
    def make(original: Any) -> Any:
        def method(image: Any, *given: Any, **more: Any) -> Any:
            made = None
            if here.in_vain < IN_VAIN_MAX:
                encoded = file_of(image)
                if encoded is not None:
                    made = OpenedImage(encoded, image).later(name, given, more)
            return original(image, *given, **more) if made is None else made

        return method

    return make


def install() -> None:
    """In this process, for good: it is a worker's, which has one loader's samples to make."""
    if _installed:
        return
    _installed.append(True)
    _exchange(PngImagePlugin.PngImageFile, "load", png_loading.load)
    for kind in KINDS:
        _exchange(kind, "convert", _convert)
        for name in LATER:
            _exchange(kind, name, _later(name))
        _exchange(kind, "load", _load)
    if "torchvision.tv_tensors" in sys.modules:
        _install_tensors()
    for owner, name, make in tensor_functions.functions():
        _exchange(owner, name, make)
    for module, name, method in _COMPOSITIONS:
        composition = getattr(sys.modules.get(module), name, None)
        if composition is not None:
            _process.kinds.add(composition)
            _exchange(composition, method, _of_one_image)
    if reads_arrays():
        for owner, name, make in [*albumented.look(), *reading.look()]:
            _exchange(owner, name, make)


def _install_tensors() -> None:
    from torchvision import tv_tensors
    from torchvision.transforms import v2

    from unstarve.engine import image_processors, iou_crop, late_tensors

    tv_tensors.Image.__new__ = staticmethod(late_tensors.new_image(tv_tensors.Image.__new__))
    _exchange(v2.Transform, "_call_kernel", late_tensors.call_kernel)
    _process.decode = late_tensors.decoded_within
    _exchange(v2.functional, "to_image", late_tensors.to_image)
    _exchange(tv_tensors, "wrap", late_tensors.wrap)
    drawing = "make_params" if hasattr(v2.RandomIoUCrop, "make_params") else "_get_params"
    _exchange(v2.RandomIoUCrop, drawing, iou_crop.make_params)
    if image_processors.backend() is not None:
        _exchange(image_processors.backend(), "process_image", image_processors.process_image)
        _exchange(image_processors.backend(), "_preprocess", image_processors.preprocess)


_COMPOSITIONS = (
    ("torchvision.transforms.transforms", "Compose", "__call__"),
    ("torchvision.transforms.v2._container", "Compose", "forward"),
    ("torchvision.transforms._presets", "ImageClassification", "forward"),
)


__all__ = ["OpenedImage", "encoded_of", "install", "pillows"]
