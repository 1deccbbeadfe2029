"""What is advised: for the loader that trains, for the data that it reads, and again in every later
report of the same run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import ROOT, environment, unstarve
from recorded import line_of, recorded, remedies_of, report_of


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


@pytest.mark.parametrize("run", ["dataset_folder", "subset"])
def test_our_loader_is_advised_on_all_that_it_can_read(run: str) -> None:
    advised = remedies_of(report_of(run))
    speedup = advised["unstarve_loader"]["predicted"]["speedup"]
    assert speedup > 1, "it was measured on the images"
    # A packed folder would hold more than a subset of it.
    assert ("unstarve_shards" in advised) == (run != "subset")


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
