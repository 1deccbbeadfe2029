"""A pane of tmux, detached, on a server of its own: what a terminal shows of a command."""

from __future__ import annotations

import contextlib
import shlex
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

#: The pane's shell says so once the command has left, and how; then it waits.
LEFT = "left with"


@dataclass(frozen=True)
class Pane:
    socket_folder: str
    env: Mapping[str, str]
    written: Path  # all bytes that came to the terminal

    def tmux(self, *words: str) -> str:
        """A command to the server."""
        done = subprocess.run(
            ["tmux", "-L", "unstarve", "-f", "/dev/null", *words],
            env={**self.env, "TMUX_TMPDIR": self.socket_folder},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def screen(self, *options: str) -> list[str]:
        """Its lines, once two looks at it agree: no frame is half drawn then."""
        seen, again = None, self.tmux("capture-pane", "-p", *options)
        while seen != again:
            time.sleep(0.02)
            seen, again = again, self.tmux("capture-pane", "-p", *options)
        return again.rstrip("\n").split("\n")

    def wait(self, shows: Callable[[list[str]], bool]) -> list[str]:
        """Until it shows that. Ends with the test's limit where it never does."""
        while not shows(screen := self.screen()):
            time.sleep(0.05)
        return screen

    def wait_for(self, words: str) -> list[str]:
        return self.wait(lambda screen: any(words in line for line in screen))

    def wait_for_another(self, last: list[str]) -> list[str]:
        return self.wait(lambda screen: screen != last)

    def resize(self, columns: int, lines: int) -> None:
        self.tmux("resize-window", "-x", str(columns), "-y", str(lines))

    def type(self, key: str) -> None:
        self.tmux("send-keys", key)

    def fits(self, lines: int) -> bool:
        """No line was longer than the pane, of so many lines: tmux has such a line on two, and
        joins them again where it is asked to."""
        return self.tmux("capture-pane", "-p", "-J").count("\n") == lines


@contextlib.contextmanager
def pane(
    command: Sequence[str | Path], cwd: Path, env: Mapping[str, str], columns: int, lines: int
) -> Iterator[Pane]:
    """Runs a command in it; the server and all that runs in it end afterwards."""
    with tempfile.TemporaryDirectory(prefix="tmux-") as sockets:
        clean = {name: value for name, value in env.items() if not name.startswith("TMUX")}
        made = Pane(sockets, {**clean, "LC_ALL": "C.UTF-8"}, cwd / "written")
        words = shlex.join(str(word) for word in command)
        # Nothing is written before somebody reads along.
        script = f"read begin; {words}; echo {LEFT} $?; exec cat"
        size = ["-x", str(columns), "-y", str(lines)]
        made.tmux("new-session", "-d", *size, "-c", str(cwd), "sh", "-c", script)
        server = int(made.tmux("display-message", "-p", "#{pid}"))
        try:
            made.tmux("pipe-pane", f"exec cat > {shlex.quote(str(made.written))}")
            made.type("Enter")
            yield made
        finally:
            made.tmux("kill-server")
            while Path(f"/proc/{server}/stat").exists() and not is_over(server):
                time.sleep(0.02)


def is_over(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    return True
