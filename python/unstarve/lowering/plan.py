"""What the native engine does to an image: the Python side of TransformPlan, as plain data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

NumberPair = tuple[float, float]
Channels = tuple[float, float, float]
Widths = tuple[int, int, int, int]  # left, top, right, bottom


@dataclass(frozen=True)
class Padding:
    """What is added to an image's sides, in pixels."""

    widths: Widths = (0, 0, 0, 0)
    mode: Literal["constant", "edge", "reflect", "symmetric"] = "constant"
    #: Red, green and blue of "constant".
    fill: tuple[int, int, int] = (0, 0, 0)

    @property
    def is_even(self) -> bool:
        """Whether both sides have as much, and top and bottom."""
        return self.widths[:2] == self.widths[2:]


@dataclass
class Geometry:
    """Which pixels are kept. Sizes are (height, width) in pixels."""

    kind: Literal[
        "random_resized_crop",
        "resize_center_crop",
        "resize_random_crop",
        "resize",
        "center_crop",
        "random_crop",
    ]
    size: tuple[int, int]
    resize_short: int = 0
    scale: NumberPair = (0.08, 1.0)
    ratio: NumberPair = (3 / 4, 4 / 3)
    #: "either": bilinear or bicubic, drawn evenly for each sample.
    interpolation: Literal["bilinear", "bicubic", "either"] = "bilinear"
    #: Before a crop: the size that is resized to, where resize_short does not say it.
    resize_to: tuple[int, int] = (0, 0)
    #: Around what a random crop is cut from.
    padding: Padding = Padding()
    #: An image that is too small gets as much more on both sides as it lacks.
    pads_if_needed: bool = False
    #: Around what has been cut, resized and flipped; within `size`.
    frame: Padding = Padding()

    @property
    def framed_size(self) -> tuple[int, int]:
        """Height and width without the frame."""
        left, top, right, bottom = self.frame.widths
        return self.size[0] - top - bottom, self.size[1] - left - right


@dataclass(frozen=True)
class Change:
    """One change of an augmentation: the kind as AugmentChange names it."""

    kind: str
    probability: float
    #: One of them is drawn, and its sign too where `is_signed`.
    magnitudes: tuple[float, ...]
    is_signed: bool


@dataclass(frozen=True)
class Augment:
    """Of the sets, one is drawn in each round; its changes are made in turn."""

    sets: list[list[Change]]
    rounds: int = 1
    #: How values between pixels are made where they are moved; "either" is drawn each time.
    between: Literal["nearest", "bilinear", "bicubic", "either"] = "nearest"
    #: Red, green and blue where a moved image has no pixels.
    fill: tuple[int, int, int] = (0, 0, 0)


@dataclass(frozen=True)
class Blur:
    """GaussianBlur: `taps` are across and down."""

    taps: tuple[int, int]
    sigma: NumberPair


@dataclass(frozen=True)
class Affine:
    """RandomAffine: ranges in degrees, most that it is moved as shares of width and height."""

    degrees: NumberPair
    translate: NumberPair = (0.0, 0.0)
    scale: NumberPair = (1.0, 1.0)
    shear_x: NumberPair = (0.0, 0.0)
    shear_y: NumberPair = (0.0, 0.0)
    between: Literal["nearest", "bilinear", "bicubic"] = "nearest"
    fill: tuple[int, int, int] = (0, 0, 0)


@dataclass(frozen=True)
class Perspective:
    """RandomPerspective: how far the corners come in, as a share of half of a side."""

    distortion: float
    between: Literal["nearest", "bilinear", "bicubic"] = "bilinear"
    fill: tuple[int, int, int] = (0, 0, 0)
    #: Edges and roundings are those of torchvision's tensors, not Pillow's.
    of_tensor: bool = False


@dataclass(frozen=True)
class Mix:
    """AugMix: `width` chains of changes of the image, mixed with it."""

    changes: list[Change]
    width: int
    #: Changes of a chain; 0 stands for one to three.
    depth: int
    alpha: float
    between: Literal["nearest", "bilinear", "bicubic"] = "bilinear"
    #: None: zeros, with which the edges are blended.
    fill: tuple[int, int, int] | None = None


@dataclass(frozen=True)
class Elastic:
    """ElasticTransform: across and down."""

    alpha: NumberPair
    sigma: NumberPair
    between: Literal["nearest", "bilinear", "bicubic"] = "bilinear"
    #: None: zeros, with which the edges are blended.
    fill: tuple[int, int, int] | None = (0, 0, 0)


@dataclass
class Colour:
    """ColorJitter (its four ranges, None where it leaves a property alone), greyscale, an
    augmentation, a blur, a map of places, a mixture, a JPEG's losses or a choice."""

    kind: Literal[
        "jitter",
        "greyscale",
        "augment",
        "blur",
        "affine",
        "perspective",
        "mix",
        "jpeg",
        "choice",
        "elastic",
    ]
    probability: float = 1.0
    brightness: NumberPair | None = None
    contrast: NumberPair | None = None
    saturation: NumberPair | None = None
    hue: NumberPair | None = None
    augment: Augment | None = None
    blur: Blur | None = None
    affine: Affine | None = None
    perspective: Perspective | None = None
    mix: Mix | None = None
    #: Lowest and highest quality, as libjpeg has it.
    jpeg: tuple[int, int] | None = None
    choices: tuple[Choice, ...] = ()
    elastic: Elastic | None = None


@dataclass(frozen=True)
class Choice:
    """One of several, of which one is drawn: steps that are made in turn."""

    weight: float
    steps: tuple[Colour, ...]


@dataclass
class Erasing:
    """RandomErasing; `value` None stands for normally distributed noise."""

    probability: float
    scale: NumberPair
    ratio: NumberPair
    value: Channels | None


@dataclass
class Noise:
    """GaussianNoise of floats."""

    mean: float
    sigma: float
    clips: bool
    after_normalising: bool
    probability: float = 1.0


@dataclass
class Plan:
    """What is done to every image, in the engine's order; the fields follow TransformPlan."""

    geometry: Geometry
    horizontal_flip: float = 0.0
    vertical_flip: float = 0.0
    colour: list[Colour] = field(default_factory=list)
    dtype: Literal["uint8", "float32", "float16", "bfloat16"] = "uint8"
    scale_to_unit: bool = False
    scale_by_reciprocal: bool = False
    mean: Channels | None = None
    std: Channels | None = None
    noise: Noise | None = None
    erasing: Erasing | None = None
    #: Whether a single sample is a `torchvision.tv_tensors.Image`.
    is_tv_image: bool = False
    #: Whether the values of a pixel lie side by side in a single sample, as PIL has them: its
    #: strides are then others than its shape says.
    is_interleaved: bool = False
