"""What `DataLoader.explain()` answers: for people as text, for programs as plain values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from unstarve.lowering.decision import Part

Engine = Literal["native", "partly", "workers", "torch"]

_ENGINES = {
    "native": "the native engine: C++ threads, none of the data set's Python runs",
    "partly": "the native engine for the first part of each sample, Python for the rest",
    "workers": "Python in worker processes, with zero-copy slots",
    "torch": "torch's own iterator",
}


@dataclass(frozen=True)
class Explanation:
    """Which engine loads the samples and why.

    `str()` of it is readable; `to_dict()` is fit for JSON.
    """

    engine: Engine
    #: Why this engine.
    reason: str
    #: What became of each part of the work.
    parts: list[Part]
    #: What arguments and settings mean here, and what the engine's controller did.
    notes: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        lines = [f"unstarve.DataLoader uses {_ENGINES[self.engine]}", f"  because {self.reason}"]
        known = "native" if self.engine in ("native", "partly") else "could be native"
        for part in self.parts:
            why = f": {part.why}" if part.why else ""
            lines.append(f"  {known if part.native else 'stays Python':16}{part.what}{why}")
        lines += [f"  note: {note}" for note in self.notes]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "engine": self.engine,
            "reason": self.reason,
            "parts": [
                {"part": part.what, "native": part.native, "why": part.why} for part in self.parts
            ],
            "notes": list(self.notes),
        }
