"""The emulated GPU and what a training loop does with it; users import `unstarve.emulated`.

Each object here is the thin face of one of the compiled half, whose streams, clock and memory they
use; no value is computed.
"""

from __future__ import annotations

import contextlib
import math
import os
import pathlib
import time
import warnings
from collections.abc import Callable
from typing import Any, Protocol

from unstarve import _native

_IMAGE_PIXELS = 224 * 224  # what the published step times were measured with
_CLASSES = 1000
_RINGS_MAX = 64

# Called as f(samples, start_ns, end_ns) after each optimizer step; times as time.monotonic_ns().
_step_listeners: list[Callable[[int, int, int], None]] = []


class HostTensor(Protocol):
    """What upload() takes: a torch.Tensor or a numpy.ndarray."""

    @property
    def shape(self) -> Any: ...
    @property
    def dtype(self) -> Any: ...
    @property
    def nbytes(self) -> int: ...


def is_pinned(tensor: Any) -> bool:
    """Whether a host tensor lies in page-locked memory.

    PyTorch cannot pin without CUDA, so a tensor may say it by the attribute `unstarve_pinned`, or
    lie in a loader's slots that the emulated GPU's own allocator gave out.
    """
    if getattr(tensor, "unstarve_pinned", False):
        return True
    if hasattr(tensor, "data_ptr"):
        address = tensor.data_ptr()
    else:
        address = tensor.ctypes.data if hasattr(tensor, "ctypes") else 0
    if _native.emulated_is_pinned(address):
        return True
    ask = getattr(tensor, "is_pinned", None)
    return bool(ask()) if callable(ask) else False


def pin_memory(tensor: Any) -> Any:
    """As Tensor.pin_memory(): a copy that the emulated GPU takes for page-locked."""
    pinned = tensor.clone()
    pinned.unstarve_pinned = True
    return pinned


def _claim_ring(first_index: int) -> tuple[int, str]:
    """The index of this device, and the file its activity goes to ("" outside `unstarve run`)."""
    run_dir = os.environ.get("UNSTARVE_RUN_DIR")
    if not run_dir:
        return first_index, ""
    rings = pathlib.Path(run_dir) / "rings"
    try:
        rings.mkdir(parents=True, exist_ok=True)
        for index in range(first_index, first_index + _RINGS_MAX):
            path = rings / f"gpu-{index}.ring"
            with contextlib.suppress(FileExistsError):
                os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))
                return index, str(path)
    except OSError as error:
        warnings.warn(f"the emulated GPU is not recorded: {error}", stacklevel=3)
    return first_index, ""


