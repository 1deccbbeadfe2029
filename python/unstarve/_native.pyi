"""The compiled half; use it through the package's modules."""

import enum
from collections.abc import Sequence
from typing import Any, Literal

class Interpolation(enum.Enum):
    bilinear = 0
    bicubic = 1

class Surround:
    class Mode(enum.Enum):
        constant = 0
        edge = 1
        reflect = 2
        symmetric = 3

    mode: Mode
    colour: Sequence[int]
    def __init__(self) -> None: ...

class Padding:
    @property
    def widths(self) -> list[int]: ...
    @widths.setter
    def widths(self, arg: Sequence[int], /) -> None: ...
    surround: Surround
    def __init__(self) -> None: ...

class GeometryPlan:
    class Kind(enum.Enum):
        random_resized_crop = 0
        resize_center_crop = 1
        resize_random_crop = 2
        resize = 3
        center_crop = 4
        random_crop = 5

    kind: Kind
    width: int
    height: int
    resize_short: int
    resize_to: tuple[int, int]
    padding: Padding
    frame: Padding
    pads_if_needed: bool
    scale_min: float
    scale_max: float
    ratio_min: float
    ratio_max: float
    interpolation: Interpolation
    either_interpolation: bool
    horizontal_flip_probability: float
    vertical_flip_probability: float
    def __init__(self) -> None: ...

class AugmentChange:
    class Kind(enum.Enum):
        identity = 0
        shear_x = 1
        shear_y = 2
        translate_x = 3
        translate_y = 4
        rotate = 5
        brightness = 6
        contrast = 7
        saturation = 8
        sharpness = 9
        posterize = 10
        solarize = 11
        autocontrast = 12
        equalize = 13
        invert = 14
        solarize_add = 15

    kind: Kind
    probability: float
    magnitudes: Sequence[float]
    is_signed: bool
    def __init__(self) -> None: ...

class AugmentPlan:
    """`sets` is a copy: assign a new list."""

    class Between(enum.Enum):
        nearest = 0
        bilinear = 1
        bicubic = 2
        either = 3

    sets: Sequence[Sequence[AugmentChange]]
    rounds: int
    between: Between
    fill: Sequence[int]
    def __init__(self) -> None: ...

class BlurPlan:
    taps_across: int
    taps_down: int
    sigma_min: float
    sigma_max: float
    def __init__(self) -> None: ...

class AffinePlan:
    degrees: Sequence[float]
    across: float
    down: float
    scale: Sequence[float]
    shear_x: Sequence[float]
    shear_y: Sequence[float]
    between: AugmentPlan.Between
    fill: Sequence[int]
    def __init__(self) -> None: ...

class PerspectivePlan:
    distortion: float
    between: AugmentPlan.Between
    fill: Sequence[int]
    of_tensor: bool
    def __init__(self) -> None: ...

class MixPlan:
    """`changes` is a copy: assign a new list."""

    changes: Sequence[AugmentChange]
    width: int
    depth: int
    alpha: float
    between: AugmentPlan.Between
    fill: Sequence[int] | None
    def __init__(self) -> None: ...

class ElasticPlan:
    alpha: Sequence[float]
    sigma: Sequence[float]
    between: AugmentPlan.Between
    fill: Sequence[int] | None
    def __init__(self) -> None: ...

class JpegPlan:
    quality_min: int
    quality_max: int
    def __init__(self) -> None: ...

class ColourStep:
    """`choices` is a copy: assign a new list."""

    class Kind(enum.Enum):
        jitter = 0
        greyscale = 1
        augment = 2
        blur = 3
        affine = 4
        perspective = 5
        mix = 6
        jpeg = 7
        choice = 8
        elastic = 9

    kind: Kind
    probability: float
    augment: AugmentPlan
    blur: BlurPlan
    affine: AffinePlan
    perspective: PerspectivePlan
    mix: MixPlan
    jpeg: JpegPlan
    elastic: ElasticPlan
    choices: Sequence[ColourChoice]
    brightness: tuple[float, float] | None
    contrast: tuple[float, float] | None
    saturation: tuple[float, float] | None
    hue: tuple[float, float] | None
    def __init__(self) -> None: ...

