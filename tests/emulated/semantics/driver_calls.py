"""The driver's answers, without torch: contexts, mapped memory, modules, entry points."""

from __future__ import annotations

import ctypes
import threading
from ctypes import byref, c_char_p, c_int, c_size_t, c_uint, c_uint64, c_void_p

from checks import check

INVALID_VALUE, OUT_OF_MEMORY, INVALID_DEVICE, INVALID_CONTEXT = 1, 2, 101, 201
INVALID_IMAGE, INVALID_HANDLE, NOT_FOUND = 200, 400, 500
MIB, GIB = 1 << 20, 1 << 30
cuda = ctypes.CDLL("libcuda.so.1")


class MemoryProperties(ctypes.Structure):
    _fields_ = (
        ("type", c_int),
        ("handle_types", c_int),
        ("location_type", c_int),
        ("location", c_int),
        ("metadata", c_void_p),
        ("flags", c_uint64),
    )


class Access(ctypes.Structure):
    _fields_ = (("type", c_int), ("device", c_int), ("flags", c_int))


check("the driver starts", cuda.cuInit(0) == 0)
number = c_int(-1)
cuda.cuDeviceGet(byref(number), 0)
check("a device is its number", number.value == 0)
check("there is no second", cuda.cuDeviceGet(byref(number), 1) == INVALID_DEVICE)
name = ctypes.create_string_buffer(100)
cuda.cuDeviceGetName(name, 100, 0)
check("its name says that it is emulated", b"Emulated" in name.value, name.value)
cuda.cuDeviceGetAttribute(byref(number), 16, 0)
check("attributes are the profile's", number.value == 108, number.value)
uuid = ctypes.create_string_buffer(16)
cuda.cuDeviceGetUuid_v2(uuid, 0)
check("it has a uuid", uuid.raw[:12] == b"unstarve-emu", uuid.raw)

# ---- contexts
context, current = c_void_p(), c_void_p()
cuda.cuCtxGetCurrent(byref(current))
check("at first there is no context", not current.value)
pointer = c_uint64()
check(
    "without one there is no memory",
    cuda.cuMemAlloc_v2(byref(pointer), c_size_t(64)) == INVALID_CONTEXT,
)
flags, active = c_uint(9), c_int(9)
cuda.cuDevicePrimaryCtxGetState(0, byref(flags), byref(active))
check("the primary context is not active", active.value == 0)
cuda.cuDevicePrimaryCtxRetain(byref(context), 0)
check("it can be had", bool(context.value))
cuda.cuDevicePrimaryCtxGetState(0, byref(flags), byref(active))
check("then it is active", active.value == 1)
cuda.cuCtxSetCurrent(context)
cuda.cuCtxGetCurrent(byref(current))
check("and can be made the thread's", current.value == context.value)
check("another handle cannot", cuda.cuCtxSetCurrent(c_void_p(64)) == INVALID_CONTEXT)
seen: list[int | None] = []


def look() -> None:
    mine = c_void_p()
    cuda.cuCtxGetCurrent(byref(mine))
    seen.append(mine.value)


thread = threading.Thread(target=look)
thread.start()
thread.join()
check("another thread has none", seen == [None], seen)
cuda.cuCtxPushCurrent_v2(context)
cuda.cuCtxPopCurrent_v2(byref(current))
check("contexts are pushed and popped", current.value == context.value)

# ---- memory
cuda.cuMemAlloc_v2(byref(pointer), c_size_t(GIB))
base, size = c_uint64(), c_size_t()
cuda.cuMemGetAddressRange_v2(byref(base), byref(size), c_uint64(pointer.value + 77))
check("an address's range is known", (base.value, size.value) == (pointer.value, GIB))
kind = c_uint()
cuda.cuPointerGetAttribute(byref(kind), 2, pointer)
check("and that it is the device's", kind.value == 2)
unknown = cuda.cuPointerGetAttribute(byref(kind), 2, c_uint64(ctypes.addressof(name)))
check("other memory is unknown", unknown == INVALID_VALUE, unknown)
text = ctypes.create_string_buffer(b"driver", 16)
back = ctypes.create_string_buffer(16)
cuda.cuMemcpyHtoD_v2(pointer, text, c_size_t(16))
cuda.cuMemcpyDtoH_v2(back, pointer, c_size_t(16))
check("a few bytes come back", back.value == b"driver", back.value)
check("memory is freed", cuda.cuMemFree_v2(pointer) == 0)
check("once", cuda.cuMemFree_v2(pointer) == INVALID_VALUE)

