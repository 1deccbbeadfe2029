"""The runtime's answers to right and wrong calls, for CUDA 12 and 13, without torch."""

from __future__ import annotations

import ctypes
import os
import time
from ctypes import byref, c_char, c_float, c_int, c_size_t, c_uint, c_void_p

from checks import check

INVALID_VALUE, OUT_OF_MEMORY, INVALID_CONFIGURATION = 1, 2, 9
INVALID_DIRECTION, INVALID_DEVICE, INVALID_HANDLE, NOT_READY = 21, 101, 400, 600
ALREADY_REGISTERED, NOT_REGISTERED, CAPTURE_UNJOINED = 712, 713, 904
HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE = 1, 2, 3
GIB = 1 << 30


class Dim3(ctypes.Structure):
    _fields_ = (("x", c_uint), ("y", c_uint), ("z", c_uint))


class PointerAttributes(ctypes.Structure):
    _fields_ = (
        ("type", c_int),
        ("device", c_int),
        ("device_pointer", c_void_p),
        ("host_pointer", c_void_p),
        ("reserved", ctypes.c_long * 8),
    )


def tell(major: int, cuda: ctypes.CDLL) -> None:
    """Tries them on one runtime."""

    def promise(name: str, holds: bool, seen: object = "") -> None:
        check(f"{major}: {name}", holds, seen)

    number = c_int(-1)
    promise("the version is of the major", not cuda.cudaRuntimeGetVersion(byref(number)))
    promise("as its name says", number.value // 1000 == major, number.value)
    cuda.cudaDriverGetVersion(byref(number))
    promise("the driver is not older", number.value // 1000 >= major, number.value)
    promise("there is a device", not cuda.cudaGetDeviceCount(byref(number)) and number.value == 1)
    promise("no other one can be set", cuda.cudaSetDevice(5) == INVALID_DEVICE)
    promise("which is kept as the last error", cuda.cudaPeekAtLastError() == INVALID_DEVICE)
    promise("until it is taken", cuda.cudaGetLastError() == INVALID_DEVICE)
    promise("then there is none", cuda.cudaGetLastError() == 0)
    cuda.cudaGetErrorName.restype = cuda.cudaGetErrorString.restype = ctypes.c_char_p
    promise(
        "errors have names", cuda.cudaGetErrorName(OUT_OF_MEMORY) == b"cudaErrorMemoryAllocation"
    )
    promise("and texts", len(cuda.cudaGetErrorString(OUT_OF_MEMORY)) > 3)

    memory, other = c_void_p(), c_void_p()
    promise(
        "memory can be had",
        not cuda.cudaMalloc(byref(memory), c_size_t(GIB)) and bool(memory.value),
    )
    promise("too much cannot", cuda.cudaMalloc(byref(other), c_size_t(500 * GIB)) == OUT_OF_MEMORY)
    promise("none is nothing", not cuda.cudaMalloc(byref(other), c_size_t(0)) and not other.value)
    promise("freeing nothing is allowed", cuda.cudaFree(None) == 0)
    inside = c_void_p((memory.value or 0) + 4096)
    promise("freeing the middle is not", cuda.cudaFree(inside) == INVALID_VALUE)

    facts = PointerAttributes()
    cuda.cudaPointerGetAttributes(byref(facts), inside)
    promise("device memory is known", (facts.type, facts.device) == (2, 0), facts.type)
    plain = ctypes.create_string_buffer(1 << 20)
    cuda.cudaPointerGetAttributes(byref(facts), plain)
    promise("other memory is not", facts.type == 0, facts.type)
    pinned = c_void_p()
    cuda.cudaMallocHost(byref(pinned), c_size_t(1 << 20))
    cuda.cudaPointerGetAttributes(byref(facts), pinned)
    promise("page-locked memory is the host's", facts.type == 1, facts.type)
    (c_char * 16).from_address(pinned.value or 0)[0] = b"x"
    promise("memory can be registered", cuda.cudaHostRegister(plain, c_size_t(1 << 20), 0) == 0)
    again = cuda.cudaHostRegister(plain, c_size_t(1 << 20), 0)
    promise("once", again == ALREADY_REGISTERED, again)
    promise("and unregistered", cuda.cudaHostUnregister(plain) == 0)
    promise("once as well", cuda.cudaHostUnregister(plain) == NOT_REGISTERED)

    size = c_size_t(64)
    promise("directions are checked", cuda.cudaMemcpy(memory, plain, size, 9) == INVALID_DIRECTION)
    wrong = cuda.cudaMemcpy(plain, plain, size, DEVICE_TO_HOST)
    promise("and have to be true", wrong == INVALID_VALUE, wrong)
    plain.value = b"kept bytes"
    back = ctypes.create_string_buffer(64)
    cuda.cudaMemcpy(memory, plain, size, HOST_TO_DEVICE)
    cuda.cudaMemcpy(inside, memory, size, DEVICE_TO_DEVICE)
    cuda.cudaMemcpy(back, inside, size, DEVICE_TO_HOST)
    promise("a few bytes come back from the device", back.value == b"kept bytes", back.value)
    cuda.cudaMemset(memory, 65, c_size_t(8))
    cuda.cudaMemcpy(back, memory, c_size_t(8), DEVICE_TO_HOST)
    promise("so do filled ones", back.raw[:8] == b"A" * 8, back.raw[:8])

    stream, bad = c_void_p(), c_void_p(0x123450)
    promise("streams can be made", cuda.cudaStreamCreateWithFlags(byref(stream), 1) == 0)
    promise("flags are checked", cuda.cudaStreamCreateWithFlags(byref(other), 8) == INVALID_VALUE)
    promise("a wrong handle is found out", cuda.cudaStreamQuery(bad) == INVALID_HANDLE)
    promise("an event's too", cuda.cudaEventQuery(bad) == INVALID_HANDLE)
    promise("the default stream stays", cuda.cudaStreamDestroy(None) == INVALID_HANDLE)

    cuda.cudaMemsetAsync(memory, 0, c_size_t(GIB), stream)
    for _ in range(30):
        cuda.cudaMemcpyAsync(memory, pinned, c_size_t(1 << 20), HOST_TO_DEVICE, stream)
    promise("a busy stream is not ready", cuda.cudaStreamQuery(stream) == NOT_READY)
    promise("what is not ready is a last error too", cuda.cudaGetLastError() == NOT_READY)
    promise("synchronising ends it", not cuda.cudaStreamSynchronize(stream))
    promise("then it is ready", cuda.cudaStreamQuery(stream) == 0)

    calls: list[int] = []
    function = ctypes.CFUNCTYPE(None, c_void_p)(calls.append)
    cuda.cudaLaunchHostFunc(stream, function, c_void_p(7))
    cuda.cudaStreamSynchronize(stream)
    promise("host functions run in their turn", calls == [7], calls)

    start, end, ms = c_void_p(), c_void_p(), c_float(-1)
    cuda.cudaEventCreate(byref(start))
    cuda.cudaEventCreate(byref(end))
    unrecorded = cuda.cudaEventElapsedTime(byref(ms), start, end)
    promise("unrecorded events have no time", unrecorded == INVALID_HANDLE, unrecorded)
    cuda.cudaEventRecord(start, stream)
    cuda.cudaMemsetAsync(memory, 0, c_size_t(GIB), stream)
    cuda.cudaEventRecord(end, stream)
    early = cuda.cudaEventElapsedTime(byref(ms), start, end)
    promise("unfinished ones neither", early == NOT_READY, early)
    cuda.cudaEventSynchronize(end)
    cuda.cudaEventElapsedTime(byref(ms), start, end)
    promise("a fill takes the memory's time", 0.3 < ms.value < 3, ms.value)

    graph, executable, count = c_void_p(), c_void_p(), c_size_t(9)
    cuda.cudaStreamBeginCapture(stream, 2)
    cuda.cudaMemsetAsync(memory, 0, c_size_t(GIB), stream)
    promise("a capture ends in a graph", not cuda.cudaStreamEndCapture(stream, byref(graph)))
    cuda.cudaGraphGetNodes(graph, None, byref(count))
    promise("which has the nodes that it was given", count.value == 1, count.value)
    promise("it can be made to run", not cuda.cudaGraphInstantiate(byref(executable), graph, 0))
    begun = time.perf_counter()
    cuda.cudaGraphLaunch(executable, stream)
    launched = 1e3 * (time.perf_counter() - begun)
    cuda.cudaStreamSynchronize(stream)
    took = 1e3 * (time.perf_counter() - begun)
    promise("and runs beside the host", launched < took and took > 0.3, (launched, took))
    cuda.cudaStreamBeginCapture(stream, 2)
    second = c_void_p()
    cuda.cudaStreamCreateWithFlags(byref(second), 1)
    cuda.cudaEventRecord(end, stream)
    cuda.cudaStreamWaitEvent(second, end, 0)
    cuda.cudaMemsetAsync(memory, 0, size, second)
    unjoined = cuda.cudaStreamEndCapture(stream, byref(graph))
    promise("a fork that was not joined is an error", unjoined == CAPTURE_UNJOINED, unjoined)

    pool, used = c_void_p(), ctypes.c_uint64()
    cuda.cudaDeviceGetDefaultMemPool(byref(pool), 0)
    cuda.cudaMallocAsync(byref(other), c_size_t(GIB), stream)
    cuda.cudaMemPoolGetAttribute(pool, 7, byref(used))
    promise("a pool counts what is used", used.value == GIB, used.value)
    cuda.cudaFreeAsync(other, stream)
    cuda.cudaStreamSynchronize(stream)
    cuda.cudaMemPoolGetAttribute(pool, 7, byref(used))
    promise("until it is freed", used.value == 0, used.value)

    stub = ctypes.create_string_buffer(b"stub")
    cuda.__getattr__("__cudaRegisterFunction")(
        None, stub, None, ctypes.c_char_p(b"_Z6kernelPf"), -1, None, None, None, None, None
    )
    launch = cuda.cudaLaunchKernel
    launch.argtypes = (c_void_p, Dim3, Dim3, c_void_p, c_size_t, c_void_p)
    address = ctypes.addressof(stub)
    one = Dim3(1, 1, 1)
    promise("a registered kernel can be launched", launch(address, one, one, None, 0, stream) == 0)
    promise("another cannot", launch(1234567, one, one, None, 0, stream) == 98)
    for name, grid, block in (
        ("an empty grid", Dim3(0, 1, 1), one),
        ("a block of 1,025 threads", one, Dim3(1025, 1, 1)),
        ("a block deeper than 64", one, Dim3(1, 1, 65)),
        ("a grid higher than 65,535", Dim3(1, 65536, 1), one),
    ):
        launched = launch(address, grid, block, None, 0, stream)
        promise(f"{name} is refused", launched == INVALID_CONFIGURATION, launched)
    too_much = launch(address, one, one, None, 200_000, stream)
    promise("so is too much shared memory", too_much == INVALID_VALUE, too_much)
    blocks = c_int(-1)
    cuda.cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        byref(blocks), c_void_p(address), 256, c_size_t(0)
    )
    promise("eight blocks of 256 threads fit together", blocks.value == 8, blocks.value)

    for each in (stream, second):
        cuda.cudaStreamDestroy(each)
    promise("a destroyed stream is unknown", cuda.cudaStreamQuery(stream) == INVALID_HANDLE)
    promise("memory is freed", cuda.cudaFree(memory) == 0)
    promise("once", cuda.cudaFree(memory) == INVALID_VALUE)
    promise("so is page-locked memory", cuda.cudaFreeHost(pinned) == 0)
    free, total = c_size_t(), c_size_t()
    cuda.cudaMemGetInfo(byref(free), byref(total))
    promise("all of it is free again", total.value - free.value < 2 * GIB, total.value - free.value)


for major in (12, 13):
    tell(major, ctypes.CDLL(f"libcudart.so.{major}"))

child = os.fork()
if child == 0:
    runtime = ctypes.CDLL("libcudart.so.13")
    os._exit(runtime.cudaMalloc(byref(c_void_p()), c_size_t(64)))
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
check("a forked child cannot use the GPU that its parent used", status == 3, status)
