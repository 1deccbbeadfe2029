"""A sample as the parts of one record, and back. Tensors and arrays lie at multiples of 64 bytes.

The restored sample is on the record's own memory, which nobody else has: it may be written to.
"""

from __future__ import annotations

import struct
from typing import Any, cast

from unstarve.workers.packing import BatchMemory, Place, pack, unpack

_ALIGNMENT = 64
_HEAD = struct.Struct("<QQ")  # bytes of the pickled rest, number of chunks
_LENGTH = struct.Struct("<Q")  # of a chunk

Parts = list[Any]  # of bytes and arrays of them


class _SampleMemory:
    """In the place of a worker's batch memory: a chunk for each array."""

    def __init__(self) -> None:
        self.chunks: list[Any] = []  # of NumPy's: memory that nobody fills with zeros first

    def allocate(self, count: int) -> Place:
        import numpy

        self.chunks.append(numpy.empty(count, dtype=numpy.uint8))
        return Place(len(self.chunks) - 1, 0, count)

    def view(self, place: Place) -> memoryview:
        return memoryview(self.chunks[place.slot])[place.offset : place.offset + place.length]

    def place_of(self, address: int, count: int) -> Place | None:
        return None

    def send(self, place: Place) -> None:
        pass


class _Chunk:
    """In the place of a batch's slot: a part of the record."""

    def __init__(self, record: Any, start: int) -> None:
        self._record = record
        self._start = start

    def bytes(self, offset: int, count: int) -> Any:
        begin = self._start + offset
        return self._record[begin : begin + count]


def to_parts(sample: Any) -> Parts:
    """Raises what pickling raises."""
    memory = _SampleMemory()
    rest = pack(cast(BatchMemory, memory), sample)
    lengths = b"".join(_LENGTH.pack(len(chunk)) for chunk in memory.chunks)
    parts: Parts = [_HEAD.pack(len(rest), len(memory.chunks)) + lengths + rest]
    end = len(parts[0])
    for chunk in memory.chunks:
        if gap := -end % _ALIGNMENT:
            parts.append(bytes(gap))
        parts.append(chunk)
        end += gap + len(chunk)
    return parts


def from_record(record: Any) -> Any:
    """`record` is a NumPy array of uint8."""
    view = memoryview(record)
    rest_bytes, count = _HEAD.unpack_from(view)
    first = _HEAD.size + count * _LENGTH.size
    end = first + rest_bytes
    chunks = []
    for number in range(count):
        (length,) = _LENGTH.unpack_from(view, _HEAD.size + number * _LENGTH.size)
        end += -end % _ALIGNMENT
        chunks.append(_Chunk(record, end))
        end += length
    return unpack(view[first : first + rest_bytes], chunks, copy=False)


def are_equal(one: Parts, other: Parts) -> bool:
    return b"".join(one) == b"".join(other)


def restored(parts: Parts) -> Any:
    """The sample that these parts would be read as."""
    import numpy

    return from_record(numpy.frombuffer(bytearray(b"".join(parts)), dtype=numpy.uint8))


def is_alike(sample: Any, other: Any) -> bool:
    """Whether two samples, one made of the other's bytes, are of the same types throughout. A
    pickled image of PIL's comes back without the file that it was of, for one."""
    if type(sample) is not type(other):
        return False
    if isinstance(sample, dict):
        pairs = zip(sample.items(), other.items(), strict=True)
        return all(is_alike(a, b) for a, b in pairs)
    if isinstance(sample, (list, tuple)):
        return all(is_alike(a, b) for a, b in zip(sample, other, strict=True))
    own = getattr(sample, "__dict__", None)
    return not own or is_alike(own, other.__dict__)


__all__ = ["Parts", "are_equal", "from_record", "is_alike", "restored", "to_parts"]
