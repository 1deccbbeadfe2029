"""What a test leaves behind fails it, by name, and is ended (tests/leftovers.py)."""

from __future__ import annotations

import multiprocessing
import re
import shutil
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import leftovers
import pytest
from pytest_runs import run_pytest

LEAKS = """
import os, pathlib, signal, socket, subprocess, sys, tempfile, threading, time
import leftovers, pytest

leftovers.MOMENT_S = 0.3
KEPT = []
SLEEP = [sys.executable, "-c", "import time; time.sleep(600)"]

def is_there(pid):
    return pathlib.Path(f"/proc/{pid}").exists()

def test_process():
    KEPT.append(subprocess.Popen(SLEEP).pid)

def test_after_process():
    assert not is_there(KEPT.pop())

def test_orphan():
    script = f"import subprocess as s; print(s.Popen({SLEEP}, stdout=-3, stderr=-3).pid)"
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout
    KEPT.append(int(out))

def test_after_orphan():
    assert not is_there(KEPT.pop())

def test_thread():
    KEPT.append(threading.Event())
    threading.Thread(target=KEPT[-1].wait, name="the waiting one", daemon=True).start()

def test_after_thread():
    KEPT.pop().set()

def test_pipe():
    KEPT.extend(os.pipe())

def test_after_pipe():
    writing, reading = KEPT.pop(), KEPT.pop()
    assert os.read(reading, 1) == b""  # what has both ends now is /dev/null
    os.close(writing)
    os.close(reading)

def test_socket():
    KEPT.append(socket.socket())

def test_after_socket():
    KEPT.pop().close()

def test_file():
    KEPT.append(tempfile.TemporaryFile(prefix="left-open"))

def test_after_file():
    KEPT.pop().close()

def test_shared():
    KEPT.append(pathlib.Path(tempfile.mkdtemp(prefix="left-behind-", dir="/dev/shm")))
    (KEPT[0] / "file").touch()

def test_after_shared():
    assert not KEPT.pop().exists()
"""

BY_RIGHT = """
import multiprocessing, os, subprocess, sys, threading, time
import leftovers, pytest

STARTS_ANOTHER = '''
import subprocess, sys
sys.stdin.readline()
other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print(other.pid, flush=True)
sys.stdin.readline()
other.kill()
other.wait()
'''

def start():
    return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])

def end(process):
    process.kill()
    process.wait()

@pytest.fixture(scope="module")
def of_the_file():
    process = start()
    yield process
    end(process)

@pytest.fixture(scope="session")
def of_the_run():
    process = start()
    yield process
    end(process)

@pytest.fixture(scope="session")
def browser():
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with leftovers.starting_at_will():
        process = subprocess.Popen([sys.executable, "-c", STARTS_ANOTHER], **pipes)
    yield process
    process.communicate("end")

def test_that_begins():
    pass

def test_that_asks_for_a_browser(browser):
    assert browser.poll() is None

def test_in_which_a_browser_starts_another(browser):
    browser.stdin.write("start\\n")
    browser.stdin.flush()
    assert int(browser.stdout.readline()) > 0

def test_what_a_fixture_of_the_file_keeps(of_the_file):
    pass

def test_what_is_asked_for_within(request):
    assert request.getfixturevalue("of_the_run").poll() is None

def test_that_all_are_left_alone(of_the_file, of_the_run):
    assert of_the_file.poll() is None and of_the_run.poll() is None

class Holder:
    def __init__(self):
        self.ends = os.pipe()
    def __del__(self):
        for end in self.ends:
            os.close(end)
    def work(self):
        raise ValueError

def test_what_a_caught_exception_holds():
    with pytest.raises(ValueError) as caught:
        Holder().work()
    assert caught.tb is not None

def test_what_is_about_to_end():
    threading.Thread(target=time.sleep, args=(0.3,), daemon=True).start()

def test_what_is_told_to_end_and_not_waited_for():
    worker = multiprocessing.get_context("fork").Process(target=time.sleep, args=(600,))
    worker.start()
    worker.terminate()
"""

OF_A_FILE = """
import os, pytest

@pytest.fixture(scope="module")
def careless():
    return os.pipe()

def test_one(careless):
    pass

def test_two(careless):
    pass
"""

