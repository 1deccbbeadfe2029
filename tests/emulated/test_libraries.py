"""What PyTorch calls of NVIDIA's math libraries runs on an emulated GPU and says that it is one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from emulation import BUILD, PYTHON, Emulation

SCRIPT = Path(__file__).parent / "libraries/operations.py"
FOLDER = BUILD / "lib/emulated"
Machine = Callable[..., Emulation]

WHAT_IS_LOADED = """
import ctypes, sys
for name in sys.argv[1:]:
    ctypes.CDLL(name)
print(*sorted({line.split()[-1] for line in open("/proc/self/maps") if ".so" in line}), sep="\\n")
"""


@pytest.mark.parametrize(
    ("parts", "at_least"),
    [
        (("convolutions", "recurrent_networks", "attention", "other_layers", "training"), 50),
        (("products", "factorisations"), 180),
        (("transforms", "sparse_matrices", "compiled_at_run_time"), 24),
    ],
    ids=["networks", "matrices", "others"],
)
def test_operations_run(emulated: Machine, parts: tuple[str, ...], at_least: int) -> None:
    done = emulated().run(PYTHON, SCRIPT, *parts)
    lines = done.stdout.splitlines()
    assert [line for line in lines if line.startswith("BAD")] == []
    assert done.returncode == 0, done.stderr
    assert len([line for line in lines if line.startswith("ok ")]) >= at_least


def test_what_a_profiler_sees_says_emulated(emulated: Machine) -> None:
    said = emulated().python("""
import json, torch
from torch.profiler import ProfilerActivity, profile
x = torch.randn(4, 3, 16, 16, device="cuda")
net = torch.nn.Conv2d(3, 8, 3).cuda()
with profile(activities=[ProfilerActivity.CUDA]) as profiled:
    (net(x).flatten(1) @ torch.randn(1568, 5, device="cuda")).sum()
    torch.fft.fft(torch.randn(64, device="cuda"))
    torch.linalg.cholesky(torch.randn(64, 64, device="cuda"))
    torch.cuda.synchronize()
print(json.dumps([event.key for event in profiled.key_averages()]))
""")
    names = json.loads(said.splitlines()[-1])
    for library in ("cudnn", "cublas", "cufft", "cusolver"):
        assert any(name.startswith(f"emulated {library}") for name in names), (library, names)


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        ("libcublas.so.12", "libcublas.so.12"),
        ("/nowhere/nvidia/cublas/lib/libcublasLt.so.12", "libcublasLt.so.12"),
        ("libcudnn_cnn_infer.so.8", "libcudnn.so.8"),
        ("libcudnn_graph.so.9", "libcudnn.so.9"),
        ("libcuda.so", "libcuda.so.1"),
        ("libcusparse.so.12", "libcusparse.so.12"),
    ],
)
def test_a_library_of_nvidias_is_ours(emulated: Machine, asked: str, answered: str) -> None:
    loaded = emulated().python(WHAT_IS_LOADED, asked).splitlines()
    assert str((FOLDER / answered).resolve()) in loaded


def test_other_libraries_are_left_alone(emulated: Machine) -> None:
    loaded = emulated().python(WHAT_IS_LOADED, "libm.so.6").splitlines()
    assert not any(
        name.startswith(str(FOLDER.resolve())) and "redirect" not in name for name in loaded
    )


def test_without_an_emulation_nothing_is_redirected(emulated: Machine) -> None:
    machine = emulated()
    machine.environment.pop("UNSTARVE_EMULATED_GPU")
    done = machine.run(PYTHON, "-c", WHAT_IS_LOADED, "libcusparseLt.so.0")
    assert "cannot open shared object file" in done.stderr


def test_a_function_that_nobody_has_written_names_itself(emulated: Machine, tmp_path: Path) -> None:
    machine = emulated()
    machine.environment["UNSTARVE_EMULATED_LOG"] = str(tmp_path / "log")
    said = machine.python("""
import ctypes
library = ctypes.CDLL("libcusparseLt.so.0")
print(library.cusparseLtInit(None), library.cusparseLtInit(None))
""")
    assert said.split() == ["10", "10"]
    assert (tmp_path / "log").read_text().count("cusparseLtInit") == 1
