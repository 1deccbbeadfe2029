"""Reads a torchvision composition and says what the native engine would have to do for the same.

Transforms are known by their exact class: a subclass may do anything. The order of the parts has to
mean the same as the engine's own (geometry, colours, conversion, erasing); `read_transform` goes
through them one by one and keeps what the image is at that point: a PIL image or a tensor, of which
type, already resized, already normalised.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from unstarve.lowering.originals import as_defined
from unstarve.lowering.plan import Channels, Colour, Erasing, Geometry, NumberPair, Plan


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


class NotLowerable(Exception):  # noqa: N818 (an answer, not a failure)
    """The reason why a part stays Python."""


def read_transform(transform: Any) -> tuple[Plan | None, list[Verdict]]:
    """The plan that does what `transform` does to a PIL image, or None; and a verdict per part."""
    reader = _Reader()
    verdicts: list[Verdict] = []
    stopped = False
    for part in _flatten(transform):
        try:
            if stopped and type(part) in _readers():
                raise NotLowerable("comes after a part that stays Python")
            reader.read(part)
            verdicts.append(Verdict(_describe(part), None))
        except NotLowerable as reason:
            stopped = True
            verdicts.append(Verdict(_describe(part), str(reason)))
    if stopped:
        return None, verdicts
    try:
        return reader.finish(), verdicts
    except NotLowerable as reason:
        return None, [*verdicts, Verdict("the composition as a whole", str(reason))]


def read_prefix(transform: Any) -> Prefix | None:
    """As many first parts of `transform` as the engine can do; None where they do not give the
    images one size, since reading and decoding alone would gain little."""
    parts = list(_flatten(transform))
    reader, count = _Reader(), 0
    for part in parts:
        try:
            reader.read(part)
        except NotLowerable:
            break
        count += 1
    reader = _Reader()  # in which a part that was refused left nothing behind
    for part in parts[:count]:
        reader.read(part)
    if reader.geometry is None:
        return None
    reader.plan.geometry = reader.geometry
    return Prefix(reader.plan, reader.form == "pil", count, tuple(parts[count:]))


def _flatten(transform: Any) -> Iterator[Any]:
    if transform is None:
        return
    if type(transform) in _containers() and _is_plain(transform):
        parts = transform if type(transform).__name__ == "Sequential" else transform.transforms
        for part in parts:
            yield from _flatten(part)
    else:
        yield transform


def _describe(part: Any) -> str:
    """On one line: a function's name, or what the object says of itself."""
    name = getattr(part, "__qualname__", None)
    if name is None and type(part).__repr__ is object.__repr__:  # type: ignore[comparison-overlap]
        name = type(part).__qualname__
    return " ".join((name or repr(part)).split())[:120]


def _libraries() -> list[Any]:
    names = ("torchvision.transforms", "torchvision.transforms.v2")
    return [sys.modules[name] for name in names if name in sys.modules]


def _containers() -> set[type]:
    found = {library.Compose for library in _libraries()}
    if "torch" in sys.modules:
        found.add(sys.modules["torch"].nn.Sequential)
    return found


def _is_plain(part: Any) -> bool:
    """No method of the object itself, no module hook and no exchanged method of the class changes
    what the class does."""
    own = vars(part) if hasattr(part, "__dict__") else {}
    if "forward" in own or "transform" in own or "__call__" in own:
        return False
    hooks = ("_forward_hooks", "_forward_pre_hooks")
    return not any(own.get(name) for name in hooks) and as_defined(type(part))


def _pair(values: Any) -> NumberPair:
    low, high = (float(value) for value in values)
    return low, high


def _channels(values: Any, what: str) -> Channels:
    numbers = [float(value) for value in values]
    if len(numbers) == 1:
        numbers *= 3
    if len(numbers) != 3:
        raise NotLowerable(f"{what} has {len(numbers)} values, an RGB image 3 channels")
    return numbers[0], numbers[1], numbers[2]


def _both_or_neither(p: float, q: float) -> float:
    """The probability that exactly one of two independent flips happens."""
    return p * (1 - q) + q * (1 - p)


