"""`unstarve export --as KIND`: what other programs' own readers find is what the store holds."""

from __future__ import annotations

import base64
import gzip
import http.server
import json
import math
import re
import sqlite3
import threading
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest
from command_line import ROOT, environment, unstarve
from google.protobuf import json_format
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from perfetto.protos.perfetto.trace import perfetto_trace_pb2
from prometheus_client.parser import text_string_to_metric_families
from recorded import recorded, report_of
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

RUN = "window_starved"
ODD_NAME = 'a "b"\\c\nd'
UUID = "GPU-0b1c"
UNSEEN = "unrecorded"
Means = dict[tuple[str, str], dict[int, float]]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A recorded run, in which a metric and the run have names that every format has to escape."""
    folder = recorded(RUN, tmp_path)
    with sqlite3.connect(folder / "run.sqlite") as store:
        store.execute(
            "UPDATE metric SET subject = ? WHERE name = 'cgroup.page_cache_bytes'", (ODD_NAME,)
        )
        store.execute("UPDATE run SET value = ? WHERE key = 'host'", (ODD_NAME,))
        store.execute("INSERT INTO run VALUES ('gpu_uuids', ?)", (json.dumps([UUID]),))
        store.execute("INSERT INTO run VALUES ('scheduler', ?)", (json.dumps({"job": "4711"}),))
    return folder


def export(run: Path, kind: str, out: str = "-") -> str:
    done = unstarve("export", "--as", kind, "--out", out, str(run))
    assert done.returncode == 0, done.stderr
    return done.stdout


def one(run: Path, query: str) -> float:
    with sqlite3.connect(run / "run.sqlite") as store:
        (value,) = store.execute(query).fetchone()
    return float(value)


def second_means(run: Path) -> Means:
    """Of each metric by its name and subject: the mean of each second since the run began."""
    with sqlite3.connect(run / "run.sqlite") as store:
        (started,) = store.execute("SELECT value FROM run WHERE key = 'started_ns'").fetchone()
        rows = store.execute(
            "SELECT name, subject, (t_ns - ?) / 1000000000, avg(value) FROM sample "
            "JOIN metric ON id = metric_id WHERE value IS NOT NULL GROUP BY 1, 2, 3",
            (int(started),),
        ).fetchall()
    means: Means = defaultdict(dict)
    for name, subject, second, value in rows:
        means[name, subject][second] = value
    assert len(means) > 10
    return means


def series_of(text: str) -> dict[str, list[tuple[dict[str, str], float]]]:
    found = defaultdict(list)
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found[sample.name].append((sample.labels, sample.value))
    return dict(found)


def test_prometheus_reads_what_the_store_holds(run: Path) -> None:
    text = export(run, "prometheus")
    series = series_of(text)
    assert all(len(labels) >= 1 and labels["run"] for rows in series.values() for labels, _ in rows)
    (info,) = series["unstarve_run_info"]
    # What may not reach a terminal is replaced.
    assert info[0]["host"] == ODD_NAME.replace("\n", "\ufffd")
    [(_, steps)] = series["unstarve_steps_total"]
    assert steps == one(run, "SELECT count(*) FROM step") > 0
    [(_, waited)] = series["unstarve_input_wait_seconds_total"]
    assert waited == pytest.approx(one(run, "SELECT sum(end_ns - start_ns) / 1e9 FROM wait"))
    [(labels, energy)] = series["unstarve_gpu_energy_joules_total"]
    assert (labels["gpu"], labels["uuid"]) == ("0", UUID)
    assert energy == one(
        run,
        "SELECT value FROM sample JOIN metric ON id = metric_id WHERE name = 'gpu.energy_j' "
        "AND value IS NOT NULL ORDER BY sample.rowid DESC LIMIT 1",
    )
    shares = {labels["cause"]: value for labels, value in series["unstarve_finding_share_ratio"]}
    findings = report_of(RUN)["findings"]
    assert shares[findings[0]["cause"]] == pytest.approx(findings[0]["share"])
    # The job has ended: what it used last is no news.
    assert "unstarve_gpu_utilization_ratio" not in series
    assert "unstarve_job_cpu_cores" not in series


def with_gpus(run: Path, count: int) -> None:
    """The run goes on, and its machine has more GPUs, which show the same."""
    with sqlite3.connect(run / "run.sqlite") as store:
        store.execute("UPDATE run SET value = 'running' WHERE key = 'state'")
        last = int(one(run, "SELECT max(id) FROM metric"))
        metrics = store.execute("SELECT * FROM metric WHERE subject = 'gpu0'").fetchall()
        columns = [row[1] for row in store.execute("PRAGMA table_info(metric)")]
        for gpu in range(1, count):
            for metric in metrics:
                last += 1
                new = dict(zip(columns, metric, strict=True)) | {"id": last}
                new["subject"] = f"gpu{gpu}"
                marks = ", ".join("?" * len(columns))
                store.execute(f"INSERT INTO metric VALUES ({marks})", list(new.values()))
                old = metric[columns.index("id")]
                store.execute(
                    "INSERT INTO sample (t_ns, metric_id, value, absent) SELECT t_ns, ?, value, "
                    "absent FROM sample WHERE metric_id = ?",
                    (last, old),
                )


@pytest.mark.parametrize("gpus", [1, 4, 8, 16])
def test_a_job_has_at_most_40_series(run: Path, gpus: int) -> None:
    with_gpus(run, gpus)
    text = export(run, "prometheus")
    series = series_of(text)
    assert sum(map(len, series.values())) <= 40
    labels = [labels["gpu"] for labels, _ in series["unstarve_gpu_utilization_ratio"]]
    assert sorted(labels, key=int) == [str(gpu) for gpu in range(gpus)]
    assert ("is left out: a job has at most 40 series" in text) == (gpus > 4)
    # Of all GPUs, or of none.
    for name, rows in series.items():
        if name.startswith("unstarve_gpu"):
            assert len(rows) == gpus


def test_the_collectors_file_is_replaced_whole(run: Path, tmp_path: Path) -> None:
    into = tmp_path / "unstarve.prom"
    into.write_text("old\n")
    export(run, "prometheus", str(into))
    assert into.read_text() == export(run, "prometheus")
    assert not list(tmp_path.glob("*.tmp")) and not list(tmp_path.glob(".unstarve*"))


def test_tensorboard_reads_what_the_store_holds(run: Path, tmp_path: Path) -> None:
    export(run, "tensorboard", str(tmp_path / "events"))
    events = EventAccumulator(str(tmp_path / "events"), size_guidance={"scalars": 0})
    events.Reload()
    wanted = second_means(run)
    tags = set(events.Tags()["scalars"])
    assert {f"unstarve/{subject}/{name}" for name, subject in wanted} <= tags
    for (name, subject), means in wanted.items():
        found = {one.step: one.value for one in events.Scalars(f"unstarve/{subject}/{name}")}
        assert found == pytest.approx(means, rel=1e-6), name
    (verdict,) = events.Tensors("unstarve/verdict")
    assert b"waits for data" in verdict.tensor_proto.string_val[0]
    assert "unstarve/training/step_seconds" in tags
    done = unstarve("export", "--as", "tensorboard", str(run))
    assert done.returncode == 2
    assert "--out" in done.stderr


def test_perfetto_reads_what_the_store_holds(run: Path, tmp_path: Path) -> None:
    export(run, "perfetto", str(tmp_path / "trace"))
    trace = perfetto_trace_pb2.Trace()
    trace.ParseFromString((tmp_path / "trace").read_bytes())
    events = [packet for packet in trace.packet if packet.HasField("track_event")]
    kind = perfetto_trace_pb2.TrackEvent
    begun = [one for one in events if one.track_event.type == kind.TYPE_SLICE_BEGIN]
    ended = [one for one in events if one.track_event.type == kind.TYPE_SLICE_END]
    for table, name in (("step", "step "), ("wait", "wait for data")):
        mine = [one for one in begun if one.track_event.name.startswith(name)]
        assert len(mine) == one_count(run, table) > 0
        wanted = one(run, f"SELECT min(start_ns) FROM {table}")
        assert min(packet.timestamp for packet in mine) == wanted
    assert len(ended) == len(begun)
    lasted: dict[str, int] = defaultdict(int)
    category_of = {}
    for packet in begun:
        (category,) = packet.track_event.categories
        category_of[packet.track_event.track_uuid] = category
        lasted[category] -= packet.timestamp
    for packet in ended:
        lasted[category_of[packet.track_event.track_uuid]] += packet.timestamp
    assert lasted["training"] == one(run, "SELECT sum(end_ns - start_ns) FROM step") + one(
        run, "SELECT sum(end_ns - start_ns) FROM wait"
    )
    # The gaps of a cause are as much of the recorded time as the report says. Of this run, that
    # is what lies between two stretches that were not recorded.
    share = report_of(RUN)["partition"]["input_wait"]
    beside = [p.timestamp for p in events if category_of.get(p.track_event.track_uuid) == UNSEEN]
    recorded = max(beside) - min(beside) - lasted[UNSEEN]
    assert lasted["input_wait"] / recorded == pytest.approx(share, rel=0.02)
    counters = [one for one in events if one.track_event.type == kind.TYPE_COUNTER]
    assert len(counters) == one(run, "SELECT count(*) FROM sample WHERE value IS NOT NULL")
    names = {
        packet.track_descriptor.uuid: packet.track_descriptor.name
        for packet in trace.packet
        if packet.HasField("track_descriptor")
    }
    by_track: dict[str, float] = defaultdict(float)
    for packet in counters:
        by_track[names[packet.track_event.track_uuid]] += packet.track_event.double_counter_value
    with sqlite3.connect(run / "run.sqlite") as store:
        for subject, name, value in store.execute(
            "SELECT subject, name, sum(value) FROM sample JOIN metric ON id = metric_id "
            "WHERE value IS NOT NULL GROUP BY 1, 2"
        ):
            assert math.isclose(by_track[f"{subject} {name}"], value, rel_tol=1e-9, abs_tol=1e-9)
    found = [one for one in events if one.track_event.type == kind.TYPE_INSTANT]
    assert len(found) == len(report_of(RUN)["findings"])


def one_count(run: Path, table: str) -> int:
    return int(one(run, f"SELECT count(*) FROM {table}"))


def test_opentelemetry_reads_what_the_store_holds(run: Path) -> None:
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    totals: dict[str, float] = {}
    for line in export(run, "otlp").splitlines():
        request = json_format.Parse(line, ExportMetricsServiceRequest())
        for resource in request.resource_metrics:
            said = {one.key: one.value.string_value for one in resource.resource.attributes}
            assert said["host.name"] == ODD_NAME
            assert said["unstarve.scheduler.job"] == "4711"
            for metric in resource.scope_metrics[0].metrics:
                is_sum = metric.HasField("sum")
                for point in (metric.sum if is_sum else metric.gauge).data_points:
                    marks = {one.key: one.value.string_value for one in point.attributes}
                    subject = marks.get("hw.name", marks.get("unstarve.subject", ""))
                    value = point.as_double if point.HasField("as_double") else point.as_int
                    if subject:
                        found[metric.name, subject].append(value)
                    else:
                        totals[metric.name] = value
    renamed = {
        "gpu.utilization_ratio": "hw.gpu.utilization",
        "gpu.memory_used_bytes": "hw.gpu.memory.usage",
        "gpu.energy_j": "hw.energy",
        "gpu.power_w": "hw.power",
        "gpu.temperature_c": "hw.temperature",
        "gpu.xid_errors": "hw.errors",
    }
    wanted = second_means(run)
    for (name, subject), means in wanted.items():
        mine = found[renamed.get(name, f"unstarve.{name}"), subject]
        assert mine == pytest.approx(list(means.values())), name
    assert len(found) == len(wanted)
    assert totals["unstarve.steps"] == one(run, "SELECT count(*) FROM step")
    assert totals["unstarve.input_wait"] == pytest.approx(
        one(run, "SELECT sum(end_ns - start_ns) / 1e9 FROM wait")
    )


class Collector(http.server.BaseHTTPRequestHandler):
    """Takes requests of OTLP but for as many as `refuses` says, which it answers with 503."""

    taken: ClassVar[list[str]] = []
    refuses: ClassVar[int] = 0

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        refused = Collector.refuses > 0
        Collector.refuses -= int(refused)
        if not refused:
            assert self.path == "/v1/metrics"
            assert self.headers["Content-Type"] == "application/json"
            Collector.taken.append(body)
        self.send_response(503 if refused else 200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def collector() -> Iterator[str]:
    Collector.taken.clear()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1/metrics"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize("refuses", [0, 1])
def test_a_collector_is_posted_what_a_file_would_have(
    run: Path, collector: str, refuses: int
) -> None:
    Collector.refuses = refuses
    assert export(run, "otlp", collector) == ""
    assert Collector.taken == export(run, "otlp").splitlines()


def test_a_collector_that_takes_nothing_is_said(run: Path, collector: str) -> None:
    Collector.refuses = 1000
    done = unstarve("export", "--as", "otlp", "--out", collector, str(run))
    assert done.returncode == 1
    assert collector in done.stderr and "503" in done.stderr
    for address, says, code in (
        ("http://127.0.0.1:1/", "no answer", 1),
        ("https://a/", "only http://", 2),
        ("http://", "no address", 2),
    ):
        done = unstarve("export", "--as", "otlp", "--out", address, str(run))
        assert done.returncode == code
        assert says in done.stderr


@pytest.mark.parametrize("kind", ["jsonl", "otlp", "perfetto", "prometheus", "tensorboard"])
def test_no_kind_leaves_a_file_of_what_is_no_run(kind: str, tmp_path: Path) -> None:
    into = tmp_path / "into"
    done = unstarve("export", "--as", kind, "--out", str(into), str(tmp_path / "nowhere"))
    assert done.returncode == 2
    assert "nowhere" in done.stderr
    assert not into.exists()


def test_what_slurm_says_is_on_the_run(tmp_path: Path) -> None:
    slurm = {"SLURM_JOB_ID": "4711", "SLURM_JOB_USER": "ada", "SLURM_JOB_ACCOUNT": "vision"}
    folder = tmp_path / "run"
    done = unstarve("run", "--out", str(folder), "--", "true", env={**environment(), **slurm})
    assert done.returncode == 0, done.stderr
    (info,) = series_of(export(folder, "prometheus"))["unstarve_run_info"]
    assert {name: info[0].get(name) for name in ("scheduler", "job", "user", "account")} == {
        "scheduler": "slurm",
        "job": "4711",
        "user": "ada",
        "account": "vision",
    }


def test_the_dashboard_asks_for_series_that_there_are(run: Path) -> None:
    ended = export(run, "prometheus")
    with_gpus(run, 1)
    there = set(series_of(ended)) | set(series_of(export(run, "prometheus")))
    dashboard = json.loads((ROOT / "examples/grafana/unstarve.json").read_text())
    asked = set()
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            asked |= set(re.findall(r"\bunstarve_\w+", target["expr"]))
    assert len(asked) > 8
    assert asked <= there


def test_a_clusters_record_gets_one_line(run: Path) -> None:
    done = unstarve("report", "--summary", str(run))
    assert done.returncode == 0, done.stderr
    (line,) = done.stdout.splitlines()
    assert len(line) <= 1000
    prefix, _, packed = line.partition(":")
    assert prefix == "unstarve1"
    told = json.loads(gzip.decompress(base64.b64decode(packed, validate=True)))
    report = report_of(RUN)
    finding = report["findings"][report["leading_finding"]]
    assert told["job"] == "4711"
    assert (told["cause"], told["detail"]) == (finding["cause"], finding["detail"])
    assert told["share"] == pytest.approx(finding["share"], abs=1e-3)
    assert told["steps"] == one_count(run, "step")
    assert len(told["verdict"].split()) <= 12
