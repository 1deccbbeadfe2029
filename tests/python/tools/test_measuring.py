"""A measurement is repeated where others disturbed it, and only there."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from measuring import Readings, disturbance_between, disturbance_of_run, measured, read_now

START = Readings(clock_s=100, used_s=50, own_s=5, pressure_s=7, involuntary_switches=30)
# Ten seconds later: two of them worked by us, and nothing by others.
QUIET = replace(START, clock_s=110, used_s=52, own_s=7)
BUSY = replace(QUIET, used_s=60, pressure_s=11, involuntary_switches=900)


@pytest.mark.parametrize(
    ("after", "disturbed"),
    [
        (QUIET, False),
        (BUSY, True),
        (replace(BUSY, involuntary_switches=30), True),  # a child waited that lives on
        (replace(BUSY, pressure_s=7), True),
        # Others had CPUs that nobody else wanted.
        (replace(BUSY, pressure_s=7, involuntary_switches=30), False),
        # A job with more threads than there are CPUs is in its own way.
        (replace(QUIET, pressure_s=15, involuntary_switches=900), False),
        (replace(QUIET, used_s=52.5, pressure_s=15), False),
    ],
)
def test_others_disturb_who_waits_for_their_cpus(after: Readings, disturbed: bool) -> None:
    assert bool(disturbance_between(START, after)) == disturbed


def test_switches_stand_for_pressure_that_is_not_counted() -> None:
    before = replace(START, pressure_s=None)
    assert "840" not in disturbance_between(before, replace(BUSY, pressure_s=None))
    assert "87 involuntary" in disturbance_between(before, replace(BUSY, pressure_s=None))
    calm = replace(BUSY, pressure_s=None, involuntary_switches=30)
    assert disturbance_between(before, calm) == ""


def test_the_kernel_s_counters_are_read(tmp_path: Path) -> None:
    (tmp_path / "stat").write_text("cpu  100 200 300 4000 5000 60 70 80 9 9\ncpu0 1 1 1 1\n")
    found = read_now(tmp_path)
    assert found.used_s * 100 == pytest.approx(100 + 200 + 300 + 60 + 70 + 80)
    assert found.pressure_s is None
    (tmp_path / "pressure").mkdir()
    some = "some avg10=0.00 avg60=0.00 avg300=0.00 total=2500000\nfull avg10=0.00 total=9\n"
    (tmp_path / "pressure/cpu").write_text(some)
    assert read_now(tmp_path).pressure_s == 2.5
    sum(range(300_000))
    assert read_now().own_s > 0 and read_now().used_s >= read_now().own_s


def run_with(folder: Path, **means: float) -> Path:
    with closing(sqlite3.connect(folder / "run.sqlite")) as store, store:
        store.execute("CREATE TABLE metric (id INTEGER PRIMARY KEY, name TEXT)")
        store.execute("CREATE TABLE sample (t_ns, metric_id, value REAL, absent TEXT)")
        for number, (name, mean) in enumerate(means.items()):
            metric = name.replace("__", ".")
            store.execute("INSERT INTO metric VALUES (?, ?)", (number, metric))
            for value in (0.5 * mean, 1.5 * mean, None):
                store.execute("INSERT INTO sample VALUES (0, ?, ?, NULL)", (number, value))
    return folder


@pytest.mark.parametrize(
    ("busy", "waits", "disturbed"), [(1.9, 0.3, True), (1.9, 0.0, False), (1.0, 0.3, False)]
)
def test_a_run_says_itself_whether_others_disturbed_it(
    tmp_path: Path, busy: float, waits: float, disturbed: bool
) -> None:
    run = run_with(
        tmp_path,
        host__cpu_busy_cores=busy,
        job__cpu_cores=0.9,
        unstarve__cpu_cores=0.05,
        job__training_cpu_wait_ratio=waits,
    )
    said = disturbance_of_run(run)
    assert ("others used 0.9 CPUs" in said or "others used 1.0 CPUs" in said) == disturbed
    assert bool(said) == disturbed


def test_a_run_that_was_not_sampled_does_not_blame_others(tmp_path: Path) -> None:
    assert disturbance_of_run(run_with(tmp_path)) == ""


def counted(readings: list[Readings]) -> tuple[Callable[[], Readings], Callable[[], int]]:
    """A clock that gives these readings, and a measurement that counts how often it was made."""
    ticks: Iterator[Readings] = iter(readings)
    numbers = iter(range(1, 100))
    return lambda: next(ticks), lambda: next(numbers)


def judge_above(least: int) -> Callable[[int], None]:
    def judge(value: int) -> None:
        assert value > least, f"{value} is too little"

    return judge


def test_what_is_right_is_measured_once() -> None:
    now, measure = counted([START, BUSY])
    assert measured(measure, judge_above(0), now=now) == 1


def test_an_undisturbed_failure_is_one() -> None:
    now, measure = counted([START, QUIET] * 4)
    with pytest.raises(AssertionError, match=r"^measurement 1 \(undisturbed\): 1 is too little"):
        measured(measure, judge_above(2), now=now)
    assert measure() == 2, "it was measured once"


def test_a_disturbed_failure_is_measured_again() -> None:
    now, measure = counted([START, BUSY] * 4)
    assert measured(measure, judge_above(2), now=now) == 3


def test_what_fails_each_time_fails_with_all_that_was_seen() -> None:
    now, measure = counted([START, BUSY] * 9)
    with pytest.raises(AssertionError) as failure:
        measured(measure, judge_above(50), now=now)
    lines = [line for line in str(failure.value).splitlines() if "measurement" in line]
    assert [line[:26] for line in lines] == [f"measurement {n} (others used" for n in range(1, 5)]
    assert "4 is too little" in lines[-1]
    assert measure() == 5, "four times and no more"


def test_a_measurement_says_itself_whether_it_was_disturbed() -> None:
    _, measure = counted([])
    disturbed = {1: "a neighbour", 2: ""}
    with pytest.raises(AssertionError, match=r"2 \(undisturbed\): 2 is too little"):
        measured(measure, judge_above(9), disturbance=lambda value: disturbed[value])


def test_what_is_no_judgement_is_passed_on() -> None:
    def measure() -> int:
        raise RuntimeError("the job could not start")

    with pytest.raises(RuntimeError, match="could not start"):
        measured(measure, judge_above(0))
