"""What `unstarve run` advises: for the loader that trains, for the data that it reads, and again
in every later report of the same run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from command_line import EMULATED, MODEL, PHOTOS, ROOT, environment, unstarve

pytestmark = [pytest.mark.real_time, pytest.mark.alone]

# Reads its images as ARGV says; sanity-checks its validation data first, as trainers do.
JOB = f"""
import sys, torch
from torch.utils.data import DataLoader, Subset
from torchvision import datasets, transforms
from torchvision.datasets.folder import default_loader
kind, root, steps = sys.argv[1:]
torch.set_num_threads(1)
crop = transforms.Compose([transforms.RandomResizedCrop(224), transforms.ToTensor()])
if kind == "ImageFolder":
    data = datasets.ImageFolder(root, crop)
elif kind == "DatasetFolder":
    data = datasets.DatasetFolder(root, default_loader, (".jpg",), crop)
elif kind == "Subset":
    data = Subset(datasets.ImageFolder(root, crop), range(150))
validation = DataLoader(torch.utils.data.TensorDataset(torch.zeros(8, 3)), batch_size=8)  # first
training = DataLoader(data, batch_size=8)  # the one that trains
{MODEL}
for batch in validation:
    pass
for step, (images, labels) in enumerate(training):
    train(images, labels)
    if step == int(steps):
        break
"""
PLACE = 1 + JOB[: JOB.index("  # the one that trains")].count("\n")


@pytest.fixture
def job(tmp_path: Path) -> list[str]:
    photos = sorted(PHOTOS.glob("*.jpg"))
    for number in range(160):
        file = tmp_path / "images" / "ab"[number % 2] / f"{number:03d}.jpg"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.symlink_to(photos[number % len(photos)])
    (tmp_path / "train.py").write_text(JOB)
    return [sys.executable, str(tmp_path / "train.py")]


def remedies(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {remedy["id"]: remedy for f in found["findings"] for remedy in f["remedies"]}


def run(tmp_path: Path, job: list[str], kind: str, *options: str, steps: int = 12) -> Any:
    done = unstarve(
        *[
            "run",
            "--out",
            str(tmp_path / "r"),
            "--json",
            str(tmp_path / "d.json"),
            *EMULATED,
            *options,
        ],
        *["--", *job, kind, str(tmp_path / "images"), str(steps)],
    )
    assert done.returncode == 0, done.stderr
    return json.loads((tmp_path / "d.json").read_text())


def test_a_report_says_what_the_run_said(tmp_path: Path, job: list[str]) -> None:
    found = run(tmp_path, job, "ImageFolder")
    assert remedies(found)["unstarve_shards"]["predicted"]["speedup"] > 1
    for command in (["report", "--json", "-"], ["diagnose", "--json"]):
        again = unstarve(*command, str(tmp_path / "r"))
        assert again.returncode == 0, again.stderr
        shown = json.loads(again.stdout)
        assert shown["verdict"] == found["verdict"]
        assert [list(f["remedies"]) for f in shown["findings"]] == [
            list(f["remedies"]) for f in found["findings"]
        ]
        for name, remedy in remedies(shown).items():
            assert remedy["predicted"] == pytest.approx(remedies(found)[name]["predicted"])


def test_a_run_of_a_few_steps_predicts_nothing(tmp_path: Path, job: list[str]) -> None:
    found = run(tmp_path, job, "ImageFolder", steps=3)
    assert found["steps"]["count"] == 3
    assert remedies(found)["more_workers"]["predicted"] == {"absent": "not_observed"}
    again = unstarve("report", str(tmp_path / "r"))
    assert "at least 5 training steps" in again.stderr


def test_the_verdict_names_the_loader_that_trains(tmp_path: Path, job: list[str]) -> None:
    found = run(tmp_path, job, "ImageFolder")
    assert f"train.py:{PLACE}" in found["verdict"]
    assert f"unstarve pack {tmp_path}/images " in remedies(found)["unstarve_shards"]["how"]


@pytest.mark.parametrize("kind", ["DatasetFolder", "Subset"])
def test_fix_tries_our_loader_on_all_that_it_can_read(
    tmp_path: Path, job: list[str], kind: str
) -> None:
    found = run(tmp_path, job, kind, "--fix", "--trial-seconds", "0")
    tried = {entry["remedy"] for entry in found["verification"]}
    assert "unstarve_loader" in tried
    advised = remedies(found)
    assert advised["unstarve_loader"]["predicted"]["speedup"] > 1, "it was measured on the images"
    # A packed folder would hold more than a subset of it.
    assert ("unstarve_shards" in advised) == (kind != "Subset")


def test_the_hook_names_the_data_set_inside_wrappers() -> None:
    code = """
import json, sys
sys.path.insert(0, sys.argv[1])
from _unstarve_hook import describe
from torch.utils.data import Subset
from torchvision.datasets import ImageNet
imagenet = object.__new__(ImageNet)  # its files are not there
imagenet.__dict__.update(root="/data", split="val", samples=[])
print(json.dumps(describe.dataset(Subset(Subset(imagenet, []), []))))
"""
    hook = ROOT / "python/unstarve/hook"
    done = subprocess.run(
        [sys.executable, "-c", code, str(hook)],
        capture_output=True,
        text=True,
        check=True,
        env=environment(),
    )
    said = json.loads(done.stdout)
    assert said["class"] == "torch.utils.data.dataset.Subset"
    assert said["files_class"] == "torchvision.datasets.imagenet.ImageNet"
    assert said["root"] == "/data/val"
