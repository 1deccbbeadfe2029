"""`unstarve roofline`: what a machine reaches, kept for it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from command_line import UNSTARVE, environment, unstarve

QUICK = ("--seconds", "0.5")


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """The environment of a user who has measured nothing yet."""
    return dict(environment(), XDG_CACHE_HOME=str(tmp_path / "cache"))


def kept(home: dict[str, str], ending: str = ".json") -> list[Path]:
    files = sorted(Path(home["XDG_CACHE_HOME"], "unstarve", "roofline").glob("*.json"))
    return [file for file in files if file.name.endswith("-modelled.json") == (ending != ".json")]


def measured(home: dict[str, str], *arguments: str) -> dict[str, Any]:
    done = unstarve("roofline", *QUICK, "--json", *arguments, env=home)
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    assert document["schema"] == "unstarve.roofline/1"
    return document


def names(document: dict[str, Any]) -> list[str]:
    return [roof["name"] for roof in document["roofs"]]


def test_parts_are_measured_alone_and_kept_together(home: dict[str, str], tmp_path: Path) -> None:
    memory = measured(home, "--only", "memory", "--disk", str(tmp_path))
    assert {"memory.copy.1_threads", "memory.triad.1_threads"} <= set(names(memory))
    for roof in memory["roofs"]:
        assert roof["value"] >= roof["conditions"]["median"] > 0
        assert roof["unit"] == "bytes/s"
        assert roof["conditions"]["stores"] in ("plain", "non_temporal")
        assert roof["conditions"]["array_bytes"] % 4096 == 0
        assert roof["conditions"]["others_cpu_cores"] >= 0
    disk = measured(home, "--only", "disk", "--disk", str(tmp_path), "--disk-size", "8MiB")
    assert all(name.startswith(("disk.", "page_cache.")) for name in names(disk))
    assert not [file for file in tmp_path.iterdir() if file.name != "cache"]

    shown = unstarve("roofline", "--show", "--json", env=home)
    assert names(json.loads(shown.stdout)) == names(memory) + names(disk)
    text = unstarve("roofline", "--show", env=home).stdout
    assert "memory.triad" in text
    assert "UTC" in text
    assert len(kept(home)) == 1


def test_nothing_is_kept_yet(home: dict[str, str]) -> None:
    shown = unstarve("roofline", "--show", env=home)
    assert shown.returncode == 2
    assert "`unstarve roofline` measures it" in shown.stderr
    assert shown.stdout == ""


def test_wrong_parts_are_said(home: dict[str, str]) -> None:
    done = unstarve("roofline", "--only", "memory,discs", env=home)
    assert done.returncode == 2
    assert "'discs'" in done.stderr
    assert "decode" in done.stderr


def test_a_broken_file_is_said_and_measured_anew(home: dict[str, str]) -> None:
    measured(home, "--only", "memory")
    kept(home)[0].write_bytes(b'{"schema": "unstarve.roofline/1", "roofs": \xff\x00')
    shown = unstarve("roofline", "--show", env=home)
    assert shown.returncode == 2
    assert str(kept(home)[0]) in shown.stderr
    again = unstarve("roofline", *QUICK, "--only", "memory", env=home)
    assert again.returncode == 0
    assert "will be replaced" in again.stderr
    assert unstarve("roofline", "--show", env=home).returncode == 0


def test_what_cannot_be_kept_is_measured_and_said(home: dict[str, str], tmp_path: Path) -> None:
    # A file in the folder's place: permissions alone would not stop root.
    (tmp_path / "cache").write_text("no folder")
    done = unstarve("roofline", *QUICK, "--only", "memory", "--json", env=home)
    assert done.returncode == 0
    assert json.loads(done.stdout)["roofs"]
    assert done.stderr.count("is not kept") == 1


def stopped_after(seconds: float, home: dict[str, str], folder: Path) -> tuple[str, str]:
    process = subprocess.Popen(
        [UNSTARVE, "roofline", "--only", "memory,disk", "--disk", folder, "--seconds", "600"],
        env=home,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    time.sleep(seconds)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    return out, err


def test_ctrl_c_leaves_what_was_measured(home: dict[str, str], tmp_path: Path) -> None:
    for seconds in (3, 10, 30):  # arrays of four times the caches: 2 GB on a large Xeon
        out, err = stopped_after(seconds, home, tmp_path)
        assert "stopped" in err
        if "memory.copy" in out:
            break
    assert "memory.copy" in out
    shown = json.loads(unstarve("roofline", "--show", "--json", env=home).stdout)
    assert "memory.copy.1_threads" in names(shown)
    assert not [file for file in tmp_path.iterdir() if file.name != "cache"]


def test_without_a_gpu_the_reason_is_there(home: dict[str, str]) -> None:
    if Path("/proc/driver/nvidia").exists():
        pytest.skip("there is a GPU")
    document = measured(home, "--only", "gpu")
    assert document["roofs"] == []
    assert [(each["name"], "libcuda.so.1" in each["reason"]) for each in document["absent"]] == [
        ("gpu", True)
    ]


def test_products_of_matrices_by_the_torch_that_is_named(home: dict[str, str]) -> None:
    document = measured(home, "--only", "gemm", "--python", sys.executable)
    roof = next(roof for roof in document["roofs"] if roof["name"] == "gemm.cpu.float32")
    assert roof["unit"] == "flop/s"
    assert roof["conditions"]["torch"]
    assert roof["conditions"]["library"] in ("torch.mm", "oneDNN")


def test_a_python_without_torch_is_said_by_name(home: dict[str, str], tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S "$@"\n')
    python.chmod(0o755)
    document = measured(home, "--only", "gemm", "--python", str(python))
    reasons = {each["name"]: each["reason"] for each in document["absent"]}
    assert "no torch" in reasons["gemm.cpu"]


def test_decoders_beside_each_other(home: dict[str, str]) -> None:
    document = measured(home, "--only", "decode")
    decoders = {name.split(".")[1] for name in names(document)}
    assert decoders == {"unstarve", "libjpeg", "shard"}


def test_an_emulated_gpu_is_modelled_and_kept_apart(home: dict[str, str]) -> None:
    document = measured(home, "--emulate", "a100", "--python", sys.executable)
    assert document["modelled"] is True
    roofs = {roof["name"]: roof for roof in document["roofs"]}
    assert all(roof["conditions"]["modelled"] for roof in roofs.values())
    # The model's rates; where this machine copies its own memory more slowly, copies are slower.
    assert 0 < roofs["gpu.0.h2d.pinned.256_mib"]["value"] < 32e9
    assert 0 < roofs["gpu.0.h2d.pageable.256_mib"]["value"] < 32e9
    assert 0 < roofs["gpu.0.both_ways.pinned.256_mib"]["value"] < 64e9
    for way in ("copy", "read", "triad"):
        assert 1e11 < roofs[f"gpu.0.hbm.{way}"]["value"] < 2.1e12
    assert roofs["gpu.0.launch.kernels"]["value"] > 0
    conditions = roofs["gpu.0.hbm.copy"]["conditions"]
    assert conditions["power_cap_w"] == 400
    assert {"driver", "sm_clock_mhz", "temperature_before_c", "temperature_after_c"} <= set(
        conditions
    )
    reasons = {each["name"]: each["reason"] for each in document["absent"]}
    assert reasons["gpu.nccl"] == reasons["gpu.peers"] == "one GPU"
    assert len(kept(home, "modelled")) == 1
    # Of this machine itself nothing was measured, and nothing is said.
    assert kept(home) == []
    shown = unstarve("roofline", "--emulate", "a100", "--show", env=home)
    assert "modelled" in shown.stdout


def test_an_affinity_bounds_the_threads(home: dict[str, str]) -> None:
    if not hasattr(os, "sched_getaffinity") or len(os.sched_getaffinity(0)) < 2:
        pytest.skip("one CPU")
    one = str(min(os.sched_getaffinity(0)))
    done = subprocess.run(
        ["taskset", "-c", one, UNSTARVE, "roofline", *QUICK, "--only", "memory", "--json"],
        env=home,
        capture_output=True,
        text=True,
        check=True,
    )
    document = json.loads(done.stdout)
    assert document["machine"]["cores_bound_by"] == "affinity"
    assert {roof["conditions"]["threads"] for roof in document["roofs"]} == {1}
