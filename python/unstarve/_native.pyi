"""The compiled half; use it through the package's modules."""

import enum
from collections.abc import Sequence
from typing import Any

class Interpolation(enum.Enum):
    bilinear = 0
    bicubic = 1

class GeometryPlan:
    class Kind(enum.Enum):
        random_resized_crop = 0
        resize_center_crop = 1
        resize = 2
        center_crop = 3

    kind: Kind
    width: int
    height: int
    resize_short: int
    scale_min: float
    scale_max: float
    ratio_min: float
    ratio_max: float
    interpolation: Interpolation
    horizontal_flip_probability: float
    vertical_flip_probability: float
    def __init__(self) -> None: ...

class ColourStep:
    class Kind(enum.Enum):
        jitter = 0
        greyscale = 1

    kind: Kind
    probability: float
    brightness: tuple[float, float] | None
    contrast: tuple[float, float] | None
    saturation: tuple[float, float] | None
    hue: tuple[float, float] | None
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
    colour: list[ColourStep]
    output: OutputPlan
    erasing: ErasingPlan | None
    def __init__(self) -> None: ...
    def validate(self) -> None: ...

def training_crop(size: int) -> TransformPlan: ...
def evaluation_crop(size: int, resize_short: int) -> TransformPlan: ...

class OnError(enum.Enum):
    raise_ = 0
    skip = 1
    replace = 2

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
def sample_geometry(
    options: LoaderOptions, epoch: int, index: int, size: tuple[int, int]
) -> tuple[int, int, int, int, bool]: ...
def sample_draws(
    options: LoaderOptions, epoch: int, index: int, size: tuple[int, int]
) -> dict[str, Any]: ...

class Loader:
    def __init__(self, options: LoaderOptions) -> None: ...
    def begin_epoch(self, epoch: int) -> None: ...
    def begin_submitted_epoch(self, epoch: int) -> None: ...
    def submit_batch(self, indices: Any) -> None: ...
    def skip_batch(self, indices: Any) -> None: ...
    def finish_submitting(self) -> None: ...
    def wanted_batches(self) -> int: ...
    def next(self, timeout_s: float = 0.0) -> tuple[Any, Any] | None: ...
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

def open_list(options: LoaderOptions, paths: bytes, labels: Any) -> Loader: ...

class EmulatedDeviceMemory:
    @property
    def nbytes(self) -> int: ...

class EmulatedGpu:
    def __init__(self, profile: str, ring_path: str, index: int) -> None: ...
    @property
    def profile(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def source(self) -> str: ...
    @property
    def total_memory_bytes(self) -> int: ...
    @property
    def memory_used_bytes(self) -> int: ...
    @property
    def model_state_bytes(self) -> int: ...
    @property
    def activation_bytes_per_sample(self) -> int: ...
    def allocate(self, bytes: int) -> EmulatedDeviceMemory: ...
    def upload(self, bytes: int, pinned: bool, overlap: bool) -> Any: ...
    def download(self, bytes: int) -> Any: ...
    def forward(self, samples: float, normalize: bool, images_ready_ns: int) -> Any: ...
    def backward(self, samples: float) -> Any: ...
    def optimizer_step(self) -> Any: ...
    def synchronize(self, whole_device: bool) -> Any: ...

def create_slot_memory() -> int: ...
def die_with_parent() -> None: ...

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
