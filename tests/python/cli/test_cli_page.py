"""What a run's page draws over time, against the store that it is drawn from."""

from __future__ import annotations

import json
import re
import sqlite3
from pathlib import Path

import pytest
from command_line import ROOT, unstarve
from recorded import recorded


def page_of(run: Path) -> str:
    page = run.parent / "page.html"
    done = unstarve("report", "--html", str(page), str(run))
    assert done.returncode == 0, done.stderr
    return page.read_text()


def track(page: str, label: str) -> str:
    """The path of a row below the curves."""
    found = re.search(
        rf'<figure class="track"><figcaption><strong>{label}.*? d="([^"]*)"', page, re.DOTALL
    )
    assert found, label
    return found[1]


@pytest.mark.parametrize("name", ["starved", "waits_for_gpu", "evaluates"])
def test_steps_are_drawn_where_they_were(name: str, tmp_path: Path) -> None:
    run = recorded(name, tmp_path)
    with sqlite3.connect(run / "run.sqlite") as store:
        (started,) = store.execute("SELECT value FROM run WHERE key = 'started_ns'").fetchone()
        steps = store.execute("SELECT start_ns, end_ns FROM step ORDER BY start_ns").fetchall()
    page = page_of(run)
    points = json.loads(re.search(r'id="curve-points">([^<]*)<', page)[1])  # type: ignore[index]
    boxes = [float(x) for x in re.findall(r"M(-?[0-9.]+) ", track(page, "steps"))]
    assert len(boxes) == len(steps)
    # The first step is the warm-up: the training begins with the second, and so do the plots.
    begins = steps[1][0]
    assert points["start"] == 0
    assert points["from"] <= -(begins - steps[0][0]) / 1e9 + 0.001
    assert points["from"] >= -(begins - int(started)) / 1e9 - 0.001
    for x, (start, _) in zip(boxes, steps, strict=True):
        assert x == pytest.approx((start - begins) / 1e9 / points["end"] * 1000, rel=1e-3, abs=0.1)
    assert all(view == "0 0 1000 100" for view in re.findall(r'"timed" viewBox="([^"]*)"', page))


def test_curves_begin_with_the_training(tmp_path: Path) -> None:
    page = page_of(recorded("waits_for_gpu", tmp_path))
    assert "of start-up, imports and warm-up before it" in page
    mean = re.search(r"<strong>this run</strong> <span>mean ([0-9.]+) %", page)
    assert mean and float(mean[1]) > 60, "39 % with the imports"


def test_a_collection_at_the_interpreters_end_is_no_training(tmp_path: Path) -> None:
    run = recorded("trained", tmp_path)
    with sqlite3.connect(run / "run.sqlite") as store:
        (behind,) = store.execute(
            "SELECT count(*) FROM host_work WHERE start_ns >= (SELECT max(end_ns) FROM step)"
        ).fetchone()
    assert behind > 0
    assert "garbage collector" not in page_of(run).split('class="words"')[0]


def areas_over_time(page: str) -> dict[str, float]:
    """The part of the whole that each cause fills where the time goes is drawn over time."""
    figure = re.search(r'<figure class="track shares">.*?</figure>', page, re.S)
    assert figure is not None
    areas = {}
    for cause, path in re.findall(r'<path class="share (\w+)" d="([^"]*)"', figure[0]):
        pieces = re.findall(r"M([-\d.]+) ([-\d.]+)V([-\d.]+)H([-\d.]+)V", path)
        areas[cause] = sum(
            (float(end) - float(start)) * (float(low) - float(high))
            for start, low, high, end in pieces
        ) / (1000 * 100)
    return areas


@pytest.mark.parametrize(
    "trace", ["resnet50_num_workers_4_worker0.1623212756351.json.gz", "waits_for_gpu"]
)
def test_shares_over_time_add_up_to_those_of_the_whole(tmp_path: Path, trace: str) -> None:
    """Of a real trace and of a run that was recorded all the time."""
    source = ROOT / "tests/data/traces" / trace
    command = ["diagnose", str(source), "--json"]
    if not source.exists():
        command = ["report", str(recorded(trace, tmp_path)), "--json", "-"]
    page = tmp_path / "page.html"
    done = unstarve(*command, "--html", str(page))
    assert done.returncode == 0, done.stderr
    partition = json.loads(done.stdout)["partition"]
    drawn = areas_over_time(page.read_text())
    scale = sum(drawn.values())  # the axis may go on a little behind the training
    assert 0.9 < scale <= 1.001
    for cause, share in partition.items():
        assert drawn.get(cause, 0) / scale == pytest.approx(share, abs=0.01), cause


def test_the_place_of_an_error_is_named_from_the_scripts_folder_on(tmp_path: Path) -> None:
    """Of a job whose script lies beside the folder that it was started in, and that failed before
    any place of its loader was known."""
    run = recorded("raised", tmp_path)
    with sqlite3.connect(run / "run.sqlite") as store:
        (text,) = store.execute("SELECT text FROM process").fetchone()
        words = json.loads(text)
        place = words["ended_by"]["place"]
        words["ended_by"]["place"] = f"/home/somebody/job/{place}"
        for key in ("loaders", "loader_place", "iterated_at"):
            words.pop(key)
        store.execute("UPDATE process SET text = ?", [json.dumps(words)])
    page = page_of(run)
    assert f"at {place}: " in page
    assert "/home/somebody" not in page
