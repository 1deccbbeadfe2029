"""Puts a batch into shared slots, and takes it out again without a copy.

Tensors and arrays are written into slots, once, wherever they are in the batch; all else is
pickled, with references in their place. The main process makes tensors and arrays on the slots'
own memory.
"""

from __future__ import annotations

import copyreg
import io
import pickle
import sys
import threading
from collections import ChainMap
from multiprocessing.reduction import ForkingPickler
from typing import Any, NamedTuple, cast

_ALIGNMENT = 64
# The main process copies smaller ones: whoever keeps the labels of every batch, as metrics do,
# must not keep every batch's slot with them.
COPIED_BYTES_MAX = 32 * 1024


class Place(NamedTuple):
    """Bytes in one of a batch's slots."""

    slot: int  # which of the batch's slots
    offset: int
    length: int


class _Segment:
    """A slot that is being filled."""

    __slots__ = ("address", "index", "memory", "size", "used")

    def __init__(self, index: int, address: int, memory: Any) -> None:
        self.index = index
        self.address = address
        self.memory = memoryview(memory)
        self.size = self.memory.nbytes
        self.used = 0


class BatchMemory:
    """The worker's memory for the batch that it is making."""

    def __init__(self, writer: Any) -> None:
        self._writer = writer
        self._segments: list[_Segment] = []
        self._expected = 0  # bytes of the batch before: most are alike
        self._sent_bytes = 0
        #: Bytes of the batch before that its tensors and arrays took.
        self.sent_bytes = 0

    @property
    def allocations(self) -> int:
        """Slots that were laid out since the start."""
        count: int = self._writer.allocations
        return count

    def allocate(self, count: int) -> Place:
        segment = self._segments[-1] if self._segments else None
        if segment is None or segment.size - segment.used < count:
            # Ever larger ones, so that a batch has few, whatever it consists of.
            taken = sum(each.used for each in self._segments)
            segment = _Segment(*self._writer.acquire(max(count, self._expected - taken, taken)))
            self._segments.append(segment)
        place = Place(len(self._segments) - 1, segment.used, count)
        segment.used = min(
            segment.size, (segment.used + count + _ALIGNMENT - 1) // _ALIGNMENT * _ALIGNMENT
        )
        return place

    def view(self, place: Place) -> memoryview:
        return self._segments[place.slot].memory[place.offset : place.offset + place.length]

    def place_of(self, address: int, count: int) -> Place | None:
        """Where bytes lie, if they are in one of this batch's slots."""
        for number, segment in enumerate(self._segments):
            if segment.address <= address and address + count <= segment.address + segment.used:
                return Place(number, address - segment.address, count)
        return None

    def send(self, place: Place) -> None:
        """What lies there is part of the batch."""
        self._sent_bytes += place.length

    def take(self) -> list[int]:
        """The indices of the batch's slots, which are the main process's from now on."""
        indices = [segment.index for segment in self._segments]
        self._expected = sum(segment.used for segment in self._segments)
        self.sent_bytes, self._sent_bytes = self._sent_bytes, 0
        self._segments.clear()
        return indices

    def abandon(self) -> None:
        """Forgets the batch."""
        segments, self._segments = self._segments, []
        self._sent_bytes = 0
        for segment in segments:
            self._writer.abandon(segment.index)


# What multiprocessing and torch know how to send between processes.
_REDUCERS: Any = ChainMap(
    ForkingPickler._extra_reducers,  # type: ignore[attr-defined]
    cast(Any, copyreg.dispatch_table),
)


