"""Recordings of other tools, told by what they hold."""

from __future__ import annotations

import io
import json
import sqlite3
import tarfile
import zipfile
from pathlib import Path

from command_line import unstarve


def test_a_log_of_nvidia_smi_gets_an_honest_verdict(tmp_path: Path) -> None:
    log = tmp_path / "anything.json"
    rows = [f"2024/03/01 12:00:{i:02}.000, 0, NVIDIA A100, {40 + i % 3} %, 0x04" for i in range(20)]
    names = "timestamp, index, name, utilization.gpu [%], clocks_throttle_reasons.active"
    log.write_text("\n".join([names, *rows]) + "\n")
    found = json.loads(unstarve("diagnose", "--json", str(log)).stdout)
    assert found["input"]["kind"] == "csv"
    assert found["verdict"].startswith(
        "The GPU runs something 41 % of the time, and its power limit"
    )
    assert "utilisation alone does not say" in found["verdict"]
    assert {"utilisation_30_to_50", "held_down_clocks"} <= {hint["rule"] for hint in found["hints"]}
    assert not found["findings"]
    text = unstarve("diagnose", str(log))
    assert "GPU 0 (NVIDIA A100): 41 % used, in the mean of 20 samples over 19 s" in text.stderr


def test_memory_in_a_log_counts_where_most_is_used(tmp_path: Path) -> None:
    log = tmp_path / "smi.csv"
    names = "timestamp, index, utilization.gpu [%], memory.used [MiB], memory.total [MiB]"
    for most, room in ((70_000, False), (20_000, True)):
        used = [10_000] * 19 + [most]
        rows = [
            f"2024/03/01 12:00:{i:02}.000, 0, 60 %, {m} MiB, 81920 MiB" for i, m in enumerate(used)
        ]
        log.write_text("\n".join([names, *rows]) + "\n")
        found = json.loads(unstarve("diagnose", "--json", str(log)).stdout)
        assert ("gpu_memory_room" in {hint["rule"] for hint in found["hints"]}) is room


def test_an_export_of_nsight_systems_is_told_by_its_tables(tmp_path: Path) -> None:
    export = tmp_path / "report.sqlite"
    with sqlite3.connect(export) as database:
        database.executescript(
            "create table CUPTI_ACTIVITY_KIND_KERNEL (start int, end int, deviceId int);"
            "insert into CUPTI_ACTIVITY_KIND_KERNEL values (1000, 51000, 0), (101000, 151000, 0)"
        )
    database.close()
    done = unstarve("diagnose", "--json", str(export))
    assert json.loads(done.stdout)["input"]["kind"] == "nsys"
    assert "CUPTI_ACTIVITY_KIND_RUNTIME" in unstarve("diagnose", str(export)).stderr


def test_what_is_no_export_is_refused(tmp_path: Path) -> None:
    report = tmp_path / "report.nsys-rep"
    report.write_bytes(b"whatever")
    refused = unstarve("diagnose", str(report))
    assert refused.returncode != 0
    assert "nsys export --type sqlite" in refused.stderr
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as database:
        database.execute("create table mine (a)")
    database.close()
    assert unstarve("diagnose", str(other)).returncode != 0


def test_what_is_no_recording_is_told_with_what_to_do(tmp_path: Path) -> None:
    log = "timestamp, utilization.gpu [%]\n2024/03/01 12:00:00.000, 40 %\n"
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as packed:
        packed.addfile(tarfile.TarInfo("trace.json"))
    arrays = io.BytesIO()
    with zipfile.ZipFile(arrays, "w") as packed_arrays:
        packed_arrays.writestr("images.npy", b"")
    kinds = {
        "smi.txt": (b"NVIDIA-SMI has failed because ...\n", "an error of nvidia-smi"),
        "page.json": (b"<!DOCTYPE html>\n<html>\n", "a web page"),
        "trace.json": (b"version https://git-lfs.github.com/spec/v1\noid", "git lfs pull"),
        "run.sqlite": (b"version https://git-lfs.github.com/spec/v1\noid", "git lfs pull"),
        "traces.tar.gz": (archive.getvalue(), "a tar archive: unpack it"),
        "images.npz": (arrays.getvalue(), "an array of NumPy"),
        "notes.txt": (b"epoch 1: loss 0.5\n", "neither a trace nor a log"),
        "names only.csv": (log[:31].encode(), "holds no sample"),
        "cut.json": (b'{"traceEvents": [', "cut off"),
        "quote.json": (b'{"traceEvents": [{"ph": "X,\n"ts": 1}]}', "a quote is missing"),
    }
    for name, (content, said) in kinds.items():
        file = tmp_path / name
        file.write_bytes(content)
        for command in ("diagnose", "report"):
            refused = unstarve(command, str(file))
            assert refused.returncode == 2, (name, refused.stderr)
            assert said in refused.stderr, (command, refused.stderr)
            assert str(file) in refused.stderr
