"""`python -c torch_process + this DEVICE THREADS SECONDS DTYPE...`: how fast torch multiplies.

Prints a JSON object a dtype: {"dtype", "flop_per_s": [...], "shape": [m, n, k], "library",
"torch"}, or {"dtype", "why_not"}.
"""

import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch_process import device, on_gpu, rates, say

Product = Callable[[], Any]
Shape = tuple[int, int, int]

threads, seconds = int(sys.argv[2]), float(sys.argv[3])
dtypes = sys.argv[4:]
torch.set_num_threads(threads)
TYPES = {
    "float32": "float32",
    "tf32": "float32",
    "bfloat16": "bfloat16",
    "float16": "float16",
    "float8": "float8_e4m3fn",
}
# The last is one where cuBLAS is at its best on Hopper, by ml-engineering's search.
ON_GPU: list[Shape] = [(4096, 4096, 4096), (8192, 8192, 8192), (2048, 2048, 13312)]
ON_CPU: list[Shape] = [(1024, 1024, 1024), (2048, 2048, 2048), (4096, 4096, 4096)]
SHAPES = ON_GPU if on_gpu else ON_CPU


def product(dtype: str, m: int, n: int, k: int) -> Product:
    kind = getattr(torch, TYPES[dtype])
    torch.backends.cuda.matmul.allow_tf32 = dtype == "tf32"
    if dtype == "float8":
        a = torch.randn(m, k, device=device).to(kind)
        b = torch.randn(n, k, device=device).to(kind).t()
        one = torch.tensor(1.0, device=device)
        return lambda: torch._scaled_mm(a, b, scale_a=one, scale_b=one, out_dtype=torch.bfloat16)
    a = torch.randn(m, k, device=device).to(kind)
    b = torch.randn(k, n, device=device).to(kind)
    out = torch.empty(m, n, device=device, dtype=kind)
    return lambda: torch.mm(a, b, out=out)


def by_onednn(m: int, n: int, k: int) -> Product:
    a = torch.randn(m, k).to_mkldnn()
    b = torch.randn(n, k).to_mkldnn()
    return lambda: torch._C._nn.mkldnn_linear(a, b, None)


def libraries(dtype: str, shape: Shape) -> Iterator[tuple[str, Callable[[], Product]]]:
    """torch.mm, and where that is MKL's, which is slow on CPUs of others, oneDNN's product too."""
    yield "torch.mm", lambda: product(dtype, *shape)
    if not on_gpu and dtype == "float32" and torch.backends.mkldnn.is_available():
        yield "oneDNN", lambda: by_onednn(*shape)


for dtype in dtypes:
    best: list[float] = []
    best_shape: Shape | None = None
    best_library = ""
    try:
        with torch.no_grad():
            end = time.perf_counter() + seconds / len(dtypes)
            for at, shape in enumerate(SHAPES):
                left = end - time.perf_counter()
                if best and left <= 0:
                    break
                ways = list(libraries(dtype, shape))
                each = left / (len(SHAPES) - at) / len(ways)
                for library, make in ways:
                    m, n, k = shape
                    found = rates(make(), 2.0 * m * n * k, time.perf_counter() + each)
                    if not best or max(found) > max(best):
                        best, best_shape, best_library = found, shape, library
    except Exception as error:
        if not best:
            say(dtype=dtype, why_not=str(error).split("\n")[0][:200])
            continue
    say(
        dtype=dtype,
        flop_per_s=best,
        shape=best_shape,
        library=best_library,
        torch=torch.__version__,
    )
