"""`unstarve serve`: what browsers, Prometheus and strangers get."""

from __future__ import annotations

import csv
import html
import io
import json
import random
import re
import shutil
import socket
import sqlite3
import subprocess
import sys
import xml.etree.ElementTree
from collections.abc import Iterator
from pathlib import Path

import json_schemas
import pytest
from command_line import UNSTARVE, environment, unstarve
from dashboards import Dashboard, serving
from recorded import recorded

RUNS = ("images", "late_files")
HOSTILE = "a b&c=\"d'<script>alert(1)</script>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("served") / "runs"
    folder.mkdir()
    for name in (*RUNS, "late_rank_host"):
        recorded(name, folder)
    shutil.copytree(folder / RUNS[1], folder / HOSTILE.replace("/", "_"))
    return folder


@pytest.fixture(scope="module")
def dashboard(folder: Path) -> Iterator[Dashboard]:
    with serving(folder) as server:
        yield server


def test_the_list_is_that_of_the_command(dashboard: Dashboard, folder: Path) -> None:
    page = dashboard.get("/")
    for name in RUNS:
        assert f'href="/run?name={name}"' in page
    assert "<script>alert" not in page
    told = dashboard.json("/api/runs")
    assert told == json.loads(unstarve("runs", "list", str(folder), "--json").stdout)
    json_schemas.check_document(told)


def test_a_run_is_its_report_with_links(dashboard: Dashboard, folder: Path) -> None:
    page = dashboard.get("/run", name=RUNS[0])
    assert '<a href="/">All runs</a>' in page
    assert "/curves?run=images" in page
    done = unstarve("report", "--json", "-", str(folder / RUNS[0]))
    assert dashboard.json("/api/run", name=RUNS[0]) == json.loads(done.stdout)
    # A file that somebody keeps has no links to a server.
    alone = unstarve("report", "--html", "-", str(folder / RUNS[0])).stdout
    assert "All runs" not in alone


def test_a_comparison_is_that_of_the_command(dashboard: Dashboard, folder: Path) -> None:
    page = dashboard.get("/compare", run=RUNS)
    assert RUNS[0] in page
    assert "/curves?run=images&amp;run=late_files" in page
    (told,) = dashboard.json("/api/compare", run=RUNS)
    done = unstarve("compare", *RUNS, "--json", "-", cwd=folder)
    alone = json.loads(done.stdout)
    assert told["measures"] == alone["measures"]


def samples_of(run: Path, metric: str) -> list[float]:
    with sqlite3.connect(f"file:{run}/run.sqlite?mode=ro", uri=True) as store:
        rows = store.execute(
            "SELECT value FROM sample JOIN metric ON metric.id = metric_id "
            "WHERE name = ? AND value IS NOT NULL",
            (metric,),
        )
        return [value for (value,) in rows]


def test_curves_are_those_of_the_store(dashboard: Dashboard, folder: Path) -> None:
    metrics = dashboard.json("/api/metrics", run=RUNS[0])
    json_schemas.check_document(metrics)
    names = {metric["name"] for metric in metrics["metrics"]}
    assert "gpu.utilization_ratio" in names
    for metric in ("gpu.utilization_ratio", "job.cpu_cores"):
        stored = samples_of(folder / RUNS[0], metric)
        for points in (1, 7, 4000):
            told = dashboard.json("/api/series", run=RUNS[0], metric=metric, points=points)
            json_schemas.check_document(told)
            (series,) = told["series"]
            assert len(told["t_s"]) == len(series["mean"]) <= max(points, 1)
            assert max(v for v in series["max"] if v is not None) == max(stored)
            assert min(v for v in series["min"] if v is not None) == min(stored)
        whole = dashboard.json("/api/series", run=RUNS[0], metric=metric, points=1)
        (mean,) = whole["series"][0]["mean"]
        assert mean == pytest.approx(sum(stored) / len(stored))


def test_curves_of_two_runs_lie_over_each_other(dashboard: Dashboard) -> None:
    wish = {"run": RUNS, "metric": "gpu.utilization_ratio", "since": "training"}
    told = dashboard.json("/api/series", **wish)
    assert [series["run"] for series in told["series"]] == list(RUNS)
    assert told["since"] == "training"
    assert told["whole_from_s"] < 0
    rows = list(csv.reader(io.StringIO(dashboard.get("/api/series.csv", **wish))))
    assert rows[0] == ["t_s"] + [
        f"{run} gpu0 {what}" for run in RUNS for what in ("min", "mean", "max")
    ]
    assert len(rows) == len(told["t_s"]) + 1
    picture = xml.etree.ElementTree.fromstring(dashboard.get("/api/series.svg", **wish))
    assert picture.tag.endswith("svg")
    part = dashboard.json("/api/series", **wish, **{"from": 1, "to": 3})
    assert (part["from_s"], part["to_s"]) == (1, 3)


