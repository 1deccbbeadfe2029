"""What the program says of runs, as objects that show themselves."""

from __future__ import annotations

import html
import json
import os
import subprocess
from dataclasses import dataclass, field
from typing import Any

from unstarve.watching.program import find_program

_WIDTH = 100
_HEIGHT_PX = 720


def report(run: str | os.PathLike[str]) -> Run:
    """A run, a folder of runs that belong together, or a trace. It is diagnosed as `unstarve
    report` does. Raises ValueError, in the program's words, where it cannot be read."""
    name = os.fspath(run)
    told = json.loads(_said("report", name, "--json", "-"))
    return Run(name, told, _said("report", name), _said("report", name, "--html", "-"))


def compare(*runs: str | os.PathLike[str]) -> Comparison:
    """A with B, and with others, as `unstarve compare` does. Raises ValueError likewise."""
    names = [os.fspath(run) for run in runs]
    said = _said("compare", *names, "--json", "-")
    documents = []
    decoder, at = json.JSONDecoder(), 0
    while at < len(said):
        document, at = decoder.raw_decode(said, at)
        documents.append(document)
        at += len(said[at:]) - len(said[at:].lstrip())
    page = _said("compare", *names, "--html", "-")
    return Comparison(documents, _said("compare", *names), page[page.find("<!doctype") :])


@dataclass(frozen=True)
class Finding:
    """Why the GPU idles for a part of the time."""

    cause: str
    detail: str
    share: float  # of the time of training
    evidence: tuple[str, ...]

    def _repr_html_(self) -> str:
        lines = "".join(f"<li>{html.escape(sentence)}</li>" for sentence in self.evidence)
        name = " ".join(filter(None, (self.cause, self.detail)))
        return f"<b>{html.escape(name)}</b>: {100 * self.share:.0f} %<ul>{lines}</ul>"


@dataclass(frozen=True)
class Run:
    """What was found in a run."""

    name: str
    diagnosis: dict[str, Any] = field(repr=False)  # docs/formats/diagnosis.md
    text: str = field(repr=False)  # as the terminal has it
    page: str = field(repr=False)  # HTML, complete in itself

    @property
    def verdict(self) -> str:
        return str(self.diagnosis.get("verdict", ""))

    @property
    def findings(self) -> list[Finding]:
        return [
            Finding(one["cause"], one["detail"] or "", one["share"], tuple(one["evidence"]))
            for one in self.diagnosis["findings"]
        ]

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return _framed(self.page)


@dataclass(frozen=True)
class Comparison:
    """What changed between runs."""

    documents: list[dict[str, Any]] = field(repr=False)  # docs/formats/comparison.md
    text: str
    page: str = field(repr=False)  # HTML, complete in itself

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return _framed(self.page)


def _framed(page: str) -> str:
    """The page apart from the notebook's own styles and scripts."""
    return (
        f'<iframe srcdoc="{html.escape(page)}" sandbox="allow-scripts" title="unstarve" '
        f'style="width:100%;height:{_HEIGHT_PX}px;border:0"></iframe>'
    )


def _said(*words: str) -> str:
    done = subprocess.run(
        [find_program(), *words],
        env={**os.environ, "COLUMNS": str(_WIDTH), "NO_COLOR": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise ValueError(done.stderr.strip() or f"unstarve {words[0]} ended by {done.returncode}")
    return done.stdout
