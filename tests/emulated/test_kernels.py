"""unstarve's own CUDA kernel is launched on an emulated GPU: by what nvcc makes of it, and by the
same source and registrations from a plain compiler.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from device_rings import Kernel, read_kernels
from emulation import BUILD, PYTHON, ROOT, Emulation

SOURCES = Path(__file__).parent / "kernels"
RUNTIME = BUILD / "lib/emulated/libcudart.so.13"
THREADS = 256

LAUNCH = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
runtime = ctypes.CDLL("libcudart.so.13")
pixels, out, stream = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
assert runtime.cudaMalloc(ctypes.byref(pixels), ctypes.c_size_t(256 * 224 * 224 * 3)) == 0
assert runtime.cudaMalloc(ctypes.byref(out), ctypes.c_size_t(256 * 224 * 224 * 3 * 4)) == 0
assert runtime.cudaStreamCreate(ctypes.byref(stream)) == 0
for kind, count, height, width in [map(int, shape.split(",")) for shape in sys.argv[2:]]:
    print(library.launch_convert(kind, count, height, width, pixels, out, stream))
assert runtime.cudaStreamSynchronize(stream) == 0
print(runtime.cudaGetLastError())
"""


def by_plain_compiler(library: Path) -> None:
    compiler = os.environ.get("CXX", "c++")
    sources = [SOURCES / "registered_convert.cpp", SOURCES / "launch_convert.cpp"]
    includes = [SOURCES / "declared", ROOT / "src/kernels/testing/cuda_on_host", ROOT / "src"]
    command = [compiler, "-std=c++20", "-O1", "-fPIC", "-shared", *map(str, sources)]
    command += [f"-I{folder}" for folder in includes]
    subprocess.run([*command, str(RUNTIME), "-o", str(library)], check=True)


def by_nvcc(library: Path) -> None:
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        pytest.skip("no nvcc here; the plain compiler's build is tested")
    sources = [ROOT / "src/kernels/pixels/convert_cuda.cu", SOURCES / "launch_convert.cpp"]
    command = [nvcc, "-std=c++17", "-Xcompiler", "-fPIC", "-shared", "-cudart", "shared"]
    command += [f"-I{ROOT / 'src'}", *map(str, sources), "-o", str(library)]
    subprocess.run(command, check=True)


@pytest.fixture(scope="module", params=[by_plain_compiler, by_nvcc])
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The launch function as a library, from either compiler."""
    path = tmp_path_factory.mktemp("kernels") / "libconvert.so"
    request.param(path)
    return path


def launched(
    emulated: Callable[..., Emulation], library: Path, *shapes: str
) -> tuple[list[str], list[Kernel]]:
    """What each launch answered, and the kernels that the GPU recorded."""
    machine = emulated("a100")
    done = machine.run(PYTHON, "-c", LAUNCH, library, *shapes)
    assert done.returncode == 0, done.stderr
    (ring,) = (machine.state / "rings").glob("gpu-*.ring")
    return done.stdout.split(), read_kernels(ring)


def test_the_conversion_kernel_runs_with_its_name_grid_and_time(
    emulated: Callable[..., Emulation], library: Path
) -> None:
    shapes = ["0,256,224,224", "1,256,224,224", "2,256,224,224", "3,256,224,224", "1,64,224,224"]
    answers, kernels = launched(emulated, library, *shapes)
    assert answers == ["0"] * (len(shapes) + 1)
    types = ["convertIhE", "convertIfE", "convertI6__halfE", "convertI13__nv_bfloat16E"]
    assert len(kernels) == len(shapes)
    for kernel, name in zip(kernels, [*types, types[1]], strict=True):
        assert name in kernel.name
        assert kernel.block == (THREADS, 1, 1)
    blocks = (224 * 224 + THREADS - 1) // THREADS
    assert [kernel.grid for kernel in kernels] == [(blocks, 256, 1)] * 4 + [(blocks, 64, 1)]
    # It reads a byte of each value and writes four: the time to move that, within a factor of 3.
    moved_s = 256 * 224 * 224 * 3 * 5 / 2.0e12
    whole, quarter = kernels[1], kernels[4]
    assert moved_s / 3 < (whole.end_ns - whole.start_ns) / 1e9 < moved_s * 3
    ratio = (whole.end_ns - whole.start_ns) / (quarter.end_ns - quarter.start_ns)
    assert ratio == pytest.approx(4, rel=0.25)
    assert all(first.end_ns <= then.start_ns for first, then in pairwise(kernels))


def test_a_launch_that_cannot_be_answers_with_cudas_error_and_leaves_none_behind(
    emulated: Callable[..., Emulation], library: Path
) -> None:
    # No images, an unknown type; 70,000 images go into 65,535 rows of blocks.
    answers, kernels = launched(emulated, library, "1,0,224,224", "9,8,224,224", "0,70000,4,4")
    assert answers == ["0", "1", "0", "0"]
    (kernel,) = kernels
    assert kernel.grid == (1, 65535, 1)
