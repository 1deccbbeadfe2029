"""The verdict from a window of torch.profiler, where our library does not record the GPU."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from emulation import unstarve
from recorded_runs import recorded


def diagnose(path: Path) -> dict[str, Any]:
    done = unstarve("diagnose", str(path), "--json")
    assert done.returncode == 0, done.stderr
    answers: dict[str, Any] = json.loads(done.stdout)
    return answers


@pytest.mark.parametrize(
    ("job", "cause", "share"),
    [
        pytest.param("busy", "gpu_busy", "gpu_compute", id="a queue longer than the window"),
        pytest.param("starved", "input_wait", "input_wait", id="starving"),
    ],
)
def test_the_verdict_is_that_of_the_window(
    tmp_path: Path, job: str, cause: str, share: str
) -> None:
    out = recorded(f"window_{job}", tmp_path)
    all_recorded = diagnose(recorded(f"all_{job}", tmp_path))
    live, window = diagnose(out), diagnose(out / "kineto-0.json.gz")

    of_window = live["devices"][0]["recorded"]
    for name, expected in window["partition"].items():
        assert abs(of_window["partition"][name] - expected) < 0.02, name
    assert of_window["windows"] == 1
    assert abs(of_window["steps"] - 6) < 1, "its edges lie within a step each"
    assert of_window["clock_error_us"] < 1000
    assert live["steps"]["count"] == 29, "the whole run's, without the warm-up"

    assert live["findings"][0]["cause"] == window["findings"][0]["cause"] == cause
    assert abs(sum(live["partition"].values()) - 1) < 1e-6
    assert abs(live["partition"][share] - all_recorded["partition"][share]) < 0.12
    assert "No GPU activity" not in live["verdict"]

    page = tmp_path / "page.html"
    assert unstarve("report", str(out), "--html", str(page)).returncode == 0
    assert "GPU recorded in" in page.read_text()
    assert "GPU recorded in" in unstarve("report", str(out)).stdout


def test_a_damaged_window_costs_the_window_alone(tmp_path: Path) -> None:
    out = recorded("window_starved", tmp_path)
    (out / "kineto-0.json.gz").write_bytes(b"\x1f\x8b no trace")
    live = diagnose(out)
    assert live["partition"] == {"absent": "not_observed"}
    assert live["findings"][0]["cause"] == "input_wait"
    assert "torch.profiler" in unstarve("diagnose", str(out)).stderr