def test_ranks_lie_over_each_other(dashboard: Dashboard, folder: Path) -> None:
    ranks = {}
    for metric in ("training.step_s", "training.input_wait_ratio"):
        told = dashboard.json("/api/series", run="late_rank_host", metric=metric, points=1)
        ranks[metric] = {series["subject"]: series for series in told["series"]}
        assert sorted(ranks[metric]) == ["rank 0", "rank 1"]
    with sqlite3.connect(folder / "late_rank_host/run.sqlite") as store:
        by_process = store.execute(
            "SELECT avg(end_ns - start_ns) / 1e9, count(*) FROM step WHERE idx > 0 GROUP BY pid"
        ).fetchall()
    steps = sorted(series["mean"][0] for series in ranks["training.step_s"].values())
    assert steps == pytest.approx(sorted(mean for mean, _ in by_process))
    for series in ranks["training.input_wait_ratio"].values():
        assert 0 <= series["min"][0] <= series["max"][0] <= 1


def test_waits_of_steps_are_those_of_the_store(dashboard: Dashboard, folder: Path) -> None:
    told = dashboard.json(
        "/api/series", run="images", metric="training.input_wait_ratio", points=4000
    )
    (series,) = told["series"]
    with sqlite3.connect(folder / "images/run.sqlite") as store:
        steps = store.execute("SELECT start_ns, end_ns FROM step WHERE idx > 0").fetchall()
        waits = store.execute("SELECT start_ns, end_ns FROM wait").fetchall()

    def share(start: int, end: int) -> float:
        inside = (max(min(to, end) - max(begin, start), 0) for begin, to in waits)
        return float(min(sum(inside) / (end - start), 1))

    shares = [share(*step) for step in steps]
    assert max(v for v in series["max"] if v is not None) == pytest.approx(max(shares))
    assert min(v for v in series["min"] if v is not None) == pytest.approx(min(shares))


def test_stages_of_a_job_lead_to_each_other(tmp_path: Path) -> None:
    job = tmp_path / "runs" / "job"
    for started, (stage, name) in enumerate((("prepare", "images"), ("train", "late_files"))):
        recorded(name, job).rename(job / stage)
        with sqlite3.connect(job / stage / "run.sqlite") as store:
            facts = (("stage", stage), ("started_wall_ns", str((started + 1) * 10**18)))
            store.executemany("INSERT OR REPLACE INTO run VALUES (?, ?)", facts)
    with serving(tmp_path / "runs") as server:
        listed = [run["name"] for run in server.json("/api/runs")["runs"]]
        assert sorted(listed) == ["job/prepare", "job/train"]
        page = server.get("/run", name="job")
        links = re.findall(r'href="(/run[^"]*)">(\w+)</a>', page)
        assert [label for _, label in links] == ["prepare", "train"]
        stage = server.get(html.unescape(links[0][0]))
        assert '<strong aria-current="page">prepare</strong>' in stage
        both = re.search(r'href="(/compare[^"]*)">compared', stage)
        assert both is not None
        assert "prepare" in server.get(html.unescape(both[1]))


def test_hostile_names_are_text_everywhere(dashboard: Dashboard) -> None:
    name = HOSTILE.replace("/", "_")
    for path, key in (("/run", "name"), ("/curves", "run")):
        assert "<script>alert" not in dashboard.get(path, **{key: name})
    assert dashboard.json("/api/metrics", run=name)["metrics"]
    picture = dashboard.get("/api/series.svg", run=name, metric="job.cpu_cores")
    assert "<script" not in picture


def test_every_reply_forbids_what_is_not_its_own(dashboard: Dashboard) -> None:
    for path in ("/", "/run?name=late_files", "/curves?run=late_files", "/nothing", "/api/runs"):
        reply, _ = dashboard.ask(path)
        assert "frame-ancestors 'none'" in (reply.headers["Content-Security-Policy"] or "")
        assert reply.headers["X-Content-Type-Options"] == "nosniff"
    policy = dashboard.ask("/")[0].headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in re.sub(r"http://www\.w3\.org\S*", "", dashboard.get("/"))


