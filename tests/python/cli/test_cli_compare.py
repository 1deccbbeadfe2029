"""`unstarve compare`: what changed between recordings, and what it comes from."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

from command_line import ROOT, environment, unstarve
from recorded import recorded


def compared(*words: str) -> dict[str, Any]:
    done = unstarve("compare", *words, "--json", "-")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def by_id(comparison: dict[str, Any]) -> dict[str, Any]:
    return {measure["id"]: measure for measure in comparison["measures"]}


def test_a_starved_run_beside_a_fed_one(tmp_path: Path) -> None:
    fed, starved = recorded("fed", tmp_path), recorded("starved", tmp_path)
    found = compared(str(fed), str(starved))
    assert found["schema"] == "unstarve.comparison/1"
    assert (found["a"], found["b"]) == ({"name": "fed", "runs": 1}, {"name": "starved", "runs": 1})
    step = by_id(found)["step_time"]
    assert abs(step["b"] / step["a"] - 1 - step["change_ratio"]["value"]) < 1e-9
    assert step["change_ratio"]["low"] <= step["change_ratio"]["value"]
    assert step["change_ratio"]["value"] <= step["change_ratio"]["high"]
    assert step["noise_ratio"] == {"absent": "not_observed"}
    assert found["moved"]["part"] == "input_wait"
    assert "waiting for data" in found["sentence"]
    for side in ("a", "b"):
        assert abs(sum(cause["share"][side] for cause in found["causes"]) - 1) < 1e-6
    assert "input_wait" in {finding["cause"] for finding in found["findings"]["came"]}


def test_a_run_beside_itself_has_no_change(tmp_path: Path) -> None:
    run = recorded("starved", tmp_path)
    found = compared(str(run), str(run))
    assert found["moved"] is None
    assert found["differences"] == []
    assert by_id(found)["step_time"]["change_ratio"] == {"value": 0.0, "low": 0.0, "high": 0.0}


def test_several_runs_of_a_side_bring_their_noise(tmp_path: Path) -> None:
    fed, starved = recorded("fed", tmp_path), recorded("starved", tmp_path)
    found = compared(f"{fed},{starved}", str(starved))
    step = by_id(found)["step_time"]
    assert found["a"]["runs"] == 2
    assert step["noise_ratio"] > 0.1
    assert step["change_ratio"]["low"] < 0 < step["change_ratio"]["high"]
    assert found["moved"] is None


def test_limits_decide_the_exit_code(tmp_path: Path) -> None:
    fed, starved = str(recorded("fed", tmp_path)), str(recorded("starved", tmp_path))
    assert unstarve("compare", fed, starved, "--fail-on", "step_time>1000000%").returncode == 0
    broken = unstarve("compare", fed, starved, "--fail-on", "step_time>1%,input_wait>1%")
    assert broken.returncode == 3
    assert "starved against fed: does not hold: step_time>1%" in broken.stderr
    absent = unstarve("compare", fed, starved, "--fail-on", "gpu_ms_per_step>1%")
    assert absent.returncode == 2
    assert "gpu_ms_per_step" in absent.stderr
    wrong = unstarve("compare", fed, starved, "--fail-on", "steptime>1%")
    assert wrong.returncode == 2
    assert "there is no measure 'steptime'" in wrong.stderr


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    run = str(recorded("starved", tmp_path))
    done = unstarve("compare", run, str(tmp_path / "nowhere"))
    assert done.returncode == 2
    assert "nowhere" in done.stderr
    alone = unstarve("compare", run)
    assert alone.returncode == 2
    assert "name a second run" in alone.stderr


def test_settings_and_the_script_that_differ_are_shown(tmp_path: Path) -> None:
    a = recorded("starved", tmp_path)
    b = Path(shutil.copytree(a, tmp_path / "other"))
    for run, workers, batch in ((a, "1", 8), (b, "2", 16)):
        store = sqlite3.connect(run / "run.sqlite")
        script = {"path": "train.py", "text": f"import torch\nbatch = {batch}\n\x1b[31mtrain()\n"}
        texts = {
            "script": json.dumps(script),
            "environment": json.dumps({"OMP_NUM_THREADS": workers}),
            "machine": json.dumps({"cpu": "A CPU"}),
        }
        store.executemany("INSERT OR REPLACE INTO run VALUES (?, ?)", texts.items())
        store.commit()
    found = compared(str(a), str(b))
    assert found["differences"] == [
        {"group": "environment", "name": "OMP_NUM_THREADS", "a": "1", "b": "2"}
    ]
    assert "-batch = 8\n+batch = 16\n" in found["script_diff"]
    done = unstarve("compare", str(a), str(b), env={**environment(), "COLUMNS": "60"})
    assert "environment OMP_NUM_THREADS: 1 -> 2" in done.stdout
    assert "\x1b" not in done.stdout
    assert max(len(line) for line in done.stdout.splitlines()) <= 60
    page = tmp_path / "page.html"
    unstarve("compare", str(a), str(b), "--html", str(page))
    assert "Time of a step, as the training went on" in page.read_text()
    assert "<code>+batch = 16</code>" in page.read_text() and "\x1b" not in page.read_text()
    markdown = unstarve("compare", str(a), str(b), "--markdown", "-").stdout
    assert markdown.startswith("**B's time of a step does not certainly differ")
    assert "```diff" in markdown and "\x1b" not in markdown


def test_profiler_traces_are_compared_as_far_as_they_tell() -> None:
    traces = ROOT / "tests/data/traces"
    found = compared(
        str(traces / "resnet50_num_workers_0_worker0.1623143089861.json.gz"),
        str(traces / "resnet50_num_workers_4_worker0.1623212756351.json.gz"),
    )
    assert found["moved"]["part"] == "input_wait" and found["moved"]["points"] < -30
    assert "reason" not in found["moved"], "neither says how many workers the other has"
    assert "cpu_ms_per_step" not in by_id(found)
