"""What is installed, from the build or its wheel, works where nothing else of the project is."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from pathlib import Path

import pytest
from environment import ROOT, Environment, install, packages_of_this_python, site_of

PHOTOS = """
import os, pathlib, unstarve
photos = pathlib.Path(unstarve.__file__).parent / "demo" / "photos"
folder = pathlib.Path("images")
for index, photo in enumerate(sorted(photos.glob("*.jpg"))):
    (folder / "ab"[index % 2]).mkdir(parents=True, exist_ok=True)
    link = folder / "ab"[index % 2] / photo.name
    if not link.exists():
        link.symlink_to(photo)
"""

NATIVE_LOOP = (
    PHOTOS
    + """
import sys
loader = unstarve.ImageLoader("images", 8, size=64, output="numpy", seed=1)
batches = [(images.copy(), labels.copy()) for images, labels in loader]
assert sum(len(labels) for _, labels in batches) == 60
assert all(images.shape[1:] == (3, 64, 64) and images.std() > 10 for images, _ in batches)
assert sorted({int(label) for _, labels in batches for label in labels}) == [0, 1]
assert "torch" not in sys.modules
print("sixty photographs")
"""
)

TORCH_LOOP = (
    PHOTOS
    + """
import torch, unstarve
from torchvision import datasets, transforms as t
steps = t.Compose([t.Resize(72), t.CenterCrop(64), t.ToTensor()])
data = datasets.ImageFolder("images", steps)
ours = unstarve.DataLoader(data, batch_size=10, num_workers=1)
theirs = torch.utils.data.DataLoader(data, batch_size=10)
assert ours.explain().engine == "native", ours.explain()
for (images, labels), (expected, numbers) in zip(ours, theirs, strict=True):
    assert torch.equal(labels, numbers)
    assert (images - expected).abs().max() < 0.02
print("the same six batches")
"""
)

JOB = """
import torch
data = torch.utils.data.TensorDataset(torch.arange(40.0).unsqueeze(1))
model = torch.nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), 1e-6)
for (x,) in torch.utils.data.DataLoader(data, batch_size=2):
    model(x).sum().backward()
    optimizer.step()
print("the job's own words")
"""


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """Nothing but unstarve and NumPy, which the loader's arrays are made of."""
    environment = install(tmp_path_factory.mktemp("bare"))
    for folder in packages_of_this_python():
        for name in ("numpy", "numpy.libs"):
            if (source := Path(folder) / name).is_dir():
                (site_of(environment.bin.parent) / name).symlink_to(source)
    return environment


@pytest.fixture(scope="module")
def with_torch(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """Unstarve beside the PyTorch of the tests. A .pth file of that environment, such as the one
    that names the build, is not followed from here."""
    environment = install(tmp_path_factory.mktemp("torch"))
    lines = "\n".join(packages_of_this_python())
    (site_of(environment.bin.parent) / "torch.pth").write_text(lines + "\n", encoding="utf-8")
    return environment


@pytest.fixture(scope="module")
def traces() -> Path:
    return ROOT / "tests" / "data" / "traces"


def test_doctor_finds_the_parts(bare: Environment) -> None:
    checks = json.loads(bare.run("unstarve", "doctor", "--json"))["checks"]
    by_name = {check["what"]: check for check in checks}
    assert by_name["emulated GPUs"]["works"], by_name
    for name in ("Python hook", "unstarve's loader", "GPU recorder (CUPTI)"):
        assert by_name[name]["works"], by_name[name]
        assert by_name[name]["found"].startswith(str(bare.bin.parent))


def test_diagnoses_a_trace(bare: Environment, traces: Path) -> None:
    trace = next(traces.glob("resnet50_num_workers_0*"))
    text = bare.run("unstarve", "diagnose", trace)
    assert "waits for the data loader" in text


def test_runs_a_job_without_torch(bare: Environment) -> None:
    job = 'import sys; print("the job\'s own words"); sys.exit(7)'
    text = bare.run("unstarve", "run", "--out", "run", "--", "python", "-c", job, code=7)
    assert "the job's own words" in text
    assert (bare.folder / "run" / "run.sqlite").is_file()


def test_loads_without_torch(bare: Environment) -> None:
    assert "sixty photographs" in bare.run("python", "-c", NATIVE_LOOP)


def test_imports_next_to_nothing(bare: Environment) -> None:
    """What an import takes is what it brings along; a clock would say something else each time."""
    listed = "import sys; b = set(sys.modules); import unstarve; print(*set(sys.modules) - b)"
    small = ("unstarve", "importlib", "importlib.", "warnings", "__future__", "_warnings")
    loaded = bare.run("python", "-c", listed).split()
    assert [name for name in loaded if not name.startswith(small)] == []
    assert "unstarve._native" not in loaded


def test_packs_and_measures(bare: Environment) -> None:
    bare.run("python", "-c", PHOTOS)
    bare.run("unstarve", "pack", "images", "shards")
    assert "images" in bare.run("unstarve", "bench", "shards", "--threads", "1", "--task", "rrc224")


def test_demo_without_torch_says_what_to_do(bare: Environment) -> None:
    text = bare.run("unstarve", "demo", code=2)
    assert "pip install torch torchvision" in text


def test_observes_a_job_with_torch(with_torch: Environment) -> None:
    """The hook is found, and sees the loader's twenty batches."""
    (with_torch.folder / "job.py").write_text(JOB, encoding="utf-8")
    text = with_torch.run("unstarve", "run", "--out", "run", "--", "python", "job.py")
    assert "the job's own words" in text
    with contextlib.closing(sqlite3.connect(with_torch.folder / "run" / "run.sqlite")) as recorded:
        assert recorded.execute("SELECT count(*) FROM step").fetchone() == (20,)


def test_runs_a_cuda_job_without_a_gpu(with_torch: Environment) -> None:
    job = "import torch as t; print(t.cuda.get_device_name(), len(t.ones(8, device='cuda')))"
    text = with_torch.run("unstarve", "emulate", "a100", "--", "python", "-c", job)
    assert "Emulated NVIDIA A100-SXM4-80GB 8" in text


def test_takes_the_place_of_torchs_loader(with_torch: Environment) -> None:
    assert "the same six batches" in with_torch.run("python", "-c", TORCH_LOOP)
