"""`unstarve demo`, and `run --fix` on its script: the whole loop on photographs."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from command_line import EMULATED, PHOTOS, ROOT, UNSTARVE, environment, unstarve
from measuring import measured


def fix_of_images(folder: Path) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """`run --fix` of the project's example, in a folder of its own each time."""
    photos = sorted(PHOTOS.glob("*.jpg"))
    folder = Path(tempfile.mkdtemp(dir=folder))
    (folder / "data/photo").mkdir(parents=True)
    for number in range(1600):
        (folder / f"data/photo/{number:04d}.jpg").symlink_to(photos[number % len(photos)])
    train = [sys.executable, str(ROOT / "examples/train.py"), "data"]
    done = unstarve(
        *["run", "--fix", "--trial-seconds", "0", "--out", "r", *EMULATED],
        *["--json", "d.json", "--", *train, "--steps", "16", "--batch-size", "32"],
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    return folder, done


def of_cache(found: dict[str, Any]) -> dict[str, Any]:
    """What is predicted of it."""
    remedies = [remedy for finding in found["findings"] for remedy in finding["remedies"]]
    (cache,) = [remedy for remedy in remedies if remedy["id"] == "unstarve_cache"]
    predicted: dict[str, Any] = cache["predicted"]
    return predicted


def judge_gain(made: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    found = json.loads((made[0] / "d.json").read_text())
    assert "low" in of_cache(found), of_cache(found)
    tried = {entry["remedy"]: entry for entry in found["verification"]}
    by_hook = [id for id in tried if id != "as_written"]
    assert set(by_hook) - {"more_workers"} == {"unstarve_loader"}
    kept = [id for id in by_hook if tried[id]["outcome"] == "kept"]
    assert ("as_written" in tried) == bool(kept), "what is kept is run as the diff has it"
    ours = tried["unstarve_loader"]
    assert ours["after"]["au"] > ours["before"]["au"]


def test_fix_tries_what_the_hook_can_do_and_says_how_to_cache(tmp_path: Path) -> None:
    folder, done = measured(lambda: fix_of_images(tmp_path), judge_gain)
    found = json.loads((folder / "d.json").read_text())
    tried = {entry["remedy"]: entry for entry in found["verification"]}
    assert of_cache(found)["low"] <= of_cache(found)["high"]
    assert "unstarve_cache is not tried" in done.stderr
    assert "set UNSTARVE_CACHE_DIR=DIR" in done.stderr
    assert "in the first, which fills the cache, an image takes" in done.stderr
    again = unstarve("report", str(folder / "r"), "--json", "-")
    assert again.returncode == 0, again.stderr
    shown = json.loads(again.stdout)
    assert shown["partition"] == found["partition"]
    assert [entry["remedy"] for entry in shown["verification"]] == [*tried]
    for entry in shown["verification"]:
        then = tried[entry["remedy"]]
        assert entry["held"] == then["held"]
        for key in ("predicted", "measured"):
            assert entry[key] == pytest.approx(then[key])
    assert "unstarve_loader" in unstarve("report", str(folder / "r")).stdout
    assert unstarve("diagnose", "--json", str(folder / "r")).returncode == 0


def demo(folder: Path) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """The whole of it, shortened, in a folder of its own each time."""
    out = Path(tempfile.mkdtemp(dir=folder)) / "d"
    done = unstarve("demo", *EMULATED, "--steps", "12", "--out", str(out), "--json")
    assert done.returncode == 0, done.stderr
    return out, done


def are_cpus_taken(found: dict[str, Any]) -> bool:
    """By others, beside whom nothing may be promised."""
    return any(held["rule"] == "busy_neighbour" for held in found.get("conditions", []))


def judge_demo(made: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    found = json.loads(made[1].stdout)
    remedies = [tried["remedy"] for tried in found["verification"]]
    assert remedies[-3:] == ["unstarve_loader", "unstarve_cache", "unstarve_shards"]
    folder, last = found["verification"][-2:]
    promised = "low" in folder["predicted"] and "low" in last["predicted"]
    assert promised or are_cpus_taken(found)
    assert last["after"]["au"] > last["before"]["au"]


@pytest.mark.timeout(900)  # a minute, and four times that beside others, repeated
def test_demo_closes_the_loop(tmp_path: Path) -> None:
    """How good the figures are is for bench/demo_reliability.py."""
    out, done = measured(lambda: demo(tmp_path), judge_demo)
    found = json.loads(done.stdout)
    assert found["devices"][0]["emulated"]
    assert sum(found["partition"].values()) == pytest.approx(1, abs=1e-6)
    assert "kept 3072 of 3072 images" in done.stderr
    assert "ms of CPU per image" in done.stderr
    for large in ("shards", "cache"):
        assert not (out / large).exists(), "what is large is taken away again"
    folder, last = found["verification"][-2:]
    for side in ("before", "after"):
        assert set(last[side]) >= {"step_us", "au", "samples_per_s", "cpu_cores"}
    assert (out / "report.html").exists()
    if "low" not in last["predicted"]:
        return
    assert folder["predicted"]["low"] <= folder["predicted"]["speedup"]
    assert last["predicted"]["low"] <= last["predicted"]["speedup"] <= last["predicted"]["high"]
    advice = {r["id"]: r["how"] for f in found["findings"] for r in f["remedies"]}
    assert f"unstarve pack {out}/data " in advice["unstarve_shards"]
    assert "UNSTARVE_CACHE_DIR" in advice["unstarve_cache"]


@pytest.mark.nightly
def test_demo_goes_on_where_the_disk_takes_no_copies(tmp_path: Path) -> None:
    """A limit on the size of files stands for a full disk: the records of the runs are smaller."""
    out = tmp_path / "d"
    limits = (100 << 20, 100 << 20)  # a worker's batch in shared memory has 77 MB
    done = subprocess.run(
        [
            *[str(UNSTARVE), "demo", *EMULATED, "--out", str(out)],
            *["--seconds", "900", "--steps", "4"],
        ],
        capture_output=True,
        text=True,
        env=environment(),
        timeout=900,
        check=False,
        restore_signals=False,  # SIGXFSZ stays ignored, so that a write fails instead
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limits),
    )
    assert done.returncode == 0, done.stderr
    for remedy, folder in (("unstarve_cache", "cache"), ("unstarve_shards", "shards")):
        (note,) = [line for line in done.stderr.splitlines() if f"{remedy} was not tried" in line]
        assert str(out / folder) in note
        assert "File too large" in note
        assert not (out / folder).exists()
    assert "unstarve_loader" in done.stdout
    assert "The first one filled the" not in done.stdout


def test_demo_leaves_what_it_finds(tmp_path: Path) -> None:
    kept = tmp_path / "cache/kept"
    kept.parent.mkdir()
    kept.touch()
    done = unstarve("demo", "--out", str(tmp_path))
    assert done.returncode == 2
    assert "'cache'" in done.stderr
    assert kept.exists()
