"""What runs and their idle time cost, as the commands say it (docs/costs.md)."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from command_line import environment, unstarve
from recorded import lines_of, recorded, report_of

JOULES_PER_KWH = 3.6e6
IDLE = ("input_wait", "sync", "launch", "kernel_wait", "other")


def cost_of(run: Path, *options: str, **variables: str) -> dict[str, Any]:
    done = unstarve("report", "--json", "-", *options, str(run), env={**environment(), **variables})
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)["cost"]
    return found


def counted_joules(run: Path) -> float:
    """How far the GPU's counter went."""
    with closing(sqlite3.connect(run / "run.sqlite")) as store:
        rows = store.execute(
            "select max(value) - min(value) from sample join metric on metric.id = metric_id"
            " where name = 'gpu.energy_j' and subject = 'gpu0'"
        )
        return float(next(rows)[0])


def test_the_gpus_energy_is_what_its_counter_says(tmp_path: Path) -> None:
    run = recorded("fed_gpu", tmp_path)
    cost = cost_of(run)
    assert cost["gpus"] == 1
    assert cost["gpu"]["energy_by"] == "modelled"
    counted = counted_joules(run)
    assert abs(cost["gpu"]["kwh"] * JOULES_PER_KWH - counted) < 0.02 * counted


def test_causes_add_up_to_the_training_and_idle_ones_to_the_idle_time() -> None:
    cost = report_of("fed_gpu")["cost"]
    for amount in ("gpu_hours", "usd", "kwh", "co2_kg"):
        causes = {name: cause[amount] for name, cause in cost["by_cause"].items()}
        assert sum(causes.values()) == pytest.approx(cost["training"][amount])
        assert sum(causes[name] for name in IDLE) == pytest.approx(cost["idle"][amount])
    assert cost["idle"]["ratio"] == pytest.approx(
        cost["idle"]["gpu_hours"] / cost["training"]["gpu_hours"]
    )
    parts = sum(cost[part]["gpu_hours"] for part in ("start_up", "training", "ending"))
    assert parts == pytest.approx(cost["total"]["gpu_hours"])


def test_prices_and_factors_are_inputs_with_a_source(tmp_path: Path) -> None:
    run = recorded("fed_gpu", tmp_path)
    by_default = cost_of(run)
    rates = by_default["rates"]
    assert rates["usd_per_gpu_hour"]["source"].startswith("list price of Lambda")
    assert rates["carbon_g_per_kwh"]["value"] == 475
    assert "world average" in rates["carbon_g_per_kwh"]["source"]
    costs = tmp_path / "costs.json"
    costs.write_text('{"usd_per_gpu_hour": {"value": 5, "source": "a contract"}, "pue": 2}')
    said = cost_of(run, "--costs", str(costs), "--carbon", "100", UNSTARVE_PRICE="9")
    assert said["rates"]["usd_per_gpu_hour"] == {"value": 5, "source": "a contract"}
    assert said["rates"]["carbon_g_per_kwh"] == {"value": 100, "source": "--carbon"}
    assert said["total"]["usd"] == pytest.approx(5 * said["total"]["gpu_hours"])
    assert said["gpu"]["kwh"] == pytest.approx(2 * by_default["gpu"]["kwh"])
    assert said["gpu"]["co2_kg"] == pytest.approx(said["gpu"]["kwh"] * 0.1)
    from_environment = cost_of(run, UNSTARVE_PRICE="9", UNSTARVE_PUE="1.5")
    assert from_environment["rates"]["usd_per_gpu_hour"] == {"value": 9, "source": "UNSTARVE_PRICE"}
    assert from_environment["rates"]["pue"]["value"] == 1.5


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--pue", "0.5"], "--pue must be 1 to"),
        (["--price", "-1"], "--price must be 0 to"),
        (["--costs", "/nowhere/costs.json"], "costs.json"),
    ],
)
def test_what_is_no_price_is_wrong_usage(tmp_path: Path, options: list[str], says: str) -> None:
    done = unstarve("report", str(recorded("fed_gpu", tmp_path)), *options)
    assert done.returncode == 2
    assert says in done.stderr


def test_the_short_report_has_one_line_of_it(tmp_path: Path) -> None:
    lines = lines_of("fed_gpu")
    (idle,) = (line for line in lines if line.startswith("Idle"))
    assert "of training: " in idle
    assert len(lines) <= 15


def test_a_job_on_the_cpu_costs_no_gpu_hours() -> None:
    cost = report_of("starved")["cost"]
    assert cost["gpus"] == 0
    assert cost["total"]["gpu_hours"] == {"absent": "not_observed"}
    assert "idle" not in cost
    assert not [line for line in lines_of("starved") if line.startswith(("Idle", "Cost"))]


def test_a_comparison_is_of_the_same_work(tmp_path: Path) -> None:
    run = recorded("fed_gpu", tmp_path)
    done = unstarve("compare", str(run), str(run), "--price", "2", "--json", "-")
    assert done.returncode == 0, done.stderr
    cost = json.loads(done.stdout)["cost"]
    assert cost["of"] == "1000_samples"
    assert cost["a"] == cost["b"]
    assert cost["a"]["usd"] == pytest.approx(2 * cost["a"]["gpu_hours"])
    assert cost["given_back_a_month"]["usd"] == 0
    shown = unstarve("compare", str(run), str(run), "--price", "2")
    assert "of 1,000 samples" in shown.stdout
