"""Predicted gains of remedies beside the measured ones: pure functions, no job runs here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

# Of the gains, what has to lie within what was predicted, and how far off a prediction may be.
INSIDE_TARGET, ERROR_TARGET = 0.85, 0.10


@dataclass(frozen=True)
class Predicted:
    """Old / new time of a step, and the range that it is said to lie in."""

    speedup: float
    low: float
    high: float


@dataclass(frozen=True)
class Tried:
    """A remedy that was tried on a job."""

    remedy: str
    measured: float
    predicted: Predicted | None = None
    # All of what was measured lies below 1.
    slowed: bool = False

    @property
    def inside(self) -> bool:
        if self.predicted is None:
            return False
        return self.predicted.low <= self.measured <= self.predicted.high

    def __str__(self) -> str:
        words = f"{self.remedy} {self.measured:.2f}x" + " SLOWER" * self.slowed
        if self.predicted is None:
            return f"{words} (not predicted)"
        return (
            f"{words} (predicted {self.predicted.speedup:.2f}x "
            f"[{self.predicted.low:.2f}..{self.predicted.high:.2f}] "
            f"{'inside' if self.inside else 'OUTSIDE'})"
        )


@dataclass(frozen=True)
class Score:
    """How good predictions were. Of none, errors and widths are 0."""

    predicted: int
    inside: int
    median_error: float
    median_width: float

    @property
    def reached(self) -> bool:
        return self.inside >= INSIDE_TARGET * self.predicted and self.median_error <= ERROR_TARGET

    def __str__(self) -> str:
        if not self.predicted:
            return "nothing was predicted of what was tried"
        return (
            f"{self.inside} of {self.predicted} gains inside what was predicted "
            f"({self.inside / self.predicted:.0%}); error of the prediction {self.median_error:.1%}"
            f" in the median; ranges reach from their lower end to {self.median_width:.2f} times it"
        )


def predicted_in(told: dict[str, Any]) -> Predicted | None:
    """What a report says of a gain; none where it says why it is not predicted."""
    if "speedup" not in told:
        return None
    return Predicted(told["speedup"], told["low"], told["high"])


def score(tried: Sequence[Tried]) -> Score:
    known = [(each, each.predicted) for each in tried if each.predicted is not None]
    if not known:
        return Score(0, 0, 0.0, 0.0)
    return Score(
        predicted=len(known),
        inside=sum(each.inside for each, _ in known),
        median_error=round(median(abs(p.speedup / each.measured - 1) for each, p in known), 4),
        median_width=round(median(p.high / p.low for _, p in known), 4),
    )
