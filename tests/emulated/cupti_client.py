"""A client of CUPTI's activity and callback interfaces, through ctypes alone.

python cupti_client.py MAJOR BUFFER_BYTES: launches work and prints as JSON what CUPTI told of it.
"""

from __future__ import annotations

import ctypes
import json
import struct
import sys
from typing import Any

RUNTIME_DOMAIN = 2
RESOURCE_DOMAIN = 3
SYNCHRONIZE_DOMAIN = 4
LAUNCH = 211
MEMCPY, MEMSET, RUNTIME, KERNEL, PC_SAMPLING = 1, 2, 5, 10, 30
EXTERNAL = 39
CUSTOM0 = 3

major, buffer_bytes = map(int, sys.argv[1:])
cupti = ctypes.CDLL(f"libcupti.so.{major}")
cuda = ctypes.CDLL(f"libcudart.so.{major}")
buffers: dict[int, Any] = {}
records: list[tuple[int, bytes]] = []
sizes: list[int] = []


def request(buffer: Any, size: Any, most: Any) -> None:
    memory = ctypes.create_string_buffer(buffer_bytes)
    buffers[ctypes.addressof(memory)] = memory
    buffer[0] = ctypes.addressof(memory)
    size[0] = buffer_bytes
    most[0] = 0


request_callback = ctypes.CFUNCTYPE(
    None,
    ctypes.POINTER(ctypes.c_void_p),
    ctypes.POINTER(ctypes.c_size_t),
    ctypes.POINTER(ctypes.c_size_t),
)(request)


def complete(_context: Any, _stream: int, buffer: int, _size: int, valid: int) -> None:
    sizes.append(valid)
    record = ctypes.c_void_p()
    start = ctypes.c_void_p(buffer)
    while (
        cupti.cuptiActivityGetNextRecord(start, ctypes.c_size_t(valid), ctypes.byref(record)) == 0
    ):
        assert record.value
        kind = ctypes.c_uint32.from_address(record.value).value
        left = buffer + valid - record.value
        records.append((kind, ctypes.string_at(record.value, min(left, 224))))
    del buffers[buffer]


complete_callback = ctypes.CFUNCTYPE(
    None,
    ctypes.c_void_p,
    ctypes.c_uint32,
    ctypes.c_void_p,
    ctypes.c_size_t,
    ctypes.c_size_t,
)(complete)


clock = ctypes.CFUNCTYPE(ctypes.c_uint64)(lambda: 42_000_000_000 + ticks())
calls: list[tuple[int, str, int, int]] = []


class CallbackData(ctypes.Structure):
    _fields_ = [
        ("site", ctypes.c_uint32),
        ("function", ctypes.c_char_p),
        ("parameters", ctypes.c_void_p),
        ("result", ctypes.c_void_p),
        ("symbol", ctypes.c_char_p),
        ("context", ctypes.c_void_p),
        ("context_id", ctypes.c_uint32),
        ("word", ctypes.POINTER(ctypes.c_uint64)),
        ("correlation", ctypes.c_uint32),
    ]


def called(_user: Any, _domain: int, call: int, data: Any) -> None:
    seen = data.contents
    if seen.site == 0:
        seen.word[0] = 1000 + seen.correlation
    calls.append((call, seen.function.decode(), seen.site, seen.word[0] - seen.correlation))


called_callback = ctypes.CFUNCTYPE(
    None, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32, ctypes.POINTER(CallbackData)
)(called)


def ticks() -> int:
    """Of a clock that is three times as fast as ours."""
    import time

    return time.monotonic_ns() * 3


def use_the_gpu() -> None:
    memory = ctypes.c_void_p()
    assert cuda.cudaMalloc(ctypes.byref(memory), ctypes.c_size_t(1 << 20)) == 0
    host = ctypes.create_string_buffer(1 << 20)
    for _ in range(4):
        assert cuda.cudaMemcpy(memory, host, ctypes.c_size_t(1 << 20), 1) == 0
        assert cuda.cudaMemset(memory, 0, ctypes.c_size_t(1 << 20)) == 0
    assert cuda.cudaDeviceSynchronize() == 0
    assert cuda.cudaFree(memory) == 0


