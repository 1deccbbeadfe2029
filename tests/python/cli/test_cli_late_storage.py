"""A job whose files come late, as from network storage: what is said of it, and what of a job that
is just as slow for its CPU."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from command_line import EMULATED, ROOT, unstarve
from measuring import disturbance_of_run, measured
from recorded import JOBS, RUNS, report_of


def looks(run: Path) -> dict[str, float]:
    """At threads that fetch, by what they waited for."""
    with closing(sqlite3.connect(f"file:{run}/run.sqlite?mode=ro", uri=True)) as store:
        rows = store.execute(
            "SELECT metric.name, SUM(value) FROM sample JOIN metric ON metric.id = metric_id"
            " WHERE metric.name LIKE 'job.fetch_looks%' GROUP BY metric.name"
        )
        return {name.removeprefix("job.fetch_looks_"): value or 0.0 for name, value in rows}


def check_looks(run: Path, where: str) -> None:
    seen = looks(run)
    assert seen[where] > 0.6 * sum(seen.values()), seen


@pytest.mark.parametrize(
    ("name", "where", "words"),
    [
        ("late_files", "asleep", "asleep"),
        ("late_files_2", "asleep", "asleep"),
        ("late_network_2", "in_network", "for the network"),
    ],
)
def test_files_that_come_late_are_named_and_more_workers_than_cpus_advised(
    name: str, where: str, words: str
) -> None:
    found = report_of(name)
    finding = found["findings"][0]
    assert finding["cause"] == "input_wait"
    if name == "late_files":
        assert finding["detail"] == "late_storage"
        assert "because of files that come late" in found["verdict"]
    assert any(f"it waits {words}" in sentence for sentence in finding["evidence"])
    remedy = finding["remedies"][0]
    assert remedy["id"] == "more_workers"
    with closing(sqlite3.connect(f"file:{RUNS / name}/run.sqlite?mode=ro", uri=True)) as store:
        cores = store.execute(
            "SELECT MAX(value) FROM sample JOIN metric ON metric.id = metric_id"
            " WHERE metric.name = 'job.effective_cores'"
        )
        assert remedy["values"]["num_workers"] > cores.fetchone()[0] > 0
    assert remedy["predicted"]["low"] > 1
    check_looks(RUNS / name, where)


def test_files_that_come_in_time_are_not_said_to_be_late() -> None:
    found = report_of("in_time_2")
    assert found["findings"]
    assert all(finding["detail"] != "late_storage" for finding in found["findings"])


@pytest.fixture(scope="module")
def slow_open(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc")
    assert compiler, "a C compiler, for files that come late"
    library = tmp_path_factory.mktemp("slow") / "slow_open.so"
    source = ROOT / "bench/slow_files/slow_open.c"
    subprocess.run([compiler, "-shared", "-fPIC", "-O2", "-o", library, source, "-ldl"], check=True)
    return library


def test_threads_that_fetch_are_seen_to_wait_for_the_network(
    tmp_path: Path, slow_open: Path
) -> None:
    data = tmp_path / "data"
    data.mkdir()
    for number in range(8):
        (data / str(number)).write_bytes(bytes(20_000))

    def measure() -> Path:
        slow = {"SLOW_FOLDER": data, "SLOW_MS": 20, "SLOW_IN": "network", "LD_PRELOAD": slow_open}
        job = ["env", *(f"{name}={value}" for name, value in slow.items()), sys.executable]
        job += [str(JOBS / "opens_files.py"), str(data), "2"]
        run = tmp_path / f"run-{len(list(tmp_path.iterdir()))}"
        done = unstarve("run", *EMULATED, "--out", str(run), "--", *job)
        assert done.returncode == 0, done.stderr
        return run

    measured(measure, lambda run: check_looks(run, "in_network"), disturbance_of_run)
