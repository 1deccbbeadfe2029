"""`unstarve run` among others: many at once, signals, reports that cannot be written."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from command_line import EMULATED, TRAINING_JOB, UNSTARVE, environment, unstarve

SLEEPER = "import sys, time; print('ready', flush=True); time.sleep(600)"
# A job that saves itself at its first signal and would be lost at a second.
CATCHER = """
import signal, sys, time
seen = []
signal.signal(signal.SIGTERM, lambda *_: seen.append(1))
print("ready", flush=True)
while not seen:
    time.sleep(0.01)
end = time.monotonic() + 1
while time.monotonic() < end:
    time.sleep(0.01)
sys.exit(40 + len(seen))
"""


def test_eight_at_once_get_a_folder_each(tmp_path: Path) -> None:
    runs = [
        subprocess.Popen(
            [str(UNSTARVE), "run", "--", "true"],
            cwd=tmp_path,
            env=environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(8)
    ]
    said = [run.communicate(timeout=120)[1] for run in runs]
    assert [run.returncode for run in runs] == [0] * 8, said
    stores = sorted((tmp_path / "runs").glob("*_true*/run.sqlite"))
    assert len(stores) == 8


def test_one_folder_is_given_to_one_of_several(tmp_path: Path) -> None:
    command = [str(UNSTARVE), "run", "--out", str(tmp_path / "r"), "--", "echo", "job"]
    runs = [
        subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(4)
    ]
    out = [run.communicate(timeout=120)[0] for run in runs]
    assert sorted(run.returncode for run in runs) == [0, 2, 2, 2]
    assert sorted(out) == [b"", b"", b"", b"job\n"]


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Callable[[str], subprocess.Popen[str]]]:
    """Starts `unstarve run -- python job.py` in a session of its own; the job is at work then."""
    started: list[subprocess.Popen[str]] = []

    def start(code: str, *options: str) -> subprocess.Popen[str]:
        script = tmp_path / "job.py"
        script.write_text(code)
        run = subprocess.Popen(
            [
                *[str(UNSTARVE), "run", "--out", str(tmp_path / "r"), *options],
                *["--", sys.executable, str(script)],
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment(),
            text=True,
            start_new_session=True,
        )
        started.append(run)
        assert run.stdout is not None
        assert run.stdout.readline() == "ready\n"
        return run

    yield start
    for run in started:
        for pid in members(run.pid):
            os.kill(pid, signal.SIGKILL)
        run.wait(timeout=60)
        if run.stdout is not None:
            run.stdout.close()


def members(session: int) -> list[int]:
    """Living processes of a session."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = stat.read_text()
        except OSError:
            continue
        state, *fields = text.rpartition(")")[2].split()
        if int(fields[2]) == session and state != "Z":
            found.append(int(text.split()[0]))
    return found


def name_of(pid: int) -> str:
    return Path(f"/proc/{pid}/comm").read_text()


