"""Batches to the device ahead of the training step.

While one batch is computed, the next is copied on a stream of its own, from page-locked memory; the
consumer's stream waits for an event, the training thread does not. Pixels cross the bus as bytes
and become normalised floats on the device.

    device_batches = unstarve.to_device(loader, "cuda", normalize=(MEAN, STD))
    for images, labels in device_batches:      # float32 on the device, channels last in memory
        ...

`ImageLoader(..., device="cuda")` does the same with its own batches. A device is CUDA's, or
an `unstarve.emulated.Gpu`.

Memory that a copy reads is not written again before the copy's event has completed: the host's
batch is kept until then.
"""

from __future__ import annotations

import contextlib
import sys
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

Normalize = tuple[tuple[float, float, float], tuple[float, float, float]]


class Copy(Protocol):
    """One batch on its way to the device."""

    def is_over(self) -> bool:
        """Whether nothing reads the host's memory any more."""

    def wait(self) -> None:
        """Until that is so."""

    def hand_over(self) -> Any:
        """The batch on the device; what the consumer launches from now on waits for it there."""


class Lane(Protocol):
    """Copies to one device, on a stream of their own."""

    def start(self, batch: Any) -> Copy:
        """Starts to copy; `batch` must stay as it is until the copy is over."""

    def pinned_memory(self) -> Any:
        """A `_native.HostMemory` for batches that this lane will copy, or None (with a warning)."""


def map_tensors(batch: Any, change: Callable[[Any], Any]) -> Any:
    """`batch` with every tensor or array in its tuples, lists and dicts changed."""
    if hasattr(batch, "dtype") and hasattr(batch, "nbytes"):
        return change(batch)
    if isinstance(batch, Mapping):
        return {key: map_tensors(value, change) for key, value in batch.items()}
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        return type(batch)(*(map_tensors(value, change) for value in batch))
    if isinstance(batch, (tuple, list)):
        return type(batch)([map_tensors(value, change) for value in batch])
    return batch


def open_lane(device: Any, normalize: Normalize | None = None, dtype: Any = None) -> Lane:
    """How batches get to `device`.

    Raises:
        ValueError: not a CUDA device and not an emulated GPU.
        RuntimeError: PyTorch sees no CUDA device.
    """
    if getattr(device, "emulated", False):
        return _EmulatedLane(device)
    import torch

    place = torch.device(device)
    if place.type != "cuda":
        raise ValueError(f"device is {device!r}, must be a CUDA device or an unstarve.emulated.Gpu")
    if not torch.cuda.is_available():
        raise RuntimeError(f"device is {device!r}, but PyTorch sees no CUDA device here")
    index = torch.cuda.current_device() if place.index is None else place.index
    return _CudaLane(torch.device("cuda", index), normalize, dtype, torch.cuda)


class _CudaCopy:
    def __init__(self, data: Any, copied: Any, ready: Any, lane: _CudaLane) -> None:
        self._data = data
        self._copied = copied
        self._ready = ready
        self._lane = lane

    def is_over(self) -> bool:
        return bool(self._copied.query())

    def wait(self) -> None:
        self._copied.synchronize()

    def hand_over(self) -> Any:
        stream = self._lane.cuda.current_stream(self._lane.device)
        stream.wait_event(self._ready)
        map_tensors(self._data, lambda tensor: _used_by(tensor, stream))
        return self._data


def _used_by(tensor: Any, stream: Any) -> None:
    """Tells PyTorch's allocator, which knows only the stream that the tensor was made on."""
    tensor.record_stream(stream)


class _CudaLane:
    """`cuda` is torch.cuda, or what stands for it in a test."""

    def __init__(self, device: Any, normalize: Normalize | None, dtype: Any, cuda: Any) -> None:
        self.device = device
        self.cuda = cuda
        self._stream = cuda.Stream(device)
        self._normalize = normalize
        self._dtype = dtype
        self._constants: tuple[Any, Any] | None = None

    def start(self, batch: Any) -> _CudaCopy:
        with self.cuda.stream(self._stream):
            data = map_tensors(batch, self._to_device)
            copied = self.cuda.Event(blocking=True)
            copied.record(self._stream)
            data = map_tensors(data, self._to_floats)
            ready = self.cuda.Event()
            ready.record(self._stream)
        return _CudaCopy(data, copied, ready, self)

    def pinned_memory(self) -> Any:
        from unstarve import _native
        from unstarve.errors import UnstarveError

        try:
            return _native.pinned_by_cuda(self.device.index)
        except UnstarveError as error:
            _warn_pageable(str(error))
            return None

    def _to_device(self, tensor: Any) -> Any:
        import torch

        return torch.as_tensor(tensor).to(self.device, non_blocking=True)

    def _to_floats(self, tensor: Any) -> Any:
        import torch

        if self._normalize is None or tensor.dtype != torch.uint8 or tensor.dim() != 4:
            return tensor
        if self._constants is None:
            mean, std = (
                255 * torch.tensor(values, device=self.device).view(3, 1, 1)
                for values in self._normalize
            )
            self._constants = mean, std
        return normalise(tensor, *self._constants, dtype=self._dtype)