def test_nothing_outside_of_the_folder_is_found(dashboard: Dashboard, folder: Path) -> None:
    shutil.copytree(folder / RUNS[1], folder.parent / "secret")
    names = [
        "../secret",
        "..",
        ".",
        "",
        "/",
        str(folder.parent / "secret"),
        "late_files/../../secret",
    ]
    names += ["%2e%2e/secret", "late_files/", "../runs/late_files", "late_files/run.sqlite"]
    for name in names:
        for path, key in (("/run", "name"), ("/api/run", "name"), ("/api/metrics", "run")):
            reply, text = dashboard.ask(f"{path}?{key}={name}")
            assert reply.status in (400, 404), (name, text)
    for path in ("/../secret/run.sqlite", "//etc/passwd", "/assets/../../etc/passwd"):
        assert dashboard.ask(path)[0].status == 404


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "TRACE"])
def test_nothing_can_be_changed(dashboard: Dashboard, method: str) -> None:
    reply, _ = dashboard.ask("/", method=method)
    assert reply.status in (405, 501)


def test_head_has_no_body(dashboard: Dashboard) -> None:
    reply, text = dashboard.ask("/", method="HEAD")
    assert (reply.status, text) == (200, "")


def test_another_name_for_this_machine_is_refused(dashboard: Dashboard) -> None:
    reply, _ = dashboard.ask("/", headers={"Host": "evil.example:8321"})
    assert reply.status == 403


def test_a_token_is_asked_for(folder: Path) -> None:
    with serving(folder, "--token", "secret") as server:
        assert server.address.endswith("/?token=secret")
        for headers in ({}, {"Authorization": "Bearer no"}, {"Cookie": "unstarve_token=no"}):
            assert server.ask("/", headers=headers)[0].status == 401
        for path in ("/api/runs", "/api/live", "/metrics", "/assets/unstarve.js", "/nothing"):
            assert server.ask(path)[0].status == 401
        assert server.ask("/", headers={"Authorization": "Bearer secret"})[0].status == 200
        reply, _ = server.ask("/curves?run=late_files&token=secret")
        assert (reply.status, reply.headers["Location"]) == (303, "/curves?run=late_files")
        cookie = reply.headers["Set-Cookie"]
        assert "HttpOnly" in cookie and "SameSite=Strict" in cookie
        assert server.ask("/", headers={"Cookie": cookie.split(";")[0]})[0].status == 200
        # No address leads to another site.
        reply, _ = server.ask("//evil.example/?token=secret")
        assert not reply.headers["Location"].startswith("//")


def test_elsewhere_than_on_loopback_a_token_is_made(folder: Path) -> None:
    with serving(folder, "--host", "0.0.0.0") as server:
        assert re.search(r"token=[0-9a-f]{32}$", server.address)
        assert server.ask("/")[0].status == 401


def test_what_cannot_be_served_is_said(tmp_path: Path, folder: Path, dashboard: Dashboard) -> None:
    done = unstarve("serve", str(tmp_path / "nothing"), "--port", "0")
    assert done.returncode == 2
    assert "nothing" in done.stderr
    done = unstarve("serve", str(folder), "--port", str(dashboard.port))
    assert done.returncode == 1
    assert str(dashboard.port) in done.stderr


def hostile_requests(seed: int) -> Iterator[bytes]:
    draw = random.Random(seed)
    paths = ["/", "/run", "/compare", "/curves", "/metrics", "/api/run", "/api/series", "/api/live"]
    keys = ["name", "run", "metric", "from", "to", "points", "since", "token", "subject"]
    values = [RUNS[1], RUNS[0], "nan", "-1e999", "1e308", "%00", "%", "%zz", "../..", "9" * 400, ""]
    for _ in range(300):
        query = "&".join(
            f"{draw.choice(keys)}={draw.choice(values)}" for _ in range(draw.randrange(6))
        )
        yield f"GET {draw.choice(paths)}?{query} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
        yield draw.randbytes(draw.randrange(1, 400))
        line = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
        cut = bytearray(line)
        cut[draw.randrange(len(cut))] = draw.randrange(256)
        yield bytes(cut)
    yield b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n\r\n"
    yield b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 10_000 + b"\r\n"
    yield b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n"