codes: dict[str, int] = {}
use_the_gpu()  # before anything is enabled: nothing of it may be told
codes["flush without callbacks"] = cupti.cuptiActivityFlushAll(0)
codes["no callbacks"] = cupti.cuptiActivityRegisterCallbacks(None, None)
assert cupti.cuptiActivityRegisterCallbacks(request_callback, complete_callback) == 0
assert cupti.cuptiActivityRegisterTimestampCallback(clock) == 0
codes["no such kind"] = cupti.cuptiActivityEnable(60)
codes["PC sampling"] = cupti.cuptiActivityEnable(PC_SAMPLING)
for kind in (MEMCPY, MEMSET, RUNTIME, EXTERNAL):
    assert cupti.cuptiActivityEnable(kind) == 0
last = ctypes.c_uint64()
codes["pop of nothing"] = cupti.cuptiActivityPopExternalCorrelationId(CUSTOM0, ctypes.byref(last))
codes["push of no kind"] = cupti.cuptiActivityPushExternalCorrelationId(9, ctypes.c_uint64(1))
assert cupti.cuptiActivityPushExternalCorrelationId(CUSTOM0, ctypes.c_uint64(77)) == 0

subscriber, second = ctypes.c_void_p(), ctypes.c_void_p()
assert cupti.cuptiSubscribe(ctypes.byref(subscriber), called_callback, None) == 0
codes["second subscriber"] = cupti.cuptiSubscribe(ctypes.byref(second), called_callback, None)
assert cupti.cuptiEnableCallback(1, subscriber, RUNTIME_DOMAIN, 31) == 0
codes["synchronize domain"] = cupti.cuptiEnableDomain(1, subscriber, SYNCHRONIZE_DOMAIN)

begin = 42_000_000_000 + ticks()
use_the_gpu()
assert cupti.cuptiUnsubscribe(subscriber) == 0
assert cupti.cuptiActivityPopExternalCorrelationId(CUSTOM0, ctypes.byref(last)) == 0
for kind in (MEMCPY, MEMSET, RUNTIME, EXTERNAL):
    assert cupti.cuptiActivityDisable(kind) == 0
use_the_gpu()  # nor of this
assert cupti.cuptiActivityFlushAll(1) == 0
end = 42_000_000_000 + ticks()
dropped = ctypes.c_size_t(99)
assert cupti.cuptiActivityGetNumDroppedRecords(None, 0, ctypes.byref(dropped)) == 0
version = ctypes.c_uint32()
assert cupti.cuptiGetVersion(ctypes.byref(version)) == 0
name = ctypes.c_char_p()
assert cupti.cuptiGetCallbackName(RUNTIME_DOMAIN, LAUNCH, ctypes.byref(name)) == 0
assert cupti.cuptiGetResultString(27, ctypes.byref(second)) == 0

print(
    json.dumps(
        {
            "codes": codes,
            "kinds": [kind for kind, _ in records],
            "copy_bytes": [struct.unpack_from("<Q", r, 8)[0] for k, r in records if k == MEMCPY],
            "spans": [
                struct.unpack_from("<QQ", r, 16) for k, r in records if k in (MEMCPY, MEMSET)
            ],
            "of_copies": [struct.unpack_from("<I", r, 44)[0] for k, r in records if k == MEMCPY],
            "runtime": [struct.unpack_from("<I", r, 4)[0] for k, r in records if k == RUNTIME],
            "externals": {
                struct.unpack_from("<I", r, 16)[0]: struct.unpack_from("<Q", r, 8)[0]
                for k, r in records
                if k == EXTERNAL
            },
            "popped": last.value,
            "begin": begin,
            "end": end,
            "sizes": sizes,
            "calls": calls,
            "dropped": dropped.value,
            "buffers_kept": len(buffers),
            "version": version.value,
            "launch": (name.value or b"").decode(),
        }
    )
)