def normalise(images: Any, mean: Any, std: Any, dtype: Any = None) -> Any:
    """uint8 images N x 3 x H x W as floats, (x - mean) / std in float32, the memory's order kept.

    `mean` and `std` are tensors 3 x 1 x 1 in units of a byte.
    """
    floats = (images - mean).div_(std)
    return floats if dtype is None else floats.to(dtype)


class _EmulatedCopy:
    def __init__(self, data: Any, ready_ns: int) -> None:
        self._data = data
        self._ready_ns = ready_ns

    def is_over(self) -> bool:
        return time.monotonic_ns() >= self._ready_ns

    def wait(self) -> None:
        while not self.is_over():
            time.sleep(max(0, self._ready_ns - time.monotonic_ns()) / 1e9)

    def hand_over(self) -> Any:
        return self._data  # the emulated model waits for `ready_ns` on the device


class _EmulatedLane:
    """The emulated model normalises by itself: it takes the time of it."""

    def __init__(self, gpu: Any) -> None:
        self._gpu = gpu

    def start(self, batch: Any) -> _EmulatedCopy:
        ready_ns = 0

        def upload(tensor: Any) -> Any:
            nonlocal ready_ns
            uploaded = self._gpu.upload(tensor, non_blocking=True, overlap=True)
            ready_ns = max(ready_ns, uploaded.ready_ns)
            return uploaded

        return _EmulatedCopy(map_tensors(batch, upload), ready_ns)

    def pinned_memory(self) -> Any:
        from unstarve import _native

        return _native.pinned_by_emulated_gpu()


def _warn_pageable(reason: str) -> None:
    warnings.warn(
        f"batches lie in pageable memory, copies to the device are slower: {reason}", stacklevel=3
    )


class Progress:
    """Where the consumer is, though the copies are ahead of it."""

    def __init__(self) -> None:
        self.state: dict[str, Any] | None = None  # None: as the loader says


class DeviceIterator:
    """One epoch on the device, one batch ahead of the consumer.

    Where `host` has `next_if_ready()` (False: not yet), the consumer never waits for a batch that
    it has not asked for; of other iterators the next batch is fetched before the present one is
    given out. An error of the loader comes in its batch's turn.
    """

    def __init__(
        self,
        host: Iterator[Any],
        lane: Lane,
        *,
        memory: Any = None,
        take_state: Callable[[], dict[str, Any]] | None = None,
    ) -> None:
        self.progress = Progress()
        self._host = host
        self._lane = lane
        self._memory = memory
        self._take_state = take_state
        self._next_if_ready = getattr(host, "next_if_ready", host.__next__)
        self._ahead: deque[tuple[Copy, dict[str, Any] | None]] = deque()
        self._read: deque[tuple[Copy, Any]] = deque()  # host batches that copies may still read
        self._over = False
        self._error: Exception | None = None
        if take_state is not None:
            self.progress.state = take_state()

    def __iter__(self) -> DeviceIterator:
        return self

    def __next__(self) -> Any:
        self._let_go()
        if not self._ahead:
            self._fetch(self._host.__next__)
        if not self._ahead:
            error, self._error = self._error, None  # its traceback holds this iterator
            if error is not None:
                raise error
            self.progress.state = None
            raise StopIteration
        if len(self._ahead) == 1:  # two, where Ctrl-C came after the last fetch
            self._fetch(self._next_if_ready)
        copy, self.progress.state = self._ahead.popleft()
        return copy.hand_over()

    def _fetch(self, next_batch: Callable[[], Any]) -> None:
        """Starts the copy of one more batch, if there is one."""
        if self._over or self._error is not None:
            return
        try:
            batch = next_batch()
        except StopIteration:
            self._over = True
            return
        except Exception as error:
            self._error = error
            return
        if batch is False:
            return
        state = None if self._take_state is None else self._take_state()
        copy = self._lane.start(batch)
        self._read.append((copy, batch))
        self._ahead.append((copy, state))
        reason = "" if self._memory is None else self._memory.why_pageable
        if reason:
            _warn_pageable(reason)
            self._memory = None

    def _let_go(self) -> None:
        while self._read and self._read[0][0].is_over():
            self._read.popleft()

    def close(self) -> None:
        """Waits until no copy reads the host's memory, and lets go of it."""
        while self._read:
            self._read[0][0].wait()
            self._read.popleft()
        self._ahead.clear()

    def __del__(self) -> None:
        # At the interpreter's end the device may be gone, and with it every copy.
        with contextlib.suppress(Exception):
            self.close()