def test_hostile_requests_do_no_harm(dashboard: Dashboard) -> None:
    connections = []
    for number, request in enumerate(hostile_requests(7)):
        connection = socket.create_connection(("127.0.0.1", dashboard.port), timeout=60)
        try:
            connection.sendall(request)
        except OSError:
            pass  # it was refused before its end
        connections.append(connection)
        if number % 100 == 99:
            assert RUNS[1] in dashboard.get("/api/runs")
            for one in connections:
                one.close()
            connections.clear()
    for one in connections:
        one.close()
    assert RUNS[1] in dashboard.get("/api/runs")
    assert dashboard.resident_bytes() < 200e6


def test_slow_clients_and_many_streams_hold_nobody_up(dashboard: Dashboard) -> None:
    stream = b"GET /api/live HTTP/1.1\r\nHost: localhost\r\n\r\n"
    connections = [dashboard.send(stream) for _ in range(500)]
    connections += [dashboard.send(b"GET / HTTP/1.1\r\nHost: loc") for _ in range(50)]
    try:
        for connection in connections[:500:50]:
            assert b"text/event-stream" in connection.recv(4096)
        assert RUNS[1] in dashboard.get("/")
        assert dashboard.resident_bytes() < 200e6
    finally:
        for connection in connections:
            connection.close()
    assert RUNS[1] in dashboard.get("/")


def events_of(connection: socket.socket) -> Iterator[dict[str, object]]:
    """The documents that a stream tells, one after the other."""
    with connection.makefile("r", encoding="utf-8") as lines:
        event = ""
        for line in lines:
            if line.startswith("data: "):
                event += line.removeprefix("data: ")
            elif event and not line.strip():
                try:
                    document = json.loads(event)
                except ValueError:
                    continue  # a chunk's size stood within it
                yield document
                event = ""


def test_a_job_that_goes_on_is_told_of(tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    folder.mkdir()
    job = subprocess.Popen(
        [
            UNSTARVE,
            "run",
            "--out",
            folder / "a",
            "--",
            sys.executable,
            "-c",
            "import sys; sys.stdin.read()",
        ],
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        with serving(folder) as server:
            stream = server.send(b"GET /api/live HTTP/1.1\r\nHost: localhost\r\n\r\n")
            told = events_of(stream)
            document = next(told)
            while not document["jobs"]:
                document = next(told)
            json_schemas.check_document(document)
            assert document["jobs"][0]["run"] == str(folder / "a")  # type: ignore[index]
            series = server.get("/metrics")
            assert 'unstarve_run_info{run="a"' in series
            assert series.count("# TYPE unstarve_run_info gauge") == 1
            # A page of it may say that there is nothing to say yet; it is no error of the server.
            assert server.ask("/run?name=a")[0].status in (200, 422)
            assert job.stdin is not None
            job.stdin.close()
            job.wait(60)
            while document["jobs"]:
                document = next(told)
            stream.close()
            assert "unstarve_run_exit_code" in server.get("/metrics")
            assert server.get("/metrics") == ""
    finally:
        if job.stdin is not None and not job.stdin.closed:
            job.stdin.close()
        job.wait(60)


def test_a_run_offers_its_own_series(tmp_path: Path) -> None:
    code = "import sys; sys.stdin.read(); sys.exit(5)"
    job = subprocess.Popen(
        [
            UNSTARVE,
            "run",
            "--metrics",
            ":0",
            "--out",
            tmp_path / "a",
            "--",
            sys.executable,
            "-c",
            code,
        ],
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert job.stdin is not None and job.stderr is not None
    try:
        said = job.stderr.readline()
        while "series for Prometheus" not in said:
            said = job.stderr.readline()
        endpoint = Dashboard(job, said.split()[-1])
        while "unstarve_job_cpu_cores" not in (series := endpoint.get("/metrics")):
            assert job.poll() is None
        assert 'unstarve_run_info{run="a"' in series
        assert endpoint.ask("/")[0].status == 404
    finally:
        job.stdin.close()
        job.stderr.read()
        assert job.wait(60) == 5
        job.stderr.close()


def test_a_port_that_is_none_starts_no_job(tmp_path: Path) -> None:
    for where in ("x", "70000", "localhost:"):
        done = unstarve("run", "--metrics", where, "--out", str(tmp_path / "a"), "--", "true")
        assert done.returncode == 2
        assert where in done.stderr
    assert not (tmp_path / "a").exists()
