"""Calls that PyTorch makes of cuBLAS, cuDNN, cuFFT, cuSPARSE, cuSOLVER and NVRTC, as people make
them: through its operations, forwards and backwards. Nothing is computed; everything has to run."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional

warnings.filterwarnings("ignore")
FLOATS = (torch.float32, torch.float16, torch.bfloat16)
NUMBERS = (torch.float32, torch.float64, torch.complex64, torch.complex128)


def randn(*sizes: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(*sizes, device="cuda", dtype=dtype)


def there_and_back(function: Callable[..., Any], *inputs: torch.Tensor) -> None:
    """Runs a function and the way back through it."""
    leaves = [x.requires_grad_() for x in inputs]
    result = function(*leaves)
    result = result[0] if isinstance(result, tuple) else result
    (result.abs() if result.is_complex() else result).sum().backward()
    for leaf in leaves:
        assert leaf.grad is not None and leaf.grad.shape == leaf.shape


def attempt(what: str, function: Callable[[], object]) -> None:
    try:
        function()
        torch.cuda.synchronize()
        print(f"ok {what}", flush=True)
    except Exception as error:
        print(f"BAD {what}: {type(error).__name__} {error}".splitlines()[0], flush=True)


def convolutions() -> None:
    def network(dtype: torch.dtype, channels_last: bool) -> None:
        layout = torch.channels_last if channels_last else torch.contiguous_format
        net = nn.Sequential(
            nn.Conv2d(8, 16, 3, stride=2, padding=1, groups=2),
            nn.BatchNorm2d(16),
            nn.ReLU(),
            nn.ConvTranspose2d(16, 8, 2, stride=2),
            nn.MaxPool2d(2),
        )
        net = net.cuda().to(dtype).to(memory_format=layout)
        there_and_back(net, randn(4, 8, 32, 32, dtype=dtype).contiguous(memory_format=layout))

    for benchmark in (False, True):
        torch.backends.cudnn.benchmark = benchmark
        for dtype in FLOATS:
            for channels_last in (False, True):
                what = f"convolutions {dtype} benchmark={benchmark} channels_last={channels_last}"
                attempt(what, lambda d=dtype, c=channels_last: network(d, c))
    torch.backends.cudnn.benchmark = False
    attempt("Conv1d", lambda: there_and_back(nn.Conv1d(8, 16, 3).cuda(), randn(4, 8, 64)))
    attempt("Conv3d", lambda: there_and_back(nn.Conv3d(3, 8, 3).cuda(), randn(2, 3, 8, 16, 16)))
    in_double = nn.Conv2d(3, 8, 3).cuda().double()
    attempt(
        "Conv2d float64",
        lambda: there_and_back(in_double, randn(2, 3, 16, 16, dtype=torch.float64)),
    )
    torch.backends.cudnn.allow_tf32 = False
    attempt(
        "Conv2d without TF32",
        lambda: there_and_back(nn.Conv2d(3, 8, 3).cuda(), randn(2, 3, 16, 16)),
    )
    torch.backends.cudnn.allow_tf32 = True
    attempt("BatchNorm2d, evaluated", lambda: nn.BatchNorm2d(8).cuda().eval()(randn(2, 8, 4, 4)))


def recurrent_networks() -> None:
    options: list[dict[str, Any]] = [
        {},
        {"num_layers": 2, "bidirectional": True, "dropout": 0.2},
        {"bias": False},
        {"batch_first": True},
    ]
    for kind in (nn.LSTM, nn.GRU, nn.RNN):
        for option in options:
            for dtype in (torch.float32, torch.float16):
                net = kind(16, 32, **option).cuda().to(dtype)
                attempt(
                    f"{kind.__name__} {option} {dtype}",
                    lambda n=net, d=dtype: there_and_back(n, randn(5, 3, 16, dtype=d)),
                )
    projecting = nn.LSTM(16, 32, proj_size=8, num_layers=2).cuda()
    attempt("LSTM with projections", lambda: there_and_back(projecting, randn(5, 3, 16)))
    lengths = torch.tensor([5, 3, 2])
    pack = nn.utils.rnn.pack_padded_sequence
    lstm = nn.LSTM(16, 32).cuda()
    attempt(
        "LSTM of packed sequences",
        lambda: there_and_back(lambda x: lstm(pack(x, lengths))[0].data, randn(5, 3, 16)),
    )
    attempt("LSTM, evaluated", lambda: lstm.eval()(randn(5, 3, 16)))


def attention() -> None:
    sdpa = functional.scaled_dot_product_attention
    for dtype in FLOATS:
        attempt(
            f"attention, causal, {dtype}",
            lambda d=dtype: there_and_back(
                lambda q, k, v: sdpa(q, k, v, is_causal=True),
                *(randn(2, 8, 128, 64, dtype=d) for _ in range(3)),
            ),
        )
        attempt(
            f"attention, masked, {dtype}",
            lambda d=dtype: there_and_back(
                lambda q, k, v: sdpa(q, k, v, attn_mask=q.new_zeros(128, 128), dropout_p=0.1),
                *(randn(2, 8, 128, 64, dtype=d) for _ in range(3)),
            ),
        )
    layer = nn.TransformerEncoderLayer(64, 4, 128, activation="gelu").cuda()
    attempt("TransformerEncoderLayer", lambda: there_and_back(layer, randn(10, 2, 64)))


def other_layers() -> None:
    targets = torch.ones(10, dtype=torch.int32, device="cuda")
    lengths = torch.tensor([5, 5], dtype=torch.int32, device="cuda")
    steps = torch.tensor([20, 20], dtype=torch.int32, device="cuda")
    if torch.__version__ < "2.4":  # where cuDNN's CTC loss takes what lies on the host
        targets, lengths, steps = targets.cpu(), lengths.cpu(), steps.cpu()
    attempt(
        "CTC loss",
        lambda: there_and_back(
            lambda x: functional.ctc_loss(x.log_softmax(-1), targets, steps, lengths),
            randn(20, 2, 10),
        ),
    )
    attempt(
        "spatial transformer",
        lambda: there_and_back(
            lambda x, t: functional.grid_sample(
                x, functional.affine_grid(t, list(x.shape), align_corners=True), align_corners=True
            ),
            randn(2, 3, 8, 8),
            randn(2, 2, 3),
        ),
    )


def products() -> None:
    for dtype in NUMBERS:
        for what, function in {
            "mm": lambda d: randn(4, 5, dtype=d) @ randn(5, 6, dtype=d),
            "bmm": lambda d: randn(3, 4, 5, dtype=d) @ randn(3, 5, 6, dtype=d),
            "addmm": lambda d: torch.addmm(
                randn(4, 6, dtype=d), randn(4, 5, dtype=d), randn(5, 6, dtype=d)
            ),
            "mv": lambda d: randn(4, 5, dtype=d) @ randn(5, dtype=d),
            "dot": lambda d: torch.dot(randn(5, dtype=d), randn(5, dtype=d)).item(),
            "vdot": lambda d: torch.vdot(randn(5, dtype=d), randn(5, dtype=d)).item(),
        }.items():
            attempt(f"{what} {dtype}", lambda f=function, d=dtype: f(d))
    attempt("Linear", lambda: there_and_back(nn.Linear(64, 32).cuda(), randn(8, 64)))
    bytes_of_ones = torch.ones(32, 32, dtype=torch.int8, device="cuda")
    attempt("int8 mm", lambda: torch._int_mm(bytes_of_ones, bytes_of_ones))


def factorisations() -> None:
    """Without linalg.eig, which asks whether all numbers are finite: what it reads says no."""
    linalg = torch.linalg
    names = "inv cholesky qr svd svdvals eigh eigvalsh lu det slogdet pinv lu_factor ldl_factor"
    for dtype in NUMBERS:
        for name in names.split():
            for sizes in ((8, 8), (3, 8, 8)):
                function = getattr(linalg, name)
                attempt(
                    f"{name} {sizes} {dtype}",
                    lambda f=function, s=sizes, d=dtype: f(randn(*s, dtype=d)),
                )
        a, b = randn(8, 8, dtype=dtype), randn(3, 8, 8, dtype=dtype)
        for what, call in {
            "solve": lambda x: linalg.solve(x, x),
            "lstsq": lambda x: linalg.lstsq(x, x),
            "solve_triangular": lambda x: linalg.solve_triangular(x, x, upper=True),
            "cholesky_solve": lambda x: torch.cholesky_solve(x, x),
            "householder_product": lambda x: linalg.householder_product(x, x[..., 0]),
            "ldl_solve": lambda x: linalg.ldl_solve(*linalg.ldl_factor(x), x),
        }.items():
            for x in (a, b):
                attempt(f"{what} {tuple(x.shape)} {dtype}", lambda c=call, m=x: c(m))
        for driver in ("gesvd", "gesvdj", "gesvda"):
            attempt(
                f"svd by {driver} {dtype}",
                lambda d=dtype, n=driver: linalg.svd(randn(2, 30, 30, dtype=d), driver=n),
            )
        attempt(f"large eigh {dtype}", lambda d=dtype: linalg.eigh(randn(600, 600, dtype=d)))


def transforms() -> None:
    for name in ["fft", "ifft", "rfft", "ihfft", "fft2", "rfft2", "fftn"]:
        attempt(name, lambda n=name: getattr(torch.fft, n)(randn(4, 16, 16)))
    attempt("long fft", lambda: torch.fft.fft(randn(70000)))
    attempt(
        "irfft(rfft)",
        lambda: there_and_back(lambda x: torch.fft.irfft2(torch.fft.rfft2(x)), randn(2, 16, 16)),
    )
    window = torch.ones(400, device="cuda")
    attempt("stft", lambda: torch.stft(randn(2, 4000), 400, window=window, return_complex=True))


def sparse_matrices() -> None:
    def csr() -> torch.Tensor:
        return torch.eye(8).to_sparse_csr().cuda()

    def coo() -> torch.Tensor:
        return torch.eye(8).to_sparse().cuda()

    for what, function in {
        "csr @ dense": lambda: csr() @ randn(8, 4),
        "csr @ vector": lambda: csr() @ randn(8),
        "csr @ csr": lambda: csr() @ csr(),
        "csr + csr": lambda: csr() + csr(),
        "addmm": lambda: torch.sparse.addmm(randn(8, 4), csr(), randn(8, 4)),
        "sampled_addmm": lambda: torch.sparse.sampled_addmm(csr(), randn(8, 3), randn(3, 8)),
        "triangular_solve": lambda: torch.triangular_solve(randn(8, 2), csr()),
        "coo @ dense": lambda: torch.sparse.mm(coo(), randn(8, 4)),
        "coo @ coo": lambda: torch.sparse.mm(coo(), coo()),
        "bsr @ dense": lambda: torch.eye(8).to_sparse_bsr((2, 2)).cuda() @ randn(8, 4),
    }.items():
        attempt(what, function)


def compiled_at_run_time() -> None:
    source = "template <typename T> T times(T x, T y) { return x * y; }"
    attempt(
        "jiterator",
        lambda: torch.cuda.jiterator._create_jit_fn(source)(randn(4), randn(4)),
    )
    attempt("zeta", lambda: torch.special.zeta(randn(4), randn(4)))
    attempt("erfcx", lambda: torch.special.erfcx(randn(4)))

    @torch.jit.script
    def scripted(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.relu(x * y + x).tanh() * y

    def often() -> None:
        for _ in range(5):
            there_and_back(scripted, randn(64, 64), randn(64, 64))

    attempt("torch.jit.script", often)


def training() -> None:
    net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.Flatten(), nn.Linear(7200, 10))
    net = net.cuda()
    optimizer = torch.optim.AdamW(net.parameters())
    scaler = torch.cuda.amp.GradScaler()

    def steps() -> None:
        labels = torch.zeros(4, dtype=torch.long, device="cuda")
        for _ in range(3):
            with torch.autocast("cuda", dtype=torch.float16):
                loss = functional.cross_entropy(net(randn(4, 3, 32, 32)), labels)
            optimizer.zero_grad()
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(net.parameters(), 1)
            scaler.step(optimizer)
            scaler.update()
        assert loss.item() == 0

    attempt("training in mixed precision", steps)


PARTS = (
    convolutions,
    recurrent_networks,
    attention,
    other_layers,
    products,
    factorisations,
    transforms,
    sparse_matrices,
    compiled_at_run_time,
    training,
)

if __name__ == "__main__":
    # PyTorch's autograd thread lets go of Python objects after backward() has returned; where the
    # interpreter ends before it had its turn, the process aborts, with real GPUs too.
    sys.setswitchinterval(1e-5)
    for part in PARTS:
        if len(sys.argv) < 2 or part.__name__ in sys.argv[1:]:
            part()
    for _ in range(20):
        torch.cuda.synchronize()  # others have their turn