class _BatchPickler(pickle.Pickler):
    """Writes arrays into slots as it meets them."""

    def __init__(self, stream: Any, memory: BatchMemory) -> None:
        super().__init__(stream, protocol=5)
        self.dispatch_table = _REDUCERS
        self._memory = memory
        self._torch = sys.modules.get("torch")
        self._numpy = sys.modules.get("numpy")

    def reducer_override(self, obj: Any) -> Any:
        torch = self._torch
        if torch is not None:
            if isinstance(obj, torch.Tensor):
                return self._reduce_tensor(obj)
            if isinstance(obj, (torch.UntypedStorage, torch.storage.TypedStorage)):
                return self._reduce_storage(obj)
        numpy = self._numpy
        if numpy is not None and type(obj) in (numpy.ndarray, numpy.memmap):
            return self._reduce_array(obj)
        return NotImplemented

    def _reduce_tensor(self, tensor: Any) -> Any:
        torch = self._torch
        assert torch is not None
        if tensor.device.type != "cpu":
            return NotImplemented  # torch's own way between processes
        if tensor.requires_grad and not tensor.is_leaf:
            raise RuntimeError(
                "Cowardly refusing to serialize non-leaf tensor which requires_grad, since "
                "autograd does not support crossing process boundaries.  If you just want to "
                "transfer the data, call detach() on the tensor before serializing (e.g., "
                "putting it on the queue)."
            )
        kind = type(tensor)
        if kind is torch.Tensor:
            if tensor.layout is not torch.strided or tensor.is_quantized or tensor.is_nested:
                return tensor.__reduce_ex__(4)  # consists of plain tensors, or of a storage
            return _make_tensor, self._write_tensor(tensor)
        if kind is torch.nn.Parameter:
            return _make_parameter, (tensor.detach(), tensor.requires_grad)
        if (
            kind.__reduce_ex__ is not torch.Tensor.__reduce_ex__
            or kind.__torch_dispatch__ is not torch.Tensor.__torch_dispatch__
            or tensor.layout is not torch.strided
        ):
            return tensor.__reduce_ex__(4)
        with torch._C.DisableTorchFunctionSubclass():
            plain = tensor.detach().as_subclass(torch.Tensor)
        return _make_subclass, (kind, plain, tensor.requires_grad, dict(tensor.__dict__))

    def _write_tensor(self, tensor: Any) -> tuple[Any, ...]:
        torch = self._torch
        assert torch is not None
        requires_grad = tensor.requires_grad
        plain = tensor.detach().resolve_conj().resolve_neg()
        shape = tuple(plain.shape)
        count = plain.numel() * plain.element_size()
        if count == 0:
            return None, plain.dtype, shape, None, requires_grad
        strides = None
        if plain.is_contiguous():
            place = self._memory.place_of(plain.data_ptr(), count)
            if place is not None:
                self._memory.send(place)
                return place, plain.dtype, shape, None, requires_grad
        else:
            steps = zip(shape, plain.stride(), strict=True)
            span = 1 + sum((size - 1) * stride for size, stride in steps)
            if span <= plain.numel():
                # Without gaps, such as channels-last or expanded: it keeps its layout.
                strides = plain.stride()
                plain = plain.as_strided((span,), (1,))
                count = span * plain.element_size()
        place = self._memory.allocate(count)
        self._memory.send(place)
        target = torch.frombuffer(self._memory.view(place), dtype=torch.uint8).view(plain.dtype)
        target = target.view(plain.shape)
        target.copy_(plain)
        return place, plain.dtype, shape, strides, requires_grad

    def _reduce_storage(self, storage: Any) -> Any:
        torch = self._torch
        assert torch is not None
        if storage.device.type != "cpu":
            return NotImplemented
        if isinstance(storage, torch.UntypedStorage):
            raw = torch.empty(0, dtype=torch.uint8).set_(storage)
            return _make_storage, (raw, None)
        return _make_storage, (
            torch.empty(0, dtype=torch.uint8).set_(storage.untyped()),
            storage.dtype,
        )

    def _reduce_array(self, array: Any) -> Any:
        numpy = self._numpy
        assert numpy is not None
        if array.dtype.hasobject:
            return NotImplemented
        order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
        dtype = array.dtype if array.dtype.fields or array.dtype.metadata else array.dtype.str
        if array.dtype.kind == "V":
            dtype = array.dtype
        if array.nbytes == 0:
            return _make_array, (None, dtype, array.shape, order)
        place = None
        if array.flags.c_contiguous:
            place = self._memory.place_of(array.ctypes.data, array.nbytes)
        if place is None:
            place = self._memory.allocate(array.nbytes)
            flat = numpy.frombuffer(self._memory.view(place), dtype=array.dtype)
            numpy.copyto(flat.reshape(array.shape, order=order), array)
        self._memory.send(place)
        return _make_array, (place, dtype, array.shape, order)


def pack(memory: BatchMemory, item: Any) -> bytes:
    """Writes the arrays of `item` into `memory`; returns the rest."""
    stream = io.BytesIO()
    _BatchPickler(stream, memory).dump(item)
    return stream.getvalue()


class _Unpacking(threading.local):
    """The slots of the batch that this thread is taking out, and whether to copy all of it."""

    slots: list[Any] | None = None
    copy = False


_unpacking = _Unpacking()


def unpack(skeleton: Any, slots: list[Any], copy: bool) -> Any:
    """The item that pack() took, on the memory of `slots`; `copy` leaves nothing on them."""
    _unpacking.slots, _unpacking.copy = slots, copy
    try:
        return pickle.loads(skeleton)
    finally:
        _unpacking.slots = None


def _bytes_at(place: Place) -> tuple[Any, bool]:
    """The bytes, and whether to copy them."""
    if _unpacking.slots is None:
        raise RuntimeError("a packed batch can only be read by the process that it was sent to")
    copy = _unpacking.copy or place.length <= COPIED_BYTES_MAX
    return _unpacking.slots[place.slot].bytes(place.offset, place.length), copy


def _make_tensor(
    place: Place | None, dtype: Any, shape: Any, strides: Any, requires_grad: bool
) -> Any:
    import torch

    if place is None:
        return torch.empty(shape, dtype=dtype, requires_grad=requires_grad)
    raw, copy = _bytes_at(place)
    tensor = torch.from_dlpack(raw)
    if copy:
        tensor = tensor.clone()
    tensor = tensor.view(dtype)
    tensor = tensor.view(shape) if strides is None else tensor.as_strided(shape, strides)
    return tensor.requires_grad_() if requires_grad else tensor


def _make_parameter(data: Any, requires_grad: bool) -> Any:
    import torch

    return torch.nn.Parameter(data, requires_grad)


def _make_subclass(kind: Any, plain: Any, requires_grad: bool, attributes: dict[str, Any]) -> Any:
    tensor = plain.as_subclass(kind)
    tensor.__dict__.update(attributes)
    return tensor.requires_grad_() if requires_grad else tensor


def _make_storage(raw: Any, dtype: Any) -> Any:
    import torch

    storage = raw.untyped_storage()
    if dtype is None:
        return storage
    return torch.storage.TypedStorage(wrap_storage=storage, dtype=dtype, _internal=True)


def _make_array(place: Place | None, dtype: Any, shape: Any, order: Any) -> Any:
    import numpy

    if place is None:
        return numpy.empty(shape, dtype=dtype, order=order)
    raw, copy = _bytes_at(place)
    array = numpy.frombuffer(memoryview(raw), dtype=dtype)
    if copy:
        array = array.copy()
    return array.reshape(shape, order=order)
