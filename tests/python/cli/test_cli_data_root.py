"""The folder that `unstarve run` measures is the job's, whatever its name and wherever it lies."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from command_line import EMULATED, MODEL, PHOTOS, environment, unstarve
from hook_jobs import run_job
from measuring import measured
from recorded import remedies_of
from unstarve import _native as native

JOB = f"""
import os, sys, time, torch
from torch.utils.data import DataLoader
from torchvision import datasets, transforms
folder, data = sys.argv[1:]
os.chdir(folder)
steps = [transforms.RandomResizedCrop(224), transforms.ToTensor()]
torch.set_num_threads(1)
{MODEL}
images = datasets.ImageFolder(data, transforms.Compose(steps))
for step, (images, labels) in enumerate(DataLoader(images, batch_size=8)):
    train(images, labels)
    if step == 12:
        break
time.sleep(0.2)  # PyTorch 2.15 may abort where Python ends right behind a backward pass
"""

LONG = "one-of-many-folders-with-a-name-of-its-own/" * 4
WORDS = LONG + "my photographs, in Zürich's archive/写真"
NAMES = {"long": LONG + "end", "no-utf8": WORDS + os.fsdecode(b"/caf\xe9 \xff")}


def make_images(folder: Path) -> Path:
    photos = sorted(PHOTOS.glob("*.jpg"))
    for number in range(160):
        file = folder / "ab"[number % 2] / f"{number:03d}.jpg"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.symlink_to(photos[number % len(photos)])
    return folder


def advised_to(tmp_path: Path, folder: Path, data: str, *figures: str) -> dict[str, dict[str, Any]]:
    """Remedies for a job that loads `data` from the working directory `folder`. Only what was read
    from there has `figures`."""
    (tmp_path / "elsewhere").mkdir()
    script = tmp_path / "train.py"
    script.write_text(JOB)

    def measure() -> dict[str, dict[str, Any]]:
        out = tempfile.mkdtemp(dir=tmp_path)
        done = unstarve(
            *["run", "--out", f"{out}/r", "--json", f"{out}/d.json", *EMULATED],
            *["--", sys.executable, str(script), str(folder), data],
            cwd=tmp_path / "elsewhere",
        )
        assert done.returncode == 0, done.stderr
        found = json.loads(Path(out, "d.json").read_text())
        assert found["steps"]["count"] == 12
        return remedies_of(found)

    def judge(advised: dict[str, dict[str, Any]]) -> None:
        for remedy in figures:
            assert advised[remedy]["predicted"]["speedup"] > 1, advised[remedy]

    return measured(measure, judge)


@pytest.mark.parametrize("name", NAMES)
def test_the_jobs_own_folder_is_measured(tmp_path: Path, name: str) -> None:
    root = make_images(tmp_path / NAMES[name])
    figures = ("unstarve_loader", "unstarve_cache", "unstarve_shards")
    advised = advised_to(tmp_path, tmp_path, str(root), *figures)
    if name == "long":
        assert f"unstarve pack {root} " in advised["unstarve_shards"]["how"]


def test_a_relative_folder_is_one_of_the_jobs_working_directory(tmp_path: Path) -> None:
    make_images(tmp_path / "job" / "data")
    advised = advised_to(tmp_path, tmp_path / "job", "data", "unstarve_loader")
    assert f"unstarve pack {tmp_path}/job/data " in advised["unstarve_shards"]["how"]


def test_a_folder_of_the_native_loader_is_not_cut_either(tmp_path: Path) -> None:
    root = make_images(tmp_path / WORDS)
    script = tmp_path / "train.py"
    script.write_text(
        "import os, sys, unstarve\n"
        "os.chdir(sys.argv[1])\n"
        "for batch in unstarve.ImageLoader(sys.argv[2], 8, threads=1): pass\n"
    )
    package = Path(native.__file__).parent.parent
    job = run_job(tmp_path / "r", [script, root.parent, root.name], [package])
    assert (job.process.returncode, job.process.stderr) == (0, "")
    assert job.main.text["dataset"]["root"] == str(root)


def test_the_hook_says_the_bytes_of_a_root_and_what_did_not_fit(tmp_path: Path) -> None:
    code = """
import os, sys
from _unstarve_hook import describe
from _unstarve_hook.recorder import RECORDER as R, WAIT
class Data:
    def __init__(self, root): self.root = root
    def __len__(self): return 3
R.record(WAIT, 0, 0)
R.describe(dataset=describe.dataset(Data(eval(sys.argv[1]))))
"""
    for number, (root, expected) in enumerate(
        [
            ("'data'", {"root": f"{Path.cwd()}/data"}),
            ("b'/d/data'", {"root": "/d/data"}),
            ("'/a/link/../data'", {"root": "/a/link/../data"}),
            ("'/d' * 1000", {"root": "/d" * 1000}),
            (r"'/d/\udcff'", {"root": "/d/�", "root_hex": b"/d/\xff".hex()}),
            ("None", {}),
            ("3", {}),
        ]
    ):
        job = run_job(tmp_path / str(number), ["-c", code, root])
        assert job.errors == []
        assert job.main.text["dataset"] == {"class": "__main__.Data", "length": 3, **expected}
    job = run_job(tmp_path / "too long", ["-c", code, "'/d' * 4000"])
    assert "dataset" not in job.main.text
    assert "dataset" in job.main.text["left_out"]


def test_a_script_whose_name_is_no_utf8_is_described(tmp_path: Path) -> None:
    script = tmp_path / os.fsdecode(b"tr\xe4in.py")
    script.write_text(
        "from _unstarve_hook.recorder import RECORDER as R, WAIT\nR.record(WAIT, 0, 0)\n"
    )
    job = run_job(tmp_path / "r", [script])
    assert job.main.text["argv"] == [str(script).replace("\udce4", "?")]


def test_data_that_lie_too_deep_are_said_to_be_left_out(tmp_path: Path) -> None:
    """The ring's text has 4 kB, which is less than the longest path."""
    deep = tmp_path
    descriptor = os.open(tmp_path, os.O_RDONLY)
    while len(str(deep)) < 4000:
        name = "d" * min(250, 4080 - len(str(deep)))
        os.mkdir(name, dir_fd=descriptor)
        below = os.open(name, os.O_RDONLY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor, deep = below, deep / name
    os.close(descriptor)
    (deep / "a").mkdir()
    for number, photo in enumerate(sorted(PHOTOS.glob("*.jpg"))[:8] * 13):
        (deep / "a" / str(number)).with_suffix(".jpg").symlink_to(photo)
    script = tmp_path / "train.py"
    script.write_text(JOB)
    done = unstarve(
        *["run", "--out", str(tmp_path / "r"), *EMULATED],
        *["--", sys.executable, str(script), str(tmp_path), str(deep)],
        env=environment(),
    )
    assert done.returncode == 0, done.stderr
    assert "the path of the job's data is too long to be recorded" in done.stderr
