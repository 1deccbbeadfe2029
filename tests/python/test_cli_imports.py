"""Recordings of other tools, told by what they hold."""

from __future__ import annotations

import json
import sqlite3
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