class DeviceLoader:
    """A loader whose batches are on the device; see `to_device`. Everything else that is asked of
    it, it asks of the loader."""

    def __init__(self, loader: Any, lane: Lane) -> None:
        self._loader = loader
        self._lane = lane
        self._memory: Any = None
        self._progress: Progress | None = None

    def __len__(self) -> int:
        return len(self._loader)

    def __iter__(self) -> DeviceIterator:
        loader = self._loader
        if _takes_memory(loader):
            if self._memory is None:
                self._memory = self._lane.pinned_memory()
            with lend_memory(loader, self._memory):
                host = iter(loader)
        else:
            host = iter(loader)
        iterator = DeviceIterator(
            host,
            self._lane,
            memory=self._memory,
            take_state=getattr(loader, "state_dict", None),
        )
        self._progress = iterator.progress
        return iterator

    def state_dict(self) -> dict[str, Any]:
        """The loader's, where the consumer of the device's batches is."""
        progress = self._progress
        if progress is not None and progress.state is not None:
            return progress.state
        state: dict[str, Any] = self._loader.state_dict()
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self._progress = None
        self._loader.load_state_dict(state_dict)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._loader, name)


def to_device(
    loader: Any, device: Any, *, normalize: Normalize | None = None, dtype: Any = None
) -> DeviceLoader:
    """`loader` with its batches on `device`, copied one batch ahead on a stream of their own.

    Args:
        loader: gives batches of tensors or arrays, in tuples, lists or dicts. The native engine of
            an `unstarve.DataLoader` writes into page-locked memory then; other loaders need
            `pin_memory=True` of their own for copies that overlap.
        device: a CUDA device as PyTorch names it, or an `unstarve.emulated.Gpu`.
        normalize: (mean, std), three numbers each in 0..1 as for torchvision's Normalize: uint8
            batches N x 3 x H x W become (x / 255 - mean) / std on the device. An emulated GPU
            takes the time of it in its model.
        dtype: the floats' type, float32 by default.

    Raises:
        ValueError, RuntimeError: no such device.
    """
    return DeviceLoader(loader, open_lane(device, normalize, dtype))


_LENT = "_unstarve_slot_memory"


def _takes_memory(loader: Any) -> bool:
    dataloader = sys.modules.get("unstarve.dataloader")
    # Not isinstance(): that is true of torch's loaders too.
    return dataloader is not None and dataloader.DataLoader in type(loader).__mro__


@contextlib.contextmanager
def lend_memory(loader: Any, memory: Any) -> Iterator[None]:
    """Lets the iterator that is made meanwhile write into `memory`. Only for iterators whose
    batches are kept until their copies are over."""
    loader.__dict__[_LENT] = memory
    try:
        yield
    finally:
        del loader.__dict__[_LENT]


def lent_memory(loader: Any) -> Any:
    """What lend_memory() lends to it now, or None."""
    return vars(loader).get(_LENT)


def pin(batch: Any) -> Any:
    """As PyTorch's pin_memory: copies in page-locked memory, which may be let go of at any time.

    Without CUDA they count as page-locked for an emulated GPU, if the process has one; otherwise
    the batch is returned as it is.
    """
    import torch

    if torch.cuda.is_available():
        return map_tensors(batch, lambda tensor: torch.as_tensor(tensor).pin_memory())
    emulated = _emulated_gpu_module()
    if emulated is None:
        return batch
    return map_tensors(
        batch,
        lambda tensor: tensor if emulated.is_pinned(tensor) else emulated.pin_memory(tensor),
    )


def can_pin() -> bool:
    """Whether pin() pins."""
    import torch

    return torch.cuda.is_available() or _emulated_gpu_module() is not None


def _emulated_gpu_module() -> Any:
    """The module of the emulated GPU, if this process has opened one."""
    emulated = sys.modules.get("unstarve.device.emulated_gpu")
    return emulated if emulated is not None and emulated.Gpu._opened > 0 else None