def line_of(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()


def program_of(pid: int) -> str:
    return str(Path(f"/proc/{pid}/exe").resolve())


def the_program_itself(session: int) -> list[int]:
    return [session]


def named_unstarve(session: int) -> list[int]:
    """As `pkill unstarve` does."""
    return [pid for pid in members(session) if "unstarve" in name_of(pid)]


def with_unstarve_in_the_command_line(session: int) -> list[int]:
    """As `pkill -f unstarve` does, in a place whose path does not have the word."""
    return [pid for pid in members(session) if f"{UNSTARVE} run" in line_of(pid)]


def of_the_programs_file(session: int) -> list[int]:
    return [pid for pid in members(session) if program_of(pid) == str(UNSTARVE.resolve())]


@pytest.mark.parametrize(
    "chosen",
    [
        the_program_itself,
        named_unstarve,
        with_unstarve_in_the_command_line,
        of_the_programs_file,
        members,
    ],
)
def test_terminating_unstarve_ends_the_job(
    running: Callable[[str], subprocess.Popen[str]], chosen: Callable[[int], list[int]]
) -> None:
    run = running(SLEEPER)
    for pid in chosen(run.pid):
        os.kill(pid, signal.SIGTERM)
    assert run.wait(timeout=60) == 128 + signal.SIGTERM
    assert members(run.pid) == []


def with_the_script_in_the_command_line(session: int) -> list[int]:
    """As `pkill -f job.py` does."""
    return [pid for pid in members(session) if "job.py" in line_of(pid)]


@pytest.mark.parametrize(
    "chosen",
    [
        the_program_itself,
        named_unstarve,
        with_unstarve_in_the_command_line,
        with_the_script_in_the_command_line,
        members,
    ],
)
def test_a_job_that_saves_itself_is_told_once(
    running: Callable[[str], subprocess.Popen[str]], chosen: Callable[[int], list[int]]
) -> None:
    run = running(CATCHER)
    for pid in chosen(run.pid):
        os.kill(pid, signal.SIGTERM)
    assert run.wait(timeout=60) == 41


def test_a_schedulers_signal_to_the_group_reaches_the_job_once(
    running: Callable[[str], subprocess.Popen[str]],
) -> None:
    run = running(CATCHER)
    os.killpg(run.pid, signal.SIGTERM)
    assert run.wait(timeout=60) == 41


def test_no_further_trial_begins_after_a_signal(tmp_path: Path) -> None:
    """The job ends well at SIGTERM, as if it had come to its end."""
    code = TRAINING_JOB.replace("    if step == 12:\n        break\n", "    note(step)\n").replace(
        "import sys, torch",
        "import os, pathlib, signal, sys, torch\n"
        f"folder = pathlib.Path({str(tmp_path)!r})\n"
        "signal.signal(signal.SIGTERM, lambda *_: os._exit(0))\n"
        "def note(step): step == 12 and (folder / 'trained').touch()\n",
    )
    watcher = subprocess.Popen(
        [
            *[str(UNSTARVE), "run", "--fix", "--in-place", "--trial-seconds", "600", *EMULATED],
            *["--out", str(tmp_path / "r"), "--", sys.executable, "-c", code],
        ],
        stderr=subprocess.PIPE,
        env=environment(),
        text=True,
        start_new_session=True,
    )
    while not (tmp_path / "trained").exists():
        assert watcher.poll() is None
    watcher.send_signal(signal.SIGTERM)
    _, said = watcher.communicate(timeout=60)
    assert watcher.returncode == 128 + signal.SIGTERM
    assert "ended by a signal (Terminated) during 'before'" in said
    assert sorted(path.name for path in (tmp_path / "r").iterdir()) == ["before"]
    assert members(watcher.pid) == []


@pytest.mark.parametrize("option", ["--json", "--html"])
@pytest.mark.parametrize("where", ["/nonexistent/folder/x", "{tmp}", "{tmp}/file/x"])
def test_a_report_that_cannot_be_written_is_noticed_before_the_job(
    tmp_path: Path, option: str, where: str
) -> None:
    (tmp_path / "file").touch()
    path = where.format(tmp=tmp_path)
    started = tmp_path / "started"
    done = unstarve("run", option, path, "--", "touch", str(started), cwd=tmp_path)
    assert done.returncode == 2
    assert f"cannot write {path}" in done.stderr
    assert not started.exists()
    assert not (tmp_path / "runs").exists()


def test_a_report_that_fails_after_the_job_is_in_the_exit_code(tmp_path: Path) -> None:
    (tmp_path / "reports").mkdir()
    report = tmp_path / "reports" / "d.json"
    job = ["rm", "-r", str(report.parent)]
    out = str(tmp_path / "r")
    done = unstarve("run", "--json", str(report), "--out", out, "--", *job)
    assert done.returncode == 1
    assert f"cannot write {report}" in done.stderr
    assert unstarve("report", out).returncode == 0, "the run is there"
    # A job's own failure says more than ours.
    job = ["sh", "-c", f"rm -r {report.parent}; exit 7"]
    report.parent.mkdir()
    done = unstarve("run", "--json", str(report), "--out", str(tmp_path / "s"), "--", *job)
    assert done.returncode == 7


def test_a_report_goes_through_links_and_into_pipes(tmp_path: Path) -> None:
    """A pipe, a device or a link is not replaced by a file."""
    target, link, pipe = tmp_path / "target.json", tmp_path / "link.json", tmp_path / "pipe"
    target.write_text("old")
    link.symlink_to(target)
    done = unstarve("run", "--out", str(tmp_path / "r"), "--json", str(link), "--", "true")
    assert done.returncode == 0
    assert link.is_symlink()
    assert json.loads(target.read_text())["input"]["kind"] == "run"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE, text=True) as reader:
        done = unstarve("report", str(tmp_path / "r"), "--json", str(pipe))
        text = reader.communicate(timeout=60)[0]
    assert done.returncode == 0
    assert json.loads(text)["input"]["kind"] == "run"
    assert pipe.is_fifo()
    done = unstarve("report", str(tmp_path / "r"), "--json", "/dev/stdout")
    assert json.loads(done.stdout)["input"]["kind"] == "run"
    assert [path.name for path in tmp_path.glob(".unstarve*")] == []


