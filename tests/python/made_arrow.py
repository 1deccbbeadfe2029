"""Columns of images as Arrow's C stream interface hands them over, made without Arrow."""

from __future__ import annotations

import ctypes
import struct
from typing import Any


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


class Stream(ctypes.Structure):
    pass


_RELEASE_SCHEMA = ctypes.CFUNCTYPE(None, ctypes.POINTER(Schema))
_RELEASE_ARRAY = ctypes.CFUNCTYPE(None, ctypes.POINTER(Array))
_RELEASE_STREAM = ctypes.CFUNCTYPE(None, ctypes.POINTER(Stream))
_GET_SCHEMA = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Schema))
_GET_NEXT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Array))
_GET_ERROR = ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(Stream))
_INT = ctypes.c_int64

Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_char_p),
    ("flags", _INT),
    ("n_children", _INT),
    ("children", ctypes.POINTER(ctypes.POINTER(Schema))),
    ("dictionary", ctypes.POINTER(Schema)),
    ("release", _RELEASE_SCHEMA),
    ("private_data", ctypes.c_void_p),
]
Array._fields_ = [
    ("length", _INT),
    ("null_count", _INT),
    ("offset", _INT),
    ("n_buffers", _INT),
    ("n_children", _INT),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(Array))),
    ("dictionary", ctypes.POINTER(Array)),
    ("release", _RELEASE_ARRAY),
    ("private_data", ctypes.c_void_p),
]
Stream._fields_ = [
    ("get_schema", _GET_SCHEMA),
    ("get_next", _GET_NEXT),
    ("get_last_error", _GET_ERROR),
    ("release", _RELEASE_STREAM),
    ("private_data", ctypes.c_void_p),
]


class MadeColumn:
    """One chunk of images with their bytes; it must outlive whatever reads it."""

    def __init__(self, files: list[bytes], kind: bytes = b"z") -> None:
        self._kept: list[Any] = []
        self._files = files
        self._kind = kind
        self.released = 0
        self._is_given = False

    def __arrow_c_stream__(self) -> Any:
        stream = Stream(
            _GET_SCHEMA(self._give_schema),
            _GET_NEXT(self._give_next),
            _GET_ERROR(lambda _: None),
            _RELEASE_STREAM(_released),
        )
        self._kept.append(stream)
        make = ctypes.pythonapi.PyCapsule_New
        make.restype = ctypes.py_object
        make.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return make(ctypes.addressof(stream), b"arrow_array_stream", None)

    def _give_schema(self, _stream: Any, out: Any) -> int:
        names = ((b"path", b"u"), (b"bytes", self._kind))
        fields = [Schema(kind, name) for name, kind in names]
        column = Schema(b"+s", b"image", None, 0, 2, self._pointers(Schema, fields))
        release = _RELEASE_SCHEMA(_released)
        self._kept += [fields, column, release]
        children = self._pointers(Schema, [column])
        out[0] = Schema(b"+s", b"", None, 0, 1, children, None, release)
        return 0

    def _give_next(self, _stream: Any, out: Any) -> int:
        out[0] = Array()
        if not self._is_given:
            self._is_given = True
            count = len(self._files)
            fields = [self._binary([b""] * count), self._binary(self._files)]
            column = self._array(count, [None], fields)
            out[0] = self._array(count, [None], [column])
            out[0].release = self._keep(_RELEASE_ARRAY(self._release_array))
        return 0

    def _release_array(self, array: Any) -> None:
        self.released += 1
        _released(array)

    def _binary(self, rows: list[bytes]) -> Array:
        ends = [sum(map(len, rows[:number])) for number in range(len(rows) + 1)]
        wide = "q" if self._kind == b"Z" and any(rows) else "i"
        offsets = struct.pack(f"{len(ends)}{wide}", *ends)
        return self._array(len(rows), [None, offsets, b"".join(rows) or b"\0"], [])

    def _array(self, length: int, buffers: list[bytes | None], children: list[Array]) -> Array:
        held = [
            None if one is None else ctypes.create_string_buffer(one, len(one)) for one in buffers
        ]
        places = [None if one is None else ctypes.addressof(one) for one in held]
        listed = self._keep((ctypes.c_void_p * len(places))(*places))
        self._kept += [held, children]
        array = Array(length, 0, 0, len(buffers), len(children), listed)
        if children:
            array.children = self._pointers(Array, children)
        return array

    def _pointers(self, kind: Any, items: list[Any]) -> Any:
        return self._keep((ctypes.POINTER(kind) * len(items))(*map(ctypes.pointer, items)))

    def _keep(self, item: Any) -> Any:
        self._kept.append(item)
        return item


def _released(given: Any) -> None:
    given[0].release = type(given[0].release)()
