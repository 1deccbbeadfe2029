"""What others may do to us: send a folder, or stop reading."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import UNSTARVE, environment, unstarve

ESCAPE = "\x1b]0;taken over\x07"


def spoil_schema(store: sqlite3.Connection) -> None:
    store.execute("update run set value = ? where key = 'schema'", (f"unstarve{ESCAPE}",))


def nest_text(store: sqlite3.Connection) -> None:
    deep = "[" * 200_000 + "]" * 200_000
    store.execute("update process set text = ?", (f'{{"dataset": {{"x": {deep}}}}}',))


def count_nothing(store: sqlite3.Connection) -> None:
    flops = {"device": "cuda", "step": 1, "kinds": {"float16": 0}, "operand_bytes": 1e9}
    for pid, text in store.execute("select pid, text from process").fetchall():
        words = json.loads(text) | {"flops": flops}
        store.execute("update process set text = ? where pid = ?", (json.dumps(words), pid))


def never_end(store: sqlite3.Connection) -> None:
    store.execute("alter table sync rename to kept")
    columns = ", ".join(
        f"i as {name}" for _, name, *_ in store.execute("pragma table_info(kept)").fetchall()
    )
    store.execute(
        "create view sync as with recursive n(i) as (select 1 union all select i + 1 from n) "
        f"select {columns} from n where i < 0"
    )


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    script = "import torch\nw = torch.ones(1, requires_grad=True)\no = torch.optim.SGD([w])\n"
    script += "for i in range(20): (w * 1).sum().backward(); o.step()\n"
    done = unstarve("run", "--out", str(folder / "r"), "--", sys.executable, "-c", script)
    assert done.returncode == 0, done.stderr
    return folder / "r"


@pytest.mark.parametrize("spoil", [spoil_schema, nest_text, count_nothing, never_end])
def test_a_folder_that_somebody_sent_is_read_or_refused(
    run: Path, tmp_path: Path, spoil: Callable[[sqlite3.Connection], None]
) -> None:
    (tmp_path / "r").mkdir()
    (tmp_path / "r/run.sqlite").write_bytes((run / "run.sqlite").read_bytes())
    with sqlite3.connect(tmp_path / "r/run.sqlite") as store:
        spoil(store)
    store.close()
    for command in (["report", "r", "--html", "x.html"], ["diagnose", "r", "--verbose"]):
        done = subprocess.run(
            ["sh", "-c", 'ulimit -v 4000000; exec "$@"', "sh", str(UNSTARVE), *command],
            cwd=tmp_path,
            env=environment(),
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode in (0, 1, 2), (command, done.stderr)
        assert "\x1b" not in done.stdout + done.stderr
        assert "\x07" not in done.stdout + done.stderr


def test_a_job_is_watched_to_its_end_though_nobody_reads(tmp_path: Path) -> None:
    command = [str(UNSTARVE), "run", "--out", "r", "--json", "d.json", "--", "sh", "-c"]
    watcher = subprocess.Popen(
        [*command, "sleep 1; echo done > ended; exit 7"],
        cwd=tmp_path,
        env=environment(),
        stderr=subprocess.PIPE,
        restore_signals=True,
    )
    assert watcher.stderr is not None
    watcher.stderr.close()
    assert watcher.wait() == 7
    assert (tmp_path / "ended").exists()
    assert json.loads((tmp_path / "d.json").read_text())
    assert (tmp_path / "r/report.html").exists()


def signals(status: str) -> list[int]:
    """Those that are ignored and blocked, of which people know."""
    lines = [line for line in status.splitlines() if line.startswith(("SigIgn", "SigBlk"))]
    return [int(line.split()[1], 16) & 0x7FFF_FFFF for line in lines]


def test_a_job_has_the_signals_that_it_would_have(tmp_path: Path) -> None:
    script = "import signal; print(open('/proc/self/status').read())"
    command = [sys.executable, "-S", "-c", script]
    alone = subprocess.run(command, capture_output=True, text=True, env=environment())
    watched = unstarve("run", "--out", str(tmp_path / "r"), "--", *command)
    # The C library's own signals, from 32 on, are ignored in what its posix_spawn() starts.
    assert signals(watched.stdout) == signals(alone.stdout)