class ColourChoice:
    """`steps` is a copy: assign a new list."""

    weight: float
    steps: Sequence[ColourStep]
    def __init__(self) -> None: ...

class NoisePlan:
    probability: float
    mean: float
    deviation: float
    clips: bool
    after_normalising: bool
    def __init__(self) -> None: ...

class ErasingPlan:
    probability: float
    scale_min: float
    scale_max: float
    ratio_min: float
    ratio_max: float
    noise: bool
    value: Sequence[float]
    def __init__(self) -> None: ...

class OutputPlan:
    class Type(enum.Enum):
        uint8 = 0
        float32 = 1
        float16 = 2
        bfloat16 = 3

    class Layout(enum.Enum):
        nhwc = 0
        nchw = 1

    type: Type
    layout: Layout
    scale_to_unit: bool
    scale_by_reciprocal: bool
    mean: Sequence[float] | None
    deviation: Sequence[float] | None
    def __init__(self) -> None: ...

class TransformPlan:
    """Its parts are references, `colour` is a copy: assign a new list."""

    geometry: GeometryPlan
    colour: Sequence[ColourStep]
    output: OutputPlan
    noise: NoisePlan | None
    erasing: ErasingPlan | None
    def __init__(self) -> None: ...
    def validate(self) -> None: ...

def training_crop(size: int) -> TransformPlan: ...
def evaluation_crop(size: int, resize_short: int) -> TransformPlan: ...

class OnError(enum.Enum):
    raise_ = 0
    skip = 1
    replace = 2
    report = 3

class RankRemainder(enum.Enum):
    pad = 0
    drop = 1

class LoaderOptions:
    root: str
    skip_other_formats: bool
    transform: TransformPlan
    seed: int
    shuffle: bool
    batch_size: int
    drop_last: bool
    rank: int
    world_size: int
    rank_remainder: RankRemainder
    prefetch_next_epoch: bool
    on_error: OnError
    accept_damaged: bool
    max_pixels: int
    max_file_bytes: int
    threads: int
    max_threads: int
    prefetch_batches: int
    memory_bytes: int
    cache_dir: str
    cache_bytes: int
    def __init__(self) -> None: ...

def limit_simd(level: str) -> None: ...
def simd_level() -> str: ...
def image_endings() -> list[str]: ...
def sample_geometry(
    options: LoaderOptions, epoch: int, index: int, size: tuple[int, int]
) -> tuple[int, int, int, int, bool]: ...
def sample_draws(
    options: LoaderOptions, epoch: int, index: int, size: tuple[int, int]
) -> dict[str, Any]: ...

class HostMemory:
    @property
    def pinned_by(self) -> str: ...
    @property
    def why_pageable(self) -> str: ...
    @property
    def pinned_slots(self) -> int: ...
    @property
    def pageable_slots(self) -> int: ...

def pinned_by_cuda(device: int, library: str = "libcuda.so.1") -> HostMemory: ...

class Loader:
    def __init__(self, options: LoaderOptions, memory: HostMemory | None = None) -> None: ...
    def begin_epoch(self, epoch: int) -> None: ...
    def begin_submitted_epoch(self, epoch: int) -> None: ...
    def submit_batch(self, indices: Any) -> None: ...
    def skip_batch(self, indices: Any) -> None: ...
    def finish_submitting(self) -> None: ...
    def wanted_batches(self) -> int: ...
    def next(self, timeout_s: float = 0.0) -> tuple[Any, Any] | None: ...
    def take_failed(self) -> list[tuple[int, int, bool]]: ...
    def rest(self) -> None: ...
    def set_reads_ahead(self, reads_ahead: bool) -> None: ...
    def next_if_ready(self) -> tuple[Any, Any] | Literal[False] | None: ...
    def stats(self) -> dict[str, int]: ...
    def failures(self) -> list[tuple[int, int, str]]: ...
    def state(self) -> str: ...
    def restore(self, state: str) -> None: ...
    def explain(self) -> list[str]: ...
    @property
    def classes(self) -> list[str]: ...
    @property
    def sample_count(self) -> int: ...
    @property
    def batch_count(self) -> int: ...
    @property
    def thread_count(self) -> int: ...
    @property
    def ready_batches(self) -> int: ...

