"""`unstarve runs sacct`: a cluster's own record of its jobs, watched or not."""

from __future__ import annotations

import base64
import gzip
import json
import subprocess
from pathlib import Path
from typing import Any

from command_line import UNSTARVE, environment, unstarve
from recorded import recorded

HEADER = "JobID|User|State|AdminComment|JobName\n"


def of_jobstats(record: dict[str, Any]) -> str:
    """As its epilog writes one."""
    return "JS1:" + base64.b64encode(gzip.compress(json.dumps(record).encode())).decode()


def node(uses: list[float], cpus: int, cpu_s: float) -> dict[str, Any]:
    gpus = {str(i): use for i, use in enumerate(uses)}
    memory = dict.fromkeys(gpus, 80_000_000_000)
    return {
        "cpus": cpus,
        "total_time": cpu_s,
        "total_memory": 10**11,
        "used_memory": 10**10,
        "gpu_utilization": gpus,
        "gpu_total_memory": memory,
        "gpu_used_memory": memory,
    }


def row(job: str, comment: str, name: str = "train") -> str:
    return f"{job}|ada|COMPLETED|{comment}|{name}\n"


def piped(text: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [UNSTARVE, "runs", "sacct"],
        input=text,
        capture_output=True,
        text=True,
        env=environment() | {"COLUMNS": "80"},
        timeout=60,
        check=False,
    )


def jobs_table(tmp_path: Path) -> Path:
    """An idle job of four GPUs that nobody watched, a watched one, a busy one, and others."""
    run = recorded("images", tmp_path)
    summary = unstarve("report", str(run), "--summary").stdout.strip()
    idle = {"nodes": {"a": node([20, 30, 25, 5], 32, 36000.0)}, "total_time": 36000, "gpus": 4}
    busy = {"nodes": {"b": node([97.5], 8, 7000.0)}, "total_time": 3600, "gpus": 1}
    no_gpu = {"nodes": {"c": {"cpus": 4, "total_time": 100.0}}, "total_time": 60, "gpus": 0}
    table = tmp_path / "sacct.txt"
    table.write_text(
        HEADER
        + row("11", of_jobstats(busy), "a|b")
        + row("12", f"note;{summary}")
        + row("13", of_jobstats(idle))
        + row("14", of_jobstats(no_gpu))
        + row("15", "JS1:Short")
        + row("15.batch", "")
        + row("16", of_jobstats(idle)[:60])
    )
    return table


def test_the_most_idle_comes_first_and_a_watched_one_says_why(tmp_path: Path) -> None:
    done = unstarve("runs", "sacct", str(jobs_table(tmp_path)), "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["left_out"] == {
        "by_limit": 0,
        "without_gpu": 1,
        "without_record": 1,
        "damaged": 1,
    }
    jobs = {job["job"]: job for job in document["jobs"]}
    assert document["jobs"][0]["job"] == "13"
    assert jobs["13"]["idle_gpu_hours"] == 32
    assert jobs["13"]["gpu_use_ratio"] == 0.2
    assert jobs["13"]["watched"] is None
    assert jobs["11"]["name"] == "a|b"
    watched = jobs["12"]["watched"]
    report = json.loads(unstarve("report", str(tmp_path / "images"), "--json", "-").stdout)
    assert watched["cause"] == report["findings"][0]["cause"]
    assert abs(watched["share"] - report["findings"][0]["share"]) < 0.001
    assert jobs["12"]["jobstats"] is False


def test_its_text_is_a_table_with_its_sums(tmp_path: Path) -> None:
    table = jobs_table(tmp_path)
    done = piped(table.read_text())
    assert done.returncode == 0, done.stderr
    assert all(len(line) <= 80 for line in done.stdout.splitlines()), done.stdout
    lines = done.stdout.splitlines()
    assert lines[1].split()[:3] == ["job", "user", "GPUs"]
    assert "not watched" in next(line for line in lines if line.startswith("13"))
    said = " ".join(done.stdout.split())
    assert "3 jobs had GPUs for 41 h, of which at least 32 h were idle." in said
    assert "2 jobs were not watched" in said
    assert "1 without a GPU; 1 without a record" in said
    assert "1 whose record is damaged (16)" in said


def test_another_table_is_refused_with_the_command_that_makes_one(tmp_path: Path) -> None:
    done = piped("JobID|User\n1|ada\n")
    assert done.returncode != 0
    assert "sacct -X -P -o" in done.stderr
    assert done.stdout == ""
    absent = unstarve("runs", "sacct", str(tmp_path / "none.txt"))
    assert absent.returncode != 0
    assert "none.txt" in absent.stderr
