"""Runs the tests of one foreign module with one loader, and says of each how it ended.

    python one_suite.py MODULE.py torch|unstarve DONE.json

The parent (`run.py`) reads a line of JSON when a test begins and another when it has ended, and
starts this again without the tests in DONE.json after one that hung or took the process with it.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import traceback
import unittest
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO


def put_in_place() -> None:
    """unstarve's loader where the tests look for torch's and for torchdata's."""
    import torch.utils.data
    from unstarve import DataLoader

    class Stateful(DataLoader[Any]):
        """Snapshots need not be rationed here: how often they are taken means nothing."""

        def __init__(self, *arguments: Any, snapshot_every_n_steps: int = 1, **named: Any) -> None:
            super().__init__(*arguments, **named)

    torch.utils.data.DataLoader = DataLoader
    try:
        stateful: Any = importlib.import_module("torchdata.stateful_dataloader")
    except ImportError:
        return
    stateful.StatefulDataLoader = Stateful


class Outcome(unittest.TestResult):
    """Of one test; a subtest that fails is its failure."""

    def __init__(self) -> None:
        super().__init__()
        self.text = ""

    def _note(self, failure: Any) -> None:
        self.text = self.text or "".join(traceback.format_exception(*failure))

    def addError(self, test: Any, err: Any) -> None:  # noqa: N802 (unittest's name)
        self._note(err)
        super().addError(test, err)

    def addFailure(self, test: Any, err: Any) -> None:  # noqa: N802
        self._note(err)
        super().addFailure(test, err)

    def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:  # noqa: N802
        if err is not None:
            self._note(err)
        super().addSubTest(test, subtest, err)

    def word(self) -> str:
        if self.text:
            return "failed"
        return "skipped" if self.skipped else "passed"


def tests_of(module: Any) -> Iterator[unittest.TestCase]:
    """By class: PyTorch's own way of listing tests (`load_tests`) is for its test runner."""
    for kind in list(vars(module).values()):
        if isinstance(kind, type) and issubclass(kind, unittest.TestCase):
            for name in unittest.defaultTestLoader.getTestCaseNames(kind):
                yield kind(name)


def run(module: Any, done: set[str], report: TextIO) -> None:
    # A class's own set-up is rare there, and each test is run alone.
    for test in tests_of(module):
        name = test.id().partition(".")[2]
        if name in done:
            continue
        print(json.dumps({"begin": name}), file=report, flush=True)
        outcome = Outcome()
        test(outcome)
        line = {"end": name, "outcome": outcome.word(), "text": outcome.text}
        print(json.dumps(line), file=report, flush=True)


def main() -> None:
    path, loader, done = Path(sys.argv[1]), sys.argv[2], json.loads(Path(sys.argv[3]).read_text())
    # What the tests print must not get between the lines.
    report = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    if loader == "unstarve":
        put_in_place()
    sys.path.insert(0, str(path.parent))
    run(importlib.import_module(path.stem), set(done), report)


if __name__ == "__main__":
    main()
