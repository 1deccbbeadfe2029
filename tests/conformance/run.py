"""Runs foreign tests of DataLoader with torch's loader and with unstarve's, and compares.

    make conformance                            # PyTorch's own suite
    python tests/conformance/run.py --torchdata CHECKOUT     # and torchdata's tests of states

PyTorch's `test/test_dataloader.py` comes from Debian's source package of pytorch, torchdata's tests
from a checkout (its packages have none). Nothing of it is kept in this repository. A test counts
where it passes with the loader that it was written for. What then ends otherwise with unstarve's
has to be listed in `documented.json`, with the reason; else the exit code is 1.
"""

from __future__ import annotations

import argparse
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
SECONDS_PER_TEST = 180.0
# Debian's releases, newest first; of the first that has the package, it is taken.
RELEASES = ("trixie", "bookworm")
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


class Suite(NamedTuple):
    """One module of tests."""

    name: str
    path: Path


class Ending(NamedTuple):
    """How a test ended: passed, failed, skipped or stuck."""

    outcome: str
    text: str


class CannotFetch(Exception):  # noqa: N818
    """With what to do instead."""


def run_quietly(command: list[str], folder: Path) -> str:
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if result.returncode != 0:
        raise CannotFetch(f"{' '.join(command[:1] + command[-2:])}: {result.stderr.strip()[-300:]}")
    return result.stdout


def apt_options(folder: Path, release: str) -> list[str]:
    """apt with lists, cache and sources of its own: the system's are left alone."""
    sites = run_quietly(["apt-get", "indextargets", "--format", "$(SITE)"], folder).split()
    site = next((site for site in sites if site.rstrip("/").endswith("/debian")), None)
    if site is None:
        raise CannotFetch("apt knows no Debian mirror")
    for name in ("state/lists/partial", "cache/archives/partial"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "sources.list").write_text(f"deb-src [signed-by={KEYRING}] {site} {release} main\n")
    settings = {
        "Dir::State": folder / "state",
        "Dir::Cache": folder / "cache",
        "Dir::Etc::SourceList": folder / "sources.list",
        "Dir::Etc::SourceParts": "-",
        "APT::Sandbox::User": "root",
    }
    return [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]


def fetch_torch_tests(folder: Path) -> Path:
    """The newest `test_dataloader.py` that can be had."""
    failures = []
    for release in RELEASES:
        own = folder / release
        own.mkdir()
        try:
            options = apt_options(own, release)
            run_quietly(["apt-get", *options, "update"], own)
            run_quietly(["apt-get", *options, "source", "--download-only", "pytorch"], own)
        except CannotFetch as failure:
            failures.append(f"{release}: {failure}")
            continue
        archive = next(own.glob("pytorch_*.orig.tar.*"))
        member = ["--wildcards", "--strip-components=2", "*/test/test_dataloader.py"]
        run_quietly(["tar", "-xf", str(archive), *member], own)
        print(f"test_dataloader.py of {archive.name.partition('.orig')[0]}, from Debian {release}")
        return own / "test_dataloader.py"
    raise CannotFetch("; ".join(failures) + ": name a test_dataloader.py with --torch")


class Run:
    """One suite with one loader, in a process that is started again behind a test that hangs."""

    def __init__(self, suite: Suite, loader: str, folder: Path) -> None:
        self._suite, self._loader = suite, loader
        self._done_file = folder / f"done-{suite.name}-{loader}.json"
        self._log = folder / f"log-{suite.name}-{loader}.txt"
        self.endings: dict[str, Ending] = {}

    def all(self) -> dict[str, Ending]:
        while self._some():
            pass
        return self.endings

    def _some(self) -> bool:
        """Whether there may be more to run."""
        self._done_file.write_text(json.dumps(sorted(self.endings)))
        script = HERE / "one_suite.py"
        command: list[str | Path] = [sys.executable, script, self._suite.path]
        command += [self._loader, self._done_file]
        with self._log.open("a") as log:
            child = subprocess.Popen(
                command,
                stdout=subprocess.PIPE,
                stderr=log,
                cwd=self._suite.path.parent,
                start_new_session=True,
            )
        running: str | None = None
        try:
            for line in lines_of(child):
                if "begin" in line:
                    running = line["begin"]
                else:
                    self.endings[line["end"]] = Ending(line["outcome"], line["text"])
                    running = None
        except TimeoutError:
            pass
        finally:
            os.killpg(child.pid, signal.SIGKILL)
        status = child.wait()
        if running is not None:
            self.endings[running] = Ending("stuck", f"no end, or the process ended ({status})")
        elif not self.endings:
            raise CannotFetch(f"no test of {self._suite.path} ran: see the end of {self._tail()}")
        return running is not None

    def _tail(self) -> str:
        return self._log.read_text(errors="replace")[-1500:]


