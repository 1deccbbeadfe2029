"""What is advised: for the loader that trains, for the data that it reads, and again in every later
report of the same run."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from command_line import EMULATED, MODEL, PHOTOS, ROOT, environment, unstarve
from measuring import measured
from recorded import line_of, recorded, remedies_of, report_of

# Reads its images as ARGV says.
JOB = f"""
import sys, torch
from torch.utils.data import DataLoader, Subset
from torchvision import datasets, transforms
from torchvision.datasets.folder import default_loader
kind, root = sys.argv[1:]
torch.set_num_threads(1)
crop = transforms.Compose([transforms.RandomResizedCrop(224), transforms.ToTensor()])
if kind == "DatasetFolder":
    data = datasets.DatasetFolder(root, default_loader, (".jpg",), crop)
elif kind == "Subset":
    data = Subset(datasets.ImageFolder(root, crop), range(150))
{MODEL}
for step, (images, labels) in enumerate(DataLoader(data, batch_size=8)):
    train(images, labels)
    if step == 12:
        break
"""


def test_a_report_says_what_the_run_said(tmp_path: Path) -> None:
    run = recorded("images", tmp_path)
    found = json.loads((run / "told.json").read_text())
    assert remedies_of(found)["unstarve_shards"]["predicted"]["speedup"] > 1
    for command in (["report", "--json", "-"], ["diagnose", "--json"]):
        again = unstarve(*command, str(run))
        assert again.returncode == 0, again.stderr
        shown = json.loads(again.stdout)
        assert shown["verdict"] == found["verdict"]
        assert [list(f["remedies"]) for f in shown["findings"]] == [
            list(f["remedies"]) for f in found["findings"]
        ]
        for name, remedy in remedies_of(shown).items():
            assert remedy["predicted"] == pytest.approx(remedies_of(found)[name]["predicted"])


def test_a_run_of_a_few_steps_predicts_nothing(tmp_path: Path) -> None:
    found = report_of("few_steps")
    assert found["steps"]["count"] == 3
    assert remedies_of(found)["more_workers"]["predicted"] == {"absent": "not_observed"}
    again = unstarve("report", str(recorded("few_steps", tmp_path)))
    assert "at least 5 training steps" in again.stderr


def test_the_verdict_names_the_loader_that_trains() -> None:
    found = report_of("images")
    place = line_of("reads_images.py", "  # the one that trains")
    assert f"reads_images.py:{place}" in found["verdict"]
    how = remedies_of(found)["unstarve_shards"]["how"]
    assert "unstarve pack /tmp/unstarve-recordings/images/images " in how


def fix(folder: Path, kind: str) -> dict[str, Any]:
    """What `run --fix` finds of the job, in a folder of its own each time."""
    photos = sorted(PHOTOS.glob("*.jpg"))
    folder = Path(tempfile.mkdtemp(dir=folder))
    for number in range(160):
        file = folder / "images" / "ab"[number % 2] / f"{number:03d}.jpg"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.symlink_to(photos[number % len(photos)])
    (folder / "train.py").write_text(JOB)
    done = unstarve(
        *["run", "--fix", "--trial-seconds", "0", "--out", "r", "--json", "d.json", *EMULATED],
        *["--", sys.executable, "train.py", kind, str(folder / "images")],
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads((folder / "d.json").read_text())
    return found


@pytest.mark.parametrize("kind", ["DatasetFolder", "Subset"])
def test_fix_tries_our_loader_on_all_that_it_can_read(tmp_path: Path, kind: str) -> None:
    def judge(found: dict[str, Any]) -> None:
        tried = {entry["remedy"] for entry in found["verification"]}
        assert "unstarve_loader" in tried
        advised = remedies_of(found)
        speedup = advised["unstarve_loader"]["predicted"]["speedup"]
        assert speedup > 1, "it was measured on the images"
        # A packed folder would hold more than a subset of it.
        assert ("unstarve_shards" in advised) == (kind != "Subset")

    measured(lambda: fix(tmp_path, kind), judge)


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
