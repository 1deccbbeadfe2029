"""Prometheus scrapes a job and a folder of runs: what it has stored is what the store holds."""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest
from command_line import UNSTARVE, environment, unstarve
from dashboards import Dashboard, serving
from small_jobs import training_job

STEPS = 120
CODE = 5
#: Trains for a while, then waits to be told to end.
JOB = training_job(STEPS * 4, "", f"sys.stdin.read()\nsys.exit({CODE})")
#: Of each total of the series what the run's own store says.
TOTALS = {
    "unstarve_steps_total": "SELECT count(*) AS total FROM step",
    "unstarve_step_seconds_total": "SELECT sum(end_ns - start_ns) / 1e9 AS total FROM step",
    "unstarve_samples_total": "SELECT sum(samples) AS total FROM step",
    "unstarve_input_wait_seconds_total": "SELECT sum(end_ns - start_ns) / 1e9 AS total FROM wait",
}
#: Of each series of what is now the metric whose samples it shows.
NOW = {
    "unstarve_job_cpu_cores": "job.cpu_cores",
    "unstarve_job_resident_bytes": "job.resident_bytes",
    "unstarve_watching_cpu_cores": "unstarve.cpu_cores",
}


@dataclass(frozen=True)
class Prometheus:
    """A server that scrapes every second."""

    address: str
    process: subprocess.Popen[bytes]

    def ask(self, path: str, **query: str) -> Any:
        words = "?" + urlencode(query) if query else ""
        with urlopen(f"{self.address}/api/v1/{path}{words}", timeout=60) as reply:
            told = json.load(reply)
        assert told["status"] == "success", told
        return told["data"]

    def values(self, query: str) -> dict[str, float]:
        """Of an instant query: by the target."""
        rows = self.ask("query", query=query)["result"]
        found = {row["metric"]["job"]: float(row["value"][1]) for row in rows}
        assert len(found) == len(rows)
        return found

    def wait_for(self, query: str, values: dict[str, float]) -> None:
        self.wait(lambda: self.values(query) == pytest.approx(values, rel=1e-9))

    def wait(self, what: Callable[[], bool]) -> None:
        """Ends with the test's limit where it never comes true."""
        while not what():
            assert self.process.poll() is None
            time.sleep(0.1)


CONFIG = """
global:
  scrape_interval: 1s
scrape_configs:
  - job_name: run
    static_configs: [{{targets: ["127.0.0.1:{run}"]}}]
  - job_name: serve
    static_configs: [{{targets: ["127.0.0.1:{serve}"]}}]
"""


@contextlib.contextmanager
def scraping(folder: Path, **ports: int) -> Iterator[Prometheus]:
    config = folder / "prometheus.yml"
    config.write_text(CONFIG.format(**ports))
    checked = subprocess.run(["promtool", "check", "config", config], capture_output=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    log = folder / "prometheus.log"
    with log.open("w") as err:
        process = subprocess.Popen(
            [
                "prometheus",
                f"--config.file={config}",
                f"--storage.tsdb.path={folder / 'data'}",
                "--web.listen-address=127.0.0.1:0",
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=err,
        )
    try:
        said = None
        while said is None:
            assert process.poll() is None, log.read_text()
            said = re.search(r'msg="Listening on" address=(127\.0\.0\.1:[1-9]\d*)', log.read_text())
            time.sleep(0.05)
        yield Prometheus(f"http://{said[1]}", process)
    finally:
        process.terminate()
        process.wait()


@dataclass(frozen=True)
class Watched:
    """A job that `unstarve run --metrics` watches."""

    run: Path
    process: subprocess.Popen[str]
    endpoint: Dashboard

    def total(self, query: str) -> float:
        done = unstarve("query", str(self.run), query, "--json")
        assert done.returncode == 0, done.stderr
        (row,) = json.loads(done.stdout)
        return float(row["total"] or 0)

    def wait_for(self, query: str, total: float) -> None:
        while self.total(query) != total:
            assert self.process.poll() is None
            time.sleep(0.1)

    def end(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        assert self.process.wait() == CODE


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    run = tmp_path / "runs/a"
    run.parent.mkdir()
    with (tmp_path / "err").open("w") as err:
        process = subprocess.Popen(
            [
                *[str(UNSTARVE), "run", "--metrics", ":0", "--no-live", "--out", str(run), "--"],
                *[sys.executable, "-c", JOB],
            ],
            env=environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=err,
            text=True,
        )
    try:
        said = None
        while said is None:
            assert process.poll() is None, (tmp_path / "err").read_text()
            said = re.search(r"series for Prometheus: (\S+)\n", (tmp_path / "err").read_text())
            time.sleep(0.05)
        yield Watched(run, process, Dashboard(process, said[1]))
    finally:
        assert process.stdin is not None
        process.stdin.close()
        process.wait()


def promtool_says(text: str) -> str:
    """Its remarks on what an endpoint writes; none where all is well."""
    done = subprocess.run(
        ["promtool", "check", "metrics", "--extended"], input=text, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stderr


def samples_of(run: Path, metric: str) -> list[float]:
    query = f"SELECT value FROM samples WHERE metric = '{metric}' AND value IS NOT NULL"
    done = unstarve("query", str(run), query, "--json")
    assert done.returncode == 0, done.stderr
    return [row["value"] for row in json.loads(done.stdout)]


def test_prometheus_has_what_the_store_holds(watched: Watched, tmp_path: Path) -> None:
    both = {"run", "serve"}
    with (
        serving(watched.run.parent) as server,
        scraping(tmp_path, run=watched.endpoint.port, serve=server.port) as prometheus,
    ):
        prometheus.wait(lambda: set(prometheus.values("unstarve_job_cpu_cores")) == both)
        # The end of its data is the last that it waits for.
        watched.wait_for("SELECT sum(ended) AS total FROM wait", 1)
        totals = {name: watched.total(query) for name, query in TOTALS.items()}
        assert totals["unstarve_steps_total"] == STEPS
        for name, total in totals.items():
            prometheus.wait_for(name, dict.fromkeys(both, total))
        for endpoint in (watched.endpoint, server):
            assert promtool_says(endpoint.get("/metrics")) == ""
        targets = prometheus.ask("targets")["activeTargets"]
        assert {one["labels"]["job"] for one in targets} == both
        assert [(one["health"], one["lastError"]) for one in targets] == [("up", "")] * 2
        assert prometheus.values("up") == dict.fromkeys(both, 1)
        assert prometheus.values('unstarve_run_info{run="a"}') == dict.fromkeys(both, 1)
        watched.end()
        # A run that has ended is told of once more.
        ended = "last_over_time(unstarve_run_exit_code[1h])"
        prometheus.wait(lambda: "serve" in prometheus.values(ended))
        assert set(prometheus.values(ended).values()) == {CODE}
        for name, query in TOTALS.items():
            told = prometheus.values(f"last_over_time({name}[1h])")["serve"]
            assert told == pytest.approx(watched.total(query), rel=1e-9), name
        prometheus.wait(lambda: prometheus.values("unstarve_steps_total") == {})
        assert prometheus.values("up")["serve"] == 1
        for name, metric in NOW.items():
            samples = samples_of(watched.run, metric)
            scraped = prometheus.ask("query", query=f"{name}[1h]")["result"]
            assert {row["metric"]["job"] for row in scraped} == both
            for row in scraped:
                for _, value in row["values"]:
                    assert any(float(value) == pytest.approx(one, rel=1e-9) for one in samples)