def lines_of(child: subprocess.Popen[bytes]) -> Any:
    """What the child reports, as it comes; TimeoutError when a test takes too long."""
    assert child.stdout is not None
    pending = b""
    deadline = time.monotonic() + SECONDS_PER_TEST
    while True:
        left = max(0.0, deadline - time.monotonic())
        if not select.select([child.stdout], [], [], left)[0]:
            raise TimeoutError
        more = os.read(child.stdout.fileno(), 1 << 16)
        if not more:
            return
        *lines, pending = (pending + more).split(b"\n")
        for line in lines:
            deadline = time.monotonic() + SECONDS_PER_TEST
            yield json.loads(line)


def compare(suite: Suite, theirs: dict[str, Ending], ours: dict[str, Ending]) -> list[str]:
    """Prints the tests that end otherwise with unstarve's loader; returns their names."""
    sound = [name for name, ending in theirs.items() if ending.outcome == "passed"]
    other = [name for name in sound if ours.get(name, Ending("missing", "")).outcome != "passed"]
    counted = ", ".join(
        f"{count} {outcome}"
        for outcome, count in Counter(ending.outcome for ending in theirs.values()).most_common()
    )
    print(f"{suite.name}: {len(theirs)} tests, with the loader they were written for {counted}")
    print(f"{suite.name}: {len(sound) - len(other)} of these {len(sound)} pass with unstarve's")
    documented = json.loads((HERE / "documented.json").read_text()).get(suite.name, {})
    undocumented = []
    for name in other:
        reason = documented.get(name)
        ending = ours.get(name, Ending("missing", ""))
        print(f"  {name}: {ending.outcome}: {reason or 'NOT DOCUMENTED'}")
        if reason is None:
            undocumented.append(name)
            print("    " + "\n    ".join(ending.text.strip().splitlines()[-12:]))
    for name in documented:
        if name in sound and name not in other:
            print(f"  {name}: passes, though a difference is documented: take it off the list")
            undocumented.append(name)
    return undocumented


def suites(arguments: argparse.Namespace, folder: Path) -> list[Suite]:
    found = []
    if not arguments.without_torch:
        found.append(Suite("torch", arguments.torch or fetch_torch_tests(folder)))
    if arguments.torchdata is not None:
        tests = arguments.torchdata / "test" / "stateful_dataloader"
        for name in ("test_state_dict", "test_sampler"):
            found.append(Suite(f"torchdata.{name}", tests / f"{name}.py"))
    return [Suite(suite.name, suite.path.resolve()) for suite in found]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--torch", type=Path, help="a test_dataloader.py that is there")
    parser.add_argument("--without-torch", action="store_true", help="leave out PyTorch's suite")
    parser.add_argument("--torchdata", type=Path, help="a checkout of torchdata")
    arguments = parser.parse_args()
    undocumented = []
    with tempfile.TemporaryDirectory(prefix="unstarve-conformance-") as name:
        try:
            for suite in suites(arguments, Path(name)):
                runs = [Run(suite, loader, Path(name)) for loader in ("torch", "unstarve")]
                with ThreadPoolExecutor() as pool:
                    theirs, ours = pool.map(Run.all, runs)
                undocumented += compare(suite, theirs, ours)
        except CannotFetch as failure:
            print(f"conformance: {failure}", file=sys.stderr)
            return 2
    print("no difference but documented ones" if not undocumented else "differences: see above")
    return 1 if undocumented else 0


if __name__ == "__main__":
    sys.exit(main())