class _Reader:
    """What the composition has done so far, as parts of a plan."""

    def __init__(self) -> None:
        self.geometry: Geometry | None = None
        self.pending_resize: tuple[int, Literal["bilinear", "bicubic"]] | None = None
        self.plan = Plan(Geometry("resize", (0, 0)))
        self.form: Literal["pil", "tensor"] = "pil"

    def read(self, part: Any) -> None:
        reader = _readers().get(type(part))
        if (reader is not None or type(part) in _containers()) and not _is_plain(part):
            raise NotLowerable("a hook or an exchanged method changes what the class does")
        if reader is None:
            raise NotLowerable(self._unknown(part))
        reader(self, part)

    @staticmethod
    def _unknown(part: Any) -> str:
        for base in type(part).__mro__[1:]:
            if base in _readers():
                return f"a subclass of {base.__name__}, which may do something else"
        return "not among the transforms that the engine knows"

    def finish(self) -> Plan:
        if self.geometry is None:
            if self.pending_resize is not None:
                raise NotLowerable("Resize to one number gives images of different shapes")
            raise NotLowerable("nothing gives the images one size")
        if self.form == "pil":
            raise NotLowerable("the result is a PIL image, not a tensor")
        self.plan.geometry = self.geometry
        return self.plan

    @property
    def is_float(self) -> bool:
        return self.plan.dtype != "uint8"

    def _interpolation(self, part: Any) -> Literal["bilinear", "bicubic"]:
        name = getattr(part.interpolation, "value", part.interpolation)
        if name not in ("bilinear", "bicubic"):
            raise NotLowerable(f"interpolation {name!r}: only bilinear and bicubic run natively")
        # On PIL images, resizing is always antialiased, whatever the argument says.
        if self.form != "pil" and part.antialias is not True:
            raise NotLowerable(f"antialias={part.antialias!r} on a tensor")
        return "bicubic" if name == "bicubic" else "bilinear"

    def _before_geometry(self) -> None:
        if self.geometry is not None or self.pending_resize is not None:
            raise NotLowerable("a second change of size")
        if self.plan.colour:
            raise NotLowerable("a change of size after a change of colours")
        if self.is_float:
            raise NotLowerable("resizing floating-point pixels")

    def random_resized_crop(self, part: Any) -> None:
        self._before_geometry()
        scale, ratio = _pair(part.scale), _pair(part.ratio)
        if not (0 < scale[0] <= scale[1] <= 1 and 0 < ratio[0] <= ratio[1]):
            raise NotLowerable(f"scale={scale}, ratio={ratio}: not 0 < low <= high (scale <= 1)")
        self.geometry = Geometry(
            "random_resized_crop",
            (int(part.size[0]), int(part.size[1])),
            scale=scale,
            ratio=ratio,
            interpolation=self._interpolation(part),
        )

    def resize(self, part: Any) -> None:
        self._before_geometry()
        if part.max_size is not None or part.size is None:
            raise NotLowerable("max_size")
        interpolation = self._interpolation(part)
        sides = [part.size] if isinstance(part.size, int) else list(part.size)
        if len(sides) == 2:
            self.geometry = Geometry(
                "resize", (int(sides[0]), int(sides[1])), interpolation=interpolation
            )
        else:
            self.pending_resize = (int(sides[0]), interpolation)

    def center_crop(self, part: Any) -> None:
        size = (int(part.size[0]), int(part.size[1]))
        if self.pending_resize is None and self.geometry is not None and self.geometry.size == size:
            return
        if self.plan.horizontal_flip or self.plan.vertical_flip:
            # The centre of an odd remainder lies half a pixel to one side.
            raise NotLowerable("a flip before Resize or between it and CenterCrop")
        if self.geometry is None and self.pending_resize is None:
            self._before_geometry()
            self.geometry = Geometry("center_crop", size)
        else:
            self._crop("resize_center_crop", size)

    def random_crop(self, part: Any) -> None:
        if part.padding is not None:
            raise NotLowerable("padding")
        if self.geometry is None and self.pending_resize is None:
            raise NotLowerable("RandomCrop without Resize before it: not every image is as large")
        self._crop("resize_random_crop", (int(part.size[0]), int(part.size[1])))

    def _crop(
        self, kind: Literal["resize_center_crop", "resize_random_crop"], size: tuple[int, int]
    ) -> None:
        """Of what Resize made."""
        if self.plan.colour or self.plan.erasing is not None:
            raise NotLowerable("a crop after a change of colours or RandomErasing")
        short, resized = 0, (0, 0)
        if self.pending_resize is not None:
            short, interpolation = self.pending_resize
            least = (short, short)
        elif self.geometry is not None and self.geometry.kind == "resize":
            least = resized = self.geometry.size
            interpolation = self.geometry.interpolation
        else:
            raise NotLowerable("a crop after another change of size")
        if size[0] > least[0] or size[1] > least[1]:
            raise NotLowerable(f"a crop of {max(size)} pixels after Resize to {max(least)}")
        self.pending_resize = None
        self.geometry = Geometry(kind, size, short, interpolation=interpolation, resize_to=resized)

    def _flip(self) -> None:
        if self.plan.erasing is not None:
            raise NotLowerable("a flip after RandomErasing")

    def horizontal_flip(self, part: Any) -> None:
        self._flip()
        self.plan.horizontal_flip = _both_or_neither(self.plan.horizontal_flip, float(part.p))

    def vertical_flip(self, part: Any) -> None:
        self._flip()
        self.plan.vertical_flip = _both_or_neither(self.plan.vertical_flip, float(part.p))

    def _colour(self, step: Colour) -> None:
        if self.geometry is None:
            raise NotLowerable("a change of colours before the image has its size")
        if self.is_float:
            raise NotLowerable("a change of colours on floating-point pixels")
        self.plan.colour.append(step)

    def color_jitter(self, part: Any) -> None:
        names = ("brightness", "contrast", "saturation", "hue")
        values = (getattr(part, name) for name in names)
        ranges = (None if value is None else _pair(value) for value in values)
        self._colour(Colour("jitter", 1.0, *ranges))

    def grayscale(self, part: Any) -> None:
        if part.num_output_channels != 3:
            raise NotLowerable(f"{part.num_output_channels} channel: the engine writes three")
        self._colour(Colour("greyscale"))

    def random_grayscale(self, part: Any) -> None:
        self._colour(Colour("greyscale", probability=float(part.p)))

    def random_apply(self, part: Any) -> None:
        inner = list(part.transforms)
        of_colour = (_Reader.color_jitter, _Reader.grayscale, _Reader.random_grayscale)
        if len(inner) != 1 or _readers().get(type(inner[0])) not in of_colour:
            raise NotLowerable("other than one change of colours in RandomApply")
        self.read(inner[0])
        self.plan.colour[-1].probability *= float(part.p)

    def to_tensor(self, _part: Any) -> None:
        if self.form != "pil":
            raise NotLowerable("ToTensor on a tensor")
        torch = sys.modules["torch"]
        if torch.get_default_dtype() is not torch.float32:
            raise NotLowerable(f"torch's default type is {torch.get_default_dtype()}")
        self.form = "tensor"
        self.plan.dtype = "float32"
        self.plan.scale_to_unit = True

    def to_uint8_tensor(self, _part: Any) -> None:
        if self.form != "pil":
            raise NotLowerable("PILToTensor on a tensor")
        self.form = "tensor"

    def to_image(self, _part: Any) -> None:
        self.form = "tensor"
        self.plan.is_tv_image = True

    def to_pure_tensor(self, _part: Any) -> None:
        self.plan.is_tv_image = False

    def leave_alone(self, _part: Any) -> None:
        """Identity, and RGB on what is RGB already."""

    def _to_float(self, wanted: Any, *, scale: bool, by_reciprocal: bool) -> None:
        if self.form == "pil":
            raise NotLowerable("has no effect on a PIL image")
        name = str(wanted).removeprefix("torch.")
        if name == self.plan.dtype:
            return
        if name not in ("float32", "float16", "bfloat16") or self.plan.erasing is not None:
            raise NotLowerable(f"conversion from {self.plan.dtype} to {name} at this place")
        if not self.is_float:
            if name != "float32":
                raise NotLowerable(
                    f"{name} straight from uint8 is computed in {name}: go by float32"
                )
            self.plan.scale_to_unit = scale
            self.plan.scale_by_reciprocal = scale and by_reciprocal
        elif self.plan.dtype != "float32":
            raise NotLowerable(f"conversion from {self.plan.dtype} to {name}")
        self.plan.dtype = name  # type: ignore[assignment]

    def convert_image_dtype(self, part: Any) -> None:
        is_v2 = ".v2." in type(part).__module__
        self._to_float(part.dtype, scale=True, by_reciprocal=is_v2)

    def to_dtype(self, part: Any) -> None:
        if isinstance(part.dtype, dict):
            raise NotLowerable("a type per kind of input")
        self._to_float(part.dtype, scale=bool(part.scale), by_reciprocal=True)

    def normalize(self, part: Any) -> None:
        if self.plan.dtype != "float32":
            raise NotLowerable(f"Normalize on {self.plan.dtype} pixels")
        if self.plan.mean is not None:
            raise NotLowerable("a second Normalize")
        mean, std = _channels(part.mean, "mean"), _channels(part.std, "std")
        if not all(math.isfinite(value) and value > 0 for value in std):
            raise NotLowerable(f"a standard deviation of {min(std)}")
        erasing = self.plan.erasing
        if erasing is not None:
            if erasing.value is None:
                raise NotLowerable("Normalize after RandomErasing with noise")
            red, green, blue = (
                (value - m) / s for value, m, s in zip(erasing.value, mean, std, strict=True)
            )
            erasing.value = (red, green, blue)
        self.plan.mean, self.plan.std = mean, std

    def random_erasing(self, part: Any) -> None:
        if not self.is_float:
            raise NotLowerable("RandomErasing on what is not a floating-point tensor")
        if self.geometry is None or self.plan.erasing is not None:
            raise NotLowerable("RandomErasing before the size is known, or a second one")
        value = part.value
        if isinstance(value, str):
            value = None
        elif isinstance(value, int | float):
            value = [value]
        self.plan.erasing = Erasing(
            float(part.p),
            _pair(part.scale),
            _pair(part.ratio),
            None if value is None else _channels(value, "value"),
        )