class FileList:
    def __init__(self, paths: bytes, labels: Any) -> None: ...

def open_list(
    options: LoaderOptions, files: FileList, memory: HostMemory | None = None
) -> Loader: ...

class ArrowImages:
    """A column of images of an Arrow table that another library holds."""

    def __init__(self, stream: object) -> None: ...
    def __len__(self) -> int: ...
    def encoded(self, row: int, only_rgb: bool = False) -> bytes: ...

def open_arrow(
    options: LoaderOptions,
    images: ArrowImages,
    memory: HostMemory | None = None,
    only_rgb: bool = False,
) -> Loader: ...

class SampleLoader:
    """Loads images one at a time in the calling thread."""

    def __init__(self, options: LoaderOptions, files: FileList | None = None) -> None: ...
    def close(self) -> None: ...
    def load(self, path: bytes, epoch: int, index: int, repeat: int, out: Any) -> None: ...
    def load_bytes(self, bytes: bytes, epoch: int, index: int, out: Any) -> None: ...
    @property
    def image_bytes(self) -> int: ...

class ImageCutter:
    """Decodes single images, cut as the caller says."""

    def __init__(self, max_pixels: int) -> None: ...
    def cut(self, bytes: bytes, cut: Sequence[int], out: Any) -> None: ...

class PngDecoder:
    """Decodes PNG files to what PIL loads, in its modes L, P, LA, RGB and RGBA."""

    def __init__(self, max_pixels: int) -> None: ...
    def is_sound(self, bytes: bytes) -> bool: ...
    def decode_stored(self, bytes: bytes, out: Any) -> None: ...

def convert_pixels(
    pixels: Any,
    mean: Sequence[float],
    deviation: Sequence[float] | None,
    out: Any,
    scale: str = "multiply",
) -> None: ...
def scale_bytes(bytes: Any, out: Any, scale: str) -> None: ...
def normalise(
    values: Any, mean: Sequence[float], deviation: Sequence[float], out: Any, is_planar: bool
) -> None: ...
def normalise_bytes(
    bytes: Any, mean: Sequence[float], factor: Sequence[float], out: Any
) -> None: ...
def adjust_colour(name: str, factor: float, pixels: Any) -> None: ...

class SampleStore:
    """Samples as bytes in files of a folder, for every process of a job."""

    def __init__(self, folder: str, samples: int, max_bytes: int) -> None: ...
    def read(self, index: int, state: int) -> Any: ...
    def count_served(self) -> None: ...
    def write(self, index: int, state: int, parts: list[Any]) -> bool: ...
    def revoke(self) -> None: ...
    @property
    def revoked(self) -> bool: ...
    def counts(self) -> dict[str, int]: ...

def create_slot_memory() -> int: ...
def die_with_parent() -> None: ...
def keep_freed_memory() -> bool: ...

class SlotWriter:
    def __init__(self, fd: int) -> None: ...
    def acquire(self, bytes: int) -> tuple[int, int, Any]: ...
    def abandon(self, index: int) -> None: ...
    @property
    def allocations(self) -> int: ...

class HeldSlot:
    def bytes(self, offset: int, count: int) -> Any: ...

class SlotReader:
    def __init__(self, fd: int) -> None: ...
    def take(self, index: int) -> HeldSlot: ...
    @property
    def held_bytes(self) -> int: ...
    @property
    def held_slots(self) -> int: ...
