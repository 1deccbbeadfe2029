#pragma once

namespace unstarve::roofline {

/// What the interpreter runs behind kTorchPrelude: `python -c SCRIPT DEVICE THREADS SECONDS
/// DTYPE...`. Prints a JSON object a line: {"dtype", "flop_per_s": [...], "shape": [m, n, k],
/// "library", "torch"}, or {"dtype", "why_not"}, or {"error"}.
inline constexpr const char* kTorchGemmScript = R"PY(
threads, seconds = int(sys.argv[2]), float(sys.argv[3])
dtypes = sys.argv[4:]
torch.set_num_threads(threads)
TYPES = {"float32": "float32", "tf32": "float32", "bfloat16": "bfloat16", "float16": "float16",
         "float8": "float8_e4m3fn"}
# The last is one where cuBLAS is at its best on Hopper, by ml-engineering's search.
SHAPES = ([(4096, 4096, 4096), (8192, 8192, 8192), (2048, 2048, 13312)] if on_gpu
          else [(1024, 1024, 1024), (2048, 2048, 2048), (4096, 4096, 4096)])

def product(dtype, m, n, k):
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

def by_onednn(m, n, k):
    a = torch.randn(m, k).to_mkldnn()
    b = torch.randn(n, k).to_mkldnn()
    return lambda: torch._C._nn.mkldnn_linear(a, b, None)

def libraries(dtype, shape):
    """torch.mm, and where that is MKL's, which is slow on CPUs of others, oneDNN's product too."""
    yield "torch.mm", lambda: product(dtype, *shape)
    if not on_gpu and dtype == "float32" and torch.backends.mkldnn.is_available():
        yield "oneDNN", lambda: by_onednn(*shape)

for place, dtype in enumerate(dtypes):
    best, best_shape, best_library = [], None, ""
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
    say(dtype=dtype, flop_per_s=best, shape=best_shape, library=best_library,
        torch=torch.__version__)
)PY";

}  // namespace unstarve::roofline