# ---- memory without addresses
properties = MemoryProperties(type=1, location_type=1)
granularity = c_size_t()
cuda.cuMemGetAllocationGranularity(byref(granularity), byref(properties), 0)
check("mappings are of whole 2 MiB", granularity.value == 2 * MIB)
handle, address = c_uint64(), c_uint64()
reserved = cuda.cuMemAddressReserve(
    byref(address), c_size_t(16 * MIB), c_size_t(0), c_uint64(0), c_uint64(0)
)
check("addresses can be reserved", reserved == 0 and bool(address.value))
odd = cuda.cuMemCreate(byref(handle), c_size_t(1000), byref(properties), c_uint64(0))
check("memory of 1,000 bytes cannot be had", odd == INVALID_VALUE, odd)
cuda.cuMemCreate(byref(handle), c_size_t(4 * MIB), byref(properties), c_uint64(0))
huge = cuda.cuMemCreate(byref(base), c_size_t(500 * GIB), byref(properties), c_uint64(0))
check("nor more than there is", huge == OUT_OF_MEMORY, huge)
access = Access(1, 0, 3)
early = cuda.cuMemSetAccess(address, c_size_t(4 * MIB), byref(access), c_size_t(1))
check("nothing is mapped there yet", early == INVALID_VALUE, early)
mapped = cuda.cuMemMap(address, c_size_t(4 * MIB), c_size_t(0), handle, c_uint64(0))
check("memory is mapped", mapped == 0, mapped)
twice = cuda.cuMemMap(address, c_size_t(4 * MIB), c_size_t(0), handle, c_uint64(0))
check("in one place", twice == INVALID_VALUE, twice)
check(
    "and can be used",
    cuda.cuMemSetAccess(address, c_size_t(4 * MIB), byref(access), c_size_t(1)) == 0,
)
second = c_uint64(address.value + 4 * MIB)
cuda.cuMemMap(second, c_size_t(4 * MIB), c_size_t(0), handle, c_uint64(0))
cuda.cuMemcpyHtoD_v2(address, text, c_size_t(16))
span = cuda.cuMemsetD8_v2(address, 0, c_size_t(8 * MIB))
check("neighbours are one range", span == 0, span)
busy = cuda.cuMemAddressFree(address, c_size_t(16 * MIB))
check("addresses in use stay", busy == INVALID_VALUE, busy)
check("memory is unmapped", cuda.cuMemUnmap(address, c_size_t(8 * MIB)) == 0)
check("given back", cuda.cuMemRelease(handle) == 0)
check("once", cuda.cuMemRelease(handle) == INVALID_VALUE)
check("and its addresses", cuda.cuMemAddressFree(address, c_size_t(16 * MIB)) == 0)

# ---- modules
module, function = c_void_p(), c_void_p()
check("an image has to be one", cuda.cuModuleLoadData(byref(module), b"") == INVALID_IMAGE)
check("text is one", cuda.cuModuleLoadData(byref(module), b".version 8.0") == 0)
check("a module has the kernel", cuda.cuModuleGetFunction(byref(function), module, b"add_one") == 0)
shown = c_char_p()
cuda.cuFuncGetName(byref(shown), function)
check("of that name", shown.value == b"add_one", shown.value)
launch = cuda.cuLaunchKernel
launch.argtypes = (c_void_p, *[c_uint] * 7, c_void_p, c_void_p, c_void_p)
check("which can be launched", launch(function, 4, 1, 1, 128, 1, 1, 0, None, None, None) == 0)
check(
    "with a right handle", launch(4711, 4, 1, 1, 128, 1, 1, 0, None, None, None) == INVALID_HANDLE
)
check("and a right block", launch(function, 4, 1, 1, 2048, 1, 1, 0, None, None, None) == 9)
large = launch(function, 4, 1, 1, 128, 1, 1, 100_000, None, None, None)
check("shared memory beyond 48 KiB is asked for", large == INVALID_VALUE, large)
cuda.cuFuncSetAttribute(function, 8, 100_000)
large = launch(function, 4, 1, 1, 128, 1, 1, 100_000, None, None, None)
check("then it is given", large == 0, large)
check("work is waited for", cuda.cuCtxSynchronize() == 0)

# ---- entry points
entry, found = c_void_p(), c_int(-1)
cuda.cuGetProcAddress_v2(b"cuMemAlloc", byref(entry), 12000, c_uint64(0), byref(found))
newest = ctypes.cast(cuda.cuMemAlloc_v2, c_void_p).value
check("a name means its newest function", entry.value == newest and found.value == 0)
missing = cuda.cuGetProcAddress_v2(
    b"cuNoSuchFunction", byref(entry), 12000, c_uint64(0), byref(found)
)
check(
    "an unknown name is not found", (missing, found.value) == (NOT_FOUND, 1), (missing, found.value)
)
table = c_void_p(1)
check(
    "undocumented tables are not answered", cuda.cuGetExportTable(byref(table), name) == NOT_FOUND
)
