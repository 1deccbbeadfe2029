"""The zoo itself: its cures fit its scripts, it tells right from wrong, and a few of its jobs."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from changes import RIGHT, told_in_full
from gains import Predicted, Tried, score
from judging import confusion, judge, totals_of
from planted import FOLDER, JOBS, Job, Plant, cured
from predicted_gains import ROWS, at_twice_the_batch, edit_of
from run_zoo import read_costs
from running import ROOT, step_s
from set_a import SET_A
from set_b import SET_B
from set_c import SET_C
from set_d import SET_D
from set_e import SET_E
from set_f import SET_F
from set_g import SET_G
from set_h import SET_H

UNSTARVE = Path(os.environ.get("UNSTARVE_BUILD", ROOT / "build/release")) / "src/cli/unstarve"
ALL = (*SET_A, *SET_B, *SET_C, *SET_D, *SET_E, *SET_F, *SET_G, *SET_H)
BY_NAME = {job.name: job for job in ALL}


def told(cause: str, detail: str = "", share: float = 0.6, says: str = "") -> dict[str, Any]:
    finding = {"cause": cause, "detail": detail, "share": share, "evidence": [says], "remedies": []}
    return {"findings": [finding], "verdict": ""}


def test_every_script_is_planted_once() -> None:
    assert sorted(BY_NAME) == sorted(path.stem for path in JOBS.glob("*.py"))
    assert len(ALL) == len(BY_NAME)
    for jobs in (SET_A, SET_B, SET_C, SET_D, SET_E, SET_F, SET_G, SET_H):
        assert len(jobs) >= 24
        assert sum(not job.plants for job in jobs) >= 4


@pytest.mark.parametrize("job", ALL, ids=lambda job: str(job.name))
def test_plants_are_in_their_script_and_cures_leave_python(job: Job) -> None:
    text = job.script.read_text()
    cures = [plant.cure for plant in job.plants] or [job.cure]
    for plant in job.plants:
        assert not plant.line or job.line_of(plant)
    for cure in cures:
        assert cure or job.neighbours
        ast.parse(cured(text, cure))


def test_plants_that_were_measured_cost_what_they_are_meant_to() -> None:
    costs = read_costs()
    assert set(costs) <= set(BY_NAME)
    assert {job.name for job in (*SET_A, *SET_C, *SET_D, *SET_E, *SET_F, *SET_G, *SET_H)} <= set(
        costs
    )
    for name, figures in costs.items():
        assert (max(figures) >= 0.05) == bool(BY_NAME[name].plants), name


def test_a_wrong_cause_counts_as_wrong() -> None:
    job = BY_NAME["many_metrics"]
    line = job.line_of(job.plants[0])
    assert judge(job, told("sync", says=f"many_metrics.py:{line}"), [0.3]).detail_right
    wrong = judge(job, told("launch", says=f"many_metrics.py:{line}"), [0.3])
    assert not wrong.cause_right
    # A line that is right by chance does not save a wrong cause.
    assert not wrong.detail_right
    assert not totals_of([wrong]).reached


def test_a_right_cause_needs_its_reason() -> None:
    job = BY_NAME["strong_augmentation"]
    bare = judge(job, told("input_wait", "decode_cpu"), [0.6])
    assert (bare.cause_right, bare.detail_right) == (True, False)
    line = job.line_of(job.plants[0])
    for right in (
        told("input_wait", "python_transform"),
        told("input_wait", says=f"62 % of a sample at /home/a/{job.name}.py:{line}"),
        told("input_wait", says="62 % of a sample is RandAugment"),
    ):
        assert judge(job, right, [0.6]).detail_right
    near = told("input_wait", says=f"{job.name}.py:{line}0")
    assert not judge(job, near, [0.6]).detail_right


def test_a_late_rank_is_a_cause_that_leads() -> None:
    job = BY_NAME["uneven_pages"]
    alone = told("gpu_busy", says="Rank 1 of 2 is late")
    assert not judge(job, alone, [0.4]).cause_right
    late = {**alone, "verdict": "Rank 1 of 2 is late", "ranks": {"straggler": {"at": 1}}}
    late["verdict"] = "rank 1"
    judged = judge(job, late, [0.4])
    assert (judged.cause_right, judged.detail_right) == (True, True)


def test_a_healthy_job_that_is_accused_misses_the_targets() -> None:
    job = BY_NAME["on_the_gpu"]
    fine = judge(job, told("gpu_busy", share=0.97), [])
    accused = judge(job, told("sync", share=0.06), [])
    assert (fine.cause_right, accused.cause_right) == (True, False)
    assert totals_of([fine]).reached
    assert not totals_of([fine, accused]).reached
    assert [line.split() for line in confusion([accused])[1:]] == [["healthy", "1"]]


def test_of_two_plants_the_one_that_costs_more_comes_first() -> None:
    plants = (Plant(("sync",), ("a",)), Plant(("launch",), ("b",)))
    job = Job("many_metrics", plants)
    for costs, said, right in (
        ([0.5, 0.1], "sync", True),
        ([0.5, 0.1], "launch", False),
        ([0.5, 0.45], "launch", True),
    ):
        assert judge(job, told(said), costs).cause_right is right


def test_a_remedy_that_slows_its_job_misses_the_targets() -> None:
    job = BY_NAME["many_metrics"]
    answer = told("sync", says=f"many_metrics.py:{job.line_of(job.plants[0])}")
    assert totals_of([judge(job, answer, [])]).reached
    answer["verification"] = [
        {
            "remedy": "more_workers",
            "measured": {"speedup": 0.7, "low": 0.6, "high": 0.8},
            "held": False,
        }
    ]
    assert totals_of([judge(job, answer, [])]).slowed == 1
    assert not totals_of([judge(job, answer, [])]).reached


def test_gains_are_held_against_their_predictions() -> None:
    right = Tried("more_workers", 2.0, Predicted(2.2, 1.9, 2.5))
    wrong = Tried("pin_memory", 1.5, Predicted(1.2, 1.1, 1.3))
    silent = Tried("fewer_workers", 1.1)
    assert (right.inside, wrong.inside, silent.inside) == (True, False, False)
    assert "OUTSIDE" in str(wrong)
    both = score([right, wrong, silent])
    assert (both.predicted, both.inside, both.reached) == (2, 1, False)
    assert abs(both.median_error - (0.1 + 0.2) / 2) < 1e-3
    assert score([right]).reached
    assert not score([Tried("a", 2.0, Predicted(2.3, 1.9, 2.5))]).reached, "off by 15 %"
    assert score([silent]).predicted == 0


def test_what_was_predicted_of_a_tried_remedy_is_counted() -> None:
    answer = told("gpu_busy", share=0.97)
    answer["verification"] = [
        {
            "remedy": "more_workers",
            "predicted": {"speedup": 2.0, "low": 1.8, "high": 2.2},
            "measured": {"speedup": 2.1, "low": 2.0, "high": 2.2},
        },
        {
            "remedy": "fewer_workers",
            "predicted": {"absent": "not observed"},
            "measured": {"speedup": 1.1, "low": 1.0, "high": 1.2},
        },
    ]
    totals = totals_of([judge(BY_NAME["on_the_gpu"], answer, [])])
    assert (totals.tried, totals.predicted, totals.inside) == (2, 1, 1)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.job}-{row.remedy}")
def test_edits_whose_gain_is_measured_fit_their_scripts(row: Any) -> None:
    ast.parse(cured(BY_NAME[row.job].script.read_text(), edit_of(row)))


def test_a_batch_eight_times_as_large_becomes_one_of_twice_the_size() -> None:
    cure = (("zeros(64, 1", "zeros(512, 1"), ("rows[:64]", "rows[: 8 * 64]"), ("+= 1", "+= 8"))
    assert at_twice_the_batch(cure) == (
        ("zeros(64, 1", "zeros(128, 1"),
        ("rows[:64]", "rows[: 2 * 64]"),
        ("+= 1", "+= 2"),
    )


def test_a_step_is_timed_behind_the_warm_up() -> None:
    assert step_s([(1, 0.0), (2, 5.0)]) is None
    steps = [(1, 0.0), (2, 2.0), *((2 + i, 2.0 + 0.1 * i) for i in range(1, 61))]
    measured = step_s(steps)
    assert measured is not None
    assert abs(measured - 0.1) < 1e-6


@pytest.mark.parametrize(
    ("name", "cause"),
    [("first_script", "input_wait"), ("deep_and_narrow", "launch"), ("on_the_gpu", "")],
)
def test_jobs_that_were_recorded_are_judged(tmp_path: Path, name: str, cause: str) -> None:
    """A job that waits for data is told from one that launches too much and from a healthy one."""
    run = shutil.copytree(ROOT / "tests/data/runs" / name, tmp_path / name)
    done = subprocess.run(
        [UNSTARVE, "report", "--json", "-", run], capture_output=True, text=True, check=True
    )
    judged = judge(BY_NAME[name], json.loads(done.stdout), read_costs().get(name, []))
    assert judged.cause_right, judged
    if cause:
        assert judged.said == cause


def test_a_job_is_run_and_told(tmp_path: Path) -> None:
    """What is said of it depends on who else uses the CPUs; that something is does not."""
    command = [sys.executable, str(FOLDER / "run_zoo.py"), "--only", "on_the_gpu", "--seconds", "2"]
    command += ["--unstarve", str(UNSTARVE)]
    done = subprocess.run([*command, "--keep", str(tmp_path)], capture_output=True, text=True)
    (row,) = (line for line in done.stdout.splitlines() if line.startswith("on_the_gpu"))
    (totals,) = (line for line in done.stdout.splitlines() if line.startswith("  {"))
    counted = json.loads(totals)
    assert (counted["healthy"], counted["planted"]) == (1, 0)
    assert ("cause right" in row) == (counted["accused"] == 0)
    assert done.returncode == counted["accused"], done.stdout + done.stderr
    told = json.loads((tmp_path / "on_the_gpu.json").read_text())
    assert told["devices"][0]["emulated"] and told["steps"]["count"] > 5


def advised(remedy: str, how: str = "", **values: int) -> dict[str, Any]:
    found = told("input_wait", "decode_cpu")
    found["findings"][0]["remedies"] = [{"id": remedy, "how": how, "values": values}]
    return {**found, "next_remedy": remedy}


def test_every_kind_of_cure_has_its_changes() -> None:
    kinds = {plant.change for job in SET_H for plant in job.plants}
    assert kinds == set(RIGHT)


def test_a_change_is_right_where_it_is_the_cure() -> None:
    job = Job("many_metrics", (Plant(("input_wait",), change="tokenise_beforehand"),))
    assert judge(job, advised("tokens_beforehand"), [0.5]).change_right
    assert not judge(job, advised("more_workers"), [0.5]).change_right
    assert not judge(job, told("input_wait"), [0.5]).change_right, "it begins with none"
    assert not totals_of([judge(job, advised("more_workers"), [0.5])]).reached


def test_a_change_for_many_causes_names_its_place() -> None:
    plant = Plant(("input_wait",), ("decode_cpu",), says=("slow_part",), change="vectorise")
    job = Job("many_metrics", (plant,))
    assert not judge(job, advised("cheaper_transforms", "Do less."), [0.5]).change_right
    assert judge(job, advised("cheaper_transforms", "Do slow_part less."), [0.5]).change_right


def test_a_change_of_several_forms_has_to_be_the_right_one() -> None:
    job = Job("many_metrics", (Plant(("input_wait",), change="generate_with_cache"),))
    compiled = advised("cuda_graphs_or_compile", "Compile the model.")
    assert not judge(job, compiled, [0.5]).change_right
    kept = advised("cuda_graphs_or_compile", "Give generate() a cache of one size.")
    assert judge(job, kept, [0.5]).change_right


def test_another_change_is_right_where_it_gains_as_much() -> None:
    job = Job("many_metrics", (Plant(("input_wait",), change="tokenise_beforehand"),))
    found = advised("more_workers")

    def gains(speedup: float) -> dict[str, Any]:
        measured = {"speedup": speedup, "low": speedup, "high": speedup}
        return {**found, "verification": [{"remedy": "more_workers", "measured": measured}]}

    assert judge(job, gains(1.7), [0.5]).change_right, "the cure gains 2x"
    assert not judge(job, gains(1.5), [0.5]).change_right
    assert judge(job, gains(0.9), [0.5]).harmful


def test_workers_for_a_stream_that_does_not_divide_itself_are_harmful() -> None:
    job = Job("many_metrics", (Plant(("input_wait",), change="divide_among_workers"),))
    assert judge(job, advised("more_workers", num_workers=4), [0.5]).harmful
    assert not judge(job, advised("more_workers", num_workers=1), [0.5]).harmful


def test_a_healthy_job_needs_no_change() -> None:
    job = Job("on_the_gpu")
    assert judge(job, told("gpu_busy"), []).change_right
    assert judge(job, told("gpu_busy"), [0.01]).change_right, "of what could be better in it"
    assert not judge(job, advised("more_workers"), []).change_right


def test_sets_without_kinds_of_cures_are_not_judged_by_their_changes() -> None:
    job = BY_NAME["many_metrics"]
    assert judge(job, advised("more_workers"), [0.3]).change_right is None


def test_cut_off_words_are_not_told_in_full() -> None:
    brief = "It waits.\nWhy     It waits\n        for data.\nChange  Do less.\nAlso    a…\n"
    assert told_in_full(brief)
    assert not told_in_full(brief.replace("for data.", "for d…"))
    assert not told_in_full(brief.replace("Do less.", "Do l…"))
    assert not told_in_full(brief.replace("Why ", "Who "))
    assert not told_in_full(brief + "        more\n" * 12)
