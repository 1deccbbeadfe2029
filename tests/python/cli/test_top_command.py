"""`unstarve top`: jobs that go on, on a terminal and elsewhere."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import select
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import UNSTARVE, environment, unstarve

JOB = "import sys; sys.stdin.read()"


def is_shown(run: Path, *where: str) -> bool:
    """Whether `top` shows this run; that the folder is not there yet is no answer."""
    done = unstarve("top", "--json", *where)
    return done.returncode == 0 and any(
        job["run"] == str(run) for job in json.loads(done.stdout)["jobs"]
    )


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Path]:
    """The folder of a run that goes on until the test ends."""
    run = tmp_path / "runs/a"
    job = subprocess.Popen(
        [UNSTARVE, "run", "--out", run, "--", sys.executable, "-c", JOB],
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        # Each of the two ways to it looks at something else: its store, and who writes that.
        while not (is_shown(run, str(run.parent)) and is_shown(run)):
            assert job.poll() is None
        yield run
    finally:
        assert job.stdin is not None
        job.stdin.close()
        job.wait(60)


def test_a_job_that_goes_on_is_found(watched: Path) -> None:
    for where in ([], [str(watched.parent)], [str(watched)]):
        done = unstarve("top", "--once", *where, env={**environment(), "COLUMNS": "120"})
        assert done.returncode == 0, done.stderr
        assert "starting" in done.stdout
        assert "no step so far" in done.stdout
    jobs = json.loads(unstarve("top", "--json").stdout)["jobs"]
    (mine,) = [job for job in jobs if job["run"] == str(watched)]
    assert mine["state"] == "starting"
    assert mine["step_s"] == {"absent": "not_observed"}
    # What starts does not idle.
    asked = unstarve("top", "--idle", "0.1", str(watched.parent))
    assert asked.returncode == 0


def test_where_no_job_is_watched_nobody_can_tell(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    done = unstarve("top", "--idle", "10", "--json", str(tmp_path / "runs"))
    assert done.returncode == 4
    assert json.loads(done.stdout) == {"schema": "unstarve.top/1", "jobs": []}
    assert unstarve("top", "--once", str(tmp_path / "nowhere")).returncode == 2


class Terminal:
    """A command, else `unstarve top` of a folder, on a terminal of so many columns and lines."""

    def __init__(
        self, where: Path | list[str], columns: int, lines: int, term: str = "xterm"
    ) -> None:
        self.parent, child = pty.openpty()
        env = {**environment(), "TERM": term, "LC_ALL": "C.UTF-8"}
        env.pop("COLUMNS", None)
        os.set_blocking(self.parent, False)
        self.resize(columns, lines)
        self.process = subprocess.Popen(
            [UNSTARVE, *(where if isinstance(where, list) else ["top", "--every", "0.2", where])],
            env=env,
            stdin=child,
            stdout=child,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        os.close(child)
        self.text = ""

    def resize(self, columns: int, lines: int) -> None:
        import fcntl
        import struct
        import termios

        fcntl.ioctl(self.parent, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def read_until(self, words: str) -> str:
        """What was written since the last call, up to a frame that has these words."""
        seen = ""
        while words not in seen:
            ready, _, _ = select.select([self.parent], [], [], 60)
            assert ready, seen
            with contextlib.suppress(BlockingIOError):
                seen += os.read(self.parent, 65536).decode(errors="replace")
        return seen

    def type(self, keys: str) -> None:
        os.write(self.parent, keys.encode())

    def leave(self) -> int:
        self.type("q")
        code = self.process.wait(60)
        self.text += self.read_until("\x1b[?1049l")
        os.close(self.parent)
        return code


def frame_lines(text: str) -> list[str]:
    last = text.split("\x1b[H")[-1]
    return [re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "", line) for line in last.split("\n")]


@pytest.mark.parametrize(("columns", "lines"), [(80, 24), (200, 60), (40, 5)])
def test_the_screen_fits_and_goes(watched: Path, columns: int, lines: int) -> None:
    terminal = Terminal(watched.parent, columns, lines)
    text = terminal.read_until("starting")
    assert text.startswith("\x1b[?1049h")
    shown = frame_lines(text)
    assert len(shown) <= lines
    assert all(len(line) <= columns for line in shown)
    assert terminal.leave() == 0


def test_keys_pause_and_zoom_and_a_window_changes(watched: Path) -> None:
    terminal = Terminal(watched.parent, 120, 24)
    terminal.read_until("curves of 60 s")
    terminal.type("-")
    terminal.read_until("curves of 300 s")
    terminal.type("+")
    terminal.read_until("curves of 60 s")
    terminal.type("p")
    terminal.read_until("PAUSED")
    terminal.type("p\x1b[A")  # an arrow is no key of ours
    terminal.type("p")
    terminal.resize(50, 10)
    terminal.type("p")
    while any(len(line) > 50 for line in frame_lines(terminal.read_until("\x1b[J"))):
        pass
    assert terminal.leave() == 0


def test_a_dumb_terminal_gets_lines(watched: Path) -> None:
    terminal = Terminal(watched.parent, 80, 24, term="dumb")
    text = terminal.read_until("no step so far")
    assert "\x1b" not in text
    terminal.process.terminate()
    assert terminal.process.wait(60) == 0
    os.close(terminal.parent)


WAITS = """
import os, sys, time
print("printed", flush=True)
while not os.path.exists(sys.argv[1]):
    time.sleep(0.02)
sys.exit(3)
"""


def test_run_fills_the_terminal_until_somebody_leaves_it(tmp_path: Path) -> None:
    job = [sys.executable, "-c", WAITS, str(tmp_path / "ends")]
    terminal = Terminal(["run", "--live", "--out", str(tmp_path / "a"), "--", *job], 80, 24)
    text = terminal.read_until("no step so far")
    shown = frame_lines(text)
    assert len(shown) <= 24 and all(len(line) <= 80 for line in shown)
    terminal.type("q")
    terminal.read_until("\x1b[?1049l")
    (tmp_path / "ends").touch()
    assert terminal.process.stderr is not None
    said = terminal.process.stderr.read().decode()
    assert terminal.process.wait(60) == 3
    assert "output is in" in said
    assert (tmp_path / "a/job_output.log").read_text() == "printed\n"
    os.close(terminal.parent)


def test_without_a_terminal_a_live_run_is_as_any(tmp_path: Path) -> None:
    job = [sys.executable, "-c", "print('printed')"]
    done = unstarve("run", "--live", "--out", str(tmp_path / "a"), "--", *job)
    assert done.returncode == 0
    assert "printed" in done.stdout
    assert "--live needs a terminal" in done.stderr