BESIDE_OTHERS = """
import pathlib, time

def test_beside_others():
    pathlib.Path("begun").touch()
    while not pathlib.Path("made").exists():
        time.sleep(0.01)
"""


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} does not come"
        time.sleep(0.01)


@pytest.fixture(scope="module")
def leaks(tmp_path_factory: pytest.TempPathFactory) -> str:
    done = run_pytest(tmp_path_factory.mktemp("leaks"), test_leaks=LEAKS)
    assert done.returncode == 1, done.stdout
    return done.stdout


WORDS = {
    "process": r"process \d+: .*time\.sleep\(600\)",
    "orphan": r"process \d+: .*time\.sleep\(600\)",
    "thread": r"thread \d+: the waiting one",
    "pipe": r"descriptor \d+: pipe:\[\d+\]\n  descriptor \d+: pipe:\[\d+\]",
    "socket": r"descriptor \d+: socket:\[\d+\]",
    "file": r"descriptor \d+: /.*",
    "shared": r"shared memory \d+: /dev/shm/left-behind-.*",
}


@pytest.mark.parametrize("kind", WORDS)
def test_each_kind_fails_its_test_by_name_and_is_ended(leaks: str, kind: str) -> None:
    said = re.search(
        rf"ERROR at teardown of test_{kind} _+\nthis test left behind:\n  (.*\n(?:  .*\n)*)", leaks
    )
    assert said is not None, leaks
    assert re.fullmatch(WORDS[kind], said.group(1).strip()), said.group(1)
    # The next one looks whether it was ended, and finds nothing of it that would fail itself.
    assert f"test_after_{kind} PASSED" in leaks
    assert f"test_after_{kind} ERROR" not in leaks


def test_nothing_else_is_said(leaks: str) -> None:
    assert f"{2 * len(WORDS)} passed, {len(WORDS)} errors" in leaks


def test_what_lives_longer_by_right(tmp_path: Path) -> None:
    done = run_pytest(tmp_path, test_by_right=BY_RIGHT)
    assert done.returncode == 0, done.stdout
    assert "9 passed in" in done.stdout


def test_what_others_use_is_left_alone(tmp_path: Path) -> None:
    """Tests run beside each other, and beside whatever else the machine does."""
    with ThreadPoolExecutor(1) as thread:
        run = thread.submit(run_pytest, tmp_path, test_beside=BESIDE_OTHERS)
        wait_for(tmp_path / "begun")
        semaphore = multiprocessing.get_context("spawn").Semaphore(1)  # has a name there
        folder = Path(tempfile.mkdtemp(prefix="of-another-", dir="/dev/shm"))
        with (folder / "file").open("w"):
            (tmp_path / "made").touch()
            done = run.result()
    assert done.returncode == 0, done.stdout
    assert (folder / "file").exists()
    shutil.rmtree(folder)
    name = semaphore._semlock.name.removeprefix("/")  # type: ignore[attr-defined]
    assert Path(f"/dev/shm/sem.{name}").exists()


def test_what_others_make_for_a_moment_is_not_taken_for_one_thing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """There is always one of their entries, and never the same."""
    monkeypatch.setattr(leftovers, "MOMENT_OF_OTHERS_S", 0.3)
    monkeypatch.setattr(leftovers, "MOMENT_S", 0.3)
    over = threading.Event()

    def make_entries() -> None:
        entry = tempfile.TemporaryDirectory(prefix="of-another-", dir="/dev/shm")
        while not over.is_set():
            following = tempfile.TemporaryDirectory(prefix="of-another-", dir="/dev/shm")
            entry.cleanup()
            entry = following
            time.sleep(0.02)
        entry.cleanup()

    thread = threading.Thread(target=make_entries)
    thread.start()
    before = frozenset(thing for thing in leftovers.things() if thing.kind != leftovers.SHARED)
    left = [thing for thing in leftovers.left_since(before) if "of-another-" in thing.name]
    over.set()
    thread.join()
    assert not left


def test_a_files_own_fixtures_are_judged_at_its_end(tmp_path: Path) -> None:
    done = run_pytest(tmp_path, test_of_a_file=OF_A_FILE)
    assert done.returncode == 1
    assert "ERROR at teardown of test_two" in done.stdout
    assert re.search(r"this file's tests left behind:\n  descriptor \d+: pipe", done.stdout)
    assert "2 passed, 1 error in" in done.stdout  # and the run says nothing of it again
