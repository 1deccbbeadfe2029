"""Watches the process that it is called in, from here to the end of a block.

The recording inside is the hook's, which `unstarve run` puts into a job from its start; what only
others can see is recorded by `unstarve attach`, a process of its own. Nothing is printed: the
verdict is what the returned object shows.
"""

from __future__ import annotations

import html
import importlib.util
import json
import os
import select
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from unstarve.watching.program import find_program

#: For the watcher to begin, and to end with a verdict.
_BEGIN_S = 20.0
_END_S = 120.0
_WIDTH = 100


def watch(out: str | os.PathLike[str] | None = None) -> Watch:
    """Watches this process until `stop()`, or the end of a `with` block.

    `out`: the folder for the run, which must not be there yet (default: runs/TIME_watch). A watcher
    that cannot start raises nothing: the object says why nothing was seen.
    """
    return Watch(out)


class Watch:
    """What was seen of a part of this process. Shows its verdict, in a notebook too."""

    def __init__(self, out: str | os.PathLike[str] | None = None) -> None:
        self.run_dir: str = ""  # of the run, which stays
        self._pid = os.getpid()
        self._text = ""
        self._process: subprocess.Popen[bytes] | None = None
        self._hook: Any = None
        try:
            self._begin(out)
        except Exception as error:
            self._text = f"Nothing was watched: {error}"
            self._give_up()

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> Watch:
        """Ends watching and has what was seen judged. Again: nothing happens."""
        process = self._process
        if process is None or os.getpid() != self._pid:
            return self
        self._process = None
        try:
            self._hook.leave()
            said, _ = process.communicate(timeout=_END_S)
            self._text = said.decode(errors="replace").strip()
            if process.returncode != 0 and not self._text:
                self._text = f"Nothing could be said: see `unstarve report {self.run_dir}`"
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            self._text = f"The watcher did not end: see `unstarve report {self.run_dir}`"
        except Exception as error:
            self._text = f"Nothing could be said: {error}"
        return self

    @property
    def is_running(self) -> bool:
        return self._process is not None

    @property
    def verdict(self) -> str:
        """The sentence that matters; empty while it runs, and where nothing was seen."""
        return str(self.diagnosis.get("verdict", ""))

    @property
    def diagnosis(self) -> dict[str, Any]:
        """All that was found (docs/formats/diagnosis.md); empty while it runs."""
        if self.is_running or not self.run_dir:
            return {}
        try:
            told: dict[str, Any] = json.loads(Path(self.run_dir, "diagnosis.json").read_text())
            return told
        except (OSError, ValueError):
            return {}

    def __repr__(self) -> str:
        if self.is_running:
            return f"<watching process {self._pid} into {self.run_dir}; stop() ends it>"
        return self._text

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(repr(self))}</pre>"

    def _begin(self, out: str | os.PathLike[str] | None) -> None:
        hook = _load_hook()
        if hook.is_watching():
            raise RuntimeError(
                "this process is watched already, by `unstarve run` or another block"
            )
        self.run_dir = str(Path(os.fspath(out) if out is not None else _new_folder()).absolute())
        command = [find_program(), "attach", str(self._pid), "--until-stdin-closes"]
        self._process = subprocess.Popen(
            [*command, "--out", self.run_dir],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for the job
            env={**os.environ, "COLUMNS": str(_WIDTH)},
        )
        self._wait_for_watcher(self._process)
        self._hook = hook
        hook.enter(self.run_dir)

    def _wait_for_watcher(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        ready, _, _ = select.select([process.stdout], [], [], _BEGIN_S)
        # Not by readline(), which may take what belongs to the verdict.
        first = os.read(process.stdout.fileno(), 65536) if ready else b""
        if not first.startswith(b"watching "):
            process.kill()
            _, said = process.communicate()
            why = said.decode(errors="replace").strip() or "it did not begin"
            raise RuntimeError(f"`unstarve attach` ended: {why}")

    def _give_up(self) -> None:
        process, self._process = self._process, None
        if process is not None and process.poll() is None:
            process.kill()
            process.communicate()


def _new_folder() -> str:
    name = time.strftime("%Y-%m-%d_%H-%M-%S_watch")
    folder, number = Path("runs", name), 1
    while folder.exists():
        number += 1
        folder = Path("runs", f"{name}-{number}")
    return str(folder)


def _load_hook() -> Any:
    """The hook by the name that it has in a job of `unstarve run`, where it is there already."""
    name = "_unstarve_hook"
    known = sys.modules.get(name)
    if known is not None:
        return known
    folder = Path(__file__).resolve().parents[1] / "hook" / name
    spec = importlib.util.spec_from_file_location(
        name, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    if spec is None or spec.loader is None:
        raise FileNotFoundError(f"the hook is not in {folder}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