def test_a_full_disk_is_named_as_the_reason_for_no_steps(tmp_path: Path) -> None:
    """A limit on the size of files stands for it: the run's store fits, the job's ring does not."""
    job = (
        "import torch\n"
        "from torch.utils.data import DataLoader\n"
        "for batch in DataLoader(torch.zeros(8, 2), batch_size=2): pass\n"
        "print('trained')\n"
    )
    out = str(tmp_path / "r")
    done = subprocess.run(
        [str(UNSTARVE), "run", "--out", out, "--", sys.executable, "-c", job],
        capture_output=True,
        text=True,
        env=environment(),
        timeout=300,
        check=False,
        restore_signals=False,  # SIGXFSZ stays ignored, so that a write fails instead
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, 600_000)),
    )
    assert (done.returncode, done.stdout) == (0, "trained\n"), done.stderr
    (note,) = [line for line in done.stderr.splitlines() if "could not record" in line]
    assert f"{out}/rings could not be made: File too large" in note
    assert "let the job run longer" not in done.stderr


def test_a_job_that_cannot_start_leaves_no_run(tmp_path: Path) -> None:
    done = unstarve("run", "--", "no-such-program-here", cwd=tmp_path)
    assert done.returncode == 127
    assert list((tmp_path / "runs").iterdir()) == []
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/notes").touch()
    done = unstarve("run", "--out", "mine", "--", "no-such-program-here", cwd=tmp_path)
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["notes"]


def test_a_long_command_line_is_shown_by_its_beginning(tmp_path: Path) -> None:
    long = ["é" * 20_000, "x" * 80_000]
    done = unstarve("run", "--out", str(tmp_path / "r"), "--", "true", *long)
    assert done.returncode == 0
    assert len(done.stderr.splitlines()) <= 15
    shown = unstarve("report", "--verbose", str(tmp_path / "r")).stdout
    assert len(shown.splitlines()) < 40
    assert "'ééé" in shown
    assert "(120008 bytes in all)" in " ".join(shown.split())
    assert len((tmp_path / "r/report.html").read_text()) < 100_000


def test_stages_of_one_id_are_reported_together(tmp_path: Path) -> None:
    for stage, seconds in (("preprocess", "0.1"), ("infer", "1")):
        options = ["--out", str(tmp_path), "--run-id", "night", "--stage", stage]
        done = unstarve("run", *options, "--", "sleep", seconds)
        assert done.returncode == 0, done.stderr
    shown = unstarve("report", str(tmp_path / "night"))
    assert shown.returncode == 0, shown.stderr
    first, second = shown.stdout.splitlines()[:2]
    assert first.startswith("Stage   preprocess ")
    assert second.startswith("Stage   infer ") and second.endswith("(the longest; below)")
    told = unstarve("report", "--json", "-", str(tmp_path / "night"))
    stages = json.loads(told.stdout)["stages"]
    assert [stage["stage"] for stage in stages] == ["preprocess", "infer"]
    assert stages[1]["exit_code"] == 0 and stages[1]["duration_s"] > 0.9
    for wrong in (["--stage", "train"], ["--run-id", "../x"], ["--run-id", "a", "--stage", "b"]):
        done = unstarve("run", "--out", str(tmp_path), *wrong, "--", "true")
        assert done.returncode != 0, wrong
