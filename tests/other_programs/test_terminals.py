"""`unstarve top` and `run --live` in tmux: whole frames at every size, and lines where no frame is
possible."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import UNSTARVE, environment, unstarve
from panes import LEFT, Pane, pane
from small_jobs import training_job

CODE = 3
SMALL, LARGE = (80, 24), (200, 60)
#: Trains until its standard input ends, or until a file is there.
JOB = training_job(
    10_000_000,
    'if os.path.exists("ends"):\n    break',
    f'print("trained")\nsys.exit({CODE})',
)
#: The lines of a frame of one job that trains, in their order; the legend has room beside `step`
#: where a terminal is wide.
FRAME = re.compile(
    r"1 job .*q leave.*\n\n"
    r"\S*a  training  [\d.]+ m?s .*\n"
    r" +waits for data \d+ %, .* ms a step, .*, (?P<steps>\d+) steps\n"
    r"step +\S+(?:\n +|  )█ waits for data (?P<waits>[\d.]+) % +▒ GPU (?P<gpu>[\d.]+) % +"
    r"░ own work (?P<own>[\d.]+) %\n"
    r"(?:GPU .*\n)*"
    r"waits .* [\d.]+ %\n"
    r"CPU .* of \d+ cores .*B"
)


def frame_of(screen: list[str]) -> re.Match[str] | None:
    """The frame, if the screen is one whole frame and nothing else."""
    return FRAME.fullmatch("\n".join(screen).rstrip())


def assert_fits(view: Pane, columns: int, lines: int) -> None:
    screen = view.wait(lambda screen: frame_of(screen) is not None)
    assert len(screen) <= lines
    assert max(map(len, screen)) <= columns
    assert view.fits(lines)


def is_whole(view: Pane, columns: int, lines: int) -> None:
    """Three frames on end: the first after a change might be whole by luck."""
    for _ in range(3):
        assert_fits(view, columns, lines)
        view.wait_for_another(view.screen())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "job.py").write_text(JOB)
    (tmp_path / "runs").mkdir()
    return tmp_path


@pytest.fixture
def job(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A job that trains, for whoever looks on."""
    with (folder / "job_output").open("wb") as out:
        process = subprocess.Popen(
            [UNSTARVE, "run", "--no-live", "--out", "runs/a", "--", sys.executable, "job.py"],
            cwd=folder,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    try:
        yield process
    finally:
        (folder / "ends").touch()
        process.wait()


def live(folder: Path) -> list[str]:
    return [str(UNSTARVE), "run", "--live", "--out", "runs/a", "--", sys.executable, "job.py"]


def top(*options: str) -> list[str]:
    return [str(UNSTARVE), "top", *options, "runs"]


def asked(folder: Path, query: str) -> float:
    done = unstarve("query", str(folder / "runs/a"), query, "--json")
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(done.stdout)
    (value,) = row.values()
    return float(value or 0)


def shows_the_store(view: Pane, folder: Path) -> None:
    """Steps and shares come to be those of the store."""
    there = asked(folder, "SELECT count(*) FROM step")

    def agrees(screen: list[str]) -> bool:
        frame = frame_of(screen)
        if frame is None or int(frame["steps"]) < there:
            return False
        waits, gpu, own = (float(frame[part]) for part in ("waits", "gpu", "own"))
        assert waits + gpu + own == pytest.approx(100, abs=1.5)
        # Its first step begins with the job.
        waited = "(SELECT sum(end_ns - start_ns) FROM wait WHERE batch > 0)"
        lasted = "(SELECT sum(end_ns - start_ns) FROM step WHERE idx > 0)"
        return waits == pytest.approx(
            100 * asked(folder, f"SELECT 1.0 * {waited} / {lasted}"), abs=10
        )

    shown = frame_of(view.wait(agrees))
    assert shown is not None
    assert int(shown["steps"]) <= asked(folder, "SELECT count(*) FROM step")


@pytest.mark.parametrize(("first", "then"), [(SMALL, LARGE), (LARGE, SMALL)])
def test_top_is_whole_at_every_size(
    job: subprocess.Popen[bytes], folder: Path, first: tuple[int, int], then: tuple[int, int]
) -> None:
    with pane(top("--every", "0.2"), folder, environment(), *first) as view:
        is_whole(view, *first)
        view.resize(*then)
        is_whole(view, *then)
        shows_the_store(view, folder)
        view.type("q")
        screen = view.wait_for(f"{LEFT} 0")
        assert not any("q leave" in line for line in screen)
    assert job.poll() is None
    (folder / "ends").touch()
    assert job.wait() == CODE


@pytest.mark.parametrize(("first", "then"), [(SMALL, LARGE), (LARGE, SMALL)])
def test_a_live_run_is_whole_and_goes_on_without_its_view(
    folder: Path, first: tuple[int, int], then: tuple[int, int]
) -> None:
    with pane(live(folder), folder, environment(), *first) as view:
        is_whole(view, *first)
        view.resize(*then)
        is_whole(view, *then)
        view.type("q")
        view.wait(lambda screen: not any("q leave" in line for line in screen))
        made = asked(folder, "SELECT count(*) FROM step")
        while asked(folder, "SELECT count(*) FROM step") <= made:
            pass
        (folder / "ends").touch()
        view.wait_for(f"{LEFT} {CODE}")
    assert (folder / "runs/a/job_output.log").read_text() == "trained\n"
    assert asked(folder, "SELECT value FROM run WHERE key = 'exit_code'") == CODE


def test_a_dumb_terminal_gets_lines(job: subprocess.Popen[bytes], folder: Path) -> None:
    columns, lines = SMALL
    command = ["env", "TERM=dumb", *top()]
    with pane(command, folder, environment(), columns, lines) as view:
        view.wait_for("runs/a: waits for data")
        assert view.fits(lines)
        assert b"\x1b" not in view.written.read_bytes()
        (folder / "ends").touch()
        assert job.wait() == CODE


def test_a_live_run_on_a_dumb_terminal_is_as_any(folder: Path) -> None:
    with pane(["env", "TERM=dumb", *live(folder)], folder, environment(), *SMALL) as view:
        view.wait_for("waits for data")
        (folder / "ends").touch()
        screen = view.wait_for(f"{LEFT} {CODE}")
        assert any(line == "trained" for line in screen)
        assert b"\x1b" not in view.written.read_bytes()
        assert b"--live needs a terminal" in view.written.read_bytes()


def test_a_pipe_gets_lines(job: subprocess.Popen[bytes], folder: Path) -> None:
    process = subprocess.Popen(
        top(), cwd=folder, env=environment(), stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        while "waits for data" not in line:
            assert line
            line = process.stdout.readline()
        assert line.startswith("runs/a: ")
        assert "\x1b" not in line
    finally:
        process.terminate()
        process.stdout.close()
        assert process.wait() == 0
    assert job.poll() is None