# By class name; both torchvision.transforms and torchvision.transforms.v2 have most of them.
_READERS: dict[str, Callable[[_Reader, Any], None]] = {
    "RandomResizedCrop": _Reader.random_resized_crop,
    "Resize": _Reader.resize,
    "CenterCrop": _Reader.center_crop,
    "RandomCrop": _Reader.random_crop,
    "RandomHorizontalFlip": _Reader.horizontal_flip,
    "RandomVerticalFlip": _Reader.vertical_flip,
    "ColorJitter": _Reader.color_jitter,
    "Grayscale": _Reader.grayscale,
    "RandomGrayscale": _Reader.random_grayscale,
    "RandomApply": _Reader.random_apply,
    "ToTensor": _Reader.to_tensor,
    "PILToTensor": _Reader.to_uint8_tensor,
    "ToImage": _Reader.to_image,
    "ToPureTensor": _Reader.to_pure_tensor,
    "Identity": _Reader.leave_alone,
    "RGB": _Reader.leave_alone,
    "ConvertImageDtype": _Reader.convert_image_dtype,
    "ToDtype": _Reader.to_dtype,
    "Normalize": _Reader.normalize,
    "RandomErasing": _Reader.random_erasing,
}


def _readers() -> dict[type, Callable[[_Reader, Any], None]]:
    """By exact class, of the libraries that the process has loaded."""
    found = {}
    for library in _libraries():
        for name, reader in _READERS.items():
            kind = getattr(library, name, None)
            if isinstance(kind, type):
                found[kind] = reader
    return found