class DeviceTensor:
    """A tensor on the emulated GPU: shape and type, no values."""

    def __init__(self, device: Gpu, shape: tuple[int, ...], dtype: Any, memory: Any) -> None:
        self.device = device
        self.shape = shape
        self.dtype = dtype
        self.ready_ns = 0
        self._memory = memory  # freed with the last reference

    def __len__(self) -> int:
        return self.shape[0]

    def size(self, dim: int | None = None) -> Any:
        return self.shape if dim is None else self.shape[dim]

    def __repr__(self) -> str:
        return f"DeviceTensor(shape={self.shape}, dtype={self.dtype}, device='{self.device.name}')"

    @classmethod
    def __torch_function__(
        cls,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Lets torch.nn.CrossEntropyLoss work on a model's output; nothing else is emulated."""
        if getattr(func, "__name__", "") == "cross_entropy":
            return CrossEntropyLoss()(args[0], args[1])
        return NotImplemented


class _Output(DeviceTensor):
    """A model's output; keeps the activations that backward needs."""

    def __init__(self, model: Model, samples: int, work: float, activations: Any) -> None:
        super().__init__(model.device, (samples, _CLASSES), "float32", None)
        self.model = model
        self.work = work
        self.activations = activations


class Loss:
    """A scalar on the emulated GPU."""

    def __init__(self, output: _Output) -> None:
        self._output: _Output | None = output
        self._device = output.device

    def backward(self) -> None:
        output = self._output
        if output is None or output.activations is None:
            raise RuntimeError(
                "backward() needs a loss from a model in train() mode, and only once"
            )
        self._device._native.backward(output.work)
        output.model._samples = output.shape[0]
        output.activations = None
        self._output = None

    def item(self) -> float:
        """Waits until the device has caught up. The value is nan: nothing was computed."""
        self._device._native.download(4)
        self._device._native.synchronize(False)
        return math.nan

    def __float__(self) -> float:
        return self.item()

    def detach(self) -> Loss:
        return self


class CrossEntropyLoss:
    """As torch.nn.CrossEntropyLoss, for those who do not import torch."""

    def __call__(self, output: DeviceTensor, labels: Any) -> Loss:
        if not isinstance(output, _Output):
            raise TypeError("the loss takes the output of a model of the emulated GPU")
        return Loss(output)


class Model:
    """ResNet-50 on the emulated GPU: launches the kernels of its layers."""

    def __init__(self, device: Gpu) -> None:
        self.device = device
        self.training = True
        self._samples = 0  # of the last backward
        self._state = device._native.allocate(device._native.model_state_bytes)

    def train(self, mode: bool = True) -> Model:
        self.training = mode
        return self

    def eval(self) -> Model:
        return self.train(False)

    def __call__(self, images: DeviceTensor) -> DeviceTensor:
        if not isinstance(images, DeviceTensor) or len(images.shape) != 4:
            raise TypeError("the model takes images that Gpu.upload() returned, of 4 dimensions")
        samples = int(images.shape[0])
        values = math.prod(int(size) for size in images.shape[1:])
        work = samples * values / (3 * _IMAGE_PIXELS)
        native = self.device._native
        activations = None
        if self.training:
            activations = native.allocate(int(work * native.activation_bytes_per_sample))
        native.forward(work, str(images.dtype).endswith("uint8"), images.ready_ns)
        return _Output(self, samples, work, activations)


class Optimizer:
    """SGD with momentum on the emulated GPU."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._last_step_ns = time.monotonic_ns()

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Costs nothing on the device: gradients are set to none, PyTorch's default."""

    def step(self) -> None:
        self._model.device._native.optimizer_step()
        end_ns = time.monotonic_ns()
        start_ns, self._last_step_ns = self._last_step_ns, end_ns
        for listener in list(_step_listeners):
            # Whoever listens must never break the job.
            with contextlib.suppress(Exception):
                listener(self._model._samples, start_ns, end_ns)


class Gpu:
    """One emulated GPU. `profile` is "a100" or "h100"."""

    _opened = 0

    def __init__(self, profile: str = "a100") -> None:
        first_index = int(os.environ.get("LOCAL_RANK", Gpu._opened))
        index, ring_path = _claim_ring(first_index)
        try:
            self._native = _native.EmulatedGpu(profile, ring_path, index)
        except OSError as error:
            warnings.warn(f"the emulated GPU is not recorded: {error}", stacklevel=2)
            self._native = _native.EmulatedGpu(profile, "", index)
        except ValueError:
            if ring_path:
                pathlib.Path(ring_path).unlink()
            raise
        Gpu._opened += 1
        self.index = index
        self.emulated = True

    @property
    def name(self) -> str:
        return str(self._native.name)

    @property
    def source(self) -> str:
        """Where the step time was published."""
        return str(self._native.source)

    @property
    def total_memory_bytes(self) -> int:
        return int(self._native.total_memory_bytes)

    @property
    def memory_used_bytes(self) -> int:
        return int(self._native.memory_used_bytes)

    def resnet50(self) -> Model:
        return Model(self)

    def optimizer(self, model: Model) -> Optimizer:
        return Optimizer(model)

    def upload(
        self, tensor: HostTensor, *, non_blocking: bool = False, overlap: bool = False
    ) -> DeviceTensor:
        """As tensor.to(device, non_blocking=...), on the compute stream.

        `overlap` puts the copy on a stream of its own, as a prefetcher with a side stream does;
        the model then waits for it on the device.
        """
        memory = self._native.allocate(int(tensor.nbytes))
        shape = tuple(int(size) for size in tensor.shape)
        uploaded = DeviceTensor(self, shape, tensor.dtype, memory)
        uploaded.ready_ns = self._native.upload(int(tensor.nbytes), is_pinned(tensor), overlap)
        if not non_blocking:
            self._native.synchronize(overlap)
        return uploaded

    def synchronize(self) -> None:
        """As torch.cuda.synchronize()."""
        self._native.synchronize(True)

    def __repr__(self) -> str:
        return f"Gpu('{self.name}', index={self.index})"
